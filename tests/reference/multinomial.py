"""The linear-logit family by a generic minimiser on objectives written from their definitions; small problems only."""

import numpy as np
from scipy import special
from scipy.optimize import minimize


def log_of(prob):
    """Logarithms of probabilities, none below 1e-12."""
    return np.log(np.maximum(np.asarray(prob, dtype=float), 1e-12))


def softmax(score):
    return special.softmax(score, axis=1)


def mean_log_loss(score, label, weight):
    return -np.average(special.log_softmax(score, axis=1)[np.arange(len(label)), label], weights=weight)


def vector_objective(z, label, weight, w, b, ridge_w, ridge_b):
    penalty = ridge_w * ((w - 1.0) ** 2).sum() + ridge_b * (b**2).sum()
    return mean_log_loss(z * w + b, label, weight) + penalty


def matrix_objective(z, label, weight, matrix, b, diagonal, off_diagonal, intercept, centre=1.0):
    """``centre`` is where the diagonal is drawn to."""
    penalty = diagonal * ((np.diag(matrix) - centre) ** 2).sum() + intercept * (b**2).sum()
    penalty += off_diagonal * (matrix[~np.eye(len(b), dtype=bool)] ** 2).sum()
    return mean_log_loss(z @ matrix.T + b, label, weight) + penalty


def lowest(objective, start):
    """Value and place of the minimum, by quasi-Newton steps with numerical derivatives."""
    options = {"jac": "3-point", "method": "BFGS", "options": {"gtol": 1e-9, "maxiter": 2000}}
    found = minimize(lambda x: objective(x.reshape(start.shape)), start.ravel(), **options)
    return found.fun, found.x.reshape(start.shape)


def lowest_vector(z, label, weight, ridge_w, ridge_b):
    start = np.eye(2, 1).repeat(z.shape[1], 1)
    return lowest(lambda x: vector_objective(z, label, weight, *x, ridge_w, ridge_b), start)[0]


def lowest_matrix(z, label, weight, *penalties):
    k = z.shape[1]
    value, at = lowest(lambda x: matrix_objective(z, label, weight, x[:k], x[k], *penalties), np.eye(k + 1, k))
    return value, at[:k], at[k]


def tempered(z, temperature, n):
    """Temperature, then a mixture with the uniform forecast of weight 1 / (n + 1)."""
    prob = softmax(np.asarray(z) / temperature)
    return np.log(prob * n / (n + 1.0) + 1.0 / (n + 1.0) / prob.shape[1])
