"""The same methods on many parts of Covertype, of several sizes, and on forecasts that are less well calibrated."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from calibrant import ByNotion, IsotonicCalibration, StructuredMatrixScaling, TemperatureScaling, log_loss
from calibrant.binning import RecursiveSplit
from calibrant.binning.cells import simplex_grid
from calibrant.calibrators import (
    CanonicalBinning,
    IsotonicRecursivePartitioning,
    MulticlassIsotonic,
    MulticlassRecursivePartitioning,
)
from calibrant.fit import trees
from studies.claims import CLEAR, mean_and_error, pm, run_with, table
from studies.roc_isotonic import authors

# What isotonic recursive partitioning is compared with, and its own variants: a new calibrator for so many classes.


BEFORE = "not calibrated"

COARSE = 20
"""Steps of a coarser grid than the authors'."""

BASELINE_SPLITS = 9
"""Splits of recursive binning: about as many regions as IRP ends with."""

Method = Callable[[int], Any]


def irp(n_classes: int, **options: Any) -> Any:
    """The binary method for two classes, the other one for more; labels as they are unless it is said."""
    options = {"softening": 0.0} | options
    if n_classes > 2:
        return MulticlassRecursivePartitioning(**options)
    options.pop("candidates", None)
    if "max_regions" in options:
        options["max_bins"] = options.pop("max_regions")
    return IsotonicRecursivePartitioning(**options)


def isotonic(n_classes: int) -> Any:
    """Isotonic regression with smoothed ends, one-vs-rest for more than two classes."""
    binary = IsotonicCalibration(finite="smooth")
    return binary if n_classes == 2 else ByNotion(binary, "class-wise")


def softened_irp(n_classes: int, **options: Any) -> Any:
    """With labels softened by the prediction as far as cross-validation says."""
    return irp(n_classes, candidates=COARSE, softening="cv", **options)


PUBLISHED = "IRP as published, normalised"
AUTHORS = "IRP, Algorithm 2 as printed, same grid and smoothing"
LAPLACE_ALL = "IRP, smoothing 1, to the end"
LAPLACE_CV = "IRP, smoothing and stopping by cross-validation"
COARSE_CV = "IRP, the same, grid of 1/20"
SOFTENED = "IRP, labels softened by the prediction"
AS_MANY = "IRP, the same with at most as many regions as the authors'"
TEMPERATURE = "temperature scaling"
MATRIX = "structured matrix scaling"
ISOTONIC = "isotonic regression, smoothed ends"
BINNING = "recursive binning, smoothing 1"

METHODS: dict[str, Method] = {
    PUBLISHED: authors.partitioning,
    AUTHORS: lambda k: authors.partitioning(k, printed=True),
    LAPLACE_ALL: lambda k: irp(k, smoothing=1.0, max_regions=None),
    LAPLACE_CV: irp,
    COARSE_CV: lambda k: irp(k, candidates=COARSE),
    SOFTENED: softened_irp,
    BINNING: lambda _: CanonicalBinning(RecursiveSplit(BASELINE_SPLITS), interior=False, smoothing=1.0),
    ISOTONIC: isotonic,
    "multi-class isotonic regression": lambda _: MulticlassIsotonic(),
    TEMPERATURE: lambda _: TemperatureScaling(),
    MATRIX: lambda _: StructuredMatrixScaling(),
}

ONLY_OF_MORE = (COARSE_CV, "multi-class isotonic regression")
"""What is another method for two classes."""


def methods(n_classes: int) -> dict[str, Method]:
    """The methods for so many classes."""
    return {name: make for name, make in METHODS.items() if n_classes > 2 or name not in ONLY_OF_MORE}


def measured(make: Method, of: authors.Forecasts) -> tuple[float, int]:
    """Test cross-entropy, and the number of regions; 0 of a method without."""
    fitted = make(of.n_classes).fit(of.p, of.y)
    regions = len(fitted.value_) if hasattr(fitted, "value_") else 0
    return log_loss(of.y_test, fitted.predict_proba(of.p_test), clip=1e-12), regions


