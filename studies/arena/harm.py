"""How often calibration makes a forecast worse, with and without `SafeCalibrator`.

Run: python -m studies.arena.harm [repeats]. The tables go to docs/do-no-harm.md.

An experiment is a forecast, a number of rows to calibrate on, and a draw of these rows; the rest of the rows is the test.
Harm is a mean log loss on the test rows above that of the uncalibrated forecast. Published forecasts and Spambase come from
where studies/arena/data_sets.py has them from, if they are there.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from calibrant import ByNotion
from calibrant._core.registry import entries
from calibrant.calibrators import BinaryCalibrator
from calibrant.calibrators.base import Calibrator
from calibrant.calibrators.safe import SafeCalibrator
from studies.arena.data_sets import prob_of_rows, published, spambase
from studies.claims import data_dir, table

SIZES = (100, 200, 500, 2000)
MOST_ROWS, MOST_TEST_ROWS, RIGHT = 20_000, 5000, 200
WORSE = 1e-9
"""Differences up to this many nats are rounding, and no harm."""

CAUTIOUS, CAUTIONS = ("temperature", "beta", "isotonic"), (0.0, 0.5, 1.64)
"""Methods that are tried at other values of ``caution`` too, and these values."""

PUBLISHED = (
    *("cifar10_lenet5", "cifar10_resnet50", "covertype2", "covertype3"),
    *("dogs, alexnet", "dogs, resnet18"),
)
"""The published forecasts that are taken; those of a hundred classes would need more rows."""


@dataclass(frozen=True)
class Change:
    """How much the log loss of the test rows changes by a method."""

    method: str
    variant: str
    rows: int
    n_classes: int
    change: float


Forecast = tuple[np.ndarray, np.ndarray]
"""Labels 0 .. K - 1, and probabilities of shape (n, K)."""

MODELS = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "naive Bayes": GaussianNB(),
    "forest": RandomForestClassifier(100, min_samples_leaf=1, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=50, max_depth=2, random_state=0),
    "neighbours": KNeighborsClassifier(15),
    "network": make_pipeline(StandardScaler(), MLPClassifier((50,), max_iter=150, random_state=0)),
}


# Forecasts


def tables() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Data sets to train on: scikit-learn's, drawn ones, and Spambase."""
    for name, load in {"breast cancer": load_breast_cancer, "digits": load_digits, "wine": load_wine}.items():
        yield name, *load(return_X_y=True)
    for k, noise in ((2, 0.1), (3, 0.0), (6, 0.05)):
        shape = {"n_informative": 8, "n_classes": k, "flip_y": noise, "class_sep": 0.8, "random_state": k}
        yield f"drawn, {k} classes", *make_classification(5000, 20, **shape)
    rare = {"n_informative": 6, "weights": [0.95], "flip_y": 0.01, "random_state": 9}
    yield "drawn, 5 % events", *make_classification(5000, 20, **rare)
    if data_dir().is_dir():
        yield "spambase", *spambase()


