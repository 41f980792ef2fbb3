"""What is said of classes, and of problems of a notion, that the calibration rows lack."""

from __future__ import annotations

import numpy as np

from calibrant._core.problem import SimplexProblem
from calibrant._core.warnings import warn
from calibrant.sums.unread import UnreadSimplex


def tell_of_empty(problems: list[str], served: str) -> None:
    """Say which problems have no rows, and what becomes of their scores."""
    warn(f"no calibration row for {_first(problems)}: {served}. Fit on more rows.")


def tell_of_absent(simplex: SimplexProblem, without_event: list[str]) -> None:
    """Say which classes did not occur, where others did: of a single class every calibrator says it."""
    if isinstance(simplex, UnreadSimplex):
        warn(
            f"no calibration row has the event of {_first(without_event)}: its map is fitted all the same. Fit on more rows."
        )
        return
    seen = np.bincount(simplex.label, minlength=len(simplex.classes)) > 0
    if 1 < seen.sum() < seen.size:
        names = _first([str(name) for name in simplex.classes[~seen]])
        warn(
            f"no calibration row is of class {names} among {simplex.size}: its map is fitted all the same, on rows without "
            "the event. Fit on more rows."
        )


def _first(names: list[str]) -> str:
    return "; ".join(names[:5]) + (f"; ... ({len(names)} in all)" if len(names) > 5 else "")
