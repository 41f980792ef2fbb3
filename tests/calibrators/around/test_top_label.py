"""Algorithms 1 to 5 of Gupta and Ramdas are `ByNotion` of histogram binning."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import top_label as twin
from strategies import tables

from calibrant import ByNotion, HistogramBinning, IsotonicCalibration
from calibrant.binning import PointsPerBin

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
