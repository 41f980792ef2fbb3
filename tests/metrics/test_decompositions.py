"""Proper scores and their decompositions: what their definitions say, how sure they are, and impossible events that came."""

import math
import sys
import warnings
from functools import partial
from inspect import signature

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import binned, decomposition
from scipy.special import expit
from sklearn import metrics as sklearn_metrics
from strategies import columns, tables, uniform_rows

from calibrant import EqualMass, assess, brier_score_loss, log_loss, metrics, paired_test, predictions
from calibrant._core.border import as_problem
from calibrant._core.rows import Weights
from calibrant.binning import Unique
from calibrant.datasets import load_survey_table_3
from calibrant.exceptions import CalibrationWarning
from calibrant.metrics import calibration_refinement, corp_decomposition, epistemic_irreducible, murphy_decomposition
from calibrant.metrics.decompositions import accuracy
from calibrant.metrics.estimate import mean_estimate
from calibrant.metrics.kinds import MeanOfRows
from calibrant.significance import resampling_test
from calibrant.sums.draws import Bootstrap

COST = -np.log(np.finfo(float).eps)
forecasts = st.one_of(columns(), tables())

# What Hypothesis draws holds events of probability 0 that occurred, which the second half of this file is about.
quiet = pytest.mark.filterwarnings("ignore:(expected )?log loss")


TOTALS = {"brier": partial(brier_score_loss, scale_by_half=False), "log": log_loss}
each_score = pytest.mark.parametrize("score", ["brier", "log"])
each_notion = pytest.mark.parametrize("notion", ["confidence", "top-label", "class-wise"])


def adds_up(found):
    total = math.fsum(-value if name in found.subtracted else value for name, value in found.terms)
    assert total == pytest.approx(found.total, rel=1e-12, abs=1e-14)


def values(found):
    return [value for _, value in found.terms]


def near(values):
    return pytest.approx(values, rel=1e-9, abs=1e-11)


def parts(notion, label, prob, weight):
    """Problems of a notion with their shares, by the slow twins."""
    problems = binned.NOTIONS[notion](prob.tolist(), label.tolist(), weight.tolist())
    total = sum(w for rows in problems for *_, w in rows)
    return [(sum(w for *_, w in rows) / total, rows) for rows in problems]


# Calibration and refinement


@quiet
@each_score
@given(rows=tables())
def test_calibration_and_refinement_are_the_divergences_of_their_definition(score, rows):
    label, prob, weight = rows
    found = calibration_refinement(label, prob, score=score, sample_weight=weight)
    expected = decomposition.calibration_refinement(prob.tolist(), label.tolist(), weight.tolist(), score)
    assert values(found) == near(expected)
    assert found.total == pytest.approx(TOTALS[score](label, prob, sample_weight=weight), rel=1e-12)
    adds_up(found)
    assert min(values(found)) >= 0


def test_a_score_may_be_a_function_of_probabilities_and_column_numbers():
    def spherical(prob, label):
        return 1 - prob[np.arange(len(label)), label] / np.sqrt((prob**2).sum(axis=1))

    rng = np.random.default_rng(1)
    prob = np.repeat(rng.dirichlet(np.ones(3), 10), 20, axis=0)
    found = calibration_refinement(rng.integers(0, 3, 200), prob, score=spherical)
    assert found.score == "spherical"
    assert found["calibration"] > 0
    adds_up(found)


# Epistemic and irreducible


@quiet
@each_score
@given(rows=tables(), data=st.data())
def test_epistemic_and_irreducible_loss_are_expected_divergences(score, rows, data):
    label, prob, weight = rows
    k = prob.shape[1]
    row = st.lists(st.integers(1, 9), min_size=k, max_size=k)
    truth = np.array(data.draw(st.lists(row, min_size=len(prob), max_size=len(prob))))
    posterior = truth / truth.sum(axis=1, keepdims=True)
    found = epistemic_irreducible(label, prob, posterior, score=score, sample_weight=weight)
    expected = decomposition.epistemic_irreducible(prob.tolist(), posterior.tolist(), weight.tolist(), score)
    assert values(found)[:2] == near(expected)
    assert found.total == pytest.approx(TOTALS[score](label, prob, sample_weight=weight), rel=1e-12)
    adds_up(found)


