"""Numbers that are equal stay equal: decimals, votes and percent are one forecast, whatever sums their rows are divided by."""

import warnings

import numpy as np
import pytest
from strategies import votes

from calibrant import calibration_error
from calibrant._core.border import as_problem
from calibrant._core.registry import entries
from calibrant.exceptions import CalibrationWarning
from calibrant.metrics import canonical_calibration_error

METRICS = {name: entry.target for name, entry in entries("metric").items()}
ERRORS = {
    f"{notion} {binning}": lambda y, prob, notion=notion, binning=binning, **options: calibration_error(
        y, prob, notion=notion, binning=binning, **options
    )
    for notion in entries("notion")
    for binning in entries("binning")
}
CANONICAL = {
    f"canonical {binning}": lambda y, prob, binning=binning, **options: canonical_calibration_error(
        y, prob, binning=binning, **options
    )
    for binning in entries("simplex-binning")
}
FIGURES = METRICS | ERRORS | CANONICAL
SEEDS = range(4)


@pytest.mark.parametrize("name", FIGURES)
def test_votes_percent_and_decimals_have_one_figure(name):
    n_classes = 2 if name.startswith("binary") else 3
    for seed in SEEDS:
        y, rows = votes(n_classes, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CalibrationWarning)
            as_given, *others = (
                FIGURES[name](y, prob, rows=word, labels=range(n_classes))
                for prob, word in (
                    (rows / 20, "as-given"),
                    (rows / 20, "normalize"),
                    (rows, "normalize"),
                    (0.37 * rows / 20, "normalize"),
                    (5.0 * rows, "percent"),
                )
            )
        np.testing.assert_array_equal(others, [as_given] * 4)


@pytest.mark.parametrize("scale", [0.999, 1.001, 0.37, 3.3, 1e-5])
def test_rows_of_decimals_that_sum_to_something_else_are_the_decimals(scale):
    for seed in SEEDS:
        y, rows = votes(4, seed, n=300)
        prob = as_problem(y, scale * rows / 20, rows="normalize").prob
        np.testing.assert_array_equal(prob, rows / 20)
