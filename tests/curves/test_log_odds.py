"""Axes in log-odds: what lies between 0 and 1 is shown, by its log-odds."""

import numpy as np
import pytest
from matplotlib import pyplot as plt
from scipy.special import logit

from calibrant.drawing import use_log_odds


@pytest.mark.parametrize("ends", [(1e-4, 0.6), (1e-4, 0.9999), (1e-20, 0.2), (0.3, 1 - 1e-9)])
def test_the_axes_reach_all_values_and_are_even_in_log_odds(ends):
    _, ax = plt.subplots()
    use_log_odds(ax, np.array([0.0, *ends, 1.0]))
    low, high = ax.get_xlim()
    assert low < ends[0] < ends[1] < high
    assert ax.get_ylim() == (low, high)
    value = np.array([low, *ends, high])
    seen = ax.transData.transform(np.column_stack([value, value]))
    np.testing.assert_allclose(
        np.diff(seen[:, 0]) / np.ptp(seen[:, 0]), np.diff(logit(value)) / np.ptp(logit(value)), atol=1e-9
    )
    ticks = ax.get_xticks()
    assert ((ticks > low) & (ticks < high)).sum() > 1