# CORP


def logarithm(p, y):
    return -math.log(max(p if y else 1 - p, sys.float_info.epsilon))


@quiet
@pytest.mark.parametrize(("score", "twin"), [("brier", lambda p, y: (p - y) ** 2), ("log", logarithm)])
@each_notion
@given(rows=tables() | tables(weights=st.floats(0.1, 5.0)))
def test_the_terms_of_corp_are_what_their_definitions_say(notion, score, twin, rows):
    label, prob, weight = rows
    found = corp_decomposition(label, prob, score=score, notion=notion, sample_weight=weight)
    expected = sum(share * np.array(decomposition.corp(rows, twin)) for share, rows in parts(notion, *rows))
    assert [found.total, *values(found)] == near(expected.tolist())
    assert min(values(found)) >= 0
    adds_up(found)


def test_a_score_may_say_that_an_impossible_event_that_came_costs_infinity():
    def infinite(p, y):
        with np.errstate(divide="ignore"):
            return -np.log(np.where(y > 0, p, 1 - p))

    found = corp_decomposition([1, 0], [0.0, 0.5], score=infinite)
    assert (found.total, found["miscalibration"], found["discrimination"]) == (np.inf, np.inf, 0.0)


def with_score(score):
    return corp_decomposition([0, 0, 1, 0, 1], [0.0, 0.2, 0.3, 0.4, 0.9], score=score)


def reversed_score(p, y):
    return -((1 - p[np.arange(len(y)), y]) ** 2)


def of_truth(posterior, prob=(0.2, 0.5, 0.9), **options):
    return epistemic_irreducible([0, 1, 1], prob, posterior, **options)


