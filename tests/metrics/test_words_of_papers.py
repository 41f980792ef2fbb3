"""The five figures of the tables of Arad and Rosset (2025), in one call and by name."""

import pytest
from hypothesis import given
from reference import binned, scores
from strategies import tables

from calibrant import assess

BINS = 15


def confidence_error(*rows):
    return binned.calibration_error(binned.confidence(*rows), binned.equal_width(BINS), "l1")


def class_wise_error(*rows):
    return binned.calibration_error(binned.class_wise(*rows), binned.equal_width(BINS), "l1")


def thresholded_error(*rows):
    return binned.calibration_error(binned.thresholded(*rows), binned.equal_mass(BINS), "l1", equal_shares=True)


DEFINITIONS = {
    "accuracy": scores.accuracy,
    "ece": confidence_error,  # conf-ECE
    "classwise-ece": class_wise_error,  # cw-ECE
    "mean-brier": lambda prob, *rest: scores.brier(prob, *rest) / len(prob[0]),  # BS
    "tece": thresholded_error,
}


@given(rows=tables())
def test_one_call_gives_all_five_by_name_as_their_definitions_do(rows):
    label, prob, weight = rows
    options = {"sample_weight": weight, "labels": range(prob.shape[1]), "n_resamples": 1, "notion": "confidence"}
    found = assess(label, prob, metrics=list(DEFINITIONS), **options)
    plain = prob.tolist(), label.tolist(), weight.tolist()
    for name, definition in DEFINITIONS.items():
        assert found[name].value == pytest.approx(definition(*plain), abs=1e-12), name
