"""The report as one self-contained HTML page: no script, no external reference, works offline and in print."""

from __future__ import annotations

import os
from collections.abc import Mapping

from calibrant.assessment import Assessment
from calibrant.interop.writing import whole_file
from calibrant.report.summary import summarise


def write_report(
    assessments: Assessment | Mapping[str, Assessment],
    path: str | os.PathLike[str],
    *,
    title: str = "Calibration report",
    force: bool = False,
) -> None:
    """Write an HTML page that shows one assessment, or compares several.

    Parameters
    ----------
    assessments : Assessment or dict of name to Assessment
        What `assess` found, in the order in which forecasts are compared, such as before and after.
    path : str or path-like
        The page; it must not exist, unless ``force``. It is written beside and then renamed, so it is whole or absent.
    title : str, default="Calibration report"
        Title of the page.
    force : bool, default=False
        Replace a file.

    Raises
    ------
    FileExistsError
        If the file exists.
    ImportError
        If jinja2 is not installed.

    Examples
    --------
    >>> from calibrant import assess, load_digits_forecast, write_report
    >>> write_report(assess(*load_digits_forecast()), "report.html")  # doctest: +SKIP
    """
    page = render(assessments if isinstance(assessments, Mapping) else {"forecast": assessments}, title=title)
    with whole_file(path, force=force) as beside:
        beside.write_text(page, encoding="utf-8")


def render(assessments: Mapping[str, Assessment], *, title: str = "Calibration report") -> str:
    """Return the page as text."""
    try:
        import jinja2
    except ImportError:
        raise ImportError("a report needs jinja2; it is not installed. pip install 'calibrant[report]'") from None
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("calibrant", "report/templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html").render(summarise(assessments, title=title))
