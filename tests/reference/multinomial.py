"""The linear-logit family by a generic minimiser on objectives written from their definitions; small problems only."""

import numpy as np
from scipy.optimize import minimize


def log_of(prob):
    """Logarithms of probabilities, none below 1e-12."""
    return np.log(np.maximum(np.asarray(prob, dtype=float), 1e-12))


def softmax(score):
    rows = []
    for row in score:
        e = [np.exp(v - max(row)) for v in row]
        rows.append([v / sum(e) for v in e])
    return np.array(rows)


def mean_log_loss(score, label, weight):
    total = 0.0
    for row, y, w in zip(score, label, weight, strict=True):
        top = max(row)
        total += w * (top + np.log(np.exp(np.asarray(row) - top).sum()) - row[y])
    return total / sum(weight)


def scores_of_vector(z, w, b):
    return z * np.asarray(w) + np.asarray(b)


def scores_of_matrix(z, matrix, b):
    return np.array(
        [[sum(matrix[j][i] * row[i] for i in range(len(row))) + b[j] for j in range(len(row))] for row in z]
    )


def vector_objective(z, label, weight, w, b, ridge_w, ridge_b):
    penalty = ridge_w * ((np.asarray(w) - 1.0) ** 2).sum() + ridge_b * (np.asarray(b) ** 2).sum()
    return mean_log_loss(scores_of_vector(z, w, b), label, weight) + penalty


def matrix_objective(z, label, weight, matrix, b, diagonal, off_diagonal, intercept, centre=1.0):
    """``centre`` is where the diagonal is drawn to."""
    k = len(b)
    penalty = intercept * sum(v**2 for v in b)
    for j in range(k):
        for i in range(k):
            penalty += diagonal * (matrix[j][j] - centre) ** 2 if i == j else off_diagonal * matrix[j][i] ** 2
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
        penalty = diagonal * ((np.diag(matrix) - centre) ** 2).sum() + intercept * (b**2).sum()
        penalty += off_diagonal * (matrix[~np.eye(k, dtype=bool)] ** 2).sum()
        return mean_log_loss(z @ matrix.T + b, label, weight) + penalty

    value, at = lowest(objective, np.r_[np.eye(k).ravel(), np.zeros(k)])
    return value, at[: k * k].reshape(k, k), at[k * k :]


def tempered(z, temperature, n):
    """Temperature, then a mixture with the uniform forecast of weight 1 / (n + 1)."""
    prob = softmax(np.asarray(z) / temperature)
    return np.log(prob * n / (n + 1.0) + 1.0 / (n + 1.0) / prob.shape[1])
