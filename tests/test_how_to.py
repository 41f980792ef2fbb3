"""Each how-to page runs from top to bottom and prints what it shows, in one folder and one namespace."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from laws.test_counts import DRAWN, require_one_law

from calibrant import IsotonicCalibration, Monitor, assess, cli

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "how-to"
PAGES = {page.name: page.read_text(encoding="utf-8") for page in sorted(FOLDER.glob("*.md"))}
NEEDS = {
    "clusters.md": ("dask.dataframe", "distributed", "duckdb", "polars"),
    "data-frames.md": ("pandas", "polars"),
    "evaluate.md": ("datasets", "evaluate"),
    "gradient-boosting.md": ("lightgbm", "xgboost"),
    "skore.md": ("skore",),
    "spark.md": ("pyspark.sql",),
    "export.md": ("duckdb", "onnx", "pandas"),
    "mlflow.md": ("mlflow", "onnx", "onnxruntime", "pandas"),
    "service.md": ("fastapi", "httpx2"),
    "torch.md": ("torch",),
    "warehouse.md": ("duckdb", "pandas"),
}
"""What is installed only where somebody wants it."""

BLOCKS = {name: re.findall(r"^```(\w+)\n(.*?)^```$", text, flags=re.M | re.S) for name, text in PAGES.items()}


class Terminal:
    """Runs the lines of a ``console`` block: ``$ calibrant ...`` and ``$ echo $?``."""

    def __init__(self):
        self.code = cli.OK

    def run(self, line):
        if line == "echo $?":
            print(self.code)
            return
        program, *arguments = shlex.split(line)
        assert program == "calibrant", line
        self.code = cli.main(arguments)

    def shown(self, block):
        """Return the block as a terminal shows it: what each command prints stands below it."""
        screen = StringIO()
        with redirect_stdout(screen), redirect_stderr(screen):
            for line in re.findall(r"^\$ (.*)$", block, flags=re.M):
                print(f"$ {line}")
                self.run(line)
        return screen.getvalue()


def rendered(blocks):
    """Run the blocks of a page in their order and return them as they should be.

    A ``text`` block is what the blocks of Python since the last one print.
    """
    terminal, namespace, printed = Terminal(), {"__name__": "page"}, StringIO()
    for language, block in blocks:
        if language == "python":
            with redirect_stdout(printed):
                exec(compile(block, "page", "exec"), namespace)
            yield block
        elif language == "console":
            yield terminal.shown(block)
        elif language == "text":
            yield printed.getvalue()
            printed.seek(0)
            printed.truncate()
        else:
            yield block
    assert printed.getvalue() == "", "a page shows all that its blocks print"


def python_of(blocks):
    """Run the blocks of Python and return their names."""
    page = {"__name__": "page"}
    with redirect_stdout(StringIO()):
        for language, block in blocks:
            if language == "python":
                exec(compile(block, "page", "exec"), page)
    return page


def require(name):
    """Skip where what a page needs is not installed."""
    for module in NEEDS.get(name, ()):
        pytest.importorskip(module)
    if name == "browser.md" and not shutil.which("node"):
        pytest.skip("node is not installed")


def marked(name):
    """A page of Spark takes a minute; it and MLflow warn of other versions and of their own use."""
    marks = [pytest.mark.filterwarnings("ignore")] if name in ("spark.md", "mlflow.md") else []
    return pytest.param(name, marks=[*marks, pytest.mark.deep] if name == "spark.md" else marks)


@pytest.mark.usefixtures("unsettled")
@pytest.mark.parametrize("name", [marked(name) for name, blocks in BLOCKS.items() if blocks])
def test_every_block_runs_and_prints_what_the_page_shows(name, monkeypatch, tmp_path):
    pytest.importorskip("matplotlib").use("agg")
    pytest.importorskip("pyarrow")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "evaluate"))  # both are read when evaluate is imported
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    require(name)
    from matplotlib import pyplot

    monkeypatch.chdir(tmp_path)
    for (_, shown), run in zip(BLOCKS[name], rendered(BLOCKS[name]), strict=True):
        assert shown == run
    pyplot.close("all")


@pytest.mark.usefixtures("unsettled")
@pytest.mark.parametrize("name", ["browser.md", "export.md", "service.md", "warehouse.md"])
def test_the_python_of_a_page_runs_again_where_it_ran(name, monkeypatch, tmp_path):
    require(name)
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        python_of(BLOCKS[name])


def test_counts_of_the_warehouse_give_what_its_rows_give(monkeypatch, tmp_path):
    require("warehouse.md")
    monkeypatch.chdir(tmp_path)
    page = python_of(block for block in BLOCKS["warehouse.md"] if "models" not in block[1])
    counts, rows = page["first"], page["rows"][page["rows"].day < "2026-01-12"]
    assert 50 * len(counts) < len(rows)
    seeds = [{"rng": seed, "n_resamples": 99, "metrics": ["log-loss", "brier", "ece"]} for seed in range(5)]
    of_counts = [assess(counts.label, counts.score, sample_weight=counts.n, **seed) for seed in seeds]
    of_rows = [assess(rows.label, rows.score, **seed) for seed in seeds]
    assert [str(one).splitlines()[-2:] for one in of_counts] == [str(one).splitlines()[-2:] for one in of_rows]
    for name in ("log-loss", "brier", "ece"):
        one, other = of_counts[0][name], of_rows[0][name]
        assert one.value == pytest.approx(other.value, rel=1e-12)
        if name != "ece":
            assert (one.lower, one.upper) == pytest.approx((other.lower, other.upper), rel=1e-9)
    drawn = [[[getattr(one["ece"], word) for word in DRAWN] for one in some] for some in (of_counts, of_rows)]
    require_one_law(*drawn, scale=of_rows[0]["ece"].upper - of_rows[0]["ece"].lower)

    by_rows = IsotonicCalibration().fit(rows.score, rows.label)
    view = page["warehouse"].sql("SELECT * FROM calibrated ORDER BY id").df()
    np.testing.assert_allclose(view.calibrated_score, by_rows.calibrate(page["rows"].score), rtol=0, atol=1e-13)

    watched = view[view.day >= "2026-01-12"]
    monitor = Monitor(window="1d", reference=7).update(watched.label, watched.calibrated_score, at=watched.day)
    assert len(monitor.alarms) == 2
    assert [str(alarm) for alarm in monitor.alarms] == [str(alarm) for alarm in page["monitor"].alarms]


def test_the_service_imports_nothing_of_calibrant(monkeypatch, tmp_path):
    pytest.importorskip("fastapi")
    monkeypatch.chdir(tmp_path)
    python_of(BLOCKS["service.md"][:3])
    asked = "import sys, service; print({'calibrant', 'scipy', 'sklearn', 'numba'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


STAND_INS = """
const made = { score: { addEventListener: (_, act) => { made.act = act; } }, calibrated: {} };
globalThis.document = { getElementById: (name) => made[name] };
"""
TYPED = """
for (const value of [0.25, 0.7, 50, NaN]) {
  made.score.valueAsNumber = value;
  made.act();
  console.log(made.calibrated.textContent);
}
"""


@pytest.fixture
def calibrator(monkeypatch, tmp_path):
    """What the page calibrates by, with the page written."""
    require("browser.md")
    monkeypatch.chdir(tmp_path)
    return python_of(BLOCKS["browser.md"])["calibrator"]


def test_the_page_answers_what_is_typed_in_a_browser(calibrator):
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = (
        os.environ.get("CALIBRANT_CHROMIUM") or shutil.which("chromium") or pytest.skip("no Chromium is installed")
    )
    with playwright.sync_playwright() as started:
        page = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"]).new_page()
        page.goto(Path("calibrate.html").absolute().as_uri())
        for score in (0, 0.25, 0.7, 1):
            page.get_by_label("Score").fill(str(score))
            assert page.locator("#calibrated").inner_text() == f"{calibrator.calibrate([score])[0]:.4f}"
        page.get_by_label("Score").fill("50")
        assert page.locator("#calibrated").inner_text() == "A score is a number from 0 to 1."


def test_the_script_of_the_page_answers_what_is_typed(calibrator):
    html = Path("calibrate.html").read_text(encoding="utf-8")
    (script,) = re.findall(r"<script type=\"module\">(.*?)</script>", html, flags=re.S)
    Path("typed.mjs").write_text(STAND_INS + script + TYPED, encoding="utf-8")
    done = subprocess.run(["node", "typed.mjs"], capture_output=True, text=True, check=True)
    *numbers, percent, nothing = done.stdout.splitlines()
    assert numbers == [f"{one:.4f}" for one in calibrator.calibrate([0.25, 0.7])]
    assert percent == nothing == "A score is a number from 0 to 1."


def test_every_block_says_a_language_that_is_run():
    languages = {language for blocks in BLOCKS.values() for language, _ in blocks}
    assert languages <= {"python", "text", "console", "yaml"}


def test_the_job_runs_the_gate_that_the_page_shows():
    blocks = BLOCKS["continuous-integration.md"]
    (job,) = (block for language, block in blocks if language == "yaml")
    (gate,) = re.findall(r"- run: (calibrant .*)$", job, flags=re.M)
    first = next(block for language, block in blocks if language == "console")
    assert f"$ {gate}\n" in first


def test_gates_on_a_value_stand_only_where_the_page_advises_against_them():
    """A value is off by chance; what a job fails by is an end of an interval, or a condition that is refused."""
    advice, _, against = PAGES["continuous-integration.md"].partition("## What not to do")
    gates = re.findall(r'--fail-if "(.*?)"', advice)
    assert {gate for gate in gates if "." not in gate.split()[0]} == {"accuracy < 80"}
    assert re.findall(r'--fail-if "(\w+ .*?)"', against) == ["ece > 0.02"]


@pytest.mark.parametrize("name", [name for name, blocks in BLOCKS.items() if blocks])
def test_a_page_begins_with_the_question_and_ends_with_what_not_to_do(name):
    _, question, *_ = PAGES[name].split("\n\n")
    assert question.startswith("*I")
    assert question.endswith("?*")
    headings = re.findall(r"^## (.*)$", PAGES[name], flags=re.M)
    assert headings[0] == "Data"
    assert {"Next", "What not to do"} <= set(headings)
