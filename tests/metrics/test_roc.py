"""ROC curves against their definitions: points, areas, their intervals, and the hull, which is that of the isotonic fit."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from reference import roc as reference
from scipy.special import expit
from scipy.stats import t as student
from sklearn.metrics import roc_auc_score
from strategies import columns, dirichlet_rows, tables

import calibrant as cb
from calibrant._core.border import as_problem
from calibrant._core.registry import find
from calibrant.curves import roc_curve
from calibrant.exceptions import CalibrationWarning
from calibrant.metrics import area_under_roc_hull_score, hand_till_score, roc_convex_hull
from calibrant.metrics.estimate import Resampling
from calibrant.metrics.roc import area_under_roc, between_classes, each_class, mean_area, roc_panel, under_curve
from calibrant.notions import OneVsRest

NAMES = ("roc-auc", "hand-till", "hull-auc")
RESAMPLING = Resampling(0.05, 1, np.random.default_rng(0))

whole = columns(min_rows=2).filter(lambda rows: 0 < rows[0].sum() < rows[0].size)
both = whole | columns(min_rows=2, weights=st.floats(0.01, 5.0)).filter(lambda rows: 0 < rows[0].sum() < rows[0].size)
every = tables(min_rows=4).filter(lambda rows: np.unique(rows[0]).size == rows[1].shape[1])


def interval(name, label, prob, **data):
    estimate = find("metric", name).estimator(as_problem(label, prob, **data), RESAMPLING)
    assert estimate.lower <= estimate.value <= estimate.upper
    return estimate


# The definitions, and scikit-learn


@given(rows=both)
def test_the_area_is_the_share_of_pairs_in_order(rows):
    label, score, weight = rows
    expected = reference.area(*(column.tolist() for column in rows))
    assert area_under_roc(label, score, sample_weight=weight) == pytest.approx(expected, abs=1e-12)
    assert hand_till_score(label, score, sample_weight=weight) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("far", [0.0, 60.0, -60.0, 2000.0])
def test_logits_are_ranked_where_their_probabilities_are_0_or_1(far):
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 200)
    logit = np.round(far + 10.0 * label + rng.normal(0.0, 10.0, 200), 1)
    for one in (logit, np.column_stack([np.zeros(200), logit])):
        assert area_under_roc(label, one, input="logit") == pytest.approx(roc_auc_score(label, logit), abs=1e-12)
    (panel,) = roc_curve(label, logit, input="logit").panels
    assert panel.threshold[1:].tolist() == expit(np.unique(logit)[::-1]).tolist()


@given(rows=every)
def test_one_against_the_rest_is_that_of_scikit_learn(rows):
    label, prob, weight = rows
    spoken_of = range(prob.shape[1]) if prob.shape[1] > 2 else [1]  # two columns speak of the second
    each = [roc_auc_score(label == k, prob[:, k], sample_weight=weight) for k in spoken_of]
    assert area_under_roc(label, prob, sample_weight=weight) == pytest.approx(np.mean(each), abs=1e-12)


@given(rows=every)
def test_the_mean_over_pairs_is_that_of_hand_and_till(rows):
    label, prob, weight = rows
    # Two columns speak of the second; in the first a small number may be lost beside 1.
    column = np.column_stack([-prob[:, 1], prob[:, 1]]) if prob.shape[1] == 2 else prob
    expected = reference.mean_over_pairs(label.tolist(), column.tolist(), weight.tolist(), prob.shape[1])
    assert hand_till_score(label, prob, sample_weight=weight) == pytest.approx(expected, abs=1e-12)


@given(rows=both)
def test_the_hull_is_never_below_the_curve(rows):
    label, score, weight = rows
    hull = area_under_roc_hull_score(label, score, sample_weight=weight)
    expected = reference.area_of_hull(*(column.tolist() for column in rows))
    assert hull == pytest.approx(expected, abs=1e-12)
    assert hull >= area_under_roc(label, score, sample_weight=weight) - 1e-12


def test_a_notion_says_which_events():
    label, prob = dirichlet_rows(200, 3)
    right = prob.argmax(axis=1) == label
    assert area_under_roc(label, prob, notion="confidence") == pytest.approx(roc_auc_score(right, prob.max(axis=1)))
    assert area_under_roc(label, prob, notion=OneVsRest(1)) == pytest.approx(roc_auc_score(label == 1, prob[:, 1]))


# What is not defined


@pytest.mark.parametrize("name", NAMES)
def test_of_one_class_nothing_is_defined_and_it_says_so(name):
    entry = find("metric", name)
    with pytest.warns(CalibrationWarning, match=r"an AUC must have rows with and without the event; got no event in"):
        assert np.isnan(entry.target([0, 0], [0.2, 0.7]))
    with pytest.warns(CalibrationWarning, match="set to nan"):
        estimate = entry.estimator(as_problem([0, 0], [0.2, 0.7]), RESAMPLING)
    assert np.isnan([estimate.value, estimate.lower, estimate.upper]).all()


def test_a_class_that_never_came_is_named():
    label, prob = [0, 1, 1], [[0.5, 0.3, 0.2, 0.0], [0.1, 0.8, 0.1, 0.0], [0.2, 0.2, 0.6, 0.0]]
    with pytest.warns(CalibrationWarning, match="got no event in 'class 2', and 1 more such, and the area is set to"):
        assert np.isnan(area_under_roc(label, prob))
    with pytest.warns(CalibrationWarning, match="rows of every class; got none of class 2, and 1 more such, and it"):
        assert np.isnan(hand_till_score(label, prob))
    assert area_under_roc(label, prob, notion=OneVsRest(1)) == 0.5


def test_a_class_that_is_never_predicted_has_no_part():
    prob = np.array([[0.6, 0.4, 0.0], [0.7, 0.3, 0.0], [0.2, 0.8, 0.0], [0.4, 0.6, 0.0]])
    with warnings.catch_warnings(action="error"):
        assert area_under_roc([0, 1, 1, 0], prob, notion="top-label") == 0.5


# The interval


@given(rows=columns(min_rows=4))
def test_the_interval_is_that_of_wilson_with_the_variance_of_delong(rows):
    label, score, _ = rows
    assume(2 <= label.sum() <= label.size - 2)
    assume(1e-9 < area_under_roc(label, score) < 1.0 - 1e-9)
    assume(np.unique(score).size > 1)
    expected = reference.interval(label.tolist(), score.tolist(), lambda freedom: student.ppf(0.975, freedom))
    found = interval("roc-auc", label, score)
    assert (found.lower, found.upper) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("k", [3, 4])
def test_the_variance_of_pairs_is_that_of_leaving_out_each_row_of_each_class(k):
    label, prob = dirichlet_rows(50, k, seed=k)
    expected = reference.jackknife_variance(hand_till_score, label, prob)
    assert between_classes(as_problem(label, prob)).spread.variance == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_classes_told_apart_without_a_mistake_are_no_certainty(name):
    """A hundred rows of which ten are events: Wilson's interval of ten out of ten."""
    label = np.repeat([0, 1], [90, 10])
    estimate = interval(name, label, np.linspace(0.0, 1.0, 100), sample_weight=np.full(100, 0.1))
    assert (estimate.lower, estimate.upper) == pytest.approx((1.0 / (1.0 + 1.959963984540054**2 / 10.0), 1.0))


