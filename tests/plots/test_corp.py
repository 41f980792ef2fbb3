"""A CORP diagram shows exactly the arrays of the result."""

import numpy as np
import pytest

from calibrant import corp_curve, load_digits_forecast
from calibrant import style as _style
from calibrant.curves import plot_corp

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.collections import LineCollection, PolyCollection  # noqa: E402
from matplotlib.patches import StepPatch  # noqa: E402

Y, PROB = load_digits_forecast()
Y, PROB = Y[:300], PROB[:300]


def curve(**options):
    return corp_curve(Y, PROB, n_resamples=20, **options)


def fits(ax):
    """Lines of fits: neither the diagonal nor what stands in the legend only."""
    return [line for line in ax.lines if line.get_label() != "calibrated" and line.get_xdata().size]


def bands(ax):
    return [c for c in ax.collections if isinstance(c, PolyCollection)]


def below(ax):
    others = [*ax.child_axes, *(a for a in ax.figure.axes if a is not ax)]
    return next(a for a in others if any(isinstance(p, StepPatch) for p in a.patches))


def words(ax):
    legend = ax.get_legend()
    return [] if legend is None else [legend.get_title().get_text(), *(text.get_text() for text in legend.get_texts())]


def shows(ax, panel, number=0):
    """Assert that the artists of one curve carry the arrays of its panel."""
    x, y = np.column_stack([panel.left, panel.right]).ravel(), np.repeat(panel.rate, 2)
    np.testing.assert_array_equal(fits(ax)[number].get_xydata(), np.column_stack([x, y]))
    blocks = [c for c in ax.collections if isinstance(c, LineCollection)][number]
    np.testing.assert_array_equal(np.array(blocks.get_segments()).reshape(-1, 2), np.column_stack([x, y]))
    stairs = below(ax).patches[number].get_data()
    np.testing.assert_array_equal(stairs.values, panel.histogram.count)
    np.testing.assert_array_equal(stairs.edges, panel.histogram.edges)


def corners(ax, number=0):
    return {tuple(corner) for corner in bands(ax)[number].get_paths()[0].vertices}


@pytest.mark.parametrize("band", ["consistency", "confidence"])
def test_the_artists_carry_exactly_the_arrays_of_the_result(band):
    found = curve(band=band)
    ax, panel = found.plot(), found.panels[0]
    shows(ax, panel)
    for ends in (panel.lower, panel.upper):
        assert set(zip(panel.score, ends, strict=True)) <= corners(ax)


def test_a_simultaneous_lower_bound_holds_on_to_the_next_score_and_an_upper_one_from_the_one_before():
    found = curve(band="simultaneous")
    ax, panel = found.plot(), found.panels[0]
    shows(ax, panel)
    expected = set(zip(panel.score, panel.lower, strict=True)) | set(
        zip(panel.score[1:], panel.lower[:-1], strict=True)
    )
    expected |= set(zip(panel.score, panel.upper, strict=True)) | set(
        zip(panel.score[:-1], panel.upper[1:], strict=True)
    )
    assert expected <= corners(ax)


def test_every_class_has_a_panel_with_its_name_and_terms():
    found = curve(notion="class-wise")
    axes = found.plot()
    assert [ax.get_title() for ax in axes] == [panel.name for panel in found.panels]
    for ax, panel in zip(axes, found.panels, strict=True):
        shows(ax, panel)
        assert ax.texts[0].get_text() == f"MCB {panel.miscalibration:.4f}\nDSC {panel.discrimination:.4f}"


def test_the_legend_says_what_the_band_is_and_what_the_score_is_made_of():
    for band, word in [
        ("consistency", "95% if calibrated"),
        ("confidence", "95% confidence at each score"),
        ("simultaneous", "95% confidence at all scores"),
    ]:
        found = curve(band=band)
        panel = found.panels[0]
        terms = f"MCB {panel.miscalibration:.4f}   DSC {panel.discrimination:.4f}   UNC {panel.uncertainty:.4f}"
        assert words(found.plot()) == [terms, "calibrated", word, "isotonic fit"]


def test_a_band_of_what_calibration_would_show_is_grey_and_one_of_the_fit_has_its_colour():
    for band, colour in (("consistency", matplotlib.colors.to_rgb(_style.BAND)), ("confidence", fits_colour())):
        (patch,) = bands(curve(band=band).plot())
        np.testing.assert_allclose(patch.get_facecolor()[0][:3], colour)


def fits_colour():
    (fit,) = fits(curve(band=None).plot())
    return matplotlib.colors.to_rgb(fit.get_color())