@cache
def on_paper(n_classes: int) -> dict[str, tuple[float, int]]:
    """Each method on the paper's rows, and the predictions as they are."""
    of = authors.of_paper(n_classes)
    found = {name: measured(make, of) for name, make in methods(n_classes).items()}
    found[AS_MANY] = measured(lambda k: softened_irp(k, max_regions=found[PUBLISHED][1]), of)
    return {BEFORE: (log_loss(of.y_test, of.p_test, clip=1e-12), 0)} | found


FIRST_SEED = 101
"""The paper's own split is seed 1; what is compared was settled on the next few dozen, of which none is here."""


@dataclass(frozen=True)
class Case:
    """Whose predictions, how many rows to train and to fit, and how many splits; all rows that are left are tested on."""

    model: str
    n_classes: int
    n_fit: int
    n_splits: int
    n_train: int = 4500

    @property
    def name(self) -> str:
        """Words for a line."""
        return f"{self.model}, K = {self.n_classes}, {self.n_fit} rows"

    def draw(self, seed: int) -> authors.Forecasts:
        """One split."""
        return authors.covertype.__wrapped__(  # a split is asked for once
            self.n_classes, seed, model=self.model, n_train=self.n_train, n_fit=self.n_fit, n_test=None
        )


LOGISTIC, BAYES, FOREST = "logistic regression", "naive Bayes", "random forest"

CASES = (
    Case(LOGISTIC, 2, 500, 20),
    Case(LOGISTIC, 2, 2000, 10),
    Case(LOGISTIC, 2, 5000, 8, n_train=1500),  # of 8000 rows of two classes
    Case(LOGISTIC, 3, 500, 12),
    Case(LOGISTIC, 3, 2000, 6),
    Case(LOGISTIC, 3, 5000, 4),
    Case(LOGISTIC, 4, 500, 8),
    Case(LOGISTIC, 4, 2000, 3),
    Case(BAYES, 2, 500, 10),
    Case(BAYES, 3, 500, 8),
    Case(BAYES, 3, 2000, 5),
    Case(BAYES, 4, 500, 6),
    Case(FOREST, 2, 2000, 5),
    Case(FOREST, 3, 2000, 5),
)


@cache
def losses(case: Case) -> dict[str, np.ndarray]:
    """Test cross-entropy and number of regions of each method on each split, shape (n_splits, 2)."""
    found: dict[str, list[tuple[float, int]]] = {name: [] for name in (BEFORE, *methods(case.n_classes))}
    for seed in range(FIRST_SEED, FIRST_SEED + case.n_splits):
        of = case.draw(seed)
        found[BEFORE].append((log_loss(of.y_test, of.p_test, clip=1e-12), 0))
        for name, make in methods(case.n_classes).items():
            found[name].append(measured(make, of))
    return {name: np.array(values) for name, values in found.items()}


def differences(case: Case, method: str, over: str = BEFORE) -> list[float]:
    """Differences of the cross-entropy to another method's on the same rows, one a split."""
    return [float(d) for d in losses(case)[method][:, 0] - losses(case)[over][:, 0]]


def gained(case: Case, method: str, over: str = BEFORE) -> tuple[float, float]:
    """Mean difference of the cross-entropy to another method's on the same rows, and its standard error."""
    return mean_and_error(differences(case, method, over))


def is_better(case: Case, method: str, over: str = BEFORE) -> bool:
    """Whether it is lower by more than chance explains."""
    mean, error = gained(case, method, over)
    return mean < -CLEAR * error


def n_better(cases: Iterable[Case], method: str, over: str = BEFORE) -> int:
    """In how many cases it is."""
    return sum(is_better(case, method, over) for case in cases)


