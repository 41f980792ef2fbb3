"""PyCalib (of the authors of the survey). Its test starts as many processes as there are CPUs, and gives a p-value."""

from collections.abc import Callable

import numpy as np
from pycalib import metrics


def resampling_test(y: np.ndarray, prob: np.ndarray) -> Callable[[], float]:
    truth = np.eye(prob.shape[1])[y]
    return lambda: float(metrics.pECE(truth, prob, samples=200, ece_function=metrics.classwise_ECE))
