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


# Within bounds


@given(rows=few_columns, score=proper_scores, between=bounds)
@example((np.array([1, 1, 0]), np.array([0.2, 0.4, 0.6]), np.ones(3)), twin.brier, [0.1, 0.5])
def test_no_monotone_map_to_a_grid_within_bounds_has_a_lower_proper_score_than_the_clipped_fit(rows, score, between):
    values, found = fit(rows)
    low, high = between
    best = twin.clipped(values, low, high)
    grid = {q for q in (*GRID, *twin.means(found), *np.linspace(low, high, 7), *best) if low <= q <= high}
    assert twin.total(score, best, found) == pytest.approx(twin.least_on_grid(score, found, grid), abs=close(rows[2]))
