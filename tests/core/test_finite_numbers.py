"""Arrays, lists and data frames as finite numbers; what is refused stands in test_validation.py."""

import numpy as np

from calibrant._core.checks import as_numbers


def test_numbers_that_only_overflow_in_their_sum_are_finite():
    assert as_numbers("y_prob", np.full((2, 2), 1e308)).tolist() == [[1e308, 1e308]] * 2
