"""Points stand where their forecasts are, keep their labels and vectors together, and are a fair draw of the rows."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from matplotlib.collections import Collection, PathCollection
from strategies import tables

from calibrant import TemperatureScaling, load_digits_forecast
from calibrant.binning import RecursiveSplit, SplitTree
from calibrant.calibrators import CanonicalBinning
from calibrant.curves.simplex import mixed
from calibrant.curves.simplex_partition import CORNERS, plot_simplex_points, simplex_points

Y, PROB = load_digits_forecast()
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
    sharper = SPREAD[3] ** 2 / (SPREAD[3] ** 2).sum(axis=1, keepdims=True)
    weight = np.arange(300) % 3
    points = simplex_points(OCCURRED[3], SPREAD[3], sharper, sample_weight=weight)
    np.testing.assert_array_equal(points.prob, np.repeat(SPREAD[3], weight, axis=0))
    np.testing.assert_array_equal(points.calibrated, np.repeat(sharper, weight, axis=0))
    assert points.calibrator == "given"
    assert points.n_rows == 300


@each_number
def test_points_of_splitting_are_those_of_the_tree_in_its_order(k):
    fitted = CanonicalBinning(RecursiveSplit(4)).fit(SPREAD[k], OCCURRED[k])
    np.testing.assert_array_equal(simplex_points(OCCURRED[k], SPREAD[k], fitted).splits, fitted.partition_.gamma)
    assert isinstance(fitted.partition_, SplitTree)


REFUSED = [
    (lambda: simplex_points(Y, PROB), "of three or four classes; y_prob has 10"),
    (lambda: simplex_points(OCCURRED[3], SPREAD[3], max_points=0), "max_points must be a whole number, at least 1"),
    (lambda: simplex_points(OCCURRED[3], SPREAD[3], "dirichlet"), "must be a fitted calibrator or a function; got"),
    (lambda: simplex_points(OCCURRED[3], SPREAD[3], SPREAD[3][:5]), r"a table of shape \(300, 3\), as y_prob is; got"),
    (
        lambda: simplex_points(OCCURRED[3], SPREAD[3], TemperatureScaling().fit(SPREAD[4], OCCURRED[4])),
        "must have the classes of the forecast, 0, 1, 2; got 0, 1, 2, 3",
    ),
    (lambda: simplex_points(OCCURRED[4], SPREAD[4], lambda prob: prob[:, :3]), "Pass a map of 4 classes"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_what_makes_no_sense_is_refused(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()


# Pictures


NAMES = ["ant", "bee", "cat", "dog"]


def points(k, **options):
    fitted = CanonicalBinning(RecursiveSplit(3), labels=NAMES[:k]).fit(SPREAD[k], np.array(NAMES)[OCCURRED[k]])
    return simplex_points(np.array(NAMES)[OCCURRED[k]], SPREAD[k], fitted, labels=NAMES[:k], **options)


def clouds(ax):
    return [c for c in ax.collections if isinstance(c, PathCollection)]


def places(cloud):
    return np.column_stack(cloud._offsets3d) if hasattr(cloud, "_offsets3d") else cloud.get_offsets()


@pytest.mark.parametrize("colours", ["safe", "rgb"])
@each_number
def test_calibrated_vectors_are_drawn_where_their_rows_are_in_mixtures_of_the_corners(k, colours):
    result = points(k)
    _, ax = result.plot(colours=colours)
    (cloud,) = clouds(ax)
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


REFUSALS = [
    ({}, {}, "results must hold at least one curve"),
    (points(3), {"axes": [None]}, "axes must be one for each picture; got 1 for 2"),
    (replace(points(4), calibrated=None), {"axes": "plane"}, "axes must be with projection='3d' for 4 classes"),
    (replace(points(3), calibrated=None), {"axes": "space"}, "axes must be in the plane for 3 classes"),
    (points(3), {"colours": "cmyk"}, "colours must be one of 'safe', 'rgb'"),
]


@pytest.mark.parametrize(("results", "options", "message"), REFUSALS)
def test_what_cannot_be_drawn_is_refused(results, options, message):
    if isinstance(kind := options.get("axes"), str):
        ax = plt.figure().add_subplot(projection="3d" if kind == "space" else None)
        options = options | {"axes": ax}
    with pytest.raises(ValueError, match=message):
        plot_simplex_points(results, **options)


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
