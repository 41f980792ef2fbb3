"""Where numbers stand among limits: of a block of numbers what a search gives of each."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant._core.rows import BLOCK, MANY, places

KNOWN = [-np.inf, -1.0, -0.0, 0.0, 5e-324, 0.25, 0.5, np.nextafter(0.5, 1), 1.0, 1e30, np.inf]


@settings(max_examples=60, deadline=None)
@given(
    limits=st.lists(st.one_of(st.sampled_from(KNOWN), st.floats(0, 1)), min_size=0, max_size=70),
    side=st.sampled_from(["left", "right"]),
    dtype=st.sampled_from([np.float64, np.float32]),
)
def test_places_are_those_that_a_search_of_each_number_finds(limits, side, dtype):
    limits = np.sort(np.array(limits, dtype=np.float64))
    rng = np.random.default_rng(limits.size)
    table = np.resize(np.concatenate([KNOWN, limits, rng.random(50)]), (MANY, 2)).astype(dtype)
    for values in (table[:, 0], np.ascontiguousarray(table[:, 1]), table[: MANY - 1, 1]):
        found = places(limits, values, side=side)
        assert found.dtype == np.intp
        np.testing.assert_array_equal(found, np.searchsorted(limits, values, side=side))


@pytest.mark.parametrize("n_limits", [1, 2, 3, 4, 7, 8, 255, 256, 1000, BLOCK + 1, 2 * BLOCK])
def test_any_number_of_limits_may_be_searched(n_limits):
    rng = np.random.default_rng(n_limits)
    limits, values = np.sort(rng.integers(0, 5000, n_limits) / 5000), rng.integers(0, 5000, BLOCK + 77) / 5000
    for side in ("left", "right"):
        np.testing.assert_array_equal(places(limits, values, side), np.searchsorted(limits, values, side))
