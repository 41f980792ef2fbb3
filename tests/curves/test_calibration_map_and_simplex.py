"""Maps of one score and of the simplex: they are what the calibrators make of the grid, and are drawn as they are."""

from dataclasses import replace
from itertools import combinations, product

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from matplotlib.collections import Collection, LineCollection, PathCollection, PolyCollection, TriMesh
from matplotlib.contour import ContourSet
from matplotlib.quiver import Quiver
from strategies import tables

import calibrant as cb
from calibrant import TemperatureScaling, drawing
from calibrant.binning import Projection, RecursiveSplit, Sierpinski, SimplexGrid
from calibrant.calibrators import CanonicalBinning, MulticlassRecursivePartitioning
from calibrant.curves import plot_simplex_partition, plot_simplex_points, simplex_map, simplex_partition, simplex_points
from calibrant.curves.simplex import CORNERS, draw_frame, draw_splits, mixed, small_triangles
from calibrant.drawing import DIAGONAL

Y, PROB = cb.load_digits_forecast()


def test_a_calibrator_of_logits_gets_logits():
    logit = np.log(PROB[:, 3]) - np.log1p(-PROB[:, 3].clip(max=1 - 1e-12))
    fitted = cb.TemperatureScaling(input="logit").fit(logit, Y == 3)
    panel = cb.curves.calibration_map(fitted, resolution=11).panels[0]
    inside = np.linspace(0.0, 1.0, 11)[1:-1]
    expected = 1 / (1 + ((1 - inside) / inside) ** (1 / fitted.temperature_))
    np.testing.assert_allclose(panel.calibrated[1:-1], expected, atol=1e-9)


def test_a_function_is_a_map():
    result = cb.curves.calibration_map(np.sqrt, resolution=11)
    np.testing.assert_array_equal(result.panels[0].calibrated, np.sqrt(result.panels[0].score))
    assert repr(result) == "CalibrationMap(sqrt, binary, panels=1)"


@pytest.mark.parametrize("notion", ["class-wise", "top-label", "confidence", cb.notions.OneVsRest(3)], ids=str)
def test_by_notion_has_a_map_for_each_of_its_problems(notion):
    fitted = cb.ByNotion(cb.IsotonicCalibration(), notion).fit(PROB, Y)
    result = cb.curves.calibration_map(fitted, Y, PROB, resolution=11)
    alone = cb.curves.calibration_map(fitted, resolution=11)
    expected = [panel.name for panel in cb.reliability_curve(Y, PROB, notion=notion).panels]
    assert [panel.name for panel in result.panels] == [panel.name for panel in alone.panels] == expected
    assert result.notion == result.curve.notion == fitted.notion_.name
    for part, panel in zip(fitted.calibrators_, result.panels, strict=True):
        np.testing.assert_array_equal(panel.calibrated, part._apply(panel.score))


def test_na_fir_of_two_classes_is_shown_as_it_maps():
    fitted = cb.NormalizedFlattenedIsotonic(smoothing=0.01).fit(PROB[:, 3], Y == 3)
    panel = cb.curves.calibration_map(fitted, resolution=11).panels[0]
    np.testing.assert_array_equal(panel.calibrated, fitted.calibrate(panel.score))
    assert panel.calibrated[0] + panel.calibrated[-1] == pytest.approx(1.0)


# Pictures


EIGHT = (Y == 8, PROB[:, 8])


def maps_in(ax):
    return [line for line in ax.lines if len(line.get_xdata()) == 1001]


def test_the_artists_carry_exactly_the_arrays_of_the_result():
    result = cb.curves.calibration_map(cb.IsotonicCalibration().fit(EIGHT[1], EIGHT[0]), *EIGHT, binning=8)
    ax, panel, bins = result.plot(), result.panels[0], result.curve.panels[0].bins
    (line,) = maps_in(ax)
    np.testing.assert_array_equal(line.get_xydata(), np.column_stack([panel.score, panel.calibrated]))
    (points,) = (c for c in ax.collections if isinstance(c, PathCollection))
    expected = np.column_stack([bins.mean_prob, bins.event_rate])[bins.count > 0]
    np.testing.assert_array_equal(points.get_offsets(), expected)


def test_a_map_without_rows_stands_alone():
    ax = cb.curves.calibration_map(np.sqrt).plot(arrows=True)
    assert len(maps_in(ax)) == 1
    assert not ax.collections  # nor arrows: without rows there is no point to move
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [DIAGONAL, "map"]


