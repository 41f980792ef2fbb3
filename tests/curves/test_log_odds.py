"""Axes in log-odds: which ticks bear labels."""

import numpy as np
import pytest
from matplotlib import pyplot as plt

from calibrant.drawing import use_log_odds


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((1e-4, 0.6), ["0.0001", "0.001", "0.01", "0.1", "0.5"]),
        ((1e-4, 0.9999), ["0.0001", "", "0.01", "", "0.5", "", "0.99", "", "0.9999"]),
        ((0.06, 0.4), ["0.05", "0.1", "0.2", "0.5"]),
        ((1e-3, 0.999), ["", "0.01", "", "0.5", "", "0.99", ""]),
        ((1e-8, 0.2), ["$10^{-8}$", "", "$10^{-6}$", "", "$10^{-4}$", "", "0.01", ""]),
        ((1e-20, 0.2), ["$10^{-20}$", "$10^{-15}$", "$10^{-10}$", "$10^{-5}$"]),
        ((0.3, 1 - 1e-9), ["0.5", "", "0.99", "", "$1 - 10^{-4}$", "", "$1 - 10^{-6}$", "", "$1 - 10^{-8}$", ""]),
    ],
)
def test_of_many_labels_beside_each_other_every_second_is_left_out(ends, expected):
    _, ax = plt.subplots()
    use_log_odds(ax, np.array(ends))
    assert [label.get_text() for label in ax.get_xticklabels()] == expected
    beside = [label.get_text() for label in ax.get_yticklabels()]
    assert "" not in beside
    assert len(beside) == len(expected)
    np.testing.assert_array_equal(ax.get_xticks(), ax.get_yticks())
