"""Every figure that the survey and the top-label paper compute, exactly; what implies what; and the pages that show them."""

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from strategies import tables

import calibrant as cb
from calibrant import datasets, metrics
from calibrant._core.lazy import load
from calibrant.binning import SimplexUnique, Unique
from calibrant.notions import OneVsRest, SharedClassWise

EXACT = 1e-12
CLASSES = {"labels": [1, 2, 3]}
RAIN = datasets.load_hallenbeck_forecasts()
TOY = datasets.load_survey_table_2()
RUNNING = datasets.load_survey_table_3()


# Table 1


@pytest.mark.parametrize(
    ("n_bins", "ece", "mce"), [(10, "121/2460", "3/20"), (5, "121/2460", "1/10"), (2, "79/2460", "61/740")]
)
def test_the_forecasts_of_rain(n_bins, ece, mce):
    assert cb.expected_calibration_error(*RAIN, binning=n_bins) == pytest.approx(float(Fraction(ece)), abs=EXACT)
    assert cb.maximum_calibration_error(*RAIN, binning=n_bins) == pytest.approx(float(Fraction(mce)), abs=EXACT)


def test_the_first_table():
    (panel,) = cb.reliability_curve(*RAIN, binning=10).panels
    assert panel.bins.count[::-1].tolist() == [1, 1, 7, 15, 13, 15, 18, 31, 22, 0]
    assert panel.bins.outcome_sum[::-1].tolist() == [1, 1, 6, 11, 8, 8, 6, 7, 4, 0]
    printed = np.array([100, 100, 86, 75, 62, 53, 33, 23, 18])
    off = np.abs(100 * panel.bins.event_rate[:0:-1] - printed) > 0.5
    assert printed[off].tolist() == [75]  # 11 of 15 are 73


# Table 2


def test_scores_of_the_second_table():
    assert cb.brier_score_loss(TOY.y, TOY.prob, **CLASSES) == pytest.approx(0.712, abs=EXACT)
    expected = -(3 * np.log(0.9) + np.log(0.1) + np.log(0.6) + 5 * np.log(0.2)) / 10
    assert cb.log_loss(TOY.y, TOY.prob, **CLASSES) == pytest.approx(expected, abs=EXACT)
    assert expected == pytest.approx(1.11766818, abs=5e-9)


@pytest.mark.parametrize(
    ("score", "by", "first", "second", "tolerance"),
    [
        ("brier", "calibration_refinement", 293 / 1500, 31 / 60, EXACT),
        ("brier", "epistemic_irreducible", 0.262, 0.45, EXACT),
        ("log", "calibration_refinement", 0.28589157, 0.83177662, 5e-9),
        ("log", "epistemic_irreducible", 0.47684582, 0.64082237, 5e-9),
    ],
)
def test_decompositions_of_the_second_table(score, by, first, second, tolerance):
    truth = (TOY.posterior,) if by == "epistemic_irreducible" else ()
    found = load(by)(TOY.y, TOY.prob, *truth, score=score, **CLASSES)
    values = [value for _, value in found.terms]
    assert values[:2] == pytest.approx([first, second], abs=tolerance)
    assert values[2:] == pytest.approx([0] * len(values[2:]), abs=EXACT)
    assert sum(values) == pytest.approx(found.total, abs=EXACT)


# Tables 3 to 7: (rows, sum of the probabilities, rows of the class) of each bin

BINS = {
    "class 1": [(11, "11/10", 2), (7, "37/15", 3), (3, "17/10", 1), (7, "54/10", 2), (2, "19/10", 2)],
    "class 2": [(15, "15/10", 5), (12, "25/6", 4), (3, "17/10", 1), (0, "0", 0), (0, "0", 0)],
    "class 3": [(11, "11/10", 4), (11, "58/15", 2), (4, "22/10", 1), (4, "29/10", 3), (0, "0", 0)],
    "confidence": [(0, "0", 0), (7, "8/3", 3), (10, "56/10", 3), (11, "83/10", 5), (2, "19/10", 2)],
}


@pytest.mark.parametrize("notion", ["class-wise", "confidence"])
def test_the_bins_of_the_running_example(notion):
    for panel in cb.reliability_curve(*RUNNING, notion=notion, binning=5, **CLASSES).panels:
        count, score_sum, outcome_sum = zip(*BINS[panel.name], strict=True)
        assert panel.bins.count.tolist() == list(count)
        assert panel.bins.outcome_sum.tolist() == list(outcome_sum)
        assert panel.bins.score_sum == pytest.approx([float(Fraction(s)) for s in score_sum], abs=EXACT)


