"""Verdicts on the paper on test-based calibration error: each judge on both sides, without data."""

import numpy as np
import pytest

from calibrant import bin_test_calibration_error
from calibrant.binning import BoundedIsotonic
from studies.claims import Verdict
from studies.tce.claims import CLAIMS
from studies.tce.claims_simulation import means_of_models
from studies.tce.imagenet import PrintedCut, bins_of, compared
from studies.tce.simulation import NOISES, TABLES

HOLDS, IN_PART, FAILS, OPEN, NOT_JUDGED = Verdict

LOW, HIGH, UNCLEAR = [-0.1, -0.11, -0.09], [0.1, 0.11, 0.09], [-0.1, 0.1, 0.0]

DIGITS = [({"same": 24, "cells": 24}, HOLDS), ({"same": 23, "cells": 24}, FAILS), ({"same": 0, "cells": 0}, FAILS)]
RANGES = [({"good": [74.0, 80.0], "bad": [1.7, 73.0]}, HOLDS), ({"good": [74.0, 80.0], "bad": [1.7, 75.0]}, FAILS)]


def cut(**of):
    """The printed cut, which joins nothing unless given."""
    same = [[9, 10_000, 42.7], [9, 10_000, 42.7]]
    return {"networks": [same, same], "drawn": 400, "joined": 0, "changed": 0, "worst": [5.0, 5.0]} | of


def noisy(calibrated, miscalibrated):
    """Means of two metrics at the strengths of the noise, of both models."""
    return {"means": {"TCE(P)": [*calibrated, *miscalibrated], "ECE": [*calibrated, *calibrated]}}


BREAKS, STEADY = [1.0, 1.0, 1.1, 1.2, 6.0, 8.0], [1.0, 1.1, 1.2, 1.3, 1.4, 9.0]
FALLS = [9.0, 9.0, 9.0, 9.0, 7.0, 8.0]


def within(*lines):
    return {"errors": [list(line) for line in lines], "elsewhere": 60, "models": 75}


def balance(total, inner):
    return {"total": [total] * 3, "within": [inner] * 3, "elsewhere": [69, 69], "models": 75}


def small(n):
    small = {"ECE": 0.02, "ACE": 0.02}
    return {"small": small, "bad": 40.0, "found": {"a": 0, "b": n}, "both": 0, "models": 75}


