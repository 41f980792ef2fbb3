"""Cumulative residuals in the order of the scores: miscalibration without bins, as the slope of a line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem, Problem
from calibrant._core.result import DrawnResult, Picture, Record
from calibrant._core.table import Table, under
from calibrant._core.validation import DataOptions, as_problem
from calibrant.curves.reliability import require_level
from calibrant.lenses.base import residual_of
from calibrant.lenses.cumulative import Cumulative, end_deviation, largest, spread
from calibrant.notions import Notion, as_notion
from calibrant.sums import Predictions
from calibrant.sums.brownian_motion import distance_survival


@dataclass(frozen=True, eq=False)
class CumulativeResidualPanel(Record):
    """One problem of a notion, read at its start and at each distinct score, shape (d + 1,).

    ``share`` is the share of the rows up to each ``score``, ``cumulative`` the sum of their residuals (outcome minus
    probability) over the weight of all rows. Both start at 0, where ``score`` repeats the lowest. ``reach`` is half the width
    of the band of a calibrated forecast. Where a problem has no row, such as a class that is never predicted, the figures are
    NaN.
    """

    name: str
    score: FloatArray
    share: FloatArray
    cumulative: FloatArray
    reach: float
    ks_error: float
    kuiper_error: float


@dataclass(frozen=True, eq=False)
class CumulativeResidualCurve(DrawnResult):
    """Cumulative residuals of a forecast under a notion: one panel a problem.

    Attributes
    ----------
    panels : tuple of CumulativeResidualPanel
        One for ``binary`` and ``confidence``, one a class for ``class-wise`` and ``top-label``.
    notion : str
        Where the figures come from.
    level : float
        How often a calibrated forecast leaves its band, a fraction.
    """

    _table = Table(
        "distinct score, and one for the start", *under("panels", "panel=name", "score", "share", "cumulative", "reach")
    )
    _picture = Picture(
        "the cumulative residuals",
        "cumulative_residual.plot_cumulative_residual",
        options="Those of `plot_cumulative_residual`: ``panels``.",
    )

    panels: tuple[CumulativeResidualPanel, ...]
    notion: str
    level: float

    def __repr__(self) -> str:
        distinct = sum(max(p.score.size - 1, 0) for p in self.panels)
        return f"CumulativeResidualCurve({self.notion}, panels={len(self.panels)}, scores={distinct})"


def cumulative_residual_curve(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    level: float = 0.05,
    **data: Unpack[DataOptions],
) -> CumulativeResidualCurve:
    """Cumulative sums of outcome minus probability in the order of scores, with the band of a calibrated forecast.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more.
    level : float, default=0.05
        How often the line of a calibrated forecast leaves the band anywhere, a fraction in (0, 1).
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    CumulativeResidualCurve
        A result with ``panels``, ``to_frame()`` and ``plot()``.

    Notes
    -----
    Between two points the line climbs by the mean residual of the rows between them: its slope is the event rate minus the
    mean probability there, whichever rows one looks at. No bins are chosen and nothing is smoothed. Its largest distance
    from zero is the KS error, its range the Kuiper error.

    If the forecast is calibrated, the line is a sum of independent terms with variance w^2 p (1 - p), which tends to a
    Brownian motion. The band is  +- q * sqrt(sum of w^2 p (1 - p)) / sum of w  with P(sup abs(Brownian motion on [0, 1]) > q) =
    level, q = 2.24 at 5 %: it holds for the whole line at once, asymptotically. (A triangle of two standard deviations,
    as in the papers, speaks of the end of the line.) Whole weights count as rows, so that w^2 is w there; other weights
    say how much a row counts, and not how often it was seen.

    References
    ----------
    Arrieta-Ibarra, Gujral, Tannen, Tygert, Xu, Metrics of calibration for probabilistic predictions, JMLR 2022.
    Tygert, Plots of the cumulative differences between observed and expected values of ordered Bernoulli variates,
    arXiv 2006.02504.

    Examples
    --------
    >>> from calibrant.curves import cumulative_residual_curve
    >>> panel = cumulative_residual_curve([0, 0, 1, 1], [0.1, 0.3, 0.6, 0.9]).panels[0]
    >>> panel.cumulative.round(3).tolist()
    [0.0, -0.025, -0.1, 0.0, 0.025]
    """
    require_level(level)
    problem = as_problem(y_true, y_prob, **data)
    return cumulative_of(problem, as_notion(notion, problem), level)


def cumulative_of(problem: Problem, notion: Notion, level: float) -> CumulativeResidualCurve:
    """Return the curve of a valid problem."""
    quantile = brownian_quantile(level)
    panels = tuple(_panel(binary, binary.name or notion.name, quantile) for binary in notion.split(problem))
    return CumulativeResidualCurve(panels, notion.name, level)


def _panel(problem: BinaryProblem, name: str, quantile: float) -> CumulativeResidualPanel:
    if problem.size == 0:  # a class that is never predicted: only the start
        start, nothing = np.zeros(1), float("nan")
        return CumulativeResidualPanel(name, np.full(1, np.nan), start, start, nothing, nothing, nothing)
    view = Cumulative()(problem)
    seen = view.look(residual_of(problem))
    return CumulativeResidualPanel(
        name=name,
        score=np.concatenate([view.score[:1], view.score]),
        share=np.concatenate([[0.0], view.share]),
        cumulative=np.concatenate([[0.0], seen[0]]),
        reach=quantile * end_deviation(problem),
        ks_error=float(largest(view, seen)[0]),
        kuiper_error=float(spread(view, seen)[0]),
    )


def brownian_quantile(level: float) -> float:
    """Return what the largest distance of a Brownian motion on [0, 1] from zero exceeds with probability ``level``."""
    return float(brentq(lambda x: float(distance_survival(x)) - level, 0.05, 40.0, xtol=1e-12))
