"""The fuzzer and the mutator of files see the faults that they are there to find, and find none in a few calls and files."""

from random import Random
from unittest.mock import Mock

import numpy as np
import pytest

import calibrant
from calibrant._core.lazy import homes
from tests.laws.test_saved_calibrators import SAVED
from tools import mutate_files
from tools.fuzz.__main__ import fuzz, judged
from tools.fuzz.calls import drawn_case, targets, undrawn
from tools.fuzz.case import Case
from tools.mutate_files import mutate, tables, write

ROWS = ("n = 3", "y = np.array([0, 1, 1])", "p = np.array([0.2, 0.7, 0.6])", "w = None", "q, t = p**2, y.copy()")


def test_something_is_known_to_draw_for_every_parameter_that_must_be_given():
    assert undrawn() == []


@pytest.mark.parametrize("name", ["expected_calibration_error", "PlattScaling", "plot_roc", "make_softmax_forecast"])
def test_every_kind_of_public_name_is_called(name):
    assert name in targets()
    assert f"{homes()[name]}.{name}(" in drawn_case(Random(0), name).call


def test_a_few_calls_break_no_law(capsys):
    names = ("expected_calibration_error", "brier_score_loss", "reliability_curve", "PlattScaling")
    count = fuzz(60, 5, names=names, most=40)
    assert (count.total(), count["broken"]) == (40, 0), capsys.readouterr().out
    assert count["accepted"] > 10
    assert count["refused"] > 3


counter = iter(range(100))
BROKEN = {
    "the input p was changed": lambda y, p: p.fill(0.5) or 0.1,
    "a warning that is not the library's": lambda y, p: float(np.log(np.zeros(1))[0] < 0.0),
    "the global state": lambda y, p: np.random.random(),  # noqa: NPY002
    "the message is not the library's": lambda y, p: np.zeros(3) @ np.zeros(2),
    "it raised KeyError": lambda y, p: {}["a"],
    "NaN in silence": lambda y, p: float("nan"),
    "outside of its range": lambda y, p: 1.5,
    "a second call gives another value": lambda y, p: next(counter) / 100,
    "it printed": lambda y, p: print("x") or 0.1,
}


@pytest.mark.parametrize(("fault", "function"), BROKEN.items(), ids=BROKEN)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_each_broken_law_is_seen(fault, function, monkeypatch):
    """Of a function that stands in the place of a metric."""
    monkeypatch.setattr(calibrant, "expected_calibration_error", function)
    _, faults = judged(Case("expected_calibration_error", ROWS, "calibrant.expected_calibration_error(y, p)"))
    assert fault in " ".join(faults)


# Files


def test_a_few_files_have_no_fault(tmp_path):
    count = mutate(60, 17, kept=tmp_path / "faults", most=36)
    assert count["refused"] + count["accepted"] == count.total() == 36
    assert count["accepted"] > 0


def test_what_nothing_has_happened_to_is_read(tmp_path):
    files = write(tmp_path)
    assert len(files) == 1 + len(SAVED) + 4 * len(tables())
    for path in files:
        if path.suffix in (".json", ".state") or "table0" in path.name:
            assert mutate_files.judged(path, "1") == ("accepted", []), path


def test_a_changed_state_that_is_read_is_a_fault(tmp_path, monkeypatch):
    state, *_ = write(tmp_path)
    for name in ("n_rows", "next_row"):
        state.write_text(state.read_text().replace(f'"{name}": 40', f'"{name}": 41'))
        assert mutate_files.judged(state, "0") == ("refused", [])
        monkeypatch.setattr(mutate_files, "calibrant", lambda command: 0)
        assert mutate_files.judged(state, "0") == ("accepted", ["a state that does not match its checksum was read"])
        monkeypatch.undo()


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (KeyError("x"), "KeyError came out"),
        (MemoryError(), "MemoryError came out"),
        (ValueError("no"), "an unclear refusal: 'no'"),
        (ValueError("x" * 2000 + "."), "an unclear refusal"),
        (ValueError("two\nlines."), "an unclear refusal"),
    ],
)
def test_an_error_that_is_no_refusal_is_a_fault(error, fault, tmp_path, monkeypatch):
    monkeypatch.setattr(mutate_files, "load_calibrator", Mock(side_effect=error))
    _, (found,) = mutate_files.judged(write(tmp_path)[1], "0")
    assert found.startswith(fault)
