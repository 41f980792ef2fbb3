"""How often calibration makes a forecast worse, with and without `SafeCalibrator`.

Run: python tools/harm.py [repeats] [folder of the shared data sets]. The tables go to docs/do-no-harm.md.

An experiment is a forecast, a number of rows to calibrate on, and a draw of these rows; the rest of the rows is the test.
Harm is a mean log loss on the test rows above that of the forecast as it came.
"""

import os
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy.special import softmax
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

from calibrant import BinaryCalibrator, ByNotion
from calibrant._registry import entries
from calibrant.calibrators.base import Calibrator
from calibrant.calibrators.safe import SafeCalibrator

REPEATS = int(sys.argv[1]) if len(sys.argv) > 1 else 2
FOLDER = Path(
    sys.argv[2]
    if len(sys.argv) > 2
    else os.environ.get("CALIBRANT_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
)
SIZES = (100, 200, 500, 2000)
MOST_ROWS, MOST_TEST_ROWS, RIGHT = 20_000, 5000, 200
WORSE = 1e-9
"""Differences up to this many nats are rounding, and no harm."""

CAUTIOUS, CAUTIONS = ("temperature", "beta", "isotonic"), (0.0, 0.5, 1.64)
"""Methods that are tried at other values of ``caution`` too, and these values."""

Change = tuple[str, str, int, float]
"""Method, variant, rows to calibrate on, and the change of the log loss of the test rows."""

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
    """Data sets to train on: scikit-learn's, drawn ones, and the tables of the shared folder."""
    for name, load in {"breast cancer": load_breast_cancer, "digits": load_digits, "wine": load_wine}.items():
        yield name, *load(return_X_y=True)
    for k, noise in ((2, 0.1), (3, 0.0), (6, 0.05)):
        shape = {"n_informative": 8, "n_classes": k, "flip_y": noise, "class_sep": 0.8, "random_state": k}
        yield f"drawn, {k} classes", *make_classification(5000, 20, **shape)
    rare = {"n_informative": 6, "weights": [0.95], "flip_y": 0.01, "random_state": 9}
    yield "drawn, 5 % events", *make_classification(5000, 20, **rare)
    if (spam := FOLDER / "spambase.csv").is_file():
        table = np.loadtxt(spam, delimiter=",")
        yield "spambase", table[:, :-1], table[:, -1].astype(int)


def trained(X: np.ndarray, y: np.ndarray, model: object) -> Forecast:
    """Forecast every row by a model that was trained on others: a third of the rows, or two thirds of a small set."""
    warnings.simplefilter("ignore")
    if len(y) > 3000:
        train = np.random.default_rng(0).permutation(len(y))[: len(y) // 3]
        rest = np.setdiff1d(np.arange(len(y)), train)
        return y[rest], clone(model).fit(X[train], y[train]).predict_proba(X[rest])
    return y, cross_val_predict(model, X, y, cv=3, method="predict_proba")


def shared() -> Iterator[tuple[str, Forecast]]:
    """Forecasts of published models, where the folder of the shared data sets is there."""
    for name in ("cifar10_lenet5", "cifar10_resnet50", "covertype2", "covertype3", "imagenet_dogs"):
        if not (file := FOLDER / f"{name}.npz").is_file():
            continue
        data = np.load(file)
        if name == "imagenet_dogs":
            for network in ("alexnet", "resnet18"):
                prob = data[network][:MOST_ROWS]
                yield f"{name}, {network}", (data["y"][:MOST_ROWS].astype(int), np.column_stack([1 - prob, prob]))
            continue
        if "logits_test" in data:
            label, prob = data["y_test"], softmax(data["logits_test"].astype(float), axis=1)
        elif "P_test" in data:
            label, prob = (np.concatenate([data[f"{part}_cal"], data[f"{part}_test"]]) for part in ("y", "P"))
        else:
            label, prob = data["y"], data["P"].astype(float)
        yield name, (label.astype(int), prob / prob.sum(axis=1, keepdims=True))


def forecasts() -> dict[str, Forecast]:
    named = [(f"{name}, {model}", X, y, MODELS[model]) for name, X, y in tables() for model in MODELS]
    made = Parallel(n_jobs=-1)(delayed(trained)(X, y, model) for _, X, y, model in named)
    return {name: made for (name, *_), made in zip(named, made, strict=True)} | dict(shared())


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
    """Differences of the log loss from that of the forecast as it came, by method and variant."""
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
            found.append((method, variant, n, log_loss(label[test], one.predict_proba(prob[test])) - before))
    return found


def experiments() -> list[Change]:
    known = forecasts()
    todo = [
        (made, n, seed)
        for made in known.values()
        for n in SIZES
        if len(made[0]) >= max(1.5 * n, n + 50)
        for seed in range(REPEATS)
    ]
    done = Parallel(n_jobs=-1, batch_size=4)(delayed(experiment)(*one) for one in todo)
    print(f"{len(todo)} experiments with {len(known)} forecasts.")
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


def table(head: str, columns: list[str], rows: dict[str, list[str]]) -> None:
    print(f"\n| {head} | " + " | ".join(columns) + " |\n|---" + "|---" * len(columns) + "|")
    for name, cells in rows.items():
        print(f"| {name} | " + " | ".join(cells) + " |")


def by_size(found: list[Change], figure: Callable[[list[float]], str]) -> dict[str, list[str]]:
    """Return a row a method: without and with the safeguard, by number of rows to calibrate on, and in all."""
    changes = defaultdict(list)
    for method, variant, n, change in found:
        for size in (n, "all"):
            changes[method, variant, size].append(change)
    return {
        method: [
            " / ".join(figure(changes[method, variant, n]) for variant in ("plain", "safe")) for n in (*SIZES, "all")
        ]
        for method in sorted({method for method, *_ in found})
    }


def by_caution(found: list[Change]) -> dict[str, list[str]]:
    changes = defaultdict(list)
    for method, variant, _, change in found:
        if method in CAUTIOUS:
            changes[method, "caution 1" if variant == "safe" else variant].append(change)
    order = ["plain", *(f"caution {c:g}" for c in sorted({1.0, *CAUTIONS}))]
    return {
        f"{method}, {variant}": [figure(changes[method, variant]) for figure in (share, mean, worst)]
        for method in CAUTIOUS
        for variant in order
        if (method, variant) in changes
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    found = experiments()
    sizes = [*map(str, SIZES), "all"]
    table("harm in % of experiments, plain / safe", sizes, by_size(found, share))
    table("mean change of log loss, plain / safe", sizes, by_size(found, mean))
    table("worst change of log loss, plain / safe", sizes, by_size(found, worst))
    table("all sizes", ["harm in %", "mean change", "worst change"], by_caution(found))
    table("weight above 0 in % of right forecasts", [f"n = {n}" for n in SIZES], of_right_forecasts())
