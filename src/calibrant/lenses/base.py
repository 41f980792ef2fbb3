"""What a lens is.

The residuals y - p of a calibrated forecast have mean zero at every score. A lens looks at them along the score: sums within
bins, cumulative sums, a smoothing kernel, a local regression. What it sees is linear in the residuals, so that a true
deviation and noise are seen side by side:  look(deviation + noise) = look(deviation) + look(noise).
The size of what is seen is a calibration error, its picture a curve, its law under calibration a test.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem


class View(ABC):
    """A lens held over one problem."""

    @abstractmethod
    def look(self, residual: FloatArray) -> FloatArray:
        """Look at several vectors of residuals of the problem's rows.

        Parameters
        ----------
        residual : ndarray of shape (m, n)
            Outcome minus score of each row, as observed or as drawn; the view knows the weights.

        Returns
        -------
        ndarray of shape (m, d)
            What is seen, linear in the residuals.
        """


class Lens(ABC):
    """A way to look; called on a problem, it gives the `View`."""

    @abstractmethod
    def __call__(self, problem: BinaryProblem) -> View:
        """Hold the lens over a problem that has rows."""


Size = Callable[[View, FloatArray], FloatArray]
"""How large is what was seen: a function of a view and of an array (m, d), with m values."""


def residual_of(problem: BinaryProblem) -> FloatArray:
    """Observed residuals, shape (1, n)."""
    residual: FloatArray = problem.outcome - problem.score
    return residual[None]
