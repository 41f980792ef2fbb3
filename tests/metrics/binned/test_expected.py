"""Worked examples, by hand."""

from fractions import Fraction

import numpy as np
import pytest

from calibrant import (
    EqualMass,
    calibration_error,
    classwise_calibration_error,
    expected_calibration_error,
    maximum_calibration_error,
    top_label_calibration_error,
)
from calibrant.binning import CrossValidatedBins, Isotonic, MonotonicSweep, Unique
from calibrant.metrics import (
    adaptive_calibration_error,
    classwise_maximum_calibration_error,
    classwise_mean_maximum_calibration_error,
    classwise_worst_calibration_error,
    debiased_calibration_error,
    root_mean_squared_calibration_error,
    thresholded_adaptive_calibration_error,
    top_label_maximum_calibration_error,
)
from calibrant.notions import OneVsRest

# Two bins of two rows: gaps |0 - 0.2| and |1 - 0.75|.
Y, P = [0, 0, 1, 1], [0.1, 0.3, 0.6, 0.9]


def test_expected_is_the_mean_gap():
    assert expected_calibration_error(Y, P, binning=2) == pytest.approx((0.2 + 0.25) / 2)


def test_maximum_is_the_largest_gap():
    assert maximum_calibration_error(Y, P, binning=2) == pytest.approx(0.25)


def test_root_mean_squared_squares_the_gaps():
    assert root_mean_squared_calibration_error(Y, P, binning=2) == pytest.approx(((0.2**2 + 0.25**2) / 2) ** 0.5)


TABLE_Y = [0, 1, 2]
TABLE_P = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]]


def test_class_wise_is_the_mean_of_the_errors_of_the_columns():
    columns = [
        expected_calibration_error([y == j for y in TABLE_Y], [p[j] for p in TABLE_P]) for j in range(len(TABLE_P[0]))
    ]
    assert classwise_calibration_error(TABLE_Y, TABLE_P) == pytest.approx(sum(columns) / 3)


def test_adaptive_is_class_wise_over_equal_mass():
    assert adaptive_calibration_error(TABLE_Y, TABLE_P) == calibration_error(
        TABLE_Y, TABLE_P, notion="class-wise", binning=EqualMass(15)
    )


def test_top_label_keeps_predicted_classes_apart():
    # Over- and under-confidence cancel in the confidence bin, and do not by predicted class.
    y, p = [0, 0], [[0.75, 0.25], [0.25, 0.75]]
    assert expected_calibration_error(y, p, notion="confidence") == pytest.approx(0.25)
    assert top_label_calibration_error(y, p) == pytest.approx((0.25 + 0.75) / 2)
    assert top_label_maximum_calibration_error(y, p) == pytest.approx(0.75)


def test_calibrated_confidence_can_hide_what_the_top_label_shows():
    # Ten rows a value; class 0 occurs as often as predicted. At 0.6 the rates of the predicted classes are 0.4 and 0.8.
    groups = {(0.6, 0.4): 4, (0.4, 0.6): 2, (0.8, 0.2): 10, (0.2, 0.8): 4}
    y = [0 if row < occurred else 1 for occurred in groups.values() for row in range(10)]
    p = [value for value in groups for _ in range(10)]
    assert expected_calibration_error(y, p, notion="confidence", binning=Unique()) == pytest.approx(0.0)
    assert top_label_calibration_error(y, p, binning=Unique()) == pytest.approx(0.2)


def test_thresholded_adaptive_leaves_out_small_probabilities():
    # Above 1/3: 0.8 (true), 0.7 (true), 0.4 (true); each class has one.
    assert thresholded_adaptive_calibration_error(TABLE_Y, TABLE_P) == pytest.approx((0.2 + 0.3 + 0.6) / 3)


def test_debiased_takes_off_what_chance_adds():
    # Gaps 0.15 and 0.4; chance adds 3/16 / 3 to the square of the first.
    y, p = [0, 0, 1, 0, 1, 1, 1, 1], [0.1] * 4 + [0.6] * 4
    assert debiased_calibration_error(y, p) == pytest.approx(((0.15**2 - 0.0625 + 0.4**2) / 2) ** 0.5)


def test_debiased_is_zero_where_chance_explains_more_than_all():
    assert debiased_calibration_error([0, 1, 0, 1], [0.5] * 4) == 0.0


@pytest.mark.parametrize(
    ("name", "figure"),
    [("cifar100_densenet_bc", 0.1843238729), ("cifar100_lenet5", 0.0144394878), ("cifar10_lenet5", 0.1128975240)],
)
def test_debiased_agrees_with_the_package_of_its_authors(data_dir, name, figure):
    """uncertainty-calibration 0.1.4, `unbiased_l2_ce` over 15 bins of `get_equal_bins` of the top probability."""
    with np.load(data_dir / f"{name}.npz") as data:
        found = debiased_calibration_error(data["y"], data["P"].astype(float))
    assert found == pytest.approx(figure, abs=1e-9)


# Table 3 of the survey: ten rows of each class, in tenths but for two uniform rows.
TENTHS = {
    1: ["10 0 0", "9 1 0", "8 1 1", "7 1 2", "6 3 1", "4 1 5", "", "", "2 4 4", "1 5 4"],
    2: ["8 2 0", "7 0 3", "5 2 3", "4 4 2", "4 2 4", "3 4 3", "2 3 5", "1 6 3", "1 3 6", "0 2 8"],
    3: ["8 2 0", "8 1 1", "8 0 2", "6 0 4", "3 0 7", "2 6 2", "2 4 4", "0 4 6", "0 3 7", "0 3 7"],
}
SURVEY_Y = [label for label, rows in TENTHS.items() for _ in rows]
SURVEY_P = [[int(t) / 10 for t in row.split()] or [1 / 3] * 3 for rows in TENTHS.values() for row in rows]
SURVEY = {"binning": 5, "labels": [1, 2, 3]}


@pytest.mark.parametrize(("column", "ece"), [(0, "169/900"), (1, "131/900"), (2, "91/450")])
def test_class_errors_of_the_survey(column, ece):
    for notion in (OneVsRest(column), OneVsRest(str(column + 1))):
        found = expected_calibration_error(SURVEY_Y, SURVEY_P, notion=notion, **SURVEY)
        assert found == pytest.approx(float(Fraction(ece)), rel=1e-12)


@pytest.mark.parametrize(
    ("metric", "figure"),
    [
        (classwise_calibration_error, "241/1350"),
        (classwise_maximum_calibration_error, "17/35"),
        (classwise_mean_maximum_calibration_error, "107/315"),
        (classwise_worst_calibration_error, "91/450"),
        (expected_calibration_error, "19/90"),
        (maximum_calibration_error, "3/10"),
    ],
)
def test_multiclass_errors_of_the_survey(metric, figure):
    assert metric(SURVEY_Y, SURVEY_P, **SURVEY) == pytest.approx(float(Fraction(figure)), rel=1e-12)


@pytest.mark.parametrize("binning", [Isotonic(), MonotonicSweep(), CrossValidatedBins()], ids=repr)
def test_over_tuned_bins_the_error_is_near_the_truth(binning):
    """Where events come at p^2 the error is 1/6; its standard error is below 0.01."""
    rng = np.random.default_rng(0)
    p = rng.random(2000)
    y = rng.random(2000) < p**2
    found = expected_calibration_error(y, p, binning=binning)
    assert found == pytest.approx(1 / 6, abs=0.04)
    assert found <= expected_calibration_error(y, p, binning=Unique())
