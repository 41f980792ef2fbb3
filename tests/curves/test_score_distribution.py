import numpy as np
import pytest
from hypothesis import given
from strategies import columns, tables

from calibrant import EqualMass
from calibrant.curves import score_distribution

Y = ["sun", "rain", "rain", "sun"]
P = np.array([0.1, 0.4, 0.9, 0.9])


@given(rows=columns())
def test_the_weights_are_those_of_the_rows_in_each_bin_by_outcome(rows):
    label, score, weight = rows
    panel = score_distribution(label, score, binning=4, sample_weight=weight).panels[0]
    for b in range(4):
        inside = (score > b / 4) & (score <= (b + 1) / 4) | ((b == 0) & (score == 0))
        assert panel.event_weight[b] == weight[inside & (label == 1)].sum()
        assert panel.other_weight[b] == weight[inside & (label == 0)].sum()


@given(rows=tables())
def test_densities_have_an_area_of_one_or_of_nothing(rows):
    label, prob, weight = rows
    for panel in score_distribution(label, prob, notion="class-wise", sample_weight=weight).panels:
        width = np.diff(panel.bins.edges)
        for density, mass in ((panel.event_density, panel.event_weight), (panel.other_density, panel.other_weight)):
            assert (density * width).sum() == pytest.approx(1.0 if mass.sum() > 0 else 0.0)


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


def test_one_column_has_the_names_of_its_classes():
    assert score_distribution(Y, P, pos_label="rain").outcomes == ("class sun", "class rain")
    assert score_distribution(["rain"], [0.3], pos_label="rain").outcomes == ("not rain", "class rain")


def test_the_result_says_what_it_is_and_cannot_be_changed():
    result = score_distribution(Y, P, pos_label="rain", binning=EqualMass(2))
    assert repr(result) == "ScoreDistribution(binary, EqualMass(n_bins=2), panels=1, rows=4)"
    with pytest.raises(ValueError, match="read-only"):
        result.panels[0].event_weight[0] = 1.0
    frame = result.to_frame("polars")
    assert frame.columns[:3] == ["panel", "left", "right"]
    assert frame["event_weight"].sum() == 2.0
