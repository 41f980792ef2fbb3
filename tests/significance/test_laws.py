"""What every test of one forecast keeps. A test is tested by being registered."""

import re
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from scipy.special import expit
from strategies import columns, uniform_rows

from calibrant import paired_test
from calibrant import significance as sig
from calibrant._core.registry import entries
from calibrant.binning import Isotonic, MonotonicSweep
from calibrant.exceptions import CalibrationWarning

OPTIONS = {name: {"n_resamples": 19} for name in ("bayes-factor", "resampling", "equivalence", "kernel")}
OPTIONS |= {"hosmer-lemeshow": {"n_resamples": None}}
SIDES = ("less", "greater", "two-sided")
TESTS = entries("test")
each_test = pytest.mark.parametrize("name", TESTS)


def run(name, *args, **options):
    with warnings.catch_warnings(action="ignore", category=CalibrationWarning):
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
    assert isinstance(found, sig.TestResult)
    assert not np.isnan(found.statistic)
    assert 0.0 <= found.pvalue <= 1.0
    assert found.assumptions
    assert all(sentence.endswith((".", "?")) for sentence in found.assumptions)
    same(run(name, label[::-1], prob[::-1], sample_weight=weight[::-1]).statistic, found.statistic)


@pytest.mark.parametrize("name", ["cox", "hosmer-lemeshow", "kolmogorov-smirnov", "kuiper", "spiegelhalter"])
@given(rows=columns())
def test_weights_that_are_no_counts_have_any_unit_and_equal_ones_are_none(name, rows):
    label, prob, weight = rows
    same(run(name, label, prob, sample_weight=np.full(len(label), 0.7)).pvalue, run(name, label, prob).pvalue)
    one, other = (run(name, label, prob, sample_weight=weight / unit) for unit in (7.0, 700.0))
    same(other.statistic, one.statistic)


# Tests of two forecasts


@pytest.mark.parametrize("metric", [name for name, metric in entries("metric").items() if not metric.may_be_undefined])
def test_effect_statistic_and_sides_of_a_paired_test_have_one_sign(metric):
    y, a = uniform_rows(200)
    b = np.clip(a**2, 0.01, 0.99)
    signs = set()
    for pair in ((a, b), (b, a)):
        found = {side: paired_test(y, *pair, metric=metric, n_resamples=39, alternative=side) for side in SIDES}
        sign = np.sign(found["less"].difference)
        assert all(np.sign([one.statistic, one.difference]).tolist() == [sign, sign] for one in found.values())
        if found["two-sided"].pvalue < 0.1:
            assert sign * (found["less"].pvalue - found["greater"].pvalue) > 0.5
        signs.add(sign)
    assert signs in ({-1.0, 1.0}, {0.0})


# How often tests reject, as on docs/size-and-power.md, with fewer data sets

PAGE = (Path(__file__).parents[2] / "docs" / "size-and-power.md").read_text(encoding="utf-8")
RUNS_OF_PAGE, RUNS = 1000, 150
KINDS = {"rare": (-4.2, 0.8), "extreme": (0.0, 6.0)}
WRONG = {
    "over-confident": lambda z: expit(z / 1.4),
    "under-confident": lambda z: expit(z * 1.4),
    "too high": lambda z: expit(z - 0.3),
    "wave": lambda z: np.clip(expit(z) + 0.12 * np.sin(8 * np.pi * expit(z)), 0.0, 1.0),
}


def shares(head):
    """Test and options, forecast and percentage of each cell of a table of the page."""
    lines = re.search(rf"^\| {re.escape(head)}.*\n(?:\|.*\n)+", PAGE, flags=re.M)[0].splitlines()
    first, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    for row, *cells in rows:
        word, metric = re.fullmatch(r"([\w -]+?)(?: of `(.*)`)?(?:,.*)?", row).groups()
        options = ({"n_resamples": 99} if "draws" in row else {}) | ({"metric": metric} if metric else {})
        for column, cell in zip(first[1:], cells, strict=True):
            yield pytest.param(word.lower().replace(" ", "-"), options, column, float(cell), id=f"{row}-{column}")


@pytest.mark.deep
@pytest.mark.parametrize(
    ("name", "options", "column", "share"), [*shares("one event: size"), *shares("power, n = 500 | over-confident | u")]
)
def test_as_many_forecasts_of_an_event_are_rejected_as_the_page_says(name, options, column, share):
    """Within four standard errors of the difference, from the share of both together."""
    n = int((re.findall(r"n = (\d+)", column) or [500])[0])
    (mean, spread), truth = KINDS.get(column.partition(",")[0], (0.0, 1.5)), WRONG.get(column, expit)
    rng, rejected = np.random.default_rng(7), 0
    for seed in range(RUNS):
        z, drawn = rng.normal(mean, spread, n), {"rng": seed} if options else {}
        rejected += run(name, rng.random(n) < truth(z), expit(z), **options, **drawn).pvalue <= 0.05
    both = (RUNS_OF_PAGE * share / 100 + rejected) / (RUNS_OF_PAGE + RUNS)
    error = np.sqrt(both * (1.0 - both) * (1.0 / RUNS_OF_PAGE + 1.0 / RUNS))
    assert abs(rejected / RUNS - share / 100) <= 4.0 * error


