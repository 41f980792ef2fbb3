"""calibrant says what its peers say, and is right where they are not. The peers' answers are stored: none is needed here.

tools/make_peer_figures.py asked the peers; agreement.toml and conformance.toml say what.
"""

import json
import tomllib
import warnings
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
AGREEMENT, CONFORMANCE = (tomllib.loads((HERE / f"{name}.toml").read_text()) for name in ("agreement", "conformance"))
STORED = json.loads((HERE / "figures.json").read_text())
FIGURES, OURS = AGREEMENT["figure"], AGREEMENT["calibrant"]["names"]
ANSWERED = [case for case in CONFORMANCE["case"] if case["calibrant"]]
QUESTIONS = [(grid["call"]["calibrant"], question) for grid in CONFORMANCE["grid"] for question in grid["question"]]


def rows(name):
    """An input; where a row stands for many, it is repeated."""
    data = {key: np.array(values) for key, values in STORED["inputs"][name].items()}
    times = data.pop("repeat", None)
    return data if times is None else {key: np.repeat(values, times, axis=0) for key, values in data.items()}


def says(names, given, expression):
    """Value of an expression, among the names and with the data given."""
    scope = {"np": np}
    exec(names, scope)
    exec(given, scope) if isinstance(given, str) else scope.update(given)
    with warnings.catch_warnings(action="ignore"):
        return eval(expression, scope)


def check(call, given, right):
    """The right value, or an error where there is none."""
    if right == "refuse":
        with pytest.raises((ValueError, TypeError)):
            says(OURS, given, call)
    else:
        np.testing.assert_allclose(says(OURS, given, call), right, rtol=0.0, atol=1e-8)


@pytest.mark.parametrize("figure", FIGURES, ids=[figure["name"] for figure in FIGURES])
def test_calibrant_says_what_its_peers_say(figure):
    value = says(OURS, rows(figure["input"]), figure["calibrant"])
    assert set(STORED["figures"][figure["name"]]) == set(figure["peers"])
    for peer, answer in STORED["figures"][figure["name"]].items():
        np.testing.assert_allclose(value, answer, rtol=0.0, atol=figure.get("tolerance", 1e-8), err_msg=peer)


@pytest.mark.parametrize(("call", "question"), QUESTIONS, ids=[question["name"] for _, question in QUESTIONS])
def test_calibrant_is_right_or_refuses(call, question):
    check(call, question["given"], question["right"])


@pytest.mark.parametrize("case", ANSWERED, ids=[case["name"] for case in ANSWERED])
def test_calibrant_is_right_where_a_peer_is_not(case):
    check(case["calibrant"], case["given"], case["right"])


def test_a_tolerance_wider_than_rounding_has_its_reason():
    for figure in FIGURES:
        assert ("tolerance" in figure) == ("reason" in figure), figure["name"]


def test_every_case_was_run():
    assert set(STORED["cases"]) == {case["name"] for case in CONFORMANCE["case"]}
    assert set(STORED["figures"]) == {figure["name"] for figure in FIGURES}
