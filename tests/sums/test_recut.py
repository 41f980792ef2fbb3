"""Bins that follow the scores, of rows that are read in batches."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import columns

from calibrant._core.border import as_problem
from calibrant.binning import BoundedIsotonic, EqualMass, EqualWidth, FineGrid, Isotonic, PointsPerBin, Unique
from calibrant.binning import bins as fine_grid
from calibrant.interop.arrow_batches import Batches
from calibrant.notions import Binary, as_notion
from calibrant.sums import Plan, scan
from calibrant.sums.reading import UnreadSimplex
from calibrant.sums.sums import recut


@pytest.fixture(scope="module", autouse=True)
def coarse():
    """Some thousand cells: as many as default take longer than what is tested."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fine_grid, "MOST_CELLS", 1 << 12)
        yield


BINNINGS = [EqualMass(4), Isotonic(), BoundedIsotonic(0.1, 0.5), PointsPerBin(3)]


def in_batches(data, n_batches):
    return Batches([data], labels=[0, 1], batch_rows=-(-len(data[0]) // n_batches))


def on_grid(data, grid):
    """Move scores to the grid's edges, so that a cell holds one distinct score."""
    label, score, weight = data
    edges = grid.edges(None)
    return label, edges[grid.index(score) + 1], weight


@pytest.mark.first(3)
@pytest.mark.parametrize("binning", BINNINGS, ids=lambda binning: type(binning).__name__)
@settings(max_examples=8)
@given(data=columns(max_rows=40), n_batches=st.integers(1, 4))
def test_where_a_cell_holds_one_score_bins_hold_the_same_rows(binning, data, n_batches):
    grid = FineGrid.for_problems(1)
    data = on_grid(data, grid)
    plan = Plan.of_cells([(Binary(), binning)])
    ((ours,),) = scan(UnreadSimplex(in_batches(data, n_batches)), plan).cells
    ((rows,),) = scan(as_problem(data[0], data[1], sample_weight=data[2], labels=[0, 1]), plan).cells
    held, ours_held = rows.bins.count > 0, ours.bins.count > 0
    assert ours.bins.weight[ours_held].tolist() == rows.bins.weight[held].tolist()
    assert ours.bins.outcome_sum[ours_held].tolist() == rows.bins.outcome_sum[held].tolist()
    np.testing.assert_allclose(ours.bins.score_sum[ours_held], rows.bins.score_sum[held], rtol=1e-12)


@given(columns(max_rows=40))
def test_new_rows_of_a_cell_fall_into_the_bin_of_the_old_ones(data):
    _, score, weight = data
    plan = Plan.of_cells([(Binary(), EqualMass(4))])
    ((ours,),) = scan(UnreadSimplex(in_batches(data, 2)), plan).cells
    again = np.bincount(ours.bins.index(score), weight, len(ours.bins))
    np.testing.assert_allclose(again, ours.bins.weight, rtol=1e-12)


def test_strata_of_bins_are_those_of_their_cells():
    """Where a bin reaches over 1/2, cells of one half are turned over."""
    rng = np.random.default_rng(5)
    score, label = rng.random(5000), rng.integers(0, 2, 5000)
    batches = Batches([(label, score)], labels=[0, 1], batch_rows=2000)
    binning = EqualMass(3)
    ((ours,),) = scan(UnreadSimplex(batches), Plan.of_cells([(Binary(), binning)], noise=True)).cells
    of_rows = type(ours.strata).of(as_problem(label, score), ours.bins)
    assert ours.strata.count.tolist() == of_rows.count.tolist()
    np.testing.assert_allclose(ours.strata.sums, of_rows.sums, rtol=1e-9)


def test_a_bin_for_each_score_needs_the_rows():
    batches = UnreadSimplex(in_batches((np.array([0, 1]), np.array([0.1, 0.2]), np.ones(2)), 1))
    with pytest.raises(ValueError, match=r"Unique\(\), which needs all rows.*sample\(100_000\)"):
        scan(batches, Plan.of_cells([(Binary(), Unique())]))


def test_tables_are_cut_class_by_class():
    rng = np.random.default_rng(6)
    prob = rng.dirichlet(np.ones(3), 5000)
    label = rng.integers(0, 3, 5000)
    batches = Batches([(label, prob)], batch_rows=2000)
    plan = Plan.of_cells([(as_notion("class-wise"), EqualMass(5)), (as_notion("confidence"), EqualWidth(5))])
    ours, rows = scan(UnreadSimplex(batches), plan), scan(as_problem(label, prob), plan)
    for mine, theirs in zip(ours.cells[0], rows.cells[0], strict=True):
        assert (mine.name, mine.share) == (theirs.name, pytest.approx(theirs.share))
        np.testing.assert_allclose(mine.bins.edges, theirs.bins.edges, atol=1 / 32)
    assert ours.cells[1][0].bins.count.tolist() == rows.cells[1][0].bins.count.tolist()
    assert recut(scan(UnreadSimplex(batches), plan), Plan(), None).cells == ()
