"""Verdicts on the paper on test-based calibration error: each judge on both sides, without data."""

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from calibrant import bin_test_calibration_error
from calibrant.binning import BoundedIsotonic
from studies.claims import Verdict
from studies.tce.claims import CLAIMS, PICTURED
from studies.tce.claims_simulation import means_of_models, size
from studies.tce.imagenet import PrintedCut, bins_of, compared, printed_sizes
from studies.tce.published import as_published, introsort, of_the_library
from studies.tce.simulation import NOISES, TABLES

HOLDS, IN_PART, FAILS, MISPRINT, OPEN, NOT_JUDGED = Verdict

LOW, HIGH, UNCLEAR = [-0.1, -0.11, -0.09], [0.1, 0.11, 0.09], [-0.1, 0.1, 0.0]

DIGITS = [({"same": 24, "cells": 24}, HOLDS), ({"same": 23, "cells": 24}, FAILS), ({"same": 0, "cells": 0}, FAILS)]
GOOD, MIXED = [[5.0, 80.0], [7.0, 90.0]], [[5.0, 80.0], [81.0, 90.0]]
BOTH_FAIL, NONE_FAILS = [[8.0, 79.0]], [[6.0, 85.0]]
RANGES = [
    ({"good": GOOD, "bad": BOTH_FAIL}, HOLDS),
    ({"good": GOOD, "bad": [*BOTH_FAIL, *NONE_FAILS]}, IN_PART),
    ({"good": MIXED, "bad": NONE_FAILS}, FAILS),
]
OF_ONE = [
    ({"good": GOOD, "bad": [[60.0, 40.0]]}, HOLDS),
    ({"good": GOOD, "bad": [[60.0, 40.0], *NONE_FAILS]}, IN_PART),
    ({"good": [*GOOD, [60.0, 40.0]], "bad": NONE_FAILS}, FAILS),
]


def cut(*largest, above=0):
    """The printed cut of networks, with rows of the largest bin, and problems in which it has a bin above N_max."""
    networks = [[[9, 10_000, 42.7], [8, rows, 42.7]] for rows in largest]
    return {"networks": networks, "largest": 10_000, "drawn": 400, "above": above, "changed": 0, "worst": [5.0, 5.0]}


def cells(*found):
    """Cells that are printed as 0.1."""
    return {"cells": [["RF", "TCE", "0.1", own] for own in found]}


