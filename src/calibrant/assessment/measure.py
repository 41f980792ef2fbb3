"""The values of several metrics, from one look at the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy.typing as npt

from calibrant._core.links import CLIP
from calibrant._core.parameters import list_of_names
from calibrant._core.validation import DataOptions, as_problem
from calibrant.assessment.table import chosen_metrics, default_metrics
from calibrant.binning import Binning, as_binning
from calibrant.notions import Notion
from calibrant.sums import Plan, Predictions, scan
from calibrant.sums.plan import distinct
from calibrant.sums.unread import is_unread, refuse_rows


def measure(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    metrics: Sequence[str] | None = None,
    notion: str | Notion | None = None,
    binning: int | Binning = 15,
    **data: Unpack[DataOptions],
) -> dict[str, float]:
    """Compute several metrics of a forecast, without intervals, from one look at the rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one. Logits are declared with ``input="logit"``, never guessed.
    metrics : sequence of str, optional
        Names that ``calibrant list metrics`` prints, names of functions, or symbols, as in `assess`, with the same default.
    notion : str or Notion, optional
        Notion of every metric that has none in its name, as in `assess`.
    binning : int or Binning, default=15
        How scores are cut, for the calibration errors that have no bins of their own; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    dict of str to float
        The value of each metric, by the word that `assess` has for it.

    Warns
    -----
    CalibrationWarning
        If the log loss is among the metrics, and events of probability 0 occurred; or if a metric is not defined for the data.

    See Also
    --------
    assess : The same values with intervals, noise floors and p-values: without them nobody knows what is noise.

    Notes
    -----
    Labels and probabilities are checked once, and the rows are read once more for all metrics that are sums over them:
    accuracy, log loss, Brier scores and calibration errors over bins. A metric that needs the rows themselves, such as an
    area under a curve, reads them on its own.

    Examples
    --------
    >>> from calibrant import measure
    >>> measure([0, 1, 1, 0], [0.25, 0.75, 0.5, 0.0], metrics=["accuracy", "brier", "ece"])
    {'accuracy': 0.75, 'brier': 0.09375, 'ece': 0.25}
    """
    if metrics is not None:
        list_of_names("metrics", metrics)
    cut = as_binning(binning)
    problem = as_problem(y_true, y_prob, **data)
    chosen = chosen_metrics(metrics or default_metrics(problem.classes.size), CLIP)
    plans = [metric.plan(problem, cut, notion) for _, metric in chosen.values()]
    cells = distinct(pair for plan in plans for pair in plan.cells)
    for (word, _), plan in zip(chosen.values(), plans, strict=True):
        if is_unread(problem) and not (plan.cells or plan.scores):
            refuse_rows(repr(word))
    sums = scan(problem, Plan(tuple(cells), tuple(one for plan in plans for one in plan.scores), powers=1))
    return {word: metric.of_sums(sums, problem, cut, notion) for word, metric in chosen.values()}
