"""Folds of a classifier: a number, or a splitter of scikit-learn; of whole groups where there are groups."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt
from sklearn.model_selection import StratifiedGroupKFold, check_cv

from calibrant._core.arrays import is_whole


def splitter_of(cv: Any, truth: npt.NDArray[Any], *, grouped: bool) -> Any:
    """Return what splits rows into folds."""
    if grouped and _is_number(cv):
        return StratifiedGroupKFold(5 if cv is None else cv)
    return check_cv(cv, truth, classifier=True)


def splitter_of_groups(cv: Any) -> Any:
    """Return what metadata are routed to: a number of folds becomes a splitter of groups as soon as there are groups."""
    return StratifiedGroupKFold() if _is_number(cv) else cv


def _is_number(cv: Any) -> bool:
    return cv is None or is_whole(cv)
