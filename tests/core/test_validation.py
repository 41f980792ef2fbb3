"""Bad input is refused in four parts: what must hold, what was given, where, what to do. Good input of any kind is the same."""

import re

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from calibrant import assess, calibration_error, expected_calibration_error, reliability_curve
from calibrant._core.border import as_problem
from calibrant._core.checks import as_numbers
from calibrant._core.rows import BEYOND

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
    ([0, 1], [0.5, -2.0], {}, "y_prob must hold probabilities in [0, 1]; got -2 at index 1. If these are logits"),
    (Y, changed(P, (0, 1), -0.1), {}, "got -0.1 at index (0, 1). If these are logits"),
    (Y, changed(P, (2, 0), 0.4), {}, "rows of y_prob must sum to one within 0.001; got 1.2 in row 2. Pass"),
    (Y, changed(P, (0, 0), 0.501 + BEYOND + 1e-9), {}, "sum to one"),
    (Y, changed(P, (0, 0), 0.499 - BEYOND - 1e-9), {}, "sum to one"),
    (Y, changed(P, 1, 0.0), NORMALIZE, "must have a positive sum to be normalised; got 0 in row 1. Drop this row"),
    (Y, changed(P, (0, 2), np.nan), {}, "y_prob must be finite; got nan at index (0, 2). Drop or correct"),
    (Y, changed(P, (0, 2), -np.inf), LOGIT, "y_prob must be finite; got -inf at index (0, 2)"),
    ([0, 1], pl.DataFrame({"a": [0.5, None], "b": HALVES}), {}, "y_prob must be finite; got nan at index (1, 0)"),
    ([0, 1], [[0, 1], [-1e200, 0]], LOGIT, "must be at most 1e+100 in size; got -1e+200 at index (1, 0). Divide them"),
    ([0, 7, 1], P, {}, "y_true must be among the columns 0..2; got 7 at index 1. If the classes are numbered"),
    ([1, 2, 3], P, {}, "got 3 at index 2. If the classes are numbered otherwise, pass labels=range(1, 4)"),
    (["a", "d", "c"], P, ABC, "among the classes 'a', 'b', 'c'; got 'd' at index 1. Check labels="),
    (Y, P, ABC, "among the classes 'a', 'b', 'c'; got 0 at index 0, and 2 more. Check labels="),
    (
        ["a", "b", "a"],
        P,
        {},
        "as many distinct labels as y_prob has columns, or labels= must name them; got 2 ('a', 'b') for 3",
    ),
    (Y, P, {"labels": ["a", "b"]}, "must name each of the 3 columns once; got ['a', 'b']. Pass them in column order"),
    (Y, P, {"labels": ["a", "b", "b"]}, "must name each of the 3 columns once; got ['a', 'b', 'b']"),
    (Y, P, {"labels": {7}}, "the class of each of the 3 columns; got {7}. A set has no order. Pass a list"),
    ([0, 1], COLUMN, {"labels": "ab"}, "labels must be a sequence, the class of each of the 2 columns; got 'ab'"),
    ([0.0, 0.5, 2.0], P, {}, "class labels: integers, strings or booleans; got 0.5 at index 1"),
    ([0.0, 1.0, np.nan], P, {}, "class labels: integers, strings or booleans; got nan at index 2"),
    ([1e300, 1.0], COLUMN, {}, "class labels: integers, strings or booleans; got 1e+300 at index 0"),
    ([0.2, 0.7], [0, 1], {}, "got 0.2 at index 0, and 1 more. Unknown label type: continuous or NaN. If this is the"),
    ([1, -(10**400)], COLUMN, {}, "y_true must hold labels within the range of float64"),
    (P, Y, {}, "y_true must have one dimension, a label a row; got shape (3, 3)"),
    (np.eye(3), P, {}, "If it is one-hot encoded, pass y_true.argmax(axis=1)"),
    ([0, 1], P, {}, "must have the same number of rows; got 2 and 3. Pass one label a row"),
    ([], [], {}, "y_true must hold at least one label; got none. Check how the table was read"),
    (Y, np.empty((0, 3)), {}, "y_prob must hold at least one row; got shape (0, 3). Check how the table was read"),
    ([0, 1], [[0.2], [0.7]], {}, "y_prob must have at least 2 columns when it is a table; got 1. Pass the column"),
    (Y, P[None], {}, "y_prob must have one or two dimensions; got shape (1, 3, 3). Reshape"),
    (Y, [[0.5, 0.5], [1.0]], {}, "rows must have equal lengths; got a ragged list"),
    (Y, [0.1, 0.2, 0.3], {}, "at most two labels when y_prob is one column; got 3 (0, 1, 2). Pass y_prob of shape"),
    (NO_YES, COLUMN, {}, "y_true must be 0 and 1 when y_prob is one column; got 'no', 'yes'. Say which label"),
    (NO_YES, COLUMN, {"pos_label": "maybe"}, "must be a label in y_true; got 'maybe', seen 'no', 'yes'. Pass one seen"),
    (Y, P, {"pos_label": 1}, "pos_label must be left out"),
    (
        [1, 0],
        COLUMN,
        {"pos_label": [0, 1]},
        "pos_label must be one label: an integer, a string or a boolean; got [0, 1]",
    ),
    ([1, 0], [HALVES] * 2, {"pos_label": {}}, "pos_label must be one label: an integer, a string or a boolean; got {}"),
    (np.array([0, "b", 2], dtype=object), P, {}, "labels of one kind; got number and text, the odd one 'b' at index 1"),
    (np.array(["a", None, "c"], dtype=object), P, {}, "got NoneType and text, the odd one None at index 1. Missing"),
    (np.array(["2026-01-01"] * 3, dtype="M8[D]"), P, {}, "integers, strings or booleans; got dtype datetime64[D]."),
    (Y, [["a", "b", "c"]] * 3, {}, "y_prob must hold numbers; got 'a' (str) at index (0, 0), and 8 more. Choose the"),
    (Y, csr_array(P), {}, "y_prob must be dense; got a sparse csr_array. Sparse input is not supported: call"),
    (Y, P + 0j, {}, "y_prob must hold real numbers; got dtype complex128. Complex data not supported"),
    (Y, P, {"input": "logits"}, "input must be 'probability' or 'logit'; got 'logits'. Say what y_prob holds"),
    (Y, P, {"n_bins": 10}, "sample_weight, labels, pos_label, input, rows, y_pred; got 'n_bins'. A number of bins is"),
    (Y, P, {"sample_weight": [0, 0, 0]}, "sample_weight must have a positive sum; got only zeros. Give some row a"),
    (Y, P, {"sample_weight": [1, 1, 1e-200]}, "sample_weight must be 0 or at least 1e-100; got 1e-200 at index 2"),
    (Y, P, {"sample_weight": [1, 1, 1e101]}, "must have a sum of at most 1e+100; it is more. Divide the weights"),
    ([0, 1], [HALVES] * 2, PAIR, "must be one column, of shape (n_samples,), where y_pred is given; got shape (2, 2)"),
    ([0, 1], HALVES, PAIR | {"pos_label": 1}, "pos_label must be left out where y_pred is given; got 1. The event"),
    ([0, 1], HALVES, {"y_pred": [0]}, "y_true and y_pred must have the same number of rows; got 2 and 1"),
    ([0, 1], HALVES, {"y_pred": ["a", "b"]}, "must hold labels of one kind; got numbers and text. If y_pred"),
    ([0, 1], HALVES, {"y_pred": [True, False]}, "labels of one kind; got numbers and booleans. If y_pred"),
    ([True, False], HALVES, PAIR, "got booleans and numbers. Pass the predicted class of each row, not whether it"),
    ([0, 1], HALVES, {"labels": [0, 1], "y_pred": [0, 2]}, "y_pred must be among the classes 0, 1; got 2 at index 1"),
    ([0, 1], HALVES, PAIR | {"labels": [0, 2]}, "y_true must be among the classes 0, 2; got 1 at index 1"),
    ([0, 1], HALVES, PAIR | {"labels": {7}}, "labels must be a sequence, each class; got {7}. A set has no order"),
    ([0, 1], HALVES, PAIR | {"labels": 2}, "labels must be a sequence, each class; got 2. Pass a list"),
    ([0, 1], HALVES, PAIR | {"labels": [0, 1, 1]}, "labels must name each class once; got [0, 1, 1]"),
    ([0, 1], HALVES, PAIR | {"labels": []}, "labels must name each class once; got []"),
    ([0, 1], HALVES, {"y_pred": [[0, 1], [1, 0]]}, "y_pred must have one dimension"),
    ([0, 1], HALVES, {"y_pred": [0.5, 1.0]}, "y_pred must hold class labels"),
]
OF_ANOTHER_TYPE = (
    "of one kind|be one label|be a sequence|must hold numbers|dense|keywords|integers, strings or booleans; got dtype"
)


