"""A whole weight is a number of equal rows, in every figure: exactly where nothing is drawn, else in distribution."""

import inspect
import tracemalloc
from functools import cache

import numpy as np
import pytest

import calibrant as cb
from calibrant import assess, curves
from calibrant._core.border import as_problem
from calibrant._core.registry import entries
from calibrant.metrics.kinds import ThroughLens
from calibrant.significance import kolmogorov_smirnov_test, kuiper_test, paired_difference, paired_test

pytestmark = pytest.mark.filterwarnings("ignore::calibrant.exceptions.CalibrationWarning")

METRICS, TESTS = entries("metric"), entries("test")
SEEDS = range(5)
SIZES = {"few": 600, "many": 4200}
"""Equal rows of which labels are drawn for each, and of which the noise is drawn from sums."""

each_metric = pytest.mark.parametrize("entry", METRICS.values(), ids=list(METRICS))
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
    one, other = of_rows.mean(axis=0), of_counts.mean(axis=0)
    assert (np.abs(one - other) <= 4.0 * error + slack * scale + 1e-12).all(), (what, one, other, error)


# Metrics


DRAWN = ("lower", "upper", "noise_floor", "detectable", "debiased")
OF_DEVIATIONS = [name for name, one in METRICS.items() if isinstance(one, ThroughLens) and not one.size.counts_rows]


@cache
def assessments(n_classes, n):
    """Metrics of rows and of counts, once for each seed; of many rows those whose noise is drawn from sums."""
    names = [*METRICS] if n == SIZES["few"] else [*OF_DEVIATIONS, "canonical-ece"]
    if n_classes == 1 and "vus" in names:
        names.remove("vus")
    quick = [name for name in names if name != "smooth-ece"]

    def estimates(data, seed):
        """Of the smooth error by fewer draws, which else take three quarters of the time."""
        each = ((quick, 99), (["smooth-ece"], 29))
        parts = [of(assess, data, metrics=some, n_resamples=draws, rng=seed) for some, draws in each]
        return {row.metric: row.estimate for part in parts for row in part.rows}

    return names, [[estimates(one, seed) for seed in SEEDS] for one in rows_and_counts(n_classes, n)]


@each_width
@pytest.mark.parametrize("n", SIZES.values(), ids=list(SIZES))
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
@pytest.mark.parametrize("entry", TESTS.values(), ids=list(TESTS))
@pytest.mark.parametrize("drawn", [False, True], ids=["by-default", "of-draws"])
def test_counts_give_the_test_of_the_repeated_rows(entry, drawn, n_classes):
    names = inspect.signature(entry.target).parameters
    if drawn and "n_resamples" not in names:
        return
    options = ({"n_resamples": 199} if drawn else {}) | ({"bound": 0.05} if "bound" in names else {})
    found, statistics = [], []
    for data in rows_and_counts(n_classes, SIZES["few"]):
        seeds = [{"rng": seed} for seed in SEEDS] if "rng" in names else [{}] * 2
        tests = [of(entry.target, data, **options, **one) for one in seeds]
        statistics.append(tests[0].statistic)
        found.append([[one.pvalue, float(one.null.sf(1.3 * one.statistic))] for one in tests])
    assert statistics[1] == pytest.approx(statistics[0], rel=1e-9)
    require_one_law(*found, scale=1.0, slack=0.03)


@pytest.mark.parametrize("test", [kolmogorov_smirnov_test, kuiper_test])
def test_a_hundred_million_rows_as_counts_draw_no_row_each(test):
    rng = np.random.default_rng(0)
    score, rows = np.arange(1, 1000) / 1000, 1e8 / 999
    events = rng.binomial(int(rows), score)
    data = np.repeat([1, 0], 999), np.tile(score, 2), np.concatenate([events, int(rows) - events]).astype(float)
    tracemalloc.start()
    drawn, known = of(test, data, n_resamples=200), of(test, data)
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()
    assert drawn.statistic == known.statistic
    assert abs(drawn.pvalue - known.pvalue) < 4 * np.sqrt(0.25 / 200)


# Curves


