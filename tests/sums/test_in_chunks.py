"""Tables are read chunk by chunk: what comes out is what one chunk of all rows gives, and little memory is taken."""

import tracemalloc

import numpy as np
import pytest

import calibrant as cb
from calibrant._core.border import as_problem
from calibrant.binning import EqualMass, EqualWidth
from calibrant.metrics.decompositions import accuracy, hits, squared_losses
from calibrant.notions import as_notion
from calibrant.sums import Plan, scan

RNG = np.random.default_rng(0)
PROB = RNG.dirichlet(np.ones(4) / 2, 1000)
LABEL = RNG.integers(0, 4, 1000)
WEIGHTS = {"none": None, "counts": RNG.integers(0, 4, 1000), "fractions": RNG.random(1000)}
CELLS = tuple(
    (as_notion(notion), cut)
    for notion in ("class-wise", "confidence", "top-label", "flattened")
    for cut in (EqualWidth(7), EqualMass(5), EqualWidth(15))
)
PLAN = Plan(CELLS, (("hits", hits), ("brier", squared_losses)))


@pytest.mark.parametrize("weight", WEIGHTS.values(), ids=list(WEIGHTS))
@pytest.mark.parametrize("parallel", [False, True])
def test_sums_of_chunks_are_those_of_all_rows(weight, parallel, monkeypatch):
    problem = as_problem(LABEL, PROB, sample_weight=weight)
    whole = scan(problem, PLAN)
    for module in ("binning.bins", "sums.reading"):
        monkeypatch.setattr(f"calibrant.{module}.CHUNK", 90)
    if parallel:
        module = __import__("sys").modules["calibrant.sums.reading"]
        monkeypatch.setattr(module, "PARALLEL_FROM", 1)
        monkeypatch.setattr(module, "n_processors", lambda: 3)
    chunks = scan(problem, PLAN)
    np.testing.assert_allclose(chunks.scores, whole.scores, rtol=1e-12)
    for ours, theirs in zip(chunks.cells, whole.cells, strict=True):
        assert [one.name for one in ours] == [one.name for one in theirs]
        assert [one.share for one in ours] == pytest.approx([one.share for one in theirs], rel=1e-12)
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(one.bins.count, other.bins.count)
            np.testing.assert_array_equal(one.bins.edges, other.bins.edges)
            for name in ("weight", "score_sum", "outcome_sum"):
                np.testing.assert_allclose(getattr(one.bins, name), getattr(other.bins, name), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("metric", [accuracy, cb.log_loss, cb.brier_score_loss, cb.expected_calibration_error])
def test_a_fortran_or_strided_table_has_the_same_value(metric):
    expected = metric(LABEL, PROB)
    for table in (np.asfortranarray(PROB), np.repeat(PROB, 2, axis=0)[::2]):
        assert metric(LABEL, table) == pytest.approx(expected, rel=1e-12)


N_ROWS, N_CLASSES = 150_000, 24
TABLE = np.full((N_ROWS, N_CLASSES), 1 / (2 * N_CLASSES - 2), dtype=np.float32)
TABLE[np.arange(N_ROWS), np.arange(N_ROWS) % N_CLASSES] = 0.5
OF_TABLE = np.arange(N_ROWS) // 3 % N_CLASSES


@pytest.mark.parametrize(
    "metric",
    [
        accuracy,
        cb.log_loss,
        cb.brier_score_loss,
        cb.expected_calibration_error,
        cb.classwise_calibration_error,
        cb.top_label_calibration_error,
        cb.measure,
    ],
)
def test_a_table_in_single_precision_is_not_copied(metric, monkeypatch):
    monkeypatch.setattr("calibrant.binning.bins.CHUNK", 1 << 11)
    monkeypatch.setattr("calibrant.sums.reading.CHUNK", 1 << 11)
    metric(OF_TABLE[:5000], TABLE[:5000])  # what is imported on first use does not count
    tracemalloc.start()
    metric(OF_TABLE, TABLE)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.2 * TABLE.nbytes
