"""What every metric keeps. A metric is tested by being registered."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from spellings import spelling_of
from strategies import columns, tables

from calibrant import EqualMass, assess, calibration_error
from calibrant._core.registry import entries
from calibrant.exceptions import CalibrationWarning
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
each_counting = pytest.mark.parametrize("entry", COUNTING.values(), ids=list(COUNTING))
each_spelled = pytest.mark.parametrize("entry", SPELLED.values(), ids=list(SPELLED))
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
    same(
        of(entry, label[order], prob[order], sample_weight=weight[order]), of(entry, label, prob, sample_weight=weight)
    )


@each_metric
@given(rows=forecasts)
def test_integer_weights_equal_repeated_rows(entry, rows):
    label, prob, weight = rows
    times = weight.astype(int)
    same(
        of(entry, np.repeat(label, times), np.repeat(prob, times, axis=0)), of(entry, label, prob, sample_weight=weight)
    )


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


@each_counting
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
        before = [column.copy() for column in rows]
        entry.target(rows[0], prob, sample_weight=rows[2])
        for column, copy in zip(rows, before, strict=True):
            np.testing.assert_array_equal(column, copy)


@pytest.mark.deep
@each_metric
@given(rows=tables())
def test_the_layout_in_memory_is_irrelevant(entry, rows):
    label, prob, weight = rows
    value = of(entry, label, prob, sample_weight=weight)
    frozen = [column.copy() for column in rows]
    for column in frozen:
        column.flags.writeable = False
    strided = [np.repeat(column, 2, axis=0)[::2] for column in rows]
    for other in (frozen, (label, np.asfortranarray(prob), weight), strided):
        same(of(entry, other[0], other[1], sample_weight=other[2]), value)


@each_spelled
@given(rows=forecasts)
def test_a_named_metric_equals_its_spelling(entry, rows):
    label, prob, weight = rows
    assert entry.target(label, prob, sample_weight=weight) == calibration_error(
        label, prob, sample_weight=weight, **spelling_of(entry)
    )


@pytest.mark.deep
@pytest.mark.parametrize("spread", [0.3, 1.0, 4.0])
def test_on_calibrated_forecasts_every_error_is_at_its_noise_floor(spread):
    """Mean over labels drawn here, against the floor that `assess` states: four standard errors of the difference."""
    rng = np.random.default_rng(7)
    prob = rng.dirichlet(np.full(3, spread), 400)
    cumulative = prob.cumsum(axis=1)
    draws, resamples = 200, 400
    label = [(rng.random((400, 1)) > cumulative).sum(axis=1).clip(0, 2) for _ in range(draws)]
    found = assess(label[0], prob, metrics=list(DISTANCES), binning=EqualMass(10), n_resamples=resamples, rng=1)
    for name, entry in DISTANCES.items():
        if (spelling := spelling_of(entry)) is None:
            values = np.array([entry.target(y, prob) for y in label])
        else:
            options = {"binning": EqualMass(10), **spelling}
            values = np.array([calibration_error(y, prob, **options) for y in label])
        standard_error = values.std(ddof=1) * np.sqrt(1 / draws + 1 / resamples)
        assert abs(values.mean() - found[name].noise_floor) < 4 * standard_error, name
