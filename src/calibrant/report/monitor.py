"""The page of a monitor: a picture and a table for each group, in one file that needs nothing else."""

from __future__ import annotations

import io
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from calibrant.monitoring import MonitorTable

STYLE = (
    "body{font:15px/1.45 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "svg{max-width:100%;height:auto}pre{overflow-x:auto}.alarm{color:#a33;font-weight:600}"
)


def monitor_page(tables: Mapping[str, MonitorTable], *, title: str = "Calibration over time") -> str:
    """Return a page of HTML that shows monitors by the names of their groups; one without a name stands alone."""
    parts = [_section(name, table) for name, table in tables.items()]
    head = f"<!DOCTYPE html><html lang=en><meta charset=utf-8><title>{escape(title)}</title><style>{STYLE}</style>"
    return f"{head}<h1>{escape(title)}</h1>{''.join(parts)}</html>\n"


def _section(name: str, table: MonitorTable) -> str:
    heading = f"<h2>{escape(name)}</h2>" if name else ""
    said = [f"<p class=alarm>{escape(str(alarm))}</p>" for alarm in table.alarms] or ["<p>No alarm.</p>"]
    return f"{heading}{''.join(said)}{_picture(table)}<pre>{escape(str(table))}</pre>"


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
