"""What isotonic recursive partitioning is compared with, and its own variants: a new calibrator for so many classes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from calibrant import ByNotion, IsotonicCalibration, StructuredMatrixScaling, TemperatureScaling, log_loss
from calibrant.binning import RecursiveSplit
from calibrant.calibrators import (
    CanonicalBinning,
    IsotonicRecursivePartitioning,
    MulticlassIsotonic,
    MulticlassRecursivePartitioning,
)
from studies.roc_isotonic.authors import partitioning
from studies.roc_isotonic.forecasts import Forecasts, of_paper

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
    PUBLISHED: partitioning,
    AUTHORS: lambda k: partitioning(k, printed=True),
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


def measured(make: Method, of: Forecasts) -> tuple[float, int]:
    """Test cross-entropy, and the number of regions; 0 of a method without."""
    fitted = make(of.n_classes).fit(of.p, of.y)
    regions = len(fitted.value_) if hasattr(fitted, "value_") else 0
    return log_loss(of.y_test, fitted.predict_proba(of.p_test), clip=1e-12), regions


@cache
def on_paper(n_classes: int) -> dict[str, tuple[float, int]]:
    """Each method on the paper's rows, and the predictions as they are."""
    of = of_paper(n_classes)
    found = {name: measured(make, of) for name, make in methods(n_classes).items()}
    found[AS_MANY] = measured(lambda k: softened_irp(k, max_regions=found[PUBLISHED][1]), of)
    return {BEFORE: (log_loss(of.y_test, of.p_test, clip=1e-12), 0)} | found
