import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables

from calibrant import measure
from calibrant._core import threads as loading
from calibrant._core.border import as_problem
from calibrant._kernels.sums import add_classes, add_column, categorical
from calibrant.binning import sums_over
from calibrant.binning.bins import between_infinities, even_edges


@pytest.mark.parametrize("n_bins", [1, 3, 5, 10, 15, 49, 1000, 1 << 16])
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_the_compiled_loop_agrees_on_every_edge_and_beside_it(n_bins, precision):
    edges = (np.arange(n_bins + 1) / n_bins).astype(precision)
    low, high = precision(0), precision(1)
    score = np.concatenate([edges, np.nextafter(edges, high), np.nextafter(edges, low)])
    problem = as_problem(np.zeros(len(score), dtype=int), score)
    found = even_edges(n_bins, problem.precision)
    expected, sums = sums_over(found, problem), (np.zeros(n_bins, dtype=np.intp), np.zeros(n_bins, dtype=np.intp))
    add_column(problem.score, problem.outcome, between_infinities(found.edges), *sums, np.zeros(n_bins))
    np.testing.assert_array_equal(sums[0], expected.count)
    count, events = np.zeros((2, 2 * n_bins), dtype=np.intp)
    of_scores = np.zeros(2 * n_bins)
    table = np.stack([score, score[::-1]], axis=1).astype(precision)
    add_classes(table, np.zeros(len(score), dtype=np.intp), between_infinities(found.edges), count, events, of_scores)
    np.testing.assert_array_equal(count, np.tile(expected.count, 2))
    np.testing.assert_array_equal(events[:n_bins], expected.count)


@pytest.fixture
def forgone(monkeypatch):
    """A function that says whether compiled loops are there, with nothing forgone."""
    monkeypatch.setattr(loading, "FORGONE", [0.0])

    def set_loaded(value):
        for module in ("_core.threads", "_core.rows", "sums.reading"):
            monkeypatch.setattr(f"calibrant.{module}.are_loaded", lambda: value)

    return set_loaded


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_compiled_and_other_sums_are_equal_to_the_last_bit(kind, order, forgone, monkeypatch):
    rng = np.random.default_rng(0)
    monkeypatch.setattr(loading, "FEWEST", 10)
    for module in ("_core.rows", "sums.reading"):
        monkeypatch.setattr(f"calibrant.{module}.FEWEST", 10)
    for module in ("binning.bins", "sums.reading"):
        monkeypatch.setattr(f"calibrant.{module}.CHUNK", 300)
    prob = np.array(rng.dirichlet(np.ones(4) / 3, 1000).astype(kind), order=order)
    prob[::9] = 0.25
    label = rng.integers(0, 4, 1000)
    words = ["accuracy", "nll", "brier", "ece", "mce", "classwise-ece", "top-label-ece"]
    found = []
    for loaded in (False, True):
        forgone(loaded)
        found.append(measure(label, prob, metrics=words, binning=9))
        found.append(measure(label == 1, prob[:, 1], metrics=words[:5], binning=9))
    assert found[:2] == found[2:]


def test_loops_are_loaded_once_what_they_would_have_saved_is_as_long_as_loading(forgone):
    forgone(False)
    times = int(loading.LOADING / (1000 * 1e-6))
    assert [loading.pays(1000, 1e-6) for _ in range(times + 2)] == [False] * times + [True] * 2
    forgone(True)
    assert loading.pays(loading.FEWEST, 0.0)
    assert not loading.pays(loading.FEWEST - 1, 1.0)


def test_a_process_that_measures_little_loads_no_compiled_loops():
    code = (
        "import sys, numpy as np; from calibrant import measure; rng = np.random.default_rng(0);"
        "measure(rng.integers(0, 3, 70_000), rng.dirichlet(np.ones(3), 70_000)); print('numba' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


@given(rows=tables(), data=st.data())
def test_a_compiled_draw_is_the_first_class_whose_cumulative_probability_exceeds_u(rows, data):
    cumulative = rows[1].cumsum(axis=1)
    cumulative /= cumulative[:, -1:]
    near = st.sampled_from(cumulative.ravel().tolist()).filter(lambda v: v < 1)
    u = data.draw(
        st.lists(st.one_of(near, st.floats(0, 1, exclude_max=True)), min_size=len(cumulative), max_size=len(cumulative))
    )
    expected = [next(j for j, reached in enumerate(row) if reached > at) for row, at in zip(cumulative, u, strict=True)]
    assert categorical(cumulative, np.array([u, u])).tolist() == [expected, expected]


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
from calibrant._kernels.sums import categorical

assert categorical(np.array([[0.2, 1.0], [0.2, 1.0]]), np.array([[0.1, 0.9]])).tolist() == [[0, 1]]
print("computed")
"""


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is cached where nothing is compiled")
def test_kernels_work_where_nothing_can_be_written():
    """Root may write anywhere, so numba is told that no folder will do; it then raises at decoration, as it really does."""
    done = subprocess.run([sys.executable, "-c", WITHOUT_A_PLACE_TO_CACHE], capture_output=True, text=True, check=False)
    assert done.stdout == "computed\n", done.stderr
