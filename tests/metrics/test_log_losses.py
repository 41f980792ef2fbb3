"""Events that a forecast called impossible and that occurred: counted, never hidden, and the log loss is scikit-learn's."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import log_loss as log_loss_of_scikit_learn
from strategies import columns, tables

from calibrant import assess, log_loss, paired_test
from calibrant._core.rows import Weights
from calibrant.datasets import load_survey_table_3
from calibrant.exceptions import CalibrationWarning
from calibrant.metrics import calibration_refinement, corp_decomposition, epistemic_irreducible
from calibrant.metrics.estimate import mean_estimate
from calibrant.significance import resampling_test
from calibrant.sums.draws import Bootstrap

COST = -np.log(np.finfo(float).eps)
TINY = [0.0, 1e-300, 1e-20, 1.1e-16, 2.2e-16, 2.3e-16, 1e-12, 1e-3, 0.5, 1.0]
forecasts = st.one_of(columns(), tables())


@pytest.fixture
def table_3():
    y, prob = load_survey_table_3()
    return y - 1, prob


def counted(n, of):
    return pytest.warns(CalibrationWarning, match=rf"^log loss .*got probability 0 in {n} of {of} row")


def quiet(function, *data, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        return function(*data, **options)


# The value


def test_table_3_of_the_survey_has_an_infinite_loss(table_3):
    for options, expected in [({}, 3.347761563688164), ({"clip": 0}, np.inf), ({"clip": 1e-12}, 2.7869194121422565)]:
        with counted(2, 30):
            assert log_loss(*table_3, **options) == pytest.approx(expected, rel=1e-14)


@given(rows=forecasts)
def test_it_is_the_log_loss_of_scikit_learn_where_events_are_impossible_as_well(rows):
    label, prob, weight = rows
    labels = np.arange(2 if prob.ndim == 1 else prob.shape[1])
    expected = log_loss_of_scikit_learn(label, prob, sample_weight=weight, labels=labels)
    assert quiet(log_loss, label, prob, sample_weight=weight) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("event", [0, 1])
@pytest.mark.parametrize("prob", TINY)
def test_near_zero_it_is_the_log_loss_of_scikit_learn_of_a_column_and_of_a_table(prob, event):
    expected = log_loss_of_scikit_learn([event], [prob], labels=[0, 1])
    assert quiet(log_loss, [event], [prob]) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    table = [[1.0 - prob, prob]]
    assert quiet(log_loss, [event], table) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(prob=st.floats(0.0, 1.0), clip=st.floats(0.0, 0.4))
def test_the_clip_is_the_least_probability_that_counts(prob, clip):
    found = quiet(log_loss, [1], [prob], clip=clip)
    with np.errstate(divide="ignore"):
        assert found == -np.log(max(prob, clip))


# What is counted


def test_a_row_of_weight_zero_and_a_class_that_did_not_occur_are_not_counted():
    prob = [[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]]
    assert log_loss([1, 0, 1], prob, sample_weight=[1, 1, 0]) == pytest.approx(np.log(2) / 2)
    assess([1, 0, 1], prob, sample_weight=[1, 1, 0], n_resamples=2)


@given(rows=forecasts)
def test_it_is_said_exactly_where_an_event_of_probability_zero_occurred(rows):
    label, prob, weight = rows
    of_true = np.where(label == 1, prob, 1.0 - prob) if prob.ndim == 1 else prob[np.arange(label.size), label]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        log_loss(label, prob, sample_weight=weight)
    impossible = int(weight[of_true == 0].sum())
    assert len(said) == (impossible > 0)
    if impossible:
        assert f"got probability 0 in {impossible} of {int(weight.sum())} row" in str(said[0].message)


def test_a_whole_weight_counts_as_so_many_rows_and_any_other_as_one():
    data = [1, 1, 0], [0.0, 0.5, 0.5]
    with counted(3, 6):
        log_loss(*data, sample_weight=[3, 2, 1])
    with counted(1, 3):
        log_loss(*data, sample_weight=[3.5, 2, 1])


def test_a_zero_of_single_precision_is_impossible_and_costs_as_much_as_one_of_double():
    prob = np.array([[0.0, 1.0], [0.25, 0.75], [1e-9, 1.0]], dtype=np.float32)
    with counted(1, 3):
        found = log_loss([0, 1, 0], prob)
    assert found == pytest.approx(log_loss_of_scikit_learn([0, 1, 0], prob.astype(np.float64)), rel=1e-12)
    with counted(1, 3):
        as_there = log_loss([0, 1, 0], prob, clip=np.finfo(np.float32).eps)
    assert as_there == pytest.approx(log_loss_of_scikit_learn([0, 1, 0], prob), rel=1e-6)


@pytest.mark.parametrize("size", [50.0, 1000.0])
def test_of_logits_nothing_is_clipped(size):
    assert log_loss([1], [[size, 0.0]], input="logit") == pytest.approx(size)
    assert log_loss([0], [size], input="logit") == pytest.approx(size)
    assert assess([0], [size], input="logit", n_resamples=2)["nll"].value == pytest.approx(size)


def test_the_way_out_that_the_warning_names_is_one(table_3):
    with pytest.warns(CalibrationWarning, match="With clip=0, log_loss and assess count them as infinite"):
        log_loss(*table_3)
    with pytest.warns(CalibrationWarning, match="The loss is infinite. Leave clip= out to count each as 2.2e-16"):
        assert log_loss(*table_3, clip=0) == np.inf
    assert quiet(assess, *table_3, clip=0, n_resamples=9)["nll"].value == np.inf


# Wherever log loss is measured


def test_assess_counts_them_once_and_beside_the_interval(table_3):
    with pytest.warns(CalibrationWarning) as said:
        found = assess(*table_3, n_resamples=200)
    assert [str(w.message).startswith("log loss") for w in said] == [True]
    (row,) = [row for row in found.rows if row.note and "true class" in row.note]
    assert row.metric == "nll"
    assert row.note == "2 of 30 rows with probability 0 for the true class, 36.04 nats each"
    (line,) = [line for line in str(found).splitlines() if line.startswith("NLL")]
    assert line.endswith(f"]  {row.note}")
    assert found._repr_html_().count(row.note) == 1


def test_the_interval_of_an_infinite_loss_ends_at_infinity(table_3):
    found = quiet(assess, *table_3, clip=0, n_resamples=500)
    nll = found["nll"]
    # A resample has neither of the two rows with probability (28/30)^30 = 0.126: the lower end is of those.
    assert 0 < nll.lower < 3
    assert nll.value == nll.upper == np.inf
    assert "[0." in str(found)
    assert "inf]" in str(found)
    assert "nan" not in str(found)
    assert found.to_frame("pandas").set_index("metric")["upper"]["nll"] == np.inf


@given(
    losses=st.lists(st.one_of(st.floats(0.0, 40.0), st.just(np.inf)), min_size=1, max_size=12), seed=st.integers(0, 99)
)
def test_an_interval_is_never_nan_and_holds_the_value(losses, seed):
    losses, weight = np.array(losses), np.random.default_rng(seed).integers(1, 4, len(losses)).astype(float)
    bootstrap = Bootstrap(len(losses), 50, np.random.default_rng(seed))
    found = mean_estimate(losses, Weights(weight), bootstrap, level=0.1)
    assert found.lower <= found.value <= found.upper
    if np.isinf(losses).any():
        assert found.value == found.upper == np.inf
        kept = bootstrap.sums(np.isinf(losses).astype(float)) == 0
        assert np.isfinite(found.lower) == (kept.mean() >= 0.05)


@pytest.mark.parametrize("metric", ["nll", log_loss])
def test_tests_that_measure_log_loss_count_them(table_3, metric):
    with counted(2, 30):
        resampling_test(*table_3, metric=metric, n_resamples=19)
    y, prob = table_3
    softer = 0.9 * prob + 0.1 / 3
    for pair, name in [((prob, softer), "prob_a"), ((softer, prob), "prob_b")]:
        with pytest.warns(CalibrationWarning, match=f"^{name}: log loss .*got probability 0 in 2 of 30 rows") as said:
            paired_test(y, *pair, metric=metric, n_resamples=19)
        assert len(said) == 1


def test_decompositions_of_the_log_loss_count_them(table_3):
    y, prob = table_3
    with counted(2, 30):
        assert calibration_refinement(y, prob, score="log").total == pytest.approx(3.347761563688164)
    with counted(1, 2):
        assert corp_decomposition([1, 0], [0.0, 0.5], score="log").total == pytest.approx((COST + np.log(2)) / 2)
    with counted(2, 90):  # three binary problems of thirty rows
        corp_decomposition(y, prob, score="log", notion="class-wise")
    with counted(1, 2):
        epistemic_irreducible([1, 0], [0.0, 0.5], [0.0, 0.5], score="log")
    for decomposition in (calibration_refinement, corp_decomposition):
        decomposition(y, prob, score="brier")


def test_a_class_called_impossible_that_is_not_is_counted_whether_it_occurred_or_not():
    with pytest.warns(CalibrationWarning, match=r"probability 0 to a class that the posterior does not rule out in 1"):
        found = epistemic_irreducible([0, 0], [0.0, 0.5], [0.5, 0.5], score="log")
    assert found["epistemic"] == pytest.approx((0.5 * COST - np.log(2)) / 2)
    epistemic_irreducible([0, 0], [0.0, 0.5], [0.0, 0.5], score="log")
