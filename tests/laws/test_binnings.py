"""What every binning keeps. A binning is tested by being registered."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import GRID, columns

from calibrant import EqualWidth
from calibrant._core.border import as_problem
from calibrant._core.registry import entries
from calibrant.binning import PointsPerBin

BINNINGS = entries("binning")

CUT = {name: entry.target() for name, entry in BINNINGS.items()} | {"three points per bin": PointsPerBin(3)}

each_binning = pytest.mark.parametrize("binning", CUT.values(), ids=list(CUT))
each_sized = pytest.mark.parametrize(
    "make", [entry.target for entry in BINNINGS.values() if "n_bins" in entry.target.__dataclass_fields__]
)


def cut(binning, rows):
    label, score, weight = rows
    return binning(as_problem(label, score, sample_weight=weight))


@each_binning
@given(rows=columns())
def test_the_bin_of_a_row_is_a_function_of_its_score(binning, rows):
    bins = cut(binning, rows)
    index = bins.index(rows[1])
    for score in set(rows[1].tolist()):
        assert len(set(index[rows[1] == score].tolist())) == 1
    np.testing.assert_array_equal(np.bincount(index, minlength=len(bins)), bins.count)


@each_binning
@given(rows=columns(), random=st.randoms(use_true_random=False))
def test_row_order_never_matters(binning, rows, random):
    order = np.array(random.sample(range(len(rows[0])), len(rows[0])))
    bins, shuffled = cut(binning, rows), cut(binning, tuple(column[order] for column in rows))
    np.testing.assert_array_equal(shuffled.edges, bins.edges)
    np.testing.assert_array_equal(shuffled.count, bins.count)
    np.testing.assert_allclose(shuffled.score_sum, bins.score_sum, rtol=1e-12)


@each_binning
@given(rows=columns())
def test_zero_is_in_the_first_bin_and_one_in_the_last(binning, rows):
    bins = cut(binning, rows)
    assert bins.index(np.array([0.0, 1.0])).tolist() == [0, len(bins) - 1]


@each_binning
@given(rows=columns())
def test_bins_are_right_closed(binning, rows):
    bins = cut(binning, rows)
    inner = bins.edges[1:-1]
    np.testing.assert_array_equal(bins.index(inner), np.arange(len(bins) - 1))
    above = np.nextafter(inner, 2.0)
    assert (bins.index(above) > np.arange(len(bins) - 1)).all()


@each_binning
@given(rows=columns())
def test_edges_increase_from_zero(binning, rows):
    edges = cut(binning, rows).edges
    assert edges[0] == 0.0
    assert (np.diff(edges[1:]) > 0).all()
    assert edges[-1] >= rows[1].max()


@each_sized
@given(rows=columns(), n_bins=st.integers(1, 12))
def test_no_more_bins_than_asked_for(make, rows, n_bins):
    assert 1 <= len(cut(make(n_bins), rows)) <= n_bins


@given(rows=columns(), n_bins=st.integers(1, 40))
def test_equal_width_makes_exactly_n_bins(rows, n_bins):
    assert len(cut(EqualWidth(n_bins), rows)) == n_bins


@each_binning
@given(rows=columns())
def test_integer_weights_equal_repeated_rows(binning, rows):
    label, score, weight = rows
    bins = cut(binning, rows)
    repeated = binning(as_problem(*(np.repeat(column, weight.astype(int)) for column in (label, score))))
    np.testing.assert_array_equal(repeated.edges, bins.edges)
    np.testing.assert_array_equal(repeated.weight, bins.weight)
    np.testing.assert_array_equal(repeated.outcome_sum, bins.outcome_sum)
    np.testing.assert_allclose(repeated.score_sum, bins.score_sum, rtol=1e-12)


@each_binning
@given(rows=columns(), extra=columns())
def test_a_zero_weight_is_an_absent_row(binning, rows, extra):
    longer = [np.concatenate([a, b]) for a, b in zip(extra, rows, strict=True)]
    longer[2][: len(extra[0])] = 0.0
    bins, same = cut(binning, rows), cut(binning, longer)
    for name in ("edges", "count", "weight", "outcome_sum", "score_sum"):
        np.testing.assert_array_equal(getattr(same, name), getattr(bins, name))


@each_binning
@given(rows=columns())
def test_sums_over_bins_are_the_sums_over_rows(binning, rows):
    label, score, weight = rows
    bins = cut(binning, rows)
    assert bins.count.sum() == len(label)
    assert bins.weight.sum() == weight.sum()
    assert bins.outcome_sum.sum() == weight @ label
    assert bins.score_sum.sum() == pytest.approx(weight @ score, rel=1e-12)


@each_binning
def test_the_result_cannot_be_written_to(binning):
    bins = cut(binning, (np.array([0, 1]), np.array(GRID[2:4]), np.ones(2)))
    with pytest.raises(ValueError, match="read-only"):
        bins.weight[0] = 7.0
