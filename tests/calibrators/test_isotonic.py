import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import isotonic as twin
from sklearn.isotonic import IsotonicRegression
from strategies import columns, scores, tables

from calibrant import ByNotion, CalibrationWarning, IsotonicCalibrator

# Drawn rows may all be of one class; that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore:only the class")

new_scores = st.lists(scores, min_size=1, max_size=20)


@pytest.mark.parametrize(
    ("interpolate", "predict"), [(False, twin.step), (True, twin.interpolated)], ids=["step", "line"]
)
@given(rows=columns(), new=new_scores)
def test_the_map_is_what_its_definition_says(interpolate, predict, rows, new):
    label, score, weight = rows
    calibrator = IsotonicCalibrator(interpolate=interpolate).fit(score, label, weight)
    distinct, values = twin.fit(score.tolist(), label.tolist(), weight.tolist())
    expected = [predict(distinct, values, s) for s in new]
    np.testing.assert_allclose(calibrator.calibrate(new), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("interpolate", [False, True], ids=["step", "line"])
@given(rows=columns())
def test_fitted_rows_agree_with_scikit_learn(interpolate, rows):
    label, score, weight = rows
    score = np.round(score, 6)  # scikit-learn pools scores that differ by less than 1e-15 too
    theirs = IsotonicRegression(out_of_bounds="clip").fit(score, label, weight).predict(score)
    ours = IsotonicCalibrator(interpolate=interpolate).fit(score, label, weight).calibrate(score)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def test_between_blocks_the_line_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    score = rng.random(300)
    label = (rng.random(300) < score**2).astype(int)
    new = np.linspace(0, 1, 1001)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(score, label).predict(new)
    np.testing.assert_allclose(
        IsotonicCalibrator(interpolate=True).fit(score, label).calibrate(new), theirs, atol=1e-12
    )


@given(rows=columns())
def test_blocks_are_ordered_and_apart(rows):
    label, score, weight = rows
    fitted = IsotonicCalibrator().fit(score, label, weight)
    assert (fitted.left_ <= fitted.right_).all()
    assert (fitted.right_[:-1] < fitted.left_[1:]).all()
    assert (np.diff(fitted.value_) > 0).all()


@given(rows=columns())
def test_the_mean_is_kept(rows):
    label, score, weight = rows
    fitted = IsotonicCalibrator().fit(score, label, weight).calibrate(score)
    assert np.average(fitted, weights=weight) == pytest.approx(np.average(label, weights=weight), abs=1e-12)


def test_a_step_begins_at_the_first_score_of_its_block():
    fitted = IsotonicCalibrator().fit([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1])
    assert fitted.calibrate([0.1, 0.2, np.nextafter(0.2, 0), 0.39, 0.4]).tolist() == [0.0, 0.5, 0.0, 0.5, 1.0]


@pytest.mark.parametrize("interpolate", [False, True])
def test_scores_outside_take_the_nearest_value(interpolate):
    fitted = IsotonicCalibrator(interpolate=interpolate).fit([0.4, 0.4, 0.6, 0.6], [0, 1, 1, 1])
    assert fitted.calibrate([0.0, 1.0]).tolist() == [0.5, 1.0]


def test_a_score_that_falls_as_events_rise_is_pooled_to_one_block():
    fitted = IsotonicCalibrator().fit([0.1, 0.2, 0.3], [1, 1, 0])
    assert fitted.value_ == pytest.approx([2 / 3])


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_only_is_a_constant(label):
    with pytest.warns(CalibrationWarning, match=f"only the class {label} came in the 2 rows"):
        fitted = IsotonicCalibrator().fit([0.2, 0.7], [label, label])
    assert fitted.calibrate([0.5]).tolist() == [label]


def test_two_columns_are_calibrated_by_the_second():
    score, label = np.array([0.1, 0.2, 0.3, 0.4]), [0, 1, 0, 1]
    table = np.column_stack([1 - score, score])
    np.testing.assert_array_equal(
        IsotonicCalibrator().fit(table, label).predict_proba(table)[:, 1],
        IsotonicCalibrator().fit(score, label).calibrate(score),
    )


def test_three_columns_are_refused_with_the_remedy():
    with pytest.raises(ValueError, match=r"maps one score; got 3 classes\. Say how: ByNotion\(IsotonicCalibrator\(\)"):
        IsotonicCalibrator().fit(np.full((3, 3), 1 / 3), [0, 1, 2])


@given(rows=tables(), new=tables(n_classes=st.just(4)))
def test_class_wise_and_renormalised_is_what_its_definition_says(rows, new):
    label, prob, weight = rows
    k = prob.shape[1]
    calibrator = ByNotion(IsotonicCalibrator(), "class-wise", labels=range(k)).fit(prob, label, weight)
    other = new[1][:, :k] + 1e-3
    other = np.vstack([prob, other / other.sum(axis=1, keepdims=True)])
    expected = twin.class_wise(prob.tolist(), label.tolist(), weight.tolist(), other.tolist())
    np.testing.assert_allclose(calibrator.predict_proba(other), expected, rtol=1e-9, atol=1e-12)
