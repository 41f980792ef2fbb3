"""NA-FIR: the optimum, the smoothing, the blocks, what a step is made of, and the search by annealing."""

import os
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import folds, isotonic
from reference import nafir as twin
from scipy.special import logsumexp, softmax
from sklearn.exceptions import ConvergenceWarning
from strategies import dirichlet_rows, tables

from calibrant import log_loss
from calibrant._core.border import as_problem
from calibrant._core.threads import n_processors
from calibrant.calibrators import nafir
from calibrant.fit.folds import Fold, folds_of

# Drawn rows may all be of one class, or be best served at infinity; that this is said is tested below.
pytestmark = pytest.mark.filterwarnings(
    "ignore:only the class", "ignore:no calibration row", "ignore:the rows of a", "ignore:the likelihood"
)


any_weights = st.one_of(st.integers(1, 4), st.sampled_from([0.1, 0.3, 1.5]))
smoothings = st.sampled_from([0.0, 1e-3, 0.1, 1.0])
ridges = st.sampled_from([0.0, 0.0, 1e-4, 0.1])
some_blocks = st.sampled_from(["isotonic", "distinct"])


def fitted(rows, **options):
    label, prob, weight = rows
    return nafir.NormalizedFlattenedIsotonic(labels=range(prob.shape[1]), **options).fit(prob, label, weight)


def random_rows(n=300, k=5, seed=0):
    return *dirichlet_rows(n, k, seed, power=2.0), np.ones(n)


def half(data_dir, name):
    data = np.load(data_dir / f"{name}.npz")
    prob = data["P"] / data["P"].astype(np.float64).sum(axis=1, keepdims=True)
    return (data["y"][:5000], prob[:5000], None), data["y"][5000:], prob[5000:]


# The optimum


@given(rows=tables(weights=any_weights), smoothing=smoothings, ridge=ridges, blocks=some_blocks)
def test_the_conditions_of_the_optimum_are_met(rows, smoothing, ridge, blocks):
    """Raising all steps above a boundary by the same amount never helps, and lowering them only where they would cross."""
    label, prob, weight = rows
    calibrator = fitted(rows, smoothing=smoothing, ridge=ridge, blocks=blocks)
    assert calibrator.gradient_ <= 1e-8
    share = (weight / weight.sum())[:, None]
    calibrated, k = calibrator.predict_proba(prob), prob.shape[1]
    target = (1 - smoothing) * np.eye(k)[label] + smoothing / k
    theta = calibrator.log_value_[np.searchsorted(calibrator.left_[1:], prob, side="right")]
    gap = share * (calibrated - target + ridge * (theta - (share * theta).sum() / k) / k)
    for left in calibrator.left_[1:]:  # steps that are there are in balance, but for those at the cap
        assert gap[prob >= left].sum() == pytest.approx(0.0, abs=2e-8)
    if blocks == "distinct":  # and a step that is not there would gain nothing
        for occurred in np.unique(prob[np.arange(label.size), label]):
            assert gap[prob >= occurred].sum() >= -2e-8


THREE = np.array([2, 0, 1]), np.array([[0.1, 0.2, 0.7], [0.7, 0.2, 0.1], [0.1, 0.7, 0.2]]), None


@pytest.mark.parametrize(("penalty", "expected"), [(nafir.Penalty(0.0), 2 / 3), (nafir.Penalty(0.3), 7 / 15)])
def test_of_a_flat_map_the_certificate_is_what_a_step_would_gain(penalty, expected):
    """Raised above 0.7 a class gets 1 / 3 there, and should get all; with smoothing 0.7 of it and a third of the rest."""
    cells = nafir.Cells.of(as_problem(*THREE[:2]))
    assert cells.lower.tolist() == [0.1, 0.7]
    counts = nafir.Comparisons.of(cells, np.arange(2))
    assert nafir.violation(counts, penalty, np.zeros(2)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("seed", "penalty"), [(1, (0.0, 0.0)), (1, (1e-4, 0.0)), (1, (1e-3, 0.0)), (8, (0.0, 1e-7))])
@pytest.mark.parametrize("blocks", ["isotonic", "distinct"])
def test_few_distinct_rows_are_solved_in_few_steps(seed, penalty, blocks):
    """Their maps have many steps for the rows that they have: the curvature is next to nothing in some directions."""
    rng = np.random.default_rng(seed)
    leaves = rng.dirichlet(np.full(3, 0.3), 10)
    forecast = np.array([rng.multinomial(50, leaf) for leaf in leaves]) / 50.0
    leaf = rng.integers(0, 10, 5000)
    label = (rng.random((5000, 1)) > leaves[leaf].cumsum(axis=1)).sum(axis=1).clip(0, 2)
    calibrator = fitted((label, forecast[leaf], None), smoothing=penalty[0], ridge=penalty[1], blocks=blocks)
    assert calibrator.gradient_ <= 1e-11
    assert calibrator.n_iter_ <= 20


