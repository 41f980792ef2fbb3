"""Binnings whose number of bins the data choose."""

from __future__ import annotations

from abc import abstractmethod
from typing import Literal

from calibrant._core.links import FloatArray
from calibrant._core.parameters import choice
from calibrant.binning.base import Binning, OrderedBinning, require_bins
from calibrant.binning.distinct_scores import Ordered
from calibrant.binning.equal_mass import EqualMass
from calibrant.binning.equal_width import EqualWidth

Family = Literal["equal-mass", "equal-width"]

FAMILIES: dict[str, type[EqualMass] | type[EqualWidth]] = {"equal-mass": EqualMass, "equal-width": EqualWidth}


class TunedBinning(OrderedBinning):
    """A family of binnings, and a rule that chooses the number of bins."""

    of: Family
    most_bins: int

    def __post_init__(self) -> None:
        choice("of", self.of, FAMILIES)
        require_bins(self.most_bins, "most_bins")

    def cut(self, ordered: Ordered) -> FloatArray:
        """Return the edges of the chosen binning."""
        return self.chosen(ordered).cut(ordered)

    @abstractmethod
    def chosen(self, ordered: Ordered) -> Binning:
        """Choose the number of bins.

        Parameters
        ----------
        ordered : Ordered
            What is to be cut.

        Returns
        -------
        Binning
            The member of the family that has this number of bins.
        """
