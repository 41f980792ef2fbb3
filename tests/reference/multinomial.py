"""The linear-logit family by a generic minimiser on objectives written from their definitions; small problems only."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.special import softmax as softmax_of


def log_of(prob):
    """Logarithms of probabilities, none below 1e-12."""
    return np.log(np.maximum(np.asarray(prob, dtype=float), 1e-12))


def softmax(score):
    return softmax_of(score, axis=1)


def mean_log_loss(score, label, weight):
    of_row = logsumexp(score, axis=1) - np.asarray(score)[np.arange(len(label)), label]
    return np.average(of_row, weights=weight)


def scores_of_vector(z, w, b):
    return z * np.asarray(w) + np.asarray(b)


def scores_of_matrix(z, matrix, b):
    return z @ np.asarray(matrix).T + np.asarray(b)


def vector_objective(z, label, weight, w, b, ridge_w, ridge_b):
    penalty = ridge_w * ((np.asarray(w) - 1.0) ** 2).sum() + ridge_b * (np.asarray(b) ** 2).sum()
    return mean_log_loss(scores_of_vector(z, w, b), label, weight) + penalty


def matrix_objective(z, label, weight, matrix, b, diagonal, off_diagonal, intercept, centre=1.0):
    """``centre`` is where the diagonal is drawn to."""
    matrix, b = np.asarray(matrix), np.asarray(b)
    penalty = diagonal * ((np.diag(matrix) - centre) ** 2).sum() + intercept * (b**2).sum()
    penalty += off_diagonal * (matrix[~np.eye(len(b), dtype=bool)] ** 2).sum()
    return mean_log_loss(scores_of_matrix(z, matrix, b), label, weight) + penalty


def lowest(objective, start):
    """Value and place of the minimum, by quasi-Newton steps with numerical derivatives."""
    found = minimize(objective, start, jac="3-point", method="BFGS", options={"gtol": 1e-9, "maxiter": 2000})
    return found.fun, found.x


def lowest_vector(z, label, weight, ridge_w, ridge_b):
    k = z.shape[1]
    value, at = lowest(
        lambda x: vector_objective(z, label, weight, x[:k], x[k:], ridge_w, ridge_b), np.r_[np.ones(k), np.zeros(k)]
    )
    return value, at[:k], at[k:]


def lowest_matrix(z, label, weight, diagonal, off_diagonal, intercept, centre=1.0):
    k = z.shape[1]

    def objective(x):
        matrix, b = x[: k * k].reshape(k, k), x[k * k :]
        return matrix_objective(z, label, weight, matrix, b, diagonal, off_diagonal, intercept, centre)

    value, at = lowest(objective, np.r_[np.eye(k).ravel(), np.zeros(k)])
    return value, at[: k * k].reshape(k, k), at[k * k :]


def tempered(z, temperature, n):
    """Temperature, then a mixture with the uniform forecast of weight 1 / (n + 1)."""
    prob = softmax(np.asarray(z) / temperature)
    return np.log(prob * n / (n + 1.0) + 1.0 / (n + 1.0) / prob.shape[1])
