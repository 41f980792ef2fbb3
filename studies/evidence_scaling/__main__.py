"""Print the tables of docs/evidence-scaling.md: log loss of public networks on rows that are not fitted, and seconds of a fit.

Run: python -m studies.evidence_scaling losses, few, blocks, size, needed, coverage, times. The data lie in $CALIBRANT_DATA, or
in shared/data beside the repository.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy.special import softmax

from calibrant import SafeCalibrator, TemperatureScaling, log_loss
from calibrant.calibrators import EvidenceScaling, StructuredMatrixScaling
from calibrant.fit import evidence as softmax_curvature
from studies.data import data_dir
from studies.evidence_scaling import coverage, needed
from studies.markdown import table

SPLITS, SPLITS_OF_FEW, SPLITS_OF_MANY = 4, 20, 2
"""Random parts of the rows that are fitted, the rest being tested; of `FEW` rows; and of a hundred classes, which take long."""

SIZES: Mapping[str, tuple[int, ...]] = {
    "cifar10_lenet5": (100, 300, 1000, 3000),
    "cifar10_resnet50": (100, 300, 1000, 3000, 10_000),
    "cifar100_lenet5": (3000,),
    "cifar100_densenet_bc": (1000, 3000),
}

METHODS: Mapping[str, Any] = {
    "as it is": None,
    "temperature": TemperatureScaling(),
    "SMS": StructuredMatrixScaling(),
    "ES, fast": EvidenceScaling(pool="fast"),
    "ES": EvidenceScaling(),
    "ES, order kept": EvidenceScaling(keep="order"),
    "ES, class kept": EvidenceScaling(keep="argmax"),
}

MANY = 10

OF_FEW: Mapping[str, Any] = {
    "as it is": None,
    "temperature": TemperatureScaling(),
    "ES": EvidenceScaling(),
    "ES, order kept": EvidenceScaling(keep="order"),
    "ES, safe": SafeCalibrator(EvidenceScaling()),
    "temperature, safe": SafeCalibrator(TemperatureScaling()),
}
"""What is tried on networks with few rows."""

OF_TEN, FEW, WORSE = ("cifar10_resnet50", "cifar10_lenet5"), (100, 300), 1e-4
"""A network that needs little calibration and one that needs more, numbers of rows, and by how much a log loss is higher where
harm was done."""

DRAWS = 100
SIZED = ((300, 2, 0.4), (2000, 2, 0.4), (300, 4, 0.4), (300, 10, 0.4), (2000, 10, 0.4), (300, 10, 1.5))
"""Calibrated forecasts that are drawn: rows, classes, and the parameter of the Dirichlet distribution."""

TIMED = ((100, 2), (1000, 2), (10_000, 2), (1000, 10), (5000, 10), (10_000, 26), (5000, 100))
"""Rows and classes."""


def forecast(name: str) -> tuple[Any, Any]:
    """Return the probabilities and the labels of a public network."""
    held = np.load(data_dir() / f"{name}.npz")
    if "P" in held:
        prob = held["P"].astype(np.float64)
        return prob / prob.sum(axis=1, keepdims=True), held["y"]
    logit = np.concatenate([held["logits_cal"], held["logits_test"]]).astype(np.float64)
    return softmax(logit, axis=1), np.concatenate([held["y_cal"], held["y_test"]])


def losses(name: str, n: int) -> list[float]:
    """Return the mean log loss of each method over the splits."""
    prob, label = forecast(name)
    found = []
    for seed in range(SPLITS_OF_MANY if prob.shape[1] > MANY else SPLITS_OF_FEW if n in FEW else SPLITS):
        order = np.random.default_rng(seed).permutation(len(label))
        rows, rest = order[:n], order[n:]
        found.append([log_loss(label[rest], calibrated(one, prob, label, rows, rest)) for one in METHODS.values()])
    return [float(value) for value in np.mean(found, axis=0)]


def with_few(network: str, n: int) -> Iterator[tuple[str, float, int, float]]:
    """Yield each method of `OF_FEW` with its mean log loss, the splits in which it does harm, and its worst increase."""
    prob, label = forecast(network)
    for name, method in OF_FEW.items():
        found = []
        for seed in range(SPLITS_OF_FEW):
            order = np.random.default_rng(seed).permutation(len(label))
            rows, rest = order[:n], order[n:]
            each = (log_loss(label[rest], calibrated(one, prob, label, rows, rest)) for one in (method, None))
            found.append([float(loss) for loss in each])
        loss, before = np.transpose(found)
        yield name, float(loss.mean()), int(np.sum(loss - before > WORSE)), float(np.max(loss - before))


def with_blocks(name: str, n: int) -> list[float]:
    """Return the mean log loss with the whole matrix of second derivatives, and with blocks and conjugate gradients."""
    most, found = softmax_curvature.MOST_DENSE, []
    prob, label = forecast(name)
    for softmax_curvature.MOST_DENSE in (most, 0):
        for seed in range(SPLITS):
            order = np.random.default_rng(seed).permutation(len(label))
            fitted = calibrated(EvidenceScaling(), prob, label, order[:n], order[n:])
            found.append(log_loss(label[order[n:]], fitted))
    softmax_curvature.MOST_DENSE = most
    return [float(value) for value in np.reshape(found, (2, SPLITS)).mean(axis=1)]


def calibrated(method: Any, prob: Any, label: Any, rows: Any, rest: Any) -> Any:
    """Return calibrated probabilities of the rest."""
    if method is None:
        return prob[rest]
    fitted = method.set_params(labels=range(prob.shape[1])).fit(prob[rows], label[rows])
    return fitted.predict_proba(prob[rest])


def drawn(n: int, n_classes: int) -> tuple[Any, Any]:
    """Return an over-confident forecast with biases, in which classes are confused with their neighbours."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, n_classes, n)
    score = rng.normal(size=(n, n_classes))
    score[np.arange(n), label] += 2.0 + np.log(n_classes) / 2.0
    score += 0.5 * np.roll(score, 1, axis=1) + 0.5 * rng.normal(size=n_classes)
    return softmax(1.5 * score, axis=1), label


