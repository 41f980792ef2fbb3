"""Proper scores from the definition."""

import numpy as np


def brier(prob, label, weight):
    return np.average(((prob - np.eye(len(prob[0]))[label]) ** 2).sum(axis=1), weights=weight)


def accuracy(prob, label, weight):
    return np.average(np.argmax(prob, axis=1) == label, weights=weight)
