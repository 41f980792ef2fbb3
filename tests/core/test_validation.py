"""Bad input is refused in four parts: what must hold, what was given, where, what to do. Good input of any kind is the same."""

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from calibrant import EqualWidth, assess, calibration_error, expected_calibration_error, reliability_curve
from calibrant._core.border import as_problem
from calibrant._core.rows import BEYOND, BinaryProblem, SimplexProblem
from calibrant.notions import Binary

Y = np.array([0, 1, 2])
P = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])


def changed(table, at, value):
    table = np.array(table, dtype=float)
    table[at] = value
    return table


@dataclass
class Bad:
    """A call, and the parts that its message must have."""

    claim: str
    must: str
    got: str
    where: str
    do: str
    y_true: Any = field(default_factory=lambda: Y)
    y_prob: Any = field(default_factory=lambda: P)
    options: dict[str, Any] = field(default_factory=dict)
    error: type[Exception] = ValueError


REFUSED = [
    Bad(
        "logits",
        "y_prob must hold probabilities in [0, 1]",
        "3.1",
        "at index (1, 0), and 1 more",
        "pass input='logit'",
        y_prob=changed(changed(P, (1, 0), 3.1), (2, 1), -4.0),
    ),
    Bad(
        "logits of one column",
        "y_prob must hold probabilities in [0, 1]",
        "-2",
        "at index 1",
        "pass input='logit'",
        [0, 1],
        [0.5, -2.0],
    ),
    Bad(
        "rows that do not sum to one",
        "rows of y_prob must sum to one within 0.001",
        "1.2",
        "in row 2",
        "rows='normalize'",
        y_prob=changed(P, (2, 0), 0.4),
    ),
    Bad(
        "a row of zeros to be normalised",
        "must have a positive sum",
        "0",
        "in row 1",
        "Drop this row",
        y_prob=changed(P, 1, 0.0),
        options={"rows": "normalize"},
    ),
    Bad("NaN", "y_prob must be finite", "nan", "at index (0, 2)", "Drop or correct", y_prob=changed(P, (0, 2), np.nan)),
    Bad(
        "infinity",
        "y_prob must be finite",
        "inf",
        "at index (0, 2)",
        "Drop or correct",
        y_prob=changed(P, (0, 2), np.inf),
    ),
    Bad(
        "an infinite logit",
        "y_prob must be finite",
        "-inf",
        "at index (0, 2)",
        "Drop or correct",
        y_prob=changed(P, (0, 2), -np.inf),
        options={"input": "logit"},
    ),
    Bad(
        "a negative probability",
        "must hold probabilities in [0, 1]",
        "-0.1",
        "at index (0, 1)",
        "If these are logits",
        y_prob=changed(P, (0, 1), -0.1),
    ),
    Bad(
        "labels not among the columns",
        "y_true must be among the columns 0..2",
        "7",
        "at index 1",
        "pass labels=",
        y_true=[0, 7, 1],
    ),
    Bad(
        "labels counted from one",
        "y_true must be among the columns 0..2",
        "3",
        "at index 2",
        "pass labels=range(1, 4)",
        y_true=[1, 2, 3],
    ),
    Bad(
        "labels not among those named",
        "y_true must be among the classes 'a', 'b', 'c'",
        "'d'",
        "at index 1",
        "Check labels=",
        y_true=["a", "d", "c"],
        options={"labels": ["a", "b", "c"]},
    ),
    Bad(
        "numbers where the classes have names",
        "y_true must be among the classes 'a', 'b', 'c'",
        "0",
        "at index 0, and 2 more",
        "Check labels=",
        options={"labels": ["a", "b", "c"]},
    ),
    Bad(
        "fewer names than columns",
        "as many distinct labels as y_prob has columns",
        "2 ('a', 'b')",
        "for 3 columns",
        "Pass labels= in column order",
        y_true=["a", "b", "a"],
    ),
    Bad(
        "labels= of another length",
        "labels must name each of the 3 columns once",
        "['a', 'b']",
        "['a', 'b']",
        "in column order",
        options={"labels": ["a", "b"]},
    ),
    Bad(
        "labels= with one twice",
        "labels must name each of the 3 columns once",
        "['a', 'b', 'b']",
        "['a', 'b', 'b']",
        "in column order",
        options={"labels": ["a", "b", "b"]},
    ),
    Bad(
        "labels with a fraction",
        "y_true must hold class labels: integers, strings or booleans",
        "0.5",
        "at index 1",
        "metric(y_true, y_prob)",
        y_true=[0.0, 0.5, 2.0],
    ),
    Bad(
        "missing labels that are NaN",
        "y_true must hold class labels",
        "nan",
        "at index 2",
        "metric(y_true, y_prob)",
        y_true=[0.0, 1.0, np.nan],
    ),
    Bad(
        "labels too large to be integers",
        "y_true must hold class labels",
        "1e+300",
        "at index 0",
        "metric(y_true, y_prob)",
        [1e300, 1.0],
        [0.1, 0.2],
    ),
    Bad(
        "swapped arguments of one column",
        "y_true must hold class labels",
        "0.2",
        "at index 0, and 1 more",
        "the call is metric(y_true, y_prob)",
        [0.2, 0.7],
        [0, 1],
    ),
    Bad(
        "swapped arguments with a table",
        "y_true must have one dimension",
        "shape (3, 3)",
        "y_true",
        "the call is metric(y_true, y_prob)",
        P,
        Y,
    ),
    Bad(
        "one-hot labels",
        "y_true must have one dimension",
        "shape (3, 3)",
        "y_true",
        "pass y_true.argmax(axis=1)",
        y_true=np.eye(3),
    ),
    Bad(
        "lengths that differ",
        "must have the same number of rows",
        "2 and 3",
        "y_true and y_prob",
        "one label a row",
        [0, 1],
    ),
    Bad("no labels", "y_true must hold at least one label", "none", "y_true", "how the table was read", [], []),
    Bad(
        "no rows",
        "y_prob must hold at least one row",
        "shape (0, 3)",
        "y_prob",
        "how the table was read",
        y_prob=np.empty((0, 3)),
    ),
    Bad(
        "one column as a table",
        "y_prob must have at least 2 columns",
        "1",
        "y_prob",
        "Pass the column itself",
        [0, 1],
        [[0.2], [0.7]],
    ),
    Bad(
        "three dimensions",
        "y_prob must have one or two dimensions",
        "shape (1, 3, 3)",
        "y_prob",
        "Reshape",
        y_prob=P[None],
    ),
    Bad(
        "ragged rows", "rows must have equal lengths", "a ragged list", "rows", "Pass shape", y_prob=[[0.5, 0.5], [1.0]]
    ),
    Bad(
        "three labels for one column",
        "at most two labels when y_prob is one column",
        "3 (0, 1, 2)",
        "y_true",
        "of shape (n_samples, n_classes)",
        y_prob=[0.1, 0.2, 0.3],
    ),
    Bad(
        "names for one column",
        "y_true must be 0 and 1 when y_prob is one column",
        "'no', 'yes'",
        "y_true",
        "pos_label='yes'",
        ["no", "yes"],
        [0.1, 0.2],
    ),
    Bad(
        "an unseen positive label",
        "pos_label must be a label in y_true",
        "'maybe', seen 'no', 'yes'",
        "y_true",
        "Pass one seen",
        ["no", "yes"],
        [0.1, 0.2],
        {"pos_label": "maybe"},
    ),
    Bad(
        "labels of two kinds",
        "y_true must hold labels of one kind",
        "number and text",
        "y_true",
        "make all of them strings",
        np.array([0, "b", 2], dtype=object),
        error=TypeError,
    ),
    Bad(
        "missing labels",
        "y_true must hold labels of one kind",
        "NoneType and text",
        "y_true",
        "drop these rows",
        np.array(["a", None, "c"], dtype=object),
        error=TypeError,
    ),
    Bad(
        "dates as labels",
        "y_true must hold integers, strings or booleans",
        "dtype datetime64",
        "y_true",
        "Convert the labels",
        np.array(["2026-01-01"] * 3, dtype="datetime64[D]"),
        error=TypeError,
    ),
    Bad(
        "a table with text",
        "y_prob must hold numbers",
        "'a' (str)",
        "at index (0, 0), and 8 more",
        "Choose the numeric columns",
        y_prob=[["a", "b", "c"]] * 3,
        error=TypeError,
    ),
    Bad(
        "a sparse table",
        "y_prob must be dense",
        "a sparse csr_array",
        "y_prob",
        "call .toarray()",
        y_prob=csr_array(P),
        error=TypeError,
    ),
    Bad(
        "complex numbers",
        "y_prob must hold real numbers",
        "dtype complex128",
        "y_prob",
        "Complex data not supported",
        y_prob=P + 0j,
    ),
    Bad(
        "an unknown kind of input",
        "input must be 'probability' or 'logit'",
        "'logits'",
        "input",
        "Say what y_prob holds",
        options={"input": "logits"},
    ),
    Bad(
        "a negative weight",
        "sample_weight must not be negative",
        "-1",
        "at index 1",
        "Remove the rows",
        options={"sample_weight": [1, -1, 1]},
    ),
    Bad(
        "weights of another length",
        "sample_weight must have shape (3,)",
        "(2,)",
        "(3,)",
        "one weight a row",
        options={"sample_weight": [1, 1]},
    ),
    Bad(
        "no weight at all",
        "sample_weight must have a positive sum",
        "only zeros",
        "sample_weight",
        "Give some row a weight",
        options={"sample_weight": [0, 0, 0]},
    ),
    Bad(
        "a weight that is NaN",
        "sample_weight must be finite",
        "nan",
        "at index 2",
        "Drop or correct",
        options={"sample_weight": [1, 1, np.nan]},
    ),
]


