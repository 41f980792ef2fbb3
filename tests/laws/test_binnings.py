"""What every binning keeps, of scores and of the simplex. A binning is tested by being registered."""

import json
from dataclasses import is_dataclass

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import columns, repeated, tables

from calibrant import EqualWidth
from calibrant._core.border import as_problem
from calibrant._core.registry import entries
from calibrant._core.rows import as_simplex
from calibrant.binning import Edges, PointsPerBin
from calibrant.binning.bins import sums_of_forecasts
from calibrant.binning.cells import as_simplex_binning
from calibrant.interop.save import decode, encode

BINNINGS, OF_SIMPLEX = entries("binning"), entries("simplex-binning")
CUT = {name: entry.target() for name, entry in BINNINGS.items()} | {"three points per bin": PointsPerBin(3)}
CELLS = {name: entry.target() for name, entry in OF_SIMPLEX.items()}
three = tables(n_classes=st.just(3))
"""A triangle is what every binning of the simplex can cut."""

each_of_simplex = pytest.mark.parametrize("binning", CELLS.values(), ids=list(CELLS))
each_of_both = pytest.mark.parametrize(
    ("binning", "drawn"),
    [(one, columns()) for one in CUT.values()] + [(one, three) for one in CELLS.values()],
    ids=[*CUT, *CELLS],
)


def problem_of(rows):
    label, prob, weight = rows
    if prob.ndim == 1:
        return as_problem(label, prob, sample_weight=weight)
    return as_simplex(as_problem(label, prob, sample_weight=weight, labels=range(prob.shape[1])))


def cut(binning, rows):
    return binning(problem_of(rows))


def assert_same_cells(one, other, prob):
    if prob.ndim == 1:
        np.testing.assert_array_equal(one.edges, other.edges)
    else:
        np.testing.assert_array_equal(one.partition.index(prob), other.partition.index(prob))
        np.testing.assert_array_equal(one.partition.is_boundary(prob), other.partition.is_boundary(prob))


@each_of_both
@given(data=st.data(), random=st.randoms(use_true_random=False))
def test_row_order_never_matters(binning, drawn, data, random):
    rows = data.draw(drawn)
    order = np.array(random.sample(range(len(rows[0])), len(rows[0])))
    bins, shuffled = cut(binning, rows), cut(binning, tuple(column[order] for column in rows))
    assert_same_cells(shuffled, bins, rows[1])
    np.testing.assert_array_equal(shuffled.count, bins.count)
    np.testing.assert_array_equal(shuffled.outcome_sum, bins.outcome_sum)
    np.testing.assert_allclose(shuffled.score_sum, bins.score_sum, rtol=1e-12)


@each_of_both
@given(data=st.data())
def test_integer_weights_equal_repeated_rows(binning, drawn, data):
    rows = data.draw(drawn)
    bins, same = cut(binning, rows), cut(binning, repeated(rows))
    assert_same_cells(same, bins, rows[1])
    np.testing.assert_array_equal(same.weight, bins.weight)
    np.testing.assert_array_equal(same.outcome_sum, bins.outcome_sum)
    np.testing.assert_allclose(same.score_sum, bins.score_sum, rtol=1e-12)


@each_of_both
@given(data=st.data())
def test_a_zero_weight_is_an_absent_row(binning, drawn, data):
    rows, extra = data.draw(drawn), data.draw(drawn)
    longer = [np.concatenate([a, b]) for a, b in zip(extra, rows, strict=True)]
    longer[2][: len(extra[0])] = 0.0
    bins, same = cut(binning, rows), cut(binning, longer)
    assert_same_cells(same, bins, longer[1])
    for name in ("count", "weight", "outcome_sum", "score_sum"):
        np.testing.assert_array_equal(getattr(same, name), getattr(bins, name))


