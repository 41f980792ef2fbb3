"""Proper scores taken apart: how much of a mean score is miscalibration, and how much is left to chance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from calibrant._core.approximate import Approximate, mean_of
from calibrant._core.finite_numbers import as_numbers
from calibrant._core.in_batches import InBatches
from calibrant._core.links import CLIP, FloatArray
from calibrant._core.parameters import choice, require
from calibrant._core.problem import BinaryProblem, Forecast, IntArray, Problem, SimplexProblem, as_simplex
from calibrant._core.proper import divergence, score_name
from calibrant._core.result import Result, frame
from calibrant._core.rows import OF_PROBABILITIES
from calibrant._core.validation import DataOptions, as_forecast, as_problem, as_weights
from calibrant._core.warnings import warn
from calibrant.metrics.log_losses import LogLoss, warn_impossible
from calibrant.metrics.scores import squared_losses
from calibrant.notions import Notion, as_notion
from calibrant.sums import RowScore
from calibrant.sums.unread import refuse_rows

ClassScore = Callable[[FloatArray, IntArray], FloatArray]

LOSSES: Mapping[str, RowScore] = {"brier": squared_losses, "log": LogLoss()}


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
        names = [name for name, _ in self.terms]
        signs = [-1 if name in self.subtracted else 1 for name in names]
        values = [value for _, value in self.terms]
        limits = {}
        if any(isinstance(value, Approximate) for value in values):
            limits = {end: [float(getattr(value, end, value)) for value in values] for end in ("lower", "upper")}
        return frame({"term": names, "sign": signs, "value": list(map(float, values)), **limits}, backend)

    def __repr__(self) -> str:
        words = [
            f"{'-' if (name in self.subtracted) != (value < 0) else '+'} {abs(value):.4g} {name}"
            for name, value in self.terms
        ]
        found = [v for v in (self.total, *(value for _, value in self.terms)) if isinstance(v, Approximate)]
        note = f"; {max(found, key=lambda value: value.error).note}" if found else ""
        return f"Decomposition({self.score} {self.total:.4g} = {' '.join(words).removeprefix('+ ')}{note})"


def mean_over_parts(
    score: str,
    problem: Problem,
    notion: str | Notion | None,
    terms_of: Callable[[BinaryProblem], Sequence[float]],
    names: tuple[str, ...],
    subtracted: tuple[str, ...],
) -> Decomposition:
    """Average a score and its terms, which ``terms_of`` gives in this order, over the problems of a notion by their shares."""
    parts = (binary for binary in as_notion(notion, problem).split(problem) if binary.size > 0)
    found = zip(*[[(part.share, term) for term in terms_of(part)] for part in parts], strict=True)
    total, *terms = [mean_of(each) for each in found]
    return Decomposition(score, total, tuple(zip(names, terms, strict=True)), subtracted)


def calibration_refinement(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
    *,
    score: str | ClassScore = "brier",
    **data: Unpack[DataOptions],
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
    losses, problem = _as_losses(score), as_simplex(as_problem(y_true, y_prob, **data))
    warn_impossible(losses, problem)
    group, n_classes = same_rows(problem.prob), problem.classes.size
    occurred = np.bincount(group * n_classes + problem.label, problem.weight, (group.max() + 1) * n_classes)
    frequency: FloatArray = occurred.reshape(-1, n_classes) / np.bincount(group, problem.weight)[:, None]
    total = _mean(losses, problem)
    refinement = _mean(losses, replace(problem, forecast=Forecast(frequency[group])))
    terms = (("calibration", divergence(total, refinement)), ("refinement", refinement))
    return Decomposition(score_name(score), total, terms)


def epistemic_irreducible(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike,
    posterior: npt.ArrayLike,
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
    if isinstance(y_true, InBatches):
        refuse_rows("a decomposition by known probabilities")
    losses, problem = _as_losses(score), as_simplex(as_problem(y_true, y_prob, **data))
    if data.get("pos_label") is not None and np.ndim(y_prob) == 2:
        # All classes are measured, in the order of the columns of the posterior.
        problem = as_simplex(as_problem(y_true, y_prob, **(data | DataOptions(pos_label=None))))
    warn_impossible(losses, problem)
    truth = replace(problem, forecast=_as_posterior(posterior, np.shape(y_prob), data.get("sample_weight")))
    _warn_ruled_out(losses, problem, truth.prob)
    irreducible = _expected(losses, truth, truth.prob)
    epistemic = divergence(_expected(losses, problem, truth.prob), irreducible)
    total = _mean(losses, problem)
    chance = total - (epistemic + irreducible)
    terms = (("epistemic", epistemic), ("irreducible", irreducible), ("chance", chance))
    return Decomposition(score_name(score), total, terms)


def same_rows(table: FloatArray) -> IntArray:
    """Number the distinct rows of a table, and return the number of each row."""
    group = np.zeros(len(table), dtype=np.intp)
    for column in table.T:
        value = np.unique(column, return_inverse=True)[1]
        group = np.unique(group * (value.max() + 1) + value, return_inverse=True)[1]
        if group.max() + 1 == group.size:  # all differ already
            break
    return group


def _as_losses(score: str | ClassScore) -> RowScore:
    if callable(score):
        return partial(_own_losses, score)
    function = "Pass a function of (probabilities, column numbers of the true classes)"
    return LOSSES[choice("score", score, LOSSES, also=" or a function", hint=function)]


def _own_losses(score: ClassScore, problem: SimplexProblem) -> FloatArray:
    losses = np.asarray(score(problem.prob, problem.label), dtype=np.float64)
    must = f"score must be a function that gives one number for each of the {problem.size} rows"
    require(
        losses.shape == (problem.size,), must, got=f"shape {losses.shape}", hint="Return an array of shape (n_samples,)"
    )
    return losses


def _as_posterior(posterior: npt.ArrayLike, shape: tuple[int, ...], weight: npt.ArrayLike | None) -> Forecast:
    values = as_numbers("posterior", posterior)
    require(
        values.shape == shape,
        f"posterior must have the shape of y_prob, {shape}",
        value=values.shape,
        hint="Pass a true probability for each",
    )
    forecast = as_forecast(
        values,
        input="probability",
        name="posterior",
        remedies=OF_PROBABILITIES,
    )
    return Forecast(forecast.values[as_weights(weight, len(values)).values > 0])


def _warn_ruled_out(losses: RowScore, problem: SimplexProblem, posterior: FloatArray) -> None:
    """Warn of expected log losses that are infinite unless clipped, whichever class occurred."""
    if isinstance(losses, LogLoss) and not problem.forecast.is_logit:
        n = int(((problem.prob <= 0) & (posterior > 0)).any(axis=1).sum())
        if n:
            warn(
                "expected log loss is finite only if a forecast rules out no class that can occur; got probability 0 to a "
                f"class that the posterior does not rule out in {n} of {problem.size} rows. Each counts as {CLIP:.1e} in the "
                'epistemic term, which is infinite without that. Compare by score="brier", which is always finite.'
            )


def _mean(losses: RowScore, problem: SimplexProblem) -> float:
    return float(np.average(losses(problem), weights=problem.weight))


def _expected(losses: RowScore, problem: SimplexProblem, posterior: FloatArray) -> float:
    """Mean loss if the labels are drawn from the posterior; classes of probability 0 cost nothing."""
    expected = np.zeros(problem.size)
    for column in range(problem.classes.size):
        comes = posterior[:, column] > 0
        values = losses(replace(problem, label=np.full(problem.size, column)))
        expected[comes] += posterior[comes, column] * values[comes]
    return float(np.average(expected, weights=problem.weight))
