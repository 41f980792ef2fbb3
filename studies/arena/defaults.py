"""What defaults were chosen by: python -m studies.arena.defaults [finite] [logits] [diagonal]

Each prints the log loss of test rows by option, and the paired differences between two options, in about a minute. The
forecasts are those of docs/comparison.md and docs/do-no-harm.md, for ``logits`` the classifiers below, whose logits are known
as they leave the classifier.
"""

from __future__ import annotations

import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from calibrant import (
    ByNotion,
    DirichletCalibration,
    IsotonicCalibration,
    SafeCalibrator,
    VectorScaling,
    log_loss,
)
from calibrant.calibrators import (
    CenteredIsotonicCalibration,
    EnsembleNearIsotonic,
    MatrixScaling,
    NearIsotonicCalibration,
)
from studies.arena.data_sets import Forecast, classifiers, prob_of_rows, published, spambase, tables, trained
from studies.arena.results import WORSE
from studies.claims import data_dir
from studies.na_isotonic.forecasts import overfitted

SEEDS = 3
FINITE = (None, "clip", "smooth")
LOGITS = ("as-given", "log-softmax", "reference")
Losses = dict[str, dict[tuple[str, ...], float]]
"""Log loss by option and by case; the first part of the name of a case is the forecast, whose cases are not independent."""


@cache
def compared() -> tuple[Forecast, ...]:
    """The forecasts of docs/comparison.md."""
    jobs = [*published(), *(partial(trained, t, c) for c in classifiers() for t in tables())]
    return tuple(job() for job in jobs)


def loss_of(forecast: Forecast, calibrator: Any) -> float:
    """Log loss of the test rows."""
    fitted = calibrator.set_params(input=forecast.input).fit(forecast.fit, forecast.y_fit)
    return clipped_loss(forecast.y_test, fitted.calibrate(forecast.test))


def clipped_loss(y_true: np.ndarray, y_prob: np.ndarray) -> float:
    """The log loss as the comparison has it: a class of probability zero costs 27.6."""
    return float(log_loss(y_true, y_prob, clip=1e-12))


def by_class(calibrator: Any, n_classes: int) -> Any:
    return ByNotion(calibrator, "class-wise") if n_classes > 2 else calibrator


# Forecasts of small tables


SIZES = (100, 200, 500, 2000)
"""Rows to calibrate on, of the experiments of docs/do-no-harm.md."""

MOST_ROWS, MOST_TEST_ROWS = 20_000, 5000
TAKEN = (
    *("cifar10_lenet5", "cifar10_resnet50", "covertype2", "covertype3"),
    *("dogs, alexnet", "dogs, resnet18"),
)
"""The published forecasts that are taken there; those of a hundred classes would need more rows."""

Rows = tuple[np.ndarray, np.ndarray]

MODELS = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "naive Bayes": GaussianNB(),
    "forest": RandomForestClassifier(100, min_samples_leaf=1, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=50, max_depth=2, random_state=0),
    "neighbours": KNeighborsClassifier(15),
    "network": make_pipeline(StandardScaler(), MLPClassifier((50,), max_iter=150, random_state=0)),
}


def small_tables() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
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


