"""What a monitor wrote down, read and checked: a state may be damaged, cut or made up, and then no figure of it is shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from calibrant._core.checksum import checksum_of
from calibrant._core.parameters import refuse, require
from calibrant.binning import EqualWidth
from calibrant.binning.equal_width import even_edges
from calibrant.monitoring.by_window import ByWindow, require_few
from calibrant.monitoring.figures import IMPOSSIBLE, LOG_LOSS
from calibrant.monitoring.options import OPTIONS
from calibrant.monitoring.windows import LAST, Windows
from calibrant.sums import Plan, Sums
from calibrant.sums.strata import BITS

VERSION = 1
"""Of what `Monitor.to_dict` writes."""

ENTRIES = {"calibrant_monitor", "options", "n_rows", "next_row", "windows", "reference", "checksum"}

ROUNDING = 1e-9
"""How far a sum of probabilities may be beyond the number of its rows, in parts of it."""

HINT = "Pass what Monitor.to_dict gave, as it is"

Array = npt.NDArray[Any]


@contextmanager
def of_a_state() -> Iterator[None]:
    """Say in words what Python finds wrong with a state: an entry that lacks, or is of another kind."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError) as error:
        refuse("the state of a monitor must be whole", got=f"{type(error).__name__}: {error}", hint=HINT)


def require_version(plain: object) -> None:
    """Refuse what no monitor of this version wrote."""
    version = plain.get("calibrant_monitor") if isinstance(plain, Mapping) else None
    require(
        type(version) is int and version == VERSION,
        f"plain must be the state of a monitor, version {VERSION}",
        got="something else" if version is None else f"version {version!r}",
        hint="Pass what Monitor.to_dict gave",
    )
    assert isinstance(plain, Mapping)
    require(
        plain.get("checksum") == checksum_of(plain),
        "the state of a monitor must match its checksum",
        got="one that was changed or damaged",
        hint="Take a copy of it, or add the rows to a new monitor",
    )
    _require(set(plain) == ENTRIES and set(plain["options"]) == set(OPTIONS), "exactly the entries of a state")
    options = plain["options"]
    _require(options["input"] in ("probability", "logit"), "probabilities or logits")
    _require(options["rows"] in ("as-given", "normalize", "percent"), "a rule for rows")
    _require(_is_label(options["pos_label"]) or options["pos_label"] is None, "a label as pos_label")
    labels = options["labels"]
    if labels is not None:
        are_labels = isinstance(labels, list) and len(labels) > 1 and all(map(_is_label, labels))
        _require(are_labels and len(set(map(repr, labels))) == len(labels), "distinct labels")
    _require(isinstance(plain["windows"], list), "a list of windows")
    _require(all(_is_whole(plain[name], LAST) for name in ("n_rows", "next_row")), "whole numbers of rows")


def require_empty(plain: Mapping[str, Any]) -> None:
    """Refuse rows whose notion is not known."""
    is_empty = not plain["windows"] and plain["reference"] is None and plain["n_rows"] == 0
    _require(is_empty, "the notion of its rows")


