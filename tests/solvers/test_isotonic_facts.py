"""The isotonic fit is the best non-decreasing map for every proper score, and clipped the best one within bounds."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from reference import isotonic_facts as twin
from strategies import columns

from calibrant._core.border import as_problem
from calibrant.binning.bins import Ordered
from calibrant.fit.isotonic import isotonic_fit

GRID = [0.0, 0.05, 0.2, 1 / 3, 0.5, 2 / 3, 0.8, 1.0]

thresholds = st.lists(
    st.tuples(st.one_of(st.sampled_from([0.25, 1 / 3, 0.5, 0.75]), st.floats(0.01, 0.99)), st.floats(0.1, 3.0)),
    min_size=1,
    max_size=5,
)
proper_scores = st.one_of(st.sampled_from([twin.log, twin.brier, twin.spherical]), thresholds.map(twin.thresholds))
few_columns = columns(max_rows=12, weights=st.one_of(st.integers(1, 4), st.floats(0.1, 5.0)))
bounds = st.tuples(st.floats(0.01, 0.99), st.floats(0.01, 0.99)).map(sorted)


def fit(rows):
    """The fitted value on each distinct score, and the cells."""
    label, score, weight = rows
    ordered = Ordered.of(as_problem(label, score, sample_weight=weight))
    steps = isotonic_fit(ordered)
    return steps.at_each_score(steps.rate).tolist(), twin.cells(score.tolist(), label.tolist(), weight.tolist())


def close(weight):
    return 1e-12 * weight.sum()


@given(rows=few_columns)
def test_the_fit_is_the_min_max_formula(rows):
    values, found = fit(rows)
    assert values == pytest.approx(twin.min_max(found), abs=1e-12)


@given(rows=few_columns, score=proper_scores, data=st.data())
def test_no_other_monotone_map_has_a_lower_proper_score(rows, score, data):
    values, found = fit(rows)
    other = sorted(data.draw(st.lists(st.floats(0.0, 1.0), min_size=len(found), max_size=len(found))))
    assert twin.total(score, values, found) <= twin.total(score, other, found) + close(rows[2])


@given(rows=few_columns, score=proper_scores, move=st.floats(-0.1, 0.1), data=st.data())
def test_no_small_change_of_the_fit_has_a_lower_proper_score(rows, score, move, data):
    """Neighbours of the optimum: a run of values is moved, as far as the order allows."""
    values, found = fit(rows)
    a = data.draw(st.integers(0, len(values) - 1))
    b = data.draw(st.integers(a, len(values) - 1))
    moved = [min(1.0, max(0.0, q + move)) if a <= i <= b else q for i, q in enumerate(values)]
    other = np.maximum.accumulate(moved) if move > 0 else np.minimum.accumulate(moved[::-1])[::-1]
    assert twin.total(score, values, found) <= twin.total(score, other.tolist(), found) + close(rows[2])


@given(rows=few_columns, score=proper_scores)
def test_no_monotone_map_to_a_grid_has_a_lower_proper_score(rows, score):
    """All event rates of runs of scores are on the grid, and so is the fit: the least value is its own."""
    values, found = fit(rows)
    least = twin.least_on_grid(score, found, {*GRID, *twin.means(found), *values})
    assert twin.total(score, values, found) == pytest.approx(least, abs=close(rows[2]))


def test_of_a_score_that_is_not_proper_the_fit_is_not_the_best():
    values, found = fit((np.array([1, 0, 1]), np.array([0.2, 0.5, 0.5]), np.ones(3)))
    assert values == pytest.approx([2 / 3, 2 / 3])
    assert twin.total(twin.absolute, values, found) > twin.least_on_grid(twin.absolute, found, GRID) + 0.3


@given(rows=few_columns)
def test_squared_error_descends_nowhere_from_the_fit(rows):
    """Over real values, exactly: the steps from 0 to 1 span all monotone maps."""
    values, found = fit(rows)
    assert twin.descent(twin.slopes("brier", values, found), values, 0.0, 1.0) == pytest.approx(0.0, abs=close(rows[2]))


# Within bounds


@given(p=st.floats(0.0, 1.0), score=proper_scores, between=bounds)
def test_the_best_probability_within_bounds_is_the_clipped_one(p, score, between):
    """On either side of it a proper score rises with the distance."""
    low, high = between
    cell, best = (p, 1 - p), twin.clipped([p], low, high)[0]
    for way in (np.linspace(best, low, 20), np.linspace(best, high, 20)):
        costs = [twin.cost(score, q, cell) for q in way]
        assert (np.diff(costs) >= -1e-12).all()


@given(rows=few_columns, score=proper_scores, between=bounds)
@example((np.array([1, 1, 0]), np.array([0.2, 0.4, 0.6]), np.ones(3)), twin.brier, [0.1, 0.5])
def test_no_monotone_map_to_a_grid_within_bounds_has_a_lower_proper_score_than_the_clipped_fit(rows, score, between):
    values, found = fit(rows)
    low, high = between
    best = twin.clipped(values, low, high)
    grid = {q for q in (*GRID, *twin.means(found), *np.linspace(low, high, 7), *best) if low <= q <= high}
    assert twin.total(score, best, found) == pytest.approx(twin.least_on_grid(score, found, grid), abs=close(rows[2]))


@pytest.mark.parametrize("score", ["brier", "log"])
@given(rows=few_columns, between=bounds)
def test_within_bounds_convex_scores_descend_nowhere_from_the_clipped_fit(score, rows, between):
    values, found = fit(rows)
    best = twin.clipped(values, *between)
    slopes = twin.slopes(score, best, found)
    rounding = 1e-12 * sum(abs(slope) for slope in slopes) + close(rows[2])
    assert twin.descent(slopes, best, *between) == pytest.approx(0.0, abs=rounding)


@given(rows=few_columns, score=proper_scores, between=bounds)
def test_where_every_upper_set_has_at_most_the_mean_a_constant_is_best(rows, score, between):
    """All events come at the lower scores: the fit is the event rate, and within bounds the clipped one."""
    label, points, weight = rows
    turned = np.sort(label)[::-1], np.sort(points), weight
    values, found = fit(turned)
    rate = twin.means([tuple(map(sum, zip(*found, strict=True)))])[0]
    assert values == pytest.approx([rate] * len(found), rel=1e-12)
    best = twin.clipped([rate] * len(found), *between)
    grid = {*np.linspace(*between, 12), *best}
    assert twin.total(score, best, found) == pytest.approx(twin.least_on_grid(score, found, grid), abs=close(weight))
