"""Several values from one look at the rows."""

import numpy as np
import pytest

from calibrant import assess, measure
from calibrant._core.registry import entries
from calibrant.assessment import measure as measure_by_package
from calibrant.assessment import table
from calibrant.exceptions import CalibrationWarning

METRICS = entries("metric")
RNG = np.random.default_rng(0)
TABLE = RNG.integers(0, 3, 400), RNG.dirichlet(np.ones(3), 400)
COLUMN = RNG.integers(0, 2, 400), RNG.random(400)
WEIGHT = RNG.integers(1, 4, 400).astype(float)


@pytest.mark.parametrize("entry", METRICS.values(), ids=list(METRICS))
@pytest.mark.parametrize("rows", [TABLE, COLUMN], ids=["table", "column"])
def test_the_value_is_that_of_the_function_to_the_last_bit(entry, rows):
    expected = entry.target(*rows, sample_weight=WEIGHT)
    assert measure(*rows, sample_weight=WEIGHT, metrics=[entry.name]) == {entry.name: expected}


@pytest.mark.parametrize("rows", [TABLE, COLUMN], ids=["table", "column"])
def test_all_metrics_at_once_are_those_of_assess(rows):
    words = [name for name, entry in METRICS.items() if not entry.may_be_undefined and name not in SLOW]
    options = {"notion": "confidence", "binning": 7} if rows is TABLE else {"binning": 7}
    found, table = measure(*rows, metrics=words, **options), assess(*rows, metrics=words, n_resamples=2, **options)
    assert list(found) == [row.metric for row in table.rows]
    for row in table.rows:
        assert found[row.metric] == pytest.approx(row.estimate.value, rel=1e-12, abs=1e-14), row.metric


SLOW = {"vus", "skce", "canonical-ece"}
"""Metrics whose interval takes long, or is refused for these rows."""


def test_the_default_metrics_and_words_are_those_of_assess():
    for rows in (TABLE, COLUMN):
        assert list(measure(*rows)) == list(table.default_metrics(2 if rows is COLUMN else 3))
    assert list(measure(*COLUMN, metrics=["ECE", "expected_calibration_error", "Brier"])) == ["ece", "brier"]
    assert measure is measure_by_package


def test_rows_are_checked_once_and_scanned_once(monkeypatch):
    module = __import__("sys").modules["calibrant.assessment.table"]
    calls = []
    for name in ("as_problem", "scan"):
        original = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, f=original, n=name, **k: (calls.append(n), f(*a, **k))[1])
    measure(*TABLE)
    assert calls == ["as_problem", "scan"]


def test_impossible_events_are_counted_in_one_warning():
    y, prob = [0, 1, 1], [[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]]
    with pytest.warns(CalibrationWarning, match="got probability 0 in 2 of 3 rows") as caught:
        measure(y, prob)
    assert len(caught) == 1
    with pytest.warns(CalibrationWarning, match="got probability 0 in 5 of 6 rows"):
        measure(y, prob, sample_weight=[2.0, 1.0, 3.0])
    with pytest.warns(CalibrationWarning, match="got probability 0 in 2 of 3 rows"):
        measure(y, prob, sample_weight=[0.5, 0.25, 1.5])


def test_a_predicted_class_and_its_probability_are_measured():
    y_pred, prob = RNG.integers(0, 3, 400), RNG.random(400)
    found = measure(TABLE[0], prob, y_pred=y_pred, metrics=["accuracy", "ece"], notion="top-label")
    assert found["accuracy"] == np.mean(y_pred == TABLE[0])
    shown = assess(TABLE[0], prob, y_pred=y_pred, metrics=["ece"], notion="top-label", n_resamples=2)
    assert found["ece"] == shown["ece"].value


def test_logits_are_measured_as_their_probabilities():
    logit = np.log(TABLE[1])
    found, expected = measure(TABLE[0], logit, input="logit"), measure(*TABLE)
    assert found == pytest.approx(expected, rel=1e-9)


def test_names_that_are_no_list_are_refused():
    with pytest.raises(TypeError, match="metrics must be a list of names"):
        measure(*COLUMN, metrics="ece")
