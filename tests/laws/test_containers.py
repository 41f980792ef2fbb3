"""Whatever holds the numbers: the result is that of plain arrays, or the cell that cannot be used is refused by its place."""

import dataclasses
import inspect
import re
import warnings
from collections.abc import Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

import calibrant as ca
from calibrant._core.lazy import homes, load
from calibrant._core.registry import entries

ROW = 2
"""The row in which a cell is masked or missing."""

Y = np.array([0, 1, 1, 0, 1, 0, 1, 1])
P = np.array([0.25, 0.75, 0.875, 0.375, 0.5, 0.25, 0.125, 0.75])
W = np.array([1.0, 2.0, 1.0, 3.0, 1.0, 1.0, 2.0, 1.0])
TWO = np.column_stack([1.0 - P, P])
THREE = np.column_stack([P / 2, P / 2, 1.0 - P])
OF_THREE = np.array([0, 1, 2, 0, 1, 2, 2, 1])
GROUP = np.array([0, 0, 0, 0, 1, 1, 1, 1])


def tables_of(values):
    """Return rows or cells as the tables of three libraries hold them, by what these are called; None is missing."""
    is_table = isinstance(values[0], list)
    whole = all(isinstance(cell, int | None) for cell in np.ravel(np.array(values, dtype=object)).tolist())
    columns = {j: list(cells) for j, cells in enumerate(zip(*values, strict=True))} if is_table else {0: values}
    made = {}
    for dtype in ("Int64", "int64[pyarrow]") if whole else ("Float64", "float64[pyarrow]"):
        cells = {j: pd.Series(some, dtype=dtype, name=j) for j, some in columns.items()}
        made[dtype] = pd.DataFrame(cells) if is_table else cells[0]
    named = {str(j): some for j, some in columns.items()}
    made["polars"] = pl.DataFrame(named) if is_table else pl.Series(values)
    made["pyarrow"] = pa.table(named) if is_table else pa.array(values)
    if not is_table:
        made["chunked"] = pa.chunked_array([values[:ROW], values[ROW:]])
        made["dictionary"] = pa.array(values).dictionary_encode()
        made["category"] = pd.Series(values, dtype="category")
    return made


def accepted(plain):
    """Return the same numbers in other hands."""
    decimals = [[Decimal(cell) for cell in row] if isinstance(row, list) else Decimal(row) for row in plain.tolist()]
    return tables_of(plain.tolist()) | {
        "list": plain.tolist(),
        "unmasked": np.ma.array(plain),
        "object": plain.astype(object),
        "half precision": plain.astype(np.float16),
        "extended precision": plain.astype(np.longdouble),
        "other bytes": plain.astype(plain.dtype.newbyteorder()),
        "sparse": pd.DataFrame(plain).astype("Sparse") if plain.ndim == 2 else pd.Series(plain).astype("Sparse"),
        "decimal": decimals,
        "rows": list(plain),
    }


def refused(plain):
    """Return numbers of which one cannot be used, and what the message must say of it."""
    row = min(ROW, len(plain) - 1)
    cell = row if plain.ndim == 1 else (row, 0)
    mask = np.zeros(plain.shape, dtype=bool)
    mask[cell] = True
    holed = plain.astype(object)
    holed[cell] = None
    place = re.escape(str(cell))
    made = {name: (table, rf"index {place}") for name, table in tables_of(holed.tolist()).items()}
    masked = np.ma.array(plain, mask=mask)
    made["masked"] = (masked, rf"must not be masked; got a masked value at index {place}\. [A-Z]")
    made["rows with masks"] = (list(masked), rf"index {place}")
    made["None"] = (holed.tolist(), rf"index {place}")
    return made


def figures(result):
    """Return all numbers of a result, one after the other."""
    if dataclasses.is_dataclass(result):
        return figures([getattr(result, field.name) for field in dataclasses.fields(result)])
    if isinstance(result, Mapping):
        return figures(list(result.values()))
    if isinstance(result, (list, tuple)):
        return [number for part in result for number in figures(part)]
    if isinstance(result, (int, float, np.number, np.ndarray)) and np.asarray(result).dtype.kind in "bif":
        return np.ravel(np.asarray(result, dtype=float)).tolist()
    return []


def mapped(calibrator, X, y, sample_weight, new):
    return calibrator.fit(X, y, sample_weight).predict_proba(new)


