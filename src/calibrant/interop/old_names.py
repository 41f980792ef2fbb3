"""Names that saved calibrators have and the library has no more. A rename is one line of `OLD_NAMES`, and files outlive it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

OLD_NAMES: dict[str, str | None] = {}
"""What was called otherwise before: old to new.

    "calibrator/histogram": "histogram-binning"                       a word by which something is declared
    "binning/equal-mass/bins": "n_bins"                               a parameter, of the word of today
    "calibrator/temperature/T_": "temperature_"                       a fitted attribute
    "calibrator/temperature/solver": None                             a parameter or attribute that is there no more

Kinds are those of `calibrant.declare`, and "cells of" for the cells of a simplex binning. A class may change its name as it
likes: files hold the words. A parameter that is new, and whose default changes old maps, has its old value in ``unstored``.
"""


def current(kind: str, name: Any) -> Any:
    """Return the word of today for one that a file holds."""
    return OLD_NAMES.get(f"{kind}/{name}", name) if isinstance(name, str) else name


def renamed(kind: str, name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters or fitted attributes of something under the names of today."""
    named = {OLD_NAMES.get(f"{kind}/{name}/{key}", key): value for key, value in values.items()}
    return {key: value for key, value in named.items() if key is not None}
