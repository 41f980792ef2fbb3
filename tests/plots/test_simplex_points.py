"""Points are drawn where the result has them, in the colours of their labels or of their calibrated vectors."""

from dataclasses import replace

import numpy as np
import pytest

from calibrant.binning import RecursiveSplit
from calibrant.calibrators import CanonicalBinning
from calibrant.curves.simplex_partition import CORNERS, simplex_lattice, simplex_points

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.collections import Collection, PathCollection  # noqa: E402
from matplotlib.colors import to_rgb  # noqa: E402
from mpl_toolkits.mplot3d import proj3d  # noqa: E402

from calibrant import style as _style  # noqa: E402
from calibrant.curves.simplex import mixed  # noqa: E402
from calibrant.curves.simplex_partition import plot_simplex_points  # noqa: E402

NAMES = ["ant", "bee", "cat", "dog"]
SPREAD = {k: np.random.default_rng(k).dirichlet(np.ones(k), 200) for k in (3, 4)}
OCCURRED = {k: np.array([np.random.default_rng(i).choice(k, p=p) for i, p in enumerate(SPREAD[k])]) for k in (3, 4)}

each_number = pytest.mark.parametrize("k", [3, 4])


def points(k, **options):
    fitted = CanonicalBinning(RecursiveSplit(3), labels=NAMES[:k]).fit(SPREAD[k], np.array(NAMES)[OCCURRED[k]])
    return simplex_points(np.array(NAMES)[OCCURRED[k]], SPREAD[k], fitted, labels=NAMES[:k], **options)


def clouds(ax):
    return [c for c in ax.collections if isinstance(c, PathCollection)]


def places(cloud):
    return np.column_stack(cloud._offsets3d) if hasattr(cloud, "_offsets3d") else cloud.get_offsets()


@each_number
def test_labels_are_drawn_where_their_rows_are_in_colours_and_markers_of_their_own(k):
    result = points(k)
    ax = result.plot(by="label")
    assert [cloud.get_label() for cloud in clouds(ax)] == NAMES[:k]
    for j, cloud in enumerate(clouds(ax)):
        np.testing.assert_array_equal(places(cloud), result.place[result.label == j])
    ax.figure.canvas.draw()
    shapes = [cloud.get_paths()[0].vertices.tolist() for cloud in clouds(ax)]
    assert all(shapes[i] != shapes[j] for i in range(k) for j in range(i))
    if k == 3:
        assert [tuple(c.get_facecolor()[0, :3]) for c in clouds(ax)] == [to_rgb(c) for c in _style.CERTAIN[:3]]


@pytest.mark.parametrize("colours", ["safe", "rgb"])
@each_number
def test_calibrated_vectors_are_drawn_where_their_rows_are_in_mixtures_of_the_corners(k, colours):
    result = points(k)
    ax = result.plot(by="calibrated", colours=colours)
    (cloud,) = clouds(ax)
    np.testing.assert_array_equal(places(cloud), result.place)
    np.testing.assert_allclose(Collection.get_facecolor(cloud)[:, :3], mixed(result.calibrated, colours))


def test_points_far_away_keep_their_colours():
    result = points(4)
    (cloud,) = clouds(result.plot(by="calibrated"))
    cloud.figure.canvas.draw()
    drawn = np.unique(cloud.get_facecolor().round(9), axis=0)
    np.testing.assert_allclose(drawn, np.unique(np.insert(mixed(result.calibrated), 3, 1.0, axis=1).round(9), axis=0))


def test_rgb_is_the_vector_itself():
    np.testing.assert_allclose(mixed(SPREAD[3], "rgb"), SPREAD[3])
    np.testing.assert_allclose(mixed(SPREAD[4], "rgb"), SPREAD[4][:, :3])


@each_number
def test_corners_bear_the_names_and_the_colours_of_the_classes(k):
    ax = points(k).plot(by="label", colours="rgb")
    dots = [line for line in ax.lines if line.get_marker() not in ("None", "")]
    assert [dot.get_color() for dot in dots] == list(_style.RGB[:k])
    assert [dot.get_marker() for dot in dots] == list(_style.MARKERS[:k])
    for dot, corner in zip(dots, CORNERS[k], strict=True):
        where = dot.get_data_3d() if k == 4 else dot.get_data()
        np.testing.assert_allclose(np.ravel(where), corner)
    assert [t.get_text() for t in ax.texts if t.get_text() in NAMES] == NAMES[:k]


@each_number
def test_a_picture_of_labels_and_one_of_vectors_by_default(k):
    axes = plot_simplex_points({"irp": points(k), "lattice": simplex_lattice(np.sqrt, n_classes=k)})
    assert [ax.get_title() for ax in axes] == ["irp, labels", "irp, calibrated vectors", "lattice, calibrated vectors"]
    alone = simplex_points(OCCURRED[k], SPREAD[k]).plot()
    assert alone.get_title() == "labels"
    assert (alone.name == "3d") == (k == 4)


