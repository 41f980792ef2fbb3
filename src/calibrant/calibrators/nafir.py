"""Flattened isotonic regression that knows that rows will be divided by their sums."""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from calibrant._core.arrays import FloatArray, prob_of_scores
from calibrant._core.checks import is_word, progress_bar, require
from calibrant._core.registry import ARGMAX, FINITE, HULL, PERMUTED
from calibrant._core.rows import Forecast, IntArray, SimplexProblem
from calibrant.calibrators.base import MulticlassCalibrator, fitted, method, parameter, warn_unless_certain
from calibrant.exceptions import warn
from calibrant.fit import nafir as levels
from calibrant.fit.folds import folds_of

Blocks = Literal["isotonic", "distinct"]
Solver = Literal["newton", "annealing"]

OF_SMOOTHING = "Pass a small one, such as 1e-3, or 'cv'"
HIGHEST_RIDGE = 1e6
"""Up to here rounding leaves the optimality conditions alone."""

TIE = 1e-9
"""This times the probability is added to log g: of two classes on one step the one that was ahead stays ahead."""


@method("na-fir", symbol="NA-FIR", source="Arad and Rosset 2025", guarantees={ARGMAX, HULL, PERMUTED, FINITE})
class NormalizedFlattenedIsotonic(MulticlassCalibrator):
    """Map the scores of all classes by one non-decreasing map that is best after rows are divided by their sums (NA-FIR).

    Use it where `MulticlassIsotonic` is of use: many classes with few rows each, and a pattern along the score that
    temperature scaling leaves. It fits what it predicts, the row after the division, and has a lower log loss. The
    predicted class never changes. Do not use it when classes differ in how they are miscalibrated.

    Parameters
    ----------
    smoothing : float or "cv", default="cv"
        Label smoothing, from 0 to 1: this part of each label is spread evenly over all classes. 0 is the problem of
        the paper; its solution over-fits: it can make the lowest probabilities next to zero. "cv" takes the one of 1e-4 to
        0.3 with the least log loss on rows left out, and at least 1 / (1 + number of rows).
    ridge : float, default=0.0
        Penalty on the variance of log g over all scores fitted: half of it times this is added to the mean log loss, up to 1e6,
        where the map is as good as constant. It pulls the map there as smoothing does, and nothing is infinite with it.
    blocks : {"isotonic", "distinct"}, default="isotonic"
        Where the map may step: between the blocks of flattened isotonic regression, as in the paper, or at each distinct
        score of a true class, which has a lower loss on the rows fitted, hardly another map, and takes longer.
    min_blocks : int, default=1
        Isotonic blocks are cut into pieces of about equal mass until there are so many, or no cut is left: cuts lie at scores
        of true classes.
    min_block_size : int, default=1
        Pieces hold at least so many scores.
    solver : {"newton", "annealing"}, default="newton"
        ``"newton"`` finds the optimum. ``"annealing"`` is the random search of the paper, for comparison: it ends above the
        optimum, as ``gradient_`` shows, and hardly moves where blocks are much finer than the isotonic ones. It takes no
        ridge. The smoothing is chosen by exact fits either way.
    granularity : float, default=0.003
        By how much annealing changes the value of a block at a time. See the notes.
    random_state : int, Generator or None, default=0
        Seed of the random search, or a generator to draw from, or None for a new one each time.
    progress : bool, default=False
        Show a bar while the smoothing is chosen or the random search goes on, if tqdm is installed.
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
        step's height, or by how much a step of height zero would gain; steps that end where they should be infinite are left
        out. The certificate, at most 1e-8, else there is a `ConvergenceWarning`, unless the map was searched at random.
    n_iter_ : int
        Newton steps taken by the last fit, or changes tried by annealing.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    Notes
    -----
    The map g minimises, over non-decreasing functions that step where ``blocks`` says,

        - sum_i w_i log( g(p_i,y_i) / sum_k g(p_ik) )

    and q_k = g(p_k) / sum_j g(p_j). The paper calls that "no longer convex", and searches at random. It is convex in
    theta = log g: with C_ij the number of classes of row i in block j, and b_j the weight of the true classes there,

        sum_i w_i log sum_j C_ij exp(theta_j)  -  b' theta,    theta non-decreasing

    is a conditional logit with monotone effects. Projected Newton on the increments of theta finds the optimum in some ten
    steps. Label smoothing e makes of b_j the sum over rows of w_i ((1 - e) [y_i in block j] + e C_ij / K), and a ridge r adds
    r / 2 sum_j m_j (theta_j - sum_l m_l theta_l)^2, with m_j the share of the scores that lie in block j. Both stay convex, and
    neither minds a constant added to theta. Without them a map that steps elsewhere than at scores of true classes is no
    better than those that do not; with either it could be a little better, and is not looked for.

    Without smoothing and ridge an increment is infinite at the optimum where no row with classes above it had its class at
    or below it. It ends at 27.6, a ratio of 1e-12, with a `ConvergenceWarning`; a smoothing and a ridge of at most 1e-11 are
    too small to change that. Increments on which nothing depends, because no row has classes on both sides, are those of the
    event rates, or zero with a ridge. A score ends 700 below the highest of its row: no probability becomes zero.
    What is predicted is g times exp(1e-9 p), so that the order of a row is kept within a step as well.

    For cross-validation a row's fold is drawn by a hash of its numbers: the order of rows and columns does not matter. Rows
    that are equal, up to the order of the columns, and had the same outcome are dealt out to the five folds one by one, and
    a weight of w is w such rows; were they left out together, as many as a tree makes, the rates among the others would be
    far off. Weights that are not whole are divided by their mean. Blocks are found anew without the fold. Few rows can agree
    by chance, those left out with all others: the smoothing is at least 1 / (1 + number of rows), as if there were one more
    row of which nothing is known. So it is where nothing can be left out, as of a single row. Folds are fitted side by side, on
    all processors.

    Annealing is Algorithm 1 of the paper with its settings: from the event rates on, zeros raised to 1e-7, the value of a
    random block is changed by the granularity, up or down. A change for the worse is kept with probability
    exp(200 (change of the log-likelihood, summed over rows)); the search ends after 100,000 changes, or 10,000 without a better
    map. The paper does not say how large a change is. On three forecasts of CIFAR images, 5000 rows fitted, these mean log
    losses result for the first seed, with what is the optimum:

        =====================  ========  ========  ========  ========
        granularity            0.001     0.003     0.01      optimum
        =====================  ========  ========  ========  ========
        DenseNet, 100 classes  0.878208  0.878155  0.878964  0.877675
        LeNet-5, 100 classes   3.781110  3.780998  3.780955  3.780798
        LeNet-5, 10 classes    1.288447  1.288353  1.288354  1.288225
        =====================  ========  ========  ========  ========

    References
    ----------
    Arad, Rosset, Improving multi-class calibration through normalization-aware isotonic techniques, ICML 2025.
    Bertsekas, Projected Newton methods for optimization problems with simple constraints, SIAM Journal on Control and
    Optimization 1982.
    Portugal, Júdice, Vicente, A comparison of block pivoting and interior-point algorithms for linear least squares problems
    with nonnegative variables, Mathematics of Computation 1994.

    Examples
    --------
    >>> from calibrant import NormalizedFlattenedIsotonic, load_digits_forecast, log_loss
    >>> y, prob = load_digits_forecast()
    >>> fitted = NormalizedFlattenedIsotonic(smoothing=0.001).fit(prob, y)
    >>> fitted.gradient_ < 1e-8
    True
    >>> log_loss(y, fitted.predict_proba(prob)) < log_loss(y, prob)
    True
    """

    smoothing: float | Literal["cv"] = parameter(
        default="cv", least=0.0, most=1.0, hint="Pass a small one, such as 1e-3, or 'cv'"
    )
    ridge: float = parameter(
        default=0.0, least=0.0, most=HIGHEST_RIDGE, hint="Pass a small one, such as 1e-4, or 0 for none"
    )
    blocks: Blocks = parameter(default="isotonic")
    min_blocks: int = parameter(default=1, least=1, hint="Pass 1 for the blocks of isotonic regression")
    min_block_size: int = parameter(default=1, least=1, hint="Pass 1 for blocks as small as they come")
    solver: Solver = parameter(default="newton")
    granularity: float = parameter(default=0.003, above=0.0, most=1.0, hint="Pass a small one, such as 0.003")
    random_state: int | np.random.Generator | None = parameter(default=0)
    progress: bool = parameter(default=False)
    left_: FloatArray = fitted("n", least=0.0, most=1.0, order="rising", fewest=1)
    log_value_: FloatArray = fitted("n", order="rising")
    n_blocks_: int = fitted()
    smoothing_: float = fitted("", least=0.0, most=1.0)
    loss_: float = fitted()
    gradient_: float = fitted()
    n_iter_: int = fitted()

    def _fit(self, problem: SimplexProblem) -> None:
        must, hint = "ridge must be 0 where solver='annealing'", "Pass solver='newton', or a smoothing"
        require(self.solver != "annealing" or self.ridge <= 0.0, must, value=self.ridge, hint=hint)
        cells = levels.Cells.of(problem)
        blocks_of = partial(self._blocks_of, least=self.min_block_size / problem.weights.rows_per_weight)
        smoothing, ridge = self.smoothing, float(self.ridge)
        if is_word(smoothing, "cv"):
            folds, least = list(folds_of(problem)), 1.0 / (1.0 + problem.weights.rows)
            total = len(folds) * len(levels.SMOOTHINGS)
            with progress_bar(total, show=self.progress, desc="smoothing", unit="fit") as advance:
                smoothing = levels.choose_smoothing(cells, folds, blocks_of, ridge, least, advance)
        penalty = levels.Penalty(float(smoothing), ridge)
        rows, starts, start = blocks_of(cells, penalty)
        if self.solver == "newton":
            solution = levels.solve(rows, penalty, start)
            _say_what_was_found(solution, problem.size)
        else:
            n_rows, rng = problem.weights.rows, np.random.default_rng(self.random_state)
            with progress_bar(levels.MOST_CHANGES, show=self.progress, desc="annealing", unit="change") as advance:
                theta, tried = levels.anneal(rows, penalty.smoothing, start, n_rows, self.granularity, rng, advance)
            solution = levels.Solution(theta, levels.violation(rows, penalty, theta), tried, 0)
        self.n_blocks_, self.smoothing_, self.loss_ = starts.size, penalty.smoothing, rows.loss(solution.theta)
        self.gradient_, self.n_iter_ = solution.gradient, solution.n_iter
        steps = np.append(True, np.diff(solution.theta) > 0)
        self.left_, self.log_value_ = cells.lower[starts[steps]], solution.theta[steps]

    def _check_loaded(self) -> None:
        super()._check_loaded()
        must = f"left_ must have from 1 to n_blocks_={self.n_blocks_} steps"
        require(self.left_.size <= self.n_blocks_, must, value=self.left_.size, hint="Fit anew")

    def _apply(self, forecast: Forecast) -> FloatArray:
        log_value = self.log_value_[np.searchsorted(self.left_[1:], forecast.prob, side="right")]
        return prob_of_scores(log_value + TIE * forecast.prob)

    def _blocks_of(
        self, cells: levels.Cells, penalty: levels.Penalty, least: float
    ) -> tuple[levels.Comparisons, IntArray, FloatArray]:
        """Return the statistics of the blocks, at which cell each begins, and the values to begin with."""
        mass = cells.mass()
        found = cells.isotonic_starts(mass)
        pooled = levels.Comparisons.of(cells, found)
        rates = pooled.rates(penalty.smoothing)
        if self.blocks == "isotonic" and found.size >= self.min_blocks:
            return pooled, found, rates
        all_cells = np.arange(cells.size)
        starts = all_cells if self.blocks == "distinct" else levels.split_blocks(found, mass, self.min_blocks, least)
        # Fine blocks begin with the solution over coarse ones: few of them part. The paper begins with the rates.
        coarse = rates if self.solver == "annealing" else levels.solve(pooled, penalty, goal=levels.ROUGH).theta
        return levels.Comparisons.of(cells, starts), starts, coarse[levels.block_of_cell(found, cells.size)[starts]]


def _say_what_was_found(solution: levels.Solution, n: int) -> None:
    if solution.n_capped:
        warn(
            f"the likelihood keeps growing as {solution.n_capped} steps of the map become higher: they end at a ratio of "
            "1e12. Pass a higher smoothing, such as 1e-3, or 'cv'.",
            ConvergenceWarning,
        )
    what, then = (
        "violations of the optimality conditions must lie",
        "The map is used as it is: check for extreme weights",
    )
    warn_unless_certain(what, solution.gradient, levels.TOLERANCE, solution.n_iter, n, then)
