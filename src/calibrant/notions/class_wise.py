"""Each class against the rest."""

from __future__ import annotations

from collections.abc import Iterator

from calibrant._core.links import FloatArray
from calibrant._core.problem import SimplexProblem
from calibrant._core.registry import declare
from calibrant.notions.base import Notion, Part


@declare("notion", "class-wise", symbol="CW", source="Zadrozny and Elkan 2002")
class ClassWise(Notion):
    """Each class against the rest, with equal shares."""

    name = "class-wise"

    def parts(self, prob: FloatArray, names: tuple[str, ...] | None = None) -> Iterator[Part]:
        """K parts: each column."""
        return _columns(prob.shape[1], names)

    def _parts_of(self, simplex: SimplexProblem, names: tuple[str, ...]) -> Iterator[Part]:
        if type(self) is not ClassWise:  # a notion of one's own has other parts
            return super()._parts_of(simplex, names)
        return _columns(simplex.forecast.shape[1], names)

    def parts_a_row(self, n_classes: int) -> int:
        """Every row stands in every part."""
        return n_classes


def _columns(n_classes: int, names: tuple[str, ...] | None) -> Iterator[Part]:
    return (Part(slice(None), j, f"class {names[j] if names else j}") for j in range(n_classes))
