import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables

from calibrant import ByNotion, IsotonicCalibration, PlattScaling, TemperatureScaling, VennAbers
from calibrant.exceptions import CalibrationWarning
from calibrant.notions import WithinGroups, as_notion


@pytest.fixture
def forecast():
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.ones(3), 400)
    label = (rng.random((400, 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(0, 2)
    prob = truth**2 / (truth**2).sum(axis=1, keepdims=True)
    return prob, label


NEVER_C = np.array([[0.7, 0.2, 0.1], [0.2, 0.7, 0.1], [0.6, 0.3, 0.1], [0.3, 0.6, 0.1]]), ["a", "b", "c", "b"]
ONLY_NOW_C = np.array([[0.2, 0.2, 0.6], [0.65, 0.3, 0.05]])


def test_a_class_that_is_never_predicted_is_told_of_and_left_alone_if_so_asked():
    with pytest.warns(CalibrationWarning, match="no calibration row for predicted c: such scores are left as they are"):
        calibrator = ByNotion(
            IsotonicCalibration(finite=None), "top-label", unseen="identity", labels=["a", "b", "c"]
        ).fit(*NEVER_C)
    assert calibrator.calibrators_[2] is None
    np.testing.assert_array_equal(calibrator.predict_proba(ONLY_NOW_C)[0], ONLY_NOW_C[0])
    label, score = calibrator.predict_top(ONLY_NOW_C)
    assert (label[0], score[0]) == ("c", 0.6)


@pytest.mark.parametrize("make", [IsotonicCalibration, PlattScaling])
@pytest.mark.parametrize("input", ["probability", "logit"])
def test_a_class_that_is_never_predicted_is_mapped_as_all_predicted_classes_together(make, input):
    (prob, label), new = NEVER_C, ONLY_NOW_C
    if input == "logit":
        prob, new = np.log(prob), np.log(new)
    with pytest.warns(
        CalibrationWarning, match="predicted c: such scores are mapped by one map fitted to all other problems together"
    ):
        calibrator = ByNotion(make(), "top-label", input=input, labels=["a", "b", "c"]).fit(prob, label)
    pooled = ByNotion(make(), "confidence", input=input, labels=["a", "b", "c"]).fit(prob, label)
    for method in ("predict_proba", "calibrate"):
        ours, expected = (getattr(by_notion, method)(new)[0] for by_notion in (calibrator, pooled))
        np.testing.assert_allclose(ours, expected, rtol=1e-12)
    (label, score), (_, expected) = calibrator.predict_top(new), pooled.predict_top(new)
    assert label.tolist() == ["c", "a"]
    assert score[0] == pytest.approx(expected[0], rel=1e-12)


@given(rows=tables(), notion=st.sampled_from(["top-label", "top-2-label", "thresholded-class-wise"]))
@pytest.mark.filterwarnings("ignore:only the class", "ignore:no calibration row")
def test_what_serves_the_unseen_is_fitted_to_the_rows_of_all_problems(rows, notion):
    label, prob, weight = rows
    calibrator = ByNotion(IsotonicCalibration(finite=None), notion, labels=range(prob.shape[1])).fit(
        prob, label, weight
    )
    parts = list(as_notion(notion).parts(prob))
    score, outcome, weights = (
        np.concatenate(columns)
        for columns in zip(
            *((part.scores(prob), label[part.rows] == part.column, weight[part.rows]) for part in parts), strict=True
        )
    )
    empty = [part.rows.size == 0 for part in parts]
    assert [fitted is None for fitted in calibrator.calibrators_] == empty
    assert (calibrator.pooled_ is not None) == any(empty)
    if calibrator.pooled_ is not None:
        pooled = IsotonicCalibration(finite=None).fit(score, outcome.astype(int), weights)
        np.testing.assert_array_equal(calibrator.pooled_._apply(score), pooled.calibrate(score))


def test_a_multiclass_calibrator_is_refused_with_the_remedy(forecast):
    prob, label = forecast
    with pytest.raises(TypeError, match=r"must be a BinaryCalibrator.*needs no notion: use it directly\."):
        ByNotion(TemperatureScaling()).fit(prob, label)


def test_the_interval_of_each_class_is_that_of_its_own_venn_abers():
    rng = np.random.default_rng(0)
    prob, label = rng.dirichlet(np.ones(3), 100), rng.integers(0, 3, 100)
    interval = ByNotion(VennAbers(), "class-wise").fit(prob, label).predict_interval(prob)
    for j in range(3):
        np.testing.assert_array_equal(
            interval[:, j], VennAbers().fit(prob[:, j], label == j).predict_interval(prob[:, j])
        )


@pytest.mark.parametrize("input", ["probability", "logit"])
def test_the_interval_of_a_class_that_was_never_predicted_is_that_of_all_together(input):
    (prob, label), new = NEVER_C, ONLY_NOW_C
    if input == "logit":
        prob, new = np.log(prob), np.log(new)
    with pytest.warns(CalibrationWarning, match="no calibration row for predicted c"):
        calibrator = ByNotion(VennAbers(), "top-label", input=input, labels=["a", "b", "c"]).fit(prob, label)
    pooled = ByNotion(VennAbers(), "confidence", input=input, labels=["a", "b", "c"]).fit(prob, label)
    (lower, upper), (_, score) = calibrator.predict_interval(new)[0, 2], calibrator.predict_top(new)
    assert [lower, upper] == pytest.approx(pooled.predict_interval(new)[0, 2], rel=1e-12)
    assert score[0] == pytest.approx(upper / (1.0 - lower + upper), rel=1e-12)
    assert lower > 0.0 or upper < 1.0


def test_of_a_score_left_as_it_is_the_interval_knows_nothing():
    with pytest.warns(CalibrationWarning, match="left as they are"):
        calibrator = ByNotion(VennAbers(), "top-label", unseen="identity", labels=["a", "b", "c"]).fit(*NEVER_C)
    assert calibrator.predict_interval(ONLY_NOW_C)[0, 2].tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"notion": 3}, TypeError, "notion must be a word or a Notion that new rows have as well; got 3"),
        ({"notion": WithinGroups([0, 1])}, TypeError, "that new rows have as well; got WithinGroups"),
        ({"normalize": "no"}, TypeError, "normalize must be True or False; got"),
        ({"unseen": None}, TypeError, "unseen must be one of 'pooled', 'identity'; got None"),
        ({"unseen": "zero"}, ValueError, "unseen must be one of 'pooled', 'identity'; got 'zero'"),
    ],
)
def test_what_is_no_notion_no_flag_and_no_choice_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        ByNotion(IsotonicCalibration(finite=None), **options).fit([0.1, 0.9], [0, 1])


def test_classes_that_did_not_occur_are_told_of_as_for_a_single_score():
    rng = np.random.default_rng(0)
    prob = rng.dirichlet(np.ones(4), 60)
    label = rng.integers(0, 2, 60)
    said = r"no calibration row is of class c; d among 60: .* Fit on more rows\."
    for notion in ("class-wise", "top-label"):
        with pytest.warns(CalibrationWarning, match=said):
            ByNotion(PlattScaling(), notion, labels=list("abcd")).fit(prob, np.array(list("ab"))[label])


@pytest.mark.parametrize("notion", ["confidence", "class-wise"])
def test_of_classes_that_occurred_and_maps_that_need_none_nothing_is_said(notion):
    rng = np.random.default_rng(0)
    prob = rng.dirichlet(np.ones(3), 60)
    label = rng.integers(0, 2 if notion == "confidence" else 3, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ByNotion(PlattScaling(), notion, labels=range(3)).fit(prob, label)


def test_of_one_class_alone_there_is_one_warning():
    with pytest.warns(CalibrationWarning) as said:
        ByNotion(PlattScaling(), labels=range(3)).fit(np.full((5, 3), 1 / 3), [1] * 5)
    assert [str(warning.message)[:16] for warning in said] == ["only the class 1"]
