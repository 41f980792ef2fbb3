"""The options of a monitor in plain words and numbers, and whether those of two monitors are the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

OPTIONS = ("window", "reference", "alpha", "notion", "binning", "labels", "pos_label", "input", "rows")


def options_of(monitor: Any) -> dict[str, Any]:
    """Return the options of a monitor as JSON has them."""
    plain = {name: getattr(monitor, name) for name in OPTIONS}
    plain["notion"] = None if monitor.notion is None else monitor.notion.name
    plain["binning"] = monitor.binning.n_bins
    plain["labels"] = None if monitor.labels is None else [plain_label(label) for label in monitor.labels]
    return plain


def plain_label(label: Any) -> Any:
    """Return a label as Python and JSON have it, and not as NumPy."""
    return label.item() if isinstance(label, np.generic) else label


def differing(ours: Mapping[str, Any], theirs: Mapping[str, Any], *, decided: bool) -> list[str]:
    """Return the names of the options that differ; notion and labels may be open where one monitor has no rows yet."""
    found = []
    for name in OPTIONS:
        one, other = ours[name], theirs[name]
        is_open = not decided and name in ("notion", "labels") and None in (one, other)
        is_turned = (
            not decided and name == "labels" and ours["pos_label"] is not None and sorted_alike(one or (), other or ())
        )
        if one != other and not is_open and not is_turned:
            found.append(name)
    return found


def sorted_alike(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether these are the same labels, in any order."""
    return sorted(map(repr, map(plain_label, one))) == sorted(map(repr, map(plain_label, other)))
