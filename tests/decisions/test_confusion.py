"""What decisions did, and what that cost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import decisions as slow
from strategies import columns, tables

from calibrant.decisions.thresholds import confusion_table, decide


@given(rows=columns(), threshold=st.one_of(st.sampled_from([0.0, 0.2, 0.5, 1.0]), st.floats(0, 1)))
def test_at_a_threshold_the_counts_are_those_of_the_definition(rows, threshold):
    label, score, weight = rows
    found = confusion_table(label, score, threshold=threshold, sample_weight=weight)
    fp, fn = slow.errors(score.tolist(), label.tolist(), weight.tolist(), threshold)
    others, events = weight[label == 0].sum(), weight[label == 1].sum()
    np.testing.assert_allclose(found.weight, [[others - fp, fp], [fn, events - fn]], atol=1e-12)
    assert found.mean_cost == pytest.approx((fp + fn) / weight.sum())
    assert found.accuracy == pytest.approx(1 - (fp + fn) / weight.sum())


@given(rows=tables(), seed=st.integers(0, 99))
def test_by_costs_the_counts_are_those_of_the_decisions(rows, seed):
    label, prob, weight = rows
    k = prob.shape[1]
    cost = np.random.default_rng(seed).random((k, k + 1)) + 0.1
    cost[np.arange(k), np.arange(k)] = 0.0
    found = confusion_table(label, prob, cost_matrix=cost, sample_weight=weight)
    expected, spent, promised = np.zeros((k, k + 1)), 0.0, 0.0
    for row, y, w in zip(prob.tolist(), label, weight, strict=True):
        j, least = slow.decision(row, cost.tolist())
        expected[y, j] += w
        spent += w * cost[y, j]
        promised += w * least
    np.testing.assert_array_equal(decide(prob, cost).decision, [slow.decision(row, cost.tolist())[0] for row in prob])
    np.testing.assert_allclose(found.weight, expected)
    assert found.mean_cost == pytest.approx(spent / weight.sum())
    assert found.expected_cost == pytest.approx(promised / weight.sum())


def test_rates_of_nothing_are_not_numbers():
    found = confusion_table([0, 0], [0.1, 0.2])
    assert np.isnan(found.recall[1])
    assert np.isnan(found.precision[1])
    assert found.recall[0] == found.precision[0] == 1.0
    all_abstain = confusion_table([0, 1], [0.5, 0.5], cost_matrix=[[0, 1, 0.1], [1, 0, 0.1]])
    assert np.isnan(all_abstain.accuracy)
    assert all_abstain.abstained == 1.0


def test_printed_it_is_a_table():
    found = confusion_table(
        ["a", "b", "b"], [[0.9, 0.1], [0.55, 0.45], [0.2, 0.8]], cost_matrix=[[0, 1, 0.3], [1, 0, 0.3]], extra="ask"
    )
    assert str(found).splitlines() == [
        "     true        a        b  ask   recall",
        "        a        1        0    0  100.00%",
        "        b        0        1    1   50.00%",
        "precision  100.00%  100.00%",
        "abstained 33.33%",
        "accuracy 100.00%",
        "mean cost 0.1, expected by the probabilities 0.2",
    ]
    assert repr(found) == "ConfusionTable(classes=2, accuracy=1, mean_cost=0.1, expected_cost=0.2)"
    assert str(confusion_table([0, 1], [0.2, 0.7], threshold=0.25)).splitlines()[4] == "threshold 0.25"
    none = confusion_table([0, 0], [0.5, 0.5], cost_matrix=[[0, 1, 0.1], [1, 0, 0.1]])
    assert "accuracy -" in str(none)
    assert "nan" not in str(none)
    many = confusion_table(range(20), np.full((20, 20), 0.05))
    assert str(many).startswith("accuracy 5.00%")


REFUSED = [
    ([0.2, 0.7], {"threshold": 1.5}, ValueError, r"threshold must be .* at most 1; got 1\.5\. It is compared"),
    ([0.2, 0.7], {"cost_matrix": [[0, 1], [1e200, 0]]}, ValueError, r"cost_matrix must be at most 1e\+100; got"),
    (np.full((2, 3), 1 / 3), {"threshold": 0.5}, ValueError, r"y_prob must speak of one event; got 3 classes"),
    ([0.2, 0.7], {"cost_matrix": np.eye(3)}, ValueError, r"cost_matrix must have a row a class"),
]


@pytest.mark.parametrize(("forecast", "options", "error", "message"), REFUSED)
def test_what_makes_no_sense_is_refused_with_what_to_do(forecast, options, error, message):
    with pytest.raises(error, match=message):
        confusion_table([0, 1], forecast, **options)