# What is refused: the call, the kind of error, and its words


def no_number(y, p):
    return float("nan")


ONE, A, B, HALVES, MANY = [0, 1], [0.2, 0.7], [0.3, 0.8], np.full((2, 2), 0.5), np.random.default_rng(0).random(200)
LABELS = np.array([1, "a"], dtype=object)
FOUR = ([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4])
DRAWS = "n_resamples must be a whole number, at least 1; got"
TCE = "got 'tce', the percentage of predictions that tests reject"
CUT = r"cut scores without .*; got .*\. Pass a number of"
NORMS = ("kolmogorov_smirnov_test", "kuiper_test")
REFUSALS = [
    ("paired_test", (ONE, HALVES, np.full((2, 3), 1 / 3)), {}, r"one shape; got \(2, 2\) and \(2, 3\)"),
    ("paired_test", (ONE, A, B), {"alternative": "better"}, "one of 'greater', .*; got 'better'"),
    ("paired_test", (ONE, A, B), {"metric": no_number}, "metric must be a number on both forecasts"),
    ("paired_test", (ONE, HALVES, HALVES), {"y_true_b": ["no", "yes"]}, r"same classes; got \[0, 1\] and \['no'"),
    ("paired_difference", (ONE, A, B), {"y_true_b": [-1, 1]}, r"\[-1, 1\]\. Write both with the same labels"),
    ("paired_difference", (ONE, A, B), {"metric": "ece", "n_resamples": 1}, "at least 2 for .*; got 1"),
    ("bayes_factor_test", (ONE, A), {"n_resamples": 0}, DRAWS),
    (
        "by_class",
        (sig.cox_test, ONE, A),
        {"method": "sidak"},
        "method .* 'holm', .* got 'sidak'. Holm's is never wrong",
    ),
    ("hosmer_lemeshow_test", (ONE, A), {"reference": np.array([0, 1])}, "must be one of the classes .*; got array"),
    ("hosmer_lemeshow_test", (ONE, A), {"reference": 7}, r"reference must be one of the classes \[0, 1\]; got 7"),
    ("hosmer_lemeshow_test", (ONE, A), {"n_bins": 1}, "n_bins must be a whole number, at least 2; got 1"),
    ("hosmer_lemeshow_test", (ONE, A), {"fitted": True, "n_resamples": -5}, f"{DRAWS} -5"),
    ("by_group", (sig.cox_test, ONE, A, [1, 1, 2]), {}, "groups must have one entry a row of y_prob; got 3"),
    ("resampling_test", (ONE, A), {"metric": no_number}, "metric must be a number on the data; no_number"),
    *[(name, (ONE, A), {"n_resamples": 0}, DRAWS) for name in (*NORMS, "resampling_test")],
    *[
        (name, ([0, 1, 2], np.eye(3)), {"notion": "class-wise"}, f"makes 3. .*by_class.{name},")
        for name in ("cox_test", *NORMS)
    ],
    ("kernel_test", ([1], [0.5]), {"rng": -1}, "rng must be a whole number, at least 0; got -1"),
    ("equivalence_test", FOUR, {"metric": "brier"}, "metric must be the size of residuals, .*; got 'brier'"),
    ("equivalence_test", FOUR, {"metric": "tce", "bound": 50}, f"{TCE}.*no triangle"),
    ("equivalence_test", FOUR, {"metric": "tce", "binning": 10}, TCE),
    ("equivalence_test", FOUR, {"binning": Isotonic()}, CUT),
    ("equivalence_test", FOUR, {"binning": MonotonicSweep()}, CUT),
    # The bandwidth of the smooth error follows its value, and a median is not convex.
    ("equivalence_test", (MANY > 0.5, MANY), {"metric": "smooth-ece"}, "a norm of .*; smooth-ece is not"),
    ("equivalence_test", (MANY > 0.5, MANY), {"metric": "e50"}, "a norm of the residuals: .*; e50 is not"),
]
OF_THE_WRONG_TYPE = [
    ("by_group", (int, ONE, A, ONE), {}, "test must take y_true, y_prob; got <class 'int'>, which does not"),
    ("by_group", (sig.cox_test, ONE, A, LABELS), {}, "groups must hold labels of one kind; got number and text"),
]


ROWS = [(ValueError, *row) for row in REFUSALS] + [(TypeError, *row) for row in OF_THE_WRONG_TYPE]


@pytest.mark.parametrize(("error", "name", "data", "options", "words"), ROWS)
def test_what_makes_no_sense_is_refused_in_words(error, name, data, options, words):
    with pytest.raises(error, match=words):
        getattr(sig, name)(*data, **options)