@each_number
def test_splits_are_numbered_in_their_order_beside_calibrated_vectors(k):
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
def test_a_draw_says_that_it_is_one(k):
    said = "50 of 200 rows, drawn at random"
    assert said in [t.get_text() for t in points(k, max_points=50).plot(by="label").texts]
    assert said not in [t.get_text() for t in points(k).plot(by="label").texts]


@each_number
def test_given_axes_are_drawn_on_and_settings_are_left_alone(k):
    before = dict(matplotlib.rcParams)
    figure = plt.figure()
    ax = figure.add_subplot(projection="3d" if k == 4 else None)
    assert points(k).plot(axes=ax, by="label") is ax
    figure.canvas.draw()
    assert plt.get_fignums() == [figure.number]
    assert dict(matplotlib.rcParams) == before


def test_the_tetrahedron_is_seen_from_where_one_asks():
    ax = points(4).plot(by="label", view=(10, 20))
    assert (ax.elev, ax.azim) == (10, 20)


def test_a_forecast_without_rows_of_a_class_is_drawn():
    ax = simplex_points([0, 0], SPREAD[4][:2]).plot()
    ax.figure.canvas.draw()
    assert [len(places(c)) for c in clouds(ax)] == [2, 0, 0, 0]


@pytest.mark.parametrize(
    ("results", "options", "message"),
    [
        ({}, {}, "results must hold at least one curve"),
        (points(3), {"axes": [None]}, "axes must be one for each picture; got 1 for 2"),
        (points(4), {"by": "label", "axes": "plane"}, "axes must be with projection='3d' for 4 classes"),
        (points(3), {"by": "label", "axes": "space"}, "axes must be in the plane for 3 classes"),
        (points(3), {"by": "colour"}, "by must be one of 'label', 'calibrated'"),
        (points(3), {"colours": "cmyk"}, "colours must be one of 'safe', 'rgb'"),
        (simplex_lattice(np.sqrt), {"by": "label"}, "by must be what the points have, 'calibrated'; got 'label'"),
    ],
    ids=["none", "axes", "plane", "space", "by", "colours", "no labels"],
)
def test_what_cannot_be_drawn_is_refused(results, options, message):
    if isinstance(kind := options.get("axes"), str):
        ax = plt.figure().add_subplot(projection="3d" if kind == "space" else None)
        options = options | {"axes": ax}
    with pytest.raises(ValueError, match=message):
        plot_simplex_points(results, **options)


def test_what_are_no_points_is_refused():
    with pytest.raises(TypeError, match=r"results must be of type SimplexPoints; got ndarray\. Pass simplex_points\("):
        plot_simplex_points(SPREAD[3])
    assert plt.get_fignums() == []


@each_number
def test_splits_outside_are_counted_and_leave_the_picture_its_size(k):
    result = points(k)
    far = np.vstack([result.splits, np.append(30.0, np.full(k - 1, -29.0 / (k - 1)))])
    ax = replace(result, splits=far).plot(by="calibrated")
    assert sorted(numbers(ax)) == ["1", "2", "3"]
    shape = {3: "triangle", 4: "tetrahedron"}[k]
    assert f"1 of 4 splitting points lie outside the {shape}" in [t.get_text() for t in ax.texts]
    ax.figure.canvas.draw()
    assert ax.get_window_extent().width > 0.7 * ax.figure.bbox.width


@each_number
def test_certain_forecasts_are_not_hidden_by_their_corners(k):
    result = simplex_points(np.zeros(k, int), np.eye(k), labels=list(range(k)))
    ax = result.plot(by="label")
    ax.figure.canvas.draw()
    first = to_rgb(_style.CERTAIN[0])
    image = np.asarray(ax.figure.canvas.buffer_rgba())[::-1, :, :3] / 255
    place = result.place if k == 3 else np.column_stack(proj3d.proj_transform(*result.place.T, ax.get_proj())[:2])
    for x, y in ax.transData.transform(place).round().astype(int):
        np.testing.assert_allclose(image[y, x], first, atol=0.02)


@each_number
def test_long_names_are_cut_and_stay_on_the_page(k):
    names = ("W" * 10_000, "a long name " * 20, "$^_$ is no formula, $x", "a name that stands above")
    ax = replace(points(k), classes=names[:k]).plot(by="label")
    ax.figure.canvas.draw()
    shown = [t.get_text() for t in ax.texts if t.get_text()]
    assert [text[:4] for text in shown] == [name[:4] for name in names[:k]]
    assert max(len(line) for text in shown for line in text.split("\n")) <= 18
    image = np.asarray(ax.figure.canvas.buffer_rgba())
    assert (image[:, [0, -1], :3] == 255).all()  # nothing reaches the edge
