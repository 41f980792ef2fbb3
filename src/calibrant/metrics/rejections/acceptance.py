"""Which probabilities the events of a bin do not reject, by the name of the test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, get_args

import numpy as np
from scipy.special import betainc, betaincc, betainccinv, betaincinv, stdtrit

from calibrant._core.links import FloatArray
from calibrant._core.parameters import choice, number
from calibrant._core.problem import BoolArray
from calibrant.metrics.rejections import binomial
from calibrant.metrics.rejections.binomial import ROUNDING

TestName = Literal["binomial", "mid-p", "clopper-pearson", "t"]

Ends = tuple[FloatArray, FloatArray]

HALVINGS = 100
"""Of an interval below 1: what is left of it is 1e-30 wide."""


def clopper_pearson(k: FloatArray, n: FloatArray, level: float) -> Ends:
    """Return the probabilities of which as many events, and as few, have probability level / 2."""
    lower, upper = np.zeros(k.shape), np.ones(k.shape)
    some, rest = k > 0.0, k < n
    lower[some] = betaincinv(k[some], (n - k + 1.0)[some], level / 2.0)
    upper[rest] = betainccinv((k + 1.0)[rest], (n - k)[rest], level / 2.0)
    return lower, upper


def mid_p(k: FloatArray, n: FloatArray, level: float) -> Ends:
    """Return the probabilities of which more events, and fewer, with half of those as many have probability level / 2."""
    rate = k / n

    def is_below(p: FloatArray) -> BoolArray:
        return np.asarray(_at_least(k, n, p) + _at_least(k + 1.0, n, p) < level)

    def is_within(p: FloatArray) -> BoolArray:
        return np.asarray(_at_most(k - 1.0, n, p) + _at_most(k, n, p) >= level)

    return _halved(is_below, np.zeros(k.shape), rate)[1], _halved(is_within, rate, np.ones(k.shape))[1]


def t(k: FloatArray, n: FloatArray, level: float) -> Ends:
    """Return the rate -+ the quantile of Student's t times its standard error; of one row everything.

    The standard error is that of the mean, the root of rate * (1 - rate) / (n - 1). Outcomes that are all alike have none:
    only their own rate is accepted.
    """
    rate, others = k / n, np.maximum(n - 1.0, 1.0)
    reach = -stdtrit(others, level / 2.0) * np.sqrt(rate * (1.0 - rate) / others)
    reach = np.where(n > 1.0, reach, 1.0)
    return np.maximum(rate - reach, 0.0), np.minimum(rate + reach, 1.0)


ACCEPTED: Mapping[str, Callable[[FloatArray, FloatArray, float], Ends]] = {
    "binomial": binomial.accepted,
    "mid-p": mid_p,
    "clopper-pearson": clopper_pearson,
    "t": t,
}


def accepted(test: TestName, k: FloatArray, n: FloatArray, level: float) -> Ends:
    """Return the least and the greatest accepted probability of each bin with k events of n; NaN where n is zero.

    Between them all are accepted, but that the exact test ("binomial") can reject a few near the ends.
    """
    held = n > 0.0
    lower, upper = np.full(k.shape, np.nan), np.full(k.shape, np.nan)
    lower[held], upper[held] = ACCEPTED[test](k[held], n[held], level)
    return lower, upper


def outside(score: FloatArray, lower: FloatArray, upper: FloatArray) -> BoolArray:
    """Return which scores lie outside of their ends; a score that is an end but for rounding does not."""
    below = score < lower - ROUNDING * np.minimum(lower, 1.0 - lower)
    return np.asarray(below | (score > upper + ROUNDING * np.minimum(upper, 1.0 - upper)))


def require_test(test: object, level: object) -> None:
    """Refuse a test that is not known, and a level that is no fraction."""
    choice("test", test, get_args(TestName))
    number("level", level, above=0.0, below=1.0, hint="For tests at 5 % pass level=0.05")


def _halved(is_low: Callable[[FloatArray], BoolArray], low: FloatArray, high: FloatArray) -> Ends:
    """Return the neighbouring numbers between which something that is true of low ones stops being so."""
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        is_one = is_low(middle)
        low, high = np.where(is_one, middle, low), np.where(is_one, high, middle)
    return low, high


def _at_least(k: FloatArray, n: FloatArray, p: FloatArray) -> FloatArray:
    """Probability of k events or more, and of more than n none."""
    tail = betainc(np.maximum(k, 1.0), np.maximum(n - k, 0.0) + 1.0, p)
    return np.where(k > n, 0.0, np.where(k > 0.0, tail, 1.0))


def _at_most(k: FloatArray, n: FloatArray, p: FloatArray) -> FloatArray:
    """Probability of k events or fewer, and of fewer than none none."""
    tail = betaincc(np.maximum(k, 0.0) + 1.0, np.maximum(n - k, 1.0), p)
    return np.where(k < 0.0, 0.0, np.where(k < n, tail, 1.0))
