"""Algorithms 1 to 5 of Gupta and Ramdas are `ByNotion` of histogram binning."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import top_label as twin
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from strategies import tables

from calibrant import ByNotion, HistogramBinning, IsotonicCalibration, load_digits_forecast, save_calibrator
from calibrant.binning import PointsPerBin
from calibrant.calibrators import ScalingBinning, TopLabelHistogramBinning

# Drawn rows may all be of one class, and predict only some: that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore:only the class", "ignore:no calibration row")

points = st.integers(1, 6)


def repeated(rows):
    label, prob, weight = rows
    times = weight.astype(int)
    return np.repeat(prob, times, axis=0).tolist(), np.repeat(label, times).tolist()


def fitted(rows, k, notion, **options):
    label, prob, weight = rows
    calibrator = ByNotion(HistogramBinning(PointsPerBin(k)), notion, labels=range(prob.shape[1]), **options)
    return calibrator.fit(prob, label, weight)


@pytest.mark.first(1)
@given(rows=tables(), k=points)
@pytest.mark.parametrize(("notion", "algorithm"), [("top-label", twin.top_label), ("confidence", twin.confidence)])
def test_the_top_pair_is_that_of_algorithms_1_and_3(notion, algorithm, rows, k):
    expected = algorithm(twin.histogram(k), *repeated(rows))
    label, score = fitted(rows, k, notion).predict_top(rows[1])
    assert label.tolist() == [expected(row)[0] for row in rows[1].tolist()]
    np.testing.assert_allclose(score, [expected(row)[1] for row in rows[1].tolist()], rtol=1e-12)


@pytest.mark.first(1)
@given(rows=tables(), k=points)
@pytest.mark.parametrize(("normalize", "algorithm"), [(False, twin.class_wise), (True, twin.normalized)])
def test_the_rows_are_those_of_algorithms_2_and_4(normalize, algorithm, rows, k):
    expected = algorithm(twin.histogram(k), *repeated(rows))
    prob = fitted(rows, k, "class-wise", normalize=normalize).predict_proba(rows[1])
    np.testing.assert_allclose(prob, [expected(row) for row in rows[1].tolist()], rtol=1e-12)


@pytest.mark.first(1)
@given(rows=tables(n_classes=st.integers(3, 4)), k=points)
@pytest.mark.parametrize(("notion", "given_class"), [("top-2-confidence", False), ("top-2-label", True)])
def test_the_two_highest_classes_have_the_probabilities_of_algorithm_5(notion, given_class, rows, k):
    expected = twin.top_k(twin.histogram(k), *repeated(rows), 2, given_class=given_class)
    calibrator = fitted(rows, k, notion, normalize=False)
    prob, (label, score) = calibrator.predict_proba(rows[1]), calibrator.predict_top(rows[1])
    for i, row in enumerate(rows[1].tolist()):
        (first, p), (second, q) = expected(row)
        assert label[i] == first
        assert score[i] == pytest.approx(p, rel=1e-12)
        assert prob[i, [first, second]] == pytest.approx([p, q], rel=1e-12)


@pytest.mark.first(2)
@given(rows=tables(), k=points, normalize=st.booleans())
@pytest.mark.parametrize(
    "notion", ["confidence", "top-label", "class-wise", "thresholded-class-wise", "one-vs-rest", "top-2-label"]
)
def test_the_top_score_is_the_merged_one_before_normalisation(notion, normalize, rows, k):
    merged = fitted(rows, k, notion, normalize=False).predict_proba(rows[1])
    calibrator = fitted(rows, k, notion, normalize=normalize)
    label, score = calibrator.predict_top(rows[1])
    np.testing.assert_array_equal(label, rows[1].argmax(axis=1))
    np.testing.assert_array_equal(score, merged[np.arange(len(merged)), label])


@pytest.mark.parametrize("notion", ["confidence", "top-label", "class-wise", "one-vs-rest", "top-2-confidence"])
@pytest.mark.parametrize("input", ["probability", "logit"])
def test_blocks_of_rows_do_not_show_in_the_top_pair(notion, input, monkeypatch):
    rng = np.random.default_rng(0)
    logits, label = 2.0 * rng.standard_normal((100, 3)), rng.integers(0, 3, 100)
    forecast = logits if input == "logit" else np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    calibrator = ByNotion(IsotonicCalibration(), notion, input=input).fit(forecast, label)
    whole = calibrator.predict_top(forecast)
    monkeypatch.setattr(ByNotion, "block", 12)
    for part, all_at_once in zip(calibrator.predict_top(forecast), whole, strict=True):
        np.testing.assert_array_equal(part, all_at_once)


def test_accuracy_stays_as_it_was_though_merging_moves_the_argmax():
    """The predicted class is true in half of the rows: in the full row the other class, with all the rest, passes it."""
    prob, label = np.array([[0.55, 0.45]] * 4), [1, 1, 1, 0]
    calibrator = ByNotion(HistogramBinning(1), "top-label", labels=[0, 1]).fit
    with pytest.warns(match="no calibration row"):
        fit = calibrator(prob, label)
    assert fit.predict_top(prob)[0].tolist() == [0] * 4
    assert fit.predict_top(prob)[1].tolist() == [0.25] * 4
    assert fit.predict(prob).tolist() == [1] * 4


# Algorithm 8 by its name


def test_top_label_histogram_binning_has_the_defaults_of_the_theorem():
    y, prob = load_digits_forecast()
    named = TopLabelHistogramBinning(20).fit(prob, y)
    spelled = ByNotion(HistogramBinning(PointsPerBin(20), interior=True, delta=1e-10), "top-label").fit(prob, y)
    for of_named, of_spelled in zip(named.predict_top(prob), spelled.predict_top(prob), strict=True):
        np.testing.assert_array_equal(of_named, of_spelled)
    assert TopLabelHistogramBinning().calibrator.get_params() == (
        HistogramBinning(PointsPerBin(50), interior=True, delta=1e-10).get_params()
    )
    assert set(named.get_params()) == {"points_per_bin", "delta", "random_state", "unseen", "input", "labels"}


# An estimator of scikit-learn as the binary calibrator


@pytest.mark.parametrize("notion", ["top-label", "class-wise", "confidence"])
def test_an_estimator_of_scikit_learn_calibrates_each_problem(notion):
    y, prob = load_digits_forecast()
    weight = np.random.default_rng(0).integers(1, 3, len(y))
    fit = ByNotion(LogisticRegression(), notion).fit(prob, y, weight)
    parts = list(fit.notion_.parts(prob))
    for own, part in zip(fit.calibrators_, parts, strict=True):
        rows, score = part.rows, part.scores(prob)
        alone = LogisticRegression().fit(score[:, None], (y[rows] == part.column).astype(int), weight[rows])
        np.testing.assert_allclose(own._apply(score), alone.predict_proba(score[:, None])[:, 1], rtol=1e-12)


def test_a_regressor_is_cut_to_probabilities_and_one_outcome_is_its_map():
    prob, label = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.3, 0.7]]), [0, 0, 1, 0]
    fit = ByNotion(IsotonicRegression(out_of_bounds="clip"), "top-label").fit(prob, label)
    assert fit.calibrators_[0].constant_ == 1.0
    assert fit.predict_top(prob)[1].tolist() == [1.0, 1.0, 1.0, 0.0]
    np.testing.assert_allclose(fit.predict_proba(prob).sum(axis=1), 1.0)


def test_weights_need_an_estimator_that_takes_them():
    y, prob = load_digits_forecast()
    with pytest.raises(ValueError, match="fit takes sample_weight; got KNeighborsClassifier"):
        ByNotion(KNeighborsClassifier()).fit(prob, y, np.arange(len(y)) % 2 + 1.0)


def test_what_is_no_estimator_is_refused_and_an_estimator_is_not_saved(tmp_path):
    y, prob = load_digits_forecast()
    for given_instead in (3, LogisticRegression, object()):
        with pytest.raises(TypeError, match="calibrator must be a BinaryCalibrator"):
            ByNotion(given_instead).fit(prob, y)
    with pytest.raises(TypeError, match="a saved calibrator holds"):
        save_calibrator(ByNotion(LogisticRegression()).fit(prob, y), tmp_path / "map.json")
    assert ScalingBinning(LogisticRegression(), n_bins=4).fit(prob[:, 3], y == 3).value_.size == 4
