"""What a step of NA-FIR is made of, and the search by annealing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import nafir
from scipy.special import logsumexp, softmax
from strategies import dirichlet_rows, tables

from calibrant._core.border import as_problem
from calibrant._kernels.nafir import anneal, pair_sums
from calibrant.calibrators import nafir as annealing
from calibrant.calibrators.nafir import FLOOR, Cells, Comparisons, NormalizedFlattenedIsotonic, draws

# Drawn rows may all be of one class, or be best served at infinity; that this is said is tested below.
pytestmark = pytest.mark.filterwarnings(
    "ignore:only the class", "ignore:no calibration row", "ignore:the rows of a", "ignore:the likelihood"
)


any_weights = st.one_of(st.integers(1, 4), st.sampled_from([0.1, 0.3, 1.5]))


@st.composite
def counted(draw):
    """Rows, the cells at which blocks begin, and their statistics."""
    label, prob, weight = draw(tables(weights=any_weights))
    cells = Cells.of(as_problem(label, prob, sample_weight=weight, labels=range(prob.shape[1])))
    more = draw(st.sets(st.integers(1, cells.size - 1))) if cells.size > 1 else set()
    starts = np.array(sorted({0} | more))
    return (label, prob, weight), cells.lower[starts], Comparisons.of(cells, starts)


@given(drawn=counted())
def test_rows_are_counted_as_in_the_definition(drawn):
    (label, prob, weight), lower, counts = drawn
    expected = {}
    for i, row in enumerate(prob.tolist()):
        for p in row:
            block = max(j for j, low in enumerate(lower.tolist()) if j == 0 or low <= p)
            expected[i, block] = expected.get((i, block), 0) + 1
    found = zip(counts.row.tolist(), counts.block.tolist(), counts.count.tolist(), strict=True)
    assert [((i, j), c) for i, j, c in found] == sorted(expected.items())
    lowest = [min(j for i, j in expected if i == row) for row in range(len(label))]
    assert counts.block[counts.starts].tolist() == lowest
    occurred = [max(j for j, low in enumerate(lower) if j == 0 or low <= prob[i, k]) for i, k in enumerate(label)]
    assert counts.of_true.tolist() == occurred
    np.testing.assert_allclose(counts.weight, weight / weight.sum())


@given(drawn=counted(), steps=st.lists(st.sampled_from([0.0, 0.3, 5.0, 400.0, 900.0]), min_size=30, max_size=30))
def test_shares_equal_the_definition_however_far_apart_the_values(drawn, steps):
    counts = drawn[2]
    theta = np.append(-np.cumsum(steps[: counts.n_blocks - 1])[::-1], 0.0)
    log_sum, parts, expected = counts.shares(theta)
    n_rows = counts.starts.size
    log_table = np.full((n_rows, counts.n_blocks), -np.inf)
    log_table[counts.row, counts.block] = np.log(counts.count) + theta[counts.block]
    np.testing.assert_allclose(log_sum, logsumexp(log_table, axis=1), rtol=1e-12, atol=1e-12)
    share = softmax(log_table, axis=1)
    np.testing.assert_allclose(parts, share[counts.row, counts.block], rtol=1e-9, atol=1e-40)
    np.testing.assert_allclose(expected, counts.weight @ share, rtol=1e-9, atol=1e-40)


@given(drawn=counted(), data=st.data())
def test_the_compiled_sums_of_pairs_equal_the_definition(drawn, data):
    (label, _, weight), _, counts = drawn
    joined = data.draw(st.lists(st.integers(0, 1), min_size=counts.n_blocks, max_size=counts.n_blocks))
    group = np.cumsum(joined)[counts.block]
    n_groups = int(group.max()) + 1
    table = np.zeros((len(label), n_groups))
    np.add.at(table, (counts.row, group), counts.count)
    expected = (table.T * weight) @ table
    found = np.zeros((n_groups, n_groups))
    pair_sums(counts.starts, group, counts.count, weight, found)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


# Annealing


def fitted(rows, **options):
    label, prob, weight = rows
    return NormalizedFlattenedIsotonic(labels=range(prob.shape[1]), smoothing=0.0, **options).fit(prob, label, weight)


def random_rows(n=60, k=4, seed=0):
    return *dirichlet_rows(n, k, seed, power=2.0), np.random.default_rng(seed).integers(1, 4, n).astype(float)


# The search


@given(
    rows=tables(max_rows=8), seed=st.integers(0, 99), options=st.sampled_from([(0.01, 0.5), (0.2, 0.5), (0.2, 20.0)])
)
def test_the_compiled_search_equals_the_definition(rows, seed, options):
    (label, prob, weight), (granularity, beta) = rows, options
    cells = Cells.of(as_problem(label, prob, sample_weight=weight, labels=range(prob.shape[1])))
    counts = Comparisons.of(cells, np.arange(cells.size))
    drawn = draws(40, cells.size, granularity, np.random.default_rng(seed))
    start = np.linspace(0.1, 0.9, cells.size)
    lists = prob.tolist(), label.tolist(), weight.tolist(), cells.lower.tolist()
    last, _, tried = nafir.annealed(*lists, start, zip(*drawn, strict=True), beta, FLOOR, 99)
    table = np.zeros((len(label), cells.size))
    table[counts.row, counts.block] = counts.count
    row, block = np.nonzero(table.T)[::-1]
    occurred, starts = counts.events * weight.sum(), np.searchsorted(block, np.arange(cells.size + 1))
    g, total, best = start.copy(), table @ start, start.copy()
    rest = *drawn, beta, FLOOR, 99, g, total, best, 0.0, 0.0, 0
    found = anneal(starts, row, table[row, block], occurred, weight, *rest)
    assert found[3] == tried == 40
    np.testing.assert_allclose(g, last, rtol=1e-12)
    np.testing.assert_allclose(total, table @ g, rtol=1e-9)
    # Likelihoods count from that of the first map.
    of_best, of_start = (occurred @ np.log(one) - weight @ np.log(table @ one) for one in (best, start))
    assert found[1] == pytest.approx(of_best - of_start, abs=1e-9)


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
    _, best, tried = nafir.annealed(*rows, rates, changes, 200.0, FLOOR, 10_000)
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


def test_the_smoothing_is_chosen_by_exact_fits_whatever_the_solver():
    label, prob, weight = random_rows()
    exact, searched = (
        NormalizedFlattenedIsotonic(solver=word).fit(prob, label, weight) for word in ("newton", "annealing")
    )
    assert searched.smoothing_ == exact.smoothing_


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
