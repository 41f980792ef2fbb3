"""The laws of the largest distance and of the range of a Brownian motion."""

import numpy as np
import pytest
from reference import brownian as reference

from calibrant.significance.of_forecast import LARGEST_DISTANCE, RANGE
from calibrant.sums import draws as brownian
from calibrant.sums.draws import SPLIT

LAWS = pytest.mark.parametrize("law", [LARGEST_DISTANCE, RANGE], ids=["distance", "range"])
GRID = np.array([0.06, 0.2, 0.5, 0.8, 1.0, 1.2, SPLIT, 1.3, 1.6, 2.0, 3.0, 4.5])


@pytest.mark.parametrize("x", GRID[2:])
def test_the_law_of_the_distance_is_that_of_paths_between_two_walls(x):
    assert 1.0 - LARGEST_DISTANCE.sf(x) == pytest.approx(reference.distance_at_most(x), abs=1e-12)


@pytest.mark.parametrize("r", [0.9, 1.2, 1.5, 2.0, 2.5, 3.5])
def test_the_law_of_the_range_is_that_of_paths_between_walls_anywhere(r):
    assert 1.0 - RANGE.sf(r) == pytest.approx(reference.range_at_most(r), abs=3e-8)


@LAWS
def test_both_series_agree_where_either_can_be_used(law, monkeypatch):
    x = np.linspace(0.9, 1.6, 57)
    monkeypatch.setattr(brownian, "SPLIT", 0.5)
    images = law.sf(x)
    monkeypatch.setattr(brownian, "SPLIT", 3.0)
    np.testing.assert_allclose(law.sf(x), images, atol=1e-12, rtol=0)


@LAWS
def test_the_survival_function_falls_from_one_to_zero(law):
    x = np.concatenate([[0.0, 1e-300, 1e-3], np.linspace(0.01, 40, 4000), [np.inf]])
    survival = law.sf(x)
    assert survival[0] == 1.0
    assert survival[-1] == 0.0
    assert (np.diff(survival) <= 1e-15).all()


def test_far_tails_keep_their_relative_accuracy():
    """Far out a path that goes so far goes there on one side: 4 and 8 times the normal tail."""
    from scipy.stats import norm

    assert LARGEST_DISTANCE.sf(9.0) == pytest.approx(4 * norm.sf(9.0), rel=1e-12)
    assert RANGE.sf(9.0) == pytest.approx(8 * norm.sf(9.0), rel=1e-12)
