"""Isotonic regression: the best non-decreasing map of a score; and of regions, stopped before it has learnt the noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from scipy.special import xlogy

from calibrant._core import rows as _rows
from calibrant._core.arrays import EPSILON, ArrayLike, FloatArray, is_number, score_of_logit, sum_of_rows
from calibrant._core.checks import choice, is_word, number, require, warn, whole
from calibrant._core.registry import ARGMAX, FINITE, HULL, ORDER, PERMUTED
from calibrant._core.rows import BinaryProblem, BoolArray, Forecast, IntArray, SimplexProblem, Weights
from calibrant.binning.bins import Ordered
from calibrant.binning.cells import MOST_NUMBERS, SplitTree, simplex_grid
from calibrant.calibrators.base import BinaryCalibrator, MulticlassCalibrator, fitted, method, parameter
from calibrant.fit import trees
from calibrant.fit.isotonic import choose_stage, isotonic_fit
from calibrant.sums.sums import in_cells, outward

Finite = Literal["smooth", "clip"] | float | None
OF_FINITE = "Or 'smooth', which suits most uses, 'clip' or None"


@method("isotonic", symbol="IR", source="Zadrozny and Elkan 2002", guarantees={ORDER, FINITE})
class IsotonicCalibration(BinaryCalibrator):
    """Fit the non-decreasing map with the least squared error (isotonic regression, PAVA).

    Use it with a thousand rows or more, when the shape of the miscalibration is unknown. Do not use it with few rows: a
    parametric map, such as `PlattScaling`, wastes fewer of them. By default each event rate is smoothed, so that no value is
    0 or 1; ``finite=None`` gives the regression itself, as scikit-learn and the literature have it.

    Parameters
    ----------
    interpolate : bool, default=False
        False: a step function, right-continuous: a score takes the value of the last block that begins at or below it.
        True: linear between the lowest and the highest score of neighbouring blocks, as in scikit-learn.
    finite : {"smooth", "clip"}, float or None, default="smooth"
        What keeps values off 0 and 1, so that the log loss of any row is finite. ``"smooth"``: a block with k events in m
        rows takes (k + 1) / (m + 2) in place of k / m, and blocks that are out of order then are pooled again. ``"clip"``:
        values are clipped to 1 / (n + 2) from both ends, for n rows in all. A number from 1e-12 to below 0.5 clips to that. No
        value comes nearer than 1e-12 to 0 or 1. None: the regression itself, whose ends are often exactly 0 and 1, so that
        the log loss of a new row can be infinite.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length 2, optional
        The negative and the positive label.

    Attributes
    ----------
    left_, right_ : ndarray of shape (n_blocks,)
        Lowest and highest score of each block. Scores outside take the value of the nearest block.
    value_ : ndarray of shape (n_blocks,)
        Smoothed or clipped event rate of each block, not decreasing; with ``finite=None`` the rate itself, increasing.
    classes_ : ndarray of shape (2,)
        Labels, the positive one last.

    Notes
    -----
    Equal scores are one point with the sum of their weights. Whole weights count as rows; others are scaled to a mean of
    one where rows are counted.

    **The default departs from the literature.** Isotonic regression by Zadrozny and Elkan, the `IsotonicRegression` of
    scikit-learn and ``CalibratedClassifierCV(method="isotonic")`` are ``finite=None`` (scikit-learn's with
    ``interpolate=True``). That map has the least squared error, and the least log loss, of all non-decreasing maps on the rows
    that it was fitted to, and on new rows one event in a block without events costs all. On the 39 forecasts of
    docs/comparison.md (the probabilities of a table class by class, log loss cut at 1e-12) it raised the log loss of the test
    rows in 44 %, ``"clip"`` and ``"smooth"`` in 13 %; mean log losses are 0.527, 0.461 and 0.460. In the 356 experiments of
    docs/do-no-harm.md, with 100 to 2000 rows to fit, harm was done in 77, 46 and 41 %, and smoothing lost 0.0035 less than
    clipping (standard error over the 54 forecasts 0.0016). ``python -m studies.arena.defaults`` of commit 6e77aab2 gave
    these figures.

    Smoothing gives every block one more row of each class and fits once more. The result is an isotonic regression, so it
    cannot decrease; each value is a mean of rates (k + 1) / (m + 2), so it is never 0 or 1. A block is trusted as far as its
    rows go, while clipping trusts an event-free block of three rows like one of all rows.

    All keep the order. None and clipping keep the convex hull of the ROC curve as well; smoothing may pool what the hull keeps
    apart.

    References
    ----------
    Zadrozny, Elkan, Transforming classifier scores into accurate multiclass probability estimates, KDD 2002.

    Examples
    --------
    >>> from calibrant import IsotonicCalibration
    >>> IsotonicCalibration().fit([0.1, 0.2, 0.3, 0.4], [0, 0, 1, 1]).calibrate([0.05, 0.9]).tolist()
    [0.25, 0.75]
    >>> IsotonicCalibration(finite=None).fit([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1]).calibrate([0.05, 0.25, 0.9]).tolist()
    [0.0, 0.5, 1.0]
    """

    interpolate: bool = parameter(default=False)
    finite: Finite = parameter(default="smooth", least=EPSILON, below=0.5, hint=OF_FINITE)
    left_: FloatArray = fitted("n", least=0.0, most=1.0, order="rising", fewest=1)
    right_: FloatArray = fitted("n", least=0.0, most=1.0)
    value_: FloatArray = fitted("n", least=0.0, most=1.0, order="not falling")

    def _fit(self, problem: BinaryProblem) -> None:
        problem = in_cells(problem)
        left, right, _, self.value_ = blocks_of(problem, self.finite)
        self.left_, self.right_ = outward(problem, left, right)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        fits, must = self.right_ >= self.left_, "right_ must lie from left_ to below the next left_"
        require(fits.all() and (self.right_[:-1] < self.left_[1:]).all(), must, got="others", hint="Fit anew")

    def _apply(self, score: FloatArray) -> FloatArray:
        if self.interpolate:
            return joined(score, *knots(self.left_, self.right_, self.value_))
        return on_steps(self.left_, self.value_, score)


def blocks_of(problem: BinaryProblem, finite: Finite) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Fit the isotonic regression, and keep its values off 0 and 1 as ``finite`` says.

    Returns
    -------
    left, right, centre, value : ndarrays of shape (n_blocks,)
        The lowest, the highest and the mean score of each block, and the value that it takes.
    """
    ordered = Ordered.of(problem)
    steps = isotonic_fit(ordered)
    starts, value = steps.starts, steps.rate
    row = 1.0 / ordered.problem.weights.rows_per_weight
    if finite == "smooth":
        begins, value = trees.pooled(steps.weight, steps.rate * steps.weight, row)
        starts = starts[begins]
    value = off_the_ends(value, finite, ordered.total / row)
    left, right = ordered.score[starts], ordered.score[np.append(starts[1:], ordered.score.size) - 1]
    centre = np.add.reduceat(ordered.weight * ordered.score, starts) / np.add.reduceat(ordered.weight, starts)
    return left, right, np.clip(centre, left, right), value


def off_the_ends(value: FloatArray, finite: Finite, rows: float) -> FloatArray:
    """Clip values as ``finite`` says, for so many rows in all: smoothed ones only where rounding has made them certain."""
    if finite is None:
        return value
    least = EPSILON
    if finite != "smooth":
        least = max(EPSILON, 1.0 / (rows + 2.0) if finite == "clip" else float(finite))
    return np.clip(value, least, 1.0 - least)


def on_steps(left: FloatArray | IntArray, value: FloatArray, score: FloatArray | IntArray) -> FloatArray:
    """Give each score the value of the last step that begins at or below it; below all, the first value."""
    return value[_rows.places(left[1:], score, side="right")]


