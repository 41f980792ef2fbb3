"""The page of a monitor: a picture and a table for each group, in one file that needs nothing else."""

from __future__ import annotations

import io
from collections.abc import Mapping
from html import escape
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant import style as _style
from calibrant._core.arrays import FloatArray
from calibrant._core.checks import require
from calibrant.curves.simplex import mixed
from calibrant.curves.simplex_partition import CORNERS, SimplexPoints, splits_inside
from calibrant.drawing import as_named

if TYPE_CHECKING:
    from calibrant.monitoring import MonitorTable


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
        fills["label"] = [_style.CERTAIN[k] for k in points.label.tolist()]
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
        "classes": [{"name": c, "colour": colour} for c, colour in zip(points.classes, _style.CERTAIN, strict=False)],
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
    height, turn = np.radians(_style.VIEW)
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
