"""The bin of a score by arithmetic is the one that a search finds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.binning.bins import even_edges, locate

PRECISIONS = [np.float32, np.float64]


def both(n_bins, score, precision):
    edges = even_edges(n_bins, np.dtype(precision))
    score = np.asarray(score).astype(precision).astype(np.float64)
    return edges.index(score), locate(edges.edges, score)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("n_bins", [1, 2, 3, 5, 7, 10, 15, 20, 49, 100, 1000, 99_991, 10_000_000])
def test_next_to_every_edge_the_bin_is_that_of_a_search(n_bins, precision):
    edges = np.arange(n_bins + 1)[:: max(1, n_bins // 5000)] / n_bins
    edges = edges.astype(precision)
    zero, one = precision(0), precision(1)
    near = [edges, np.nextafter(edges, zero), np.nextafter(edges, one), np.nextafter(np.nextafter(edges, one), one)]
    found, expected = both(n_bins, np.clip(np.concatenate([*near, [5e-324, 1e-300, 0.5]]), 0, 1), precision)
    np.testing.assert_array_equal(found, expected)


@given(
    score=st.lists(st.floats(-1.0, 2.0), min_size=1, max_size=20),
    n_bins=st.integers(1, 200),
    precision=st.sampled_from(PRECISIONS),
)
def test_any_score_falls_into_the_bin_of_a_search(score, n_bins, precision):
    found, expected = both(n_bins, score, precision)
    np.testing.assert_array_equal(found, expected)
