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
