"""Points stand where their forecasts are, keep their labels and vectors together, and are a fair draw of the rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables

from calibrant import TemperatureScaling, load_digits_forecast
from calibrant.binning import RecursiveSplit, Sierpinski, SplitTree
from calibrant.calibrators import CanonicalBinning
from calibrant.curves.simplex_partition import CORNERS, simplex_lattice, simplex_points

Y, PROB = load_digits_forecast()
SPREAD = {k: np.random.default_rng(k).dirichlet(np.ones(k), 300) for k in (3, 4)}
OCCURRED = {k: np.array([np.random.default_rng(i).choice(k, p=p) for i, p in enumerate(SPREAD[k])]) for k in (3, 4)}

each_number = pytest.mark.parametrize("k", [3, 4])


@each_number
def test_corners_are_one_apart(k):
    apart = np.sqrt(((CORNERS[k][:, None] - CORNERS[k]) ** 2).sum(axis=2))
    np.testing.assert_allclose(apart, 1.0 - np.eye(k), atol=1e-12)


@each_number
@given(data=st.data())
def test_a_point_weighs_the_corners_by_its_forecast(k, data):
    label, prob, _ = data.draw(tables(n_classes=st.just(k)))
    points = simplex_points(label, prob, labels=list(range(k)))
    assert points.place.shape == (len(prob), k - 1)
    for row, place in zip(points.prob.tolist(), points.place.tolist(), strict=True):
        for axis in range(k - 1):
            assert place[axis] == pytest.approx(sum(p * CORNERS[k][j, axis] for j, p in enumerate(row)), abs=1e-12)
    np.testing.assert_array_equal(points.label, label)


@each_number
def test_certain_forecasts_lie_at_the_corners(k):
    np.testing.assert_allclose(simplex_points(np.arange(k), np.eye(k)).place, CORNERS[k])


@each_number
def test_a_draw_keeps_rows_whole_and_in_their_order(k):
    fitted = CanonicalBinning(RecursiveSplit(3)).fit(SPREAD[k], OCCURRED[k])
    points = simplex_points(OCCURRED[k], SPREAD[k], fitted, max_points=40, rng=1)
    row = [int(np.flatnonzero((SPREAD[k] == p).all(axis=1))[0]) for p in points.prob]
    assert len(row) == 40
    assert row == sorted(set(row))
    np.testing.assert_array_equal(points.label, OCCURRED[k][row])
    np.testing.assert_array_equal(points.calibrated, fitted.predict_proba(SPREAD[k][row]))
    assert points.n_rows == 300


def test_a_draw_is_repeated_by_its_seed_and_takes_every_row_as_often():
    first = simplex_points(OCCURRED[3], SPREAD[3], max_points=10, rng=5)
    again = simplex_points(OCCURRED[3], SPREAD[3], max_points=10, rng=5)
    np.testing.assert_array_equal(first.prob, again.prob)
    rng, times = np.random.default_rng(0), np.zeros(10)
    for _ in range(2000):
        drawn = simplex_points(OCCURRED[3][:10], SPREAD[3][:10], max_points=3, rng=rng).prob
        times += np.isin(SPREAD[3][:10, 0], drawn[:, 0])
    np.testing.assert_allclose(times / 2000, 0.3, atol=5 * np.sqrt(0.3 * 0.7 / 2000))


def test_no_more_rows_than_asked_for_are_all_shown():
    for most in (300, 301, None):
        points = simplex_points(OCCURRED[3], SPREAD[3], max_points=most)
        np.testing.assert_array_equal(points.prob, SPREAD[3])


def test_calibrated_forecasts_can_be_given_and_lose_the_rows_of_weight_zero_too():
    sharper = SPREAD[3] ** 2 / (SPREAD[3] ** 2).sum(axis=1, keepdims=True)
    weight = np.arange(300) % 3
    points = simplex_points(OCCURRED[3], SPREAD[3], sharper, sample_weight=weight)
    np.testing.assert_array_equal(points.prob, np.repeat(SPREAD[3], weight, axis=0))
    np.testing.assert_array_equal(points.calibrated, np.repeat(sharper, weight, axis=0))
    assert points.calibrator == "given"
    assert points.n_rows == 300


def test_logits_are_shown_as_their_probabilities_and_calibrated_as_logits():
    fitted = TemperatureScaling(input="logit").fit(np.log(SPREAD[4]), OCCURRED[4])
    points = simplex_points(OCCURRED[4], np.log(SPREAD[4]) + 3.0, fitted, input="logit")
    np.testing.assert_allclose(points.prob, SPREAD[4])
    np.testing.assert_allclose(points.calibrated, fitted.predict_proba(np.log(SPREAD[4])))


@each_number
def test_points_of_splitting_are_those_of_the_tree_in_its_order(k):
    fitted = CanonicalBinning(RecursiveSplit(4)).fit(SPREAD[k], OCCURRED[k])
    np.testing.assert_array_equal(simplex_points(OCCURRED[k], SPREAD[k], fitted).splits, fitted.partition_.gamma)
    assert isinstance(fitted.partition_, SplitTree)


def test_a_calibrator_without_a_tree_of_splits_has_none():
    assert (
        simplex_points(OCCURRED[3], SPREAD[3], CanonicalBinning(Sierpinski(1)).fit(SPREAD[3], OCCURRED[3])).splits
        is None
    )
    assert simplex_points(OCCURRED[3], SPREAD[3], lambda prob: prob).splits is None
    assert simplex_points(OCCURRED[3], SPREAD[3]).splits is None


@pytest.mark.parametrize(("k", "resolution", "n"), [(3, 2, 3), (3, 11, 66), (4, 2, 4), (4, 6, 56), (4, None, 969)])
def test_a_lattice_fills_the_simplex_evenly(k, resolution, n):
    points = simplex_lattice(lambda prob: prob[:, ::-1], resolution=resolution, n_classes=k)
    assert len(np.unique(points.prob, axis=0)) == len(points.prob) == n
    np.testing.assert_allclose(points.prob.sum(axis=1), 1.0)
    assert points.prob.min() == pytest.approx(1e-3 / k)
    np.testing.assert_array_equal(points.calibrated, points.prob[:, ::-1])
    np.testing.assert_allclose(points.prob.mean(axis=0), 1.0 / k)
    assert points.label is None


@each_number
def test_a_lattice_of_a_calibrator_has_its_classes_and_splits(k):
    names = np.array(["ant", "bee", "cat", "dog"])[:k]
    fitted = CanonicalBinning(RecursiveSplit(2)).fit(SPREAD[k], names[OCCURRED[k]])
    points = simplex_lattice(fitted)
    assert points.classes == tuple(names)
    np.testing.assert_array_equal(points.calibrated, fitted.predict_proba(points.prob))
    assert points.splits.shape == (2, k)


def test_the_result_says_what_it_is_and_cannot_be_changed():
    points = simplex_points(OCCURRED[4], SPREAD[4], np.sqrt, max_points=20)
    assert repr(points) == "SimplexPoints(sqrt, classes=4, points=20, rows=300)"
    assert repr(simplex_points(OCCURRED[4], SPREAD[4])) == "SimplexPoints(classes=4, points=300, rows=300)"
    for array in (points.prob, points.label, points.calibrated):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    table = points.to_frame("polars")
    assert table.columns == [f"prob_{j}" for j in range(4)] + ["label"] + [f"calibrated_{j}" for j in range(4)]
    assert table["label"].to_list() == [str(k) for k in points.label.tolist()]
    assert simplex_lattice(np.sqrt, resolution=3).to_frame("polars").shape == (10, 8)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((Y, PROB), {}, ValueError, "of three or four classes; y_prob has 10"),
        ((Y == 3, PROB[:, 3]), {}, ValueError, "of three or four classes; y_prob has 2"),
        (
            (OCCURRED[3], SPREAD[3]),
            {"max_points": 0},
            ValueError,
            "max_points must be a whole number, at least 1; got 0",
        ),
        ((OCCURRED[3], SPREAD[3]), {"max_points": 2.5}, TypeError, "max_points must be a whole number"),
        ((OCCURRED[3], SPREAD[3], Sierpinski(2)), {}, TypeError, "got the binning Sierpinski"),
        (
            (OCCURRED[3], SPREAD[3], "dirichlet"),
            {},
            TypeError,
            "must be a fitted calibrator or a function; got 'dirichlet'",
        ),
        (
            (OCCURRED[3], SPREAD[3], SPREAD[3][:5]),
            {},
            ValueError,
            r"a table of shape \(300, 3\), as y_prob is; got \(5, 3\)",
        ),
        ((OCCURRED[3], SPREAD[3], 3 * SPREAD[3]), {}, ValueError, r"calibrator must hold probabilities in \[0, 1\]"),
        (
            (OCCURRED[3], SPREAD[3], TemperatureScaling().fit(SPREAD[4], OCCURRED[4])),
            {},
            ValueError,
            "must have the classes of the forecast, 0, 1, 2; got 0, 1, 2, 3",
        ),
        ((OCCURRED[4], SPREAD[4], lambda prob: prob[:, :3]), {}, ValueError, "Pass a map of 4 classes"),
    ],
    ids=["ten", "two", "none", "half", "binning", "word", "few", "sums", "other classes", "narrow map"],
)
def test_what_cannot_be_shown_is_refused(arguments, options, error, message):
    with pytest.raises(error, match=message):
        simplex_points(*arguments, **options)


@pytest.mark.parametrize(
    ("calibrator", "options", "error", "message"),
    [
        (TemperatureScaling().fit(PROB, Y), {}, ValueError, "of three or four classes; there are 10"),
        (np.sqrt, {"n_classes": 5}, ValueError, "of three or four classes; there are 5"),
        (np.sqrt, {"resolution": 1}, ValueError, "resolution must be a whole number, at least 2"),
        (CanonicalBinning, {}, TypeError, "got the class CanonicalBinning"),
    ],
    ids=["ten", "five", "resolution", "class"],
)
def test_no_lattice_of_anything_else(calibrator, options, error, message):
    with pytest.raises(error, match=message):
        simplex_lattice(calibrator, **options)


def test_points_of_counts_are_those_of_the_repeated_rows():
    times = np.arange(300) % 3
    rows = np.repeat(OCCURRED[3], times), np.repeat(SPREAD[3], times, axis=0)
    for most in (None, 100, 2000):
        counts = simplex_points(OCCURRED[3], SPREAD[3], sample_weight=times, max_points=most)
        np.testing.assert_array_equal(counts.prob, (repeated := simplex_points(*rows, max_points=most)).prob)
        assert (counts.n_rows, counts.label.tolist()) == (times.sum(), repeated.label.tolist())
    assert simplex_points(OCCURRED[3], SPREAD[3], sample_weight=times / 4.0).n_rows == np.count_nonzero(times)
