"""Wealth of bets is at most a martingale of mean one: exactly, over all outcomes of a few rows."""

from itertools import product

import numpy as np
import pytest

from calibrant.monitoring.evidence import (
    BETS,
    BetCells,
    Cut,
    Evidence,
    cuts_of,
    log_kept,
    log_mean,
    log_parts,
    log_sum,
    starts,
)

SCORES = ([0.1, 0.1, 0.1], [0.02, 0.3, 0.31, 0.9], [0.0, 0.5, 1.0], [1e-9, 0.999])


def outcomes(score):
    """All outcomes of some rows, and the probability of each if the scores are right."""
    score = np.asarray(score)
    y = np.array(list(product([0, 1], repeat=score.size)), dtype=float)
    return y, np.where(y == 1, score, 1.0 - score).prod(axis=1)


def by_row(score, y):
    """Wealth of each bet, multiplied row by row: the martingale itself."""
    factor = np.exp(np.outer(y, BETS)) / (1.0 + np.outer(score, np.expm1(BETS)))
    return factor.prod(axis=0)


@pytest.mark.parametrize("score", SCORES)
def test_wealth_from_sums_is_never_above_wealth_row_by_row(score):
    y, chance = outcomes(score)
    slow = np.array([by_row(score, each) for each in y])
    np.testing.assert_allclose(chance @ slow, 1.0, rtol=1e-12)
    n = np.full((len(y), 1), float(len(score)))
    fast = np.exp(BetCells(n, n * np.mean(score), y.sum(axis=1, keepdims=True)).log_gains())[:, 0]
    assert (fast <= slow * (1.0 + 1e-12)).all()


def windows_of(score, y, n_windows):
    """Sums over two cells, of which the first holds scores up to 0.5, of each window of as many rows."""
    shape = (n_windows, len(y), 2)
    rows, expected, events = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for i, p in enumerate(score):
        t, cell = i * n_windows // len(score), int(p > 0.5)
        rows[t, :, cell] += 1.0
        expected[t, :, cell] += p
        events[t, :, cell] += y[:, i]
    return BetCells(rows, expected, events)


CUTS = cuts_of(np.array([False, True]), np.zeros(2, dtype=np.intp))


def test_evidence_has_mean_one_at_most_after_each_window_and_ville_holds_at_any_time():
    score = [0.3, 0.7, 0.2, 0.2, 0.9, 0.6, 0.05, 0.8, 0.4, 0.95]
    y, chance = outcomes(score)
    path = Evidence(windows_of(score, y, 5), CUTS).path
    assert (np.exp(path) @ chance <= 1.0 + 1e-12).all()
    highest = np.exp(path.max(axis=0))
    for alpha in (0.9, 0.5, 0.2, 0.1, 0.05, 0.01):
        assert chance[highest >= 1.0 / alpha].sum() <= alpha
    assert chance[highest >= 2.0].sum() > 0.001  # it can happen at all


def test_a_late_change_is_found_although_earlier_windows_were_as_they_should():
    rows = np.full((60, 1, 2), 200.0)
    rate = np.where(np.arange(60)[:, None, None] < 50, [0.3, 0.7], [0.2, 0.6])
    path = Evidence(BetCells(rows, rows * [0.3, 0.7], rows * rate), CUTS).path[:, 0]
    assert path[49] < 0.0 < np.log(20) < path[-1]


def test_streams_side_by_side_are_streams_one_by_one():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 30, (7, 3, 2)).astype(float)
    events = np.floor(rng.random(rows.shape) * (rows + 1))
    together = BetCells(rows, 0.4 * rows, events)
    each = [Evidence(BetCells(rows[:, s], 0.4 * rows[:, s], events[:, s]), CUTS).path for s in range(3)]
    np.testing.assert_allclose(Evidence(together, CUTS).path, np.array(each).T, rtol=1e-12)


def test_bets_begin_at_each_of_the_first_windows_and_then_ever_fewer():
    assert starts(16).tolist() == list(range(16))
    assert starts(40).tolist() == [*range(16), *range(16, 32, 2), 32, 36]
    assert starts(1).tolist() == [0]
    assert starts(0).size == 0
    assert 80 < starts(10_000).size < 100
    for n in (1, 50, 100, 130):
        np.testing.assert_allclose(np.exp(log_parts(n)).sum() + np.exp(log_kept(n)), 1.0)


def test_sums_of_units_are_those_of_their_cells():
    values = np.arange(10.0).reshape(5, 2)
    cut = Cut(np.array([1, 0, 1, 2, 0]))
    np.testing.assert_array_equal(cut.sums(values), [values[1] + values[4], values[0] + values[2], values[3]])
    assert Cut(np.arange(3)).is_of_cells
    assert not cut.is_of_cells


@pytest.mark.parametrize(("n_units", "idle"), [(1, 0.0), (2, 0.0), (3, 3 / 4), (9, 9 / 10)])
def test_of_more_than_two_units_a_part_of_the_wealth_is_never_bet(n_units, idle):
    assert Cut(np.arange(n_units)).idle == idle


def test_logarithms_of_sums_and_means():
    log = np.array([[0.0, np.log(3.0)], [-np.inf, -np.inf], [700.0, 709.0]])
    np.testing.assert_allclose(log_sum(log)[:2], [np.log(4.0), -np.inf])
    np.testing.assert_allclose(log_mean(log)[0], np.log(2.0))
    assert np.isfinite(log_sum(2.0 * log)[2])
