"""Decompositions of proper scores: the terms are what their definitions say, and add up to the score."""

import math
import sys
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import binned, decomposition
from sklearn.metrics import log_loss as log_loss_of_scikit_learn
from strategies import columns, tables

from calibrant import EqualMass, brier_score_loss, log_loss
from calibrant.binning import Unique
from calibrant.datasets import load_survey_table_2
from calibrant.metrics import (
    calibration_refinement,
    corp_decomposition,
    epistemic_irreducible,
    mean_class_brier_loss,
    murphy_decomposition,
    root_mean_squared_calibration_error,
)

# What Hypothesis draws holds events of probability 0 that occurred: tests/metrics/test_log_losses.py is about these.
pytestmark = pytest.mark.filterwarnings("ignore:(expected )?log loss")

TOTALS = {"brier": partial(brier_score_loss, scale_by_half=False), "log": log_loss}
NOTIONS = ["confidence", "top-label", "class-wise"]
forecasts = st.one_of(columns(), tables())
each_score = pytest.mark.parametrize("score", ["brier", "log"])
each_notion = pytest.mark.parametrize("notion", NOTIONS)


def sum_of(found):
    return math.fsum(-value if name in found.subtracted else value for name, value in found.terms)


def adds_up(found):
    assert sum_of(found) == pytest.approx(found.total, rel=1e-12, abs=1e-14)


def values(found):
    return [value for _, value in found.terms]


def near(values):
    return pytest.approx(values, rel=1e-9, abs=1e-11)


def parts(notion, label, prob, weight):
    """Problems of a notion with their shares, by the slow twins."""
    problems = binned.NOTIONS[notion](prob.tolist(), label.tolist(), weight.tolist())
    total = sum(w for rows in problems for *_, w in rows)
    return [(sum(w for *_, w in rows) / total, rows) for rows in problems]


# The survey's Table 2


@pytest.mark.parametrize(
    ("score", "total", "calibration", "refinement", "epistemic", "irreducible"),
    [
        ("brier", Fraction(712, 1000), Fraction(293, 1500), Fraction(31, 60), Fraction(262, 1000), Fraction(45, 100)),
        ("log", 1.11766818, 0.28589157, 0.83177662, 0.47684582, 0.64082237),
    ],
)
def test_table_2_of_the_survey(score, total, calibration, refinement, epistemic, irreducible):
    toy, precision = load_survey_table_2(), 1e-12 if score == "brier" else 6e-9
    found = calibration_refinement(toy.y, toy.prob, score=score, labels=[1, 2, 3])
    expected = [float(total), float(calibration), float(refinement)]
    assert [found.total, *values(found)] == pytest.approx(expected, abs=precision)
    found = epistemic_irreducible(toy.y, toy.prob, toy.posterior, score=score, labels=[1, 2, 3])
    expected = [float(total), float(epistemic), float(irreducible), 0.0]
    assert [found.total, *values(found)] == pytest.approx(expected, abs=precision)


# Calibration and refinement


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


@each_score
def test_on_rows_that_repeat_a_binary_forecast_calibration_is_murphys_reliability(score):
    rng = np.random.default_rng(0)
    p = rng.integers(0, 6, 300) / 5
    y = (rng.random(300) < 0.2 + 0.5 * p).astype(int)
    found = calibration_refinement(y, p)
    murphy = murphy_decomposition(y, p, binning=Unique())
    assert found["calibration"] == pytest.approx(2 * murphy["reliability"], rel=1e-12)  # of both classes
    assert found["refinement"] == pytest.approx(2 * (murphy["uncertainty"] - murphy["resolution"]), rel=1e-12)


def test_where_every_row_has_its_own_forecast_nothing_is_left_to_refine():
    rng = np.random.default_rng(0)
    found = calibration_refinement(rng.integers(0, 3, 50), rng.dirichlet(np.ones(3), 50))
    assert found["refinement"] == 0.0
    assert found["calibration"] == found.total


def test_a_score_may_be_a_function_of_probabilities_and_column_numbers():
    def spherical(prob, label):
        return 1 - prob[np.arange(len(label)), label] / np.sqrt((prob**2).sum(axis=1))

    rng = np.random.default_rng(1)
    prob = np.repeat(rng.dirichlet(np.ones(3), 10), 20, axis=0)
    found = calibration_refinement(rng.integers(0, 3, 200), prob, score=spherical)
    assert found.score == "spherical"
    assert found["calibration"] > 0
    adds_up(found)


