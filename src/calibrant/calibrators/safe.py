"""Do no harm: a calibrator mixed in only as far as it helps on held-out rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from calibrant._core import arrays as links
from calibrant._core.border import Input
from calibrant._core.checks import CalibrationWarning, require, warn
from calibrant._core.registry import ARGMAX, FINITE, HULL, IDENTITY
from calibrant._core.rows import Forecast, IntArray, Problem, SimplexProblem, Weights, as_simplex
from calibrant.calibrators.base import Calibrator, as_calibrator, fitted, method, parameter
from calibrant.calibrators.by_notion import calibrator_for
from calibrant.calibrators.parametric import TemperatureScaling
from calibrant.fit.folds import observed
from calibrant.fit.minimise import ScalarPoint, Stop, minimise

LAST_GAIN = 1e-20
"""A step that lowers the objective by no more, in nats, is the last: what is left after it is about the square."""

LARGEST_RESIDUAL = 1e-8
"""Slope of the objective, in nats, above which the search warns."""

CAUTION = 1.0
"""Standard errors that the slope must have for a candidate to get any weight."""

MOST_COUNTS = 10**9
"""Sum of whole weights from which on the rows that one weight stands for are not told apart any more."""

ROUNDING, RELATIVE_ROUNDING = 1e-14, 1e-12
"""What differs by no more than the first, and the second of its size, is equal but for rounding: some hundred last digits."""


@method("safe", symbol="SAFE", source="calibrant", guarantees={ARGMAX, HULL, FINITE, IDENTITY})
class SafeCalibrator(Calibrator):
    """Shrink a calibrator toward the map that changes nothing, by a weight chosen on held-out rows (SAFE).

    Use it where a harmful recalibration costs more than a missed one: few rows to calibrate on (100 to 2000), a flexible
    method, or a forecast that may be good as it is. With tens of thousands of rows, or a forecast known to be far off, the
    calibrator by itself does the same in a sixth of the time.

    Parameters
    ----------
    calibrator : str or Calibrator, optional
        The candidate: a word such as ``"sms"`` (``calibrant list calibrators`` prints them), or any calibrator, `ByNotion`
        too. It is cloned. A word of a method of one score stands for `ByNotion` of it, class by class, where there are more
        than two classes. By default `TemperatureScaling`.
    n_folds : int, default=5
        The candidate is judged by as many fits, each on the rows outside one fold.
    caution : float, optional
        By how many standard errors the held-out log loss must improve before the candidate gets any weight. 0 takes every
        improvement for real. By default 1, and 0 for `EvidenceScaling`.
    least_gain : float, optional
        Nats by which the log likelihood of all held-out rows must rise at the weight that is found; else the weight is 0. By
        default 0, and 2 for `EvidenceScaling`, which holds back by itself: rows decide whether it is used.
    least_share : float, optional
        Share s of the candidate's probabilities c that is mixed in whatever the rows say: of the pool q comes
        (1 - s) q + s c, whose log loss of a row is higher than that of q by at most -log(1 - s). By default 0, and 0.005 for
        `EvidenceScaling`: it spares a forecast that is certain and wrong most of its loss, where rows are too few to show it.
    random_state : int, RandomState instance or None, default=0
        Which rows make a fold. An int gives the same folds for the same rows, in whatever order they are.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    calibrator_ : Calibrator
        The candidate, fitted on all rows. That its fit has no optimum is said only where ``weight_`` is above 0.
    weight_ : float
        Weight of the candidate in the pool: 0 is the forecast, 1 is the candidate.
    share_ : float
        Share of the candidate that is mixed in; 0 where there were too few rows to hold any out.
    identity_loss_, candidate_loss_, pooled_loss_ : float
        Mean log loss on held-out rows of the original forecast, of the candidates fitted without them, and of the two
        together. NaN where there were too few rows to hold any out.
    standard_error_ : float
        Of the slope of the held-out loss at weight 0, if the original forecast is calibrated.
    gradient_ : float
        Size of the slope of the objective where it should be zero, or of its part that points into [0, 1]: the certificate of
        optimality.
    n_iter_ : int
        Newton steps taken.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    Notes
    -----
    Forecast p and candidate c are pooled as logarithms, q proportional to p^(1 - w) c^w (both clipped at 1e-12, so that no
    class has probability zero where w > 0). The mean log loss of q on held-out rows, L(w), is convex, and so is the
    objective L(w) + caution * s * w, whose one minimum in [0, 1] Newton's method finds. With ``least_gain`` the weight is 0 if
    n (L(0) - L(w)) is no more: a likelihood ratio decides in place of a slope. s is the standard
    error of L'(0) under the hypothesis that p is right: L'(0) is then a sum of independent terms with mean zero, and their
    variance is known from p and c without a look at the outcomes. So w > 0 exactly if a one-sided score test rejects that
    hypothesis. If L'(0) were normal, that would be at caution 1 in 16 % and at caution 1.64 in 5 % of the forecasts that
    are calibrated; measured at caution 1 are 7 to 26 % at 100 to 2000 rows, by candidate and rows. A candidate that is certain
    beyond its evidence (rows that happen to be all right) gets only as much weight as its rows justify.

    The share is no matter of evidence: if p is right, the mean of c_y / p_y is 1 for any c, so that a share costs nothing to
    the first order.

    Folds are drawn without a look at the labels, so that the argument holds. A whole weight is a number of equal rows, which
    are dealt to the folds one by one, as if they had been written out. But for copies: where rows were upsampled, or whole
    weights say how important a row is, equal rows have equal labels, and a candidate that learned the rows by heart would seem
    to help. They are found by their labels, and each distinct row with its weight is one observation, in one fold, as it is
    where weights are not whole. A `CalibrationWarning` says so. Fewer rows than folds: w = 0, with a warning too.

    References
    ----------
    Genest, Zidek, Combining probability distributions, Statistical Science 1986 (logarithmic pooling).
    Wolpert, Stacked generalization, Neural Networks 1992 (weights from held-out rows).
    Rao, Large sample tests of statistical hypotheses, 1948 (the score test).

    Examples
    --------
    >>> from calibrant import IsotonicCalibration, SafeCalibrator
    >>> score = [0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9]
    >>> safe = SafeCalibrator(IsotonicCalibration()).fit(score, [0, 0, 0, 1, 0, 1, 1, 1])
    >>> safe.weight_  # eight rows are no reason to change anything
    0.0
    """

    calibrator: str | Calibrator | None = field(default=None, kw_only=False)
    n_folds: int = parameter(default=5, least=2, hint="Pass n_folds=5")
    caution: float | None = parameter(default=None, least=0.0, hint="Pass standard errors: caution=1.0")
    least_gain: float | None = parameter(default=None, least=0.0, hint="Pass nats of all rows: least_gain=2.0")
    least_share: float | None = parameter(default=None, least=0.0, most=1.0, hint="Pass a share: least_share=0.005")
    random_state: Any = 0
    input: Input = "probability"
    labels: Sequence[Any] | None = None
    calibrator_: Calibrator = fitted()
    weight_: float = fitted("", least=0.0, most=1.0)
    share_: float = fitted("", least=0.0, most=1.0)
    identity_loss_: float = fitted()
    candidate_loss_: float = fitted()
    pooled_loss_: float = fitted()
    standard_error_: float = fitted()
    gradient_: float = fitted()
    n_iter_: int = fitted()

    def _fit_problem(self, problem: Problem) -> None:
        self._check_parameters()
        rows, counts = in_order(observed(problem))
        if counts.sum() < self.n_folds:
            warn(
                f"there must be a calibration row for each of the {self.n_folds} folds of n_folds; got "
                f"{counts.sum()}: the forecast is left as it is. Fit on more rows.",
                CalibrationWarning,
            )
            self.identity_loss_ = self.candidate_loss_ = self.pooled_loss_ = self.standard_error_ = np.nan
            self.weight_, self.share_, self.gradient_, self.n_iter_ = 0.0, 0.0, 0.0, 0
        else:
            self._weigh(_HeldOut(self._cross_fitted(rows, counts)))
        with warnings.catch_warnings(action="always", record=True) as said:
            self.calibrator_ = self._fitted(rows)
        for warning in said:
            if not issubclass(warning.category, ConvergenceWarning):
                warn(str(warning.message), warning.category)
            elif self.weight_ > 0.0:  # else what the candidate ends at is not used
                warn(f"the candidate: {warning.message}", warning.category)

    def _check_parameters(self) -> None:
        if self.calibrator is not None:
            as_calibrator(self.calibrator)
        state = self.random_state
        must = "random_state must be a whole number from 0 to 2**32 - 1, a RandomState or None"
        is_kind = links.is_whole(state) or isinstance(state, np.random.RandomState | None)
        require(is_kind, must, value=state, hint="Pass random_state=0", error=TypeError)
        require(not links.is_whole(state) or 0 <= int(state) < 2**32, must, value=state, hint="Pass random_state=0")

    def _fitted(self, problem: Problem) -> Calibrator:
        method = TemperatureScaling() if self.calibrator is None else self.calibrator
        return calibrator_for(method, len(self.classes_))._fit_inside(self, problem)

    def _cross_fitted(self, problem: Problem, counts: IntArray) -> Iterator[tuple[SimplexProblem, links.FloatArray]]:
        """Held-out rows with their candidate's forecast, fold by fold."""
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        unit = problem.weight / counts
        for held in folds(counts, self.n_folds, rng):
            with warnings.catch_warnings():
                # What a part of the rows lacks is no news; the fit on all rows warns where there is something to know.
                warnings.simplefilter("ignore", CalibrationWarning)
                warnings.simplefilter("ignore", ConvergenceWarning)
                candidate = self._fitted(problem.weighted(unit * (counts - held)))
            part = as_simplex(problem.weighted(unit * held))
            yield part, candidate._map_forecast(part.forecast)

    def _weigh(self, held_out: _HeldOut) -> None:
        own = {} if self.calibrator is None else as_calibrator(self.calibrator).made_safe
        caution = own.get("caution", CAUTION) if self.caution is None else self.caution
        least_gain = own.get("least_gain", 0.0) if self.least_gain is None else self.least_gain
        self.share_ = own.get("least_share", 0.0) if self.least_share is None else self.least_share
        self.standard_error_ = held_out.standard_error()
        charge = caution * self.standard_error_
        found = minimise(partial(held_out.at, charge), np.zeros(1), Stop(gain=LAST_GAIN), lower=0.0, upper=1.0)
        self.weight_, self.gradient_, self.n_iter_ = float(found.point.x[0]), found.residual, found.n_iter
        if self.gradient_ > LARGEST_RESIDUAL:
            warn(
                f"the search for the weight of the candidate has not converged: weight {self.weight_:g} has slope "
                f"{self.gradient_:.2g}. Report the data.",
                ConvergenceWarning,
            )
        gain = (held_out.loss(0.0) - held_out.loss(self.weight_)) * Weights(held_out.weight).effective_rows
        if least_gain > 0.0 and not gain > least_gain:
            self.weight_ = 0.0
        self.identity_loss_, self.candidate_loss_ = held_out.loss(0.0), held_out.loss(1.0)
        self.pooled_loss_ = held_out.loss(self.weight_, self.share_)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        inner = self.calibrator_
        fits = hasattr(inner, "classes_") and inner.classes_.tolist() == self.classes_.tolist()
        require(fits, "calibrator_ must have the classes of the SafeCalibrator", got="others", hint="Fit anew")
        must = f"calibrator_ must take input={self.input!r}"
        require(inner.input == self.input, must, value=inner.input, hint="Fit anew")

    def _map_forecast(self, forecast: Forecast) -> links.FloatArray:
        whole = links.quotients(forecast.prob, links.sum_of_rows(forecast.prob))
        if self.weight_ == self.share_ == 0.0:
            return whole
        candidate = self.calibrator_._map_forecast(forecast)
        pooled = pool(forecast, candidate, self.weight_) if self.weight_ > 0.0 else whole
        return pooled + self.share_ * (candidate - pooled)


