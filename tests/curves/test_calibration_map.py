"""Maps are what the calibrators make of the grid, whatever kind of calibrator it is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.patches import StepPatch
from matplotlib.quiver import Quiver
from reference import shift
from strategies import tables

import calibrant as cb
from calibrant.curves.calibration_map import calibration_shift
from calibrant.drawing import DIAGONAL

Y, PROB = cb.load_digits_forecast()
GRID = np.linspace(0.0, 1.0, 11)


def test_a_calibrator_of_logits_gets_logits():
    logit = np.log(PROB[:, 3]) - np.log1p(-PROB[:, 3].clip(max=1 - 1e-12))
    fitted = cb.TemperatureScaling(input="logit").fit(logit, Y == 3)
    panel = cb.curves.calibration_map(fitted, resolution=11).panels[0]
    inside = GRID[1:-1]
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


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((np.sqrt, [0, 1]), ValueError, "y_true and y_prob must be given together; y_prob is missing"),
        ((lambda score: score[:3],), ValueError, r"a value for each score; got shape \(3,\) for \(1001,\)"),
        (("platt",), TypeError, "must be a fitted calibrator or a function; got 'platt'"),
        ((cb.TemperatureScaling().fit(PROB, Y),), TypeError, "one score at a time; got .* for 10 classes"),
    ],
    ids=["half the data", "too few values", "a word", "ten classes"],
)
def test_what_is_no_map_of_one_score_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        cb.curves.calibration_map(*arguments)


@pytest.mark.parametrize(
    ("resolution", "error"), [(1, ValueError), (0, ValueError), (2.5, TypeError), ("many", TypeError)]
)
def test_a_grid_needs_two_ends(resolution, error):
    with pytest.raises(error, match="resolution must be a whole number, at least 2"):
        cb.curves.calibration_map(np.sqrt, resolution=resolution)


def test_na_fir_of_two_classes_is_shown_as_it_maps_and_of_more_is_no_map_of_one_score():
    fitted = cb.NormalizedFlattenedIsotonic(smoothing=0.01).fit(PROB[:, 3], Y == 3)
    panel = cb.curves.calibration_map(fitted, resolution=11).panels[0]
    np.testing.assert_array_equal(panel.calibrated, fitted.calibrate(panel.score))
    assert panel.calibrated[0] + panel.calibrated[-1] == pytest.approx(1.0)
    with pytest.raises(TypeError, match=r"one score at a time.*calibration_shift"):
        cb.curves.calibration_map(cb.NormalizedFlattenedIsotonic(smoothing=0.01).fit(PROB, Y))


# Pictures


EIGHT = (Y == 8, PROB[:, 8])


def maps_in(ax):
    return [line for line in ax.lines if len(line.get_xdata()) == 1001]


def test_the_artists_carry_exactly_the_arrays_of_the_result():
    result = cb.curves.calibration_map(cb.IsotonicCalibration().fit(EIGHT[1], EIGHT[0]), *EIGHT, binning=8)
    ax = result.plot()
    (line,) = maps_in(ax)
    np.testing.assert_array_equal(line.get_xdata(), result.panels[0].score)
    np.testing.assert_array_equal(line.get_ydata(), result.panels[0].calibrated)
    (points,) = (c for c in ax.collections if isinstance(c, PathCollection))
    bins = result.curve.panels[0].bins
    held = bins.count > 0
    np.testing.assert_array_equal(points.get_offsets(), np.column_stack([bins.mean_prob, bins.event_rate])[held])


def test_a_map_without_rows_stands_alone():
    ax = cb.curves.calibration_map(np.sqrt).plot()
    assert len(maps_in(ax)) == 1
    assert not ax.collections
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
        drawn = np.column_stack([one.X, one.Y, one.X + one.U, one.Y + one.V])
        np.testing.assert_allclose(
            drawn, np.column_stack([mean, rate, of(mean), rate]), atol=1e-4
        )  # a grid of 1001 scores
    assert {"moved by a", "moved by b"} <= {text.get_text() for text in ax.get_legend().get_texts()}
    assert (
        not cb.curves.calibration_map(np.sqrt).plot(arrows=True).collections
    )  # without rows there is no point to move


def test_every_class_has_a_panel_with_its_name():
    result = cb.curves.calibration_map(cb.ByNotion(cb.IsotonicCalibration()).fit(PROB, Y), Y, PROB)
    axes = result.plot(panels=["class 2", "class 7"])
    assert [ax.get_title() for ax in axes] == ["class 2", "class 7"]
    np.testing.assert_array_equal(maps_in(axes[1])[0].get_ydata(), result.panels[7].calibrated)


# Means before and after calibration are those of the same rows and classes, bin by bin


NOTIONS = ["flattened", "confidence", "top-label", "class-wise"]
AFTER = cb.TemperatureScaling().fit(PROB, Y).predict_proba(PROB)


def moved(prob):
    """Another forecast of the same rows, which orders classes differently."""
    other = (prob[:, ::-1] + 0.1) ** 2
    return other / other.sum(axis=1, keepdims=True)


@given(
    rows=tables(),
    notion=st.sampled_from(NOTIONS),
    n_bins=st.integers(1, 12),
    threshold=st.sampled_from([0.0, 0.01, 0.2, 0.4, 0.9]),
)
def test_means_are_those_of_the_definition(rows, notion, n_bins, threshold):
    label, prob, weight = rows
    after = moved(prob)
    result = calibration_shift(
        prob,
        {"moved": after, "same": prob},
        y_true=label,
        notion=notion,
        binning=n_bins,
        threshold=threshold,
        sample_weight=weight,
    )
    expected = shift.pairs(notion, prob.tolist())
    for panel, of in zip(result.panels, expected, strict=True):
        held = panel.bins.count > 0
        found = [panel.bins.weight, panel.bins.mean_prob, panel.calibrated[0], panel.bins.event_rate]
        wanted = shift.means(of, prob.tolist(), after.tolist(), label.tolist(), weight.tolist(), n_bins, threshold)
        np.testing.assert_allclose(np.array(found).T[held].reshape(-1, 4), np.reshape(wanted, (-1, 4)), atol=1e-12)
        np.testing.assert_allclose(panel.calibrated[1], panel.bins.mean_prob, atol=1e-12)
        assert np.isnan(panel.calibrated[:, ~held]).all()


def test_event_rates_and_intervals_are_those_of_the_reliability_curve():
    options = {"notion": "class-wise", "binning": 8, "interval": "clopper-pearson", "level": 0.1}
    result = calibration_shift(PROB, AFTER, y_true=Y, threshold=0.0, **options)
    for panel, expected in zip(result.panels, cb.reliability_curve(Y, PROB, **options).panels, strict=True):
        assert panel.name == expected.name
        np.testing.assert_array_equal(panel.bins.event_rate, expected.bins.event_rate)
        np.testing.assert_array_equal(panel.lower, expected.lower)
        np.testing.assert_array_equal(panel.upper, expected.upper)


COLUMN, TWO = (
    {"y_prob": [0.2, 0.8], "calibrated": [0.3, 0.7]},
    {"y_prob": [[0.2, 0.8]] * 2, "calibrated": [[0.3, 0.7]] * 2},
)
NAMING = [
    COLUMN | {"pos_label": "yes"},
    COLUMN | {"labels": ["no", "yes"]},
    COLUMN | {"y_pred": ["cat", "dog"], "notion": "top-label"},
    TWO | {"labels": ["cat", "dog"], "notion": cb.notions.OneVsRest("dog")},
]


@pytest.mark.parametrize("data", NAMING, ids=["positive label", "two labels", "pairs", "named class"])
def test_what_names_classes_needs_no_labels(data):
    result = calibration_shift(**data)
    assert sum(panel.bins.count.sum() for panel in result.panels) == 2


REFUSED = [
    ({"calibrated": {}}, ValueError, "calibrated must hold at least one forecast; got an empty dict"),
    ({"calibrated": {1: AFTER, "1": AFTER}}, ValueError, "names that differ as text"),
    ({"calibrated": AFTER[:5]}, ValueError, "y_prob and calibrated must have the same number of rows; got"),
    ({"calibrated": {"TS": AFTER[:5]}, "y_true": Y}, ValueError, r"calibrated\['TS'\] must have the same number of"),
    ({"calibrated": {"TS": AFTER[:, 0]}}, ValueError, r"calibrated\['TS'\] must have the columns of y_prob"),
    ({"calibrated": {"TS": PROB * 2}}, ValueError, r"calibrated\['TS'\]"),
    ({"threshold": 1.0}, ValueError, "threshold must be a number, at least 0 and below 1"),
    ({"binning": cb.binning.Isotonic()}, ValueError, "y_true must be given where the binning looks at outcomes"),
]


@pytest.mark.parametrize(("changed", "error", "message"), REFUSED)
def test_what_cannot_be_compared_is_refused(changed, error, message):
    with pytest.raises(error, match=message):
        calibration_shift(**({"y_prob": PROB, "calibrated": AFTER} | changed))


CALL = r"If these are labels, the call is calibration_shift\(y_prob, calibrated, y_true=y\)"


@pytest.mark.parametrize(
    "labels", [Y, Y.astype(str), Y.tolist(), np.minimum(Y, 1)], ids=["numbers", "words", "list", "two"]
)
def test_labels_that_come_first_are_refused_with_the_call(labels):
    with pytest.raises(ValueError, match=rf"y_prob must hold probabilities; .*{CALL}"):
        calibration_shift(labels, AFTER)


@pytest.mark.parametrize("y_true", [None, ["cat", "dog"]], ids=["without labels", "with labels"])
def test_columns_of_frames_must_come_in_the_same_order(y_true):
    polars = pytest.importorskip("polars")
    before = polars.DataFrame({"cat": [0.2, 0.7], "dog": [0.8, 0.3]})
    after = polars.DataFrame({"cat": [0.3, 0.6], "dog": [0.7, 0.4]})
    (panel,) = calibration_shift(before, after, y_true=y_true, binning=1).panels
    np.testing.assert_allclose(panel.calibrated, 0.55)
    with pytest.raises(ValueError, match="must have the columns of y_prob, in their order"):
        calibration_shift(before, after.select("dog", "cat"), y_true=y_true)


# Pictures


TABLES = {"TS": cb.TemperatureScaling().fit(PROB, Y).predict_proba(PROB), "same": PROB}
FEW = PROB[:40], {name: table[:40] for name, table in TABLES.items()}, Y[:40]


def words_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize("difference", [False, True])
def test_the_artists_carry_exactly_the_arrays_of_the_result_of_a_shift(difference):
    prob, tables, y = FEW  # some bins are empty
    result = calibration_shift(prob, tables, y_true=y)
    ax = result.plot(difference=difference)
    (panel,) = result.panels
    held = panel.bins.count > 0
    assert not held.all()
    base = panel.bins.mean_prob[held] if difference else 0.0
    _, *lines, rates = ax.lines
    drawn = [*panel.calibrated, panel.bins.event_rate]
    for line, values in zip([*lines, rates], drawn, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), panel.bins.mean_prob[held])
        np.testing.assert_array_equal(line.get_ydata(), values[held] - base)
    (intervals,) = (c for c in ax.collections if isinstance(c, LineCollection))
    ends = np.array(intervals.get_segments())[:, :, 1]
    np.testing.assert_array_equal(ends, np.column_stack([panel.lower[held] - base, panel.upper[held] - base]))
    assert words_of(ax) == ["unchanged", "TS", "same", "event rate"]
    word = "change of the mean probability" if difference else "mean calibrated probability"
    assert (ax.child_axes[0].get_xlabel(), ax.get_ylabel()) == ("probability before calibration", word)
    (sizes,) = (patch for patch in ax.child_axes[0].patches if isinstance(patch, StepPatch))
    np.testing.assert_array_equal(sizes.get_data().values, panel.bins.count)
    np.testing.assert_array_equal(sizes.get_data().edges, panel.bins.edges)


def test_intervals_are_drawn_as_what_they_are():
    options = {"y_true": Y, "notion": "confidence"}
    assert not calibration_shift(PROB, TABLES, interval=None, **options).plot().collections
    ax = calibration_shift(PROB, TABLES, interval="consistency", level=0.1, **options).plot()
    assert words_of(ax) == ["unchanged", "TS", "same", "accuracy", "90% if calibrated before"]
