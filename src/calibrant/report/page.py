"""The report as one self-contained HTML page: no external reference, works offline and in print.

It runs nothing, but for one script of its own where there is a tetrahedron to turn; a policy in the page allows that alone.
"""

from __future__ import annotations

import base64
import hashlib
import io
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from html import escape
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import calibrant
from calibrant import drawing
from calibrant._core.arrays import FloatArray
from calibrant._core.checks import require, some
from calibrant._core.result import shown_pvalue
from calibrant.assessment.advice import Advice
from calibrant.assessment.comparison import IDENTITY
from calibrant.assessment.table import Assessment
from calibrant.curves.reliability import ReliabilityCurve, ReliabilityPanel
from calibrant.curves.simplex import mixed
from calibrant.curves.simplex_partition import CORNERS, SimplexPoints, splits_inside
from calibrant.drawing import as_named
from calibrant.interop.writing import PAGES, require_free, whole_file
from calibrant.metrics.estimate import Estimate
from calibrant.significance.differences import PairedDifference

if TYPE_CHECKING:
    from calibrant.monitoring import MonitorTable


# The page of a monitor: a picture and a table for each group, in one file that needs nothing else


# Rows on the triangle or in the tetrahedron, as plain values: where each point stands on the page, and what it is


MOST_POINTS = 2000
"""More would make a page that is heavy to load and to turn."""

MOST_VECTORS = 40
"""Different calibrated vectors up to which a table lists them."""

SHORT = 10
"""Letters of a class that stand at its corner; the key says the whole name."""

SIDE = {3: 340.0, 4: 280.0}
"""Length of an edge in units of the picture, which is 480 wide."""

RADIUS, FEW = (3.4, 2.6), 400
"""Radius of a point, of few of them and of many."""

NEARER = 0.3
"""How much larger the nearest points are drawn, and how much smaller the farthest."""


def simplex_section(simplex: SimplexPoints | Mapping[str, SimplexPoints] | None) -> list[dict[str, Any]]:
    """Return what a report shows of rows as points: for each name its pictures and tables."""
    given = simplex if isinstance(simplex, Mapping) else {"forecast": simplex}
    if simplex is None or not given:
        return []
    named = as_named(given, "simplex", "simplex_points(y_true, y_prob)", SimplexPoints)
    must, hint = f"a report shows at most {MOST_POINTS} points", f"Pass simplex_points(..., max_points={MOST_POINTS})"
    for name, points in named.items():
        require(len(points.prob) <= MOST_POINTS, must, got=f"{len(points.prob)} under {name!r}", hint=hint)
    return [_shown(name, points) for name, points in named.items()]


def _shown(name: str, points: SimplexPoints) -> dict[str, Any]:
    n_classes = len(points.classes)
    middle = CORNERS[n_classes].mean(axis=0)
    where = SIDE[n_classes] * (points.place - middle)
    corners = SIDE[n_classes] * (CORNERS[n_classes] - middle)
    fills: dict[str, list[str]] = {}
    if points.label is not None:
        fills["label"] = [drawing.CERTAIN[k] for k in points.label.tolist()]
    if points.calibrated is not None:
        colours = np.round(255.0 * mixed(points.calibrated)).astype(np.uint8)
        fills["calibrated"] = [f"#{bytes(colour).hex()}" for colour in colours]
    seen, about = _seen(where), _about(points)
    order = np.argsort(seen[:, 2], kind="stable").tolist()  # what is near hides what is far
    marks = [(i, _mark(seen[i], where[i]) | {"about": about[i]}) for i in order]
    inside = splits_inside(points.splits)
    splits = np.reshape(list(inside.values()), (len(inside), n_classes))
    between = SIDE[n_classes] * (splits @ CORNERS[n_classes] - middle)
    ends = zip(points.classes, _seen(corners), corners, strict=True)
    cuts = zip(inside, _seen(between), between, strict=True)
    return {
        "name": name,
        "what": "rows" if points.label is not None else "points",
        "solid": n_classes == 4,
        "radius": RADIUS[0] if len(points.prob) <= FEW else RADIUS[1],
        "view": _view().round(6).ravel().tolist(),
        "rows": points.n_rows,
        "shown": len(points.prob),
        "calibrator": points.calibrator,
        "classes": [{"name": c, "colour": colour} for c, colour in zip(points.classes, drawing.CERTAIN, strict=False)],
        "corners": [_mark(at, corner) | {"short": _short(c)} for c, at, corner in ends],
        "edges": _edges(_seen(corners)),
        "splits": [_mark(at, split) | {"number": number} for number, at, split in cuts],
        "all_splits": 0 if points.splits is None else len(points.splits),
        "pictures": [{"by": by, "points": [m | {"fill": fill[i]} for i, m in marks]} for by, fill in fills.items()],
        "by_class": _by_class(points),
        "by_vector": _by_vector(points),
    }


