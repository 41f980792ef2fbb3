"""Maps of one score for tables, by a notion; algorithms 1 to 5 of Gupta and Ramdas are histogram binning by one."""

import re
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import isotonic, top_label
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from strategies import repeated, tables

import calibrant as cal
from calibrant.binning import PointsPerBin
from calibrant.calibrators import ScalingBinning, TopLabelHistogramBinning
from calibrant.exceptions import CalibrationWarning
from calibrant.notions import WithinGroups, as_notion

# Drawn rows may all be of one class, and predict only some: that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore:only the class", "ignore:no calibration row")


NEVER_C = np.array([[0.7, 0.2, 0.1], [0.2, 0.7, 0.1], [0.6, 0.3, 0.1], [0.3, 0.6, 0.1]]), ["a", "b", "c", "b"]
ONLY_NOW_C = np.array([[0.2, 0.2, 0.6], [0.65, 0.3, 0.05]])


def test_a_class_that_is_never_predicted_is_told_of_and_left_alone_if_so_asked():
    calibrator = cal.ByNotion(cal.VennAbers(), "top-label", unseen="identity", labels=["a", "b", "c"])
    with pytest.warns(CalibrationWarning, match="no calibration row for predicted c: such scores are left as they are"):
        calibrator.fit(*NEVER_C)
    assert calibrator.calibrators_[2] is None
    np.testing.assert_array_equal(calibrator.predict_proba(ONLY_NOW_C)[0], ONLY_NOW_C[0])
    label, score = calibrator.predict_top(ONLY_NOW_C)
    assert (label[0], score[0]) == ("c", 0.6)
    assert calibrator.predict_interval(ONLY_NOW_C)[0, 2].tolist() == [0.0, 1.0]


@pytest.mark.parametrize("input", ["probability", "logit"])
def test_a_class_that_is_never_predicted_is_mapped_as_all_predicted_classes_together(input):
    (prob, label), new, options = NEVER_C, ONLY_NOW_C, {"input": input, "labels": ["a", "b", "c"]}
    if input == "logit":
        prob, new = np.log(prob), np.log(new)
    calibrator, pooled = (cal.ByNotion(cal.VennAbers(), notion, **options) for notion in ("top-label", "confidence"))
    with pytest.warns(CalibrationWarning, match="predicted c: such scores are mapped by one map fitted to all other"):
        calibrator.fit(prob, label)
    pooled.fit(prob, label)
    for method in ("predict_proba", "calibrate", "predict_interval"):
        ours, expected = (getattr(by_notion, method)(new)[0] for by_notion in (calibrator, pooled))
        np.testing.assert_allclose(ours[2], expected[2], rtol=1e-12)
    (label, score), (_, expected) = calibrator.predict_top(new), pooled.predict_top(new)
    assert label.tolist() == ["c", "a"]
    assert score[0] == pytest.approx(expected[0], rel=1e-12)


@given(rows=tables(), notion=st.sampled_from(["top-label", "top-2-label", "thresholded-class-wise"]))
def test_what_serves_the_unseen_is_fitted_to_the_rows_of_all_problems(rows, notion):
    label, prob, weight = rows
    calibrator = cal.ByNotion(cal.IsotonicCalibration(), notion, labels=range(prob.shape[1])).fit(prob, label, weight)
    parts = list(as_notion(notion).parts(prob))
    of_parts = [(part.scores(prob), (label == part.column).astype(int)[part.rows], weight[part.rows]) for part in parts]
    empty = [part.rows.size == 0 for part in parts]
    assert [fitted is None for fitted in calibrator.calibrators_] == empty
    assert (calibrator.pooled_ is not None) == any(empty)
    if calibrator.pooled_ is not None:
        score, *others = map(np.concatenate, zip(*of_parts, strict=True))
        pooled = cal.IsotonicCalibration().fit(score, *others)
        np.testing.assert_array_equal(calibrator.pooled_._apply(score), pooled.calibrate(score))


def test_the_interval_of_each_class_is_that_of_its_own_venn_abers():
    rng = np.random.default_rng(0)
    prob, label = rng.dirichlet(np.ones(3), 100), rng.integers(0, 3, 100)
    interval = cal.ByNotion(cal.VennAbers(), "class-wise").fit(prob, label).predict_interval(prob)
    for j in range(3):
        alone = cal.VennAbers().fit(prob[:, j], label == j).predict_interval(prob[:, j])
        np.testing.assert_array_equal(interval[:, j], alone)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"notion": 3}, TypeError, "notion must be a word or a Notion that new rows have as well; got 3"),
        ({"notion": WithinGroups([0, 1])}, TypeError, "that new rows have as well; got WithinGroups"),
        ({"normalize": "no"}, TypeError, "normalize must be True or False; got"),
        ({"unseen": "zero"}, ValueError, "unseen must be one of 'pooled', 'identity'; got 'zero'"),
        ({"calibrator": cal.TemperatureScaling()}, TypeError, r"a BinaryCalibrator.*no notion: use it directly\."),
        *(({"calibrator": what}, TypeError, "must be a BinaryCalibrator") for what in (3, [])),
        ({"calibrator": LogisticRegression}, TypeError, r"one score; got .* Pass an object: LogisticRegression\(\)"),
    ],
    ids=str,
)
def test_what_is_no_notion_no_flag_and_no_choice_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        cal.ByNotion(**{"calibrator": cal.IsotonicCalibration()} | options).fit([0.1, 0.9], [0, 1])


