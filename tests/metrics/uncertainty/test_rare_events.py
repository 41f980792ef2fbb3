"""Few events at one rate after the other: as many as at calibration at first, and binomial at every rate."""

import numpy as np
import pytest
from scipy.stats import binom

from calibrant.metrics.noise import MOST, RareEvents

DRAWS = 20_000
N = np.array([1.0, 1.0, 3.0, 5.0, 40.0, 200.0, 10_000.0, 10_000.0, 50.0])
P = np.array([0.3, 0.9, 0.1, 0.95, 0.01, 0.999, 3e-5, 1.0 - 2e-5, 0.0])


def rare(draws=DRAWS):
    rng = np.random.default_rng(0)
    events = rng.binomial(N.astype(int)[:, None], P[:, None], size=(N.size, draws)).astype(float)
    return events, RareEvents.of(events, N, P, rng)


def test_at_the_rate_of_calibration_the_events_are_those_drawn():
    events, found = rare()
    again = found.at(P)
    assert np.mean(again != events) < 1e-5  # levels are kept in single precision
    np.testing.assert_allclose(again, events, atol=1)


@pytest.mark.parametrize("factor", [0.0, 0.5, 0.9, 1.5, 4.0, 1e3])
def test_at_any_rate_the_events_are_binomial(factor):
    """Rates on both sides of a half, rates without any event, and rates at which events are many."""
    rate = np.where(P < 0.5, np.minimum(P * factor, 0.97), 1.0 - np.minimum((1.0 - P) * factor, 0.97))
    drawn = rare()[1].at(rate)
    for events, n, p in zip(drawn, N, rate, strict=True):
        for k in np.unique(binom.ppf([0.01, 0.2, 0.5, 0.8, 0.99], n, p)):
            reached = binom.cdf(k, n, p)
            assert abs(np.mean(events <= k) - reached) < 4.5 * np.sqrt(reached * (1 - reached) / DRAWS) + 1e-6
        assert events.min() >= 0
        assert events.max() <= n


def test_where_many_events_were_expected_and_none_occurs_their_number_is_that_of_its_rate():
    """Cells of 10 000 rows with a rate of 0.3 or 0.8, whose events become rare, and of a single row."""
    rng, n, p = np.random.default_rng(0), np.array([10_000.0, 10_000.0, 1.0]), np.array([0.3, 0.8, 0.5])
    events = rng.binomial(n.astype(int)[:, None], p[:, None], size=(3, DRAWS)).astype(float)
    found = RareEvents.of(events, n, p, rng)
    np.testing.assert_allclose(found.at(p), events, atol=3)  # of a spread of 46 and 40
    for rate in (np.array([1e-4, 1.0 - 1e-4, 0.5]), np.array([0.0, 1.0, 0.0]), np.array([0.05, 0.9, 1.0])):
        drawn, variance = found.at(rate), n * rate * (1 - rate)
        assert (np.abs(drawn.mean(axis=1) - n * rate) <= 4.5 * np.sqrt(variance / DRAWS) + 0.05 * (variance > 10)).all()
        np.testing.assert_allclose(drawn.var(axis=1), variance, rtol=0.06)


def test_where_the_rate_rises_events_are_added_and_none_is_taken_away():
    found = rare(500)[1]
    assert (found.at(np.minimum(1.2 * P, 1.0)) >= found.at(P)).all()
    assert (found.at(0.8 * P) <= found.at(P)).all()


def test_the_largest_numbers_that_are_counted_one_by_one_fit_into_a_byte():
    found = RareEvents(np.array([1e9]), np.array([[0.5, 1.0]], dtype=np.float32)).at(np.array([MOST / 1e9]))
    assert found[0, 0] == binom.ppf(0.5, 1e9, MOST / 1e9)
    assert 90 < found[0, 1] < 127
