"""The partition is drawn as the result has it, in colours that everybody can tell apart."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from calibrant.binning import Projection, RecursiveSplit, Sierpinski, SimplexGrid
from calibrant.calibrators import CanonicalBinning
from calibrant.curves.simplex_partition import simplex_partition, simplex_split

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.collections import LineCollection, PolyCollection  # noqa: E402
from matplotlib.colors import to_rgb  # noqa: E402

from calibrant import style as _style  # noqa: E402
from calibrant.curves.simplex import mixed  # noqa: E402
from calibrant.curves.simplex_partition import (  # noqa: E402
    draw_frame,
    draw_splits,
    plot_simplex_partition,
)

CERTAIN = _style.CERTAIN[:3]

SPREAD = np.random.default_rng(0).dirichlet(np.ones(3), 200)
OCCURRED = np.array([np.random.default_rng(i).choice(3, p=p) for i, p in enumerate(SPREAD)])
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
    for path, corners in zip(mesh.get_paths(), result.triangle, strict=True):
        np.testing.assert_allclose(path.vertices[:3], [place(result.vertex[corner]) for corner in corners], atol=1e-15)
    expected = np.where(result.is_empty[:, None], 1.0, mixed(result.calibrated))
    np.testing.assert_array_equal(mesh.get_facecolors()[:, :3], expected)
    for lines in of_kind(ax, LineCollection):
        for segment, ends in zip(lines.get_segments(), result.cells.border, strict=True):
            np.testing.assert_allclose(segment, [place(result.vertex[end]) for end in ends], atol=1e-15)


def test_a_certain_vector_has_the_colour_of_its_corner():
    np.testing.assert_allclose(mixed(np.eye(3)), [to_rgb(colour) for colour in CERTAIN], atol=1e-6)


def test_no_mixture_of_three_classes_is_muddy():
    """None is dark, of a lightness in [0, 100], and none is grey, which has a chroma of 0."""
    light, red, blue = lab(mixed(SPREAD) ** 2.2).T
    assert light.min() > 40
    assert np.hypot(red, blue).min() > 12


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


def test_rgb_shows_the_vector_itself():
    result = partition(Sierpinski(2))
    (mesh,) = of_kind(result.plot(colours="rgb"), PolyCollection)
    expected = np.where(result.is_empty[:, None], 1.0, result.calibrated)
    np.testing.assert_allclose(mesh.get_facecolors()[:, :3], expected)


def test_plain_cells_are_borders_alone():
    ax = partition(Sierpinski(2)).plot(colours="plain")
    assert of_kind(ax, PolyCollection) == []
    assert len(of_kind(ax, LineCollection)) == 2
    assert ax.child_axes == []


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


def test_the_regions_around_a_point_have_the_colours_of_their_classes():
    result = simplex_split([0.5, 0.3, 0.2], resolution=12)
    ax = result.plot(text="count")  # there are no rows to count
    (mesh,) = of_kind(ax, PolyCollection)
    expected = np.array([to_rgb(CERTAIN[k]) for k in result.cells.index])
    np.testing.assert_allclose(mesh.get_facecolors()[:, :3], expected)
    assert sorted(t.get_text() for t in ax.texts) == ["0", "1", "1", "2"]  # the names, and the split


def test_corners_bear_the_names_and_the_colours_of_the_classes():
    ax = partition(SimplexGrid(3)).plot()
    names = {text.get_text(): text.xy for text in ax.texts if text.get_text() in ("ant", "bee", "cat")}
    np.testing.assert_allclose([names["ant"], names["bee"], names["cat"]], [LEFT, RIGHT, TOP])
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    assert [dot.get_color() for dot in dots] == list(CERTAIN)


@pytest.mark.parametrize(("text", "room"), [("count", 0.024), ("value", 0.045)])
def test_cells_with_room_say_what_they_hold(text, room):
    result = partition(Projection(6))
    ax = result.plot(text=text)
    cells = result.cells
    expected = [
        str(count) if text == "count" else "\n".join(f"{100 * p:.0f}" for p in value)
        for count, value, own in zip(cells.count.tolist(), cells.value, cells.room, strict=True)
        if own > room
    ]
    assert len(expected) > 1
    assert [t.get_text() for t in ax.texts if t.get_text() not in ("ant", "bee", "cat")] == expected


def test_long_numbers_need_more_room():
    rows = np.repeat(SPREAD, 60, axis=0)
    cells = simplex_partition(CanonicalBinning(Projection(27)).fit(rows, np.repeat(OCCURRED, 60)), resolution=60)
    shown = {t.get_text() for t in cells.plot(text="count").texts}
    counts, room = cells.cells.count, cells.cells.room
    assert (counts >= 100).all()
    left_out = (room > 0.024) & (room <= 0.0115 * np.char.str_len(counts.astype(str)))
    assert left_out.any()
    assert shown.isdisjoint(counts[left_out & ~np.isin(counts, counts[~left_out])].astype(str))


def test_white_is_explained_where_there_is_white():
    sure = SPREAD[:, 0] > 0.5
    empty = CanonicalBinning(Sierpinski(1), labels=[0, 1, 2]).fit(SPREAD[sure], OCCURRED[sure])
    result, words = simplex_partition(empty, resolution=4), "white: no rows, 1/3 each"
    np.testing.assert_array_equal(result.calibrated[result.is_empty], 1 / 3)
    assert words in [t.get_text() for t in result.plot().texts]
    assert words not in [t.get_text() for t in partition(Sierpinski(1)).plot().texts]


def test_several_stand_side_by_side_and_share_a_key():
    results = {"a": partition(Sierpinski(1)), "b": simplex_partition(np.sqrt, resolution=3)}
    axes = plot_simplex_partition(results)
    assert [ax.get_title() for ax in axes] == ["a", "b"]
    assert [len(ax.child_axes) for ax in axes] == [1, 0]
    assert plot_simplex_partition(results, key=False)[0].child_axes == []
    assert of_kind(axes[1], LineCollection) == []


def test_the_key_shows_each_vector_in_its_own_place():
    (key,) = partition(Sierpinski(1)).plot().child_axes
    (mesh,) = of_kind(key, PolyCollection)
    middle = np.array([path.vertices[:3].mean(axis=0) for path in mesh.get_paths()])
    top = middle[:, 1] / TOP[1]
    vectors = np.column_stack([1 - top - (middle[:, 0] - top / 2), middle[:, 0] - top / 2, top])
    np.testing.assert_allclose(mesh.get_facecolors()[:, :3], mixed(vectors), atol=1e-12)


def test_given_axes_are_drawn_on_and_settings_are_left_alone():
    before = dict(matplotlib.rcParams)
    figure, ax = plt.subplots()
    assert partition(Sierpinski(1)).plot(axes=ax) is ax
    figure.canvas.draw()
    assert plt.get_fignums() == [figure.number]
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize(
    ("results", "options", "message"),
    [
        ({}, {}, "results must hold at least one curve"),
        (
            {name: partition(Sierpinski(1)) for name in "ab"},
            {"axes": [None]},
            "axes must be one for each result; got 1 for 2",
        ),
        (partition(Sierpinski(1)), {"text": "rows"}, "text must be one of 'count', 'value'"),
    ],
    ids=["none", "axes", "text"],
)
def test_what_cannot_be_drawn_is_refused(results, options, message):
    with pytest.raises(ValueError, match=message):
        plot_simplex_partition(results, **options)


@pytest.mark.parametrize(
    "results", [CanonicalBinning(), {"a": Sierpinski(1)}, SPREAD], ids=["calibrator", "binning", "P"]
)
def test_what_is_no_partition_is_refused(results):
    with pytest.raises(TypeError, match=r"results must be of type SimplexPartition; got .* Pass simplex_partition\("):
        plot_simplex_partition(results)
    assert plt.get_fignums() == []


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


LONG = ("a long name " * 20, "W" * 10_000, "$^_$ is no formula, $x")


def test_long_names_lie_on_nothing_and_leave_the_triangle_its_size():
    result = partition(Sierpinski(1))
    ax = replace(result, classes=LONG).plot()
    assert sides(ax) > 0.75 * sides(result.plot())
    names = [t for t in ax.texts if t.get_text()]
    assert [t.get_text()[:6] for t in names] == ["a long", "WWWWWW", "$^_$ i"]
    boxes = [t.get_window_extent() for t in names]
    assert not any(boxes[i].overlaps(boxes[j]) for i in range(3) for j in range(i))
    assert all(ax.figure.bbox.padded(1).fully_containsx(x) for box in boxes for x in (box.x0, box.x1))
