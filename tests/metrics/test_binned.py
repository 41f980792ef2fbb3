"""Errors over bins: what their definitions say, of every notion, norm and way to put problems together, and by their names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import binned, scores, shared_class_wise, top_k
from strategies import columns, tables

from calibrant import EqualMass, EqualWidth, assess, calibration_error, top_label_calibration_error
from calibrant._core.registry import entries
from calibrant.binning import Unique
from calibrant.notions import ThresholdedClassWise

Y = [0, 0, 1, 0]
P = [[0.5, 0.5], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8]]


CUTS = {
    "equal-width": (EqualWidth(6), binned.equal_width(6)),
    "equal-mass": (EqualMass(4), binned.equal_mass(4)),
    "unique": (Unique(), binned.unique),
}
TWINS = binned.NOTIONS | top_k.NOTIONS | shared_class_wise.NOTIONS


def problems_of(notion, data):
    """Rows, and the problems that the twin makes of them."""
    label, prob, weight = data.draw(tables(n_classes=st.just(2)) if notion == "binary" else tables())
    problems = TWINS[notion](prob.tolist(), label.tolist(), weight.tolist())
    return (label, prob), {"sample_weight": weight, "labels": range(prob.shape[1])}, problems


@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("notion", sorted(entries("notion")))
@given(data=st.data())
def test_the_error_is_what_its_definition_says(notion, cut, norm, data):
    rows, options, problems = problems_of(notion, data)
    binning, twin = CUTS[cut]
    for across in (None, "l1", "l2", "max"):
        found = calibration_error(*rows, notion=notion, binning=binning, norm=norm, across=across, **options)
        equal = notion == "thresholded-class-wise"
        expected = binned.calibration_error(problems, twin, norm, across=across, equal_shares=equal)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("notion", ["confidence", "class-wise", "top-label", "top-k-label"])
@given(data=st.data())
def test_the_debiased_error_is_what_its_definition_says(notion, data):
    rows, options, problems = problems_of(notion, data)
    options |= {"binning": EqualMass(4), "loss": "debiased squared gap", "norm": "root"}
    found = calibration_error(*rows, notion=notion, **options)
    expected = binned.calibration_error(problems, binned.equal_mass(4), "root", loss=binned.debiased_squared_gap)
    # The root magnifies the rounding of a mean near zero.
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-7)


def test_loss_norm_and_across_may_be_functions_and_weights_and_shares_sum_to_one():
    signed = calibration_error(Y, P, notion="confidence", binning=1, loss=lambda problem, bins: bins.gap)
    assert signed == pytest.approx(0.75 - 0.65)
    for word in ("norm", "across"):
        found = calibration_error(Y, P, notion="class-wise", **{word: lambda values, weights: weights.sum()})
        assert found == pytest.approx(1.0)


def test_a_notion_that_finds_nothing_to_speak_of_has_no_error():
    for across in (None, "l1", "max"):
        assert calibration_error(Y, P, notion=ThresholdedClassWise(0.95), across=across) == 0.0


@given(rows=columns())
def test_the_root_mean_square_is_the_root_of_the_mean_squared_gap(rows):
    label, score, weight = rows
    squared = calibration_error(label, score, loss="squared gap", norm="l1", sample_weight=weight)
    rooted = calibration_error(label, score, loss="gap", norm="l2", sample_weight=weight)
    assert rooted**2 == pytest.approx(squared, rel=1e-9, abs=1e-15)


# Pairs


def test_a_predicted_class_that_never_came_counts():
    assert top_label_calibration_error([0, 0], [0.75, 0.5], y_pred=[0, 3]) == pytest.approx((0.25 + 0.5) / 2)


# The five figures of the tables of Arad and Rosset (2025)


def mean_gap(notion, cut=binned.equal_width, **options):
    return lambda *rows: binned.calibration_error(binned.NOTIONS[notion](*rows), cut(15), "l1", **options)


DEFINITIONS = {
    "accuracy": scores.accuracy,
    "ece": mean_gap("confidence"),  # conf-ECE
    "classwise-ece": mean_gap("class-wise"),  # cw-ECE
    "mean-brier": lambda prob, *rest: scores.brier(prob, *rest) / len(prob[0]),  # BS
    "tece": mean_gap("thresholded-class-wise", binned.equal_mass, equal_shares=True),
}


@given(rows=tables())
def test_one_call_gives_all_five_by_name_as_their_definitions_do(rows):
    label, prob, weight = rows
    options = {"sample_weight": weight, "labels": range(prob.shape[1]), "n_resamples": 1, "notion": "confidence"}
    found = assess(label, prob, metrics=list(DEFINITIONS), **options)
    plain = prob.tolist(), label.tolist(), weight.tolist()
    for name, definition in DEFINITIONS.items():
        assert found[name].value == pytest.approx(definition(*plain), abs=1e-12), name