@each_of_both
@given(data=st.data())
def test_every_row_is_in_one_cell_and_sums_over_cells_are_the_sums_over_rows(binning, drawn, data):
    label, prob, weight = rows = data.draw(drawn)
    bins = cut(binning, rows)
    index = bins.partition.index(prob)
    assert 0 <= index.min() <= index.max() < bins.partition.n_cells == len(bins)
    np.testing.assert_array_equal(np.bincount(index, minlength=len(bins)), bins.count)
    outcome = label if prob.ndim == 1 else np.eye(3)[label]
    assert bins.weight.sum() == weight.sum()
    np.testing.assert_allclose(bins.score_sum.sum(axis=0), weight @ prob, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(bins.outcome_sum.sum(axis=0), weight @ outcome)


# Of scores


@pytest.mark.parametrize("binning", CUT.values(), ids=list(CUT))
@given(rows=columns())
def test_bins_are_right_closed_and_their_edges_increase_from_zero_in_the_first_to_one_in_the_last(binning, rows):
    bins = cut(binning, rows)
    inner = bins.edges[1:-1]
    np.testing.assert_array_equal(bins.index(inner), np.arange(len(bins) - 1))
    assert (bins.index(np.nextafter(inner, 2.0)) > np.arange(len(bins) - 1)).all()
    assert bins.edges[0] == 0.0
    assert (np.diff(bins.edges[1:]) > 0).all()
    assert bins.edges[-1] >= rows[1].max()
    assert bins.index(np.array([0.0, 1.0])).tolist() == [0, len(bins) - 1]


@pytest.mark.parametrize(
    "make", [entry.target for entry in BINNINGS.values() if "n_bins" in entry.target.__dataclass_fields__]
)
@given(rows=columns(), n_bins=st.integers(1, 12))
def test_no_more_bins_than_asked_for(make, rows, n_bins):
    assert 1 <= len(cut(make(n_bins), rows)) <= n_bins


@given(rows=columns(), n_bins=st.integers(1, 40))
def test_equal_width_makes_exactly_n_bins(rows, n_bins):
    assert len(cut(EqualWidth(n_bins), rows)) == n_bins


# Of the simplex


@each_of_simplex
@given(rows=three, others=three)
def test_the_cell_of_a_row_is_a_function_of_its_forecast_alone(binning, rows, others):
    partition = cut(binning, rows).partition
    both = np.vstack([rows[1], others[1]])
    for table in (both, np.asfortranarray(both)):
        assert [int(partition.index(row[None])[0]) for row in table] == partition.index(table).tolist()
        assert partition.index(table).min() >= -1
        assert [bool(partition.is_boundary(row[None])[0]) for row in table] == partition.is_boundary(table).tolist()


@each_of_simplex
@given(rows=three)
def test_weights_that_are_no_counts_have_any_unit(binning, rows):
    label, prob, weight = rows
    one, other = (cut(binning, (label, prob, weight / unit)).partition for unit in (7.0, 700.0))
    np.testing.assert_array_equal(one.index(prob), other.index(prob))


EQUAL_ROWS = (np.array([0, 0]), np.array([[0.0, 0.0, 1.0]] * 2), np.ones(2))
"""What some binnings leave whole: one cell, without a cut."""


@each_of_simplex
@given(rows=three, in_first=st.lists(st.booleans(), min_size=20, max_size=20))
@example(rows=EQUAL_ROWS, in_first=[False, True] * 10)
def test_sums_over_the_same_cells_add_up(binning, rows, in_first):
    whole = cut(binning, rows)
    first = np.resize(in_first, len(rows[0]))
    again = decode(json.loads(json.dumps(encode(whole.partition))))  # the same cells, and another object
    batches = [problem_of([column[part] for column in rows]) for part in (first, ~first) if part.any()]
    bins = sums_of_forecasts(whole.partition, batches[0])
    for batch in batches[1:]:
        bins = bins + sums_of_forecasts(again, batch)
    for name in ("count", "weight", "outcome_sum"):
        np.testing.assert_array_equal(getattr(bins, name), getattr(whole, name))
    np.testing.assert_allclose(bins.score_sum, whole.score_sum, rtol=1e-12)


@each_of_simplex
@given(rows=three)
def test_rates_of_cells_with_rows_sum_to_one_and_others_have_none(binning, rows):
    bins = cut(binning, rows)
    held = bins.count > 0
    np.testing.assert_allclose(bins.event_rate[held].sum(axis=1), 1.0)
    np.testing.assert_allclose((bins.event_rate - bins.mean_prob)[held], bins.gap[held], atol=1e-12)
    for mean in (bins.event_rate, bins.mean_prob, bins.gap):
        np.testing.assert_array_equal(np.isnan(mean).all(axis=1), ~held)


@each_of_simplex
@given(rows=three, others=three)
def test_cells_that_are_written_down_are_the_same_cells(binning, rows, others):
    partition = cut(binning, rows).partition
    text = json.dumps(encode(partition), allow_nan=False)
    restored, table = decode(json.loads(text)), np.vstack([rows[1], others[1]])
    restored._check_loaded(rows[1].shape[1])
    assert restored.n_cells == partition.n_cells
    np.testing.assert_array_equal(restored.index(table), partition.index(table))
    np.testing.assert_array_equal(restored.is_boundary(table), partition.is_boundary(table))


@each_of_simplex
def test_a_binning_is_found_by_its_word_and_written_down(binning):
    name = next(name for name, entry in OF_SIMPLEX.items() if entry.target is type(binning))
    assert as_simplex_binning(name) == binning == decode(json.loads(json.dumps(encode(binning))))
    assert is_dataclass(binning)
    assert hash(binning) == hash(as_simplex_binning(name))


def test_sums_over_other_cells_do_not_add_up_and_cells_of_the_simplex_have_no_edges():
    bins = [cut(OF_SIMPLEX["grid"].target(n), ([0, 1], np.eye(2), None)) for n in (2, 3)]
    with pytest.raises(ValueError, match=r"bins add up only over the same edges; got different ones\. Fix them first"):
        bins[0] + bins[1]
    with pytest.raises(AttributeError, match="bins must be those of scores to have edges; got GridCells"):
        _ = bins[0].edges
    assert not bins[0].partition.is_same(Edges(np.array([0.0, 1.0])))
