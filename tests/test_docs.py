"""The examples of the documentation run and print what stands below them; pages agree with tables and pictures.

Each page runs in a process of its own, since a page may declare things, but for quick ones that declare none.
"""

import os
import re
import subprocess
import sys
from ast import literal_eval
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from calibrant import measure, optimal_threshold, spiegelhalter_test
from calibrant._core.registry import entries
from calibrant.decisions.thresholds import threshold_of
from tools import make_gallery
from tools.pages import shelves

DOCS = Path(__file__).resolve().parents[1] / "docs"
SOURCES = sorted([*DOCS.glob("*.md"), *DOCS.glob("how-to/*.md")])
PAGES = {page.relative_to(DOCS).as_posix(): page.read_text(encoding="utf-8") for page in SOURCES}
PRINTED = {name: re.findall(r"^```text\n(.*?)^```$", text, flags=re.M | re.S) for name, text in PAGES.items()}
EXAMPLES = {name: re.findall(r"^```python\n(.*?)^```$", text, flags=re.M | re.S) for name, text in PAGES.items()}

NOT_PRINTED = ("calibrant ", "GCE = ", "mean score  =")
"""How text begins that is no output: a command, a formula."""

FROM_THE_ROOT = os.pathsep.join(filter(None, [str(DOCS.parent), os.environ.get("PYTHONPATH")]))
"""Where examples find the studies, which are not installed."""

CLOSED = "\nimport matplotlib.pyplot\nmatplotlib.pyplot.close('all')\n"
"""Between the blocks of a page: a notebook closes its figures as well, and matplotlib keeps no more than 20 open."""


def python(*words, folder, path=FROM_THE_ROOT):
    """Run Python in a process of its own."""
    env = os.environ | {"MPLBACKEND": "agg", "PYTHONPATH": path}
    return subprocess.run([sys.executable, *words], cwd=folder, env=env, capture_output=True, text=True, check=False)


QUICK = {"get-started.md", "notions.md", "extending.md", "survey.md"}
"""Pages whose examples `make test` runs; the others are deep."""


# test_how_to.py runs the examples of how-to/, with their commands.
RUN_HERE = [name for name, blocks in EXAMPLES.items() if blocks and not name.startswith("how-to/")]
MARKED = [pytest.param(name, marks=() if name in QUICK else pytest.mark.deep) for name in RUN_HERE]


