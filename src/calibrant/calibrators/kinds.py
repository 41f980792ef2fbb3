"""The kinds of calibrators: a map of one score, of the log-odds of one event, or of the whole simplex."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant._core import links
from calibrant._core.links import FloatArray
from calibrant._core.parameters import require
from calibrant._core.problem import BinaryProblem, Forecast, Problem, SimplexProblem, as_simplex, two_columns
from calibrant._core.rows import OF_CALIBRATOR
from calibrant._core.validation import Input, as_logits, as_score
from calibrant._core.warnings import warn
from calibrant.calibrators.base import Calibrator, warn_of_one_class
from calibrant.calibrators.problems import one_score
from calibrant.notions import Binary
from calibrant.sums.unread import UnreadBinary, UnreadSimplex
from calibrant.sums.unread_part import UnreadPart

HIGHEST_LOGIT, LOWEST_LOGIT = 36.7, -745.0
"""Beyond these the logistic function is 1 and 0 to the last digit."""

MOST_LOG_ODDS = 700.0
"""Calibrated log-odds end here: beyond it the smaller of two probabilities would be zero."""


class BinaryCalibrator(Calibrator):
    """A map of one score. Implement ``_fit(problem)`` and ``_apply(score)``; no classes are known there.

    `ByNotion` makes a multiclass calibrator of it.

    Parameters
    ----------
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length 2, optional
        The negative and the positive label.
    """

    def __init__(self, *, input: Input = "probability", labels: Sequence[Any] | None = None) -> None:
        self.input = input
        self.labels = labels

    def _accept_loaded(self) -> None:
        n_classes = len(self.classes_)
        require(n_classes == 2, f"classes must be two for {type(self).__name__}", value=n_classes, hint="Fit anew")
        self._check_loaded()

    @abstractmethod
    def _fit(self, problem: BinaryProblem) -> None: ...

    @abstractmethod
    def _apply(self, score: FloatArray) -> FloatArray: ...

    def _apply_logit(self, log_odds: FloatArray) -> FloatArray:
        """Map scores that were given as log-odds; a method that reads log-odds takes them exactly."""
        return self._apply(links.score_of_logit(log_odds))

    def _fit_one(self, problem: BinaryProblem) -> None:
        """Fit a binary problem, and say so if its logits are lost on the method."""
        if isinstance(problem, UnreadBinary):
            self._fit(problem)
            if (rate := problem.reading.event_rate) in (0.0, 1.0) and not isinstance(problem, UnreadPart):
                warn_of_one_class(problem.classes[int(rate)], problem.size)
            return
        if problem.logit is not None and type(self)._apply_logit is BinaryCalibrator._apply_logit:
            lost = problem.logit[(problem.logit > HIGHEST_LOGIT) | (problem.logit < LOWEST_LOGIT)]
            if np.unique(lost).size > 1:
                warn(
                    f"logits beyond {HIGHEST_LOGIT:g} are one probability, 1, to {type(self).__name__}; got {lost.size} of "
                    f"{problem.size}, up to {np.abs(lost).max():g}. Divide them by a number, or take a method of log-odds such "
                    "as PlattScaling."
                )
        self._fit(problem)

    def _fit_problem(self, problem: Problem) -> None:
        require(
            problem.classes.size == 2,
            f"{type(self).__name__} maps one score",
            got=f"{problem.classes.size} classes",
            hint=f"Say how: ByNotion({type(self).__name__}(), 'class-wise')",
        )
        if isinstance(problem, UnreadSimplex):
            self._fit_one(UnreadPart(problem, Binary(), 0, one_score))
        else:
            self._fit_one(one_score(problem))

    def _map_forecast(self, forecast: Forecast) -> FloatArray:
        column = self._mapped(
            forecast.log_odds if forecast.is_logit else forecast.prob[:, 1], is_logit=forecast.is_logit
        )
        return two_columns(column, is_logit=False).values

    def _map_column(self, values: FloatArray) -> FloatArray:
        is_logit = self.input == "logit"
        valid = as_logits(values) if is_logit else as_score(values, remedies=OF_CALIBRATOR)
        if valid.size <= self.block:
            return self._mapped(valid, is_logit=is_logit)
        calibrated = np.empty(valid.size)
        for start in range(0, valid.size, self.block):
            rows = slice(start, start + self.block)
            calibrated[rows] = self._mapped(valid[rows], is_logit=is_logit)
        return calibrated

    def _mapped(self, values: FloatArray, *, is_logit: bool) -> FloatArray:
        """Map scores, or log-odds, and check what the method made of them."""
        return self._checked(self._apply_logit(values) if is_logit else self._apply(values), values.shape)


class LogOddsCalibrator(BinaryCalibrator):
    """A map of the log-odds of one event. Implement ``_fit(problem)`` and ``_map_log_odds(log_odds)``.

    Logits are taken as they are; probabilities are clipped so that their log-odds lie within 27.6. Both classes keep a
    probability above zero.

    Parameters
    ----------
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length 2, optional
        The negative and the positive label.
    """

    @abstractmethod
    def _map_log_odds(self, log_odds: FloatArray) -> FloatArray:
        """Return the calibrated log-odds."""

    def _apply(self, score: FloatArray) -> FloatArray:
        return self._apply_logit(links.log_odds_of_prob(score))

    def _apply_logit(self, log_odds: FloatArray) -> FloatArray:
        return links.score_of_logit(self._finite_log_odds(log_odds))

    def _map_forecast(self, forecast: Forecast) -> FloatArray:
        log_odds = self._finite_log_odds(forecast.log_odds)
        return self._checked(
            np.column_stack([links.score_of_logit(-log_odds), links.score_of_logit(log_odds)]), forecast.shape
        )

    def _finite_log_odds(self, log_odds: FloatArray) -> FloatArray:
        return np.clip(self._map_log_odds(log_odds), -MOST_LOG_ODDS, MOST_LOG_ODDS)


class MulticlassCalibrator(Calibrator):
    """A map of the whole simplex. Implement ``_fit(problem)`` and ``_apply(forecast)``.

    Parameters
    ----------
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.
    """

    def __init__(self, *, input: Input = "probability", labels: Sequence[Any] | None = None) -> None:
        self.input = input
        self.labels = labels

    @abstractmethod
    def _fit(self, problem: SimplexProblem) -> None: ...

    @abstractmethod
    def _apply(self, forecast: Forecast) -> FloatArray: ...

    def _fit_problem(self, problem: Problem) -> None:
        self._fit(as_simplex(problem))

    def _map_forecast(self, forecast: Forecast) -> FloatArray:
        return self._checked(self._apply(forecast), forecast.shape)