@given(rows=tables(weights=any_weights), smoothing=smoothings)
def test_rows_are_the_map_divided_by_its_sum(rows, smoothing):
    calibrator = fitted(rows, smoothing=smoothing)
    values = np.maximum(calibrator.log_value_, -600.0).tolist()
    expected = []
    for row in rows[1].tolist():
        theta = [isotonic.step(calibrator.left_.tolist(), values, p) for p in row]
        raised = [np.exp(t + 1e-9 * p - max(theta)) for t, p in zip(theta, row, strict=True)]
        expected.append([v / sum(raised) for v in raised])
    np.testing.assert_allclose(calibrator.predict_proba(rows[1]), expected, rtol=1e-11, atol=1e-200)


# Real forecasts


@pytest.mark.parametrize(
    ("name", "blocks", "optimum", "smoothed", "chosen"),
    [
        ("cifar100_densenet_bc", 76, 0.877675, 0.8706, 0.8710),
        ("cifar100_lenet5", 89, 3.780798, 3.8159, 3.8160),
        ("cifar10_lenet5", 68, 1.288225, 1.3307, 1.3316),
    ],
)
def test_real_forecasts_have_the_known_optima(name, blocks, optimum, smoothed, chosen, data_dir):
    rows, label, prob = half(data_dir, name)
    exact = fitted(rows, smoothing=0.0)
    assert exact.n_blocks_ == blocks
    assert exact.loss_ == pytest.approx(optimum, abs=5.1e-7)
    assert log_loss(label, fitted(rows, smoothing=1e-3).predict_proba(prob)) == pytest.approx(smoothed, abs=5.1e-5)
    by_default = log_loss(label, fitted(rows).predict_proba(prob))
    assert by_default <= chosen
    assert by_default < log_loss(label, exact.predict_proba(prob))


# At infinity


@pytest.mark.parametrize("option", [{}, {"smoothing": 1e-20}, {"ridge": 1e-300}, {"ridge": 1e-12}], ids=str)
def test_a_step_that_should_be_infinite_is_capped_and_said(option):
    """What is too small to be minded does not move the cap."""
    with pytest.warns(ConvergenceWarning, match=r"keeps growing as 1 steps .* Pass a higher smoothing"):
        calibrator = fitted(THREE, **({"smoothing": 0.0} | option))
    np.testing.assert_allclose(calibrator.log_value_, [np.log(1e-12), 0.0])
    assert (calibrator.predict_proba(THREE[1]) > 0).all()


# The choice of the smoothing


def test_a_single_row_is_smoothed_by_a_half():
    calibrator = fitted((np.array([0]), np.array([[0.7, 0.2, 0.1]]), None))
    assert calibrator.smoothing_ == 0.5
    np.testing.assert_allclose(calibrator.predict_proba([[0.7, 0.2, 0.1]]), [[2 / 3, 1 / 6, 1 / 6]], rtol=1e-8)


RIDGE = 1e-3


def chosen_without_a_limit(rows, blocks="isotonic", ridge=0.0):
    label, prob, weight = rows
    problem = as_problem(label, prob, sample_weight=weight, labels=range(prob.shape[1]))
    blocks_of = partial(nafir.NormalizedFlattenedIsotonic(blocks=blocks)._blocks_of, least=1.0)
    cells, parts = nafir.Cells.of(problem), list(folds_of(problem))
    return nafir.choose_smoothing(cells, parts, blocks_of, ridge, 0.0, lambda units: None)


@given(rows=tables(max_rows=8), blocks=some_blocks)
def test_the_smoothing_is_that_of_the_least_log_loss_on_rows_left_out(rows, blocks):
    """Of maps that are fitted to what is kept as if there were no other rows; without a ridge there may be several."""
    label, prob, weight = rows
    out = folds.folds(prob.tolist(), label.tolist(), weight.tolist())
    losses = np.zeros(len(nafir.SMOOTHINGS))
    for fold in map(np.array, out):
        kept = np.maximum(weight - fold, 0.0) * (weight - fold > 1e-9)
        fits = [fitted((label, prob, kept), smoothing=s, blocks=blocks, ridge=RIDGE) for s in nafir.SMOOTHINGS]
        maps = [one.predict_proba(prob) for one in fits]
        losses += [-fold @ np.log(np.maximum(found[np.arange(label.size), label], 1e-12)) for found in maps]
    chosen = chosen_without_a_limit(rows, blocks, RIDGE)
    if out:
        assert losses[nafir.SMOOTHINGS.index(chosen)] <= losses.min() * (1 + 1e-4)
    else:
        assert chosen == 0.0
    assert fitted(rows, blocks=blocks, ridge=RIDGE).smoothing_ == max(chosen, 1 / (1 + weight.sum()))


