"""Groups of rows for a chi-squared test."""

import warnings

import numpy as np
import pytest

from calibrant.exceptions import CalibrationWarning
from calibrant.significance.of_forecast import enough_expected, warn_if_sparse


def test_where_nothing_is_expected_no_count_is_too_small():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_sparse(np.zeros(3), "take fewer groups")
    assert enough_expected(np.zeros(3)).endswith("nothing is expected anywhere.")


def test_more_than_a_fifth_of_small_counts_is_warned_of():
    with pytest.warns(CalibrationWarning, match="40% of 5 are smaller"):
        warn_if_sparse(np.array([0.0, 1.0, 4.0, 5.0, 6.0, 7.0]), "take fewer groups")


def test_a_fifth_of_small_counts_is_not():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_sparse(np.array([0.0, 4.0, 5.0, 5.0, 6.0, 7.0]), "take fewer groups")
