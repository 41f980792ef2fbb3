"""The five figures of the tables of Arad and Rosset (2025), in one call and by name."""

import json

import numpy as np
import pytest
from hypothesis import given
from reference import binned, scores
from strategies import tables

from calibrant import assess, cli

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


def test_the_threshold_is_one_over_the_number_of_classes_and_a_class_below_it_is_left_out():
    """Of the first class 0.5 and 0.75 count, of the second 0.5 and 0.75, of the third nothing."""
    prob, label = [[0.5, 0.5, 0.0], [0.75, 0.25, 0.0], [0.25, 0.75, 0.0]], [0, 0, 1]
    found = assess(label, prob, metrics=["tece"], n_resamples=1)["tece"].value
    first, second = (0.5 + 0.25) / 2, (0.5 + 0.25) / 2
    assert found == pytest.approx((first + second) / 2, rel=1e-12)


def test_the_command_line_knows_all_five(tmp_path, capsys):
    rng = np.random.default_rng(0)
    prob, label = rng.dirichlet(np.ones(4), 60), rng.integers(0, 4, 60)
    np.savez(tmp_path / "f.npz", y=label, prob=prob)
    words = ["assess", str(tmp_path / "f.npz"), "--label", "y", "--prob", "prob*", "--json", "--resamples", "1"]
    assert cli.main([*words, "--metrics", ",".join(DEFINITIONS)]) == 0
    printed = {name: row["value"] for name, row in json.loads(capsys.readouterr().out)["metrics"].items()}
    found = assess(label, prob, metrics=list(DEFINITIONS), n_resamples=1)
    assert printed == {row.metric: pytest.approx(row.estimate.value, rel=1e-12) for row in found.rows}
    assert len(printed) == len(DEFINITIONS)
