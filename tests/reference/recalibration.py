"""Curves of the log-odds from their definitions: features, mean log loss, its gradient, its least value by SciPy."""

import math

import numpy as np
from scipy.optimize import linprog
from scipy.special import expit, log_expit


def line(x):
    return [1.0, x]


def parabola(x):
    return [1.0, x, x * x]


def beta(x):
    return [1.0, log_expit(x), -log_expit(-x)]


def beta_through_half(x):
    return [log_expit(x) + math.log(2), -log_expit(-x) - math.log(2)]


def beta_temperature(x):
    return [x]


def platt_targets(label, weight):
    occurred = sum(w for y, w in zip(label, weight, strict=True) if y)
    stayed = sum(w for y, w in zip(label, weight, strict=True) if not y)
    return [(occurred + 1) / (occurred + 2) if y else 1 / (stayed + 2) for y in label]


def gradient(features, parameters, x, target, weight):
    table = np.array([features(xi) for xi in x])
    residual = expit(table @ parameters) - target
    return (weight * residual) @ table / sum(weight)


def is_separated(features, x, label, bounds):
    """Whether a curve that is not zero on all rows is nowhere negative at an event and nowhere positive elsewhere."""
    signed = np.array([features(xi) for xi in x]) * np.where(label, 1.0, -1.0)[:, None]
    found = linprog(-signed.sum(axis=0), A_ub=-signed, b_ub=np.zeros(len(signed)), bounds=bounds)
    return bool(-found.fun > 1e-9)