def study_table(n_classes: int) -> str:
    """Differences to no calibration, a method a line and a case a column."""
    cases = [case for case in CASES if case.n_classes == n_classes]
    head = ["", *(f"{case.model}, {case.n_fit} rows" for case in cases)]
    body = [[BEFORE, *(f"{losses(case)[BEFORE][:, 0].mean():.4f}" for case in cases)]]
    body += [[name, *(_cell(case, name) for case in cases)] for name in methods(n_classes)]
    body.append(["splits", *(str(case.n_splits) for case in cases)])
    return table(head, body)


def _cell(case: Case, name: str) -> str:
    text = pm(differences(case, name))
    text = f"**{text}**" if is_better(case, name) else text
    return f"{text} ({regions(case, name):.0f})" if regions(case, name) else text


def regions(case: Case, method: str) -> float:
    """Mean number of regions."""
    return float(losses(case)[method][:, 1].mean())


# The authors' algorithm and the recursive binning, stage by stage, on other splits of the data.


SPLITS = {2: 40, 3: 12, 4: 8}
"""Splits by number of classes, each of 500 rows to fit and all that are left to test."""

SAME_SIZES = (5, 10)
"""Numbers of regions at which both are compared."""


@dataclass(frozen=True)
class Course:
    """Numbers of regions, and cross-entropies of test and of fitted rows, at each stage; volumes with so many regions."""

    n_regions: tuple[int, ...]
    loss: tuple[float, ...]
    fitted: tuple[float, ...]
    volume: dict[int, float]

    @property
    def least(self) -> int:
        """The stage of the least cross-entropy."""
        return int(np.argmin(self.loss))

    @property
    def rise(self) -> float:
        """By how much the cross-entropy at the end is above the least."""
        return self.loss[-1] - self.loss[self.least]

    def best_within(self, n_regions: int, of: str = "loss") -> float:
        """The least cross-entropy with at most so many regions, of the test rows or of the fitted ones."""
        return min(loss for n, loss in zip(self.n_regions, getattr(self, of), strict=True) if n <= n_regions)

    def gap(self, n_regions: float = np.inf) -> float:
        """By how much the test cross-entropy is above that of the fitted rows, at the last stage of so many regions."""
        at = max(stage for stage, n in enumerate(self.n_regions) if n <= n_regions)
        return self.loss[at] - self.fitted[at]


@cache
def courses(n_classes: int) -> tuple[tuple[Course, ...], ...]:
    """IRP as published, recursive binning, and IRP that asks no split for monotony: of each split.

    Vectors sum to one, and test rows walk down the trees.
    """
    return tuple(_of_split(n_classes, FIRST_SEED + number) for number in range(SPLITS[n_classes]))


def _of_split(n_classes: int, seed: int) -> tuple[Course, ...]:
    of = authors.covertype.__wrapped__(n_classes, seed, n_test=None)  # a split is asked for once

    def grown() -> Any:
        return authors.partitioning(n_classes).fit(of.p, of.y).tree_

    binned = authors.recursive_binning(of.p, simplex_grid(n_classes, authors.STEPS[n_classes]))
    free = run_with(trees._Growing, "_first_monotone", lambda self, v, tried, live: int(tried[0]), grown)
    return tuple(_course(of, tree) for tree in (grown(), binned, free()))


def _course(of: authors.Forecasts, tree: authors.SplitTree) -> Course:
    n_regions = tree.n_regions.tolist()
    loss, fitted, volume = [], [], {}
    for n, (own, test) in zip(n_regions, authors.walked(of, tree), strict=True):
        loss.append(authors.cross_entropy(test, of.y_test))
        fitted.append(authors.cross_entropy(own, of.y))
        volume |= {size: own for size in SAME_SIZES if n <= size and of.n_classes > 2}
    return Course(
        tuple(n_regions), tuple(loss), tuple(fitted), {n: authors.volume(of.y, own) for n, own in volume.items()}
    )