def class_error(j):
    return lambda *rows, **options: cb.expected_calibration_error(*rows, notion=OneVsRest(str(j)), **options)


FIGURES = {  # the metric, its exact value, and what the survey prints
    "class-1-ECE": (class_error(1), "169/900", 0.1873),
    "class-2-ECE": (class_error(2), "131/900", 0.147),
    "class-3-ECE": (class_error(3), "91/450", 0.2017),
    "class-wise ECE": (cb.classwise_calibration_error, "241/1350", 0.1787),
    "largest class ECE": (metrics.classwise_worst_calibration_error, "91/450", 0.2017),
    "class-wise MCE": (metrics.classwise_maximum_calibration_error, "17/35", 0.48),
    "mean class MCE": (metrics.classwise_mean_maximum_calibration_error, "107/315", 0.34),
    "confidence-ECE": (cb.expected_calibration_error, "19/90", 0.2117),
    "confidence-MCE": (cb.maximum_calibration_error, "3/10", 0.3),
}


@pytest.mark.parametrize(("metric", "exact", "printed"), FIGURES.values(), ids=FIGURES)
def test_a_figure_of_the_running_example(metric, exact, printed):
    value = metric(*RUNNING, binning=5, **CLASSES)
    assert value == pytest.approx(float(Fraction(exact)), abs=EXACT)
    assert value == pytest.approx(printed, abs=0.006)  # its bins are rounded to two digits


def test_bins_closed_on_the_left_give_another_figure():
    """The complement of a score has its bins the other way round."""
    y, prob = RUNNING
    errors = [cb.expected_calibration_error(y != j, np.round(1 - prob[:, j - 1], 12), binning=5) for j in (1, 2, 3)]
    assert np.mean(errors) == pytest.approx(221 / 1350, abs=EXACT)


# Section 6

OBSERVED = [(3, 1, 3), (2, 2, 1), (3, 3, 1), (2, 3, 2), (0, 1, 3)]
EXPECTED = [
    ("59/10", "7/10", "4/10"),
    ("31/10", "6/10", "13/10"),
    ("37/15", "53/30", "83/30"),
    ("11/10", "31/10", "28/10"),
    ("0", "12/10", "28/10"),
]


@pytest.mark.filterwarnings("ignore:the chi-squared law needs expected counts")
def test_the_eighth_table():
    test = cb.hosmer_lemeshow_test(*RUNNING, n_bins=5, fitted=True, **CLASSES)
    expected = [[Fraction(e) for e in row] for row in EXPECTED]
    pairs = [pair for rows in zip(OBSERVED, expected, strict=True) for pair in zip(*rows, strict=True)]
    assert test.observed.tolist() == [list(row) for row in OBSERVED]
    assert test.expected == pytest.approx(np.array(expected, dtype=float), abs=EXACT)
    assert test.edges == pytest.approx([0, 0.2, 0.56, 0.7, 0.9, 1], abs=EXACT)
    assert test.statistic == pytest.approx(float(sum((o - e) ** 2 / e for o, e in pairs if e)), abs=1e-10)
    assert (round(test.statistic, 4), test.df, round(test.pvalue, 6)) == (25.3004, 6, 0.0003)


@pytest.mark.parametrize(
    ("metric", "strict", "pvalue"),
    [("classwise-ece", True, 0.01167), ("classwise-ece", False, 0.01285), ("ece", True, 0.0449)],
)
def test_the_resampling_test(metric, strict, pvalue):
    """The figures have a standard error of 0.00008, two million draws; that of confidence may be half a digit off."""
    draws, options = 40_000, {"binning": 5, "correction": False, "rng": 1, **CLASSES}
    test = cb.significance.resampling_test(*RUNNING, metric=metric, n_resamples=draws, strict=strict, **options)
    error = np.hypot(np.sqrt(pvalue * (1 - pvalue) / draws), 0.00008)
    assert test.pvalue == pytest.approx(pvalue, abs=4.5 * error)


# Footnote 2


