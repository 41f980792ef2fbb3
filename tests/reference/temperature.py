"""Temperature scaling by a bounded search on the mean log loss."""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax


def fit(logit, label, weight, low=-7.0, high=7.0):
    """Return the temperature between exp(low) and exp(high) with the least mean log loss."""

    def loss(x):
        log_prob = log_softmax(np.array(logit) / np.exp(x), axis=1)
        return -np.average(log_prob[np.arange(len(label)), label], weights=weight)

    return np.exp(minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-10}).x)
