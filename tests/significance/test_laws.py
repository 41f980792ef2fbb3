"""What every test of one forecast keeps. A test is tested by being registered."""

import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from strategies import columns

from calibrant import equivalence_test, paired_test
from calibrant._core.registry import entries
from calibrant.binning import Isotonic, MonotonicSweep
from calibrant.exceptions import CalibrationWarning
from calibrant.significance import (
    TestResult,
    bayes_factor_test,
    by_class,
    by_group,
    cox_test,
    hosmer_lemeshow_test,
    kolmogorov_smirnov_test,
    kuiper_test,
    paired_difference,
    resampling_test,
)

OPTIONS = {name: {"n_resamples": 19} for name in ("bayes-factor", "resampling", "equivalence", "kernel")}


OPTIONS |= {"hosmer-lemeshow": {"n_resamples": None}}


SIDES = ("less", "greater", "two-sided")


TESTS = entries("test")


each_test = pytest.mark.parametrize("name", TESTS)


def run(name, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        return partial(TESTS[name].target, **OPTIONS.get(name, {}))(*args, **options)


def same(a, b):
    assert a == b or a == pytest.approx(b, rel=1e-8, abs=1e-9)


@each_test
def test_the_name_is_that_of_the_function(name):
    assert TESTS[name].target.__name__ == name.replace("-", "_") + "_test"


@each_test
@given(rows=columns(min_rows=2))  # the kernel test has no pairs of one row, and says so
def test_statistic_and_pvalue_are_numbers_of_rows_in_any_order_that_are_not_touched(name, rows):
    label, prob, weight = rows
    for column in rows:
        column.flags.writeable = False
    found = run(name, label, prob, sample_weight=weight)
    assert isinstance(found, TestResult)
    assert not np.isnan(found.statistic)
    assert 0.0 <= found.pvalue <= 1.0
    assert found.assumptions
    assert all(sentence.endswith((".", "?")) for sentence in found.assumptions)
    same(run(name, label[::-1], prob[::-1], sample_weight=weight[::-1]).statistic, found.statistic)


@pytest.mark.parametrize("name", ["hosmer-lemeshow", "kolmogorov-smirnov", "kuiper", "spiegelhalter"])
@given(rows=columns())
def test_equal_weights_that_are_no_counts_are_no_weights(name, rows):
    label, prob, _ = rows
    same(run(name, label, prob, sample_weight=np.full(len(label), 0.7)).pvalue, run(name, label, prob).pvalue)


# Tests of two forecasts


@pytest.mark.parametrize("metric", [name for name, metric in entries("metric").items() if not metric.may_be_undefined])
def test_effect_statistic_and_sides_of_a_paired_test_have_one_sign(metric):
    """Every result of a test that states a difference is a `PairedResult`; it is looked at with every metric."""
    assert [one.__name__ for one in TestResult.__subclasses__() if "difference" in one.__dataclass_fields__] == [
        "PairedResult"
    ]
    rng = np.random.default_rng(0)
    p = rng.random(300)
    y, a, b = (rng.random(300) < p).astype(int), p, np.clip(p**2, 0.01, 0.99)
    signs = set()
    for pair in ((a, b), (b, a)):
        found = {side: paired_test(y, *pair, metric=metric, n_resamples=99, alternative=side) for side in SIDES}
        sign = np.sign(found["less"].difference)
        assert all(np.sign([one.statistic, one.difference]).tolist() == [sign, sign] for one in found.values())
        if found["two-sided"].pvalue < 0.1:
            assert sign * (found["less"].pvalue - found["greater"].pvalue) > 0.5
        signs.add(sign)
    assert signs in ({-1.0, 1.0}, {0.0})


# What is refused: the call, the kind of error, and its words


ONE, A, B, HALVES = [0, 1], [0.2, 0.7], [0.3, 0.8], np.full((2, 2), 0.5)


LABELS = np.array([1, "a"], dtype=object)


DRAWS = "n_resamples must be a whole number, at least 1; got"


NORMS = (kolmogorov_smirnov_test, kuiper_test)


def no_number(y, p):
    return float("nan")


GROUPS, DRAWN = partial(by_group, cox_test, ONE, A), partial(resampling_test, ONE, A)


PAIR = partial(paired_test, ONE, A, B)
HOSMER = partial(hosmer_lemeshow_test, ONE, A)
EQUIVALENT = partial(equivalence_test, [0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4], n_resamples=10)
MANY = np.random.default_rng(0).random(200)
TCE, CUT = "got 'tce', the percentage of predictions that tests reject", "binning must cut scores without .*; got .*"
OTHERS = r"same classes; got \[0, 1\] and \['no'"
REFUSALS = [
    (
        partial(paired_test, ONE, HALVES, np.full((2, 3), 1 / 3)),
        {},
        ValueError,
        r"one shape; got \(2, 2\) and \(2, 3\)",
    ),
    (PAIR, {"alternative": "better"}, ValueError, "one of 'greater', .*; got 'better'"),
    (PAIR, {"metric": no_number}, ValueError, "metric must be a number on both forecasts"),
    (partial(paired_test, ONE, HALVES, HALVES), {"y_true_b": ["no", "yes"]}, ValueError, OTHERS),
    (PAIR, {"level": 5}, ValueError, "level must be"),
    (partial(paired_difference, ONE, A, B, n_resamples=1), {"metric": "ece"}, ValueError, "at least 2 for .*; got 1"),
    (partial(bayes_factor_test, ONE, A), {"n_resamples": 0}, ValueError, DRAWS),
    (
        partial(by_class, cox_test, ONE, A),
        {"method": "sidak"},
        ValueError,
        "method must be one of 'holm', .*; got 'sidak'",
    ),
    (HOSMER, {"reference": np.array([0, 1])}, ValueError, "must be one of the classes .*; got array"),
    (HOSMER, {"reference": 7}, ValueError, r"reference must be one of the classes \[0, 1\]; got 7"),
    (HOSMER, {"n_bins": 1}, ValueError, "n_bins must be a whole number, at least 2; got 1"),
    (HOSMER, {"fitted": True, "n_resamples": -5}, ValueError, f"{DRAWS} -5"),
    (
        partial(by_group, int, ONE, A, ONE),
        {},
        TypeError,
        "test must take y_true, y_prob; got <class 'int'>, which does not",
    ),
    (GROUPS, {"groups": [1, 1, 2]}, ValueError, "groups must have one entry a row of y_prob; got 3"),
    (GROUPS, {"groups": LABELS}, TypeError, "groups must hold labels of one kind; got number and text"),
    (GROUPS, {"groups": [[1, 2], [1, 2]]}, ValueError, "groups must have one dimension"),
    (DRAWN, {"metric": "ecee"}, ValueError, "Did you mean"),
    (DRAWN, {"metric": 3}, TypeError, "metric must be a name or a function"),
    (DRAWN, {"metric": no_number}, ValueError, "metric must be a number on the data; no_number"),
    (DRAWN, {"n_resamples": True}, TypeError, DRAWS),
    *[(partial(test, ONE, A), {"n_resamples": 0}, ValueError, DRAWS) for test in (*NORMS, resampling_test)],
    *[(partial(test, ONE, A), {"n_resamples": 0.5}, TypeError, DRAWS) for test in NORMS],
    *[
        (
            partial(test, [0, 1, 2], np.eye(3)),
            {"notion": "class-wise"},
            ValueError,
            f"makes 3. .*by_class.{test.__name__},",
        )
        for test in (cox_test, *NORMS)
    ],
    (EQUIVALENT, {"metric": "brier"}, ValueError, "metric must be the size of residuals, .*; got 'brier'"),
    (EQUIVALENT, {"metric": len}, TypeError, "metric must be the name of a calibration error"),
    (EQUIVALENT, {"metric": "tce", "bound": 50}, ValueError, f"{TCE}.*no triangle"),
    (EQUIVALENT, {"metric": "tce", "binning": 10}, ValueError, TCE),
    (EQUIVALENT, {"binning": Isotonic()}, ValueError, rf"{CUT}\. Pass a number of bins"),
    (EQUIVALENT, {"binning": MonotonicSweep()}, ValueError, rf"{CUT}\. Pass a number of bins"),
    # The bandwidth of the smooth error follows its value, and a median is not convex.
    *[
        (
            partial(equivalence_test, MANY > 0.5, MANY),
            {"metric": name},
            ValueError,
            f"metric must be a norm of the residuals: .*; {name} is not",
        )
        for name in ("smooth-ece", "e50")
    ],
]


@pytest.mark.parametrize(("call", "options", "error", "words"), REFUSALS)
def test_what_makes_no_sense_is_refused_in_words(call, options, error, words):
    with pytest.raises(error, match=words):
        call(**options)
