"""Print tables of docs/evidence-scaling.md and docs/evidence-intervals.md: log loss of public networks, tests, intervals.

Run: python -m studies.evidence_scaling losses, needed, coverage. The data lie in $CALIBRANT_DATA, or in shared/data
beside the repository.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from scipy.special import softmax

from calibrant import TemperatureScaling, log_loss
from calibrant.calibrators import EvidenceScaling, StructuredMatrixScaling
from calibrant.significance import bayes_factor_test, cox_test, kernel_test, resampling_test
from studies.claims import data_dir, table

# How often intervals of `EvidenceScaling` hold the true probability, and how wide they are, on rows that were not fitted.


FITS, NEW, LEVELS = 100, 400, (0.05, 0.1)
CELLS = tuple((n, k) for k in (2, 4) for n in (300, 2000))
"""Rows to fit, and classes."""


def less_apart(log_prob: Any) -> Any:
    """Return probabilities that are less far apart."""
    return softmax(log_prob / 1.6, axis=1)


def bent(log_prob: Any) -> Any:
    """Return probabilities of scores with a bias, a wave, and of many classes an influence of the last on the first."""
    score = log_prob / 1.3 + 0.3 * np.sin(1.5 * log_prob)
    score[:, 0] += 0.5
    if log_prob.shape[1] > 2:
        score[:, 0] += 0.4 * (log_prob[:, -1] - log_prob[:, -1].mean())
    return softmax(score, axis=1)


def stepped(log_prob: Any) -> Any:
    """Return probabilities of scores that jump where a log-probability passes that of equal classes."""
    return softmax(log_prob + 1.5 * (log_prob > -np.log(log_prob.shape[1])), axis=1)


TRUTHS: Mapping[str, Callable[[Any], Any]] = {
    "calibrated": np.exp,
    "over-confident": less_apart,
    "bent": bent,
    "a step": stepped,
}


def covered(truth: Callable[[Any], Any], n: int, n_classes: int) -> list[str]:
    """Return coverage at each level, that of the rarest tenth of places, the standard error over fits, and width."""
    found = []
    for seed in range(FITS):
        rng = np.random.default_rng(seed)
        prob = softmax(rng.normal(0.0, 1.5, (n + NEW, n_classes)), axis=1)
        rate = truth(np.log(prob))
        label = (rng.random((n + NEW, 1)) > rate.cumsum(axis=1)).sum(axis=1).clip(0, n_classes - 1)
        fitted = EvidenceScaling(intervals=True, labels=range(n_classes)).fit(prob[:n], label[:n])
        ends = [fitted.predict_interval(prob[n:], level=level) for level in LEVELS]
        wanted = rate[n:, 1] if n_classes == 2 else rate[n:]
        inside = [(one[..., 0] <= wanted) & (wanted <= one[..., 1]) for one in ends]
        part = np.clip(10.0 * prob[n:, 1] if n_classes == 2 else 10.0 * prob[n:], 0, 9).astype(int)
        by_part = [inside[0][part == tenth].mean() for tenth in range(10)]
        found.append([*(one.mean() for one in inside), (ends[0][..., 1] - ends[0][..., 0]).mean(), *by_part])
    mean = np.nanmean(found, axis=0)
    error = np.std([one[0] for one in found]) / np.sqrt(FITS)
    return [
        f"{100 * mean[0]:.1f} ± {100 * error:.1f}",
        f"{100 * mean[1]:.1f}",
        f"{100 * mean[3:].min():.1f}",
        f"{mean[2]:.3f}",
    ]


def lines() -> Iterator[list[str]]:
    """Yield the lines of the table."""
    for name, truth in TRUTHS.items():
        for n, n_classes in CELLS:
            yield [name, f"{n_classes}", f"{n}", *covered(truth, n, n_classes)]


HEAD = [
    "truth",
    "classes",
    "rows",
    "95 % intervals cover",
    "90 % intervals",
    "worst tenth of scores, 95 %",
    "width, 95 %",
]


# How often tests find that calibration is needed: of calibrated forecasts, which is their size, and of others, their power.


DRAWS, LEVELS_NEEDED = 99, (0.05, 0.1)
RUNS, RUNS_OF_POWER = 200, 100
CELLS_NEEDED = tuple((n, k) for n in (300, 2000) for k in (2, 4, 10))
"""Rows and classes."""

TESTS: Mapping[str, Callable[..., Any]] = {
    "Bayes factor": partial(bayes_factor_test, n_resamples=DRAWS),
    "ECE": partial(resampling_test, metric="ece", n_resamples=DRAWS),
    "class-wise ECE": partial(resampling_test, metric="classwise-ece", n_resamples=DRAWS),
    "kernel": partial(kernel_test, n_resamples=DRAWS),
    "Cox": lambda y, prob, *, labels, rng: cox_test(y, prob, labels=labels),
}


def calibrated(log_prob: Any, size: float) -> Any:
    """Return the forecast itself."""
    return np.exp(log_prob)


def over_confident(log_prob: Any, size: float) -> Any:
    """Return probabilities that are less far apart."""
    return softmax(log_prob / (1.0 + 0.2 * size), axis=1)


def one_class_too_low(log_prob: Any, size: float) -> Any:
    """Return probabilities with more of the first class."""
    return softmax(log_prob + 0.3 * size * (np.arange(log_prob.shape[1]) == 0), axis=1)


def confused(log_prob: Any, size: float) -> Any:
    """Return probabilities with more of the first class where the last is likely, and less where it is not."""
    last = log_prob[:, -1:] - log_prob[:, -1:].mean()
    return softmax(log_prob + 0.3 * size * last * (np.arange(log_prob.shape[1]) == 0), axis=1)


def drawn(truth: Callable[[Any, float], Any], n: int, n_classes: int, seed: int) -> tuple[Any, Any]:
    """Return a forecast and labels; errors are smaller where there are more rows."""
    rng = np.random.default_rng(seed)
    prob = softmax(rng.normal(0.0, 1.5, (n, n_classes)), axis=1)
    rate = truth(np.log(prob), float(np.sqrt(300.0 / n)))
    return prob, (rng.random((n, 1)) > rate.cumsum(axis=1)).sum(axis=1).clip(0, n_classes - 1)


def rejected(truth: Callable[[Any, float], Any], n: int, n_classes: int, runs: int) -> dict[str, list[float]]:
    """Return how often each test rejects, at each level."""
    pvalues: dict[str, list[float]] = {name: [] for name in TESTS}
    for seed in range(runs):
        prob, label = drawn(truth, n, n_classes, seed)
        for name, test in TESTS.items():
            pvalues[name].append(test(label, prob, labels=list(range(n_classes)), rng=seed).pvalue)
    # A p-value of 99 draws is a whole number of hundredths.
    return {
        name: [float(np.mean(np.array(p) <= level + 1e-9)) for level in LEVELS_NEEDED] for name, p in pvalues.items()
    }


def lines_needed() -> Iterator[list[str]]:
    """Yield the lines of the table."""
    warnings.simplefilter("ignore")
    for truth in (calibrated, over_confident, one_class_too_low, confused):
        for n, n_classes in CELLS_NEEDED:
            found = rejected(truth, n, n_classes, RUNS if truth is calibrated else RUNS_OF_POWER)
            shown = [f"{100.0 * low:.3g} / {100.0 * high:.3g}" for low, high in found.values()]
            yield [truth.__name__.replace("_", " "), f"{n}", f"{n_classes}", *shown]


HEAD_NEEDED = ["forecast", "rows", "classes", *TESTS]


SPLITS, SPLITS_OF_FEW, SPLITS_OF_MANY = 4, 20, 2
"""Random parts of the rows that are fitted, the rest being tested; of `FEW` rows; and of a hundred classes, which take long."""

SIZES: Mapping[str, tuple[int, ...]] = {
    "cifar10_lenet5": (100, 300, 1000, 3000),
    "cifar10_resnet50": (100, 300, 1000, 3000, 10_000),
    "cifar100_lenet5": (3000,),
    "cifar100_densenet_bc": (1000, 3000),
}

METHODS: Mapping[str, Any] = {
    "temperature": TemperatureScaling(),
    "SMS": StructuredMatrixScaling(),
    "ES, fast": EvidenceScaling(pool="fast"),
    "ES": EvidenceScaling(),
    "ES, order kept": EvidenceScaling(keep="order"),
    "ES, class kept": EvidenceScaling(keep="argmax"),
}

MANY, FEW = 10, (100, 300)


def forecast(name: str) -> tuple[Any, Any]:
    """Return the probabilities and the labels of a public network."""
    held = np.load(data_dir() / f"{name}.npz")
    if "P" in held:
        prob = held["P"].astype(np.float64)
        return prob / prob.sum(axis=1, keepdims=True), held["y"]
    logit = np.concatenate([held["logits_cal"], held["logits_test"]]).astype(np.float64)
    return softmax(logit, axis=1), np.concatenate([held["y_cal"], held["y_test"]])


def losses(network: str, n: int) -> list[float]:
    """Return the mean log loss of each method over the splits."""
    prob, label = forecast(network)
    found = []
    for seed in range(SPLITS_OF_MANY if prob.shape[1] > MANY else SPLITS_OF_FEW if n in FEW else SPLITS):
        order = np.random.default_rng(seed).permutation(len(label))
        rows, rest, after = order[:n], order[n:], {"as it is": prob[order[n:]]}
        for name, method in METHODS.items():
            fitted = method.set_params(labels=range(prob.shape[1])).fit(prob[rows], label[rows])
            after[name] = fitted.predict_proba(prob[rest])
        found.append([log_loss(label[rest], one) for one in after.values()])
    return [float(value) for value in np.mean(found, axis=0)]


def main(what: str) -> None:
    """Print a table."""
    if what == "losses":
        lines = [
            [name, f"{n}", *(f"{loss:.4f}" for loss in losses(name, n))] for name, sizes in SIZES.items() for n in sizes
        ]
        print(table(["network", "rows", "as it is", *METHODS], lines))
    elif what == "needed":
        print(table(HEAD_NEEDED, list(lines_needed())))
    else:
        print(table(HEAD, list(lines())))


if __name__ == "__main__":
    main(sys.argv[1])
