"""What a report says, as plain values that JSON can hold. Everything is worked out here; the template only shows it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import calibrant
from calibrant.assessment import Assessment, Row
from calibrant.curves.reliability import ReliabilityCurve, ReliabilityPanel

MOST_CLASSES = 12
"""Class panels shown; the classes with the most rows come first."""

NEEDED = ("accuracy", "nll", "ece")
"""Metrics that the sentences of a report speak of."""

BY_CLASS = {"classwise-ece": "Class by class,", "top-label-ece": "Given the predicted class,"}

REFERENCES = {
    "ece": "Naeini, Cooper, Hauskrecht. Obtaining well calibrated probabilities using Bayesian binning. AAAI 2015.",
    "confidence": "Guo, Pleiss, Sun, Weinberger. On calibration of modern neural networks. ICML 2017.",
    "classwise-ece": "Kull et al. Beyond temperature scaling. NeurIPS 2019.",
    "top-label-ece": "Gupta, Ramdas. Top-label calibration and multiclass-to-binary reductions. ICLR 2022.",
    "general": "Matsubara, Tax, Mudd, Guy. TCE: a test-based approach to measuring calibration error. UAI 2023.",
    "survey": "Silva Filho et al. Classifier calibration: a survey. Machine Learning, 2023.",
    "resampling": "Vaicenavicius et al. Evaluating model calibration in classification. AISTATS 2019.",
    "wilson": "Wilson. Probable inference, the law of succession, and statistical inference. JASA, 1927.",
}


def summarise(assessments: Mapping[str, Assessment], *, title: str = "Calibration report") -> dict[str, Any]:
    """Return everything that a report shows.

    Parameters
    ----------
    assessments : dict of name to Assessment
        In the order in which they are compared, such as before and after.
    title : str, default="Calibration report"
        Title of the page.

    Returns
    -------
    dict
        Strings, numbers, lists and dicts only; NaN appears as None.
    """
    if not assessments:
        raise ValueError("a report needs at least one assessment; got none. Pass {'name': assess(y_true, y_prob)}.")
    for name, assessment in assessments.items():
        if missing := set(NEEDED) - {row.metric for row in assessment.rows}:
            raise ValueError(
                f"a report needs {', '.join(NEEDED)}; {name!r} was assessed without {', '.join(sorted(missing))}. "
                "Add them to metrics=."
            )
    forecasts = [_forecast(name, assessment) for name, assessment in assessments.items()]
    return {
        "title": title,
        "library": f"calibrant {calibrant.__version__}",
        "forecasts": forecasts,
        "comparison": _comparison(assessments),
        "table": _table(assessments),
        "references": list(REFERENCES.values()),
    }


def _forecast(name: str, assessment: Assessment) -> dict[str, Any]:
    heaviest = sorted(range(assessment.n_classes), key=lambda j: -list(assessment.class_weight.values())[j])
    shown = sorted(heaviest[:MOST_CLASSES])
    return {
        "name": name,
        "rows": assessment.n_rows,
        "classes": assessment.n_classes,
        "absent": [c for c, weight in assessment.class_weight.items() if weight == 0],
        "level": assessment.level,
        "resamples": assessment.n_resamples,
        "findings": findings(assessment),
        "diagram": _panel(assessment.curve.panels[0], assessment.curve),
        "class_diagrams": [_panel(assessment.class_curve.panels[j], assessment.class_curve) for j in shown],
        "classes_left_out": assessment.n_classes - len(shown),
    }


def findings(assessment: Assessment) -> list[str]:
    """Say in plain words what an assessment found: how it is off, whether that is real, and what to do next."""
    panel, ece = assessment.curve.panels[0], assessment["ece"]
    assert ece.pvalue is not None  # a calibration error has a p-value and a noise floor
    assert ece.noise_floor is not None
    real = ece.pvalue <= assessment.level
    by_class = (
        [] if real else [row for row in assessment.rows if row.metric in BY_CLASS and _significant(row, assessment)]
    )
    return [
        _how_it_is_off(panel, assessment.curve, real=real, ece=ece.value),
        _whether_real(ece.value, ece.noise_floor, ece.pvalue, real=real, draws=assessment.n_resamples),
        *[_class_finding(row) for row in by_class],
        _what_next(panel, real=real, by_class=bool(by_class), ece=ece.value, n_rows=assessment.n_rows),
    ]


def _significant(row: Row, assessment: Assessment) -> bool:
    return row.estimate.pvalue is not None and row.estimate.pvalue <= assessment.level


def _how_it_is_off(panel: ReliabilityPanel, curve: ReliabilityCurve, *, real: bool, ece: float) -> str:
    says, came = panel.mean_prob, panel.event_rate
    if curve.notion == "confidence":
        facts = f"it gives its predicted class {says:.1%} on average, and is right in {came:.1%} of the rows"
        what, high, low = "confidence", "over-confident", "under-confident"
    else:
        facts = f"it says {says:.1%} on average, and the event came in {came:.1%} of the rows"
        what, high, low = "forecast", "too high", "too low"
    if not real:
        return f"The {what} is about right: {facts}."
    if abs(says - came) < 0.5 * ece:
        return f"The forecast is off in both directions, too high for some scores and too low for others: {facts}."
    return f"The forecast is {high if says > came else low} by {100 * abs(says - came):.1f} points: {facts}."


def _whether_real(ece: float, floor: float, pvalue: float, *, real: bool, draws: int) -> str:
    chance = f"p = {pvalue:.3g}, from {draws} draws of labels out of the forecast itself"
    if real:
        return f"This is more than chance: the ECE is {ece:.4f}, and a calibrated forecast would show {floor:.4f} ({chance})."
    return (
        f"The ECE of {ece:.4f} is no more than chance makes: a calibrated forecast would show {floor:.4f} ({chance})."
    )


def _class_finding(row: Row) -> str:
    figures = f"{row.symbol} {row.estimate.value:.4f}, p = {row.estimate.pvalue:.3g}"
    return f"{BY_CLASS[row.metric]} miscalibration does show: {figures}."


def _what_next(panel: ReliabilityPanel, *, real: bool, by_class: bool, ece: float, n_rows: int) -> str:
    fresh = "on rows that the classifier was not trained on"
    if by_class:
        return f"Next: try a method that treats the classes apart, {fresh}, and compare on fresh rows by log loss."
    if not real:
        return (
            f"Nothing to repair is visible in {n_rows} rows. That is no proof of calibration: "
            "an error well below the noise floor would not show."
        )
    if abs(panel.mean_prob - panel.event_rate) >= 0.5 * ece:
        return (
            f"Next: fit temperature scaling {fresh} (calibrant fit), apply it (calibrant apply), "
            "and compare before and after on fresh rows with this report."
        )
    method = "isotonic calibration" if n_rows >= 1000 else "temperature scaling (too few rows for isotonic calibration)"
    return (
        f"Next: one temperature cannot repair errors of both signs alone; try {method} {fresh}, "
        "and compare on fresh rows by log loss."
    )


def _comparison(assessments: Mapping[str, Assessment]) -> list[str]:
    (first, before), *others = assessments.items()
    sentences = []
    for name, after in others:
        if after.n_rows != before.n_rows:
            sentences.append(f"“{name}” has {after.n_rows} rows and “{first}” has {before.n_rows}: compare with care.")
        moves = [
            f"{label} {_move(before[metric].value, after[metric].value)}"
            for metric, label in (("nll", "log loss"), ("ece", "ECE"), ("accuracy", "accuracy"))
        ]
        better = after["nll"].value < before["nll"].value
        verdict = "better" if better else "no better"
        sentences.append(f"“{name}” is {verdict} than “{first}” by log loss: {', '.join(moves)}.")
    return sentences


def _move(before: float, after: float) -> str:
    old, new = f"{before:.4f}", f"{after:.4f}"
    return f"stays at {old}" if old == new else f"goes from {old} to {new}"


def _table(assessments: Mapping[str, Assessment]) -> list[dict[str, Any]]:
    metrics = list(dict.fromkeys(row.metric for assessment in assessments.values() for row in assessment.rows))
    return [_line(metric, assessments) for metric in metrics]


def _line(metric: str, assessments: Mapping[str, Assessment]) -> dict[str, Any]:
    found: dict[str, Row | None] = {
        name: next((row for row in assessment.rows if row.metric == metric), None)
        for name, assessment in assessments.items()
    }
    row = next(row for row in found.values() if row is not None)
    return {
        "metric": metric,
        "symbol": row.symbol,
        "summary": row.summary,
        "estimates": [None if r is None else asdict(r.estimate) for r in found.values()],
    }


def _panel(panel: ReliabilityPanel, curve: ReliabilityCurve) -> dict[str, Any]:
    bins = panel.bins
    columns = zip(
        bins.edges[:-1],
        bins.edges[1:],
        bins.count,
        bins.mean_prob,
        bins.event_rate,
        panel.lower,
        panel.upper,
        strict=True,
    )
    keys = ("left", "right", "count", "mean_prob", "event_rate", "lower", "upper")
    return {
        "name": panel.name,
        "event": "accuracy" if curve.notion == "confidence" else "event rate",
        "binning": curve.binning,
        "mean_prob": _plain(panel.mean_prob),
        "event_rate": _plain(panel.event_rate),
        "bins": [dict(zip(keys, map(_plain, column), strict=True)) for column in columns],
    }


def _plain(value: Any) -> float | int | None:
    number = value.item() if hasattr(value, "item") else value
    return None if isinstance(number, float) and math.isnan(number) else number
