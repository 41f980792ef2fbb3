"""Whoever is told to pass rows= can pass it: every public function gets rows off by too much."""

import inspect
import re

import numpy as np
import pytest

from calibrant import TemperatureScaling, decision_curve, plot_reliability, spiegelhalter_test
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.lazy import homes, load

RNG = np.random.default_rng(2)
P = RNG.uniform(0.05, 0.95, 40)
TABLE = np.column_stack([1 - P, P])
Y = (RNG.random(40) < P).astype(int)
VOTES, PERCENT = TABLE * 0.9, TABLE * 100
TABLES = ("y_prob", "prob_a", "prob_b", "old_prob")
BESIDE = {
    "y_true": Y,
    "old_true": Y,
    "calibrator": TemperatureScaling().fit(TABLE, Y),
    "old_prior": 0.5,
    "new_prior": 0.2,
    "class_weight": {0: 1.0, 1: 3.0},
    "kept": {0: 0.5, 1: 1.0},
    "groups": Y,
    "test": spiegelhalter_test,
    "posterior": TABLE,
    "bound": 0.2,
    "cost_matrix": 1.0 - np.eye(2),
    "curves": Y,
}
OF_ONE = {"rows_for": {"detect": 0.15}}
QUICK = {"n_resamples": 9}


FUNCTIONS = {
    name: load(name)
    for name in homes()
    if inspect.isfunction(load(name)) and {"y_prob", "prob_a"} & set(inspect.signature(load(name)).parameters)
}
"""Public functions of tables of probabilities."""


def arguments_of(function, **tables):
    parameters = inspect.signature(function).parameters
    known = BESIDE | OF_ONE.get(function.__name__, {}) | QUICK | dict.fromkeys(TABLES, TABLE) | tables
    needed = {n for n, p in parameters.items() if p.default is p.empty and p.kind is not p.VAR_KEYWORD}
    optional = {"y_true", "y_prob"} | ({"old_true", "old_prob"} if "old_prob" in tables else set())
    wanted = needed | ((set(QUICK) | optional | set(OF_ONE.get(function.__name__, {}))) & set(parameters))
    return {name: known[name] for name in wanted}


CASES = [
    (name, table)
    for name, function in FUNCTIONS.items()
    for table in TABLES
    if table in inspect.signature(function).parameters
]


def refusal(call, *given, **arguments):
    """The message about rows or range, or None where these are taken; other refusals are of no interest here."""
    try:
        call(*given, **arguments)
    except ValueError as error:
        return str(error) if re.search(r"must sum to|must hold probabilities in", str(error)) else None
    return None


def test_the_walk_reaches_the_functions_that_speak_of_probabilities():
    assert {"assess", "advise", "decide", "estimate_prior", "paired_test", "kernel_test"} <= set(FUNCTIONS)
    assert len(FUNCTIONS) > 80


@pytest.mark.filterwarnings("ignore::calibrant.exceptions.CalibrationWarning")
@pytest.mark.parametrize(("off", "word"), [(VOTES, "normalize"), (PERCENT, "percent")], ids=["votes", "percent"])
@pytest.mark.parametrize(("name", "table"), CASES, ids=[" ".join(case) for case in CASES])
def test_a_function_that_tells_to_pass_rows_takes_it_and_is_cured(name, table, off, word):
    function = FUNCTIONS[name]
    together = dict.fromkeys(TABLES, off) if table != "old_prob" else {"old_prob": off}
    told = refusal(function, **arguments_of(function, **together))
    assert told is not None
    if table in ("prob_a", "prob_b") and off is PERCENT:  # rows= is about both forecasts
        assert "divide them by 100" in told
        assert refusal(function, **arguments_of(function, **dict.fromkeys(TABLES, off / 100))) is None
        return
    (hinted,) = re.findall(r"rows='(\w+)'", told)
    assert hinted == word
    parameters = inspect.signature(function).parameters
    takes_data = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    assert "rows" in parameters or (takes_data and "rows" in DataOptions.__annotations__)
    both = dict.fromkeys(TABLES, off)  # what stands beside is of the same kind
    assert refusal(function, **arguments_of(function, **both), rows=hinted) is None


# Within 0.001


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_sum_of_0999_is_within_0001(dtype):
    """Of decimals: millionths whose sum in floating point lies on either side of the bound."""
    for total in (0.999, 1.001):
        for n_classes in (2, 3, 7, 10, 1000):
            parts = RNG.multinomial(round(total * 1e6), np.full(n_classes, 1 / n_classes), size=20)
            prob = np.array([[float(f"{part / 1e6:.6f}") for part in row] for row in parts], dtype=dtype)
            assert as_problem(np.arange(20) % n_classes, prob).size == 20
    assert as_problem([0, 1], [[33.3, 66.6], [66.6, 33.3]], rows="percent").size == 2


@pytest.mark.parametrize("function", [decision_curve, plot_reliability])
def test_of_several_forecasts_by_name_the_one_that_is_percent_is_named(function):
    """rows= would divide all of them."""
    with pytest.raises(ValueError, match=r"y_prob\['b'\] must hold .* If these are percent, divide them by 100\.$"):
        function(Y, {"a": P, "b": 100 * P})
    with pytest.raises(ValueError, match=r"y_prob\['b'\] must hold .* pass rows='percent'"):
        function(Y, {"b": 100 * P})