@pytest.mark.usefixtures("unsettled")
@pytest.mark.filterwarnings("default", "error::RuntimeWarning", "ignore::calibrant.exceptions.CalibrationWarning")
@pytest.mark.parametrize("page", MARKED)
def test_every_example_of_the_page_runs(page, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("agg")
    monkeypatch.chdir(tmp_path)
    code = CLOSED.join(EXAMPLES[page])
    if page in QUICK and "declare" not in code:
        with redirect_stdout(StringIO()) as screen:
            exec(compile(code, page, "exec"), {"__name__": "page"})
        printed = screen.getvalue()
    else:
        done = python("-W", "error::RuntimeWarning", "-c", code, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        printed = done.stdout
    shown = [block for block in PRINTED[page] if not block.startswith(NOT_PRINTED)]
    assert [block for block in shown if block not in printed] == []


LAWS = DOCS.parent / "tests" / "laws"
DECLARED = {
    "calibrator": re.findall(r"^    \"calibrator\",\s*\"([a-z-]+)\"", "".join(EXAMPLES["extending.md"]), flags=re.M),
    "metric": re.findall(r"^[A-Z_]+ = [a-zA-Z]+\(\s*\"([a-z-]+)\"", "".join(EXAMPLES["extending.md"]), flags=re.M),
    "notion": re.findall(r"^@declare\(\"notion\", \"([a-z-]+)\"", "".join(EXAMPLES["extending.md"]), flags=re.M),
}
"""Names of the things that the page on extending declares, by their kind."""


def under_law(page, chosen, folder, *laws):
    """Run laws over what a page declares, in a process of its own, and return what it prints."""
    (folder / "page.py").write_text(page, encoding="utf-8")
    files = [str(LAWS / f"test_{law}.py") for law in laws]
    words = ["-m", "pytest", "-p", "page", "-p", "no:cacheprovider", "-v", "-m", "not deep", "-k", chosen, *files]
    done = python(*words, folder=DOCS.parent, path=f"{folder}{os.pathsep}{FROM_THE_ROOT}")
    return done.stdout + done.stderr


@pytest.mark.deep
def test_what_extending_declares_keeps_the_laws(tmp_path):
    pytest.importorskip("matplotlib")
    assert all(DECLARED.values())
    declared = [(kind, name) for kind, names in DECLARED.items() for name in names]
    laws = ("calibrators", "guarantees", "metrics", "notions", "two_columns")
    said = under_law("".join(EXAMPLES["extending.md"]), " or ".join(name for _, name in declared), tmp_path, *laws)
    assert re.findall(r"^(?:FAILED|ERROR) .*", said, flags=re.M) == []
    for kind, name in declared:
        assert re.search(rf"test_{kind}s\.py::\w+\[{name}\] PASSED", said), said[-4000:]


def test_a_guarantee_too_few_and_one_too_many_are_found(tmp_path):
    block = next(block for block in EXAMPLES["extending.md"] if '"intercept"' in block)
    wrong = block.replace('"ROC-hull preserving"', '"argmax preserving"')
    said = under_law(wrong, "holds_exactly_where_it_is_declared and intercept", tmp_path, "guarantees")
    found = re.findall(r"^FAILED .*\[intercept-([a-zA-Z -]+)\]", said, flags=re.M)
    assert sorted(found) == ["ROC-hull preserving", "argmax preserving"], said[-4000:]
    assert "intercept declares 'argmax preserving', and some forecast of this test breaks it" in said
    assert "intercept does not declare 'ROC-hull preserving', and no forecast of this test breaks it" in said


def test_no_page_names_a_folder_of_the_machine_that_wrote_it():
    assert [page for page, text in PAGES.items() if "site-packages" in text or "/.venv" in text] == []


def test_every_page_is_reached_from_the_front_page():
    reached = shelves.reached("index")
    assert sorted(set(reached)) == sorted(reached), "a page stands in one table of contents"
    assert {page.removesuffix(".md") for page in PAGES} - set(reached) == set()
    assert {page for page in set(reached) - shelves.MADE if not (DOCS / f"{page}.md").exists()} == set()


def test_the_pages_of_users_are_read_in_an_afternoon():
    users, record, top = shelves.of_users(), shelves.record(), shelves.below("index")
    assert set(users) & set(record) == set()
    assert sum(shelves.counted().values()) <= shelves.MOST
    assert [page for page in top if page in record] == ["record"]  # one entry of the navigation
    assert all(f'"{page}"' in shelves.scorer() for page in record)


def test_every_term_that_a_page_links_is_in_the_glossary_once():
    entries = "".join(re.findall(r"^```\{glossary\}\n(.*?)^```$", PAGES["glossary.md"], flags=re.M | re.S))
    terms = re.findall(r"^(\S.*)$", entries, flags=re.M)
    link = re.compile(r"\{term\}`(?:[^`<]*<)?([^`<>]+)>?`")
    linked = {name: link.findall(re.sub(r"\s+", " ", text)) for name, text in PAGES.items()}
    assert len(terms) > 50
    assert len(set(terms)) == len(terms)
    assert {name: set(found) - set(terms) for name, found in linked.items() if set(found) - set(terms)} == {}
    assert sum(map(bool, linked.values())) > 15


PAIR = re.compile(r"optimal_threshold\(([0-9.]+), ([0-9.]+)[,)]")
TABLE = re.compile(r"cost(?:_matrix|s) ?= ?(\[\[[0-9.]+, [0-9.]+\], \[[0-9.]+, [0-9.]+\]\])")


def test_the_tables_of_costs_of_a_page_have_the_threshold_of_its_pair_of_costs():
    both = [page for page in PAGES.values() if PAIR.search(page) and TABLE.search(page)]
    assert len(both) == 3
    for page in both:
        by_pair = optimal_threshold(*map(float, PAIR.search(page).groups()))
        assert {threshold_of(np.array(literal_eval(table), float)) for table in TABLE.findall(page)} == {by_pair}


def test_every_decision_is_numbered_once():
    numbers = [int(page.name[:4]) for page in sorted((DOCS / "decisions").glob("[0-9]*.md"))]
    assert numbers == list(range(1, len(numbers) + 1))


SOURCE = DOCS.parent / "src" / "calibrant"


@pytest.mark.parametrize("page", ["how-it-works.md", "extending.md"])
def test_every_file_that_a_page_on_the_source_names_is_there(page):
    named = set(re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.pyi?)`", PAGES[page])) - {"__init__.pyi"}
    assert len(named) > 10
    assert sorted(name for name in named if not any((root / name).exists() for root in (SOURCE, DOCS.parent))) == []


@pytest.mark.parametrize("kind", ["metric", "test", "calibrator", "notion", "binning", "simplex-binning"])
def test_a_stranger_finds_the_file_of_everything_that_is_declared(kind):
    files = {entry.target.__module__.removeprefix("calibrant.").replace(".", "/") for entry in entries(kind).values()}
    assert sorted(file for file in files if f"`{file}.py`" not in PAGES["how-it-works.md"]) == []


# Figures of the study of harm


EXPERIMENTS = (54, 54, 42)
"""Of two classes with 100, 200 and 500 rows: two draws of the rows of each of 27 sets of predictions that has enough."""


def test_pages_agree_on_what_to_take_for_two_classes_and_hundreds_of_rows():
    """By the shares of harm in percent, without and with `SafeCalibrator`, of each method and number of rows."""
    page, of_two = PAGES["do-no-harm.md"], {}
    assert "356 experiments" in page
    table = re.search(r"^\| harm in % of experiments, K = 2, .*\n.*\n((?:\|.*\n)+)", page, flags=re.M)[1]
    for line in table.splitlines():
        name, *pairs = [cell.strip() for cell in line.strip("|").split("|")]
        of_two[name] = np.array([pair.split("/") for pair in pairs], dtype=float)

    def harmed(names, safe):
        found = [np.average(of_two[name][:3, int(safe)], weights=EXPERIMENTS) for name in names]
        return " to ".join(dict.fromkeys(f"{share:.0f}" for share in (min(found), max(found))))

    structured, others = ("sms", "svs"), ("beta", "quadratic")
    said = PAGES["calibrators.md"]
    assert f"do harm in {harmed(('sms',), False)} % of the experiments, the others in {harmed(others, False)} %" in said
    assert harmed(structured, False) == "22"
    assert f"all in {harmed(structured + others, True)} %" in said


# What the FAQ advises


def test_a_soft_label_is_two_rows_with_weights():
    p, q = np.random.default_rng(0).uniform(0.1, 0.9, (2, 200))
    label, weight = np.repeat([1, 0], 200), np.append(q, 1 - q)
    found = measure(label, np.append(p, p), sample_weight=weight, metrics=["brier", "nll"])
    assert found["brier"] == pytest.approx(np.mean(q * (1 - p) ** 2 + (1 - q) * p**2))
    assert found["nll"] == pytest.approx(-np.mean(q * np.log(p) + (1 - q) * np.log(1 - p)))


def test_tests_of_repeated_rows_reject_too_often_and_of_one_row_a_patient_do_not():
    """Calibrated forecasts of 100 patients, of which each has five equal rows."""
    rejected = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        p = rng.uniform(0.1, 0.9, 100)
        y = rng.random(100) < p
        pairs = [(y, p), (np.repeat(y, 5), np.repeat(p, 5))]
        rejected.append([spiegelhalter_test(*pair).pvalue < 0.05 for pair in pairs])
    one, all_rows = np.mean(rejected, axis=0)
    assert one < 0.12
    assert all_rows > 0.25


# The gallery


def test_every_example_but_the_first_has_a_small_picture_of_its_own_and_there_is_no_other():
    first, *pictures = [picture for _, picture in make_gallery.blocks()]
    assert first is None
    assert sorted(pictures[0].parent.iterdir()) == sorted(pictures)
    assert max(picture.stat().st_size for picture in pictures) < 150_000
