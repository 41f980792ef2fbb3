"""Bands of the CORP curve, by name: a consistency band around the diagonal, and two kinds of confidence bands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import require
from calibrant._core.problem import IntArray
from calibrant.binning.distinct_scores import Ordered
from calibrant.curves.simultaneous import simultaneous_band
from calibrant.solvers.isotonic import Steps, drawn_events, isotonic_fit_of


@dataclass(frozen=True, eq=False)
class Place:
    """Where a band is wanted: of a fit, at the distinct scores number ``at``; and how it is to be made."""

    ordered: Ordered
    steps: Steps
    at: IntArray
    level: float
    n_draws: int
    rng: np.random.Generator

    def fits(self, rate: FloatArray) -> FloatArray:
        """Fit labels that are drawn at a rate on each distinct score, shape (draws, places)."""
        weight, sizes = self.ordered.weight, []
        for events in drawn_events(self.ordered, rate, self.n_draws, self.rng):
            steps = isotonic_fit_of(events, weight)
            sizes.append(steps.rate[np.searchsorted(steps.starts, self.at, side="right") - 1])
        return np.array(sizes)

    def quantiles(self, fits: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the quantiles of the fits that leave out ``level`` in equal parts."""
        lower, upper = np.quantile(fits, [self.level / 2.0, 1.0 - self.level / 2.0], axis=0)
        return lower, upper


Band = Callable[[Place], tuple[FloatArray, FloatArray]]


def consistency(place: Place) -> tuple[FloatArray, FloatArray]:
    """Where the fit would lie if the forecast were calibrated: labels are drawn from the forecast itself."""
    return place.quantiles(place.fits(place.ordered.score))


def confidence(place: Place) -> tuple[FloatArray, FloatArray]:
    """Where the true event probability may lie, around the fit: labels are drawn from the fit, and fitted again.

    Quantiles of such fits, taken as they are, cover too seldom: where a block saw no event none is ever drawn, and where the
    truth is flat the fit errs outward at the ends, and the drawn fits err so once more. So every block gets one event and one
    other row before labels are drawn from it, and the band reaches as far on either side as the quantiles do on the one
    where they reach farther, seen from their centres.
    """
    steps = place.steps
    more = 1.0 / place.ordered.rows_per_weight
    rate = steps.at_each_score((steps.rate * steps.weight + more) / (steps.weight + 2.0 * more))
    fit = steps.at_each_score(steps.rate)[place.at]
    low, high = place.quantiles(place.fits(rate))
    mirrored_low, mirrored_high = fit + rate[place.at] - high, fit + rate[place.at] - low
    lower = np.minimum(np.minimum(low, mirrored_low), fit)
    upper = np.maximum(np.maximum(high, mirrored_high), fit)
    return np.maximum(lower, 0.0), np.minimum(upper, 1.0)


def simultaneous(place: Place) -> tuple[FloatArray, FloatArray]:
    """Where the whole curve of true event probabilities lies with proven confidence, widened to hold the fit."""
    ordered = place.ordered
    require(
        ordered.is_whole,
        "sample_weight must be whole for a simultaneous band, which counts rows",
        got="other weights",
        hint="Pass band='confidence', or weights that are numbers of rows",
    )
    fit = place.steps.at_each_score(place.steps.rate)
    lower, upper = simultaneous_band(ordered.weight, ordered.outcome_sum, place.level)
    return np.minimum(lower, fit)[place.at], np.maximum(upper, fit)[place.at]


BANDS: Mapping[str, Band] = {"consistency": consistency, "confidence": confidence, "simultaneous": simultaneous}
