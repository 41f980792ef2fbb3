"""dirichletcal, by the authors of Dirichlet calibration (it computes with JAX; 0.5 needs Python 3.12).

Its fit makes the n x (K + 1) x (K + 1) table of products of all features, several times over: 50 000 rows of 100 classes would
ask for more than 12 GB. Its matrix of 100 classes takes three minutes of CPU time at 2000 rows.
"""

import numpy as np
from dirichletcal.calib.fulldirichlet import FullDirichletCalibrator
from dirichletcal.calib.vectorscaling import VectorScaling

from benchmarks.fitting import Method


def dirichlet(y: np.ndarray, prob: np.ndarray) -> Method:
    def fit() -> FullDirichletCalibrator:
        return FullDirichletCalibrator(reg_lambda=1e-3, reg_mu=1e-3, ref_row=False).fit(prob, y)

    return Method(fit, lambda fitted, other: fitted.predict_proba(other))


def vector(y: np.ndarray, prob: np.ndarray) -> Method:
    # logit_constant=0: the logarithms as they are, and not relative to the last class.
    def fit() -> VectorScaling:
        return VectorScaling(logit_constant=0.0).fit(prob, y)

    return Method(fit, lambda fitted, other: fitted.predict_proba(other))
