"""What every binning of the simplex keeps. It is tested by being registered."""

import json
from dataclasses import is_dataclass

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import tables

from calibrant._core.border import as_problem
from calibrant._core.registry import entries
from calibrant._core.rows import as_simplex
from calibrant.binning import Edges, sums_over
from calibrant.binning.cells import as_simplex_binning
from calibrant.interop.save import decode, encode

BINNINGS = entries("simplex-binning")

each_binning = pytest.mark.parametrize("binning", [entry.target() for entry in BINNINGS.values()], ids=list(BINNINGS))
three = tables(n_classes=st.just(3))
"""A triangle is what every one of them can cut."""


def problem_of(rows):
    label, prob, weight = rows
    return as_simplex(as_problem(label, prob, sample_weight=weight, labels=range(prob.shape[1])))


def cut(binning, rows):
    return binning(problem_of(rows))


@each_binning
@given(rows=three)
def test_every_row_is_in_exactly_one_cell(binning, rows):
    bins = cut(binning, rows)
    index = bins.partition.index(rows[1])
    assert index.min() >= 0
    assert index.max() < bins.partition.n_cells == len(bins)
    np.testing.assert_array_equal(np.bincount(index, minlength=len(bins)), bins.count)


@each_binning
@given(rows=three, others=three)
def test_the_cell_of_a_row_is_a_function_of_its_forecast_alone(binning, rows, others):
    partition = cut(binning, rows).partition
    both = np.vstack([rows[1], others[1]])
    for table in (both, np.asfortranarray(both)):
        assert [int(partition.index(row[None])[0]) for row in table] == partition.index(table).tolist()
        assert partition.index(table).min() >= -1
        assert [bool(partition.is_boundary(row[None])[0]) for row in table] == partition.is_boundary(table).tolist()


@each_binning
@given(rows=three, random=st.randoms(use_true_random=False))
def test_row_order_never_matters(binning, rows, random):
    order = np.array(random.sample(range(len(rows[0])), len(rows[0])))
    bins, shuffled = cut(binning, rows), cut(binning, tuple(column[order] for column in rows))
    np.testing.assert_array_equal(shuffled.partition.index(rows[1]), bins.partition.index(rows[1]))
    np.testing.assert_array_equal(shuffled.count, bins.count)
    np.testing.assert_array_equal(shuffled.outcome_sum, bins.outcome_sum)
    np.testing.assert_allclose(shuffled.score_sum, bins.score_sum, rtol=1e-12)


@each_binning
@given(rows=three)
def test_integer_weights_equal_repeated_rows(binning, rows):
    label, prob, weight = rows
    bins = cut(binning, rows)
    times = weight.astype(int)
    repeated = cut(binning, (np.repeat(label, times), np.repeat(prob, times, axis=0), None))
    np.testing.assert_array_equal(repeated.partition.index(prob), bins.partition.index(prob))
    np.testing.assert_array_equal(repeated.partition.is_boundary(prob), bins.partition.is_boundary(prob))
    np.testing.assert_array_equal(repeated.weight, bins.weight)
    np.testing.assert_array_equal(repeated.outcome_sum, bins.outcome_sum)
    np.testing.assert_allclose(repeated.score_sum, bins.score_sum, rtol=1e-12)


@each_binning
@given(rows=three, extra=three)
def test_a_zero_weight_is_an_absent_row(binning, rows, extra):
    longer = [np.concatenate([a, b]) for a, b in zip(extra, rows, strict=True)]
    longer[2][: len(extra[0])] = 0.0
    bins, same = cut(binning, rows), cut(binning, longer)
    np.testing.assert_array_equal(same.partition.index(longer[1]), bins.partition.index(longer[1]))
    for name in ("count", "weight", "outcome_sum", "score_sum"):
        np.testing.assert_array_equal(getattr(same, name), getattr(bins, name))


@each_binning
@given(rows=three)
def test_weights_that_are_no_counts_have_any_unit(binning, rows):
    label, prob, weight = rows
    one, other = (cut(binning, (label, prob, weight / unit)).partition for unit in (7.0, 700.0))
    np.testing.assert_array_equal(one.index(prob), other.index(prob))


