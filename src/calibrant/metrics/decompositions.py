"""Mean scores taken apart: over rows with the same forecast (Kull and Flach), over bins (Murphy), by isotonic fit (CORP)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import Any, Literal, Unpack

import numpy as np
from scipy.special import betaincinv, ndtri

from calibrant._core import checks, rows
from calibrant._core.arrays import CLIP, ArrayLike, FloatArray
from calibrant._core.border import DataOptions, as_forecast, as_problem, as_weights, refuse_rows
from calibrant._core.result import Result, frame
from calibrant.binning.bins import Binning, Ordered, as_binning
from calibrant.fit.isotonic import Corp, base_rate, corp_terms, isotonic_fit, isotonic_fit_of, overfit_draws
from calibrant.metrics.estimate import POWER, Estimate, Resampling, least_pvalue_of, pvalue_of
from calibrant.metrics.kinds import Impossible, LogLoss, MeanLogLoss, MeanOfRows, Own, YProb, YTrue
from calibrant.notions import NotionLike, as_notion, single_problem
from calibrant.sums import RowScore

# Accuracy and the proper scores, each the mean of one value a row, by scikit-learn's conventions where it has one


# One value a row: what the scores are means of, and what is resampled for their intervals.


def hits(problem: rows.SimplexProblem) -> FloatArray:
    """One where the predicted class is the true one, else zero."""
    if problem.is_of_predictions:
        return problem.label.astype(np.float64)
    hit: rows.BoolArray = problem.top == problem.label
    return hit.astype(np.float64)


def squared_losses(problem: rows.SimplexProblem) -> FloatArray:
    """Squared distance to the corner of the true class."""
    return problem.forecast.squared_losses(problem)


def mean_squared_losses(problem: rows.SimplexProblem) -> FloatArray:
    """Squared distance divided by the number of classes."""
    return squared_losses(problem) / problem.forecast.shape[1]


@dataclass(frozen=True)
class BrierLoss:
    """Squared distance, halved or not; "auto" halves that of two classes, as scikit-learn does."""

    scale_by_half: bool | Literal["auto"] = "auto"

    def __post_init__(self) -> None:
        fits = checks.is_word(self.scale_by_half, "auto") or isinstance(self.scale_by_half, (bool, np.bool_))
        must = "scale_by_half must be True, False or 'auto'"
        hint = "Leave it out to halve the loss of two classes, as scikit-learn does"
        checks.require(fits, must, value=self.scale_by_half, hint=hint)

    def __call__(self, problem: rows.SimplexProblem) -> FloatArray:
        """Return the loss of each row."""
        halved = problem.forecast.shape[1] == 2 if self.scale_by_half == "auto" else self.scale_by_half
        losses = squared_losses(problem)
        return losses / 2.0 if halved else losses


# The scores


ACCURACY = MeanOfRows("accuracy", "Acc", "-", higher_is_better=True, per_row=hits)


@ACCURACY.declare
def accuracy(y_true: YTrue, y_prob: YProb = None, **data: Unpack[DataOptions]) -> float:
    """Share of rows whose most probable class is the true one, in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities. Of equal ones the first class is predicted; one column predicts its event above 1/2. With ``y_pred``
        that is what is predicted.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        The accuracy.

    Examples
    --------
    >>> from calibrant.metrics.decompositions import accuracy
    >>> accuracy([0, 1, 1, 0], [0.2, 0.7, 0.4, 0.1])
    0.75
    """
    return ACCURACY.of(y_true, y_prob, data)


NLL = MeanLogLoss("nll", "NLL", "Good 1952", range=(0.0, np.inf))


@NLL.declare
def log_loss(y_true: YTrue, y_prob: YProb = None, *, clip: float = CLIP, **data: Unpack[DataOptions]) -> float:
    """Mean negative log-probability of the true class (NLL, log loss), in [0, inf]; probability 0 costs 36.04 unless clip=0.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; or logits with ``input="logit"``, whose log-probabilities are exact and not clipped.
    clip : float, default=2.220446049250313e-16
        Least probability that counts, in [0, 1/2): a smaller one of the true class is raised to it, so that no row costs more
        than -ln(clip), 36.04 by default. The default is what scikit-learn does in double precision. With 0 nothing is
        raised, and the loss is infinite if an event of probability 0 occurred.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        The same as ``sklearn.metrics.log_loss`` of the numbers in double precision, to rounding.

    Raises
    ------
    ValueError
        If ``clip`` is not in [0, 1/2).

    Warns
    -----
    CalibrationWarning
        If events of probability 0 occurred: the forecast called them impossible. It counts them; a row of weight 0 is none.

    Notes
    -----
    The clip hides how wrong a forecast is that called an event impossible: the true loss is infinite. The forecast of
    Table 3 of the survey by Silva Filho et al. gives the true class probability 0 in 2 of 30 rows. Its loss is inf, and 3.348
    with the default clip, 2.787 with 1e-12: the figure is the clip's more than the forecast's.

    Here single precision counts as the same numbers in double. scikit-learn clips single precision at its own epsilon:
    ``clip=np.finfo(np.float32).eps`` does the same.

    Examples
    --------
    >>> from calibrant import log_loss
    >>> round(log_loss([0, 1], [0.2, 0.5]), 4)
    0.4581
    """
    return NLL.clipped(clip).of(y_true, y_prob, data)


BRIER = MeanOfRows("brier", "Brier", "Brier 1950", range=(0.0, 2.0), also=("brier-score",), per_row=BrierLoss())


@BRIER.declare
def brier_score_loss(
    y_true: YTrue, y_prob: YProb = None, *, scale_by_half: bool | Literal["auto"] = "auto", **data: Unpack[DataOptions]
) -> float:
    """Mean squared distance between predicted probabilities and outcome (Brier score), in [0, 1] for two classes, else [0, 2].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    scale_by_half : bool or "auto", default="auto"
        Whether to halve the sum over classes. "auto" halves that of two classes: the mean of (outcome - probability)^2. Brier's
        own convention is False.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        The same as ``sklearn.metrics.brier_score_loss``.

    Raises
    ------
    ValueError
        If ``scale_by_half`` is something else.

    See Also
    --------
    mean_class_brier_loss : The sum over classes divided by their number.

    Examples
    --------
    >>> from calibrant import brier_score_loss
    >>> round(brier_score_loss([0, 1], [0.2, 0.5]), 4)
    0.145
    """
    return replace(BRIER, per_row=BrierLoss(scale_by_half)).of(y_true, y_prob, data)


MEAN_BRIER = MeanOfRows("mean-brier", "Brier (mean)", "Brier 1950", also=("brier-mean",), per_row=mean_squared_losses)


@MEAN_BRIER.declare
def mean_class_brier_loss(y_true: YTrue, y_prob: YProb = None, **data: Unpack[DataOptions]) -> float:
    """Brier score divided by the number of classes, in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        For one column of probabilities the mean of (outcome - probability)^2.

    See Also
    --------
    brier_score_loss : The sum over classes, as scikit-learn scales it.

    Examples
    --------
    >>> from calibrant.metrics import mean_class_brier_loss
    >>> round(mean_class_brier_loss([0, 1], [0.2, 0.5]), 4)
    0.145
    """
    return MEAN_BRIER.of(y_true, y_prob, data)


# Mean scores taken apart: over rows with the same forecast (Kull and Flach), over bins (Murphy), by isotonic fit (CORP)


# CORP of cells in place of scores: the terms, and between which limits those of the rows lie


def corp_of(ordered: Ordered, score: checks.EventScore) -> Corp:
    """Return the terms of rows, or those of cells with the limits of those of the rows.

    S, F and R are the mean scores of the forecast, of its isotonic fit and of the event rate; R is that of the rows.

    * F of the rows is at most that of the cells: a fit of cells is a non-decreasing map of rows as well. It is at least that of
      rows which lie in the best order within each cell, the events above: to exchange an event for a lower non-event makes no
      fit worse, as a score of an event falls with its probability and that of a non-event rises.
    * S of the rows is at least that of events at the upper limits of their cells and non-events at the lower ones, and at most
      that of the contrary.
    """
    cells, terms = ordered.problem.cells, corp_terms(ordered, score)
    if cells is None:
        return terms
    events, others = cells.events > 0.0, cells.others > 0.0

    def mean(of_events: FloatArray, of_others: FloatArray) -> float:
        total = 0.0
        for outcome, weight, prob, held in (
            (1.0, cells.events, of_events, events),
            (0.0, cells.others, of_others, others),
        ):
            total += float(weight[held] @ checks.expected_score(score, prob[held], np.full(int(held.sum()), outcome)))
        return float(total / cells.total)

    lowest, highest = mean(cells.highest, cells.lowest), mean(cells.lowest, cells.highest)
    weight, best_order = cells.in_best_order
    steps = isotonic_fit_of(best_order, weight)
    best = float(steps.weight @ checks.expected_score(score, steps.rate, steps.rate)) / cells.total
    fit = terms.uncertainty - terms.discrimination
    return Corp(
        rows.Approximate(terms.score, lowest, highest),
        rows.Approximate(terms.miscalibration, max(0.0, lowest - fit), highest - best),
        rows.Approximate(terms.discrimination, terms.discrimination, terms.uncertainty - best),
        terms.uncertainty,
    )


# Proper scores taken apart: how much of a mean score is miscalibration, and how much is left to chance


ClassScore = Callable[[FloatArray, rows.IntArray], FloatArray]

SCORES: Mapping[str, MeanOfRows] = {"brier": MeanOfRows("brier", "", "", per_row=squared_losses), "log": NLL}


@dataclass(frozen=True)
class Decomposition(Result):
    """A mean score and the terms that it is the sum of.

    Attributes
    ----------
    score : str
        Name of the score.
    total : float
        Mean score over all rows, computed by itself and not from the terms.
    terms : tuple of (str, float)
        Name and value of each term; of rows that were read in batches a value knows its ``lower`` and ``upper`` limit.
    subtracted : tuple of str
        Names of the terms that enter with a minus.
    """

    score: str
    total: float
    terms: tuple[tuple[str, float], ...]
    subtracted: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> float:
        """Return the term of that name, ``decomposition["miscalibration"]``."""
        for term, value in self.terms:
            if term == name:
                return value
        raise KeyError(f"{name!r} is no term; there are {', '.join(term for term, _ in self.terms)}")

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a data frame, a row a term.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first that is installed.

        Returns
        -------
        DataFrame
            Columns term, sign (1 or -1) and value; the sum of sign times value is the score. Of rows that were read in
            batches also lower and upper, between which the terms of the rows lie.
        """
        names, values = zip(*self.terms, strict=True)
        signs, limits = [-1 if name in self.subtracted else 1 for name in names], {}
        if any(isinstance(value, rows.Approximate) for value in values):
            limits = {end: [float(getattr(value, end, value)) for value in values] for end in ("lower", "upper")}
        return frame({"term": names, "sign": signs, "value": list(map(float, values)), **limits}, backend)

    def __repr__(self) -> str:
        signs = ["-" if (name in self.subtracted) != (value < 0) else "+" for name, value in self.terms]
        words = [f"{sign} {abs(value):.4g} {name}" for sign, (name, value) in zip(signs, self.terms, strict=True)]
        found = [v for v in (self.total, *dict(self.terms).values()) if isinstance(v, rows.Approximate)]
        note = f"; {max(found, key=lambda value: value.error).note}" if found else ""
        return f"Decomposition({self.score} {self.total:.4g} = {' '.join(words).removeprefix('+ ')}{note})"


