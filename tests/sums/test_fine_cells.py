"""What is computed from fine cells: the figure of the rows lies within the stated limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import columns

from calibrant import lenses
from calibrant._core.border import as_problem
from calibrant._core.rows import Unit
from calibrant.binning import FineGrid
from calibrant.notions import Binary
from calibrant.sums import Plan, scan
from calibrant.sums.sums import SummedWeights, rounded

ROUNDING = 1e-12

grids = st.sampled_from([1, 4, 256]).map(FineGrid)
close = columns(max_rows=40) | st.tuples(columns(max_rows=40), st.floats(1e-9, 0.5)).map(
    lambda drawn: (drawn[0][0], drawn[0][1] * drawn[1], drawn[0][2])  # many scores in few cells
)
SIZES = [
    (lenses.Cumulative(), lenses.largest, lenses.largest_within),
    (lenses.Cumulative(), lenses.spread, lenses.spread_within),
    (lenses.Smooth(), lenses.fixed_point, lenses.fixed_point_within),
]


def both(data, grid):
    """Return the problem of the rows and that of the cells."""
    label, score, weight = data
    problem = as_problem(label, score, labels=[0, 1], sample_weight=weight)
    (cells,) = scan(problem, Plan.of_cells([(Binary(), grid)])).cells[0]
    return problem, rounded(cells)


def size_of(lens, extent, problem):
    view = lens(problem)
    return float(extent(view, view.look(lenses.residual_of(problem)))[0])


@pytest.mark.parametrize(("lens", "extent", "within"), SIZES)
@given(close, grids)
def test_the_size_of_the_rows_lies_within_the_limits_of_that_of_the_cells(lens, extent, within, data, grid):
    problem, cells = both(data, grid)
    value = size_of(lens, extent, cells)
    lower, upper = within(cells.cells, value)
    assert lower - ROUNDING <= value <= upper + ROUNDING
    exact = size_of(lens, extent, problem)
    assert lower - ROUNDING <= exact <= upper + ROUNDING


@pytest.mark.parametrize(("lens", "extent", "within"), SIZES)
def test_of_many_rows_the_limits_are_narrow(lens, extent, within):
    rng = np.random.default_rng(0)
    score = rng.beta(0.5, 0.5, 20_000)
    _, cells = both((rng.random(20_000) < score**1.2, score, np.ones(20_000)), FineGrid(1024))
    value = size_of(lens, extent, cells)
    lower, upper = within(cells.cells, value)
    assert upper - lower < 0.05 * value


def test_cells_without_both_outcomes_leave_nothing_open():
    _, cells = both((np.zeros(3, int), np.array([0.3, 0.3001, 0.9]), np.ones(3)), FineGrid(4))
    assert (cells.cells.rise == 0.0).all()
    np.testing.assert_allclose(cells.cells.fall, [0.6001, 0.9], rtol=1e-12)


def test_weights_of_cells_are_rows_only_where_each_is_one():
    unit = Unit(are_counts=True, rows_per_weight=1.0)
    assert [SummedWeights(np.array(own), of_whole=unit).are_rows for own in ([1.0, 1.0], [2.0, 1.0])] == [True, False]
