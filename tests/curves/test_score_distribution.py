"""Score distributions are drawn as the steps of the result."""

import numpy as np
import pytest
from hypothesis import given
from strategies import columns

from calibrant import load_digits_forecast
from calibrant.curves import score_distribution

P = np.array([0.1, 0.4, 0.9, 0.9])


@given(rows=columns())
def test_the_weights_are_those_of_the_rows_in_each_bin_by_outcome(rows):
    label, score, weight = rows
    panel = score_distribution(label, score, binning=4, sample_weight=weight).panels[0]
    for b in range(4):
        inside = (score > b / 4) & (score <= (b + 1) / 4) | ((b == 0) & (score == 0))
        assert panel.event_weight[b] == weight[inside & (label == 1)].sum()
        assert panel.other_weight[b] == weight[inside & (label == 0)].sum()


@pytest.mark.parametrize(
    ("notion", "outcomes"),
    [
        ("confidence", ("wrong", "right")),
        ("top-label", ("wrong", "right")),
        ("class-wise", ("other classes", "this class")),
        ("binary", ("class a", "class b")),
    ],
)
def test_outcomes_are_called_by_their_names(notion, outcomes):
    table = np.column_stack([1 - P, P])
    assert score_distribution(["a", "b", "b", "a"], table, notion=notion).outcomes == outcomes


# Pictures


DIGITS, PROB = load_digits_forecast()


@pytest.mark.parametrize("height", ["density", "weight"])
def test_the_artists_carry_exactly_the_arrays_of_the_result(height):
    result = score_distribution(DIGITS, PROB, notion="class-wise", binning=20)
    for ax, panel in zip(result.plot(height=height), result.panels, strict=True):
        other, _, event, _ = (patch.get_data() for patch in ax.patches)
        np.testing.assert_array_equal(other.values, getattr(panel, f"other_{height}"))
        np.testing.assert_array_equal(event.values, getattr(panel, f"event_{height}"))
        np.testing.assert_array_equal(event.edges, panel.bins.edges)


def test_another_height_is_refused():
    with pytest.raises(ValueError, match="height must be one of 'density', 'weight'; got 'count'"):
        score_distribution(DIGITS, PROB).plot(height="count")
