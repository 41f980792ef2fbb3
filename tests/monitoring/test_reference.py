"""Evidence of drift is never above bets that know the true gaps: false alarms are as rare as said, over all outcomes."""

import numpy as np
import pytest

from calibrant.monitoring.evidence import BETS, DEVIATIONS, PARTS, SPREAD, BetCells, Evidence, Reference, cuts_of
from tests.monitoring.test_bets import outcomes, windows_of

CUTS = cuts_of(np.array([False, True]), np.zeros(2, dtype=np.intp))
CUTS_OF_FOUR = cuts_of(np.arange(4) >= 2, np.zeros(4, dtype=np.intp))


def exponents(bet, cells, gap):
    """Logarithm of the wealth of one bet on each cell of known gap."""
    rate = np.clip(cells.mean + gap, 0.0, 1.0)
    return bet * cells.events - cells.rows * np.log1p(rate * np.expm1(bet))


def with_known_gaps(window, reference, gap, unit):
    """Wealth of bets on a reference and on later rows that know the gaps, by bet on later rows."""
    later, before = (
        BetCells(*(getattr(c, n)[unit] for n in ("rows", "expected", "events"))) for c in (window, reference)
    )
    variance = before.rows * before.mean * (1.0 - before.mean)
    apart = (0.0 if unit.sum() == 1 else SPREAD) / np.sqrt(np.maximum(variance, 1.0))
    of_reference = 0.0
    for deviation, share in zip(DEVIATIONS, PARTS, strict=True):
        bet = deviation / np.sqrt(max(variance.sum(), 1.0))
        wealth = [np.exp(exponents(bet + sign * apart, before, gap[unit])) for sign in (-1, 1)]
        of_reference += share * np.prod(np.mean(wealth, axis=0))
    return np.array([exponents(bet, later, gap[unit]).sum() for bet in BETS]) + np.log(of_reference)


