"""A plot of ROC curves shows exactly the arrays of the result."""

import numpy as np
import pytest

from calibrant import load_digits_forecast
from calibrant.curves import plot_roc, roc_curve
from calibrant.exceptions import CalibrationWarning

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402

Y, PROB = load_digits_forecast()
EIGHT, SCORE = Y == 8, PROB[:, 8]


def lines(ax):
    """Curve and hull of each forecast, without the diagonal."""
    return [line.get_xydata() for line in ax.lines[1:]]


def words(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize(("symmetric", "name"), [(False, "fpr"), (True, "tnr")])
def test_the_artists_carry_exactly_the_arrays_of_the_result(symmetric, name):
    curve = roc_curve(EIGHT, SCORE)
    panel = curve.panels[0]
    points = np.column_stack([getattr(panel, name), panel.tpr])
    path, hull = lines(curve.plot(symmetric=symmetric))
    np.testing.assert_array_equal(path, points)
    np.testing.assert_array_equal(hull, points[panel.vertex])


def test_the_legend_states_the_areas():
    curve = roc_curve(EIGHT, SCORE)
    panel = curve.panels[0]
    assert words(curve.plot()) == [f"forecast: area {panel.auc:.3f}", f"hull: area {panel.hull_auc:.3f}"]


def test_what_lies_between_curve_and_hull_is_filled():
    curve = roc_curve(EIGHT, SCORE)
    (patch,) = curve.plot().patches
    x, y = patch.get_xy().T
    filled = abs(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1])) / 2.0
    assert filled == pytest.approx(curve.panels[0].hull_auc - curve.panels[0].auc)


def test_the_hull_can_be_left_out():
    ax = roc_curve(EIGHT, SCORE).plot(hull=False)
    assert len(lines(ax)) == 1
    assert not ax.patches


@pytest.mark.parametrize("symmetric", [False, True])
def test_scores_that_tell_nothing_apart_lie_on_the_dotted_line(symmetric):
    ax = roc_curve([0, 1], [0.5, 0.5]).plot(symmetric=symmetric)
    chance = sorted(map(tuple, ax.lines[0].get_xydata().tolist()))
    assert sorted(map(tuple, lines(ax)[0].tolist())) == chance


def test_the_axes_say_which_curve_it_is():
    curve = roc_curve(EIGHT, SCORE)
    assert curve.plot().get_xlabel() == "false positive rate"
    assert curve.plot(symmetric=True).get_xlabel() == "no event: part below the threshold"


def test_forecasts_over_each_other_have_colours_of_their_own():
    curves = {"before": roc_curve(EIGHT, SCORE), "after": roc_curve(EIGHT, PROB[:, 3])}
    ax = plot_roc(curves)
    assert [w.split(":")[0] for w in words(ax)] == ["before", "hull of before", "after", "hull of after"]
    colours = [line.get_color() for line in ax.lines[1:]]
    assert colours[0] == colours[1] != colours[2] == colours[3]


def test_every_class_has_a_panel_with_its_areas():
    curve = roc_curve(Y, PROB)
    axes = curve.plot()
    assert [ax.get_title() for ax in axes] == [f"class {k}" for k in range(10)]
    for ax, panel in zip(axes, curve.panels, strict=True):
        (text,) = ax.texts
        assert text.get_text() == f"area {panel.auc:.3f}\nhull {panel.hull_auc:.3f}"


def test_names_of_classes_are_no_formulas():
    names = ["$^_$", "$b$", "c"]
    axes = roc_curve(np.tile(names, 2), np.tile(np.eye(3), (2, 1)), labels=names).plot()
    axes[0].figure.canvas.draw()
    assert [ax.get_title() for ax in axes] == ["class $^_$", "class $b$", "class c"]


def test_an_area_that_is_not_defined_is_called_so():
    with pytest.warns(CalibrationWarning, match="set to nan"):
        curve = roc_curve([1, 1], [0.2, 0.4])
    ax = curve.plot()
    ax.figure.canvas.draw()
    assert words(ax) == ["forecast: area undefined", "hull: area undefined"]


def test_what_is_no_roc_curve_is_refused():
    with pytest.raises(
        TypeError, match=r"curves must be of type RocCurve; got ndarray\. Pass roc_curve\(y_true, y_prob\)"
    ):
        plot_roc(SCORE)
    with pytest.raises(TypeError, match="symmetric must be True or False"):
        roc_curve(EIGHT, SCORE).plot(symmetric="yes")


def test_a_given_axes_is_drawn_on_and_settings_are_left_alone():
    before = dict(matplotlib.rcParams)
    figure, ax = plt.subplots()
    assert roc_curve(EIGHT, SCORE).plot(ax=ax) is ax
    figure.canvas.draw()
    assert plt.get_fignums() == [figure.number]
    assert dict(matplotlib.rcParams) == before
