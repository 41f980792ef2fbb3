"""What every test of one forecast keeps. A test is tested by being registered."""

import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from strategies import columns

from calibrant import paired_test
from calibrant._core.registry import entries
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
BY_FORMULA = ["hosmer-lemeshow", "kolmogorov-smirnov", "kuiper", "spiegelhalter"]

SIDES = ("less", "greater", "two-sided")

TESTS = entries("test")
each_test = pytest.mark.parametrize("name", TESTS)
each_formula = pytest.mark.parametrize("name", BY_FORMULA)


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
def test_statistic_and_pvalue_are_numbers(name, rows):
    label, prob, weight = rows
    found = run(name, label, prob, sample_weight=weight)
    assert isinstance(found, TestResult)
    assert not np.isnan(found.statistic)
    assert 0.0 <= found.pvalue <= 1.0
    assert found.assumptions
    assert all(sentence.endswith((".", "?")) for sentence in found.assumptions)


@each_test
@given(rows=columns(min_rows=2))
def test_row_order_does_not_change_the_statistic(name, rows):
    label, prob, weight = rows
    there = run(name, label, prob, sample_weight=weight)
    back = run(name, label[::-1], prob[::-1], sample_weight=weight[::-1])
    same(back.statistic, there.statistic)


@each_formula
@given(rows=columns())
def test_integer_weights_equal_repeated_rows(name, rows):
    label, prob, weight = rows
    times = weight.astype(int)
    weighted = run(name, label, prob, sample_weight=weight)
    repeated = run(name, np.repeat(label, times), np.repeat(prob, times))
    same(weighted.statistic, repeated.statistic)
    same(weighted.pvalue, repeated.pvalue)


@each_formula
@given(rows=columns())
def test_equal_weights_that_are_no_counts_are_no_weights(name, rows):
    label, prob, _ = rows
    same(run(name, label, prob, sample_weight=np.full(len(label), 0.7)).pvalue, run(name, label, prob).pvalue)


@each_test
@given(rows=columns())
def test_the_input_is_not_touched(name, rows):
    before = [column.copy() for column in rows]
    label, prob, weight = rows
    for column in rows:
        column.flags.writeable = False
    run(name, label, prob, sample_weight=weight)
    for column, copy in zip(rows, before, strict=True):
        np.testing.assert_array_equal(column, copy)


@each_test
def test_a_table_can_be_tested(name):
    rng = np.random.default_rng(0)
    prob = rng.dirichlet(np.ones(3), 60)
    found = run(name, rng.integers(0, 3, 60), prob)
    assert 0.0 <= found.pvalue <= 1.0


@each_test
def test_what_is_no_forecast_is_refused(name):
    with pytest.raises(ValueError, match="y_prob must hold probabilities"):
        run(name, [0, 1], [0.5, 1.5])


@each_test
def test_strings_are_labels(name):
    y, p = np.array([0, 1, 1, 0, 1] * 8), np.linspace(0.1, 0.9, 40)
    words = np.where(y == 1, "spam", "ham")
    same(run(name, words, p, pos_label="spam").statistic, run(name, y, p).statistic)


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
REFUSALS = [
    (lambda: paired_test(ONE, HALVES, np.full((2, 3), 1 / 3)), ValueError, r"one shape; got \(2, 2\) and \(2, 3\)"),
    (lambda: paired_test(ONE, A, B, alternative="better"), ValueError, "one of 'greater', .*; got 'better'"),
    (lambda: paired_test(ONE, A, B, metric=no_number), ValueError, "metric must be a number on both forecasts"),
    (
        lambda: paired_test(ONE, HALVES, HALVES, y_true_b=["no", "yes"]),
        ValueError,
        r"same classes; got \[0, 1\] and \['no'",
    ),
    (lambda: paired_test(ONE, A, B, level=5), ValueError, "level must be"),
    (lambda: paired_difference(ONE, A, B, metric="ece", n_resamples=1), ValueError, "at least 2 for .*; got 1"),
    (lambda: bayes_factor_test(ONE, A, n_resamples=0), ValueError, DRAWS),
    (lambda: by_class(cox_test, ONE, A, method="sidak"), ValueError, "method must be one of 'holm', .*; got 'sidak'"),
    (
        lambda: hosmer_lemeshow_test(ONE, A, reference=np.array([0, 1])),
        ValueError,
        "must be one of the classes .*; got array",
    ),
    (lambda: by_group(int, ONE, A, ONE), TypeError, "test must take y_true, y_prob; got <class 'int'>, which does not"),
    (lambda: by_group(cox_test, ONE, A, [1, 1, 2]), ValueError, "groups must have one entry a row of y_prob; got 3"),
    (lambda: by_group(cox_test, ONE, A, LABELS), TypeError, "groups must hold labels of one kind; got number and text"),
    (lambda: by_group(cox_test, ONE, A, [[1, 2], [1, 2]]), ValueError, "groups must have one dimension"),
    (lambda: resampling_test(ONE, A, metric="ecee"), ValueError, "Did you mean"),
    (lambda: resampling_test(ONE, A, metric=3), TypeError, "metric must be a name or a function"),
    (lambda: resampling_test(ONE, A, metric=no_number), ValueError, "metric must be a number on the data; no_number"),
    (lambda: resampling_test(ONE, A, n_resamples=0), ValueError, DRAWS),
    (lambda: resampling_test(ONE, A, n_resamples=True), TypeError, DRAWS),
    *[(partial(test, ONE, A, n_resamples=0), ValueError, DRAWS) for test in NORMS],
    *[(partial(test, ONE, A, n_resamples=0.5), TypeError, DRAWS) for test in NORMS],
    *[
        (partial(test, [0, 1, 2], np.eye(3), notion="class-wise"), ValueError, f"makes 3. .*by_class.{test.__name__},")
        for test in (cox_test, *NORMS)
    ],
]


def no_number(y, p):
    return float("nan")


@pytest.mark.parametrize(("call", "error", "words"), REFUSALS)
def test_what_makes_no_sense_is_refused_in_words(call, error, words):
    with pytest.raises(error, match=words):
        call()
