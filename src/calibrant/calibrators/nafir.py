"""Flattened isotonic regression that knows that rows will be divided by their sums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from calibrant._links import FloatArray
from calibrant._parameters import choice, number, whole
from calibrant._problem import BoolArray, Forecast, IntArray, SimplexProblem, rows_per_weight
from calibrant._registry import declare
from calibrant._validation import Input
from calibrant._warnings import warn
from calibrant.calibrators.base import MulticlassCalibrator
from calibrant.calibrators.fits.conditional_logit import TOLERANCE, Comparisons, Solution, solve
from calibrant.calibrators.fits.nafir_blocks import Cells, block_of_cell, split_blocks
from calibrant.calibrators.temperature import prob_of_scores

Blocks = Literal["isotonic", "distinct"]

SMOOTHINGS = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 3e-4, 1e-4)
"""What cross-validation chooses from."""

N_FOLDS = 5

ROUGH = 1e-6
"""Goal of the fits whose loss on rows left out is compared."""


@declare(
    "calibrator",
    "na-fir",
    symbol="NA-FIR",
    source="Arad and Rosset 2025",
    guarantees={"argmax preserving", "permutation equivariant", "finite log loss"},
)
class NormalizedFlattenedIsotonic(MulticlassCalibrator):
    """Map the scores of all classes by one non-decreasing map that is best after rows are divided by their sums (NA-FIR).

    Use it where `MulticlassIsotonic` is of use: many classes with few rows each, and a pattern along the score that
    temperature scaling leaves. It fits what it predicts, the row after the division, and has a lower log loss. The
    predicted class never changes, up to ties. Do not use it when classes differ in how they are miscalibrated.

    Parameters
    ----------
    smoothing : float or "cv", default="cv"
        Label smoothing, from 0 to 1: in this part of each row any of its classes comes, each as often. 0 is the problem of
        the paper; its solution over-fits: it can make the lowest probabilities next to zero. "cv" takes the one of 1e-4 to
        0.3 with the least log loss on rows left out.
    blocks : {"isotonic", "distinct"}, default="isotonic"
        Where the map may step: between the blocks of flattened isotonic regression, as in the paper, or at each distinct
        score of a class that came, which has a lower loss on the rows fitted, hardly another map, and takes longer.
    min_blocks : int, default=1
        Isotonic blocks are cut into pieces of about equal mass until there are so many.
    min_block_size : int, default=1
        But not into pieces of less than so many scores.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    left_ : ndarray of shape (n_steps,)
        Lowest score of each step. Scores between steps take the value of the one below, scores below all the first.
    log_value_ : ndarray of shape (n_steps,)
        Logarithm of the map g on each step, increasing; the last is 0.
    n_blocks_ : int
        Number of blocks before neighbours of equal value were joined.
    smoothing_ : float
        The label smoothing that was used.
    loss_ : float
        Mean log loss on the rows fitted, without smoothing: the objective of the paper.
    gradient_ : float
        Largest violation of the optimality conditions (Karush, Kuhn and Tucker): the derivative of the mean objective in any
        step's height, or by how much a step of height zero would gain. The certificate, at most 1e-8, else there is a
        `ConvergenceWarning`.
    n_iter_ : int
        Newton steps taken by the last fit.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    Notes
    -----
    The map g minimises, over non-decreasing functions,

        - sum_i w_i log( g(p_i,y_i) / sum_k g(p_ik) )

    and q_k = g(p_k) / sum_j g(p_j). The paper calls that "no longer convex", and searches at random. It is convex in
    theta = log g: with C_ij the number of classes of row i in block j, and b_j the weight of those that came,

        sum_i w_i log sum_j C_ij exp(theta_j)  -  b' theta,    theta non-decreasing

    is a conditional logit with monotone effects. Projected Newton on the increments of theta finds the optimum in some ten
    steps. Label smoothing e makes of b_j the sum over rows of w_i ((1 - e) [y_i in block j] + e C_ij / K), which stays
    convex.

    Without smoothing an increment is infinite at the optimum where no row with classes above it had its class at or below
    it. It ends at 27.6, a ratio of 1e-12, with a `ConvergenceWarning`. Increments on which nothing depends, because no row
    has classes on both sides, are those of the event rates. A score ends 700 below the highest of its row: no probability
    becomes zero.

    For cross-validation a row's fold is drawn by a hash of its numbers: the order of rows and columns does not matter, and
    equal rows, or a row of that weight, are left out together. Blocks are found anew without the fold. Where all rows are in
    one fold the smoothing is 1 / (1 + number of rows).

    References
    ----------
    Arad, Rosset, Improving multi-class calibration through normalization-aware isotonic techniques, ICML 2025.
    Bertsekas, Projected Newton methods for optimization problems with simple constraints, SIAM Journal on Control and
    Optimization 1982.

    Examples
    --------
    >>> from calibrant import NormalizedFlattenedIsotonic, load_digits_forecast, negative_log_likelihood
    >>> y, prob = load_digits_forecast()
    >>> fitted = NormalizedFlattenedIsotonic(smoothing=0.001).fit(prob, y)
    >>> fitted.gradient_ < 1e-8
    True
    >>> negative_log_likelihood(y, fitted.predict_proba(prob)) < negative_log_likelihood(y, prob)
    True
    """

    left_: FloatArray
    log_value_: FloatArray
    n_blocks_: int
    smoothing_: float
    loss_: float
    gradient_: float
    n_iter_: int

    def __init__(
        self,
        *,
        smoothing: float | Literal["cv"] = "cv",
        blocks: Blocks = "isotonic",
        min_blocks: int = 1,
        min_block_size: int = 1,
        input: Input = "probability",
        labels: Sequence[Any] | None = None,
    ) -> None:
        super().__init__(input=input, labels=labels)
        self.smoothing = smoothing
        self.blocks = blocks
        self.min_blocks = min_blocks
        self.min_block_size = min_block_size

    def _fit(self, problem: SimplexProblem) -> None:
        self._require_parameters()
        cells = Cells.of(problem)
        least = self.min_block_size / rows_per_weight(problem.weight)
        smoothing = self.smoothing
        if smoothing == "cv":
            smoothing = self._chosen(cells, fold_of_rows(problem), least, 1.0 / (1.0 + problem.n_rows))
        rows, starts, start = self._blocks_of(cells, least, float(smoothing))
        solution = solve(rows, float(smoothing), start)
        self.n_blocks_, self.smoothing_, self.loss_ = starts.size, float(smoothing), rows.loss(solution.theta)
        self.gradient_, self.n_iter_ = solution.gradient, solution.n_iter
        steps = np.append(True, np.diff(solution.theta) > 0)
        self.left_, self.log_value_ = cells.lower[starts[steps]], solution.theta[steps]
        _say_what_was_found(solution, problem.size)

    def _apply(self, forecast: Forecast) -> FloatArray:
        return prob_of_scores(self.log_value_[np.searchsorted(self.left_[1:], forecast.prob, side="right")])

    def _require_parameters(self) -> None:
        if self.smoothing != "cv":
            number("smoothing", self.smoothing, least=0.0, most=1.0, hint="Pass a small one, such as 1e-3, or 'cv'")
        choice("blocks", self.blocks, ("isotonic", "distinct"))
        whole("min_blocks", self.min_blocks, least=1, hint="Pass 1 for the blocks of isotonic regression")
        whole("min_block_size", self.min_block_size, least=1, hint="Pass 1 for blocks as small as they come")

    def _blocks_of(self, cells: Cells, least: float, smoothing: float) -> tuple[Comparisons, IntArray, FloatArray]:
        """Return the statistics of the blocks, at which cell each begins, and the values to begin with."""
        mass = cells.mass()
        found = cells.isotonic_starts(mass)
        pooled = Comparisons.of(cells, found)
        if self.blocks == "isotonic" and found.size >= self.min_blocks:
            return pooled, found, pooled.rates(smoothing)
        all_cells = np.arange(cells.size)
        starts = all_cells if self.blocks == "distinct" else split_blocks(found, mass, self.min_blocks, least)
        # Fine blocks begin with the solution over coarse ones: few of them part.
        coarse = solve(pooled, smoothing, goal=ROUGH).theta
        return Comparisons.of(cells, starts), starts, coarse[block_of_cell(found, cells.size)[starts]]

    def _chosen(self, cells: Cells, fold: IntArray, least: float, otherwise: float) -> float:
        """Return the smoothing of the least log loss on rows left out; of equal ones the largest."""
        losses = np.zeros(len(SMOOTHINGS))
        for kept in _kept(fold):
            rows, starts, theta = self._blocks_of(cells.of_rows(kept), least, SMOOTHINGS[0])
            left_out, weight = Comparisons.of(cells.of_rows(~kept), starts), cells.weight[~kept]
            for number_, smoothing in enumerate(SMOOTHINGS):
                theta = solve(rows, smoothing, theta, goal=ROUGH).theta
                losses[number_] += weight @ left_out.clipped_losses(theta)
        if not losses.any():
            return otherwise
        # Losses that agree to rounding are equal.
        return SMOOTHINGS[int(np.argmax(losses <= losses.min() * (1.0 + 1e-9)))]


def fold_of_rows(problem: SimplexProblem) -> IntArray:
    """Draw the fold of each row by a hash of its probabilities and that of the class that came, in single precision."""
    n, n_classes = problem.prob.shape
    mixed = np.empty(n, dtype=np.uint64)
    step = max(1, (1 << 18) // n_classes)
    for start in range(0, n, step):
        rows = slice(start, start + step)
        prob = problem.prob[rows].astype(np.float32) + np.float32(0.0)  # of a negative zero a zero
        mixed[rows] = _mixed(prob.view(np.uint32)).sum(axis=1, dtype=np.uint64)
    came = problem.prob[np.arange(n), problem.label].astype(np.float32) + np.float32(0.0)
    mixed = _mixed(mixed + np.uint64(3) * _mixed(came.view(np.uint32)))
    return (mixed % np.uint64(N_FOLDS)).astype(np.intp)


def _mixed(bits: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Mix the bits of whole numbers (the finaliser of SplitMix64, Steele, Lea and Flood 2014)."""
    z = bits.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _kept(fold: IntArray) -> Iterator[BoolArray]:
    """For each fold that has rows, say which rows are in another, if any are."""
    for number_ in np.unique(fold):
        kept = fold != number_
        if kept.any():
            yield kept


def _say_what_was_found(solution: Solution, n: int) -> None:
    if solution.n_capped:
        warn(
            f"the likelihood grows for ever as {solution.n_capped} steps of the map become higher: they end at a ratio of "
            "1e12. Pass a smoothing above 0, such as 1e-3, or 'cv'.",
            ConvergenceWarning,
        )
    if not solution.gradient <= TOLERANCE:
        warn(
            f"the map must meet its optimality conditions to {TOLERANCE:g}; got {solution.gradient:.2g} after "
            f"{solution.n_iter} steps on {n} rows. It is used as it is: check for extreme weights.",
            ConvergenceWarning,
        )
