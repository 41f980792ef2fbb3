"""Multi-class isotonic regression, isotonic regression after temperature, and mixtures of three forecasts, by definition."""

import math

from reference import isotonic
from scipy.optimize import minimize


def divided(row, forecast):
    total = sum(row)
    return [v / total for v in row] if total > 0 else list(forecast)


def multiclass_isotonic(prob, label, weight, new, epsilon):
    """One map for all classes, fitted to every (score, whether that class is true)."""
    points = [(p, k == y, w) for row, y, w in zip(prob, label, weight, strict=True) for k, p in enumerate(row)]
    distinct, values = isotonic.fit(*[list(column) for column in zip(*points, strict=True)])
    return [divided([isotonic.step(distinct, values, p) + epsilon * p for p in row], row) for row in new]


def log_softmax(row, temperature):
    scores = [math.log(max(p, 1e-12)) / temperature for p in row]
    total = sum(math.exp(s - max(scores)) for s in scores)
    return [s - max(scores) - math.log(total) for s in scores]


def softened(row, temperature):
    """Softmax of the logarithms over T; logarithms of the result are rounded to ten digits."""
    return [math.exp(round(log, 10)) for log in log_softmax(row, temperature)]


def isotonic_temperature(prob, label, weight, new, temperature, epsilon):
    """One map a class, fitted to the scores at the temperature."""
    soft, other = ([softened(row, temperature) for row in rows] for rows in (prob, new))
    maps = [isotonic.fit([s[k] for s in soft], [y == k for y in label], weight) for k in range(len(prob[0]))]
    return [divided([isotonic.step(*maps[k], s) + epsilon * s for k, s in enumerate(row)], row) for row in other]


def parts(row, temperature):
    return [math.exp(log) for log in log_softmax(row, temperature)], list(row), [1 / len(row)] * len(row)


def mixture_loss(prob, label, weight, temperature, mix):
    """Mean log loss of a mixture of softmax(z / T), the forecast and the uniform one."""
    loss = 0.0
    for row, y, w in zip(prob, label, weight, strict=True):
        value = sum(m * part[y] for m, part in zip(mix, parts(row, temperature), strict=True))
        loss += w * (-math.log(value) if value > 0 else math.inf)
    return loss / sum(weight)


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