@pytest.mark.parametrize(
    ("losses", "best"),
    [
        ([1.0, 1.0 - 1e-12, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], 0.3),
        ([1.0, 0.9, 0.9 - 1e-12, 1.0, 1.0, 1.0, 1.0, 0.9], 0.1),
        ([1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 1.0, 1.0], 0.001),
    ],
)
def test_of_smoothings_as_good_as_each_other_the_largest_is_chosen(losses, best, monkeypatch):
    monkeypatch.setattr(nafir, "_losses", lambda *_: iter(losses))
    assert chosen_without_a_limit(random_rows()) == best


def test_a_row_left_out_costs_no_more_than_a_clipped_probability(monkeypatch):
    rows = random_rows(n=40)
    cells = nafir.Cells.of(as_problem(*rows[:2]))
    left_out = np.where(np.arange(40) < 10, 2.0, 0.0)

    def steep(counts, *_, **__):
        return nafir.Solution(-100.0 * np.arange(counts.n_blocks)[::-1], 0.0, 0, 0)

    monkeypatch.setattr(nafir, "solve", steep)
    blocks_of = partial(nafir.NormalizedFlattenedIsotonic()._blocks_of, least=1.0)
    (loss, *_) = nafir._losses(cells, Fold(1.0 - left_out / 2.0, left_out), blocks_of, 0.0)
    lower = cells.lower[blocks_of(cells.of_rows(left_out == 0), nafir.Penalty(0.3))[1]]
    theta = 100.0 * np.searchsorted(lower[1:], rows[1][:10], side="right")
    prob = np.exp(theta - theta.max(axis=1, keepdims=True))
    prob /= prob.sum(axis=1, keepdims=True)
    occurred = prob[np.arange(10), rows[0][:10]]
    assert occurred.min() < 1e-12
    assert loss == pytest.approx(-2.0 * np.log(np.maximum(occurred, 1e-12)).sum(), rel=1e-9)


# Blocks


def test_blocks_are_split_as_in_figure_4_of_the_paper():
    assert nafir.split_blocks(np.array([0, 8]), np.ones(12), 6, 2.0).tolist() == [0, 2, 4, 6, 8, 10]


def most_pieces(mass, least):
    """How many pieces at least so large a block can be cut into: each ends as soon as it is large enough."""
    pieces, held = 0, 0.0
    for m in mass:
        held += m
        if held >= least:
            pieces, held = pieces + 1, 0.0
    return max(pieces, 1)


@given(
    mass=st.lists(st.integers(1, 9), min_size=1, max_size=30),
    cuts=st.sets(st.integers(1, 29)),
    most=st.integers(1, 40),
    least=st.integers(1, 12),
)
def test_pieces_keep_the_old_cuts_are_not_too_small_and_as_many_as_asked_for_if_possible(mass, cuts, most, least):
    mass = np.array(mass, dtype=float)
    starts = np.array(sorted({0} | {c for c in cuts if c < mass.size}))
    finer = nafir.split_blocks(starts, mass, most, float(least))
    assert (np.diff(finer) > 0).all()
    assert set(starts) <= set(finer)
    possible = sum(most_pieces(part, least) for part in np.split(mass, starts[1:]))
    assert finer.size == min(max(most, starts.size), possible)
    of_old = np.add.reduceat(mass, finer)
    assert all(size >= least for first, size in zip(finer, of_old, strict=True) if first not in starts)


@pytest.mark.parametrize("weight", [0.1, 0.3, 2.5])
def test_the_least_size_of_pieces_counts_scores_whatever_a_row_weighs(weight):
    label, prob, ones = random_rows()
    options = {"smoothing": 0.01, "min_blocks": 60, "min_block_size": 20}
    expected, found = (fitted((label, prob, w), **options) for w in (ones, weight * ones))
    assert found.n_blocks_ == expected.n_blocks_ < 60
    np.testing.assert_allclose(found.predict_proba(prob), expected.predict_proba(prob), rtol=1e-6)


# Stopping on the way