@pytest.mark.parametrize("bad", REFUSED, ids=lambda bad: bad.claim)
def test_is_refused_in_four_parts(bad):
    with pytest.raises(bad.error) as caught:
        expected_calibration_error(bad.y_true, bad.y_prob, **bad.options)
    assert type(caught.value) is bad.error
    message = str(caught.value)
    what, _, rest = message.partition("; got ")
    assert bad.must in what
    assert rest.startswith(bad.got)
    assert bad.where in message
    advice = re.split(r"(?<=[^.]{2})\. |\. (?=[A-Z])", rest, maxsplit=1)[1]
    assert bad.do in advice
    assert message.endswith(".")


@pytest.mark.parametrize("function", [calibration_error, reliability_curve, assess])
def test_every_entrance_refuses_alike(function):
    with pytest.raises(ValueError, match="pass input='logit'"):
        function(Y, changed(P, (0, 0), -2.0))


# Legal, if odd


def test_rows_that_do_not_sum_to_one_are_divided_by_their_sum_on_demand():
    loose = P * np.array([[1.0], [0.5], [0.9]])
    np.testing.assert_allclose(as_problem(Y, loose, rows="normalize").prob, P)


@pytest.mark.parametrize("off", [1e-3 - 1e-9, -1e-3 + 1e-9])
def test_rows_within_the_tolerance_are_taken_as_they_are(off):
    table = changed(P, (0, 0), 0.5 + off)
    np.testing.assert_array_equal(as_problem(Y, table).prob, table)


