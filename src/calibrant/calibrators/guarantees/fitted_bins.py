"""The bins of a fitted calibrator, and how far their event rates may be off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv
from sklearn.utils.validation import check_is_fitted

from calibrant._core.links import FloatArray
from calibrant._core.parameters import refuse, require
from calibrant._core.problem import IntArray
from calibrant._core.warnings import warn
from calibrant.binning import Binning, EqualWidth, as_binning
from calibrant.binning.points_per_bin import PointsPerBin
from calibrant.calibrators.around.by_notion import ByNotion
from calibrant.calibrators.one_score.histogram import HistogramBinning
from calibrant.calibrators.simplex.canonical_binning import CanonicalBinning
from calibrant.notions import Notion, Part

ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class FittedBins:
    """The bins of one problem, and how far the rate of each may be off."""

    name: str
    fitted: HistogramBinning

    @property
    def inside(self) -> IntArray:
        """Rows of each bin that are draws from it: all but the one at which a bin was cut, if that one counts as well.

        With ``interior`` it does not, unless it is alone.
        """
        count = self.fitted.count_
        if not _cuts_at_scores(self.fitted.binning):
            return count
        on_edge = np.arange(count.size) < count.size - 1  # the last bin ends at 1, which no score has cut
        if self.fitted.interior:
            on_edge &= count == 1
        return np.maximum(count - on_edge, 0)

    @property
    def n_bins(self) -> int:
        """Number of bins that have rows."""
        return int((self.fitted.count_ > 0).sum())

    @property
    def empty_bins(self) -> list[str]:
        """Bins without rows, in words."""
        edges = self.fitted.edges_
        return [
            f"{self.name}, scores in ({edges[b]:g}, {edges[b + 1]:g}]" for b in np.flatnonzero(self.fitted.count_ == 0)
        ]

    def bound(self, squared: float) -> FloatArray:
        """Bound sqrt(squared / (2 m)) of m rows inside, and what the row on the edge, smoothing and delta add to it."""
        count, inside = self.fitted.count_, self.inside
        rows = np.maximum(count, 1)
        estimate = (np.sqrt(inside * squared / 2.0) + (count - inside)) / rows
        moved = self.fitted.smoothing / (rows + 2.0 * self.fitted.smoothing) + self.fitted.delta
        return np.where(count > 0, np.minimum(estimate + moved, 1.0), 1.0)

    def interval(self, alpha: float) -> tuple[FloatArray, FloatArray]:
        """Interval of Clopper and Pearson for all counts of events that the reported values leave open."""
        fewest, most = self._events()
        inside = self.inside
        fewest, most = np.maximum(fewest - (self.fitted.count_ - inside), 0), np.minimum(most, inside)
        low, high = np.zeros(inside.size), np.ones(inside.size)
        some, rest = fewest > 0, most < inside
        low[some] = betaincinv(fewest[some], (inside - fewest)[some] + 1.0, alpha / 2.0)
        high[rest] = betaincinv(most[rest] + 1.0, (inside - most)[rest], 1.0 - alpha / 2.0)
        return low, high

    @property
    def weighted(self) -> bool:
        """Whether rows counted differently: what ``fit`` recorded or, for files from before it did, what rates give away."""
        if hasattr(self.fitted, "weighted_"):
            return bool(self.fitted.weighted_)
        _, fewest, most = self._open_events()
        parted = fewest > most
        # Of rows that tie at an inner edge one row's worth may be left out, which parts an event.
        return bool(parted[-1] or (parted.any() and not self.fitted.interior))

    def _events(self) -> tuple[FloatArray, FloatArray]:
        """Fewest and most events that give the value of each bin; of one that ties part, the whole numbers around it."""
        events, fewest, most = self._open_events()
        parted, count = fewest > most, self.fitted.count_
        fewest, most = np.where(parted, np.floor(events), fewest), np.where(parted, np.ceil(events), most)
        return np.clip(fewest, 0, count), np.clip(most, 0, count)

    def _open_events(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Events that give the value of each bin, and the whole numbers within what rounding and ``delta`` leave open."""
        count, smoothing = self.fitted.count_, self.fitted.smoothing
        rows = count + 2.0 * smoothing
        events = np.where(count > 0, self.fitted.value_ * rows - smoothing, 0.0)
        room = rows * (self.fitted.delta + ROUNDING)
        return events, np.ceil(events - room), np.floor(events + room)


