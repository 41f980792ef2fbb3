"""Evidence of monitors: over all outcomes its mean is one at most, places of bets included; and false alarms are rare."""

from itertools import product

import numpy as np
import pytest
from scipy.special import expit

from calibrant import Monitor
from calibrant.monitoring import evidence as bets
from calibrant.monitoring.evidence import BETS, BetCells, Cut, Evidence, Place, Reference, cuts_of, log_sum, starts


def outcomes(score):
    """All outcomes of some rows, and the probability of each if the scores are right."""
    score = np.asarray(score)
    y = np.array(list(product([0, 1], repeat=score.size)), dtype=float)
    return y, np.where(y == 1, score, 1.0 - score).prod(axis=1)


def by_row(score, y):
    """Wealth of each bet, multiplied row by row: the martingale itself."""
    factor = np.exp(np.outer(y, BETS)) / (1.0 + np.outer(score, np.expm1(BETS)))
    return factor.prod(axis=0)


@pytest.mark.parametrize("score", [[0.1, 0.1, 0.1], [0.02, 0.3, 0.31, 0.9], [0.0, 0.5, 1.0], [1e-9, 0.999]])
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
        np.testing.assert_allclose(np.exp(bets.log_parts(n)).sum() + np.exp(bets.log_kept(n)), 1.0)


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
    np.testing.assert_allclose(bets.log_mean(log)[0], np.log(2.0))
    assert np.isfinite(log_sum(2.0 * log)[2])


# Evidence of drift is never above bets that know the true gaps: false alarms are as rare as said, over all outcomes

CUTS_OF_FOUR = cuts_of(np.arange(4) >= 2, np.zeros(4, dtype=np.intp))


def wealth(reference, window):
    """Yield each cut of four cells with the logarithm of the wealth of bets on its units."""
    known = Reference.of(reference, CUTS_OF_FOUR)
    gain, slope = known.terms(window)
    for number, cut in enumerate(CUTS_OF_FOUR):
        yield cut, known.bets[number].log_wealth(gain[None], slope[None])[0]


def exponents(bet, cells, gap):
    """Logarithm of the wealth of one bet on each cell of known gap."""
    rate = np.clip(cells.mean + gap, 0.0, 1.0)
    return bet * cells.events - cells.rows * np.log1p(rate * np.expm1(bet))


def with_known_gaps(window, reference, gap, unit):
    """Wealth of bets on a reference and on later rows that know the gaps, by bet on later rows."""
    new, old = (BetCells(*(getattr(c, n)[unit] for n in ("rows", "expected", "events"))) for c in (window, reference))
    variance = old.rows * old.mean * (1.0 - old.mean)
    apart = (0.0 if unit.sum() == 1 else bets.SPREAD) / np.sqrt(np.maximum(variance, 1.0))
    of_reference = 0.0
    for deviation, share in zip(bets.DEVIATIONS, bets.PARTS, strict=True):
        bet = deviation / np.sqrt(max(variance.sum(), 1.0))
        wealth = [np.exp(exponents(bet + sign * apart, old, gap[unit])) for sign in (-1, 1)]
        of_reference += share * np.prod(np.mean(wealth, axis=0))
    return np.array([exponents(bet, new, gap[unit]).sum() for bet in BETS]) + np.log(of_reference)


