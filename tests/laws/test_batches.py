"""Every public function of labels and probabilities takes predictions that are read in batches, or says how it does."""

import inspect

import numpy as np
import pytest

from calibrant import IsotonicCalibration, calibration_slope, predictions, spiegelhalter_test
from calibrant._core.lazy import homes, load
from calibrant.metrics import kernel_calibration_error

RNG = np.random.default_rng(8)
SCORE, PROB = RNG.random(80), RNG.dirichlet(np.ones(3), 80)
DATA = {2: ((RNG.random(80) < SCORE).astype(int), SCORE), 3: (RNG.integers(0, 3, 80), PROB)}


TAKES = {name: inspect.signature(load(name)).parameters for name in homes() if inspect.isfunction(load(name))}
FUNCTIONS = {name: load(name) for name, takes in TAKES.items() if "y_true" in takes and "estimator" not in takes}

BESIDE = {
    "by_class": lambda f, rows: f(spiegelhalter_test, rows),
    "by_group": lambda f, rows: f(spiegelhalter_test, rows, None, [0, 1]),
    "calibration_map": lambda f, rows: f(IsotonicCalibration().fit(SCORE, DATA[2][0]), rows),
    "epistemic_irreducible": lambda f, rows: f(rows, None, SCORE),
    "paired_difference": lambda f, rows: f(rows, SCORE, SCORE),
    "paired_test": lambda f, rows: f(rows, SCORE, SCORE),
}
"""Functions that need more than labels and probabilities."""


@pytest.mark.first(200)
@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_function_takes_predictions_or_says_how_to_sample(name, monkeypatch):
    monkeypatch.setattr("calibrant.interop.arrow_batches.FEW", 10)
    call, said = BESIDE.get(name, lambda f, rows: f(rows)), []
    for k in (2, 3):
        try:
            call(FUNCTIONS[name], predictions([DATA[k]]))
            return
        except (ValueError, TypeError) as error:
            said.append(str(error))
    assert any("got " in words and "function(**predictions.sample(" in words for words in said), said


def test_what_needs_all_rows_takes_predictions_of_few():
    y, p = DATA[2]
    assert calibration_slope(predictions([(y[:30], p[:30]), (y[30:], p[30:])])) == calibration_slope(y, p)
    sample = predictions([(y, p)]).sample(100)
    assert kernel_calibration_error(**sample) == kernel_calibration_error(predictions([(y, p)]))