@pytest.mark.parametrize("off", [1e-3 + BEYOND + 1e-9, -1e-3 - BEYOND - 1e-9])
def test_rows_beyond_the_tolerance_are_refused(off):
    with pytest.raises(ValueError, match="sum to one"):
        as_problem(Y, changed(P, (0, 0), 0.5 + off))


def test_logits_are_probabilities_once_they_are_declared():
    logit = np.log(P)
    problem = as_problem(Y, logit, input="logit")
    assert problem.forecast.is_logit
    np.testing.assert_allclose(problem.prob, P, rtol=1e-14)


def test_one_column_of_logits_goes_through_the_logistic_function():
    np.testing.assert_allclose(as_problem([0, 1], [0.0, np.log(3.0)], input="logit").score, [0.5, 0.75])


def test_logits_whose_squares_overflow_are_refused():
    with pytest.raises(
        ValueError, match=r"logits in y_prob must be at most 1e\+100 in size; got -1e\+200 at index \(1, 0\)"
    ):
        as_problem([0, 1], [[0.0, 1.0], [-1e200, 0.0]], input="logit")


def test_weights_whose_squares_vanish_are_refused():
    with pytest.raises(ValueError, match=r"sample_weight must be 0 or at least 1e-100; got 1e-200 at index 1"):
        as_problem([0, 1], [0.2, 0.7], sample_weight=[1.0, 1e-200])


@pytest.mark.parametrize("labels", [5, "ab"])
def test_labels_that_are_no_sequence_are_refused(labels):
    with pytest.raises(TypeError, match="labels must be a sequence, the class of each of the 2 columns; got"):
        as_problem([0, 1], [0.2, 0.7], labels=labels)


