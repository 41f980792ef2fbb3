"""Make the forecasts of the arena, each row by a classifier that was not trained on it: python -m studies.arena.out_of_fold

They are kept in build/arena/forecasts/{data set}/{model}.npz with ``prob`` (float32, a column a class) and ``y``, and are not
made again where they are there. It takes about half an hour on two cores. ``--part`` takes one part of the data sets only.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from studies.arena.data_sets import (
    LATER,
    PARTS,
    DataSet,
    classifiers,
    data_sets,
    later_classifiers,
    prob_of_rows,
    published,
    table_of,
)

FOLDER = Path(__file__).parents[2] / "build" / "arena" / "forecasts"
MOST_ROWS, MOST_TRAINED, FOLDS = 13_000, 3000, 3
A_SET, STEP = 2, 3
"""So many of the classifiers forecast each table: table number i takes classifier i and those in steps of 3 after it."""

NETWORKS = {
    "cifar10": {"cifar10_lenet5": "lenet5", "cifar10_resnet50": "resnet50"},
    "cifar100": {"cifar100_lenet5": "lenet5", "cifar100_densenet_bc": "densenet"},
    "imagenet-dogs": {"dogs, alexnet": "alexnet", "dogs, vgg19": "vgg19", "dogs, resnet18": "resnet18"},
}
"""Published predictions: the data set, the name that data_sets.py gives, and the name of the model here."""


def planned(part: str | None = None) -> list[tuple[DataSet, str]]:
    """Every forecast: a data set and the name of a model."""
    plan: list[tuple[DataSet, str]] = []
    for number, data_set in enumerate(data_sets()):
        if data_set.source == "published":
            models = list(NETWORKS[data_set.name].values())
        else:
            of_part = later_classifiers() if data_set.part == LATER else classifiers()
            kinds = [name.replace(" ", "-") for name in of_part]
            models = [kinds[(number + STEP * i) % len(kinds)] for i in range(A_SET)]
        plan += [(data_set, model) for model in models if part in (None, data_set.part)]
    return plan


def made(data_set: DataSet, model: str) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities and labels, rows in a random order that the seed fixes."""
    if data_set.source == "published":
        return _of_network(data_set.name, model)
    X, y = table_of(data_set)
    rows = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    return forecast_out_of_fold(X[rows], y[rows], model)


def forecast_out_of_fold(X: np.ndarray, y: np.ndarray, model: str) -> tuple[np.ndarray, np.ndarray]:
    """Three folds; the classifier of each is trained on at most 3000 rows of the two others, chosen within each class."""
    from sklearn.base import clone
    from sklearn.model_selection import StratifiedKFold, train_test_split

    every = classifiers() | later_classifiers()
    chosen = {name.replace(" ", "-"): one for name, one in every.items()}[model]
    prob = np.zeros((len(y), int(y.max()) + 1))
    for train, rest in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
        few = train
        if len(train) > MOST_TRAINED:
            few = train_test_split(train, train_size=MOST_TRAINED, stratify=y[train], random_state=0)[0]
        fitted: Any = clone(chosen).fit(X[few], y[few])
        prob[np.ix_(rest, fitted.classes_)] = _probabilities(fitted, X[rest])
    return prob, y


def _probabilities(fitted: Any, X: np.ndarray) -> np.ndarray:
    """Probabilities of the classes; decision values of a support vector machine are read as logits."""
    if hasattr(fitted, "predict_proba"):
        return np.asarray(fitted.predict_proba(X))
    values = fitted.decision_function(X)
    return np.asarray(np.column_stack([expit(-values), expit(values)]) if values.ndim == 1 else softmax(values, axis=1))


def _of_network(name: str, model: str) -> tuple[np.ndarray, np.ndarray]:
    stored = {one.name: one for one in (make() for make in published()) if NETWORKS[name].get(one.name) == model}
    if not stored:
        message = f"predictions of {model} for {name} are not in the folder of data sets"
        raise FileNotFoundError(message)
    one = next(iter(stored.values()))
    both = [prob_of_rows(rows, one.input) for rows in (one.fit, one.test)]
    prob, y = np.concatenate(both), np.concatenate([one.y_fit, one.y_test])
    rows = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    table = np.column_stack([1.0 - prob, prob]) if prob.ndim == 1 else prob
    return table[rows], y[rows]


def store(data_set: DataSet, model: str, folder: Path = FOLDER) -> str:
    """Make one forecast and keep it; return a line about it."""
    start = time.process_time()
    file = folder / data_set.name / f"{model}.npz"
    if file.is_file():
        return f"{data_set.name}/{model}: is there"
    warnings.simplefilter("ignore")
    try:
        prob, y = made(data_set, model)
    except (ImportError, FileNotFoundError, StopIteration) as error:
        return f"{data_set.name}/{model}: left out, {error}"
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_suffix(f".{os.getpid()}.part")
    with beside.open("wb") as out:
        np.savez_compressed(out, prob=prob.astype(np.float32), y=y.astype(np.int16))
    beside.rename(file)
    return f"{data_set.name}/{model}: {len(y):,} x {prob.shape[1]}, {time.process_time() - start:.1f} s"


def stored(part: str | None = None, folder: Path = FOLDER) -> Iterator[tuple[DataSet, str]]:
    """The forecasts that are there."""
    return (one for one in planned(part) if (folder / one[0].name / f"{one[1]}.npz").is_file())


def load(data_set: str, model: str, folder: Path = FOLDER) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities (float64, rows that sum to one) and labels of a forecast that is there."""
    with np.load(folder / data_set / f"{model}.npz") as file:
        prob, y = file["prob"].astype(np.float64), file["y"].astype(np.int64)
    return prob / prob.sum(axis=1, keepdims=True), y


def main() -> None:
    """Make what is not there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS, help="one part of the data sets")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    chosen = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    plan = planned(chosen.part)
    sys.stdout.write(f"{len(plan)} forecasts; half an hour on two cores if none is there\n")
    with ProcessPoolExecutor(chosen.jobs) as workers:
        for line in workers.map(store, *zip(*plan, strict=True)):
            sys.stdout.write(line + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
