"""A warning of `fit` stands at the line that called it, however many layers found it."""

import warnings

import numpy as np
import pytest

from calibrant import ByNotion, CalibratedClassifier, IsotonicCalibration, SafeCalibrator
from calibrant._core.registry import entries
from calibrant.calibrators import BinaryCalibrator

CALIBRATORS = {name: entry.target for name, entry in entries("calibrator").items()}
BINARY = {name: target for name, target in CALIBRATORS.items() if issubclass(target, BinaryCalibrator)}
ALL = (
    CALIBRATORS
    | {f"{name} by class": lambda target=target: ByNotion(target(), "class-wise") for name, target in BINARY.items()}
    | {
        f"safe {name}": lambda target=target: SafeCalibrator(target(), caution=0.0)
        for name, target in CALIBRATORS.items()
    }
)
SEPARATED = [0.1, 0.1, 0.2, 0.2, 0.8, 0.8, 0.9, 0.9], [0, 0, 0, 0, 1, 1, 1, 1]
ONE_CLASS = SEPARATED[0], [0] * 8
SAY_SO = ("beta", "quadratic", "vector", "matrix", "temperature", "ensemble-temperature", "irova-ts", "svs", "sms")


def said_by(calibrator, score, label):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        calibrator.fit(score, label)
    return said


@pytest.mark.parametrize("rows", [SEPARATED, ONE_CLASS], ids=["separated", "one class"])
@pytest.mark.parametrize("name", ALL)
def test_a_warning_of_a_fit_points_at_the_line_that_called_it_and_comes_once(name, rows):
    said = said_by(ALL[name]().set_params(labels=[0, 1]), *rows)
    assert {warning.filename for warning in said} <= {__file__}
    messages = [str(warning.message) for warning in said]
    assert len(set(messages)) == len(messages)


@pytest.mark.parametrize("name", SAY_SO)
def test_separated_classes_are_told_of_where_the_likelihood_has_no_maximum(name):
    assert len(said_by(ALL[name](), *SEPARATED)) == 1


def test_a_warning_that_comes_through_a_classifier_points_at_the_line_of_its_fit():
    X = np.array(SEPARATED[0])[:, None].repeat(3, axis=0)
    label = np.repeat(SEPARATED[1], 3)
    for name in SAY_SO:
        said = said_by(CalibratedClassifier(calibrator=ALL[name](), cv=2), X, label)
        assert {warning.filename for warning in said} <= {__file__}


@pytest.mark.parametrize(("far", "times"), [([800.0, 800.0], 0), ([800.0, 900.0], 1), ([-800.0, 800.0], 1)])
def test_logits_that_differ_and_are_one_probability_to_the_method_are_told_of(far, times):
    logit = np.concatenate([np.linspace(-2.0, 2.0, 20), far])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        IsotonicCalibration(input="logit").fit(logit, logit > 0.3)
    assert sum("are one probability" in str(one.message) for one in caught) == times