@pytest.mark.parametrize("y_true", [[0, 0], [1, 1], [False, False], [True, True], [-1, -1]])
def test_one_class_only_is_fine_for_one_column(y_true):
    occurred = float(y_true[0] == 1)
    assert expected_calibration_error(y_true, [0.25, 0.25]) == abs(occurred - 0.25)


@pytest.mark.parametrize("y_true", [[0, 0], [1, 1], [False, False], [True, True]])
def test_one_class_only_is_fine_for_a_table(y_true):
    found = as_problem(y_true, [[0.75, 0.25], [0.5, 0.5]])
    assert found.label.tolist() == [int(y) for y in y_true]


def test_a_class_absent_from_the_labels_is_fine_and_counted():
    assessment = assess([0, 0, 1], P, n_resamples=9)
    assert assessment.n_classes == 3
    assert assessment.class_weight == {"0": 2.0, "1": 1.0, "2": 0.0}


def test_a_single_row_is_fine():
    assert expected_calibration_error([1], [0.75]) == 0.25
    assert expected_calibration_error([1], [[0.25, 0.75]]) == 0.25


def test_the_number_of_classes_comes_from_the_columns():
    assert as_problem([0, 1, 0], P).classes.tolist() == [0, 1, 2]


def test_given_labels_name_the_columns_in_their_order():
    problem = as_problem(["b", "c", "a"], P, labels=["c", "a", "b"])
    assert problem.label.tolist() == [2, 0, 1]


def test_names_are_sorted_when_there_are_as_many_as_columns():
    assert as_problem(["b", "c", "a"], P).classes.tolist() == ["a", "b", "c"]


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


def test_a_positive_label_of_a_table_is_refused():
    with pytest.raises(ValueError, match="pos_label must be left out"):
        as_problem(Y, P, pos_label=1)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64, np.float32, np.float64, object])
def test_integer_labels_of_any_type_are_the_same(dtype):
    assert as_problem(Y.astype(dtype), P).label.tolist() == [0, 1, 2]


def test_labels_at_the_ends_of_a_small_type_do_not_overflow():
    far_apart = np.array([-100, 100], dtype=np.int8)
    assert as_problem(far_apart, [0.1, 0.9], pos_label=100).outcome.tolist() == [False, True]


def test_a_column_of_labels_may_be_a_table_of_one_column():
    assert as_problem(Y[:, None], P).label.tolist() == [0, 1, 2]


def test_rows_of_weight_zero_are_left_out():
    problem = as_problem(Y, P, sample_weight=[1, 0, 2])
    assert problem.label.tolist() == [0, 2]
    assert problem.weight.tolist() == [1.0, 2.0]


def test_a_broadcast_weight_counts():
    problem = as_problem([0, 1], [0.1, 0.9], sample_weight=np.broadcast_to(2.0, 2))
    assert EqualWidth(2)(problem).weight.tolist() == [2.0, 2.0]


def test_doubles_are_not_copied():
    assert np.shares_memory(as_problem(Y, P).prob, P)


# Containers


def read_only(array):
    copy = array.copy()
    copy.flags.writeable = False
    return copy


INDEX = [9, 9, 4]
CONTAINERS = {
    "lists": lambda a: a.tolist(),
    "tuples": lambda a: tuple(map(tuple, a.tolist())) if a.ndim == 2 else tuple(a.tolist()),
    "read-only": read_only,
    "fortran": np.asfortranarray,
    "strided": lambda a: np.repeat(a, 3, axis=0)[::3],
    "reversed twice": lambda a: a[::-1].copy()[::-1],
    "big-endian": lambda a: a.astype(a.dtype.newbyteorder(">")),
    "pandas": lambda a: (pd.DataFrame if a.ndim == 2 else pd.Series)(a, index=INDEX),
    "pandas nullable": lambda a: (pd.DataFrame if a.ndim == 2 else pd.Series)(a, index=INDEX).convert_dtypes(),
    "polars": lambda a: pl.DataFrame(a, schema=["a", "b", "c"]) if a.ndim == 2 else pl.Series(a),
    "pyarrow": lambda a: (
        pa.table({str(j): a[:, j] for j in range(a.shape[1])}) if a.ndim == 2 else pa.chunked_array([a[:1], a[1:]])
    ),
}

each_container = pytest.mark.parametrize("wrap", CONTAINERS.values(), ids=list(CONTAINERS))


