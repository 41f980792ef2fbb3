"""A whole weight is a number of equal rows, in every figure: exactly where nothing is drawn, else in distribution."""

import inspect
from functools import cache

import numpy as np
import pytest

from calibrant import assess
from calibrant._core.registry import entries
from calibrant._core.validation import as_problem
from calibrant.metrics.kinds.through_lens import ThroughLens
from calibrant.significance import paired_difference, paired_test

pytestmark = pytest.mark.filterwarnings("ignore::calibrant.exceptions.CalibrationWarning")

METRICS, TESTS = entries("metric"), entries("test")
SEEDS = range(5)
SIZES = {"few": 600, "many": 4200}
"""Equal rows of which labels are drawn for each, and of which the noise is drawn from sums."""

each_metric = pytest.mark.parametrize("entry", METRICS.values(), ids=list(METRICS))
each_test = pytest.mark.parametrize("entry", TESTS.values(), ids=list(TESTS))
each_size = pytest.mark.parametrize("n", SIZES.values(), ids=list(SIZES))
each_width = pytest.mark.parametrize("n_classes", [1, 3], ids=["column", "table"])


@cache
def rows_and_counts(n_classes, n, power=1.05):
    """Labels and a forecast of few distinct values, as rows and as ``SELECT ..., COUNT(*) GROUP BY``."""
    rng = np.random.default_rng(n + n_classes)
    if n_classes == 1:
        steps = 10 if n < 100 else 40
        prob = (np.rint(steps * rng.beta(1, 2, n)) / steps).clip(0.01, 0.99)
        label = (rng.random(n) < prob**power).astype(int)
    else:
        prob = rng.multinomial(6, rng.dirichlet(np.full(n_classes, 2.0), n)) / 8 + 0.25 / n_classes
        true = prob**power / (prob**power).sum(axis=1, keepdims=True)
        label = (true.cumsum(axis=1)[:, :-1] <= rng.random((n, 1))).sum(axis=1)
    distinct, at, times = np.unique(np.column_stack([label, prob]), axis=0, return_index=True, return_counts=True)
    assert 4 * len(distinct) < n
    return (label, prob, None), (label[at], prob[at], times.astype(float))


def of(call, data, **options):
    label, prob, weight = data
    return call(label, prob, **({} if weight is None else {"sample_weight": weight}), **options)


def require_one_law(of_rows, of_counts, scale, slack=0.04, what=""):
    """Two arrays (seeds, figures): no mean differs by more than noise explains, and a small part of the scale."""
    of_rows, of_counts = (np.asarray(one, dtype=float) for one in (of_rows, of_counts))
    np.testing.assert_array_equal(np.isnan(of_rows), np.isnan(of_counts))
    of_rows, of_counts = np.nan_to_num(of_rows), np.nan_to_num(of_counts)
    error = np.sqrt((of_rows.var(axis=0, ddof=1) + of_counts.var(axis=0, ddof=1)) / len(of_rows))
    apart = np.abs(of_rows.mean(axis=0) - of_counts.mean(axis=0))
    assert (apart <= 4.0 * error + slack * scale + 1e-12).all(), (
        what,
        of_rows.mean(axis=0),
        of_counts.mean(axis=0),
        error,
    )


# Metrics


DRAWN = ("lower", "upper", "noise_floor", "detectable", "debiased")
OF_DEVIATIONS = [name for name, one in METRICS.items() if isinstance(one, ThroughLens) and not one.size.counts_rows]


@cache
def assessments(n_classes, n):
    """Metrics of rows and of counts, once for each seed; of many rows those whose noise is drawn from sums."""
    names = [*METRICS] if n == SIZES["few"] else [*OF_DEVIATIONS, "canonical-ece"]
    if n_classes == 1 and "vus" in names:
        names.remove("vus")
    both = rows_and_counts(n_classes, n)
    return names, [[of(assess, one, metrics=names, n_resamples=99, rng=seed) for seed in SEEDS] for one in both]


@each_width
@each_size
def test_counts_give_the_estimates_of_the_repeated_rows(n, n_classes):
    names, both = assessments(n_classes, n)
    for name in names:
        of_rows, of_counts = ([one[name] for one in some] for some in both)
        assert of_counts[0].value == pytest.approx(of_rows[0].value, rel=1e-9, abs=1e-12), name
        figures = [[[getattr(one, word) for word in DRAWN] for one in some] for some in (of_rows, of_counts)]
        first = of_rows[0]
        if first.upper is not None:
            require_one_law(*figures, scale=first.upper - first.lower, what=name)
        require_one_law(*([[one.pvalue] for one in some] for some in (of_rows, of_counts)), scale=1.0, what=name)


@each_width
@each_metric
def test_counts_give_the_null_distribution_of_the_repeated_rows(entry, n_classes):
    if entry.name == "vus":
        pytest.skip("its draws take a minute; they are those of every metric with a function of its own")
    found = []
    for data in rows_and_counts(n_classes, SIZES["few"]):
        drawn = [entry.null(of(as_problem, data), 40, np.random.default_rng(seed))[1] for seed in SEEDS]
        found.append([[one.mean(), one.std(), np.quantile(one, 0.9)] for one in drawn])
    require_one_law(*found, scale=found[0][0][1])


@each_metric
def test_counts_give_the_paired_difference_of_the_repeated_rows(entry):
    found, values = [], []
    for label, prob, weight in rows_and_counts(1, 90):
        drawn = [
            of(paired_difference, (label, prob, weight), prob_b=prob**1.3, metric=entry.name, n_resamples=40, rng=seed)
            for seed in SEEDS
        ]
        values.append(drawn[0].difference)
        found.append([[one.standard_error] for one in drawn])
    assert values[1] == pytest.approx(values[0], rel=1e-9, abs=1e-12)
    require_one_law(*found, scale=found[0][0][0], slack=0.1)


@pytest.mark.parametrize("metric", ["ece", "debiased-ece", "brier", "roc-auc"])
def test_counts_give_the_paired_test_of_the_repeated_rows(metric):
    found = []
    for label, prob, weight in rows_and_counts(1, SIZES["few"]):
        options = {"prob_b": prob**1.1, "metric": metric, "n_resamples": 99}
        tests = [of(paired_test, (label, prob, weight), rng=seed, **options) for seed in SEEDS]
        found.append([[one.pvalue, one.upper - one.lower, one.statistic] for one in tests])
    require_one_law(*found, scale=np.array([1.0, *np.abs(found[0][0][1:])]))


# Tests


@each_width
@each_test
@pytest.mark.parametrize("drawn", [False, True], ids=["by-default", "of-draws"])
def test_counts_give_the_test_of_the_repeated_rows(entry, drawn, n_classes):
    options = {}
    names = inspect.signature(entry.target).parameters
    if drawn:
        if "n_resamples" not in names:
            return
        options["n_resamples"] = 199
    if "bound" in names:
        options["bound"] = 0.05
    found, statistics = [], []
    for data in rows_and_counts(n_classes, SIZES["few"]):
        seeds = [{"rng": seed} for seed in SEEDS] if "rng" in names else [{}] * 2
        tests = [of(entry.target, data, **options, **one) for one in seeds]
        statistics.append(tests[0].statistic)
        found.append([[one.pvalue, float(one.null.sf(1.3 * one.statistic))] for one in tests])
    assert statistics[1] == pytest.approx(statistics[0], rel=1e-9)
    require_one_law(*found, scale=1.0, slack=0.03)