def test_class_wise_calibration_does_not_imply_confidence_calibration():
    forecasts = np.array([[0.3, 0.3, 0.4], [0.4, 0.3, 0.3], [0.4, 0.6, 0.0], [0.3, 0.6, 0.1]])
    occurred = np.array([[4, 2, 4], [3, 4, 3], [5, 5, 0], [2, 7, 1]])
    y, prob = np.concatenate([np.repeat([0, 1, 2], row) for row in occurred]), np.repeat(forecasts, 10, axis=0)
    assert cb.classwise_calibration_error(y, prob) == pytest.approx(0, abs=EXACT)
    assert cb.expected_calibration_error(y, prob) == pytest.approx(1 / 40, abs=EXACT)


# What implies what, as docs/notions.md shows: its examples have a counterexample for each arrow that is missing


PAGE = (Path(__file__).resolve().parents[1] / "docs" / "notions.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, flags=re.M | re.S)


@pytest.fixture(scope="module")
def page():
    """The names of the page, run without its output."""
    namespace = {"__name__": "notions", "print": lambda *args: None}
    exec("\n".join(block for language, block in BLOCKS if language == "python"), namespace)
    return namespace


ARROWS = {
    "canonical": ("top-3-label",),
    "top-3-label": ("class-wise", "top-3-confidence", "top-2-label"),
    "class-wise": ("shared-class-wise",),
    "shared-class-wise": ("flattened",),
    "flattened": (),
    "top-3-confidence": ("top-2-confidence", "flattened"),
    "top-2-label": ("top-2-confidence", "top-label"),
    "top-2-confidence": ("confidence",),
    "top-label": ("confidence",),
    "confidence": (),
}


def implied(notion):
    """The notion and whatever arrows lead to."""
    return {notion}.union(*(implied(other) for other in ARROWS[notion]))


@pytest.mark.parametrize("notion", ARROWS)
def test_every_implication_that_is_not_an_arrow_has_a_counterexample(page, notion):
    assert {other for other in page["NOTIONS"] if page["witness"](notion, other) == "yes"} == implied(notion)


def exactly(y, prob, notion, weight):
    labels = range(prob.shape[1])
    return cb.calibration_error(y, prob, notion=notion, binning=Unique(), sample_weight=weight, labels=labels)


def canonically(y, prob, weight):
    how = {"binning": SimplexUnique(), "distance": "l1"}
    return metrics.canonical_calibration_error(y, prob, sample_weight=weight, labels=range(prob.shape[1]), **how)


@given(tables())
def test_an_arrow_leads_to_an_error_that_is_no_larger(data):
    """Each with a bin for each value, as the mean of what is said of a row."""
    y, prob, weight = data
    n_classes = prob.shape[1]
    every = exactly(y, prob, f"top-{n_classes}-label", weight)
    assert every <= canonically(y, prob, weight) / n_classes + EXACT
    assert exactly(y, prob, "class-wise", weight) <= every + EXACT
    shared = exactly(y, prob, SharedClassWise([*range(n_classes - 1), 0]), weight)
    flattened = exactly(y, prob, "flattened", weight)
    assert flattened <= shared + EXACT
    assert shared <= exactly(y, prob, "class-wise", weight) + EXACT
    assert flattened <= exactly(y, prob, f"top-{n_classes}-confidence", weight) + EXACT
    for k in range(1, n_classes + 1):
        label, confidence = (exactly(y, prob, f"top-{k}-{word}", weight) for word in ("label", "confidence"))
        assert confidence <= label + EXACT
        if k < n_classes:
            assert k * label <= (k + 1) * exactly(y, prob, f"top-{k + 1}-label", weight) + EXACT
            assert k * confidence <= (k + 1) * exactly(y, prob, f"top-{k + 1}-confidence", weight) + EXACT
    assert exactly(y, prob, "top-1-label", weight) == exactly(y, prob, "top-label", weight)
    assert exactly(y, prob, "top-1-confidence", weight) == exactly(y, prob, "confidence", weight)


@given(tables())
def test_of_two_classes_top_label_class_wise_and_canonical_are_one(data):
    y, prob, weight = data
    # The complement of the first, to the last bit: else equal probabilities of one class stand beside others of the other.
    first = np.round(prob[:, 0] * 64) / 64
    two, occurred = np.column_stack([first, 1 - first]), np.minimum(y, 1)
    error = exactly(occurred, two, "top-label", weight)
    assert error == pytest.approx(exactly(occurred, two, "class-wise", weight), abs=EXACT)
    assert error == pytest.approx(canonically(occurred, two, weight) / 2, abs=EXACT)
    assert exactly(occurred, two, "confidence", weight) <= error + EXACT
