"""Scores in their order: sorted with their outcomes or by their order, selected or sorted."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from calibrant._core.rows import BinaryProblem, Weights
from calibrant.binning.bins import Ordered
from calibrant.metrics.roc import Ranked

scores = st.lists(
    st.one_of(st.sampled_from([0.0, -0.0, 5e-324, 0.25, 0.5, 1.0 - 2**-53, 1.0]), st.floats(0, 1)),
    min_size=1,
    max_size=30,
)


def problem_of(score, outcome, weight=None):
    weights = Weights.one_each(len(score)) if weight is None else Weights(np.asarray(weight, dtype=np.float64))
    return BinaryProblem(np.asarray(score), np.asarray(outcome, dtype=bool), weights)


@settings(max_examples=60)
@given(score=scores, seed=st.integers(0, 9), dtype=st.sampled_from([np.float64, np.float32]))
@example(score=[0.0, -0.0, 0.0], seed=0, dtype=np.float64)
def test_scores_sorted_with_their_outcomes_have_the_sums_of_their_order(score, seed, dtype):
    outcome = np.random.default_rng(seed).random(len(score)) < 0.5
    values = np.array(score, dtype=dtype)
    found = Ordered.of(problem_of(values, outcome))
    by_order = Ordered.of(problem_of(values, outcome, np.ones(len(score))))
    assert found.occurred is not None
    assert by_order.occurred is None
    assert found.score.dtype == dtype
    for name in (
        "score",
        "starts",
        "count",
        "weight",
        "outcome_sum",
        "other_sum",
        "reached",
        "events_reached",
        "order",
    ):
        np.testing.assert_array_equal(getattr(found, name), getattr(by_order, name), err_msg=name)
    assert Ranked.of(found.problem).area == pytest.approx(Ranked.of(by_order.problem).area, nan_ok=True, rel=1e-15)
    np.testing.assert_array_equal(Ranked.of(found.problem).placements(), Ranked.of(by_order.problem).placements())


def test_scores_are_not_changed_and_may_be_strided_or_negative():
    table = np.array([[0.5, 0.25], [0.75, 1.0], [0.5, 0.0]])
    before = table.copy()
    outcome = [True, False, True]
    assert Ordered.of(problem_of(table[:, 1], outcome)).score.tolist() == [0.0, 0.25, 1.0]
    found = Ordered.of(problem_of(table[::-1, 0] - 0.625, outcome))
    assert (found.score.tolist(), found.outcome_sum.tolist()) == ([-0.125, 0.125], [2.0, 0.0])
    np.testing.assert_array_equal(table, before)
