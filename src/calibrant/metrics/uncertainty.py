"""How sure a figure is: interval, noise floor, p-value, the error without its bias, and what could have been detected.

A calibration error is the size T of deviations D + N, the true ones and noise, and the size of noise is never zero: the
percentile bootstrap of such a figure misses a true zero almost always. What is known is how the noise is distributed. So
the figure is compared with those of other truths. Along the shape that was seen, D = step * (D + N as observed):

* step 0 is calibration: the mean of T(N) is the noise floor, its tail beyond the figure the p-value;
* the step at which the figure is the median of T(D + N) gives the error without bias;
* the step at which it is a high quantile gives the lower end of the interval: smaller truths would seldom show so much;
* the step at which the test finds D four times in five gives the detectable error.

The upper end is the high quantile of T(observed + N), noise upon noise: for a norm too high rather than too low. Of a size
that is no norm noise can make less (a median of absolute values): then the low quantile reflected at the figure is higher.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from calibrant._links import FloatArray
from calibrant.resampling import Bootstrap

POWER = 0.8
"""How often the test finds an error that is called detectable."""

NEAR_ONE = (0.5, 0.75, 0.9, 1.0, 1.1, 1.25, 1.5)
NOISE_SIZES = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0)


@dataclass(frozen=True)
class Resampling:
    """How an interval is to be made: one minus its coverage, the number of resamples, and the source of randomness."""

    level: float
    n_resamples: int
    rng: np.random.Generator


NO_INTERVAL = "no interval is known to cover; compare with the noise floor"
"""What is said of an error that counts rejections."""


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval. What measures a distance from calibration has more.

    Attributes
    ----------
    value : float
        The figure.
    lower, upper : float or None
        Its interval, which holds it; None where none is known to cover (`NO_INTERVAL`).
    noise_floor : float or None
        Mean of the figure if the forecast were calibrated.
    pvalue : float or None
        Share of calibrated draws that reach the figure, with the +1 correction.
    debiased : float or None
        The bias-corrected value: the true error, of the shape seen, of which the figure is the median; 0 where a calibrated
        forecast shows as much every other time. See Notes.
    detectable : float or None
        The true error, of the shape seen, that the test at this level would find four times in five.
    least_pvalue : float or None
        The smallest p-value that the draws can show, 1 / (draws + 1); None where the p-value is of a law in formulas.

    Notes
    -----
    The figure is V = T(g): the size of the observed deviations g, for an ECE of the gaps of all bins of all problems,
    V = sum_b w_b abs(g_b), with the shares w_b of the rows. The bias-corrected value is s V, where s in [0, 1] solves
    median T(s g + N) = V over draws of the noise N. N is once that of labels drawn from the predictions, and once that of the
    bootstrap of the rows; the smaller s counts. If the median at s = 0, under calibration, is V already, it is 0.

    It is not exactly unbiased: g holds noise itself. Where the truth is known its mean was within a quarter of the noise
    floor of it, too high where the predictions are calibrated and too low where the error is spread over all bins
    (tests/metrics/test_bias_correction.py).
    """

    value: float
    lower: float | None
    upper: float | None
    noise_floor: float | None = None
    pvalue: float | None = None
    debiased: float | None = None
    detectable: float | None = None
    least_pvalue: float | None = None

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends of the interval; a ValueError where there is none."""
        if self.lower is None or self.upper is None:
            raise ValueError(f"the interval of an estimate must exist to be asked for; {NO_INTERVAL}.")
        return self.lower, self.upper


@dataclass(frozen=True, eq=False)
class Law:
    """Sizes that would be seen if the true deviations were the observed ones times a step.

    ``steps`` (L,) begin with 0; ``truth`` (L,) are the sizes without noise, 1 being a step; ``consistent`` (L, m) those with
    noise of labels that the forecast drew; ``others`` (L, m) with noise of other kinds, the first being the bootstrap's.
    """

    steps: FloatArray
    truth: FloatArray
    consistent: FloatArray
    others: tuple[FloatArray, ...]

    @property
    def value(self) -> float:
        """The size observed."""
        return float(np.interp(1.0, self.steps, self.truth))

    @property
    def pvalue(self) -> float:
        """Share of calibrated draws that reach the value, with the +1 correction."""
        return pvalue_of(self.value, self.consistent[0])

    def estimate(self, level: float) -> Estimate:
        """Compare the value with what each truth would show."""
        return Estimate(
            value=self.value,
            lower=min(self._truth_with(1.0 - level / 2.0, self.value, self.others), self.value),
            upper=max(self._reach(level / 2.0), self.value),
            noise_floor=float(self.consistent[0].mean()),
            pvalue=self.pvalue,
            debiased=min(self._truth_with(0.5, self.value, self.others[:1]), self.value),
            detectable=self._detectable(level),
            least_pvalue=least_pvalue_of(self.consistent[0]),
        )

    def _reach(self, tail: float) -> float:
        """Highest of the upper quantiles at step one, and of the lower ones reflected at the value."""
        at_one = int(np.searchsorted(self.steps, 1.0))
        ends = [np.quantile(sizes[at_one], [tail, 1.0 - tail]) for sizes in (self.consistent, *self.others)]
        return float(max(max(high, 2.0 * self.value - low) for low, high in ends))

    def _truth_with(self, quantile: float, size: float, others: tuple[FloatArray, ...]) -> float:
        """Truth of which ``size`` is that quantile; of consistent and other noise the smallest."""
        kinds = (self.consistent, *others)
        return min(self._crossing(np.quantile(sizes, quantile, axis=1), size) for sizes in kinds)

    def _detectable(self, level: float) -> float:
        critical = float(np.quantile(self.consistent[0], 1.0 - level))
        return max(
            self._crossing(np.quantile(sizes, 1.0 - POWER, axis=1), critical)
            for sizes in (self.consistent, *self.others[:1])
        )

    def _crossing(self, quantiles: FloatArray, size: float) -> float:
        """Truth at which a quantile, a function of the step that is made to rise, reaches a size."""
        rising = np.maximum.accumulate(quantiles)
        reached = int(np.searchsorted(rising, size * (1.0 - 1e-9), side="left"))
        if reached == 0:
            return 0.0
        if reached == rising.size:
            # No step reached it: the observed shape is too small to be stretched that far. The triangle inequality bounds it.
            return size + float(quantiles[0])
        low, high = rising[reached - 1], rising[reached]
        part = (size - low) / (high - low) if high > low else 1.0
        return float(self.truth[reached - 1] + min(part, 1.0) * (self.truth[reached] - self.truth[reached - 1]))


def steps_for(value: float, null: FloatArray) -> FloatArray:
    """Steps that resolve both the noise and the value, 0 and 1 among them."""
    noise = float(np.quantile(null, 0.95))
    ratio = noise / value if value > 1e-12 * noise else 0.0  # a shape of nothing cannot be stretched
    return np.unique(np.concatenate([[0.0], NEAR_ONE, ratio * np.array(NOISE_SIZES)]))


def pvalue_of(value: float, null: FloatArray) -> float:
    """Share of null values that reach the value, with the +1 correction."""
    # A null value that equals the value up to rounding reaches it: the test must not gain from rounding.
    return (1.0 + float(np.sum(null >= value * (1.0 - 1e-9)))) / (1.0 + null.size)


def least_pvalue_of(null: FloatArray) -> float:
    """Smallest p-value that so many null values can show."""
    return 1.0 / (1.0 + null.size)


def mean_estimate(losses: FloatArray, weight: FloatArray, bootstrap: Bootstrap, *, level: float) -> Estimate:
    """Percentile interval of a weighted mean of one value a row; it holds the value itself. A loss may be infinite."""
    value = float(np.average(losses, weights=weight))
    endless = np.isposinf(losses)
    total = bootstrap.sums(weight)
    means = bootstrap.sums(weight * np.where(endless, 0.0, losses))[total > 0] / total[total > 0]
    method: Literal["linear", "inverted_cdf"] = "linear"
    if endless.any():
        means[bootstrap.sums(endless.astype(np.float64))[total > 0] > 0] = np.inf
        method = "inverted_cdf"  # a quantile is one of the means: between a number and infinity there is none
    lower, upper = np.quantile(means, [level / 2.0, 1.0 - level / 2.0], method=method)
    return Estimate(value, min(float(lower), value), max(float(upper), value))