def test_maps_are_drawn_over_each_other_with_one_set_of_points():
    fitted = {"isotonic": cb.IsotonicCalibration(), "temperature": cb.TemperatureScaling()}
    maps = {name: cb.curves.calibration_map(c.fit(EIGHT[1], EIGHT[0]), *EIGHT) for name, c in fitted.items()}
    ax = cb.curves.plot_calibration_map(maps)
    assert len({line.get_color() for line in maps_in(ax)}) == 2
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == [DIAGONAL, "event rate", "95% interval", "isotonic", "temperature"]


def test_arrows_lead_from_each_point_to_what_the_map_makes_of_its_mean_probability():
    """The sum of the dotted arrows of the survey's Fig. 4: sideways from the score to what it is mapped to."""
    y, p = EIGHT
    at = np.ceil(p * 5).astype(int).clip(1, 5) - 1
    mean, rate = (np.array([of[at == b].mean() for b in range(5)]) for of in (p, y))
    maps = {name: cb.curves.calibration_map(of, y, p, binning=5) for name, of in (("a", np.sqrt), ("b", np.square))}
    ax = cb.curves.plot_calibration_map(maps, arrows=True)
    for one, of in zip([c for c in ax.collections if isinstance(c, Quiver)], (np.sqrt, np.square), strict=True):
        drawn = [one.X, one.Y, one.X + one.U, one.Y + one.V]
        np.testing.assert_allclose(drawn, [mean, rate, of(mean), rate], atol=1e-4)  # a grid of 1001 scores
    assert {"moved by a", "moved by b"} <= {text.get_text() for text in ax.get_legend().get_texts()}


# Pictures


def sharper(prob):
    return prob**2 / (prob**2).sum(axis=1, keepdims=True)


def heat(ax):
    return next(c for c in ax.collections if isinstance(c, TriMesh))


def test_the_heat_maps_carry_exactly_the_changes_of_the_result_between_the_certain_forecasts():
    result = simplex_map(sharper, resolution=11)
    frame = result.to_frame("polars")
    assert frame.columns == ["prob_0", "prob_1", "prob_2", "calibrated_0", "calibrated_1", "calibrated_2"]
    np.testing.assert_array_equal(frame.to_numpy(), np.column_stack([result.prob, sharper(result.prob)]))
    axes = result.plot()
    places = heat(axes[0])._triangulation
    corner = np.argmax(result.prob, axis=0)
    np.testing.assert_allclose(np.column_stack([places.x, places.y])[corner], [LEFT, RIGHT, TOP], atol=1e-3)
    for j, ax in enumerate(axes):
        np.testing.assert_array_equal(heat(ax).get_array(), result.change[:, j])
        low, high = heat(ax).get_clim()
        assert -low == high == np.abs(result.change).max()
        assert ax.get_title() == f"class {j}"
        assert [text.get_text() for text in ax.texts] == ["0", "1", "2"]


def test_where_nothing_changes_there_is_no_contour():
    axes = simplex_map(lambda prob: prob).plot()
    assert not [c for ax in axes for c in ax.collections if isinstance(c, ContourSet)]
    axes[0].figure.canvas.draw()


def test_one_norm_makes_pictures_comparable():
    """All six triangles have one scale of colours."""
    norm = matplotlib.colors.SymLogNorm(0.01, vmin=-1.0, vmax=1.0)
    for change in (sharper, lambda prob: 0.99 * prob + 0.01 / 3):
        axes = simplex_map(change, resolution=11).plot(norm=norm)
        assert {heat(ax).norm for ax in axes} == {norm}


ROWS = np.random.default_rng(0).dirichlet(np.ones(3), 400)
CAME = np.array([np.random.default_rng(i).choice(3, p=p) for i, p in enumerate(ROWS)])
NAMES = ["ant", "bee", "cat", "dog"]


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


@pytest.mark.parametrize(
    "binning",
    [Sierpinski(2), SimplexGrid(5), SimplexGrid(7), *(Projection(9, directions=of) for of in ("cyclic", "random"))],
    ids=str,
)
def test_each_small_triangle_shows_the_cell_and_the_vector_of_its_middle(binning):
    fitted = CanonicalBinning(binning).fit(ROWS, CAME)
    result = simplex_partition(fitted, resolution=30)
    np.testing.assert_array_equal(result.cell, fitted.cells(result.prob))
    np.testing.assert_array_equal(result.calibrated, fitted.predict_proba(result.prob))
    np.testing.assert_array_equal(result.count, fitted.count_)


def test_forecasts_where_the_calibrator_saw_no_row_are_empty():
    fitted = CanonicalBinning(SimplexGrid(2)).fit([[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.1, 0.1, 0.8]], [0, 1, 2])
    result = simplex_partition(fitted, resolution=10)
    np.testing.assert_array_equal(result.is_empty, result.prob.max(axis=1) < 0.5)


