"""The report as one self-contained HTML page: no external reference, works offline and in print.

It runs nothing, but for one script of its own where there is a table to sort; a policy in the page allows that alone.
"""

from __future__ import annotations

import base64
import hashlib
import io
import math
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from html import escape
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

import calibrant
from calibrant import drawing
from calibrant._core.arrays import ArrayLike, FloatArray
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.checks import CalibrationWarning, by_name, of_type, require
from calibrant._core.rows import Problem
from calibrant.assessment.advice import Advice
from calibrant.assessment.comparison import ALL_ROWS, Comparison, differences_of
from calibrant.assessment.table import Assessment, assess, figures_of, heads
from calibrant.binning import EqualMass, EqualWidth
from calibrant.curves import reliability
from calibrant.curves.smooth import SmoothReliabilityCurve, plot_smooth_reliability, smooth_reliability_curve
from calibrant.decisions.curves import decision_curve
from calibrant.interop.writing import PAGES, require_free, whole_file
from calibrant.metrics.bin_losses import debiased_squares
from calibrant.notions import as_notion
from calibrant.report.sentences import COMPARED, comparison, findings, headline

if TYPE_CHECKING:
    from calibrant.monitoring import MonitorTable


# The page of a monitor: a picture and a table for each group, in one file that needs nothing else


