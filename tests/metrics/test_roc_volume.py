"""The ROC surface and the volume under it: points, thresholds, the hull, tuples, published figures, and how sure they are."""

from math import factorial
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import roc_surface as reference
from scipy.spatial import ConvexHull

from calibrant import assess
from calibrant._core.border import as_problem
from calibrant._core.rows import as_simplex
from calibrant._kernels.roc_surface import best_along
from calibrant.exceptions import CalibrationWarning
from calibrant.metrics import roc_volume as surfaces
from calibrant.metrics import volume_under_surface_score
from calibrant.sums.draws import as_rng

two_to_four, three_or_four = st.integers(2, 4), st.integers(3, 4)


@st.composite
def small_tables(draw, most_rows=2, classes=two_to_four):
    """Every class occurs, forecasts tie and repeat; labels, probabilities and weights."""
    k = draw(classes)
    n = k + draw(st.integers(0, most_rows))
    row = st.lists(st.integers(0, 4), min_size=k, max_size=k).filter(any)
    raw = np.array(draw(st.lists(row, min_size=n, max_size=n)))
    label = np.array([*range(k), *draw(st.lists(st.integers(0, k - 1), min_size=n - k, max_size=n - k))])
    weight = np.array(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)), dtype=float)
    return label, raw / raw.sum(axis=1, keepdims=True), weight


def rows_of(label, prob, weight=None):
    problem = as_problem(label, prob, sample_weight=weight, labels=range(prob.shape[1]))
    return surfaces.SurfaceRows.of(as_simplex(problem))


def sought(rows, most):
    """The surface at thresholds that the data say."""
    return surfaces.surface_points(rows, surfaces.as_thresholds("data", most, rows))


def forecasts(n, n_classes, seed=0, separation=1.0):
    """Labels and the true probabilities of them, with some noise of the classes."""
    rng = np.random.default_rng(seed)
    label = np.append(np.arange(n_classes), rng.integers(0, n_classes, n - n_classes))
    seen = rng.normal(size=(n, n_classes)) + separation * np.eye(n_classes)[label]
    odds = np.exp(separation * seen)
    return label, odds / odds.sum(axis=1, keepdims=True)


# Points


@given(table=small_tables())
def test_the_corners_of_all_cells_give_every_point_of_the_surface(table):
    label, prob, weight = table
    rows = rows_of(label, prob, weight)
    found = {tuple(p) for p in sought(rows, 10**6).round(9).tolist()}
    assert found == reference.all_points(prob.tolist(), label, weight)


@given(table=small_tables(most_rows=15, classes=three_or_four))
def test_few_thresholds_give_points_of_the_surface_only_and_not_too_many(table):
    label, prob, weight = table
    rows = rows_of(label, prob, weight)
    gamma = surfaces.as_thresholds("data", 30, rows)
    assert len(gamma) <= 30 + prob.shape[1]
    np.testing.assert_allclose(gamma[prob.shape[1] :].sum(axis=1), 1.0)
    expected = [reference.point(rows.prob.tolist(), rows.label, rows.weight, g) for g in gamma.tolist()]
    np.testing.assert_allclose(surfaces.surface_points(rows, gamma), expected, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3, 4, 6])
def test_the_corners_tell_one_class_alone(n_classes):
    label, prob = forecasts(60, n_classes)
    corners = surfaces.surface_points(rows_of(label, prob), surfaces.corner_thresholds(n_classes))
    np.testing.assert_array_equal(corners, np.eye(n_classes))


@pytest.mark.parametrize(("n_classes", "steps", "beyond", "n"), [(2, 10, 6, 23), (3, 2, 2, 36), (3, 100, 51, 28407)])
def test_a_grid_reaches_beyond_the_simplex_on_each_side(n_classes, steps, beyond, n):
    grid = surfaces.grid_thresholds(n_classes, steps)
    assert len(grid) == n
    assert grid.min() == pytest.approx(-beyond / steps)
    assert grid.max() == pytest.approx(1 + beyond / steps)
    np.testing.assert_allclose(grid.sum(axis=1), 1.0)


def test_numbers_of_corners_beyond_all_integers_are_too_many():
    many = np.broadcast_to(0.0, 2**32)  # (2 * 2^32)^4 is 0 in 64 bits
    assert surfaces.number_of_corners(5, [np.zeros(1), *[many] * 9], 2000) > 2000