def classified(y, sample_weight, groups):
    X = np.column_stack([P, P**2, np.arange(8)])
    made = ca.CalibratedClassifier(calibrator="temperature", cv=2)
    return made.fit(X, y, sample_weight=sample_weight, groups=groups).predict_proba(X)


ROWS = {"y_true": Y, "y_prob": P, "sample_weight": W}
OTHER = {"y_true": OF_THREE, "y_prob": THREE}
NAMES = {"X": "y_prob", "y": "y_true", "new": "y_prob"}
"""What messages call the parameters of estimators."""


def quiet(function, **data):
    with warnings.catch_warnings(action="ignore"):
        return function(**data)


METHODS = {name: entry.target for name, entry in entries("calibrator").items()}


class Masking(ClassifierMixin, BaseEstimator):
    """A classifier that masks what it is not sure of."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.ma.array(TWO, mask=TWO > 0.85)


def test_masked_probabilities_of_a_classifier_are_refused():
    said = r"predict_proba of Masking must not be masked; got a masked value at index \(2, 1\)"
    with pytest.raises(ValueError, match=said):
        ca.CalibratedClassifier(Masking().fit(TWO, Y), cv="prefit").fit(TWO, Y)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, None], r"labels must hold .* one kind; got NoneType and number, the odd one None at index 1\. Name every"),
        (["no", np.nan], r"labels must hold .* one kind; got number and text, the odd one nan at index 1\. Name every"),
        ([0.0, np.nan], r"labels must hold class labels: .*; got nan at index 1\."),
        (np.ma.array([0, 1], mask=[0, 1]), r"labels must not be masked; got a masked value at index 1\. Drop"),
    ],
)
def test_a_class_without_a_name_is_refused_by_its_place(labels, message):
    for refusing in (
        lambda: ca.brier_score_loss(Y, TWO, labels=labels),
        lambda: ca.TemperatureScaling(labels=labels).fit(TWO, Y),
        lambda: ca.decide(TWO, [[0, 1], [5, 0]], labels=labels),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            refusing()


@pytest.mark.parametrize(
    "table", [pd.DataFrame({"no": 1.0 - P, "yes": P > 0.5}), pl.DataFrame({"no": P <= 0.5, "yes": P > 0.5})]
)
def test_columns_of_truth_values_are_zeros_and_ones(table):
    plain = np.column_stack([np.asarray(table[name], dtype=float) for name in table.columns])
    exact = plain / plain.sum(axis=1, keepdims=True)
    assert ca.brier_score_loss(Y, table, rows="normalize", labels=[0, 1]) == ca.brier_score_loss(Y, exact)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            pl.DataFrame({"b": P}).lazy(),
            "y_prob must be in memory; got a LazyFrame. Pass calibrant.predictions(...) of it, or bring it into memory",
        ),
        (
            pd.DataFrame(TWO, columns=["a", "a"]),
            "columns of y_prob must have different names; got a table with one twice",
        ),
        ({"a": P}, "y_prob must hold numbers; got dict, which is no sequence of them. Pass an array, a list or a data"),
        ([*P[:-1].tolist(), 10**400], "y_prob must hold numbers up to 2e+308; got a larger one"),
    ],
)
def test_what_is_no_table_in_memory_is_refused_with_a_cure(given, message):
    for refusing in (lambda: ca.brier_score_loss(Y, given), lambda: ca.IsotonicCalibration().fit(given, Y)):
        with pytest.raises((ValueError, TypeError), match=re.escape(message)):
            refusing()


def test_a_column_of_lists_is_told_how_to_be_a_table():
    for column in (pd.Series(TWO.tolist()), pl.Series(TWO.tolist()), pa.array(TWO.tolist())):
        with pytest.raises(
            TypeError, match=r"Make a table of lists of one length first: np\.stack\(column\.to_list\(\)\)"
        ):
            ca.brier_score_loss(Y, column)
        listed = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()
        assert ca.brier_score_loss(Y, np.stack(listed)) == ca.brier_score_loss(Y, TWO)


# Kinds of columns: lists say which hold numbers, and which labels

WORDS = list("01101011")
SECONDS = [timedelta(seconds=int(word)) for word in WORDS]
DAYS = [date(2020, 1, 1 + int(word)) for word in WORDS]
TIMES = [time(int(word)) for word in WORDS]
LISTS, RECORDS = [[0.5]] * 8, [{"a": 0.5}] * 8


def in_arrow(arrays):
    """Return columns of Arrow, and pandas' of the same, by their types."""
    return {f"Arrow {a.type}": a for a in arrays} | {
        f"pandas {a.type}": pd.Series(a, dtype=pd.ArrowDtype(a.type)) for a in arrays
    }