@dataclass(frozen=True)
class State:
    """Reads sums of a plan: what is found must be sums of rows, with these labels."""

    plan: Plan
    names: Windows
    labels: list[Any]

    def windows(self, plain: Mapping[str, Any]) -> ByWindow:
        """Return the sums of each window."""
        found: dict[Any, Sums] = {}
        require_few(len(plain["windows"]))
        for one in plain["windows"]:
            _require(set(one) == {"window", "sums"} and self.names.is_key(one["window"]), "names of windows")
            _require(one["window"] not in found, "each window once")
            found[one["window"]] = self.sums(one["sums"])
        _require(len(found) <= plain["n_rows"] <= sum(sums.rows for sums in found.values()), "all rows in its windows")
        return ByWindow(found, plain["n_rows"], plain["next_row"])

    def sums(self, plain: Mapping[str, Any]) -> Sums:
        """Return sums of rows, if they are such."""
        notion, rows = self.plan.cells[0][0], plain["rows"]
        _require(_is_whole(rows, LAST) and rows > 0 and plain["weight"] == rows, "numbers of rows")
        _require(plain["unit"] == {"are_counts": True, "rows_per_weight": 1.0}, "weights that are rows")
        _require(plain["n_classes"] == len(self.labels) > 1, "the number of classes")
        _require(plain["kept"] is None, "no rows")
        cells = plain["cells"]
        _require(isinstance(cells, list) and len(cells) == 1, "cells of one notion")
        counts = [self._rows_of(one) for one in cells[0]["problems"]]
        per_class = notion.name in ("top-label", "class-wise")
        _require(len(counts) == (len(self.labels) if per_class else 1), "cells of each part")
        held = [sum(counts)] if notion.one_score_a_row else counts
        _require(all(count == rows for count in held), "cells of all rows")
        self._require_scores(plain["scores"], rows)
        return Sums.from_dict(plain, self.plan)

    def _require_scores(self, plain: Mapping[str, Any], rows: int) -> None:
        """Refuse a log loss that is negative or no number, and impossible events that are more than the rows."""
        _require(all(isinstance(one, list) and len(one) == 1 for one in plain.values()), "a sum of each score")
        (loss,), (impossible,) = plain[LOG_LOSS], plain[IMPOSSIBLE]
        is_loss = loss == "inf" or (type(loss) in (int, float) and 0.0 <= loss < np.inf)
        _require(is_loss, "a log loss that is not negative")
        is_number = type(impossible) in (int, float) and 0 <= impossible <= rows and impossible % 1 == 0
        _require(is_number, "whole numbers of impossible events")

    def _rows_of(self, plain: Mapping[str, Any]) -> int:
        """Return how many rows the bins of a part hold, after a look at whether they are sums of rows."""
        _require(
            isinstance(plain["name"], str) and 0.0 <= plain["share"] <= 1.0 + ROUNDING, "names and shares of parts"
        )
        binning = self.plan.cells[0][1]
        assert isinstance(binning, EqualWidth)
        edges, count = _numbers(plain["edges"]), _numbers(plain["count"], is_whole=True)
        known = [even_edges(binning.n_bins, np.dtype(kind)).edges for kind in (np.float64, np.float32, np.float16)]
        is_empty = edges.shape == (2,) and count.tolist() == [0]
        _require(is_empty or any(np.array_equal(edges, one) for one in known), "the edges of its bins")
        n = edges.size - 1
        weight, score, events = (_numbers(plain[name]) for name in ("weight", "score_sum", "outcome_sum"))
        _require(all(values.shape == (n,) for values in (count, weight, score, events)), "a number for each bin")
        _require(np.array_equal(weight, count), "weights that are rows")
        _require((score <= count * (1.0 + ROUNDING)).all(), "probabilities of at most 1")
        _require((events <= count).all() and (events % 1.0 == 0.0).all(), "whole numbers of events")
        self._require_strata(plain["strata"], count, events)
        return int(count.sum())

    def _require_strata(self, plain: Mapping[str, Any], count: Array, events: Array) -> None:
        """Refuse rows by outcome that are not those of the bins."""
        by_outcome, whole, part = (_numbers(plain[name], is_whole=True) for name in ("count", "whole", "part"))
        n = count.size
        fit = by_outcome.shape == (2, n) and whole.shape == part.shape == (2, 2, n)
        _require(fit and np.array_equal(by_outcome, [count - events, events]), "rows of each bin by outcome")
        _require((whole <= by_outcome).all() and (part < 1 << BITS).all(), "sums of at most one for each row")


def _numbers(values: object, *, is_whole: bool = False) -> Array:
    """Return finite numbers that are not negative."""
    try:
        found = np.array(values) if isinstance(values, list) else np.empty(0, dtype=object)
    except ValueError:  # lists of different lengths
        found = np.empty(0, dtype=object)
    is_right = found.dtype.kind in ("i" if is_whole else "if") and bool((found >= 0).all() and np.isfinite(found).all())
    _require(is_right, "finite numbers that are not negative")
    return found


def _is_whole(value: object, most: int) -> bool:
    return type(value) is int and 0 <= value <= most


def _is_label(value: object) -> bool:
    return isinstance(value, (str, int, float)) and value == value


def _require(holds: object, what: str) -> None:
    require(holds, f"the state of a monitor must hold {what}", got="something else", hint=HINT)
