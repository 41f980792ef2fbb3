"""Isotonic regression, region by region, stopped before it has learnt the noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from calibrant._core.arrays import EPSILON, FloatArray, score_of_logit
from calibrant._core.checks import choice, number, require, warn, whole
from calibrant._core.registry import FINITE, ORDER
from calibrant._core.rows import BinaryProblem, Forecast, IntArray, SimplexProblem, two_columns
from calibrant.binning.bins import Ordered
from calibrant.binning.cells import MOST_NUMBERS, SplitTree, simplex_grid
from calibrant.calibrators.base import BinaryCalibrator, MulticlassCalibrator, fitted, method, parameter
from calibrant.calibrators.isotonic import on_steps
from calibrant.fit import trees
from calibrant.fit.isotonic import choose_stage

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

    def staged_predict_proba(self, X: npt.ArrayLike) -> Iterator[FloatArray]:
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
        return (two_columns(on_steps(left, value, score), is_logit=False).values for left, value in stages)

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

    def cells(self, y_prob: npt.ArrayLike) -> IntArray:
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

    def staged_predict_proba(self, X: npt.ArrayLike) -> Iterator[FloatArray]:
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
