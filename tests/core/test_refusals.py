"""What is no option is refused in words: what must hold, what was given, and what to do."""

import numpy as np
import pytest

from calibrant import (
    EqualMass,
    corp_curve,
    equivalence_test,
    expected_calibration_error,
    integrated_calibration_index,
    log_loss,
    paired_test,
    plot_reliability,
    reliability_curve,
    smooth_reliability_curve,
    spiegelhalter_test,
)
from calibrant.binning import Projection, Unique
from calibrant.calibrators import IsotonicRecursivePartitioning
from calibrant.curves import (
    bin_sweep,
    bin_test_curve,
    calibration_map,
    cumulative_sum_curve,
    partition_path,
    plot_bin_test,
    plot_cumulative_sum,
    plot_smooth_reliability,
    simplex_split,
)
from calibrant.datasets import make_softmax_forecast, make_survey_forecast
from calibrant.metrics import canonical_calibration_error, corp_decomposition, kernel_calibration_error
from calibrant.registry import entries
from calibrant.significance import by_class, by_group, cox_test, pearson_test, resampling_test

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
        r"bandwidth must be a number, at least 0\.001 and at most 1; got 'a'\.",
    ),
    "a bandwidth of a kernel in words": (
        lambda: kernel_calibration_error(Y, P, bandwidth="a"),
        TypeError,
        "bandwidth must be a number, above 0; got 'a'. Leave it out",
    ),
    "a sweep of bins without a number": (
        lambda: bin_sweep(Y, P, binning=Unique()),
        TypeError,
        r"binning must make .* of a number of bins, or have that number; got Unique\(\)\. Pass EqualWidth",
    ),
    "a sweep of whole rows": (
        lambda: bin_sweep(Y, P, binning=Projection()),
        TypeError,
        r"binning must .*make .*; got Projection\(.*Pass EqualWidth",
    ),
    "a sweep of a class of whole rows": (
        lambda: bin_sweep(Y, P, binning=Projection),
        TypeError,
        r"binning must be a binning of scores, or make one; got Projection\(n_bins=1, .*Pass EqualWidth",
    ),
    "a sweep of a number": (
        lambda: bin_sweep(Y, P, binning=5),
        TypeError,
        "binning must make a binning of a number of bins, or have that number; got 5. Pass EqualWidth",
    ),
    "the name of a test": (
        lambda: by_class("cox", Y, P),
        TypeError,
        "test must be a function such as spiegelhalter_test; got 'cox'. Pass it with its options",
    ),
    "the name of a test by group": (
        lambda: by_group("cox", Y, P, Y),
        TypeError,
        "test must be a function such as spiegelhalter_test; got 'cox'",
    ),
    "a test of one's own that takes no weights": (
        lambda: by_class(lambda y, p: spiegelhalter_test(y, p), Y, P, sample_weight=[2, 1, 1, 1]),
        TypeError,
        r"test must take y_true, y_prob, sample_weight; got <function .*>, which does not\. Pass a test of calibrant",
    ),
    "a test of one's own that returns a number": (
        lambda: by_group(lambda *rows, **data: 0.5, Y, P, Y),
        TypeError,
        r"test must return a TestResult; <function .*> returned 0\.5\. Pass a test such as spiegelhalter_test",
    ),
    "a strictness that is no flag": (
        lambda: resampling_test(Y, P, n_resamples=2, strict=np.nan),
        TypeError,
        "strict must be True or False; got nan. Pass one of them",
    ),
    "a correction that is no flag": (
        lambda: resampling_test(Y, P, n_resamples=2, correction=2),
        TypeError,
        "correction must be True or False; got 2. Pass one of them",
    ),
    "an array for a kind": (
        lambda: entries(np.array([0.5, 0.5])),
        ValueError,
        r"kind must be one of 'metric', .*; got array\(\[0\.5, 0\.5\]\)\. Pass one of them",
    ),
    "a number for panels of the theorem": (
        lambda: plot_cumulative_sum(cumulative_sum_curve(Y, P), panels=1, style="theorem"),
        TypeError,
        "panels must be a list of names; got 1. Pass a list",
    ),
    "a number for metrics": (
        lambda: partition_path(Y, P, IsotonicRecursivePartitioning().fit(P, Y), metrics=-1),
        TypeError,
        "metrics must be a list of names; got -1. Pass a list",
    ),
    "bins of one score for a simplex": (
        lambda: canonical_calibration_error(Y, P, binning=EqualMass(5)),
        TypeError,
        r"binning must be a whole number, a word, or cut the whole simplex; got EqualMass\(n_bins=5\)\. Pass SimplexGrid\(5\)",
    ),
    "a level in words": (
        lambda: reliability_curve(Y, P, level=""),
        TypeError,
        r"level must be a fraction in \(0, 1\); got ''\.",
    ),
    "a level of a sweep that is no number": (
        lambda: bin_sweep(Y, P, level=[]),
        TypeError,
        r"level must be a fraction .*got \[\]",
    ),
    "a bound that is no number": (
        lambda: equivalence_test(Y, P, bound=object()),
        TypeError,
        r"bound must be a fraction in \(0, 1\); got <object .*Pass the largest",
    ),
    "draws without end": (
        lambda: pearson_test(Y, P, n_resamples=10**30),
        ValueError,
        "n_resamples must be at most 10000000; got 10{30}. 1000 is usual.",
    ),
    "more bins than memory": (
        lambda: expected_calibration_error(Y, P, binning=10**30),
        ValueError,
        "n_bins must be at most 10000000; got 10{30}. 10 to 20 is usual.",
    ),
    "a corner in words": (lambda: simplex_split("xyzzy"), TypeError, "gamma must hold numbers; got str"),
    "classes of a split in a number": (
        lambda: simplex_split([0.2, 0.3, 0.5], classes=3),
        TypeError,
        "classes must be three names; got 3. Leave them out",
    ),
    "a kind that is none": (lambda: entries(()), ValueError, r"kind must be one of 'metric', .*; got \(\)\. Pass one"),
    "a panel without a list": (
        lambda: plot_reliability(reliability_curve(Y, P), panels=0.5),
        TypeError,
        r"panels must be a list of names; got 0\.5\. Pass a list",
    ),
    "numbers of bins in two axes": (
        lambda: bin_sweep(Y, P, n_bins=[[1, 2], [3, 4]]),
        ValueError,
        "n_bins must be whole numbers, each at least 1",
    ),
    "truth values for numbers of bins": (
        lambda: bin_sweep(Y, P, n_bins=[True]),
        ValueError,
        "n_bins must be whole numbers, each at least 1",
    ),
    "an array for a clip": (
        lambda: log_loss(Y, P, clip=np.array([1, 2])),
        TypeError,
        "clip must be a number, at least 0 and below 0.5; got array",
    ),
    "a panel of a smooth curve without a list": (
        lambda: plot_smooth_reliability(smooth_reliability_curve(Y, P), panels=int),
        TypeError,
        r"panels must be a list of names; got <class 'int'>",
    ),
    "a panel of tests in bins without a list": (
        lambda: plot_bin_test(bin_test_curve(Y, P), panels=1),
        TypeError,
        r"panels must be a list of names; got 1\. Pass a list",
    ),
    "an array for the kind of input": (
        lambda: expected_calibration_error(Y, P, input=np.array([0.5, 0.5])),
        ValueError,
        r"input must be 'probability' or 'logit'; got array",
    ),
    "a list for a word": (
        lambda: corp_curve(Y, P, band=[]),
        TypeError,
        r"band must be one of .*; got \[\]\. Pass one of",
    ),
    "a table for a word": (
        lambda: paired_test(Y, P, P, alternative={}),
        TypeError,
        r"alternative must be one of .*; got \{\}",
    ),
    "a list for a score": (
        lambda: corp_decomposition(Y, P, score=[]),
        TypeError,
        r"score must be one of .*; got \[\]",
    ),
    "a span in words": (
        lambda: integrated_calibration_index(Y, P, span="xyzzy"),
        TypeError,
        "span must be a number, .*; got 'xyzzy'. It is a share of the rows",
    ),
    "an array for a word": (
        lambda: cox_test(Y, P, parameters=np.array(["both", "slope"])),
        TypeError,
        "parameters must be .*; got array",
    ),
    "fewer rows than none": (
        lambda: make_survey_forecast(-1),
        ValueError,
        "n must be a whole number, at least 1; got -1. Pass",
    ),
    "no row": (
        lambda: make_softmax_forecast(0, 3),
        ValueError,
        "n must be a whole number, at least 1; got 0. Pass 1000",
    ),
    "half a row": (lambda: make_softmax_forecast(0.5, 3), TypeError, "n must be a whole number, at least 1; got 0.5"),
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
