"""How many rows do I need? One function for four questions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy.typing as npt

from calibrant._core.parameters import require
from calibrant._core.rows import Rows
from calibrant._core.validation import Input
from calibrant.binning import Binning
from calibrant.metrics.kinds.metric import Function
from calibrant.notions import Notion
from calibrant.planning.known import to_calibrate, to_guarantee
from calibrant.planning.rows_needed import RowsNeeded
from calibrant.planning.simulated import to_detect, to_estimate
from calibrant.sums.draws import Rng, as_rng

OF_PREDICTIONS = ("y_prob", "n_classes", "accuracy", "event_rate", "auc", "input", "rows")
MEASURED = ("metric", "notion", "binning", "level")

TAKES = {
    "detect": (*OF_PREDICTIONS, *MEASURED, "power", "wrong"),
    "width": (*OF_PREDICTIONS, *MEASURED),
    "calibrate": ("n_classes", "safe", "harm"),
    "guarantee": ("n_classes", "level"),
}
"""The questions, and what else each of them takes."""


def rows_for(
    *,
    detect: float | None = None,
    width: float | None = None,
    calibrate: str | None = None,
    guarantee: float | None = None,
    y_prob: npt.ArrayLike | None = None,
    n_classes: int | None = None,
    accuracy: float | None = None,
    event_rate: float | None = None,
    auc: float | None = None,
    metric: str | Function | None = None,
    notion: str | Notion | None = None,
    binning: int | Binning | None = None,
    wrong: str | None = None,
    power: float | None = None,
    level: float | None = None,
    safe: bool | None = None,
    harm: float | None = None,
    input: Input | None = None,
    rows: Rows | None = None,
    rng: Rng = 0,
) -> RowsNeeded:
    """Return how many rows are needed: to detect an error, for an interval of a width, to calibrate, or for a guarantee.

    Exactly one of the first four parameters is given: it is the question.

    Parameters
    ----------
    detect : float, optional
        True calibration error that a test is to find, in the units of ``metric``.
    width : float, optional
        Width of the interval of ``metric`` that is wanted: its upper end less its lower end.
    calibrate : str, optional
        Word of a calibrator, such as ``"temperature"``: from how many rows on it seldom did harm in the study of harm.
    guarantee : float, optional
        Largest error of all predictions after top-label histogram binning, in (0, 1], that a theorem is to bound: the
        conditional bound of `samples_for_guarantee` with ten bins a class.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes), optional
        Predictions of a pilot, without labels. Rows are drawn from them with replacement.
    n_classes : int, optional
        Number of classes. In place of a pilot: predictions whose logits are independent and normal, as those of
        `make_softmax_forecast`. Asked for by ``calibrate`` and ``guarantee``.
    accuracy : float, optional
        Beside ``n_classes``: mean probability of the predicted class, by default 0.8.
    event_rate : float, optional
        In place of a pilot: predictions of one event with normal log-odds and this mean, in [0.001, 0.999].
    auc : float, optional
        Beside ``event_rate``: area under the ROC curve, in [0.55, 0.99], by default 0.8.
    metric : str or callable, optional
        For ``detect`` a calibration error, for ``width`` any metric with an interval, by name or as the function; by default
        ``"ece"``.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more.
    binning : int or Binning, optional
        How scores are cut; a number n means ``EqualWidth(n)``, by default 15.
    wrong : {"over-confident", "under-confident", "too high", "too low"}, optional
        How the predictions are wrong, for ``detect``. The true log-probabilities are those predicted, divided by one number
        ("over-confident", the default, above 1; "under-confident", below 1); or the true log-odds of two classes are lower or
        higher by one number ("too high", "too low"). The number is such that the true error is as asked.
    power : float, optional
        Probability with which the test finds the error, in (0, 1); by default 0.8.
    level : float, optional
        Level of the test, or one minus the coverage of the interval, in [0.001, 0.5], by default 0.05. Of a guarantee the
        probability with which it may fail, by default 0.1.
    safe : bool, optional
        For ``calibrate``: the calibrator within `SafeCalibrator`; by default by itself.
    harm : float, optional
        For ``calibrate``: tolerated share of the experiments in which the log loss of held-out rows rose, in (0, 1); by
        default 0.1.
    input : {"probability", "logit"}, optional
        What ``y_prob`` holds; by default probabilities.
    rows : {"as-given", "normalize", "percent"}, optional
        What is done with the rows of ``y_prob``; see `DataOptions`.
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness. The default makes two calls agree; None draws anew.

    Returns
    -------
    RowsNeeded
        ``rows``, their ``standard_error`` by the simulation, a ``sentence``, what was ``assumed``, and the figure with each
        number of rows that was tried, as ``to_frame()`` and ``plot()``.

    Raises
    ------
    TypeError, ValueError
        If there is not exactly one question, a parameter is not what it must be or belongs to another question, or a million
        rows (fewer of more than 16 classes: 2^24 probabilities) are too few.

    See Also
    --------
    samples_for_guarantee : More kinds of guarantees, and rare classes.
    assess : The smallest detectable error of rows at hand.

    Notes
    -----
    ``detect`` and ``width`` are simulated with the mechanisms of `assess`: rows are drawn from the predictions and labels from
    their true probabilities. The power is the share of data sets with a p-value of at most ``level``. The width is the median
    over data sets in which the predictions are calibrated. The rows are doubled from 50 on until the figure is reached. Then a
    line is fitted to its normal quantile, or to the logarithm of the width, against the logarithm of 10 numbers of rows;
    ``standard_error`` is that of the place where the line meets the target.

    ``calibrate`` reads the tables of docs/do-no-harm.md: experiments with 100, 200, 500 and 2000 rows on predictions of 2 to
    10 classes. Other predictions may need more rows.

    Examples
    --------
    >>> from calibrant import rows_for
    >>> print(rows_for(guarantee=0.1, n_classes=10).sentence)
    38,200 rows are needed: after top-label histogram binning no error is above 0.1 with probability 0.9.
    >>> rows_for(width=0.2, metric="calibration-slope", event_rate=0.1).rows > 2000
    True
    """
    given = {name: value for name, value in locals().items() if value is not None and name != "rng"}
    question = _question(given)
    answer: Callable[..., RowsNeeded] = ANSWERS[question]
    return answer(as_rng(rng), **given)


def _question(given: dict[str, Any]) -> str:
    """Return which question is asked; refuse none, several, and what belongs to another."""
    asked = [name for name in TAKES if name in given]
    require(
        len(asked) == 1,
        f"exactly one of {', '.join(TAKES)} must be given: it is the question",
        got=" and ".join(asked) or "none",
        hint="Pass detect=0.02, say, to find an error of 0.02",
    )
    (question,) = asked
    strange = [name for name in given if name not in (question, *TAKES[question])]
    require(
        not strange,
        f"beside {question} there must be none but {', '.join(TAKES[question])}",
        got=", ".join(strange),
        hint="Leave it out" if len(strange) == 1 else "Leave them out",
    )
    return question


ANSWERS: dict[str, Callable[..., RowsNeeded]] = {
    "detect": to_detect,
    "width": to_estimate,
    "calibrate": to_calibrate,
    "guarantee": to_guarantee,
}
