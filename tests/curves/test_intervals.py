"""Intervals of event rates: from their definitions, and as often right as they promise."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from reference import binomial, wilson

from calibrant.curves.reliability import clopper_pearson_interval, consistency_interval, wilson_interval

levels = st.sampled_from([0.5, 0.1, 0.05, 0.01])


def one(interval, mean, n, level):
    """The interval of a single bin."""
    lower, upper = interval(np.array([float(mean)]), np.array([float(n)]), level)
    return lower[0], upper[0]


# Wilson


@given(
    n=st.integers(1, 10_000),
    share=st.floats(0.0, 1.0),
    level=st.sampled_from([0.5, 0.1, 0.05, 0.01]),
)
def test_the_interval_solves_the_quadratic_of_wilson(n, share, level):
    events = round(share * n)
    lower, upper = wilson_interval(np.array([float(events)]), np.array([float(n)]), level)
    np.testing.assert_allclose([lower[0], upper[0]], wilson.interval(events, n, level), rtol=1e-7, atol=1e-12)


def test_bounds_are_exact_where_nothing_or_everything_came():
    lower, upper = wilson_interval(np.array([0.0, 7.0]), np.array([7.0, 7.0]), 0.05)
    assert lower[0] == 0.0
    assert upper[1] == 1.0


def test_the_interval_covers_as_often_as_promised():
    """Wilson's coverage is near, not above, the nominal one: mean over rates, within three standard errors and 1 %."""
    rng = np.random.default_rng(0)
    rate = rng.uniform(0.05, 0.95, 20_000)
    lower, upper = wilson_interval(rng.binomial(50, rate).astype(float), np.full(rate.shape, 50.0), 0.05)
    covered = np.mean((lower <= rate) & (rate <= upper))
    assert abs(covered - 0.95) < 0.01 + 3 * np.sqrt(0.95 * 0.05 / rate.size)


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


@given(n=st.integers(1, 12), p=st.sampled_from([0.0, 0.01, 0.2, 0.5, 0.77, 1.0]), level=levels)
def test_the_exact_interval_never_covers_less_often_than_promised(n, p, level):
    events = np.arange(n + 1.0)
    lower, upper = clopper_pearson_interval(events, np.full(n + 1, float(n)), level)
    mass = np.array(binomial.sum_of_events([p] * n))
    assert mass[(lower <= p + 1e-12) & (p <= upper + 1e-12)].sum() >= 1.0 - level - 1e-9


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


@given(
    probs=st.lists(st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0.0, 1.0)), min_size=1, max_size=12),
    level=levels,
)
def test_given_the_scores_the_bars_hold_the_event_rate_as_often_as_promised(probs, level):
    """Independent events with unequal probabilities vary less than binomial ones (Hoeffding 1956)."""
    n = len(probs)
    lower, upper = one(consistency_interval, sum(probs) / n, n, level)
    rate = np.arange(n + 1) / n
    inside = (lower - 1e-9 <= rate) & (rate <= upper + 1e-9)
    assert np.array(binomial.sum_of_events(probs))[inside].sum() >= 1.0 - level - 1e-9


def test_the_bars_are_quantiles_of_resampled_rows_and_labels():
    """Rows of a bin drawn anew, labels drawn from them: each tail within four Monte Carlo standard errors."""
    rng, level, n, draws = np.random.default_rng(0), 0.1, 40, 20_000
    score = rng.uniform(0.3, 0.6, n)
    lower, upper = one(consistency_interval, score.mean(), n, level)
    rate = (rng.random((draws, n)) < rng.choice(score, (draws, n))).mean(axis=1)
    slack = 4 * np.sqrt(level / 2 / draws)
    assert (rate < lower - 1e-9).mean() <= level / 2 + slack
    assert (rate <= lower + 1e-9).mean() >= level / 2 - slack
    assert (rate > upper + 1e-9).mean() <= level / 2 + slack
    assert (rate >= upper - 1e-9).mean() >= level / 2 - slack


def test_weights_that_are_not_whole_count_as_the_nearest_number_of_rows():
    assert one(consistency_interval, 0.4, 9.8, 0.1) == one(consistency_interval, 0.4, 10, 0.1)
    assert one(consistency_interval, 0.4, 0.2, 0.1) == one(consistency_interval, 0.4, 1, 0.1)


def test_a_bar_without_rows_is_undefined():
    assert np.isnan(one(consistency_interval, np.nan, 0, 0.1)).all()
