"""Rows that are not in memory as a whole: what functions take in the place of ``y_true`` and ``y_prob``."""

from __future__ import annotations

from abc import ABC, abstractmethod

from calibrant._core.problem import Problem


class InBatches(ABC):
    """Labels and predicted probabilities that are read in batches. `calibrant.sums.predictions.Predictions` says how."""

    @abstractmethod
    def as_problem(self) -> Problem:
        """Return a problem of these rows: in memory if they are few, else one of which only sums can be had."""
