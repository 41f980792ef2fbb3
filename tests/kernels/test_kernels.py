import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import binned
from strategies import columns, tables

from calibrant import EqualWidth
from calibrant._core.validation import as_problem
from calibrant._kernels.binned import equal_width_sums
from calibrant._kernels.resampled import categorical, sums_at
from calibrant.binning import Edges, sums_over


def run_kernel(label, score, weight, n_bins):
    return equal_width_sums(score, label.astype(bool), weight, np.arange(n_bins + 1) / n_bins)


@given(rows=columns(), n_bins=st.integers(1, 20))
def test_the_compiled_sums_equal_the_definition(rows, n_bins):
    label, score, weight = rows
    sums = run_kernel(label, score, weight, n_bins)
    bins = binned.equal_width(n_bins)(list(zip(score.tolist(), label.tolist(), weight.tolist(), strict=True)))
    assert sums[0].tolist() == [len(held) for held in bins]
    assert sums[1].tolist() == [sum(w for _, _, w in held) for held in bins]
    assert sums[3].tolist() == [sum(w * y for _, y, w in held) for held in bins]
    np.testing.assert_allclose(sums[2], [sum(w * s for s, _, w in held) for held in bins], rtol=1e-12)


@given(rows=columns(), n_bins=st.integers(1, 20))
def test_the_compiled_sums_equal_the_searched_ones(rows, n_bins):
    label, score, weight = rows
    problem, edges = as_problem(label, score, sample_weight=weight), np.arange(n_bins + 1) / n_bins
    searched, sums = sums_over(Edges(edges), problem), run_kernel(label, score, weight, n_bins)
    np.testing.assert_array_equal(sums[0], searched.count)
    np.testing.assert_array_equal(sums[1], searched.weight)
    np.testing.assert_array_equal(sums[3], searched.outcome_sum)
    np.testing.assert_allclose(sums[2], searched.score_sum, rtol=1e-12)


@pytest.mark.parametrize("n_bins", [1, 3, 5, 10, 15, 49, 1000])
def test_the_compiled_loop_agrees_on_every_edge_and_beside_it(n_bins):
    edges = np.arange(n_bins + 1) / n_bins
    score = np.clip(np.concatenate([edges, np.nextafter(edges, 2), np.nextafter(edges, -1)]), 0, 1)
    label, weight = np.zeros(len(score), dtype=int), np.ones(len(score))
    expected = sums_over(Edges(edges), as_problem(label, score)).count
    np.testing.assert_array_equal(run_kernel(label, score, weight, n_bins)[0], expected)


def test_long_tables_take_the_compiled_path(monkeypatch):
    rng = np.random.default_rng(0)
    problem = as_problem(rng.integers(0, 2, 1000), rng.random(1000))
    searched = EqualWidth(15)(problem)
    monkeypatch.setattr("calibrant.binning.equal_width.KERNEL_PAYS_FROM", 1000)
    monkeypatch.setattr("calibrant.binning.base.sums_over", None)  # calling it would raise
    compiled = EqualWidth(15)(problem)
    np.testing.assert_array_equal(compiled.count, searched.count)
    np.testing.assert_allclose(compiled.gap, searched.gap, rtol=1e-12)


@given(rows=tables(), data=st.data())
def test_a_compiled_draw_is_the_first_class_whose_cumulative_probability_exceeds_u(rows, data):
    cumulative = rows[1].cumsum(axis=1)
    cumulative /= cumulative[:, -1:]
    near = st.sampled_from(cumulative.ravel().tolist()).filter(lambda v: v < 1)
    u = data.draw(
        st.lists(st.one_of(near, st.floats(0, 1, exclude_max=True)), min_size=len(cumulative), max_size=len(cumulative))
    )
    expected = [next(j for j, reached in enumerate(row) if reached > at) for row, at in zip(cumulative, u, strict=True)]
    assert categorical(cumulative, np.array(u)).tolist() == expected


@given(rows=tables(), n_cells=st.integers(1, 5), data=st.data())
def test_compiled_sums_at_labels_leave_out_rows_without_a_cell(rows, n_cells, data):
    label, prob, weight = rows
    cells = st.lists(st.integers(-1, n_cells - 1), min_size=prob.shape[1], max_size=prob.shape[1])
    of = np.array(data.draw(st.lists(cells, min_size=len(label), max_size=len(label))), dtype=np.int32)
    expected = [sum(w for row, y, w in zip(of, label, weight, strict=True) if row[y] == c) for c in range(n_cells)]
    assert sums_at(of, label, weight, n_cells).tolist() == expected


WITHOUT_A_PLACE_TO_CACHE = """
from numba.core import caching

class Nowhere:
    @classmethod
    def from_function(cls, function, path):
        return None  # as each locator does when its folder cannot be written to

caching.CacheImpl._locator_classes = [Nowhere]
from numba import njit

try:
    njit(cache=True)(lambda x: x)
except RuntimeError as error:
    assert "no locator available" in str(error)
else:
    raise SystemExit("the simulation does not bite")

import numpy as np
from calibrant._kernels.resampled import categorical

assert categorical(np.array([[0.2, 1.0], [0.2, 1.0]]), np.array([0.1, 0.9])).tolist() == [0, 1]
print("computed")
"""


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is cached where nothing is compiled")
def test_kernels_work_where_nothing_can_be_written():
    """Root may write anywhere, so numba is told that no folder will do; it then raises at decoration, as it really does."""
    done = subprocess.run([sys.executable, "-c", WITHOUT_A_PLACE_TO_CACHE], capture_output=True, text=True, check=False)
    assert done.stdout == "computed\n", done.stderr