def mean_over_parts(
    score: str,
    problem: rows.Problem,
    notion: NotionLike,
    terms_of: Callable[[rows.BinaryProblem], Sequence[float]],
    names: tuple[str, ...],
    subtracted: tuple[str, ...],
) -> Decomposition:
    """Average a score and its terms, which ``terms_of`` gives in this order, over the problems of a notion by their shares."""
    parts = (binary for binary in as_notion(notion, problem).split(problem) if binary.size > 0)
    found = zip(*[[(part.share, term) for term in terms_of(part)] for part in parts], strict=True)
    total, *terms = [rows.mean_of(each) for each in found]
    return Decomposition(score, total, tuple(zip(names, terms, strict=True)), subtracted)


def calibration_refinement(
    y_true: ArrayLike, y_prob: YProb = None, *, score: str | ClassScore = "brier", **data: Unpack[DataOptions]
) -> Decomposition:
    """Split a proper score into calibration loss and refinement loss, over rows with the same forecast.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    score : {"brier", "log"} or callable, default="brier"
        A proper score, the lower the better. "brier" is the sum over classes; a function takes probabilities of shape
        (m, K) and the column numbers of the true classes, shape (m,), and returns one value a row.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    Decomposition
        Terms ``calibration`` and ``refinement``; ``total`` equals `log_loss`, or `brier_score_loss`
        with ``scale_by_half=False``.

    See Also
    --------
    corp_decomposition : Where nearly every row has a forecast of its own.

    Notes
    -----
    With C the class frequencies among the rows that share the forecast S, and d the divergence of the score,
    calibration = mean of d(S, C) and refinement = mean score of C, which is d(C, Y). The squared distance is the divergence
    of the Brier score, KL(C || S) that of log loss. Where every row has a forecast of its own C is the label itself:
    the refinement is zero and the terms say nothing.

    References
    ----------
    DeGroot, Fienberg, The comparison and evaluation of forecasters, The Statistician 1983.
    Bröcker, Reliability, sufficiency, and the decomposition of proper scores, QJRMS 2009.
    Kull, Flach, Novel decompositions of proper scoring rules for classification, ECML PKDD 2015.

    Examples
    --------
    >>> from calibrant.metrics import calibration_refinement
    >>> calibration_refinement([0, 0, 0, 1], [[0.9, 0.1]] * 4)
    Decomposition(brier 0.42 = 0.045 calibration + 0.375 refinement)
    """
    mean, problem = _as_mean(score), rows.as_simplex(as_problem(y_true, y_prob, **data))
    mean.warn_impossible(problem)
    group, n_classes = same_rows(problem.prob), problem.classes.size
    occurred = np.bincount(group * n_classes + problem.label, problem.weight, (group.max() + 1) * n_classes)
    frequency: FloatArray = occurred.reshape(-1, n_classes) / np.bincount(group, problem.weight)[:, None]
    total = _mean(mean.losses, problem)
    refinement = _mean(mean.losses, replace(problem, forecast=rows.Forecast(frequency[group])))
    terms = (("calibration", checks.divergence(total, refinement)), ("refinement", refinement))
    return Decomposition(checks.score_name(score), total, terms)