def seconds(n: int, n_classes: int) -> Iterator[float]:
    """Yield CPU seconds of a fit of SMS, of ES fast and of ES, the least of two."""
    prob, label = drawn(n, n_classes)
    for method in (StructuredMatrixScaling(), EvidenceScaling(pool="fast"), EvidenceScaling(pool="folds")):
        taken = []
        for _ in range(2):
            begun = time.process_time()
            method.set_params(labels=range(n_classes)).fit(prob, label)
            taken.append(time.process_time() - begun)
        yield min(taken)


def in_favour(n: int, n_classes: int, parameter: float) -> tuple[float, float]:
    """Return how often the evidence is above 0 for calibrated forecasts, and its 95 % quantile."""
    rng, found = np.random.default_rng(0), []
    for _ in range(DRAWS):
        prob = rng.dirichlet(np.full(n_classes, parameter), n)
        label = (rng.random((n, 1)) > prob.cumsum(axis=1)).sum(axis=1).clip(0, n_classes - 1)
        found.append(EvidenceScaling(pool="fast", labels=range(n_classes)).fit(prob, label).evidence_)
    return float(np.mean(np.array(found) > 0.0)), float(np.quantile(found, 0.95))


def main(what: str) -> None:
    """Print a table."""
    if what == "losses":
        lines = [
            [name, f"{n}", *(f"{loss:.4f}" for loss in losses(name, n))] for name, sizes in SIZES.items() for n in sizes
        ]
        print(table(["network", "rows", *METHODS], lines))
    elif what == "few":
        lines = [
            [network, f"{n}", name, f"{loss:.4f}", f"{worse} of {SPLITS_OF_FEW}", f"{most:+.4f}"]
            for network in OF_TEN
            for n in FEW
            for name, loss, worse, most in with_few(network, n)
        ]
        print(table(["network", "rows", "method", "log loss", "splits worse", "worst split"], lines))
    elif what == "blocks":
        pairs = [(name, n) for name in ("cifar10_lenet5", "cifar10_resnet50") for n in (300, 1000, 3000)]
        lines = [[name, f"{n}", *(f"{loss:.5f}" for loss in with_blocks(name, n))] for name, n in pairs]
        print(table(["network", "rows", "whole matrix", "blocks"], lines))
    elif what == "size":
        lines = [
            [f"{n}", f"{k}", f"{parameter}", f"{above:.0%}", f"{high:.1f}"]
            for n, k, parameter in SIZED
            for above, high in [in_favour(n, k, parameter)]
        ]
        print(table(["rows", "classes", "Dirichlet", "evidence above 0", "95 % quantile"], lines))
    elif what == "needed":
        print(table(needed.HEAD, list(needed.lines())))
    elif what == "coverage":
        print(table(coverage.HEAD, list(coverage.lines())))
    else:
        lines = [[f"{n}", f"{k}", *(f"{taken:.3g}" for taken in seconds(n, k))] for n, k in TIMED]
        print(table(["rows", "classes", "SMS", "ES, fast", "ES"], lines))


if __name__ == "__main__":
    main(sys.argv[1])