class Method(NamedTuple):
    """A method by its word, and whether it stands within `SafeCalibrator`; as text the words that follow ``--method``."""

    word: str
    safe: bool

    @classmethod
    def of(cls, text: str) -> Method:
        """Read the words that follow ``--method``."""
        return cls(text.removesuffix(" --safe"), text.endswith(" --safe"))

    def __str__(self) -> str:
        """Return the words that follow ``--method`` on the command line."""
        return f"{self.word} --safe" if self.safe else self.word

    def calibrator(self, n_classes: int) -> Calibrator:
        """Return the calibrator for so many classes with its defaults, not fitted yet."""
        made = calibrator_for(self.word, n_classes)
        return SafeCalibrator(made) if self.safe else made


def pool(forecast: Forecast, candidate: links.FloatArray, weight: float) -> links.FloatArray:
    """Return p^(1 - w) c^w, normalised by rows."""
    return links.prob_of_scores((1.0 - weight) * forecast.log_prob + weight * links.log_prob_of_prob(candidate))


# Folds that depend on what the rows hold, and not on their order


def in_order(problem: Problem) -> tuple[Problem, IntArray]:
    """Return the problem sorted by what its rows hold, and how many rows each one stands for.

    Where all weights are whole, equal rows become one, and so do rows that rounding alone tells apart: a classifier gives
    copies of a row forecasts that differ in the last digit, by where they stand in its table.
    """
    simplex = as_simplex(problem)
    if not (problem.weights.are_counts and problem.weights.total < MOST_COUNTS):
        order = np.lexsort([problem.weight, *simplex.forecast.values.T[::-1], simplex.label])
        return problem.taken(order), np.ones(problem.size, dtype=np.intp)
    # Of rows that are equal but for rounding the exact values decide which comes first, and so stands for all of them.
    columns = [simplex.label, *map(_places, simplex.forecast.values.T)]
    order = np.lexsort([*simplex.forecast.values.T, *columns[::-1]])
    differs = np.zeros(len(order) - 1, dtype=bool)
    for column in columns:
        differs |= np.diff(column[order]) != 0
    starts = np.flatnonzero(np.concatenate([[True], differs]))
    weight = np.add.reduceat(problem.weight[order], starts)
    return problem.at(order[starts], Weights(weight)), weight.astype(np.intp)