def forecast_all(X: np.ndarray, y: np.ndarray, model: object) -> Rows:
    """Forecast every row by a model that was trained on others: a third of the rows, or two thirds of a small set."""
    warnings.simplefilter("ignore")
    if len(y) > 3000:
        train = np.random.default_rng(0).permutation(len(y))[: len(y) // 3]
        rest = np.setdiff1d(np.arange(len(y)), train)
        return y[rest], clone(model).fit(X[train], y[train]).predict_proba(X[rest])
    return y, cross_val_predict(model, X, y, cv=3, method="predict_proba")


def of_published_models() -> Iterator[tuple[str, Rows]]:
    """Published forecasts, all rows in one, where the shared data is there."""
    for make in published():
        made = make()
        if made.name in TAKEN:
            prob = np.concatenate([prob_of_rows(rows, made.input) for rows in (made.fit, made.test)])[:MOST_ROWS]
            table_of = np.column_stack([1.0 - prob, prob]) if prob.ndim == 1 else prob
            yield (
                made.name,
                (np.concatenate([made.y_fit, made.y_test])[:MOST_ROWS], table_of / table_of.sum(axis=1, keepdims=True)),
            )


def small_forecasts() -> dict[str, Rows]:
    """The forecasts of docs/do-no-harm.md: labels 0 .. K - 1, and a column of probabilities a class."""
    named = [(f"{name}, {model}", X, y, MODELS[model]) for name, X, y in small_tables() for model in MODELS]
    made = Parallel(n_jobs=-1)(delayed(forecast_all)(X, y, model) for _, X, y, model in named)
    return {name: made for (name, *_), made in zip(named, made, strict=True)} | dict(of_published_models())


def plain_loss(label: np.ndarray, prob: np.ndarray) -> float:
    return -float(np.log(np.maximum(prob[np.arange(len(label)), label], 1e-12)).mean())


# What is compared


def finite() -> None:
    """Isotonic regression and its kin: None, "clip" or "smooth"."""
    before = {(f.name,): clipped_loss(f.y_test, f.before) for f in compared()}
    for make in (IsotonicCalibration, CenteredIsotonicCalibration, NearIsotonicCalibration, EnsembleNearIsotonic):
        losses = {
            str(way): {(f.name,): loss_of(f, by_class(make(finite=way), f.n_classes)) for f in compared()}
            for way in FINITE
        }
        show(f"{make.__name__}, comparison", losses, before, WORSE)
    plain, safe = (defaultdict[str, dict[tuple[str, ...], float]](dict) for _ in range(2))
    for name, (label, prob) in small_forecasts().items():
        for case, rows, test in drawn(name, len(label)):
            was = plain_loss(label[test], prob[test])
            for way in FINITE:
                one = by_class(IsotonicCalibration(finite=way), prob.shape[1])
                for losses, calibrator in ((plain, one), (safe, SafeCalibrator(one))):
                    calibrator.set_params(labels=np.arange(prob.shape[1])).fit(prob[rows], label[rows])
                    losses[str(way)][case] = plain_loss(label[test], calibrator.predict_proba(prob[test])) - was
    for title, losses in (("IsotonicCalibration", plain), ("the same in SafeCalibrator", safe)):
        show(f"{title}, change of log loss with 100 to 2000 rows", losses, dict.fromkeys(losses["None"], 0.0))


def drawn(name: str, n_rows: int) -> Iterator[tuple[tuple[str, ...], np.ndarray, np.ndarray]]:
    """The rows to calibrate on and to test of each experiment of docs/do-no-harm.md."""
    for n in SIZES:
        for seed in range(2 if n_rows >= max(1.5 * n, n + 50) else 0):
            order = np.random.default_rng(seed).permutation(n_rows)
            yield (name, str(n), str(seed)), order[:n], order[n:][:MOST_TEST_ROWS]


def diagonal() -> None:
    """Dirichlet calibration: ODIR or L2."""
    ways = {"0": 0.0, "1e-3": 1e-3}
    show(
        "DirichletCalibration(diagonal=)",
        {n: {(f.name,): loss_of(f, DirichletCalibration(diagonal=d)) for f in compared()} for n, d in ways.items()},
    )


def logits() -> None:
    """Vector and matrix scaling: as given, log-softmax, or against the last class."""
    resnet = next(f for f in (make() for make in published()) if f.name == "cifar10_resnet50")
    for scaling in (VectorScaling, MatrixScaling):
        on_resnet = {way: f"{loss_of(resnet, scaling(logits=way)):.5f}" for way in LOGITS}
        sys.stdout.write(f"\n{scaling.__name__} on {resnet.name}: {on_resnet}\n")
        losses = {way: {case: loss_of(f, scaling(logits=way)) for case, f in with_logits()} for way in LOGITS}
        networks = {way: {case: v for case, v in found.items() if "MLP" in case[0]} for way, found in losses.items()}
        show(f"{scaling.__name__}(logits=)", losses)
        show(f"{scaling.__name__}(logits=), networks alone", networks)


MAKES: dict[str, Callable[[int], Any]] = {
    "logistic": lambda seed: make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)),
    "LDA": lambda seed: LinearDiscriminantAnalysis(),
    "MLP": lambda seed: make_pipeline(StandardScaler(), MLPClassifier(random_state=seed, max_iter=60)),
    "overfitted MLP": lambda seed: make_pipeline(StandardScaler(), overfitted(seed)),
    "boosting": lambda seed: HistGradientBoostingClassifier(max_iter=60, random_state=seed),
    "SVM": lambda seed: make_pipeline(StandardScaler(), SVC(decision_function_shape="ovr")),
    "linear SVM": lambda seed: make_pipeline(StandardScaler(), LinearSVC(max_iter=300)),
}


