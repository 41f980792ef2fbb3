"""Decision curves."""

import numpy as np
import pytest
from hypothesis import given
from reference import decisions as slow
from strategies import columns

from calibrant._core.rows import Weights
from calibrant.decisions.expected_cost import decision_curve
from calibrant.sums.draws import Bootstrap, as_rng

pytest.importorskip("matplotlib").use("agg")


THRESHOLDS = [0.0, 0.05, 0.2, 0.5, 0.63, 0.8, 0.99]


@given(rows=columns())
def test_the_curve_is_found_events_less_alarms_at_the_odds_of_the_threshold(rows):
    label, score, weight = rows
    curve = decision_curve(label, score, threshold=THRESHOLDS, sample_weight=weight)
    arrays = score.tolist(), label.tolist(), weight.tolist()
    expected = [slow.net_benefit(*arrays, t) for t in THRESHOLDS]
    np.testing.assert_allclose(curve.panels[0].net_benefit, expected, atol=1e-10)
    all_treated = [slow.net_benefit([1.0] * label.size, *arrays[1:], t) for t in THRESHOLDS]
    np.testing.assert_allclose(curve.treat_all, all_treated, atol=1e-10)


@pytest.mark.parametrize("unit", [1.0, 0.7], ids=["counts", "importance"])
def test_intervals_are_quantiles_over_resampled_rows(unit):
    rng = np.random.default_rng(1)
    p, weight = rng.random(40), rng.integers(1, 3, 40) * unit
    y = (rng.random(40) < p).astype(int)
    curve = decision_curve(
        y, {"a": p, "b": p**2}, threshold=[0.3, 0.6], n_resamples=30, rng=7, level=0.2, sample_weight=weight
    )
    bootstrap = Bootstrap(Weights(weight), 30, as_rng(7))
    drawn = {"a": [], "b": []}
    for counts in bootstrap.counts:
        times = counts[bootstrap.group] * weight
        for name, score in (("a", p), ("b", p**2)):
            drawn[name].append([slow.net_benefit(score, y, times, t) for t in (0.3, 0.6)])
    drawn = {name: np.array(values) for name, values in drawn.items()}
    for name, panel in zip("ab", curve.panels, strict=True):
        lower, upper = np.quantile(drawn[name], [0.1, 0.9], axis=0)
        np.testing.assert_allclose(panel.lower, lower, atol=1e-12)
        np.testing.assert_allclose(panel.upper, upper, atol=1e-12)
    lower, upper = np.quantile(drawn["b"] - drawn["a"], [0.1, 0.9], axis=0)
    np.testing.assert_allclose(curve["b"].gain_lower, lower, atol=1e-12)
    np.testing.assert_allclose(curve["b"].gain_upper, upper, atol=1e-12)


def test_intervals_are_missing_where_none_were_asked_for_and_the_same_for_the_same_seed():
    plain = decision_curve([0, 1, 1], [0.2, 0.7, 0.4]).panels[0]
    assert np.isnan([plain.lower, plain.upper, plain.gain_lower, plain.gain_upper]).all()
    one, other = (decision_curve([0, 1, 1], [0.2, 0.7, 0.4], n_resamples=20).panels[0] for _ in range(2))
    np.testing.assert_array_equal(one.lower, other.lower)
    assert (one.lower <= one.upper).all()


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_and_one_row_have_a_curve(label):
    curve = decision_curve([label], [0.5], threshold=[0.2, 0.8], n_resamples=5)
    assert curve.panels[0].net_benefit.tolist() == pytest.approx([1.0 if label else -0.25, 0.0])
    assert curve.event_rate == label


REFUSED = [
    ({"threshold": [0.5, 1.0]}, r"threshold must lie below 1 for a net benefit; got 1\. .* pass 0\.99"),
    ({"threshold": [-0.1]}, r"threshold must lie in \[0, 1\]; got -0\.1 at index 0"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_what_makes_no_sense_is_refused_with_what_to_do(options, message):
    with pytest.raises(ValueError, match=message):
        decision_curve([0, 1], [0.2, 0.7], **options)


def test_forecasts_of_other_events_are_refused_together():
    """To accept a prediction is another event for each forecast, with another rate: costs of 1.044 of 1 came out once."""
    y = [0, 1, 2, 1]
    one, other = np.eye(3)[[0, 1, 2, 0]], np.eye(3)[[0, 0, 2, 1]]
    with pytest.raises(ValueError, match=r"one event for all forecasts; .* 'a' and 'b', whose events differ in 2 of"):
        decision_curve(y, {"a": one, "b": other}, notion="confidence")
    same = decision_curve(y, {"a": one, "b": 0.9 * one + 0.1 / 3}, notion="confidence")
    assert len(same.panels) == 2


def test_thresholds_may_come_in_any_order_and_more_than_once():
    found = decision_curve([0, 1], [0.2, 0.7], threshold=[0.9, 0.1, 0.1])
    assert found.threshold.tolist() == [0.1, 0.9]
    assert found.panels[0].net_benefit.shape == (2,)


# Pictures


Y, P = [0, 1, 1, 0, 1], np.array([0.2, 0.7, 0.9, 0.8, 0.4])


def test_the_artists_carry_exactly_the_arrays_of_the_result():
    curve = decision_curve(Y, {"before": P, "after": P**2}, n_resamples=20)
    ax = curve.plot()
    none, every, *lines = ax.lines
    assert set(none.get_ydata()) == {0.0}
    np.testing.assert_array_equal(every.get_xydata(), np.column_stack([curve.threshold, curve.treat_all]))
    for line, band, panel in zip(lines, ax.collections, curve.panels, strict=True):
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([curve.threshold, panel.net_benefit]))
        corners = band.get_paths()[0].vertices
        assert {panel.lower[10], panel.upper[10]} <= set(corners[corners[:, 0] == curve.threshold[10], 1])


def test_intervals_are_drawn_only_where_there_are_some_and_they_are_wanted():
    assert not decision_curve(Y, P).plot().collections
    curve = decision_curve(Y, P, n_resamples=10)
    assert not curve.plot(intervals=False).collections
    words = [text.get_text() for text in curve.plot().get_legend().get_texts()]
    assert words == ["treat none", "treat all", "95% interval", "forecast"]


def test_treating_all_does_not_squeeze_the_picture():
    low, high = decision_curve(Y, P).plot().get_ylim()
    assert -0.5 < low < 0
    assert 0 < high < 1
