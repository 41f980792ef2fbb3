"""What every public function of labels and a forecast, and every calibrator, refuses: in words, and before any work."""

import inspect
import re

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import calibrant
from calibrant import ByNotion
from calibrant._core.lazy import homes, load
from calibrant._core.registry import entries
from calibrant.calibrators import BinaryCalibrator

Y = np.array([0, 1, 1, 0, 1, 0, 1, 1])
P = np.array([0.2, 0.7, 0.9, 0.4, 0.6, 0.3, 0.1, 0.8])
W = np.ones(8)


def changed(array, at, value):
    array = np.array(array, dtype=object if isinstance(value, str) else float)
    array[at] = value
    return array


REFUSED = {
    "a missing probability": ({"y_prob": changed(P, 2, np.nan)}, r"y_prob must be finite; got nan at index 2"),
    "an infinite probability": ({"y_prob": changed(P, 2, np.inf)}, r"y_prob must be finite; got inf at index 2"),
    "a probability above one": (
        {"y_prob": changed(P, 3, 3.1)},
        r"y_prob must hold probabilities .*got 3\.1 at index 3.*percent",
    ),
    "a probability below zero": (
        {"y_prob": changed(P, 3, -0.2)},
        r"y_prob must hold probabilities .*got -0\.2 at index 3",
    ),
    "a word for a probability": ({"y_prob": changed(P, 3, "x")}, r"y_prob must hold numbers; got .*str"),
    "no row": ({"y_true": Y[:0], "y_prob": P[:0], "sample_weight": W[:0]}, r"at least one (row|label)|0 sample"),
    "rows of another number": ({"y_prob": P[:5]}, r"same number of rows; got 8 and 5"),
    "rows that sum to more than one": ({"y_prob": np.column_stack([P, P])}, r"sum to one"),
    "a table of tables": ({"y_prob": P.reshape(2, 2, 2)}, r"dim|shape|rows"),
    "a third label": ({"y_true": changed(Y, 2, 2).astype(int)}, r"two classes|pos_label|labels"),
    "half a label": ({"y_true": changed(Y, 2, 0.5)}, r"y_true must hold class labels|continuous"),
    "a missing label": ({"y_true": changed(Y, 2, np.nan)}, r"y_true must hold class labels|NaN"),
    "a negative weight": ({"sample_weight": changed(W, 4, -1.0)}, r"sample_weight must .*-1.* at index 4"),
    "a missing weight": ({"sample_weight": changed(W, 4, np.nan)}, r"sample_weight must .*nan.* at index 4"),
    "weights of zero": ({"sample_weight": 0.0 * W}, r"sample_weight must .*"),
    "weights of another number": ({"sample_weight": W[:3]}, r"sample_weight must .*3"),
    "one weight for all": (
        {"sample_weight": 2.0},
        r"sample_weight must have shape \(8,\); got \(\)\. Pass one weight a row",
    ),
    "labels= with one twice": ({"labels": [1, 1]}, r"labels must "),
    "labels= that is no sequence": ({"labels": 5}, r"labels must be a sequence.*; got 5\. [A-Z]"),
    "an unknown kind of input": ({"input": "odds"}, r"input must be "),
}

each_refused = pytest.mark.parametrize(("change", "message"), REFUSED.values(), ids=REFUSED)


PUBLIC = {
    name: load(name)
    for name in homes()
    if inspect.isfunction(load(name)) and list(inspect.signature(load(name)).parameters)[:2] == ["y_true", "y_prob"]
}
OF_TABLES = {"simplex_points"}
"""What takes three classes or more, and says so of one column once that is known to be valid."""

# What some functions cannot do without.
MORE = {"posterior": P, "calibrator": calibrant.calibrators.IsotonicRecursivePartitioning().fit(P, Y)}


def called(function, y_true, y_prob, **options):
    needed = {
        name: MORE[name]
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.default is parameter.empty and name in MORE
    }
    return function(y_true, y_prob, **needed, **options)


