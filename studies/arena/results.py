"""Gather the cells of the arena into the data of the repository: python -m studies.arena.results

It writes studies/arena/results-{part}.csv.gz, a line a forecast, a number of rows and a method: means over the draws. Tables
and figures are made from these files (studies/arena/page.py); the cells themselves lie in build/arena/results and are not kept.
Lines of the files that no cell has stay, so that a few methods can be run again by themselves.
"""

from __future__ import annotations

import csv
import gzip
import io
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from studies.arena.cells import FOLDER, MOST_CLASSES, NONE, TOO_SLOW, Cell, Line, read
from studies.arena.data_sets import PARTS, data_sets
from studies.arena.out_of_fold import FOLDER as FORECASTS
from studies.arena.out_of_fold import load, planned

HERE = Path(__file__).parent
WORSE = 1e-4
"""A log loss that is higher by less than this is no harm: less than that is of no use to anyone."""

LAST_DIGIT = 1e-5
"""Of a figure in the files."""


@dataclass(frozen=True)
class Result:
    """What a method did on a forecast with so many rows to calibrate on: means over the draws."""

    data_set: str
    model: str
    n_classes: int
    rows: int
    method: str
    draws: int
    logloss: float
    brier: float
    ece: float
    accuracy: float
    harm: float
    """Share of the draws where the log loss is worse than without calibration."""

    worst: float
    """The highest log loss less that without calibration, of the draws."""

    seconds: float
    refinement: float
    note: str

    @property
    def experiment(self) -> tuple[str, str, int]:
        return self.data_set, self.model, self.rows

    @property
    def is_there(self) -> bool:
        """Whether the method gave probabilities in every draw."""
        return not self.note


def whole_cells(cells: dict[Cell, dict[str, Line]]) -> dict[Cell, dict[str, Line]]:
    """Leave out cells that a stop cut short: those without a method that most of the cells have."""
    count = Counter(method for lines in cells.values() for method in lines)
    usual = {method for method, times in count.items() if times > len(cells) / 2} - set(MOST_CLASSES)
    return {cell: lines for cell, lines in cells.items() if usual <= set(lines)}


def gathered(cells: dict[Cell, dict[str, Line]], n_classes: int) -> list[Result]:
    """Means over the draws of one forecast and one number of rows."""
    by_method = defaultdict(list)
    for lines in cells.values():
        for line in lines.values():
            by_method[line.method].append((line, lines[NONE].logloss))
    one = next(iter(cells))
    return [
        _result(one, n_classes, method, [line for line, _ in both], np.array([base for _, base in both]))
        for method, both in by_method.items()
    ]


def _result(cell: Cell, n_classes: int, method: str, lines: list[Line], base: np.ndarray) -> Result:
    """A method that did not finish in one draw has no figures."""
    note = next((line.note for line in lines if line.note), "")
    mean = {name: float(np.mean([getattr(line, name) for line in lines])) for name in _MEANS}
    change = np.array([line.logloss for line in lines]) - base
    return Result(
        data_set=cell.data_set,
        model=cell.model,
        n_classes=n_classes,
        rows=cell.rows,
        method=method,
        draws=len(lines),
        **{name: np.nan if note and name != "seconds" else value for name, value in mean.items()},
        harm=np.nan if note else float(np.mean(change > WORSE)),
        worst=np.nan if note else float(change.max()),
        note=note,
    )


def merged(before: Iterable[Result], again: Iterable[Result]) -> tuple[list[Result], int]:
    """The lines of before, with new ones in their place or beside them; and of how many experiments none were taken.

    An experiment takes none if its log loss without calibration, or the number of draws, is another: the rows are others then.
    """
    found = {(r.experiment, r.method): r for r in before}
    by_experiment: dict[tuple[str, str, int], list[Result]] = defaultdict(list)
    for result in again:
        by_experiment[result.experiment].append(result)
    left_out = 0
    for experiment, lines in by_experiment.items():
        known, base = found.get((experiment, NONE)), next(r for r in lines if r.method == NONE)
        if known and (known.draws != base.draws or abs(known.logloss - base.logloss) > LAST_DIGIT):
            left_out += 1
        else:
            found |= {(experiment, r.method): r for r in lines}
    return sorted(found.values(), key=lambda r: (r.n_classes > 2, *r.experiment)), left_out


_MEANS = ("logloss", "brier", "ece", "accuracy", "seconds", "refinement")


def of_part(part: str, results: Path = FOLDER, forecasts: Path = FORECASTS) -> Iterator[Result]:
    """Every result of a part of the data sets."""
    for few in (True, False):
        cells, classes = {}, {}
        for data_set, model in ((one.name, model) for one, model in planned(part)):
            files = sorted((results / data_set / model).glob("*-*.csv"))
            if not files:
                continue
            n_classes = load(data_set, model, forecasts)[0].shape[1]
            classes[data_set, model] = n_classes
            if (n_classes == 2) == few:
                cells |= {Cell(data_set, model, *_numbers(file)): read(file) for file in files}
        by_experiment: dict[tuple[str, str, int], dict[Cell, dict[str, Line]]] = defaultdict(dict)
        for cell, lines in whole_cells(cells).items():
            by_experiment[cell.data_set, cell.model, cell.rows][cell] = lines
        for (data_set, model, _), mine in sorted(by_experiment.items()):
            yield from gathered(mine, classes[data_set, model])


def _numbers(file: Path) -> tuple[int, int]:
    rows, draw = file.stem.split("-")
    return int(rows), int(draw)


# The files of the repository


def file_of(part: str) -> Path:
    """Where the results of a part lie."""
    return HERE / f"results-{part}.csv.gz"


def write(results: Iterable[Result], file: Path) -> None:
    """Write the same bytes for the same results."""
    text = io.StringIO()
    table = csv.DictWriter(text, [one.name for one in fields(Result)], lineterminator="\n")
    table.writeheader()
    for result in results:
        table.writerow({name: _short(name, value) for name, value in asdict(result).items()})
    file.write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))


def _short(name: str, value: object) -> object:
    if not isinstance(value, float):
        return value
    return "" if np.isnan(value) else f"{value:.3g}" if name in ("seconds", "harm") else f"{value:.5f}"


def stored(part: str) -> list[Result]:
    """The results of a part that are in the repository, none where there is no file."""
    return from_file(file_of(part))


def from_file(file: Path) -> list[Result]:
    """Read what `write` wrote."""
    if not file.is_file():
        return []
    kinds = {"n_classes": int, "rows": int, "draws": int, "data_set": str, "model": str, "method": str, "note": str}
    with gzip.open(file, "rt", encoding="utf-8", newline="") as lines:
        return [Result(**{k: kinds.get(k, _number)(v) for k, v in line.items()}) for line in csv.DictReader(lines)]


def _number(text: str) -> float:
    return float(text) if text else np.nan


def main() -> None:
    """Gather every part."""
    for part in PARTS:
        again = list(of_part(part))
        if not again:
            sys.stdout.write(f"{part}: no cell\n")
            continue
        results, left_out = merged(stored(part), again)
        write(results, file_of(part))
        sets, slow = {r.data_set for r in results}, sum(r.note == TOO_SLOW for r in results)
        sys.stdout.write(
            f"{part}: {len(results)} results of {len(sets)} of {len(data_sets(part))} data sets, {slow} too slow; {left_out} "
            "experiments have other rows or draws than in the file, and stay as they are\n"
        )


if __name__ == "__main__":
    main()
