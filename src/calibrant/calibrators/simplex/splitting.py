"""How regions of the simplex are split: the points tried, the conditions on a split, what values are mixed with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import choice, number, source, whole
from calibrant.binning.simplex.lattice import simplex_grid
from calibrant.solvers.simplex_tree import Growth
from calibrant.solvers.split_candidates import BlockCandidates, Candidates, DataCandidates, GivenCandidates

Prior = Literal["class-rate", "uniform"]
Monotone = Literal["pairwise", "exact"]

ROUNDING = 1e-9
"""Sums of parts of rows are rounded: weight that is so near to what is needed, relative to it, is enough."""


@dataclass(frozen=True)
class DataPoints:
    """Points made of the predictions in a region: predictions, mid-points of two, and points that part only some classes.

    Parameters
    ----------
    most : int, default=2000
        How many points each region has at most, with three classes or more. Time grows in proportion to it.
    random_state : int, Generator or None, default=0
        Where the draws come from, where there are more points than ``most``.
    """

    most: int = 2000
    random_state: int | np.random.Generator | None = 0

    def __post_init__(self) -> None:
        whole("most", self.most, least=1, hint="Pass 2000, which is usual")
        source("random_state", self.random_state)

    def settled(self) -> Callable[[int], Candidates]:
        """Return what makes the points of each fit, given the number of classes: all fits draw alike.

        Returns
        -------
        callable
            It takes the number of classes and returns the points.
        """
        # What cross-validation finds can then be given, and the map is the same.
        seed = int(np.random.default_rng(self.random_state).integers(1 << 62))
        return lambda n_classes: (
            BlockCandidates() if n_classes == 2 else DataCandidates(int(self.most), np.random.default_rng(seed))
        )


@dataclass(frozen=True)
class GridPoints:
    """The multiples of 1 / steps in a region.

    Parameters
    ----------
    steps : int
        Steps from 0 to 1. The grid may hold 2e7 numbers, K of each point.
    """

    steps: int

    def settled(self) -> Callable[[int], Candidates]:
        """Return what makes the points of each fit, given the number of classes.

        Returns
        -------
        callable
            It takes the number of classes and returns the points.
        """
        return lambda n_classes: GivenCandidates(simplex_grid(n_classes, self.steps, "candidates"))


@dataclass(frozen=True)
class Splits:
    """Conditions that a split must meet.

    Parameters
    ----------
    monotone : {"pairwise", "exact"}, default="pairwise"
        What a splitting point asks of the values. ``"pairwise"``: for any two of its sides a threshold parts them, as in the
        authors' code. ``"exact"``: one point parts all of them. For two classes it is the same.
    min_gain : float, default=0
        The least quality M of a split, divided by the number of rows; from 0 to 2.
    min_samples : float, default=1
        The least number of rows on each side of a split that holds any.
    check : int, optional
        The values are asked the same at all multiples of 1 / check of the simplex, from the start. This asks more of the
        values, and leaves fewer splits the finer it is: in five examples 1 to 9 regions at 10, and 17 to 26 without it.
    """

    monotone: Monotone = "pairwise"
    min_gain: float = 0.0
    min_samples: float = 1
    check: int | None = None

    def __post_init__(self) -> None:
        choice("monotone", self.monotone, ("pairwise", "exact"))
        number("min_gain", self.min_gain, least=0.0, most=2.0, hint="A part of all weight: 0.01 is much")
        number("min_samples", self.min_samples, least=0.0, hint="In rows: pass 1 for regions of any size")
        if self.check is not None:
            whole("check", self.check, least=1, hint="Pass the steps of a grid, such as 100, or None")

    def growth(self, n_classes: int, max_regions: int | None, smoothing: float) -> Growth:
        """Return how a tree grows that makes such splits.

        Parameters
        ----------
        n_classes : int
            Number of classes.
        max_regions : int or None
            Most regions of the tree.
        smoothing : float
            Pseudo-counts of each class in a region.

        Returns
        -------
        Growth
            What the solver of trees takes.
        """
        return Growth(
            max_regions=max_regions,
            min_gain=float(self.min_gain),
            min_samples=float(self.min_samples) * (1.0 - ROUNDING),
            smoothing=smoothing,
            is_joint=self.monotone == "exact",
            checks=np.empty((0, n_classes)) if self.check is None else simplex_grid(n_classes, self.check, "check"),
        )


@dataclass(frozen=True)
class Mixture:
    """What the value of a region is mixed with.

    Parameters
    ----------
    part : float, default=0
        This part of every value is the prior and the rest the smoothed class rate; from 0 to below 1.
    prior : {"class-rate", "uniform"}, default="class-rate"
        What is mixed in: the class rates of all rows, or 1 / K of each class.
    """

    part: float = 0.0
    prior: Prior = "class-rate"

    def __post_init__(self) -> None:
        number("mixture", self.part, least=0.0, below=1.0, hint="Pass 0 for none")
        choice("prior", self.prior, ("class-rate", "uniform"))

    def of(self, rate: FloatArray, overall: FloatArray) -> FloatArray:
        """Return class rates of regions mixed with the prior.

        Parameters
        ----------
        rate : ndarray of shape (n_regions, n_classes)
            Class rates of the regions.
        overall : ndarray of shape (n_classes,)
            Sums of the weights of the classes over all rows.

        Returns
        -------
        ndarray of shape (n_regions, n_classes)
            The values of the regions.
        """
        prior = np.full(overall.size, 1.0 / overall.size) if self.prior == "uniform" else overall / overall.sum()
        value: FloatArray = (1.0 - self.part) * rate + self.part * prior
        return value


def as_points(candidates: int | Literal["data"] | DataPoints | GridPoints) -> DataPoints | GridPoints:
    """Return the points that a number of steps or the word stands for."""
    if isinstance(candidates, (DataPoints, GridPoints)):
        return candidates
    if isinstance(candidates, str) and candidates == "data":
        return DataPoints()
    return GridPoints(whole("candidates", candidates, least=1, hint="Pass the steps of a grid, such as 100, or 'data'"))


def as_splits(splits: Monotone | Splits) -> Splits:
    """Return what is asked of a split that keeps the map monotone in the way of the word."""
    return splits if isinstance(splits, Splits) else Splits(choice("splits", splits, ("pairwise", "exact")))  # type: ignore[arg-type]


def as_mixture(mixture: float | Mixture) -> Mixture:
    """Return the mixture with the class rates that a number stands for."""
    return mixture if isinstance(mixture, Mixture) else Mixture(mixture)
