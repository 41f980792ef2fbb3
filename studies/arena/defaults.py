"""What defaults were chosen by: python -m studies.arena.defaults [finite] [logits] [diagonal] [rise]

Each prints the log loss of test rows by option, and the paired differences between two options, in about a minute. The
forecasts are those of studies/arena/compare.py and studies/arena/harm.py, for ``rise`` those of docs/na-isotonic.md, and for
``logits`` the classifiers below, whose logits are known as they leave the classifier.
"""

from __future__ import annotations

import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
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
    SortedCumulativeIsotonic,
    VectorScaling,
    log_loss,
)
from calibrant.calibrators import (
    CenteredIsotonicCalibration,
    EnsembleNearIsotonic,
    MatrixScaling,
    NearIsotonicCalibration,
)
from studies.arena import harm
from studies.arena.compare import WORSE
from studies.arena.data_sets import Forecast, classifiers, published, tables, trained
from studies.na_isotonic.forecasts import calibrated_part as calibrated
from studies.na_isotonic.forecasts import models, name_of, overfitted

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
    for name, (label, prob) in harm.forecasts().items():
        for case, rows, test in drawn(name, len(label)):
            was = harm.log_loss(label[test], prob[test])
            for way in FINITE:
                one = by_class(IsotonicCalibration(finite=way), prob.shape[1])
                for losses, calibrator in ((plain, one), (safe, SafeCalibrator(one))):
                    calibrator.set_params(labels=np.arange(prob.shape[1])).fit(prob[rows], label[rows])
                    losses[str(way)][case] = harm.log_loss(label[test], calibrator.predict_proba(prob[test])) - was
    for title, losses in (("IsotonicCalibration", plain), ("the same in SafeCalibrator", safe)):
        show(f"{title}, change of log loss with 100 to 2000 rows", losses, dict.fromkeys(losses["None"], 0.0))


def drawn(name: str, n_rows: int) -> Iterator[tuple[tuple[str, ...], np.ndarray, np.ndarray]]:
    """The rows to calibrate on and to test of each experiment of studies/arena/harm.py."""
    for n in harm.SIZES:
        for seed in range(2 if n_rows >= max(1.5 * n, n + 50) else 0):
            order = np.random.default_rng(seed).permutation(n_rows)
            yield (name, str(n), str(seed)), order[:n], order[n:][: harm.MOST_TEST_ROWS]


def diagonal() -> None:
    """Dirichlet calibration: ODIR or L2."""
    ways = {"0": 0.0, "1e-3": 1e-3}
    show(
        "DirichletCalibration(diagonal=)",
        {n: {(f.name,): loss_of(f, DirichletCalibration(diagonal=d)) for f in compared()} for n, d in ways.items()},
    )


def rise() -> None:
    """Sorted cumulative isotonic regression: where a rise goes."""
    losses: Losses = {"last": {}, "spread": {}}
    for model in models():
        for way, found in losses.items():
            prob = calibrated(model, partial(SortedCumulativeIsotonic, rise=way))
            found[name_of(model), str(model.seed)] = clipped_loss(model.y_test, prob)
    show("SortedCumulativeIsotonic(rise=)", losses)


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
    known = {"finite": finite, "logits": logits, "diagonal": diagonal, "rise": rise}
    for word in sys.argv[1:] or known:
        known[word]()


if __name__ == "__main__":
    main()
