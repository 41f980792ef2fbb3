"""What is no option is refused in words: what must hold, what came, and what to do."""

import numpy as np
import pytest

from calibrant import (
    EqualMass,
    Unique,
    bin_sweep,
    by_class,
    by_group,
    calibration_map,
    canonical_calibration_error,
    kernel_calibration_error,
    make_softmax_forecast,
    make_survey_forecast,
    smooth_reliability_curve,
)

Y, P = [0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]
REFUSED = {
    "a map above one": (
        lambda: calibration_map(lambda score: score * 5, Y, P),
        ValueError,
        r"map must give values in \[0, 1\]; got 1\.005 for the score 0\.201 .*Pass a map",
    ),
    "a map that is not finite": (
        lambda: calibration_map(lambda score: score * np.nan),
        ValueError,
        r"map must give values in \[0, 1\]; got nan for the score 0 \(1001 of 1001 values",
    ),
    "a bandwidth of a local regression": (
        lambda: smooth_reliability_curve(Y, P, smoother="local", bandwidth=0.1),
        ValueError,
        r"bandwidth must be left out for a local regression.*got 0\.1\. Pass Local\(span=",
    ),
    "a bandwidth of a curve in words": (
        lambda: smooth_reliability_curve(Y, P, bandwidth="a"),
        TypeError,
        r"bandwidth must be a number or None; got 'a'\.",
    ),
    "a bandwidth of a kernel in words": (
        lambda: kernel_calibration_error(Y, P, bandwidth="a"),
        TypeError,
        "bandwidth must be a number; got 'a'. Leave it out",
    ),
    "a sweep of bins without a number": (
        lambda: bin_sweep(Y, P, binning=Unique()),
        TypeError,
        r"binning must make .* of a number of bins, or have that number; got Unique\(\)\. Pass EqualWidth",
    ),
    "a sweep of a number": (
        lambda: bin_sweep(Y, P, binning=5),
        TypeError,
        "binning must make a binning of a number of bins, or have that number; got 5. Pass EqualWidth",
    ),
    "the name of a test": (
        lambda: by_class("cox", Y, P),
        TypeError,
        "test must be a function such as spiegelhalter_test; got 'cox'. Pass the test itself",
    ),
    "the name of a test by group": (
        lambda: by_group("cox", Y, P, Y),
        TypeError,
        "test must be a function such as spiegelhalter_test; got 'cox'",
    ),
    "bins of one score for a simplex": (
        lambda: canonical_calibration_error(Y, P, binning=EqualMass(5)),
        TypeError,
        r"binning must be a whole number, a word, or cut the whole simplex; got EqualMass\(n_bins=5\)\. Pass SimplexGrid\(5\)",
    ),
    "fewer rows than none": (lambda: make_survey_forecast(-1), ValueError, "n must be at least 1 row; got -1. Pass"),
    "no row": (lambda: make_softmax_forecast(0, 3), ValueError, "n must be at least 1 row; got 0. Pass 1000"),
    "half a row": (lambda: make_softmax_forecast(0.5, 3), TypeError, "n must be a whole number of rows; got 0.5"),
}


@pytest.mark.parametrize(("call", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_what_makes_no_sense_is_refused_with_what_to_do(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_sweep_varies_the_number_of_a_binning():
    of_class = bin_sweep(Y, P, n_bins=[1, 2], binning=EqualMass, n_resamples=5)
    of_object = bin_sweep(Y, P, n_bins=[1, 2], binning=EqualMass(5), n_resamples=5)
    assert of_object.value.tolist() == of_class.value.tolist()
    assert of_object.binning == "EqualMass"


def test_a_map_that_misses_an_end_by_rounding_is_clipped():
    found = calibration_map(lambda score: score * (1 + 1e-12), resolution=3)
    assert found.panels[0].calibrated.tolist() == [0.0, 0.5 * (1 + 1e-12), 1.0]
