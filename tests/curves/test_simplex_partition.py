"""The partition shows each forecast in the cell, and with the vector, that the calibrator gives it."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection, PolyCollection

from calibrant import TemperatureScaling, drawing, load_digits_forecast
from calibrant.binning import Projection, RecursiveSplit, Sierpinski, SimplexGrid
from calibrant.calibrators import CanonicalBinning, MulticlassRecursivePartitioning
from calibrant.curves import simplex_map
from calibrant.curves.simplex import mixed, small_triangles
from calibrant.curves.simplex_partition import draw_frame, draw_splits, plot_simplex_partition, simplex_partition

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
    np.testing.assert_array_equal(result.cell, fitted.cells(result.prob))
    np.testing.assert_array_equal(result.calibrated, fitted.predict_proba(result.prob))
    np.testing.assert_array_equal(result.count, fitted.count_)


def test_forecasts_where_the_calibrator_saw_no_row_are_empty():
    fitted = CanonicalBinning(SimplexGrid(2)).fit([[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.1, 0.1, 0.8]], [0, 1, 2])
    result = simplex_partition(fitted, resolution=10)
    np.testing.assert_array_equal(result.is_empty, result.prob.max(axis=1) < 0.5)
    depth = simplex_partition(CanonicalBinning(Sierpinski(1)).fit([[0.9, 0.05, 0.05]] * 3, [0, 1, 2]), resolution=10)
    np.testing.assert_array_equal(depth.is_empty, depth.prob[:, 0] <= 0.5)
    np.testing.assert_allclose(depth.calibrated, 1 / 3)


def test_a_calibrator_without_cells_is_shown_without_borders():
    fitted = TemperatureScaling().fit(THREE, LABEL)
    result = simplex_partition(fitted, resolution=10)
    assert result.cell is None
    assert not result.is_empty.any()
    np.testing.assert_array_equal(result.calibrated, fitted.predict_proba(result.prob))
    assert result.classes == ("ant", "bee", "cat")


REFUSALS = [
    (Sierpinski(2), r"got Sierpinski\(depth=2\)\. Pass one of these, such as CanonicalBinning\(binning\)\.fit\("),
    (CanonicalBinning, "got <class "),
    (SPREAD, "got array"),
]


@pytest.mark.parametrize(("given", "message"), REFUSALS, ids=["binning", "class", "array"])
def test_what_is_no_map_is_refused(given, message):
    with pytest.raises(TypeError, match=f"calibrator must be a fitted calibrator or a function; {message}"):
        simplex_partition(given)


# Splits


def test_a_partition_knows_the_splits_of_a_tree():
    fitted = CanonicalBinning(RecursiveSplit(4)).fit(SPREAD, OCCURRED)
    np.testing.assert_array_equal(simplex_partition(fitted, resolution=6).splits, fitted.partition_.gamma)
    irp = MulticlassRecursivePartitioning(max_regions=6, smoothing=1.0).fit(SPREAD, OCCURRED)
    result = simplex_partition(irp, resolution=30)
    np.testing.assert_array_equal(result.splits, irp.tree_.gamma)
    assert simplex_partition(CanonicalBinning(Sierpinski(1)).fit(SPREAD, OCCURRED), resolution=6).splits is None


@pytest.mark.parametrize("show", [simplex_map, simplex_partition], ids=["map", "partition"])
def test_a_map_that_gives_no_numbers_is_refused(show):
    with pytest.raises(ValueError, match=r"the map must give finite numbers; got \[nan, 0\..* Correct the map there"):
        show(lambda prob: np.where(prob[:, :1] > 0.9, [[np.nan, 0.5, 0.5]], prob), resolution=20)


# Pictures


CERTAIN = drawing.CERTAIN[:3]

LEFT, RIGHT, TOP = np.array([0.0, 0.0]), np.array([1.0, 0.0]), np.array([0.5, np.sqrt(0.75)])


def partition(binning, **options):
    fitted = CanonicalBinning(binning, labels=["ant", "bee", "cat"])
    return simplex_partition(fitted.fit(SPREAD, np.array(["ant", "bee", "cat"])[OCCURRED]), resolution=20, **options)


def of_kind(ax, kind):
    return [c for c in ax.collections if isinstance(c, kind)]


def place(p):
    return p[0] * LEFT + p[1] * RIGHT + p[2] * TOP


@pytest.mark.parametrize("binning", [Sierpinski(2), SimplexGrid(4), Projection(9, directions="random")], ids=str)
def test_the_artists_carry_exactly_the_triangles_vectors_and_borders_of_the_result(binning):
    result = partition(binning)
    ax = result.plot()
    (mesh,) = of_kind(ax, PolyCollection)
    vertex, triangle, sides = small_triangles(20)
    for path, corners in zip(mesh.get_paths(), triangle, strict=True):
        np.testing.assert_allclose(path.vertices[:3], [place(vertex[corner]) for corner in corners], atol=1e-15)
    expected = np.where(result.is_empty[:, None], 1.0, mixed(result.calibrated))
    np.testing.assert_array_equal(mesh.get_facecolors()[:, :3], expected)
    border = [ends for one, other, *ends in sides.tolist() if result.cell[one] != result.cell[other]]
    for lines in of_kind(ax, LineCollection):
        for segment, ends in zip(lines.get_segments(), border, strict=True):
            np.testing.assert_allclose(segment, [place(vertex[end]) for end in ends], atol=0.5 / 20)


# What an eye without the cones for long, middle or short waves sees of red, green and blue light (Machado et al. 2009).
SIGHTS = {
    "all cones": np.eye(3),
    "no long": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no middle": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "no short": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


@pytest.mark.parametrize(("n_classes", "steps"), [(3, 5), (4, 4)])
@pytest.mark.parametrize("sight", SIGHTS)
def test_vectors_a_step_apart_have_colours_that_differ_to_every_eye(sight, n_classes, steps):
    """Of three classes by at least 6 units of CIELAB, of four by 3, where 2.3 are just noticed."""
    vectors = np.array([v for v in product(range(steps + 1), repeat=n_classes) if sum(v) == steps]) / steps
    seen = lab(np.clip(mixed(vectors) ** 2.2 @ np.array(SIGHTS[sight]).T, 0, 1))
    apart = np.sqrt(((seen[:, None] - seen) ** 2).sum(axis=2))
    assert apart[~np.eye(len(vectors), dtype=bool)].min() > (6 if n_classes == 3 else 3)


def lab(light):
    to_xyz = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    xyz = light @ np.array(to_xyz).T / [0.95047, 1.0, 1.08883]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.column_stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])])


def test_splits_are_numbered_where_they_are_in_their_order():
    result = partition(RecursiveSplit(5))
    shown = {t.get_text(): t.get_position() for t in result.plot().texts if t.get_text().isdecimal()}
    assert sorted(shown) == ["1", "2", "3", "4", "5"]
    for number, gamma in enumerate(result.splits, start=1):
        np.testing.assert_allclose(shown[str(number)], place(gamma))
    assert [t for t in result.plot(splits=False).texts if t.get_text().isdecimal()] == []


def test_numbers_of_splits_do_not_cover_each_other():
    """Of forty points in a corner of the triangle the first that has room is numbered, and the others are dots."""
    ax = plt.subplots(figsize=(3.6, 3.5), layout="constrained")[1]
    draw_frame(ax, ("0", "1", "2"), CERTAIN)
    crowded = np.random.default_rng(0).dirichlet([30.0, 2.0, 2.0], 40)
    draw_splits(ax, crowded)
    ax.figure.canvas.draw()
    numbers = [text for text in ax.texts if text.get_text().isdecimal() and text.get_bbox_patch() is not None]
    circles = [text.get_bbox_patch().get_window_extent() for text in numbers]
    assert 1 < len(circles) < 40
    assert numbers[0].get_text() == "1"
    apart = [np.hypot(*((a.p0 + a.p1) / 2 - (b.p0 + b.p1) / 2)) for a, b in combinations(circles, 2)]
    assert min(apart) > 0.9 * min(circle.width for circle in circles)
    assert sum(line.get_markersize() == 3 for line in ax.lines) == 40 - len(circles)


def test_cells_with_room_say_how_many_rows_they_hold():
    """The three outer cells of Sierpinski at depth one are triangles of side 1/2, the fourth lies between them."""
    result = partition(Sierpinski(1))
    shown = {t.get_position(): t.get_text() for t in result.plot(text="count").texts if t.get_text().isdecimal()}
    corner = np.vstack([np.full((3, 3), 1 / 6) + np.eye(3) / 2, np.full((1, 3), 1 / 3)])
    assert len(shown) == 4
    for at, word in shown.items():
        (middle,) = corner[[np.allclose(at, place(p)) for p in corner]]
        nearest = np.abs(result.prob - middle).sum(axis=1).argmin()
        assert int(word) == result.count[result.cell[nearest]]
    small = partition(Sierpinski(4))
    assert 0 < sum(t.get_text().isdecimal() for t in small.plot(text="count").texts) < len(small.count)


def test_white_is_explained_where_there_is_white():
    sure = SPREAD[:, 0] > 0.5
    empty = CanonicalBinning(Sierpinski(1), labels=[0, 1, 2]).fit(SPREAD[sure], OCCURRED[sure])
    result, words = simplex_partition(empty, resolution=4), "white: no rows, 1/3 each"
    np.testing.assert_array_equal(result.calibrated[result.is_empty], 1 / 3)
    assert words in [t.get_text() for t in result.plot().texts]
    assert words not in [t.get_text() for t in partition(Sierpinski(1)).plot().texts]


def test_several_stand_side_by_side():
    results = {"a": partition(Sierpinski(1)), "b": simplex_partition(np.sqrt, resolution=3)}
    axes = plot_simplex_partition(results)
    assert [ax.get_title() for ax in axes] == ["a", "b"]
    assert of_kind(axes[1], LineCollection) == []


@pytest.mark.parametrize(
    ("results", "options", "message"),
    [
        ({}, {}, "results must hold at least one curve"),
        ({name: partition(Sierpinski(1)) for name in "ab"}, {"axes": [None]}, "axes must be one for each result; got"),
        (partition(Sierpinski(1)), {"text": "rows"}, "text must be one of 'count' or None"),
    ],
    ids=["none", "axes", "text"],
)
def test_what_cannot_be_drawn_is_refused(results, options, message):
    with pytest.raises(ValueError, match=message):
        plot_simplex_partition(results, **options)


# Splits outside, and names


def sides(ax):
    """Length of the sides of the triangle on the page, in pixels."""
    ax.figure.canvas.draw()
    left, right = ax.transData.transform([LEFT, RIGHT])
    return right[0] - left[0]


def test_splits_outside_are_counted_and_leave_the_triangle_its_size():
    result = partition(Sierpinski(1))
    splits = np.array([[0.2, 0.3, 0.5], [40.0, -20.0, -19.0], [0.9, 0.2, -0.1]])
    ax = replace(result, splits=splits).plot()
    assert [t.get_text() for t in ax.texts if t.get_text().isdecimal()] == ["1"]
    assert "2 of 3 splitting points lie outside the triangle" in [t.get_text() for t in ax.texts]
    assert sides(ax) > 0.9 * sides(result.plot())
    assert not [t for t in replace(result, splits=splits[:1]).plot().texts if "outside" in t.get_text()]
    assert not [t for t in replace(result, splits=splits).plot(splits=False).texts if "outside" in t.get_text()]