def epistemic_irreducible(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    posterior: ArrayLike,
    *,
    score: str | ClassScore = "brier",
    **data: Unpack[DataOptions],
) -> Decomposition:
    """Split a proper score into epistemic and irreducible loss, where the true probabilities are known.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    posterior : array-like of the shape of ``y_prob``
        True probabilities of the classes given the features; of the event, where ``y_prob`` is one column.
    score : {"brier", "log"} or callable, default="brier"
        A proper score, the lower the better. "brier" is the sum over classes; a function takes probabilities of shape
        (m, K) and the column numbers of the true classes, shape (m,), and returns one value a row.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`. The last
        two are about ``y_prob`` alone.

    Returns
    -------
    Decomposition
        Terms ``epistemic``, ``irreducible`` and ``chance``; ``total`` equals `log_loss`, or `brier_score_loss`
        with ``scale_by_half=False``.

    Notes
    -----
    With S the forecast, Q the posterior and Y drawn from Q, epistemic = mean of d(S, Q), what a better model could save, and
    irreducible = mean of E d(Q, Y), what none could. Both are expectations over the labels, so that neither is negative;
    ``chance`` is what the labels at hand add or take away. It is zero on average, and where frequencies equal the posterior.

    References
    ----------
    Senge, Bösner, Dembczyński, Haasenritter, Hirsch, Donner-Banzhoff, Hüllermeier, Reliable classification: learning
    classifiers that distinguish aleatoric and epistemic uncertainty, Information Sciences 2014.
    Kull, Flach, Novel decompositions of proper scoring rules for classification, ECML PKDD 2015.

    Examples
    --------
    >>> from calibrant.metrics import epistemic_irreducible
    >>> epistemic_irreducible([1, 1, 1, 0], [0.9, 0.9, 0.9, 0.9], [0.75, 0.75, 0.75, 0.75])
    Decomposition(brier 0.42 = 0.045 epistemic + 0.375 irreducible + 0 chance)
    """
    if isinstance(y_true, rows.InBatches):
        refuse_rows("a decomposition by known probabilities")
    mean, problem = _as_mean(score), rows.as_simplex(as_problem(y_true, y_prob, **data))
    if data.get("pos_label") is not None and np.ndim(y_prob) == 2:
        # All classes are measured, in the order of the columns of the posterior.
        problem = rows.as_simplex(as_problem(y_true, y_prob, **(data | DataOptions(pos_label=None))))
    mean.warn_impossible(problem)
    values, shape = checks.as_numbers("posterior", posterior), np.shape(y_prob)
    must = f"posterior must have the shape of y_prob, {shape}"
    checks.require(values.shape == shape, must, value=values.shape, hint="Pass a true probability for each")
    known = as_forecast(values, input="probability", name="posterior", remedies=rows.OF_PROBABILITIES).values
    counted = as_weights(data.get("sample_weight"), len(values)).values > 0
    truth = replace(problem, forecast=rows.Forecast(known[counted]))
    _warn_ruled_out(mean, problem, truth.prob)
    irreducible = _expected(mean.losses, truth, truth.prob)
    epistemic = checks.divergence(_expected(mean.losses, problem, truth.prob), irreducible)
    total = _mean(mean.losses, problem)
    chance = total - (epistemic + irreducible)
    terms = (("epistemic", epistemic), ("irreducible", irreducible), ("chance", chance))
    return Decomposition(checks.score_name(score), total, terms)


