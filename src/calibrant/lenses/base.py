"""Lenses, and the size of what they see.

The residuals y - p of a calibrated forecast have mean zero at every score. A lens looks at them along the score: means within
bins, cumulative sums, a smoothing kernel, a local regression. What it sees is linear in the residuals, so that
what it sees of a true deviation and of noise adds up:  look(deviation + noise) = look(deviation) + look(noise).
The size of what is seen is a calibration error, its picture a curve, its law under calibration a test.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from calibrant._core.approximate import Approximate, mean_of
from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem, Problem
from calibrant.binning import Binning, EqualMass
from calibrant.notions import Notion
from calibrant.sums import BinnedProblem
from calibrant.sums.fine_cells import CellProblem, FineCells

MOST_GROUPS = 512
"""Groups of neighbouring scores, over all problems of a notion, in which the noise of a lens is drawn."""

FEWEST_GROUPS = 32
"""Groups of each problem, however many problems there are."""


class View(ABC):
    """A lens held over one problem."""

    @abstractmethod
    def look(self, residual: FloatArray) -> FloatArray:
        """Look at several vectors of residuals of the problem's rows.

        Parameters
        ----------
        residual : ndarray of shape (m, n)
            Outcome minus score of each row, as observed or as drawn; the view knows the weights.

        Returns
        -------
        ndarray of shape (m, d)
            What is seen, linear in the residuals.
        """


class Lens(ABC):
    """A way to look; called on a problem, it gives the `View`.

    Noise is drawn in cells: groups of neighbouring scores, of which no event rate is known, unless the lens has bins.
    """

    @abstractmethod
    def __call__(self, problem: BinaryProblem) -> View:
        """Hold the lens over a problem that has rows."""

    @property
    def has_bins(self) -> bool:
        """Whether it looks at bins, whose event rates are known."""
        return False

    @property
    def has_own_bins(self) -> bool:
        """Whether it keeps its bins, whatever binning is asked for."""
        return False

    def recut(self, binning: Binning) -> Lens:
        """Return the lens over other bins; one without bins is as it was."""
        return self

    def cells(self, problem: Problem, notion: Notion) -> Binning:
        """Return the cells in which noise is drawn, of each problem of a notion."""
        return Groups(max(FEWEST_GROUPS, MOST_GROUPS // notion.n_parts(problem)))

    def over_cells(self, cells: BinaryProblem) -> View:
        """Hold the lens over cells, each with its mean score and its weight."""
        return self(cells)


@dataclass(frozen=True)
class Groups(Binning):
    """A group for each distinct score, or if these are too many groups of equal weight."""

    most: int

    def edges(self, problem: BinaryProblem) -> FloatArray:
        """Return 0 and the highest score of each group."""
        distinct = np.unique(problem.score)
        return np.append(0.0, distinct) if distinct.size <= self.most else EqualMass(self.most).edges(problem)


Extent = Callable[[View, FloatArray], FloatArray]
"""How large is what was seen of one problem: a function of a view and of an array (m, d), with m values."""


Within = Callable[[FineCells, float], tuple[float, float]]
"""Between which limits the value of the rows lies, given the cells that hold them and the value of these cells."""


def anywhere(cells: FineCells, value: float) -> tuple[float, float]:
    """Return no limits: of a size for which none have been derived."""
    return -np.inf, np.inf


class Size(ABC):
    """How large is what was seen of all problems of a notion."""

    @property
    def is_of_deviations(self) -> bool:
        """Whether it depends on what was seen alone, so that noise can be added to that."""
        return True

    @property
    def of_bins(self) -> Callable[[Sequence[BinnedProblem]], float] | None:
        """The size of problems that have rows, at least one, of the sums over bins alone; None where it needs the rows."""
        return None

    @property
    def is_debiased(self) -> bool:
        """Whether it is bias-corrected."""
        return False

    @property
    def counts_rows(self) -> bool:
        """Whether it counts rows, and is no distance."""
        return False

    @property
    def is_joint(self) -> bool:
        """Whether the cells of all problems count as those of one."""
        return False

    @property
    def shrinks(self) -> bool:
        """Whether it is compared with truths that are shrunk toward calibration, as an average over bins is."""
        return False

    @abstractmethod
    def of_problems(self, seen: Sequence[tuple[BinaryProblem, View]]) -> float:
        """Return the size of problems that have rows, at least one, each with its view."""

    @abstractmethod
    def of_seen(self, views: Sequence[View], weights: Sequence[FloatArray], seen: Sequence[FloatArray]) -> FloatArray:
        """Return the sizes (m,) of what was seen (m, d) through each view over cells of these weights, of a total of one."""

    def floor(self, null: FloatArray) -> float:
        """Return the mean size under calibration, of such sizes with the bias in them."""
        return float(null.mean())


@dataclass(frozen=True)
class MeanOverProblems(Size):
    """The mean over the problems, by their shares, of how large is what was seen of each."""

    extent: Extent
    within: Within = anywhere

    def of_problems(self, seen: Sequence[tuple[BinaryProblem, View]]) -> float:
        """Return the mean; of cells in place of rows with its limits."""
        found = []
        for problem, view in seen:
            value = float(self.extent(view, view.look(residual_of(problem)))[0])
            if isinstance(problem, CellProblem):
                value = Approximate(value, *self.within(problem.cells, value))
            found.append((problem.share, value))
        return mean_of(found)

    def of_seen(self, views: Sequence[View], weights: Sequence[FloatArray], seen: Sequence[FloatArray]) -> FloatArray:
        """Return the means."""
        sizes = [w.sum() * self.extent(view, own) for view, w, own in zip(views, weights, seen, strict=True)]
        return np.asarray(np.sum(sizes, axis=0))


def residual_of(problem: BinaryProblem) -> FloatArray:
    """Observed residuals, shape (1, n)."""
    residual: FloatArray = problem.outcome - problem.score
    return residual[None]