@cache
def with_logits() -> tuple[tuple[tuple[str, ...], Forecast], ...]:
    """Classifiers on four tables, each on three splits: at most half of the rows train, a quarter of the others calibrates."""
    found = []
    for table, (X, y) in (tables() | {"digits": load_digits(return_X_y=True)}).items():
        y = np.unique(y, return_inverse=True)[1]
        n_train = min(len(y) // 2, 3000)
        for name, make in MAKES.items():
            for seed in range(SEEDS):
                order = np.random.default_rng(seed).permutation(len(y))
                train, fit, test = np.split(order, [n_train, n_train + (len(y) - n_train) // 4])
                model = make(seed).fit(X[train], y[train])
                values = [logits_of(model, X[rows]) for rows in (fit, test)]
                forecast = Forecast(f"{name}, {table}", table, y[fit], values[0], y[test], values[1], "logit")
                found.append(((forecast.name, str(seed)), forecast))
    return tuple(found)


def logits_of(model: Any, X: np.ndarray) -> np.ndarray:
    """What the classifier has before it makes probabilities; of a network the activations of the last layer."""
    if not isinstance(model, Pipeline) or not isinstance(network := model[-1], MLPClassifier):
        return np.asarray(model.decision_function(X))
    values = model[0].transform(X)
    for layer, (weight, bias) in enumerate(zip(network.coefs_, network.intercepts_, strict=True)):
        values = values @ weight + bias
        values = np.maximum(values, 0.0) if layer < len(network.coefs_) - 1 else values
    return np.asarray(values[:, 0] if values.shape[1] == 1 else values)


# What is printed


def show(title: str, losses: Losses, before: dict[tuple[str, ...], float] | None = None, worse: float = 1e-9) -> None:
    """The mean of each option, how often it is worse than nothing, and the differences of each two, by forecast."""
    sys.stdout.write(f"\n{title}: {len(next(iter(losses.values())))} cases\n")
    for name, found in losses.items():
        harmed = "" if before is None else f", harm {np.mean([found[c] - before[c] > worse for c in found]):.0%}"
        sys.stdout.write(f"  {name}: mean {np.mean(list(found.values())):.4f}{harmed}\n")
    names = list(losses)
    for a, b in ((a, b) for i, a in enumerate(names) for b in names[i + 1 :]):
        of_forecast = defaultdict(list)
        for case in losses[a]:
            of_forecast[case[0]].append(losses[b][case] - losses[a][case])
        every = np.concatenate(list(of_forecast.values()))
        means = np.array([np.mean(some) for some in of_forecast.values()])
        sys.stdout.write(
            f"  {b} less {a}: {every.mean():+.5f}, standard error {means.std(ddof=1) / len(means) ** 0.5:.5f} over "
            f"{len(means)} forecasts; lower in {(every < 0).sum()}, higher in {(every > 0).sum()} cases, by forecast "
            f"{(means < 0).sum()} and {(means > 0).sum()}; from {every.min():+.4f} to {every.max():+.4f}\n"
        )


def main() -> None:
    """Run what was asked for, or all."""
    threadpool_limits(1)
    warnings.simplefilter("ignore")  # a class that is absent, a map without optimum: the result is defined
    known = {"finite": finite, "logits": logits, "diagonal": diagonal}
    for word in sys.argv[1:] or known:
        known[word]()


if __name__ == "__main__":
    main()