def same_rows(table: FloatArray) -> rows.IntArray:
    """Number the distinct rows of a table, and return the number of each row."""
    group = np.zeros(len(table), dtype=np.intp)
    for column in table.T:
        value = np.unique(column, return_inverse=True)[1]
        group = np.unique(group * (value.max() + 1) + value, return_inverse=True)[1]
        if group.max() + 1 == group.size:  # all differ already
            break
    return group


def _as_mean(score: str | ClassScore) -> MeanOfRows:
    if not callable(score):
        function = "Pass a function of (probabilities, column numbers of the true classes)"
        return SCORES[checks.choice("score", score, SCORES, also=" or a function", hint=function)]

    def own_losses(problem: rows.SimplexProblem) -> FloatArray:
        losses = np.asarray(score(problem.prob, problem.label), dtype=np.float64)
        must = f"score must be a function that gives one number for each of the {problem.size} rows"
        hint = "Return an array of shape (n_samples,)"
        checks.require(losses.shape == (problem.size,), must, got=f"shape {losses.shape}", hint=hint)
        return losses

    return MeanOfRows("", "", "", per_row=own_losses)


def _warn_ruled_out(mean: MeanOfRows, problem: rows.SimplexProblem, posterior: FloatArray) -> None:
    """Warn of expected log losses that are infinite unless clipped, whichever class occurred."""
    if mean.impossible(problem) is None or problem.forecast.is_logit:
        return
    if n := int(((problem.prob <= 0) & (posterior > 0)).any(axis=1).sum()):
        checks.warn(
            "expected log loss is finite only if a forecast rules out no class that can occur; got probability 0 to a "
            f"class that the posterior does not rule out in {n} of {problem.size} rows. Each counts as {CLIP:.1e} in the "
            'epistemic term, which is infinite without that. Compare by score="brier", which is always finite.'
        )


