"""What a law says of its value, against cases that can be worked out by hand and inequalities that always hold."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import norm

from calibrant.metrics.estimate import LUCK, NEAR_ONE, Law, pvalue_of, steps_for

DRAWS = 4000


def law_of(shape, noise, size, steps=None):
    """Law of the size of ``shape`` times steps with noise, shape (m, d)."""
    value = float(size(shape[None])[0])
    steps = steps_for(value, size(noise)) if steps is None else steps
    return Law(value, size(steps[:, None] * shape), np.array([size(step * shape + noise) for step in steps]))


def euclidean(rows):
    return np.sqrt((rows**2).sum(axis=1))


def largest(rows):
    return np.abs(rows).max(axis=1)


def mean(rows):
    return np.abs(rows).mean(axis=1)


@pytest.mark.parametrize("value", [0.01, 0.5, 1.5, 1.8, 2.5, 4.0, 30.0])
def test_of_one_normal_deviation_all_figures_are_known(value):
    """T = |D + N| with N standard normal: quantiles are those of the folded normal, and each end solves its equation."""
    grid = norm.ppf((np.arange(DRAWS) + 0.5) / DRAWS)[:, None]
    found = law_of(np.array([value]), grid, largest, np.linspace(0, 3 + 6 / value, 1500)).estimate(level=0.05)
    truths = np.linspace(0, value + 4, 20001)

    def share_beyond(size):
        return norm.sf(size - truths) + norm.cdf(-size - truths)

    luck = LUCK * norm.ppf(0.75)
    told = np.where(1 - share_beyond(luck) < 0.015, np.clip((share_beyond(norm.ppf(0.975)) - 0.05) / 0.05, 0, 1), 0)
    small = 1 - share_beyond(max(value, luck))
    accepted = truths[(share_beyond(value) >= 0.05 - 0.035 * told) & (small >= 0.015 * told)]
    assert found.value == pytest.approx(value)
    assert found.noise_floor == pytest.approx(np.sqrt(2 / np.pi), rel=0.01)
    assert found.pvalue == pytest.approx(2 * norm.sf(value), abs=2 / DRAWS)
    assert found.lower == pytest.approx(accepted[0], abs=0.06)
    assert found.upper == pytest.approx(accepted[-1], abs=0.06)
    assert found.debiased == pytest.approx(min(truths[np.argmax(share_beyond(value) >= 0.5)], value), abs=0.06)
    # |D + N| exceeds 1.96 four times in five at D = 1.96 + 0.84
    assert found.detectable == pytest.approx(1.96 + 0.84, abs=0.08)


def test_far_from_calibration_three_tenths_of_the_level_are_left_out_on_either_side():
    grid = norm.ppf((np.arange(DRAWS) + 0.5) / DRAWS)[:, None]
    found = law_of(np.array([9.0]), grid, largest).estimate(level=0.1)
    assert (found.lower, found.upper) == pytest.approx((9 - norm.ppf(0.97), 9 + norm.ppf(0.97)), abs=0.02)


@given(
    size=st.sampled_from([euclidean, largest, mean]),
    shape=st.lists(st.floats(-3, 3), min_size=1, max_size=6),
    seed=st.integers(0, 100),
    level=st.sampled_from([0.05, 0.3, 0.6]),
    draws=st.sampled_from([9, 200]),
)
@example(size=euclidean, shape=[0.625], seed=0, level=0.6, draws=200)
def test_ends_lie_about_the_bias_corrected_value_and_zero_is_left_out_where_the_test_rejects(
    size, shape, seed, level, draws
):
    noise = np.random.default_rng(seed).normal(size=(draws, len(shape)))
    found = law_of(np.array(shape), noise, size).estimate(level)
    assert 0.0 <= found.lower <= found.debiased <= min(found.value, found.upper)
    # A level above one half rejects values below the median of the noise too, of which nothing is left without the bias.
    rejects = found.pvalue <= level and (level < 0.5 or found.debiased > 0.0)
    assert (found.lower > 0.0) == rejects


def test_what_was_seen_is_stretched_until_the_error_is_detected():
    """The detectable error is that of all steps, and of the last steps nothing is drawn."""
    noise, drawn = np.random.default_rng(0).normal(size=(500, 3)), []
    whole = law_of(np.array([9.0, -5.0, 7.0]), noise, mean)

    def seen():
        for true, sizes in zip(whole.truth, whole.sizes, strict=True):
            drawn.append(true)
            yield np.array([true]), sizes[None]

    found = replace(whole, seen=seen).estimate(level=0.05)
    assert found == whole.estimate(level=0.05)
    assert drawn[-2] < found.detectable <= drawn[-1]
    assert len(drawn) < whole.truth.size / 2
    quantiles = np.quantile(whole.sizes, 0.2, axis=1)
    assert np.interp(np.quantile(whole.null, 0.95), quantiles, whole.truth) == pytest.approx(found.detectable)


def test_a_value_of_nothing_is_stretched_by_its_own_size_alone():
    noise = np.array([0.5, 1.0, 2.0])
    np.testing.assert_array_equal(steps_for(0.0, noise), np.unique([0.0, *NEAR_ONE]))
    assert steps_for(1e-3, noise).max() > 1000.0


def test_a_p_value_counts_ties_and_is_never_zero():
    assert pvalue_of(2.0, np.array([1.0, 2.0, 3.0])) == 0.75
    assert pvalue_of(4.0, np.array([1.0, 2.0, 3.0])) == 0.25