@pytest.mark.parametrize(("y_true", "y_prob", "options", "words"), REFUSED, ids=[words[-40:] for *_, words in REFUSED])
def test_is_refused_in_four_parts(y_true, y_prob, options, words):
    with pytest.raises((ValueError, TypeError), match=re.escape(words)) as caught:
        expected_calibration_error(y_true, y_prob, **options)
    assert caught.type is (TypeError if re.search(OF_ANOTHER_TYPE, str(caught.value)) else ValueError)
    assert re.fullmatch(r"(?s).+ must .+; (got|it is) .+[.)] .+\.", str(caught.value))


@pytest.mark.parametrize("function", [calibration_error, reliability_curve, assess])
def test_every_entrance_refuses_alike(function):
    with pytest.raises(ValueError, match="pass input='logit'"):
        function(Y, changed(P, (0, 0), -2.0))


# Legal, if odd


@pytest.mark.parametrize("off", [1e-3 - 1e-9, -1e-3 + 1e-9])
def test_rows_within_the_tolerance_are_taken_as_they_are(off):
    table = changed(P, (0, 0), 0.5 + off)
    np.testing.assert_array_equal(as_problem(Y, table).prob, table)


@pytest.mark.parametrize("y_true", [[0, 0], [1, 1], [False, False], [True, True], [-1, -1]])
def test_one_class_only_is_fine_for_one_column(y_true):
    occurred = float(y_true[0] == 1)
    assert expected_calibration_error(y_true, [0.25, 0.25]) == abs(occurred - 0.25)