@pytest.mark.filterwarnings("ignore")
def test_what_is_refused_is_a_change_of_something_accepted():
    for name, function in PUBLIC.items():
        forecast = np.column_stack([P / 2, P / 2, 1 - P]) if name in OF_TABLES else P
        assert called(function, Y, forecast, sample_weight=W) is not None, name


@each_refused
@pytest.mark.parametrize("name", PUBLIC)
def test_a_function_refuses_with_what_must_hold_and_what_came(name, change, message):
    data = {"y_true": Y, "y_prob": P} | change
    with pytest.raises((ValueError, TypeError), match=f"(?s){message}"):
        called(PUBLIC[name], **data)


CALIBRATORS = {name: entry.target for name, entry in entries("calibrator").items()}
METHODS = CALIBRATORS | {
    f"{name} by class-wise": (lambda target=target: ByNotion(target(), "class-wise"))
    for name, target in CALIBRATORS.items()
    if issubclass(target, BinaryCalibrator)
}


@each_refused
@pytest.mark.parametrize("name", METHODS)
def test_fit_refuses_with_what_must_hold_and_what_came(name, change, message):
    data = {"y_true": Y, "y_prob": P, "sample_weight": None} | change
    options = {key: data.pop(key) for key in ("labels", "input") if key in data}
    calibrator = METHODS[name]().set_params(**options)
    with pytest.raises((ValueError, TypeError), match=f"(?s){message}"):
        calibrator.fit(data["y_prob"], data["y_true"], data["sample_weight"])
    assert "classes_" not in vars(calibrator), "a refused fit leaves nothing behind"


NONSENSE = {
    "a word": "nonsense",
    "a negative number": -1.5,
    "no number": np.nan,
    "a list": [1.0, 2.0],
    "an array": np.array([0.5, 0.5]),
    "a dictionary": {"a": 1},
    "true": True,
    "nothing": None,
}
REFUSED_ELSEWHERE = {"input", "labels", "calibrator", "random_state", "binning"}
SAYS_SO = {"true": r"\bbool\b", "nothing": r"\bNone\b|\boptional\b"}
"""Nonsense that is sense to some parameters, and the word in the type of these by which their documentation says so."""


def documented_type(target, parameter):
    """Return what stands behind the parameter's name in the docstring; names can share a line."""
    found = re.search(rf"^(?:\w+, )*{parameter}(?:, \w+)* : (.+)$", inspect.getdoc(target), re.MULTILINE)
    assert found, f"{parameter} of {target.__name__} must be documented; it is not"
    return found[1]


def nonsense_for_each_parameter(target, cases, but_for):
    """Yield each parameter with each case of nonsense that its documentation does not allow."""
    for parameter in sorted(set(inspect.signature(target).parameters) - but_for):
        says = documented_type(target, parameter)
        yield from ((parameter, case) for case in cases if not (case in SAYS_SO and re.search(SAYS_SO[case], says)))


@pytest.mark.parametrize(
    ("name", "parameter", "case"),
    [
        (name, *nonsense)
        for name, target in CALIBRATORS.items()
        for nonsense in nonsense_for_each_parameter(target, NONSENSE, REFUSED_ELSEWHERE)
    ],
)
def test_fit_refuses_a_parameter_with_what_must_hold_what_came_and_what_to_do(name, parameter, case):
    calibrator = CALIBRATORS[name]().set_params(**{parameter: NONSENSE[case]})
    with pytest.raises((ValueError, TypeError), match=rf"(?s){parameter} must .*; got .*\. [A-Z]"):
        calibrator.fit(P, Y)


OF_A_FUNCTION = ["a word", "a negative number", "no number", "a dictionary", "true"]
OF_ROWS = {"y_true", "y_prob", "y_pred", "pos_label", "sample_weight", "labels", "input", "rows", "data", "options"}
ASKED_ELSEWHERE = OF_ROWS | {*MORE, "rng", "progress", "metrics", "reference", "other_true", "other_prob"}
CALLED = {"binning": "(binning|n_bins)"}
"""What messages call a parameter: a number for a binning is a number of bins."""