def _view() -> FloatArray:
    """Return the directions to the right, downward and to the eye."""
    height, turn = np.radians(drawing.VIEW)
    right = [-np.sin(turn), np.cos(turn), 0.0]
    eye = [np.cos(height) * np.cos(turn), np.cos(height) * np.sin(turn), np.sin(height)]
    return np.array([right, -np.cross(eye, right), eye])


def _seen(where: FloatArray) -> FloatArray:
    """Return places as they are seen: to the right, downward, toward the eye."""
    if where.shape[1] == 3:
        return np.asarray(where @ _view().T, dtype=np.float64)
    return np.column_stack([where[:, 0], -where[:, 1], np.zeros(len(where))])


def _mark(seen: FloatArray, where: FloatArray) -> dict[str, Any]:
    """Return where something stands in the picture, how large it is drawn, and where it is in space."""
    x, y, depth = seen.round(1).tolist()
    size = round(1.0 + NEARER * depth / (SIDE[4] * np.sqrt(3 / 8)), 2)
    return {"x": x, "y": y, "size": size, "at": where.round(1).tolist()}


def _edges(corners: FloatArray) -> list[dict[str, Any]]:
    """Return the edges; one of a solid is hidden where both of its faces, each opposite a corner, look away from the eye."""
    edges = []
    for i, j in combinations(range(len(corners)), 2):
        others = [k for k in range(len(corners)) if k not in (i, j)]
        hidden = len(corners) == 4 and bool((corners[others, 2] >= 0).all())
        ends = {"from": corners[i, :2].round(1).tolist(), "to": corners[j, :2].round(1).tolist()}
        edges.append(ends | {"hidden": hidden, "ends": [i, j, *others]})
    return edges


def _about(points: SimplexPoints) -> list[str]:
    """Say what each point is."""
    parts = [[f"forecast {_vector(row)}" for row in points.prob.tolist()]]
    if points.calibrated is not None:
        parts.append([f"calibrated {_vector(row)}" for row in points.calibrated.tolist()])
    if points.label is not None:
        names = [_short(c) for c in points.classes]
        parts.append([f"label {names[k]}" for k in points.label.tolist()])
    return ["; ".join(row) for row in zip(*parts, strict=True)]


def _by_class(points: SimplexPoints) -> list[dict[str, Any]]:
    """Return the number of rows of each label, and their mean predicted probabilities."""
    if points.label is None:
        return []
    lines = []
    for k, name in enumerate(points.classes):
        own = points.label == k
        forecast, calibrated = (
            None if table is None else _vector(table[own].mean(axis=0)) if own.any() else "–"
            for table in (points.prob, points.calibrated)
        )
        lines.append({"name": name, "rows": int(own.sum()), "forecast": forecast, "calibrated": calibrated})
    return lines


def _by_vector(points: SimplexPoints) -> list[dict[str, Any]]:
    """Return the calibrated vectors, if they are few, and how often each class occurred in the rows of each."""
    if points.calibrated is None or points.label is None:
        return []
    vectors, number = np.unique(points.calibrated, axis=0, return_inverse=True)
    if len(vectors) > MOST_VECTORS:
        return []
    occurred = np.zeros((len(vectors), len(points.classes)))
    np.add.at(occurred, (number.ravel(), points.label), 1.0)
    rows = occurred.sum(axis=1)
    return [
        {"vector": _vector(vector), "rows": int(rows[i]), "shares": _vector(occurred[i] / rows[i])}
        for i, vector in sorted(enumerate(vectors.tolist()), key=lambda line: -rows[line[0]])
    ]


def _vector(vector: Any) -> str:
    return ", ".join(f"{part:.2f}" for part in vector)


def _short(name: str) -> str:
    return name if len(name) <= SHORT else f"{name[: SHORT - 1]}…"


