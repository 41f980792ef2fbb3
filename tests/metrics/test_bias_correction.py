"""The bias-corrected TL-ECE beside a truth that is known: scores of one value a bin, right as often as the world says."""

from functools import cache

import numpy as np
import pytest

from calibrant.metrics import estimate_calibration_error

OPTIONS = {"notion": "top-label", "labels": [0, 1, 2]}
SHARES, ROWS, DRAWS = (0.6, 0.3, 0.1), 2000, 50
NOISE = 4.0
"""Monte Carlo standard errors that a mean of the draws may be off."""

# The gap of a row with predicted class c and score (b + 1/2) / 15; the mean of its absolute value is the TL-ECE.
WORLDS = {
    "calibrated": (lambda c, b: 0.0 * c, 0.0),
    "a gap of 0.02, its sign alternating": (lambda c, b: np.where((b + c) % 2, -0.02, 0.02), 0.02),
    "a gap of 0.05, its sign alternating": (lambda c, b: np.where((b + c) % 2, -0.05, 0.05), 0.05),
    "a gap of 0.03 throughout": (lambda c, b: np.full(c.shape, 0.03), 0.03),
    "a gap of 0.1 in the rarest class": (lambda c, b: np.where(c == 2, 0.1, 0.0), 0.01),
}


def drawn(gap, seed):
    """Predicted classes, their scores, and labels."""
    rng = np.random.default_rng(seed)
    c, b = rng.choice(3, p=SHARES, size=ROWS), rng.integers(5, 15, size=ROWS)
    score = (b + 0.5) / 15
    right = rng.random(ROWS) < np.clip(score + gap(c, b), 0, 1)
    return c, score, np.where(right, c, (c + 1) % 3)


@cache
def estimates(word):
    """TL-ECE, bias-corrected TL-ECE and noise floor of each draw."""
    gap, found = WORLDS[word][0], []
    for seed in range(DRAWS):
        c, score, y = drawn(gap, seed)
        of = estimate_calibration_error(y, score, y_pred=c, **OPTIONS, n_resamples=60, rng=seed)
        found.append((of.value, of.debiased, of.noise_floor))
    return np.array(found).T


@pytest.mark.first(2)
@pytest.mark.parametrize("word", WORLDS)
def test_the_bias_corrected_error_is_within_a_quarter_of_the_noise_floor_of_the_truth(word):
    truth, (value, corrected, floor) = WORLDS[word][1], estimates(word)
    allowed = floor.mean() / 4 + NOISE * corrected.std(ddof=1) / np.sqrt(DRAWS)
    assert truth - allowed <= corrected.mean() <= truth + allowed
    assert (corrected <= value).all()


def test_the_bias_corrected_error_is_the_stretched_shape_whose_median_is_the_value():
    """The formula of the docstring, from its definition, with noise of calibrated labels and of the bootstrap."""
    c, score, y = drawn(WORLDS["a gap of 0.05, its sign alternating"][0], 0)
    found = estimate_calibration_error(y, score, y_pred=c, **OPTIONS, n_resamples=2000, rng=0)
    cell = np.unique(np.column_stack([c, np.ceil(score * 15)]), axis=0, return_inverse=True)[1].ravel()
    rows = np.bincount(cell)
    gap = np.bincount(cell, (y == c) - score) / rows
    rng = np.random.default_rng(1)

    def calibrated():
        return np.bincount(cell, (rng.random(ROWS) < score) - score) / rows

    def resampled():
        at = rng.integers(ROWS, size=ROWS)
        total = np.bincount(cell[at], minlength=rows.size)
        again = np.bincount(cell[at], ((y == c) - score)[at], rows.size)
        return (again - total * gap) / rows

    def step(noise):
        kinds = np.array([noise() for _ in range(2000)])
        steps = np.linspace(0, 1.2, 241)
        medians = [np.median(np.abs(s * gap + kinds) @ rows / ROWS) for s in steps]
        return steps[np.searchsorted(medians, found.value)]

    expected = min(step(calibrated), step(resampled)) * found.value
    assert found.debiased == pytest.approx(expected, abs=0.04 * found.value)