def _mean(losses: RowScore, problem: rows.SimplexProblem) -> float:
    return float(np.average(losses(problem), weights=problem.weight))


def _expected(losses: RowScore, problem: rows.SimplexProblem, posterior: FloatArray) -> float:
    """Mean loss if the labels are drawn from the posterior; classes of probability 0 cost nothing."""
    expected = np.zeros(problem.size)
    for column in range(problem.classes.size):
        comes = posterior[:, column] > 0
        values = losses(replace(problem, label=np.full(problem.size, column)))
        expected[comes] += posterior[comes, column] * values[comes]
    return float(np.average(expected, weights=problem.weight))


# CORP: a mean score as miscalibration - discrimination + uncertainty, and each of the three as a metric


TERMS = ("miscalibration", "discrimination", "uncertainty")


def corp_decomposition(
    y_true: YTrue,
    y_prob: YProb = None,
    *,
    score: str | checks.EventScore = "brier",
    notion: NotionLike = None,
    **data: Unpack[DataOptions],
) -> Decomposition:
    """Split a proper score into miscalibration - discrimination + uncertainty, by isotonic regression (CORP).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    score : {"brier", "log"} or callable, default="brier"
        A proper score of the probability of one event, the lower the better. "brier" is the squared error; a function takes
        two arrays, probabilities and outcomes 0 or 1, and returns one value a row.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more; a mean over the problems of others.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    Decomposition
        Terms ``miscalibration``, ``discrimination`` (subtracted) and ``uncertainty``, none of them negative. For one
        column ``total`` equals `brier_score_loss`; class-wise `mean_class_brier_loss`, for tables.

    Raises
    ------
    ValueError
        If the score is not proper, as far as the terms show it.

    Notes
    -----
    With the mean scores S of the forecast, F of its isotonic fit and R of the event rate, miscalibration = S - F: what
    recalibration saves; discrimination = R - F: what the calibrated forecast is better than none; uncertainty = R. Nothing
    has to be chosen. The fit is the best for every proper score. It is made and measured on the same rows, so that
    both terms are too large by about as much as a calibrated forecast is miscalibrated: see `miscalibration_loss` in
    `assess`, which states that.

    References
    ----------
    Dimitriadis, Gneiting, Jordan, Stable reliability diagrams for probabilistic classifiers, PNAS 2021.
    Brümmer, du Preez, The PAV algorithm optimizes binary proper scoring rules, 2013.

    Examples
    --------
    >>> from calibrant.metrics import corp_decomposition
    >>> corp_decomposition([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8])
    Decomposition(brier 0.195 = 0.07 miscalibration - 0.125 discrimination + 0.25 uncertainty)
    """
    loss, problem = checks.as_event_score(score), as_problem(y_true, y_prob, **data)
    impossible: list[Impossible] = []

    def terms_of(part: rows.BinaryProblem) -> tuple[float, ...]:
        if loss is checks.event_log_loss:  # of logits it sees the probabilities
            impossible.append(LogLoss().impossible(replace(part, logit=None)))
        return corp_of(Ordered.of(part), loss)

    found = mean_over_parts(checks.score_name(score), problem, notion, terms_of, TERMS, ("discrimination",))
    if impossible:
        reduce(add, impossible).warn()
    return found