CELLS = [(cells("0.1", "0.2"), FAILS)]
SUMS = {"PAVA": [0.1, 0.2], "PAVA-BC": [0.2, 0.3]}


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
    "definition-3": [
        ({"criterion": [0.1, 0.3], "sums": {"variance": SUMS, "entropy": SUMS}}, FAILS),
        (
            {
                "criterion": [0.1, 0.2],
                "sums": {"variance": SUMS, "entropy": {"PAVA": [0.1, 0.5], "PAVA-BC": [0.2, 0.3]}},
            },
            FAILS,
        ),
    ],
    "algorithm-3-as-printed": [(cut(10_000, 9000), HOLDS), (cut(10_000, above=1), FAILS)],
    "algorithm-3-smallest": [
        ({"below": [0, 0], "library": [0, 0]}, HOLDS),
        ({"below": [1, 9], "library": [0, 0]}, FAILS),
    ],
    "table-14-satimage": [
        (cells("0.1") | {"rows": {"1931": 10}}, HOLDS),
        (cells("0.2") | {"rows": {"1931": 10}}, OPEN),
    ],
    "table-3": CELLS,
    "table-14-optdigits": CELLS,
    "table-14-spambase": [(cells("0.1"), HOLDS), (cells("0.2"), OPEN)],
    "order-of-ties": [({"orders": [33.9, 33.9], "together": 44.3}, HOLDS)],
    "table-5": CELLS,
    "table-5-misprint": [
        ({"printed": "0.0102", "value": 0.010151, "line": [True] * 4}, HOLDS),
        ({"printed": "0.0102", "value": 0.010145, "line": [True, False]}, FAILS),
    ],
    "pictures": [({"found": {name: [[10] * 10, [0] * 10] for name in PICTURED}}, FAILS)],
    "level": [
        ({"sizes": [[0.5, [4.3, 5.9]], [0.01, [4.0]]], "half": {"TCE(P)": 10.0}, "many": 34.0}, HOLDS),
        ({"sizes": [[0.5, [3.9]], [0.01, [4.9, 6.1]]], "half": {"TCE(P)": 10.0}, "many": 34.0}, FAILS),
    ],
    "slope": [({"slopes": {"a": 4.0, "b": 4.0}}, HOLDS), ({"slopes": {"a": 4.0, "b": 0.25}}, OPEN)],
    **{f"table-{number}": DIGITS for number in TABLES},
    "small-ece": [({"differences": HIGH}, FAILS), ({"differences": UNCLEAR}, OPEN)],
    "order": [
        ({"shares": {"TCE(P)": 0.2, "TCE(Q)": 0.1, "ECE": 0.99, "ACE": 1.0}}, FAILS),
        ({"shares": {"TCE(P)": 1.0, "TCE(Q)": 0.99, "ECE": 0.99, "ACE": 0.05}}, IN_PART),
    ],
    "scale": [
        ({"tce": [99.0, 60.0], "ece": [0.1, 0.01], "shift": [0.5, 0.5], "order": [0.98, 0.9, 1.0]}, HOLDS),
        ({"tce": [99.0, 23.0], "ece": [0.1, 0.01], "shift": [0.5, 0.5], "order": [0.6, 0.9, 1.0]}, FAILS),
    ],
    **{f"reasonable-{of}": OF_ONE for of in ("6", "7")},
    **{f"reasonable-{of}": RANGES for of in ("10", "12", "12-milder")},
    "reasonable-13": [({"good": MIXED, "bad": []}, FAILS)],
    "all-better": [
        ({"printed": [[7.0, 8.0, 7.0], [90.0, 80.0, 90.0]], "means": []}, HOLDS),
        ({"printed": [[7.0, 8.0, 9.0], [90.0, 80.0, 91.0]], "means": []}, FAILS),
    ],
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


# The order in which sorting that is not stable leaves equal predictions


def test_the_order_sorts_and_is_that_of_a_stable_sort_where_values_are_distinct():
    rng = np.random.default_rng(0)
    for n in (1, 5, 16, 17, 18, 100, 1000):
        values = rng.random(n)
        np.testing.assert_array_equal(introsort(values.tolist()), np.argsort(values, kind="stable"))
        tied = rng.integers(0, 5, n).tolist()
        order = introsort(tied)
        assert sorted(order) == list(range(n))
        assert (np.diff(np.array(tied)[order]) >= 0).all()


def test_rows_of_one_prediction_can_part_in_the_published_bins_and_no_other_cell_changes():
    rng = np.random.default_rng(1)
    prob = rng.permutation(np.linspace(0.01, 0.99, 200))
    y = (rng.random(200) < prob).astype(int)
    distinct = as_published((y, prob), introsort(prob.tolist()))
    np.testing.assert_allclose(distinct, of_the_library((y, prob)))
    tied = prob.round(1)
    orders = [np.lexsort((rng.permutation(200), tied)) for _ in range(5)]
    found = np.array([as_published((y, tied), order) for order in orders])
    assert np.ptp(found[:, 0]) > 0
    assert (np.ptp(found[:, [2, 4]], axis=0) == 0).all()


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


@pytest.mark.parametrize(("least", "most", "smallest"), [(10, 40, 11), (30, 40, 20)])
def test_the_printed_algorithms_keep_the_smallest_size_where_two_of_it_fit_in_the_largest(least, most, smallest):
    y, score = rare_events()
    sizes = printed_sizes(y, least, most)
    assert sizes.sum() == 200
    assert sizes.min() == smallest
    if most >= 2 * least:
        np.testing.assert_array_equal(sizes, bins_of(y, score, PrintedCut()).count)


def test_the_exact_size_is_the_share_of_counts_that_reject():
    found = np.array([binomtest(k, 30, 0.1).pvalue <= 0.05 for k in range(31)])
    assert size(0.1, 30) == pytest.approx(100.0 * binom.pmf(np.arange(31), 30, 0.1)[found].sum())
    assert size(0.01, 300) < 3.5
