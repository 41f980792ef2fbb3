"""Labels and over-confident probabilities of any size and precision, drawn in blocks so that little else is held."""

import numpy as np

CELLS = 1 << 20
"""Of a block."""

SPREAD, TRUE_TEMPERATURE = 2.0, 1.5
"""With a wider spread true classes have probabilities below 1e-7, which scikit-learn raises where the precision is single."""


def table(rows: int, classes: int, precision: str = "float64") -> tuple[np.ndarray, np.ndarray]:
    """Labels (int64) of shape (rows,), and probabilities of shape (rows, classes): the softmax of normal logits."""
    y, logit = logits(rows, classes, precision)
    for block in _blocks(rows, classes):
        odds = np.exp(logit[block], dtype=np.float64)
        logit[block] = odds / odds.sum(axis=1, keepdims=True)
    return y, logit


def logits(rows: int, classes: int, precision: str = "float64") -> tuple[np.ndarray, np.ndarray]:
    """Labels (int64) and logits; labels are drawn from the softmax of the logits divided by the true temperature."""
    rng = np.random.default_rng(0)
    y, logit = np.empty(rows, dtype=np.int64), np.empty((rows, classes), dtype=precision)
    for block in _blocks(rows, classes):
        z = SPREAD * rng.standard_normal((len(y[block]), classes))
        # Of exponential waiting times with these rates the first is each with the probability of its rate.
        y[block] = (rng.standard_exponential(z.shape) / np.exp(z / TRUE_TEMPERATURE)).argmin(axis=1)
        logit[block] = z
    return y, logit


def column(rows: int, precision: str = "float64") -> tuple[np.ndarray, np.ndarray]:
    """Labels (int64) and probabilities of one event, both of shape (rows,)."""
    rng = np.random.default_rng(0)
    y, p = np.empty(rows, dtype=np.int64), np.empty(rows, dtype=precision)
    for block in _blocks(rows, 1):
        z = 2.0 * rng.standard_normal(len(y[block]))
        y[block] = rng.random(len(z)) < 1.0 / (1.0 + np.exp(-z / TRUE_TEMPERATURE))
        p[block] = 1.0 / (1.0 + np.exp(-z))
    return y, p


def _blocks(rows: int, classes: int) -> list[slice]:
    step = max(1, CELLS // classes)
    return [slice(start, start + step) for start in range(0, rows, step)]
