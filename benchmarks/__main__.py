"""Run the comparisons and print them as markdown: ``python -m benchmarks [--only ece] [--quick] [--output FILE]``.

``--only ece --into FILE`` measures one section of a page anew, and leaves the others as they are.
"""

import argparse
import warnings
from pathlib import Path

from benchmarks import (
    ece,
    every_calibrator,
    exports,
    log_loss,
    million_rows,
    na_isotonic_imagenet,
    plain_metrics,
)
from benchmarks.calibrators import FITTINGS
from benchmarks.fitting import SECONDS_FOR_ONCE
from benchmarks.measure import machine
from benchmarks.na_isotonic import NA_ISOTONIC
from benchmarks.races import RACES
from benchmarks.roc_isotonic import ROC_ISOTONIC
from benchmarks.tce import TESTED
from benchmarks.top_label import TOP_LABEL

COMPARISONS = {
    "ece": ece,
    "plain-metrics": plain_metrics,
    "log-loss": log_loss,
    **RACES,
    **FITTINGS,
    **TOP_LABEL,
    **NA_ISOTONIC,
    "na-isotonic-imagenet": na_isotonic_imagenet,
    **TESTED,
    **ROC_ISOTONIC,
    "every-calibrator": every_calibrator,
    "million-rows": million_rows,
    "exports": exports,
}
PACKAGES = (
    *("calibrant", "numpy", "scipy", "numba", "scikit-learn", "netcal", "torch", "torchmetrics"),
    *("pycalib", "probcal", "calibre", "relplot"),
    *("betacal", "dirichletcal", "venn-abers", "probmetrics", "splinecalib", "igraph"),
    *("duckdb", "onnxruntime", "skl2onnx"),
)


def main() -> None:
    """Measure what was asked for, print it, and write it where asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", choices=COMPARISONS, action="append", help="run this comparison alone")
    parser.add_argument("--quick", action="store_true", help="smaller data: does it run, not how fast")
    parser.add_argument("--repeat", type=int, default=9, metavar="N", help="rounds after the warm-up (default 9)")
    written = parser.add_mutually_exclusive_group()
    written.add_argument("--output", type=Path, metavar="FILE", help="write the page there")
    written.add_argument("--into", type=Path, metavar="FILE", help="replace the sections of that page")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")  # what peers say of deprecations is no part of the table

    preamble, sections = _preamble(chosen.repeat, chosen.quick), {}
    print(preamble, end="\n\n", flush=True)
    for name in chosen.only or COMPARISONS:
        sections[COMPARISONS[name].TITLE] = COMPARISONS[name].tables(chosen.repeat, chosen.quick)
        print(f"## {COMPARISONS[name].TITLE}\n\n{sections[COMPARISONS[name].TITLE]}", end="\n\n", flush=True)
    if chosen.output:
        _write(chosen.output, preamble, sections)
    elif chosen.into:
        alone = f"Measured in a run of its own, {chosen.repeat} rounds: {machine(PACKAGES)}."
        preamble, before = parted(chosen.into.read_text(encoding="utf-8"))
        anew = {title: f"{alone}\n\n{section}" for title, section in sections.items()}
        _write(chosen.into, preamble, merged(before, anew))


def parted(page: str) -> tuple[str, dict[str, str]]:
    """What stands before the sections of a page, and the sections by their titles."""
    preamble, *sections = page.rstrip("\n").split("\n\n## ")
    by_title = dict(section.split("\n\n", 1) for section in sections)
    return preamble, by_title


def merged(before: dict[str, str], anew: dict[str, str]) -> dict[str, str]:
    """Sections in the order that they had; a new one follows those that a whole run puts before it."""
    order = [comparison.TITLE for comparison in COMPARISONS.values()]
    titles, both = list(before), before | anew
    for title in (one for one in order if one in anew and one not in before):
        earlier = [one for one in order[: order.index(title)] if one in titles]
        titles.insert(titles.index(earlier[-1]) + 1 if earlier else 0, title)
    return {title: both[title] for title in titles}


def _write(path: Path, preamble: str, sections: dict[str, str]) -> None:
    parts = [preamble, *(f"## {title}\n\n{section}" for title, section in sections.items())]
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _preamble(rounds: int, quick: bool) -> str:
    command = "python -m benchmarks" + (" --quick" if quick else "")
    return (
        "# Benchmarks\n\n"
        f"Written by `{command}`; `make bench PYTHON=python3.12` makes the environment and runs it. All contenders ran in one "
        f"process, in turns (A B C A B C ...), {rounds} rounds after one warm-up (three where peers take seconds; fit and "
        f"apply of more than {SECONDS_FOR_ONCE:.0f} s are measured once, and marked), each with its own default number of "
        "threads. Seconds are medians; a ratio is the median of the rounds' ratios. The absolute times are those of one small "
        "machine: read the ratios.\n\n"
        f"{machine(PACKAGES)}."
    )


if __name__ == "__main__":
    main()
