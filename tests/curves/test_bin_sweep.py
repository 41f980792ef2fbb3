"""The sweep is the calibration error for each number of bins, and its noise that of labels drawn from the forecast."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from reference import binned
from strategies import tables

from calibrant import EqualMass, EqualWidth, calibration_error, load_digits_forecast
from calibrant.curves import bin_sweep, plot_bin_sweep

TWINS = {EqualWidth: binned.equal_width, EqualMass: binned.equal_mass}
Y = [0, 1, 2, 1]
P = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.7, 0.2, 0.1]])


@pytest.mark.parametrize("binning", [EqualWidth, EqualMass])
@given(
    rows=tables(),
    notion=st.sampled_from(["confidence", "class-wise", "top-label"]),
    norm=st.sampled_from(["l1", "l2", "max"]),
)
def test_values_are_calibration_errors(binning, rows, notion, norm):
    label, prob, weight = rows
    numbers = [1, 2, 3, 7]
    sweep = bin_sweep(
        label, prob, n_bins=numbers, binning=binning, norm=norm, notion=notion, n_resamples=1, sample_weight=weight
    )
    errors = [
        calibration_error(label, prob, binning=binning(n), norm=norm, notion=notion, sample_weight=weight)
        for n in numbers
    ]
    np.testing.assert_allclose(sweep.value, errors, atol=1e-12)


@pytest.mark.parametrize("binning", [EqualWidth, EqualMass])
@given(rows=tables(max_rows=12), notion=st.sampled_from(["confidence", "class-wise", "top-label"]))
def test_noise_is_the_error_of_labels_that_the_forecast_draws(binning, rows, notion):
    label, prob, weight = rows
    weight = (
        weight + 0.5 if binning is EqualWidth else np.ones(len(label))
    )  # no counts: one label is drawn for each row
    sweep = bin_sweep(
        label,
        prob,
        n_bins=[1, 3, 4],
        binning=binning,
        notion=notion,
        n_resamples=5,
        rng=np.random.default_rng(0),
        sample_weight=weight,
    )
    rng = np.random.default_rng(0)
    errors = []
    for _ in range(5):
        drawn = [binned.draw(row, u) for row, u in zip(prob.tolist(), rng.random(len(prob)).tolist(), strict=True)]
        problems = binned.NOTIONS[notion](prob.tolist(), drawn, weight.tolist())
        errors.append([binned.calibration_error(problems, TWINS[binning](n), "l1") for n in (1, 3, 4)])
    np.testing.assert_allclose(sweep.noise_floor, np.mean(errors, axis=0), atol=1e-9)
    np.testing.assert_allclose(sweep.noise_upper, np.quantile(errors, 0.975, axis=0), atol=1e-9)
    np.testing.assert_allclose(sweep.noise_lower, np.quantile(errors, 0.025, axis=0), atol=1e-9)


def test_the_norm_may_be_a_function():
    sweep = bin_sweep(Y, P, n_bins=[2], norm=lambda values, weights: float(np.median(values)), n_resamples=3)
    assert sweep.norm == "<lambda>"


def test_a_binning_is_swept_with_other_numbers_of_bins():
    rng = np.random.default_rng(0)
    label, score = rng.integers(0, 2, 200), rng.random(200)
    sweep = bin_sweep(label, score, n_bins=[2, 5], binning=EqualMass(7), n_resamples=1)
    assert (
        sweep.value.tolist() == bin_sweep(label, score, n_bins=[2, 5], binning=EqualMass, n_resamples=1).value.tolist()
    )
    assert sweep.value[0] != sweep.value[1]


# Pictures


DIGITS, PROB = load_digits_forecast()


def sweep_of(prob, notion="confidence", **options):
    return bin_sweep(DIGITS, prob, n_bins=[2, 5, 9], notion=notion, n_resamples=2, **options)


def words_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_artists_carry_exactly_the_arrays_of_the_result():
    sweep = bin_sweep(DIGITS, PROB, n_bins=[2, 5, 9], n_resamples=20)
    ax = sweep.plot()
    floor, value = ax.lines
    np.testing.assert_array_equal(floor.get_xydata(), np.column_stack([sweep.n_bins, sweep.noise_floor]))
    np.testing.assert_array_equal(value.get_xydata(), np.column_stack([sweep.n_bins, sweep.value]))
    corners = ax.collections[0].get_paths()[0].vertices
    for n, low, high in zip(sweep.n_bins, sweep.noise_lower, sweep.noise_upper, strict=True):
        assert {low, high} <= set(corners[corners[:, 0] == n, 1])


@pytest.mark.parametrize(("norm", "name"), [("l1", "ECE"), ("l2", "RMSCE"), ("max", "MCE")])
def test_the_axes_say_what_they_show(norm, name):
    ax = bin_sweep(DIGITS, PROB, n_bins=[2, 3], binning=EqualMass, norm=norm, n_resamples=2).plot()
    assert ax.get_ylabel() == name
    assert ax.get_xlabel() == "number of bins (EqualMass)"


def test_names_have_colours_and_words_have_line_styles():
    sweeps = {
        name: {"TL-ECE": sweep_of(prob, "top-label"), "conf-ECE": sweep_of(prob)}
        for name, prob in {"before": PROB, "after": 0.5 * PROB + 0.05}.items()
    }
    ax = plot_bin_sweep(sweeps)
    every = [(name, word) for name in sweeps for word in sweeps[name]]
    for line, (name, word) in zip(ax.lines, every, strict=True):
        sweep = sweeps[name][word]
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([sweep.n_bins, sweep.value]))
        assert line.get_linestyle() == {"TL-ECE": "-", "conf-ECE": "--"}[word]
    first, second, third, fourth = (line.get_color() for line in ax.lines)
    assert first == second != third == fourth
    assert words_of(ax) == ["before", "after", "TL-ECE", "conf-ECE"]
    assert [handle.get_linestyle() for handle in ax.get_legend().legend_handles][2:] == ["-", "--"]


def test_the_axes_say_only_what_all_sweeps_share():
    ax = plot_bin_sweep({"width": sweep_of(PROB), "mass": sweep_of(PROB, binning=EqualMass)})
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("number of bins", "ECE")


REFUSED = [
    ({}, "at least one"),
    ({"a": {}}, "sweeps must hold at least one sweep; got an empty dict"),
    ({"a": {word: sweep_of(PROB) for word in "vwxyz"}}, "at most 4 words, a line style each; got 5"),
    ({"a": sweep_of(PROB), "b": {"w": sweep_of(PROB)}}, "must all have a word or none; got both"),
    ({"a": {"w": sweep_of(PROB), "v": sweep_of(PROB, norm="max")}}, "must be of one norm; got l1 and max"),
]


@pytest.mark.parametrize(("sweeps", "message"), REFUSED)
def test_sweeps_that_cannot_be_told_apart_are_refused(sweeps, message):
    with pytest.raises(ValueError, match=message):
        plot_bin_sweep(sweeps)
    assert plt.get_fignums() == []