@pytest.mark.parametrize(
    ("notion", "n_occurred", "said"),
    [
        ("class-wise", 2, [r"no calibration row is of class c; d among 60: .* Fit on more rows\."]),
        ("top-label", 2, [r"no calibration row is of class c; d among 60: .* Fit on more rows\."]),
        ("class-wise", 1, ["only the class a"]),
        ("confidence", 2, []),
        ("class-wise", 4, []),
    ],
)
def test_classes_that_did_not_occur_are_told_of_once_where_a_map_needs_them(notion, n_occurred, said):
    prob, label = np.random.default_rng(0).dirichlet(np.ones(4), 60), np.arange(60) % n_occurred
    with warnings.catch_warnings(record=True, action="always") as heard:
        cal.ByNotion(cal.PlattScaling(), notion, labels=list("abcd")).fit(prob, np.array(list("abcd"))[label])
    assert len(heard) == len(said)
    for one, message in zip(heard, said, strict=True):
        assert one.category is CalibrationWarning
        assert re.search(message, str(one.message))


# Top labels


points = st.integers(1, 6)


def lists(rows):
    label, prob, _ = repeated(rows)
    return prob.tolist(), label.tolist()


def of_histograms(rows, k, notion, **options):
    label, prob, weight = rows
    calibrator = cal.ByNotion(cal.HistogramBinning(PointsPerBin(k)), notion, labels=range(prob.shape[1]), **options)
    return calibrator.fit(prob, label, weight)


@pytest.mark.first(1)
@given(rows=tables(), k=points)
@pytest.mark.parametrize(
    ("notion", "algorithm"), [("top-label", top_label.top_label), ("confidence", top_label.confidence)]
)
def test_the_top_pair_is_that_of_algorithms_1_and_3(notion, algorithm, rows, k):
    expected = algorithm(top_label.histogram(k), *lists(rows))
    label, score = of_histograms(rows, k, notion).predict_top(rows[1])
    assert label.tolist() == [expected(row)[0] for row in rows[1].tolist()]
    np.testing.assert_allclose(score, [expected(row)[1] for row in rows[1].tolist()], rtol=1e-12)


@pytest.mark.first(1)
@given(rows=tables(), k=points)
@pytest.mark.parametrize(("normalize", "algorithm"), [(False, top_label.class_wise), (True, top_label.normalized)])
def test_the_rows_are_those_of_algorithms_2_and_4(normalize, algorithm, rows, k):
    expected = algorithm(top_label.histogram(k), *lists(rows))
    prob = of_histograms(rows, k, "class-wise", normalize=normalize).predict_proba(rows[1])
    np.testing.assert_allclose(prob, [expected(row) for row in rows[1].tolist()], rtol=1e-12)


@pytest.mark.first(1)
@given(rows=tables(n_classes=st.integers(3, 4)), k=points)
@pytest.mark.parametrize(("notion", "given_class"), [("top-2-confidence", False), ("top-2-label", True)])
def test_the_two_highest_classes_have_the_probabilities_of_algorithm_5(notion, given_class, rows, k):
    expected = top_label.top_k(top_label.histogram(k), *lists(rows), 2, given_class=given_class)
    calibrator = of_histograms(rows, k, notion, normalize=False)
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
    merged = of_histograms(rows, k, notion, normalize=False).predict_proba(rows[1])
    calibrator = of_histograms(rows, k, notion, normalize=normalize)
    label, score = calibrator.predict_top(rows[1])
    np.testing.assert_array_equal(label, rows[1].argmax(axis=1))
    np.testing.assert_array_equal(score, merged[np.arange(len(merged)), label])


@pytest.mark.parametrize("notion", ["confidence", "top-label", "class-wise", "one-vs-rest", "top-2-confidence"])
@pytest.mark.parametrize("input", ["probability", "logit"])
def test_blocks_of_rows_do_not_show_in_the_top_pair(notion, input, monkeypatch):
    rng = np.random.default_rng(0)
    logits, label = 2.0 * rng.standard_normal((100, 3)), rng.integers(0, 3, 100)
    forecast = logits if input == "logit" else np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    calibrator = cal.ByNotion(cal.IsotonicCalibration(), notion, input=input).fit(forecast, label)
    whole = calibrator.predict_top(forecast)
    monkeypatch.setattr(cal.ByNotion, "block", 12)
    for part, all_at_once in zip(calibrator.predict_top(forecast), whole, strict=True):
        np.testing.assert_array_equal(part, all_at_once)


# Algorithm 8 by its name