STYLE = (
    "body{font:15px/1.45 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "svg{max-width:100%;height:auto}pre{overflow-x:auto}.alarm{color:#a33;font-weight:600}"
)


def monitor_page(tables: Mapping[str, MonitorTable], *, title: str = "Calibration over time") -> str:
    """Return a page of HTML that shows monitors by the names of their groups; one without a name stands alone."""
    parts = []
    for name, table in tables.items():
        heading = f"<h2>{escape(name)}</h2>" if name else ""
        alarms = [f"<p class=alarm>{escape(str(alarm))}</p>" for alarm in table.alarms] or ["<p>No alarm.</p>"]
        parts.append(f"{heading}{''.join(alarms)}{_picture(table)}<pre>{escape(str(table))}</pre>")
    head = f"<!DOCTYPE html><html lang=en><meta charset=utf-8><title>{escape(title)}</title><style>{STYLE}</style>"
    return f"{head}<h1>{escape(title)}</h1>{''.join(parts)}</html>\n"


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


# The report as one self-contained HTML page: no external reference, works offline and in print


# Comparison of two forecasts in a report: differences with intervals, on the same rows or on different ones


COMPARED = {"nll": "log loss", "ece": "ECE", "accuracy": "accuracy"}
"""Metrics that forecasts are compared by, and what a sentence calls them."""

NOTHING = (np.nan, np.nan, np.nan)
"""A difference and its interval where a forecast has one row."""

Differences = Mapping[str, Sequence[PairedDifference]]
"""By the name of a forecast: its metrics less those of the first forecast, on the same rows."""


def comparison(assessments: Mapping[str, Assessment], differences: Differences | None) -> list[str]:
    """Compare each forecast with the first: by paired differences where they are given, else as independent samples."""
    (first, before), *others = assessments.items()
    sentences = []
    for name, after in others:
        paired = {one.metric: (one.difference, one.lower, one.upper) for one in (differences or {}).get(name, ())}
        moves = dict.fromkeys(COMPARED, NOTHING)
        if min(after.n_rows, before.n_rows) > 1:
            moves = {metric: paired.get(metric) or independent(after[metric], before[metric]) for metric in COMPARED}
        losses = {first: before["nll"].value, name: after["nll"].value}
        coverage = f"{100 * (1 - after.level):g} % interval"
        moved = ", ".join(
            f"{COMPARED[metric]} {_move(before[metric].value, after[metric].value, coverage, *ends)}"
            for metric, ends in moves.items()
        )
        rows = f"on the same {after.n_rows} rows"
        if not paired:
            rows = f"on {after.n_rows} and {before.n_rows} rows, taken for independent samples of different rows"
        sentences.append(f"From “{first}” to “{name}”, {rows}: {moved}. {_judged(losses, *moves['nll'][1:])}")
    return sentences


def independent(after: Estimate, before: Estimate) -> tuple[float, float, float]:
    """Return the difference of two estimates from different rows, and its interval from the intervals of both.

    (Zou and Donner, Construction of confidence limits about effect measures, Statistics in Medicine 2008.) The interval
    is that of true values: for errors it is about the bias-corrected difference, which their intervals hold.
    """
    new, old = (one.value if one.debiased is None else one.debiased for one in (after, before))
    (lower, upper), (low, high) = after.interval, before.interval
    down, up = np.hypot(new - lower, high - old), np.hypot(upper - new, old - low)
    return after.value - before.value, new - old - float(down), new - old + float(up)


def _move(old: float, new: float, coverage: str, difference: float, lower: float, upper: float) -> str:
    before, after = f"{old:.4f}", f"{new:.4f}"
    way = f"stays at {before}" if before == after else f"goes from {before} to {after}"
    if not np.isfinite(difference):
        return way
    return f"{way} (difference {difference:+.4f}, {coverage} [{lower:+.4f}, {upper:+.4f}])"


def _judged(losses: Mapping[str, float], lower: float, upper: float) -> str:
    """Judge by the log loss, a proper score: it is better only where the interval of the difference lies below 0."""
    if infinite := [f"“{name}”" for name, loss in losses.items() if not np.isfinite(loss)]:
        return f"The log loss of {' and of '.join(infinite)} is infinite: no difference can be taken."
    if np.isnan(lower):
        return "One row does not say how much a difference varies."
    if upper < 0.0:
        return "The log loss is better: the interval of its difference lies below 0."
    if lower > 0.0:
        return "The log loss is worse: the interval of its difference lies above 0."
    return "The interval of the difference of the log loss holds 0: by it neither is shown to be better."


# The next step that a report recommends: as computed on the rows at hand, or the command that computes it


ASK = (
    "Next: choose a calibrator on a calibration set: rows used neither for training nor in this report: "
    "calibrant advise CALIBRATION_FILE (in Python calibrant.advise)."
)
"""Where nothing was computed: the report was made without rows, or of rows to test on."""

REFIT = (
    "If these rows are your test set, fit on a separate calibration set, and compare before and after on the test set:"
)


def next_step(advice: Advice | None, *, visible: bool, detectable: float | None, n_rows: int) -> str:
    """Return the last finding; ``visible`` is whether some miscalibration is significant."""
    if advice is not None and advice.recommended != IDENTITY:
        event, before, chosen = f" {advice.event}" if advice.event else "", advice.candidates[0], advice.chosen
        of = "" if advice.n_used == advice.n_rows else f"{advice.n_used} of "
        return (
            f"Next: fit {advice.recommended} on a calibration set: {advice.command}. In {advice.n_folds}-fold cross-validation "
            f"on {of}{advice.n_rows} rows it lowers the log loss from {before.log_loss:.4f} to {chosen.log_loss:.4f} "
            f"(difference {chosen.difference:.4f}, standard error {chosen.standard_error:.4f}). {REFIT} "
            f"calibrant report TEST_FILE{advice.given}{event} --calibrator calibrator.json -o after.html."
        )
    if visible:
        return ASK if advice is None else f"Next: collect more rows. {advice.reason}"
    stay = "" if advice is None else f" {advice.reason}"
    return (
        f"No miscalibration is visible in {'1 row' if n_rows == 1 else f'{n_rows} rows'}.{stay} That is no proof of "
        f"calibration: an ECE below about {detectable:.4f} would often go undetected here."
    )


# The contents of a report, as plain values that JSON can hold. Everything is worked out here; the template only shows it


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
    some("a report", assessments, "assessment", hint="Pass {'name': assess(y_true, y_prob)}")
    for name, assessment in assessments.items():
        missing = ", ".join(sorted(set(NEEDED) - {row.metric for row in assessment.rows}))
        must, given = f"a report needs {', '.join(NEEDED)}", f"{name!r} was assessed without {missing}"
        require(not missing, must, given=given, hint="Add them to metrics=")
        curve, hint = assessment.curve, "Assess it with notion='binary', 'confidence' or OneVsRest(...)"
        given = f"{name!r} was assessed under {curve.notion!r}, which has {len(curve.panels)}"
        require(len(curve.panels) == 1, "a report speaks of one event in each row", given=given, hint=hint)
    if isinstance(advice, Advice):
        must, got = "advice must say which forecast it is about", f"one for {', '.join(assessments)}"
        require(len(assessments) == 1, must, got=got, hint="Pass {'name': advice}", error=TypeError)
        advice = dict.fromkeys(assessments, advice)
    by_name = advice or {}
    shown = {row.metric for assessment in assessments.values() for row in assessment.rows}
    return {
        "title": title,
        "library": f"calibrant {calibrant.__version__}",
        "forecasts": [_forecast(name, assessment, by_name.get(name)) for name, assessment in assessments.items()],
        "comparison": comparison(assessments, differences),
        "table": _table(assessments),
        "simplex": simplex_section(simplex),
        "references": [text for key, text in REFERENCES.items() if key not in ABOUT_METRICS or key in shown],
    }


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
    chance = f"({_chance(ece)}, from {assessment.n_resamples} draws of labels from the forecast itself)"
    expected = f"{ece.noise_floor:.4f} is expected of a calibrated forecast {chance}."
    noise = f"The ECE of {ece.value:.4f} is within the noise: {expected}"
    if is_wrong and ece.pvalue is not None and ece.pvalue <= assessment.level:
        noise = f"This is more than noise: the ECE is {ece.value:.4f}, and {expected}"
    notes = [(row.estimate.value, row.note) for row in assessment.rows if row.note and row.is_called("nll")]
    losses = [f"The log loss is {'infinite' if math.isinf(loss) else 'not exact'}: {note}." for loss, note in notes]
    step = next_step(advice, visible=is_wrong, detectable=ece.detectable, n_rows=assessment.n_rows)
    return [*verdict.sentences, noise, *losses, step]


def _chance(estimate: Estimate, digits: str = ".3g") -> str:
    """Return "p = 0.02", or "p <= 0.002" where the draws can show no less; nothing where there is no p-value."""
    return "" if estimate.pvalue is None else shown_pvalue(estimate.pvalue, estimate.least_pvalue, digits, name="p")


def _table(assessments: Mapping[str, Assessment]) -> list[dict[str, Any]]:
    every = [row for assessment in assessments.values() for row in assessment.rows]
    firsts = [row for i, row in enumerate(every) if not any(row.is_called(other.metric) for other in every[:i])]
    lines = []
    for first in firsts:
        each = (assessment.rows for assessment in assessments.values())
        found = [next((row for row in rows if row.is_called(first.metric)), None) for rows in each]
        estimates = [r and {name: _plain(value) for name, value in asdict(r.estimate).items()} for r in found]
        chances = ["" if r is None else _chance(r.estimate, ".4f") for r in found]
        words = {"metric": first.metric, "symbol": first.title, "summary": first.summary}
        notes = ["" if r is None else r.note for r in found]
        lines.append({**words, "estimates": estimates, "chances": chances, "notes": notes})
    return lines


def _panel(panel: ReliabilityPanel, curve: ReliabilityCurve) -> dict[str, Any]:
    bins = panel.bins
    columns = {"left": bins.edges[:-1], "right": bins.edges[1:], "lower": panel.lower, "upper": panel.upper}
    columns |= {name: getattr(bins, name) for name in ("count", "mean_prob", "event_rate")}
    rows = zip(*columns.values(), strict=True)
    return {
        "name": panel.name,
        "event": "accuracy" if curve.notion == "confidence" else "event rate",
        "binning": curve.binning,
        "mean_prob": _plain(panel.mean_prob),
        "event_rate": _plain(panel.event_rate),
        "bins": [dict(zip(columns, map(_plain, row), strict=True)) for row in rows],
    }


def _plain(value: Any) -> float | int | str | None:
    """What JSON can hold: infinity as a word, and None for what is no number."""
    number: float | int = value.item() if hasattr(value, "item") else value
    if not isinstance(number, float) or math.isfinite(number):
        return number
    return None if math.isnan(number) else str(number)


def write_report(
    assessments: Assessment | Mapping[str, Assessment],
    path: str | os.PathLike[str],
    *,
    title: str = "Calibration report",
    simplex: SimplexPoints | Mapping[str, SimplexPoints] | None = None,
    advice: Advice | Mapping[str, Advice] | None = None,
    differences: Differences | None = None,
    force: bool = False,
) -> None:
    """Write an HTML page that shows one assessment, or compares several.

    Parameters
    ----------
    assessments : Assessment or dict of name to Assessment
        Results of `assess`, in the order in which forecasts are compared, such as before and after.
    path : str or path-like
        The page, which ends in .html or .htm; it must not exist, unless ``force``. It is written beside and then renamed, so it
        is whole or absent.
    title : str, default="Calibration report"
        Title of the page.
    simplex : SimplexPoints or dict of name to SimplexPoints, optional
        Rows of three or four classes to show as points, at most 2000 each: on a triangle, or in a tetrahedron that mouse, touch
        and arrow keys turn. The page then holds the forecast and the label of each of these rows.
    advice : Advice or dict of name to Advice, optional
        Result of `advise` for a forecast: the page then names the calibrator to fit, with the figures behind it. Without it
        the page names the command that computes it.
    differences : dict of name to sequence of PairedDifference, optional
        For a forecast of the same rows as the first, what `paired_difference` gives with it as A and the first as B, under
        ``metric="nll"``, ``"ece"`` and ``"accuracy"``. Forecasts without are compared as samples of different rows.
    force : bool, default=False
        Replace a file.

    Raises
    ------
    FileExistsError
        If the file exists.
    TypeError, ValueError
        If ``simplex`` holds something else, or too many points, or ``path`` has another ending.
    ImportError
        If jinja2 is not installed.

    Examples
    --------
    >>> from calibrant import assess, load_digits_forecast, write_report
    >>> write_report(assess(*load_digits_forecast()), "report.html")  # doctest: +SKIP
    """
    require_free(Path(path), force=force, endings=PAGES)
    named = assessments if isinstance(assessments, Mapping) else {"forecast": assessments}
    page = render(named, title=title, simplex=simplex, advice=advice, differences=differences)
    with whole_file(path, force=force) as beside:
        beside.write_text(page, encoding="utf-8")


def render(assessments: Mapping[str, Assessment], **options: Any) -> str:
    """Return the page of a report; the options are those of `summarise`."""
    try:
        import jinja2
    except ImportError:
        raise ImportError("a report needs jinja2; it is not installed. pip install 'calibrant[report]'") from None
    loader = jinja2.PackageLoader("calibrant", "report/templates")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    summary, script = summarise(assessments, **options), ""
    if any(view["solid"] for view in summary["simplex"]):
        # A browser hashes what it reads, where every end of a line is one character.
        script = "\n".join(loader.get_source(environment, "turn.js")[0].splitlines())
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return environment.get_template("report.html").render(summary, script=script, digest=digest)
