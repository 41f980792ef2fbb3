"""Each class against the rest, where its probability is not small."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import number
from calibrant._core.problem import BinaryProblem, Problem
from calibrant._core.registry import declare
from calibrant.notions.base import Notion, Part


@declare("notion", "thresholded-class-wise", symbol="TCW", source="Nixon et al. 2019")
@dataclass(frozen=True, repr=True)
class ThresholdedClassWise(Notion):
    """Each class against the rest, where its probability is not small; with equal shares.

    Of many classes most probabilities are near zero, and hide the others in a mean over all rows. A class without any
    probability of at least the threshold has no share; if there is none in the whole table nothing is measured, and an error
    is 0.

    Parameters
    ----------
    threshold : float, optional
        Least probability that counts. By default 1 / n_classes.

    References
    ----------
    Nixon, Dusenberry, Zhang, Jerfel, Tran, Measuring calibration in deep learning, CVPR workshops 2019.

    Examples
    --------
    >>> from calibrant import calibration_error
    >>> from calibrant.notions import ThresholdedClassWise
    >>> P = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]]
    >>> round(calibration_error(["a", "b", "c"], P, notion=ThresholdedClassWise(0.35)), 3)
    0.367
    """

    threshold: float | None = None

    name = "thresholded-class-wise"

    def __post_init__(self) -> None:
        if self.threshold is not None:
            number("threshold", self.threshold, least=0.0, most=1.0, hint="Leave it out for 1 / n_classes")

    def parts(self, prob: FloatArray, names: tuple[str, ...] | None = None) -> Iterator[Part]:
        """K parts: the rows that reach the threshold in class j."""
        for j in range(prob.shape[1]):
            yield Part(np.flatnonzero(prob[:, j] >= self._least(prob)), j, f"class {names[j] if names else j}")

    def split(self, problem: Problem) -> Iterator[BinaryProblem]:
        """Give equal shares to the classes that have rows."""
        if (known := problem.summed_parts(self)) is not None:
            yield from known
            return
        simplex = self._simplex(problem)
        prob = simplex.forecast.as_given
        speaks = prob.max(axis=0) >= self._least(prob)
        shares = self.shares(speaks.astype(np.float64), 1.0, speaks.size)
        for binary, share in zip(self._of_parts(simplex), shares.tolist(), strict=True):
            yield replace(binary, share=share)

    def shares(self, weight: FloatArray, total: float, n_classes: int) -> FloatArray:
        """Return equal shares of the parts that have rows; if none has, of all."""
        speaks = weight > 0.0 if weight.any() else np.ones(weight.size, dtype=bool)
        shares: FloatArray = speaks / speaks.sum()
        return shares

    def _least(self, prob: FloatArray) -> float:
        return 1.0 / prob.shape[1] if self.threshold is None else self.threshold