def knots(first: FloatArray, last: FloatArray, value: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the corners of pieces that are constant from first to last: one where a piece is a single point."""
    is_corner = np.column_stack([np.ones(value.size, dtype=bool), last > first]).ravel()
    return np.column_stack([first, last]).ravel()[is_corner], np.repeat(value, 2)[is_corner]


def joined(score: FloatArray, knot: FloatArray, value: FloatArray) -> FloatArray:
    """Join the points by lines, constant beyond the ends.

    As `numpy.interp`, which takes twice as long, and whose slopes overflow between knots that are closer than 1e-308. Assumes
    increasing knots.
    """
    if knot.size == 1:
        return np.full(score.shape, value[0])
    at = _rows.places(knot[1:-1], score, side="right")
    left, right, low, high = knot[at], knot[at + 1], value[at], value[at + 1]
    part = (np.clip(score, left, right) - left) / (right - left)
    # low + (high - low) may round to less than high, so that the last knot has its own value only if it is given it.
    return np.where(part < 1.0, np.minimum(low + part * (high - low), high), high)


# Centered isotonic regression: blocks shrunk to points, and lines between them


@method("centered-isotonic", symbol="CIR", source="Oron and Flournoy 2017", guarantees={ORDER, PERMUTED, FINITE})
class CenteredIsotonicCalibration(BinaryCalibrator):
    """Shrink each block of isotonic regression to a point and join the points by lines (CIR).

    Use it in place of `IsotonicCalibration` when rows must not be tied: between the first and the last point the map
    increases strictly, so what the forecast ranks apart stays apart. It is also the better estimate where the truth is smooth.
    Do not use it when the truth jumps, or with few rows.

    Parameters
    ----------
    finite : {"smooth", "clip"}, float or None, default="smooth"
        What keeps values off 0 and 1, so that the log loss of any row is finite; see `IsotonicCalibration`. None: nothing
        does, as in the paper.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length 2, optional
        The negative and the positive label.

    Attributes
    ----------
    knot_ : ndarray of shape (n_knots,)
        Scores between which the map is linear, increasing. Scores outside take the value of the nearest knot.
    value_ : ndarray of shape (n_knots,)
        Calibrated probability at each knot, not decreasing.
    classes_ : ndarray of shape (2,)
        Labels, the positive one last.

    Notes
    -----
    A block of isotonic regression with event rate strictly between 0 and 1 becomes one knot at the weighted mean of its
    scores. A block at exactly 0 or 1, which there is with ``finite=None`` alone, stays as wide as it is, with a knot at both
    ends, as in the paper: the data give no slope there. Below the first and above the last knot the map is constant. Rows are
    tied there, and on a block at 0 or 1, only. With ``finite=None`` or ``"clip"`` each of these lies in one block of isotonic
    regression, so the convex hull of the ROC curve stays as it is; smoothing may pool blocks.

    Where ``finite`` moves the ends off 0 and 1, they are blocks like the others and shrink, too. On the 39 forecasts of
    docs/comparison.md ``finite=None`` raised the log loss of the test rows in 44 %, ``"clip"`` in 10 % and ``"smooth"`` in
    13 %; mean log losses are 0.529, 0.458 and 0.458.

    References
    ----------
    Oron, Flournoy, Centered isotonic regression: point and interval estimation for dose-response studies, Statistics in
    Biopharmaceutical Research 2017.

    Examples
    --------
    >>> from calibrant.calibrators import CenteredIsotonicCalibration
    >>> fitted = CenteredIsotonicCalibration(finite=None).fit([0.1, 0.2, 0.3, 0.4, 0.5], [0, 1, 0, 1, 1])
    >>> fitted.calibrate([0.1, 0.2, 0.25, 0.3, 0.5]).round(3).tolist()
    [0.0, 0.333, 0.5, 0.667, 1.0]
    """

    finite: Finite = parameter(default="smooth", least=EPSILON, below=0.5, hint=OF_FINITE)
    knot_: FloatArray = fitted("n", least=0.0, most=1.0, order="rising", fewest=1)
    value_: FloatArray = fitted("n", least=0.0, most=1.0, order="not falling")

    def _fit(self, problem: BinaryProblem) -> None:
        left, right, centre, value = blocks_of(problem, self.finite)
        first, last = np.where((value == 0.0) | (value == 1.0), [left, right], centre)
        self.knot_, self.value_ = knots(first, last, value)

    def _apply(self, score: FloatArray) -> FloatArray:
        return joined(score, self.knot_, self.value_)


# The nearly-isotonic fits of a problem at all penalties, from the labels themselves to isotonic regression


SAME_RATE = 1e-12
"""Event rates of neighbouring scores that differ by no more are one block from the start."""

SAME_PENALTY = 1e-10
"""Joins whose penalties differ by so much relatively, which is rounding, are one: there is no fit between them."""


class Fit(NamedTuple):
    """Blocks of a nearly-isotonic fit: number of the first point, weight, weight of the events and value of each."""

    starts: IntArray
    weight: FloatArray
    events: FloatArray
    value: FloatArray


@dataclass(frozen=True, eq=False)
class NearIsotonicPath:
    """The nearly-isotonic fits of a problem at all penalties.

    Points are runs of scores with one event rate. ``above`` says of the boundary behind each point but the last whether the
    rate is higher before it, ``gone`` from which penalty on it is no more. ``join_penalty`` are the penalties of all joins in
    order, and ``join_loss`` what each costs in log likelihood if blocks have their event rates.
    """

    score: FloatArray
    weight: FloatArray
    events: FloatArray
    above: IntArray
    gone: FloatArray
    join_penalty: FloatArray
    join_loss: FloatArray
    rows_per_weight: float

    @classmethod
    def of(cls, problem: BinaryProblem) -> NearIsotonicPath:
        """Follow the path from penalty 0 to isotonic regression."""
        from calibrant._kernels.isotonic import join_path

        ordered = Ordered.of(problem)
        rate = ordered.outcome_sum / ordered.weight
        starts = np.flatnonzero(np.append(True, np.abs(np.diff(rate)) > SAME_RATE))
        weight, events = np.add.reduceat(ordered.weight, starts), np.add.reduceat(ordered.outcome_sum, starts)
        above = (rate[starts[1:] - 1] > rate[starts[1:]]).astype(np.intp)
        penalty, boundary, (e_left, w_left, e_right, w_right) = join_path(events, weight, above)
        gone = np.full(above.size, np.inf)
        gone[boundary] = penalty
        apart = _log_likelihood(e_left, w_left) + _log_likelihood(e_right, w_right)
        loss = apart - _log_likelihood(e_left + e_right, w_left + w_right)
        return cls(ordered.score[starts], weight, events, above, gone, penalty, loss, problem.weights.rows_per_weight)

    def fit(self, penalty: float) -> Fit:
        """Return the fit at a penalty: a block loses it behind, and gains it in front, where there is a step down."""
        penalty = min(penalty, self.join_penalty[-1] if self.join_penalty.size else 0.0)
        inner = np.flatnonzero(self.gone > penalty) + 1
        starts, above = np.append(0, inner), self.above[inner - 1]
        weight, events = np.add.reduceat(self.weight, starts), np.add.reduceat(self.events, starts)
        moved = penalty * (np.append(0, above) - np.append(above, 0))
        return Fit(starts, weight, events, np.clip((events + moved) / weight, 0.0, 1.0))

    def off_the_ends(self, fit: Fit, finite: Finite) -> FloatArray:
        """Return the values of a fit, kept off 0 and 1 as ``finite`` says."""
        row, value = 1.0 / self.rows_per_weight, fit.value
        if finite == "smooth":
            value = (fit.weight * value + row) / (fit.weight + 2.0 * row)
        return off_the_ends(value, finite, float(self.weight.sum()) / row)

    @cached_property
    def knots(self) -> FloatArray:
        """Penalty 0, and those at which blocks join; of joins at one penalty the last."""
        return np.asarray(np.append(0.0, self.join_penalty)[self._is_last])

    @cached_property
    def best_bic(self) -> FloatArray:
        """What the BIC at each knot is at least: that of the same blocks with their event rates for values.

        It takes one number a join; the BIC itself takes all blocks at each knot, O(n^2) for them all.
        """
        reached = _log_likelihood(self.events, self.weight).sum() - np.append(0.0, np.cumsum(self.join_loss))
        blocks = self.weight.size - np.arange(reached.size)
        return np.asarray(self._bic(reached, blocks)[self._is_last])

    def scored(self, margin: float) -> Iterator[tuple[float, float]]:
        """Yield the penalties at knots and the BIC of their fits, the most promising first.

        What is left out has a BIC that is higher than the least one by more than ``margin``.
        """
        least = np.inf
        for i in np.argsort(self.best_bic, kind="stable"):
            if self.best_bic[i] > least + margin:
                return
            penalty = float(self.knots[i])
            bic = self.bic(penalty)
            least = min(least, bic)
            yield penalty, bic

    def bic(self, penalty: float) -> float:
        """Return -2 log likelihood + blocks * log(rows).

        Never infinite: a block has the value 0 only if it holds no event, as it falls only while it stands above another.
        """
        fit = self.fit(penalty)
        likelihood = xlogy(fit.events, fit.value) + xlogy(fit.weight - fit.events, 1.0 - fit.value)
        return float(self._bic(likelihood.sum(), fit.starts.size))

    @cached_property
    def _is_last(self) -> Any:
        reached = np.append(0.0, self.join_penalty)
        return np.append(np.diff(reached) > SAME_PENALTY * reached[1:], True)

    def _bic(self, log_likelihood: Any, blocks: Any) -> Any:
        rows = float(self.weight.sum()) * self.rows_per_weight
        return -2.0 * self.rows_per_weight * log_likelihood + blocks * np.log(rows)


def _log_likelihood(events: FloatArray, weight: FloatArray) -> FloatArray:
    """Log likelihood of blocks that have their event rates for values."""
    others = weight - events
    return np.asarray(xlogy(events, events / weight) + xlogy(others, others / weight))


# ENIR: all nearly-isotonic fits of a problem, averaged


LEFT_OUT = 1e-13
"""Weight that fits may have that are not averaged, all of them together."""


@method("enir", symbol="ENIR", source="Naeini and Cooper 2016", guarantees={FINITE})
class EnsembleNearIsotonic(BinaryCalibrator):
    """Average the nearly-isotonic fits of all penalties, weighted by how well they explain the labels (ENIR).

    Use it in place of isotonic regression when the score may not rise with the event rate everywhere, with a thousand rows
    or more. Do not use it where the order of the scores must be kept, or with a few dozen rows, where a fit that repeats
    the labels has weight.

    Parameters
    ----------
    finite : {"smooth", "clip"}, float or None, default="smooth"
        What keeps values off 0 and 1, so that the log loss of any row is finite. ``"smooth"``: in each fit that is averaged, a
        block of value v with m rows takes (m v + 1) / (m + 2). ``"clip"``: values are clipped to 1 / (n + 2) from both ends,
        for n rows in all. A number from 1e-12 to below 0.5 clips to that. None: the average itself, as in the paper; its ends
        can be exactly 0 and 1, and the log loss of a new row infinite. `IsotonicCalibration` says what the default was chosen
        by.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length 2, optional
        The negative and the positive label.

    Attributes
    ----------
    left_ : ndarray of shape (n_steps,)
        Lowest score of each step of the average, increasing. A score takes the value of the last step that begins at or
        below it, and below all of them that of the first.
    value_ : ndarray of shape (n_steps,)
        Calibrated probability of each step.
    penalty_, weight_ : ndarray of shape (n_fits,)
        Penalties of the fits that are averaged, increasing, and their weights, which sum to one.
    left_out_ : float
        What the weights of all other fits sum to at most.
    classes_ : ndarray of shape (2,)
        Labels, the positive one last.

    Notes
    -----
    The fits are those of `NearIsotonicCalibration` at penalty 0 and at each penalty where blocks join, down to isotonic
    regression. Each has the weight  exp(-BIC / 2),  BIC = -2 log likelihood + blocks * log(rows),  divided by the sum.

    The likelihood is one of all blocks, at each of up to n fits. But no values explain the labels better than the event rates
    of the blocks, and their likelihood changes with two blocks at each join: this bounds the weight of every fit, and fits
    are taken in the order of their bounds until no more than 1e-13 of the weight can be left. That takes some ten to a few
    hundred fits, whatever the number of rows, after O(n log n) for the path.

    This departs from the paper, and from packages that follow it, in these points. Equal scores are one point. Joins at one
    penalty give one fit, and are not counted several times. Penalty 0 takes part: with few distinct scores it is the
    histogram over them. Nothing is clipped in the likelihood, as no fit gives an observed label probability zero. No fit is
    dropped for being little better than the next.

    Whole weights count as rows; others are scaled to a mean of one.

    References
    ----------
    Naeini, Cooper, Binary classifier calibration using an ensemble of near isotonic regression models, ICDM 2016.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.calibrators import EnsembleNearIsotonic
    >>> y, prob = load_digits_forecast()
    >>> fitted = EnsembleNearIsotonic().fit(prob[:, 3], y == 3)
    >>> bool(fitted.left_out_ < 1e-12)
    True
    """

    finite: Finite = parameter(default="smooth", least=EPSILON, below=0.5, hint=OF_FINITE)
    left_: FloatArray = fitted("n", least=0.0, most=1.0, order="rising", fewest=1)
    value_: FloatArray = fitted("n", least=0.0, most=1.0)
    weight_: FloatArray = fitted("m", sum_to_one=True)
    penalty_: FloatArray = fitted("m", least=0.0)
    left_out_: float = fitted()

    def _fit(self, problem: BinaryProblem) -> None:
        path = NearIsotonicPath.of(problem)
        self.penalty_, bic = np.array(sorted(path.scored(2.0 * np.log(path.knots.size / LEFT_OUT)))).T
        least = bic.min()
        weight = np.exp(0.5 * (least - bic))
        others = np.exp(0.5 * np.minimum(least - path.best_bic[~np.isin(path.knots, self.penalty_)], 0.0))
        self.weight_, self.left_out_ = weight / weight.sum(), float(others.sum() / weight.sum())
        self.left_, self.value_ = _average(path, self.penalty_, self.weight_, self.finite)

    def _apply(self, score: FloatArray) -> FloatArray:
        return on_steps(self.left_, self.value_, score)


def _average(
    path: NearIsotonicPath, penalty: FloatArray, weight: FloatArray, finite: Finite
) -> tuple[FloatArray, FloatArray]:
    """Average fits over the steps of the one with the lowest penalty, which all others join."""
    finest = path.fit(penalty[0]).starts
    total = np.zeros(finest.size)
    for at, share in zip(penalty, weight, strict=True):
        fit = path.fit(at)
        total += share * on_steps(fit.starts, path.off_the_ends(fit, finite), finest)
    return path.score[finest], np.clip(total, 0.0, 1.0)


# Nearly-isotonic regression: a map that may fall here and there, at a price


@method("near-isotonic", symbol="NIR", source="Tibshirani, Hoefling and Tibshirani 2011", guarantees={FINITE})
class NearIsotonicCalibration(BinaryCalibrator):
    """Fit a step function with a penalty on every step down (nearly-isotonic regression, NIR).

    Use it to see whether a score that should rise with the event rate really does: a step down that is left at a high
    penalty is there in the data. As a calibrator it is an isotonic regression that may break the order; use
    `EnsembleNearIsotonic` where one penalty is too bold, and `IsotonicCalibration` where the order must be kept.

    Parameters
    ----------
    penalty : float or "bic", default="bic"
        Price of a step down, at least 0, in rows: it makes a block that stands above both its neighbours give up so many
        events, and one that lies below both gain as many. 0 gives the event rate of each distinct score, and a large
        enough one, such as infinity, isotonic regression. Twice as many rows need a higher one for the same fit. "bic"
        takes the one of least  -2 log likelihood + blocks * log(rows).
    finite : {"smooth", "clip"}, float or None, default="smooth"
        What keeps values off 0 and 1, so that the log loss of any row is finite. ``"smooth"``: a block of value v with m rows
        takes (m v + 1) / (m + 2). ``"clip"``: values are clipped to 1 / (n + 2) from both ends, for n rows in all. A number
        from 1e-12 to below 0.5 clips to that. None: the fit itself, as in the paper; its ends can be exactly 0 and 1, and the
        log loss of a new row infinite. `IsotonicCalibration` says what the default was chosen by.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length 2, optional
        The negative and the positive label.

    Attributes
    ----------
    left_ : ndarray of shape (n_blocks,)
        Lowest score of each block, increasing. A score takes the value of the last block that begins at or below it, and
        below all of them that of the first.
    value_ : ndarray of shape (n_blocks,)
        Fitted probability of each block.
    penalty_ : float
        The penalty, chosen or given.
    classes_ : ndarray of shape (2,)
        Labels, the positive one last.

    Notes
    -----
    With the event rate y and the weight w of each distinct score in increasing order, the fit b minimises

        1/2 sum of w_i (y_i - b_i)^2  +  penalty * sum of max(b_i - b_(i+1), 0)

    exactly: as the penalty grows from 0, neighbouring blocks join at values that are known in closed form and never part
    again. All joins together take O(n log n), after which the fit at any penalty is read off.

    Between two joins all blocks move away from their event rates and their number stays, so the least BIC is that of a fit
    where blocks have just joined, or of penalty 0: only these are looked at. The Akaike criterion is not offered: with
    scores that differ, as many labels alternate by chance, it takes the labels themselves for the best fit.

    Whole weights count as rows; for the criterion others are scaled to a mean of one.

    References
    ----------
    Tibshirani, Hoefling, Tibshirani, Nearly-isotonic regression, Technometrics 2011.

    Examples
    --------
    >>> from calibrant.calibrators import NearIsotonicCalibration
    >>> fitted = NearIsotonicCalibration(penalty=0.25, finite=None).fit([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1])
    >>> fitted.calibrate([0.2, 0.35]).tolist()
    [0.75, 0.25]
    """

    penalty: float | Literal["bic"] = "bic"
    finite: Finite = parameter(default="smooth", least=EPSILON, below=0.5, hint=OF_FINITE)
    left_: FloatArray = fitted("n", least=0.0, most=1.0, order="rising", fewest=1)
    value_: FloatArray = fitted("n", least=0.0, most=1.0)
    penalty_: float = fitted()

    def _fit(self, problem: BinaryProblem) -> None:
        given = _given(self.penalty)
        path = NearIsotonicPath.of(problem)
        if given is None:  # of equally good ones the highest
            given = min(path.scored(0.0), key=lambda fit: (fit[1], -fit[0]))[0]
        self.penalty_ = given
        fit = path.fit(self.penalty_)
        self.left_, self.value_ = path.score[fit.starts], path.off_the_ends(fit, self.finite)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        _given(self.penalty_)

    def _apply(self, score: FloatArray) -> FloatArray:
        return on_steps(self.left_, self.value_, score)


def _given(penalty: object) -> float | None:
    """Return the penalty as a number; None where the data are to choose it."""
    if is_word(penalty, "bic"):
        return None
    if is_number(penalty) and penalty == float("inf"):
        return float("inf")
    hint = "Pass penalty='bic' to have the data choose it, float('inf') for isotonic regression"
    return number("penalty", penalty, least=0.0, hint=hint)


# Venn-Abers: two isotonic fits for every forecast, one for each label that it may get


@method("venn-abers", symbol="VA", source="Vovk, Petej and Fedorova 2015", guarantees={ORDER, HULL, FINITE})
class VennAbers(BinaryCalibrator):
    """Fit isotonic regression with the new forecast among its rows, once with each label (inductive Venn-Abers, IVAP).

    Use it when a probability should come with its uncertainty: `predict_interval` gives the two fits, and where rows are
    exchangeable one of the two, that of the true label, is calibrated whatever their distribution. Use it in
    place of isotonic regression also where the log loss counts: no probability is 0 or 1. Do not use it below some hundred
    rows, where the interval is wide, or as an interval for the true probability, which it is not.

    Parameters
    ----------
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length 2, optional
        The negative and the positive label.

    Attributes
    ----------
    lower_score_ : ndarray of shape (n_lower,)
        Scores, increasing, from which on the fit with the negative label is higher than before.
    lower_ : ndarray of shape (n_lower + 1,)
        That fit: element i where i of ``lower_score_`` lie at or below the score. Increasing, from 0.
    upper_score_ : ndarray of shape (n_upper,)
        Scores, increasing, beyond which the fit with the positive label is higher.
    upper_ : ndarray of shape (n_upper + 1,)
        That fit: element i where i of ``upper_score_`` lie below the score. Increasing, to 1.
    classes_ : ndarray of shape (2,)
        Labels, the positive one last.

    Notes
    -----
    With p0 and p1 the fits at the new score that has been given the negative and the positive label, p0 < p1, the
    probability is  p1 / (1 - p0 + p1),  the one of least regret in log loss against the better of the two. It lies between
    them, grows with the score, and is 1/2 where the interval is [0, 1]. It is kept 1e-12 away from 0 and 1, which no fewer
    than 1e12 rows come near to. Both fits rise from each block of isotonic
    regression to the next, so the ROC hull stays. Exchanging the classes makes (1 - p1, 1 - p0) of the interval, exactly
    so unless rounding leaves two scores apart in one column and tied in the other, which happens near 0 and 1.

    The new row counts as one row: its weight is 1 where all weights are whole, which then are numbers of rows, and else
    their mean. A score equal to a calibration score joins its point. Between two calibration scores p1 is that of the next
    one above and p0 that of the next one below, which is exact; so steps are all that is kept. Both fits at all
    calibration scores take linear time after sorting.

    Cross Venn-Abers (CVAP) is ``CalibratedClassifier(estimator, VennAbers(), ensemble=True, pooling="geometric")``: the
    geometric means of p1 and of 1 - p0 over the folds, divided by their sum, are the geometric means of the two
    probabilities, divided by their sum.

    One class only: p0 is 0 everywhere, or p1 is 1.

    References
    ----------
    Vovk, Petej, Fedorova, Large-scale probabilistic predictors with and without guarantees of validity, NeurIPS 2015.

    Examples
    --------
    >>> from calibrant import VennAbers
    >>> fitted = VennAbers().fit([0.1, 0.2, 0.3, 0.4], [0, 0, 1, 1])
    >>> fitted.predict_interval([0.1, 0.35]).round(3).tolist()
    [[0.0, 0.333], [0.5, 1.0]]
    >>> fitted.calibrate([0.1, 0.35]).round(3).tolist()
    [0.25, 0.667]
    """

    lower_score_: FloatArray = fitted("n", least=0.0, most=1.0, order="rising")
    lower_: FloatArray = fitted("n+1", least=0.0, most=1.0, order="not falling")
    upper_score_: FloatArray = fitted("m", least=0.0, most=1.0, order="rising")
    upper_: FloatArray = fitted("m+1", least=0.0, most=1.0, order="not falling")

    def predict_interval(self, X: ArrayLike) -> FloatArray:
        """Return the two fits at each forecast: the probabilities if its label were the negative and the positive one.

        Parameters
        ----------
        X : array-like of shape (n_samples,) or (n_samples, 2)
            Forecast of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Fits p0 and p1 of the positive label, p0 < p1.
        """
        forecast = self._fitted_forecast(X)
        score = score_of_logit(forecast.log_odds) if forecast.is_logit else forecast.prob[:, 1]
        return np.column_stack(self._interval(score))

    def _fit(self, problem: BinaryProblem) -> None:
        problem = in_cells(problem)
        ordered = Ordered.of(problem)
        score, weight, events = ordered.score, ordered.weight, ordered.outcome_sum
        # A row among 1e14 and more is counted as more than rounding, or it would be lost in the sums.
        more = max(1.0 / problem.weights.rows_per_weight, LEAST_ROW * ordered.total)
        upper = np.append(_with_one_event(weight, events, more), 1.0)
        # A negative label more is a positive one more where the order and the labels are turned round.
        turned = _with_one_event(weight[::-1], (weight - events)[::-1], more)
        lower = np.append(0.0, 1.0 - turned[::-1])
        self.lower_score_, self.lower_ = _steps(score, lower)
        self.upper_score_, self.upper_ = _steps(score, upper)
        self.lower_score_, self.upper_score_ = outward(problem, self.lower_score_, self.upper_score_)

    def _interval(self, score: FloatArray) -> tuple[FloatArray, FloatArray]:
        lower = self.lower_[np.searchsorted(self.lower_score_, score, side="right")]
        return lower, self.upper_[np.searchsorted(self.upper_score_, score, side="left")]

    def _apply(self, score: FloatArray) -> FloatArray:
        p0, p1 = self._interval(score)
        # Of some 1e16 rows and more the two fits agree to the last digit, and can be certain.
        return np.clip(p1 / (1.0 - p0 + p1), EPSILON, 1.0 - EPSILON)


LEAST_ROW = 1e-14
"""Part of all rows that the new row of Venn-Abers is at least."""


def _with_one_event(weight: FloatArray, events: FloatArray, more: float) -> FloatArray:
    """Fit each point with one event beside its own."""
    from calibrant._kernels.isotonic import fits_with_one_event

    reached = np.append(0.0, np.cumsum(weight))
    events_reached = np.append(0.0, np.cumsum(events))
    return np.clip(np.maximum.accumulate(fits_with_one_event(reached, events_reached, more)), 0.0, 1.0)


def _steps(score: FloatArray, fit: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Keep the scores at which a fit rises, and its values from there on."""
    rises = np.flatnonzero(np.diff(fit) > 0)
    return score[rises], fit[np.append(0, rises + 1)]


# Multi-class isotonic regression: one non-decreasing map for the scores of all classes


@method("irm", symbol="IRM", source="Zhang et al. 2020", guarantees={ARGMAX, HULL, PERMUTED, FINITE})
class MulticlassIsotonic(MulticlassCalibrator):
    """Map the scores of all classes by one isotonic regression and divide rows by their sums (IRM).

    Use it when there are many classes with few rows each, and temperature scaling leaves a pattern along the score: all n
    times K scores are fitted at once, and the predicted class never changes. Do not use it when classes differ in how
    they are miscalibrated: a map for each class, such as `IsotonicTemperatureScaling`, or vector scaling can see that.

    Parameters
    ----------
    epsilon : float, default=1e-3
        This times the score is added to the isotonic map, which makes it strictly increasing: no class is tied with
        another that had less, and none that had a probability loses it. With 0, rows are those of flattened isotonic
        regression, and the predicted class can be tied.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    left_ : ndarray of shape (n_blocks,)
        Lowest score of each block. Scores between blocks take the value of the one below, scores below all the first.
    value_ : ndarray of shape (n_blocks,)
        Event rate of each block, increasing.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    Notes
    -----
    Every row gives K points: the score of each class, and whether it is the true class. The map is the isotonic regression of
    the second on the first, a step function; equal scores are one point. Then q_k = g(p_k) + epsilon p_k, divided by
    the sum of the row. The authors' code interpolates between the steps, has epsilon = 1e-9 and does not divide. The
    division is needed for probabilities; the larger epsilon costs nothing on the rows fitted and bounds what a zero of the
    map costs on new ones. A row on which the map is zero keeps its forecast.

    One class alone: the map still separates the scores of that class from the others.

    References
    ----------
    Zhang, Kailkhura, Han, Mix-n-Match: ensemble and compositional methods for uncertainty calibration in deep learning,
    ICML 2020.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.calibrators import MulticlassIsotonic
    >>> y, prob = load_digits_forecast()
    >>> calibrated = MulticlassIsotonic().fit(prob, y).predict_proba(prob)
    >>> bool((calibrated.argmax(axis=1) == prob.argmax(axis=1)).all())
    True
    """

    epsilon: float = parameter(default=1e-3, least=0.0, most=1.0, hint="Pass a small one, such as 1e-3")
    left_: FloatArray = fitted("n", least=0.0, most=1.0, order="rising", fewest=1)
    value_: FloatArray = fitted("n", least=0.0, most=1.0, order="not falling")

    def _fit(self, problem: SimplexProblem) -> None:
        occurred = problem.label[:, None] == np.arange(problem.prob.shape[1])
        weight = np.broadcast_to(problem.weight[:, None], occurred.shape)
        self.left_, self.value_ = steps_of(problem.prob, occurred, weight)

    def _apply(self, forecast: Forecast) -> FloatArray:
        prob = forecast.prob
        return divided(on_steps(self.left_, self.value_, prob) + self.epsilon * prob, prob)


def steps_of(score: FloatArray, outcome: BoolArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Fit an isotonic step function to arrays of one shape: the lowest score and the event rate of each block.

    Points without event are always pooled with the last event below. So events alone are sorted, which are few among
    all scores of many classes, and what lies between two of them is counted.
    """
    event, at = np.unique(score[outcome], return_inverse=True)
    left = np.append(score.min(), event)
    above = np.searchsorted(event, score[~outcome], side="right")
    events, others = np.bincount(at, weight[outcome], event.size), np.bincount(above, weight[~outcome], left.size)
    mass: FloatArray = np.append(events, others)
    some = mass > 0
    is_event = np.arange(mass.size) < event.size
    ordered = Ordered.of(BinaryProblem(np.append(event, left)[some], is_event[some], Weights(mass[some])))
    steps = isotonic_fit(ordered)
    return ordered.score[steps.starts], steps.rate


def divided(raised: FloatArray, prob: FloatArray) -> FloatArray:
    """Divide rows by their sums; a row of zeros keeps its forecast."""
    rows = np.where(raised.sum(axis=1, keepdims=True) > 0, raised, prob)
    return rows / sum_of_rows(rows)


# Isotonic recursive partitioning: scores are cut in two where that explains most, part by part


OF_NUMBER = "Or 'cv', or None for no limit"
OF_SMOOTHING = "In rows: 1 is Laplace's choice. Or 'cv'"
OF_SOFTENING = "Pass 0 for none, or 'cv'"


@method(
    "irp", symbol="IRP", source="Luss, Rosset and Shahar 2012; Berta, Bach and Jordan 2024", guarantees={ORDER, FINITE}
)
class IsotonicRecursivePartitioning(BinaryCalibrator):
    """Cut the scores in two where that explains most, then cut the parts in turn, and stop early (IRP).

    Use it where a non-decreasing map with few bins is wanted, and with few rows: the first cuts of isotonic regression explain
    most of what it explains, and labels that are softened by the score keep its bins near a score that is right. Do not use it
    when scores must stay apart: `BetaCalibration` and `SplineCalibration` lose less by far.

    Parameters
    ----------
    max_bins : int, "cv" or None, default="cv"
        Where to stop: after so many bins. None goes on to the end, which is isotonic regression. "cv" takes the number of bins
        with the least log loss on rows left out.
    smoothing : float or "cv", default="cv"
        So many rows of each class are added to every bin: (k + a) / (m + 2 a) in place of k / m, for k events in m rows. Bins
        that are out of order then are pooled. Above 0 no value comes nearer than 1e-12 to 0 or 1. "cv" takes the one of 0.25,
        0.5, ..., 16 with the least log loss on rows left out. At most 1e15.
    softening : float or "cv", default="cv"
        So large a part of each label is the score itself, from 0 to below 1. "cv": the one of 0, 0.3, 0.6, 0.8 and 0.9 with the
        least log loss on rows left out.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length 2, optional
        The negative and the positive label.

    Attributes
    ----------
    left_ : ndarray of shape (n_bins,)
        Lowest score of each bin. A score takes the value of the last bin that begins at or below it, one below all the first.
    value_ : ndarray of shape (n_bins,)
        Calibrated probability of each bin, not decreasing.
    n_bins_ : int
        Number of bins: one more than cuts, less those that smoothing pooled.
    threshold_ : ndarray of shape (n_cuts,)
        Lowest score above each cut, in the order in which they were made.
    gain_ : ndarray of shape (n_cuts,)
        What each cut gained; not increasing.
    weight_, event_weight_ : ndarray of shape (n_cuts + 1,)
        Weight of the rows and of the events between cuts, in the order of the scores.
    row_weight_ : float
        Weight that counts as one row where rows are counted.
    smoothing_ : float
        The smoothing that was used.
    softening_ : float
        The softening that was used.
    classes_ : ndarray of shape (2,)
        Labels, the positive one last.

    Notes
    -----
    The gain of a cut is M / n, with n rows in all, of which n_0 and n_1 of the region lie on its sides::

        M = sum_k n_k |mean - mean_k|_1

    where means are those of both classes: each differs by as much as the event rates do. The region with the greatest M is cut
    first, of equal ones the lowest, there at the lowest such cut. The best cuts are among those between the blocks of isotonic
    regression, so a fit takes one isotonic regression and little more. The maps of all stages are non-decreasing;
    `staged_predict_proba` shows them.

    **Without its regularisers it is isotonic regression.** ``max_bins=None, smoothing=0, softening=0`` gives the map of
    ``IsotonicCalibration(finite=None)`` to the last bit, equal scores and weights included;
    ``max_bins=None, smoothing=1, softening=0`` that of ``IsotonicCalibration(finite="smooth")``. By default all three are
    chosen by cross-validation, and the map is then another one.

    With softening m isotonic regression, and all that follows, has (1 - m) y + m s in place of the outcome y of a row with
    score s. The value of a bin is then, before it is smoothed, (1 - m) times its event rate and m times its mean score: it does
    not go far from the score. Less smoothing is needed then: "cv" tries 0.1 and 0.01 as well.

    Whole weights count as rows; others are scaled to a mean of one where rows are counted, in ``smoothing``.

    For cross-validation each row is left out once, with a fifth of all; the fold of a row is drawn by a hash of its numbers, so
    that the order of rows does not matter. Up to 64 bins each number is tried, then steps of four percent. A single row cannot
    be left out: then there is one bin, with the strongest smoothing.

    Does stopping help? Without softening, on 17 forecasts (logistic regression, naive Bayes and random forests on tables, the
    top label of image networks; 200 to 25,000 rows to fit on), the stop by cross-validation cost 0.001 of log loss on new rows
    on average, and up to 0.005, against ``IsotonicCalibration(finite="smooth")``, with a third fewer bins; ``max_bins=15`` and
    ``max_bins=None`` cost nothing on average and 0.0007 at most.

    References
    ----------
    Luss, Rosset, Shahar, Efficient regularized isotonic regression with application to gene-gene interaction search, The Annals
    of Applied Statistics 2012.
    Berta, Bach, Jordan, Classifier calibration with ROC-regularized isotonic regression, AISTATS 2024. The authors smooth with
    (mean + a) / (1 + a), whose rows do not sum to one.

    Examples
    --------
    >>> from calibrant.calibrators import IsotonicRecursivePartitioning
    >>> fitted = IsotonicRecursivePartitioning(max_bins=2, smoothing=0.0, softening=0.0)
    >>> fitted = fitted.fit([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1])
    >>> fitted.calibrate([0.05, 0.25, 0.9]).tolist()
    [0.0, 0.6666666666666666, 0.6666666666666666]
    """

    max_bins: int | Literal["cv"] | None = parameter(default="cv", least=1, hint=OF_NUMBER)
    smoothing: float | Literal["cv"] = parameter(default="cv", least=0.0, most=1e15, hint=OF_SMOOTHING)
    softening: float | Literal["cv"] = parameter(default="cv", least=0.0, below=1.0, hint=OF_SOFTENING)
    left_: FloatArray = fitted("n", least=0.0, most=1.0, order="rising", fewest=1)
    value_: FloatArray = fitted("n", least=0.0, most=1.0, order="not falling")
    n_bins_: int = fitted()
    threshold_: FloatArray = fitted("c", least=0.0, most=1.0)
    gain_: FloatArray = fitted("c", least=0.0)
    weight_: FloatArray = fitted("c+1", least=0.0)
    event_weight_: FloatArray = fitted("c+1", least=0.0)
    row_weight_: float = fitted("", above=0.0)
    smoothing_: float = fitted("", least=0.0, most=1e15)
    softening_: float = fitted("", least=0.0, below=1.0)

    def staged_predict_proba(self, X: ArrayLike) -> Iterator[FloatArray]:
        """Calibrate a forecast after no cut, after the first, ..., and after all, with the same smoothing.

        Parameters
        ----------
        X : array-like of shape (n_samples,) or (n_samples, 2)
            Forecast of the kind that was fitted.

        Returns
        -------
        iterator of ndarray of shape (n_samples, 2)
            One table a stage, n_cuts + 1 of them; the last is that of ``predict_proba``.
        """
        forecast = self._fitted_forecast(X)
        score = score_of_logit(forecast.log_odds) if forecast.is_logit else forecast.prob[:, 1]
        stages = (self._stage(n_cuts) for n_cuts in range(self.threshold_.size + 1))
        return (_rows.two_columns(on_steps(left, value, score), is_logit=False).values for left, value in stages)

    def _fit(self, problem: BinaryProblem) -> None:
        ordered = Ordered.of(problem)
        max_regions, self.smoothing_, self.softening_ = choose_stage(
            self.max_bins, self.smoothing, self.softening, partial(trees.parts_of, ordered), trees.fold_losses
        )
        blocks = trees.Blocks.of(ordered, self.softening_)
        tree = trees.isotonic_tree(blocks, max_regions)
        weight, events = tree.sums()
        self.left_, self.threshold_, self.gain_ = blocks.left[:1], tree.left, tree.gain
        self.weight_, self.event_weight_, self.row_weight_ = weight, events, 1.0 / problem.weights.rows_per_weight
        self.left_, self.value_ = self._stage(tree.cut.size)
        self.n_bins_ = self.left_.size

    def _check_loaded(self) -> None:
        super()._check_loaded()
        must = "event_weight_ must be at most weight_, and that above 0"
        fits = (self.weight_ > 0.0) & (self.event_weight_ <= self.weight_)
        require(fits.all(), must, got="others", hint="Fit anew")
        must = f"n_bins_ must be the length of left_, {self.left_.size}"
        require(self.n_bins_ == self.left_.size, must, got=f"{self.n_bins_}", hint="Fit anew")

    def _apply(self, score: FloatArray) -> FloatArray:
        return on_steps(self.left_, self.value_, score)

    def _stage(self, n_cuts: int) -> tuple[FloatArray, FloatArray]:
        """Return the lowest score and the value of each bin after the first cuts."""
        left = np.append(self.left_[:1], np.sort(self.threshold_[:n_cuts]))
        starts = np.searchsorted(np.sort(self.threshold_), left[1:]) + 1
        weight, events = (np.add.reduceat(each, np.append(0, starts)) for each in (self.weight_, self.event_weight_))
        begins, value = trees.pooled(weight, events, self.smoothing_ * self.row_weight_)
        return left[begins], np.clip(value, EPSILON, 1.0 - EPSILON) if self.smoothing_ > 0 else value


# How regions of the simplex are split: the points tried, the conditions on a split, what values are mixed with


Prior = Literal["class-rate", "uniform"]
Word = Literal["data", "exact"]

SEED = 2937467307694268567
MOST_POINTS = 2000
"""Points that each region has at most, with three classes or more. Time grows in proportion to it."""


@dataclass(frozen=True)
class GridPoints:
    """The multiples of 1 / steps in a region.

    Parameters
    ----------
    steps : int, "data" or "exact"
        Steps from 0 to 1. The grid may hold 2e7 numbers, K of each point. Or the word of points that are no grid.
    """

    steps: int | Word

    def settled(self) -> Callable[[int], trees.Candidates]:
        """Return what makes the points of each fit, given the number of classes: all fits draw alike.

        Returns
        -------
        callable
            It takes the number of classes and returns the points.
        """
        return self._made

    def _made(self, n_classes: int) -> trees.Candidates:
        if not isinstance(self.steps, str):
            return trees.Candidates(simplex_grid(n_classes, self.steps, "candidates"))
        if n_classes == 2:
            return trees.BlockCandidates()
        # What cross-validation finds can then be given, and the map is the same.
        if self.steps == "exact":
            return trees.ExactCandidates()
        return trees.DataCandidates(MOST_POINTS, np.random.default_rng(SEED))


@dataclass(frozen=True)
class Mixture:
    """What the value of a region is mixed with.

    Parameters
    ----------
    part : float, default=0
        This part of every value is the prior and the rest the smoothed class rate; from 0 to below 1.
    prior : {"class-rate", "uniform"}, default="class-rate"
        What is mixed in: the class rates of all rows, or 1 / K of each class.
    """

    part: float = 0.0
    prior: Prior = "class-rate"

    def __post_init__(self) -> None:
        number("mixture", self.part, least=0.0, below=1.0, hint="Pass 0 for none")
        choice("prior", self.prior, ("class-rate", "uniform"))

    def of(self, rate: FloatArray, overall: FloatArray) -> FloatArray:
        """Return class rates of regions mixed with the prior.

        Parameters
        ----------
        rate : ndarray of shape (n_regions, n_classes)
            Class rates of the regions.
        overall : ndarray of shape (n_classes,)
            Sums of the weights of the classes over all rows.

        Returns
        -------
        ndarray of shape (n_regions, n_classes)
            The values of the regions.
        """
        prior = np.full(overall.size, 1.0 / overall.size) if self.prior == "uniform" else overall / overall.sum()
        return (1.0 - self.part) * rate + self.part * prior


def as_points(candidates: int | Word | GridPoints) -> GridPoints:
    """Return the points that a number of steps or the word stands for."""
    if isinstance(candidates, GridPoints):
        as_points(candidates.steps)  # refuses a word that is none
        return candidates
    if isinstance(candidates, str) and candidates in ("data", "exact"):
        return GridPoints(candidates)
    hint = "Pass the steps of a grid, such as 100, or 'data' or 'exact'"
    return GridPoints(whole("candidates", candidates, least=1, hint=hint))


def as_mixture(mixture: float | Mixture) -> Mixture:
    """Return the mixture with the class rates that a number stands for."""
    return mixture if isinstance(mixture, Mixture) else Mixture(mixture)


# Multi-class isotonic recursive partitioning: regions of the simplex, in order around each splitting point


RECOMMENDED_CLASSES = 5
MOST_CLASSES = 32


@method("multiclass-irp", symbol="MIRP", source="Berta, Bach and Jordan 2024", guarantees={FINITE})
class MulticlassRecursivePartitioning(MulticlassCalibrator):
    """Cut the simplex into regions, recursively, while values keep the order at each splitting point (multi-class IRP).

    Use it with three to five classes and hundreds of rows and more, when the shape of the miscalibration is unknown and
    forecasts may take few values: each region gives the class rates of its rows, and around each splitting point calibrated
    forecasts lie as the forecasts do. For two classes it is isotonic regression, grown step by step, and
    `IsotonicRecursivePartitioning` says so more plainly. Do not use it when forecasts must stay apart, or when log loss alone
    decides and the forecasts are nearly right: few values cost log loss, which no calibration does not. See the notes.

    Parameters
    ----------
    candidates : int, "data", "exact" or GridPoints, default="data"
        Points around which a region may be split. ``"data"``: forecasts in the region, mid-points of two, and forecasts
        around which only some classes are parted (see the notes); with two classes the borders between the blocks of isotonic
        regression; 2000 at most. ``"exact"``: for up to three classes, a point for each way in which any point parts the rows
        of the region; at 500 rows there are 125 748. An int m is
        ``GridPoints(m)``: the multiples of 1 / m in the region, as the authors have it (1000, 100 and 50 for two, three and
        four classes). Such a grid may hold 2e7 numbers, K of each point. `GridPoints` and `Mixture` are imported from
        ``calibrant.calibrators``.
    max_regions : int, "cv" or None, default="cv"
        The most regions. A split makes up to K - 1 more of them, and one that would make too many ends the growth. "cv": the
        number with the least log loss on rows left out. None: until no split is left.
    smoothing : float or "cv", default="cv"
        So many rows of each class are added to every region: (k + a) / (n + K a) in place of k / n. "cv": the one of 0.25 to
        16 with the least log loss on rows left out. At most 1e15.
    softening : float or "cv", default=0
        So large a part m of each label is the forecast itself, from 0 to below 1: a row counts 1 - m for the true class,
        and m p_k for each class k. "cv": the one of 0, 0.3, 0.6, 0.8 and 0.9 with the least log loss on rows left out,
        which is better with few rows and takes some 5 K times as long.
    mixture : float or Mixture, default=0
        This part of every value is the class rate of all rows and the rest the smoothed rate; from 0 to below 1.
        ``Mixture(part, "uniform")`` mixes in 1 / K of each class.
    progress : bool, default=False
        Show a bar of the folds of cross-validation, if tqdm is installed.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    tree_ : SplitTree
        Splitting points, and the node that each side of a split leads to.
    node_value_ : ndarray of shape (n_nodes, n_classes)
        Calibrated vector of each node of the tree, as if it were a region; node 0 is the simplex.
    node_count_ : ndarray of shape (n_nodes,)
        Rows that were fitted in each node.
    gain_ : ndarray of shape (n_splits,)
        Quality of each split as a part of all rows, in [0, 2].
    value_ : ndarray of shape (n_regions, n_classes)
        Calibrated vector of each region, a leaf of the tree.
    count_ : ndarray of shape (n_regions,)
        Rows that were fitted in each region.
    n_regions_ : int
        Number of regions.
    staged_regions_ : ndarray of shape (n_splits + 1,)
        Number of regions after 0, 1, ... splits.
    smoothing_ : float
        The smoothing that was used.
    softening_ : float
        The softening that was used.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    Raises
    ------
    ValueError
        At ``fit``, if there are more than 32 classes, if a grid would hold more than 2e7 numbers, or if candidates are
        ``"exact"`` with more than three classes or, with three, more than 3650 distinct forecasts.

    Notes
    -----
    A point gamma parts a region into the sides where p_k - gamma_k is the largest, the first of equal ones. With n_k rows on
    side k, their mean label y_k (a vector of 0 and 1) and that of the region, y, its quality is::

        M(gamma)  =  sum over k of  n_k |y_k - y|_1.

    Of all regions and points the split of the largest M is made that leaves the map monotone (Algorithm 2); of equal ones the
    oldest region and its first candidate. A map with values r is monotone where at each splitting point so far, the new one
    included, and for any two classes i and j,

        r_i - r_j on side i  >=  r_i - r_j on side j        for all rows of the two sides,

    with the values that are delivered, smoothed: for any two classes a threshold parts the values as gamma parts the forecasts,
    as in the authors' code. Sides without rows are no regions: what falls there
    later goes to the side with the next largest p_k - gamma_k, while the authors take the nearest of their points that has
    rows.

    **This does not keep the ROC surface.** Definition 3.2 of the paper asks the converse of all points: that every split of the
    values be a split of the forecasts. Then the surface would have no new points, and its volume on the fitted rows could not
    rise. With the splits of the algorithm, checked at their own points as in the paper, it may: of six rows from 0.444 to
    0.667. Nearly no split keeps Definition 3.2, so it is no choice here (docs/roc-isotonic.md).

    The authors smooth with (mean + lambda) / (1 + lambda), whose rows sum to (1 + K lambda) / (1 + lambda). Divided by that
    it is ``smoothing=0, mixture=Mixture(m, "uniform")`` with m = K lambda / (1 + K lambda); it trusts one row as much as a
    thousand, which counts do not.

    With softening m the vector of a region is, before it is smoothed, (1 - m) times its class rates and m times its mean
    forecast, and so are the means by which splits are chosen and asked for monotony. Noise in the labels then stops fewer
    splits, and a region moves the forecast by no more than 1 - m of the observed gap. Use it with few rows, or where forecasts
    are nearly right: on logistic regressions of Covertype, 500 rows fitted, it about halves what the other choices lose to no
    calibration (docs/roc-isotonic.md). Where labels are softened, less smoothing is needed: "cv" tries 0.1 and 0.01 as well.

    Of the candidates of ``"data"`` within the budget a quarter are forecasts, half mid-points of all pairs of the best of
    these, and a quarter forecasts whose gamma is so large in one or more classes that these have no side: around them only
    the others are parted. Such points lie outside the simplex, where those of the authors' grid that do the same lie on
    borders. On the logistic regressions of Covertype they lower the log loss on new rows by 0.01 (three classes) and 0.05
    (four), as against the first two kinds alone, 500 rows fitted, eight splits.

    **With three classes or more the candidates of** ``"data"`` **and of a grid may miss the best split.** They are a choice of
    points. Three classes of n forecasts in general position can be parted in (n + 2)(n + 1) / 2 - 3 ways, 125 748 of 500;
    ``"exact"`` has one point amid each of them, with its quality from running sums, so that the first split is the best there
    is. Later ones are the best for the rows of their region; whether they leave the map monotone also depends on how the point
    parts other regions, and of points that part the region alike one is tried. With smoothing and number of regions given 500
    rows take 0.2 s, 2000 rows 4 s. Over splits of Covertype the log loss on new rows is no lower than with the others.

    For cross-validation a row's fold is drawn by a hash of its numbers, as in `SortedCumulativeIsotonic`. Each fold is fitted
    once, to its end, with a smoothing of 1 where that is to be chosen, and gives the losses of all numbers of regions and all
    smoothings; the least mean counts, of equal ones that with fewer regions. A whole fit costs six times one with both given;
    beyond 20,000 rows less, as folds are left out until some 16,000 rows were. A single row is one region.

    Differences p_k - gamma_k that agree to 1e-12 are equal, so that .8 - .7 and .2 - .1 are; forecasts that are nearer may
    count as one.

    Equal rows are joined, with the sum of their weights. Whole weights count as rows; others are scaled to a mean of one.
    Compiled code comes back after some ten million rows: a fit can be interrupted, and leaves the calibrator as it was.

    More than five classes make a `CalibrationWarning`: by notion one score is mapped at a time.

    References
    ----------
    Berta, Bach, Jordan, Classifier calibration with ROC-regularized isotonic regression, AISTATS 2024.

    Examples
    --------
    >>> from calibrant.calibrators import MulticlassRecursivePartitioning
    >>> from calibrant.datasets import make_softmax_forecast
    >>> made = make_softmax_forecast(1000, 3, rng=0)
    >>> fitted = MulticlassRecursivePartitioning(max_regions=7, smoothing=1).fit(made.prob, made.y)
    >>> fitted.staged_regions_.tolist()
    [1, 3, 5, 6, 7]
    """

    candidates: int | Word | GridPoints = "data"
    max_regions: int | Literal["cv"] | None = parameter(default="cv", least=1, hint=OF_NUMBER)
    smoothing: float | Literal["cv"] = parameter(default="cv", least=0.0, most=1e15, hint=OF_SMOOTHING)
    softening: float | Literal["cv"] = parameter(default=0.0, least=0.0, below=1.0, hint=OF_SOFTENING)
    mixture: float | Mixture = 0.0
    progress: bool = parameter(default=False)
    tree_: SplitTree = fitted()
    node_value_: FloatArray = fitted("N K", sum_to_one=True)
    node_count_: IntArray = fitted("N", least=0)
    gain_: FloatArray = fitted("S")
    value_: FloatArray = fitted("C K", sum_to_one=True)
    count_: IntArray = fitted("C", least=0)
    n_regions_: int = fitted()
    smoothing_: float = fitted("", least=0.0, most=1e15)
    softening_: float = fitted("", least=0.0, below=1.0)
    staged_regions_: IntArray = fitted()

    choices: ClassVar[Mapping[str, Callable[[Any], Any]]] = MappingProxyType(
        {"candidates": as_points, "mixture": as_mixture}
    )

    def cells(self, y_prob: ArrayLike) -> IntArray:
        """Find the region of each forecast.

        Parameters
        ----------
        y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
            Forecast of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n_samples,)
            Rows of ``value_``.
        """
        return self.tree_.index(self._fitted_forecast(y_prob).prob)

    def staged_predict_proba(self, X: ArrayLike) -> Iterator[FloatArray]:
        """Calibrate a forecast as it would be after 0, 1, ... splits.

        Parameters
        ----------
        X : array-like of shape (n_samples,) or (n_samples, n_classes)
            Forecast of the kind that was fitted.

        Returns
        -------
        iterator of ndarray of shape (n_samples, n_classes)
            Calibrated probabilities with ``staged_regions_[s]`` regions after s splits; the last table is that of
            ``predict_proba``.
        """
        forecast = self._fitted_forecast(X)
        return (self.node_value_[node] for node in self.tree_.stages(forecast.prob))

    def _fit(self, problem: SimplexProblem) -> None:
        self._require_parameters(problem)
        joined = trees.JoinedRows.of(problem)
        parts = partial(trees.parts_of_simplex, problem, joined)
        losses = partial(trees.fold_losses_of_simplex, grow=self._grown, value=self._values)
        most, self.smoothing_, self.softening_ = choose_stage(
            self.max_regions, self.smoothing, self.softening, parts, losses, progress=self.progress
        )
        grown = self._grown(joined.rows, self.smoothing_, self.softening_, most=most)
        leaf = grown.tree.index(joined.rows.prob)[joined.group]
        count = np.bincount(leaf, problem.weights.times, grown.tree.n_cells).astype(np.intp)
        self.tree_, self.gain_, self.staged_regions_ = grown.tree, grown.gain, grown.tree.n_regions
        self.node_value_ = self._values(grown.sums, self.smoothing_)
        self.node_count_ = grown.tree.up(count)
        self.value_, self.count_ = self.node_value_[grown.tree.leaves()], count
        self.n_regions_ = grown.tree.n_cells

    def _sizes(self) -> dict[str, int]:
        tree = self.tree_
        return super()._sizes() | {"N": tree.split.size, "C": tree.n_cells, "S": len(tree.gamma)}

    def _check_loaded(self) -> None:
        tree = self.tree_
        tree._check_loaded(len(self.classes_))
        super()._check_loaded()
        fits = np.array_equal(self.staged_regions_, tree.n_regions) and self.n_regions_ == tree.n_cells
        must = f"staged_regions_ and n_regions_ must be those of the tree, which ends with {tree.n_cells}"
        require(fits, must, got="others", hint="Fit anew")

    def _apply(self, forecast: Forecast) -> FloatArray:
        return self.node_value_[self.tree_.nodes(forecast.prob)]

    def _grown(self, rows: trees.Rows, smoothing: float, softening: float, *, most: int | None) -> trees.Grown:
        points = as_points(self.candidates).settled()(rows.prob.shape[1])
        return trees.grow(rows.softened(softening), points, most, smoothing)

    def _values(self, sums: FloatArray, smoothing: float) -> FloatArray:
        """Return what nodes with these sums of the classes give, the first of which is the simplex."""
        rate = (sums + smoothing) / (sums.sum(axis=1, keepdims=True) + sums.shape[1] * smoothing)
        return as_mixture(self.mixture).of(rate, sums[0])

    def _require_parameters(self, problem: SimplexProblem) -> None:
        for name, choice_of in self.choices.items():
            choice_of(getattr(self, name))
        n_classes = problem.prob.shape[1]
        if as_points(self.candidates).steps == "exact" and n_classes > 2:
            must, other = "candidates='exact' must have", "Pass 'data', or the steps of a grid"
            require(n_classes <= 3, f"{must} two or three classes", value=n_classes, hint=other)
            n_distinct, most = len(np.unique(problem.prob, axis=0)), int((2 * MOST_NUMBERS / 3) ** 0.5) - 1
            hint = f"{other}. Or fit fewer rows"
            require(n_distinct <= most, f"{must} at most {most} distinct predictions", value=n_distinct, hint=hint)
        if n_classes <= RECOMMENDED_CLASSES:
            return
        instead = (
            "For more take ByNotion(IsotonicRecursivePartitioning(), 'top-label'), or 'class-wise', or the few classes that "
            "matter"
        )
        must = f"{type(self).__name__} must have at most {MOST_CLASSES} classes"
        require(n_classes <= MOST_CLASSES, must, value=n_classes, hint=instead)
        said = f"{type(self).__name__} is for up to {RECOMMENDED_CLASSES} classes"
        warn(f"{said}; got {n_classes}: rows are far from each other, and regions are large. {instead}.")
