"""A sample of rows that does not depend on how they are cut into batches: those whose numbers have the smallest keys."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant._core.parameters import whole
from calibrant._core.problem import BinaryProblem, Forecast, Problem, SimplexProblem
from calibrant._core.weights import Weights
from calibrant.sums.kept_rows import Numbers, keys_of

SAMPLED = "function(**predictions.sample(100_000))"
"""How a function takes a sample, in words of an error."""


@dataclass(frozen=True, eq=False)
class RowSample:
    """At most ``most`` of ``n_rows`` rows, in the order of their ``number`` among all rows; samples add up with ``+``."""

    problem: Problem
    number: Numbers
    n_rows: int
    most: int

    @classmethod
    def of(cls, problem: Problem, first: int | Numbers, most: int) -> RowSample:
        """Choose rows of a batch, of which the first has this number, or each its own."""
        whole("n", most, least=1, hint="100_000 rows are enough for most figures")
        if isinstance(first, np.ndarray):
            order = np.argsort(first, kind="stable")
            return cls(problem.at(order), first[order], problem.size, most)._chosen()
        return cls(problem, np.arange(first, first + problem.size, dtype=np.int64), problem.size, most)._chosen()

    def __add__(self, other: RowSample) -> RowSample:
        number = np.concatenate([self.number, other.number])
        rows = np.argsort(number, kind="stable")
        joined = replace(
            self,
            problem=_joined(self.problem, other.problem).at(rows),
            number=number[rows],
            n_rows=self.n_rows + other.n_rows,
        )
        return joined._chosen()

    def _chosen(self) -> RowSample:
        if self.number.size <= self.most:
            return self
        rows = np.sort(np.argpartition(keys_of(self.number), self.most - 1)[: self.most])
        return replace(self, problem=self.problem.taken(rows), number=self.number[rows])

    @property
    def arguments(self) -> dict[str, Any]:
        """The rows as the arguments of a function that takes labels and probabilities."""
        problem = self.problem
        if isinstance(problem, BinaryProblem):
            code, is_logit = problem.outcome.astype(np.intp), problem.logit is not None
            values = problem.as_given if problem.logit is None else problem.logit
        else:
            code, is_logit, values = problem.label, problem.forecast.is_logit, problem.forecast.values
        said = {"y_true": problem.classes[code], "y_prob": values, "labels": problem.classes.tolist()}
        return said | ({"input": "logit"} if is_logit else {}) | problem.weights.keyword


def _joined(one: Problem, other: Problem) -> Problem:
    """Put the rows of two problems of one kind one after the other; what their weights mean is seen anew."""
    weights = Weights.one_each(one.size + other.size)
    if not one.weights.is_unit:
        weights = Weights(np.concatenate([one.weight, other.weight]))
    if isinstance(one, SimplexProblem) and isinstance(other, SimplexProblem):
        values = np.concatenate([one.forecast.values, other.forecast.values])
        forecast = Forecast(values, one.forecast.is_logit, one.forecast.given_in)
        return SimplexProblem(forecast, np.concatenate([one.label, other.label]), weights, one.classes)
    assert isinstance(one, BinaryProblem)
    assert isinstance(other, BinaryProblem)
    return replace(
        one,
        score=np.concatenate([one.score, other.score]),
        outcome=np.concatenate([one.outcome, other.outcome]),
        weights=weights,
        logit=None if one.logit is None or other.logit is None else np.concatenate([one.logit, other.logit]),
    )
