"""How often intervals of `EvidenceScaling` hold the true probability, and how wide they are, on rows that were not fitted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from scipy.special import softmax

from calibrant.calibrators import EvidenceScaling

FITS, NEW, LEVELS = 100, 400, (0.05, 0.1)
CELLS = tuple((n, k) for k in (2, 4) for n in (300, 2000))
"""Rows to fit, and classes."""


def over_confident(log_prob: Any) -> Any:
    """Return probabilities that are less far apart."""
    return softmax(log_prob / 1.6, axis=1)


def bent(log_prob: Any) -> Any:
    """Return probabilities of scores with a bias, a wave, and of many classes an influence of the last on the first."""
    score = log_prob / 1.3 + 0.3 * np.sin(1.5 * log_prob)
    score[:, 0] += 0.5
    if log_prob.shape[1] > 2:
        score[:, 0] += 0.4 * (log_prob[:, -1] - log_prob[:, -1].mean())
    return softmax(score, axis=1)


def stepped(log_prob: Any) -> Any:
    """Return probabilities of scores that jump where a log-probability passes that of equal classes."""
    return softmax(log_prob + 1.5 * (log_prob > -np.log(log_prob.shape[1])), axis=1)


TRUTHS: Mapping[str, Callable[[Any], Any]] = {
    "calibrated": np.exp,
    "over-confident": over_confident,
    "bent": bent,
    "a step": stepped,
}


def covered(truth: Callable[[Any], Any], n: int, n_classes: int) -> list[str]:
    """Return coverage at each level, that of the rarest tenth of places, the standard error over fits, and width."""
    found = []
    for seed in range(FITS):
        rng = np.random.default_rng(seed)
        prob = softmax(rng.normal(0.0, 1.5, (n + NEW, n_classes)), axis=1)
        rate = truth(np.log(prob))
        label = (rng.random((n + NEW, 1)) > rate.cumsum(axis=1)).sum(axis=1).clip(0, n_classes - 1)
        fitted = EvidenceScaling(intervals=True, labels=range(n_classes)).fit(prob[:n], label[:n])
        ends = [fitted.predict_interval(prob[n:], level=level) for level in LEVELS]
        wanted = rate[n:, 1] if n_classes == 2 else rate[n:]
        inside = [(one[..., 0] <= wanted) & (wanted <= one[..., 1]) for one in ends]
        part = np.clip(10.0 * prob[n:, 1] if n_classes == 2 else 10.0 * prob[n:], 0, 9).astype(int)
        by_part = [inside[0][part == tenth].mean() for tenth in range(10)]
        found.append([*(one.mean() for one in inside), (ends[0][..., 1] - ends[0][..., 0]).mean(), *by_part])
    mean = np.nanmean(found, axis=0)
    error = np.std([one[0] for one in found]) / np.sqrt(FITS)
    return [
        f"{100 * mean[0]:.1f} ± {100 * error:.1f}",
        f"{100 * mean[1]:.1f}",
        f"{100 * mean[3:].min():.1f}",
        f"{mean[2]:.3f}",
    ]


def lines() -> Iterator[list[str]]:
    """Yield the lines of the table."""
    for name, truth in TRUTHS.items():
        for n, n_classes in CELLS:
            yield [name, f"{n_classes}", f"{n}", *covered(truth, n, n_classes)]


HEAD = [
    "truth",
    "classes",
    "rows",
    "95 % intervals cover",
    "90 % intervals",
    "worst tenth of scores, 95 %",
    "width, 95 %",
]
