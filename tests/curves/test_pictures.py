"""What every picture keeps: its legend hides no data, a given Axes is drawn on, and what is no curve is refused."""

import warnings

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot as plt

import calibrant as cb
from calibrant import curves as cv
from calibrant.binning import Sierpinski
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
SIZES = {"one row": 1, "ten rows": 10}


def rows_of(n):
    rng = np.random.default_rng(n)
    p = rng.uniform(0.02, 0.98, n)
    return (rng.random(n) < p).astype(int), p


def drawn(name, y, p, ax=None):
    with warnings.catch_warnings(action="ignore"):
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
@pytest.mark.parametrize("n", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("name", PICTURES)
def test_a_legend_hides_no_data(name, n):
    hides_nothing(drawn(name, *rows_of(n)))


def test_a_legend_of_several_panels_is_no_wider_than_the_figure():
    figure = cv.reliability_curve(*rows_of(50), notion="class-wise").plot()[0].figure
    figure.canvas.draw()
    assert figure.legends[0].get_window_extent().width <= figure.bbox.width


def test_long_names_lie_on_nothing_and_take_no_room_from_a_picture():
    y, p = rows_of(50)
    names = ["a class whose name is much too long for a panel", "another one, which is in no way any shorter"]
    axes = cv.reliability_curve(np.array(names)[y], p, labels=names, notion="class-wise").plot()
    axes[0].figure.canvas.draw()
    left, right = (ax.title.get_window_extent() for ax in axes)
    assert left.x1 < right.x0
    ax = cv.plot_corp(dict.fromkeys(names, cv.corp_curve(y, p)))
    assert ax.get_legend().get_window_extent().width <= ax.get_window_extent().width


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
    with warnings.catch_warnings(action="ignore"):
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
    error, words = (TypeError, r"must be of type \w+; got dict") if name in SINGLE else (ValueError, "at least one")
    with pytest.raises(error, match=words):
        plot({})
    assert plt.get_fignums() == []


OF_NOTIONS = ("reliability_curve", "corp_curve", "smooth_reliability_curve", "roc_curve", "bin_test_curve")


@pytest.mark.filterwarnings("ignore::calibrant.exceptions.CalibrationWarning")
@pytest.mark.parametrize("name", OF_NOTIONS)
def test_a_class_that_is_never_predicted_has_an_empty_panel(name):
    prob, options = [[0.9, 0.1, 0.0], [0.2, 0.8, 0.0], [0.6, 0.4, 0.0]], {"n_resamples": 5} if "corp" in name else {}
    curve = getattr(cv, name)([0, 1, 1], prob, notion="top-label", **options)
    assert [panel.name for panel in curve.panels] == ["predicted 0", "predicted 1", "predicted 2"]
    axes = curve.plot()
    assert [ax.get_title().partition(":")[0] for ax in axes] == ["predicted 0", "predicted 1", "predicted 2"]
    axes[0].figure.canvas.draw()


# What is refused


DIGITS, TEN = cb.load_digits_forecast()
SPREAD = {k: np.random.default_rng(k).dirichlet(np.ones(k), 300) for k in (3, 4)}
CAME = {k: (SPREAD[k].cumsum(axis=1) < np.linspace(0, 0.99, 300)[:, None]).sum(axis=1) for k in (3, 4)}
FITTED = cb.TemperatureScaling().fit(SPREAD[4], CAME[4])
FIR = cb.NormalizedFlattenedIsotonic(smoothing=0.01).fit(TEN, DIGITS)
THIRDS = simplex_partition(np.sqrt, resolution=3)


def reliability(notion="class-wise", **options):
    return cb.reliability_curve(DIGITS, TEN, notion=notion, **options)


def bin_test():
    return cv.bin_test_curve(DIGITS, TEN)


def errors(**options):
    return cv.class_errors(DIGITS, TEN, n_resamples=0, **options)


def errors_beside(other):
    return cv.plot_class_errors({"a": errors(), "b": other})


def validity(**options):
    return cv.validity_curve([0, 1, 1, 0], [0.2, 0.2, 0.7, 0.7], **options)


def top_label():
    return cv.top_label_curve(DIGITS, TEN, binning=10)


def points(k, *given, **options):
    return simplex_points(CAME[k], SPREAD[k], *given, **options)


def surface(k):
    return cv.roc_surface(CAME[k], SPREAD[k], n_thresholds=20) if k > 2 else cv.roc_surface(*rows_of(9))


def flat(projection=None):
    return plt.figure().add_subplot(projection=projection)


def holed(prob):
    return np.where(prob[:, :1] > 0.9, [[np.nan, 0.5, 0.5]], prob)


REFUSED = [
    (lambda: reliability(level=0.0), r"fraction in \(0, 1\); got .* pass level=0\.05\."),
    (
        lambda: cb.reliability_curve([0], np.full((1, 41), 1 / 41), notion="class-wise").plot(),
        r"at most 40 panels; the curve has 41\. Choose some: panels=\['class 0'",
    ),
    (lambda: reliability().plot(panels=["x"]), r"among those of the curve, such as 'class 0'; got \['x'\]"),
    (lambda: reliability().plot(panels=[]), "panels must name at least one panel; got none"),
    (lambda: reliability().plot(ax=flat()), r"one panel; the curve has 10\. .*panels=\['class 0'\]"),
    (lambda: reliability().plot(style="pie"), "style must be one of 'lines', 'points', 'bars'; got 'pie'"),
    (lambda: reliability().plot(markers="size"), "markers must be one of 'equal', 'area', 'counts'; got 'size'"),
    (lambda: reliability().plot(axis="log"), "axis must be one of 'probability', 'log-odds'; got 'log'"),
    (lambda: reliability().plot(below="density"), "below must be one of 'counts' or None; got 'density'"),
    (lambda: cb.plot_reliability({"a": reliability(None), "b": reliability()}), "same panels; got .*Use one notion"),
    (
        lambda: cb.plot_reliability(dict.fromkeys("ab", reliability(None)), style="bars"),
        r"bars show one forecast; got 2 over each other\. .*style='lines'",
    ),
    (
        lambda: cb.corp_curve([0, 1], [0.2, 0.8], sample_weight=[0.5, 1.0], band="simultaneous"),
        "must be whole for a simultaneous band.*Pass band='confidence'",
    ),
    (lambda: bin_test().plot(style="bars"), "style must be one of 'violin', 'standard'; got 'bars'"),
    (lambda: bin_test().plot(axis="log"), "axis must be one of 'probability', 'log-odds'; got 'log'"),
    (lambda: validity(points_per_bin=1), "points_per_bin must be a whole number, at least 2"),
    (lambda: cv.calibration_map(np.sqrt, resolution=1), "resolution must be a whole number, at least 2"),
    (lambda: errors_beside(cv.class_errors(*rows_of(9))), "bars side by side must be of the same classes"),
    (lambda: errors_beside(errors(notion="class-wise")), "must be of one notion; got class-wise and top-label"),
    (lambda: errors_beside(errors(norm="l2")), "must be of one norm; got l1 and l2"),
    (lambda: errors_beside(errors(loss="squared gap")), "must be of one loss; got gap and squared gap"),
    (lambda: cv.calibration_map(np.sqrt, [0, 1]), "y_true and y_prob must be given together; y_prob is missing"),
    (lambda: cv.calibration_map(lambda p: p[:3]), r"a value for each score; got shape \(3,\) for \(1001,\)"),
    (lambda: simplex_map(np.sqrt).plot(axes=flat()), "axes must be three, one a class; got 1"),
    (lambda: simplex_map(holed, resolution=20), r"give finite numbers; got \[nan, 0\..* Correct the map there"),
    (lambda: cv.plot_simplex_partition(dict.fromkeys("ab", THIRDS), axes=[None]), "axes must be one for each result"),
    (lambda: THIRDS.plot(text="rows"), "text must be one of 'count' or None"),
    (lambda: simplex_points(DIGITS, TEN), "of three or four classes; y_prob has 10"),
    (lambda: points(3, max_points=0), "max_points must be a whole number, at least 1"),
    (lambda: points(3, SPREAD[3][:5]), r"a table of shape \(300, 3\), as y_prob is; got"),
    (lambda: points(3, FITTED), "must have the classes of the forecast, 0, 1, 2; got 0, 1, 2, 3"),
    (lambda: points(4, lambda prob: prob[:, :3]), "Pass a map of 4 classes"),
    (lambda: points(3, np.sqrt).plot(axes=[None]), "axes must be one for each picture; got 1 for 2"),
    (lambda: points(4).plot(axes=flat()), "axes must be with projection='3d' for 4 classes"),
    (lambda: points(3).plot(axes=flat("3d")), "axes must be in the plane for 3 classes"),
    (lambda: points(3, np.sqrt).plot(colours="cmyk"), "colours must be one of 'safe', 'rgb'"),
    (lambda: cv.plot_roc_surface({"a": surface(3), "b": surface(2)}), "results must be of the same classes"),
    (lambda: surface(3).plot(ax=flat()), "ax must be one with three axes"),
    (lambda: surface(2).plot(), "a surface is drawn of three classes; got 2. Use roc_curve"),
    (lambda: top_label().plot_bin(10), r"the number of a bin that holds rows; got 10\. Pass one of"),
    (lambda: top_label().plot_bin(0), r"the number of a bin that holds rows; got 0\. Pass one of 2"),
    (lambda: top_label().plot_bin(-1), r"bin must be a whole number, at least 0; got -1\."),
    (lambda: top_label().plot_bin(most=0), r"most must be a whole number, at least 1; got 0\. 10 is"),
    (lambda: top_label().plot_bin(axes=[1]), r"axes must be two, .*; got 1 for 2\."),
    (lambda: cv.plot_top_label(dict.fromkeys("ab", top_label()), ax=1), r"one Axes holds one curve; got 2\."),
]
OF_THE_WRONG_TYPE = [
    (lambda: cb.plot_reliability(reliability(), binning=5), "got binning. Pass them to reliability_curve"),
    (lambda: cb.plot_reliability(DIGITS), "must be of type ReliabilityCurve"),
    (
        lambda: cb.plot_reliability(reliability("confidence"), ax=(1, 2)),
        r"ax must be an Axes; got tuple\. Pass plt",
    ),
    (lambda: validity(binning=1).plot(guarantee="yes"), "guarantee must be True or False; got 'yes'"),
    (lambda: cv.calibration_map("platt"), "must be a fitted calibrator or a function; got 'platt'"),
    (lambda: cv.calibration_map(cb.PlattScaling), "must be a fitted calibrator or a function; got <class "),
    (lambda: cv.calibration_map(FITTED), "one score at a time; got .* for 4 classes"),
    (lambda: cv.calibration_map(FIR), "one score at a time.*simplex_map"),
    (lambda: simplex_partition(Sierpinski(2)), r"function; got Sierpinski\(depth=2\)\. .*CanonicalBinning\(binning\)"),
    (lambda: simplex_partition(cb.calibrators.CanonicalBinning), "a fitted calibrator or a function; got <class "),
]


ROWS = [(ValueError, *row) for row in REFUSED] + [(TypeError, *row) for row in OF_THE_WRONG_TYPE]


@pytest.mark.parametrize(("error", "call", "words"), ROWS, ids=[row[-1] for row in ROWS])
def test_what_makes_no_sense_is_refused_and_leaves_no_figure_behind(error, call, words):
    with pytest.raises(error, match=words):
        call()
    assert len(plt.get_fignums()) == ("flat" in call.__code__.co_names)
