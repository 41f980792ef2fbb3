"""Logits and weights at the ends of what is accepted: probabilities come back, or a warning and a defined answer."""

import warnings

import numpy as np
import pytest
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from calibrant._core.registry import entries
from calibrant.calibrators import BinaryCalibrator
from calibrant.exceptions import CalibrationWarning

NAMES = [
    *("platt", "beta", "quadratic", "vector", "matrix", "dirichlet", "svs", "sms", "spline"),
    *("temperature", "ensemble-temperature", "irova-ts", "safe"),
]
COLUMNS = [
    (name, n_columns)
    for name in NAMES
    for n_columns in (1, 3)
    if n_columns == 1 or not issubclass(entries("calibrator")[name].target, BinaryCalibrator)
]
RNG = np.random.default_rng(0)
Z = RNG.normal(0.0, 2.0, 200)
LABEL = (RNG.random(200) < expit(Z)).astype(int)


def with_outliers(*values):
    z = Z.copy()
    z[: len(values)] = values
    return z


SPREAD_WEIGHT = 10.0 ** RNG.uniform(-100.0, 97.0, 200)
SPREAD_LOGIT = Z * 10.0 ** RNG.uniform(-100.0, 99.0, 200)
CASES = {
    "logits of 1e8": (1e8 * Z, None),
    "logits of 1e30": (1e30 * Z, None),
    "logits of 1e99": (1e99 * Z, None),
    "one logit of 1e100": (with_outliers(1e100), None),
    "logits of -1e100 and 1e100": (with_outliers(-1e100, 1e100), None),
    "logits of all sizes": (SPREAD_LOGIT, None),
    "weights of 1e-100": (Z, np.full(200, 1e-100)),
    "weights of 1e97": (Z, np.full(200, 1e97)),
    "weights of all sizes": (Z, SPREAD_WEIGHT),
    "weights and logits of all sizes": (SPREAD_LOGIT, SPREAD_WEIGHT),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("name", "n_columns"), COLUMNS)
def test_what_is_accepted_gives_probabilities(name, n_columns, case):
    target = entries("calibrator")[name].target
    z, weight = CASES[case]
    X = z if n_columns == 1 else np.column_stack([z, -z, z[::-1]])
    calibrator = target(input="logit", labels=range(max(n_columns, 2)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", CalibrationWarning)
        calibrator.fit(X, LABEL, weight)
    prob = calibrator.predict_proba(np.concatenate([X, 0.3 * X, 0.0 * X, X / 1e50]))
    assert np.isfinite(prob).all()
    np.testing.assert_allclose(prob.sum(axis=1), 1.0, rtol=1e-12)
    assert np.isfinite(calibrator.gradient_)


@pytest.mark.parametrize("scale", [1e4, 1e8, 1e50, 1e99])
@pytest.mark.parametrize("name", ["platt", "beta", "quadratic", "vector", "matrix"])
def test_logits_of_any_size_are_fitted_as_well_as_small_ones(name, scale):
    """Beta calibration bends at zero over some units, which no larger scale shows."""
    target = entries("calibrator")[name].target
    options = {"off_diagonal": 0.0, "intercept": 0.0} if name == "matrix" else {}
    one, other = (
        target(input="logit", **options).fit(factor * Z, LABEL).predict_proba(factor * Z)[:, 1]
        for factor in (1e4, scale)
    )
    np.testing.assert_allclose(other, one, atol=1e-3)