CURVES = {
    "bin_test_curve": curves.bin_test_curve,
    "binning_quality": curves.binning_quality,
    "class_errors": lambda y, p, **data: curves.class_errors(y, p, notion="class-wise", n_resamples=99, **data),
    "class_errors, anew": lambda y, p, **data: curves.class_errors(y, p, loss="squared gap", n_resamples=99, **data),
    "corp_curve": lambda y, p, **data: curves.corp_curve(y, p, n_resamples=99, **data),
    "corp_curve, confidence": lambda y, p, **data: curves.corp_curve(y, p, n_resamples=99, band="confidence", **data),
    "corp_curve, simultaneous": lambda y, p, **data: curves.corp_curve(y, p, band="simultaneous", **data),
    "reliability_curve": curves.reliability_curve,
    "risk_coverage_curve": cb.decisions.risk_coverage_curve,
    "roc_curve": curves.roc_curve,
    "roc_surface": lambda y, p, **data: curves.roc_surface(y, p, n_thresholds=20, **data),
    "smooth_reliability_curve": curves.smooth_reliability_curve,
    "top_label_curve": curves.top_label_curve,
    "validity_curve": lambda y, p, **data: curves.validity_curve(y, p, binning=9, **data),
    "decision_curve": lambda y, p, **data: cb.decision_curve(y, p, threshold=[0.1, 0.3], n_resamples=99, **data),
    "expected_cost_curve": lambda y, p, **data: cb.decisions.expected_cost_curve(y, p, at=[0.1, 0.5], **data),
}
"""Every curve of labels and a forecast, but those of single rows and those of a calibrator."""

DRAWN_CURVES = {"class_errors", "class_errors, anew", "corp_curve", "corp_curve, confidence", "decision_curve"}
OF_DRAWS = {"noise_floor", "lower", "upper", "gain_lower", "gain_upper"}
OF_A_CALIBRATOR = {"calibration_map", "simplex_map", "simplex_partition"}
OF_ONE_EVENT = {"decision_curve", "expected_cost_curve"}


def test_every_curve_is_held_to_the_law():
    of_rows = [name for name in curves.__all__ if name.endswith(("curve", "_errors", "_surface"))]
    names = {name for name in of_rows if not name.startswith("plot_")}
    assert names - OF_A_CALIBRATOR - {"simplex_points"} <= {name.split(",")[0] for name in CURVES}


@each_width
@pytest.mark.parametrize("name", CURVES)
def test_counts_give_the_curve_of_the_repeated_rows(name, n_classes):
    if n_classes == 3 and name in OF_ONE_EVENT:
        return
    call, found = CURVES[name], []
    seeds = [{"rng": seed} for seed in SEEDS] if name in DRAWN_CURVES else [{}] * 2
    for data in rows_and_counts(n_classes, SIZES["few"]):
        found.append([of(call, data, **seed).to_frame() for seed in seeds])
    first, other = found[0][0], found[1][0]
    assert first.shape == other.shape
    for column in first:
        if first[column].dtype.kind not in "fiu":
            assert first[column].equals(other[column]), column
        elif column in OF_DRAWS and name in DRAWN_CURVES:
            each = [[one[column].to_numpy() for one in some] for some in found]
            require_one_law(*each, scale=np.nanmax(np.abs(each[0][0])), what=column)
        else:
            np.testing.assert_allclose(other[column], first[column], rtol=1e-9, atol=1e-12, err_msg=column)


# Rows of weight 0


def with_nothing(data):
    """Rows of weight zero of scores and labels that no other row has, among the others."""
    row = np.array([0.999, 0.001, 0.5]) if data[1].ndim == 1 else np.eye(3)
    return [np.insert(old, [0, 5, 9], new, axis=0) for old, new in zip(data, ([0, 1, 1], row, 0.0), strict=True)]


@each_width
@pytest.mark.parametrize("name", CURVES)
def test_rows_of_weight_zero_change_no_curve(name, n_classes):
    if n_classes == 3 and name in OF_ONE_EVENT:
        return
    _, data = rows_and_counts(n_classes, SIZES["few"])
    first, other = (of(CURVES[name], one).to_frame() for one in (data, with_nothing(data)))
    assert other.equals(first)


@each_width
def test_rows_of_weight_zero_change_no_estimate(n_classes):
    _, data = rows_and_counts(n_classes, SIZES["few"])
    names = [name for name in METRICS if name not in ("vus", "tce")]
    first, other = (of(assess, one, metrics=names, n_resamples=19) for one in (data, with_nothing(data)))
    np.testing.assert_equal(*([vars(row.estimate) for row in one.rows] for one in (first, other)))
    assert other.n_rows == first.n_rows == SIZES["few"]
