"""False alarms at any time, power and delay, as in docs/monitoring-evidence.md, with fewer streams: bounded on both sides."""

import numpy as np
import pytest

from calibrant import Monitor
from calibrant.monitoring.evidence import BetCells, Evidence, Reference
from tools.alarms_of_monitor import CUTS, World, alarmed, delays, paths, sums_of, too_low

FEW = World(windows=30, change=30)


def test_false_alarms_of_calibration_are_at_most_alpha_and_there_are_some():
    path = paths(FEW, 400, of_drift=False)
    for level in (0.01, 0.05, 0.1, 0.3):
        rate = (alarmed(path, level) < 30).mean()
        assert rate <= level + 3.0 * np.sqrt(level * (1.0 - level) / 400)
    assert rate > 0.01


def test_a_change_is_found_neither_before_it_is_there_nor_late():
    share, middle, high = delays(World(later=too_low(0.4), windows=40, change=20), 60, of_drift=False)
    assert share == 1.0
    assert 400 <= middle <= 2000
    assert high <= 3000


def test_drift_is_found_with_the_noise_of_the_reference_paid_for():
    share, middle, _ = delays(World(later=too_low(0.8), windows=16, change=8), 30, of_drift=True)
    assert share >= 0.95
    assert 200 <= middle <= 1200
    assert (alarmed(paths(World(windows=12, change=12), 60, of_drift=True), 0.1) < 12).mean() <= 0.1


@pytest.mark.parametrize("of_drift", [False, True])
def test_what_is_simulated_is_a_monitor_to_the_last_bit(of_drift):
    rng = np.random.default_rng(5)
    score = np.round(rng.random((9, 300)) * 2.0**20) / 2.0**20  # sums of these have no rounding
    score[:4] *= 0.5  # the upper bins are empty at first
    outcome = rng.random(score.shape) < 0.8 * score + 0.1
    sums = [sums_of(p[None], y[None]) for p, y in zip(score, outcome, strict=True)]
    windows = BetCells(*map(np.array, zip(*sums[1:], strict=True)))
    fast = Evidence(windows, CUTS, Reference.of(BetCells(*sums[0]), CUTS) if of_drift else None).path[:, 0]
    monitor = Monitor(window=300).update_reference(outcome[0], score[0]).update(outcome[1:].ravel(), score[1:].ravel())
    look = monitor._look.drift if of_drift else monitor._look.calibration
    np.testing.assert_array_equal(look.path, fast)
    assert np.ptp(fast) > 0.05