@given(table=small_tables(most_rows=6, classes=three_or_four), seed=st.integers(0, 99))
def test_the_best_part_of_a_threshold_reaches_what_it_says_and_no_other_reaches_farther(table, seed):
    rows, rng = rows_of(*table), np.random.default_rng(seed)
    k, n_classes = int(rng.integers(rows.n_classes)), rows.n_classes
    gamma, direction = rng.integers(-2, 3, n_classes) / 4, rng.integers(0, 3, n_classes) / 2.0

    def reached(part):
        gamma[k] = part
        return direction @ reference.point(rows.prob.tolist(), rows.label, rows.weight, gamma.tolist())

    at, best = best_along(rows.prob, rows.label, rows.share, direction, gamma, k)
    assert reached(at) == pytest.approx(best, abs=1e-9)
    assert best >= max(reached(part) for part in np.linspace(-3.0, 3.0, 41) + 1e-6) - 1e-9


def test_a_part_that_does_best_without_rows_on_its_side_lies_above_all_of_them():
    rows = rows_of(np.array([1, 1, 0]), np.array([[0.95, 0.05], [0.05, 0.95], [0.03, 0.97]]), np.ones(3))
    at, best = best_along(rows.prob, rows.label, rows.share, np.array([0.0, 1.0]), np.zeros(2), 0)
    assert (at > 0.9, best) == (True, 1.0)


def test_directions_are_those_of_the_facets():
    points = np.vstack([np.eye(surfaces.MOST_CLASSES), np.full(surfaces.MOST_CLASSES, 0.9)])
    found, farthest = surfaces._directions(points, 100)
    outward = np.maximum(surfaces.Hull.of(points).normals, 0.0)
    assert len(found) == len(outward)
    assert {tuple(one) for one in found.round(9)} == {tuple(one) for one in outward.round(9)}
    assert (found * points[farthest]).sum(axis=1) == pytest.approx((found @ points.T).max(axis=1))


def test_the_rows_on_which_thresholds_are_moved_are_like_all_of_their_class(monkeypatch):
    monkeypatch.setattr(surfaces, "MOST_ROWS", 60)
    rows = rows_of(*forecasts(900, 3, seed=9))
    sample = surfaces._sample(rows)
    for k in range(3):
        some, everyone = sample.prob[sample.label == k], rows.prob[rows.label == k]
        assert len(some) == 60
        np.testing.assert_allclose(some.mean(axis=0), everyone.mean(axis=0), atol=0.05)


def test_two_scores_that_differ_beyond_all_rounding_of_the_other_column_are_parted():
    prob = np.array([1e-30, 1e-20])
    rows = surfaces.SurfaceRows.of(as_simplex(as_problem([0, 1], prob)))
    assert surfaces.Hull.of(sought(rows, 1)).volume == 1.0


# Hull


@given(table=small_tables())
def test_the_hull_volume_is_that_of_all_points_and_the_origin(table):
    label, prob, weight = table
    volume = surfaces.Hull.of(sought(rows_of(label, prob, weight), 10**6)).volume
    expected = reference.hull_volume(sorted(reference.all_points(prob.tolist(), label, weight)))
    assert volume == pytest.approx(expected, abs=1e-7)


def test_a_facet_at_the_origin_has_no_volume_though_rounding_moves_it_off(monkeypatch):
    points = sought(rows_of(*forecasts(30, 3, seed=1)), 100)
    expected = surfaces.Hull.of(points).volume

    def moved(given):
        found = ConvexHull(given)
        equations = found.equations.copy()
        equations[:, -1] -= 1e-10
        return SimpleNamespace(equations=equations, simplices=found.simplices)

    monkeypatch.setattr(surfaces, "ConvexHull", moved)
    assert surfaces.Hull.of(points).volume == expected


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5])
def test_the_pull_of_the_points_is_the_gradient_of_the_volume(n_classes):
    label, prob = forecasts(80, n_classes, seed=3)
    hull = surfaces.Hull.of(sought(rows_of(label, prob), 300))
    # The volume grows with the part of each class as a whole.
    np.testing.assert_allclose((hull.pull * hull.points).sum(axis=0), hull.volume)
    shift = np.random.default_rng(0).normal(size=hull.points.shape) * 1e-6
    there, back = (hull.volume_at(hull.points + sign * shift) for sign in (1, -1))
    assert (there - back) / 2 == pytest.approx((hull.pull * shift).sum(), rel=1e-5)
    assert hull.volume_at(hull.points) == pytest.approx(hull.volume)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_the_mean_influence_in_each_class_is_the_volume(n_classes):
    label, prob = forecasts(80, n_classes, seed=4)
    weight = np.random.default_rng(5).integers(1, 4, 80).astype(float)
    rows = rows_of(label, prob, weight)
    gamma = surfaces.as_thresholds("data", 300, rows)
    hull = surfaces.Hull.of(surfaces.surface_points(rows, gamma))
    added = surfaces.influence(rows, gamma, hull.pull)
    for k in range(n_classes):
        own = rows.label == k
        assert np.average(added[own], weights=rows.weight[own]) == pytest.approx(hull.volume)