def test_a_calibrator_without_cells_is_shown_without_borders():
    fitted = TemperatureScaling().fit(ROWS, np.array(NAMES)[CAME])
    result = simplex_partition(fitted, resolution=10)
    assert result.cell is None
    assert not result.is_empty.any()
    np.testing.assert_array_equal(result.calibrated, fitted.predict_proba(result.prob))
    assert result.classes == ("ant", "bee", "cat")


# Splits


def test_a_partition_knows_the_splits_of_a_tree():
    fitted = CanonicalBinning(RecursiveSplit(4)).fit(ROWS, CAME)
    np.testing.assert_array_equal(simplex_partition(fitted, resolution=6).splits, fitted.partition_.gamma)
    irp = MulticlassRecursivePartitioning(max_regions=6, smoothing=1.0).fit(ROWS, CAME)
    result = simplex_partition(irp, resolution=30)
    np.testing.assert_array_equal(result.splits, irp.tree_.gamma)
    assert simplex_partition(CanonicalBinning(Sierpinski(1)).fit(ROWS, CAME), resolution=6).splits is None


LEFT, RIGHT, TOP = np.array([0.0, 0.0]), np.array([1.0, 0.0]), np.array([0.5, np.sqrt(0.75)])


def partition(binning, **options):
    fitted = CanonicalBinning(binning, labels=NAMES[:3])
    return simplex_partition(fitted.fit(ROWS, np.array(NAMES)[CAME]), resolution=20, **options)


def of_kind(ax, kind):
    return [c for c in ax.collections if isinstance(c, kind)]


def place(p):
    return p[0] * LEFT + p[1] * RIGHT + p[2] * TOP


@pytest.mark.parametrize("binning", [Sierpinski(2), SimplexGrid(4), Projection(9, directions="random")], ids=str)
def test_the_triangles_vectors_and_borders_are_those_of_the_partition(binning):
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


def test_numbers_of_splits_do_not_cover_each_other():
    """Of forty points in a corner of the triangle the first that has room is numbered, and the others are dots."""
    ax = plt.subplots(figsize=(3.6, 3.5), layout="constrained")[1]
    draw_frame(ax, ("0", "1", "2"), drawing.CERTAIN[:3])
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
    sure = ROWS[:, 0] > 0.5
    empty = CanonicalBinning(Sierpinski(1), labels=[0, 1, 2]).fit(ROWS[sure], CAME[sure])
    result, words = simplex_partition(empty, resolution=4), "white: no rows, 1/3 each"
    np.testing.assert_array_equal(result.is_empty, result.prob[:, 0] <= 0.5)
    np.testing.assert_array_equal(result.calibrated[result.is_empty], 1 / 3)
    assert words in [t.get_text() for t in result.plot().texts]
    assert words not in [t.get_text() for t in partition(Sierpinski(1)).plot().texts]


def test_several_stand_side_by_side():
    results = {"a": partition(Sierpinski(1)), "b": simplex_partition(np.sqrt, resolution=3)}
    axes = plot_simplex_partition(results)
    assert [ax.get_title() for ax in axes] == ["a", "b"]
    assert of_kind(axes[1], LineCollection) == []


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


SPREAD = {k: np.random.default_rng(k).dirichlet(np.ones(k), 300) for k in (3, 4)}
OCCURRED = {k: np.array([np.random.default_rng(i).choice(k, p=p) for i, p in enumerate(SPREAD[k])]) for k in (3, 4)}
each_number = pytest.mark.parametrize("k", [3, 4])


@each_number
@given(data=st.data())
def test_a_point_weighs_the_corners_by_its_forecast(k, data):
    label, prob, _ = data.draw(tables(n_classes=st.just(k)))
    points = simplex_points(label, prob, labels=list(range(k)))
    assert points.place.shape == (len(prob), k - 1)
    for row, place in zip(points.prob.tolist(), points.place.tolist(), strict=True):
        for axis in range(k - 1):
            assert place[axis] == pytest.approx(sum(p * CORNERS[k][j, axis] for j, p in enumerate(row)), abs=1e-12)
    np.testing.assert_array_equal(points.label, label)
    frame = points.to_frame("polars")
    assert frame.columns == [*(f"prob_{j}" for j in range(k)), "label"]
    assert frame["label"].to_list() == [str(of) for of in label]


