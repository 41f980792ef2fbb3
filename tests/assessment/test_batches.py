"""What is said of predictions in batches is what is said of the same rows in memory."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant import assess, equivalence_test, log_loss, measure, predictions, reliability_curve, spiegelhalter_test
from calibrant.exceptions import CalibrationWarning
from calibrant.metrics import estimate_calibration_error
from calibrant.significance import resampling_test

RNG = np.random.default_rng(7)
N = 9000
PROB = RNG.dirichlet(np.ones(4) / 2, N).astype(np.float32)
LABEL = (RNG.random(N)[:, None] > np.cumsum(PROB**1.2 / (PROB**1.2).sum(1, keepdims=True), 1)[:, :-1]).sum(1)
SCORE, EVENT = PROB[:, 0].astype(np.float64), (LABEL == 0).astype(int)
ROWS = {"table": (LABEL, PROB), "column": (EVENT, SCORE), "columns": (EVENT, np.column_stack([1 - SCORE, SCORE]))}


def cut(arrays, at=(2000, 6500)):
    return predictions([tuple(array[a:b] for array in arrays) for a, b in pairwise([0, *at, len(arrays[0])])])


def figures(result):
    return [[np.nan if figure is None else figure for figure in vars(row.estimate).values()] for row in result.rows]


@pytest.mark.parametrize("rows", ROWS.values(), ids=list(ROWS))
def test_an_assessment_is_that_of_the_rows_in_memory(rows):
    ours, theirs = assess(cut(rows), n_resamples=99), assess(*rows, n_resamples=99)
    np.testing.assert_allclose(figures(ours), figures(theirs), rtol=1e-9, atol=1e-12)
    assert ours["accuracy"].value == theirs["accuracy"].value
    assert (ours.n_rows, ours.n_classes, ours.event) == (theirs.n_rows, theirs.n_classes, theirs.event)
    assert ours.class_weight == theirs.class_weight
    assert str(ours) == str(theirs)
    for one, other in ((ours.curve, theirs.curve), (ours.class_curve, theirs.class_curve)):
        assert [panel.name for panel in one.panels] == [panel.name for panel in other.panels]
        np.testing.assert_array_equal(one.panels[0].bins.count, other.panels[0].bins.count)
        np.testing.assert_allclose(one.panels[0].lower, other.panels[0].lower, rtol=1e-12)


@settings(max_examples=3)
@given(at=st.lists(st.integers(1, N - 1), max_size=4, unique=True))
def test_any_batches_give_the_same_digits(at):
    read = cut(ROWS["column"], sorted(at))
    assert figures(assess(read, n_resamples=20)) == figures(assess(cut(ROWS["column"]), n_resamples=20))


def test_few_rows_have_the_digits_of_memory():
    rows = [array[:3000] for array in ROWS["table"]]
    assert figures(assess(cut(rows, (1000,)), n_resamples=20)) == figures(assess(*rows, n_resamples=20))


def test_values_curves_and_tests_are_those_of_memory():
    for rows in (ROWS["table"], ROWS["column"]):
        assert measure(cut(rows)) == pytest.approx(measure(*rows), rel=1e-12)
        ours, theirs = reliability_curve(cut(rows)), reliability_curve(*rows)
        np.testing.assert_array_equal(ours.panels[0].bins.outcome_sum, theirs.panels[0].bins.outcome_sum)
        ours, theirs = (resampling_test(*of, metric="ece", n_resamples=99) for of in ((cut(rows),), rows))
        assert (ours.statistic, ours.pvalue) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-9)
    ours, theirs = (
        equivalence_test(*of, bound=0.05, n_resamples=99) for of in ((cut(ROWS["column"]),), ROWS["column"])
    )
    assert (ours.statistic, ours.upper) == pytest.approx((theirs.statistic, theirs.upper), rel=1e-9)
    ours, theirs = (estimate_calibration_error(*of, n_resamples=99) for of in ((cut(rows),), rows))
    assert ours.upper == pytest.approx(theirs.upper, rel=1e-9)


def test_weighted_rows_are_measured_and_have_no_interval():
    rows = (*ROWS["column"], RNG.random(N))
    assert measure(cut(rows)) == pytest.approx(measure(*rows[:2], sample_weight=rows[2]), rel=1e-12)
    with pytest.raises(ValueError, match=r"of weighted rows needs all rows in memory.*sample\(100_000\)"):
        assess(cut(rows))


def test_impossible_events_are_counted():
    score = np.where(RNG.random(N) < 0.01, 1.0 - EVENT, SCORE)
    rows = EVENT, score
    with pytest.warns(CalibrationWarning, match=r"got probability 0 in [0-9]+ of 9000 rows") as ours:
        found = assess(cut(rows), n_resamples=20)
    with pytest.warns(CalibrationWarning) as theirs:
        assert str(found) == str(assess(*rows, n_resamples=20))
    assert str(ours[0].message) == str(theirs[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        endless = assess(cut(rows), n_resamples=20, clip=0.0)["nll"]
        assert endless.lower == endless.upper == log_loss(cut(rows), clip=0.0) == np.inf


def test_an_infinite_loss_that_is_rare_has_a_finite_lower_end():
    rows = EVENT, np.where(np.arange(N) == np.argmax(EVENT), 0.0, np.clip(SCORE, 1e-3, 1 - 1e-3))
    with pytest.warns(CalibrationWarning):
        ours = assess(cut(rows), n_resamples=20, clip=0.0)["nll"]
    with pytest.warns(CalibrationWarning):
        theirs = assess(*rows, n_resamples=4000, clip=0.0, metrics=["nll"])["nll"]
    assert ours.value == ours.upper == np.inf
    assert ours.lower == pytest.approx(theirs.lower, rel=0.01)


def test_an_infinite_loss_of_many_rows_is_infinite_at_both_ends():
    """A sample without any of 800 rows has a probability below the smallest number."""
    rows = EVENT, np.where(np.cumsum(EVENT) <= 800, 0.5 * (1 - EVENT), 0.5)
    with pytest.warns(CalibrationWarning):
        found = assess(cut(rows), n_resamples=20, clip=0.0, metrics=["nll"])["nll"]
    assert found.value == found.lower == found.upper == np.inf


def test_a_metric_that_needs_the_rows_is_named():
    with pytest.raises(ValueError, match=r"the interval of '.*' needs all rows in memory"):
        assess(cut(ROWS["column"]), metrics=["ece", "skce"])
    with pytest.raises(ValueError, match=r"needs all rows in memory"):
        measure(cut(ROWS["column"]), metrics=["skce"])


@pytest.mark.parametrize("rows", ROWS.values(), ids=list(ROWS))
def test_spiegelhalters_z_is_that_of_memory(rows):
    assert spiegelhalter_test(cut(rows)).statistic == pytest.approx(spiegelhalter_test(*rows).statistic, rel=1e-9)


def test_wrong_batches_are_left_out_and_counted():
    wrong = PROB[2000:2500].copy()
    wrong[7, 1] = np.nan
    batches = [(LABEL[:2000], PROB[:2000]), (LABEL[2000:2500], wrong), (LABEL[2500:], PROB[2500:])]
    with pytest.raises(ValueError, match=r"batch 1: y_prob must be finite; got nan at index \(7, 1\)"):
        assess(predictions(batches))
    found = assess(predictions(batches, on_error="skip"), n_resamples=20)
    assert (found.left_out, found.n_rows) == (1, N - 500)
    assert "9000" not in found.heading
    assert found.heading.endswith("1 batch left out")