def test_a_class_absent_from_the_labels_is_fine_and_counted():
    assessment = assess([0, 0, 1], P, n_resamples=9)
    assert assessment.n_classes == 3
    assert assessment.class_weight == {"0": 2.0, "1": 1.0, "2": 0.0}


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
    far_apart = np.array([-100, 100], dtype=np.int8)
    assert as_problem(far_apart, [0.1, 0.9], pos_label=100).outcome.tolist() == [False, True]


def test_a_column_of_labels_may_be_a_table_of_one_column():
    assert as_problem(Y[:, None], P).label.tolist() == [0, 1, 2]


def test_numbers_that_only_overflow_in_their_sum_are_finite():
    assert as_numbers("y_prob", np.full((2, 2), 1e308)).tolist() == [[1e308, 1e308]] * 2


def test_doubles_are_not_copied():
    assert np.shares_memory(as_problem(Y, P).prob, P)


# A predicted class and its probability alone


def test_a_pair_is_one_event_with_the_predicted_classes_of_the_rows_that_count():
    problem = as_problem(
        ["b", "x", "a"], [0.7, 0.6, 0.5], y_pred=["b", "z", "b"], sample_weight=[2, 0, 1], labels=["z", "b", "a", "x"]
    )
    assert problem.score.tolist() == [0.7, 0.5]
    assert problem.outcome.tolist() == [True, False]
    assert problem.predicted.classes[problem.predicted.code].tolist() == ["b", "b"]
    assert problem.predicted.classes.tolist() == ["z", "b", "a", "x"]


def test_classes_of_a_pair_are_those_of_the_rows_that_count():
    problem = as_problem([1, 7, 0], [0.5] * 3, y_pred=[0, 8, 0], sample_weight=[1, 0, 1])
    assert problem.predicted.classes.tolist() == [0, 1]


def test_labels_of_a_pair_may_be_anything_that_is_listed_in_order():
    names = as_problem([0, 1], [0.5, 0.5], y_pred=[1, 1], labels=(k for k in (2, 1, 0))).predicted.classes
    assert names.tolist() == [2, 1, 0]


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
        (Tensor(), r"y_prob must be an array, .*got a Tensor \(Got unsupported.*\)\. Pass"),
        (Unreadable(), "^Got unsupported ScalarType BFloat16$"),
    ],
)
def test_a_tensor_that_numpy_cannot_read_is_told_how_to_become_an_array(given, said):
    with pytest.raises(TypeError, match=said):
        as_problem([0, 1, 1], given)
