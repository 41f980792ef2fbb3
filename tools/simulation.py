"""What the tools that simulate share: outcomes, work in processes, and a table that is printed as it grows."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

Make = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]
"""Draws so many rows: what is forecast, and the probabilities with which it occurs."""


def forecast(
    draw: Callable[[np.random.Generator, int], np.ndarray],
    truth: Callable[[np.ndarray], np.ndarray] = lambda prob: prob,
) -> Make:
    """Return what draws forecasts and their truth, by default calibrated ones."""

    def make(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        prob = draw(rng, n)
        return prob, truth(prob)

    return make


def outcomes(rng: np.random.Generator, truth: np.ndarray) -> np.ndarray:
    """Draw events of these probabilities, or classes of a table of them."""
    if truth.ndim == 1:
        return (rng.random(len(truth)) < truth).astype(int)
    return (rng.random((len(truth), 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(0, truth.shape[1] - 1)


def counted_twice(prob: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each row as an event and as none, and the probabilities of these as weights: what is due of so many rows."""
    return np.repeat([1, 0], prob.size), np.tile(prob, 2), np.concatenate([truth, 1.0 - truth])


def in_processes(work: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Any]:
    """Yield what becomes of each task, in their order."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(work, tasks)


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table in Markdown, each row as soon as it is there."""
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head), flush=True)
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)
