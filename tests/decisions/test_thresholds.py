"""The optimal threshold: where deciding for the event begins to be the cheaper."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import decisions as slow
from strategies import columns, tables

from calibrant.decisions.prior_shift import undo_class_weight
from calibrant.decisions.thresholds import confusion_table, decide, optimal_threshold

costs = st.floats(0.01, 100.0)
shares = st.floats(0.01, 0.99)


def test_the_examples_of_the_survey_come_out():
    assert optimal_threshold(4, 1) == 0.8
    assert optimal_threshold(1, 1) == 0.5
    assert optimal_threshold(1, 1, old_prior=0.5, new_prior=0.8) == 0.2


@given(a=costs, b=costs, right=st.floats(0.0, 0.999), old=shares, new=shares, p=shares)
def test_from_the_threshold_on_deciding_for_the_event_is_no_dearer(a, b, right, old, new, p):
    """With all costs and new shares at once, by expected costs of the shifted probability."""
    tp, tn = right * b, right * a
    threshold = optimal_threshold(a, b, cost_true_positive=tp, cost_true_negative=tn, old_prior=old, new_prior=new)
    now = p * new / old / (p * new / old + (1 - p) * (1 - new) / (1 - old))
    for_event, against = (1 - now) * a + now * tp, now * b + (1 - now) * tn
    if abs(for_event - against) > 1e-9 * (for_event + against):
        assert (for_event < against) == (p >= threshold)


def test_an_error_without_cost_puts_the_threshold_at_an_end():
    assert optimal_threshold(0, 1) == 0.0
    assert optimal_threshold(1, 0) == 1.0
    assert optimal_threshold(1, 1, old_prior=0.5, new_prior=0.0) == 1.0
    assert optimal_threshold(1, 1, old_prior=0.5, new_prior=1.0) == 0.0


def test_costs_and_shares_of_any_size_neither_overflow_nor_vanish():
    assert optimal_threshold(1e308, 1e308) == 0.5
    assert optimal_threshold(1e-320, 1e-320) == 0.5
    assert optimal_threshold(1.7e308, 1e-300) == 1.0
    assert optimal_threshold(1e-200, 1, old_prior=1e-200, new_prior=0.0) == 1.0  # the product of the first two vanishes
    tiny = optimal_threshold(1e-300, 1, old_prior=1e-300, new_prior=5e-324)
    assert tiny == pytest.approx(1e-600 / 5e-324, abs=1e-270)
    assert decide([0.5], [[0, 1e100], [1e100, 0]]).expected_cost.tolist() == [0.5e100]


# Decisions of least expected cost


@st.composite
def cost_matrices(draw, n_classes, most_extra=2):
    """Right decisions cost nothing or a little, wrong ones more; up to two other decisions."""
    wide = n_classes + draw(st.integers(0, most_extra))
    row = st.lists(st.integers(0, 9).map(float), min_size=wide, max_size=wide)
    cost = np.array(draw(st.lists(row, min_size=n_classes, max_size=n_classes)))
    for k in range(n_classes):
        cost[k, k] = cost[k, :n_classes].min()
    return cost


@given(data=st.data(), rows=tables())
def test_no_decision_is_expected_to_cost_less(data, rows):
    _, prob, _ = rows
    cost = data.draw(cost_matrices(prob.shape[1]))
    found = decide(prob, cost)
    for row, j, expected in zip(prob.tolist(), found.decision, found.expected_cost, strict=True):
        _, least = slow.decision(row, cost.tolist())
        assert expected == pytest.approx(least, abs=1e-12)
        assert expected == pytest.approx(sum(p * cost[i, j] for i, p in enumerate(row)), abs=1e-12)


@given(rows=columns(), a=st.integers(1, 9), b=st.integers(1, 9))
def test_a_column_is_decided_by_the_optimal_threshold_also_exactly_on_it(rows, a, b):
    _, score, _ = rows
    threshold = optimal_threshold(a, b)
    score = np.append(score, threshold)
    np.testing.assert_array_equal(decide(score, [[0, a], [b, 0]]).decision, score >= threshold)


def test_of_decisions_that_cost_the_same_the_first_is_taken():
    assert decide([[0.4, 0.4, 0.2]], 1.0 - np.eye(3)).decision.tolist() == [0]
    assert decide([0.3, 0.9], np.zeros((2, 3))).decision.tolist() == [0, 0]
    assert decide([0.3, 0.9], np.ones((2, 2))).decision.tolist() == [0, 0]


@pytest.mark.parametrize("cost", np.arange(1, 50) / 100)
def test_exactly_where_abstaining_costs_the_same_the_class_is_decided(cost):
    """In floating point 1 - 0.7 is more than 0.3: without a tolerance rounding would choose, for one cost in two."""
    p, table = 1 - cost, [[0, 1, cost], [1, 0, cost]]
    for kind in (np.float32, np.float64):
        assert [decide(kind(one), table).decision.tolist() for one in ([p], [[p, 1 - p]])] == [[1], [0]]
    assert decide([p - 1e-9], table).decision.tolist() == [2]


def test_costs_of_very_different_size_are_no_ties():
    assert decide([1e-17], [[0, 1], [1e18, 0]]).decision.tolist() == [1]
    assert decide([[1 - 1e-17, 1e-17]], [[0, 1, 5], [1e15, 0, 5]]).decision.tolist() == [0]


def test_decisions_have_the_names_of_the_classes_and_of_what_else_can_be_done():
    prob, cost = [[0.9, 0.1], [0.5, 0.5]], [[0, 1, 0.3], [1, 0, 0.3]]
    assert decide(prob, cost, labels=["cat", "dog"]).named.tolist() == ["cat", "abstain"]
    assert decide(prob, cost, extra="ask").names.tolist() == [0, 1, "ask"]
    two = np.column_stack([cost, [1, 1]])
    assert decide(prob, two).names.tolist() == [0, 1, "abstain 1", "abstain 2"]
    assert decide(prob, two, extra=["ask", "wait"]).names.tolist() == [0, 1, "ask", "wait"]
    assert decide(prob, 1 - np.eye(2)).named.dtype.kind in "iu"


def test_columns_that_have_words_or_whole_numbers_for_names_are_the_classes():
    frame = pl.DataFrame({"dog": [0.9, 0.5], "cat": [0.1, 0.5]})
    assert decide(frame, [[0, 1, 0.3], [1, 0, 0.3]]).named.tolist() == ["dog", "abstain"]
    assert decide(frame.rename(lambda name: f"p_{name}"), 1 - np.eye(2)).names.tolist() == ["dog", "cat"]
    assert decide(frame, 1 - np.eye(2), labels=[0, 1]).names.tolist() == [0, 1]
    numbered = pd.DataFrame([[0.1, 0.9]], columns=np.array([1, 2]))  # classes_ of a classifier
    assert decide(numbered, 1 - np.eye(2)).named.tolist() == [2]
    np.testing.assert_allclose(undo_class_weight(numbered, {1: 9.0}), [[1 / 82, 81 / 82]])
    np.testing.assert_allclose(undo_class_weight(numbered.rename(columns=str), {1: 9.0}), [[1 / 82, 81 / 82]])


# What decisions did, and what that cost


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
    prob, cost = [[0.9, 0.1], [0.55, 0.45], [0.2, 0.8]], [[0, 1, 0.3], [1, 0, 0.3]]
    found = confusion_table(["a", "b", "b"], prob, cost_matrix=cost, extra="ask")
    assert str(found).splitlines() == [
        "     true        a        b  ask   recall",
        "        a        1        0    0  100.00%",
        "        b        0        1    1   50.00%",
        "precision  100.00%  100.00%",
        "abstained 33.33%",
        "accuracy 100.00%",
        "mean cost 0.1, expected by the probabilities 0.2",
    ]
    assert str(confusion_table([0, 1], [0.2, 0.7], threshold=0.25)).splitlines()[4] == "threshold 0.25"
    none = confusion_table([0, 0], [0.5, 0.5], cost_matrix=[[0, 1, 0.1], [1, 0, 0.1]])
    assert "accuracy -" in str(none)
    assert "nan" not in str(none)
    assert str(confusion_table(range(20), np.full((20, 20), 0.05))).startswith("accuracy 5.00%")


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_decimal_on_the_threshold_decides_for_the_event_in_any_precision(kind):
    for tenths in range(1, 10):
        cost, p = [[0, tenths], [10 - tenths, 0]], np.array([tenths / 10], dtype=kind)
        assert optimal_threshold(tenths, 10 - tenths) == tenths / 10
        assert decide(p, cost).decision.tolist() == [1]
        assert confusion_table([1], p, threshold=tenths / 10).weight.tolist() == [[0, 0], [0, 1]]
        assert decide(np.nextafter(p, 0, dtype=kind), cost).decision.tolist() == [0]
    assert decide(np.array([0.2], dtype=kind), [[0.9, 1.1], [1.4, 0.6]]).decision.tolist() == [1]  # 0.2 / (0.2 + 0.8)


# What is refused


def of(cost, **options):
    return decide([0.2, 0.7], cost, **options)


EQUAL, RIGHT = [[0, 1], [1, 0]], "a right decision must not cost more"
REFUSED = [
    (lambda: optimal_threshold(-1, 1), r"cost_false_positive must be .* at least 0; got -1\. .* a gain is a cost"),
    (lambda: optimal_threshold(1, 1, cost_true_positive=2), f"{RIGHT} .* cost_true_positive=2"),
    (lambda: optimal_threshold(0, 0), r"some error that can happen must cost more .* Pass cost_false_positive=1"),
    (lambda: optimal_threshold(0, 1, old_prior=0.5, new_prior=0.0), r"some error that can happen must cost more"),
    (lambda: optimal_threshold(1, 1, old_prior=0.5), "old_prior and new_prior must be given together; new_prior is"),
    (lambda: optimal_threshold(1, 1, old_prior=0, new_prior=0.5), r"old_prior must be .* above 0 and below 1; got 0\."),
    (lambda: optimal_threshold(1, 1, old_prior=0.5, new_prior=4), r"new_prior must be .* at most 1; got 4\. Of a"),
    (lambda: of([[0, -1], [1, 0]]), r"cost_matrix must not be negative; got -1 at index \(0, 1\)\. Add a number"),
    (lambda: of([[2, 1], [1, 0]]), f"{RIGHT} than a wrong one; got 2 for deciding 0 and 1"),
    (lambda: of([[0, 1]]), r"cost_matrix must have a row a class .* got shape \(1, 2\)"),
    (lambda: of([0, 1]), r"cost_matrix must have a row a class .* got shape \(2,\)"),
    (lambda: of([[0, np.nan], [1, 0]]), r"cost_matrix must be finite; got nan at index \(0, 1\)"),
    (lambda: of(EQUAL, extra="ask"), r"extra must name each of the 0 decisions .* got \['ask'\]"),
    (lambda: of([[0, 1, 1], [1, 0, 1]], extra="1"), r"extra must name each of the 1 decisions .* once; got \['1'\]"),
    (lambda: of(EQUAL, labels=["a"]), "labels must name each of the 2 columns once"),
    (lambda: confusion_table([0, 1], [0.2, 0.7], threshold=1.5), r"threshold .* at most 1; got 1\.5\. It is compared"),
    (lambda: confusion_table([0, 1], [0.2, 0.7], cost_matrix=[[0, 1], [1e200, 0]]), r"must be at most 1e\+100; got"),
    (lambda: confusion_table([0, 1], np.full((2, 3), 1 / 3), threshold=0.5), "speak of one event; got 3 classes"),
]
OF_TYPES = [
    (lambda: optimal_threshold("a", 1), r"cost_false_positive must be a number, .* got 'a'\. Pass 1\.0"),
    (lambda: of([[0, 1, 0.1], [1, 0, 0.1]], extra=[1]), r"a name, or a sequence of names; got \[1\]\. Pass 'ask'"),
    (lambda: of([[0, 1, 0.1], [1, 0, 0.1]], extra={"ask"}), r"a name, or a sequence of names; got {'ask'}\. Pass"),
]
ROWS = [(ValueError, *row) for row in REFUSED] + [(TypeError, *row) for row in OF_TYPES]


@pytest.mark.parametrize(("error", "call", "words"), ROWS, ids=[row[-1] for row in ROWS])
def test_what_makes_no_sense_is_refused_with_what_to_do(error, call, words):
    with pytest.raises(error, match=words):
        call()
