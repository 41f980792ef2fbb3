"""Configuration of the documentation. Build with `make docs`; every warning is an error."""

from pathlib import Path
from typing import Any

import calibrant
from calibrant._core.registry import GUARANTEES, HOMES, entries
from calibrant.metrics.metric import metric_named

project = "calibrant"
copyright = "2026, the calibrant developers"
version = release = calibrant.__version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "myst_parser"]
html_theme = "pydata_sphinx_theme"
html_theme_options = {"show_toc_level": 2, "navigation_with_keys": False}
html_sidebars = {"**": []}
exclude_patterns = ["_build", "decisions/*"]  # decisions are read in the repository
suppress_warnings = ["ref.ref"]  # scikit-learn's inherited docstrings refer to its own user guide
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
myst_heading_anchors = 3


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _tables() -> str:
    """Return the registry as tables: the same declarations that the command line and the law tests read."""
    lines = []
    for kind in HOMES:
        facts = {"metric": "range", "calibrator": "guarantees"}.get(kind)
        head = ["name", "symbol", "what it is", *([facts] if facts else []), "source"]
        lines += [f"## {kind.capitalize()}s", "", _row(head), _row(["---"] * len(head))]
        for name, entry in entries(kind).items():
            detail = []
            if kind == "metric":
                metric = metric_named(name)
                better = "higher" if metric.higher_is_better else "lower"
                wanted = f"{better} is better" if metric.ideal is None else f"ideally {metric.ideal:g}"
                detail = ["{:g} to {:g}, {}".format(*metric.range, wanted)]
            elif kind == "calibrator":
                detail = ["; ".join(sorted(entry.guarantees)) or "none"]
            lines.append(_row([f"`{name}`", entry.symbol, entry.summary, *detail, entry.source]))
        lines.append("")
    lines += ["## What a calibrator can promise", "", _row(["guarantee", "meaning"]), _row(["---", "---"])]
    lines += [_row([name, meaning]) for name, meaning in GUARANTEES.items()]
    return "\n".join(lines)


def _reference() -> str:
    names = [f"   {name}" for name in sorted(calibrant.__all__, key=str.lower)]
    head = ["# Reference", "", "Everything public is in the namespace `calibrant`.", "", "```{eval-rst}"]
    directive = [".. currentmodule:: calibrant", "", ".. autosummary::", "   :toctree: .", ""]
    return "\n".join([*head, *directive, *names, "```", ""])


def _link_the_glossary(_: object, name: str, source: list[str]) -> None:
    """Add the link to pages without one, which are mostly written by programs."""
    if "{term}`" not in source[0] and not name.startswith("reference/"):
        source[0] += "\n\nTerms are explained in the {doc}`glossary </glossary>`.\n"


def setup(app: Any) -> None:
    """Have Sphinx do so as it reads a page."""
    app.connect("source-read", _link_the_glossary)


here = Path(__file__).parent / "reference"
here.mkdir(exist_ok=True)
(here / "index.md").write_text(_reference())
(here / "tables.md").write_text(
    "# What there is\n\nAs `calibrant list` prints it, from the same declarations.\n\n" + _tables() + "\n"
)
