"""Every figure that the survey computes, exactly; and the page of the documentation that shows them."""

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import calibrant
import calibrant as cb
from calibrant._core.lazy import load
from calibrant.datasets import load_hallenbeck_forecasts, load_survey_table_2, load_survey_table_3
from calibrant.metrics import (
    classwise_maximum_calibration_error,
    classwise_mean_maximum_calibration_error,
    classwise_worst_calibration_error,
)
from calibrant.notions import OneVsRest

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "survey.md").read_text(encoding="utf-8")
EXACT = 1e-12
CLASSES = {"labels": [1, 2, 3]}
RAIN = load_hallenbeck_forecasts()
TOY = load_survey_table_2()
RUNNING = load_survey_table_3()


@pytest.mark.filterwarnings("ignore:the chi-squared law needs expected counts")
def test_the_page_prints_what_it_shows(capsys):
    """A ``text`` block is all that the blocks before it print, since the last one."""
    namespace = {"__name__": "survey"}
    for language, block in re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, flags=re.M | re.S):
        if language == "python":
            exec(compile(block, "survey.md", "exec"), namespace)
        else:
            assert language == "text"
            assert block == capsys.readouterr().out.rstrip("\n") + "\n"
    assert capsys.readouterr().out == ""


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
    "largest class ECE": (classwise_worst_calibration_error, "91/450", 0.2017),
    "class-wise MCE": (classwise_maximum_calibration_error, "17/35", 0.48),
    "mean class MCE": (classwise_mean_maximum_calibration_error, "107/315", 0.34),
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
    test = calibrant.hosmer_lemeshow_test(*RUNNING, n_bins=5, fitted=True, **CLASSES)
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
    draws = 40_000
    test = calibrant.significance.resampling_test(
        *RUNNING, metric=metric, binning=5, n_resamples=draws, strict=strict, correction=False, rng=1, **CLASSES
    )
    error = np.hypot(np.sqrt(pvalue * (1 - pvalue) / draws), 0.00008)
    assert test.pvalue == pytest.approx(pvalue, abs=4.5 * error)


# Footnote 2


def test_class_wise_calibration_does_not_imply_confidence_calibration():
    forecasts = np.array([[0.3, 0.3, 0.4], [0.4, 0.3, 0.3], [0.4, 0.6, 0.0], [0.3, 0.6, 0.1]])
    occurred = np.array([[4, 2, 4], [3, 4, 3], [5, 5, 0], [2, 7, 1]])
    y, prob = np.concatenate([np.repeat([0, 1, 2], row) for row in occurred]), np.repeat(forecasts, 10, axis=0)
    assert cb.classwise_calibration_error(y, prob) == pytest.approx(0, abs=EXACT)
    assert cb.expected_calibration_error(y, prob) == pytest.approx(1 / 40, abs=EXACT)
