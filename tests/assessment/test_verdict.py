"""The verdict on forecasts whose truth is known."""

import numpy as np
import pytest
from scipy.special import expit, logit, softmax
from scipy.stats import binom

from calibrant import assess
from calibrant.exceptions import CalibrationWarning

NONE = ("none detected",)


def event(rng, n=2000, a=0.0, b=1.0, centre=0.0, spread=1.5):
    """Log-odds of the event are a + b times those of the forecast."""
    z = centre + spread * rng.normal(size=n)
    return {"y_true": rng.random(n) < expit(a + b * z), "y_prob": expit(z)}


def rates(rng, rate, n=2000):
    """Uniform predictions p, and events with probability rate(p)."""
    p = rng.random(n)
    return {"y_true": rng.random(n) < np.clip(rate(p), 0.0, 1.0), "y_prob": p}


def constant(rng, predicted, rate, n=2000):
    return {"y_true": rng.random(n) < rate, "y_prob": np.full(n, predicted), "labels": [0, 1]}


def one_class(rng, n=200, spread=0.5):
    """No event, of which a calibrated forecast of this kind has 3 on average."""
    return {"y_true": np.zeros(n, dtype=int), "y_prob": 0.03 * rng.random(n), "labels": [0, 1]}


def classes(rng, n=2000, k=4, scale=2.0, true=lambda z: z, stated=lambda z: z, **options):
    """Logits z; labels are drawn from true(z), and stated(z) is the forecast."""
    z = scale * rng.normal(size=(n, k))
    label = (rng.random(n)[:, None] > softmax(true(z), axis=1).cumsum(axis=1)).sum(axis=1).clip(0, k - 1)
    prob = stated(z) if options.get("input") == "logit" else softmax(stated(z), axis=1)
    return {"y_true": label, "y_prob": prob, "labels": range(k), **options}


def bold_in_one_class(z):
    """Rows that predict class 2 do so with too much confidence."""
    return np.where((z.argmax(axis=1) == 2)[:, None], 2.5 * z, z)


def certain(rng):
    case = event(rng)
    case["y_prob"][:178] = 1.0
    return case


def weighted(rng):
    case = event(rng, 4000, a=0.5)
    prob = np.round(case["y_prob"], 2).clip(0.01, 0.99)
    cell = 2 * np.round(100 * prob).astype(int) + case["y_true"]
    found, count = np.unique(cell, return_counts=True)
    return {"y_true": found % 2, "y_prob": found // 2 / 100, "sample_weight": count}


PRIOR = np.array([1.0, 0.0, 0.0, -1.0])

TRUTHS = {
    "calibrated": (event, NONE),
    "rare and calibrated": (lambda rng: event(rng, 3000, centre=-5.5, spread=1.0), NONE),
    "few rows of noise": (lambda rng: event(rng, 60), NONE),
    "one row": (lambda rng: event(rng, 1), NONE),
    "no event, as may be": (one_class, NONE),
    "constant and right": (lambda rng: constant(rng, 0.3, 0.3), NONE),
    "constant and wrong": (lambda rng: constant(rng, 0.3, 0.4), ("too low",)),
    "too extreme": (lambda rng: event(rng, b=0.5), ("too extreme",)),
    "too timid": (lambda rng: event(rng, b=1.7), ("too timid",)),
    "too high": (lambda rng: event(rng, a=-0.7), ("too high",)),
    "too low": (lambda rng: event(rng, a=0.7), ("too low",)),
    "a risk that is too low": (lambda rng: event(rng, 3000, a=0.55, centre=-1.1, spread=1.0), ("too low",)),
    "too low and too extreme": (lambda rng: event(rng, a=0.7, b=0.5), ("too low and too extreme",)),
    "wrong in the middle": (lambda rng: rates(rng, lambda p: p + 0.12 * np.cos(4 * np.pi * p)), ("other",)),
    "178 stated 100s": (certain, ("too high",)),
    "counts": (weighted, ("too low",)),
    "classes, calibrated": (classes, NONE),
    "logits, calibrated": (lambda rng: classes(rng, input="logit"), NONE),
    "100 classes, calibrated": (lambda rng: classes(rng, k=100), NONE),
    "classes, over-confident": (lambda rng: classes(rng, stated=lambda z: 2 * z), ("over-confident",)),
    "classes, under-confident": (lambda rng: classes(rng, stated=lambda z: z / 2), ("under-confident",)),
    "logits, over-confident": (
        lambda rng: classes(rng, stated=lambda z: 2 * z, input="logit"),
        ("over-confident",),
    ),
    "over-confident in one class": (lambda rng: classes(rng, stated=bold_in_one_class), ("over-confident and by class",)),
    "prior shift": (lambda rng: classes(rng, true=lambda z: z + PRIOR), ("over-confident and by class",)),
}