def test_a_score_that_is_not_proper_is_refused():
    prob = [[0.9, 0.1]] * 10
    with pytest.raises(ValueError, match=r"score must be proper, and the lower the better: .* Turn the sign"):
        calibration_refinement([0] * 7 + [1] * 3, prob, score=lambda p, y: -((1 - p[np.arange(len(y)), y]) ** 2))


# Epistemic and irreducible


@each_score
@given(rows=tables(), data=st.data())
def test_epistemic_and_irreducible_loss_are_expected_divergences(score, rows, data):
    label, prob, weight = rows
    k = prob.shape[1]
    truth = np.array(
        data.draw(st.lists(st.lists(st.integers(1, 9), min_size=k, max_size=k), min_size=len(prob), max_size=len(prob)))
    )
    posterior = truth / truth.sum(axis=1, keepdims=True)
    found = epistemic_irreducible(label, prob, posterior, score=score, sample_weight=weight)
    expected = decomposition.epistemic_irreducible(prob.tolist(), posterior.tolist(), weight.tolist(), score)
    assert values(found)[:2] == near(expected)
    assert found.total == pytest.approx(TOTALS[score](label, prob, sample_weight=weight), rel=1e-12)
    adds_up(found)


@each_score
def test_chance_averages_to_nothing(score):
    """Over labels drawn from the posterior: within four standard errors of zero."""
    rng = np.random.default_rng(0)
    posterior, prob = rng.dirichlet(np.ones(3), 200), rng.dirichlet(np.ones(3), 200)
    drawn = []
    for _ in range(300):
        label = (rng.random((200, 1)) > posterior.cumsum(axis=1)).sum(axis=1).clip(0, 2)
        drawn.append(epistemic_irreducible(label, prob, posterior, score=score)["chance"])
    assert abs(np.mean(drawn)) < 4 * np.std(drawn) / np.sqrt(len(drawn))


@pytest.mark.parametrize("pos_label", ["no", "yes"])
def test_the_event_that_is_named_leaves_the_columns_of_table_and_posterior_as_they_are(pos_label):
    label, prob = ["no", "yes", "yes"], np.array([[0.7, 0.3], [0.4, 0.6], [0.2, 0.8]])
    posterior = np.array([[0.9, 0.1], [0.3, 0.7], [0.4, 0.6]])
    assert values(epistemic_irreducible(label, prob, posterior, pos_label=pos_label)) == near(
        values(epistemic_irreducible(label, prob, posterior))
    )


def test_the_posterior_itself_has_no_epistemic_loss():
    rng = np.random.default_rng(0)
    posterior = rng.dirichlet(np.ones(3), 50)
    assert epistemic_irreducible(rng.integers(0, 3, 50), posterior, posterior)["epistemic"] == 0.0


def test_the_posterior_of_a_column_is_a_column_and_zero_weights_drop_its_rows_too():
    found = epistemic_irreducible([0, 1, 1, 0], [0.2, 0.5, 0.9, 0.3], [0.1, 0.6, 0.8, 0.5], sample_weight=[1, 1, 1, 0])
    again = epistemic_irreducible([0, 1, 1], [0.2, 0.5, 0.9], [0.1, 0.6, 0.8])
    assert [found.total, *values(found)] == near([again.total, *values(again)])


@pytest.mark.parametrize(
    ("posterior", "message"),
    [
        ([0.5, 0.5], r"posterior must have the shape of y_prob, \(3,\); got \(2,\)"),
        ([0.5, 0.5, 1.5], r"posterior must hold probabilities in \[0, 1\]; got 1\.5 at index 2"),
        ([0.5, 0.5, np.nan], r"posterior must be finite; got nan at index 2"),
    ],
)
def test_a_posterior_that_is_none_is_refused(posterior, message):
    with pytest.raises(ValueError, match=message):
        epistemic_irreducible([0, 1, 1], [0.2, 0.5, 0.9], posterior)


def test_a_posterior_that_does_not_sum_to_one_is_refused_by_the_number_of_its_row():
    table = [[0.5, 0.5], [0.5, 0.5], [0.5, 0.6]]
    message = r"rows of posterior must sum to one .*; got 1\.1 in row 2\. Divide each row by its sum\.$"
    with pytest.raises(ValueError, match=message):
        epistemic_irreducible([0, 1, 1], [[0.5, 0.5]] * 3, table, sample_weight=[1, 0, 1], rows="normalize")


def test_a_posterior_is_checked_in_all_rows():
    with pytest.raises(ValueError, match=r"posterior must hold probabilities in \[0, 1\]; got 1\.5 at index 1"):
        epistemic_irreducible([0, 1, 1], [0.2, 0.5, 0.9], [0.5, 1.5, 0.5], sample_weight=[1, 0, 1])


# CORP


def squared(p, y):
    return (p - y) ** 2


