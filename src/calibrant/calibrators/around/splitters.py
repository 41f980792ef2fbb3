"""Folds of a classifier: a number, or a splitter of scikit-learn; of whole groups where there are groups or copies of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.model_selection import StratifiedGroupKFold, check_cv

from calibrant._core.arrays import is_whole
from calibrant.solvers.folds import copies_of


def splitter_of(cv: Any, truth: npt.NDArray[Any], *, grouped: bool) -> Any:
    """Return what splits rows into folds."""
    if grouped and _is_number(cv):
        return StratifiedGroupKFold(5 if cv is None else cv)
    return check_cv(cv, truth, classifier=True)


def groups_of_copies(cv: Any, X: Any, truth: npt.NDArray[Any]) -> npt.NDArray[np.intp] | None:
    """Return groups of equal rows of X for a number of folds, if they are copies: a model of one knows the others.

    There are none where fewer rows than folds are distinct.
    """
    values = None if issparse(X) or not _is_number(cv) else np.asarray(X)
    if values is None or values.ndim not in (1, 2) or not values.size or values.dtype.kind not in "biufOUS":
        return None
    values = values.reshape(len(values), -1)
    if values.dtype.kind in "OUS":
        codes: dict[Any, int] = {}
        try:
            numbers = [codes.setdefault(value, len(codes)) for value in values.ravel().tolist()]
        except TypeError:  # values that cannot be looked up
            return None
        values = np.array(numbers).reshape(values.shape)
    words = np.ascontiguousarray(values.astype(np.float64)).view(np.uint64)
    groups = copies_of(words, np.unique(truth, return_inverse=True)[1])
    return groups if groups is not None and groups.max() + 1 >= (5 if cv is None else cv) else None


def splitter_of_groups(cv: Any) -> Any:
    """Return what metadata are routed to: a number of folds becomes a splitter of groups as soon as there are groups."""
    return StratifiedGroupKFold() if _is_number(cv) else cv


def _is_number(cv: Any) -> bool:
    return cv is None or is_whole(cv)