@pytest.mark.parametrize("seed", range(8))
def test_what_is_computed_is_at_most_the_wealth_of_bets_that_know_the_gaps(seed):
    rng = np.random.default_rng(seed)
    p = np.array([0.15, 0.4, 0.6, 0.85])
    gap = rng.uniform(-0.1, 0.1, 4)

    def drawn(n):
        rows = rng.integers(n // 2, n, 4).astype(float)
        mean = p + rng.uniform(-0.02, 0.02, 4)
        return BetCells(rows, rows * mean, rng.binomial(rows.astype(int), mean + gap).astype(float))

    reference, window = drawn(400), drawn(100)
    for cut, found in wealth(reference, window):
        assert np.isfinite(found).any()
        for unit in range(cut.n_units):
            # A bound for all gaps, not only the true ones.
            others = [gap + rng.uniform(-0.04, 0.04, 4) for _ in range(20)]
            for each in (gap, *others):
                most = with_known_gaps(window, reference, each, cut.unit == unit)
                assert (found[unit] <= most + 1e-9).all()


def test_of_one_cell_little_is_lost_to_the_gap_that_is_not_known():
    p, lost = np.array([0.15, 0.4, 0.6, 0.85]), []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        before, later = (rng.integers(n // 2, n, 4).astype(float) for n in (400, 100))
        reference, window = (BetCells(n, n * p, rng.binomial(n.astype(int), p).astype(float)) for n in (before, later))
        for cut, found in wealth(reference, window):
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
    known = Reference.of(sums(np.full(2, 5000.0), p, p + gap), CUTS)
    rows = np.full((20, 2), 300.0)
    assert (Evidence(sums(rows, p, p + gap), CUTS, known).path < 0.0).all()
    assert Evidence(sums(rows, p, p + gap + [0.1, 0.1]), CUTS, known).path[-1] > np.log(100)
    assert Evidence(sums(rows, p, p), CUTS, known).path[-1] > np.log(20)


def test_other_predictions_with_the_gaps_of_the_reference_are_no_drift():
    p, gap = np.array([0.3, 0.7]), np.array([0.1, -0.1])
    known = Reference.of(sums([9000.0, 1000.0], p, p + gap), CUTS)
    assert (Evidence(sums(np.tile([100.0, 900.0], (20, 1)), p, p + gap), CUTS, known).path < 0.0).all()


def test_a_cell_is_bet_on_from_ten_rows_in_the_reference_on():
    known = Reference.of(sums([9.0, 10.0], np.array([0.3, 0.7]), np.array([0.3, 0.7])), CUTS)
    assert known.counts.tolist() == [False, True]


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


# Cells and what is bet on them are fixed before the first row: no later row changes evidence that was there before it

RNG = np.random.default_rng(11)
ROWS, WINDOWS = 40, 5

LOW = RNG.choice([0.05, 0.2, 0.35], ROWS * WINDOWS)
OFTEN = (RNG.random(LOW.size) < LOW + 0.1).astype(int)
ONE_CLASS = np.column_stack([1.0 - LOW, LOW / 2.0, LOW / 2.0])  # class 0 is predicted, in three bins


def paths(monitor):
    """Logarithm of the evidence of both tests after each window."""
    look = monitor._look
    return [test.path for test in (look.calibration, look.drift) if test is not None]


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("notion", ["binary", "confidence", "top-label", "class-wise"])
@pytest.mark.parametrize("is_next", [False, True])
def test_rows_in_empty_bins_change_no_bit_of_earlier_evidence(notion, is_next, given):
    of_classes = np.array([[0.0, 0.7, 0.3], [0.4, 0.0, 0.6]])
    prob, rows = (LOW, np.array([0.9, 0.6])) if notion == "binary" else (ONE_CLASS, of_classes)

    def made():
        start = Monitor(window=ROWS, notion=notion, labels=range(np.ndim(prob) + 1))
        return (start.update_reference(OFTEN, prob) if given else start).update(OFTEN, prob)

    before, after = made(), made()
    after.update([1, 0], rows, first=ROWS * WINDOWS - (0 if is_next else 1))
    earlier, later = paths(before), paths(after)
    assert len(earlier) == 2
    for old, new in zip(earlier, later, strict=True):
        kept = old.size if is_next else old.size - 1
        np.testing.assert_array_equal(new[:kept], old[:kept])
    assert not np.array_equal(later[0][: earlier[0].size + is_next], earlier[0])


@pytest.mark.parametrize("notion", ["confidence", "top-label", "class-wise"])
@pytest.mark.parametrize("row", [(0.9, 0.06, 0.04), (0.1, 0.2, 0.7), (0.34, 0.33, 0.33), (0.0, 0.5, 0.5)])
def test_no_next_row_of_several_classes_raises_the_mean_of_the_evidence(notion, row):
    """The rows so far predict class 0 in three bins, too rarely; the next one may be of any bin, class and window."""
    y = (np.arange(LOW.size) % 4 == 0).astype(int)

    def evidence(*more, window=0):
        monitor = Monitor(reference=0, notion=notion, labels=[0, 1, 2]).update(y, ONE_CLASS, at=np.arange(200) // 50)
        return np.exp(paths(monitor.update(*more, at=window) if more else monitor)[0][-1])

    before = evidence()
    assert before > 1.5
    for window in (3, 4):
        chances = ((k, chance) for k, chance in enumerate(row) if chance)
        mean = sum(chance * evidence([k], [row], window=window) for k, chance in chances)
        assert mean <= before * (1.0 + 1e-12)


def test_the_mean_of_the_evidence_never_rises_over_all_outcomes_and_alarms_are_a_prefix():
    """Six rows in windows of two; every second falls into a bin that was empty."""
    score = np.array([0.2, 0.2, 0.9, 0.2, 0.5, 0.9])
    found = {}
    for y in product([0, 1], repeat=6):
        for n in (0, 2, 4, 6):
            if y[:n] not in found:
                found[y[:n]] = paths(Monitor(window=2, reference=0).update(y[:n], score[:n]))[0] if n else np.empty(0)
    for y, path in found.items():
        if not y:
            continue
        np.testing.assert_array_equal(path[:-1], found[y[:-2]])  # evidence, and so alarms, of earlier windows stay
        if len(y) < 6:
            n = len(y)
            ends = list(product([0, 1], repeat=2))
            chance = [np.prod(np.where(end, score[n : n + 2], 1.0 - score[n : n + 2])) for end in ends]
            mean = sum(c * np.exp(found[(*y, *end)][-1]) for c, end in zip(chance, ends, strict=True))
            assert mean <= np.exp(path[-1]) * (1.0 + 1e-12)


@pytest.mark.parametrize("gap", [0.0, 0.15])
def test_drift_with_a_bin_that_the_reference_lacks_has_evidence_of_mean_one_at_most(gap, monkeypatch):
    monkeypatch.setattr("calibrant.monitoring.evidence.FEWEST", 1)
    score = np.array([0.3, 0.3, 0.7, 0.9, 0.3, 0.7])  # a reference of the first three rows: none of 0.9
    chance = np.where(score == 0.9, 0.9, score + gap)
    mean, alarms = np.zeros(3), 0.0
    for y in product([0, 1], repeat=6):
        weight = np.prod(np.where(y, chance, 1.0 - chance))
        evidence = np.exp(paths(Monitor(window=1).update_reference(y[:3], score[:3]).update(y[3:], score[3:]))[1])
        mean += weight * evidence
        alarms += weight * (evidence.max() >= 2.0)
    assert (mean <= 1.0 + 1e-12).all()
    assert alarms <= 0.5


def test_a_bin_that_the_reference_lacks_leaves_evidence_of_drift_as_it_was():
    monitor = Monitor(window=ROWS).update_reference(OFTEN, LOW).update(OFTEN, LOW)
    more = Monitor(window=ROWS).update_reference(OFTEN, LOW).update(OFTEN, LOW)
    more.update(np.ones(30, dtype=int), np.full(30, 0.6), first=0)
    np.testing.assert_array_equal(paths(more)[1], paths(monitor)[1])
    assert (paths(more)[0] > paths(monitor)[0] + 0.01).all()


def test_cells_are_all_bins_of_all_parts():
    place = Place.of(5, ["a", "b"])
    assert place.part.tolist() == [0] * 5 + [1] * 5
    assert place.upper.tolist() == [False, False, False, True, True] * 2
    assert [cut.n_units for cut in place.cuts] == [1, 2, 2, 10]  # halves are not parts
    assert place.words(np.ones(10, dtype=bool)) == "all rows"
    assert Place.of(5, ["a"]).words(np.ones(5, dtype=bool)) == "a"


# Power and delay, as on docs/monitoring-evidence.md, with fewer streams


def test_a_change_is_found_neither_before_it_is_there_nor_late():
    """Log-odds are 0.4 too low from window 20 on. One stream in a hundred may have an alarm before."""
    rng, change = np.random.default_rng(0), 20
    drawn = [rng.normal(0.0, 1.5, (40, 200)) for _ in range(60)]
    truths = [expit(z + 0.4 * (np.arange(40) >= change)[:, None]) for z in drawn]
    streams = [(rng.random(z.size) < p.ravel(), expit(z.ravel())) for z, p in zip(drawn, truths, strict=True)]
    over = np.array([paths(Monitor(window=200, reference=0).update(*rows))[0] for rows in streams]) >= np.log(20.0)
    assert over[:, :change].any(axis=1).sum() <= 3
    assert over.any(axis=1).all()
    middle, high = np.quantile(200 * (over.argmax(axis=1) + 1 - change), [0.5, 0.75])
    assert 400 <= middle <= 2000
    assert high <= 3000


@pytest.mark.parametrize("of_drift", [False, True])
def test_evidence_of_a_monitor_is_that_of_the_sums_of_its_bins_to_the_last_bit(of_drift):
    rng, cuts = np.random.default_rng(5), Place.of(15, [""]).cuts
    score = np.round(rng.random((9, 300)) * 2.0**20) / 2.0**20  # sums of these have no rounding
    score[:4] *= 0.5  # the upper bins are empty at first
    outcome = rng.random(score.shape) < 0.8 * score + 0.1
    columns = np.stack([np.ones(score.shape), score, outcome])
    by_bin = columns[..., None] * ((score * 15).astype(int)[..., None] == np.arange(15))
    reference, windows = (BetCells(*part) for part in (by_bin.sum(axis=2)[:, 0], by_bin.sum(axis=2)[:, 1:]))
    fast = Evidence(windows, cuts, Reference.of(reference, cuts) if of_drift else None).path
    monitor = Monitor(window=300).update_reference(outcome[0], score[0]).update(outcome[1:].ravel(), score[1:].ravel())
    np.testing.assert_array_equal(paths(monitor)[int(of_drift)], fast)
    assert np.ptp(fast) > 0.05