@each_container
def test_a_table_in_any_container_is_the_same(wrap):
    problem = as_problem(wrap(Y), wrap(P), sample_weight=wrap(np.array([1.0, 2.0, 0.5])))
    assert isinstance(problem, SimplexProblem)
    np.testing.assert_array_equal(problem.prob, P)
    assert problem.label.tolist() == [0, 1, 2]
    assert problem.weight.tolist() == [1.0, 2.0, 0.5]


@each_container
def test_a_column_in_any_container_is_the_same(wrap):
    problem = as_problem(wrap(np.array([0, 1, 1])), wrap(P[:, 0]))
    assert isinstance(problem, BinaryProblem)
    np.testing.assert_array_equal(problem.score, P[:, 0])
    assert problem.outcome.tolist() == [False, True, True]


@pytest.mark.parametrize(
    "names",
    [
        ["a", "b", "c"],
        np.array(["a", "b", "c"], dtype=object),
        np.array(["a", "b", "c"], dtype=np.dtypes.StringDType()),
        pd.Series(["a", "b", "c"], index=INDEX),
        pd.Series(["a", "b", "c"], dtype="category"),
        pl.Series(["a", "b", "c"]),
        pl.Series(["a", "b", "c"], dtype=pl.Categorical),
        pa.chunked_array([["a", "b", "c"]]),
    ],
    ids=["list", "object", "StringDType", "pandas", "pandas category", "polars", "polars categorical", "pyarrow"],
)
def test_names_in_any_container_are_the_same(names):
    problem = as_problem(names, P, labels=["a", "b", "c"])
    assert problem.label.tolist() == [0, 1, 2]


def test_numbers_in_another_order_of_bytes_fall_into_the_same_bins():
    score = np.array([0.35, 0.05, 0.15, 0.6, 0.7, 0.45])
    for kind in ("f4", "f8"):
        swapped = np.dtype(kind).newbyteorder("S")
        for prob in (score, np.column_stack([1.0 - score, score])):
            problems = [as_problem([0, 1] * 3, prob.astype(dtype)) for dtype in (kind, swapped)]
            assert [one.precision for one in problems] == [np.dtype(kind)] * 2
            cut = [EqualWidth(20)(next(Binary().split(one))).count for one in problems]
            np.testing.assert_array_equal(*cut)


def test_single_precision_is_taken_for_the_number_that_it_is():
    single = P.astype(np.float32)
    np.testing.assert_array_equal(as_problem(Y, single).prob, single.astype(np.float64))


def test_a_missing_value_in_a_frame_is_refused():
    with pytest.raises(ValueError, match=r"y_prob must be finite; got nan at index \(1, 0\)"):
        as_problem([0, 1], pl.DataFrame({"a": [0.5, None], "b": [0.5, 0.5]}))


def test_weights_whose_squares_would_overflow_are_refused():
    with pytest.raises(ValueError, match=r"sum of at most 1e\+100; it is more\. Divide the weights"):
        expected_calibration_error([0, 1], [0.2, 0.7], sample_weight=[1e101, 1.0])


def test_a_probability_that_is_hardly_too_large_is_shown_with_its_digits():
    with pytest.raises(ValueError, match=r"got 1\.00001 at index 1"):
        expected_calibration_error([0, 1], [0.2, 1.00001])


@pytest.mark.parametrize("prob", [[1.0000001, 0.2], [[-1e-8, 1.00000004], [0.5, 0.5]]])
def test_what_single_precision_rounds_out_of_the_unit_interval_is_put_back(prob):
    problem = as_problem([1, 0], prob)
    scores = problem.score if isinstance(problem, BinaryProblem) else problem.prob
    assert scores.max() == 1.0
    assert scores.min() >= 0.0


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


def test_numbers_of_classes_may_be_unsigned():
    problem = as_problem(np.array([3, 2]), [0.5, 0.5], y_pred=np.array([3, 4], dtype=np.uint64))
    assert problem.outcome.tolist() == [True, False]
    assert problem.predicted.classes.tolist() == [2, 3, 4]
    assert problem.predicted.classes.dtype.kind in "iu"


def test_labels_of_a_pair_may_be_anything_that_is_listed_in_order():
    names = as_problem([0, 1], [0.5, 0.5], y_pred=[1, 1], labels=(k for k in (2, 1, 0))).predicted.classes
    assert names.tolist() == [2, 1, 0]