def test_the_variance_is_the_same_seen_from_above():
    """Half of the rows that are added to each class have the largest influence, half none."""
    label, prob = forecasts(60, 3, seed=7)
    rows = rows_of(label, prob)
    gamma = surfaces.as_thresholds("data", 300, rows)
    pull = surfaces.Hull.of(surfaces.surface_points(rows, gamma)).pull
    added, highest = surfaces.influence(rows, gamma, pull), pull.sum(axis=0)
    for z in (0.0, 1.96):
        turned = sum(_spread(highest[k] - added[rows.label == k], highest[k], z**2 / 2.0) for k in range(3))
        assert surfaces._variance(rows, gamma, pull, z) == pytest.approx(turned, rel=1e-10)


def _spread(values, highest, extra):
    """Variance of the mean of values, with so many of the highest and as many zeros added."""
    n = len(values)
    mean = (values.sum() + extra * highest) / (n + 2 * extra)
    squares = ((values - mean) ** 2).sum() + extra * ((highest - mean) ** 2 + mean**2)
    return squares / (n + 2 * extra) ** 2


# Tuples


@given(table=small_tables(most_rows=4))
def test_the_share_of_tuples_that_are_sorted_right_is_its_definition(table):
    label, prob, weight = table
    found = surfaces.sorted_right(rows_of(label, prob, weight), np.random.default_rng(0))
    assert found == pytest.approx(reference.sorted_right(prob.tolist(), label, weight), abs=1e-12)


@pytest.mark.parametrize("n_classes", [3, 4, 5])
def test_drawn_tuples_have_the_share_of_all_of_them(n_classes, monkeypatch):
    label, prob = forecasts(8 * n_classes, n_classes, seed=10)
    label = np.arange(len(label)) % n_classes
    weight = np.random.default_rng(0).integers(1, 4, len(label)).astype(float)
    rows = rows_of(label, prob, weight)
    everyone = surfaces.sorted_right(rows, np.random.default_rng(0))
    monkeypatch.setattr(surfaces, "MOST_TUPLES", 0)
    found = surfaces.sorted_right(rows, np.random.default_rng(1))
    error = np.sqrt(everyone * (1 - everyone) / surfaces.N_DRAWS)
    assert 0 < abs(found - everyone) < 4 * error


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 8, 14, 40])
def test_forecasts_that_are_all_equal_have_the_share_of_chance(n_classes):
    rows = rows_of(np.arange(n_classes), np.full((n_classes, n_classes), 1 / n_classes))
    chance = 1 / factorial(n_classes)
    assert surfaces.sorted_right(rows, np.random.default_rng(0)) / chance == pytest.approx(1.0)
    if n_classes <= 5:
        assert surfaces.Hull.of(sought(rows, 100)).volume == pytest.approx(chance)


FIGURES = [("covertype3", "cal", 0.760733), ("covertype3", "test", 0.730387), ("covertype2", "cal", 0.872809)]


@pytest.mark.parametrize(("name", "part", "expected"), FIGURES)
def test_on_the_grids_of_the_paper_the_volumes_are_those_computed_independently(data_dir, name, part, expected):
    with np.load(data_dir / f"{name}.npz") as held:
        prob, label = held[f"P_{part}"], held[f"y_{part}"].astype(int)
    found = volume_under_surface_score(label - label.min(), prob, thresholds=surfaces.grid_thresholds(prob.shape[1]))
    assert found == pytest.approx(expected, abs=5e-7)
    assert volume_under_surface_score(label - label.min(), prob) > expected


