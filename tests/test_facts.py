"""Published and independently computed figures on real forecasts, to every digit that was written down."""

from functools import partial

import numpy as np
import pytest
from scipy.special import softmax

import calibrant as cb
from calibrant._core.registry import find
from calibrant.metrics import top_label_maximum_calibration_error
from calibrant.metrics.decompositions import accuracy

MASS = cb.EqualMass(15)
OF_A_FORECAST = {
    "accuracy": accuracy,
    "NLL": partial(cb.log_loss, clip=1e-12),  # as the facts clip
    "Brier": partial(cb.brier_score_loss, scale_by_half=False),
    "ECE width": cb.expected_calibration_error,
    "ECE mass": lambda y, p: cb.expected_calibration_error(y, p, binning=MASS),
    "TL-ECE width": cb.top_label_calibration_error,
    "TL-ECE mass": lambda y, p: cb.top_label_calibration_error(y, p, binning=MASS),
    "TL-MCE width": top_label_maximum_calibration_error,
    "CW-ECE width": cb.classwise_calibration_error,
    "CW-ECE mass": lambda y, p: cb.classwise_calibration_error(y, p, binning=MASS),
}

RESNET_HEADS = [head for head in OF_A_FORECAST if head != "Brier"]
RESNET = {
    "base": "0.9502 0.175509 0.0155164 0.0156190 0.0222267 0.0237334 0.629461 0.00421983 0.00258333",
    # Of CW-ECE width 0.00409274986; the shared table cuts it to 0.00409274.
    "temperature": "0.9502 0.173842 0.00972077 0.0135957 0.0221599 0.0231319 0.670081 0.00409275 0.00279014",
}

METHODS = {
    "uncalibrated": None,
    "temperature": cb.TemperatureScaling(),
    "isotonic step": cb.ByNotion(cb.IsotonicCalibration(finite=None), "class-wise"),
    "isotonic interpolated": cb.ByNotion(cb.IsotonicCalibration(interpolate=True, finite=None), "class-wise"),
}
HEADS = ("accuracy", "NLL", "Brier", "ECE width", "CW-ECE width")
HALVES = {
    ("cifar10_lenet5", "uncalibrated"): "0.5222 1.39048 0.62631 0.11926 0.02668",
    ("cifar10_lenet5", "temperature"): "0.5222 1.32600 0.60680 0.02243 0.01297",
    ("cifar10_lenet5", "isotonic step"): "0.5240 1.37320 0.60732 0.0406 0.01232",
    ("cifar10_lenet5", "isotonic interpolated"): "0.5246 1.37314 0.60727 0.0408 0.01233",
    ("cifar100_densenet_bc", "uncalibrated"): "0.7538 1.21159 0.38297 0.1447 0.00375",
    ("cifar100_densenet_bc", "temperature"): "0.7538 0.86661 0.33790 0.0139 0.00248",
    ("cifar100_densenet_bc", "isotonic step"): "0.7518 1.32718 0.34634 0.0485 0.00244",
    ("cifar100_lenet5", "uncalibrated"): "0.1240 3.82507 0.95158 0.0181 0.00378",
    ("cifar100_lenet5", "temperature"): "0.1240 3.81463 0.95153 0.0137 0.00350",
}


def printed_as(value, figure):
    """The value, rounded to as many decimals as the figure has."""
    return f"{value:.{len(figure.partition('.')[2])}f}"


@pytest.fixture(scope="session")
def resnet(data_dir):
    with np.load(data_dir / "cifar10_resnet50.npz") as data:
        cal, test = data["logits_cal"].astype(float), data["logits_test"].astype(float)
        scaling = cb.TemperatureScaling(input="logit").fit(cal, data["y_cal"])
        forecasts = {"base": softmax(test, axis=1), "temperature": scaling.predict_proba(test)}
        return scaling, data["y_test"], forecasts


def test_the_temperature_of_resnet50(resnet):
    assert printed_as(resnet[0].temperature_, "1.06258") == "1.06258"


@pytest.mark.parametrize("method", RESNET)
def test_figures_of_resnet50(resnet, method):
    _, label, forecasts = resnet
    for head, figure in zip(RESNET_HEADS, RESNET[method].split(), strict=True):
        assert printed_as(OF_A_FORECAST[head](label, forecasts[method]), figure) == figure, head


@pytest.mark.filterwarnings("ignore:log loss")  # isotonic regression calls events impossible
@pytest.mark.parametrize(("name", "method"), HALVES)
def test_figures_of_halves(data_dir, name, method):
    """First 5000 rows to fit, last 5000 to test."""
    with np.load(data_dir / f"{name}.npz") as data:
        prob, label = data["P"].astype(float), data["y"]
    calibrator, test = METHODS[method], prob[5000:]
    if calibrator is not None:
        test = calibrator.fit(prob[:5000], label[:5000]).predict_proba(test)
    figures = dict(zip(HEADS, HALVES[name, method].split(), strict=True))
    found = {head: printed_as(OF_A_FORECAST[head](label[5000:], test), figure) for head, figure in figures.items()}
    assert found == figures


TOP_LABEL = {
    "smooth-ece": ("0.142153", "0.015600", "0.107888"),
    "ks-error": ("0.142153", "0.014039", "0.107900"),
    "debiased-ece": ("0.184324", "0.014439", "0.112898"),
    "mcb": ("0.035164", "0.001001", "0.013917"),
    "dsc": ("0.060513", "0.009392", "0.046371"),
    "unc": ("0.185433", "0.109075", "0.249051"),
}


@pytest.mark.parametrize("metric", TOP_LABEL)
def test_figures_of_the_top_label_of_all_rows(data_dir, metric):
    found = []
    for name in ("cifar100_densenet_bc", "cifar100_lenet5", "cifar10_lenet5"):
        with np.load(data_dir / f"{name}.npz") as data:
            prob, label = data["P"].astype(float), data["y"]
        # Rows of single precision sum to one only roughly, and ties are ties or not by the last digit.
        found.append(find("metric", metric).target(label, prob, rows="normalize"))
    assert tuple(printed_as(value, "0.000000") for value in found) == TOP_LABEL[metric]