@pytest.mark.parametrize(
    ("y_prob", "options", "error", "message"),
    [
        (
            [[0.5, 0.5]] * 2,
            {},
            ValueError,
            r"y_prob must be one column, .*; got shape \(2, 2\)\. Pass the probability of",
        ),
        (
            [0.5, 0.5],
            {"pos_label": 1},
            ValueError,
            r"pos_label must be left out where y_pred is given; got 1\. The event",
        ),
        (
            [0.5, 0.5],
            {"y_pred": [0]},
            ValueError,
            r"y_true and y_pred must have the same number of rows; got 2 and 1\. P",
        ),
        (
            [0.5, 0.5],
            {"y_pred": ["a", "b"]},
            TypeError,
            r"must hold labels of one kind; got numbers and text\. If y_pred",
        ),
        ([0.5, 0.5], {"y_pred": [True, False]}, TypeError, r"labels of one kind; got numbers and booleans\. If y_pred"),
        (
            [0.5, 0.5],
            {"y_true": [True, False]},
            TypeError,
            r"got booleans and numbers\. Pass the predicted class of each row, not whether it was right",
        ),
        (
            [0.5, 0.5],
            {"labels": [0, 1], "y_pred": [0, 2], "sample_weight": [0, 1]},
            ValueError,
            r"y_pred must be among the classes 0, 1; got 2 at index 1\.",
        ),
        ([0.5, 0.5], {"labels": [0, 2]}, ValueError, r"y_true must be among the classes 0, 2; got 1 at index 1\."),
        (
            [0.5, 0.5],
            {"labels": {0, 1}},
            TypeError,
            r"labels must be a sequence, .*; got \{0, 1\}\. A set has no order\. Pass",
        ),
        ([0.5, 0.5], {"labels": 2}, TypeError, r"labels must be a sequence, each class; got 2\. Pass a list"),
        (
            [0.5, 0.5],
            {"labels": [0, 1, 1]},
            ValueError,
            r"labels must name each class once; got \[0, 1, 1\]\. Pass them",
        ),
        ([0.5, 0.5], {"labels": []}, ValueError, r"labels must name each class once; got \[\]\. Pass them"),
    ],
)
def test_what_is_no_pair_is_refused(y_prob, options, error, message):
    with pytest.raises(error, match=message):
        as_problem(**{"y_true": [0, 1], "y_prob": y_prob, "y_pred": [0, 0]} | options)


@pytest.mark.parametrize("y_prob", [[0.2, 0.7], [[0.8, 0.2], [0.3, 0.7]]], ids=["column", "table"])
@pytest.mark.parametrize("pos_label", [[0, 1], np.array([0, 1]), {}, object()], ids=["list", "array", "dict", "object"])
def test_the_label_of_the_event_is_one_label(y_prob, pos_label):
    with pytest.raises(TypeError, match=r"pos_label must be one label: .*; got .*\. Pass one of the labels\."):
        as_problem([1, 0], y_prob, pos_label=pos_label)


def test_a_label_beyond_all_floats_is_named():
    with pytest.raises(
        ValueError, match=r"y_true must hold labels within the range of float64.* at index 1\. Pass such"
    ):
        as_problem([1, -(10**400)], [0.2, 0.7])


def test_a_set_says_nothing_of_the_order_of_columns():
    with pytest.raises(
        TypeError, match=r"the class of each of the 3 columns; got \{.*\}\. A set has no order\. Pass a list"
    ):
        as_problem(Y, P, labels={0, 1, 2})


def test_an_unknown_keyword_is_named_with_those_that_exist():
    with pytest.raises(
        TypeError, match=r"sample_weight, labels, pos_label, input, rows, y_pred; got 'n_bins'.*binning=10"
    ):
        expected_calibration_error([0, 1], [0.2, 0.7], n_bins=10)


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
        (
            Tensor(),
            r"y_prob must be an array, .*got a Tensor \(Got unsupported.*\)\. Pass \.detach\(\)\.cpu\(\)\.numpy",
        ),
        (Unreadable(), "^Got unsupported ScalarType BFloat16$"),
    ],
)
def test_a_tensor_that_numpy_cannot_read_is_told_how_to_become_an_array(given, said):
    with pytest.raises(TypeError, match=said):
        as_problem([0, 1, 1], given)
