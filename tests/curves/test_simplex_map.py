"""Heat maps on the simplex show the change of each class, and where there is none."""

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.collections import TriMesh
from matplotlib.contour import ContourSet

from calibrant.curves import simplex_map

# Pictures


def sharper(prob):
    return prob**2 / (prob**2).sum(axis=1, keepdims=True)


def heat(ax):
    return next(c for c in ax.collections if isinstance(c, TriMesh))


def contours(ax):
    return [c for c in ax.collections if isinstance(c, ContourSet)]


def test_the_artists_carry_exactly_the_changes_of_the_result():
    result = simplex_map(sharper, resolution=11)
    axes = result.plot()
    for j, ax in enumerate(axes):
        np.testing.assert_array_equal(heat(ax).get_array(), result.change[:, j])
        low, high = heat(ax).get_clim()
        assert -low == high == np.abs(result.change).max()
        assert ax.get_title() == f"class {j}"
        assert [text.get_text() for text in ax.texts] == ["0", "1", "2"]


def test_the_corners_are_the_certain_forecasts():
    result = simplex_map(sharper, resolution=11)
    first = heat(result.plot()[0])
    x, y = first._triangulation.x, first._triangulation.y
    corner = np.argmax(result.prob, axis=0)
    np.testing.assert_allclose(np.column_stack([x, y])[corner], [[0, 0], [1, 0], [0.5, np.sqrt(0.75)]], atol=1e-3)


def test_where_nothing_changes_there_is_no_contour():
    axes = simplex_map(lambda prob: prob).plot()
    assert [contours(ax) for ax in axes] == [[], [], []]
    axes[0].figure.canvas.draw()


def test_fewer_axes_than_classes_are_refused():
    with pytest.raises(ValueError, match=r"axes must be three, one a class; got 1"):
        simplex_map(sharper).plot(axes=plt.figure().add_subplot())


def test_one_norm_makes_pictures_comparable():
    """All six triangles have one scale of colours; by default the three of a picture have, up to the largest change."""
    norm = matplotlib.colors.SymLogNorm(0.01, vmin=-1.0, vmax=1.0)
    for change in (sharper, lambda prob: 0.99 * prob + 0.01 / 3):
        axes = simplex_map(change, resolution=11).plot(norm=norm)
        assert {heat(ax).norm for ax in axes} == {norm}
        assert len({heat(ax).get_clim() for ax in simplex_map(change, resolution=11).plot()}) == 1
