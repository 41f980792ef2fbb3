"""What single precision gives: the numbers as they are, and edges of bins that are rounded as they are."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from strategies import tables

from calibrant import EqualWidth, calibration_error, classwise_calibration_error, expected_calibration_error
from calibrant._core.border import as_problem
from calibrant._core.registry import entries
from calibrant.exceptions import CalibrationWarning

pytestmark = pytest.mark.filterwarnings("ignore:(expected )?log loss")

METRICS = entries("metric")
USUAL = 15
each_metric = pytest.mark.parametrize("entry", METRICS.values(), ids=list(METRICS))


def of(entry, label, prob):
    """The metric; one that may be undefined on such data says so and is passed over."""
    with warnings.catch_warnings():
        if entry.may_be_undefined:
            warnings.simplefilter("ignore", CalibrationWarning)
        value = entry.target(label, prob)
    assume(not (entry.may_be_undefined and np.isnan(value)))
    return value


def on_edges(single):
    """The same numbers in double precision, but those that are an edge in single are that edge in double."""
    edge = np.rint(single.astype(np.float64) * USUAL) / USUAL
    return np.where(edge.astype(np.float32) == single, edge, single.astype(np.float64))


@each_metric
@given(rows=tables())
def test_single_precision_counts_as_the_same_numbers_in_double(entry, rows):
    label, prob, _ = rows
    single = prob.astype(np.float32)
    if entry.takes_binning:
        assert of(entry, label, single) == pytest.approx(of(entry, label, on_edges(single)), rel=1e-6, abs=1e-6)
    else:
        assert of(entry, label, single) == of(entry, label, single.astype(np.float64))


@each_metric
def test_single_precision_is_close_to_double(entry):
    rng = np.random.default_rng(0)
    prob = rng.dirichlet(np.ones(3), 500)
    label = rng.integers(0, 3, 500)
    assert entry.target(label, prob.astype(np.float32)) == pytest.approx(entry.target(label, prob), rel=1e-5)


@pytest.mark.parametrize("n_bins", [5, 10, 15, 20])
@pytest.mark.parametrize("parts", [10, 20])
def test_a_decimal_falls_into_the_same_bin_in_either_precision(n_bins, parts):
    score = np.tile(np.arange(parts + 1) / parts, 50)
    occurred = np.random.default_rng(0).random(score.size) < score**2
    table = np.column_stack([np.round(1.0 - score, 2), score])
    single = np.column_stack([np.round(1.0 - score, 2), score]).astype(np.float32)
    for measure in (expected_calibration_error, classwise_calibration_error):
        for one, other in ((score, score.astype(np.float32)), (table, single)):
            assert measure(occurred, other, binning=n_bins) == pytest.approx(
                measure(occurred, one, binning=n_bins), abs=1e-6
            )
    double, rounded = (EqualWidth(n_bins)(as_problem(occurred, given)) for given in (score, score.astype(np.float32)))
    np.testing.assert_array_equal(double.count, rounded.count)
    assert rounded.edges.astype(np.float32).tolist() == rounded.edges.tolist()


def test_five_percent_steps_have_one_error_in_either_precision():
    score = np.arange(21) / 20
    occurred = np.arange(21) % 3 == 0
    errors = [
        calibration_error(occurred, score.astype(kind), binning=10, norm=norm)
        for kind in (np.float32, np.float64)
        for norm in ("l1", "max")
    ]
    assert errors[:2] == pytest.approx(errors[2:], abs=1e-7)
