"""What is known of one window, from its sums alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from calibrant._core.links import FloatArray
from calibrant._core.parameters import refuse
from calibrant._core.problem import SimplexProblem
from calibrant.binning import Binning
from calibrant.lenses.bins import InBins
from calibrant.metrics.binned.losses import NormOfBins
from calibrant.metrics.log_losses import LogLoss
from calibrant.metrics.uncertainty.cells import Cells
from calibrant.metrics.uncertainty.noise import Noise
from calibrant.metrics.uncertainty.residuals import error_of
from calibrant.notions import Notion
from calibrant.sums import BinnedProblem, Plan, Sums
from calibrant.sums.draws import CellArray
from calibrant.sums.noise import Moments
from calibrant.sums.strata import is_upper

LOG_LOSS, IMPOSSIBLE = "log loss", "events of probability 0"


@dataclass(frozen=True)
class ImpossibleRows:
    """One for each row in which an event occurred that has probability 0 under a notion; logits give none."""

    of_predictions: bool

    def __call__(self, problem: SimplexProblem) -> FloatArray:
        """Return zeros and ones, shape (n,)."""
        if problem.forecast.is_logit:
            return np.zeros(problem.size)
        if not self.of_predictions:
            return np.asarray(problem.of_true <= 0.0, dtype=np.float64)
        top = problem.forecast.as_given[np.arange(problem.size), problem.top]
        return np.asarray((top >= 1.0) & (problem.top != problem.label), dtype=np.float64)


def plan_of(notion: Notion, binning: Binning) -> Plan:
    """Return what is summed over each window."""
    scores = ((LOG_LOSS, LogLoss()), (IMPOSSIBLE, ImpossibleRows(notion.of_predictions)))
    return Plan(cells=((notion, binning),), scores=scores, powers=1, noise=True)


@dataclass(frozen=True)
class Figures:
    """Figures of a window.

    Attributes
    ----------
    rows, impossible : int
        Number of rows, and of events of probability 0 that occurred.
    event_rate, mean_prob, gap : float
        Share of events, mean probability, and their difference (calibration in the large); NaN of class-wise calibration, whose
        differences cancel.
    gap_lower, gap_upper : float
        Interval of the difference, by the normal law.
    ece, ece_lower, ece_upper, noise_floor, noise_upper : float
        Expected calibration error, the interval of the true one, and its mean and a high quantile under calibration.
    log_loss : float
        Mean log loss, nats.
    """

    rows: int
    event_rate: float
    mean_prob: float
    gap: float
    gap_lower: float
    gap_upper: float
    ece: float
    ece_lower: float
    ece_upper: float
    noise_floor: float
    noise_upper: float
    log_loss: float
    impossible: int

    @classmethod
    def of(cls, sums: Sums, level: float, n_resamples: int) -> Figures:
        """Compute the figures; what is drawn by chance is the same in each call."""
        held = [one for one in sums.cells[0] if one.bins.count.any()]
        notion, binning = sums.plan.cells[0]
        cells, size = _cells(held), NormOfBins.of()
        noise = Noise(cells, _drawn(cells, n_resamples), cells.count, 0)
        law = replace(noise.law(cells.sizes(InBins(binning), size)), seen=None)  # draws for what no figure shows
        found = law.estimate(level)
        assert size.of_bins is not None
        assert found.lower is not None
        assert found.upper is not None
        return cls(
            sums.rows,
            *(_in_the_large(held, level) if notion.one_score_a_row else (float("nan"),) * 5),
            ece=error_of(size.of_bins, held),
            ece_lower=found.lower,
            ece_upper=min(found.upper, 1.0),
            noise_floor=float(law.null.mean()),
            noise_upper=float(np.quantile(law.null, 1.0 - level)),
            log_loss=sums.mean(LOG_LOSS),
            impossible=round(sums.total(IMPOSSIBLE)),
        )


def _cells(held: Sequence[BinnedProblem]) -> Cells:
    """Return the cells of problems with rows, whose noise is drawn from their strata; those of several classes one by one."""
    factor = [np.full(len(one.bins), one.share / one.bins.weight.sum()) for one in held]
    part = np.concatenate([np.full(len(one.bins), number) for number, one in enumerate(held)])
    scale, count, weight, score, events = (
        np.concatenate(parts) for parts in (factor, *([getattr(one.bins, name) for one in held] for name in SUMS))
    )
    moments = Moments.of(held)
    deviation = scale * (events - score)
    return Cells(
        _nowhere, count.astype(np.float64), scale * weight, scale, score, deviation, part, moments=moments
    ).held


SUMS = ("count", "weight", "score_sum", "outcome_sum")


def _nowhere() -> CellArray:
    refuse("rows of a window must not be asked for", got="their cells", hint="Only their sums were kept")


def _drawn(cells: Cells, n_resamples: int) -> FloatArray:
    """Draw deviations of labels that the predictions themselves draw, shape (n_resamples, n_cells)."""
    assert cells.moments is not None
    return cells.scale * (cells.moments.events(n_resamples, np.random.default_rng(0)) - cells.expected)


def _in_the_large(held: Sequence[BinnedProblem], level: float) -> tuple[float, float, float, float, float]:
    """Return event rate, mean probability, their difference and its interval."""
    n = sum(float(one.bins.weight.sum()) for one in held)
    rate, mean = (
        sum(float(getattr(one.bins, name).sum()) for one in held) / n for name in ("outcome_sum", "score_sum")
    )
    square = sum(_squares(one) for one in held)
    gap = rate - mean
    error = float(ndtri(1.0 - level / 2.0)) * np.sqrt(max(square / n - gap**2, 0.0) / n)
    return rate, mean, gap, max(gap - error, -1.0), min(gap + error, 1.0)


def _squares(one: BinnedProblem) -> float:
    """Sum of squared residuals: m² where the outcome is the likely one of its half of [0, 1], and else (1 - m)²."""
    strata = one.strata
    assert strata is not None
    first, second = strata.sums
    against = np.array([[False], [True]]) ^ is_upper(one.bins.edges)
    return float(np.where(against, strata.count - 2.0 * first + second, second).sum())