TEXT = {
    "strings": np.array(WORDS),
    "StringDType": np.array(WORDS, dtype=np.dtypes.StringDType()),
    "bytes": np.array(WORDS).astype("S"),
    "a list of words": WORDS,
    "pandas text": pd.Series(WORDS),
    "pandas categories": pd.Series(WORDS, dtype="category"),
    "polars String": pl.Series(WORDS),
    "polars Categorical": pl.Series(WORDS, dtype=pl.Categorical),
    "polars Enum": pl.Series(WORDS, dtype=pl.Enum(["0", "1"])),
} | in_arrow([pa.array(WORDS), pa.array(WORDS, pa.large_string()), pa.array(WORDS).dictionary_encode()])
"""A column of each kind of words: labels may be words, numbers may not."""

NEITHER = {
    f"NumPy {dtype}": np.array([0, 1, 1, 0, 1, 0, 1, 1]).astype(dtype)
    for dtype in ("m8", "m8[s]", "m8[D]", "M8[s]", "M8[D]", "c8", "c16", "V8")
}
NEITHER |= in_arrow(
    [
        pa.array(SECONDS, pa.duration("s")),
        pa.array(SECONDS).dictionary_encode(),
        pa.array(DAYS),
        pa.array(DAYS).cast(pa.timestamp("s")),
        pa.array(TIMES, pa.time32("s")),
        pa.array([(1, 1, 1)] * 8, pa.month_day_nano_interval()),
        pa.array([b"0"] * 8),
        pa.array(LISTS),
        pa.array(RECORDS),
        pa.nulls(8),
    ]
)
NEITHER |= {
    "masked": np.ma.array(np.arange(8) % 2, mask=np.arange(8) < 2),
    "a list of timedelta64": [np.timedelta64(1, "s")] * 8,
    "objects of timedelta64": np.array([np.timedelta64(1, "s"), None], dtype=object)[[0] * 8],
    "a list of timedelta": SECONDS,
    "a list of dates": DAYS,
    "a list of complex numbers": [1j] * 8,
    "records": np.zeros(8, dtype=[("a", float)]),
    "pandas lengths of time": pd.Series(pd.to_timedelta(SECONDS)),
    "pandas times": pd.Series(pd.to_datetime(DAYS)),
    "pandas times of a zone": pd.Series(pd.to_datetime(DAYS).tz_localize("UTC")),
    "pandas periods": pd.Series(pd.PeriodIndex(DAYS, freq="D")),
    "pandas intervals": pd.Series(pd.interval_range(0, 8)),
    "pandas categories of lengths of time": pd.Series(SECONDS, dtype="category"),
    "polars Duration": pl.Series(SECONDS),
    "polars Date": pl.Series(DAYS),
    "polars Time": pl.Series(TIMES),
    "polars Binary": pl.Series([b"0"] * 8),
    "polars List": pl.Series(LISTS),
    "polars Struct": pl.Series(RECORDS),
    "polars Object": pl.Series([object()] * 8, dtype=pl.Object),
    "polars Int128": pl.Series([0] * 8, dtype=pl.Int128),
    "polars Null": pl.Series([None] * 8),
}
"""A column of each kind that holds neither numbers nor labels."""

COSTS = np.array([[0.0, 1.0], [5.0, 0.0]])
BASE = ROWS | {
    "posterior": P, "truth": TWO, "cost_matrix": COSTS, "threshold": P, "at": P, "thresholds": THREE[:3],
    "prob_a": P, "prob_b": P[::-1], "y_true_b": Y, "forecasts": P, "by": GROUP,
    "other_true": Y, "other_prob": P, "groups": GROUP,
    "old_true": Y, "old_prob": P, "old_weight": W, "old_prior": TWO[0], "new_prior": TWO[1],
    "class_weight": np.array([1.0, 2.0]), "kept": np.array([0.5, 1.0]),
}  # fmt: skip
"""What is passed to each parameter that takes an array, or may; ``train_prior`` has a test of its own."""
OF_THREE_CLASSES, OF_TWO = OTHER | {"sample_weight": W}, {"y_prob": TWO}
OTHERWISE = dict.fromkeys(
    ("decide", "shift_prior", "undo_class_weight", "undo_undersampling", "estimate_prior"), OF_TWO
)
OTHERWISE |= dict.fromkeys(("roc_surface", "volume_under_surface_score", "simplex_points"), OF_THREE_CLASSES)
"""Where that is something else."""
LABELS = ("y_true", "y_true_b", "old_true", "other_true", "groups", "by")
BESIDE = {
    "metric": "brier",
    "test": ca.spiegelhalter_test,
    "n_resamples": 5,
    "n_samples": 50,
    "points_per_bin": 10,
    "n": 9,
    "error": 0.1,
    "source": [(Y, P)],
    "n_bins": 5,
    "n_classes": 2,
    "cost_false_positive": 1.0,
    "cost_false_negative": 1.0,
    "curves": Y,
    "values": {"a": [1, 2], "b": [2, 1]},
    "estimator": GaussianNB(),
    "X": P[:, None],
}
CALIBRATOR = {"simplex_points": None}
CALIBRATOR |= dict.fromkeys(("simplex_map", "simplex_partition"), ca.calibrators.VectorScaling().fit(THREE, OF_THREE))
FITTED = ca.IsotonicCalibration().fit(P, Y)


