"""Each class against the rest."""

from __future__ import annotations

from collections.abc import Iterator

from calibrant._core.links import FloatArray
from calibrant._core.registry import declare
from calibrant.notions.base import Notion, Part


@declare("notion", "class-wise", symbol="CW", source="Zadrozny and Elkan 2002")
class ClassWise(Notion):
    """Each class against the rest, with equal shares."""

    name = "class-wise"

    def parts(self, prob: FloatArray, names: tuple[str, ...] | None = None) -> Iterator[Part]:
        """K parts: each column."""
        for j in range(prob.shape[1]):
            yield Part(slice(None), j, f"class {names[j] if names else j}")

    def parts_a_row(self, n_classes: int) -> int:
        """Every row stands in every part."""
        return n_classes
