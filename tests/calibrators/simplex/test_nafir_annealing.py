import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import nafir as twin
from strategies import tables

from calibrant._core.border import as_problem
from calibrant._kernels.nafir import anneal
from calibrant.calibrators import nafir as annealing
from calibrant.calibrators.nafir import FLOOR, Cells, Comparisons, NormalizedFlattenedIsotonic, draws

# Drawn rows may all be of one class, or be best served at infinity; that this is said is tested with the exact solver.
pytestmark = [
    pytest.mark.filterwarnings("ignore:only the class"),
    pytest.mark.filterwarnings("ignore:the likelihood keeps growing"),
]


def fitted(rows, **options):
    label, prob, weight = rows
    return NormalizedFlattenedIsotonic(labels=range(prob.shape[1]), smoothing=0.0, **options).fit(prob, label, weight)


def random_rows(n=60, k=4, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.ones(k), n)
    label = (rng.random((n, 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(0, k - 1)
    return label, truth**2 / (truth**2).sum(axis=1, keepdims=True), rng.integers(1, 4, n).astype(float)


# The search


@given(
    rows=tables(max_rows=8),
    seed=st.integers(0, 99),
    granularity=st.sampled_from([0.01, 0.2]),
    beta=st.sampled_from([0.5, 20.0]),
)
def test_the_compiled_search_equals_the_definition(rows, seed, granularity, beta):
    label, prob, weight = rows
    cells = Cells.of(as_problem(label, prob, sample_weight=weight, labels=range(prob.shape[1])))
    counts = Comparisons.of(cells, np.arange(cells.size))
    drawn = draws(40, cells.size, granularity, np.random.default_rng(seed))
    g = np.linspace(0.1, 0.9, cells.size)
    last, _, tried = twin.annealed(
        prob.tolist(),
        label.tolist(),
        weight.tolist(),
        cells.lower.tolist(),
        g,
        zip(*drawn, strict=True),
        beta,
        FLOOR,
        99,
    )
    table = np.zeros((len(label), cells.size))
    table[counts.row, counts.block] = counts.count
    row, block = np.nonzero(table.T)[::-1]
    total, best, occurred = table @ g, g.copy(), counts.events * weight.sum()
    starts = np.searchsorted(block, np.arange(cells.size + 1))
    found = anneal(
        starts, row, table[row, block], occurred, weight, *drawn, beta, FLOOR, 99, g, total, best, 0.0, 0.0, 0
    )
    assert found[3] == tried == 40
    np.testing.assert_allclose(g, last, rtol=1e-12)
    np.testing.assert_allclose(total, table @ g, rtol=1e-9)
    # Likelihoods count from that of the first map.
    change = occurred @ np.log(best) - weight @ np.log(table @ best)
    start = np.linspace(0.1, 0.9, cells.size)
    assert found[1] == pytest.approx(change - (occurred @ np.log(start) - weight @ np.log(table @ start)), abs=1e-9)


@pytest.mark.first(1)
@pytest.mark.parametrize("seed", range(2))
def test_the_fitted_map_is_the_best_that_the_definition_visits(seed, monkeypatch):
    label, prob, weight = random_rows(n=30, seed=seed)
    monkeypatch.setattr(annealing, "MOST_CHANGES", 2000)
    calibrator = fitted((label, prob, weight), solver="annealing", random_state=seed)
    cells = Cells.of(as_problem(label, prob, sample_weight=weight))
    starts = cells.isotonic_starts(cells.mass())
    rng = np.random.default_rng(seed)
    changes = [draw for _ in range(2) for draw in zip(*draws(1000, starts.size, 0.003, rng), strict=True)]
    rates = np.maximum(np.exp(Comparisons.of(cells, starts).rates(0.0)), FLOOR)
    rows = prob.tolist(), label.tolist(), weight.tolist(), cells.lower[starts].tolist()
    _, best, tried = twin.annealed(*rows, rates, changes, 200.0, FLOOR, 10_000)
    assert calibrator.n_iter_ == tried
    found = np.searchsorted(calibrator.left_[1:], cells.lower[starts], side="right")
    np.testing.assert_allclose(np.exp(calibrator.log_value_)[found], np.array(best) / best[-1], rtol=1e-9)


def test_the_search_ends_after_as_many_changes_without_a_better_map_as_it_has_patience(monkeypatch):
    """Every change is out of order here, so that none is taken."""
    monkeypatch.setattr(annealing, "PATIENCE", 7)
    label, prob, _ = random_rows()
    cells = Cells.of(as_problem(label, prob))
    rows, changes = Comparisons.of(cells, np.arange(cells.size)), []
    theta = np.linspace(-1.0, 0.0, cells.size)
    best, tried = annealing.anneal(rows, 0.1, theta, 60.0, 1e3, np.random.default_rng(0), changes.append)
    assert (tried, changes) == (7, [7])
    np.testing.assert_allclose(best, theta, atol=1e-12)


@pytest.mark.parametrize("solver", ["newton", "annealing"])
def test_the_smoothing_is_chosen_by_exact_fits_whatever_the_solver(solver):
    label, prob, weight = random_rows()
    calibrator = NormalizedFlattenedIsotonic(solver=solver).fit(prob, label, weight)
    assert calibrator.smoothing_ == NormalizedFlattenedIsotonic().fit(prob, label, weight).smoothing_


# Against the exact solution


@given(
    rows=tables(weights=st.sampled_from([0.5, 1, 3])),
    granularity=st.sampled_from([0.003, 0.1]),
    options=st.sampled_from([{}, {"min_blocks": 8}, {"blocks": "distinct"}]),
)
def test_the_optimum_is_never_worse_and_the_certificate_tells_them_apart(rows, granularity, options):
    exact = fitted(rows, **options)
    searched = fitted(rows, solver="annealing", granularity=granularity, **options)
    assert exact.loss_ <= searched.loss_ + 1e-9
    assert exact.n_blocks_ == searched.n_blocks_
    if searched.loss_ > exact.loss_ + 1e-6:
        assert searched.gradient_ > 1e-8
