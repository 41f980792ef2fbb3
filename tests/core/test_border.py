"""Bad input is refused in four parts: what must hold, what was given, where, what to do. Good input of any kind is the same."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import calibrant as cb
from calibrant import cli
from calibrant._core.arrays import as_array
from calibrant._core.border import as_labels, as_problem
from calibrant._core.checks import as_numbers
from calibrant._core.rows import BEYOND
from calibrant.calibrators.classifier import as_groups
from calibrant.curves import simplex_points
from calibrant.decisions import estimate_prior, shift_prior
from calibrant.interop.tables import write_table
from calibrant.metrics import epistemic_irreducible

Y = np.array([0, 1, 2])
P = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])


def changed(table, at, value):
    table = np.array(table, dtype=float)
    table[at] = value
    return table


ABC, LOGIT, NORMALIZE = {"labels": ["a", "b", "c"]}, {"input": "logit"}, {"rows": "normalize"}
HALVES, NO_YES, COLUMN, PAIR = [0.5, 0.5], ["no", "yes"], [0.1, 0.2], {"y_pred": [0, 0]}

REFUSED = [
    (Y, changed(changed(P, (1, 0), 3.1), (2, 1), -4.0), {}, "in [0, 1]; got 3.1 at index (1, 0), and 1 more. If"),
    ([0, 1], [[1e308, 1e308], [0.5, 0.5]], {}, "y_prob must hold probabilities in [0, 1]; got 1e+308 at index (0, 0)"),
    (Y, changed(P, (2, 0), 0.4), {}, "rows of y_prob must sum to one within 0.001; got 1.2 in row 2. Pass"),
    (Y, changed(P, (0, 0), 0.501 + BEYOND + 1e-9), {}, "sum to one"),
    (Y, changed(P, (0, 0), 0.499 - BEYOND - 1e-9), {}, "sum to one"),
    (Y, changed(P, 1, 0.0), NORMALIZE, "must have a positive sum to be normalised; got 0 in row 1. Drop this row"),
    (Y, changed(P, (0, 2), -np.inf), LOGIT, "y_prob must be finite; got -inf at index (0, 2)"),
    ([0, 1], [[0, 1], [-1e200, 0]], LOGIT, "must be at most 1e+100 in size; got -1e+200 at index (1, 0). Divide them"),
    ([0, 7, 1], P, {}, "y_true must be among the columns 0..2; got 7 at index 1. If the classes are numbered"),
    ([1, 2, 3], P, {}, "got 3 at index 2. If the classes are numbered otherwise, pass labels=range(1, 4)"),
    (["a", "d", "c"], P, ABC, "among the classes 'a', 'b', 'c'; got 'd' at index 1. Check labels="),
    (Y, P, ABC, "among the classes 'a', 'b', 'c'; got 0 at index 0, and 2 more. Check labels="),
    (["a", "b", "a"], P, {}, "labels as y_prob has columns, or labels= must name them; got 2 ('a', 'b') for 3"),
    (Y, P, {"labels": ["a", "b"]}, "must name each of the 3 columns once; got ['a', 'b']. Pass them in column order"),
    ([0.0, 0.5, 2.0], P, {}, "class labels: integers, strings or booleans; got 0.5 at index 1"),
    ([0.0, 1.0, np.nan], P, {}, "got nan at index 2. Unknown label type: continuous or NaN. Drop the rows without"),
    ([1e300, 1.0], COLUMN, {}, "class labels: integers, strings or booleans; got 1e+300 at index 0"),
    ([0.2, 0.7], [0, 1], {}, "got 0.2 at index 0, and 1 more. Unknown label type: continuous or NaN. If this is the"),
    ([1, -(10**400)], COLUMN, {}, "y_true must hold labels within the range of float64"),
    ({"a": 0, "b": 1}.values(), COLUMN, {}, "y_true must have one dimension, a label a row; got shape (). Pass a list"),
    (np.eye(3), P, {}, "a row; got shape (3, 3). If it is one-hot encoded, pass y_true.argmax(axis=1)"),
    ([0, 1], P, {}, "must have the same number of rows; got 2 and 3. Pass one label a row"),
    (Y, np.empty((0, 3)), {}, "y_prob must hold at least one row; got shape (0, 3). Check how the table was read"),
    ([0, 1], [[0.2], [0.7]], {}, "y_prob must have at least 2 columns when it is a table; got 1. Pass the column"),
    (Y, [[0.5, 0.5], [1.0]], {}, "rows must have equal lengths; got a ragged list"),
    (Y, [0.1, 0.2, 0.3], {}, "at most two labels when y_prob is one column; got 3 (0, 1, 2). Pass y_prob of shape"),
    (NO_YES, COLUMN, {}, "y_true must be 0 and 1 when y_prob is one column; got 'no', 'yes'. Say which label"),
    (NO_YES, COLUMN, {"pos_label": "maybe"}, "must be a label in y_true; got 'maybe', seen 'no', 'yes'. Pass one seen"),
    (Y, P, {"pos_label": 1}, "pos_label must be left out"),
    (Y, P + 0j, {}, "y_prob must hold real numbers; got dtype complex128. Complex data not supported"),
    (Y, P, {"sample_weight": [0, 0, 0]}, "sample_weight must have a positive sum; got only zeros. Give some row a"),
    (Y, P, {"sample_weight": [1, 1, 1e-200]}, "sample_weight must be 0 or at least 1e-100; got 1e-200 at index 2"),
    (Y, P, {"sample_weight": [1, 1, 1e101]}, "must have a sum of at most 1e+100; it is more. Divide the weights"),
    ([0, 1], [HALVES] * 2, PAIR, "must be one column, of shape (n_samples,), where y_pred is given; got shape (2, 2)"),
    ([0, 1], HALVES, PAIR | {"pos_label": 1}, "pos_label must be left out where y_pred is given; got 1. The event"),
    ([0, 1], HALVES, {"y_pred": [0]}, "y_true and y_pred must have the same number of rows; got 2 and 1"),
    ([0, 1], HALVES, {"labels": [0, 1], "y_pred": [0, 2]}, "y_pred must be among the classes 0, 1; got 2 at index 1"),
    ([0, 1], HALVES, PAIR | {"labels": [0, 2]}, "y_true must be among the classes 0, 2; got 1 at index 1"),
    ([0, 1], HALVES, PAIR | {"labels": [0, 1, 1]}, "labels must name each class once; got [0, 1, 1]"),
    ([0, 1], HALVES, PAIR | {"labels": []}, "labels must name each class once; got []"),
    ([0, 1], HALVES, {"y_pred": [[0, 1], [1, 0]]}, "y_pred must have one dimension"),
]
OF_TYPES = [
    (Y, P, {"normalize": True}, "got 'normalize'. Rows are divided by their sums with rows='normalize'."),
    (Y, P, {"rows": True}, "rows must be one of 'as-given', 'normalize', 'percent'; got True"),
    (Y, P, {"labels": {7}}, "the class of each of the 3 columns; got {7}. A set has no order. Pass a list"),
    ([0, 1], COLUMN, {"labels": "ab"}, "labels must be a sequence, the class of each of the 2 columns; got 'ab'"),
    ([1, 0], [HALVES] * 2, {"pos_label": {}}, "pos_label must be one label: an integer, a string or a boolean; got {}"),
    (np.array([0, "b", 2], dtype=object), P, {}, "labels of one kind; got number and text, the odd one 'b' at index 1"),
    (np.array(["a", None, "c"], dtype=object), P, {}, "got NoneType and text, the odd one None at index 1. Missing"),
    (np.array(["2026-01-01"] * 3, dtype="M8[D]"), P, {}, "integers, strings or booleans; got dtype datetime64[D]."),
    (Y, [["a", "b", "c"]] * 3, {}, "y_prob must hold numbers; got 'a' (str) at index (0, 0), and 8 more. Choose the"),
    (Y, csr_array(P), {}, "y_prob must be dense; got a sparse csr_array. Sparse input is not supported: call"),
    (Y, P, {"n_bins": 10}, "sample_weight, labels, pos_label, input, rows, y_pred; got 'n_bins'. A number of bins is"),
    ([0, 1], HALVES, {"y_pred": ["a", "b"]}, "must hold labels of one kind; got numbers and text. If y_pred"),
    ([True, False], HALVES, PAIR, "got booleans and numbers. Pass the predicted class of each row, not whether it"),
    ([0, 1], HALVES, PAIR | {"labels": {7}}, "labels must be a sequence, each class; got {7}. A set has no order"),
]


@pytest.mark.parametrize(
    ("error", "y_true", "y_prob", "options", "words"),
    [(ValueError, *row) for row in REFUSED] + [(TypeError, *row) for row in OF_TYPES],
    ids=[words[-40:] for *_, words in REFUSED + OF_TYPES],
)
def test_is_refused_in_four_parts(error, y_true, y_prob, options, words):
    with pytest.raises(error, match=re.escape(words)) as caught:
        cb.expected_calibration_error(y_true, y_prob, **options)
    assert re.fullmatch(r"(?s).+ must .+; (got|it is) .+[.)] .+\.", str(caught.value))


# Legal, if odd


@pytest.mark.parametrize("off", [1e-3 - 1e-9, -1e-3 + 1e-9])
def test_rows_within_the_tolerance_are_taken_as_they_are(off):
    table = changed(P, (0, 0), 0.5 + off)
    np.testing.assert_array_equal(as_problem(Y, table).prob, table)


@pytest.mark.parametrize("y_true", [[0, 0], [1, 1], [False, False], [True, True], [-1, -1]])
def test_one_class_only_is_fine_for_one_column(y_true):
    assert cb.expected_calibration_error(y_true, [0.25, 0.25]) == abs((y_true[0] == 1) - 0.25)


@pytest.mark.parametrize(
    ("y_true", "options", "outcome"),
    [
        ([0, 1], {}, [False, True]),
        ([-1, 1], {}, [False, True]),
        ([False, True], {}, [False, True]),
        ([0, 1], {"pos_label": 0}, [True, False]),
        (["no", "yes"], {"pos_label": "no"}, [True, False]),
        (["no", "yes"], {"labels": ["no", "yes"]}, [False, True]),
        (["no", "no"], {"pos_label": "yes", "labels": ["no", "yes"]}, [False, False]),
        (["yes", "no"], {"pos_label": "no", "labels": ["no", "yes"]}, [False, True]),
        (["no", "no"], {"pos_label": "yes"}, [False, False]),
        ([5, 9], {"pos_label": 9}, [False, True]),
    ],
)
def test_the_positive_label_of_one_column(y_true, options, outcome):
    assert as_problem(y_true, [0.1, 0.9], **options).outcome.tolist() == outcome


def test_labels_at_the_ends_of_a_small_type_do_not_overflow():
    assert as_problem(np.array([-100, 100], dtype=np.int8), [0.1, 0.9], pos_label=100).outcome.tolist() == [False, True]


def test_a_column_of_labels_may_be_a_table_of_one_column_and_doubles_are_not_copied():
    assert as_problem(Y[:, None], P).label.tolist() == [0, 1, 2]
    assert np.shares_memory(as_problem(Y, P).prob, P)


def test_numbers_that_only_overflow_in_their_sum_are_finite():
    assert as_numbers("y_prob", np.full((2, 2), 1e308)).tolist() == [[1e308, 1e308]] * 2


# A predicted class and its probability alone


def test_a_pair_is_one_event_with_the_predicted_classes_of_the_rows_that_count():
    pair = {"y_pred": list("bzb"), "sample_weight": [2, 0, 1], "labels": list("zbax")}
    problem = as_problem(list("bxa"), [0.7, 0.6, 0.5], **pair)
    assert problem.score.tolist() == [0.7, 0.5]
    assert problem.outcome.tolist() == [True, False]
    assert problem.predicted.classes[problem.predicted.code].tolist() == ["b", "b"]
    assert problem.predicted.classes.tolist() == ["z", "b", "a", "x"]


def test_classes_of_a_pair_are_those_of_the_rows_that_count_or_those_that_are_listed_in_order():
    pair = {"y_pred": [0, 8, 0], "sample_weight": [1, 0, 1]}
    assert as_problem([1, 7, 0], [0.5] * 3, **pair).predicted.classes.tolist() == [0, 1]
    listed = as_problem([0, 1], [0.5, 0.5], y_pred=[1, 1], labels=(k for k in (2, 1, 0)))
    assert listed.predicted.classes.tolist() == [2, 1, 0]


class Unreadable:
    """What NumPy cannot read, as a tensor of torch in bfloat16, on a GPU or with a gradient."""

    def __array__(self, *_, **__):
        raise TypeError("Got unsupported ScalarType BFloat16")


class Tensor(Unreadable):
    def detach(self):
        raise NotImplementedError


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (Tensor(), r"y_prob must be an array, .*got a Tensor \(Got unsupp.*\)\. Pass"),
        (Unreadable(), "^Got unsupported"),
    ],
)
def test_a_tensor_that_numpy_cannot_read_is_told_how_to_become_an_array(given, said):
    with pytest.raises(TypeError, match=said):
        as_problem([0, 1, 1], given)


# Percent, votes and rows that do not sum to one: what rows= makes of them, and that following a hint works


Y6 = np.array([0, 1, 2, 0, 1, 2])
PERCENT = np.array([50, 30, 20, 10, 80, 10, 20, 20, 60, 0, 100, 0, 33.3, 33.3, 33.4, 1.5, 0, 98.5]).reshape(6, 3)
P6 = PERCENT / 100
EVENT = np.array([0, 1, 1, 0, 0, 1])
SECOND = PERCENT[:, 1]


def as_read(y, values, **data):
    return as_problem(y, values, **data).prob if np.ndim(values) == 2 else as_problem(y, values, **data).score


# What rows= does


FORMS = {
    "float64": (PERCENT, P6),
    "float32": (PERCENT.astype(np.float32), P6),
    "whole numbers": (PERCENT[:4].astype(int), P6[:4]),
    "two columns": (np.column_stack([100 - SECOND, SECOND]), np.column_stack([100 - SECOND, SECOND]) / 100),
    "one column": (SECOND, SECOND / 100),
    "one column of rare events": (np.array([0.3, 0.9, 0.0, 0.1]), np.array([0.3, 0.9, 0.0, 0.1]) / 100),
}


@pytest.mark.parametrize(("given", "by_hand"), FORMS.values(), ids=FORMS)
def test_percent_is_what_dividing_by_hand_gives(given, by_hand):
    truth = (Y6 if by_hand.ndim == 2 and by_hand.shape[1] == 3 else EVENT)[: len(by_hand)]
    np.testing.assert_array_equal(as_read(truth, given, rows="percent"), by_hand)


FUNCTIONS = {
    "shift_prior": lambda p, **rows: shift_prior(p, old_prior=[1 / 3] * 3, new_prior=[0.5, 0.3, 0.2], **rows).tolist(),
    "estimate_prior": lambda p, **rows: estimate_prior(p, old_prior=[0.5, 0.3, 0.2], **rows).tolist(),
    "epistemic_irreducible": lambda p, **rows: list(epistemic_irreducible(Y6, p, P6, **rows).terms),
    "simplex_points": lambda p, **rows: simplex_points(Y6, p, P6, **rows).calibrated.tolist(),
    "a predicted class": lambda p, **rows: cb.expected_calibration_error(Y6, p.max(1), y_pred=p.argmax(1), **rows),
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_function_of_several_arrays_reads_percent_and_takes_what_stands_beside_as_probabilities(function):
    np.testing.assert_equal(function(PERCENT, rows="percent"), function(P6))


def test_percent_out_of_single_precision_is_put_back():
    table = np.array([[100.00001, -0.00001], [25.0, 75.0]])
    np.testing.assert_array_equal(as_read([0, 1], table, rows="percent"), [[1, 0], [0.25, 0.75]])


def test_votes_and_rounded_percent_are_divided_by_their_sums():
    votes = np.array([[7, 3, 0], [0, 5, 5], [340, 330, 330]])
    np.testing.assert_array_equal(as_read(Y6[:3], votes, rows="normalize"), divided(votes))
    np.testing.assert_allclose(as_read([0, 1], [[1e308, 1e308], [1e307, 3e307]], rows="normalize")[1], [0.25, 0.75])


# What it refuses


PERCENTS, SUMS, HOLED = {"rows": "percent"}, {"rows": "normalize"}, np.where(PERCENT == 80, np.nan, PERCENT)
REFUSED_ROWS = [
    (P6, {"rows": "sum"}, "rows must be one of 'as-given', 'normalize', 'percent'; got 'sum'"),
    (P6, {"rows": "percent", "input": "logit"}, "rows must not be 'percent' where input='logit'"),
    (PERCENT * 3, PERCENTS, "y_prob must hold percent in [0, 100]; got 150 at index"),
    (HOLED, PERCENTS, "y_prob must be finite; got nan at index (1, 1)"),
    (HOLED, SUMS, "y_prob must be finite; got nan at index (1, 1)"),
    (PERCENT - 40, SUMS, "divided by their sums; got -10 at index (0, 1), and 12 more. If these are logits, pass"),
    (PERCENT - np.eye(6, 3), PERCENTS, "100 percent within 0.1; got 99 in row 0, and 2 more. Pass rows='normalize'"),
]


@pytest.mark.parametrize(("values", "data", "words"), REFUSED_ROWS, ids=[words[-30:] for *_, words in REFUSED_ROWS])
def test_what_is_refused_says_what_must_hold(values, data, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        as_problem(Y6, values, **data)


# Hints: who sees them, what they say, and that following them works


def by(**data):
    """The arguments themselves, as keywords, with the same numbers."""
    return lambda values: (values, data)


def on(change):
    """The same call, of other numbers."""
    return lambda values: (change(values), {})


def divided(values):
    values = np.asarray(values, dtype=float)
    return values / values.sum(axis=1, keepdims=True)


def zeros_first(table):
    return np.vstack([np.zeros(table.shape[1]), table[1:]])


PASS_PERCENT = "If these are percent, pass rows='percent' to divide them by 100."
DIVIDE = "Pass rows='normalize' to divide each row by its sum."
LOGITS = "If these are logits, pass input='logit'."
DROP = "Drop the rows of zeros: they give no class a probability."
SEVERAL = "If each column is an event or a forecast of its own, take one column at a time."
CLASSES = "If these are predicted classes, pass the classifier's probabilities in their place."
LOGARITHMS = "If these are logarithms of probabilities, pass np.exp(y_prob)."
MANY = np.random.default_rng(0).dirichlet(np.full(300, 50.0), 6) * 100
SLIGHT = np.array([[1.02, -0.02, 0.0], [0.5, 0.3, 0.2]] * 3)
ROUNDED = PERCENT.round(0)[[0, 1, 4, 4, 4, 4]]
Z6 = np.array([[2.0, -1.0, 0.5]] * 6)
SIGMOIDS = np.array([[0.9, 0.8, 0.1], [0.1, 0.2, 0.1]] * 3)

CLIP = "If rounding or a regression put them there, pass np.clip(y_prob, 0, 1)."
VOTES, COUNTS = "If these are percent or counts, pass rows='normalize'", "If these are counts, pass rows='normalize'"
EACH = "to divide each row by its sum."
SHARES = "If these are shares of a sum, pass rows='normalize'"
CLIP_AND_DIVIDE = f"{CLIP.replace('1)', 'None)')} Then pass rows='normalize' {EACH}"
CORRECT = "Correct these values, or leave rows='percent' out."
THREE, RARE = EVENT[:3], np.array([1.02, 0.5, 0.1])
AS_PERCENT, SUMMED, LOGISTIC = by(rows="percent"), by(rows="normalize"), by(input="logit")
WITHOUT_FIRST, CLIPPED = (lambda v: (v[1:], PERCENTS)), on(lambda v: np.clip(v, 0, 1))
CLIPPED_ROWS = lambda v: (np.clip(v, 0, None), SUMS)  # noqa: E731


def logistic(*z):
    return 1 / (1 + np.exp(-np.array(z)))


# The numbers, the labels, the hint, what to do to follow it, and what must then be read.
HINTS = [
    (PERCENT, Y6, PASS_PERCENT, AS_PERCENT, P6),
    (SECOND, EVENT, PASS_PERCENT, AS_PERCENT, SECOND / 100),
    (SECOND[:4].astype(int), EVENT[:4], PASS_PERCENT, AS_PERCENT, SECOND[:4] / 100),
    (MANY, [0, 1, 2, 3, 4, 299], PASS_PERCENT, AS_PERCENT, MANY / 100),
    (zeros_first(PERCENT), Y6, f"{DROP} {PASS_PERCENT}", WITHOUT_FIRST, P6[1:]),
    (ROUNDED, Y6, f"If these are percent, pass rows='normalize' {EACH}", SUMMED, divided(ROUNDED)),
    (PERCENT[:4] / 10, Y6[:4], f"{VOTES} {EACH}", SUMMED, P6[:4]),
    (PERCENT * 5, Y6, f"{COUNTS} {EACH} {LOGITS}", SUMMED, P6),
    (SIGMOIDS * 100, Y6, f"{VOTES} {EACH} {SEVERAL}", lambda v: (v[:, 0], PERCENTS), SIGMOIDS[:, 0]),
    (SIGMOIDS, Y6, f"{SEVERAL} {SHARES} {EACH}", on(lambda v: v[:, 0]), SIGMOIDS[:, 0]),
    (P6 * 1.01, Y6, DIVIDE, SUMMED, P6),
    (P6 / 2, Y6, DIVIDE, SUMMED, P6),
    (zeros_first(P6), Y6, DROP, on(lambda v: v[1:]), P6[1:]),
    (zeros_first(P6 / 2), Y6, f"{DROP} {DIVIDE}", lambda v: (v[1:], SUMS), P6[1:]),
    (RARE, THREE, f"{CLIP} {PASS_PERCENT}", CLIPPED, [1.0, 0.5, 0.1]),
    (RARE, THREE, f"{CLIP} {PASS_PERCENT}", AS_PERCENT, RARE / 100),
    (np.array([-0.02, 0.5, 1.01]), THREE, f"{CLIP} {LOGITS}", CLIPPED, [0.0, 0.5, 1.0]),
    (SLIGHT, Y6, CLIP_AND_DIVIDE, CLIPPED_ROWS, divided(np.clip(SLIGHT, 0, None))),
    (SLIGHT * 100, Y6, CLIP_AND_DIVIDE, CLIPPED_ROWS, divided(np.clip(SLIGHT, 0, None))),
    (np.array([[1.0005, 0.0], [0.5, 0.5]]), [0, 1], DIVIDE, SUMMED, [[1.0, 0.0], [0.5, 0.5]]),
    (np.array([0, 1, 3, 2, 1, 0]), Y6, f"{CLASSES} {PASS_PERCENT}", on(lambda _: P6), P6),
    (Z6, Y6, LOGITS, LOGISTIC, np.exp(Z6) / np.exp(Z6).sum(axis=1, keepdims=True)),
    (np.array([-2.0, 0.0, 3.0]), THREE, LOGITS, LOGISTIC, logistic(-2, 0, 3)),
    (np.array([120.0, 0.0, 3.0]), THREE, LOGITS, LOGISTIC, logistic(120, 0, 3)),
    (np.log([0.1, 0.5, 0.9]), THREE, f"{LOGITS} {LOGARITHMS}", on(np.exp), [0.1, 0.5, 0.9]),
    (np.log(P6[:3]), Y6[:3], LOGITS, LOGISTIC, P6[:3]),
]
OF_PERCENT = [
    (ROUNDED, Y6, DIVIDE, SUMMED, divided(ROUNDED)),
    (P6, Y6, "If these are fractions of one and not percent, leave rows='percent' out.", by(), P6),
    (np.array([102.0, -2, 50]), THREE, CORRECT, lambda v: (np.clip(v, 0, 100), PERCENTS), [1, 0, 0.5]),
]


@pytest.mark.parametrize(
    ("rows", "values", "truth", "says", "followed", "expected"),
    [("as-given", *hint) for hint in HINTS] + [("percent", *hint) for hint in OF_PERCENT],
)
def test_a_hint_fits_the_numbers_and_following_it_works(rows, values, truth, says, followed, expected):
    labels = EVENT[: len(values)] if np.ndim(values) == 1 else truth
    with pytest.raises(ValueError, match="must") as refused:
        as_problem(labels, values, rows=rows)
    assert re.split(r"; got [^A-Z]*\. (?=[A-Z])", str(refused.value), maxsplit=1)[1] == says
    cured, data = followed(values)
    one_column = np.ndim(cured) == 1
    found = as_read((EVENT if one_column else np.asarray(truth))[-len(cured) :], cured, **data)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("beyond", [1e-7, 1e-6 * (1 - 1e-9)])
def test_what_single_precision_adds_is_no_reason_to_refuse(beyond):
    np.testing.assert_array_equal(as_read([0, 1], np.array([1 + beyond, -beyond])), [1.0, 0.0])


# Calibrators have no rows=


@pytest.mark.parametrize("make", [cb.TemperatureScaling, lambda: cb.ByNotion(cb.IsotonicCalibration())])
def test_a_calibrator_says_to_divide_percent_by_hand(make):
    fitted = make().fit(P6, Y6)
    for values, words in [
        (PERCENT, r"got 50 .*\. If these are percent, divide them by 100\.$"),
        (Z6, r"If these are logits, give the calibrator input='logit'\.$"),
        (P6 / 2, r"got 0\.5 in row 0, and 5 more\. Divide each row by its sum\.$"),
    ]:
        for refusing in (lambda values: make().fit(values, Y6), fitted.predict_proba):
            with pytest.raises(ValueError, match=words):
                refusing(values)


# The command line


def test_percent_of_logits_is_refused_and_so_are_both_options(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_table("z.csv", {"label": EVENT, "z_0": SECOND, "z_1": -SECOND})
    assert cli.main(["assess", "z.csv", "--percent"]) == 2
    said = "--percent must stand with probabilities; got logits. Name the columns with --prob, or leave --percent out."
    assert said in capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main(["assess", "z.csv", "--percent", "--normalize"])
    assert "not allowed with" in capsys.readouterr().err


# Text: a column of any table gives the labels that its cells give one by one, and the same refusals


COLUMNS = {
    "pandas str": lambda cells: pd.Series(cells, dtype="str", index=range(len(cells), 0, -1)),
    "pandas object": lambda cells: pd.Series(cells, dtype=object),
    "pandas category": lambda cells: pd.Series(pd.Categorical(cells)),
    "arrow dictionary": lambda cells: pd.Series(cells, dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
    "polars": lambda cells: pl.Series(cells, dtype=pl.String),
    "polars enum": lambda cells: pl.Series(cells, dtype=pl.Enum(sorted({c for c in cells if c is not None}))),
    "pyarrow chunks": lambda cells: pa.chunked_array([cells[:2], cells[2:]], pa.string()),
    "pyarrow chunks of dictionaries": lambda cells: pa.chunked_array(
        [pa.array(some, pa.string()).dictionary_encode() for some in (cells[:2], cells[2:])]
    ),
    "pyarrow slice": lambda cells: pa.array(["another", *cells], pa.string()).dictionary_encode().slice(1),
}

each_column = pytest.mark.parametrize("made", COLUMNS.values(), ids=list(COLUMNS))
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)


@settings(max_examples=20)
@given(cells=st.lists(words, min_size=1, max_size=12))
def test_words_are_those_of_the_cells_one_by_one(cells):
    expected = as_labels(np.array(cells, dtype=object))
    for name, made in COLUMNS.items():
        found = as_labels(made(cells))
        assert found.dtype == expected.dtype, name
        np.testing.assert_array_equal(found, expected, err_msg=name)


@each_column
def test_groups_and_classes_are_the_words(made):
    cells = ["b", "a", "c", "b", "a", "b"]
    assert as_groups(made(cells)).tolist() == cells
    prob = np.array([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]] * 3)
    assert cb.TemperatureScaling().fit(prob, made(cells)).classes_.tolist() == ["a", "b", "c"]


@each_column
def test_a_missing_word_is_refused_by_its_place_and_so_are_no_cells(made):
    with pytest.raises(ValueError, match=r"y_true must hold at least one label; got none\."):
        as_labels(made([]))
    with pytest.raises(TypeError, match=r"y_true must hold labels of one kind; got .*, the odd one .* at index 2\."):
        as_labels(made(["a", "b", None, "a"]))
    with pytest.raises(ValueError, match=r"groups must hold a group for each row; got a missing one at index 2\. Drop"):
        as_groups(made(["a", "b", None, "a"]))


def test_a_null_among_the_words_of_a_dictionary_is_refused_by_its_place():
    with pytest.raises(TypeError, match="the odd one None at index 1"):
        as_labels(pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array(["a", None])))


def test_categories_without_a_row_leave_no_trace():
    long = "x" * 1000
    for column in (
        pd.Series(pd.Categorical(["a", "b"], categories=["a", long, "b"])),
        pl.Series(["a", "b"], dtype=pl.Enum(["a", long, "b"])),
        pa.DictionaryArray.from_arrays(pa.array([0, 2]), pa.array(["a", long, "b"])),
    ):
        found = as_labels(column)
        assert found.dtype == np.dtype("<U1")
        assert found.tolist() == ["a", "b"]


@pytest.mark.parametrize("values", [[3, 1, 3], [True, False, True]])
def test_categories_that_are_no_words_stay_what_they_are(values):
    for column in (
        pd.Series(pd.Categorical(values)),
        pa.array(values).dictionary_encode() if values[0] is not True else pa.array(values),
    ):
        assert as_labels(column).tolist() == values
        assert as_labels(column).dtype.kind == np.array(values).dtype.kind


def test_words_beside_numbers_are_refused_as_in_a_list():
    for column in (pd.Series(["a", 1, "a"], dtype=object), pd.Series(pd.Categorical(["a", 1, "a"]))):
        with pytest.raises(TypeError, match=r"got number and text, the odd one 1 at index 1\."):
            as_labels(column)


def test_a_null_among_numbers_of_a_dictionary_is_refused_by_its_place():
    column = pa.chunked_array([pa.array([0.5, None]).dictionary_encode(), pa.array([0.25]).dictionary_encode()])
    for given_, place in ((column, "1"), (pa.table({"a": column}), r"\(1, 0\)")):
        with pytest.raises(ValueError, match=rf"y_prob must be finite; got nan at index {place}\. Drop"):
            as_numbers("y_prob", given_)
    whole = pa.chunked_array([pa.array([0.5, 0.5]).dictionary_encode(), pa.array([0.25]).dictionary_encode()])
    assert as_numbers("y_prob", whole).tolist() == [0.5, 0.5, 0.25]


# Numbers of pyarrow in a frame of pandas


def arrow_frame(**columns):
    return pd.DataFrame({name: pd.Series(cells, dtype=pd.ArrowDtype(kind)) for name, (cells, kind) in columns.items()})


numbers = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=20)
@given(rows=st.lists(st.tuples(numbers, st.integers(-(2**63), 2**63 - 1), st.booleans()), min_size=1, max_size=5))
def test_columns_of_arrow_numbers_are_the_numbers_of_the_cells(rows):
    a, b, c = map(list, zip(*rows, strict=True))
    table = arrow_frame(a=(a, pa.float64()), b=(b, pa.int64()), c=(c, pa.bool_()))
    for chosen in (["a"], ["b"], ["a", "b"], ["c", "a"], ["a", "b", "c"]):
        by_cells = as_numbers("y_prob", np.array(table[chosen].to_numpy(), dtype=object))
        np.testing.assert_array_equal(as_numbers("y_prob", table[chosen]), by_cells)
        mixed = table[chosen].assign(a=np.array(a), d=1.5)
        expected = np.column_stack([np.array(mixed[name].tolist(), dtype=object) for name in mixed])
        np.testing.assert_array_equal(as_numbers("y_prob", mixed), as_numbers("y_prob", expected))


def test_numbers_of_arrow_do_not_become_objects():
    table = arrow_frame(no=([0.25, 0.5], pa.float32()), yes=([0.75, 0.5], pa.float32()))
    assert as_array("y_prob", table).dtype == np.float32
    assert cb.IsotonicCalibration().fit(table, [0, 1]).feature_names_in_.tolist() == ["no", "yes"]


# Columns that are named after classes


TWELVE = np.random.default_rng(0).dirichlet(np.ones(12), 60)
LETTERS = np.array(list("abcdefghijkl"))
OF_TWELVE = np.arange(60) % 12
NAMES = {
    "whole numbers": (OF_TWELVE, lambda k: k),
    "spelled": (OF_TWELVE, str),
    "with a prefix": (OF_TWELVE, "p_{}".format),
    "from 1 on": (OF_TWELVE + 1, lambda k: f"p_{k + 1}"),
    "behind two prefixes": (OF_TWELVE, "prob_class_{}".format),
    "without a separator": (OF_TWELVE, "p_c{}".format),
    "with signs": (OF_TWELVE - 5, lambda k: f"p_{k - 5:+}"),
    "with exponents": ((OF_TWELVE + 1) * 1000, lambda k: f"p_{k + 1}e3"),
    "words": (LETTERS[OF_TWELVE], lambda k: LETTERS[k]),
    "words with a prefix": (LETTERS[OF_TWELVE], lambda k: f"p_{LETTERS[k]}"),
}
"""Labels, and the name of the column of each class, in the order of the classes."""


@pytest.mark.parametrize(("y", "name"), NAMES.values(), ids=NAMES)
def test_columns_that_are_named_after_classes_may_stand_in_any_order(y, name, tmp_path):
    table = pd.DataFrame(TWELVE, columns=[name(k) for k in range(12)])
    mixed = table[sorted(table.columns, key=str)[::-1]]
    expected = cb.log_loss(OF_TWELVE, TWELVE)
    assert cb.log_loss(y, mixed) == pytest.approx(expected, rel=1e-12)
    scaling = cb.VectorScaling().fit(mixed, y)
    assert scaling.classes_.tolist() == [y.tolist()[table.columns.get_loc(column)] for column in mixed.columns]
    whole, file = mixed.rename(columns=str).assign(label=y), tmp_path / "mixed.parquet"
    whole.to_parquet(file)
    read = cb.predictions(file, label="label", prob=list(whole.columns[:-1]))
    assert cb.log_loss(read) == pytest.approx(expected, rel=1e-12)


def test_levels_of_a_name_are_read_as_one_and_bytes_as_text():
    table = pd.DataFrame(TWELVE[:, ::-1], columns=pd.MultiIndex.from_product([["p"], LETTERS[::-1], [""]]))
    for words in (LETTERS, LETTERS.astype("S")):
        assert cb.log_loss(words[OF_TWELVE], table) == pytest.approx(cb.log_loss(OF_TWELVE, TWELVE), rel=1e-12)


def test_two_columns_of_truth_values_may_stand_in_any_order():
    table = pd.DataFrame({"True": COLUMN, "False": [0.9, 0.8]})
    assert cb.log_loss([True, False], table) == cb.log_loss([True, False], COLUMN)


def test_names_that_say_something_else_are_refused_and_those_that_say_nothing_are_none():
    table = pd.DataFrame(P, columns=[*"abc"])
    with pytest.raises(ValueError, match=r"got \['b', 'c', 'a'\] for columns named \['a', 'b', 'c'\]\. Pass them in"):
        cb.log_loss([*"abc"], table, labels=[*"bca"])
    with pytest.raises(
        ValueError, match=r"named after all of them; got columns \['a', 'b', 'c'\] and the label 'd'\. "
    ):
        cb.log_loss([*"abd"], table)
    expected = cb.log_loss(Y, P)
    assert cb.log_loss([*"xyz"], table) == cb.log_loss(Y, table[[*"abc"]]) == expected
    assert cb.assess([*"aab"], table, n_resamples=2).class_weight["c"] == 0  # a class that never came
    assert cb.log_loss([1, 2, 0], pd.DataFrame(P), labels=[1, 2, 0]) == expected  # pandas numbers what has no name
    assert cb.log_loss([*"bxa"], table, labels=[*"bxa"]) == expected
    assert cb.log_loss([*"bca"], P, labels=[*"bca"]) == cb.log_loss([*"abc"], table, labels=[*"abc"]) == expected
