"""The fitted attributes of a calibrator: which there are, of what types, and what a file must hold of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, get_type_hints

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from calibrant._core.arrays import is_number
from calibrant._core.links import FloatArray
from calibrant._core.parameters import flag, whole
from calibrant._core.problem import IntArray
from calibrant.calibrators.base import Calibrator

OF_EACH = frozenset({"classes_", "n_features_in_", "feature_names_in_"})
"""What every calibrator has, and a file keeps elsewhere."""


def state_of(calibrator: Calibrator) -> dict[str, Any]:
    """Return what fitting found."""
    return {k: v for k, v in sorted(vars(calibrator).items()) if k.endswith("_") and k not in OF_EACH}


def restore(calibrator: Calibrator, state: Mapping[str, Any]) -> None:
    """Give a calibrator its fitted attributes; refuse those that are missing, unknown or of another type.

    A class that annotates none of its own is taken at its word.
    """
    kinds = annotated(type(calibrator))
    if kinds and (missing := kinds.keys() - state.keys() - calibrator.unrecorded):
        raise ValueError(f"{min(missing)} must be there; got none")
    for name, value in state.items():
        if not name.endswith("_") or name.startswith("_") or (kinds and name not in kinds):
            raise ValueError(f"{name!r} is no fitted attribute of {type(calibrator).__name__}")
        if kinds:
            _require(name, value, kinds[name])
        setattr(calibrator, name, value)


@cache
def annotated(of: type[Calibrator]) -> dict[str, Any]:
    """Return the fitted attributes that a class annotates, and their types."""
    hints = get_type_hints(of)
    return {k: v for k, v in hints.items() if k.endswith("_") and not k.startswith("_") and k not in OF_EACH}


def _require(name: str, value: Any, kind: Any) -> None:
    """Refuse a value that is not of the annotated type."""
    if kind in CHECKS:
        CHECKS[kind](name, value)
    elif not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__}; got {type(value).__name__}")
    elif isinstance(value, Calibrator):
        try:
            check_is_fitted(value)
        except NotFittedError:
            raise ValueError(f"{name} must be a fitted calibrator; got one that is not") from None


def _is_array_of(kinds: str) -> Callable[[str, Any], None]:
    def check(name: str, value: Any) -> None:
        if not isinstance(value, np.ndarray) or value.dtype.kind not in kinds:
            found = value.dtype if isinstance(value, np.ndarray) else type(value).__name__
            raise TypeError(f"{name} must be an array of {'whole ' if kinds == 'i' else ''}numbers; got {found}")

    return check


def _is_list_of_arrays(name: str, value: Any) -> None:
    if not isinstance(value, list):
        raise TypeError(f"{name} must be a list of arrays; got {type(value).__name__}")
    for array in value:
        _is_array_of("f")(name, array)


def _is_number(name: str, value: Any) -> None:
    if isinstance(value, bool) or not is_number(value):
        raise TypeError(f"{name} must be a number; got {value!r}")


def _is_count(name: str, value: Any) -> None:
    whole(name, value, least=0, hint="Fit anew")


CHECKS: Mapping[Any, Callable[[str, Any], Any]] = {
    FloatArray: _is_array_of("f"),
    IntArray: _is_array_of("i"),
    list[FloatArray]: _is_list_of_arrays,
    float: _is_number,
    int: _is_count,
    bool: flag,
}
"""What makes sure of each type that annotations name."""
