"""The band that holds the whole curve with proven confidence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import simultaneous

from calibrant.curves.cumulative import simultaneous_band

counts = st.lists(st.tuples(st.integers(1, 30), st.floats(0, 1)), min_size=1, max_size=40)


def band(count, events, level=0.05):
    return simultaneous_band(np.asarray(count, dtype=float), np.asarray(events, dtype=float), level)


@given(rows=counts, level=st.sampled_from([0.5, 0.05, 0.001]))
def test_the_bounds_are_those_of_all_intervals_one_at_a_time(rows, level):
    count, events = [n for n, _ in rows], [round(share * n) for n, share in rows]
    lower, upper = simultaneous.band(count, events, level)
    found = band(count, events, level)
    np.testing.assert_allclose(found, [lower, upper], rtol=1e-6, atol=1e-12)


@given(rows=counts)
def test_neither_bound_decreases(rows):
    lower, upper = band([n for n, _ in rows], [round(share * n) for n, share in rows])
    assert (np.diff(lower) >= 0).all()
    assert (np.diff(upper) >= 0).all()
    assert lower.min() >= 0
    assert upper.max() <= 1


def test_the_tails_sum_to_the_level():
    """Where no event ever occurred only upper bounds are informative; they are as likely too low as their tails say."""
    lists = simultaneous.intervals([1] * 500)
    assert sum(2 * len(found) * 0.05 / 2 / len(lists) / len(found) for found in lists) == pytest.approx(0.05)
    lengths = [sorted({last - first + 1 for first, last in found}) for found in lists]
    assert lengths == [[16], [32], [64], [128], [256], [500]]


@pytest.mark.parametrize("truth", [lambda s: s, lambda s: 0 * s + 0.3, lambda s: (s > 0.5) * 0.8 + 0.1, lambda s: s**4])
@pytest.mark.parametrize("n", [30, 400])
def test_the_whole_curve_lies_in_the_band_as_often_as_proven(truth, n):
    """Also where scores are tied: at least 95 %, less four standard errors."""
    rng, covered = np.random.default_rng(0), []
    for run in range(150):
        score, count = np.unique(rng.random(n) if run % 2 else rng.integers(0, 12, n) / 11, return_counts=True)
        lower, upper = band(count, rng.binomial(count, truth(score)))
        covered.append(((lower <= truth(score)) & (truth(score) <= upper)).all())
    assert np.mean(covered) > 0.95 - 4 * np.sqrt(0.95 * 0.05 / 150)


def test_a_constant_score_has_the_interval_of_clopper_and_pearson():
    lower, upper = band([20], [7])
    assert lower[0] == pytest.approx(0.1539092, abs=1e-7)
    assert upper[0] == pytest.approx(0.5921885, abs=1e-7)


@pytest.mark.deep
def test_a_million_rows_have_a_band():
    rng = np.random.default_rng(0)
    p = np.sort(rng.random(1_000_000))
    lower, upper = band(np.ones(p.size), rng.random(p.size) < p)
    assert ((lower <= p) & (p <= upper)).all()
    assert (upper - lower).mean() < 0.05
