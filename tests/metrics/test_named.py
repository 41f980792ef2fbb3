"""Worked examples, by hand."""

import pytest

from calibrant import (
    EqualMass,
    Unique,
    adaptive_calibration_error,
    calibration_error,
    classwise_calibration_error,
    expected_calibration_error,
    maximum_calibration_error,
    root_mean_squared_calibration_error,
    top_label_calibration_error,
    top_label_maximum_calibration_error,
)

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
    assert expected_calibration_error(y, p) == pytest.approx(0.25)
    assert top_label_calibration_error(y, p) == pytest.approx((0.25 + 0.75) / 2)
    assert top_label_maximum_calibration_error(y, p) == pytest.approx(0.75)


def test_calibrated_confidence_can_hide_what_the_top_label_shows():
    # Ten rows a value; class 0 comes as often as given. At 0.6 the rates of the predicted classes are 0.4 and 0.8.
    groups = {(0.6, 0.4): 4, (0.4, 0.6): 2, (0.8, 0.2): 10, (0.2, 0.8): 4}
    y = [0 if row < came else 1 for came in groups.values() for row in range(10)]
    p = [value for value in groups for _ in range(10)]
    assert expected_calibration_error(y, p, binning=Unique()) == pytest.approx(0.0)
    assert top_label_calibration_error(y, p, binning=Unique()) == pytest.approx(0.2)
