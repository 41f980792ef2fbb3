"""Test-based reliability: the predictions of each bin, its event rate, and which predictions its test rejects."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Unpack

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem, Problem
from calibrant._core.result import DrawnResult, Picture, Record, read_only
from calibrant._core.table import Table, under
from calibrant._core.validation import DataOptions, as_problem
from calibrant.binning import Binning, Bins, as_binning
from calibrant.binning.base import shown
from calibrant.binning.bounded_isotonic import BoundedIsotonic
from calibrant.curves.bin_profiles import PROBABILITY, BinProfiles, Scale, bin_profiles, log_odds_of, sums
from calibrant.metrics.rejections import TestName, accepted, require_test, verdicts
from calibrant.notions import Notion, as_notion
from calibrant.sums.unread import require_rows

BOUNDED = BoundedIsotonic()


@dataclass(frozen=True, eq=False)
class BinTestPanel(Record):
    """One problem of a notion: its bins, and their predictions as tested.

    Attributes
    ----------
    name : str
        Name of the problem.
    share : float
        Part of the problem in the aggregate.
    bins : Bins
        Edges, numbers of rows (``weight``), event rates and mean probabilities.
    too_low, too_high : ndarray of shape (n_bins,)
        Rows whose prediction is rejected because it lies below the event rate, and above it.
    lower, upper : ndarray of shape (n_bins,)
        Least and greatest probability that the events of the bin accept; NaN where it is empty. Between them all are accepted,
        but that the exact test can reject a few near the ends.
    probability, log_odds : BinProfiles
        Where the predictions lie, counted in equal parts of either scale: what a violin and the histogram beside show. Log-odds
        end at 1e-7 and 1 - 1e-7, or further out where more than a hundredth of the rows lies beyond.
    """

    name: str
    share: float
    bins: Bins
    too_low: FloatArray
    too_high: FloatArray
    lower: FloatArray
    upper: FloatArray
    probability: BinProfiles
    log_odds: BinProfiles

    @cached_property
    def rejected(self) -> FloatArray:
        """Rows of each bin whose prediction is rejected, shape (n_bins,)."""
        return read_only(self.too_low + self.too_high)

    @cached_property
    def rejected_share(self) -> FloatArray:
        """Their part in the bin, a fraction, shape (n_bins,); NaN where it is empty."""
        found = np.full(len(self.bins), np.nan)
        np.divide(self.rejected, self.bins.weight, out=found, where=self.bins.weight > 0)
        return read_only(found)

    @property
    def error(self) -> float:
        """Percentage of predictions that are rejected (TCE), in [0, 100]; NaN without rows."""
        rows = float(self.bins.weight.sum())
        return 100.0 * float(self.rejected.sum()) / rows if rows > 0.0 else float("nan")


@dataclass(frozen=True, eq=False)
class BinTestCurve(DrawnResult):
    """Predictions tested in their bins, under a notion: one panel a problem.

    Attributes
    ----------
    panels : tuple of BinTestPanel
        One for ``binary`` and ``confidence``, one a class for ``class-wise`` and ``top-label``.
    notion, binning, test : str
        Where the figures come from.
    level : float
        Level of each test, a fraction.
    of_predictions : bool
        Whether the event is that a predicted class is the true one, so that event rates are accuracies.
    """

    _table = Table(
        "bin",
        "panel=panels.name",
        *under("panels.bins", "left", "right", "count", "weight", "mean_prob", "event_rate"),
        *under("panels", "lower", "upper", "too_low", "too_high", "rejected", "rejected_share"),
    )
    _summary = "{notion}, {binning}, test={test!r}, level={level:g}, panels={panels:n}, bins={panels.bins:n}, error={error:.4g}"
    _picture = Picture(
        "the test-based reliability diagram",
        "bin_test.plot_bin_test",
        options="Those of `plot_bin_test`: ``panels``, ``style``, ``axis``.",
    )

    panels: tuple[BinTestPanel, ...]
    notion: str
    binning: str
    test: TestName
    level: float
    of_predictions: bool = False

    @property
    def error(self) -> float:
        """Percentage of predictions that are rejected, averaged over the panels by their shares (TCE), in [0, 100]."""
        return float(sum(panel.share * panel.error for panel in self.panels if panel.bins.weight.sum() > 0))


def bin_test_curve(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    binning: int | Binning = BOUNDED,
    test: TestName = "binomial",
    level: float = 0.05,
    **data: Unpack[DataOptions],
) -> BinTestCurve:
    """Test each prediction against the event rate of its bin, ready to plot (test-based reliability).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more.
    binning : int or Binning, default=BoundedIsotonic()
        How scores are cut; a number n means ``EqualWidth(n)``.
    test : {"binomial", "mid-p", "clopper-pearson", "t"}, default="binomial"
        The test of a prediction against the events of its bin: see `BinTest`.
    level : float, default=0.05
        Level of each test, a fraction in (0, 1).
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`. Weights must
        be whole: a test counts rows.

    Returns
    -------
    BinTestCurve
        A result with ``panels``, ``error``, ``to_frame()`` and ``plot()``.

    Raises
    ------
    ValueError
        If weights are fractions, or ``level`` is no fraction.

    Notes
    -----
    ``error`` is `bin_test_calibration_error` of the same arguments.

    References
    ----------
    Matsubara, Tax, Mudd, Guy, TCE: A test-based approach to measuring calibration error, UAI 2023 (Figure 1).

    Examples
    --------
    >>> from calibrant.curves import bin_test_curve
    >>> y, p = [0] * 9 + [1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    >>> curve = bin_test_curve(y, p, binning=1)
    >>> curve
    BinTestCurve(binary, EqualWidth(n_bins=1), test='binomial', level=0.05, panels=1, bins=1, error=60)
    """
    require_test(test, level)
    problem = require_rows(as_problem(y_true, y_prob, **data), "a curve of tests of bins")
    return _curve_of(problem, as_notion(notion, problem), as_binning(binning), test, float(level))


def _curve_of(problem: Problem, notion: Notion, binning: Binning, test: TestName, level: float) -> BinTestCurve:
    problems = list(notion.split(problem))
    log_odds = log_odds_of(problems)
    panels = tuple(_panel_of(binary, binning(binary), notion.name, test, level, log_odds) for binary in problems)
    return BinTestCurve(panels, notion.name, repr(binning), test, level, notion.of_predictions)


def _panel_of(
    problem: BinaryProblem, bins: Bins, name: str, test: TestName, level: float, log_odds: Scale
) -> BinTestPanel:
    n_bins, found = len(bins), verdicts(problem, bins, test, level)
    lower, upper = accepted(test, bins.outcome_sum, bins.weight, level)
    rejected = found.weight * found.is_rejected
    is_low = found.score < bins.event_rate[found.bin]
    return BinTestPanel(
        name=problem.name or name,
        share=problem.share,
        bins=shown(bins, are_counts=problem.weights.are_counts),
        too_low=sums(found.bin, rejected * is_low, n_bins),
        too_high=sums(found.bin, rejected * ~is_low, n_bins),
        lower=lower,
        upper=upper,
        probability=bin_profiles(found, n_bins, PROBABILITY),
        log_odds=bin_profiles(found, n_bins, log_odds),
    )