def test_a_draw_is_repeated_by_its_seed_and_takes_every_row_as_often():
    first = simplex_points(OCCURRED[3], SPREAD[3], max_points=10, rng=5)
    again = simplex_points(OCCURRED[3], SPREAD[3], max_points=10, rng=5)
    np.testing.assert_array_equal(first.prob, again.prob)
    rng, times = np.random.default_rng(0), np.zeros(10)
    for _ in range(2000):
        drawn = simplex_points(OCCURRED[3][:10], SPREAD[3][:10], max_points=3, rng=rng).prob
        times += np.isin(SPREAD[3][:10, 0], drawn[:, 0])
    np.testing.assert_allclose(times / 2000, 0.3, atol=5 * np.sqrt(0.3 * 0.7 / 2000))


def test_points_are_drawn_of_more_rows_than_numbers_can_count():
    many = simplex_points(OCCURRED[3][:9], SPREAD[3][:9], max_points=400, sample_weight=np.arange(9) * 1e90)
    assert many.place.shape == (400, 2)
    share = np.isclose(many.prob[:, 0], SPREAD[3][8, 0]).mean()
    assert abs(share - 8 / 36) < 5 * np.sqrt(8 / 36 * 28 / 36 / 400)


def test_calibrated_forecasts_can_be_given_and_lose_the_rows_of_weight_zero_too():
    weight, given = np.arange(300) % 3, sharper(SPREAD[3])
    points = simplex_points(OCCURRED[3], SPREAD[3], given, sample_weight=weight)
    np.testing.assert_array_equal(points.prob, np.repeat(SPREAD[3], weight, axis=0))
    np.testing.assert_array_equal(points.calibrated, np.repeat(given, weight, axis=0))
    assert points.to_frame("polars").columns[-3:] == ["calibrated_0", "calibrated_1", "calibrated_2"]
    assert points.calibrator == "given"
    assert points.n_rows == 300


# Pictures


def points(k, **options):
    fitted = CanonicalBinning(RecursiveSplit(3), labels=NAMES[:k]).fit(SPREAD[k], np.array(NAMES)[OCCURRED[k]])
    return simplex_points(np.array(NAMES)[OCCURRED[k]], SPREAD[k], fitted, labels=NAMES[:k], **options)


def places(cloud):
    return np.column_stack(cloud._offsets3d) if hasattr(cloud, "_offsets3d") else cloud.get_offsets()


@pytest.mark.parametrize("colours", ["safe", "rgb"])
@each_number
def test_calibrated_vectors_are_drawn_where_their_rows_are_in_mixtures_of_the_corners(k, colours):
    result = points(k)
    _, ax = result.plot(colours=colours)
    (cloud,) = (one for one in ax.collections if isinstance(one, PathCollection))
    np.testing.assert_array_equal(places(cloud), result.place)
    np.testing.assert_allclose(Collection.get_facecolor(cloud)[:, :3], mixed(result.calibrated, colours))


@each_number
def test_a_picture_of_labels_and_one_of_vectors_by_default(k):
    axes = plot_simplex_points({"irp": points(k), "rows": replace(points(k), calibrated=None)})
    assert [ax.get_title() for ax in axes] == ["irp, labels", "irp, calibrated vectors", "rows, labels"]
    alone = simplex_points(OCCURRED[k], SPREAD[k]).plot()
    assert alone.get_title() == "labels"
    assert (alone.name == "3d") == (k == 4)


@each_number
def test_splits_of_points_are_numbered_beside_calibrated_vectors(k):
    result = points(k)
    labels, calibrated = result.plot()
    assert numbers(labels) == {}
    shown = numbers(calibrated)
    assert sorted(shown) == ["1", "2", "3"]
    for number, gamma in enumerate(result.splits, start=1):
        np.testing.assert_allclose(shown[str(number)], gamma @ CORNERS[k])
    assert numbers(result.plot(splits=False)[1]) == {}


def numbers(ax):
    found = [t for t in ax.texts if t.get_text().isdecimal()]
    return {t.get_text(): t.get_position_3d() if ax.name == "3d" else t.get_position() for t in found}


@each_number
def test_long_names_are_cut_and_stay_on_the_page(k):
    names = ("W" * 10_000, "a long name " * 20, "$^_$ is no formula, $x", "a name that stands above")
    ax = replace(points(k), classes=names[:k], calibrated=None).plot()
    ax.figure.canvas.draw()
    shown = [t.get_text() for t in ax.texts if t.get_text()]
    assert [text[:4] for text in shown] == [name[:4] for name in names[:k]]
    assert max(len(line) for text in shown for line in text.split("\n")) <= 18
    image = np.asarray(ax.figure.canvas.buffer_rgba())
    assert (image[:, [0, -1], :3] == 255).all()  # nothing reaches the edge