@pytest.mark.parametrize("method", surfaces.METHODS)
@pytest.mark.parametrize("n_classes", [2, 3, 4, 5])
def test_classes_that_a_threshold_tells_apart_have_the_volume_one(method, n_classes):
    # No argmax tells them apart: the first class always has the highest probability.
    label = np.arange(3 * n_classes) % n_classes
    prob = 0.1 * np.eye(n_classes)[label]
    prob[:, 0] += 0.9
    assert volume_under_surface_score(label, prob, method=method) == pytest.approx(1.0)


@pytest.mark.first(1)
@pytest.mark.parametrize("n_classes", [6, 40])
def test_beyond_five_classes_the_hull_is_undefined_with_a_warning_and_the_probability_is_not(n_classes):
    label, prob = forecasts(5 * n_classes, n_classes, separation=6.0)
    message = f"at most 5 classes; got {n_classes}, and it is set to nan. Call volume_under_surface_score with method="
    with pytest.warns(CalibrationWarning, match=message):
        assert np.isnan(volume_under_surface_score(label, prob))
    with pytest.warns(CalibrationWarning, match=message):
        found = assess(label, prob, metrics=["vus"], n_resamples=1)["vus"]
    assert np.isnan([found.value, found.lower, found.upper]).all()
    assert 0 < volume_under_surface_score(label, prob, method="probability") <= 1


@pytest.mark.parametrize("method", surfaces.METHODS)
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
    rows = surfaces.SurfaceRows.of(as_simplex(as_problem(label, prob, sample_weight=weight)))
    parts = list(surfaces._parts(rows, as_rng(0)))
    assert len(parts) == surfaces.FOLDS
    np.testing.assert_allclose(sum(part.class_weight for part, _ in parts), rows.class_weight)
    for part, rest in parts:
        np.testing.assert_allclose(part.class_weight + rest.class_weight, rows.class_weight)
        assert 0 < part.class_weight.sum() < rows.class_weight.sum() / 2
        assert (len(part.label) + len(rest.label) == 40) == (unit != 1.0)


def test_a_single_row_of_a_class_has_an_interval():
    found = assess([0, 1, 2], np.eye(3), metrics=["vus"], n_resamples=1)["vus"]
    assert found.lower < 0.5 < found.value == pytest.approx(1.0)


# Refusals


def test_thresholds_that_no_memory_holds_are_refused():
    with pytest.raises(ValueError, match=r"at most 10000000 combinations of steps; got 10 steps for 7 classes, which"):
        surfaces.as_thresholds(10, 100, rows_of(*forecasts(60, 7)))
    rows = rows_of(*forecasts(60, 9))
    with pytest.raises(ValueError, match=r'"data" must be of at most 5 classes; got 9\. Pass thresholds themselves'):
        surfaces.as_thresholds("data", 100, rows)
    assert len(surfaces.as_thresholds(np.full((2, 9), 1 / 9), 100, rows)) == 11


EACH, NO_ROWS = [0, 1, 2], [0, 0, 0]  # of two classes
REFUSED = [
    (NO_ROWS, {"method": "box"}, "method must be one of 'hull', 'probability'; got 'box'"),
    (NO_ROWS, {"thresholds": "grid"}, "thresholds must be one of 'data'; got 'grid'"),
    (NO_ROWS, {"thresholds": 0}, "thresholds must be a whole number, at least 1; got 0"),
    (EACH, {"thresholds": [[0.5, 0.5]]}, r"a column for each of the 3 classes; got shape \(1, 2\)"),
    (EACH, {"thresholds": [[0.5, 0.5, np.inf]]}, r"thresholds must be finite; got inf at index \(0, 2\)"),
    (NO_ROWS, {"n_thresholds": 0}, "n_thresholds must be a whole number, at least 1; got 0"),
]


@pytest.mark.parametrize(("label", "options", "message"), REFUSED)
def test_what_cannot_be_is_refused_although_classes_have_no_rows(label, options, message):
    with pytest.raises(ValueError, match=message):
        volume_under_surface_score(label, np.eye(3), **options)
