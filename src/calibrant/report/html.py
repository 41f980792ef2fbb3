"""The report as one self-contained HTML page: no external reference, works offline and in print.

It runs nothing, but for one script of its own where there is a tetrahedron to turn; a policy in the page allows that alone.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from calibrant.assessment.advice import Advice
from calibrant.assessment.table import Assessment
from calibrant.curves.simplex_points import SimplexPoints
from calibrant.interop.writing import PAGES, require_free, whole_file
from calibrant.report.comparison import Differences
from calibrant.report.summary import summarise


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


def render(
    assessments: Mapping[str, Assessment],
    *,
    title: str = "Calibration report",
    simplex: SimplexPoints | Mapping[str, SimplexPoints] | None = None,
    advice: Advice | Mapping[str, Advice] | None = None,
    differences: Differences | None = None,
) -> str:
    """Return the page as text."""
    try:
        import jinja2
    except ImportError:
        raise ImportError("a report needs jinja2; it is not installed. pip install 'calibrant[report]'") from None
    loader = jinja2.PackageLoader("calibrant", "report/templates")
    environment = jinja2.Environment(
        loader=loader,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    summary = summarise(assessments, title=title, simplex=simplex, advice=advice, differences=differences)
    script = ""
    if any(view["solid"] for view in summary["simplex"]):
        # A browser hashes what it reads, where every end of a line is one character.
        script = "\n".join(loader.get_source(environment, "turn.js")[0].splitlines())
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return environment.get_template("report.html").render(summary, script=script, digest=digest)
