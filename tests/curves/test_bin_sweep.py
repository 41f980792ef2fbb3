"""The sweep is the calibration error for each number of bins, and its noise that of labels drawn from the forecast."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import binned
from strategies import tables

from calibrant import EqualMass, EqualWidth, calibration_error
from calibrant.curves import bin_sweep
from calibrant.notions import ThresholdedClassWise, WithinGroups

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
        drawn = [draw(row, u) for row, u in zip(prob.tolist(), rng.random(len(prob)).tolist(), strict=True)]
        problems = binned.NOTIONS[notion](prob.tolist(), drawn, weight.tolist())
        errors.append([binned.calibration_error(problems, TWINS[binning](n), "l1") for n in (1, 3, 4)])
    np.testing.assert_allclose(sweep.noise_floor, np.mean(errors, axis=0), atol=1e-9)
    np.testing.assert_allclose(sweep.noise_upper, np.quantile(errors, 0.975, axis=0), atol=1e-9)
    np.testing.assert_allclose(sweep.noise_lower, np.quantile(errors, 0.025, axis=0), atol=1e-9)


def draw(row, u):
    """The class in whose stretch of the unit interval u falls."""
    reached, total = 0.0, sum(row)
    for j, p in enumerate(row[:-1]):
        reached += p
        if u < reached / total:
            return j
    return len(row) - 1


def test_draws_in_blocks_are_the_same_draws(monkeypatch):
    whole = bin_sweep(Y, P, n_bins=[2, 5], n_resamples=20)
    monkeypatch.setattr(sys.modules[bin_sweep.__module__], "MOST_CELLS", 1)
    blocks = bin_sweep(Y, P, n_bins=[2, 5], n_resamples=20)
    np.testing.assert_array_equal(whole.noise_floor, blocks.noise_floor)


def test_the_noise_floor_grows_with_the_root_of_the_number_of_bins():
    """Of n rows in b bins, each gap is about normal: mean of sqrt(2 b p (1 - p) / (pi n)), within 4 % and noise of 1 %."""
    rng, numbers, n = np.random.default_rng(1), np.array([4, 16, 64]), 20_000
    p = rng.random(n)
    sweep = bin_sweep(rng.random(n) < p, p, n_bins=numbers, n_resamples=100)
    middles = (np.arange(1000) + 0.5) / 1000
    root = np.sqrt(2 * numbers / np.pi / n) * np.mean(np.sqrt(middles * (1 - middles)))
    np.testing.assert_allclose(sweep.noise_floor, root, rtol=0.08)


def test_a_calibrated_forecast_lies_in_the_band():
    rng = np.random.default_rng(1)
    p = rng.random(1000)
    sweep = bin_sweep(rng.random(1000) < p, p)
    assert np.mean((sweep.value >= sweep.noise_lower) & (sweep.value <= sweep.noise_upper)) > 0.9


def test_the_sweep_says_what_it_is_and_cannot_be_changed():
    sweep = bin_sweep(Y, P, n_bins=[5, 2], binning=EqualMass, norm="max", n_resamples=3)
    assert repr(sweep) == "BinSweep(confidence, EqualMass, max, n_bins=5..2)"
    with pytest.raises(ValueError, match="read-only"):
        sweep.value[0] = 1.0
    assert sweep.to_frame("polars").columns == ["n_bins", "value", "noise_floor", "noise_lower", "noise_upper"]


@given(rows=tables())
def test_a_pair_of_prediction_and_probability_sweeps_as_its_table_does(rows):
    label, prob, weight = rows
    predicted, options = prob.argmax(axis=1), {"n_bins": range(5, 26), "n_resamples": 1, "sample_weight": weight}
    pair = label == predicted, prob.max(axis=1)
    for notion, of_pair in (("top-label", WithinGroups(predicted)), ("confidence", "binary")):
        sweep = bin_sweep(label, prob, notion=notion, **options)
        np.testing.assert_allclose(bin_sweep(*pair, notion=of_pair, **options).value, sweep.value, atol=1e-12)


def test_a_notion_that_finds_no_row_has_no_error_and_no_noise():
    sweep = bin_sweep(Y, P, notion=ThresholdedClassWise(0.99), n_bins=[1, 4], n_resamples=3)
    assert sweep.value.tolist() == sweep.noise_upper.tolist() == [0.0, 0.0]


def test_the_norm_may_be_a_function():
    sweep = bin_sweep(Y, P, n_bins=[2], norm=lambda values, weights: float(np.median(values)), n_resamples=3)
    assert sweep.norm == "<lambda>"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_bins": []}, "n_bins must be whole numbers, each at least 1"),
        ({"n_bins": [0, 5]}, "n_bins must be whole numbers, each at least 1"),
        ({"n_bins": [2.5]}, "n_bins must be whole numbers, each at least 1"),
        ({"n_resamples": 0}, "n_resamples must be a whole number, at least 1"),
        ({"level": 5}, "level must be a fraction"),
        ({"norm": "l0.5"}, "norm must be one of"),
    ],
    ids=str,
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        bin_sweep(Y, P, **options)


def test_a_binning_is_swept_with_other_numbers_of_bins():
    rng = np.random.default_rng(0)
    label, score = rng.integers(0, 2, 200), rng.random(200)
    sweep = bin_sweep(label, score, n_bins=[2, 5], binning=EqualMass(7), n_resamples=1)
    assert (
        sweep.value.tolist() == bin_sweep(label, score, n_bins=[2, 5], binning=EqualMass, n_resamples=1).value.tolist()
    )
    assert sweep.value[0] != sweep.value[1]
