"""What a report says in words: one sentence on all forecasts, the findings on each, how they differ, and what to do next."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from calibrant._core.result import shown_pvalue, shown_rows
from calibrant.assessment.advice import Advice
from calibrant.assessment.compared_rows import IDENTITY
from calibrant.assessment.comparison import OF_SAMPLES, Compared, Comparison
from calibrant.assessment.table import REVERSED, Assessment, shown_coverage, shown_percent, shown_points
from calibrant.metrics.estimate import Estimate
from calibrant.significance.result import shown_adjusted

COMPARED = {"nll": "log loss", "ece": "ECE", "accuracy": "accuracy"}
"""Metrics that forecasts are compared by, and what a sentence calls them."""

NOUNS = {
    "over-confident": "over-confidence",
    "under-confident": "under-confidence",
    "too high": "over-prediction",
    "too low": "under-prediction",
    "too extreme": "overly extreme predictions",
    "too timid": "overly timid predictions",
    REVERSED: "reversal",
    "by class": "errors by class",
    "other": "errors that the mean does not show",
}
"""What a fault of a verdict is called where it is removed, or remains."""

IS = {
    "too extreme": "too extreme",
    "too timid": "too timid",
    REVERSED: "the wrong way round",
    "by class": "off class by class",
    "other": "too high for some predictions and too low for others",
}
"""What is said of a forecast of each fault that has no size in points."""


# How forecasts differ: as `compare` says it, of the same rows or of independent samples


class Move(NamedTuple):
    """How a metric of a forecast differs from that of the first."""

    one: Compared
    of: Comparison

    @property
    def way(self) -> int:
        """Whether it is shown to be lower, -1, or higher, 1; 0 where no difference is shown."""
        return int(np.sign(self.one.difference)) if self.one.adjusted < self.of.level else 0


Moves = Mapping[str, Move]
"""By the name of a metric; one that was not compared is not among them."""


def moves_of(assessments: Mapping[str, Assessment], differences: Sequence[Comparison]) -> dict[str, dict[str, Move]]:
    """Return how each forecast but the first differs from the first."""
    found = {name: dict[str, Move]() for name in list(assessments)[1:]}
    metrics = {metric: metric for metric in COMPARED} | {other: metric for metric, other in OF_SAMPLES.items()}
    for of in differences:
        for one in of.candidates:
            if one.name in found and of.metric in metrics and not one.failure:
                found[one.name][metrics[of.metric]] = Move(one, of)
    return found


def comparison(assessments: Mapping[str, Assessment], differences: Sequence[Comparison]) -> list[str]:
    """Return the differences of each forecast from the first, in figures."""
    first, sentences = next(iter(assessments)), []
    before = assessments[first]
    for name, moves in moves_of(assessments, differences).items():
        after = assessments[name]
        moved = ", ".join(
            f"{word} {_move(before[metric].value, after[metric].value, moves.get(metric))}"
            for metric, word in COMPARED.items()
        )
        samples = ", taken for independent samples of different rows" if moves else ""
        rows = f"on {before.n_rows} and {after.n_rows} rows{samples}"
        rows = rows if _is_apart(moves) else f"on the same {after.n_rows} rows"
        are_several = any(len(move.of.candidates) > 2 for move in moves.values())
        holm = " The p-values are by Holm's method." if are_several else ""
        sentences.append(f"From “{first}” to “{name}”, {rows}: {moved}.{holm}")
    return sentences


def _is_apart(moves: Moves) -> bool:
    """Whether forecasts are of different rows, or nobody said that they are of the same."""
    return not moves or any(move.of.pairing != "rows" for move in moves.values())


def _move(old: float, new: float, move: Move | None) -> str:
    before, after = f"{old:.4f}", f"{new:.4f}"
    way = f"stays at {before}" if before == after else f"goes from {before} to {after}"
    if move is None or not np.isfinite(move.one.difference):
        return way
    one, of = move
    p = shown_adjusted(one.adjusted, one.pvalue, one.least_pvalue, ".3g", name="p")
    squares = " of squares without bias" if of.scale == "square" else ""
    interval = f"{shown_coverage(of.level)} [{one.lower:+.4f}, {one.upper:+.4f}]"
    return f"{way} (difference{squares} {one.difference:+.4f}, {interval}, {p})"


# The headline: one sentence on one forecast, on two, or on several


def headline(
    assessments: Mapping[str, Assessment],
    differences: Sequence[Comparison] = (),
    best: str | None = None,
    *,
    is_shown: bool = True,
) -> str:
    """Return the sentence that a report begins with; ``best`` is the forecast to take, where a comparison says so.

    ``is_shown`` is whether it is shown to be better than the first. Without it the best of several is that of least log
    loss among those that `compare` recommends in place of the first.
    """
    first, *others = assessments
    if not others:
        return f"{_state('The forecast is', assessments[first])}."
    moves = moves_of(assessments, differences)
    if len(others) == 1:
        return _changed(assessments, others[0], moves[others[0]], f"“{others[0]}”")
    if best is None:
        nll = (of for of in differences if of.metric == "nll" and of.recommended in others)
        better = [of.recommended for of in nll if of[of.recommended].adjusted < of.level]
        best = min(better, key=lambda name: assessments[name]["nll"].value, default=first)
    if best == first:
        said = f"No other forecast is shown to be better than “{first}”"
        return f"{said}: {_state('it is', assessments[first], alone=False)}."
    said = f"The best forecast that is shown to be better than “{first}” is “{best}”: "
    if not is_shown:
        said = f"The forecast to take is “{best}”, though it is not shown to be better than “{first}”: "
    return said + _changed(assessments, best, moves[best], "it")


def _state(is_: str, found: Assessment, *, alone: bool = True) -> str:
    """Say of one forecast whether it is calibrated."""
    fault = next(iter(found.verdict.faults), None)
    if fault is None:
        said = f"No miscalibration was detected in {shown_rows(found.n_rows)}"
        said = said if alone else "of it no miscalibration was detected"
    else:
        said = f"{is_} {IS.get(fault) or f'{fault} by {shown_points(abs(found.verdict.points))} points'}"
    return f"{said}: ECE {_in_points(found['ece'])} points, {_noise(found)}"


def _changed(assessments: Mapping[str, Assessment], name: str, moves: Moves, subject: str) -> str:
    """Say what became of the fault of the first forecast, and of its log loss and accuracy; of samples, what each shows."""
    first, apart = next(iter(assessments)), _is_apart(moves)
    of_first = f" of “{first}”" if apart else ""
    before, after, ece = assessments[first], assessments[name], moves.get("ece")
    old, new = (next(iter(one.verdict.faults), None) for one in (before, after))
    way, rest = 0 if ece is None else ece.way, []
    if old is None:
        what = f"neither “{first}” nor “{name}” shows miscalibration"
        if new is not None:
            what = f"{subject} {'shows' if apart else 'brought'} {NOUNS[new]} that “{first}” does not show"
    elif new == old:
        how = ("is not shown to change", "is not shown to differ in")
        if way:
            how = ("lessened", "shows less of") if way < 0 else ("increased", "shows more of")
        if old not in IS and way * (abs(after.verdict.points) - abs(before.verdict.points)) < 0:  # the rest of the ECE
            how = ("still shows", "also shows")
        what = f"{subject} {how[apart]} the {NOUNS[old]}{of_first}"
    elif new in (None, "by class", "other"):
        what = f"{subject} {'does not show' if apart else 'removed'} the {NOUNS[old]}{of_first}"
        if way >= 0:
            shown = "" if ece is None else ", but no difference in ECE is shown"
            is_ = "are" if NOUNS[old].endswith(("predictions", "class", "show")) else "is"
            what = f"the {NOUNS[old]} of “{first}” {is_} not detected in “{name}”{shown}"
        if new is not None:
            rest = [f"it shows {NOUNS[new]}" if apart else f"{NOUNS[new]} remain"]
    else:
        what = f"{subject} shows {NOUNS[new]} in place of the {NOUNS[old]}{of_first}"
    points = _in_points(before["ece"]), _in_points(after["ece"])
    shown = f"ECE {' to '.join(points)} points" if points[0] != points[1] else f"ECE still {points[1]} points"
    losses = {first: before["nll"].value, name: after["nll"].value}
    figures = _loss(losses, moves.get("nll")), _accuracy(before, after, moves.get("accuracy"))
    sentence = "; ".join(part for part in (f"{what}: {shown}, {_noise(after)}", *figures, *rest) if part)
    return f"{sentence if subject == 'it' else sentence[0].upper() + sentence[1:]}."


def _in_points(ece: Estimate) -> str:
    return shown_points(100.0 * ece.value)


def is_real(found: Assessment) -> bool:
    """Whether there is a fault, and the ECE by itself is more than noise."""
    pvalue = found["ece"].pvalue
    return bool(found.verdict.faults) and pvalue is not None and pvalue <= found.level


def _noise(found: Assessment) -> str:
    if is_real(found):
        return "which is more than noise"
    return "which by itself is within noise" if found.verdict.faults else "which is within noise"


def _loss(losses: Mapping[str, float], move: Move | None) -> str:
    """Judge by the log loss, a proper score: it changed only where its difference is shown."""
    if infinite := [f"“{name}”" for name, loss in losses.items() if not np.isfinite(loss)]:
        return f"the log loss of {' and of '.join(infinite)} is infinite"
    old, new = losses.values()
    if move is None:
        return f"log loss {old:.4f} and {new:.4f}, without a test of their difference"
    if not move.way:
        return "log loss did not change" if f"{old:.4f}" == f"{new:.4f}" else "no difference in log loss can be shown"
    if new < old:
        return "log loss more than halved" if new < old / 2.0 else f"log loss fell by {shown_percent(1.0 - new / old)}"
    return "log loss more than doubled" if new > 2.0 * old else f"log loss rose by {shown_percent(new / old - 1.0)}"


def _accuracy(before: Assessment, after: Assessment, move: Move | None) -> str:
    if move is None:
        return ""
    accuracy = "accuracy" if before.n_classes > 2 else "accuracy at a threshold of 50 %"
    if not move.way:
        return f"{accuracy} did not change" if not move.one.difference else f"no difference in {accuracy} can be shown"
    points = shown_points(100.0 * abs(after["accuracy"].value - before["accuracy"].value))
    return f"{accuracy} {'rose' if move.way > 0 else 'fell'} by {points} points"


# The findings on one forecast: the verdict, whether that is noise, and the next step, as computed on the rows at hand or the
# command that computes it


ASK = (
    "Next: choose a calibrator on a calibration set: rows used neither for training nor in this report: "
    "calibrant advise CALIBRATION_FILE (in Python calibrant.advise)."
)
"""Where nothing was computed: the report was made without rows, or of rows to test on."""

REFIT = (
    "If these rows are your test set, fit on a separate calibration set, and compare before and after on the test set:"
)


def next_step(advice: Advice | None, *, visible: bool, detectable: float | None, n_rows: int) -> str:
    """Return the last finding; ``visible`` is whether some miscalibration is significant: else no calibrator is named."""
    if not visible:
        stay = f" {advice.reason}" if advice is not None and advice.recommended == IDENTITY else ""
        missed = f": an ECE below about {detectable:.4f} would often go undetected here" if detectable else ""
        return f"No miscalibration is visible in {shown_rows(n_rows)}.{stay} That is no proof of calibration{missed}."
    if advice is None:
        return ASK
    if advice.recommended == IDENTITY:
        return f"Next: collect more rows. {advice.reason}"
    event, before, chosen = f" {advice.event}" if advice.event else "", advice.candidates[0], advice.chosen
    of = "" if advice.n_used == advice.n_rows else f"{advice.n_used} of "
    return (
        f"Next: fit {advice.recommended} on a calibration set: {advice.command}. In {advice.n_folds}-fold cross-validation "
        f"on {of}{advice.n_rows} rows it lowers the log loss from {before.log_loss:.4f} to {chosen.log_loss:.4f} "
        f"(difference {chosen.difference:.4f}, standard error {chosen.standard_error:.4f}). {REFIT} "
        f"calibrant report TEST_FILE{advice.given}{event} --calibrator calibrator.json -o after.html."
    )


def findings(assessment: Assessment, advice: Advice | None = None) -> list[str]:
    """Return the findings of an assessment as sentences: the verdict, whether that is noise, and what to do next."""
    verdict, ece = assessment.verdict, assessment["ece"]
    p = "" if ece.pvalue is None else shown_pvalue(ece.pvalue, ece.least_pvalue, ".3g", name="p")
    chance = f"({p}, from {assessment.n_resamples} draws of labels from the forecast itself)"
    expected = f"{ece.noise_floor:.4f} is expected of a calibrated forecast {chance}."
    noise = f"The ECE of {ece.value:.4f} is within the noise: {expected}"
    if is_real(assessment):
        noise = f"This is more than noise: the ECE is {ece.value:.4f}, and {expected}"
    notes = [(row.estimate.value, row.note) for row in assessment.rows if row.note and row.is_called("nll")]
    losses = [f"The log loss is {'infinite' if math.isinf(loss) else 'not exact'}: {note}." for loss, note in notes]
    step = next_step(advice, visible=bool(verdict.faults), detectable=ece.detectable, n_rows=assessment.n_rows)
    return [*verdict.sentences, noise, *losses, step]
