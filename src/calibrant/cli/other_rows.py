"""Held-out rows of a second file, with which rows for calibration are compared."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from calibrant.cli.inputs import read
from calibrant.cli.shown import Shown, aligned

if TYPE_CHECKING:
    from calibrant.interop.files import ForecastTable


def warn_beside_other_rows(arguments: argparse.Namespace, forecast: ForecastTable) -> None:
    """Warn where the rows of the command look like training rows beside those of ``--other``, if that is given."""
    from calibrant.significance.training_rows import warn_if_training_rows

    if arguments.other is None:
        return
    if Path(arguments.other).resolve() == Path(arguments.file).resolve():
        raise ValueError(
            f"--other must name another file than the calibration set; got {arguments.other} for both. "
            "Write held-out rows, such as the test set, to a file of their own, and name that."
        )
    whole = argparse.Namespace(**vars(arguments) | {"rows": None, "weight": None})
    both = aligned(whole, [forecast, read(whole, arguments.other)])
    warn_if_training_rows(*(Shown.of(whole, one.file, one).problem(whole) for one in both))
