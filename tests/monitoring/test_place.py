"""Cells and what is bet on them are fixed before the first row: no later row changes evidence that was there before it."""

from itertools import product

import numpy as np
import pytest

from calibrant import Monitor
from calibrant.monitoring.evidence import Place

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
    prob, rows = (
        (LOW, np.array([0.9, 0.6])) if notion == "binary" else (ONE_CLASS, np.array([[0.0, 0.7, 0.3], [0.4, 0.0, 0.6]]))
    )

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
        monitor = Monitor(reference=0, notion=notion, labels=[0, 1, 2]).update(
            y, ONE_CLASS, at=np.arange(LOW.size) // 50
        )
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
