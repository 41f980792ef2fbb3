"""Figures of another library: a change is reported, none where there is none, and draws may move by what draws explain."""

import numpy as np
import pytest

import calibrant
from tools import golden

OF = golden.problem(60, 1)


def recorded(function, **options):
    """Return what is stored of one call."""
    return {"call | rows": golden.recorded(lambda seed: golden.made(function, OF, options, seed))}


def sorts(old, new):
    return {one[0] for one in golden.differences(old, new)}


def near(factor):
    return lambda y_true, y_prob: factor * calibrant.expected_calibration_error(y_true, y_prob)


@pytest.mark.parametrize("function", [calibrant.expected_calibration_error, calibrant.reliability_curve])
def test_the_same_library_gives_the_same(function):
    assert golden.differences(recorded(function), recorded(function)) == []


@pytest.mark.parametrize(("factor", "changed"), [(1 + 1e-12, set()), (1 + 1e-8, {golden.VALUES})])
def test_a_value_that_changes_beyond_the_last_digits_is_reported(factor, changed, capsys):
    old, new = recorded(near(1.0)), recorded(near(factor))
    assert sorts(old, new) == changed
    assert golden.reported(golden.differences(old, new), most=3) == len(changed)
    assert ("call: 1\n    rows: : " in capsys.readouterr().out) == bool(changed)


def refusing(error):
    def function(y_true):
        raise error

    return function


def test_messages_are_reported_by_kind_and_by_text():
    old = recorded(refusing(ValueError("n must be 1; got 2.")))
    assert sorts(old, recorded(refusing(ValueError("n must be 1; got 3.")))) == {golden.TEXTS}
    assert sorts(old, recorded(refusing(TypeError("n must be 1; got 2.")))) == {golden.KINDS}
    assert golden.KINDS in sorts(old, recorded(near(1.0)))


def drawn(shift):
    def function(y_true, rng):
        return {"value": 0.5 + shift, "lower": np.random.default_rng(rng).random() + 10 * shift}

    return function


def test_what_is_drawn_is_not_compared_and_the_rest_is():
    old = recorded(drawn(0.0))
    assert sorts(old, recorded(drawn(0.0))) == set()
    found = golden.differences(old, recorded(drawn(0.1)))
    assert [(sort, path) for sort, _, path, *_ in found] == [(golden.VALUES, ".value")]


def test_a_call_that_is_gone_is_reported():
    old = recorded(near(1.0))
    assert sorts(old, {}) == sorts({}, old) == {golden.VALUES}


def test_every_registered_metric_test_and_calibrator_is_called():
    names = {name for name, _ in golden.calls(OF)}
    for kind in ("metric", "test"):
        assert {entry.target.__name__ for entry in golden.entries(kind).values()} - names <= {
            "accuracy",
            "area_under_roc",
        }
    assert set(golden.entries("metric")) <= names
    assert {f"calibrator {name}" for name in golden.entries("calibrator")} <= names
