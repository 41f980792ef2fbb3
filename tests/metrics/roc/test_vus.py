"""The volume under the ROC surface: figures of the literature, where the methods agree, and how sure it is."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from strategies import tables

from calibrant import IsotonicCalibration, assess
from calibrant._core.border import as_problem
from calibrant._core.rows import as_simplex
from calibrant.exceptions import CalibrationWarning
from calibrant.metrics import roc_volume as volume
from calibrant.metrics import volume_under_surface_score
from calibrant.sums.draws import as_rng

DATA = Path(os.environ.get("CALIBRANT_DATA", Path(__file__).resolve().parents[4] / "shared/data"))


def forecasts(n, n_classes, seed=0, separation=1.0):
    """Labels and the true probabilities of them, with some noise of the classes."""
    rng = np.random.default_rng(seed)
    label = np.append(np.arange(n_classes), rng.integers(0, n_classes, n - n_classes))
    seen = rng.normal(size=(n, n_classes)) + separation * np.eye(n_classes)[label]
    odds = np.exp(separation * seen)
    return label, odds / odds.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("name", "part", "expected"),
    [("covertype3", "cal", 0.760733), ("covertype3", "test", 0.730387), ("covertype2", "cal", 0.872809)],
)
def test_on_the_grids_of_the_paper_the_volumes_are_those_computed_independently(name, part, expected):
    if not (DATA / f"{name}.npz").exists():
        pytest.skip(f"{name}.npz is not in {DATA}; set CALIBRANT_DATA")
    with np.load(DATA / f"{name}.npz") as held:
        prob, label = held[f"P_{part}"], held[f"y_{part}"].astype(int)
    found = volume_under_surface_score(label - label.min(), prob, thresholds=volume.grid_thresholds(prob.shape[1]))
    assert found == pytest.approx(expected, abs=5e-7)
    assert volume_under_surface_score(label - label.min(), prob) > expected


@pytest.mark.parametrize("method", volume.METHODS)
@pytest.mark.parametrize("n_classes", [2, 3, 4, 5])
def test_classes_that_a_threshold_tells_apart_have_the_volume_one(method, n_classes):
    # No argmax tells them apart: the first class always has the highest probability.
    label = np.arange(3 * n_classes) % n_classes
    prob = 0.1 * np.eye(n_classes)[label]
    prob[:, 0] += 0.9
    assert volume_under_surface_score(label, prob, method=method) == pytest.approx(1.0)


@given(rows=tables(min_rows=4))
def test_of_two_classes_hull_and_probability_agree_after_isotonic_regression(rows):
    label, prob, weight = rows
    label, score = np.append(label > 0, [0, 1]), np.append(prob[:, 0], [0.5, 0.5])
    weight = np.append(weight, [1.0, 1.0])
    calibrated = IsotonicCalibration(finite=None).fit(score, label, sample_weight=weight).predict_proba(score)[:, 1]
    hull, probability, before = (
        volume_under_surface_score(label, p, method=method, sample_weight=weight)
        for p, method in ((calibrated, "hull"), (calibrated, "probability"), (score, "hull"))
    )
    assert hull == pytest.approx(probability, abs=1e-12)
    assert hull == pytest.approx(before, abs=1e-12)


@pytest.mark.first(1)
@pytest.mark.parametrize("n_classes", [6, 40])
def test_beyond_five_classes_the_hull_is_undefined_with_a_warning_and_the_probability_is_not(n_classes):
    label, prob = forecasts(400, n_classes, separation=6.0)
    message = f"at most 5 classes; got {n_classes}, and it is set to nan. Call volume_under_surface_score with method="
    with pytest.warns(CalibrationWarning, match=message):
        assert np.isnan(volume_under_surface_score(label, prob))
    with pytest.warns(CalibrationWarning, match=message):
        found = assess(label, prob, metrics=["vus"], n_resamples=1)["vus"]
    assert np.isnan([found.value, found.lower, found.upper]).all()
    assert 0 < volume_under_surface_score(label, prob, method="probability") <= 1


@pytest.mark.parametrize("method", volume.METHODS)
def test_a_class_that_never_came_leaves_it_undefined_with_a_warning(method):
    with pytest.warns(CalibrationWarning, match="rows of each class; got none of the columns \\[1\\]"):
        assert np.isnan(volume_under_surface_score([0, 2], np.full((2, 3), 1 / 3), method=method))


# How sure it is


@pytest.mark.first(1)
@pytest.mark.parametrize(("n_classes", "separation"), [(2, 1.0), (3, 0.5), (3, 2.5)])
def test_the_interval_holds_the_volume_of_the_population(n_classes, separation):
    """In at least 17 of 20 samples: 95 % of them would be 16 or fewer in one of 60 runs."""
    truth = volume_under_surface_score(*forecasts(20_000, n_classes, 99, separation), method="probability")
    held = 0
    for seed in range(20):
        found = assess(*forecasts(150, n_classes, seed, separation), metrics=["vus"], n_resamples=1)["vus"]
        held += found.lower <= truth <= found.upper
        assert 0 <= found.lower <= found.value <= found.upper <= 1
    assert held >= 17


@pytest.mark.parametrize(("unit", "rounding"), [(8.0, 1e-12), (7.3, 0.03)])
def test_weights_that_are_no_counts_have_an_interval_that_does_not_depend_on_their_unit(unit, rounding):
    """But for rounding, which may part equally good thresholds on the rows left out."""
    label, prob = forecasts(60, 3)
    weight = np.random.default_rng(0).random(60) + 0.5
    one, other = (
        assess(label, prob, metrics=["vus"], n_resamples=1, sample_weight=w)["vus"] for w in (weight, unit * weight)
    )
    assert (one.lower, one.upper) == pytest.approx((other.lower, other.upper), rel=rounding)


@pytest.mark.parametrize("weight", [3.0, 1e8, 1e12])
def test_any_number_of_equal_rows_has_an_interval(weight):
    label, prob = forecasts(60, 3)
    found = assess(label, prob, metrics=["vus"], n_resamples=1, sample_weight=np.full(60, weight))["vus"]
    assert found.lower < found.value < found.upper
    assert weight == 3.0 or found.upper - found.lower < 1e-3


@pytest.mark.parametrize("unit", [1.0, 0.37])
def test_parts_of_the_rows_make_up_all_of_them(unit):
    """Equal rows are dealt one by one where weights count them, and together where they do not."""
    label, prob = forecasts(40, 3)
    weight = unit * np.random.default_rng(3).integers(4, 30, 40)
    rows = volume.SurfaceRows.of(as_simplex(as_problem(label, prob, sample_weight=weight)))
    parts = list(volume._parts(rows, as_rng(0)))
    assert len(parts) == volume.FOLDS
    np.testing.assert_allclose(sum(part.class_weight for part, _ in parts), rows.class_weight)
    for part, rest in parts:
        np.testing.assert_allclose(part.class_weight + rest.class_weight, rows.class_weight)
        assert 0 < part.class_weight.sum() < rows.class_weight.sum() / 2
        assert (len(part.label) + len(rest.label) == 40) == (unit != 1.0)


def test_a_single_row_of_a_class_has_an_interval():
    found = assess([0, 1, 2], np.eye(3), metrics=["vus"], n_resamples=1)["vus"]
    assert found.lower < 0.5 < found.value == pytest.approx(1.0)


# Refusals


REFUSED = [
    ({"method": "box"}, "method must be one of 'hull', 'probability'; got 'box'"),
    ({"thresholds": "grid"}, "thresholds must be one of 'data'; got 'grid'"),
    ({"thresholds": 0}, "thresholds must be a whole number, at least 1; got 0"),
    ({"thresholds": [[0.5, 0.5]]}, r"a column for each of the 3 classes; got shape \(1, 2\)"),
    ({"thresholds": [[0.5, 0.5, np.inf]]}, r"thresholds must be finite; got inf at index \(0, 2\)"),
    ({"n_thresholds": 0}, "n_thresholds must be a whole number, at least 1; got 0"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_what_cannot_be_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        volume_under_surface_score([0, 1, 2], np.eye(3), **options)


@pytest.mark.parametrize("thresholds", [np.timedelta64(1, "s"), "dta", 0])
def test_thresholds_are_checked_although_a_class_has_no_rows(thresholds):
    with pytest.raises((TypeError, ValueError), match=r"thresholds must be .*; got"):
        volume_under_surface_score([0, 0, 0], np.eye(3), thresholds=thresholds)