def trained(X: np.ndarray, y: np.ndarray, model: object) -> Forecast:
    """Forecast every row by a model that was trained on others: a third of the rows, or two thirds of a small set."""
    warnings.simplefilter("ignore")
    if len(y) > 3000:
        train = np.random.default_rng(0).permutation(len(y))[: len(y) // 3]
        rest = np.setdiff1d(np.arange(len(y)), train)
        return y[rest], clone(model).fit(X[train], y[train]).predict_proba(X[rest])
    return y, cross_val_predict(model, X, y, cv=3, method="predict_proba")


def of_published_models() -> Iterator[tuple[str, Forecast]]:
    """Published forecasts, all rows in one, where the shared data is there."""
    for make in published():
        made = make()
        if made.name in PUBLISHED:
            prob = np.concatenate([prob_of_rows(rows, made.input) for rows in (made.fit, made.test)])[:MOST_ROWS]
            table_of = np.column_stack([1.0 - prob, prob]) if prob.ndim == 1 else prob
            yield made.name, (np.concatenate([made.y_fit, made.y_test])[:MOST_ROWS], _sums_to_one(table_of))


def _sums_to_one(prob: np.ndarray) -> np.ndarray:
    return np.asarray(prob / prob.sum(axis=1, keepdims=True))


def forecasts() -> dict[str, Forecast]:
    named = [(f"{name}, {model}", X, y, MODELS[model]) for name, X, y in tables() for model in MODELS]
    made = Parallel(n_jobs=-1)(delayed(trained)(X, y, model) for _, X, y, model in named)
    return {name: made for (name, *_), made in zip(named, made, strict=True)} | dict(of_published_models())


# Experiments


def methods(n_classes: int) -> dict[str, Calibrator]:
    """Every registered calibrator; those of one score class by class where there are more."""
    made = {}
    for name, entry in entries("calibrator").items():
        if issubclass(entry.target, SafeCalibrator):
            continue
        calibrator = entry.target()
        if isinstance(calibrator, BinaryCalibrator) and n_classes > 2:
            calibrator = ByNotion(calibrator, "class-wise")
        made[name] = calibrator
    return made


def log_loss(label: np.ndarray, prob: np.ndarray) -> float:
    return -float(np.log(np.maximum(prob[np.arange(len(label)), label], 1e-12)).mean())


def experiment(made: Forecast, n: int, seed: int) -> list[Change]:
    """Differences of the log loss from that of the uncalibrated forecast, by method and variant."""
    label, prob = made
    rows = np.random.default_rng(seed).permutation(len(label))
    fit, test = rows[:n], rows[n:][:MOST_TEST_ROWS]
    before = log_loss(label[test], prob[test])
    found = []
    warnings.simplefilter("ignore")
    for method, calibrator in methods(prob.shape[1]).items():
        variants = {"plain": calibrator, "safe": SafeCalibrator(calibrator)}
        if method in CAUTIOUS:
            variants |= {f"caution {c:g}": SafeCalibrator(calibrator, caution=c) for c in CAUTIONS}
        for variant, one in variants.items():
            one.set_params(labels=np.arange(prob.shape[1])).fit(prob[fit], label[fit])
            change = log_loss(label[test], one.predict_proba(prob[test])) - before
            found.append(Change(method, variant, n, prob.shape[1], change))
    return found


def experiments(repeats: int) -> list[Change]:
    """Run all of them."""
    known = forecasts()
    todo = [
        (made, n, seed)
        for made in known.values()
        for n in SIZES
        if len(made[0]) >= max(1.5 * n, n + 50)
        for seed in range(repeats)
    ]
    done = Parallel(n_jobs=-1, batch_size=4)(delayed(experiment)(*one) for one in todo)
    few = sum(made[1].shape[1] == 2 for made in known.values())
    sys.stdout.write(f"{len(todo)} experiments with {len(known)} forecasts, {few} of two classes.\n")
    return [row for rows in done for row in rows]


def moved(method: str, n: int) -> str:
    """Share of forecasts that need no repair, and get one: three classes, labels drawn as forecast."""
    warnings.simplefilter("ignore")
    came_in = []
    for seed in range(RIGHT):
        rng = np.random.default_rng(seed)
        prob = rng.dirichlet(np.ones(3), n)
        label = (rng.random((n, 1)) > prob.cumsum(axis=1)).sum(axis=1).clip(0, 2)
        safe = SafeCalibrator(methods(3)[method], labels=np.arange(3)).fit(prob, label)
        came_in.append(safe.weight_ > 0)
    return f"{100 * np.mean(came_in):.0f}"


def of_right_forecasts() -> dict[str, list[str]]:
    known = [method for method in CAUTIOUS if method in methods(3)]
    cells = Parallel(n_jobs=-1)(delayed(moved)(method, n) for method in known for n in SIZES)
    return dict(zip(known, np.reshape(cells, (-1, len(SIZES))).tolist(), strict=True))


# Tables


def share(changes: list[float]) -> str:
    return f"{100 * np.mean(np.array(changes) > WORSE):.0f}"


def mean(changes: list[float]) -> str:
    return f"{np.mean(changes):+.4f}"


def worst(changes: list[float]) -> str:
    return f"{np.max(changes):+.3f}"


def by_size(found: list[Change], figure: Callable[[list[float]], str]) -> dict[str, list[str]]:
    """Return a row a method: without and with the safeguard, by number of rows to calibrate on, and in all."""
    changes = defaultdict(list)
    for one in found:
        for size in (one.rows, "all"):
            changes[one.method, one.variant, size].append(one.change)

    def cell(method: str, size: int | str) -> str:
        both = (changes[method, variant, size] for variant in ("plain", "safe"))
        return " / ".join(figure(some) if some else "" for some in both)

    return {m: [cell(m, size) for size in (*SIZES, "all")] for m in sorted({one.method for one in found})}


def by_caution(found: list[Change]) -> dict[str, list[str]]:
    """Return a row a method and a ``caution``: harm, mean and worst change."""
    changes = defaultdict(list)
    for one in found:
        if one.method in CAUTIOUS:
            changes[one.method, "caution 1" if one.variant == "safe" else one.variant].append(one.change)
    order = ["plain", *(f"caution {c:g}" for c in sorted({1.0, *CAUTIONS}))]
    return {
        f"{method}, {variant}": [figure(changes[method, variant]) for figure in (share, mean, worst)]
        for method in CAUTIOUS
        for variant in order
        if (method, variant) in changes
    }


def show(head: str, columns: list[str], rows: dict[str, list[str]]) -> None:
    """Print a table."""
    sys.stdout.write("\n" + table([head, *columns], [[name, *cells] for name, cells in rows.items()]) + "\n")


def main() -> None:
    """Run the experiments and print the tables."""
    parser = argparse.ArgumentParser(description="How often calibration makes a forecast worse.")
    parser.add_argument("repeats", nargs="?", type=int, default=2, help="draws of the rows to calibrate on (default 2)")
    warnings.simplefilter("ignore")
    found = experiments(parser.parse_args().repeats)
    sizes = [*map(str, SIZES), "all"]
    groups = {
        "": found,
        ", K = 2": [one for one in found if one.n_classes == 2],
        ", K > 2": [one for one in found if one.n_classes > 2],
    }
    for which, group in groups.items():
        show(f"harm in % of experiments{which}, plain / safe", sizes, by_size(group, share))
    show("mean change of log loss, plain / safe", sizes, by_size(found, mean))
    show("worst change of log loss, plain / safe", sizes, by_size(found, worst))
    show("all sizes", ["harm in %", "mean change", "worst change"], by_caution(found))
    show("weight above 0 in % of right forecasts", [f"n = {n}" for n in SIZES], of_right_forecasts())


if __name__ == "__main__":
    main()