def _cuts_at_scores(binning: int | str | Binning | Sequence[float]) -> bool:
    """Whether the scores that were fitted say where bins end."""
    if isinstance(binning, (str, Binning)):
        return not isinstance(as_binning(binning), EqualWidth)
    return False


def bins_of(calibrator: HistogramBinning | ByNotion) -> tuple[list[FittedBins], list[str]]:
    """Return the bins of each problem, and in words what had no rows; refuse, or warn of, what no bound speaks of."""
    binning, fitted = _fitted_parts(calibrator)
    _require_no_look_at_outcomes(binning.binning)
    parts = [FittedBins(name, part) for name, part in fitted if part is not None]
    _require_no_weights(parts)
    without = [name for name, part in fitted if part is None] + [words for part in parts for words in part.empty_bins]
    _warn_of(without, parts, binning.binning)
    return parts, without


def _fitted_parts(
    calibrator: HistogramBinning | ByNotion,
) -> tuple[HistogramBinning, list[tuple[str, HistogramBinning | None]]]:
    """Return the parameters, and the name of each problem with what was fitted to it."""
    if isinstance(calibrator, HistogramBinning):
        check_is_fitted(calibrator)
        return calibrator, [(f"class {calibrator.classes_[1]}", calibrator)]
    if not isinstance(calibrator, ByNotion) or not isinstance(calibrator.calibrator, HistogramBinning):
        refuse(
            "calibrator must be a HistogramBinning, or ByNotion of one",
            value=calibrator,
            hint=_cure(calibrator),
            error=TypeError,
        )
    check_is_fitted(calibrator)
    names = tuple(str(c) for c in calibrator.classes_.tolist())
    problems = list(calibrator.notion_.parts(np.eye(len(names)), names))
    _require_a_row_once(problems, calibrator.notion_)
    _warn_of_sums(calibrator)
    return calibrator.calibrator, [
        (problem.name, one if isinstance(one, HistogramBinning) else None)
        for problem, one in zip(problems, calibrator.calibrators_, strict=True)
    ]


def _require_a_row_once(problems: list[Part], notion: Notion) -> None:
    require(
        not any(isinstance(part.rows, np.ndarray) and np.unique(part.rows).size < part.rows.size for part in problems),
        "notion must hold a row at most once in a problem, since the bounds count independent rows",
        value=notion,
        hint="Take 'top-label' or 'class-wise'",
    )


def _require_no_weights(parts: list[FittedBins]) -> None:
    weighted = [part.name for part in parts if part.weighted]
    if weighted:
        refuse(
            "calibrator must be fitted without weights, since the bounds count rows",
            got=f"weighted rows of {_first(weighted)}",
            hint="Fit it without sample_weight",
        )


def _cure(calibrator: object) -> str:
    if isinstance(calibrator, CanonicalBinning):
        return (
            "For cells of the simplex ask canonical_binning_guarantee, with the smallest of count_ that is not 0 as "
            "points_per_bin"
        )
    return "Take bins: ByNotion(HistogramBinning(PointsPerBin(50), interior=True, delta=1e-10), 'top-label')"


def _require_no_look_at_outcomes(binning: int | str | Binning | Sequence[float]) -> None:
    require(
        not isinstance(binning, (str, Binning)) or not as_binning(binning).uses_outcomes,
        "bins must not depend on the outcomes, or these are no independent draws in them",
        value=binning,
        hint="Take PointsPerBin(50)",
    )


def _warn_of_sums(calibrator: ByNotion) -> None:
    n_classes = len(calibrator.classes_)
    if calibrator.normalize and calibrator.notion_.parts_a_row(n_classes) == n_classes > 1:
        warn(
            "probabilities are divided by their sums after binning: the bounds hold before that, and not for what "
            "predict_proba returns. Fit with normalize=False."
        )


def _warn_of(without: list[str], parts: list[FittedBins], binning: int | str | Binning | Sequence[float]) -> None:
    if without:
        warn(f"no guarantee for {_first(without)}: no calibration rows. Fit on more rows.")
    if isinstance(binning, PointsPerBin):
        short = [part.name for part in parts if part.fitted.count_.sum() < binning.points_per_bin]
        if short:
            warn(
                f"fewer rows than the {binning.points_per_bin} of a bin for {_first(short)}: the bounds "
                f"are wider there than with {binning.points_per_bin}. Fit on more rows."
            )


def _first(names: list[str], most: int = 5) -> str:
    return "; ".join(names[:most]) + (f"; and {len(names) - most} more" if len(names) > most else "")
