"""The tables of the simulation study: the printed figure beside the one computed here."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from calibrant import bin_test_calibration_error, calibration_error
from studies.markdown import table
from studies.tce.forecasts import CASES, N_TEST, Forecast, draw, stored
from studies.tce.metrics import BINNING, PUBLISHED, WITH_OURS, Metric, Setting, VarianceT
from studies.tce.paper import PRINTED
from studies.tce.tables import TABLES

STORED = {prevalences: case for case, prevalences in CASES.items()}
"""The predictions that are stored, by prevalence of the training and of the test rows."""


def forecast_of(setting: Setting) -> Forecast:
    """The stored predictions where there are some, else those that the generator makes with the seed of the study."""
    case = STORED.get((setting.train, setting.test))
    is_stored = case is not None and setting.n_test == N_TEST and not setting.noise[0]
    return stored(case) if case is not None and is_stored else setting.forecast(0)


@cache
def cells(number: int, without: str = "") -> np.ndarray:
    """All cells of a table as the published code computes them, or without one of its conventions, (n_lines, n_metrics)."""
    how = WITH_OURS[without] if without else PUBLISHED
    return np.array([_line(setting, TABLES[number].metrics, how) for _, setting in TABLES[number].lines])


def _line(setting: Setting, names: Sequence[str], how: dict[str, Metric]) -> list[float]:
    forecast = forecast_of(setting)
    return [how[name](setting, forecast) for name in names]


def compared(number: int, without: str = "") -> Iterator[tuple[int, int, str, str]]:
    """Line, metric, printed and computed of all cells of a table, with as many digits as are printed."""
    computed = cells(number, without)
    for i, line in enumerate(PRINTED[number]):
        for j, printed in enumerate(line):
            yield i, j, printed, f"{computed[i, j]:.{len(printed.split('.')[1])}f}"


def agreeing(without: str = "") -> tuple[int, int]:
    """How many cells come out as printed, and how many there are."""
    pairs = [(printed, computed) for number in TABLES for _, _, printed, computed in compared(number, without)]
    return sum(printed == computed for printed, computed in pairs), len(pairs)


def side_by_side(number: int) -> str:
    """Printed and computed in each cell; bold where they differ."""
    of = TABLES[number]
    body = [[name, *([""] * len(of.metrics))] for name, _ in of.lines]
    for i, j, printed, computed in compared(number):
        body[i][j + 1] = f"{printed} / {computed}" if printed == computed else f"**{printed} / {computed}**"
    return table([of.word, *of.metrics], body)


def check() -> None:
    """Stop if the authors' own predictions do not give what they print in Table 2."""
    wrong = [f"{printed} is printed, {found} found" for _, _, printed, found in compared(2) if printed != found]
    if wrong:
        sys.exit(f"Table 2 must come out of the stored predictions; {'; '.join(wrong)}")


def generator_error() -> float:
    """Largest difference of the stored predictions and those of the generator."""
    return max(float(np.abs(draw(*CASES[case]).forecast.prob - stored(case).prob).max()) for case in CASES)


def convention_table() -> str:
    """What becomes of the cells where the published code and the library part."""
    body = []
    for without in WITH_OURS:
        moved = [
            (
                abs(float(found) - float(printed)),
                number,
                TABLES[number].metrics[j],
                TABLES[number].lines[i][0],
                printed,
                found,
            )
            for number in TABLES
            for i, j, printed, found in compared(number, without)
            if printed != found
        ]
        numbers = ", ".join(map(str, sorted({of[1] for of in moved}))) or "none"
        most = "" if not moved else "{5} for {4} ({2}, {3})".format(*max(moved))
        body.append([without, f"{len(moved)}", numbers, most])
    return table(["in the published code", "cells that move", "of tables", "at most"], body)


def t_tests() -> list[list[str]]:
    """Three t-tests and the binomial test of the calibrated model, over the three binnings."""
    setting = Setting(0.5, 0.5)
    of = forecast_of(setting)
    found: dict[str, dict[str, float]] = {
        "binomial": {},
        "t, as published": {},
        "t, with the root of it": {},
        "t, of the library": {},
    }
    for name, cut in BINNING.items():
        how: dict[str, Any] = {"binning": cut(setting), "labels": [0, 1]}
        found["binomial"][name] = bin_test_calibration_error(of.y, of.prob, **how)
        found["t, of the library"][name] = bin_test_calibration_error(of.y, of.prob, test="t", **how)
        for word, power in (("t, as published", 1.0), ("t, with the root of it", 0.5)):
            found[word][name] = calibration_error(of.y, of.prob, loss=VarianceT(0.05, power), **how)
    return [[word, *(f"{value:.2f}" for value in values.values())] for word, values in found.items()]


def t_table() -> str:
    """The same as a table."""
    return table(["50 % - 50 %", *BINNING], t_tests())
