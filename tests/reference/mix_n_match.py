"""Multi-class isotonic regression, isotonic regression after temperature, and mixtures of three forecasts, by definition."""

import numpy as np
from reference import isotonic
from scipy.optimize import minimize
from scipy.special import log_softmax


def divided(row, forecast):
    total = sum(row)
    return [v / total for v in row] if total > 0 else list(forecast)


def multiclass_isotonic(prob, label, weight, new, epsilon):
    """One map for all classes, fitted to every (score, whether that class is true)."""
    points = [(p, k == y, w) for row, y, w in zip(prob, label, weight, strict=True) for k, p in enumerate(row)]
    distinct, values = isotonic.fit(*[list(column) for column in zip(*points, strict=True)])
    return [divided([isotonic.step(distinct, values, p) + epsilon * p for p in row], row) for row in new]


def tempered(prob, temperature):
    """Softmax of the logarithms over T."""
    return log_softmax(np.log(np.maximum(prob, 1e-12)) / temperature, axis=1)


def isotonic_temperature(prob, label, weight, new, temperature, epsilon):
    """One map a class, fitted to the scores at the temperature, of which logarithms are rounded to ten digits."""
    soft, other = (np.exp(tempered(rows, temperature).round(10)) for rows in (prob, new))
    maps = [isotonic.fit(s.tolist(), [y == k for y in label], weight) for k, s in enumerate(soft.T)]
    return [divided([isotonic.step(*maps[k], s) + epsilon * s for k, s in enumerate(row)], row) for row in other]


def mixture_loss(prob, label, weight, temperature, mix):
    """Mean log loss of a mixture of softmax(z / T), the forecast and the uniform one."""
    prob = np.array(prob)
    value = mix[0] * np.exp(tempered(prob, temperature)) + mix[1] * prob + mix[2] / prob.shape[1]
    return -np.average(np.log(value[np.arange(len(label)), label]), weights=weight)


def least_mixture_loss(prob, label, weight, temperature):
    """By a generic optimiser over the simplex, from its middle."""
    found = minimize(
        lambda mix: min(mixture_loss(prob, label, weight, temperature, mix), 1e3),
        [1 / 3] * 3,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * 3,
        constraints={"type": "eq", "fun": lambda mix: sum(mix) - 1.0},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return found.fun
