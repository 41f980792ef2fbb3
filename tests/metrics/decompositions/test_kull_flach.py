"""Decompositions of proper scores: the terms are what their definitions say, and add up to the score."""

import math
import sys
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import binned, decomposition
from strategies import columns, tables

from calibrant import EqualMass, brier_score_loss, log_loss
from calibrant.binning import Unique
from calibrant.metrics import calibration_refinement, corp_decomposition, epistemic_irreducible, murphy_decomposition

# What Hypothesis draws holds events of probability 0 that occurred: tests/metrics/test_log_losses.py is about these.
pytestmark = pytest.mark.filterwarnings("ignore:(expected )?log loss")

TOTALS = {"brier": partial(brier_score_loss, scale_by_half=False), "log": log_loss}
NOTIONS = ["confidence", "top-label", "class-wise"]
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


@pytest.mark.parametrize("pos_label", ["no", "yes"])
def test_the_event_that_is_named_leaves_the_columns_of_table_and_posterior_as_they_are(pos_label):
    label, prob = ["no", "yes", "yes"], np.array([[0.7, 0.3], [0.4, 0.6], [0.2, 0.8]])
    posterior = np.array([[0.9, 0.1], [0.3, 0.7], [0.4, 0.6]])
    assert values(epistemic_irreducible(label, prob, posterior, pos_label=pos_label)) == near(
        values(epistemic_irreducible(label, prob, posterior))
    )


REFUSALS = [
    ([0.5, 0.5], r"posterior must have the shape of y_prob, \(3,\); got \(2,\)"),
    ([0.5, 0.5, 1.5], r"posterior must hold probabilities in \[0, 1\]; got 1\.5 at index 2"),
    ([0.5, 0.5, np.nan], r"posterior must be finite; got nan at index 2"),
]


@pytest.mark.parametrize(("posterior", "message"), REFUSALS)
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


@pytest.mark.parametrize("score", [lambda p, y: -(p**y) * (1 - p) ** (1 - y) / np.hypot(p, 1 - p), "brier", "log"])
def test_no_proper_score_gives_a_negative_term(score):
    rng = np.random.default_rng(2)
    for n in (1, 5, 200):
        p = rng.random(n)
        found = corp_decomposition((rng.random(n) < p).astype(int), p, score=score)
        assert found["miscalibration"] >= 0
        assert found["discrimination"] >= 0
        adds_up(found)


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


REFUSED = [
    ("spherical", r"score must be one of 'brier', 'log' or a function; got 'spherical'"),
    (lambda p, y: 1 - (p - y) ** 2, r"score must be proper, and the lower the better: .* got a divergence of -0"),
    (lambda p, y: 1.0, r"score must return one value a row, shape \(\d+,\); got shape \(\)"),
    (lambda p, y: np.where(p == 0, np.nan, (p - y) ** 2), r"got nan for probability 0 and outcome 0"),
]


@pytest.mark.parametrize(("score", "message"), REFUSED, ids=["unknown", "improper", "one number", "nan"])
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


# What all share


def test_a_result_is_a_table_and_says_what_it_is():
    found = corp_decomposition([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8])
    assert repr(found) == "Decomposition(brier 0.195 = 0.07 miscalibration - 0.125 discrimination + 0.25 uncertainty)"
    table = found.to_frame("pandas")
    assert table["term"].tolist() == ["miscalibration", "discrimination", "uncertainty"]
    assert (table["sign"] * table["value"]).sum() == pytest.approx(found.total)
    with pytest.raises(KeyError, match="'calibration' is no term; there are miscalibration, discrimination"):
        found["calibration"]
    with pytest.raises(AttributeError):
        found.total = 0.0
