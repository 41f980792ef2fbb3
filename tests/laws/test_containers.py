"""Whatever holds the numbers: the result is that of plain arrays, or the cell that cannot be used is refused by its place."""

import dataclasses
import inspect
import re
import warnings
from collections.abc import Mapping
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

import calibrant as ca
from calibrant._core.elsewhere import homes, load
from calibrant._core.registry import entries
from calibrant.metrics.roc.areas import area_under_roc

ROW = 2
"""The row in which a cell is masked or missing."""

Y = np.array([0, 1, 1, 0, 1, 0, 1, 1])
P = np.array([0.25, 0.75, 0.875, 0.375, 0.5, 0.25, 0.125, 0.75])
W = np.array([1.0, 2.0, 1.0, 3.0, 1.0, 1.0, 2.0, 1.0])
TWO = np.column_stack([1.0 - P, P])
THREE = np.column_stack([P / 2, P / 2, 1.0 - P])
OF_THREE = np.array([0, 1, 2, 0, 1, 2, 2, 1])
GROUP = np.array([0, 0, 0, 0, 1, 1, 1, 1])


def column(name, values, dtype):
    """Return pandas cells of a dtype; None is missing."""
    return pd.Series(values, dtype=dtype, name=name)


def tables_of(values):
    """Return rows or cells as the tables of three libraries hold them, by what these are called; None is missing."""
    is_table = isinstance(values[0], list)
    whole = all(isinstance(cell, int | None) for cell in np.ravel(np.array(values, dtype=object)).tolist())
    columns = {j: list(cells) for j, cells in enumerate(zip(*values, strict=True))} if is_table else {0: values}
    made = {}
    for dtype in ("Int64", "int64[pyarrow]") if whole else ("Float64", "float64[pyarrow]"):
        cells = {j: column(j, some, dtype) for j, some in columns.items()}
        made[dtype] = pd.DataFrame(cells) if is_table else cells[0]
    named = {str(j): some for j, some in columns.items()}
    made["polars"] = pl.DataFrame(named) if is_table else pl.Series(values)
    made["pyarrow"] = pa.table(named) if is_table else pa.array(values)
    if not is_table:
        made["chunked"] = pa.chunked_array([values[:ROW], values[ROW:]])
    return made


