"""Configuration of the documentation. Build with `make docs`; every warning is an error."""

import os
import sys
from pathlib import Path

from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.nodes import make_refnode

import calibrant

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from tools.pages import decisions, llms, reference, shelves, tables  # noqa: E402

project = "calibrant"
copyright = "2026, the calibrant developers"
version = release = calibrant.__version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "myst_parser"]
templates_path = ["_templates"]
exclude_patterns = ["_build"]
suppress_warnings = ["ref.ref"]  # scikit-learn's inherited docstrings refer to its own user guide
autosummary_generate = True
autosummary_context = {"words": reference.words()}
autodoc_typehints = "none"
numpydoc_show_class_members = False
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

html_theme = "pydata_sphinx_theme"
html_title = "calibrant"
html_static_path = ["_static"]
html_css_files = ["calibrant.css"]
html_show_sourcelink = False
html_search_scorer = str(HERE / "reference" / "scorer.js")
html_sidebars = {"index": [], "get-started": [], "gallery": [], "**": ["sidebar-nav-bs"]}
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 7,
    "show_prev_next": False,
    "footer_end": [],
}
if home := os.environ.get("DOCS_HOME"):  # where the pages of all versions stand, with their list
    switcher = {"json_url": f"{home}/versions.json", "version_match": release}
    html_theme_options |= {"switcher": switcher, "check_switcher": False}
    html_theme_options["navbar_end"] = ["version-switcher", "theme-switcher", "navbar-icon-links"]

FULL_NAMES = reference.homes()


def public_name(app: Sphinx, env, node: addnodes.pending_xref, content):
    """Link a name that stands in a docstring without its package, as in its See Also, to where it is described."""
    home = FULL_NAMES.get(node["reftarget"].rpartition(".")[2])
    found = env.domains["py"].objects.get(home) if node["refdomain"] == "py" and home else None
    return found and make_refnode(app.builder, node["refdoc"], found.docname, found.node_id, content, home)


def link_the_glossary(_: Sphinx, name: str, source: list[str]) -> None:
    """Add the link to pages without one, which are mostly written by programs."""
    if "{term}`" not in source[0] and not name.startswith(("reference/", "decisions/")):
        source[0] += "\n\nTerms are explained in the {doc}`glossary </glossary>`.\n"


def write_llms(app: Sphinx, failed: Exception | None) -> None:
    """Write the page for programs beside the others."""
    if not failed and app.builder.format == "html":
        titles = {name: title.astext() for name, title in app.env.titles.items()}
        (Path(app.outdir) / "llms.txt").write_text(llms.page(titles, shelves.record()), encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Connect what the theme and the extensions leave to us."""
    app.connect("build-finished", write_llms)
    app.connect("missing-reference", public_name)
    app.connect("source-read", link_the_glossary)


PAGES = {"reference/index.md": reference.front_page(), "reference/tables.md": tables.page(FULL_NAMES)}
PAGES["reference/scorer.js"] = shelves.scorer()
PAGES |= {
    f"reference/{name}.md": reference.package_page(name, names) for name, names in reference.public_packages().items()
}
PAGES["decisions/index.md"] = decisions.page(HERE / "decisions")
(HERE / "reference").mkdir(exist_ok=True)
for stub in (HERE / "reference").glob("*.*"):  # those of names that are gone would be described again
    if stub.stem not in FULL_NAMES.values() and f"reference/{stub.name}" not in PAGES:
        stub.unlink()
for name, text in PAGES.items():
    (HERE / name).write_text(text, encoding="utf-8")
