"""One verdict on a forecast: what is wrong with it, by how much, how sure that is, and which rows rule it.

Four questions are asked, each by tests of its own: is the mean prediction too high or too low, is the calibration slope other
than 1, is a class too high or too low, and is there an error that none of these shows? Of a calibrated forecast all of them
together find something with a probability of at most the level: a p-value counts as often as there are questions, and tests.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import bdtrc, chdtrc, expit, gammainc, gammaincc, logit, ndtr, ndtri

from calibrant._core.arrays import FloatArray
from calibrant._core.result import Result, Table, shown_pvalue, shown_rows
from calibrant._core.rows import Weights
from calibrant.binning.bins import Bins, FineGrid, residual_of_sums
from calibrant.curves.reliability import ReliabilityCurve, ReliabilityPanel
from calibrant.fit.log_loss import Recalibration
from calibrant.metrics.estimate import Estimate, most_of_none
from calibrant.sums import BinTable

CELLS = FineGrid(64)
"""Cells in place of scores: they are 2 % wide, and those of certain scores, up to 2^-40, stand apart."""

CERTAIN = 2
"""Cells at either end that hold the certain scores."""

TOLERATED = 0.01
"""Share of certain rows that may be wrong: labels have errors."""

LEAST = 5.0
"""Events, and rows without the event, from which on the slope is tested: its law is one of many rows."""

SYMMETRIC = 1e-3
"""Skewness up to which a sum is normal."""

MOST_NAMED = 3
"""Classes that a sentence names."""

SLOPES = ("too extreme", "too timid")

REVERSED = "wrong way round"
"""The fault of a negative slope."""

UNEQUAL = 0.5
"""Share of the rows that weights must be worth, or the verdict says how many they are worth."""


@dataclass(frozen=True, eq=False)
class Verdict(Result):
    """What is wrong with a forecast, and how sure that is. Printed, it is a sentence or a few.

    Attributes
    ----------
    faults : tuple of str
        Empty where no miscalibration was detected. Of an event "too high" or "too low" on average, "too extreme" or "too timid"
        (calibration slope below or above 1). Of predicted classes, and of a notion of several events, "over-confident" or
        "under-confident" on average, and the slope only if neither. "wrong way round", before all others, if the slope is
        below 0. "by class" if a class is too high or too low, and "other" if a calibration error is significant and nothing of
        this is, or if more than 1 % of the certain rows are shown to be wrong.
    predicted, observed : float
        Mean predicted probability and event rate, or mean confidence and accuracy.
    points, lower, upper : float
        Their difference in percentage points, positive if the predictions are too high, with its interval.
    slope, slope_lower, slope_upper : float
        Calibration slope without the certain rows, or with them if it is not defined without and some of them are wrong;
        with its interval. NaN where it is not defined.
    by_class : dict of str to float
        Percentage points by which classes are too high (positive) or too low, the largest first.
    pvalue : float
        The smallest p-value of all tests behind the verdict, adjusted for their number.
    mostly_noise : tuple of str
        Calibration errors of which more than half is noise.
    certain, wrong : int
        Rows with a probability within 1e-12 of 0 or 1, and those of them that are wrong.
    level : float
        Probability, at most, with which a calibrated forecast is called wrong; the intervals cover one minus that.
    sentences : tuple of str
        The verdict in words.
    """

    _table = Table(
        *(None, "faults=_fault", "predicted", "observed", "points", "lower", "upper", "slope"),
        *("slope_lower", "slope_upper", "pvalue", "certain", "wrong", "verdict=_text"),
    )
    _summary = "{_fault}"

    faults: tuple[str, ...]
    predicted: float
    observed: float
    points: float
    lower: float
    upper: float
    slope: float
    slope_lower: float
    slope_upper: float
    by_class: Mapping[str, float]
    pvalue: float
    mostly_noise: tuple[str, ...]
    certain: int
    wrong: int
    level: float
    sentences: tuple[str, ...]

    @property
    def _fault(self) -> str:
        return " and ".join(self.faults) or "none detected"

    @property
    def _text(self) -> str:
        return " ".join(self.sentences)

    def __str__(self) -> str:
        """Return the verdict in words."""
        return self._text


class Shift(NamedTuple):
    """Mean prediction less event rate of some problems, with standard error and p-value, each of shape (n_problems,)."""

    predicted: FloatArray
    observed: FloatArray
    error: FloatArray
    pvalue: FloatArray

    @classmethod
    def of(cls, table: BinTable, rows_per_weight: float) -> Shift:
        """Compare the sums of the bins of each problem; each weight is worth so many independent rows."""
        bins, add = table.bins, partial(np.bincount, table.part, minlength=len(table))
        weight, scores, events, count = bins.weight, bins.score_sum, bins.outcome_sum, bins.count
        p = np.clip(np.divide(scores, weight, out=np.zeros_like(scores), where=weight > 0), 0.0, 1.0)
        total = np.maximum(add(weight), np.finfo(float).tiny)
        predicted, n = add(scores) / total, total * rows_per_weight
        sums = [add(each).astype(np.float64) for each in (events, scores, count)]
        difference = -residual_of_sums(*sums) / total
        observed = predicted - difference
        calibrated = add(weight * p * (1.0 - p)) / total
        seen = add(events * (1.0 - p) ** 2 + (weight - events) * p**2) / total - difference**2
        third = add(weight * p * (1.0 - p) * (1.0 - 2.0 * p)) / total
        error = np.sqrt(np.maximum(np.maximum(calibrated, seen), 0.0) / n)
        moments = zip(-n * difference, n * error, n * third, strict=True)
        return cls(predicted, observed, error, np.array([_pvalue(*each) for each in moments]))

    @property
    def points(self) -> FloatArray:
        """Mean prediction less event rate in percentage points."""
        return 100.0 * (self.predicted - self.observed)


NO_SHIFT = Shift(*np.zeros((4, 0)))


LEAST_SD = 1e-100
"""Below it one more or one less event than expected is all but impossible, and the cube of it is no number."""


def _pvalue(excess: float, sd: float, third: float) -> float:
    """Return the two-sided p-value of so many more events than expected.

    Their number is a whole one, and skew if they are rare: its law is Pearson's third one, with a correction for continuity.
    """
    distance = max(abs(excess) - 0.5, 0.0)
    if distance == 0.0:
        return 1.0
    if sd < LEAST_SD:
        return 0.0
    t, skew = distance / sd, math.copysign(1.0, excess) * third / sd**3
    if abs(skew) < SYMMETRIC:
        tail = ndtr(-t)
    else:
        k = 4.0 / skew**2
        tail = gammaincc(k, k + math.sqrt(k) * t) if skew > 0 else gammainc(k, max(k - math.sqrt(k) * t, 0.0))
    return min(1.0, 2.0 * float(tail))


class Slope(NamedTuple):
    """Calibration slope, its standard error and p-value, and by how much the predictions are off for it, on average."""

    value: float
    error: float = math.nan
    pvalue: float = 1.0
    off: float = math.nan

    @classmethod
    def of(cls, bins: Bins, rows_per_weight: float, certain: int = 0) -> Slope:
        """Fit the log-odds of the event to those of the scores, without so many cells at either end."""
        held = np.flatnonzero(bins.weight > 0)
        held = held[(held >= certain) & (held < len(bins) - certain)]
        weight, events = bins.weight[held], np.clip(bins.outcome_sum[held], 0.0, bins.weight[held])
        few = min(float(events.sum()), float((weight - events).sum())) * rows_per_weight
        if few < LEAST or held.size < 2:
            return cls(math.nan)
        fit = Recalibration(logit(np.clip(bins.score_sum[held] / weight, 1e-12, 1.0 - 1e-12)), weight, events)
        (intercept, slope), shift = fit.joint, expit(fit.in_the_large + fit.x)
        gain = 2.0 * rows_per_weight * (fit.largest - fit.largest_with_slope_one)
        recalibrated, error = events / weight, math.nan
        if math.isfinite(slope):
            recalibrated = expit(intercept + slope * fit.x)
            curvature = weight * recalibrated * (1.0 - recalibrated)
            spread = curvature @ (fit.x - curvature @ fit.x / curvature.sum()) ** 2
            error = 1.0 / math.sqrt(spread * rows_per_weight)
        off = float(weight @ np.abs(recalibrated - shift) / weight.sum())
        return cls(slope, error, float(chdtrc(1.0, max(gain, 0.0))), off)


def verdict_of(
    cells: BinTable,
    by_class: BinTable | None,
    curve: ReliabilityCurve,
    errors: Mapping[str, Estimate],
    weights: Weights,
    level: float,
) -> Verdict:
    """Return the verdict from sums of a forecast.

    ``cells`` are those of `CELLS`: of a notion of one event a row, else of the confidence, whose event is that the predicted
    class is right: then there are the bins ``by_class`` as well. ``errors`` are the calibration errors that are known, by
    their symbols.
    """
    bins, of_predictions = cells.bins, by_class is not None
    each, n, z = weights.effective_rows_per_weight, round(weights.rows), float(ndtri(1.0 - level / 2.0))
    main, slope = Shift.of(cells, each), Slope.of(bins, each, CERTAIN)
    at_ends = bins.weight[:CERTAIN].sum() + bins.weight[-CERTAIN:].sum()
    missed = bins.outcome_sum[:CERTAIN].sum() + (bins.weight - bins.outcome_sum)[-CERTAIN:].sum()
    certain, wrong = [round(float(rows) * weights.rows_per_weight) for rows in (at_ends, missed)]
    with_certain = Slope.of(bins, each) if wrong else slope
    if math.isnan(slope.value):  # the certain rows alone have a direction
        slope = with_certain
    names = () if by_class is None else by_class.names
    classes = NO_SHIFT if by_class is None else Shift.of(by_class, each)
    drawn = {symbol: one.pvalue for symbol, one in errors.items() if one.pvalue is not None}
    asked = 2 + bool(names) + bool(drawn)
    of_shift, of_slope = asked * float(main.pvalue[0]), asked * slope.pvalue
    of_class = asked * len(names) * classes.pvalue
    of_error = {symbol: asked * len(drawn) * pvalue for symbol, pvalue in drawn.items()}

    below_zero = slope.value < 0.0 and (
        math.isinf(slope.value) or 2.0 * asked * ndtr(slope.value / slope.error) <= level
    )
    faults = [REVERSED] if of_slope <= level and below_zero else []
    if of_shift <= level:
        words = ("over-confident", "under-confident") if of_predictions else ("too high", "too low")
        faults.append(words[int(main.points[0] < 0)])
    if of_slope <= level and REVERSED not in faults and not (faults and of_predictions):
        faults.append("too timid" if slope.value > 1.0 else "too extreme")
    largest = [j for j in np.argsort(-np.abs(classes.points)).tolist() if of_class[j] <= level]
    if largest:
        faults.append("by class")
    significant = [symbol for symbol, pvalue in of_error.items() if pvalue <= level]
    worth = [round(float(rows) * each) for rows in (missed, at_ends)]  # independent rows
    of_certain = asked * float(bdtrc(worth[0] - 1, worth[1], TOLERATED)) if worth[0] else 1.0
    if (significant or of_certain <= level) and not faults:
        faults.append("other")

    smallest = min(of_shift, of_slope, of_certain, *of_class.tolist(), *of_error.values())
    reach = z * float(main.error[0])
    if reach == 0.0:  # all rows are certain and right: some may be wrong all the same
        reach = most_of_none(weights.effective_rows, level)
    points, half = float(main.points[0]), 100.0 * reach
    found = Verdict(
        faults=tuple(faults),
        predicted=float(main.predicted[0]),
        observed=float(main.observed[0]),
        points=points,
        lower=max(points - half, 100.0 * (float(main.predicted[0]) - 1.0)),
        upper=min(points + half, 100.0 * float(main.predicted[0])),
        slope=slope.value,
        slope_lower=slope.value - z * slope.error,
        slope_upper=slope.value + z * slope.error,
        by_class={names[j]: float(classes.points[j]) for j in largest},
        pvalue=min(1.0, smallest),
        mostly_noise=tuple([symbol for symbol, one in errors.items() if one.is_mostly_noise]),
        certain=certain,
        wrong=wrong,
        level=level,
        sentences=(),
    )
    known = {symbol: errors[symbol] for symbol in significant}
    sentences = [_found(found, n, curve, slope.off, known, of_predictions=of_predictions)]
    by_itself = {"the difference": float(main.pvalue[0]), "the calibration slope": slope.pvalue, **drawn}
    name, least = min(by_itself.items(), key=lambda item: item[1])
    leaves_out = max(found.lower, -found.upper, found.slope_lower - 1.0, 1.0 - found.slope_upper) > 0.0
    if not faults and (least <= level or leaves_out):
        alone, adjusted = (
            shown_pvalue(min(1.0, times * least), None, ".2g", name="p")
            for times in (1, asked * (len(drawn) if name in drawn else 1))
        )
        sentences.append(
            f"By itself {name} speaks against calibration ({alone}), but not as one of {len(by_itself) + len(names)} tests "
            f"({adjusted})."
        )
    if len(faults) > 1 and faults[1] in SLOPES:
        sentences.append(f"It is also {faults[1]}: {_slope(found)}.")
    if largest and len(faults) > 1:
        sentences.append(f"Class by class, {_classes(found)}.")
    if wrong:
        moved = ""
        if math.isfinite(slope.value) and slope != with_certain:
            with_them, without = with_certain.value, slope.value
            moved = f": with the certain rows the calibration slope is {with_them:.3g}, without them {without:.3g}"
        are = "is" if wrong == 1 else "are"
        rows = f"{shown_rows(certain)} with a probability within 1e-12 of 0 or 1"
        sentences.append(f"{wrong} of {rows} {are} wrong{moved}.")
    if weights.effective_rows < UNEQUAL * len(weights) and not weights.are_counts:
        sentences.append(f"The weights make {shown_rows(n)} worth {weights.effective_rows:.3g} equal ones.")
    return replace(found, sentences=tuple(sentences))


def _found(
    found: Verdict,
    n: int,
    curve: ReliabilityCurve,
    off: float,
    significant: Mapping[str, Estimate],
    *,
    of_predictions: bool,
) -> str:
    """Return the first sentence: the first fault, with its size."""
    panel, fault = curve.panels[0], found.faults[0] if found.faults else "none"
    predicted, observed = shown_percent(found.predicted), shown_percent(found.observed)
    facts = (
        f"mean confidence {predicted}, accuracy {observed}"
        if of_predictions
        else f"{panel.name} occurred in {observed} of the rows, predicted {predicted} on average"
    )
    ends = (found.lower, found.upper) if found.points >= 0 or fault == "none" else (-found.upper, -found.lower)
    interval = f"{shown_coverage(found.level)} {shown_points(ends[0])} to {shown_points(ends[1])}"
    match fault:
        case "none":
            means = f"{facts} (difference {shown_points(found.points)} points, {interval})"
            return f"No miscalibration was detected in {shown_rows(n)}: {means}."
        case "wrong way round":
            rarer = "high confidences are right less often than low ones" if of_predictions else ""
            rarer = rarer or f"{panel.name} is rarer where its probability is higher"
            return f"The wrong way round: {rarer}; {_slope(found)}. Are labels or columns swapped? On average {facts}."
        case "too extreme" | "too timid":
            ends_are = ("high", "low") if fault == "too extreme" else ("low", "high")
            what = "confidences" if of_predictions else f"probabilities of {panel.name}"
            how = f"high {what} are too {ends_are[0]} and low ones too {ends_are[1]}"
            return f"{fault.capitalize()} by {shown_points(100.0 * off)} points on average: {how}; {_slope(found)}."
        case "by class":
            return f"Off by class: {_classes(found)}; on average {facts}."
        case "other" if not significant:
            return f"Wrong where it is certain: {facts}."
        case "other":
            figures = ", ".join(
                f"{symbol} {one.value:#.4g}, {shown_pvalue(one.pvalue or 0.0, one.least_pvalue, '.3g', name='p')}"
                for symbol, one in significant.items()
            )
            where = _where(panel, significant) if len(curve.panels) == 1 else ""
            begin = "Too" if where else "Class by class too"
            return f"{begin} high for some predictions and too low for others ({figures}){where}."
        case _:
            return f"{fault.capitalize()} by {shown_points(abs(found.points))} points ({interval}): {facts}."


def _where(panel: ReliabilityPanel, significant: Mapping[str, Estimate]) -> str:
    """Name the bin that adds most to the ECE, if that is significant."""
    if "ECE" not in significant:
        return ""
    bins = panel.bins
    j = int(np.argmax(np.abs(bins.residual_sum)))
    figures = (bins.left, bins.right, bins.mean_prob, bins.event_rate)
    left, right, mean, rate = (shown_percent(float(x[j])) for x in figures)
    return f", most between {left} and {right}: predicted {mean}, observed {rate}"


def _classes(found: Verdict) -> str:
    named = [
        f"{name} is too {'high' if points > 0 else 'low'} by {shown_points(abs(points))} points"
        for name, points in list(found.by_class.items())[:MOST_NAMED]
    ]
    more = len(found.by_class) - len(named)
    return ", ".join(named) + (f", and {more} more are off" if more else "")


def _slope(found: Verdict) -> str:
    if not math.isfinite(found.slope):
        return "the predictions separate the outcomes"
    width = found.slope_upper - found.slope_lower
    digits = 2 if not 0.0 < width < 0.05 else 1 - math.floor(math.log10(width))
    low, slope, high = (f"{one:.{digits}f}" for one in (found.slope_lower, found.slope, found.slope_upper))
    return f"calibration slope {slope}, {shown_coverage(found.level)} {low} to {high}"


def shown_coverage(level: float) -> str:
    """What stands before an interval."""
    return f"{100 * (1 - level):g} % interval"


def shown_points(points: float) -> str:
    """One decimal, or two digits where that would be less."""
    return f"{points:.1f}" if abs(points) >= 1.0 or points == 0.0 else f"{points:.2g}"


def shown_percent(part: float) -> str:
    """A part of one in percent."""
    return f"{shown_points(100.0 * part)} %"
