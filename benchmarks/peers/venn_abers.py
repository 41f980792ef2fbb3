"""venn-abers."""

from typing import Any

import numpy as np
from venn_abers import VennAbers

from benchmarks.fitting import Method


def venn_abers(y: np.ndarray, p: np.ndarray) -> Method:
    columns = _columns(p)
    return Method(lambda: VennAbers().fit(columns, y), _apply)


def _apply(fitted: Any, other: np.ndarray) -> np.ndarray:
    merged, _ = fitted.predict_proba(_columns(other))
    return np.asarray(merged)[:, 1]


def _columns(p: np.ndarray) -> np.ndarray:
    return np.column_stack([1.0 - p, p])
