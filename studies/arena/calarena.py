"""The layout of CalArena (Berta, Holzmüller, Bach and Jordan, arXiv 2605.30188): its benchmarks are run here.

A benchmark is a file ``{name}.h5`` with ``{dataset}/{model}/{probas_cal, labels_cal, probas_test, labels_test}``, an index
``{name}-experiments.csv`` beside it, and for each calibrator a file ``{results}/{name}/{calibrator}.csv``. Its name ends in
``-binary`` or ``-multiclass``. Who has its files runs every calibrator on them by

    python -m studies.arena.calarena run FOLDER tabrepo-binary [--calibrators sms spline] [--jobs 2] [--results results]

and the table joins those of CalArena by dataset, model and numbers of rows. Names of methods begin with ``calibrant-``.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from studies.arena.cells import NONE, Line, measured, methods, warm_up

ARRAYS = ("probas_cal", "labels_cal", "probas_test", "labels_test")
MEASURES = {"logloss": "logloss", "brier": "brier", "ece-15": "ece", "accuracy": "accuracy", "time": "seconds"}
"""The figures of a results file, and what they are called in this arena. The time is processor time to fit and to apply."""

OURS = "calibrant-"


@dataclass(frozen=True)
class Experiment:
    """A line of the index."""

    dataset: str
    model: str
    cal_size: int
    test_size: int
    n_classes: int

    @property
    def group(self) -> str:
        return f"{self.dataset}/{self.model}"


Rows = dict[str, np.ndarray]
"""The four arrays of an experiment; of two classes the probabilities are those of the second, one column."""


def as_table(prob: np.ndarray) -> np.ndarray:
    """A column a class, float64, rows that sum to one; one column is the probability of the second of two classes."""
    values = np.asarray(prob, dtype=np.float64).reshape(len(prob), -1)
    table = np.hstack([1.0 - values, values]) if values.shape[1] == 1 else values
    return np.asarray(table / table.sum(axis=1, keepdims=True))


# The benchmark: HDF5 and index


def read_rows(folder: Path, name: str, one: Experiment) -> Rows:
    """The arrays of an experiment."""
    import h5py

    with h5py.File(folder / f"{name}.h5", "r") as file:
        return {array: file[one.group][array][:] for array in ARRAYS}


def read_index(file: Path) -> list[Experiment]:
    """The experiments of a benchmark; columns that are not known are left out."""
    with file.open(encoding="utf-8", newline="") as lines:
        found = list(csv.DictReader(lines))
    numbers = ("cal_size", "test_size", "n_classes")
    return [Experiment(one["dataset"], one["model"], *(int(one.get(name) or 2) for name in numbers)) for one in found]


def _is_binary(name: str) -> bool:
    return "-binary" in name


# Results: a file a calibrator


def head_of(name: str, calibrator: str) -> list[str]:
    """The columns of a results file."""
    facts = ["dataset", "model", "cal_size", "test_size", *([] if _is_binary(name) else ["n_classes"])]
    return [*facts, *(f"{calibrator}_{measure}" for measure in MEASURES)]


def append_result(file: Path, name: str, calibrator: str, one: Experiment, line: Line) -> None:
    """Add a line; a file that is not there begins with its head."""
    head = head_of(name, calibrator)
    figures = {f"{calibrator}_{measure}": repr(float(getattr(line, ours))) for measure, ours in MEASURES.items()}
    file.parent.mkdir(parents=True, exist_ok=True)
    is_new = not file.exists()
    with file.open("a", encoding="utf-8", newline="") as out:
        table = csv.DictWriter(out, head, lineterminator="\n", extrasaction="ignore")
        if is_new:
            table.writeheader()
        table.writerow(asdict(one) | figures)


def read_results(file: Path) -> dict[tuple[str, str], dict[str, float]]:
    """The figures of each dataset and model. A last line that a stop cut short is left out."""
    if not file.is_file():
        return {}
    text = file.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1].splitlines()
    if whole and text != "\n".join(whole) + "\n":
        file.write_text("\n".join(whole) + "\n", encoding="utf-8")
    facts = {"dataset", "model", "cal_size", "test_size", "n_classes"}
    return {
        (one["dataset"], one["model"]): {k: float(v) for k, v in one.items() if k not in facts}
        for one in csv.DictReader(whole)
    }


# Runs


def run(folder: Path, name: str, one: Experiment, calibrators: list[str]) -> dict[str, Line]:
    """Fit and score the calibrators on an experiment."""
    rows = read_rows(folder, name, one)
    fitted = (rows["labels_cal"].astype(np.int64), as_table(rows["probas_cal"]))
    tested = (rows["labels_test"].astype(np.int64), as_table(rows["probas_test"]))
    known = methods(one.n_classes, peers=False)
    return {word: measured(word, known[word], fitted, tested) for word in calibrators if word in known}


def run_all(folder: Path, name: str, results: Path, calibrators: Iterable[str] | None, each: Mapper) -> int:
    """Run what has no line yet; return how many experiments were run."""
    words = list(calibrators or methods(3, peers=False))
    files = {word: results / name / f"{_name(word)}.csv" for word in words}
    known = {word: read_results(file) for word, file in files.items()}
    missing = defaultdict(list)
    for one in read_index(folder / f"{name}-experiments.csv"):
        missing[one] = [word for word in words if (one.dataset, one.model) not in known[word]]
    todo = {one: words_of for one, words_of in missing.items() if words_of}
    for one, lines in zip(todo, each(partial(run, folder, name), list(todo), list(todo.values())), strict=True):
        for word, line in lines.items():
            append_result(files[word], name, _name(word), one, line)
    return len(todo)


Mapper = Callable[..., Iterable[dict[str, Line]]]


def _name(word: str) -> str:
    return "Base-model" if word == NONE else OURS + word


def main() -> None:
    """Run a benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("benchmark", help="name, such as tabrepo-binary")
    parser.add_argument("--calibrators", nargs="+", help="words (default all)")
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    chosen = parser.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    with ProcessPoolExecutor(chosen.jobs, mp_context=get_context("spawn"), initializer=warm_up) as workers:
        found = run_all(chosen.folder, chosen.benchmark, chosen.results, chosen.calibrators, workers.map)
    sys.stdout.write(f"{found} experiments\n")


if __name__ == "__main__":
    main()
