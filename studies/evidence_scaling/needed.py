"""How often tests find that calibration is needed: of calibrated forecasts, which is their size, and of others, their power."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from scipy.special import softmax

from calibrant.significance import bayes_factor_test, cox_test, kernel_test, resampling_test

DRAWS, LEVELS = 99, (0.05, 0.1)
RUNS, RUNS_OF_POWER = 200, 100
CELLS = tuple((n, k) for n in (300, 2000) for k in (2, 4, 10))
"""Rows and classes."""

TESTS: Mapping[str, Callable[..., Any]] = {
    "Bayes factor": partial(bayes_factor_test, n_resamples=DRAWS),
    "ECE": partial(resampling_test, metric="ece", n_resamples=DRAWS),
    "class-wise ECE": partial(resampling_test, metric="classwise-ece", n_resamples=DRAWS),
    "kernel": partial(kernel_test, n_resamples=DRAWS),
    "Cox": lambda y, prob, *, labels, rng: cox_test(y, prob, labels=labels),
}


def calibrated(log_prob: Any, size: float) -> Any:
    """Return the forecast itself."""
    return np.exp(log_prob)


def over_confident(log_prob: Any, size: float) -> Any:
    """Return probabilities that are less far apart."""
    return softmax(log_prob / (1.0 + 0.2 * size), axis=1)


def one_class_too_low(log_prob: Any, size: float) -> Any:
    """Return probabilities with more of the first class."""
    return softmax(log_prob + 0.3 * size * (np.arange(log_prob.shape[1]) == 0), axis=1)


def confused(log_prob: Any, size: float) -> Any:
    """Return probabilities with more of the first class where the last is likely, and less where it is not."""
    last = log_prob[:, -1:] - log_prob[:, -1:].mean()
    return softmax(log_prob + 0.3 * size * last * (np.arange(log_prob.shape[1]) == 0), axis=1)


def drawn(truth: Callable[[Any, float], Any], n: int, n_classes: int, seed: int) -> tuple[Any, Any]:
    """Return a forecast and labels; errors are smaller where there are more rows."""
    rng = np.random.default_rng(seed)
    prob = softmax(rng.normal(0.0, 1.5, (n, n_classes)), axis=1)
    rate = truth(np.log(prob), float(np.sqrt(300.0 / n)))
    return prob, (rng.random((n, 1)) > rate.cumsum(axis=1)).sum(axis=1).clip(0, n_classes - 1)


def rejected(truth: Callable[[Any, float], Any], n: int, n_classes: int, runs: int) -> dict[str, list[float]]:
    """Return how often each test rejects, at each level."""
    pvalues: dict[str, list[float]] = {name: [] for name in TESTS}
    for seed in range(runs):
        prob, label = drawn(truth, n, n_classes, seed)
        for name, test in TESTS.items():
            pvalues[name].append(test(label, prob, labels=list(range(n_classes)), rng=seed).pvalue)
    # A p-value of 99 draws is a whole number of hundredths.
    return {name: [float(np.mean(np.array(p) <= level + 1e-9)) for level in LEVELS] for name, p in pvalues.items()}


def lines() -> Iterator[list[str]]:
    """Yield the lines of the table."""
    warnings.simplefilter("ignore")
    for truth in (calibrated, over_confident, one_class_too_low, confused):
        for n, n_classes in CELLS:
            found = rejected(truth, n, n_classes, RUNS if truth is calibrated else RUNS_OF_POWER)
            shown = [f"{100.0 * low:.3g} / {100.0 * high:.3g}" for low, high in found.values()]
            yield [truth.__name__.replace("_", " "), f"{n}", f"{n_classes}", *shown]


HEAD = ["forecast", "rows", "classes", *TESTS]
