"""Sorted cumulative isotonic regression: one map for the sums of the highest probabilities of each row."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from calibrant._core.arrays import FloatArray, blocks, grouped, sum_of_rows
from calibrant._core.checks import Advance, numbers, progress_bar, require, whole
from calibrant._core.registry import FINITE, PERMUTED
from calibrant._core.rows import Forecast, IntArray, SimplexProblem, Weights
from calibrant.calibrators.base import MulticlassCalibrator, fitted, method, parameter
from calibrant.fit.folds import Fold, folds_of

# Isotonic regression in two directions: values that fall neither with the score nor with the rank


# Rows as points: the sum of the highest probabilities, their number, and whether one is that of the true class


BLOCK = 1 << 20
"""Numbers that are sorted and summed at a time."""

EXACT_BELOW = 2.0**26
"""Products of whole numbers below this, and their sums over all points, are whole numbers that a float holds."""


class Points(NamedTuple):
    """Distinct pairs of score and rank, ordered by the score and then by the rank, with weight and events of each."""

    score: FloatArray
    rank: IntArray
    weight: FloatArray
    events: FloatArray


@dataclass(frozen=True, eq=False)
class Cumulated:
    """Rows by rank: what the highest classes of each have together, and at which rank the true class is reached.

    ``score`` has shape (ranks, n). Of each row, ``before`` classes are ahead of the true one, and it shares its place
    with others, ``tied`` in all.
    """

    score: FloatArray
    before: IntArray
    tied: IntArray
    weights: Weights

    @property
    def n_ranks(self) -> int:
        """Number of ranks: the last class adds nothing."""
        return len(self.score)

    @property
    def is_whole(self) -> bool:
        """Whether all sums are of whole numbers, and small enough for exact arithmetic."""
        whole = self.weights.are_counts and bool((self.tied == 1).all())
        return whole and self.weights.total * self.n_ranks < EXACT_BELOW

    def points(self) -> Points:
        """Return the points of all rows and ranks; equal pairs of score and rank are one point."""
        from calibrant._kernels.staircase import distinct_points

        n = self.score.size
        place = np.argsort(self.score.ravel(), kind="stable")
        points = Points(self.score.ravel()[place], np.empty(n, np.intp), np.empty(n), np.empty(n))
        m = distinct_points(*points, place, self.before, self.tied, np.ascontiguousarray(self.weights.values))
        return Points(points.score[:m], points.rank[:m], points.weight[:m], points.events[:m])


def cumulated(problem: SimplexProblem, *, share: bool) -> Cumulated:
    """Sum up each row from its highest probability on, and find the rank of the true class."""
    prob, label = problem.prob, problem.label
    n, n_classes = prob.shape
    score = np.empty((n_classes - 1, n))
    before, tied = np.empty(n, dtype=np.int64), np.ones(n, dtype=np.int64)
    for rows in blocks(n, n_classes, BLOCK):
        part, own = prob[rows], np.take_along_axis(prob[rows], label[rows, None], axis=1)
        score[:, rows] = grouped(-np.cumsum(np.sort(-part, axis=1), axis=1)[:, :-1].T)
        equal = part == own
        before[rows] = (part > own).sum(axis=1)
        if share:
            tied[rows] = equal.sum(axis=1)
        else:
            before[rows] += (equal & (np.arange(n_classes) < label[rows, None])).sum(axis=1)
    return Cumulated(score, before, tied, problem.weights)


BUDGET = 1 << 20
"""Points that are looked at until compiled code comes back, so that a fit can be interrupted: some hundredths of a second.

