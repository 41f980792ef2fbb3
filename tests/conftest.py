"""Profiles of Hypothesis, what is left to the deep tests, and where the real data sets lie."""

import gc
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("seeded", derandomize=True, deadline=None, max_examples=10)
settings.register_profile("few", derandomize=True, deadline=None, max_examples=5)
settings.register_profile("random", derandomize=False, deadline=None, max_examples=50, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "seeded"))


def pytest_sessionstart() -> None:
    """Look for no garbage while tests are collected: they are a million objects that stay."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.enable()  # without gc.freeze(): old Hypothesis then takes its registered generators for garbage


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to the deep tests all of a product of parameters but a diagonal: each value of each parameter once or more.

    Of a test marked ``first(n)`` all but its first n cases are deep.
    """
    products = defaultdict(list)
    for item in items:
        if hasattr(item, "callspec"):
            products[item.nodeid.partition("[")[0]].append(item)
    for same in products.values():
        if (of := same[0].get_closest_marker("first")) is not None:
            for item in same[of.args[0] :]:
                item.add_marker("deep")
            continue
        places = [places_on_axes(axis, same) for axis in axes_of(same[0])]
        longest = max(places, key=max)
        for i, item in enumerate(same):
            if any(place[i] != longest[i] % (1 + max(place)) for place in places):
                item.add_marker("deep")


def axes_of(item: pytest.Function) -> list[list[str]]:
    """Return the names that each `parametrize` gives values to, and each fixture with parameters by itself."""
    marked = [marker.args[0] for marker in item.iter_markers("parametrize")]
    axes = [[name.strip() for name in (names.split(",") if isinstance(names, str) else names)] for names in marked]
    return axes + [[name] for name in item.callspec.params if not any(name in axis for axis in axes)]


def places_on_axes(axis: list[str], items: list[pytest.Function]) -> list[int]:
    """Return which of the values of an axis each test has, by the order in which they first occur."""
    values = [tuple(id(item.callspec.params[name]) for name in axis) for item in items]
    order = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return [order[value] for value in values]


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of the data sets: $CALIBRANT_DATA, or shared/data beside the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("CALIBRANT_DATA", beside))
    if not (folder / "cifar10_resnet50.npz").is_file():
        pytest.skip(f"no data sets in {folder}; set CALIBRANT_DATA")
    return folder


@pytest.fixture
def unsettled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pictures be drawn without laying them out until nothing moves, which takes nine tenths of their time."""
    monkeypatch.setattr("calibrant.drawing.settle", lambda *_: None)


@pytest.fixture
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a page compare its forecasts by a tenth of the draws, which take most of its time."""
    monkeypatch.setattr("calibrant.assessment.comparison.DRAWS", 100)


@pytest.fixture
def bare_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the default calibrator of few rows be fitted alone: within `SafeCalibrator` it takes six times as long."""
    for name in ("SAFE_BELOW", "SAFE_BELOW_OF_TWO"):
        monkeypatch.setattr(f"calibrant.calibrators.classifier.{name}", 0)


@pytest.fixture(autouse=True)
def no_figure_stays_open() -> Iterator[None]:
    """Close what a test has drawn: matplotlib warns of more than 20 open figures, in whichever test draws the next."""
    yield
    if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
        pyplot.close("all")
