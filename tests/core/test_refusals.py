"""What is no option is refused in words: what must hold, what was given, and what to do."""

import numpy as np
import pytest

from calibrant import (
    EqualMass,
    expected_calibration_error,
    log_loss,
    paired_test,
    plot_reliability,
    reliability_curve,
    smooth_reliability_curve,
    spiegelhalter_test,
)
from calibrant.curves import (
    bin_test_curve,
    calibration_map,
    plot_bin_test,
    plot_roc,
    plot_smooth_reliability,
    roc_curve,
)
from calibrant.datasets import make_softmax_forecast, make_survey_forecast
from calibrant.metrics import canonical_calibration_error
from calibrant.registry import entries
from calibrant.significance import by_class, by_group, hosmer_lemeshow_test

Y, P = [0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]
OF_VALUES = [
    (lambda: calibration_map(lambda score: score * 5, Y, P), r"map must give values in \[0, 1\]; got 1\.005 at index"),
    (lambda: calibration_map(lambda score: score * np.nan), r"map must give values in \[0, 1\]; got nan at index"),
    (lambda: smooth_reliability_curve(Y, P, smoother="local", bandwidth=0.1), "bandwidth must be left out for a"),
    (lambda: entries(np.array([0.5, 0.5])), r"kind must be one of 'metric', .*; got array\(\[0\.5, 0\.5\]\)\. Pass"),
    (
        lambda: hosmer_lemeshow_test(Y, P, n_resamples=10**30),
        "n_resamples must be at most 10000000; got 10{30}. 1000 is",
    ),
    (lambda: expected_calibration_error(Y, P, binning=10**30), "n_bins must be at most 10000000; got 10{30}. 10 to"),
    (lambda: entries(()), r"kind must be one of 'metric', .*; got \(\)\. Pass one"),
    (lambda: log_loss(Y, P, clip=0.5), "clip must be a number, at least 0 and below 0.5; got 0.5"),
    (lambda: smooth_reliability_curve(Y, P, bandwidth=0.0), r"bandwidth must be a number, at least 0\.001 and at"),
    (lambda: smooth_reliability_curve(Y, P, bandwidth=2), r"bandwidth must be a number, at least 0\.001 and at most 1"),
    (lambda: expected_calibration_error(Y, P, input=np.array([0.5, 0.5])), "input must be 'probability' or 'logit';"),
    (lambda: make_survey_forecast(-1), "n must be a whole number, at least 1; got -1. Pass"),
    (lambda: make_softmax_forecast(0, 3), "n must be a whole number, at least 1; got 0. Pass 1000"),
]
OF_TYPES = [
    (lambda: by_class("cox", Y, P), "test must be a function such as spiegelhalter_test; got 'cox'. Pass it with"),
    (lambda: by_group("cox", Y, P, Y), "test must be a function such as spiegelhalter_test; got 'cox'"),
    (
        lambda: by_class(lambda y, p: spiegelhalter_test(y, p), Y, P, sample_weight=[2, 1, 1, 1]),
        "test must take y_true, y_prob,",
    ),
    (lambda: by_group(lambda *rows, **data: 0.5, Y, P, Y), "test must return a TestResult; <function .*> returned"),
    (lambda: plot_roc(roc_curve(Y, P), panels=1), "panels must be a list of names;"),
    (lambda: canonical_calibration_error(Y, P, binning=EqualMass(5)), "binning must be a whole number, a word, or"),
    (lambda: plot_reliability(reliability_curve(Y, P), panels=0.5), r"panels must be a list of names; got 0\.5\."),
    (lambda: plot_smooth_reliability(smooth_reliability_curve(Y, P), panels=int), "panels must be a list of names;"),
    (lambda: plot_bin_test(bin_test_curve(Y, P), panels=1), r"panels must be a list of names; got 1\. Pass a list"),
    (lambda: paired_test(Y, P, P, alternative={}), r"alternative must be one of .*; got \{\}"),
    (lambda: make_softmax_forecast(0.5, 3), "n must be a whole number, at least 1; got 0.5"),
]


@pytest.mark.parametrize(
    ("error", "call", "words"),
    [(ValueError, *row) for row in OF_VALUES] + [(TypeError, *row) for row in OF_TYPES],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_makes_no_sense_is_refused_with_what_to_do(error, call, words):
    with pytest.raises(error, match=words):
        call()


def test_a_map_that_misses_an_end_by_rounding_is_clipped():
    found = calibration_map(lambda score: score * (1 + 1e-12), resolution=3)
    assert found.panels[0].calibrated.tolist() == [0.0, 0.5 * (1 + 1e-12), 1.0]
