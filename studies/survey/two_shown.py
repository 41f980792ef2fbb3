"""How errors of calibrators of two classes are shown and judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from studies.survey.findings import CLEARLY, Mean, confirmed
from studies.survey.two_errors import TWO, Region, after, before, off_before, off_inside, spelt

BINS, ISOTONIC, BETA = "10 bins", "isotonic", "beta"
CLOSE, WELL, LITTLE, SAME = 0.02, 0.3, 0.75, 0.01
"""On the diagonal; shares of the error that are left where a method works well, and where it does little; forecasts that are
almost identical."""

LEFT_OVER = f"less than {WELL:.0%} of E abs(S - C) is left; in part: it falls {CLEARLY}"
FALLS = f"it falls {CLEARLY}"


def each(value: Callable[[str], str]) -> str:
    """A figure for each case."""
    return "; ".join(f"{value(name)} ({spelt(name)})" for name in TWO)


def extent(numbers: Sequence[int]) -> str:
    """Lowest and highest of some numbers."""
    return str(min(numbers)) if min(numbers) == max(numbers) else f"{min(numbers)} to {max(numbers)}"


def spread(region: Region) -> str:
    return f"[{region[0]:g}, {min(region[1], 1.0):g}]"


def from_to(name: str, method: str) -> str:
    return f"{before(name).calibration:.4f} to {after(name, method).show()}"


def grouping(name: str, method: str) -> str:
    return f"{1000 * before(name).grouping:.3f} to {after(name, method, 'grouping').show(3, 1000)}"


def gained(name: str, method: str, what: str = "calibration") -> Mean:
    """How much an error changes by calibration."""
    return after(name, method, what) - getattr(before(name), what)


def left(name: str, method: str, *regions: Region) -> float:
    """Share of E|S - C| that is left."""
    if regions:
        return off_inside(name, method, *regions).value / off_before(name, *regions)
    return after(name, method).value / before(name).calibration


def well(name: str, method: str) -> str:
    """The verdict on a method that is said to work well."""
    return confirmed(left(name, method) < WELL, "in part" if gained(name, method).is_below_0 else "refuted")