def _places(column: links.FloatArray) -> IntArray:
    """Number the distinct values of a column in ascending order; values that differ by rounding alone are one."""
    order = np.argsort(column, kind="stable")
    ascending = column[order]
    apart = np.diff(ascending) > ROUNDING + RELATIVE_ROUNDING * np.abs(ascending[1:])
    place: IntArray = np.empty(column.size, dtype=np.intp)
    place[order] = np.concatenate([[0], np.cumsum(apart)])
    return place


def folds(counts: IntArray, n_folds: int, rng: np.random.Generator) -> Iterator[IntArray]:
    """Deal out rows to folds whose sizes differ by one at most: how many of each are in the first fold, in the second, ..."""
    left, total = counts.copy(), int(counts.sum())
    ends = np.arange(n_folds + 1) * total // n_folds
    if total == len(counts):  # one of each: the same law, ten times as fast
        fold_of = np.searchsorted(ends[1:], rng.permutation(total), side="right")
        yield from ((fold_of == fold).astype(np.intp) for fold in range(n_folds))
        return
    for size in np.diff(ends):
        held = rng.multivariate_hypergeometric(left, size, method="marginals")
        left -= held
        yield held


# The weight


class _HeldOut:
    """Mean log loss on held-out rows of the pool, as a function of the weight of the candidate, and of a share mixed in."""

    def __init__(self, parts: Iterator[tuple[SimplexProblem, links.FloatArray]]) -> None:
        of_folds = [(p.forecast.log_prob, links.log_prob_of_prob(c), p.label, p.weight) for p, c in parts]
        self.start, candidate, label, self.weight = map(np.concatenate, zip(*of_folds, strict=True))
        self.way, self.share = candidate - self.start, self.weight / self.weight.sum()
        self.of_true = np.arange(len(self.weight)), label

    def loss(self, weight: float, least_share: float = 0.0) -> float:
        log_prob = links.log_prob_of_logit(self.start + weight * self.way)[self.of_true]
        if least_share > 0.0:
            candidate = links.log_prob_of_logit(self.start + self.way)[self.of_true]
            log_prob = np.log((1.0 - least_share) * np.exp(log_prob) + least_share * np.exp(candidate))
        return -float(self.share @ log_prob)

    def at(self, charge: float, x: links.FloatArray) -> ScalarPoint:
        """Return the loss with a charge for the weight; its derivatives are the means of E d - d_y and of Var d.

        d is the difference of the log-probabilities.
        """
        log_prob, mean, variance = self._moments(float(x[0]))
        value = -float(self.share @ log_prob[self.of_true]) + charge * float(x[0])
        slope = self.share @ (mean - self.way[self.of_true]) + charge
        return ScalarPoint(x, value, np.array([slope]), float(self.share @ variance), 1.0, abs(float(x[0])) or 1.0)

    def standard_error(self) -> float:
        """Of the first derivative at 0, if labels follow the predicted probabilities."""
        return float(np.sqrt((Weights(self.weight).of_variance / self.weight.sum() ** 2) @ self._moments(0.0)[2]))

    def _moments(self, weight: float) -> tuple[links.FloatArray, links.FloatArray, links.FloatArray]:
        """Return the log-probabilities of the pool, and mean and variance of d under them by rows."""
        log_prob = links.log_prob_of_logit(self.start + weight * self.way)
        prob = np.exp(log_prob)
        mean = np.vecdot(prob, self.way)
        return log_prob, mean, np.vecdot(prob, (self.way - mean[:, None]) ** 2)
