"""The tables of the simulation study of test-based calibration error: their lines, and what each of them is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from studies.tce.forecasts import N_TEST
from studies.tce.metrics import Setting

CALIBRATED, MISCALIBRATED = (0.5, 0.5), (0.5, 0.4)
"""Prevalences of the training and the test rows where the study speaks of a calibrated and of a miscalibrated model."""


SEVEN = ("TCE(P)", "TCE(Q)", "TCE(V)", "ECE", "ACE", "MCE", "MCE(Q)")
TESTS = ("TCE(P)-B", "TCE(P)-T", "TCE(Q)-B", "TCE(Q)-T", "TCE(V)-B", "TCE(V)-T")

N_BINS = (1000, 500, 100, 50, 10, 5, 1)
PAIRS = ((6, 24), (30, 120), (60, 240), (300, 1200), (600, 2400))
NOISES = (0.0, 0.01, 0.05, 0.1, 0.5, 1.0)
LEVELS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5)
SIZES = (30, 60, 300, 600, 3000, 6000, 30_000, 60_000)
PREVALENCES = (0.5, 0.4, 0.3, 0.2, 0.1, 0.08, 0.06, 0.04, 0.02)


@dataclass(frozen=True)
class Table:
    """A table of the study: a word for its lines, and for each line its name, its setting and its metrics."""

    what: str
    word: str
    lines: tuple[tuple[str, Setting], ...]
    metrics: tuple[str, ...] = SEVEN


def both(
    word: Callable[[Any], str], make: Callable[[tuple[float, float]], Sequence[tuple[Any, Setting]]]
) -> tuple[tuple[str, Setting], ...]:
    """Lines of the calibrated and of the miscalibrated model."""
    return tuple(
        (f"{100 * of[0]:g} % - {100 * of[1]:g} %, {word(key)}", setting)
        for of in (CALIBRATED, MISCALIBRATED)
        for key, setting in make(of)
    )


def _percent(train: float, test: float) -> str:
    return f"{100 * train:g} % - {100 * test:g} %"


TABLES: dict[int, Table] = {
    2: Table(
        "Table 2: three test sets at either prevalence",
        "training - test prevalence",
        tuple(
            (_percent(train, test), Setting(train, test))
            for train, tests in ((0.5, (0.5, 0.4, 0.6)), (0.01, (0.01, 0.0, 0.02)))
            for test in tests
        ),
        ("TCE(P)", "TCE(Q)", "ECE", "ACE"),
    ),
    6: Table(
        "Table 6: the smallest bin",
        "N_min",
        both(
            lambda least: f"N_min {least}",
            lambda of: [
                (least, Setting(*of, sizes=(least, N_TEST), n_bins=n))
                for least, n in zip((1, 6, 30, 60, 300, 600, 3000), N_BINS, strict=True)
            ],
        ),
    ),
    7: Table(
        "Table 7: the largest bin",
        "N_max",
        both(
            lambda most: f"N_max {most}",
            lambda of: [
                (most, Setting(*of, sizes=(1, most), n_bins=n))
                for most, n in zip((6, 30, 60, 300, 600, 3000, 6000), N_BINS, strict=True)
            ],
        ),
    ),
    8: Table(
        "Table 8: both sizes",
        "N_min to N_max",
        both(
            lambda pair: f"{pair[0]} to {pair[1]}",
            lambda of: [(pair, Setting(*of, sizes=pair, n_bins=N_TEST // (2 * pair[0]))) for pair in PAIRS],
        ),
    ),
    9: Table(
        "Table 9: noise in the log-odds",
        "standard deviation",
        both(
            lambda scale: f"noise {scale:g}",
            lambda of: [(scale, Setting(*of, noise=(scale, k))) for k, scale in enumerate(NOISES)],
        ),
    ),
    10: Table(
        "Table 10: the level",
        "level",
        both(lambda level: f"level {level:g}", lambda of: [(level, Setting(*of, level=level)) for level in LEVELS]),
    ),
    11: Table(
        "Table 11: the test",
        "N_min to N_max",
        both(
            lambda pair: f"{pair[0]} to {pair[1]}",
            lambda of: [(pair, Setting(*of, sizes=pair, n_bins=N_TEST // (2 * pair[0]))) for pair in PAIRS],
        ),
        TESTS,
    ),
    12: Table(
        "Table 12: the number of test rows",
        "test rows",
        both(lambda n: f"N {n}", lambda of: [(n, Setting(*of, n_test=n)) for n in SIZES]),
    ),
    13: Table(
        "Table 13: the prevalence",
        "training - test prevalence",
        tuple(
            (_percent(train, test), Setting(train, test))
            for shift in (0, 1)
            for train, test in zip(PREVALENCES, (*PREVALENCES, 0.0)[shift:], strict=False)
        ),
    ),
}
