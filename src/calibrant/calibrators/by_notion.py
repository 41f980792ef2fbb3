"""The only place where a binary method becomes multiclass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import field, replace
from functools import partial
from itertools import islice
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils.metaestimators import available_if

from calibrant._core.arrays import ArrayLike, FloatArray, NDArray, log_odds_of_logits, score_of_logit
from calibrant._core.border import Input
from calibrant._core.checks import require, warn
from calibrant._core.registry import FINITE
from calibrant._core.rows import BinaryProblem, Forecast, IntArray, Problem, SimplexProblem, as_simplex, top_column
from calibrant.binning.bins import PointsPerBin
from calibrant.calibrators import base
from calibrant.calibrators.binning import HistogramBinning
from calibrant.notions import Notion, Part, WithinGroups, as_notion
from calibrant.sums.reading import UnreadPart, UnreadSimplex
from calibrant.sums.sums import in_cells

# The binary problems of a notion as calibrators are fitted to them: with the log-odds of what was given as logits


def problems_of(notion: Notion, simplex: SimplexProblem) -> Iterator[BinaryProblem]:
    """Yield the problems of a notion, of rows in memory or read in batches."""
    if isinstance(simplex, UnreadSimplex):
        for index in range(notion.n_parts(simplex)):
            yield UnreadPart(simplex, notion, index, partial(_nth_problem, notion, index))
        return
    if (log_odds := log_odds_of(simplex.forecast)) is None:
        yield from notion.split(simplex)
        return
    for part, binary in zip(notion.parts(simplex.prob), notion.split(simplex), strict=True):
        yield base.with_scores_of_logits(replace(binary, logit=part.scores(log_odds)))


def _nth_problem(notion: Notion, index: int, batch: Problem) -> BinaryProblem:
    return next(islice(problems_of(notion, as_simplex(batch)), index, None))


def log_odds_of(forecast: Forecast) -> FloatArray | None:
    """Return the log-odds of each class against the rest, where the forecast was given as logits."""
    return log_odds_of_logits(forecast.values) if forecast.is_logit else None


def as_one_problem(problems: list[BinaryProblem]) -> BinaryProblem:
    """Return the rows of all problems as one problem."""
    logits = [problem.logit for problem in problems if problem.logit is not None]
    return BinaryProblem(
        score=np.concatenate([problem.score for problem in problems]),
        outcome=np.concatenate([problem.outcome for problem in problems]),
        weights=problems[0].weights.like(np.concatenate([problem.weight for problem in problems])),
        name="all problems",
        logit=np.concatenate(logits) if logits else None,
    )


Unseen = Literal["pooled", "identity"]


class ByNotion(base.Calibrator):
    """Calibrate every binary problem of a notion by its own copy of a binary calibrator.

    Calibrate what you measure: isotonic x class-wise is one-vs-rest isotonic regression (IR-OvR), isotonic x flattened is
    flattened isotonic regression (FIR), isotonic x confidence calibrates the top probability, isotonic x top-label does so for
    each predicted class. With histogram binning over bins of so many rows, ``HistogramBinning(PointsPerBin(50))``, top-label
    is TL-HB, class-wise N-HB (or HB-OvR), and class-wise without normalisation CW-HB. Either x shared-class-wise is sCW.

    Parameters
    ----------
    calibrator : str, BinaryCalibrator or estimator
        The method, a word such as ``"isotonic"`` (``calibrant list calibrators`` prints them) or an object; it is cloned for
        each problem. An estimator of scikit-learn is fitted to one column, the score: its ``predict_proba``, or of a
        regressor ``predict`` cut to [0, 1], is the map, and where all outcomes are alike that outcome is.
    notion : {"class-wise", "confidence", "top-label", "top-3-label", "binary", ...} or Notion, optional
        Which problems there are. By default ``"binary"`` for two classes, one map of the probability of the second, and
        ``"class-wise"`` for more, a map for each class.
    normalize : bool, default=True
        Divide rows by their sums where each class was calibrated by itself. Without it rows need not sum to one.
    unseen : {"pooled", "identity"}, default="pooled"
        What becomes of the scores of a problem without rows, such as those of a class that is predicted now and never was
        on the rows to calibrate on: they are mapped by one more copy, fitted to the rows of all problems together (under
        ``top-label`` that is the calibrator of ``confidence``), or left as they are. Nothing is promised of them.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    calibrators_ : list of BinaryCalibrator or None
        One a problem; None for a problem without rows.
    pooled_ : BinaryCalibrator or None
        What maps the scores of problems without rows; None where there are none, or they are left as they are.
    notion_ : Notion
        The notion, with columns in place of names of classes, and with the groups of classes of ``shared-class-wise``.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    Notes
    -----
    These are Algorithms 1 to 5 of Gupta and Ramdas: ``top-label`` (1), ``class-wise`` without normalisation (2),
    ``confidence`` (3), ``class-wise`` (4), and any notion (5). Algorithm 8 is the first of them with histogram binning over
    ``PointsPerBin``; what is proved of it asks for ``interior=True`` and a small ``delta``, too.

    Putting calibrated scores back into a row can move its highest probability to another class. `predict_top` gives the
    label that was predicted and its calibrated score: that pair is what calibration under ``confidence`` and
    ``top-label`` speaks of.

    Rows of ``normalize=False`` need not sum to one, and are no forecast of all classes: metrics refuse them as a table.
    Measure them column by column, each as the score of its own class, as in the second example.

    References
    ----------
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import ByNotion, HistogramBinning, IsotonicCalibration, calibration_error, load_digits_forecast
    >>> y, prob = load_digits_forecast()
    >>> ByNotion(IsotonicCalibration(), "class-wise").fit(prob, y).predict_proba(prob).shape == prob.shape
    True

    >>> raw = ByNotion(HistogramBinning(10), normalize=False).fit(prob, y).predict_proba(prob)
    >>> errors = [calibration_error(y == c, raw[:, j], binning=10) for j, c in enumerate(np.unique(y))]
    >>> len(errors), max(errors) < 1e-12  # on the rows that were fitted there is none
    (10, True)
    """

    calibrator: str | base.BinaryCalibrator | Any = field(kw_only=False)
    notion: str | Notion | None = field(default=None, kw_only=False)
    normalize: bool = base.parameter(default=True)
    unseen: Unseen = base.parameter(default="pooled")
    input: Input = "probability"
    labels: Sequence[Any] | None = None
    block: ClassVar[int] = 1 << 20
    """Numbers mapped at a time: enough for each of many parts to have rows."""

    calibrators_: list[base.BinaryCalibrator | None] = base.fitted()
    pooled_: base.BinaryCalibrator | None = base.fitted()
    notion_: Notion = base.fitted()

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Calibrate a forecast as a whole; one column is returned as two.

        What was calibrated are the scores of the notion. A row that sums to one asks for more, and loses some of it: under
        ``confidence``, ``top-label`` and their top-K forms the other classes share what is left in their old proportions, and
        one of them can end up above the class that was predicted; under ``class-wise`` the division by the sum moves every
        score off the value that was calibrated, unless ``normalize=False``. What is proved of the calibrated scores, such as
        the bounds of histogram binning, holds of `predict_top` and of rows without normalisation.

        Parameters
        ----------
        X : array-like of shape (n_samples,) or (n_samples, n_classes)
            Forecast of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Calibrated probabilities, columns in the order of ``classes_``.
        """
        return super().predict_proba(X)

    def predict_top(self, X: ArrayLike) -> tuple[NDArray[np.generic], FloatArray]:
        """Return the predicted label of the original forecast, and its calibrated probability.

        Calibration under ``confidence`` and ``top-label`` is about this pair, and so are their guarantees: the
        label is that of the forecast, so that accuracy stays as it was, and the score is the value that was fitted. Its error
        is ``top_label_calibration_error(y, score, y_pred=label)``. Faster than `predict_proba`, and without a table.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_classes)
            Forecast of the kind that was fitted.

        Returns
        -------
        label : ndarray of shape (n_samples,)
            Class of the highest probability before calibration; of equal ones the first.
        score : ndarray of shape (n_samples,)
            What the calibrator of that class makes of it, before any normalisation.
        """
        forecast = self._fitted_forecast(X)
        top, score = np.empty(forecast.shape[0], dtype=np.intp), np.empty(forecast.shape[0])
        for rows, part in base.blocks(forecast, 4 * self.block):  # no tables are made of them
            top[rows], score[rows] = self._top(part)
        return self.classes_[top], score

    @available_if(lambda self: self._method()._interval)
    def predict_interval(self, X: ArrayLike) -> FloatArray:
        """Return the pair of probabilities of `VennAbers` for each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_classes)
            Forecast of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n_samples, n_classes, 2)
            The probabilities p0 and p1 of each class by itself; 0 and 1 where no part of the notion speaks of it, and where
            ``unseen="identity"`` leaves its score as it is.
        """
        forecast = self._fitted_forecast(X)
        prob, log_odds = forecast.prob, log_odds_of(forecast)
        interval = np.tile([0.0, 1.0], (*prob.shape, 1))
        for own, part in zip(self.calibrators_, self.notion_.parts(prob), strict=True):
            fitted: Any = own or self.pooled_
            if fitted is not None:
                score = part.scores(prob) if log_odds is None else score_of_logit(part.scores(log_odds))
                for end, values in enumerate(fitted._interval(score)):
                    part.put(interval[:, :, end], values)
        return interval

    def _fit_problem(self, problem: Problem) -> None:
        fits = isinstance(self.notion, (str, Notion, type(None))) and not isinstance(self.notion, WithinGroups)
        must = "notion must be a word or a Notion that new rows have as well"
        require(fits, must, value=self.notion, hint="Pass notion='class-wise'", error=TypeError)
        simplex, unfitted = as_simplex(problem), self._method()
        self.notion_ = as_notion(self.notion, simplex, of_many="class-wise")
        self.calibrators_, self.pooled_, empty = [], None, []
        without_event: list[str] = []
        for binary in problems_of(self.notion_, simplex):
            self.calibrators_.append(_fitted(unfitted, binary) if binary.size else None)
            if not binary.size:
                empty.append(binary.name)
            elif not in_cells(binary).outcome.any():
                without_event.append(binary.name)
        if empty:
            served = "such scores are left as they are"
            if self.unseen == "pooled":
                self.pooled_ = _fitted(unfitted, as_one_problem(list(problems_of(self.notion_, simplex))))
                served = "such scores are mapped by one map fitted to all other problems together"
            warn(f"no calibration row for {base.first_names(empty)}: {served}. Fit on more rows.")
        if without_event:
            base.tell_of_absent(simplex, without_event)

    def _method(self) -> base.BinaryCalibrator:
        """Return the method, a new one."""
        alone = "A multiclass calibrator such as TemperatureScaling needs no notion: use it directly"
        return base.as_binary_calibrator(self.calibrator, hint=alone)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        self._method()
        as_notion(self.notion)
        n_classes, n_problems = len(self.classes_), len(self.calibrators_)
        # One more than the problems is enough to see that there are more.
        parts = islice(self.notion_.parts(np.full((1, n_classes), 1.0 / n_classes)), n_problems + 1)
        must = f"problems must be as many as {self.notion_!r} makes of {n_classes} classes"
        require(sum(1 for _ in parts) == n_problems, must, value=n_problems, hint="Fit anew")
        served = None not in self.calibrators_ or self.pooled_ is not None or self.unseen != "pooled"
        must = "pooled must be a map where a problem has none and unseen='pooled'"
        require(served, must, got="none", hint="Fit anew")
        for own in (*self.calibrators_, self.pooled_):
            if own is not None:
                own._check_loaded()

    def _top(self, forecast: Forecast) -> tuple[IntArray, FloatArray]:
        """Return the top class of each row and its calibrated score, without a table of the others."""
        prob, notion = forecast.prob, self.notion_
        top, every = top_column(prob), np.arange(len(prob))
        score, waits = np.empty(len(prob)), np.ones(len(prob), dtype=bool)
        log_odds = log_odds_of(forecast)
        for own, part in zip(self.calibrators_, notion.parts(prob), strict=True):
            rows = every[part.rows][top[part.rows] == part.column]
            if rows.size:
                on_top = Part(rows, top[rows], part.name)
                score[rows] = _mapped(own or self.pooled_, on_top, prob, log_odds)
                waits[rows] = False
                if not waits.any():
                    break  # of top-K notions the highest rank comes first
        if waits.any():  # no part speaks of the top class: it gets its share of what is left
            merged = self._merged(Forecast(forecast.values[waits], forecast.is_logit), normalize=False)
            score[waits] = merged[np.arange(len(merged)), top[waits]]
        return top, score

    def _map_forecast(self, forecast: Forecast) -> FloatArray:
        return self._merged(forecast, normalize=self.normalize)

    def _merged(self, forecast: Forecast, *, normalize: bool) -> FloatArray:
        prob, notion = forecast.prob, self.notion_
        log_odds = log_odds_of(forecast)
        calibrated = [
            _mapped(own or self.pooled_, part, prob, log_odds)
            for own, part in zip(self.calibrators_, notion.parts(prob), strict=True)
        ]
        return notion.merge(prob, calibrated, normalize=normalize)