# What is known of each term


def miscalibration_estimate(problem: rows.Problem, resampling: Resampling, notion: NotionLike = None) -> Estimate:
    """Estimate how much of the squared error recalibration would save."""
    ordered, z = _ordered(problem, notion), float(-ndtri(resampling.level / 2.0))
    value = corp_terms(ordered, checks.squared_error).miscalibration
    calibrated, around = (_overfit(ordered, rate, resampling) for rate in (ordered.score, _fit(ordered)))
    smooth = _fit(ordered, extra=z**2 / 2.0)
    mean, error = _saving(ordered, ordered.score, smooth)
    reach = float(np.quantile(calibrated, 1.0 - resampling.level))
    floor, overfit = float(calibrated.mean()), float(around.mean())
    deviation = np.sqrt(ordered.weight @ (smooth * (1.0 - smooth)) / ordered.weight.sum())
    noisy = float(ndtri(POWER) * deviation / np.sqrt(ordered.problem.weights.effective_rows))
    least = max(0.0, reach - min(floor, overfit))
    return Estimate(
        value=value,
        lower=max(0.0, value - max(reach, max(floor, overfit) + z * error)),
        upper=min(1.0, max(value, mean) + z * error),
        noise_floor=floor,
        pvalue=pvalue_of(value, calibrated),
        least_pvalue=least_pvalue_of(calibrated),
        debiased=max(0.0, value - float(np.median(around))) if value > np.median(calibrated) else 0.0,
        # Of a small miscalibration m the standard error is 2 s sqrt(m / n), s being that of one outcome: m solves
        # m - z 2 s sqrt(m / n) + overfit = reach.
        detectable=min(1.0, (noisy + float(np.sqrt(noisy**2 + least))) ** 2),
    )


def discrimination_estimate(problem: rows.Problem, resampling: Resampling, notion: NotionLike = None) -> Estimate:
    """Estimate how much better in squared error the calibrated forecast is than none."""
    ordered, z = _ordered(problem, notion), float(-ndtri(resampling.level / 2.0))
    value, base = corp_terms(ordered, checks.squared_error).discrimination, base_rate(ordered)
    rates = np.full(ordered.score.shape, base), _fit(ordered)
    constant, around = (_overfit(ordered, rate, resampling) for rate in rates)
    smooth = _fit(ordered, extra=z**2 / 2.0)
    _, error = _saving(ordered, np.full(smooth.shape, ordered.weight @ smooth / ordered.weight.sum()), smooth)
    reach = float(np.quantile(constant, 1.0 - resampling.level))
    overfit = max(float(constant.mean()), float(around.mean()))
    most = _variance_bounds(base, ordered.problem.weights.effective_rows, resampling.level)[1]
    return Estimate(
        value=value,
        lower=max(0.0, value - max(reach, overfit + z * error)),
        # Where there is one class only, all that is known is that there is no more to tell apart than there is uncertainty.
        upper=min(value + z * error, 0.25) if 0.0 < base < 1.0 else most,
    )


def uncertainty_estimate(problem: rows.Problem, resampling: Resampling, notion: NotionLike = None) -> Estimate:
    """Estimate the variance of the outcome, by the exact interval of the event rate (Clopper and Pearson 1934)."""
    ordered = _ordered(problem, notion)
    ends = _variance_bounds(base_rate(ordered), ordered.problem.weights.effective_rows, resampling.level)
    return Estimate(corp_terms(ordered, checks.squared_error).uncertainty, *ends)


# The metrics


