"""The number of rows at which a figure that is measured with noise reaches a target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, exp

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray

LEAST = 50
"""Rows from which the search begins: fewer are not planned for."""

MOST, MOST_NUMBERS = 1_000_000, 1 << 24
"""Rows, and rows times classes, at which it ends."""

POINTS, REACH, ROUNDS = 10, 0.3, 3
"""A line is fitted to so many numbers of rows, from exp(-REACH) to exp(REACH) times a first guess, and at most ``ROUNDS`` times
to as many more about where it meets the target."""

NARROW = REACH / 2.0
"""The last line spans exp(-NARROW) to exp(NARROW), where a power curve is nearly straight."""


@dataclass(frozen=True, eq=False)
class Found:
    """The rows that were found, their standard error, and what was tried: numbers of rows (L,), and the figure there (L,)."""

    rows: int
    standard_error: float
    tried: IntArray
    figure: FloatArray


class OutOfReachError(ValueError):
    """The figure does not reach the target with the most rows that are tried."""

    def __init__(self, rows: int, figure: float) -> None:
        super().__init__(f"the figure with {rows} rows is {figure:g}")
        self.rows, self.figure = rows, figure


Figure = Callable[[int, bool], float]
"""A figure of a number of rows, drawn anew at each call: roughly, or not. It is minus infinity where the rows have none."""


def rows_where(figure: Figure, target: float, *, most: int = MOST) -> Found:
    """Return the rows at which a figure that rises with log(rows), nearly along a line, reaches a target.

    Parameters
    ----------
    figure : callable
        Of a number of rows and whether a rough value is enough.
    target : float
        The value that is wanted.
    most : int, default=1_000_000
        Rows at which the search ends.

    Returns
    -------
    Found
        The rows where the fitted line meets the target, with the standard error by the residuals of the line.

    Raises
    ------
    OutOfReachError
        If the figure is below the target with the most rows.

    Notes
    -----
    The rows are doubled until the figure reaches the target, at most 15 times. Then a line is fitted by least squares to 10
    numbers of rows about the place where the last two meet the target: first to rough values, and then, about the place where
    that line meets it, to good ones; and to 10 more where a line meets it elsewhere. For the line a + b x and residual variance
    s² the place x has the variance s² / b² (1 / m + (x - mean)² / sum (x_i - mean)²) to first order.
    """
    tried = [LEAST]
    seen = [figure(LEAST, True)]
    while seen[-1] < target and tried[-1] < most:
        tried.append(min(2 * tried[-1], most))
        seen.append(figure(tried[-1], True))
    if seen[-1] < target:
        raise OutOfReachError(tried[-1], seen[-1])
    if len(tried) == 1:
        return Found(LEAST, 0.0, np.array(tried), np.array(seen))

    def look(guess: float, reach: float, rough: bool) -> tuple[FloatArray, FloatArray]:
        at = np.unique(np.clip(np.rint(np.exp(guess + np.linspace(-reach, reach, POINTS))), LEAST, most).astype(int))
        values = np.array([figure(int(n), rough) for n in at])
        tried.extend(at.tolist())
        seen.extend(values.tolist())
        return np.log(at), values

    x, error = _crossing(tried, seen, target), 0.0
    for reach, rough in ((REACH, True), (NARROW, False)):
        looked: list[tuple[FloatArray, FloatArray]] = []
        for _ in range(ROUNDS):
            guess = x
            looked.append(look(guess, reach, rough))
            at, values = (np.concatenate(parts) for parts in zip(*looked, strict=True))
            near = np.abs(at - guess) <= 3.0 * reach
            x, error = _on_line(at[near], values[near], target, guess, reach)
            if abs(x - guess) <= reach / 2.0:
                break
    if (rows := ceil(exp(x))) > most:
        raise OutOfReachError(most, seen[tried.index(max(tried))])
    order = np.argsort(tried, kind="stable")
    return Found(max(rows, LEAST), rows * error, np.array(tried)[order], np.array(seen)[order])


def _crossing(tried: list[int], seen: list[float], target: float) -> float:
    """Return the logarithm of the rows where a line through the last two meets the target."""
    (n, m), (low, high) = tried[-2:], seen[-2:]
    part = (target - low) / (high - low) if np.isfinite(low) else 0.5
    return float(np.log(n) + part * (np.log(m) - np.log(n)))


def _on_line(x: FloatArray, values: FloatArray, target: float, guess: float, reach: float) -> tuple[float, float]:
    """Return where the line through the points meets the target, at most twice ``reach`` from the guess, and its error."""
    held = np.isfinite(values)
    x, values = x[held], values[held]
    if x.size < 3:
        return guess + 2.0 * reach, reach
    mean, spread = float(x.mean()), float(((x - x.mean()) ** 2).sum())
    slope = float((x - mean) @ values) / spread
    if slope <= 0.0:  # noise alone: look further on
        return guess + 2.0 * reach, reach
    residual = values - values.mean() - slope * (x - mean)
    met = mean + (target - float(values.mean())) / slope
    variance = float(residual @ residual) / (x.size - 2) / slope**2 * (1.0 / x.size + (met - mean) ** 2 / spread)
    return float(np.clip(met, guess - 2.0 * reach, guess + 2.0 * reach)), float(np.sqrt(variance))
