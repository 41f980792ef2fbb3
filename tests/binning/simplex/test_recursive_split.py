"""Splitting at centres, against its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import recursive_split as twin
from strategies import columns, tables

from calibrant._core.border import as_problem
from calibrant._core.rows import as_simplex
from calibrant.binning import RecursiveSplit
from calibrant.binning.cells import POINTS, simplex_grid, steps_of
from calibrant.calibrators import CanonicalBinning

pytestmark = pytest.mark.filterwarnings("ignore:only the class")


def tree_of(prob, **options):
    label = np.zeros(len(prob), dtype=int)
    return RecursiveSplit(**options).partition(as_simplex(as_problem(label, prob, labels=range(prob.shape[1]))))


@given(rows=tables(), n_splits=st.integers(0, 8), steps=st.integers(1, 7))
def test_splits_and_cells_are_what_the_definition_says(rows, n_splits, steps):
    prob = rows[1]
    tree = tree_of(prob, n_splits=n_splits, steps=steps)
    gammas, cells = twin.split(prob.tolist(), n_splits, steps)
    assert len(tree.gamma) == len(gammas)
    np.testing.assert_allclose(tree.gamma.ravel(), np.ravel(gammas).astype(float), atol=1e-12)
    index = tree.index(prob)
    assert sorted(np.flatnonzero(index == cell).tolist() for cell in range(tree.n_cells)) == cells


@pytest.mark.parametrize(("n_classes", "steps"), [(2, 5), (3, 4), (4, 3), (5, 1)])
def test_the_grid_holds_all_forecasts_of_whole_steps_in_their_order(n_classes, steps):
    np.testing.assert_allclose(
        simplex_grid(n_classes, steps), np.array(twin.lattice(n_classes, steps)) / steps, rtol=1e-15
    )


def test_the_default_grids_are_those_of_the_paper_and_as_fine_as_fits_beyond():
    assert [len(simplex_grid(k, steps_of(k))) for k in (2, 3, 4)] == [1001, 5151, 23426]
    assert all(len(simplex_grid(k, steps_of(k))) <= POINTS < len(simplex_grid(k, steps_of(k) + 1)) for k in (5, 6))
    assert steps_of(300) == 1


def test_two_classes_are_cut_in_halves_then_in_quarters():
    score = np.linspace(0.0, 1.0, 101)
    tree = tree_of(np.column_stack([1 - score, score]), n_splits=3)
    np.testing.assert_allclose(tree.gamma[:, 1], [0.5, 0.25, 0.75])
    assert tree.n_cells == 4


@given(rows=columns(min_rows=2))
def test_as_a_calibrator_it_gives_the_class_rates_of_its_cells(rows):
    label, score, weight = rows
    prob = np.column_stack([1 - score, score])
    fitted = CanonicalBinning(RecursiveSplit(6), labels=[0, 1]).fit(prob, label, weight)
    cell = fitted.cells(prob)
    expected = [np.average(label[cell == c], weights=weight[cell == c]) for c in cell]
    np.testing.assert_allclose(fitted.predict_proba(prob)[:, 1], expected)


@pytest.mark.parametrize("rows", [1, 4])
def test_equal_rows_are_one_cell(rows):
    tree = tree_of(np.tile([0.2, 0.5, 0.3], (rows, 1)))
    assert tree.n_cells == 1
    assert tree.index(np.eye(3)).tolist() == [0, 0, 0]


def test_a_side_without_rows_goes_to_the_next_best_one():
    tree = tree_of(np.array([[0.9, 0.05, 0.05], [0.05, 0.9, 0.05]]), n_splits=1)
    assert tree.n_cells == 2
    assert tree.index(np.array([[0.3, 0.1, 0.6], [0.1, 0.3, 0.6]])).tolist() == [0, 1]


@pytest.mark.parametrize(("options", "error"), [({"n_splits": -1}, ValueError), ({"steps": 0}, ValueError)])
def test_other_numbers_are_refused(options, error):
    with pytest.raises(error, match="must be a whole number, at least"):
        RecursiveSplit(**options)


def test_a_grid_without_room_is_refused():
    with pytest.raises(ValueError, match=r"steps must make a grid of at most 20000000 numbers; got 100 steps for 6"):
        tree_of(np.full((1, 6), 1 / 6), steps=100)
