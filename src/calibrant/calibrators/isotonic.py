"""Isotonic regression: the best non-decreasing map of a score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression

from calibrant._links import FloatArray
from calibrant._problem import BinaryProblem
from calibrant._registry import declare
from calibrant._validation import Input
from calibrant.binning import Unique
from calibrant.calibrators.base import BinaryCalibrator


@declare(
    "calibrator",
    "isotonic",
    symbol="IR",
    source="Zadrozny and Elkan 2002",
    guarantees={"order preserving", "ROC-hull preserving"},
)
class IsotonicCalibrator(BinaryCalibrator):
    """Fit the non-decreasing map with the least squared error (isotonic regression, PAVA).

    Use it with a thousand rows or more, when the shape of the miscalibration is unknown. It also has the least log loss
    of all non-decreasing maps on the rows it was fitted on. Its ends are often exactly 0 and 1: a log loss on new rows
    can be infinite.

    Parameters
    ----------
    interpolate : bool, default=False
        False: a step function, right-continuous: a score takes the value of the last block that begins at or below it.
        True: linear between the lowest and the highest score of neighbouring blocks, as in scikit-learn.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length 2, optional
        The negative and the positive label.

    Attributes
    ----------
    left_, right_ : ndarray of shape (n_blocks,)
        Lowest and highest score of each block. Scores outside take the value of the nearest block.
    value_ : ndarray of shape (n_blocks,)
        Event rate of each block, increasing.
    classes_ : ndarray of shape (2,)
        Labels, the positive one last.

    Notes
    -----
    Equal scores are one point with the sum of their weights. Blocks come from SciPy's pool-adjacent-violators.

    References
    ----------
    Zadrozny, Elkan, Transforming classifier scores into accurate multiclass probability estimates, KDD 2002.

    Examples
    --------
    >>> from calibrant import IsotonicCalibrator
    >>> IsotonicCalibrator().fit([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1]).calibrate([0.05, 0.25, 0.9]).tolist()
    [0.0, 0.5, 1.0]
    """

    left_: FloatArray
    right_: FloatArray
    value_: FloatArray

    def __init__(
        self, *, interpolate: bool = False, input: Input = "probability", labels: Sequence[Any] | None = None
    ) -> None:
        super().__init__(input=input, labels=labels)
        self.interpolate = interpolate

    def _fit(self, problem: BinaryProblem) -> None:
        distinct = Unique()(problem)
        fit: Any = isotonic_regression(distinct.event_rate, weights=distinct.weight)
        starts, ends = fit.blocks[:-1], fit.blocks[1:] - 1
        score = distinct.edges[1:]
        self.left_, self.right_, self.value_ = score[starts], score[ends], np.clip(fit.x[starts], 0.0, 1.0)

    def _apply(self, score: FloatArray) -> FloatArray:
        if self.interpolate:
            corners = np.column_stack([self.left_, self.right_]).ravel()
            return np.interp(score, corners, np.repeat(self.value_, 2))
        return self.value_[np.maximum(np.searchsorted(self.left_, score, side="right") - 1, 0)]