@Own(
    "mcb", "MCB", "Dimitriadis et al. 2021", estimator=miscalibration_estimate, of_cells=as_notion, fits_noise=True
).declare
def miscalibration_loss(
    y_true: YTrue,
    y_prob: YProb = None,
    *,
    score: str | checks.EventScore = "brier",
    notion: NotionLike = None,
    **data: Unpack[DataOptions],
) -> float:
    """Reduction of the mean score by isotonic recalibration (MCB of CORP), in [0, 1]; 0 is calibrated.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    score : {"brier", "log"} or callable, default="brier"
        A proper score of the probability of one event, the lower the better. "brier" is the squared error; a function takes
        two arrays, probabilities and outcomes 0 or 1, and returns one value a row.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more; a mean over the problems of others.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Mean score of the forecast minus that of its isotonic fit. The range is that of the Brier score.

    See Also
    --------
    corp_decomposition : All three terms at once.
    discrimination_score : What the calibrated forecast is better than none.

    Notes
    -----
    Biased upwards, since the fit is made on the rows that it is measured on: `assess` states the noise floor. Without bias it
    is the squared distance of the probabilities from the true event rates, where these do not decrease with the score.

    References
    ----------
    Dimitriadis, Gneiting, Jordan, Stable reliability diagrams for probabilistic classifiers, PNAS 2021.

    Examples
    --------
    >>> from calibrant.metrics import miscalibration_loss
    >>> round(miscalibration_loss([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8]), 3)
    0.07
    """
    return corp_decomposition(y_true, y_prob, score=score, notion=notion, **data)["miscalibration"]


@Own(
    "dsc",
    "DSC",
    "Dimitriadis et al. 2021",
    range=(0.0, 0.25),
    higher_is_better=True,
    estimator=discrimination_estimate,
    of_cells=as_notion,
    fits_noise=True,
).declare
def discrimination_score(
    y_true: YTrue,
    y_prob: YProb = None,
    *,
    score: str | checks.EventScore = "brier",
    notion: NotionLike = None,
    **data: Unpack[DataOptions],
) -> float:
    """Reduction of the mean score from the event rate alone to the isotonic fit (DSC of CORP), in [0, 1/4].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    score : {"brier", "log"} or callable, default="brier"
        A proper score of the probability of one event, the lower the better. "brier" is the squared error; a function takes
        two arrays, probabilities and outcomes 0 or 1, and returns one value a row.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more; a mean over the problems of others.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Mean score of the event rate minus that of the isotonic fit: how well the forecast tells events from others. The range
        is that of the Brier score.

    See Also
    --------
    corp_decomposition : All three terms at once.
    miscalibration_loss : What recalibration saves.

    Notes
    -----
    It depends on the order of the scores alone. Biased upwards, as the miscalibration is.

    References
    ----------
    Dimitriadis, Gneiting, Jordan, Stable reliability diagrams for probabilistic classifiers, PNAS 2021.

    Examples
    --------
    >>> from calibrant.metrics import discrimination_score
    >>> round(discrimination_score([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8]), 3)
    0.125
    """
    return corp_decomposition(y_true, y_prob, score=score, notion=notion, **data)["discrimination"]


@Own(
    "unc", "UNC", "Dimitriadis et al. 2021", range=(0.0, 0.25), estimator=uncertainty_estimate, of_cells=as_notion
).declare
def uncertainty_loss(
    y_true: YTrue,
    y_prob: YProb = None,
    *,
    score: str | checks.EventScore = "brier",
    notion: NotionLike = None,
    **data: Unpack[DataOptions],
) -> float:
    """Mean score of predicting the event rate for every row (UNC of CORP), in [0, 1/4].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    score : {"brier", "log"} or callable, default="brier"
        A proper score of the probability of one event, the lower the better. "brier" is the squared error; a function takes
        two arrays, probabilities and outcomes 0 or 1, and returns one value a row.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more; a mean over the problems of others.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        For the Brier score the variance of the outcome. The range is that of the Brier score.

    See Also
    --------
    corp_decomposition : All three terms at once.
    discrimination_score : What the calibrated forecast is better than that.

    Notes
    -----
    A property of the outcomes and not of the forecast: forecasts compare in the other two terms.

    References
    ----------
    Dimitriadis, Gneiting, Jordan, Stable reliability diagrams for probabilistic classifiers, PNAS 2021.

    Examples
    --------
    >>> from calibrant.metrics import uncertainty_loss
    >>> uncertainty_loss([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8])
    0.25
    """
    return corp_decomposition(y_true, y_prob, score=score, notion=notion, **data)["uncertainty"]


# Sums over the isotonic fit


def _ordered(problem: rows.Problem, notion: NotionLike) -> Ordered:
    """Sort the one problem of a notion."""
    hint = "Pass 'confidence', or look at each class: OneVsRest(0), and so on"
    return Ordered.of(single_problem(problem, as_notion(notion, problem), hint))


def _overfit(ordered: Ordered, rate: FloatArray, resampling: Resampling) -> FloatArray:
    return overfit_draws(ordered, rate, resampling.n_resamples, resampling.rng)


