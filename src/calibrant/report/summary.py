"""The contents of a report, as plain values that JSON can hold. Everything is worked out here; the template only shows it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import calibrant
from calibrant._core.parameters import refuse, require
from calibrant._core.result import shown_pvalue
from calibrant.assessment.advice import Advice
from calibrant.assessment.table import Assessment, Row
from calibrant.curves.reliability import ReliabilityCurve, ReliabilityPanel
from calibrant.curves.simplex_points import SimplexPoints
from calibrant.metrics.uncertainty.estimate import Estimate
from calibrant.report.comparison import Differences, comparison
from calibrant.report.next_step import next_step
from calibrant.report.simplex import simplex_section

MOST_CLASSES = 12
"""Class panels shown; the classes with the most rows come first."""

NEEDED = ("accuracy", "nll", "ece")
"""Metrics that the sentences of a report speak of; the command line adds them to those that it is asked for."""

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


ABOUT_METRICS = ("ece", "classwise-ece", "top-label-ece")
"""References that belong to a metric, and are given only with it."""


def summarise(
    assessments: Mapping[str, Assessment],
    *,
    title: str = "Calibration report",
    simplex: SimplexPoints | Mapping[str, SimplexPoints] | None = None,
    advice: Advice | Mapping[str, Advice] | None = None,
    differences: Differences | None = None,
) -> dict[str, Any]:
    """Return everything that a report shows.

    Parameters
    ----------
    assessments : dict of name to Assessment
        In the order in which they are compared, such as before and after.
    title : str, default="Calibration report"
        Title of the page.
    simplex : SimplexPoints or dict of name to SimplexPoints, optional
        Rows to show as points.
    advice : Advice or dict of name to Advice, optional
        Which calibrator to fit to a forecast.
    differences : dict of name to sequence of PairedDifference, optional
        Metrics of a forecast less those of the first, on the same rows.

    Returns
    -------
    dict
        Strings, numbers, lists and dicts only; NaN appears as None, infinity as "inf".
    """
    require(
        assessments, "a report needs at least one assessment", got="none", hint="Pass {'name': assess(y_true, y_prob)}"
    )
    for name, assessment in assessments.items():
        if missing := set(NEEDED) - {row.metric for row in assessment.rows}:
            refuse(
                f"a report needs {', '.join(NEEDED)}",
                given=f"{name!r} was assessed without {', '.join(sorted(missing))}",
                hint="Add them to metrics=",
            )
        if len(assessment.curve.panels) > 1:
            refuse(
                "a report speaks of one event in each row",
                given=f"{name!r} was assessed under {assessment.curve.notion!r}, which has {len(assessment.curve.panels)}",
                hint="Assess it with notion='binary', 'confidence' or OneVsRest(...)",
            )
    by_name = _advice_by_name(advice, assessments)
    forecasts = [_forecast(name, assessment, by_name.get(name)) for name, assessment in assessments.items()]
    shown = {row.metric for assessment in assessments.values() for row in assessment.rows}
    return {
        "title": title,
        "library": f"calibrant {calibrant.__version__}",
        "forecasts": forecasts,
        "comparison": comparison(assessments, differences),
        "table": _table(assessments),
        "simplex": simplex_section(simplex),
        "references": [text for key, text in REFERENCES.items() if key not in ABOUT_METRICS or key in shown],
    }


def _advice_by_name(
    advice: Advice | Mapping[str, Advice] | None, assessments: Mapping[str, Assessment]
) -> Mapping[str, Advice]:
    require(
        not isinstance(advice, Advice) or len(assessments) <= 1,
        "advice must say which forecast it is about",
        got=f"one for {', '.join(assessments)}",
        hint="Pass {'name': advice}",
        error=TypeError,
    )
    return dict.fromkeys(assessments, advice) if isinstance(advice, Advice) else advice or {}


def _forecast(name: str, assessment: Assessment, advice: Advice | None) -> dict[str, Any]:
    heaviest = sorted(range(assessment.n_classes), key=lambda j: -list(assessment.class_weight.values())[j])
    shown = sorted(heaviest[:MOST_CLASSES])
    return {
        "name": name,
        "heading": assessment.heading,
        "rows": assessment.n_rows,
        "classes": assessment.n_classes,
        "absent": [c for c, weight in assessment.class_weight.items() if weight == 0],
        "level": assessment.level,
        "resamples": assessment.n_resamples,
        "findings": findings(assessment, advice),
        "diagram": _panel(assessment.curve.panels[0], assessment.curve),
        "class_diagrams": [_panel(assessment.class_curve.panels[j], assessment.class_curve) for j in shown],
        "classes_left_out": assessment.n_classes - len(shown),
    }


def findings(assessment: Assessment, advice: Advice | None = None) -> list[str]:
    """Return the findings of an assessment as sentences: the verdict, whether that is noise, and what to do next."""
    verdict, ece = assessment.verdict, assessment["ece"]
    is_wrong = bool(verdict.faults)
    return [
        *verdict.sentences,
        _whether_real(ece, real=is_wrong and _significant(ece, assessment), draws=assessment.n_resamples),
        *[_log_loss(row) for row in assessment.rows if row.note and row.is_called("nll")],
        next_step(advice, visible=is_wrong, detectable=ece.detectable, n_rows=assessment.n_rows),
    ]


def _significant(estimate: Estimate, assessment: Assessment) -> bool:
    return estimate.pvalue is not None and estimate.pvalue <= assessment.level


def _whether_real(ece: Estimate, *, real: bool, draws: int) -> str:
    chance = f"{_chance(ece)}, from {draws} draws of labels from the forecast itself"
    if real:
        return (
            f"This is more than noise: the ECE is {ece.value:.4f}, and {ece.noise_floor:.4f} is expected of a calibrated "
            f"forecast ({chance})."
        )
    return (
        f"The ECE of {ece.value:.4f} is within the noise: {ece.noise_floor:.4f} is expected of a calibrated forecast "
        f"({chance})."
    )


def _chance(estimate: Estimate, digits: str = ".3g") -> str:
    """Return "p = 0.02", or "p <= 0.002" where the draws can show no less; nothing where there is no p-value."""
    return "" if estimate.pvalue is None else shown_pvalue(estimate.pvalue, estimate.least_pvalue, digits, name="p")


def _log_loss(row: Row) -> str:
    verdict = "infinite" if math.isinf(row.estimate.value) else "not exact"
    return f"The log loss is {verdict}: {row.note}."


def _table(assessments: Mapping[str, Assessment]) -> list[dict[str, Any]]:
    metrics: list[str] = []
    for row in (row for assessment in assessments.values() for row in assessment.rows):
        if not any(row.is_called(metric) for metric in metrics):
            metrics.append(row.metric)
    return [_line(metric, assessments) for metric in metrics]


def _line(metric: str, assessments: Mapping[str, Assessment]) -> dict[str, Any]:
    found: dict[str, Row | None] = {
        name: next((row for row in assessment.rows if row.is_called(metric)), None)
        for name, assessment in assessments.items()
    }
    row = next(row for row in found.values() if row is not None)
    return {
        "metric": metric,
        "symbol": row.title,
        "summary": row.summary,
        "estimates": [
            None if r is None else {name: _plain(value) for name, value in asdict(r.estimate).items()}
            for r in found.values()
        ],
        "chances": ["" if r is None else _chance(r.estimate, ".4f") for r in found.values()],
        "notes": ["" if r is None else r.note for r in found.values()],
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


def _plain(value: Any) -> float | int | str | None:
    """What JSON can hold: infinity as a word, and None for what is no number."""
    number: float | int = value.item() if hasattr(value, "item") else value
    if not isinstance(number, float) or math.isfinite(number):
        return number
    return None if math.isnan(number) else str(number)