def test_a_class_of_one_row_adds_the_largest_variance_that_its_placement_may_have():
    problem = as_problem([1, 0, 0, 0, 0], [0.5, 0.1, 0.2, 0.3, 0.6])
    found = mean_area(problem, each_class(None, problem), under_curve)
    assert found.value == 0.75
    assert found.spread.variance == pytest.approx(0.75 * 0.25 + 0.25 / 4)


@pytest.mark.parametrize("n_classes", [3, 6, 7, 11])
def test_the_mean_of_equal_areas_is_their_area(n_classes):
    for seed in range(20):
        y = np.random.default_rng(seed).integers(0, n_classes, 60)
        y[:n_classes] = np.arange(n_classes)
        assert area_under_roc_hull_score(y, np.full((60, n_classes), 1.0 / n_classes)) == 0.5


def points_of(label, score, weight):
    return roc_panel(as_problem(label, score, sample_weight=weight))


def drawn(points):
    return np.column_stack([points.fpr, points.tpr])


# The points


@given(rows=both)
def test_the_points_are_those_of_the_definition(rows):
    found = points_of(*rows)
    expected = reference.points(*(column.tolist() for column in rows))
    np.testing.assert_allclose(np.column_stack([found.threshold, found.fpr, found.tpr]), expected, atol=1e-12)


# Theorem 2.1


@given(rows=whole)
def test_of_whole_weights_the_vertices_are_exactly_the_points_of_the_fit(rows):
    label, score, weight = rows
    fitted = cb.IsotonicCalibration(finite=None).fit(score, label, sample_weight=weight).calibrate(score)
    before, after = points_of(*rows), points_of(label, fitted, weight)
    np.testing.assert_array_equal(drawn(after), drawn(before)[before.vertex])


# The public result


def test_the_hull_says_what_it_is():
    hull = roc_convex_hull([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8])
    assert repr(hull) == "RocHull(vertices=4, area=0.8750)"
    assert hull.threshold.tolist() == [np.inf, 0.8, 0.2, 0.1]
    assert hull.tnr.tolist() == [1.0, 1.0, 0.5, 0.0]
    frame = hull.to_frame("polars")
    assert frame.columns == ["threshold", "fpr", "tpr"]
    assert len(frame) == 4


def test_a_table_of_more_classes_needs_an_event():
    prob = [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]]
    with pytest.raises(ValueError, match=r"must speak of one event; got 3 classes\. Pass notion=OneVsRest\(0\)"):
        roc_convex_hull([0, 1, 2], prob)
    with pytest.raises(ValueError, match=r"must make one problem, .*; 'class-wise' makes 3\. Pass"):
        roc_convex_hull([0, 1, 2], prob, notion="class-wise")
    assert roc_convex_hull([0, 1, 2], prob, notion=OneVsRest(1)).area == 1.0
    assert roc_convex_hull([0, 1, 1], prob, notion="confidence").area == 0.75


@pytest.mark.parametrize(("label", "given"), [(0, "no event"), (1, "events alone")])
def test_of_one_class_the_area_is_not_defined_and_says_so(label, given):
    with pytest.warns(CalibrationWarning, match=f"and without the event; got {given} in 'class 1', and the area"):
        hull = roc_convex_hull([label, label], [0.2, 0.4])
    assert np.isnan(hull.area)
    assert np.isnan(hull.tpr if label == 0 else hull.fpr).all()
