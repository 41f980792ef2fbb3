"""The noise behind intervals where the bootstrap sees none: a few rows in a bin that all went one way."""

import numpy as np
import pytest

from calibrant import assess
from calibrant._core.border import as_problem
from calibrant._core.rows import as_simplex
from calibrant.binning import EqualWidth
from calibrant.metrics.estimate import cells, smoothed_deviations
from calibrant.notions import Binary

DRAWS = 20_000


def table(score, outcome, weight=None):
    return cells(as_simplex(as_problem(outcome, score, sample_weight=weight)), Binary(), EqualWidth(2))


def test_smoothed_noise_has_the_moments_of_binomial_events():
    """Bins of 4 rows with 4 events and of 6 rows with 2: rates 5/6 and 3/8, each row a tenth of the whole."""
    drawn = smoothed_deviations(
        table([0.2] * 6 + [0.9] * 4, [1, 1, 0, 0, 0, 0] + [1] * 4), DRAWS, np.random.default_rng(0)
    )
    deviation = np.sqrt([6 * 3 / 8 * 5 / 8, 4 * 5 / 6 * 1 / 6]) / 10
    assert (np.abs(drawn.mean(axis=0)) < 4 * deviation / np.sqrt(DRAWS)).all()
    np.testing.assert_allclose(drawn.std(axis=0), deviation, rtol=0.03)  # four standard errors of a spread are 0.02


def test_weights_only_scale_what_a_row_counts():
    score, outcome = [0.2] * 6 + [0.9] * 4, [1, 1, 0, 0, 0, 0] + [1] * 4
    plain = smoothed_deviations(table(score, outcome), 50, np.random.default_rng(0))
    scaled = smoothed_deviations(table(score, outcome, np.full(10, 2.5)), 50, np.random.default_rng(0))
    np.testing.assert_allclose(scaled, plain, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("metric", ["ece", "mce"])
def test_the_interval_covers_where_three_rows_went_one_way(metric):
    """Without the smoothed noise the MCE is covered in 106 of these 150 data sets."""
    rng, runs = np.random.default_rng(0), 150
    score = np.r_[np.full(3, 0.99), np.full(197, 0.02)]
    rate = np.r_[np.full(3, 0.7), np.full(197, 0.02)]
    truth = {"ece": 3 * 0.29 / 200, "mce": 0.29}[metric]
    covered = 0
    for run in range(runs):
        y = (rng.random(200) < rate).astype(int)
        found = assess(y, score, metrics=[metric], n_resamples=99, rng=run)[metric]
        covered += found.lower <= truth <= found.upper
    assert covered / runs >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / runs)