def logarithm(p, y):
    return -math.log(max(p if y else 1 - p, sys.float_info.epsilon))


@pytest.mark.parametrize(("score", "twin"), [("brier", squared), ("log", logarithm)], ids=["brier", "log"])
@each_notion
@given(rows=tables())
def test_the_terms_of_corp_are_what_their_definitions_say(notion, score, twin, rows):
    label, prob, weight = rows
    found = corp_decomposition(label, prob, score=score, notion=notion, sample_weight=weight)
    expected = sum(share * np.array(decomposition.corp(rows, twin)) for share, rows in parts(notion, *rows))
    assert [found.total, *values(found)] == near(expected.tolist())
    assert min(values(found)) >= 0
    adds_up(found)


@given(rows=columns(weights=st.floats(0.1, 5.0)))
def test_corp_takes_weights_that_are_not_whole(rows):
    label, score, weight = rows
    found = corp_decomposition(label, score, sample_weight=weight)
    expected = decomposition.corp(list(zip(score.tolist(), label.tolist(), weight.tolist(), strict=True)), squared)
    assert [found.total, *values(found)] == near(list(expected))
    adds_up(found)


def test_the_total_of_corp_is_the_score():
    rng = np.random.default_rng(0)
    y, p, table = rng.integers(0, 2, 200), rng.random(200), rng.dirichlet(np.ones(3), 200)
    assert corp_decomposition(y, p).total == pytest.approx(mean_class_brier_loss(y, p), rel=1e-12)
    assert corp_decomposition(y, p, score="log").total == pytest.approx(log_loss_of_scikit_learn(y, p), rel=1e-12)
    label = rng.integers(0, 3, 200)
    class_wise = corp_decomposition(label, table, notion="class-wise")
    assert class_wise.total == pytest.approx(mean_class_brier_loss(label, table), rel=1e-12)


def test_recalibrated_by_isotonic_regression_a_forecast_has_no_miscalibration_and_the_same_discrimination():
    from calibrant import IsotonicCalibration

    rng = np.random.default_rng(0)
    p = rng.random(500)
    y = (rng.random(500) < p**2).astype(int)
    again = IsotonicCalibration(finite=None).fit(p, y).calibrate(p)
    before, after = corp_decomposition(y, p), corp_decomposition(y, again)
    assert after["miscalibration"] == pytest.approx(0.0, abs=1e-15)
    assert after["discrimination"] == pytest.approx(before["discrimination"], rel=1e-12)


@pytest.mark.parametrize("score", [lambda p, y: -(p**y) * (1 - p) ** (1 - y) / np.hypot(p, 1 - p), "brier", "log"])
def test_no_proper_score_gives_a_negative_term(score):
    rng = np.random.default_rng(2)
    for n in (1, 5, 200):
        p = rng.random(n)
        found = corp_decomposition((rng.random(n) < p).astype(int), p, score=score)
        assert found["miscalibration"] >= 0
        assert found["discrimination"] >= 0
        adds_up(found)


def test_figures_of_the_top_label(data_dir):
    """Computed elsewhere, on rows divided by their sums."""
    for name, *expected in [
        ("cifar100_densenet_bc", 0.035164, 0.060513, 0.185433),
        ("cifar100_lenet5", 0.001001, 0.009392, 0.109075),
        ("cifar10_lenet5", 0.013917, 0.046371, 0.249051),
    ]:
        with np.load(data_dir / f"{name}.npz") as data:
            found = corp_decomposition(data["y"], data["P"], rows="normalize")
        assert [round(value, 6) for value in values(found)] == expected


def test_an_impossible_event_that_came_costs_what_the_score_says():
    """The log loss counts a probability of zero as 2.2e-16; a function may say infinity."""
    assert corp_decomposition([1, 0], [0.0, 0.5], score="log")["miscalibration"] == pytest.approx(
        (math.log(2) - math.log(sys.float_info.epsilon)) / 2 - math.log(2)
    )

    def infinite(p, y):
        with np.errstate(divide="ignore"):
            return -np.log(np.where(y > 0, p, 1 - p))

    found = corp_decomposition([1, 0], [0.0, 0.5], score=infinite)
    assert (found.total, found["miscalibration"], found["discrimination"]) == (np.inf, np.inf, 0.0)