A part with more is looked at once.
"""

ROUNDING = 1e-12
"""Gains of an upper set that are no more than this part of what moved are rounding, where sums are not of whole numbers."""


class Corners(NamedTuple):
    """Where the fit rises: its value at a score and a rank is the largest of the corners that are at or below both.

    Ordered by score, then by rank. The first is below all, and has the lowest value.
    """

    score: FloatArray
    rank: IntArray
    value: FloatArray


def staircase_fit(rows: Cumulated, advance: Advance = lambda units: None) -> Corners:
    """Fit the events of all ranks by a value that falls neither with the score nor with the rank.

    ``advance`` is told how many of the points, one a row and rank, are solved.
    """
    from calibrant._kernels.staircase import corners

    points = rows.points()
    advance(rows.score.size - points.score.size)  # equal ones are one
    fit = fitted_values(points, rows.n_ranks, is_whole=rows.is_whole, advance=advance)
    found = np.empty(fit.size, dtype=np.bool_)
    corners(points.rank, fit, rows.n_ranks, found)
    return Corners(
        np.append(0.0, points.score[found]), np.append(1, points.rank[found]), np.append(fit.min(), fit[found])
    )


def fitted_values(points: Points, n_ranks: int, *, is_whole: bool, advance: Advance = lambda units: None) -> FloatArray:
    """Return the isotonic fit at each point: the least squared error, and the least log loss as well."""
    from calibrant._kernels.staircase import solve

    n = points.score.size
    fit, tolerance = np.empty(n), 0.0 if is_whole else ROUNDING
    parts = points.rank.copy(), points.weight.copy(), points.events.copy(), np.arange(n)
    spare: Any = tuple(np.empty_like(part) for part in (*parts, points.rank))
    left = [(0, n)]
    while left:
        begin, end = left.pop()
        back = solve(*parts, begin, end, n_ranks, tolerance, BUDGET, fit, spare)
        advance(end - begin - sum(end - begin for begin, end in back))
        left += back
    return fit


# Sorted cumulative isotonic regression: one map for the sums of the highest probabilities of each row


Ties = Literal["share", "column"]
Rise = Literal["last", "spread"]

EPSILONS = (0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6)
"""What cross-validation chooses from; of equal ones the first."""

POINTS_LEFT_OUT = 1 << 20
"""Folds are left out until so many points have been: large problems leave out one."""


@method("scir", symbol="SCIR", source="Arad and Rosset 2025", guarantees={PERMUTED, FINITE})
class SortedCumulativeIsotonic(MulticlassCalibrator):
    """Map the sum of the r highest probabilities of a row by an isotonic regression on the sum and on r (SCIR).

    Use it with thousands of rows when what matters is how sure the highest class is, or the few highest together: these are
    the events that are fitted, for all ranks at once, and the solution is exact. It had the lowest confidence ECE, below
    `TemperatureScaling` and `NormalizedFlattenedIsotonic`, where over-confidence grows with the confidence: this rests on five
    tables of predictions that were bent so on purpose. Do not use it where log loss decides: the probability of
    one class is a difference of two fitted sums, which can be zero, and what such zeros cost depends on ``epsilon`` and
    ``rise``. Nor does it keep the predicted class.

    Parameters
    ----------
    epsilon : float or "cv", default="cv"
        Added to the probability of every class before rows are divided by their sums, so that none is zero. In all that is K
        times as much: 1e-3 is a tenth of the mass for a hundred classes. "cv" takes the one of 1e-6 to 0.1 with the least log
        loss on rows left out, and at least 1 / (K (1 + number of rows)); where confidence matters more, 1e-4 or less keeps it.
        See the notes.
    rise : {"spread", "last"}, default="spread"
        Which class gets the probability by which the map rises after ranks at which it does not. ``"spread"``: all classes
        since the last rise, in proportion to the forecast; far fewer probabilities are zero. ``"last"``: the one at whose rank
        it rises, as in the paper. They have it together in either case, and the highest class keeps its value unless that is
        0: then it shares too. The default departs from the paper; see the notes.
    ties : {"share", "column"}, default="share"
        Which of two equal probabilities of a row has the higher rank. ``"share"``: neither; each place among them is taken
        by the true class with equal probability when fitting, and they share what the map gives them together.
        ``"column"``: the first column, as a stable sort has it; then renaming the classes can change the result.
    progress : bool, default=False
        Show a progress bar, of points solved (needs tqdm).
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    score_, rank_, value_ : ndarray of shape (n_corners,)
        Corners of the map, ordered by score: the probability that the true class is among the r highest, which sum to
        q, is the largest ``value_`` of the corners with ``score_ <= q`` and ``rank_ <= r``. The first corner is below all.
    epsilon_ : float
        The epsilon that was used.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    Notes
    -----
    Each row gives K - 1 points (q_r, r) with the sum q_r of its r highest probabilities, r < K, and the event that the
    true class is among them. The map g is the one with the least log loss (eq. 6),

        min  - sum of y log g(q, r) + (1 - y) log(1 - g(q, r))     g(q, r) <= g(s, t)  where  q <= s and r <= t

    which has the least squared error as well. The class at rank r gets g(q_r, r) - g(q_{r-1}, r - 1), with 0 before the first
    rank and 1 at the last. Off the fitted points g is the largest value at or below, and where no fitted point is at or
    below, the lowest value of all (A.1). Points with equal sum and rank are one weighted point. Sums that agree
    to 1e-12 are equal, so that .8 + .1 and .7 + .2 are.

    The solution is found by recursive maximal upper sets. The paper's Algorithms 2 and 3 do not find them; its Lemma A.11
    does, and costs a constant time a point here in place of K. Two classes have one rank: g is the isotonic regression of
    the events that the more probable class is true on its probability.

    The paper adds "a small epsilon" and leaves open which. On forecasts of CIFAR images, 5000 rows to fit and 5000 to test,
    10 000 for ResNet, these are the log losses with ``rise="last"``, in the last column with rises that are spread and the
    epsilon of cross-validation:

        =====================  ======  ======  ======  ======  ======  ======
        epsilon                1e-12   1e-6    1e-4    1e-3    "cv"    spread
        =====================  ======  ======  ======  ======  ======  ======
        ResNet-50, 10 classes  0.1873  0.1790  0.1764  0.1794  0.1765  0.1743
        LeNet-5, 10 classes    1.3406  1.3406  1.3406  1.3408  1.3408  1.3410
        DenseNet, 100 classes  1.1573  0.9860  0.9356  0.9793  0.9356  0.9041
        LeNet-5, 100 classes   4.4413  4.0876  3.9673  3.9079  3.9079  3.8802
        =====================  ======  ======  ======  ======  ======  ======

    Of the 89 forecasts of docs/na-isotonic.md, with the epsilon of cross-validation, spreading the rises lowers the log loss of
    the test rows in 54, raises it in 5 (by 0.0017 at most) and leaves the others as they are: on average by 0.0097 (standard
    error 0.0019), the Brier score by 0.0013 (0.0003) and conf-ECE by 0.0013 (0.0005). So it is the default.

    The more is added, the more the confidence is off: of the last forecast by 0.014 at 1e-4 and 0.019 at 1e-3 (15 bins).

    For cross-validation a row's fold is drawn by a hash of its numbers, so that the order of rows and columns does not
    matter. Rows that are equal, up to the order of the columns, and had the same outcome are dealt out to the five folds one
    by one, and a weight of w is w such rows; were they left out together, as many as a tree makes, the rates among the others
    would be far off. Weights that are not whole are divided by their mean. Folds are left out one after the other until about
    a million points were: at 12 million points it is one. Few rows can agree by chance, those left out with all others:
    epsilon is at least 1 / (K (1 + number of rows)), as if there were one more row of which nothing is known. So it is where
    nothing can be left out, as of a single row.

    Compiled code comes back after about a million points: a fit of 12 million can be interrupted within a second, and leaves
    the calibrator as it was.

    References
    ----------
    Arad, Rosset, Improving multi-class calibration through normalization-aware isotonic techniques, ICML 2025.

    Examples
    --------
    >>> from calibrant import SortedCumulativeIsotonic, load_digits_forecast
    >>> y, prob = load_digits_forecast()
    >>> fitted = SortedCumulativeIsotonic().fit(prob, y)
    >>> left, value = fitted.steps(1)  # the map of the highest probability of a row
    >>> bool((value[1:] > value[:-1]).all())
    True
    """

    epsilon: float | Literal["cv"] = parameter(
        default="cv", least=0.0, most=1.0, hint="Pass a small one, such as 1e-4, or 'cv'"
    )
    rise: Rise = parameter(default="spread")
    ties: Ties = parameter(default="share")
    progress: bool = parameter(default=False)
    block: ClassVar[int] = 1 << 21
    """Numbers mapped at a time: steps are laid out anew for each block."""

    score_: FloatArray = fitted("n", least=0.0, order="not falling")
    rank_: IntArray = fitted("n", least=1)
    value_: FloatArray = fitted("n", least=0.0, most=1.0, fewest=1)
    epsilon_: float = fitted("", least=0.0, most=1.0)

    def steps(self, rank: int) -> tuple[FloatArray, FloatArray]:
        """Return the map of one rank, a step function of the sum of the highest probabilities.

        Parameters
        ----------
        rank : int
            How many of the highest probabilities are summed, from 1 to n_classes - 1.

        Returns
        -------
        left : ndarray of shape (n_steps,)
            The sum at which each step begins; the first begins at 0.
        value : ndarray of shape (n_steps,)
            Probability that the true class is among the highest, increasing.

        Raises
        ------
        ValueError, TypeError
            If there is no such rank.
        """
        n_ranks = len(self.classes_) - 1
        fits = whole("rank", rank, least=1, hint="Pass 1 for the highest probability") <= n_ranks
        require(fits, f"rank must be at most {n_ranks}, one less than classes", value=rank, hint="Pass a lower one")
        starts, left, value = self._steps()
        here = slice(starts[rank - 1], starts[rank])
        return left[here], value[here]

    def _fit(self, problem: SimplexProblem) -> None:
        folds: list[Fold] = []
        if self.epsilon == "cv":
            folds = list(folds_of(problem))
            per_fold = problem.weights.rows * (len(problem.classes) - 1) / max(1, len(folds))
            folds = folds[: math.ceil(POINTS_LEFT_OUT / per_fold)]
        n_points = (problem.size + sum(int(np.count_nonzero(fold.kept)) for fold in folds)) * (len(problem.classes) - 1)
        with progress_bar(n_points, show=self.progress, desc="SCIR", unit="point") as advance:
            self.epsilon_ = self._chosen(problem, folds, advance) if self.epsilon == "cv" else float(self.epsilon)
            self._fit_map(problem, advance)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        numbers("rank_", self.rank_, shape=self.score_.shape, most=len(self.classes_) - 1)
        lowest_first, must = self.value_[0] == self.value_.min(), "value_ must begin with the lowest"
        require(lowest_first, must, got="others", hint="Fit anew")

    def _apply(self, forecast: Forecast) -> FloatArray:
        raised = self._rises(forecast) + self.epsilon_
        raised /= sum_of_rows(raised)
        return raised

    def _fit_map(self, problem: SimplexProblem, advance: Advance) -> None:
        self.score_, self.rank_, self.value_ = staircase_fit(cumulated(problem, share=self.ties == "share"), advance)

    def _chosen(self, problem: SimplexProblem, folds: list[Fold], advance: Advance) -> float:
        """Return the epsilon of the least log loss on rows left out, of equal ones the largest, but not too small a one."""
        n_classes = len(problem.classes)
        least = 1.0 / (n_classes * (1.0 + problem.weights.rows))
        if not folds:
            return least
        losses = np.zeros(len(EPSILONS))
        for fold in folds:
            self._fit_map(problem.weighted(fold.kept), advance)
            left_out = problem.weighted(fold.left_out)
            of_true = self._rises_of_true(left_out)
            losses += [-(left_out.weight @ np.log((of_true + e) / (1.0 + n_classes * e))) for e in EPSILONS]
        # Losses that agree to rounding are equal.
        return max(EPSILONS[int(np.argmax(losses <= losses.min() * (1.0 + 1e-9)))], least)

    def _rises_of_true(self, problem: SimplexProblem) -> FloatArray:
        """Return what the map gives the true class."""
        of_true = np.empty(problem.size)
        for rows in blocks(problem.size, len(problem.classes), self.block):
            part = Forecast(problem.forecast.values[rows], problem.forecast.is_logit)
            of_true[rows] = np.take_along_axis(self._rises(part), problem.label[rows, None], axis=1)[:, 0]
        return of_true

    def _rises(self, forecast: Forecast) -> FloatArray:
        """Return by how much the map rises at each class of each row."""
        from calibrant._kernels.staircase import increments

        prob, share = np.ascontiguousarray(forecast.prob), self.ties == "share"
        # Where ties share, it does not matter in which order they come.
        order = np.argsort(-prob, axis=1, kind=None if share else "stable")
        result = np.empty(prob.shape)
        reached = grouped(np.cumsum(np.take_along_axis(prob, order, axis=1), axis=1))
        increments(prob, order, reached, *self._steps(), share, self.rise == "spread", result)
        return result

    def _steps(self) -> tuple[IntArray, FloatArray, FloatArray]:
        """Lay out the steps of all ranks, one rank after the other."""
        from calibrant._kernels.staircase import envelopes

        n_ranks = len(self.classes_) - 1
        steps: tuple[IntArray, FloatArray, FloatArray] = envelopes(self.score_, self.rank_, self.value_, n_ranks)
        return steps