def test_top_label_histogram_binning_has_the_defaults_of_the_theorem():
    y, prob = cal.load_digits_forecast()
    named = TopLabelHistogramBinning(20).fit(prob, y)
    spelled = cal.ByNotion(cal.HistogramBinning(PointsPerBin(20), interior=True, delta=1e-10), "top-label").fit(prob, y)
    for of_named, of_spelled in zip(named.predict_top(prob), spelled.predict_top(prob), strict=True):
        np.testing.assert_array_equal(of_named, of_spelled)
    default = cal.HistogramBinning(PointsPerBin(50), interior=True, delta=1e-10)
    assert TopLabelHistogramBinning().calibrator.get_params() == default.get_params()
    assert set(named.get_params()) == {"points_per_bin", "delta", "random_state", "unseen", "input", "labels"}


# An estimator of scikit-learn as the binary calibrator


@pytest.mark.parametrize("notion", ["top-label", "class-wise", "confidence"])
def test_an_estimator_of_scikit_learn_calibrates_each_problem(notion):
    y, prob = cal.load_digits_forecast()
    weight = np.random.default_rng(0).integers(1, 3, len(y))
    fit = cal.ByNotion(LogisticRegression(), notion).fit(prob, y, weight)
    parts = list(fit.notion_.parts(prob))
    for own, part in zip(fit.calibrators_, parts, strict=True):
        rows, score = part.rows, part.scores(prob)
        alone = LogisticRegression().fit(score[:, None], (y[rows] == part.column).astype(int), weight[rows])
        np.testing.assert_allclose(own._apply(score), alone.predict_proba(score[:, None])[:, 1], rtol=1e-12)


def test_a_regressor_is_cut_to_probabilities_and_one_outcome_is_its_map():
    prob, label = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.3, 0.7]]), [0, 0, 1, 0]
    fit = cal.ByNotion(IsotonicRegression(out_of_bounds="clip"), "top-label").fit(prob, label)
    assert fit.calibrators_[0].constant_ == 1.0
    assert fit.predict_top(prob)[1].tolist() == [1.0, 1.0, 1.0, 0.0]
    np.testing.assert_allclose(fit.predict_proba(prob).sum(axis=1), 1.0)


def test_an_estimator_gives_probabilities_takes_the_weights_that_come_and_is_not_saved(tmp_path):
    y, prob = cal.load_digits_forecast()
    with pytest.raises(TypeError, match=r"a classifier with predict_proba, or a regressor; got RidgeClassifier\(\)"):
        cal.ByNotion(RidgeClassifier()).fit(prob, y)  # its predict gives classes
    with pytest.raises(ValueError, match="fit takes sample_weight; got KNeighborsClassifier"):
        cal.ByNotion(KNeighborsClassifier()).fit(prob, y, np.arange(len(y)) % 2 + 1.0)
    with pytest.raises(TypeError, match="a saved calibrator holds"):
        cal.save_calibrator(cal.ByNotion(LogisticRegression()).fit(prob, y), tmp_path / "map.json")
    assert ScalingBinning(LogisticRegression(), n_bins=4).fit(prob[:, 3], y == 3).value_.size == 4


# One isotonic map for all classes beside one for each


def flattened(*rows, **options):
    return cal.ByNotion(cal.IsotonicCalibration(finite=None), "flattened", **options).fit(*rows)


@given(rows=tables())
def test_one_map_is_the_isotonic_fit_of_all_columns(rows):
    label, prob, weight = rows
    k = prob.shape[1]
    found = flattened(prob, label, weight, normalize=False, labels=range(k)).predict_proba(prob)
    flat = prob.ravel().tolist(), np.eye(k)[label].ravel().tolist(), weight.repeat(k).tolist()
    expected = dict(zip(*isotonic.fit(*flat), strict=True))
    np.testing.assert_allclose(found, [[expected[p] for p in row] for row in prob.tolist()], rtol=1e-9, atol=1e-12)


# Figures
FLOOR = 1e-7
"""Of the map, before rows are divided by their sums."""


@pytest.mark.parametrize(
    ("name", "objective", "held_out"),
    [
        ("cifar100_densenet_bc", 0.884718, 0.8805),
        ("cifar100_lenet5", 3.781316, 3.8169),
        ("cifar10_lenet5", 1.288933, 1.3316),
    ],
)
def test_one_map_has_the_known_losses_on_fitted_and_on_held_out_rows(name, objective, held_out, data_dir):
    data = np.load(data_dir / f"{name}.npz")
    prob, label = data["P"] / data["P"].astype(float).sum(axis=1, keepdims=True), data["y"]
    raw = np.maximum(flattened(prob[:5000], label[:5000], normalize=False).predict_proba(prob), FLOOR)
    loss = -np.log(raw[np.arange(len(label)), label] / raw.sum(axis=1))
    assert loss[:5000].mean() == pytest.approx(objective, abs=5.1e-7)
    assert loss[5000:].mean() == pytest.approx(held_out, abs=5.1e-5)
