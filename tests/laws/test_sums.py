"""Sums merge: those of batches, in any order, are those of all rows. Every notion is tested by being registered."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables

from calibrant import EqualMass, EqualWidth
from calibrant._core.border import as_problem
from calibrant._core.registry import entries
from calibrant._core.rows import as_simplex
from calibrant.binning import Binning
from calibrant.metrics.decompositions import hits, squared_losses
from calibrant.metrics.kinds import LogLoss
from calibrant.notions import as_notion
from calibrant.sums import Plan, Sums, scan

NOTIONS = {name: entry.target() for name, entry in entries("notion").items() if name != "binary"}
CUTS = (EqualWidth(1), EqualWidth(5), EqualWidth(15))
SCORES = (("hits", hits), ("brier", squared_losses), ("nll", LogLoss(clip=0.0)))
PLAN = Plan(tuple((notion, cut) for notion in NOTIONS.values() for cut in CUTS), SCORES)

any_weights = st.one_of(st.integers(1, 4).map(float), st.floats(0.01, 100.0))
forecasts = tables(weights=any_weights)


def problem_of(rows):
    label, prob, weight = rows
    return as_simplex(as_problem(label, prob, sample_weight=weight, labels=range(prob.shape[1])))


def batches(problem, data):
    """Batches of the rows, in any order, of which some may be empty."""
    of = np.array(data.draw(st.lists(st.integers(0, 4), min_size=problem.size, max_size=problem.size)))
    for number in data.draw(st.permutations(range(5))):
        yield problem.taken(np.flatnonzero(of == number))


def added(parts):
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def assert_close(merged, whole):
    """Whether counts are equal, and values to 1e-12."""
    assert (merged.plan, merged.rows, merged.n_classes) == (whole.plan, whole.rows, whole.n_classes)
    assert merged.unit.are_counts == whole.unit.are_counts
    assert (merged.weight, merged.unit.rows_per_weight) == pytest.approx(
        (whole.weight, whole.unit.rows_per_weight), rel=1e-12
    )
    np.testing.assert_allclose(merged.scores, whole.scores, rtol=1e-12, atol=1e-12)
    for ours, theirs in zip(merged.cells, whole.cells, strict=True):
        assert [one.name for one in ours] == [one.name for one in theirs]
        assert [one.share for one in ours] == pytest.approx([one.share for one in theirs], rel=1e-12)
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(one.bins.edges, other.bins.edges)
            np.testing.assert_array_equal(one.bins.count, other.bins.count)
            for name in ("weight", "score_sum", "outcome_sum"):
                np.testing.assert_allclose(getattr(one.bins, name), getattr(other.bins, name), rtol=1e-12)


@given(rows=forecasts, data=st.data())
def test_sums_of_batches_in_any_order_are_those_of_all_rows(rows, data):
    problem = problem_of(rows)
    plan = PLAN.fitted_to(problem)
    assert_close(added([scan(batch, plan) for batch in batches(problem, data)]), scan(problem, plan))


@given(rows=forecasts)
def test_sums_survive_json_bit_for_bit(rows):
    found = scan(problem_of(rows), PLAN)
    written = json.dumps(found.to_dict(), allow_nan=False)
    read = Sums.from_dict(json.loads(written), found.plan)
    assert json.dumps(read.to_dict(), allow_nan=False) == written
    assert_close(read, found)
    for ours, theirs in zip(read.cells, found.cells, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            assert one.weights == other.weights
            assert one.bins.count.dtype == other.bins.count.dtype


def test_sums_of_no_rows_and_of_fractions_survive_json():
    plan = Plan.of_cells([(as_notion("class-wise"), EqualWidth(5))], noise=True)
    problem = problem_of(([0, 1], np.array([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1]]), np.array([0.5, 0.25])))
    for found in (Sums.of_no_rows(plan), scan(problem, plan)):
        assert Sums.from_dict(found.to_dict(), plan).to_dict() == found.to_dict()


@given(rows=forecasts)
def test_scores_are_weighted_sums_of_powers(rows):
    label, prob, weight = rows
    found, of_true = scan(problem_of(rows), Plan(scores=SCORES[:2])), prob[np.arange(len(label)), label]
    brier = (prob**2).sum(axis=1) - 2 * of_true + 1
    np.testing.assert_allclose(found.scores[1], [weight @ brier**k for k in (1, 2, 3)], rtol=1e-12, atol=1e-12)
    assert found.mean("hits") == pytest.approx(weight @ (prob.argmax(axis=1) == label) / weight.sum(), rel=1e-12)


# What does not add up


def halves():
    problem = problem_of(
        ([0, 1, 2, 2], np.array([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4], [0.1, 0.1, 0.8]]), None)
    )
    return problem.taken(np.array([0, 1])), problem.taken(np.array([2, 3]))


def test_infinite_losses_add_up_and_are_words_in_json():
    problem = problem_of(([0, 1], np.array([[0.0, 1.0], [0.5, 0.5]]), None))
    found = scan(problem, Plan(scores=SCORES))
    assert found.to_dict()["scores"]["nll"] == ["inf", "inf", "inf"]
    assert found.mean("nll") == np.inf


def test_sums_over_bins_that_follow_the_data_do_not_add_up():
    plan = Plan.of_cells([(as_notion("confidence"), EqualMass(2))])
    first, second = (scan(half, plan) for half in halves())
    with pytest.raises(ValueError, match="bins add up only over the same edges"):
        first + second


def test_sums_of_another_plan_or_of_other_classes_do_not_add_up():
    first, second = halves()
    one, other = (Plan.of_cells([(as_notion("class-wise"), EqualWidth(n))]) for n in (5, 6))
    of_two = problem_of(([0, 1], np.array([[0.5, 0.5], [0.1, 0.9]]), None))
    for batch, plan in ((second, other), (of_two, one)):
        with pytest.raises(ValueError, match=r"(sums|bins) add up only (if they are of one plan|over the same edges)"):
            scan(first, one) + scan(batch, plan)
    with pytest.raises(
        ValueError, match=r"sums add up only over the same problems of a notion; got others of 'class-wise'"
    ):
        scan(first, one) + scan(replace(second, classes=np.array(["a", "b", "c"])), one)


def test_sums_are_read_by_their_own_plan_alone():
    plan = Plan.of_cells([(as_notion("class-wise"), EqualWidth(5))])
    written = scan(halves()[0], plan).to_dict()
    for other in (Plan.of_cells([(as_notion("confidence"), EqualWidth(5))]), replace(plan, noise=True)):
        with pytest.raises(ValueError, match="plan must be that of the sums that are read"):
            Sums.from_dict(written, other)


def test_a_binning_that_cannot_be_hashed_is_scanned():
    class Listed(Binning):
        __hash__ = None

        def edges(self, problem):
            return np.array([0.0, 0.5, 1.0])

    asked = [(as_notion("confidence"), Listed())] * 2
    plan = Plan.of_cells(asked)
    assert len(plan.cells) == 1
    assert scan(halves()[0], plan).of(*asked[0])[0].bins.count.tolist() == [0, 2]


def test_groups_that_labels_decide_are_fitted_once_for_all_batches():
    first, second = halves()
    plan = Plan.of_cells([(as_notion("shared-class-wise"), EqualWidth(5))])
    assert scan(first, plan.fitted_to(first)).plan == plan.fitted_to(first) != plan
    assert (scan(first, plan.fitted_to(first)) + scan(second, plan.fitted_to(first))).rows == 4
