"""What a law says of its value, against cases that can be worked out by hand and inequalities that always hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import foldnorm, norm

from calibrant.metrics.uncertainty import Law, pvalue_of, steps_for

DRAWS = 4000


def law_of(shape, noise, size):
    """Law of the size of ``shape`` with one kind of noise, shape (m, d)."""
    steps = steps_for(float(size(shape[None])[0]), size(noise))
    truth = size(steps[:, None] * shape)
    sizes = np.array([size(step * shape + noise) for step in steps])
    return Law(steps, truth, sizes, (sizes,))


def euclidean(rows):
    return np.sqrt((rows**2).sum(axis=1))


def largest(rows):
    return np.abs(rows).max(axis=1)


def mean(rows):
    return np.abs(rows).mean(axis=1)


@pytest.mark.parametrize("value", [0.5, 1.5, 2.5, 4.0, 30.0])
def test_of_one_normal_deviation_all_figures_are_known(value):
    """T = |D + N| with N standard normal: the noise floor is sqrt(2 / pi), quantiles are those of the folded normal."""
    grid = norm.ppf((np.arange(DRAWS) + 0.5) / DRAWS)[:, None]
    found = law_of(np.array([value]), grid, largest).estimate(level=0.05)

    def truth_of_which_it_is_the_quantile(q):
        truths = np.linspace(0, value, 20001)
        below = norm.cdf(value - truths) - norm.cdf(-value - truths)
        return truths[np.argmax(below <= q)] if below[0] > q else 0.0

    assert found.value == pytest.approx(value)
    assert found.noise_floor == pytest.approx(np.sqrt(2 / np.pi), rel=0.01)
    assert found.pvalue == pytest.approx(2 * norm.sf(value), abs=2 / DRAWS)
    assert found.upper == pytest.approx(foldnorm(value).ppf(0.975), abs=0.01)
    assert found.lower == pytest.approx(truth_of_which_it_is_the_quantile(0.975), abs=0.06)
    assert found.debiased == pytest.approx(truth_of_which_it_is_the_quantile(0.5), abs=0.06)
    # |D + N| exceeds 1.96 four times in five at D = 1.96 + 0.84
    assert found.detectable == pytest.approx(1.96 + 0.84, abs=0.08)


@given(
    size=st.sampled_from([euclidean, largest, mean]),
    shape=st.lists(st.floats(-3, 3), min_size=1, max_size=6),
    seed=st.integers(0, 100),
    level=st.sampled_from([0.05, 0.3]),
)
def test_the_interval_lies_within_that_of_the_triangle_inequality(size, shape, seed, level):
    noise = np.random.default_rng(seed).normal(size=(200, len(shape)))
    law = law_of(np.array(shape), noise, size)
    found, reach = law.estimate(level), np.quantile(size(noise), 1 - level / 2)
    assert found.value - reach - 1e-9 <= found.lower <= found.value <= found.upper <= found.value + reach + 1e-9
    assert 0 <= found.lower <= found.debiased + 1e-9


def test_a_value_of_zero_has_an_interval_as_wide_as_the_noise():
    noise = np.random.default_rng(0).normal(size=(500, 3))
    found = law_of(np.zeros(3), noise, mean).estimate(level=0.05)
    assert found.lower == found.debiased == 0.0
    assert found.upper == pytest.approx(np.quantile(mean(noise), 0.975))
    assert found.detectable >= np.quantile(mean(noise), 0.95)
    assert found.pvalue == 1.0


def test_a_p_value_counts_ties_and_is_never_zero():
    assert pvalue_of(2.0, np.array([1.0, 2.0, 3.0])) == 0.75
    assert pvalue_of(4.0, np.array([1.0, 2.0, 3.0])) == 0.25
