"""The fuzzer sees broken laws, and a few of its calls pass."""

from random import Random

import numpy as np
import pytest

import calibrant
from calibrant._core.lazy import homes
from tools.fuzz.__main__ import fuzz, judged
from tools.fuzz.calls import drawn_case, targets, undrawn
from tools.fuzz.case import Case

ROWS = ("n = 3", "y = np.array([0, 1, 1])", "p = np.array([0.2, 0.7, 0.6])", "w = None", "q, t = p**2, y.copy()")


def test_something_is_known_to_draw_for_every_parameter_that_must_be_given():
    assert undrawn() == []


@pytest.mark.parametrize("name", ["expected_calibration_error", "PlattScaling", "plot_roc", "make_softmax_forecast"])
def test_every_kind_of_public_name_is_called(name):
    assert name in targets()
    assert f"{homes()[name]}.{name}(" in drawn_case(Random(0), name).call


def test_a_few_calls_break_no_law(capsys):
    count = fuzz(
        60, 5, names=("expected_calibration_error", "brier_score_loss", "reliability_curve", "PlattScaling"), most=40
    )
    assert (count["calls"], count["broken"]) == (40, 0), capsys.readouterr().out
    assert count["accepted"] > 10
    assert count["refused"] > 3


def wrong(monkeypatch, function):
    """Judge a call of a function that stands in the place of a metric."""
    monkeypatch.setattr(calibrant, "expected_calibration_error", function)
    return judged(Case("expected_calibration_error", ROWS, "calibrant.expected_calibration_error(y, p)"))


def changing(y, p):
    p[0] = 0.5
    return 0.1


def from_numpy(y, p):
    return np.zeros(3) @ np.zeros(2)


def warning(y, p):
    return float(np.log(np.zeros(1))[0] * 0 + 0.1)


def global_draw(y, p):
    np.random.random()  # noqa: NPY002
    return 0.1


counter = iter(range(100))
BROKEN = {
    "the input p was changed": changing,
    "a warning that is not the library's": warning,
    "the global state": global_draw,
    "the message is not the library's": from_numpy,
    "it raised KeyError": lambda y, p: {}["a"],
    "NaN in silence": lambda y, p: float("nan"),
    "outside of its range": lambda y, p: 1.5,
    "a second call gives another value": lambda y, p: next(counter) / 100,
    "it printed": lambda y, p: print("x") or 0.1,
}


@pytest.mark.parametrize(("fault", "function"), BROKEN.items(), ids=BROKEN)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_each_broken_law_is_seen(fault, function, monkeypatch):
    verdict = wrong(monkeypatch, function)
    assert verdict.outcome == "broken"
    assert fault in " ".join(verdict.faults)
