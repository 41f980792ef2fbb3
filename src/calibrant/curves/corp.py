"""CORP curves: the isotonic fit of a forecast, with a band. No bins to choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Unpack

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.parameters import choice, resamples
from calibrant._core.problem import BinaryProblem, IntArray
from calibrant._core.proper import squared_error
from calibrant._core.result import DrawnResult, Picture, Record
from calibrant._core.table import Table, under
from calibrant._core.validation import DataOptions, as_problem
from calibrant.binning import Bins, EqualWidth
from calibrant.binning.base import shown
from calibrant.binning.distinct_scores import Ordered
from calibrant.curves.corp_bands import BANDS, Place
from calibrant.curves.reliability import require_level
from calibrant.metrics.decompositions.corp_of_cells import corp_of_cells
from calibrant.notions import Notion, as_notion
from calibrant.solvers.isotonic import affordable, corp_terms, isotonic_fit
from calibrant.sums import Predictions
from calibrant.sums.draws import Rng, as_rng
from calibrant.sums.fine_cells import CellProblem

BandName = Literal["consistency", "confidence", "simultaneous"]

MOST_PLACES = 2000
"""Up to so many distinct scores a band stands at each; beyond it, at as many that are spread over ranks and over scores."""

HISTOGRAM = EqualWidth(50)
"""Bins of the scores that the picture shows below the curve."""

COLUMNS = ("score", "fit", "lower", "upper")


@dataclass(frozen=True, eq=False)
class CorpPanel(Record):
    """One problem of a notion: the steps of its isotonic fit, the band, and the terms of the squared error.

    Step b leads from the score ``left[b]`` to ``right[b]`` at the event ``rate[b]``, which increases, and has a ``weight``. At
    each ``score`` stand the ``fit`` and the band from ``lower`` to ``upper``, NaN without one. Without rows the arrays are
    empty and the terms NaN. The ``histogram`` counts the scores.
    """

    name: str
    left: FloatArray
    right: FloatArray
    rate: FloatArray
    weight: FloatArray
    score: FloatArray
    fit: FloatArray
    lower: FloatArray
    upper: FloatArray
    histogram: Bins
    brier: float
    miscalibration: float
    discrimination: float
    uncertainty: float


@dataclass(frozen=True, eq=False)
class CorpCurve(DrawnResult):
    """CORP reliability of a forecast under a notion: one panel a problem.

    Attributes
    ----------
    panels : tuple of CorpPanel
        One for ``binary`` and ``confidence``, one a class for ``class-wise`` and ``top-label``.
    notion : str
        What the curve speaks of.
    band : {"consistency", "confidence", "simultaneous"} or None
        What ``lower`` and ``upper`` of the panels are.
    level : float
        One minus the coverage of the band, a fraction.
    of_predictions : bool
        Whether the event is that a predicted class is the true one, so that event rates are accuracies.
    """

    _table = Table(
        "distinct score (of more than 2000, as many that are spread out)",
        "panel=panels.name",
        *under("panels", *COLUMNS),
    )
    _summary = "{notion}, band={band}, panels={panels:n}, steps={panels.rate:n}"
    _picture = Picture(
        "the CORP reliability diagram",
        "corp.plot_corp",
        options="Those of `plot_corp`: ``panels``, ``band``, ``histogram``.",
    )

    panels: tuple[CorpPanel, ...]
    notion: str
    band: BandName | None
    level: float
    of_predictions: bool = False


def corp_curve(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    level: float = 0.05,
    band: BandName | None = "consistency",
    n_resamples: int = 1000,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> CorpCurve:
    """Event rates by isotonic regression on the probabilities (CORP), with a band, ready to plot.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more.
    level : float, default=0.05
        One minus the coverage of the band, a fraction in (0, 1).
    band : {"consistency", "confidence", "simultaneous"} or None, default="consistency"
        "consistency": where the curve would lie at each score if the forecast were calibrated, around the diagonal.
        "confidence": where the true event probability may lie at each score, around the curve. "simultaneous": where the
        true event probabilities of all scores lie at once, with proven confidence. None: no band.
    n_resamples : int, default=1000
        Draws of labels for the first two bands. With more than 100 000 rows, over all panels, there are fewer:
        10^8 labels in all, and not fewer than 100 draws.
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness. The default makes two calls on the same data agree; None draws anew.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    CorpCurve
        A result with ``panels``, ``to_frame()`` and ``plot()``. Each panel also knows what its squared error is made of:
        ``miscalibration``, ``discrimination``, ``uncertainty``.

    Raises
    ------
    ValueError
        If a simultaneous band is wanted and weights are not whole.

    Notes
    -----
    Whole weights count as rows. The simultaneous band assumes that rows are independent and that the true event probability
    does not decrease with the score; the proof, and what was measured of all three bands, are on the page on CORP. A
    band speaks of its panel alone.

    References
    ----------
    Dimitriadis, Gneiting, Jordan, Stable reliability diagrams for probabilistic classifiers, PNAS 2021.
    Dimitriadis, Dümbgen, Henzi, Puke, Ziegel, Honest calibration assessment for binary outcome predictions, Biometrika 2023.

    Examples
    --------
    >>> from calibrant import corp_curve
    >>> curve = corp_curve([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8])
    >>> curve
    CorpCurve(binary, band=consistency, panels=1, steps=3)
    >>> curve.panels[0].rate.tolist()
    [0.0, 0.5, 1.0]
    """
    require_level(level)
    _require_draws(n_resamples)
    if band is not None:
        choice("band", band, BANDS, also=" or None")
    problem, generator = as_problem(y_true, y_prob, **data), as_rng(rng)
    chosen = as_notion(notion, problem)
    n_panels = chosen.n_parts(problem)
    panels = []
    for binary in chosen.split(problem):
        n_draws = affordable(int(n_resamples), max(1, binary.size) * n_panels)
        panels.append(_panel(binary, binary.name or chosen.name, band, level, n_draws, generator))
    return CorpCurve(tuple(panels), chosen.name, band, level, chosen.of_predictions)


def _panel(
    problem: BinaryProblem, name: str, band: BandName | None, level: float, n_draws: int, rng: np.random.Generator
) -> CorpPanel:
    if problem.size == 0:  # a class that is never predicted
        none, nan = np.empty(0), float("nan")
        return CorpPanel(name, none, none, none, none, none, none, none, none, HISTOGRAM(problem), nan, nan, nan, nan)
    ordered = Ordered.of(problem)
    steps, at = isotonic_fit(ordered), places(ordered.score)
    lower = upper = np.full(at.size, np.nan)
    if band is not None:
        lower, upper = BANDS[band](Place(ordered, steps, at, level, n_draws, rng))
    terms = (
        corp_of_cells(problem, squared_error)
        if isinstance(problem, CellProblem)
        else corp_terms(ordered, squared_error)
    )
    return CorpPanel(
        name=name,
        left=ordered.score[steps.starts],
        right=ordered.score[np.append(steps.starts[1:], ordered.score.size) - 1],
        rate=steps.rate,
        weight=steps.weight,
        score=ordered.score[at],
        fit=steps.at_each_score(steps.rate)[at],
        lower=lower,
        upper=upper,
        histogram=shown(HISTOGRAM(problem), are_counts=problem.weights.are_counts),
        brier=terms.score,
        miscalibration=terms.miscalibration,
        discrimination=terms.discrimination,
        uncertainty=terms.uncertainty,
    )


def places(score: FloatArray) -> IntArray:
    """Return the numbers of the distinct scores at which a band stands."""
    if score.size <= MOST_PLACES:
        return np.arange(score.size)
    half = MOST_PLACES // 2
    by_rank = np.linspace(0, score.size - 1, half).astype(np.intp)
    by_score = np.searchsorted(score, np.linspace(score[0], score[-1], half))
    return np.union1d(by_rank, by_score)


def _require_draws(n_resamples: object) -> None:
    resamples(n_resamples, hint="1000 is usual")
