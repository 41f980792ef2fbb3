"""Each how-to page runs from top to bottom and prints what it shows, in one folder and one namespace."""

import re
import shlex
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from calibrant import cli

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
    monkeypatch.chdir(tmp_path)
    for (_, shown), run in zip(BLOCKS[name], rendered(BLOCKS[name]), strict=True):
        assert shown == run


@pytest.mark.usefixtures("unsettled")
@pytest.mark.parametrize("name", ["browser.md", "export.md", "service.md", "warehouse.md"])
def test_the_python_of_a_page_runs_again_where_it_ran(name, monkeypatch, tmp_path):
    require(name)
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        python_of(BLOCKS[name])


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


def test_the_script_of_the_page_answers_what_is_typed(monkeypatch, tmp_path):
    require("browser.md")
    monkeypatch.chdir(tmp_path)
    calibrator = python_of(BLOCKS["browser.md"])["calibrator"]
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
