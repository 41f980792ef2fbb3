"""Configuration of the documentation. Build with `make docs`; every warning is an error."""

from importlib import import_module
from pathlib import Path
from typing import Any

import calibrant
from calibrant._core.elsewhere import PACKAGES, homes, load
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


SHELVES = {
    "around": "Around others",
    "one_score": "Of one score",
    "simplex": "Of whole rows",
    "guarantees": "Guarantees",
}
"""Headings of the calibrators, by their folders."""


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


def _index() -> str:
    """Return the page of the front door, with links to where each name is described, and of the packages."""
    rows = [f"* {{py:obj}}`{name} <{homes()[name]}.{name}>`" for name in calibrant.__all__]
    head = ["# Reference", "", "These names are imported from `calibrant`:", ""]
    rest = ["", "All public names, these as well, stand in a package each:", "", "```{toctree}", *PACKAGES, "```", ""]
    return "\n".join([*head, *rows, *rest])


def _group(name: str) -> str:
    """Return the heading under which a public name stands on the page of its package."""
    target = load(name)
    shelf = target.__module__.removeprefix("calibrant.calibrators.").partition(".")[0]
    if homes()[name] == "calibrant.calibrators":
        return SHELVES.get(shelf, "Bases")
    return "Classes" if isinstance(target, type) else "Functions"


def _page(package: str) -> str:
    """Return the page of a package: its public names, by group."""
    home = import_module(f"calibrant.{package}")
    groups: dict[str, list[str]] = {}
    for name in sorted(home.__all__, key=str.lower):
        groups.setdefault(_group(name), []).append(name)
    lines = [f"# calibrant.{package}", "", home.__doc__.strip(), ""]
    for group in sorted(groups, key=[*SHELVES.values(), "Bases", "Functions", "Classes"].index):
        names = [f"   {name}" for name in groups[group]]
        directive = [f".. currentmodule:: calibrant.{package}", "", ".. autosummary::", "   :toctree: .", ""]
        lines += [f"## {group}", "", "```{eval-rst}", *directive, *names, "```", ""]
    return "\n".join(lines)


def _of_any_package(app, env, node, content):
    """Resolve a public name that is written without its package, as docstrings write it."""
    target = node.get("reftarget", "").removeprefix("calibrant.")
    home = homes().get(target.partition(".")[0])
    if node.get("refdomain") != "py" or home is None:
        return None
    domain = env.get_domain("py")
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", f"{home}.{target}", node, content)


def _link_the_glossary(_: object, name: str, source: list[str]) -> None:
    """Add the link to pages without one, which are mostly written by programs."""
    if "{term}`" not in source[0] and not name.startswith("reference/"):
        source[0] += "\n\nTerms are explained in the {doc}`glossary </glossary>`.\n"


def setup(app: Any) -> None:
    """Tell Sphinx of what stands above."""
    app.connect("missing-reference", _of_any_package)
    app.connect("source-read", _link_the_glossary)


here = Path(__file__).parent / "reference"
here.mkdir(exist_ok=True)
(here / "index.md").write_text(_index())
for package in PACKAGES:
    (here / f"{package}.md").write_text(_page(package))
(here / "tables.md").write_text(
    "# What there is\n\nAs `calibrant list` prints it, from the same declarations.\n\n" + _tables() + "\n"
)
