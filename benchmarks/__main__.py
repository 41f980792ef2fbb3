"""Run the comparisons and print them as markdown: ``python -m benchmarks [--only ece] [--quick] [--output FILE]``."""

from __future__ import annotations

import argparse
import os
import platform
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks import ece, every_calibrator, million_rows, na_isotonic_imagenet, temperature
from benchmarks.calibrators import FITTINGS
from benchmarks.fitting import SECONDS_FOR_ONCE
from benchmarks.na_isotonic import NA_ISOTONIC
from benchmarks.races import RACES
from benchmarks.roc_isotonic import ROC_ISOTONIC
from benchmarks.tce import TESTED
from benchmarks.top_label import TOP_LABEL

COMPARISONS = {
    "ece": ece,
    "temperature": temperature,
    **RACES,
    **FITTINGS,
    **TOP_LABEL,
    **NA_ISOTONIC,
    "na-isotonic-imagenet": na_isotonic_imagenet,
    **TESTED,
    **ROC_ISOTONIC,
    "every-calibrator": every_calibrator,
    "million-rows": million_rows,
}
PACKAGES = (
    *("calibrant", "numpy", "scipy", "numba", "scikit-learn", "netcal", "torch", "torchmetrics"),
    *("pycalib", "probcal", "calibre", "relplot"),
    *("betacal", "dirichletcal", "venn-abers", "probmetrics", "splinecalib", "igraph"),
)


def main() -> None:
    """Measure what was asked for, print it, and write it where asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", choices=COMPARISONS, action="append", help="run this comparison alone")
    parser.add_argument("--quick", action="store_true", help="smaller data: does it run, not how fast")
    parser.add_argument("--repeat", type=int, default=9, metavar="N", help="rounds after the warm-up (default 9)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the page there, and its pictures beside it")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")  # what peers say of deprecations is no part of the table

    parts = [_preamble(chosen.repeat, chosen.quick)]
    print(parts[0], end="\n\n", flush=True)
    for name in chosen.only or COMPARISONS:
        parts.append(f"## {COMPARISONS[name].TITLE}\n\n{COMPARISONS[name].tables(chosen.repeat, chosen.quick)}")
        print(parts[-1], end="\n\n", flush=True)
    page = "\n\n".join(parts) + "\n"
    if chosen.output:
        chosen.output.write_text(page, encoding="utf-8")
        images = chosen.output.parent / "images"
        images.mkdir(exist_ok=True)
        for name in chosen.only or COMPARISONS:
            if hasattr(COMPARISONS[name], "draw"):
                COMPARISONS[name].draw(images)


def _preamble(rounds: int, quick: bool) -> str:
    command = "python -m benchmarks" + (" --quick" if quick else "")
    return (
        "# Benchmarks\n\n"
        f"Written by `{command}`; `make bench PYTHON=python3.12` makes the environment and runs it. All contenders ran in one "
        f"process, in turns (A B C A B C ...), {rounds} rounds after one warm-up (three where peers take seconds; fit and "
        f"apply of more than {SECONDS_FOR_ONCE:.0f} s are measured once, and marked), each with its own default number of "
        "threads. Seconds are medians; a ratio is the median of the rounds' ratios. The absolute times are those of one small "
        "machine: read the ratios.\n\n"
        f"{platform.system()} on {platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}; "
        f"{', '.join(f'{name} {_version(name)}' for name in PACKAGES)}."
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


if __name__ == "__main__":
    main()
