"""Isotonic recursive partitioning of labels that are softened by the forecast.

Part m of each label is what the forecast says: the row counts 1 - m for the class that came, and m p_k for each class k. So
the vector of a region is (1 - m) times its class rates and m times its mean forecast, and so are the means by which splits are
chosen and asked for monotony. With m = 0 nothing is softened; with m = 1 the forecast is only binned.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, Self

import numpy as np

from calibrant import negative_log_likelihood

PARTS = (0.0, 0.3, 0.6, 0.8, 0.9)
N_FOLDS = 5
FEWEST = 1e-9


class Softened:
    """A calibrator whose part m and number of regions are those of the least log loss on rows left out."""

    def __init__(self, make: Callable[[int | None], Any], most: int | None = None) -> None:
        self.make, self.limit = make, most

    def fit(self, p: np.ndarray, y: np.ndarray) -> Self:
        """Choose, and fit all rows."""
        losses = {part: self._losses(p, y, part)[: self.limit] for part in PARTS}
        self.part = min(losses, key=lambda part: losses[part].min())
        self.most = int(losses[self.part].argmin()) + 1
        self.fitted = self.make(self.most).fit(*softened(p, y, self.part))
        self.value_ = self.fitted.value_
        return self

    def predict_proba(self, p: np.ndarray) -> np.ndarray:
        """Calibrate a forecast."""
        return np.asarray(self.fitted.predict_proba(p))

    def _losses(self, p: np.ndarray, y: np.ndarray, part: float) -> np.ndarray:
        """Mean log loss of rows left out with at most 1, 2, ... regions."""
        fold = np.random.default_rng(0).permutation(y.size) % N_FOLDS
        paths = [self._path(p, y, fold == number, part) for number in range(N_FOLDS)]
        n_regions = np.arange(1, 1 + max(regions[-1] for regions, _ in paths))
        found = [loss[np.searchsorted(regions, n_regions, side="right") - 1] for regions, loss in paths]
        return np.asarray(np.mean(found, axis=0))

    def _path(self, p: np.ndarray, y: np.ndarray, out: np.ndarray, part: float) -> tuple[np.ndarray, np.ndarray]:
        fitted = self.make(None).fit(*softened(p[~out], y[~out], part))
        loss = np.array([negative_log_likelihood(y[out], r) for r in fitted.staged_predict_proba(p[out])])
        counted = getattr(fitted, "staged_regions_", count(1))
        return np.array([n for n, _ in zip(counted, loss, strict=False)]), loss


def softened(p: np.ndarray, y: np.ndarray, part: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each row once a class, with its weight for that class."""
    n, n_classes = p.shape
    weight = part * p
    weight[np.arange(n), y] += 1.0 - part
    kept = weight.ravel() > FEWEST
    rows, label = np.repeat(p, n_classes, axis=0), np.tile(np.arange(n_classes), n)
    return rows[kept], label[kept], weight.ravel()[kept]
