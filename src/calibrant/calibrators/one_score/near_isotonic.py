"""Nearly-isotonic regression: a map that may fall here and there, at a price."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from calibrant._core.arrays import is_number
from calibrant._core.links import FloatArray
from calibrant._core.parameters import number
from calibrant._core.problem import BinaryProblem
from calibrant._core.registry import declare
from calibrant._core.validation import Input
from calibrant.calibrators.kinds import BinaryCalibrator
from calibrant.calibrators.one_score.isotonic import Finite, check_steps, on_steps, require_finite
from calibrant.calibrators.one_score.near_isotonic_path import NearIsotonicPath


@declare(
    "calibrator",
    "near-isotonic",
    symbol="NIR",
    source="Tibshirani, Hoefling and Tibshirani 2011",
    guarantees={"finite log loss"},
)
class NearIsotonicCalibration(BinaryCalibrator):
    """Fit a step function with a penalty on every step down (nearly-isotonic regression, NIR).

    Use it to see whether a score that should rise with the event rate really does: a step down that is left at a high
    penalty is there in the data. As a calibrator it is an isotonic regression that may break the order; use
    `EnsembleNearIsotonic` where one penalty is too bold, and `IsotonicCalibration` where the order must be kept.

    Parameters
    ----------
    penalty : float or "bic", default="bic"
        Price of a step down, at least 0, in rows: it makes a block that stands above both its neighbours give up so many
        events, and one that lies below both gain as many. 0 gives the event rate of each distinct score, and a large
        enough one, such as infinity, isotonic regression. Twice as many rows need a higher one for the same fit. "bic"
        takes the one of least  -2 log likelihood + blocks * log(rows).
    finite : {"smooth", "clip"}, float or None, default="smooth"
        What keeps values off 0 and 1, so that the log loss of any row is finite. ``"smooth"``: a block of value v with m rows
        takes (m v + 1) / (m + 2). ``"clip"``: values are clipped to 1 / (n + 2) from both ends, for n rows in all. A number
        from 1e-12 to below 0.5 clips to that. None: the fit itself, as in the paper; its ends can be exactly 0 and 1, and the
        log loss of a new row infinite. `IsotonicCalibration` says what the default was chosen by.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length 2, optional
        The negative and the positive label.

    Attributes
    ----------
    left_ : ndarray of shape (n_blocks,)
        Lowest score of each block, increasing. A score takes the value of the last block that begins at or below it, and
        below all of them that of the first.
    value_ : ndarray of shape (n_blocks,)
        Fitted probability of each block.
    penalty_ : float
        The penalty, chosen or given.
    classes_ : ndarray of shape (2,)
        Labels, the positive one last.

    Notes
    -----
    With the event rate y and the weight w of each distinct score in increasing order, the fit b minimises

        1/2 sum of w_i (y_i - b_i)^2  +  penalty * sum of max(b_i - b_(i+1), 0)

    exactly: as the penalty grows from 0, neighbouring blocks join at values that are known in closed form and never part
    again. All joins together take O(n log n), after which the fit at any penalty is read off.

    Between two joins all blocks move away from their event rates and their number stays, so the least BIC is that of a fit
    where blocks have just joined, or of penalty 0: only these are looked at. The Akaike criterion is not offered: with
    scores that differ, as many labels alternate by chance, it takes the labels themselves for the best fit.

    Whole weights count as rows; for the criterion others are scaled to a mean of one.

    References
    ----------
    Tibshirani, Hoefling, Tibshirani, Nearly-isotonic regression, Technometrics 2011.

    Examples
    --------
    >>> from calibrant.calibrators import NearIsotonicCalibration
    >>> fitted = NearIsotonicCalibration(penalty=0.25, finite=None).fit([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1])
    >>> fitted.calibrate([0.2, 0.35]).tolist()
    [0.75, 0.25]
    """

    left_: FloatArray
    value_: FloatArray
    penalty_: float

    def __init__(
        self,
        *,
        penalty: float | Literal["bic"] = "bic",
        finite: Finite = "smooth",
        input: Input = "probability",
        labels: Sequence[Any] | None = None,
    ) -> None:
        super().__init__(input=input, labels=labels)
        self.penalty = penalty
        self.finite = finite

    def _fit(self, problem: BinaryProblem) -> None:
        given = _given(self.penalty)
        require_finite(self.finite)
        path = NearIsotonicPath.of(problem)
        self.penalty_ = path.least_bic() if given is None else given
        fit = path.fit(self.penalty_)
        self.left_, self.value_ = path.score[fit.starts], path.off_the_ends(fit, self.finite)

    def _check_loaded(self) -> None:
        check_steps("left_", self.left_, "value_", self.value_, falls=True)
        _given(self.penalty_)

    def _apply(self, score: FloatArray) -> FloatArray:
        return on_steps(self.left_, self.value_, score)


def _given(penalty: object) -> float | None:
    """Return the penalty as a number; None where the data are to choose it."""
    if isinstance(penalty, str) and penalty == "bic":
        return None
    if is_number(penalty) and penalty == float("inf"):
        return float("inf")
    hint = "Pass penalty='bic' to have the data choose it, float('inf') for isotonic regression"
    return number("penalty", penalty, least=0.0, hint=hint)