STYLE = (
    "body{font:15px/1.45 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "svg{max-width:100%;height:auto}pre{overflow-x:auto}.alarm{color:#a33;font-weight:600}"
)


def monitor_page(tables: Mapping[str, MonitorTable]) -> str:
    """Return a page of HTML that shows monitors by the names of their groups; one without a name stands alone."""
    parts, title = [], "Calibration over time"
    for name, table in tables.items():
        heading = f"<h2>{escape(name)}</h2>" if name else ""
        alarms = [f"<p class=alarm>{escape(str(alarm))}</p>" for alarm in table.alarms] or ["<p>No alarm.</p>"]
        parts.append(f"{heading}{''.join(alarms)}{_picture(table)}<pre>{escape(str(table))}</pre>")
    head = f"<!DOCTYPE html><html lang=en><meta charset=utf-8><title>{title}</title><style>{STYLE}</style>"
    return f"{head}<h1>{title}</h1>{''.join(parts)}</html>\n"


def _picture(table: MonitorTable) -> str:
    """Return the picture as SVG, of which the text can be searched."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.4, 5.6), layout="constrained")
    FigureCanvasSVG(figure)
    upper, lower = figure.subplots(2, sharex=True, height_ratios=(3, 2))
    table.plot([upper, lower])
    drawn = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "calibrant"}):
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue().partition("?>")[2].partition('.dtd">')[2]


# One event as clinical papers show it: flexible and logistic curve, deciles, the figures on the picture, and net benefit


Rows = Mapping[str, Any]
"""The rows of a forecast as arguments of `assess`: ``y_true``, ``y_prob``, and what else there is to say of them."""

CLINICAL = {
    "calibration-in-the-large": "Intercept (slope 1)",
    "calibration-slope": "Slope",
    "observed-expected-ratio": "O/E",
    "ici": "ICI",
    "e50": "E50",
    "e90": "E90",
    "roc-auc": "c-statistic",
}
"""Figures that are printed on the picture, and what papers call them."""

LEAST_EVENTS = 10
"""Events, and rows without the event, from which on there is a clinical panel: of fewer the curves are noise."""

POINTS_A_LINE = 100
"""Places of a drawn line."""


def clinical_section(assessments: Mapping[str, Assessment], rows: Mapping[str, Rows]) -> dict[str, Any]:
    """Return the panel of each forecast of one event, and the net benefit of all; nothing where there are no rows of it."""
    panels, benefit = [], []
    for number, (name, found) in enumerate(assessments.items()):
        bins = found.curve.panels[0].bins
        events, others = bins.outcome_sum.sum(), (bins.weight - bins.outcome_sum).sum()
        if name not in rows or found.event is None or min(events, others) < LEAST_EVENTS:
            continue
        given, level = dict(rows[name]), found.level
        with warnings.catch_warnings(action="ignore", category=CalibrationWarning):
            # The assessment has said what there is to say.
            _, printed, smooth, deciles = _clinical(given, level, found.n_resamples)
            net = decision_curve(**given)
        own, other = ([one.weight.sum(), one.outcome_sum.sum(), one.score_sum.sum()] for one in (bins, deciles.bins))
        must, hint = "clinical must be of the rows that were assessed", "Pass what was passed to assess"
        require(np.allclose(own, other), must, got=f"others of {name!r}", hint=hint)
        lines = {kind: one.panels[0] for kind, one in smooth.items()}
        drawn = {kind: _thinned([one.score, one.event_rate, one.lower, one.upper]) for kind, one in lines.items()}
        panels.append(
            {"forecast": name, "number": number, "event": found.event, "rows": found.n_rows, "level": level}
            | {"lines": drawn, "printed": printed, "deciles": _panel(deciles, level)["bins"]}
        )
        own_benefit = _thinned([net.threshold, net.panels[0].net_benefit, net.treat_all])
        benefit.append({"forecast": name, "number": number, "points": own_benefit, "most": net.event_rate})
    return {"panels": panels, "benefit": benefit}


def _clinical(
    given: Rows, level: float, n_resamples: int
) -> tuple[str | None, list[str], dict[str, SmoothReliabilityCurve], reliability.ReliabilityPanel]:
    """Return the event, the figures as they are printed on its picture, its curves and deciles."""
    own = assess(**given, metrics=list(CLINICAL), level=level, n_resamples=n_resamples)
    cells = {CLINICAL[row.metric]: figures_of(row)[1:3] for row in own.rows}
    words = {
        word: value if of == "none" else f"{value} ({of[1:-1].replace(', ', ' to ')})"
        for word, (value, of) in cells.items()
    }
    printed = [f"{word} {'not defined' if shown.startswith('nan') else shown}" for word, shown in words.items()]
    panel = own.curve.panels[0]
    printed.append(f"{own.n_rows} rows, {panel.bins.outcome_sum.sum() * panel.rows_per_weight:.0f} events")
    smoothers = {"logistic": "logistic", "flexible": "local"}
    smooth = {kind: smooth_reliability_curve(**given, smoother=one, level=level) for kind, one in smoothers.items()}
    deciles = reliability.reliability_curve(**given, binning=EqualMass(10), level=level).panels[0]
    return own.event, printed, smooth, deciles


OF_FIGURES = 3.2
"""Inches that the figures of a clinical picture take beside it."""


def plot_clinical(
    y_true: ArrayLike,
    y_prob: ArrayLike | None = None,
    *,
    ax: Any = None,
    level: float = 0.05,
    n_resamples: int = 500,
    **data: Unpack[DataOptions],
) -> Any:
    """Draw the calibration of one event as clinical papers show it, with the figures on the picture.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_prob : array-like of shape (n_samples,) or (n_samples, 2), optional
        Probabilities of the event, or of both classes.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    level : float, default=0.05
        One minus the coverage of bands and intervals.
    n_resamples : int, default=500
        Resamples behind the intervals of ICI, E50 and E90.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``input`` and others: see `DataOptions`.

    Returns
    -------
    matplotlib Axes
        What was drawn on: the flexible curve (local regression) and the logistic one with their bands, the event rates of ten
        groups of equal size with their intervals, the density of the predictions, and the intercept with the slope fixed at 1,
        slope, observed over expected events, ICI, E50, E90 and c-statistic with intervals. The title is the event.

    Raises
    ------
    ValueError
        If there are more than two classes.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.report import plot_clinical
    >>> risk = np.random.default_rng(0).random(500)
    >>> ax = plot_clinical(np.where(np.random.default_rng(1).random(500) < risk, "ill", "well"), risk, pos_label="ill")
    >>> ax.get_title()
    'ill'
    """
    given = {"y_true": y_true, "y_prob": y_prob, **data}
    must, hint = "y_pred must be left out where one event is drawn", "Pass y_true == y_pred as y_true"
    require(data.get("y_pred") is None, must, got="labels", hint=hint)
    classes = as_problem(y_true, y_prob, **data).classes
    must, hint = "there must be one event", "Pass one column, and y_true == 'ill'"
    require(classes.size == 2, must, got=f"{classes.size} classes", hint=hint)
    must, hint = "ax must be an Axes of matplotlib", "Pass that of plt.subplots()"
    require(ax is None or hasattr(ax, "plot"), must, value=ax, hint=hint, error=TypeError)
    event, printed, smooth, deciles = _clinical(given, level, n_resamples)
    is_new, ax, bins = ax is None, plot_smooth_reliability(dict(reversed(smooth.items())), ax=ax), deciles.bins
    reach = np.abs(np.vstack([deciles.lower, deciles.upper]) - bins.event_rate)
    ax.errorbar(bins.mean_prob, bins.event_rate, reach, fmt="o", color="black", markersize=4, linewidth=1, zorder=4)
    if is_new:
        ax.figure.set_figwidth(ax.figure.get_figwidth() + OF_FIGURES)
        ax.set_anchor("W")
    # Beside the marks where the layout of the figure makes room, else where they are seen through.
    at, box = (1.04, 1.0), None
    if ax.figure.get_layout_engine() is None:
        at, box = (0.03, 0.97), {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1}
        ax.legend(**drawing.INSIDE | {"loc": "lower right"})
    ax.text(*at, "\n".join(printed), transform=ax.transAxes, va="top", fontsize="small", zorder=5, bbox=box)
    assert event is not None
    ax.set_title(event.removeprefix("class ") if classes.dtype.kind in "UO" else event, parse_math=False)
    return ax


def _thinned(columns: Sequence[FloatArray]) -> list[list[float]]:
    """Return some rows of columns, evenly spaced, from the first to the last."""
    table = np.column_stack(columns)
    kept = np.unique(np.linspace(0, max(len(table) - 1, 0), POINTS_A_LINE).round().astype(int))[: len(table)]
    return [row for row in table[kept].round(4).tolist() if np.isfinite(row).all()]


# The contents of a report, as plain values that JSON can hold. Everything is worked out here; the template only shows it


MOST_CANDIDATES = 4
"""Candidates of a comparison that are drawn."""

MOST_CLASSES = 30
"""Diagrams of classes, and of groups, on the page; of more those of the worst. More than 12 stand in a part that opens."""

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
    assessments: Assessment | Mapping[str, Assessment] | Comparison,
    *,
    title: str = "Calibration report",
    advice: Advice | Mapping[str, Advice] | None = None,
    differences: Comparison | Sequence[Comparison] = (),
    clinical: Rows | Mapping[str, Rows] | None = None,
) -> dict[str, Any]:
    """Return everything that a report shows, of the arguments of `write_report`.

    It is of strings, numbers, lists and dicts only; NaN appears as None, infinity as "inf".
    """
    ranked, best, reason, is_shown = None, None, "", True
    if isinstance(assessments, Comparison):
        ranked, best = _ranked(assessments), assessments.recommended
        is_shown = assessments[best].adjusted < assessments.level
        reason = assessments.reason if assessments.pairing == "periods" else ""
        assessments, differences, clinical = _assessed(assessments)
    assessments = drawing.as_named(by_name(assessments, "forecast"), "a report", "assess(y_true, y_prob)", Assessment)
    for name, assessment in assessments.items():
        missing = ", ".join(sorted(set(NEEDED) - {row.metric for row in assessment.rows}))
        must, given = f"a report needs {', '.join(NEEDED)}", f"{name!r} was assessed without {missing}"
        require(not missing, must, given=given, hint="Add them to metrics=")
        curve, hint = assessment.curve, "Assess it with notion='binary', 'confidence' or OneVsRest(...)"
        given = f"{name!r} was assessed under {curve.notion!r}, which has {len(curve.panels)}"
        require(len(curve.panels) == 1, "a report speaks of one event in each row", given=given, hint=hint)
    of_each, is_one_clinical = dict[str, Mapping[str, Any]](), isinstance(clinical, Mapping) and "y_true" in clinical
    for what, said, is_one, kind, call in (
        ("advice", advice, isinstance(advice, Advice), Advice, "advise(...)"),
        ("clinical", clinical, is_one_clinical, Mapping, "{'y_true': y, 'y_prob': prob}"),
    ):
        names, hint = ", ".join(assessments), f"Pass {{'name': {call}}}"
        must, got = f"{what} must say which forecast it is about", f"one for {names}"
        require(len(assessments) == 1 or not is_one, must, got=got, hint=hint, error=TypeError)
        of: Any = dict.fromkeys(assessments, said) if is_one else said or {}
        of_type(what, of, Mapping, "a dict by the names of forecasts", hint=hint)
        must, got = f"{what} must be of forecasts of the report", f"{', '.join(map(str, of))} for {names}"
        require(set(of) <= set(assessments), must, got=got, hint="Call them as the assessments are called")
        for name, one in of.items():
            drawing.require_kind(one, what, call, kind, name)
        of_each[what] = of
    differences = list(differences) if isinstance(differences, Iterable) else [differences]
    for one in differences:
        drawing.require_kind(one, "differences", "compare(y_true, forecasts, metric='nll')", Comparison)
        must, hint = f"differences must be from {next(iter(assessments))!r}", "Compare forecasts in their order here"
        require(one.first == next(iter(assessments)), must, got=f"from {one.first!r}", hint=hint)
        for name, found in assessments.items():
            alone = next((of for of in one.candidates if of.name == name), None)
            must, hint = "differences must be of the rows that were assessed", "Compare and assess the same rows"
            fits = alone is None or alone.n_rows in (found.n_rows, found.n_rows * found.n_classes)  # or flattened
            require(fits, must, got=f"{alone and alone.n_rows} and {found.n_rows} of {name!r}", hint=hint)
    classes = _classes(assessments)
    of_classes = {name: one.class_curve for name, one in assessments.items() if one.n_classes > 2}
    shown = {row.metric for assessment in assessments.values() for row in assessment.rows}
    return {
        "title": title,
        "library": f"calibrant {calibrant.__version__}",
        "forecasts": [
            _forecast(name, assessment, of_each["advice"].get(name)) for name, assessment in assessments.items()
        ],
        "headline": reason or headline(assessments, differences, best, is_shown=is_shown),
        "ranked": ranked,
        "comparison": comparison(assessments, differences),
        "table": _table(assessments),
        "diagrams": _overlays({name: one.curve for name, one in assessments.items()}),
        "clinical": clinical_section(assessments, of_each["clinical"]),
        "few": reliability.FEW,
        "classes": classes,
        "class_diagrams": _overlays(of_classes, [line["name"] for line in classes[:MOST_CLASSES]]),
        "references": [text for key, text in REFERENCES.items() if key not in ABOUT_METRICS or key in shown],
    }


def _ranked(found: Comparison) -> dict[str, Any]:
    """Return the tables of a comparison with their title; of periods the reason is the headline."""
    in_time = found.pairing == "periods"
    title, reason = ("In the order of time", "") if in_time else ("From the best to the worst", found.reason)
    tables = _tables(found)
    groups = [name for name in dict.fromkeys(row[0] for row in tables[-1]) if name in found.members][:MOST_CLASSES]
    names = dict.fromkeys([found.first, found.recommended]) if groups else ()
    diagrams = _overlays({name: _of_groups(found, name, groups) for name in names}, groups)
    said: dict[str, Any] = {"title": title, "reason": reason, "of_groups": " ".join(found.said_of_groups())}
    said |= {"n": sum(not one.failure for one in found.candidates), "what": "periods" if in_time else "candidates"}
    return said | {"tables": tables, "names": list(names), "diagrams": diagrams}


def _of_groups(found: Comparison, name: str, groups: Sequence[str]) -> reliability.ReliabilityCurve:
    """Return the reliability of a candidate in groups, a panel each."""
    problem = found.problems[name]
    notion, binning, level = as_notion(None, problem), EqualWidth(15), found.level
    curves = {
        group: reliability.curve_of(problem.taken(found.members[group]), notion, binning, level) for group in groups
    }
    panels = tuple(replace(curve.panels[0], name=group) for group, curve in curves.items())
    return reliability.ReliabilityCurve(panels, notion.name, repr(binning), level)


def _assessed(found: Comparison) -> tuple[dict[str, Assessment], list[Comparison], dict[str, Rows]]:
    """Assess the candidates that are drawn, the first one among them, and take their differences from it."""
    must, hint = "a report needs the rows of a comparison", "Pass compare(y_true, y_prob, calibrators=[...])"
    require(bool(found.problems), must, got="that of a CalibratorSelector, which keeps none", hint=hint)
    others = [one for one in found.candidates if one.name != found.first and not one.failure]
    if found.pairing == "periods":  # those that differ the most, of equal ones the latest
        places = sorted(range(len(others)), key=lambda at: (others[at].adjusted, -at))[: MOST_CANDIDATES - 1]
        others = [others[at] for at in sorted(places)]
    names = dict.fromkeys([found.first, found.recommended, *(one.name for one in others)])
    problems = {name: found.problems[name] for name in list(names)[:MOST_CANDIDATES]}
    rows, n = {name: rows_of(problem) for name, problem in problems.items()}, found.n_resamples
    with warnings.catch_warnings(action="ignore", category=CalibrationWarning):
        # Of the forecasts as they are it was said.
        assessments = {name: assess(**own, level=found.level, n_resamples=n) for name, own in rows.items()}
    differences = list[Comparison]()
    if min(problem.weights.n_rows for problem in problems.values()) > 1:
        differences = differences_of(problems, [*COMPARED], level=found.level, n_resamples=n, pairing=found.pairing)
    of_first = {one.metric: one[found.first].value for one in differences}
    own = [found] if of_first.get(found.metric) == found[found.first].value else []  # it has all candidates
    return assessments, [*differences, *own], {name: rows[name] for name in (found.first, found.recommended)}


def rows_of(problem: Problem) -> Rows:
    """Return the rows of a problem as arguments of `assess`."""
    how = {"sample_weight": problem.weight, "labels": problem.classes.tolist()}
    how["input"] = "logit" if problem.is_logit else "probability"
    return how | {"y_true": problem.classes[problem.code], "y_prob": problem.values}


def _tables(found: Comparison) -> list[list[list[str]]]:
    """Return the cells of the candidates, and those of the groups: of the metrics that have a noise floor, if one has."""
    ranked, *more = found._tables()
    for head, *rows in more:
        groups = [row for row in rows if row[0] != ALL_ROWS] or rows
        more = [[head, *([row for row in groups if row[-2] != "-"] or groups)]]
    return [ranked, *more]


def _forecast(name: str, assessment: Assessment, advice: Advice | None) -> dict[str, Any]:
    return {
        "name": name,
        "heading": assessment.heading,
        "rows": assessment.n_rows,
        "classes": assessment.n_classes,
        "absent": [c for c, weight in assessment.class_weight.items() if weight == 0],
        "level": assessment.level,
        "findings": findings(assessment, advice),
    }


def _table(assessments: Mapping[str, Assessment]) -> list[dict[str, Any]]:
    """Return a line for each metric: the figures of each forecast, as cells of a table and as places from 0 to 100."""
    every = [row for assessment in assessments.values() for row in assessment.rows]
    firsts = [row for i, row in enumerate(every) if not any(row.is_called(other.metric) for other in every[:i])]
    lines = []
    for first in firsts:
        each = (assessment.rows for assessment in assessments.values())
        found = [next((row for row in rows if row.is_called(first.metric)), None) for rows in each]
        estimates = [None if r is None else {k: _plain(v) for k, v in asdict(r.estimate).items()} for r in found]
        cells = [
            r and dict(zip(heads(one.level)[1:], figures_of(r)[1:], strict=True))
            for r, one in zip(found, assessments.values(), strict=True)
        ]
        words = {"metric": first.metric, "symbol": first.title, "summary": first.summary}
        notes = ["" if r is None else r.note for r in found]
        lines.append({**words, "estimates": estimates, "cells": cells, "notes": notes, "places": _places(estimates)})
    return lines


DRAWN = ("value", "lower", "upper", "noise_floor")
"""What is drawn of a metric."""


def _places(estimates: Sequence[dict[str, Any] | None]) -> list[dict[str, float | None] | None]:
    """Return where figures stand between the ends of a line, in percent: an error begins at 0, all others at the least."""
    drawn = [one for one in estimates if one]
    ends = [one[key] for one in drawn for key in DRAWN if isinstance(one[key], float | int)] or [0.0]
    low = min(0.0 if any(one["noise_floor"] is not None for one in drawn) else min(ends), min(ends))
    width = max(ends) - low or abs(low) or 1.0
    return [
        one and {key: None if one[key] is None else _percent((float(one[key]) - low) / width) for key in DRAWN}
        for one in estimates
    ]


def _percent(part: float) -> float:
    """With room for a dot at either end; what is infinite stands at the end."""
    return round(3.0 + 94.0 * min(max(part, 0.0), 1.0), 2)


def _overlays(
    curves: Mapping[str, reliability.ReliabilityCurve], shown: Sequence[str] | None = None
) -> list[dict[str, Any]]:
    """Return diagrams: one for each name of a panel, which shows all forecasts that have it."""
    found: dict[str, dict[str, Any]] = {}
    for number, (name, curve) in enumerate(curves.items()):
        event = "accuracy" if curve.notion == "confidence" else "event rate"
        for panel in curve.panels:
            if shown is None or panel.name in shown:
                one = {"name": panel.name, "event": event, "binning": curve.binning, "curves": []}
                drawn = {"number": number, "forecast": name, **_panel(panel, curve.level)}
                found.setdefault(panel.name, one)["curves"].append(drawn)
    return sorted(found.values(), key=lambda one: list(shown or found).index(one["name"]))


def _panel(panel: reliability.ReliabilityPanel, level: float) -> dict[str, Any]:
    """Return the bins of a panel, and those that a line joins: neighbours of enough rows."""
    bins = panel.bins
    columns = {"left": bins.edges[:-1], "right": bins.edges[1:], "lower": panel.lower, "upper": panel.upper}
    columns |= {name: getattr(bins, name) for name in ("count", "mean_prob", "event_rate")}
    columns |= dict(zip(("low", "high"), reliability.interval_of("consistency", bins, panel.each, level), strict=True))
    each = zip(*columns.values(), strict=True)
    rows: list[dict[str, Any]] = [dict(zip(columns, map(_plain, row), strict=True)) for row in each]
    for row in rows:
        row["few"] = 0 < row["count"] < reliability.FEW
    held = groupby((row for row in rows if row["count"]), key=lambda row: row["few"])
    means = {"mean_prob": _plain(panel.mean_prob), "event_rate": _plain(panel.event_rate)}
    return means | {"bins": rows, "joined": [list(group) for few, group in held if not few]}


def _classes(assessments: Mapping[str, Assessment]) -> list[dict[str, Any]]:
    """Return a line for each class, that of the largest bias-corrected error of any forecast first."""
    lines: dict[str, dict[str, Any]] = {}
    for number, assessment in enumerate(assessments.values()):
        for panel in assessment.class_curve.panels if assessment.n_classes > 2 else ():
            none = {"name": panel.name, "of": [None] * len(assessments), "worst": 0.0}
            line = lines.setdefault(panel.name, none)
            figures = {"predicted": panel.mean_prob, "occurred": panel.event_rate, "error": _error(panel)}
            events = round(float(panel.bins.outcome_sum.sum() * panel.rows_per_weight))
            line["of"][number] = {key: _plain(100.0 * value) for key, value in figures.items()} | {"events": events}
            line["worst"] = max(line["worst"], line["of"][number]["error"] or 0.0)
    return sorted(lines.values(), key=lambda line: -line["worst"])


def _error(panel: reliability.ReliabilityPanel) -> float:
    """Return the root of the mean squared gap without its bias, as the debiased calibration error has it."""
    held, weight = panel.bins.weight > 0, panel.bins.weight
    squares = debiased_squares(panel.bins, panel.rows_per_weight)[held]
    return math.sqrt(max(float(weight[held] @ squares / weight.sum()), 0.0)) if held.any() else math.nan


def _plain(value: Any) -> float | int | str | None:
    """What JSON can hold: infinity as a word, and None for what is no number."""
    number: float | int = value.item() if hasattr(value, "item") else value
    if not isinstance(number, float) or math.isfinite(number):
        return number
    return None if math.isnan(number) else str(number)


def write_report(
    assessments: Assessment | Mapping[str, Assessment] | Comparison,
    path: str | os.PathLike[str],
    *,
    title: str = "Calibration report",
    advice: Advice | Mapping[str, Advice] | None = None,
    differences: Comparison | Sequence[Comparison] = (),
    clinical: Rows | Mapping[str, Rows] | None = None,
    force: bool = False,
) -> None:
    """Write an HTML page that shows one assessment, or compares several.

    Parameters
    ----------
    assessments : Assessment, dict of name to Assessment, or Comparison
        Results of `assess`, in the order in which forecasts are compared, such as before and after. Of the result of `compare`
        the page has the ranked table and the groups, and draws the first candidate, the recommended one and the best others,
        and the worst groups.
    path : str or path-like
        The page, which ends in .html or .htm; it must not exist, unless ``force``. It is written beside and then renamed, so it
        is whole or absent.
    title : str, default="Calibration report"
        Title of the page.
    advice : Advice or dict of name to Advice, optional
        Result of `advise` for a forecast: the page then names the calibrator to fit, with the figures behind it. Without it
        the page names the command that computes it.
    differences : Comparison or sequence of them, optional
        What `compare` says of these forecasts under ``metric="nll"``, ``"ece"`` and ``"accuracy"``, or of independent samples
        ``"debiased-ece"``. A page of assessments alone has their figures and no test of how they differ.
    clinical : dict, or dict of name to dict, optional
        Rows of a forecast of one event, by the arguments of `assess`, such as ``{"y_true": y, "y_prob": p}``; of several
        forecasts by their names. The page then has the panel of clinical papers: flexible and logistic curve with bands,
        deciles, slope, O/E, ICI, E50, E90 and c-statistic, and net benefit. It holds none of these rows.
    force : bool, default=False
        Replace a file.

    Raises
    ------
    FileExistsError
        If the file exists.
    TypeError, ValueError
        If ``path`` has another ending, or something is not of the assessed forecasts.
    ImportError
        If jinja2 is not installed.

    Examples
    --------
    >>> from calibrant import assess, load_digits_forecast, write_report
    >>> write_report(assess(*load_digits_forecast()), "report.html")  # doctest: +SKIP
    >>> from calibrant import compare
    >>> found = compare(*load_digits_forecast(), calibrators=["temperature"])
    >>> write_report(found, "compared.html")  # doctest: +SKIP
    """
    require_free(Path(path), force=force, endings=PAGES)
    page = render(assessments, title=title, advice=advice, differences=differences, clinical=clinical)
    with whole_file(path, force=force) as beside:
        beside.write_text(page, encoding="utf-8")


def render(assessments: Assessment | Mapping[str, Assessment] | Comparison, **options: Any) -> str:
    """Return the page of a report; the options are those of `summarise`."""
    try:
        import jinja2
    except ImportError:
        raise ImportError("a report needs jinja2; it is not installed. pip install 'calibrant[report]'") from None
    loader = jinja2.PackageLoader("calibrant", "report/templates")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    summary = summarise(assessments, **options)
    script = ""
    if summary["classes"] or summary["ranked"]:
        # A browser hashes what it reads, where every end of a line is one character.
        script = "\n".join(loader.get_source(environment, "tables.js")[0].splitlines())
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return environment.get_template("report.html").render(summary, script=script, digest=digest)