@pytest.mark.parametrize("name", PUBLIC)
def test_a_function_refuses_an_option_with_what_must_hold_what_came_and_what_to_do(name):
    forecast = np.column_stack([P / 2, P / 2, 1 - P]) if name in OF_TABLES else P
    for parameter, case in nonsense_for_each_parameter(PUBLIC[name], OF_A_FUNCTION, ASKED_ELSEWHERE):
        with pytest.raises((ValueError, TypeError)) as caught:
            called(PUBLIC[name], Y, forecast, **{parameter: NONSENSE[case]})
        told = rf"(?s){CALLED.get(parameter, parameter)} must .*; got .*\. ['A-Z0-9]"
        assert re.search(told, str(caught.value)), (parameter, case, str(caught.value))


OUT_OF_RANGE = [
    ("safe", [{"n_folds": 1}, {"random_state": "x"}, {"random_state": -1}, {"calibrator": 3}, {"calibrator": "bta"}]),
    ("bbq", [{"spread": 0.5}, {"prior_rows": 0}]),
    ("histogram-binning", [{"smoothing": -1}, {"interior": 1}, {"delta": -0.1}, {"delta": 1.1}, {"random_state": -1}]),
    ("irp", [{"max_bins": 0}, {"softening": 1.0}]),
    ("isotonic", [{"finite": 1e-17}, {"finite": 0.5}]),
    ("platt", [{"smooth_targets": 1}]),
    ("scaling-binning", [{"calibrator": "sms"}, {"n_bins": 0}]),
    ("spline", [{"n_knots": 1}, {"n_knots": 2.5}]),
    ("cdf-spline", [{"n_knots": 1}, {"n_knots": 2.5}]),
    ("canonical-binning", [{"binning": 2.5}, {"interior": 1}]),
    ("matrix", [{"off_diagonal": -1e-9}, {"intercept": np.inf}]),
    ("svs", [{"rho": 1e300}, {"tau": 100.1}]),
    ("sms", [{"rho": 100.1}, {"tau": 1e300}]),
    ("evidence-scaling", [{"max_numbers": 0}]),
    ("scir", [{"epsilon": -1e-9}, {"progress": 1}]),
    ("na-fir", [{"smoothing": 1.5}, {"ridge": 1.1e6}, {"min_blocks": 0}, {"min_block_size": 0}, {"granularity": 0.0}]),
    ("multiclass-irp", [{"candidates": 0}, {"max_regions": 0}, {"softening": 1.0}, {"mixture": 1.0}, {"progress": 1}]),
    ("na-fir", [{"random_state": -1}, {"ridge": 0.1, "solver": "annealing"}]),
]


@pytest.mark.parametrize(
    ("name", "options"), [(name, options) for name, several in OUT_OF_RANGE for options in several], ids=str
)
def test_fit_refuses_what_lies_just_beyond_what_a_parameter_may_be(name, options):
    with pytest.raises((ValueError, TypeError), match=rf"(?s){next(iter(options))} must be .*; got .*\. [A-Z]"):
        CALIBRATORS[name]().set_params(**options).fit(P, Y)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", ["a missing probability", "a probability above one", "a word for a probability"])
@pytest.mark.parametrize("name", METHODS)
def test_calibrate_refuses_with_what_must_hold_and_what_came(name, case):
    change, message = REFUSED[case]
    calibrator = METHODS[name]().fit(P, Y)
    with pytest.raises((ValueError, TypeError), match=f"(?s){message}"):
        calibrator.calibrate(change["y_prob"])
    with pytest.raises(ValueError, match=r"must have 2 columns|expecting 1 feature"):
        calibrator.calibrate(np.full((4, 3), 1 / 3))


@pytest.mark.parametrize("name", METHODS)
def test_calibrate_before_fit_is_refused(name):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        METHODS[name]().calibrate(P)
