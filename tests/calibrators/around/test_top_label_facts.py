"""Top-label, class-wise and normalised histogram binning of a ResNet-50 on CIFAR-10, to every digit that was written down."""

import numpy as np
import pytest
from scipy.special import softmax

from calibrant import (
    ByNotion,
    EqualMass,
    HistogramBinning,
    classwise_calibration_error,
    expected_calibration_error,
    top_label_calibration_error,
)
from calibrant.binning import PointsPerBin, Unique
from calibrant.metrics import top_label_maximum_calibration_error
from calibrant.metrics.scores import accuracy

WIDTH, MASS, OWN = 15, EqualMass(15), Unique()
NOISE = 1e-10
"""By how much at most the authors' code moves scores and values, at random."""

TL_HB = {
    (50, "conf-ECE", WIDTH): "0.00654177",
    (50, "conf-ECE", MASS): "0.00857565",
    (50, "TL-ECE", WIDTH): "0.0126185",
    (50, "TL-ECE", MASS): "0.0151498",
    (50, "TL-ECE", OWN): "0.0151498",
    (50, "TL-MCE", WIDTH): "0.140691",
    (50, "TL-MCE", OWN): "0.140691",
    (100, "conf-ECE", WIDTH): "0.00679501",
    (100, "TL-ECE", WIDTH): "0.00993186",
    (100, "TL-ECE", MASS): "0.0110401",
    (100, "TL-MCE", WIDTH): "0.0635115",
}

N_HB = {
    "accuracy": (accuracy, "0.9488", "0.9487"),
    "conf-ECE width": (expected_calibration_error, "0.00601718", "0.00588926"),
    "TL-ECE width": (top_label_calibration_error, "0.0181062", "0.0179873"),
    "TL-MCE width": (top_label_maximum_calibration_error, "0.807692", "0.807692"),
    "CW-ECE width": (classwise_calibration_error, "0.00327345", "0.00327212"),
}
"""As written down, of one draw of the noise, and without noise, in exact fractions. Normalised values tie, and rates such as
0.2 are edges of 15 bins: the noise says which class is on top, and in which bin a value is."""


def printed_as(value, figure):
    return f"{value:.{len(figure.partition('.')[2])}f}"


def error_of_pair(name, y, score, label, binning):
    if name == "conf-ECE":
        return expected_calibration_error(label == y, score, binning=binning)
    metric = {"TL-ECE": top_label_calibration_error, "TL-MCE": top_label_maximum_calibration_error}[name]
    return metric(y, score, y_pred=label, binning=binning)


def column_error(y, table):
    """Class-wise error of rows that need not sum to one."""
    return np.mean([expected_calibration_error(y == j, table[:, j]) for j in range(table.shape[1])])


@pytest.fixture(scope="module")
def resnet(data_dir):
    with np.load(data_dir / "cifar10_resnet50.npz") as data:
        cal, test = (softmax(data[f"logits_{part}"].astype(float), axis=1) for part in ("cal", "test"))
        return cal, data["y_cal"], test, data["y_test"]


@pytest.mark.parametrize(("k", "name", "binning"), TL_HB)
def test_figures_of_top_label_histogram_binning(resnet, k, name, binning):
    """Of bins that are told apart; with equal rates together the error on own values is smaller."""
    cal, y_cal, test, y = resnet
    label, score = (
        ByNotion(HistogramBinning(PointsPerBin(k), delta=NOISE), "top-label").fit(cal, y_cal).predict_top(test)
    )
    figure = TL_HB[k, name, binning]
    assert printed_as(error_of_pair(name, y, score, label, binning), figure) == figure


def test_distinct_values_of_top_label_histogram_binning(resnet):
    cal, y_cal, test, y = resnet
    label, score = ByNotion(HistogramBinning(PointsPerBin(50)), "top-label").fit(cal, y_cal).predict_top(test)
    assert len(np.unique(score)) == 26
    assert printed_as(error_of_pair("TL-ECE", y, score, label, OWN), "0.0148959") == "0.0148959"
    assert np.mean(label == y) == 0.9502


@pytest.mark.parametrize("name", N_HB)
def test_figures_of_normalised_histogram_binning(resnet, name):
    cal, y_cal, test, y = resnet
    metric, drawn, figure = N_HB[name]
    fitted = ByNotion(HistogramBinning(EqualMass(100)), "class-wise").fit(cal, y_cal)
    normalised = fitted.predict_proba(test)
    events = np.column_stack([np.rint(50 * each.calibrate(test[:, j])) for j, each in enumerate(fitted.calibrators_)])
    np.testing.assert_array_equal(normalised, events / events.sum(axis=1, keepdims=True))  # whole numbers, rounded once
    found = metric(y, normalised)
    assert printed_as(found, figure) == figure
    assert found == pytest.approx(float(drawn), abs=2.5e-4)


@pytest.mark.parametrize(
    ("options", "figure"), [({}, "0.00265300"), ({"delta": NOISE, "random_state": 1}, "0.00265180")]
)
def test_figures_of_class_wise_histogram_binning(resnet, options, figure):
    """Without noise, and of one draw of it that is written down: event rates of 50 rows, such as 0.2, are edges of 15 bins."""
    cal, y_cal, test, y = resnet
    calibrator = ByNotion(HistogramBinning(EqualMass(100), **options), "class-wise", normalize=False).fit(cal, y_cal)
    assert printed_as(column_error(y, calibrator.predict_proba(test)), figure) == figure
