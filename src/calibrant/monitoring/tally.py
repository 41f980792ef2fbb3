"""What a monitor has counted so far: sums of windows, and of a reference that was given apart from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from calibrant.monitoring.by_window import ByWindow, added
from calibrant.monitoring.look import Look
from calibrant.monitoring.windows import Windows
from calibrant.sums import Sums


@dataclass(frozen=True, eq=False)
class Tally:
    """Sums that add up.

    Attributes
    ----------
    windows : ByWindow
        Those of each window.
    given : Sums or None
        Those of a reference that is not among the windows.
    """

    windows: ByWindow = field(default_factory=lambda: ByWindow({}))
    given: Sums | None = None

    def __add__(self, other: Tally) -> Tally:
        given = [one.given for one in (self, other) if one.given is not None]
        return Tally(self.windows + other.windows, added(*given) if len(given) == 2 else next(iter(given), None))

    def look(self, windows: Windows, reference: int, alpha: float) -> Look:
        """Return a look at the windows, of which so many are the reference if none is given."""
        keys, sums = self.windows.keys, self.windows.sums
        first = 0 if self.given is not None else min(reference, len(keys))
        return Look(tuple(map(windows.name, keys)), tuple(sums[key] for key in keys), first, self.given, alpha)

    def to_dict(self) -> dict[str, Any]:
        """Return the sums as the state of a monitor has them."""
        found = self.windows
        return {
            "n_rows": found.rows,
            "next_row": found.end,
            "windows": [{"window": key, "sums": found.sums[key].to_dict()} for key in found.keys],
            "reference": None if self.given is None else self.given.to_dict(),
        }
