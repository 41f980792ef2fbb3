"""Intervals of event rates: from their definitions, and as often right as they promise."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from reference import binomial

from calibrant.curves.reliability import clopper_pearson_interval, consistency_interval, wilson_interval

levels = st.sampled_from([0.5, 0.1, 0.05, 0.01])


def one(interval, mean, n, level):
    """The interval of a single bin."""
    lower, upper = interval(np.array([float(mean)]), np.array([float(n)]), level)
    return lower[0], upper[0]


# Wilson


@given(n=st.integers(1, 10_000), share=st.floats(0.0, 1.0), level=st.sampled_from([0.5, 0.1, 0.05, 0.01]))
def test_the_interval_solves_the_quadratic_of_wilson(n, share, level):
    events = round(share * n)
    lower, upper = wilson_interval(np.array([float(events)]), np.array([float(n)]), level)
    np.testing.assert_allclose([lower[0], upper[0]], binomial.wilson(events, n, level), rtol=1e-7, atol=1e-12)


def test_bounds_are_exact_where_nothing_or_everything_came():
    lower, upper = wilson_interval(np.array([0.0, 7.0]), np.array([7.0, 7.0]), 0.05)
    assert lower[0] == 0.0
    assert upper[1] == 1.0


# Clopper and Pearson


@given(n=st.integers(1, 60), share=st.floats(0.0, 1.0), level=levels)
def test_the_exact_interval_inverts_the_binomial_tails(n, share, level):
    events = round(share * n)
    np.testing.assert_allclose(
        one(clopper_pearson_interval, events, n, level), binomial.clopper_pearson(events, n, level), atol=1e-9
    )


def test_an_exact_interval_without_rows_is_undefined_and_others_are_not():
    lower, upper = clopper_pearson_interval(np.array([0.0, 0.0, 3.0]), np.array([0.0, 3.0, 3.0]), 0.05)
    assert np.isnan([lower[0], upper[0]]).all()
    assert lower[1] == 0.0
    assert upper[2] == 1.0


# Consistency


@given(n=st.integers(1, 60), mean=st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0.0, 1.0)), level=levels)
def test_consistency_bars_end_at_binomial_quantiles_or_hold_the_mean(n, mean, level):
    for end, quantile in zip(one(consistency_interval, mean, n, level), (level / 2, 1 - level / 2), strict=True):
        events = round(end * n)
        if abs(end * n - events) < 1e-9:
            assert binomial.cdf(events, n, mean) >= quantile - 1e-9
            assert events == 0 or binomial.cdf(events - 1, n, mean) <= quantile + 1e-9 or end == mean
        else:
            assert end == mean