def accepted(plain):
    """Return the same numbers in other hands."""
    decimals = [[Decimal(cell) for cell in row] if isinstance(row, list) else Decimal(row) for row in plain.tolist()]
    return tables_of(plain.tolist()) | {
        "list": plain.tolist(),
        "unmasked": np.ma.array(plain),
        "object": plain.astype(object),
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
    made["masked"] = (
        np.ma.array(plain, mask=mask),
        rf"must not be masked; got a masked value at index {place}\. [A-Z]",
    )
    made["rows with masks"] = (list(np.ma.array(plain, mask=mask)), rf"index {place}")
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
    return ca.CalibratedClassifier(cv=2).fit(X, y, sample_weight=sample_weight, groups=groups).predict_proba(X)


ROWS = {"y_true": Y, "y_prob": P, "sample_weight": W}
TABLE = {"y_true": Y, "y_prob": TWO, "sample_weight": W, "labels": np.array([0, 1])}
OTHER = {"y_true": OF_THREE, "y_prob": THREE}
CALLS = {
    "calibration_error": (ca.calibration_error, TABLE),
    "brier_score_loss": (ca.brier_score_loss, ROWS),
    "top_label_calibration_error": (
        ca.top_label_calibration_error,
        OTHER | {"y_true": OF_THREE, "y_prob": P, "y_pred": OF_THREE},
    ),
    "kernel_calibration_error": (ca.metrics.kernel_calibration_error, ROWS),
    "area_under_roc": (area_under_roc, TABLE),
    "corp_decomposition": (ca.metrics.corp_decomposition, ROWS),
    "epistemic_irreducible": (ca.metrics.epistemic_irreducible, {"y_true": Y, "y_prob": P, "posterior": P[::-1]}),
    "calibration_regret": (
        ca.decisions.calibration_regret,
        {"y_true": Y, "y_prob": TWO, "cost_matrix": np.array([[0.0, 1.0], [5.0, 0.0]]), "truth": TWO},
    ),
    "spiegelhalter_test": (ca.spiegelhalter_test, ROWS),
    "by_group": (lambda **data: ca.significance.by_group(ca.spiegelhalter_test, **data), ROWS | {"groups": GROUP}),
    "paired_difference": (
        lambda **data: ca.significance.paired_difference(metric="brier", **data),
        {"y_true": Y, "prob_a": P, "prob_b": P[::-1], "y_true_b": Y, "sample_weight": W},
    ),
    "reliability_curve": (ca.reliability_curve, ROWS),
    "roc_curve": (ca.curves.roc_curve, ROWS),
    "calibration_shift": (ca.curves.calibration_shift, {"y_prob": P, "calibrated": P**2, "y_true": Y}),
    "decision_curve": (ca.decision_curve, ROWS | {"threshold": np.array([0.125, 0.25, 0.5])}),
    "expected_cost_curve": (ca.decisions.expected_cost_curve, ROWS | {"at": np.array([0.125, 0.25, 0.5])}),
    "decide": (
        ca.decide,
        {"y_prob": TWO, "cost_matrix": np.array([[0.0, 1.0], [5.0, 0.0]]), "labels": np.array([0, 1])},
    ),
    "shift_prior": (
        ca.decisions.shift_prior,
        {"y_prob": THREE, "old_prior": np.array([0.25, 0.25, 0.5]), "new_prior": np.array([0.5, 0.25, 0.25])},
    ),
    "estimate_prior": (
        ca.decisions.estimate_prior,
        {
            "y_prob": TWO,
            "old_true": Y,
            "old_prob": TWO,
            "old_weight": W,
            "sample_weight": W,
            "labels": np.array([0, 1]),
        },
    ),
    "estimate_volume_under_surface": (ca.metrics.estimate_volume_under_surface, OTHER | {"thresholds": THREE[:3]}),
    "simplex_split": (
        lambda gamma: ca.curves.simplex_split(gamma, resolution=6),
        {"gamma": np.array([0.5, 0.25, 0.25])},
    ),
    "bin_sweep": (ca.curves.bin_sweep, {"n_bins": np.array([1, 2, 4]), "y_true": Y, "y_prob": P}),
    "within groups": (
        lambda groups: ca.calibration_error(Y, P, notion=ca.notions.WithinGroups(groups)),
        {"groups": GROUP},
    ),
    "shared class-wise": (
        lambda groups: ca.calibration_error(OF_THREE, THREE, notion=ca.notions.SharedClassWise(groups)),
        {"groups": np.array([0, 1, 1])},
    ),
    "calibrated classifier": (classified, {"y": Y, "sample_weight": W, "groups": np.arange(8) // 2}),
} | {
    name: (
        lambda calibrator=calibrator, **data: mapped(calibrator, **data),
        {"X": X, "y": y, "sample_weight": W, "new": X},
    )
    for name, calibrator, X, y in [
        ("temperature", ca.TemperatureScaling(), TWO, Y),
        ("isotonic", ca.IsotonicCalibration(), P, Y),
        ("top-label isotonic", ca.ByNotion(ca.IsotonicCalibration(), "top-label"), THREE, OF_THREE),
        ("Venn-Abers", ca.VennAbers(), P, Y),
        ("canonical binning", ca.calibrators.CanonicalBinning(), THREE, OF_THREE),
    ]
}
NAMES = {"X": "y_prob", "y": "y_true", "new": "y_prob"}
"""What messages call the parameters of estimators."""


def quiet(function, **data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(**data)


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
            assert re.search(rf"(?s)^{called}\b.* must .*; got .*{message}.*\. [A-Z]|{message}", said), (
                parameter,
                kind,
                said,
            )
            assert said.startswith(called), (parameter, kind, said)


def of_labels_and_forecast(target):
    return (
        not isinstance(target, type)
        and callable(target)
        and list(inspect.signature(target).parameters)[:2] == ["y_true", "y_prob"]
    )


PUBLIC = [name for name in homes() if of_labels_and_forecast(load(name))]
METHODS = {name: entry.target for name, entry in entries("calibrator").items()}
MASKED = np.ma.array(TWO, mask=TWO > 0.85)
NO_CELLS = {
    "a masked cell": (
        MASKED,
        r"y_prob must not be masked; got a masked value at index \(2, 1\), and 1 more\. Drop the masked",
    ),
    "numbers as text": (
        TWO.astype(str),
        r"y_prob must hold numbers; got '0\.75' \(str\) at index \(0, 0\), and 15 more\. Choose",
    ),
}


@pytest.mark.parametrize("case", NO_CELLS)
def test_every_function_refuses_masked_cells_and_text_in_the_same_words(case):
    table, message = NO_CELLS[case]
    needed = {"posterior": TWO, "calibrator": ca.TemperatureScaling().fit(TWO, Y)}
    for name in PUBLIC:
        function = load(name)
        wanted = {word: value for word, value in needed.items() if word in inspect.signature(function).parameters}
        with pytest.raises((ValueError, TypeError), match=message):
            function(Y, table, **wanted)


@pytest.mark.parametrize("case", NO_CELLS)
def test_every_calibrator_refuses_masked_cells_and_text_in_the_same_words(case):
    table, message = NO_CELLS[case]
    for target in METHODS.values():
        with pytest.raises((ValueError, TypeError), match=message):
            target().fit(table, Y)
        fitted = quiet(target().fit, X=TWO, y=Y)
        for method in (fitted.predict_proba, fitted.calibrate, fitted.predict):
            with pytest.raises((ValueError, TypeError), match=message):
                method(table)


def test_the_rows_that_a_message_says_to_drop_are_all_that_is_wrong():
    kept = ~np.ma.getmaskarray(MASKED).any(axis=1)
    data = {"sample_weight": None, "new": TWO}
    expected = mapped(ca.IsotonicCalibration(), TWO[kept], Y[kept], **data)
    np.testing.assert_array_equal(mapped(ca.IsotonicCalibration(), MASKED[kept], Y[kept], **data), expected)
    assert ca.brier_score_loss(Y, TWO.astype(str).astype(float)) == ca.brier_score_loss(Y, TWO)


class Masking(ClassifierMixin, BaseEstimator):
    """A classifier that masks what it is not sure of."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return MASKED


def test_masked_probabilities_of_a_classifier_are_refused():
    with pytest.raises(
        ValueError, match=r"predict_proba of Masking must not be masked; got a masked value at index \(2, 1\)"
    ):
        ca.CalibratedClassifier(Masking().fit(TWO, Y), cv="prefit").fit(TWO, Y)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (
            [0, None],
            r"labels must hold labels of one kind; got NoneType and number, the odd one None at index 1\. Name every",
        ),
        (
            ["no", np.nan],
            r"labels must hold labels of one kind; got number and text, the odd one nan at index 1\. Name every",
        ),
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
            pl.DataFrame({"a": 1.0 - P, "b": P}).lazy(),
            "y_prob must be in memory; got a LazyFrame. Call .collect() first.",
        ),
        (
            pd.DataFrame(TWO, columns=["a", "a"]),
            "the columns of y_prob must have different names; got a table with one twice",
        ),
        (
            {"a": P},
            "y_prob must hold numbers; got dict, which is no sequence of them. Pass an array, a list or a data frame.",
        ),
        ([*P[:-1].tolist(), 10**400], "y_prob must hold numbers up to 2e+308; got a larger one"),
    ],
)
def test_what_is_no_table_in_memory_is_refused_with_a_cure(given, message):
    for refusing in (lambda: ca.brier_score_loss(Y, given), lambda: ca.IsotonicCalibration().fit(given, Y)):
        with pytest.raises((ValueError, TypeError), match=re.escape(message)):
            refusing()
    assert ca.brier_score_loss(
        Y, pl.DataFrame({"a": 1.0 - P, "b": P}).lazy().collect(), labels=[0, 1]
    ) == ca.brier_score_loss(Y, TWO)
