"""What every notion keeps. A notion is tested by being registered."""

import copy

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import tables

from calibrant._core.border import as_problem
from calibrant._core.registry import entries
from calibrant.notions import Notion, OneVsRest, SharedClassWise, ThresholdedClassWise, TopKConfidence, TopKLabel

NOTIONS = {name: entry.target() for name, entry in entries("notion").items()}
OTHERS = (
    OneVsRest(0),
    SharedClassWise(ratio=1.0),
    ThresholdedClassWise(0.0),
    ThresholdedClassWise(0.6),
    TopKConfidence(3),
    TopKLabel(2),
)
NOTIONS |= {repr(notion): notion for notion in OTHERS}
OF_TWO_CLASSES = {"binary"}
OF_GROUPS = {name for name, notion in NOTIONS.items() if isinstance(notion, SharedClassWise)}
OF_ONE_CLASS = {name for name, notion in NOTIONS.items() if isinstance(notion, OneVsRest)}
OF_RANKS = {name for name, notion in NOTIONS.items() if isinstance(notion, (TopKConfidence, TopKLabel))}

each_notion = pytest.mark.parametrize("name", NOTIONS)
each_multiclass_notion = pytest.mark.parametrize(
    "name", sorted(set(NOTIONS) - OF_TWO_CLASSES - OF_ONE_CLASS - OF_RANKS)
)
each_notion_with_shares_by_weight = pytest.mark.parametrize(
    "name", [name for name, notion in NOTIONS.items() if type(notion).shares is Notion.shares]
)


def table_for(name):
    if name in OF_TWO_CLASSES:
        return tables(n_classes=st.just(2))
    return tables(n_classes=st.integers(getattr(NOTIONS[name], "k", None) or 2, 4))


def decided(name, data):
    """The notion for some rows, and for any others of these classes, as a calibrator has it; the rows, as given and read."""
    label, prob, weight = data.draw(table_for(name))
    problem = as_problem(label, prob, sample_weight=weight, labels=range(prob.shape[1]))
    return NOTIONS[name].fitted_to(problem), prob, problem


@st.composite
def without_ties_in_a_row(draw):
    """Labels and a forecast without equal probabilities in a row; scores of different rows may be equal."""
    k, n = draw(st.integers(3, 4)), draw(st.integers(1, 20))
    rows = draw(st.lists(st.permutations([1.0, 2.0, 5.0, 6.0][:k]), min_size=n, max_size=n))
    prob = np.array(rows) / sum(rows[0])
    return np.array(draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n))), prob


def rows_of(problem):
    return sorted(zip(problem.score.tolist(), problem.outcome.tolist(), problem.weight.tolist(), strict=True))


@each_notion
@given(data=st.data())
def test_merging_unchanged_scores_returns_the_forecast(name, data):
    notion, prob, _ = decided(name, data)
    merged = notion.merge(prob, [part.scores(prob) for part in notion.parts(prob)])
    # Rows are divided by their sums, as decimals where all are decimals but for rounding.
    np.testing.assert_allclose(merged, prob, rtol=1e-15, atol=5e-16)


@each_notion
@given(data=st.data())
def test_merged_rows_sum_to_one_whatever_the_scores_became(name, data):
    notion, prob, _ = decided(name, data)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    new = [rng.choice([0.0, 0.3, 1.0], part.scores(prob).shape) for part in notion.parts(prob)]
    merged = notion.merge(prob, new)
    np.testing.assert_allclose(merged.sum(axis=1), 1.0, rtol=1e-12)
    assert merged.min() >= 0


@pytest.mark.first(8)
@each_notion
@given(data=st.data())
def test_a_notion_that_is_decided_stays_as_it_is_and_splits_alike(name, data):
    notion, prob, problem = decided(name, data)
    assert notion.fitted_to(problem) == notion
    assert notion.n_parts(problem) == NOTIONS[name].n_parts(problem) == sum(1 for _ in notion.parts(prob))
    for one, other in zip(notion.split(problem), NOTIONS[name].split(problem), strict=True):
        assert (rows_of(one), one.share, one.name) == (rows_of(other), other.share, other.name)


@each_notion
@given(data=st.data())
def test_shares_sum_to_one(name, data):
    problem = decided(name, data)[2]
    assert sum(part.share for part in NOTIONS[name].split(problem)) == pytest.approx(1.0, rel=1e-12)


@each_notion
@given(data=st.data())
def test_every_forecast_of_k_classes_has_as_many_parts(name, data):
    notion, prob, _ = decided(name, data)
    uniform = np.full((1, prob.shape[1]), 1.0 / prob.shape[1])
    assert len(list(notion.parts(prob))) == len(list(notion.parts(uniform)))


@each_notion_with_shares_by_weight
@given(data=st.data())
def test_each_row_stands_in_as_many_parts_as_declared(name, data):
    notion, prob, _ = decided(name, data)
    found = np.concatenate([np.arange(len(prob))[part.rows] for part in notion.parts(prob)])
    assert (np.bincount(found, minlength=len(prob)) == notion.parts_a_row(prob.shape[1])).all()


@each_multiclass_notion
@given(rows=tables(), random=st.randoms(use_true_random=False))
def test_relabelling_the_classes_permutes_the_problems(name, rows, random):
    label, prob, weight = rows
    k = prob.shape[1]
    assume(((prob == prob.max(axis=1, keepdims=True)).sum(axis=1) == 1).all())  # of equal ones the first is predicted
    old_of_new = np.array(random.sample(range(k), k))
    new_of_old = np.argsort(old_of_new)
    options = {"sample_weight": weight, "labels": range(k)}
    before = list(NOTIONS[name].split(as_problem(label, prob, **options)))
    after = list(NOTIONS[name].split(as_problem(new_of_old[label], prob[:, old_of_new], **options)))
    if len(before) == k and name not in OF_GROUPS:  # groups stand in the order of their frequency, whatever the columns
        after = [after[new] for new in new_of_old]
    elif len(before) > 1 and name not in OF_GROUPS:  # some of the classes, as the labels decide
        before, after = (sorted(parts, key=rows_of) for parts in (before, after))
    for one, other in zip(before, after, strict=True):
        assert rows_of(one) == rows_of(other)
        assert one.share == other.share


@pytest.mark.parametrize("name", sorted(OF_RANKS))
@given(rows=without_ties_in_a_row(), random=st.randoms(use_true_random=False))
def test_columns_in_another_order_leave_the_problem_of_each_rank_and_class(name, rows, random):
    label, prob = rows
    old_of_new = np.array(random.sample(range(prob.shape[1]), prob.shape[1]))
    moved = as_problem(label, prob[:, old_of_new], labels=old_of_new)
    before, after = (
        {part.name: (rows_of(part), part.share) for part in NOTIONS[name].split(problem)}
        for problem in (as_problem(label, prob, labels=range(prob.shape[1])), moved)
    )
    assert before == after


@each_notion
def test_a_notion_equals_and_hashes_as_a_notion_like_it(name):
    notion = NOTIONS[name]
    other = copy.copy(notion)
    assert other == notion
    assert hash(other) == hash(notion)
    assert sum(notion == any_notion for any_notion in NOTIONS.values()) == 1
    assert repr(notion).startswith(f"{type(notion).__name__}(")
