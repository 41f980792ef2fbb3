"""Isotonic regression: the best non-decreasing map of a score."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import xlogy

from calibrant._core.arrays import EPSILON, FloatArray, is_number, score_of_logit, sum_of_rows
from calibrant._core.checks import is_word, number, require
from calibrant._core.registry import ARGMAX, FINITE, HULL, ORDER, PERMUTED
from calibrant._core.rows import BinaryProblem, BoolArray, Forecast, IntArray, SimplexProblem, Weights, places
from calibrant.binning.bins import Ordered
from calibrant.calibrators.base import BinaryCalibrator, MulticlassCalibrator, fitted, method, parameter
from calibrant.fit.isotonic import isotonic_fit
from calibrant.fit.trees import pooled
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
        begins, value = pooled(steps.weight, steps.rate * steps.weight, row)
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
    return value[places(left[1:], score, side="right")]


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
    at = places(knot[1:-1], score, side="right")
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

    def predict_interval(self, X: npt.ArrayLike) -> FloatArray:
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
