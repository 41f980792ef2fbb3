"""What every metric keeps. A metric is tested by being registered."""

import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from spellings import spelling_of
from strategies import columns, repeated, tables, votes

import calibrant as cb
from calibrant._core.border import as_problem
from calibrant._core.registry import entries
from calibrant.exceptions import CalibrationWarning
from calibrant.metrics import canonical_calibration_error
from calibrant.metrics.kinds import ThroughLens

# What Hypothesis draws holds events of probability 0 that occurred: tests/metrics/test_decompositions.py is about these.
pytestmark = pytest.mark.filterwarnings("ignore:(expected )?log loss")

METRICS = entries("metric")
SPELLED = {name: entry for name, entry in METRICS.items() if spelling_of(entry) is not None}
DISTANCES = {name: entry for name, entry in METRICS.items() if isinstance(entry, ThroughLens)}
COUNTING = {name: entry for name, entry in DISTANCES.items() if entry.size.counts_rows}
WEIGHING = {name: entry for name, entry in METRICS.items() if name not in COUNTING}

each_metric = pytest.mark.parametrize("entry", METRICS.values(), ids=list(METRICS))
each_weighing = pytest.mark.parametrize("entry", WEIGHING.values(), ids=list(WEIGHING))
forecasts = st.one_of(columns(), tables())


def same(a, b):
    assert a == pytest.approx(b, rel=1e-10, abs=1e-13)


def of(entry, label, prob, **options):
    """The metric; one that may be undefined on such data says so and is passed over."""
    with warnings.catch_warnings():
        if entry.may_be_undefined:
            warnings.simplefilter("ignore", CalibrationWarning)
        value = entry.target(label, prob, **options)
    assume(not (entry.may_be_undefined and np.isnan(value)))
    return value


@each_metric
@given(rows=forecasts)
def test_the_value_is_in_the_declared_range(entry, rows):
    label, prob, weight = rows
    low, high = entry.range
    assert low <= of(entry, label, prob, sample_weight=weight) <= high * (1 + 1e-12)


@each_metric
@given(rows=forecasts, random=st.randoms(use_true_random=False))
def test_row_order_is_irrelevant(entry, rows, random):
    label, prob, weight = rows
    order = np.array(random.sample(range(len(label)), len(label)))
    reordered = of(entry, label[order], prob[order], sample_weight=weight[order])
    same(reordered, of(entry, label, prob, sample_weight=weight))


@each_metric
@given(rows=forecasts)
def test_integer_weights_equal_repeated_rows(entry, rows):
    label, prob, weight = rows
    same(of(entry, *repeated(rows)[:2]), of(entry, label, prob, sample_weight=weight))


@each_metric
@given(rows=tables(min_rows=2))
def test_a_zero_weight_is_an_absent_row(entry, rows):
    label, prob, weight = rows
    without = np.append(weight[:-1], 0.0)
    same(of(entry, label, prob, sample_weight=without), of(entry, label[:-1], prob[:-1], sample_weight=weight[:-1]))


@each_weighing
@given(rows=forecasts)
def test_a_broadcast_weight_equals_the_same_weight_written_out(entry, rows):
    label, prob, _ = rows
    broadcast, written = np.broadcast_to(2.5, label.shape), np.full(label.shape, 2.5)
    same(of(entry, label, prob, sample_weight=broadcast), of(entry, label, prob, sample_weight=written))


def estimate_of(entry, label, prob, **options):
    """Return the estimate of a metric, undefined or not."""
    with warnings.catch_warnings(action="ignore", category=CalibrationWarning):
        return cb.assess(label, prob, metrics=[entry.name], n_resamples=5, **options)[entry.name]


@each_metric
@given(rows=forecasts)
def test_an_interval_holds_its_estimate_within_the_range(entry, rows):
    label, prob, weight = rows
    found = estimate_of(entry, label, prob, sample_weight=weight)
    value = of(entry, label, prob, sample_weight=weight)
    same(found.value, value)
    (low, high), rounding = entry.range, 1e-9 * (1.0 + abs(value)) if np.isfinite(value) else 0.0
    if found.upper is not None:
        middle = value if found.debiased is None else found.debiased
        assert low - rounding <= found.lower <= middle + rounding <= found.upper + 2 * rounding <= high + 3 * rounding
        assert middle <= value + rounding
    assert found.pvalue is None or 0.0 <= found.pvalue <= 1.0 or (np.isnan(found.pvalue) and not np.isfinite(value))
    for size in (found.noise_floor, found.detectable):
        assert size is None or 0.0 <= size <= high


@each_weighing
def test_weights_that_are_no_counts_have_any_unit(entry):
    rng = np.random.default_rng(0)
    label, prob, weight = rng.integers(0, 3, 60), rng.dirichlet(np.ones(3), 60), rng.random(60) + 0.5
    one, other = (vars(estimate_of(entry, label, prob, sample_weight=w)) for w in (weight, 8.0 * weight))
    assert {name for name in one if one[name] is None} == {name for name in other if other[name] is None}
    for name in one:
        assert one[name] is None or other[name] == pytest.approx(one[name], rel=1e-9, abs=1e-12), name


