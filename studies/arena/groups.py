"""Results of two classes and of more, by the number of rows, and the words for methods and figures on the pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from studies.arena.cells import SIZES
from studies.arena.measures import FEWEST_SETS, Interval, Table, of_size
from studies.arena.methods import NONE, PEERS
from studies.arena.results import Result

GROUPS = {True: "Two classes", False: "More than two classes"}
Tables = dict[int, Table]


def tables_of(results: Sequence[Result], two: bool) -> Tables:
    """The table of each size that has results."""
    every = {size: of_size(results, size, two) for size in SIZES}
    return {size: one for size, one in every.items() if one.n_sets}


def enough(tables: Tables) -> Tables:
    """The sizes with data sets enough for a claim."""
    return {size: one for size, one in tables.items() if one.n_sets >= FEWEST_SETS}


def shown(method: str) -> str:
    """The word of a calibrator, or the name of a peer."""
    return method if method == NONE or method in PEERS else f"`{method}`"


def interval(one: Interval, form: str) -> str:
    """The mean, and its interval in brackets."""
    return f"{form.format(one.value)} ({form.format(one.low)} to {form.format(one.high)})"


def listed(parts: Iterable[str]) -> str:
    """Parts of a sentence: ``a, b and c``."""
    *most, last = [*parts] or [""]
    return f"{', '.join(most)} and {last}" if most else last


def percent(share: float) -> str:
    """A share in whole percent; halves are rounded up."""
    return f"{int(np.floor(100.0 * share + 0.5 + 1e-9))}"