@pytest.mark.parametrize("seed", range(8))
def test_what_is_computed_is_at_most_the_wealth_of_bets_that_know_the_gaps(seed):
    rng = np.random.default_rng(seed)
    cuts = cuts_of(np.arange(4) >= 2, np.zeros(4, dtype=np.intp))
    p = np.array([0.15, 0.4, 0.6, 0.85])
    gap = rng.uniform(-0.1, 0.1, 4)

    def drawn(n):
        rows = rng.integers(n // 2, n, 4).astype(float)
        mean = p + rng.uniform(-0.02, 0.02, 4)
        return BetCells(rows, rows * mean, rng.binomial(rows.astype(int), mean + gap).astype(float))

    reference, window = drawn(400), drawn(100)
    known = Reference.of(reference, cuts)
    gain, slope = known.terms(window)
    for number, cut in enumerate(cuts):
        found = known.bets[number].log_wealth(gain[None], slope[None])[0]
        assert np.isfinite(found).any()
        for unit in range(cut.n_units):
            others = [
                gap + rng.uniform(-0.04, 0.04, 4) for _ in range(20)
            ]  # a bound for all gaps, not only the true ones
            for each in (gap, *others):
                most = with_known_gaps(window, reference, each, cut.unit == unit)
                assert (found[unit] <= most + 1e-9).all()


def test_of_one_cell_little_is_lost_to_the_gap_that_is_not_known():
    p, lost = np.array([0.15, 0.4, 0.6, 0.85]), []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        before, later = (rng.integers(n // 2, n, 4).astype(float) for n in (400, 100))
        reference, window = (BetCells(n, n * p, rng.binomial(n.astype(int), p).astype(float)) for n in (before, later))
        known = Reference.of(reference, CUTS_OF_FOUR)
        gain, slope = known.terms(window)
        for number, cut in enumerate(CUTS_OF_FOUR):
            found = known.bets[number].log_wealth(gain[None], slope[None])[0]
            for unit in range(cut.n_units) if cut.is_of_cells else ():
                gaps = np.where(cut.unit == unit, np.linspace(-0.14, 0.14, 200)[:, None], 0.0)
                each = [with_known_gaps(window, reference, gap, cut.unit == unit) for gap in gaps]
                lost += (np.min(each, axis=0) - found[unit])[np.isfinite(found[unit])].tolist()
    assert 0.0 <= np.min(lost) <= np.median(lost) < 0.1


@pytest.mark.parametrize("gap", [0.0, 0.1, -0.15])
def test_an_alarm_is_false_with_probability_alpha_at_most_over_all_outcomes(gap, monkeypatch):
    monkeypatch.setattr("calibrant.monitoring.evidence.FEWEST", 1)
    before, later = [0.3, 0.3, 0.7, 0.7], [0.3, 0.35, 0.7, 0.65, 0.3, 0.7]
    y, chance = outcomes(np.array([*before, *later]) + gap)
    cells = windows_of(before, y[:, :4], 1)
    reference = BetCells(cells.rows[0], cells.expected[0], cells.events[0])
    path = Evidence(windows_of(later, y[:, 4:], 3), CUTS, Reference.of(reference, CUTS)).path
    assert (np.exp(path) @ chance <= 1.0).all()
    for alpha in (0.9, 0.5, 0.1):
        assert chance[path.max(axis=0) >= -np.log(alpha)].sum() <= alpha


def sums(rows, mean, rate):
    return BetCells(np.asarray(rows), np.asarray(rows) * mean, np.asarray(rows) * rate)


def test_a_change_of_gaps_is_found_and_gaps_that_stay_are_not():
    p, gap = np.array([0.3, 0.7]), np.array([0.08, -0.05])
    reference = sums(np.full(2, 5000.0), p, p + gap)
    known = Reference.of(reference, CUTS)
    rows = np.full((20, 2), 300.0)
    stays = Evidence(sums(rows, p, p + gap), CUTS, known).path
    assert (stays < 0.0).all()
    moves = Evidence(sums(rows, p, p + gap + [0.1, 0.1]), CUTS, known).path
    assert moves[-1] > np.log(100)
    calibrated_now = Evidence(sums(rows, p, p), CUTS, known).path
    assert calibrated_now[-1] > np.log(20)


def test_other_predictions_with_the_gaps_of_the_reference_are_no_drift():
    p, gap = np.array([0.3, 0.7]), np.array([0.1, -0.1])
    known = Reference.of(sums([9000.0, 1000.0], p, p + gap), CUTS)
    turned = Evidence(sums(np.tile([100.0, 900.0], (20, 1)), p, p + gap), CUTS, known).path
    assert (turned < 0.0).all()


def test_a_cell_is_bet_on_from_ten_rows_in_the_reference_on():
    known = Reference.of(sums([9.0, 10.0], np.array([0.3, 0.7]), np.array([0.3, 0.7])), CUTS)
    assert known.counts.tolist() == [False, True]


def test_no_wealth_is_won_where_later_rows_fall_into_other_cells_than_those_of_the_reference():
    """The error of a cell cannot cancel there: any wealth would be beyond that of bets which know the gaps."""
    p, rng, lost = np.array([0.15, 0.4, 0.6, 0.85]), np.random.default_rng(0), 0
    for _ in range(60):
        before, later = 400.0 * rng.dirichlet(np.ones(4)).round(2) + 20.0, 200.0 * rng.dirichlet(np.ones(4)).round(2)
        reference, window = sums(before, p, p), sums(later, p, p)
        known = Reference.of(reference, CUTS_OF_FOUR)
        gain, slope = known.terms(window)
        for number, cut in enumerate(CUTS_OF_FOUR):
            found = known.bets[number].log_wealth(gain[None], slope[None])[0]
            lost += int(np.isinf(found).sum())
            for unit in range(cut.n_units):
                for gap in 0.14 * np.array([*np.eye(4), *-np.eye(4)]):
                    most = with_known_gaps(window, reference, gap, cut.unit == unit)
                    assert (found[unit] <= most + 1e-9).all()
    assert lost > 0


def test_cells_without_rows_in_the_reference_say_nothing():
    p = np.array([0.3, 0.7])
    known = Reference.of(sums([5000.0, 0.0], p, p), CUTS)
    assert not known.counts[1]
    assert known.gap[1] == 0.0
    path = Evidence(sums(np.tile([0.0, 400.0], (10, 1)), p, p + 0.2), CUTS, known).path
    assert np.isfinite(path).all()
    assert (path < 0.0).all()
    beside = Evidence(sums(np.tile([400.0, 400.0], (10, 1)), p, p + 0.2), CUTS, known).path
    assert beside[-1] > np.log(100.0)
