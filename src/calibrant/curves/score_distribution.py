"""Distribution of the scores of rows with the event, and of rows without."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.result import DrawnResult, Picture, Record
from calibrant._core.table import Table, under
from calibrant._core.validation import DataOptions, as_problem
from calibrant.binning import Binning, Bins, as_binning
from calibrant.notions import Notion, as_notion
from calibrant.sums import Plan, Predictions, scan


@dataclass(frozen=True, eq=False)
class ScorePanel(Record):
    """One problem of a notion: the weights of its rows in narrow bins of the score."""

    name: str
    bins: Bins

    @property
    def event_weight(self) -> FloatArray:
        """Weight of the rows of each bin whose event occurred."""
        return self.bins.outcome_sum

    @property
    def other_weight(self) -> FloatArray:
        """Weight of the rows of each bin whose event did not occur."""
        return np.maximum(self.bins.weight - self.bins.outcome_sum, 0.0)

    @property
    def event_density(self) -> FloatArray:
        """Density of the scores whose event occurred: its integral is one, or zero where it never did."""
        return _density(self.event_weight, self.bins.edges)

    @property
    def other_density(self) -> FloatArray:
        """Density of the scores whose event did not occur: its integral is one, or zero where it always did."""
        return _density(self.other_weight, self.bins.edges)


@dataclass(frozen=True, eq=False)
class ScoreDistribution(DrawnResult):
    """Distribution of the scores by outcome under a notion: one panel a problem.

    Attributes
    ----------
    panels : tuple of ScorePanel
        One for ``binary`` and ``confidence``, one a class for ``class-wise`` and ``top-label``.
    notion, binning : str
        Where the figures come from.
    outcomes : tuple of str
        What the outcome is called when the event did not occur, and when it did.
    """

    _table = Table(
        "bin",
        "panel=panels.name",
        *under("panels.bins", "left", "right"),
        *under("panels", "event_weight", "other_weight", "event_density", "other_density"),
    )
    _summary = "{notion}, {binning}, panels={panels:n}, rows={panels.bins.count:total}"
    _picture = Picture(
        "the distributions",
        "score_distribution.plot_score_distribution",
        options=(
            '``panels`` names those to draw, by default all, up to 40; ``height="weight"`` gives each '
            "distribution the area of its rows, and not of one."
        ),
    )

    panels: tuple[ScorePanel, ...]
    notion: str
    binning: str
    outcomes: tuple[str, str]


def score_distribution(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    binning: int | Binning = 40,
    **data: Unpack[DataOptions],
) -> ScoreDistribution:
    """Distribution of the scores by outcome: how well they tell events from the rest, and where they pile up.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes (the event against the other) and ``"confidence"`` for more (right
        predictions against wrong ones). ``"class-wise"`` shows each class against the rest.
    binning : int or Binning, default=40
        How scores are cut; a number n means ``EqualWidth(n)``. Narrower bins than a reliability diagram can afford.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    ScoreDistribution
        A result with ``panels``, ``to_frame()`` and ``plot()``.

    Examples
    --------
    >>> from calibrant.curves import score_distribution
    >>> panel = score_distribution([0, 0, 1, 1], [0.1, 0.2, 0.4, 0.9], binning=2).panels[0]
    >>> panel.event_weight.tolist(), panel.other_weight.tolist()
    ([1.0, 1.0], [2.0, 0.0])
    """
    problem = as_problem(y_true, y_prob, **data)
    chosen, cut = as_notion(notion, problem), as_binning(binning)
    (problems,) = scan(problem, Plan.of_cells([(chosen, cut)])).cells
    panels = tuple(ScorePanel(one.name or chosen.name, one.shown) for one in problems)
    return ScoreDistribution(panels, chosen.name, repr(cut), _outcomes(chosen, problem.classes))


def _outcomes(notion: Notion, classes: npt.NDArray[np.generic]) -> tuple[str, str]:
    if notion.of_predictions:
        return ("wrong", "right")
    if notion.name == "binary":
        other, event = (str(label) for label in classes.tolist())
        return (other if other.startswith("not ") else f"class {other}", f"class {event}")
    return ("other classes", "this class")


def _density(weight: FloatArray, edges: FloatArray) -> FloatArray:
    total = weight.sum()
    width = np.diff(edges)
    density = np.zeros(weight.shape)
    np.divide(weight, width * total, out=density, where=(width > 0) & (total > 0))
    return density