@each_binning
@given(rows=three)
def test_sums_over_cells_are_the_sums_over_rows(binning, rows):
    label, prob, weight = rows
    bins = cut(binning, rows)
    assert bins.count.sum() == len(label)
    assert bins.weight.sum() == weight.sum()
    np.testing.assert_allclose(bins.score_sum.sum(axis=0), weight @ prob, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(bins.outcome_sum.sum(axis=0), np.bincount(label, weight, prob.shape[1]))


EQUAL_ROWS = (np.array([0, 0]), np.array([[0.0, 0.0, 1.0]] * 2), np.ones(2))
"""What some binnings leave whole: one cell, without a cut."""


@each_binning
@given(rows=three, in_first=st.lists(st.booleans(), min_size=20, max_size=20))
@example(rows=EQUAL_ROWS, in_first=[False, True] * 10)
def test_sums_over_the_same_cells_add_up(binning, rows, in_first):
    whole = cut(binning, rows)
    first = np.resize(in_first, len(rows[0]))
    again = decode(json.loads(json.dumps(encode(whole.partition))))  # the same cells, and another object
    batches = [problem_of([column[part] for column in rows]) for part in (first, ~first) if part.any()]
    bins = sums_over(whole.partition, batches[0])
    for batch in batches[1:]:
        bins = bins + sums_over(again, batch)
    for name in ("count", "weight", "outcome_sum"):
        np.testing.assert_array_equal(getattr(bins, name), getattr(whole, name))
    np.testing.assert_allclose(bins.score_sum, whole.score_sum, rtol=1e-12)


@each_binning
@given(rows=three)
def test_rates_of_cells_with_rows_sum_to_one_and_others_have_none(binning, rows):
    bins = cut(binning, rows)
    held = bins.count > 0
    np.testing.assert_allclose(bins.event_rate[held].sum(axis=1), 1.0)
    np.testing.assert_allclose((bins.event_rate - bins.mean_prob)[held], bins.gap[held], atol=1e-12)
    for mean in (bins.event_rate, bins.mean_prob, bins.gap):
        np.testing.assert_array_equal(np.isnan(mean).all(axis=1), ~held)


@each_binning
@given(rows=three, others=three)
def test_cells_that_are_written_down_are_the_same_cells(binning, rows, others):
    partition = cut(binning, rows).partition
    text = json.dumps(encode(partition), allow_nan=False)
    restored, table = decode(json.loads(text)), np.vstack([rows[1], others[1]])
    restored._check_loaded(rows[1].shape[1])
    assert restored.n_cells == partition.n_cells
    np.testing.assert_array_equal(restored.index(table), partition.index(table))
    np.testing.assert_array_equal(restored.is_boundary(table), partition.is_boundary(table))


@each_binning
def test_a_binning_is_found_by_its_word_and_written_down(binning):
    name = next(name for name, entry in BINNINGS.items() if entry.target is type(binning))
    assert as_simplex_binning(name) == binning == decode(json.loads(json.dumps(encode(binning))))
    assert is_dataclass(binning)
    assert hash(binning) == hash(as_simplex_binning(name))


def test_sums_over_other_cells_do_not_add_up_and_cells_of_the_simplex_have_no_edges():
    bins = [cut(entries("simplex-binning")["grid"].target(n), ([0, 1], np.eye(2), None)) for n in (2, 3)]
    with pytest.raises(ValueError, match=r"bins add up only over the same edges; got different ones\. Fix them first"):
        bins[0] + bins[1]
    with pytest.raises(AttributeError, match="bins must be those of scores to have edges; got GridCells"):
        _ = bins[0].edges
    assert not bins[0].partition.is_same(Edges(np.array([0.0, 1.0])))


@each_binning
def test_sums_cannot_be_written_to(binning):
    with pytest.raises(ValueError, match="read-only"):
        cut(binning, ([0], np.array([[0.1, 0.2, 0.7]]), None)).weight[0] = 3.0
