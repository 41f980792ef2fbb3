"""Evidence of drift is never above bets that know the true gaps, and the false-alarm rate is at most alpha over all outcomes."""

import numpy as np
import pytest

from calibrant.monitoring.bets import BETS, Cells
from calibrant.monitoring.evidence import Evidence, cuts_of
from calibrant.monitoring.reference import DEVIATIONS, RISK, Reference, chernoff_interval
from tests.monitoring.test_bets import outcomes, windows_of

CUTS = cuts_of(np.array([False, True]), np.zeros(2, dtype=np.intp))


def exponent(bet, cells, gap):
    """Logarithm of the wealth of one bet over cells of known gaps."""
    rate = np.clip(cells.mean + gap, 0.0, 1.0)
    return (bet * cells.events - cells.rows * np.log1p(rate * np.expm1(bet))).sum()


def with_known_gaps(window, reference, gap, unit_cells):
    """Wealth of bets on a reference and on later rows that know the gaps, by bet on later rows."""
    later, before = (Cells(*(getattr(c, n)[unit_cells] for n in ("rows", "expected", "events"))) for c in (window, reference))
    spread = np.sqrt((before.rows * before.mean * (1.0 - before.mean)).sum())
    mus = DEVIATIONS / max(spread, 1.0)
    of_reference = np.log(np.mean([np.exp(exponent(mu, before, gap[unit_cells])) for mu in mus]))
    return np.array([exponent(bet, later, gap[unit_cells]) for bet in BETS]) + of_reference


@pytest.mark.parametrize("seed", range(8))
def test_what_is_computed_is_at_most_the_wealth_of_bets_that_know_the_gaps(seed):
    rng = np.random.default_rng(seed)
    cuts = cuts_of(np.arange(4) >= 2, np.zeros(4, dtype=np.intp))
    p = np.array([0.15, 0.4, 0.6, 0.85])
    gap = rng.uniform(-0.1, 0.1, 4)

    def drawn(n):
        rows = rng.integers(n // 2, n, 4).astype(float)
        mean = p + rng.uniform(-0.02, 0.02, 4)
        return Cells(rows, rows * mean, rng.binomial(rows.astype(int), mean + gap).astype(float))

    reference, window = drawn(400), drawn(600)
    known = Reference.of(reference, cuts, 1e-6)
    assert (np.abs(gap - known.gap) <= known.off).all()
    gain, slope = known.terms(window)
    for number, cut in enumerate(cuts):
        found = known.log_wealth(gain[None], slope[None], number)[0]
        for unit in range(cut.n_units):
            most = with_known_gaps(window, reference, gap, cut.unit == unit)
            assert (found[unit] <= most + 1e-9).all()
        assert np.isfinite(found).any()


@pytest.mark.parametrize("gap", [0.0, 0.1, -0.15])
def test_an_alarm_is_false_with_probability_alpha_at_most_over_all_outcomes(gap):
    before, later = [0.3, 0.3, 0.7, 0.7], [0.3, 0.35, 0.7, 0.65, 0.3, 0.7]
    y, chance = outcomes(np.array([*before, *later]) + gap)
    cells = windows_of(before, y[:, :4], 1)
    reference = Cells(cells.rows[0], cells.expected[0], cells.events[0])
    windows = windows_of(later, y[:, 4:], 3)
    for alpha in (0.5, 0.1):
        known = Reference.of(reference, CUTS, RISK * alpha)
        highest = (Evidence(windows, CUTS, known).path + np.log1p(-RISK)).max(axis=0)
        assert chance[highest >= -np.log(alpha)].sum() <= alpha


def sums(rows, mean, rate):
    return Cells(np.asarray(rows), np.asarray(rows) * mean, np.asarray(rows) * rate)


def test_a_change_of_gaps_is_found_and_gaps_that_stay_are_not():
    p, gap = np.array([0.3, 0.7]), np.array([0.08, -0.05])
    reference = sums(np.full(2, 5000.0), p, p + gap)
    known = Reference.of(reference, CUTS, 0.005)
    rows = np.full((20, 2), 300.0)
    stays = Evidence(sums(rows, p, p + gap), CUTS, known).path
    assert (stays < 0.0).all()
    moves = Evidence(sums(rows, p, p + gap + [0.1, 0.1]), CUTS, known).path
    assert moves[-1] > np.log(100)
    calibrated_now = Evidence(sums(rows, p, p), CUTS, known).path
    assert calibrated_now[-1] > np.log(20)


def test_other_predictions_with_the_gaps_of_the_reference_are_no_drift():
    p, gap = np.array([0.3, 0.7]), np.array([0.1, -0.1])
    known = Reference.of(sums([9000.0, 1000.0], p, p + gap), CUTS, 0.005)
    turned = Evidence(sums(np.tile([100.0, 900.0], (20, 1)), p, p + gap), CUTS, known).path
    assert (turned < 0.0).all()


def test_cells_without_rows_in_the_reference_say_nothing():
    p = np.array([0.3, 0.7])
    known = Reference.of(sums([5000.0, 0.0], p, p), CUTS, 0.005)
    assert known.off[1] == 1.0 and known.gap[1] == 0.0
    path = Evidence(sums(np.tile([0.0, 400.0], (10, 1)), p, p + 0.2), CUTS, known).path
    assert np.isfinite(path).all() and (path < 0.0).all()


def test_the_interval_of_a_rate_covers_at_least_as_often_as_it_says():
    n = 20.0
    for q in (0.02, 0.3, 0.5):
        k = np.arange(n + 1)
        log_choose = np.array([np.sum(np.log(np.arange(n - i + 1, n + 1))) - np.sum(np.log(np.arange(1, i + 1))) for i in k])
        chance = np.exp(log_choose + k * np.log(q) + (n - k) * np.log1p(-q))
        low, high = chernoff_interval(k / n, np.full(k.size, n), np.log(20.0))
        assert chance[low > q].sum() <= 0.05 and chance[high < q].sum() <= 0.05
        assert (low <= k / n).all() and (high >= k / n).all()
    low, high = chernoff_interval(np.array([0.0]), np.array([0.0]), 3.0)
    assert (low, high) == (0.0, 1.0)