@pytest.mark.parametrize("entry", COUNTING.values(), ids=list(COUNTING))
@given(rows=forecasts)
def test_a_metric_that_counts_rows_refuses_weights_that_are_no_counts(entry, rows):
    label, prob, weight = rows
    with pytest.raises(ValueError, match=r"sample_weight must hold whole numbers .* got fractions"):
        entry.target(label, prob, sample_weight=weight + 0.5)


@each_metric
def test_the_input_is_not_touched(entry):
    rng = np.random.default_rng(0)
    for prob in (rng.random(30), rng.dirichlet(np.ones(3), 30)):
        rows = rng.integers(0, 1 + prob.ndim, 30), prob, rng.integers(1, 4, 30).astype(float)
        for column in rows:
            column.flags.writeable = False
        entry.target(rows[0], prob, sample_weight=rows[2])


@pytest.mark.deep
@each_metric
@given(rows=tables())
def test_the_layout_in_memory_is_irrelevant(entry, rows):
    label, prob, weight = rows
    value = of(entry, label, prob, sample_weight=weight)
    strided = [np.repeat(column, 2, axis=0)[::2] for column in rows]
    for other in ((label, np.asfortranarray(prob), weight), strided):
        same(of(entry, other[0], other[1], sample_weight=other[2]), value)


@pytest.mark.parametrize("entry", SPELLED.values(), ids=list(SPELLED))
@given(rows=forecasts)
def test_a_named_metric_equals_its_spelling(entry, rows):
    label, prob, weight = rows
    spelled = cb.calibration_error(label, prob, sample_weight=weight, **spelling_of(entry))
    assert entry.target(label, prob, sample_weight=weight) == spelled


@pytest.mark.deep
@pytest.mark.parametrize("spread", [0.3, 1.0, 4.0])
def test_on_calibrated_forecasts_every_error_is_at_its_noise_floor(spread):
    """Mean over labels drawn here, against the floor that `assess` states: four standard errors of the difference."""
    rng = np.random.default_rng(7)
    prob = rng.dirichlet(np.full(3, spread), 400)
    cumulative = prob.cumsum(axis=1)
    draws, resamples = 200, 400
    label = [(rng.random((400, 1)) > cumulative).sum(axis=1).clip(0, 2) for _ in range(draws)]
    found = cb.assess(label[0], prob, metrics=list(DISTANCES), binning=cb.EqualMass(10), n_resamples=resamples, rng=1)
    for name, entry in DISTANCES.items():
        if (spelling := spelling_of(entry)) is None:
            values = np.array([entry.target(y, prob) for y in label])
        else:
            options = {"binning": cb.EqualMass(10), **spelling}
            values = np.array([cb.calibration_error(y, prob, **options) for y in label])
        standard_error = values.std(ddof=1) * np.sqrt(1 / draws + 1 / resamples)
        assert abs(values.mean() - found[name].noise_floor) < 4 * standard_error, name


# Single precision: the numbers as they are, and edges of bins that are rounded as they are


USUAL = 15


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


@pytest.mark.parametrize("n_bins", [5, 10, 15, 20])
@pytest.mark.parametrize("parts", [10, 20])
def test_a_decimal_falls_into_the_same_bin_in_either_precision(n_bins, parts):
    score = np.tile(np.arange(parts + 1) / parts, 50)
    occurred = np.random.default_rng(0).random(score.size) < score  # gaps of either sign
    table = np.column_stack([np.round(1.0 - score, 2), score])
    ece, classwise, top_label = (METRICS[name].target for name in ("ece", "classwise-ece", "top-label-ece"))
    for measure, one in [(ece, score), (ece, table), (classwise, table), (top_label, score), (top_label, table)]:
        expected = pytest.approx(measure(occurred, one, binning=n_bins), abs=1e-6)
        assert measure(occurred, one.astype(np.float32), binning=n_bins) == expected
    single = score.astype(np.float32)
    both = np.column_stack([1 - single, single])
    for part in (0.05, 0.1, 0.3, 0.7):
        tace = partial(METRICS["tace"].target, occurred, threshold=part)
        assert tace(single) == tace(both)
    double, rounded = (cb.EqualWidth(n_bins)(as_problem(occurred, p)) for p in (score, single))
    np.testing.assert_array_equal(double.count, rounded.count)
    assert rounded.edges.astype(np.float32).tolist() == rounded.edges.tolist()


# Numbers that are equal stay equal: decimals, votes and percent are one forecast, whatever their rows sum to


ERRORS = {
    f"{notion} {binning}": partial(cb.calibration_error, notion=notion, binning=binning)
    for notion in entries("notion")
    for binning in entries("binning")
}
CANONICAL = {
    f"canonical {binning}": partial(canonical_calibration_error, binning=binning)
    for binning in entries("simplex-binning")
}
FIGURES = {name: entry.target for name, entry in METRICS.items()} | ERRORS | CANONICAL
SEEDS = range(4)


@pytest.mark.parametrize("name", FIGURES)
def test_votes_percent_and_decimals_have_one_figure(name):
    n_classes = 2 if name.startswith("binary") else 3
    for seed in SEEDS:
        y, rows = votes(n_classes, seed)
        with warnings.catch_warnings(action="ignore", category=CalibrationWarning):
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