def test_forecasts_are_drawn_over_each_other_with_their_terms():
    curves = {"before": curve(), "after": corp_curve(Y, 0.5 * PROB + 0.05, n_resamples=20)}
    ax = plot_corp(curves)
    for number, found in enumerate(curves.values()):
        shows(ax, found.panels[0], number)
    assert fits(ax)[0].get_color() != fits(ax)[1].get_color()
    panels = [found.panels[0] for found in curves.values()]
    terms = [f"MCB {panel.miscalibration:.4f}, DSC {panel.discrimination:.4f}" for panel in panels]
    assert words(ax)[1:] == ["calibrated", f"before: {terms[0]}", f"after: {terms[1]}"]


@pytest.mark.parametrize("options", [{"band": False}, {"histogram": False}])
def test_band_and_histogram_can_be_left_out(options):
    ax = curve().plot(**options)
    assert bool(bands(ax)) == options.get("band", True)
    assert bool(ax.child_axes) == options.get("histogram", True)


def test_a_curve_without_a_band_has_none():
    assert bands(curve(band=None).plot()) == []


def test_a_class_that_is_never_predicted_has_an_empty_panel():
    prob = np.array([[0.9, 0.1, 0.0], [0.2, 0.8, 0.0]])
    axes = corp_curve([0, 1], prob, notion="top-label", n_resamples=5).plot()
    assert axes[2].texts[0].get_text() == "no rows"
    axes[0].figure.canvas.draw()


@pytest.mark.parametrize("notion", ["confidence", "top-label", "class-wise"])
def test_the_axes_say_what_they_show(notion):
    drawn = curve(notion=notion).plot()
    if notion == "confidence":
        assert (drawn.get_ylabel(), below(drawn).get_xlabel()) == ("accuracy", "probability")
    else:
        word = "accuracy" if notion == "top-label" else "event rate"
        assert (drawn[0].figure.get_supylabel(), drawn[0].figure.get_supxlabel()) == (word, "probability")


@pytest.mark.parametrize("layout", [None, "constrained", "tight"])
def test_a_given_axes_is_drawn_on_and_no_figure_is_made(layout):
    figure, (left, right) = plt.subplots(1, 2, layout=layout)
    found = curve()
    assert found.plot(ax=right) is right
    shows(right, found.panels[0])
    assert plt.get_fignums() == [figure.number]
    assert not left.lines
    figure.canvas.draw()


def test_settings_of_matplotlib_are_left_alone():
    before = dict(matplotlib.rcParams)
    curve().plot().figure.canvas.draw()
    assert dict(matplotlib.rcParams) == before


@pytest.mark.settled
@pytest.mark.parametrize("several", [False, True], ids=["one", "several"])
def test_nothing_is_clipped(several):
    """All text, and the legend, lie inside the figure, and the legend does not cover the title."""
    ax = plot_corp({"before": curve(), "after": curve()} if several else curve())
    ax.figure.canvas.draw()
    page, legend = ax.figure.bbox, ax.get_legend().get_window_extent()
    for box in (ax.get_tightbbox(), below(ax).get_tightbbox(), legend):
        assert page.x0 <= box.x0
        assert box.x1 <= page.x1
        assert page.y0 <= box.y0
        assert box.y1 <= page.y1
    assert not legend.overlaps(ax.title.get_window_extent())


def test_terms_make_room_for_a_curve_in_their_corner():
    over_confident = corp_curve(
        [[0, 1, 2][i % 3] for i in range(60)], np.full((60, 3), [0.05, 0.05, 0.9]), notion="class-wise", n_resamples=5
    )
    under_confident = corp_curve([2] * 60, np.full((60, 3), [0.05, 0.05, 0.9]), notion="class-wise", n_resamples=5)
    assert over_confident.plot()[2].texts[0].get_position() == (0.97, 0.04)
    assert corp_curve([0] * 60, np.full((60, 3), [0.05, 0.05, 0.9]), notion="class-wise", n_resamples=5).plot()[
        2
    ].texts[0].get_position() == (0.04, 0.96)
    assert under_confident.plot()[2].texts[0].get_position() == (0.97, 0.04)


def test_no_curve_and_curves_of_different_notions_are_refused():
    with pytest.raises(ValueError, match="at least one curve; got none"):
        plot_corp({})
    with pytest.raises(ValueError, match=r"must have the same panels; got .*Use one notion"):
        plot_corp({"a": curve(), "b": curve(notion="class-wise")})