CASES = {
    "algorithm-3-as-printed": [(cut(), HOLDS)],
    "level": [({"equal": [3.0, 3.1, 3.0], "half": {"TCE(P)": 10.0}, "many": 34.0}, FAILS)],
    "slope": [({"slopes": {"a": 4.0, "b": 4.0}}, HOLDS), ({"slopes": {"a": 4.0, "b": 0.25}}, OPEN)],
    **{f"table-{number}": DIGITS for number in (*TABLES, 5)},
    "small-ece": [({"differences": HIGH}, FAILS), ({"differences": UNCLEAR}, OPEN)],
    "order": [
        ({"shares": {"TCE(P)": 0.2, "TCE(Q)": 0.1, "ECE": 0.99, "ACE": 1.0}}, FAILS),
        ({"shares": {"TCE(P)": 1.0, "TCE(Q)": 0.99, "ECE": 0.99, "ACE": 0.05}}, IN_PART),
    ],
    "scale": [
        ({"tce": [99.0, 60.0], "ece": [0.1, 0.01], "order": [0.98, 0.9]}, HOLDS),
        ({"tce": [99.0, 23.0], "ece": [0.1, 0.01], "order": [0.6, 0.9]}, FAILS),
    ],
    **{f"reasonable-{number}": RANGES for number in (6, 7, 10, 12)},
    "best-sizes": [
        ({"apart": [[90.0, 90.3], [91.0, 91.2], [90.0, 90.2], [85.0, 85.1], [88.0, 88.2]]}, FAILS),
        ({"apart": [[5.0, 5.1], [34.0, 34.1], [64.0, 64.1], [85.0, 85.1], [88.0, 88.2]]}, IN_PART),
    ],
    "noise-breaks-down": [
        (noisy(STEADY, STEADY), FAILS),
        ({"means": {"TCE(P)": BREAKS * 2, "ECE": STEADY * 2}}, IN_PART),
    ],
    "noise-felt-alike": [(noisy(BREAKS, BREAKS), HOLDS)],
    "printed-t-test": [({"cells": 30, "variance": 0, "deviation": 30}, HOLDS)],
    "binomial-against-t": [
        ({"calibrated": [-1.0, -2.0, -1.0], "miscalibrated": [1.0, 2.0, 1.0], "rare": [2.8, 8.8], "printed": 2}, HOLDS),
        (
            {"calibrated": [-1.0, -2.0, -1.0], "miscalibrated": [-2.0, -1.0, -0.5], "rare": [2.8, 8.8], "printed": 2},
            OPEN,
        ),
    ],
    "overall-better": [
        ({"printed": [[7.0, 8.0, 9.0], [90.0, 80.0, 70.0]], "means": [[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]}, HOLDS),
        ({"printed": [[7.0, 8.0, 6.0], [90.0, 95.0, 70.0]], "means": [[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]}, FAILS),
    ],
    "pava-total-error": [({"least": {"a": 15, "b": 14}, "models": 30}, FAILS)],
    "quantiles-within-bins": [(within((0.11, 0.07, 0.06), (0.12, 0.05, 0.05)), FAILS)],
    "balance": [
        (balance([0.039, 0.038, 0.048], [0.11, 0.05, 0.06]), FAILS),
        (balance([0.039, 0.043, 0.048], [0.11, 0.05, 0.06]), IN_PART),
    ],
    "mild-violations": [
        ({"apart": [0.2, 2.3], "largest": 0.01, "violated": [2, 9], "models": 75}, FAILS),
        ({"apart": [], "largest": 0.0, "violated": [0, 9], "models": 75}, FAILS),
    ],
    "single-bin": [({"shares": {"a": 0.9, "b": 0.5}}, FAILS)],
    "comparison-of-averages": [({"parts": {"a": 0.95}}, HOLDS)],
    "best-model": [
        ({"names": {"TCE": "MLP", "ACE": "RF", "ECE": "RF"}, "here": [15, 7, 0, 4]}, FAILS),
        ({"names": {"TCE": "RF", "ACE": "RF", "ECE": "RF"}, "here": [15, 7, 0, 4]}, FAILS),
    ],
    "small-but-bad": [(small(0), FAILS)],
    "networks-ranked-alike": [({"taus": {"ECE": 0.8, "ACE": 0.8, "MCE": 0.0, "MCE(Q)": 0.2}}, FAILS)],
    "time": [({"seconds": seconds}, NOT_JUDGED) for seconds in (0.03, 100.0)],
}


def test_every_judge_has_cases():
    assert set(CASES) == {claim.key for claim in CLAIMS}
    assert len(NOISES) == len(BREAKS)


@pytest.mark.parametrize(
    ("key", "numbers", "verdict"), [(key, *case) for key, cases in CASES.items() for case in cases], ids=str
)
def test_a_verdict_follows_from_its_numbers(key, numbers, verdict):
    claim = next(claim for claim in CLAIMS if claim.key == key)
    assert claim.judge(**numbers) is verdict


def test_means_are_those_of_the_calibrated_models_and_of_the_others():
    assert means_of_models([[1.0, 2.0], [3.0, 6.0], [5.0, 0.0], [7.0, 1.0]]) == [[2.0, 4.0], [6.0, 0.5]]


# Algorithm 3 as it is printed


def rare_events():
    """Predictions whose lowest scores hold no event, so that blocks of rate 0 are parted by the largest size alone."""
    score = np.arange(1, 201) / 400
    y = (np.arange(200) >= 150) & (np.arange(200) % 3 == 0)
    return y.astype(int), score


def test_the_printed_cut_joins_neighbouring_blocks_of_equal_rate_beyond_the_largest_size():
    y, score = rare_events()
    blocks, printed = (bins_of(y, score, binning) for binning in (BoundedIsotonic(), PrintedCut()))
    assert blocks.count.max() <= 40
    assert (blocks.event_rate[:3] == 0.0).all()
    assert printed.count[0] > 40
    assert len(printed) < len(blocks)
    assert (np.diff(printed.event_rate) != 0.0).all()
    assert set(printed.edges) < set(blocks.edges)


def test_the_printed_cut_can_change_tce():
    y, score = rare_events()
    (n_blocks, largest, tce), (n_printed, joined, other) = compared(y, score)
    assert (n_blocks, largest) > (n_printed, 0)
    assert joined > largest
    assert tce == bin_test_calibration_error(y, score)
    assert other != tce


def test_the_printed_cut_is_that_of_the_blocks_where_rates_differ():
    score = np.arange(1, 101) / 101
    y = (np.random.default_rng(1).random(100) < score).astype(int)
    blocks, printed = (bins_of(y, score, binning) for binning in (BoundedIsotonic(), PrintedCut()))
    assert (np.diff(blocks.event_rate) != 0.0).all()
    np.testing.assert_array_equal(printed.edges, blocks.edges)
