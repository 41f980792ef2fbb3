"""The simulation study of test-based calibration error with many draws of its data: what is noise in its tables."""

from __future__ import annotations

from functools import cache

import numpy as np

from studies.markdown import table
from studies.tce.metrics import OURS, Setting
from studies.tce.tables import TABLES

SEEDS = 100
FEW_SEEDS = 25
"""Of test sets that are large."""

LARGE = 10_000
"""Rows from which on a test set is large."""

SHOWN: dict[int, tuple[str, ...]] = {
    2: ("TCE(P)", "TCE(Q)", "ECE", "ACE"),
    6: ("TCE(P)", "TCE(Q)", "ECE", "ACE", "MCE(Q)"),
    7: ("TCE(P)",),
    8: ("TCE(P)",),
    9: ("TCE(P)", "TCE(Q)", "TCE(V)", "ECE", "ACE"),
    10: ("TCE(P)", "TCE(Q)", "TCE(V)"),
    11: ("TCE(P)-B", "TCE(P)-T", "TCE(Q)-B", "TCE(Q)-T", "TCE(V)-B", "TCE(V)-T"),
    12: ("TCE(P)", "TCE(Q)", "TCE(V)", "ECE", "ACE"),
    13: ("TCE(P)", "TCE(Q)", "TCE(V)", "ECE", "ACE"),
}
"""Metrics of each table that are drawn anew: those of Tables 7, 8 and 10 that are left out stand in Table 6 and 13."""


@cache
def _all_drawn() -> dict[int, list[list[np.ndarray]]]:
    """The metrics of each line of each table, a row a seed. Seeds run outermost: lines of one seed share their data."""
    found: dict[int, list[list[np.ndarray]]] = {number: [[] for _ in TABLES[number].lines] for number in SHOWN}
    for seed in range(SEEDS):
        for number, names in SHOWN.items():
            for i, (_, setting) in enumerate(TABLES[number].lines):
                if seed < seeds_of(setting):
                    forecast = setting.forecast(seed)
                    found[number][i].append(np.array([OURS[name](setting, forecast) for name in names]))
    return found


def seeds_of(setting: Setting) -> int:
    """How many draws there are of a setting."""
    return SEEDS if setting.n_test < LARGE else FEW_SEEDS


def drawn(number: int, line: int, metric: str) -> np.ndarray:
    """A metric of a line of a table, one a seed."""
    return np.array([row[SHOWN[number].index(metric)] for row in _all_drawn()[number][line]])


def seeds_table(number: int) -> str:
    """Mean and 90 % interval of each cell."""
    of, names = TABLES[number], SHOWN[number]
    body = [[name, *(summary(drawn(number, i, metric)) for metric in names)] for i, (name, _) in enumerate(of.lines)]
    return table([of.word, *names], body)


def summary(values: np.ndarray) -> str:
    """Mean and 90 % interval, with the digits that fractions or percentages need."""
    low, high = np.quantile(values, [0.05, 0.95])
    digits = 4 if high <= 1.0 and values.max() <= 1.0 and values.mean() < 0.9 else 1
    return f"{values.mean():.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"
