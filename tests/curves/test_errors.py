"""Errors of classes, what bins are worth, and validity curves: definitions, noise floors, guarantees, and what is drawn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import binned
from reference import bounded_isotonic as reference
from strategies import tables, uniform_rows

from calibrant import EqualMass, EqualWidth, calibration_error, load_digits_forecast
from calibrant.binning import BoundedIsotonic, Isotonic, Unique
from calibrant.curves import class_errors, plot_class_errors, plot_validity, validity_curve
from calibrant.curves.errors import binning_quality
from calibrant.exceptions import CalibrationWarning
from calibrant.notions import ThresholdedClassWise, WithinGroups, binary_problems

TWINS = {EqualWidth(3): binned.equal_width(3), EqualMass(4): binned.equal_mass(4), Unique(): binned.unique}
notions = st.sampled_from(["top-label", "class-wise", "confidence"])
each_binning = pytest.mark.parametrize("binning", TWINS, ids=str)
LOSSES = {"gap": binned.gap, "debiased squared gap": binned.debiased_squared_gap}
Y, PROB = load_digits_forecast()


@each_binning
@given(rows=tables(), notion=notions, loss=st.sampled_from(list(LOSSES)), norm=st.sampled_from(["l1", "l2", "max"]))
def test_values_are_the_errors_of_each_problem_by_itself(binning, rows, notion, loss, norm):
    label, prob, weight = rows
    how = {"notion": notion, "binning": binning, "loss": loss, "norm": norm, "sample_weight": weight}
    result = class_errors(label, prob, n_resamples=0, **how)
    problems = binned.NOTIONS[notion](prob.tolist(), label.tolist(), weight.tolist())
    expected = [binned.calibration_error([own], TWINS[binning], norm, loss=LOSSES[loss]) for own in problems]
    held = result.count > 0
    np.testing.assert_allclose(result.value[held], expected, atol=1e-9)
    assert np.isnan(result.value[~held]).all()
    sizes = np.array([sum(w for _, _, w in own) for own in problems])
    np.testing.assert_array_equal(result.count[held], sizes)
    np.testing.assert_allclose(result.share[held], sizes / sizes.sum())
    assert (result.share[~held] == 0).all()


@pytest.mark.parametrize("loss", ["gap", "squared gap"])
@pytest.mark.parametrize("binning", [EqualWidth(3), EqualMass(4)], ids=str)
@given(rows=tables(max_rows=12), notion=notions)
def test_the_noise_floor_is_the_mean_error_of_labels_that_the_forecast_draws(loss, binning, rows, notion):
    label, prob, weight = rows  # weights that are no counts: one label is drawn for each row
    weight = weight + 0.5 if isinstance(binning, EqualWidth) else np.ones(len(label))
    how = {"notion": notion, "binning": binning, "loss": loss, "sample_weight": weight}
    result = class_errors(label, prob, n_resamples=4, rng=np.random.default_rng(0), **how)
    rng, floors = np.random.default_rng(0), []
    for _ in range(4):
        drawn = [binned.draw(row, u) for row, u in zip(prob.tolist(), rng.random(len(prob)).tolist(), strict=True)]
        problems = binned.NOTIONS[notion](prob.tolist(), drawn, weight.tolist())
        gap = binned.gap if loss == "gap" else lambda rows: binned.gap(rows) ** 2
        floors.append([binned.calibration_error([own], TWINS[binning], "l1", loss=gap) for own in problems])
    held = result.count > 0
    np.testing.assert_allclose(result.noise_floor[held], np.mean(floors, axis=0), atol=1e-9)
    assert np.isnan(result.noise_floor[~held]).all()


def test_bins_that_follow_the_outcomes_are_cut_anew_for_each_draw():
    """Isotonic bins fit the noise of each draw: bins that stay would make less of it."""
    score = np.linspace(0.1, 0.9, 200)
    label = (np.random.default_rng(0).random(200) < score).astype(int)
    options = {"notion": "binary", "n_resamples": 50}
    follow, stay = (class_errors(label, score, binning=binning, **options) for binning in (Isotonic(), 1))
    assert follow.noise_floor[0] > stay.noise_floor[0]


# Pictures


SHARP = PROB**2 / (PROB**2).sum(axis=1, keepdims=True)


def errors(prob=PROB, **options):
    return class_errors(Y, prob, **{"n_resamples": 5, **options})


def ticks(ax):
    return [label.get_text() for label in ax.get_xticklabels()]


def words(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_artists_carry_exactly_the_arrays_of_the_results():
    results = {"before": errors(), "after": errors(SHARP)}
    ax = plot_class_errors(results)
    black = [lines for lines in ax.collections if (lines.get_colors()[0, :3] == 0).all()]
    for result, bars, lines in zip(results.values(), ax.containers, black, strict=True):
        np.testing.assert_array_equal([bar.get_height() for bar in bars], result.value)
        for bar, segment, floor in zip(bars, lines.get_segments(), result.noise_floor, strict=True):
            assert segment[:, 1].tolist() == [floor, floor]
            np.testing.assert_allclose(segment[:, 0], [bar.get_x(), bar.get_x() + bar.get_width()])


def test_names_and_numbers_of_rows_stand_under_the_bars():
    result = errors()
    ax = result.plot()
    assert ticks(ax) == [f"{j}\n{count}" for j, count in enumerate(result.count)]
    assert ax.get_xlabel() == "predicted class, and rows"
    assert ticks(result.plot(counts=False)) == [str(j) for j in range(10)]
    names = [f"number {j}" for j in range(10)]  # these would run into each other
    upright = class_errors([names[j] for j in Y], PROB, labels=names, n_resamples=0).plot()
    assert [one.get_xticklabels()[0].get_rotation() for one in (ax, upright)] == [0, 90]


def test_the_noise_floor_comes_last_in_the_legend_and_can_be_left_out():
    results = {"before": errors(), "after": errors(SHARP)}
    assert words(plot_class_errors(results)) == ["before", "after", "noise floor"]
    assert words(plot_class_errors(results, noise=False)) == ["before", "after"]
    assert plot_class_errors(errors(n_resamples=0)).get_legend() is None


def test_a_label_with_its_probability_stands_beside_a_table():
    top = PROB.argmax(axis=1)
    pair = class_errors(Y, PROB.max(axis=1), y_pred=top, n_resamples=5)
    groups = class_errors(top == Y, PROB.max(axis=1), notion=WithinGroups(top), n_resamples=5)
    ax = plot_class_errors({"table": errors(), "pair": pair, "groups": groups}, counts=False)
    assert ticks(ax) == [str(j) for j in range(10)]
    assert ax.get_xlabel() == "predicted class"


binnings = st.sampled_from([EqualWidth(4), EqualMass(3), Isotonic(), BoundedIsotonic(2, 6), Unique()])


def held_outcomes(problem, binning):
    """Outcomes of each bin that holds rows, each as often as its weight says."""
    times = problem.weight.astype(int)
    at, outcome = np.repeat(binning(problem).index(problem.score), times), np.repeat(problem.outcome, times)
    return [outcome[at == b].astype(int).tolist() for b in np.unique(at)]


@given(table=tables(), binning=binnings, notion=notions)
def test_criterion_and_within_bin_error_are_means_over_the_problems_of_those_of_the_definition(table, binning, notion):
    label, prob, weight = table
    options = {"sample_weight": weight, "labels": range(prob.shape[1]), "notion": notion}
    expected = np.zeros(2)
    for one in binary_problems(label, prob, **options):
        if one.size:
            held = held_outcomes(one, binning)
            criterion = reference.criterion([y for block in held for y in block], [len(block) for block in held])
            within = sum(reference.spread(block) / len(block) for block in held) / len(held)
            expected += one.share * np.array([criterion, within], dtype=float)
    found = binning_quality(label, prob, binning=binning, **options)
    assert [found.criterion, found.within_bin_error] == pytest.approx(expected, abs=1e-12)


# Violations


def test_violations_are_counted_and_measured():
    label, score = [0, 1, 1, 1, 0, 1, 0, 0], np.arange(1, 9) / 10
    quality = binning_quality(label, score, binning=EqualMass(4))
    assert [panel.drop.tolist() for panel in quality.panels] == [[0.0, 0.0, 0.5, 0.5]]
    assert (quality.n_violations, quality.largest_violation) == (2, 0.5)


def test_rates_that_fall_by_rounding_alone_violate_nothing():
    quality = binning_quality([1, 0, 1, 0], [0.1, 0.2, 0.6, 0.7], binning=2, sample_weight=[0.1, 0.5, 0.7, 3.5])
    first, second = quality.panels[0].bins.event_rate
    assert first > second
    assert quality.n_violations == 0


def test_a_bin_without_rows_lies_between_and_counts_for_nothing():
    quality = binning_quality([1, 1, 0, 1], [0.05, 0.15, 0.95, 0.95], binning=10)
    panel = quality.panels[0]
    assert quality.n_bins == 3
    assert panel.drop[[0, 1, 9]].tolist() == [0.0, 0.0, 0.5]
    assert np.isnan(panel.drop[2:9]).all()
    assert (quality.smallest, quality.largest) == (1, 2)


# The result


@pytest.mark.parametrize(
    ("binning", "published"),
    [(BoundedIsotonic(), 0.011689), (Isotonic(), 0.010084), (EqualMass(10), 0.020570), (EqualWidth(10), 0.010311)],
)
def test_the_criterion_of_alexnet_is_the_figure_that_was_written_down(data_dir, binning, published):
    with np.load(data_dir / "imagenet_dogs.npz") as data:
        found = binning_quality(data["y"], data["alexnet"], binning=binning)
    assert found.criterion == pytest.approx(published, abs=5e-7)


LABEL = [0, 1, 1, 1, 0]
SCORE = [0.5, 0.5, 0.5, 0.9, 0.9]


@pytest.mark.filterwarnings("ignore:binning must put rows together")
@each_binning
@given(rows=tables(), notion=notions)
def test_shares_are_those_of_the_definition_and_the_area_above_them_is_the_calibration_error(binning, rows, notion):
    label, prob, weight = rows
    options = {"notion": notion, "binning": binning, "sample_weight": weight}
    curve = validity_curve(label, prob, **options)
    problems = binned.NOTIONS[notion](prob.tolist(), label.tolist(), weight.tolist())
    distances = sorted(binned.gap(held) for own in problems for held in TWINS[binning](own) if held)
    np.testing.assert_allclose(curve.error, distances, atol=1e-12)
    for low, high in zip(distances, [*distances[1:], 1.1], strict=True):
        if high - low > 1e-6:  # between distances, where rounding cannot matter
            expected = binned.share_within(problems, TWINS[binning], (low + high) / 2)
            assert curve.share_within((low + high) / 2) == pytest.approx(expected, abs=1e-12)
    steps = np.concatenate([[0.0], curve.error, [1.0]])
    area = np.sum(np.diff(steps) * (1.0 - curve.share_within((steps[:-1] + steps[1:]) / 2)))
    error = calibration_error(label, prob, **options)
    assert (area, curve.mean_error) == (pytest.approx(error, abs=1e-6), pytest.approx(error, abs=1e-9))


def test_the_guarantee_is_that_of_the_theorem():
    assert validity_curve(LABEL, SCORE).guarantee is None
    error, share = validity_curve(LABEL, SCORE, points_per_bin=50).guarantee
    assert (error[0], error[-1]) == (0.0, 1.0)
    np.testing.assert_allclose(share, np.maximum(0.0, 1 - 2 * np.exp(-2 * 49 * error**2)), atol=1e-12)
    # Theorem 1 with alpha = 0.1 and k = 50: eps_1 = 0.174839.
    assert np.interp(0.174839, error, share) == pytest.approx(0.9, abs=1e-3)


def test_rows_alone_in_their_bins_are_warned_of():
    label, score = uniform_rows(100)
    with pytest.warns(CalibrationWarning, match=r"got 100 of 100 rows alone.*EqualMass\(15\)"):
        validity_curve(label, score)
    validity_curve(label, score, binning=EqualMass(15))  # filterwarnings: error
    validity_curve(label, score, sample_weight=[2] * 100)  # a weight is a number of equal rows
    validity_curve([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.3])  # half of them are not too many
    with pytest.warns(CalibrationWarning, match="got 3 of 5 rows alone"):
        validity_curve([0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.3, 0.4])


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_distance_of_decimals_is_within_itself_in_either_precision(kind):
    assert validity_curve([0, 0, 0, 1], kind([0.1, 0.1, 0.7, 0.7])).share_within([0.1, 0.2]).tolist() == [0.5, 1.0]


def test_a_notion_that_finds_no_row_has_no_distance():
    curve = validity_curve([0, 1], [[0.6, 0.4], [0.5, 0.5]], notion=ThresholdedClassWise(0.99))
    assert curve.error.size == curve.share.size == 0
    assert curve.share_within(0.0) == 1.0
    assert curve.share_within([0.0, 0.5]).tolist() == [1.0, 1.0]
    assert curve.mean_error == 0.0


def curve(n_bins, **options):
    return validity_curve(Y, PROB, notion="top-label", binning=n_bins, **options)


def test_the_artists_carry_the_validity_curve_and_its_guarantee():
    result = curve(15, points_per_bin=50)
    steps, promised = result.plot().lines
    np.testing.assert_array_equal(steps.get_xdata(), [0.0, *result.error, 1.0])
    np.testing.assert_array_equal(steps.get_ydata(), [0.0, *result.share, 1.0])
    assert steps.get_drawstyle() == "steps-post"
    np.testing.assert_array_equal(promised.get_xydata(), np.column_stack(result.guarantee))


def test_several_curves_lie_over_each_other_with_one_line_a_guarantee():
    curves = {"a": curve(5, points_per_bin=50), "b": curve(10), "c": curve(15, points_per_bin=50)}
    ax = plot_validity(curves)
    assert words(ax) == ["a", "b", "c", "promised, 50 points a bin"]
    assert len({line.get_color() for line in ax.lines}) == 4
    assert words(plot_validity(curves, guarantee=False)) == ["a", "b", "c"]


def test_guarantees_of_different_numbers_of_points_are_told_apart():
    ax = plot_validity({"a": curve(5, points_per_bin=50), "b": curve(10, points_per_bin=100)})
    assert words(ax)[2:] == ["promised, 50 points a bin", "promised, 100 points a bin"]
    assert ax.lines[2].get_linestyle() != ax.lines[3].get_linestyle()