@pytest.mark.parametrize(
    ("score", "message"),
    [
        ("spherical", r"score must be one of 'brier', 'log' or a function; got 'spherical'"),
        (
            lambda p, y: 1 - (p - y) ** 2,
            r"score must be proper, and the lower the better: .* got a divergence of -0",
        ),
        (lambda p, y: 1.0, r"score must return one value a row, shape \(\d+,\); got shape \(\)"),
        (lambda p, y: np.where(p == 0, np.nan, (p - y) ** 2), r"got nan for probability 0 and outcome 0"),
    ],
    ids=["unknown", "improper", "one number", "nan"],
)
def test_what_is_no_proper_score_is_refused(score, message):
    with pytest.raises(ValueError, match=message):
        corp_decomposition([0, 0, 1, 0, 1], [0.0, 0.2, 0.3, 0.4, 0.9], score=score)


# Murphy


@each_notion
@given(rows=tables(), n_bins=st.integers(1, 8))
def test_the_terms_of_murphy_are_what_their_definitions_say(notion, rows, n_bins):
    label, prob, weight = rows
    for binning, cut in [
        (n_bins, binned.equal_width(n_bins)),
        (EqualMass(n_bins), binned.equal_mass(n_bins)),
        (Unique(), binned.unique),
    ]:
        found = murphy_decomposition(label, prob, binning=binning, notion=notion, sample_weight=weight)
        expected = sum(share * np.array(decomposition.murphy(rows, cut)) for share, rows in parts(notion, *rows))
        assert values(found) == near(expected.tolist())
        adds_up(found)


@given(rows=columns())
def test_the_total_of_murphy_is_the_score_of_the_forecast_itself_and_not_of_its_bins(rows):
    label, prob, weight = rows
    found = murphy_decomposition(label, prob, binning=3, sample_weight=weight)
    assert found.total == pytest.approx(mean_class_brier_loss(label, prob, sample_weight=weight), rel=1e-12)


@given(rows=columns())
def test_reliability_is_the_squared_calibration_error(rows):
    label, prob, weight = rows
    error = root_mean_squared_calibration_error(label, prob, binning=4, sample_weight=weight)
    reliability = murphy_decomposition(label, prob, binning=4, sample_weight=weight)["reliability"]
    assert reliability == pytest.approx(error**2, rel=1e-9, abs=1e-15)


@given(rows=columns())
def test_within_unique_scores_nothing_varies(rows):
    label, prob, weight = rows
    found = murphy_decomposition(label, prob, binning=Unique(), sample_weight=weight)
    assert found["within-bin variance"] == pytest.approx(0.0, abs=1e-15)
    assert found["within-bin covariance"] == pytest.approx(0.0, abs=1e-15)


# What all share


@pytest.mark.parametrize(
    "decompose",
    [
        calibration_refinement,
        corp_decomposition,
        murphy_decomposition,
        lambda y, p, **o: epistemic_irreducible(y, p, p, **o),
    ],
    ids=["calibration", "corp", "murphy", "epistemic"],
)
@given(rows=forecasts, random=st.randoms(use_true_random=False))
def test_row_order_is_irrelevant_and_whole_weights_are_repeated_rows(decompose, rows, random):
    label, prob, weight = rows
    order = np.array(random.sample(range(len(label)), len(label)))
    found = decompose(label, prob, sample_weight=weight)
    times = weight[order].astype(int)
    again = decompose(np.repeat(label[order], times), np.repeat(prob[order], times, axis=0))
    assert [found.total, *values(found)] == near([again.total, *values(again)])


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("prob", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("n", [1, 7])
def test_one_class_constant_scores_and_one_row_have_defined_terms(n, prob, label):
    y, p = np.full(n, label), np.full(n, prob)
    found = corp_decomposition(y, p)
    assert values(found) == near([(prob - label) ** 2, 0.0, 0.0])
    assert values(murphy_decomposition(y, p)) == near([(prob - label) ** 2, 0.0, 0.0, 0.0, 0.0])
    assert values(calibration_refinement(y, p)) == near([2 * (prob - label) ** 2, 0.0])


def test_a_result_is_a_table_and_says_what_it_is():
    found = corp_decomposition([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8])
    assert repr(found) == "Decomposition(brier 0.195 = 0.07 miscalibration - 0.125 discrimination + 0.25 uncertainty)"
    table = found.to_frame("pandas")
    assert table["term"].tolist() == ["miscalibration", "discrimination", "uncertainty"]
    assert (table["sign"] * table["value"]).sum() == pytest.approx(found.total)
    with pytest.raises(
        KeyError, match="'calibration' is no term; there are miscalibration, discrimination, uncertainty"
    ):
        found["calibration"]
    with pytest.raises(AttributeError):
        found.total = 0.0


def test_a_negative_term_is_written_with_a_minus():
    found = epistemic_irreducible([1], [0.9], [0.75])
    assert repr(found) == "Decomposition(brier 0.02 = 0.045 epistemic + 0.375 irreducible - 0.4 chance)"
