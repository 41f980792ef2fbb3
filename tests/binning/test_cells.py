"""What each binning of the simplex makes of it: grids, triangles, projections, trees of splits, a cell for each forecast."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import projection, sierpinski, simplex
from reference import recursive_split as twin
from strategies import tables

from calibrant._core.border import as_problem
from calibrant._core.rows import as_simplex
from calibrant.binning import Projection, RecursiveSplit, Sierpinski, SimplexBinning, SimplexGrid, SimplexUnique
from calibrant.binning.cells import POINTS, SplitTree, _append, as_simplex_binning, simplex_grid, steps_of
from calibrant.calibrators import CanonicalBinning
from calibrant.metrics import canonical_calibration_error

pytestmark = pytest.mark.filterwarnings("ignore:only the class")


def cut(binning, prob, label=None, weight=None):
    prob = np.asarray(prob, dtype=float)
    label = np.zeros(len(prob), dtype=int) if label is None else label
    return binning(as_simplex(as_problem(label, prob, sample_weight=weight, labels=range(prob.shape[1]))))


# Grid


@given(rows=tables(), n_bins=st.integers(1, 6))
def test_rows_share_a_cell_of_a_grid_where_they_share_all_bins(rows, n_bins):
    label, prob, weight = rows
    bins = cut(SimplexGrid(n_bins), prob, label, weight)
    cells = simplex.grid(prob.tolist(), n_bins)
    pairs = set(zip(bins.partition.index(prob).tolist(), cells, strict=True))
    assert len(bins) == len(set(cells)) == len(pairs)


@given(rows=tables(n_classes=st.integers(2, 6)), others=tables(n_classes=st.just(6)))
def test_the_columns_of_a_code_are_irrelevant(rows, others):
    """Few columns a number, or all: the same cells."""
    label, prob, weight = rows
    whole = cut(SimplexGrid(4), prob, label, weight).partition
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("calibrant.binning.cells.CODES", 16)
        split = cut(SimplexGrid(4), prob, label, weight).partition
    assert len(split.known) == -(-prob.shape[1] // 2)
    for table in (prob, others[1][:, : prob.shape[1]]):
        same = list(zip(whole.index(table).tolist(), split.index(table).tolist(), strict=True))
        assert all((a == -1) == (b == -1) for a, b in same)
        assert len({a for a, _ in same}) == len({b for _, b in same}) == len(set(same))


@pytest.mark.parametrize("n_bins", [1, 2, 3, 7, 49, 1000, 10**6])
def test_bins_of_a_grid_are_those_between_equal_edges(n_bins):
    some = np.unique(np.linspace(0, n_bins, 300).astype(np.int64))
    edges = some / n_bins
    prob = np.clip(np.concatenate([edges, np.nextafter(edges, 0.0), np.nextafter(edges, 1.0)]), 0.0, 1.0)
    found = _append(np.zeros(prob.size, dtype=np.int64), prob[:, None], n_bins)
    # Bin b holds what is above b / n_bins, up to (b + 1) / n_bins; 0 is in the first.
    assert ((found / n_bins < prob) | (found == 0)).all()
    assert (prob <= (found + 1) / n_bins).all()


# Sierpinski


dyadic = st.integers(0, 64).flatmap(lambda a: st.integers(0, 64 - a).map(lambda b: (a / 64, b / 64, (64 - a - b) / 64)))


@given(rows=tables(n_classes=st.just(3)), borders=st.lists(dyadic, min_size=1, max_size=20), depth=st.integers(0, 5))
def test_cells_of_sierpinski_are_those_of_triangles_in_triangles(rows, borders, depth):
    number = {path: n for n, (path, _) in enumerate(sierpinski.leaves(depth))}
    prob = np.vstack([rows[1], borders])
    expected = [number[sierpinski.path_of(row, depth)] for row in prob.tolist()]
    partition = cut(Sierpinski(depth), prob).partition
    assert partition.n_cells == len(number)
    assert partition.index(prob).tolist() == expected


def test_the_last_bit_over_a_border_is_seen_at_every_depth():
    for depth in range(1, 8):
        begins = 1.0 - 0.5**depth
        prob = np.array([[p, 1.0 - p, 0.0] for p in (begins, np.nextafter(begins, 1.0))])
        assert cut(Sierpinski(depth), prob).partition.index(prob).tolist() == [3, 0]


# Projection


@given(rows=tables(), others=tables(n_classes=st.just(4)), n_bins=st.integers(1, 8), data=st.data())
def test_cells_of_a_projection_are_what_the_algorithm_says(rows, others, n_bins, data):
    label, prob, weight = rows
    n_classes = prob.shape[1]
    given_rows = st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.3, 2.0]), min_size=n_classes, max_size=n_classes)
    directions = data.draw(st.none() | st.lists(given_rows.filter(any), min_size=1, max_size=8))
    binning = Projection(n_bins) if directions is None else Projection(n_bins, directions)
    partition = cut(binning, prob, label, weight).partition
    turns = projection.cyclic(n_classes, 100) if directions is None else directions
    made = projection.cuts(np.repeat(prob, weight.astype(int), axis=0).tolist(), n_bins, turns)
    found = list(zip(partition.direction.tolist(), partition.threshold.tolist(), strict=True))
    assert found == [(list(direction), threshold) for direction, threshold in made]
    for table in (prob, others[1][:, :n_classes]):
        assert partition.index(table).tolist() == [projection.cell(row, made) for row in table.tolist()]
        assert partition.is_boundary(table).tolist() == [projection.is_boundary(row, made) for row in table.tolist()]


def test_a_class_that_is_never_foretold_is_passed_over():
    prob = np.random.default_rng(0).dirichlet(np.ones(2), 99)
    for columns in ([0, 1, 2], [2, 0, 1], [0, 2, 1]):
        padded = np.column_stack([prob, np.zeros(99)])[:, columns]
        assert cut(Projection(10), padded).count.tolist() == cut(Projection(10), prob).count.tolist() == [10] * 9 + [9]


def test_random_directions_are_unit_vectors_of_the_seed():
    prob = np.random.default_rng(0).dirichlet(np.ones(4), 200)
    first, again, other = (cut(Projection(20, "random", seed), prob).partition for seed in (1, 1, 2))
    np.testing.assert_allclose(np.linalg.norm(first.direction, axis=1), 1.0, rtol=1e-14)
    np.testing.assert_array_equal(first.direction, again.direction)
    assert not np.isclose(first.direction, other.direction).any()


def test_blocks_of_rows_do_not_show(monkeypatch):
    prob = np.random.default_rng(0).dirichlet(np.ones(3), 200)
    partition = cut(Projection(10, "random"), prob).partition
    whole = partition.index(prob), partition.is_boundary(prob)
    monkeypatch.setattr("calibrant.binning.cells.BLOCK", 7)
    np.testing.assert_array_equal(partition.index(prob), whole[0])
    np.testing.assert_array_equal(partition.is_boundary(prob), whole[1])


# A cell for each forecast


@given(rows=tables(), others=tables(n_classes=st.just(4)))
def test_a_forecast_is_a_cell_in_the_order_of_its_numbers(rows, others):
    label, prob, weight = rows
    partition = cut(SimplexUnique(), prob, label, weight).partition
    known = sorted(set(map(tuple, prob.tolist())))
    assert list(map(tuple, partition.prob.tolist())) == known
    for table in (prob, others[1][:, : prob.shape[1]]):
        expected = [known.index(row) if row in known else -1 for row in map(tuple, table.tolist())]
        assert partition.index(table).tolist() == expected


def test_a_zero_is_a_zero_whatever_its_sign():
    partition = cut(SimplexUnique(), [[0.0, 1.0], [-0.0, 1.0]]).partition
    assert partition.n_cells == 1
    assert partition.index(np.array([[-0.0, 1.0]])).tolist() == [0]


# Splits at centres


def tree_of(prob, **options):
    label = np.zeros(len(prob), dtype=int)
    return RecursiveSplit(**options).partition(as_simplex(as_problem(label, prob, labels=range(prob.shape[1]))))


# What is refused

REFUSED = [
    (lambda: RecursiveSplit(n_splits=-1), ValueError, "n_splits must be a whole number, at least 0"),
    (lambda: RecursiveSplit(steps=0), ValueError, "steps must be a whole number, at least 1"),
    (lambda: tree_of(np.full((1, 6), 1 / 6), steps=100), ValueError, "at most 20000000 numbers; got 100 steps for 6"),
    (lambda: Projection(0), ValueError, r"n_bins must be a whole number, at least 1; got 0\. "),
    (lambda: Sierpinski(1.5), TypeError, r"depth must be a whole number, at least 0; got 1\.5\. 2 makes"),
    (lambda: Sierpinski(-1), ValueError, r"depth must be a whole number, at least 0; got -1\. 2 "),
    (lambda: cut(Sierpinski(), [[0.5, 0.5]]), ValueError, "must have three classes, a triangle; got 2"),
    (lambda: SimplexGrid(10**7 + 1), ValueError, "n_bins must be at most 10000000; got 10000001"),
    (lambda: Sierpinski(13), ValueError, r"depth must be at most 12; got 13\. 2 makes 13 cells"),
    (lambda: Projection(3, "both"), ValueError, "directions must be one of 'cyclic', 'random'; got 'both'"),
    (lambda: Projection(3, 5), ValueError, r"directions must be 'cyclic', 'random' or a table .*; got 5\. P"),
    (lambda: Projection(3, [["a"]]), TypeError, r"directions must be .* a table of finite numbers.*; got \[\['a"),
    (lambda: Projection(3, [[10**400, 1]]), TypeError, "directions must be .* a table of finite numbers.*; got"),
    (lambda: Projection(3, [[0, 0]]), ValueError, r"directions must .* none of them zero; got \[\[0, 0\]\]\. P"),
    (lambda: Projection(3, [[1, np.inf]]), ValueError, "directions must .*finite"),
    (lambda: Projection(3, "random", None), TypeError, r"random_state must be a whole number.*; got None\. Pass"),
    (lambda: cut(Projection(3, [[1, 0]]), [[0.2, 0.3, 0.5]]), ValueError, "directions must have a column for each"),
    (lambda: as_simplex_binning("serpinski"), ValueError, "simplex-binning must be one of 'grid', .*; got"),
    (lambda: as_simplex_binning("unique-3"), ValueError, "simplex-binning 'unique' must stand without a number; got"),
]


def test_a_number_behind_a_word_is_its_first_parameter():
    found = [as_simplex_binning(word) for word in ("sierpinski-3", "projection-10", "grid-4", "grid")]
    assert found == [Sierpinski(3), Projection(10), SimplexGrid(4), SimplexGrid()]


@pytest.mark.parametrize(("call", "error", "message"), REFUSED, ids=[row[-1][:60] for row in REFUSED])
def test_what_cannot_be_cut_is_refused_with_what_to_do(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_another_way_to_cut_is_a_class_with_one_method():
    class Whole(SimplexBinning):
        def partition(self, problem):
            return cut(SimplexGrid(1), problem.prob).partition

    label, prob = [0, 1, 1], np.array([[0.5, 0.5], [0.2, 0.8], [0.2, 0.8]])
    assert canonical_calibration_error(label, prob, binning=Whole()) == pytest.approx(0.7 - 2 / 3)
    np.testing.assert_allclose(CanonicalBinning(Whole()).fit(prob, label).value_, [[1 / 3, 2 / 3]])


def test_sums_of_decimals_along_a_direction_that_are_equal_are_in_one_cell():
    prob = np.array([[0.8, 0.1, 0.1], [0.7, 0.2, 0.1], [0.6, 0.3, 0.1], [0.1, 0.1, 0.8], [0.2, 0.3, 0.5]])
    cells = Projection(2, directions=[[-1.0, -1.0, 0.0]]).partition(as_problem([0, 1, 2, 0, 1], prob))
    assert cells.index(prob).tolist() == [0, 0, 0, 1, 1]
    assert cells.is_boundary(prob).tolist() == [True, True, True, False, False]


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
    expected = np.array(twin.lattice(n_classes, steps)) / steps
    np.testing.assert_allclose(simplex_grid(n_classes, steps), expected, rtol=1e-15)


def test_the_default_grids_are_those_of_the_paper_and_as_fine_as_fits_beyond():
    assert [len(simplex_grid(k, steps_of(k))) for k in (2, 3, 4)] == [1001, 5151, 23426]
    assert all(len(simplex_grid(k, steps_of(k))) <= POINTS < len(simplex_grid(k, steps_of(k) + 1)) for k in (5, 6))
    assert steps_of(300) == 1


INNER = np.array([0.3, 0.3, 0.4])
TREE = SplitTree(
    np.array([INNER, [0.6, 0.2, 0.2]]), np.array([[1, 2, -1], [3, -1, 4]]), np.array([0, 1, -1, -1, -1], dtype=np.int64)
)


def test_splits_are_followed_one_by_one_and_past_sides_without_a_node():
    prob = np.vstack([INNER, [0.9, 0.05, 0.05], np.eye(3)[1:]])
    assert [TREE.nodes(prob, n).tolist() for n in range(3)] == [[0, 0, 0, 0], [1, 1, 2, 1], [4, 3, 2, 4]]
    assert TREE.index(prob).tolist() == [2, 1, 0, 2]
    assert TREE.leaves().tolist() == [2, 3, 4]
    assert (TREE.parent.tolist(), TREE.n_regions.tolist()) == ([0, 1], [1, 2, 3])
    np.testing.assert_array_equal(list(TREE.stages(prob)), [TREE.nodes(prob, n) for n in range(3)])
    assert TREE.up(np.array([[1.0], [2.0], [4.0]])).ravel().tolist() == [7, 6, 1, 2, 4]
    last_first = np.array([[1, 2], [3, 4], [5, 6]]), np.array([0, 2, 1, -1, -1, -1, -1])
    assert SplitTree(np.full((3, 2), 0.5), *last_first).parent.tolist() == [0, 2, 1]


NO_TREES = [
    ("gamma", [[0.3, 0.3, np.nan], [0.6, 0.2, 0.2]]),
    ("gamma", [[0.3, 0.7], [0.6, 0.4]]),
    ("child", [[1, 2, -1], [3, -1, 9]]),
    ("child", [[1, 2, -1], [-1, -1, -1]]),
    ("child", [[3, 4, -1], [1, 2, -1]]),
    ("split", [0, 0, -1, -1, -1]),
    ("split", [0, -1, -1, 1, -1]),
    ("split", [0, 1, -1, -1]),
    ("split", [[0, 1, -1, -1, -1]]),
]


@pytest.mark.parametrize(("name", "part"), NO_TREES)
def test_what_is_no_tree_is_refused(name, part):
    parts = {"gamma": TREE.gamma, "child": TREE.child, "split": TREE.split} | {name: np.array(part)}
    with pytest.raises(ValueError, match="must make a tree"):
        SplitTree(**parts)


def test_numbers_that_are_not_whole_and_columns_that_are_not_there_are_refused():
    with pytest.raises(TypeError, match="child must hold whole numbers"):
        SplitTree(TREE.gamma, TREE.child + 0.5, TREE.split)
    with pytest.raises(ValueError, match="prob must have 3 columns, as splits have; got 2"):
        TREE.nodes(np.eye(2))


@pytest.mark.parametrize("steps", [10, 20, 100])
@pytest.mark.parametrize("n_bins", [2, 5, 7, 10, 20])
def test_decimals_in_single_precision_fall_into_the_cells_of_the_same_in_double(steps, n_bins):
    prob = np.random.default_rng(0).multinomial(steps, [0.5, 0.3, 0.2], 200) / steps
    label = np.arange(200) % 3
    cells = SimplexGrid(n_bins).partition(as_problem(label, prob))
    np.testing.assert_array_equal(cells.index(prob.astype(np.float32)), cells.index(prob))
    found = canonical_calibration_error(label, prob.astype(np.float32), binning=n_bins)
    assert found == pytest.approx(canonical_calibration_error(label, prob, binning=n_bins), rel=1e-5)