def _fit(ordered: Ordered, extra: float = 0.0) -> FloatArray:
    """Return the fit at each distinct score, after ``extra`` rows of each outcome were added to every block."""
    steps, more = isotonic_fit(ordered), extra * ordered.weight.sum() / ordered.problem.weights.effective_rows
    return steps.at_each_score((steps.rate * steps.weight + more) / (steps.weight + 2.0 * more))


def _saving(ordered: Ordered, before: FloatArray, after: FloatArray) -> tuple[float, float]:
    """Mean and standard error of what squared error falls by, where the events have the rates ``after``."""
    weight = squares = ordered.weight
    if not ordered.problem.weights.are_counts:
        squares = np.add.reduceat(ordered.problem.weight[ordered.order] ** 2, ordered.starts)
    event, other = (before - 1.0) ** 2 - (after - 1.0) ** 2, before**2 - after**2
    mean = float(weight @ (after * event + (1.0 - after) * other) / weight.sum())
    variance = squares @ (after * (event - mean) ** 2 + (1.0 - after) * (other - mean) ** 2)
    return mean, float(np.sqrt(variance) / weight.sum())


def _variance_bounds(base: float, n: float, level: float) -> tuple[float, float]:
    lower = float(betaincinv(base * n, (1.0 - base) * n + 1.0, level / 2.0)) if base > 0 else 0.0
    upper = float(betaincinv(base * n + 1.0, (1.0 - base) * n, 1.0 - level / 2.0)) if base < 1 else 1.0
    ends = (lower * (1.0 - lower), upper * (1.0 - upper))
    return min(ends), 0.25 if lower <= 0.5 <= upper else max(ends)


# The Brier score taken apart over bins: reliability, resolution, uncertainty, and what binning leaves out


MURPHY_TERMS = ("reliability", "resolution", "uncertainty", "within-bin variance", "within-bin covariance")


def murphy_decomposition(
    y_true: ArrayLike,
    y_prob: YProb = None,
    *,
    binning: int | Binning = 15,
    notion: NotionLike = None,
    **data: Unpack[DataOptions],
) -> Decomposition:
    """Split the Brier score into reliability - resolution + uncertainty over bins, and what happens within them.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    binning : int or Binning, default=15
        How scores are cut; a number n means ``EqualWidth(n)``.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more; a mean over the problems of others.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    Decomposition
        Terms ``reliability``, ``resolution`` (subtracted), ``uncertainty``, ``within-bin variance`` and ``within-bin
        covariance`` (subtracted). ``total`` is the mean squared error of the forecast as it is, not of its bins.

    Notes
    -----
    Murphy's three terms, of which reliability is the squared `root_mean_squared_calibration_error`, are the Brier score of
    the bin means. The other two, mean variance of the probabilities within bins and twice their mean covariance with the
    outcome, are what binning leaves out: with `Unique` bins they are zero.

    References
    ----------
    Murphy, A new vector partition of the probability score, Journal of Applied Meteorology 1973.
    Stephenson, Coelho, Jolliffe, Two extra components in the Brier score decomposition, Weather and Forecasting 2008.

    Examples
    --------
    >>> from calibrant.metrics import murphy_decomposition
    >>> found = murphy_decomposition([0, 0, 1, 1], [0.1, 0.3, 0.6, 0.9], binning=2)
    >>> round(found["reliability"], 5), round(found["resolution"], 5), round(found["within-bin variance"], 5)
    (0.05125, 0.25, 0.01625)
    """
    terms_of = partial(_murphy_terms, binning=as_binning(binning))
    problem = as_problem(y_true, y_prob, all_rows="Murphy's decomposition", **data)
    return mean_over_parts("brier", problem, notion, terms_of, MURPHY_TERMS, ("resolution", "within-bin covariance"))


def _murphy_terms(problem: rows.BinaryProblem, binning: Binning) -> tuple[float, ...]:
    """Return the mean squared error and the terms that it is made of."""
    bins, share = binning(problem), problem.weight / problem.weight.sum()
    held, of_bin = bins.weight > 0, bins.weight / bins.weight.sum()
    base, at = float(share @ problem.outcome), bins.index(problem.score)
    apart = problem.score - bins.mean_prob[at]
    return (
        float(share @ (problem.score - problem.outcome) ** 2),
        float(of_bin[held] @ bins.gap[held] ** 2),
        float(of_bin[held] @ (bins.event_rate[held] - base) ** 2),
        base * (1.0 - base),
        float(share @ apart**2),
        2.0 * float(share @ (apart * (problem.outcome - bins.event_rate[at]))),
    )
