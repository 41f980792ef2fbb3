"""How many rows do I need? One function for four questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from itertools import takewhile

import numpy as np
import numpy.typing as npt

from calibrant._core.arrays import FloatArray
from calibrant._core.border import Input
from calibrant._core.checks import choice, flag, number, refuse, require, whole
from calibrant._core.rows import Rows
from calibrant.binning import Binning
from calibrant.calibrators.guarantees import samples_for_guarantee
from calibrant.metrics.kinds import Function
from calibrant.notions import Notion
from calibrant.planning.simulated import RowsNeeded, to_detect, to_estimate
from calibrant.sums.draws import Rng, as_rng

# What the study of harm found: how often a calibrator that was fitted on few rows made predictions worse


ROWS = (100, 200, 500, 2000)
"""Rows to calibrate on."""

MOST_CLASSES = 10
"""Classes of the predictions of the study, at most."""

EXPERIMENTS = {"two classes": (54, 54, 42, 40), "3 to 10 classes": (54, 42, 42, 28)}
"""Experiments with so many rows: two draws of the rows of each of 27 sets of predictions that has enough."""

TABLES = files("calibrant") / "_data" / "harm.md"
"""Harm in percent of the experiments with 100, 200, 500 and 2000 rows and with all: without and with `SafeCalibrator`."""


@dataclass(frozen=True, eq=False)
class Harm:
    """How often a method raised the log loss of held-out rows: shares (4,) of the ``experiments`` (4,) of `ROWS`."""

    group: str
    share: FloatArray

    def rows(self, tolerated: float) -> int | None:
        """Return from which number of rows on the share stays within what is tolerated; None where the study has no such."""
        above = np.flatnonzero(self.share > tolerated)
        first = int(above[-1]) + 1 if above.size else 0
        return ROWS[first] if first < len(ROWS) else None


def harm_of(method: object, n_classes: int, *, safe: bool) -> Harm:
    """Return what the study found of a method, for so many classes."""
    must = f"n_classes must be at most {MOST_CLASSES} for calibrate=, as in the study of harm"
    hint = "Ask for guarantee= in place of calibrate=, or let calibrant.advise judge the rows at hand"
    require(n_classes <= MOST_CLASSES, must, value=n_classes, hint=hint)
    group = "two classes" if n_classes == 2 else "3 to 10 classes"
    shares = shares_of(group)
    found = shares[choice("calibrate", method, shares, hint="Pass a method of the study of harm")]
    return Harm(group, found[:, 1 if safe else 0])


def shares_of(group: str) -> dict[str, FloatArray]:
    """Return by method the shares of the experiments that it made worse, without and with `SafeCalibrator`, by rows."""
    table = TABLES.read_text("utf-8").partition(group)[2]
    lines = takewhile(lambda line: line.startswith("|"), table.splitlines()[1:])
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {
        name: np.array([[float(part) / 100.0 for part in pair.split("/")] for pair in pairs[: len(ROWS)]])
        for name, *pairs in cells
    }


# Answers that are known: rows to calibrate, by the study of harm, and rows for a guarantee, by a theorem


LEVEL, HARM = 0.1, 0.1
"""What is assumed where nothing is said: the probability with which a guarantee may fail, and the tolerated share of harm."""

BOUNDS_SHOWN = (2.0, 1.5, 1.25, 1.0, 0.8)
"""Multiples of the wanted bound whose rows are shown beside it."""


def to_calibrate(
    rng: np.random.Generator,
    *,
    calibrate: str,
    n_classes: int | None = None,
    safe: bool | None = None,
    harm: float | None = None,
) -> RowsNeeded:
    """Return the rows from which on a method seldom did harm; nothing is drawn."""
    hint = "Pass n_classes=2 for one event"
    require(n_classes is not None, "n_classes must be given beside calibrate", got="None", hint=hint)
    classes = whole("n_classes", n_classes, least=2, hint=hint)
    is_safe = flag("safe", safe) if safe is not None else False
    tolerated = HARM if harm is None else number("harm", harm, above=0.0, below=1.0, hint="0.1 tolerates one in ten")
    found = harm_of(calibrate, classes, safe=is_safe)
    experiments = EXPERIMENTS[found.group]
    method = f"{calibrate} within SafeCalibrator" if is_safe else calibrate
    needed = found.rows(tolerated)
    if needed is None:
        must = f"harm must be a share that {method} kept to with {ROWS[-1]:,} rows, the most of the study of harm"
        worse = f"it made {100 * found.share[-1]:.0f} % of the {experiments[-1]} experiments worse"
        hint = f"Take {'' if is_safe else 'safe=True, '}a larger harm=, or another calibrator"
        refuse(must, got=f"{tolerated:g}, and there {worse}", hint=hint)
    at = ROWS.index(needed)
    sentence = (
        f"{needed:,} rows are needed to calibrate by {method}: from there on it raised the log loss of held-out rows in at "
        f"most {100 * tolerated:g} % of the experiments."
    )
    assumed = {
        "source": "the study of harm, docs/do-no-harm.md, with 100, 200, 500 and 2000 rows",
        "predictions": f"those of the study of {found.group}",
        "experiments": f"{experiments[at]} with {needed:,} rows, of which {100 * found.share[at]:.0f} % were made worse",
    }
    return RowsNeeded(needed, sentence, 0.0, assumed, "share of harm", tolerated, np.array(ROWS), found.share)


def to_guarantee(
    rng: np.random.Generator, *, guarantee: float, n_classes: int | None = None, level: float | None = None
) -> RowsNeeded:
    """Return the rows with which histogram binning has a bound; nothing is drawn."""
    classes = 1 if n_classes is None else n_classes
    alpha = LEVEL if level is None else number("level", level, above=0.0, below=1.0, hint="0.1 is usual")
    plan = samples_for_guarantee(guarantee, n_classes=classes, alpha=alpha)
    bounds = [times * guarantee for times in BOUNDS_SHOWN if times * guarantee <= 1.0]
    sentence = (
        f"{plan.n_samples:,} rows are needed: after top-label histogram binning no error is above {guarantee:g} with "
        f"probability {1.0 - alpha:g}."
    )
    each = f", 10 for each of {classes} classes" if classes > 1 else ""
    assumed = {
        "theorem": "the conditional bound of samples_for_guarantee, whatever the predictions",
        "bins": f"{plan.n_bins:,} of {plan.points_per_bin:,} rows{each}",
    }
    tried = np.array([samples_for_guarantee(bound, n_classes=classes, alpha=alpha).n_samples for bound in bounds])
    return RowsNeeded(plan.n_samples, sentence, 0.0, assumed, "bound", guarantee, tried, np.array(bounds))


OF_PREDICTIONS = ("y_prob", "sample_weight", "n_classes", "accuracy", "event_rate", "auc", "input", "rows")
MEASURED = ("metric", "notion", "binning", "level")

ANSWERS: dict[str, tuple[Callable[..., RowsNeeded], tuple[str, ...]]] = {
    "detect": (to_detect, (*OF_PREDICTIONS, *MEASURED, "power", "wrong")),
    "width": (to_estimate, (*OF_PREDICTIONS, *MEASURED)),
    "calibrate": (to_calibrate, ("n_classes", "safe", "harm")),
    "guarantee": (to_guarantee, ("n_classes", "level")),
}
"""The questions, and what else each of them takes."""


def rows_for(
    *,
    detect: float | None = None,
    width: float | None = None,
    calibrate: str | None = None,
    guarantee: float | None = None,
    y_prob: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
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
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows of ``y_prob``: a whole weight is a number of equal rows.
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
    asked, hint = [name for name in ANSWERS if name in given], "Pass detect=0.02, say, to find an error of 0.02"
    must = f"exactly one of {', '.join(ANSWERS)} must be given: it is the question"
    require(len(asked) == 1, must, got=" and ".join(asked) or "none", hint=hint)
    (question,) = asked
    answer, takes = ANSWERS[question]
    strange = [name for name in given if name not in (question, *takes)]
    must = f"beside {question} there must be none but {', '.join(takes)}"
    require(not strange, must, got=", ".join(strange), hint="Leave it out" if len(strange) == 1 else "Leave them out")
    return answer(as_rng(rng), **given)
