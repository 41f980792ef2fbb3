"""What the study of harm found: how often a calibrator that was fitted on few rows made predictions worse.

Source: docs/do-no-harm.md, made by ``python -m studies.arena.harm 2``; the lines below are those of its tables.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import choice, require

ROWS = (100, 200, 500, 2000)
"""Rows to calibrate on."""

MOST_CLASSES = 10
"""Classes of the predictions of the study, at most."""

EXPERIMENTS = {"two classes": (54, 54, 42, 40), "3 to 10 classes": (54, 42, 42, 28)}
"""Experiments with so many rows: two draws of the rows of each of 27 sets of predictions that has enough."""

OF_TWO = """\
| bbq | 61 / 6 | 57 / 9 | 57 / 2 | 35 / 5 | 54 / 6 |
| beta | 44 / 7 | 37 / 9 | 19 / 2 | 20 / 2 | 32 / 6 |
| canonical-binning | 96 / 7 | 89 / 2 | 81 / 2 | 57 / 10 | 83 / 5 |
| cdf-spline | 76 / 9 | 67 / 7 | 36 / 2 | 28 / 2 | 54 / 6 |
| centered-isotonic | 41 / 7 | 41 / 7 | 14 / 0 | 10 / 5 | 28 / 5 |
| dirichlet | 46 / 9 | 37 / 7 | 19 / 2 | 20 / 5 | 32 / 6 |
| enir | 61 / 7 | 43 / 2 | 26 / 2 | 18 / 2 | 39 / 4 |
| ensemble-temperature | 35 / 4 | 30 / 6 | 7 / 0 | 12 / 5 | 23 / 4 |
| histogram-binning | 93 / 2 | 80 / 9 | 64 / 7 | 38 / 2 | 71 / 5 |
| irm | 63 / 2 | 59 / 6 | 45 / 12 | 25 / 2 | 50 / 5 |
| irova-ts | 78 / 2 | 74 / 6 | 55 / 2 | 30 / 0 | 62 / 3 |
| isotonic | 52 / 2 | 41 / 7 | 26 / 2 | 18 / 0 | 36 / 3 |
| matrix | 46 / 9 | 37 / 7 | 19 / 2 | 20 / 5 | 32 / 6 |
| na-fir | 46 / 6 | 31 / 2 | 24 / 0 | 18 / 2 | 31 / 3 |
| near-isotonic | 63 / 9 | 43 / 4 | 26 / 2 | 18 / 0 | 39 / 4 |
| platt | 52 / 7 | 41 / 6 | 12 / 0 | 18 / 8 | 33 / 5 |
| quadratic | 50 / 6 | 39 / 7 | 17 / 2 | 12 / 2 | 32 / 5 |
| scaling-binning | 59 / 4 | 44 / 7 | 26 / 0 | 32 / 8 | 42 / 5 |
| scir | 48 / 4 | 33 / 2 | 21 / 0 | 15 / 2 | 31 / 2 |
| sms | 28 / 4 | 26 / 6 | 10 / 0 | 18 / 5 | 21 / 4 |
| spline | 56 / 9 | 46 / 7 | 17 / 5 | 8 / 2 | 34 / 6 |
| svs | 28 / 6 | 24 / 6 | 10 / 0 | 15 / 5 | 20 / 4 |
| temperature | 35 / 4 | 35 / 4 | 14 / 0 | 32 / 15 | 30 / 5 |
| vector | 50 / 9 | 37 / 9 | 24 / 2 | 20 / 2 | 34 / 6 |
| venn-abers | 54 / 6 | 44 / 6 | 24 / 0 | 20 / 2 | 37 / 4 |
"""

OF_MORE = """\
| bbq | 63 / 2 | 64 / 10 | 52 / 5 | 29 / 0 | 55 / 4 |
| beta | 52 / 11 | 38 / 5 | 17 / 2 | 0 / 0 | 31 / 5 |
| canonical-binning | 94 / 4 | 100 / 7 | 95 / 2 | 100 / 4 | 97 / 4 |
| cdf-spline | 70 / 6 | 71 / 0 | 55 / 0 | 36 / 4 | 61 / 2 |
| centered-isotonic | 50 / 6 | 38 / 7 | 24 / 2 | 4 / 0 | 33 / 4 |
| dirichlet | 69 / 9 | 69 / 2 | 43 / 0 | 4 / 0 | 51 / 4 |
| enir | 67 / 9 | 55 / 10 | 43 / 2 | 14 / 0 | 49 / 6 |
| ensemble-temperature | 13 / 9 | 10 / 0 | 5 / 2 | 0 / 0 | 8 / 4 |
| histogram-binning | 87 / 6 | 95 / 5 | 90 / 0 | 54 / 4 | 84 / 4 |
| irm | 61 / 6 | 45 / 2 | 36 / 0 | 18 / 11 | 43 / 4 |
| irova-ts | 85 / 4 | 81 / 0 | 69 / 0 | 29 / 0 | 70 / 1 |
| isotonic | 67 / 9 | 52 / 10 | 40 / 2 | 14 / 0 | 48 / 6 |
| matrix | 69 / 9 | 69 / 2 | 43 / 0 | 4 / 0 | 51 / 4 |
| na-fir | 33 / 13 | 31 / 5 | 26 / 5 | 7 / 0 | 27 / 7 |
| near-isotonic | 67 / 9 | 55 / 10 | 43 / 2 | 14 / 0 | 49 / 6 |
| platt | 56 / 11 | 43 / 7 | 26 / 10 | 0 / 0 | 36 / 8 |
| quadratic | 50 / 9 | 48 / 5 | 14 / 2 | 0 / 0 | 32 / 5 |
| scaling-binning | 59 / 11 | 48 / 10 | 36 / 10 | 7 / 0 | 42 / 8 |
| scir | 54 / 11 | 52 / 2 | 33 / 2 | 21 / 0 | 43 / 5 |
| sms | 33 / 7 | 31 / 7 | 14 / 2 | 0 / 0 | 22 / 5 |
| spline | 48 / 4 | 48 / 5 | 24 / 5 | 0 / 0 | 34 / 4 |
| svs | 28 / 9 | 26 / 5 | 10 / 5 | 0 / 0 | 18 / 5 |
| temperature | 17 / 11 | 21 / 2 | 17 / 2 | 7 / 0 | 16 / 5 |
| vector | 61 / 9 | 43 / 0 | 29 / 2 | 0 / 0 | 38 / 4 |
| venn-abers | 63 / 9 | 48 / 5 | 36 / 2 | 14 / 0 | 44 / 5 |
"""

"""Harm in percent of the experiments with 100, 200, 500 and 2000 rows and with all: without and with `SafeCalibrator`."""

TABLES = {"two classes": OF_TWO, "3 to 10 classes": OF_MORE}


@dataclass(frozen=True, eq=False)
class Harm:
    """How often a method raised the log loss of held-out rows: shares (4,) of the ``experiments`` (4,) of `ROWS`."""

    group: str
    share: FloatArray

    @property
    def experiments(self) -> tuple[int, ...]:
        """Number of experiments with so many rows to calibrate on."""
        return EXPERIMENTS[self.group]

    def rows(self, tolerated: float) -> int | None:
        """Return the rows from which on the share is never above what is tolerated; None where it is with the most rows."""
        above = np.flatnonzero(self.share > tolerated)
        first = int(above[-1]) + 1 if above.size else 0
        return ROWS[first] if first < len(ROWS) else None


def harm_of(method: object, n_classes: int, *, safe: bool) -> Harm:
    """Return what the study found of a method, for so many classes."""
    require(
        n_classes <= MOST_CLASSES,
        f"n_classes must be at most {MOST_CLASSES} for calibrate=, as in the study of harm",
        value=n_classes,
        hint="Ask for guarantee= in place of calibrate=, or let calibrant.advise judge the rows at hand",
    )
    group = "two classes" if n_classes == 2 else "3 to 10 classes"
    shares = _shares(TABLES[group])
    found = shares[choice("calibrate", method, shares, hint="Pass a method of the study of harm")]
    return Harm(group, found[:, 1 if safe else 0])


def _shares(table: str) -> dict[str, FloatArray]:
    """Return the shares of each method, shape (4, 2)."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return {
        name: np.array([[float(part) / 100.0 for part in pair.split("/")] for pair in pairs[: len(ROWS)]])
        for name, *pairs in cells
    }
