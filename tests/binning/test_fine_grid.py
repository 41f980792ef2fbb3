"""The fine grid: fixed cells, found by arithmetic."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant._core.border import as_problem
from calibrant.binning import Edges, FineGrid

numbers = st.floats(0.0, 1.0) | st.floats(0.0, 1e-9) | st.floats(0.0, 1e-9).map(lambda q: 1.0 - q)
powers = st.integers(0, 12).map(lambda k: 1 << k)


def binary(score, outcome=None):
    return as_problem(np.zeros(len(score), int) if outcome is None else outcome, score, labels=[0, 1])


@given(st.lists(numbers, min_size=1, max_size=20), powers)
def test_the_index_is_that_of_the_edges(score, per_octave):
    grid = FineGrid(per_octave)
    edges = grid.edges(None)
    near = np.concatenate([score, edges[np.searchsorted(edges, score)], [0.0, 0.5, 1.0]])
    near = np.clip(np.concatenate([near, np.nextafter(near, 0.0), np.nextafter(near, 1.0)]), 0.0, 1.0)
    assert grid.index(near).tolist() == Edges(edges).index(near).tolist()


def test_zero_and_one_are_cells_of_their_own():
    bins = FineGrid()(binary(np.array([0.0, 0.0, 5e-324, 1.0, np.nextafter(1.0, 0.0)])))
    assert (bins.count[0], bins.count[1], bins.count[-1], bins.count[-2]) == (2, 1, 1, 1)


@pytest.mark.parametrize("per_octave", [1, 16, 256])
def test_cells_are_about_equally_wide_in_log_odds(per_octave):
    edges = FineGrid(per_octave).edges(None)[2:-2]
    width = np.diff(np.log(edges) - np.log1p(-edges))
    assert width.max() / width.min() <= 4.0
    assert (np.diff(edges) > 0).all()


@given(st.lists(numbers, min_size=1, max_size=20))
def test_cells_are_mirror_images(score):
    """A score that is an edge lies in the lower cell on either side."""
    grid, p = FineGrid(), np.array(score)
    p = p[(1.0 - (1.0 - p) == p) & ~np.isin(p, grid.edges(None)[1:-1])]
    assert (grid.index(p) + grid.index(1.0 - p) == len(grid.edges(None)) - 2).all()


def test_single_precision_counts_as_the_same_numbers_in_double():
    single = np.linspace(0.0, 1.0, 1000, dtype=np.float32)
    assert FineGrid().index(single).tolist() == FineGrid().index(single.astype(np.float64)).tolist()


def test_sums_of_batches_are_those_of_all_rows():
    rng = np.random.default_rng(0)
    p, y = rng.random(1000), rng.integers(0, 2, 1000)
    whole = FineGrid()(binary(p, y))
    parts = FineGrid()(binary(p[:300], y[:300])) + FineGrid()(binary(p[300:], y[300:]))
    assert np.array_equal(parts.count, whole.count)
    np.testing.assert_allclose(parts.score_sum, whole.score_sum, rtol=1e-12)


@pytest.mark.parametrize(("n_problems", "per_octave"), [(1, 1024), (3, 1024), (10, 256), (1000, 16)])
def test_many_problems_have_fewer_cells_each(n_problems, per_octave):
    assert FineGrid.for_problems(n_problems).per_octave == per_octave


@pytest.mark.parametrize("wrong", [0, 3, 8192])
def test_only_powers_of_two_are_taken(wrong):
    with pytest.raises(ValueError, match="per_octave"):
        FineGrid(wrong)
