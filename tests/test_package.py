"""The package as a whole: what an import costs, what is public, and that every example in it runs."""

import dataclasses
import doctest
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpydoc.validate
import pytest

import calibrant
from calibrant._core.lazy import PACKAGES, homes, load, where
from calibrant._core.registry import HOMES, entries

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]
EXTRA_LINES = [line for lines in EXTRAS.values() for line in lines]
MODULES = ["calibrant", *(m.name for m in pkgutil.walk_packages(calibrant.__path__, "calibrant."))]
HEAVY = {"numpy", "scipy", "sklearn", "pandas", "polars", "pyarrow", "numba", "matplotlib", "jinja2", "narwhals"}


def shown(*words, code=0):
    """What a program prints, on either stream."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == code, done.stdout
    return done.stdout


def loaded_by(*statements):
    """Heavy packages that a fresh interpreter has loaded after running statements."""
    code = "\n".join([*statements, "import sys", f"print(*sorted({HEAVY!r} & set(sys.modules)))"])
    return set(shown(sys.executable, "-c", code).splitlines()[-1].split())


# What an import costs


def test_importing_the_packages_loads_nothing_heavy():
    packages = [name for name in PACKAGES if hasattr(PUBLIC[name], "__path__")]  # a single module loads what it uses
    imports = [f"import calibrant.{package}; dir(calibrant.{package})" for package in packages]
    assert loaded_by("import calibrant", "dir(calibrant)", *imports) == set()


@pytest.mark.parametrize("words", [["--help"], ["assess", "--help"], ["--version"]], ids=" ".join)
def test_help_and_versions_load_nothing_heavy(words):
    run = f"try:\n    main({words!r})\nexcept SystemExit as end:\n    assert not end.code"
    assert loaded_by("from calibrant.cli import main", run) == set()


def test_figures_do_not_hang_on_docstrings_and_assertions():
    code = (
        "from calibrant import assess, load_digits_forecast as f\nprint(*assess(*f(), n_resamples=5)['ece'].interval)"
    )
    assert shown(sys.executable, "-c", code) == shown(sys.executable, "-OO", "-c", code)


@pytest.mark.parametrize("home", ["calibrant", "calibrant.metrics"])
def test_a_metric_needs_no_numba_and_no_matplotlib(home):
    loaded = loaded_by(f"from {home} import calibration_error", "calibration_error([0, 1], [.2, .9])")
    assert loaded & {"numba", "matplotlib", "pandas", "polars", "pyarrow", "jinja2"} == set()


MEASURED = """
from calibrant import assess, reliability_curve
from calibrant.significance import cox_test
y, p = [0, 1, 0, 1, 1, 0] * 9, [.2, .7, .4, .6, .3, .5] * 9
assess(y, p), reliability_curve(y, p), cox_test(y, p)
"""


def test_to_measure_and_to_test_needs_no_scikit_learn_and_no_pandas(tmp_path):
    """They take more than a second to load, half of what `calibrant assess` takes with them."""
    assert "sklearn" not in loaded_by(MEASURED)
    file = tmp_path / "rows.csv"
    file.write_text("label,p\n" + "0,.2\n1,.7\n1,.4\n0,.6\n" * 9)
    for words in (["assess"], ["test"], ["decide"], ["monitor", "-o", str(tmp_path / "alarms.json")]):
        run = f"main({[*words, str(file)]!r})"
        assert not {"sklearn", "pandas"} & loaded_by("from calibrant.cli import main", run), words


def test_the_installed_command_and_the_module_run():
    command = Path(sys.executable).with_name("calibrant")
    for words in ([command], [sys.executable, "-m", "calibrant"]):
        assert shown(*words, "--version").splitlines()[0] == f"calibrant {calibrant.__version__}"


# What is public


PUBLIC = {name: importlib.import_module(f"calibrant.{name}") for name in PACKAGES}


@pytest.mark.parametrize("name", homes())
def test_every_public_name_resolves_to_an_object_of_that_name(name):
    assert load(name).__name__ == name


def test_every_public_name_is_in_exactly_one_package():
    names = [name for package in PUBLIC.values() for name in package.__all__]
    assert sorted(names) == sorted(homes())
    assert set(calibrant.__all__) <= set(names)


@pytest.mark.parametrize("package", [calibrant, *PUBLIC.values()], ids=lambda p: p.__name__)
def test_public_names_are_listed_once_and_shown_by_dir(package):
    assert len(set(package.__all__)) == len(package.__all__)
    assert set(package.__all__) <= set(dir(package))
    assert [name for name in dir(package) if not hasattr(package, name)] == []


FRONT_DOOR = 60
"""Names at the front door; later issues may make room for ten more."""


def test_the_front_door_is_small_and_its_names_are_those_of_their_packages():
    assert len(calibrant.__all__) <= FRONT_DOOR
    assert {n for n in dir(calibrant) if not n.startswith("_")} == {*calibrant.__all__, *PACKAGES}
    assert [name for name in calibrant.__all__ if getattr(calibrant, name) is not load(name)] == []


def test_no_module_has_the_name_of_something_public_in_its_package():
    """Python would put the module in its place when it is loaded."""
    assert {f"{home}.{name}" for name, home in homes().items()} & set(MODULES) == set()


# A name that is not there


@pytest.mark.parametrize("package", ["calibrant", "calibrant.metrics"])
def test_an_import_from_the_wrong_place_names_the_right_one(package):
    message = "kuiper_test is in calibrant.significance: from calibrant.significance import kuiper_test"
    with pytest.raises(ImportError, match=f"{re.escape(message)}$"):
        exec(f"from {package} import kuiper_test")


def test_an_attribute_of_the_wrong_place_or_misspelt_names_the_right_one():
    with pytest.raises(AttributeError, match="log_loss is in calibrant: from calibrant import log_loss"):
        _ = calibrant.curves.log_loss
    assert not hasattr(calibrant.curves, "log_loss")
    with pytest.raises(AttributeError, match="Did you mean hosmer_lemeshow_test"):
        _ = calibrant.hosmer_lemenshow_test


def test_a_module_is_imported_though_its_name_is_nearly_one_of_a_function():
    assert where("reliability").startswith("Did you mean")
    statement = "from calibrant.curves import reliability; print(reliability.__name__)"
    assert shown(sys.executable, "-c", statement) == "calibrant.curves.reliability\n"


WORDS_ONLY = {"accuracy", "roc-auc"}
"""Metrics that scikit-learn has as well; `assess` has them under these words."""

REGISTERED = [entry for kind in HOMES for entry in entries(kind).values() if entry.name not in WORDS_ONLY]


@pytest.mark.parametrize("entry", REGISTERED, ids=lambda e: f"{e.kind} {e.name}")
def test_every_registered_thing_is_public(entry):
    assert load(entry.target.__name__) is entry.target


def test_the_package_is_marked_as_typed():
    assert Path(calibrant.__file__).with_name("py.typed").is_file()


# How its modules hang together


def test_the_layer_contract_has_no_exception():
    layers, circles = PROJECT["tool"]["importlinter"]["contracts"]
    assert layers["ignore_imports"] == layers["exhaustive_ignores"] == circles["ignore_imports"] == []


# Documentation


def public_objects():
    """Dotted names of public objects and of what public classes add; an override is documented where it is declared."""
    for name in homes():
        target = load(name)
        yield f"{target.__module__}.{name}"
        if inspect.isclass(target):
            for member, value in vars(target).items():
                own = not any(hasattr(base, member) for base in target.__mro__[1:])
                if own and not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
                    yield f"{target.__module__}.{name}.{member}"


@pytest.mark.parametrize("name", list(public_objects()))
def test_every_public_object_is_documented_as_numpydoc_asks(name):
    checks = PROJECT["tool"]["numpydoc_validation"]["checks"]
    assert "all" in checks  # then the other entries are exceptions
    found = numpydoc.validate.validate(name)
    assert found["docstring"], "no docstring"
    target = numpydoc.validate.Validator._load_obj(name)
    # The parameters of a result are its attributes, and documented as such (see the next test).
    spared = {*checks, "PR01"} if dataclasses.is_dataclass(target) and "Attributes\n" in target.__doc__ else checks
    assert [error for error in found["errors"] if error[0] not in spared] == []


@pytest.mark.parametrize("name", [name for name in homes() if dataclasses.is_dataclass(load(name))])
def test_every_field_of_a_public_dataclass_is_documented(name):
    target = load(name)
    documented = re.findall(r"^([\w, ]+) : ", inspect.getdoc(target), flags=re.M)
    assert {f.name for f in dataclasses.fields(target)} <= {n for line in documented for n in line.split(", ")}


@pytest.mark.usefixtures("unsettled")
@pytest.mark.parametrize("name", [n for n in MODULES if not n.endswith("__main__")])
def test_every_example_runs(name, monkeypatch, tmp_path):
    pytest.importorskip("matplotlib").use("agg")
    monkeypatch.chdir(tmp_path)
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0


# Project


def test_the_citation_is_of_this_version_and_of_papers_that_the_documentation_names():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {calibrant.__version__}\n" in text
    assert f"\nlicense: {PROJECT['project']['license']}\n" in text
    assert f"\n  - name: {PROJECT['project']['authors'][0]['name']}\n" in text
    pages = " ".join(page.read_text(encoding="utf-8") for page in ROOT.glob("docs/*.md")).lower()
    pages = " ".join(pages.split())
    titles = re.findall(r"^    title: \"?(.*?)\"?$", text, flags=re.M)
    assert len(titles) == 5
    assert [title for title in titles if title.lower().split(" on how")[0] not in pages] == []


def test_a_fragment_of_the_changelog_is_of_a_kind_that_its_readme_names():
    kinds = re.findall(r"`N\.(\w+)\.md`", (ROOT / "changelog.d" / "README.md").read_text())
    names = {path.name for path in (ROOT / "changelog.d").iterdir()} - {"README.md"}
    assert [name for name in names if not re.fullmatch(rf"\d+\.({'|'.join(kinds)})\.md", name)] == []


def test_every_requirement_states_its_oldest_version():
    form = r"[\w.-]+>=[\w.]+(,<[\w.]+)?(; python_version >= '[\d.]+')?|calibrant\[[\w,]+\]"
    lines = [*PROJECT["project"]["dependencies"], *EXTRA_LINES]
    assert [line for line in lines if not re.fullmatch(form, line)] == []


def test_a_hint_and_an_extra_name_extras_that_exist_and_all_holds_what_users_can_add():
    named = set(",".join(re.findall(r"^calibrant\[([\w,]+)\]", "\n".join(EXTRA_LINES), flags=re.M)).split(","))
    hinted = {name for path in ROOT.glob("src/**/*.py") for name in re.findall(r"calibrant\[(\w+)\]", path.read_text())}
    assert hinted
    assert named | hinted <= set(EXTRAS)
    held = re.search(r"calibrant\[([\w,]+)\]", EXTRAS["all"][0])[1].split(",")
    assert hinted - {"dask", "spark", "duckdb", "cluster"} <= set(held)  # who has rows in an engine has the engine
    assert "calibrant[all]" in EXTRAS["test"]


def test_the_minimum_versions_are_those_that_the_project_states():
    extras = ("plot", "report", "table", "sql", "onnx", "all", "dask", "duckdb", "test")
    stated = [*PROJECT["project"]["dependencies"], *(line for extra in extras for line in EXTRAS[extra])]
    least = {line.replace(">=", "==") for line in stated if not line.startswith("calibrant[")}
    assert sorted(shown(sys.executable, ROOT / "tools" / "minimum_versions.py").split()) == sorted(least)
