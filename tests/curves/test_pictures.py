"""What every picture keeps: its legend hides no data, a given Axes is drawn on, and what is no curve is refused."""

import warnings

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot as plt

import calibrant as cb
from calibrant import curves as cv
from calibrant.curves import simplex_map, simplex_partition, simplex_points
from calibrant.significance import resampling_test

KNOWN = {"labels": [0, 1]}
LONG = "a forecast with a name as long as names of models are"


def two(p):
    return np.column_stack([1 - p, p])


def several(plot, make, y, p, ax, *, other=LONG, **options):
    """Two forecasts over each other, one with a long name."""
    return plot({name: make(y, q, **KNOWN, **options) for name, q in (("before", p), (other, p / 2))}, ax=ax)


def one(make, y, p, ax, **options):
    return make(y, p, **KNOWN, **options).plot(ax=ax)


PICTURES = {
    "bars": lambda y, p, ax: cb.reliability_curve(y, p, **KNOWN, binning=5).plot(ax=ax, style="bars"),
    "reliability": lambda *a: several(cb.plot_reliability, cb.reliability_curve, *a),
    "consistency": lambda *a: one(cb.reliability_curve, *a, interval="consistency"),
    "log-odds": lambda y, p, ax: cb.reliability_curve(y, p / 100, **KNOWN).plot(ax=ax, axis="log-odds"),
    "marks": lambda y, p, ax: cb.reliability_curve(y, p, **KNOWN, binning=5).plot(ax=ax, centres=True),
    "corp": lambda *a: one(cb.corp_curve, *a, n_resamples=50),
    "smooth": lambda *a: several(
        cv.plot_smooth_reliability, cb.smooth_reliability_curve, *a, bandwidth=0.1, other="after"
    ),
    "roc": lambda *a: several(cv.plot_roc, cv.roc_curve, *a, other="after"),
    "bin test": lambda *a: one(cv.bin_test_curve, *a, binning=cb.EqualMass(4)),
    "map": lambda y, p, ax: cv.calibration_map(lambda score: score, y, p, **KNOWN).plot(ax=ax),
    "cost": lambda y, p, ax: cb.decisions.expected_cost_curve(y, {"before": p, "after": p / 2}, **KNOWN).plot(ax=ax),
    "net benefit": lambda *a: one(cb.decision_curve, *a),
    "null": lambda *a: one(resampling_test, *a, n_resamples=99),
    "validity": lambda *a: several(cv.plot_validity, cv.validity_curve, *a, binning=5),
    "top label": lambda y, p, ax: cv.top_label_curve(y, two(p), **KNOWN).plot(ax=ax),
    "class errors": lambda y, p, ax: several(cv.plot_class_errors, cv.class_errors, y, two(p), ax, rows="normalize"),
}
ROWS = {"one row": 1, "ten rows": 10}


def rows_of(n):
    rng = np.random.default_rng(n)
    p = rng.uniform(0.02, 0.98, n)
    return (rng.random(n) < p).astype(int), p


def drawn(name, y, p, ax=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = np.ravel(PICTURES[name](y, p, ax))[0]
    found.figure.canvas.draw()
    return found


def hides_nothing(ax):
    """Assert that the legend of an Axes lies where nothing else is; where it is drawn at all."""
    legend = ax.get_legend()
    if legend is None:
        return
    box, page = legend.get_window_extent(), ax.figure.bbox
    others = [ax.get_window_extent(), *(other.get_window_extent() for other in ax.child_axes)]
    assert not any(box.overlaps(other.padded(-1)) for other in others)
    if ax.get_title():
        assert not box.overlaps(ax.title.get_window_extent())
    assert page.x0 <= box.x0
    assert box.x1 <= page.x1
    assert page.y0 <= box.y0
    assert box.y1 <= page.y1


@pytest.mark.settled
@pytest.mark.first(8)
@pytest.mark.parametrize("n", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("name", PICTURES)
def test_a_legend_hides_no_data(name, n):
    hides_nothing(drawn(name, *rows_of(n)))


@pytest.mark.first(2)
@pytest.mark.parametrize("name", PICTURES)
def test_a_legend_leaves_room_for_a_title_that_is_set_afterwards(name):
    ax = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")[1][0]
    drawn(name, *rows_of(50), ax=ax)
    ax.set_title("a title")
    ax.figure.canvas.draw()
    hides_nothing(ax)


# Where pictures are drawn, and of what

PROB = np.random.default_rng(0).dirichlet(np.ones(3), 30)
GIVEN = PICTURES | {
    "several axes": lambda y, p, ax: simplex_map(np.sqrt).plot(axes=[ax, *plt.gcf().subplots(3, 2)[1:, 0]]),
    "partition": lambda y, p, ax: simplex_partition(np.sqrt, resolution=3).plot(axes=ax),
    "points": lambda y, p, ax: simplex_points(PROB.argmax(axis=1), PROB).plot(axes=ax),
}


@pytest.mark.parametrize("name", GIVEN)
def test_a_given_axes_is_drawn_on_and_settings_are_left_alone(name):
    before = dict(matplotlib.rcParams)
    figure, ax = plt.subplots()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.ravel(GIVEN[name](*rows_of(10), ax))[0] is ax
    figure.canvas.draw()
    assert plt.get_fignums() == [figure.number]
    assert dict(matplotlib.rcParams) == before


SINGLE = {"plot_top_label_bin", "plot_bin_test"}


@pytest.mark.parametrize("name", [name for name in cv.__all__ if name.startswith("plot_")])
def test_what_is_no_curve_is_refused_with_the_call_that_makes_one(name):
    plot = getattr(cv, name)
    for given in (PROB, [1]) if name in SINGLE else (PROB, [1], {"a": PROB}):
        with pytest.raises(TypeError, match=r"(?s)must be .*; got .* Pass .*\("):
            plot(given)
    with pytest.raises((ValueError, TypeError), match=r"at least one|must be of type \w+; got dict"):
        plot({})
    assert plt.get_fignums() == []


OF_NOTIONS = {
    "reliability_curve": {},
    "corp_curve": {"n_resamples": 5},
    "smooth_reliability_curve": {},
    "roc_curve": {},
    "bin_test_curve": {},
}


@pytest.mark.filterwarnings("ignore::calibrant.exceptions.CalibrationWarning")
@pytest.mark.parametrize("name", OF_NOTIONS)
def test_a_class_that_is_never_predicted_has_an_empty_panel(name):
    prob = [[0.9, 0.1, 0.0], [0.2, 0.8, 0.0], [0.6, 0.4, 0.0]]
    curve = getattr(cv, name)([0, 1, 1], prob, notion="top-label", **OF_NOTIONS[name])
    assert [panel.name for panel in curve.panels] == ["predicted 0", "predicted 1", "predicted 2"]
    axes = curve.plot()
    assert [ax.get_title().partition(":")[0] for ax in axes] == ["predicted 0", "predicted 1", "predicted 2"]
    axes[0].figure.canvas.draw()


# What results say they are

E, B = [0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8]
LABEL, TABLE = [0, 1, 2, 1], [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.7, 0.2, 0.1]]
