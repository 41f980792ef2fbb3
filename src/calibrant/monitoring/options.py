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


def event_last(labels: Sequence[Any], pos_label: Any) -> list[Any]:
    """Return labels of columns with that of the event last, where it is one of two."""
    plain = [plain_label(label) for label in labels]
    return plain[::-1] if len(plain) == 2 and pos_label is not None and plain[0] == pos_label else plain


def differing(ours: Mapping[str, Any], theirs: Mapping[str, Any], *, decided: bool) -> list[str]:
    """Return the names of the options that differ; notion and labels may be open where one monitor has no rows yet."""
    open_yet = [] if decided else [name for name in ("notion", "labels") if None in (ours[name], theirs[name])]
    return [name for name in OPTIONS if name not in open_yet and ours[name] != theirs[name]]