def _fitted(unfitted: base.BinaryCalibrator, binary: BinaryProblem) -> base.BinaryCalibrator:
    fitted = deepcopy(unfitted)  # of a clone: to clone anew for each of a thousand classes would take as long as to fit
    fitted._fit_one(binary)
    return fitted


def _mapped(
    fitted: base.BinaryCalibrator | None, part: Part, prob: FloatArray, log_odds: FloatArray | None
) -> FloatArray:
    """Calibrate the scores of a part; without a calibrator they stay as they are."""
    score = part.scores(prob)
    if fitted is None or not score.size:
        return score
    return fitted._mapped(score if log_odds is None else part.scores(log_odds), is_logit=log_odds is not None)


# Top-label histogram binning, as it is proved


@base.method("top-label-binning", symbol="TL-HB", source="Gupta and Ramdas 2022, Alg. 8", guarantees={FINITE})
class TopLabelHistogramBinning(ByNotion):
    """Histogram binning of the top probability, for each predicted class by itself, as Theorem 1 asks for it (TL-HB).

    Use it when the probability of the predicted class needs a bound for any distribution: `binning_guarantee` gives it. Do not
    use it for log loss, or with fewer than some 50 rows a predicted class: all rows of a bin are tied.

    Parameters
    ----------
    points_per_bin : int, default=50
        Rows of each bin, at least 2; a class that is predicted for fewer has one bin.
    delta : float, default=1e-10
        Values of bins are kept apart, and from 0 and 1, by random shifts of this size.
    random_state : int, Generator or None, default=0
        Where the draws of ``delta`` come from.
    unseen : {"pooled", "identity"}, default="pooled"
        What becomes of the scores of a class that was never predicted on the calibration rows: see `ByNotion`.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    calibrators_ : list of HistogramBinning or None
        One a predicted class; None for a class without rows.
    pooled_ : HistogramBinning or None
        What maps the scores of classes without rows; None where there are none, or they are left as they are.
    notion_ : Notion
        Top-label.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    Notes
    -----
    It is ``ByNotion(HistogramBinning(PointsPerBin(50), interior=True, delta=1e-10), "top-label")``. The bound is on the pair
    of `predict_top`; `predict_proba` gives the other classes what is left.

    References
    ----------
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022, Algorithm 8 and Theorem 1.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.calibrators import TopLabelHistogramBinning, binning_guarantee
    >>> y, prob = load_digits_forecast()
    >>> fitted = TopLabelHistogramBinning().fit(prob, y)
    >>> label, score = fitted.predict_top(prob)
    >>> binning_guarantee(len(y), 50, n_classes=10).marginal_error < 0.3
    True
    """

    points_per_bin: int = base.parameter(default=50, least=2, kw_only=False, hint="Pass 50, as the authors")
    delta: float = base.parameter(default=1e-10, least=0.0, most=1.0, hint="Pass a small number such as 1e-10")
    random_state: int | np.random.Generator | None = base.parameter(default=0)
    notion: ClassVar[str] = "top-label"  # type: ignore[misc]
    normalize: ClassVar[bool] = True  # type: ignore[misc]
    calibrator: ClassVar[Any]  # type: ignore[misc]

    @property  # type: ignore[no-redef]
    def calibrator(self) -> HistogramBinning:  # type: ignore[override]
        """The calibrator of each predicted class."""
        bins = PointsPerBin(self.points_per_bin)
        return HistogramBinning(bins, interior=True, delta=self.delta, random_state=self.random_state)


# The calibrator that a word means for so many classes: `calibrant fit --method` and the estimators all ask here


def calibrator_for(calibrator: str | base.Calibrator, n_classes: int) -> base.Calibrator:
    """Return a new calibrator for forecasts of so many classes, of a word or of an object.

    The word of a method of one score means, of more than two classes, that each class is calibrated against the rest.
    An object is copied as it is.
    """
    made = base.as_calibrator(calibrator)
    return for_classes(made, n_classes) if isinstance(calibrator, str) else made


def for_classes(calibrator: base.Calibrator, n_classes: int, notion: str | Notion | None = None) -> base.Calibrator:
    """Return the calibrator, a map of one score under the notion where there are several classes or a notion is named."""
    if isinstance(calibrator, base.BinaryCalibrator) and (n_classes > 2 or notion is not None):
        return ByNotion(calibrator, notion)
    return calibrator