def array_parameters(name):
    """Return an array for each parameter of a public function that takes one, and what else it is called with."""
    parameters = inspect.signature(load(name)).parameters
    always = ("class_weight", "kept", "y_true", "y_prob")
    takes = [p for p, facts in parameters.items() if "ArrayLike" in str(facts.annotation) or p in always]
    takes += ["sample_weight"] if takes and "data" in parameters else []
    arrays = {p: OTHERWISE.get(name, {}).get(p, BASE.get(p)) for p in takes}
    needed = {p for p, facts in parameters.items() if facts.default is facts.empty} | {"n_resamples"}
    beside = {p: BESIDE[p] for p in parameters if p in BESIDE and p in needed}
    beside |= {"calibrator": CALIBRATOR.get(name, FITTED)} if "calibrator" in parameters else {}
    own = {"rows_for": {"detect": 0.2}, "optimal_threshold": {"old_prior": 0.5, "new_prior": 0.2}}
    beside |= (own | {"optimism_corrected": {"metrics": ["brier"]}}).get(name, {})
    return {p: plain for p, plain in arrays.items() if plain is not None}, beside


TAKING_ARRAYS = [name for name in homes() if inspect.isfunction(load(name)) and array_parameters(name)[0]]
CALLS = {
    name: (partial(load(name), **beside), arrays)
    for name in TAKING_ARRAYS
    for arrays, beside in [array_parameters(name)]
    if not name.startswith("plot_")
}
LABELLED = {"labels": np.array([0, 1])}
CALLS |= {
    "calibration_error": (ca.calibration_error, ROWS | OTHERWISE["decide"] | LABELLED),
    "decide": (ca.decide, OTHERWISE["decide"] | LABELLED | {"cost_matrix": COSTS}),
    "predicted classes": (ca.top_label_calibration_error, {"y_true": OF_THREE, "y_prob": P, "y_pred": OF_THREE}),
    "within groups": (
        lambda groups: ca.calibration_error(Y, P, notion=ca.notions.WithinGroups(groups)),
        {"groups": GROUP},
    ),
    "shared class-wise": (
        lambda groups: ca.calibration_error(OF_THREE, THREE, notion=ca.notions.SharedClassWise(groups)),
        {"groups": np.array([0, 1, 1])},
    ),
    "calibrated classifier": (classified, {"y": Y, "sample_weight": W, "groups": np.arange(8) // 2}),
    "temperature": (partial(mapped, ca.TemperatureScaling()), {"X": TWO, "y": Y, "sample_weight": W, "new": TWO}),
    "isotonic": (partial(mapped, ca.IsotonicCalibration()), {"X": P, "y": Y, "sample_weight": W, "new": P}),
}


@pytest.mark.parametrize("name", CALLS)
def test_whatever_holds_the_numbers_gives_what_plain_arrays_give(name):
    function, data = CALLS[name]
    expected = figures(quiet(function, **data))
    assert expected
    for parameter, plain in data.items():
        for kind, held in accepted(plain).items():
            got = figures(quiet(function, **(data | {parameter: held})))
            np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-15, err_msg=f"{parameter} as {kind}")


@pytest.mark.parametrize("name", CALLS)
def test_a_cell_that_is_masked_or_missing_is_refused_by_its_place(name):
    function, data = CALLS[name]
    for parameter, plain in data.items():
        called = NAMES.get(parameter, parameter)
        for kind, (held, message) in refused(plain).items():
            with pytest.raises((ValueError, TypeError)) as caught:
                quiet(function, **(data | {parameter: held}))
            said = str(caught.value)
            as_wanted = re.search(rf"(?s)^{called}\b.* must .*; got .*{message}.*\. [A-Z]|{message}", said)
            assert as_wanted, (parameter, kind, said)
            assert said.startswith(called), (parameter, kind, said)


def shaped(held, plain):
    """Return a column as one of the length of an array, or as a table of its columns."""
    cut = held[: len(plain)]
    if plain.ndim == 1:
        return cut
    if isinstance(cut, list):
        return [[cell] * plain.shape[1] for cell in cut]
    if isinstance(cut, np.ndarray):
        return np.repeat(cut[:, None], plain.shape[1], axis=1)
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[type(cut).__module__.split(".")[0]]
    return make({str(j): cut for j in range(plain.shape[1])})


def refuses_kinds(name, parameter, plain, call):
    """Whether a call refuses each kind of column that holds no numbers, or no labels, in words about the parameter."""
    for kind, held in (NEITHER if NAMES.get(parameter, parameter) in LABELS else NEITHER | TEXT).items():
        with pytest.raises((ValueError, TypeError)) as caught:
            quiet(call, **{parameter: shaped(held, plain)})
        said = str(caught.value)
        wanted = rf"(?s)^{NAMES.get(parameter, parameter)} must .*; got .*\. [A-Z]|Complex data not supported"
        assert re.search(wanted, said), (parameter, kind, said)


@pytest.mark.parametrize("name", TAKING_ARRAYS)
def test_kinds_that_hold_no_numbers_are_refused_by_every_parameter_of_every_function(name):
    arrays, beside = array_parameters(name)
    assert quiet(load(name), **arrays, **beside) is not None
    for parameter, plain in arrays.items():
        refuses_kinds(name, parameter, plain, lambda **held: load(name)(**(arrays | held), **beside))


@pytest.mark.parametrize("name", METHODS)
def test_kinds_that_hold_no_numbers_are_refused_by_every_calibrator(name):
    rows = {"X": TWO, "y": Y, "sample_weight": W}
    for parameter, plain in rows.items():
        refuses_kinds(name, parameter, plain, lambda **held: METHODS[name]().fit(**(rows | held)))
    fitted = quiet(METHODS[name]().fit, X=TWO, y=Y)
    refuses_kinds(name, "X", TWO, fitted.predict_proba)


def test_a_length_of_time_in_place_of_a_number_has_a_way_out_that_works():
    times = np.array([0, 1000, 1000, 0], dtype="m8[ms]")
    said = r"divide by a unit of time first: np\.asarray\(times\) / np\.timedelta64\(1, 's'\)"
    with pytest.raises(TypeError, match=said):
        ca.log_loss([1, 0, 0, 1], times)
    held = [times, list(times), pd.Series(times), pl.Series(times), pa.array(times)]
    assert [ca.brier_score_loss([1, 0, 0, 1], np.asarray(one) / np.timedelta64(1, "s")) for one in held] == [1.0] * 5


def takes_numbers(name):
    """Return the parameters of a public function or estimator that take a single number."""
    if not (inspect.isfunction(load(name)) or hasattr(load(name), "fit")):
        return []
    found = [facts for facts in inspect.signature(load(name)).parameters.values() if facts.kind != facts.VAR_KEYWORD]
    return [facts.name for facts in found if re.search(r"\b(int|float)\b", str(facts.annotation))]


ASKS_ONE_QUESTION = "rows_for"
"""Of its numbers some exclude others."""
SINGLE = [
    (name, parameter)
    for name in homes()
    if name != ASKS_ONE_QUESTION and not name.startswith("plot_")
    for parameter in takes_numbers(name)
]


def called_with(name, parameter, value):
    if not inspect.isfunction(load(name)):
        return load(name)(**{parameter: value}).fit(TWO, Y)
    arrays, beside = array_parameters(name)
    return load(name)(**(arrays | beside | {parameter: value}))


@pytest.mark.parametrize("value", [np.timedelta64(1, "s"), pd.Timedelta(1, "s"), np.array(1, "m8[s]")], ids=repr)
def test_a_length_of_time_is_none_of_the_numbers_that_a_parameter_takes(value):
    assert len(SINGLE) > 150
    for name, parameter in SINGLE:
        with pytest.raises((ValueError, TypeError), match=rf"^({parameter}|n_bins|sizes)\b.* must .*; got .*\. \S"):
            quiet(called_with, name=name, parameter=parameter, value=value)