@pytest.mark.parametrize(("there", "expected"), [(7, 7), (None, 1)])
def test_threads_are_as_many_as_processors_that_may_be_used(there, expected, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: there)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 3, 5}, raising=False)
    assert n_processors() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    assert n_processors() == expected


# What a step is made of


@given(rows=tables(), steps=st.lists(st.sampled_from([0.0, 0.3, 5.0, 400.0, 900.0]), min_size=60, max_size=60))
def test_shares_equal_the_definition_however_far_apart_the_values(rows, steps):
    label, prob, weight = rows
    cells = nafir.Cells.of(as_problem(label, prob, sample_weight=weight, labels=range(prob.shape[1])))
    counts = nafir.Comparisons.of(cells, np.arange(cells.size))
    theta = np.append(-np.cumsum(np.resize(steps, cells.size - 1))[::-1], 0.0)
    log_sum, parts, expected = counts.shares(theta)
    log_table = np.full((counts.starts.size, counts.n_blocks), -np.inf)
    log_table[counts.row, counts.block] = np.log(counts.count) + theta[counts.block]
    np.testing.assert_allclose(log_sum, logsumexp(log_table, axis=1), rtol=1e-12, atol=1e-12)
    share = softmax(log_table, axis=1)
    np.testing.assert_allclose(parts, share[counts.row, counts.block], rtol=1e-9, atol=1e-40)
    np.testing.assert_allclose(expected, counts.weight @ share, rtol=1e-9, atol=1e-40)


# Annealing


@pytest.mark.first(1)
@pytest.mark.parametrize("seed", range(2))
def test_the_fitted_map_is_the_best_that_the_definition_visits(seed, monkeypatch):
    label, prob, _ = random_rows(n=30, k=4, seed=seed)
    weight = np.random.default_rng(seed).integers(1, 4, 30).astype(float)
    monkeypatch.setattr(nafir, "MOST_CHANGES", 2000)
    calibrator = fitted((label, prob, weight), smoothing=0.0, solver="annealing", random_state=seed)
    cells = nafir.Cells.of(as_problem(label, prob, sample_weight=weight))
    starts = cells.isotonic_starts(cells.mass())
    rng = np.random.default_rng(seed)
    changes = [draw for _ in range(2) for draw in zip(*nafir.draws(1000, starts.size, 0.003, rng), strict=True)]
    rates = np.maximum(np.exp(nafir.Comparisons.of(cells, starts).rates(0.0)), nafir.FLOOR)
    rows = prob.tolist(), label.tolist(), weight.tolist(), cells.lower[starts].tolist()
    _, best, tried = twin.annealed(*rows, rates, changes, 200.0, nafir.FLOOR, 10_000)
    assert calibrator.n_iter_ == tried
    found = np.searchsorted(calibrator.left_[1:], cells.lower[starts], side="right")
    np.testing.assert_allclose(np.exp(calibrator.log_value_)[found], np.array(best) / best[-1], rtol=1e-9)


def test_the_search_ends_after_as_many_changes_without_a_better_map_as_it_has_patience(monkeypatch):
    """Every change is out of order here, so that none is taken."""
    monkeypatch.setattr(nafir, "PATIENCE", 7)
    label, prob, _ = random_rows(n=60)
    cells = nafir.Cells.of(as_problem(label, prob))
    rows, changes = nafir.Comparisons.of(cells, np.arange(cells.size)), []
    theta = np.linspace(-1.0, 0.0, cells.size)
    best, tried = nafir.anneal(rows, 0.1, theta, 60.0, 1e3, np.random.default_rng(0), changes.append)
    assert (tried, changes) == (7, [7])
    np.testing.assert_allclose(best, theta, atol=1e-12)


def test_the_smoothing_is_chosen_by_exact_fits_whatever_the_solver():
    exact, searched = (fitted(random_rows(n=60), solver=word) for word in ("newton", "annealing"))
    assert searched.smoothing_ == exact.smoothing_


# Against the exact solution


@given(
    rows=tables(weights=st.sampled_from([0.5, 1, 3])),
    granularity=st.sampled_from([0.003, 0.1]),
    options=st.sampled_from([{}, {"min_blocks": 8}, {"blocks": "distinct"}]),
)
def test_the_optimum_is_never_worse_and_the_certificate_tells_them_apart(rows, granularity, options):
    exact = fitted(rows, smoothing=0.0, **options)
    searched = fitted(rows, smoothing=0.0, solver="annealing", granularity=granularity, **options)
    assert exact.loss_ <= searched.loss_ + 1e-9
    assert exact.n_blocks_ == searched.n_blocks_
    if searched.loss_ > exact.loss_ + 1e-6:
        assert searched.gradient_ > 1e-8
