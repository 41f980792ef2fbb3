"""The partition shows each forecast in the cell, and with the vector, that the calibrator gives it."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import tables

from calibrant import TemperatureScaling, load_digits_forecast
from calibrant.binning import Projection, RecursiveSplit, Sierpinski, SimplexGrid
from calibrant.calibrators import CanonicalBinning, MulticlassRecursivePartitioning
from calibrant.curves import simplex_map
from calibrant.curves.simplex import small_triangles
from calibrant.curves.simplex_partition import simplex_partition, simplex_split, splits_inside

Y, PROB = load_digits_forecast()
THREE = PROB[:, :3] / PROB[:, :3].sum(axis=1, keepdims=True)
LABEL = np.array(["ant", "bee", "cat"])[Y % 3]
SPREAD = np.random.default_rng(0).dirichlet(np.ones(3), 400)
OCCURRED = np.array([np.random.default_rng(i).choice(3, p=p) for i, p in enumerate(SPREAD)])
BINNINGS = [
    Sierpinski(2),
    SimplexGrid(5),
    SimplexGrid(7),
    Projection(9, directions="cyclic"),
    Projection(9, directions="random"),
]


class Cut:
    """Cells of half-planes in turn: a stand-in with its borders in view."""

    classes_ = np.arange(3)

    def __init__(self, normals, offsets):
        self.normals, self.offsets = np.array(normals), np.array(offsets)
        self.count_ = np.arange(1, len(offsets) + 2)
        self.value_ = np.random.default_rng(3).dirichlet(np.ones(3), len(offsets) + 1)

    def cells(self, prob):
        below = prob @ self.normals.T <= self.offsets
        return np.where(below.any(axis=1), below.argmax(axis=1), len(self.offsets))

    def predict_proba(self, prob):
        return self.value_[self.cells(prob)]


@pytest.mark.parametrize("resolution", [2, 3, 4, 11])
def test_small_triangles_tile_the_simplex(resolution):
    vertex, triangle, sides = small_triangles(resolution)
    assert len(triangle) == len({frozenset(corners) for corners in triangle.tolist()}) == resolution**2
    assert len(np.unique(vertex, axis=0)) == len(vertex) == (resolution + 1) * (resolution + 2) // 2
    areas = np.abs(np.linalg.det(vertex[triangle]))  # the whole simplex has determinant 1
    np.testing.assert_allclose(areas, 1 / resolution**2)
    shared = [set(triangle[one]) & set(triangle[other]) for one, other in sides[:, :2]]
    assert [set(ends) for ends in sides[:, 2:].tolist()] == shared
    assert len(sides) == 3 * resolution * (resolution - 1) // 2


@pytest.mark.parametrize("binning", BINNINGS, ids=str)
def test_each_small_triangle_shows_the_cell_and_the_vector_of_its_middle(binning):
    fitted = CanonicalBinning(binning).fit(SPREAD, OCCURRED)
    result = simplex_partition(fitted, resolution=30)
    np.testing.assert_array_equal(result.cells.index, fitted.cells(result.prob))
    np.testing.assert_array_equal(result.calibrated, fitted.predict_proba(result.prob))
    np.testing.assert_array_equal(result.cells.value, fitted.value_)
    np.testing.assert_array_equal(result.cells.count, fitted.count_)
    held = result.cells.index >= 0
    np.testing.assert_array_equal(result.cells.value[result.cells.index[held]], result.calibrated[held])


@pytest.mark.parametrize(("binning", "resolution"), [(Sierpinski(2), 8), (SimplexGrid(5), 15), (Sierpinski(1), 2)])
def test_borders_at_multiples_of_the_resolution_move_no_vertex(binning, resolution):
    result = simplex_partition(CanonicalBinning(binning).fit(SPREAD, OCCURRED), resolution=resolution)
    np.testing.assert_array_equal(result.vertex, small_triangles(resolution)[0])


def test_the_border_of_sierpinski_is_the_middle_triangle():
    result = simplex_partition(CanonicalBinning(Sierpinski(1)).fit(SPREAD, OCCURRED), resolution=8)
    ends = result.vertex[result.cells.border]
    on_a_half = (ends == 0.5).all(axis=1).any(axis=1)
    assert on_a_half.all()
    assert len(ends) == 12  # three sides of half the length


PLANE = np.linalg.qr(np.array([[1.0, 1, 1], [1, -1, 0], [1, 1, -2]]).T)[0][:, 1:]


def test_a_border_that_leans_a_little_from_the_sides_of_small_triangles_is_exact():
    """Vertices once stayed beside a border that crossed a side near its middle, as if it ran along that side."""
    first, inside = small_triangles(6)[0], []
    for angle in np.pi / 2 + np.linspace(-1e-3, 1e-3, 301):
        normal = PLANE @ [np.cos(angle), np.sin(angle)]
        result = simplex_partition(Cut([normal], [0.0]), resolution=6)
        number = np.unique(result.cells.border)
        inside.append(np.abs(result.vertex[number[(first[number] > 0).all(axis=1)]] @ normal).max())
    assert max(inside) < 1e-12


@given(angle=st.floats(0.0, 2 * np.pi), offset=st.floats(-0.1, 0.1))
@example(angle=1.5703125, offset=0.0)
@example(angle=0.0, offset=np.sqrt(0.5) / 48)  # it cuts all sides in their middles
def test_the_vertices_of_a_border_lie_on_it(angle, offset):
    normal = PLANE @ [np.cos(angle), np.sin(angle)]
    result = simplex_partition(Cut([normal], [offset]), resolution=24)
    number = np.unique(result.cells.border)
    at_edge = (small_triangles(24)[0][number] == 0).any(axis=1)
    inner, last = result.vertex[number[~at_edge]], result.vertex[number[at_edge]]
    np.testing.assert_allclose(inner @ normal, offset, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(last.min(axis=1), 0.0)
    np.testing.assert_allclose(last @ normal, offset, atol=1 / 24)
    np.testing.assert_allclose(result.vertex.sum(axis=1), 1.0)
    assert result.vertex.min() >= 0.0


def test_a_border_that_meets_the_edge_of_the_simplex_steeply_is_exact_there_too():
    result = simplex_partition(Cut([[0.9, -1.0, 0.05]], [0.0]), resolution=24)
    np.testing.assert_allclose(result.vertex[np.unique(result.cells.border)] @ [0.9, -1.0, 0.05], 0.0, atol=1e-12)


def test_no_vertex_moves_farther_than_its_small_triangles_reach():
    result = simplex_partition(
        CanonicalBinning(Projection(27, directions="random")).fit(SPREAD, OCCURRED), resolution=40
    )
    before = small_triangles(40)[0]
    distance = np.abs(result.vertex - before).max(axis=1)
    at_edge = (before == 0).any(axis=1)
    assert 0 < distance[~at_edge].max() <= 1 / 40
    assert distance[at_edge].max() <= 3 / 40
    np.testing.assert_array_equal(result.vertex[at_edge][before[at_edge] == 0], 0.0)


def test_middle_and_room_are_those_of_a_circle_within_the_cell():
    """The three outer cells of Sierpinski at depth one are triangles of side 1/2, whose inner circle has radius 1/4 sqrt 3."""
    result = simplex_partition(CanonicalBinning(Sierpinski(1)).fit(SPREAD, OCCURRED), resolution=60)
    corner = np.full((3, 3), 1 / 6) + np.eye(3) / 2
    expected = np.vstack([corner, np.full(3, 1 / 3)])
    order = np.argsort(result.cells.middle.max(axis=1) < 0.5, kind="stable")
    middle = result.cells.middle[order]
    np.testing.assert_allclose(np.sort(middle, axis=0), np.sort(expected, axis=0), atol=1e-9)
    np.testing.assert_allclose(result.cells.room, 1 / (4 * np.sqrt(3)), rtol=2e-3)  # of points 1/60 apart


def test_cells_that_hold_no_middle_of_a_small_triangle_have_none():
    cells = simplex_partition(Cut([[1.0, 0, 0], [0.0, 1, 0]], [-1.0, 0.5]), resolution=5).cells
    assert np.isnan(cells.middle[0]).all()
    assert np.isnan(cells.room[0])
    assert np.isfinite(cells.middle[1:]).all()


def test_forecasts_where_the_calibrator_saw_no_row_are_empty():
    fitted = CanonicalBinning(SimplexGrid(2)).fit([[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.1, 0.1, 0.8]], [0, 1, 2])
    result = simplex_partition(fitted, resolution=10)
    np.testing.assert_array_equal(result.is_empty, result.prob.max(axis=1) < 0.5)
    depth = simplex_partition(CanonicalBinning(Sierpinski(1)).fit([[0.9, 0.05, 0.05]] * 3, [0, 1, 2]), resolution=10)
    np.testing.assert_array_equal(depth.is_empty, depth.prob[:, 0] <= 0.5)
    np.testing.assert_allclose(depth.calibrated, 1 / 3)


@pytest.mark.parametrize("given", ["probability", "logit"])
def test_a_calibrator_of_logits_is_shown_as_it_maps(given):
    values = SPREAD if given == "probability" else np.log(SPREAD)
    result = simplex_partition(CanonicalBinning(SimplexGrid(5), input=given).fit(values, OCCURRED), resolution=8)
    plain = simplex_partition(CanonicalBinning(SimplexGrid(5)).fit(SPREAD, OCCURRED), resolution=8)
    np.testing.assert_array_equal(result.cells.index, plain.cells.index)
    np.testing.assert_allclose(result.calibrated, plain.calibrated)


def test_a_calibrator_without_cells_is_shown_without_borders():
    fitted = TemperatureScaling().fit(THREE, LABEL)
    result = simplex_partition(fitted, resolution=10)
    assert result.cells is None
    assert not result.is_empty.any()
    np.testing.assert_array_equal(result.calibrated, fitted.predict_proba(result.prob))
    assert result.classes == ("ant", "bee", "cat")


@given(rows=tables(n_classes=st.just(3)), binning=st.sampled_from(BINNINGS))
@pytest.mark.filterwarnings("ignore:only the class")
def test_any_fit_can_be_shown(rows, binning):
    label, prob, weight = rows
    result = simplex_partition(
        CanonicalBinning(binning, labels=[0, 1, 2]).fit(prob, label, sample_weight=weight), resolution=12
    )
    np.testing.assert_allclose(result.vertex.sum(axis=1), 1.0)
    assert np.isfinite(result.vertex).all()
    assert set(result.cells.index.tolist()) <= set(range(-1, len(result.cells.count)))


def test_the_result_says_what_it_is_and_cannot_be_changed():
    result = simplex_partition(CanonicalBinning(Sierpinski(1)).fit(SPREAD, OCCURRED), resolution=4)
    assert repr(result) == "SimplexPartition(CanonicalBinning(binning=Sierpinski(depth=1)), cells=4, triangles=16)"
    for array in (result.prob, result.vertex, result.calibrated, result.cells.index, result.cells.border):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert result.to_frame("polars").columns[-1] == "cell"
    assert simplex_partition(np.sqrt, resolution=3).to_frame("polars").shape == (9, 6)


@pytest.mark.parametrize(
    ("calibrator", "error", "message"),
    [
        (TemperatureScaling().fit(PROB, Y), ValueError, "three classes; the calibrator has 10"),
        (lambda prob: prob[:, 0], ValueError, r"a table of shape \(57600, 3\); got \(57600,\)"),
        ("dirichlet", TypeError, "must be a fitted calibrator or a function"),
    ],
    ids=["ten classes", "one column", "a word"],
)
def test_what_is_no_map_of_three_classes_is_refused(calibrator, error, message):
    with pytest.raises(error, match=message):
        simplex_partition(calibrator)


@pytest.mark.parametrize(("resolution", "error"), [(1, ValueError), (2.5, TypeError), (True, TypeError)])
def test_a_mesh_needs_two_triangles_a_side(resolution, error):
    with pytest.raises(error, match="resolution must be a whole number, at least 2"):
        simplex_partition(np.sqrt, resolution=resolution)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            Sierpinski(2),
            r"got the binning Sierpinski\(depth=2\)\. Pass CanonicalBinning\(Sierpinski\(depth=2\)\)\.fit\(",
        ),
        (CanonicalBinning, r"got the class CanonicalBinning\. Pass CanonicalBinning\(\)\.fit\("),
        (SPREAD, "got array"),
    ],
    ids=["binning", "class", "array"],
)
def test_what_is_no_map_is_refused(given, message):
    with pytest.raises(TypeError, match=f"calibrator must be a fitted calibrator or a function; {message}"):
        simplex_partition(given)


# Splits


def test_the_split_around_a_point_gives_each_forecast_the_class_where_it_exceeds_the_point_most():
    gamma = np.array([0.5, 0.3, 0.2])
    result = simplex_split(gamma, classes=["ant", "bee", "cat"], resolution=24)
    for forecast, vector in zip(result.prob.tolist(), result.calibrated.tolist(), strict=True):
        excess = [p - g for p, g in zip(forecast, gamma.tolist(), strict=True)]
        assert vector == [float(j == excess.index(max(excess))) for j in range(3)]
    assert result.classes == ("ant", "bee", "cat")
    np.testing.assert_array_equal(result.splits, [gamma])
    assert not result.is_empty.any()
    assert result.cells.count is None


def test_the_borders_of_a_split_are_where_two_classes_exceed_the_point_as_much():
    gamma = np.array([0.41, 0.33, 0.26])
    result = simplex_split(gamma, resolution=48)
    number = np.unique(result.cells.border)
    excess = np.sort(result.vertex[number] - gamma, axis=1)
    inner = (small_triangles(48)[0][number] > 0).all(axis=1) & (np.abs(excess).max(axis=1) > 2 / 48)
    assert inner.sum() > 30
    np.testing.assert_allclose(excess[inner, 2], excess[inner, 1], atol=1e-9)


def test_a_point_outside_leaves_regions_out():
    result = simplex_split([1.2, -0.1, -0.1], resolution=12)
    np.testing.assert_array_equal(result.calibrated[:, 0], 0.0)
    assert np.isnan(result.cells.middle[0]).all()


@pytest.mark.parametrize(
    ("gamma", "options", "message"),
    [
        ([0.5, 0.5], {}, "gamma must be three numbers that sum to one"),
        ([0.5, 0.5, 0.5], {}, "gamma must be three numbers that sum to one"),
        ([np.nan, 0.5, 0.5], {}, "gamma must be finite; got nan at index 0"),
        ([0.5, 0.3, 0.2], {"classes": ["ant"]}, "classes must be three names; got 1"),
    ],
    ids=["two", "sum", "nan", "names"],
)
def test_what_is_no_point_of_the_plane_is_refused(gamma, options, message):
    with pytest.raises(ValueError, match=message):
        simplex_split(gamma, **options)


def test_a_partition_knows_the_splits_of_a_tree():
    fitted = CanonicalBinning(RecursiveSplit(4)).fit(SPREAD, OCCURRED)
    np.testing.assert_array_equal(simplex_partition(fitted, resolution=6).splits, fitted.partition_.gamma)
    irp = MulticlassRecursivePartitioning(max_regions=6, smoothing=1.0).fit(SPREAD, OCCURRED)
    result = simplex_partition(irp, resolution=30)
    np.testing.assert_array_equal(result.splits, irp.tree_.gamma)
    np.testing.assert_array_equal(result.cells.value[result.cells.index], irp.predict_proba(result.prob))
    assert simplex_partition(CanonicalBinning(Sierpinski(1)).fit(SPREAD, OCCURRED), resolution=6).splits is None


def test_points_outside_have_no_place_and_the_others_keep_their_numbers():
    splits = np.array([[1.1, 0.0, -0.1], [0.2, 0.3, 0.5], [0.6, -0.2, 0.6], [0.0, 0.0, 1.0]])
    inside = splits_inside(splits)
    assert list(inside) == [2, 4]
    np.testing.assert_array_equal(list(inside.values()), splits[[1, 3]])
    assert splits_inside(None) == {}


@pytest.mark.parametrize("show", [simplex_map, simplex_partition], ids=["map", "partition"])
def test_a_map_that_gives_no_numbers_is_refused(show):
    with pytest.raises(ValueError, match=r"the map must give finite numbers; got \[nan, 0\..* Correct the map there"):
        show(lambda prob: np.where(prob[:, :1] > 0.9, [[np.nan, 0.5, 0.5]], prob), resolution=20)