LEFT_OUT = {"sample_weight": [1, 0, 1], "rows": "normalize"}
SUMS = [[0.5, 0.5], [0.5, 0.5], [0.5, 0.6]]
IMPROPER = "score must be proper, and the lower the better: "
REFUSED = [
    (lambda: of_truth([0.5, 0.5]), r"posterior must have the shape of y_prob, \(3,\); got \(2,\)"),
    (lambda: of_truth([0.5, 0.5, np.nan]), r"posterior must be finite; got nan at index 2"),
    (lambda: of_truth([0.5, 1.5, 0.5], **LEFT_OUT), r"posterior must hold probabilities in \[0, 1\]; got 1\.5 at"),
    (lambda: of_truth(SUMS, SUMS[:1] * 3, **LEFT_OUT), r"one .*; got 1\.1 in row 2\. Divide each row by its sum\.$"),
    (lambda: calibration_refinement([0] * 7 + [1] * 3, [[0.9, 0.1]] * 10, score=reversed_score), IMPROPER + ".*Turn"),
    (lambda: with_score("spherical"), r"score must be one of 'brier', 'log' or a function; got 'spherical'"),
    (lambda: with_score(lambda p, y: 1 - (p - y) ** 2), IMPROPER + ".* got a divergence of -0"),
    (lambda: with_score(lambda p, y: 1.0), r"score must return one value a row, shape \(\d+,\); got shape \(\)"),
    (lambda: with_score(lambda p, y: np.where(p == 0, np.nan, p)), "got nan for probability 0 and outcome 0"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_what_is_no_posterior_or_no_proper_score_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# Murphy


@each_notion
@given(rows=tables(), n_bins=st.integers(1, 8))
def test_the_terms_of_murphy_are_what_their_definitions_say(notion, rows, n_bins):
    label, prob, weight = rows
    twins = binned.equal_width(n_bins), binned.equal_mass(n_bins), binned.unique
    for binning, cut in zip((n_bins, EqualMass(n_bins), Unique()), twins, strict=True):
        found = murphy_decomposition(label, prob, binning=binning, notion=notion, sample_weight=weight)
        expected = sum(share * np.array(decomposition.murphy(rows, cut)) for share, rows in parts(notion, *rows))
        assert values(found) == near(expected.tolist())
        adds_up(found)


# What all share


def test_a_result_is_a_table_and_says_what_it_is():
    found = corp_decomposition([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8])
    assert repr(found) == "Decomposition(brier 0.195 = 0.07 miscalibration - 0.125 discrimination + 0.25 uncertainty)"
    table = found.to_frame("pandas")
    assert table["term"].tolist() == ["miscalibration", "discrimination", "uncertainty"]
    assert (table["sign"] * table["value"]).sum() == pytest.approx(found.total)
    with pytest.raises(KeyError, match="'calibration' is no term; there are miscalibration, discrimination"):
        found["calibration"]


# How sure the terms of CORP are


METRICS = {"mcb": metrics.miscalibration_loss, "dsc": metrics.discrimination_score, "unc": metrics.uncertainty_loss}


def estimates(y, p, n_resamples=60, **options):
    found = assess(y, p, metrics=list(METRICS), n_resamples=n_resamples, **options)
    return [found[name] for name in METRICS]


@quiet
@given(rows=tables())
def test_each_metric_is_a_term(rows):
    label, prob, weight = rows
    for options in ({}, {"notion": "class-wise"}, {"score": "log"}):
        terms = corp_decomposition(label, prob, sample_weight=weight, **options)
        for metric, term in zip(METRICS.values(), ("miscalibration", "discrimination", "uncertainty"), strict=True):
            assert metric(label, prob, sample_weight=weight, **options) == terms[term]


def over_confident(rng, n, temperature):
    logit = rng.normal(0.0, 2.0, n)
    return expit(logit), expit(logit / temperature)


@pytest.mark.first(1)
@pytest.mark.parametrize("temperature", [2.0, 1.0, 1.25])
def test_intervals_cover_the_truth(temperature):
    """Truths are those of a very large sample with its probabilities for outcomes: 95 % of them less four standard errors."""
    p, c = over_confident(np.random.default_rng(1), 200_000, temperature)
    truth = [np.mean((p - c) ** 2), np.mean((c - c.mean()) ** 2), c.mean() * (1 - c.mean())]
    rng, covered = np.random.default_rng(0), []
    for run in range(120):
        p, c = over_confident(rng, 200, temperature)
        found = estimates((rng.random(200) < c).astype(int), p, rng=run)
        covered.append([e.lower <= t + 1e-12 and t - 1e-12 <= e.upper for e, t in zip(found, truth, strict=True)])
    assert (np.mean(covered, axis=0) > 0.95 - 4 * np.sqrt(0.95 * 0.05 / 120)).all()


def test_at_calibration_the_p_value_is_uniform_and_the_estimate_at_its_floor():
    rng, pvalues, excess, debiased = np.random.default_rng(0), [], [], []
    for run in range(200):
        p, c = over_confident(rng, 200, 1.0)
        found = assess((rng.random(200) < c).astype(int), p, metrics=["mcb"], n_resamples=99, rng=run)["mcb"]
        pvalues.append(found.pvalue)
        excess.append(found.value - found.noise_floor)
        debiased.append(found.debiased)
    for level in (0.05, 0.2, 0.5):
        assert abs(np.mean(np.array(pvalues) <= level) - level) < 4 * np.sqrt(level * (1 - level) / 200)
    assert abs(np.mean(excess)) < 4 * np.std(excess) / np.sqrt(200)
    assert abs(np.mean(np.array(debiased) == 0) - 0.5) < 4 * np.sqrt(0.25 / 200)


def test_where_one_class_came_nothing_is_known_of_discrimination_but_that_uncertainty_bounds_it():
    mcb, dsc, unc = estimates(np.ones(60, dtype=int), 1 - 10.0 ** -np.linspace(6, 12, 60))
    assert (dsc.value, mcb.pvalue) == (0.0, 1.0)  # errors that are next to rounding tie
    assert dsc.upper == unc.upper > 0.05


def test_a_decomposition_of_rows_in_batches_shows_its_limits(monkeypatch):
    monkeypatch.setattr("calibrant.interop.arrow_batches.FEW", 10)
    y, p = uniform_rows(2000, seed=2)
    found, rows = corp_decomposition(predictions([(y, p)])), corp_decomposition(y, p)
    frame, exact = found.to_frame("pandas"), rows.to_frame("pandas")
    assert list(exact) == ["term", "sign", "value"]
    assert list(frame) == ["term", "sign", "value", "lower", "upper"]
    assert ((frame.lower <= exact.value) & (exact.value <= frame.upper)).all()
    assert "; of rows in batches, exact to within 0.00" in repr(found)
    assert "batches" not in repr(rows)


# Scores


@pytest.fixture
def forecast():
    rng = np.random.default_rng(0)
    return rng.integers(0, 3, 200), rng.dirichlet(np.ones(3), 200), rng.random(200)


@pytest.mark.parametrize("scaled", [{}, {"scale_by_half": True}, {"scale_by_half": False}], ids=str)
def test_the_brier_loss_is_that_of_scikit_learn(forecast, scaled):
    y, p, w = forecast
    two = np.column_stack([1.0 - p[:, 0], p[:, 0]])
    if "scale_by_half" not in signature(sklearn_metrics.brier_score_loss).parameters:  # before 1.7
        pytest.skip("this scikit-learn has no scale_by_half")
    for event, prob in [(y > 0, p[:, 0]), (y > 0, two), (y, p)]:
        expected = sklearn_metrics.brier_score_loss(event, prob, sample_weight=w, **scaled)
        assert brier_score_loss(event, prob, sample_weight=w, **scaled) == pytest.approx(expected, rel=1e-12)


def test_one_column_predicts_its_event_above_one_half_and_not_at_it():
    assert accuracy([1, 1, 0], [0.5, np.nextafter(0.5, 1), 0.5]) == pytest.approx(2 / 3)


@pytest.mark.parametrize(("per_row", "shape"), [(lambda rows: rows.prob, r"\(4, 2\)"), (lambda rows: 0.5, r"\(\)")])
def test_a_metric_of_ones_own_that_gives_no_number_a_row_is_refused(per_row, shape):
    own = MeanOfRows("own", "own", "this test", per_row=per_row)
    problem = as_problem([0, 1, 1, 0], [0.25, 0.75, 0.5, 0.5])
    said = f"per_row of the metric 'own' must give one number for each of the 4 rows; got shape {shape}"
    for call in (own.value, own.losses, lambda problem: own.null(problem, 2, np.random.default_rng(0))):
        with pytest.raises(ValueError, match=said):
            call(problem)


# Events that a forecast called impossible and that occurred: counted, never hidden


@pytest.fixture
def table_3():
    y, prob = load_survey_table_3()
    return y - 1, prob


def counted(n, of):
    return pytest.warns(CalibrationWarning, match=rf"^log loss .*got probability 0 in {n} of {of} row")


def calmly(function, *data, **options):
    with warnings.catch_warnings(action="ignore", category=CalibrationWarning):
        return function(*data, **options)


def test_table_3_of_the_survey_has_an_infinite_loss(table_3):
    for options, expected in [({}, 3.347761563688164), ({"clip": 0}, np.inf), ({"clip": 1e-12}, 2.7869194121422565)]:
        with counted(2, 30):
            assert log_loss(*table_3, **options) == pytest.approx(expected, rel=1e-14)


@given(rows=forecasts)
def test_it_is_the_log_loss_of_scikit_learn_where_events_are_impossible_as_well(rows):
    label, prob, weight = rows
    labels = np.arange(2 if prob.ndim == 1 else prob.shape[1])
    expected = sklearn_metrics.log_loss(label, prob, sample_weight=weight, labels=labels)
    assert calmly(log_loss, label, prob, sample_weight=weight) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("event", [0, 1])
@pytest.mark.parametrize("prob", [0.0, 1e-300, 1e-20, 1.1e-16, 2.2e-16, 2.3e-16, 1e-12, 1e-3, 0.5, 1.0])
def test_near_zero_it_is_the_log_loss_of_scikit_learn_of_a_column_and_of_a_table(prob, event):
    expected = sklearn_metrics.log_loss([event], [prob], labels=[0, 1])
    assert calmly(log_loss, [event], [prob]) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    table = [[1.0 - prob, prob]]
    assert calmly(log_loss, [event], table) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(prob=st.floats(0.0, 1.0), clip=st.floats(0.0, 0.4))
def test_the_clip_is_the_least_probability_that_counts(prob, clip):
    found = calmly(log_loss, [1], [prob], clip=clip)
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
    with warnings.catch_warnings(action="always", record=True) as said:
        log_loss(label, prob, sample_weight=weight)
    impossible = int(weight[of_true == 0].sum())
    assert len(said) == (impossible > 0)
    if impossible:
        assert f"got probability 0 in {impossible} of {int(weight.sum())} row" in str(said[0].message)


def test_a_weight_that_is_no_count_counts_as_one_row():
    with counted(1, 3):
        log_loss([1, 1, 0], [0.0, 0.5, 0.5], sample_weight=[3.5, 2, 1])


def test_a_zero_of_single_precision_is_impossible_and_costs_as_much_as_one_of_double():
    prob = np.array([[0.0, 1.0], [0.25, 0.75], [1e-9, 1.0]], dtype=np.float32)
    with counted(1, 3):
        found = log_loss([0, 1, 0], prob)
    assert found == pytest.approx(sklearn_metrics.log_loss([0, 1, 0], prob.astype(np.float64)), rel=1e-12)
    with counted(1, 3):
        as_there = log_loss([0, 1, 0], prob, clip=np.finfo(np.float32).eps)
    assert as_there == pytest.approx(sklearn_metrics.log_loss([0, 1, 0], prob), rel=1e-6)


@pytest.mark.parametrize("size", [50.0, 1000.0])
def test_of_logits_nothing_is_clipped(size):
    assert log_loss([1], [[size, 0.0]], input="logit") == pytest.approx(size)
    assert log_loss([0], [size], input="logit") == pytest.approx(size)
    assert assess([0], [size], input="logit", n_resamples=2)["nll"].value == pytest.approx(size)


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
    found = calmly(assess, *table_3, clip=0, n_resamples=500)
    nll = found["nll"]
    # A resample has neither of the two rows with probability (28/30)^30 = 0.126: the lower end is of those.
    assert 0 < nll.lower < 3
    assert nll.value == nll.upper == np.inf
    assert "[0." in str(found)
    assert "inf]" in str(found)
    assert "nan" not in str(found)
    assert found.to_frame("pandas").set_index("metric")["upper"]["nll"] == np.inf


@given(losses=st.lists(st.one_of(st.floats(0, 40), st.just(np.inf)), min_size=1, max_size=12), seed=st.integers(0, 99))
def test_an_interval_is_never_nan_and_holds_the_value(losses, seed):
    losses, weight = np.array(losses), np.random.default_rng(seed).integers(1, 4, len(losses)).astype(float)
    bootstrap = Bootstrap(Weights.one_each(len(losses)), 50, np.random.default_rng(seed))
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
    with counted(2, 30):
        assert calibration_refinement(*table_3, score="log").total == pytest.approx(3.347761563688164)
    with counted(1, 2):
        assert corp_decomposition([1, 0], [0.0, 0.5], score="log").total == pytest.approx((COST + np.log(2)) / 2)
    with counted(2, 90):  # three binary problems of thirty rows
        corp_decomposition(*table_3, score="log", notion="class-wise")
    with counted(1, 2):
        epistemic_irreducible([1, 0], [0.0, 0.5], [0.0, 0.5], score="log")
    for terms_of in (calibration_refinement, corp_decomposition):
        terms_of(*table_3, score="brier")


def test_a_class_called_impossible_that_is_not_is_counted_whether_it_occurred_or_not():
    with pytest.warns(CalibrationWarning, match=r"probability 0 to a class that the posterior does not rule out in 1"):
        found = epistemic_irreducible([0, 0], [0.0, 0.5], [0.5, 0.5], score="log")
    assert found["epistemic"] == pytest.approx((0.5 * COST - np.log(2)) / 2)
    epistemic_irreducible([0, 0], [0.0, 0.5], [0.0, 0.5], score="log")
