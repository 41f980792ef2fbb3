"""Whether what a file describes works: parts that fit together, and probabilities for every score that it knows of."""

from __future__ import annotations

import numpy as np

from calibrant._links import FloatArray
from calibrant._parameters import choice, flag, number
from calibrant.calibrators.base import BinaryCalibrator, Calibrator
from calibrant.calibrators.by_notion import ByNotion
from calibrant.calibrators.canonical_binning import CanonicalBinning
from calibrant.calibrators.irp import IsotonicRecursivePartitioning
from calibrant.calibrators.multiclass_irp import MulticlassRecursivePartitioning
from calibrant.calibrators.nafir import NormalizedFlattenedIsotonic
from calibrant.calibrators.scir import SortedCumulativeIsotonic

MOST_CORNERS = 64
"""Classes of which the certain forecast is tried."""


def require_sound(calibrator: Calibrator) -> None:
    """Refuse, with a ValueError, a restored calibrator whose parts do not fit together or that gives no probabilities."""
    if isinstance(calibrator, ByNotion):
        _require_problems(calibrator)
    elif isinstance(calibrator, CanonicalBinning):
        _require_cells(calibrator)
    elif isinstance(calibrator, MulticlassRecursivePartitioning):
        _require_tree(calibrator)
    elif isinstance(calibrator, NormalizedFlattenedIsotonic):
        _require_steps(calibrator)
    elif isinstance(calibrator, SortedCumulativeIsotonic):
        number("epsilon_", calibrator.epsilon_, least=0.0, hint="Fit anew")
    elif isinstance(calibrator, BinaryCalibrator):
        _require_map(calibrator)
    forecast = _trial(calibrator)
    prob = calibrator.calibrate(forecast)
    if prob.shape != forecast.shape or not _are_probabilities(prob):
        raise ValueError(f"parameters that give no probabilities but {prob.tolist()}")


def _trial(calibrator: Calibrator) -> FloatArray:
    """Return the forecast that knows nothing, and those that are sure of a class."""
    n_classes = len(calibrator.classes_)
    corners = np.eye(n_classes)[:MOST_CORNERS]
    if calibrator.input == "logit":
        forecast = np.vstack([np.zeros((1, n_classes)), 10.0 * corners])
    else:
        forecast = np.vstack([np.full((1, n_classes), 1.0 / n_classes), corners])
    return forecast[:, 1] if calibrator.n_features_in_ == 1 else forecast


def _require_problems(calibrator: ByNotion) -> None:
    flag("normalize", calibrator.normalize)
    choice("unseen", calibrator.unseen, ("pooled", "identity"))
    n_classes = len(calibrator.classes_)
    wanted = sum(1 for _ in calibrator.notion_.parts(np.full((1, n_classes), 1.0 / n_classes)))
    if len(calibrator.calibrators_) != wanted:
        raise ValueError(f"{len(calibrator.calibrators_)} problems where {n_classes} classes make {wanted}")
    if None in calibrator.calibrators_ and calibrator.pooled_ is None and calibrator.unseen == "pooled":
        raise ValueError("a problem without a map, and no pooled one")
    for fitted in [*calibrator.calibrators_, calibrator.pooled_]:
        if fitted is not None:
            _require_map(fitted)


def _require_cells(calibrator: CanonicalBinning) -> None:
    n_cells = calibrator.partition_.n_cells
    _require_vectors(calibrator, "value_", n_cells, "cells")
    _require_numbers(calibrator, "count_", n_cells, "cells")


def _require_vectors(calibrator: Calibrator, name: str, size: int, of: str) -> None:
    """Refuse an attribute that is not so many vectors of probabilities of all classes."""
    value, wanted = np.asarray(getattr(calibrator, name)), (size, len(calibrator.classes_))
    if value.shape != wanted:
        raise ValueError(f"{name} of shape {value.shape} where {of} and classes make {wanted}")
    if not _are_probabilities(value) or not np.allclose(value.sum(axis=1), 1.0, rtol=0.0, atol=1e-9):
        raise ValueError(f"rows of {name} that do not sum to one")


def _require_numbers(calibrator: Calibrator, name: str, size: int, of: str) -> None:
    """Refuse an attribute that is not so many finite numbers."""
    values = np.asarray(getattr(calibrator, name))
    if values.shape != (size,):
        raise ValueError(f"{name} of shape {values.shape} for {size} {of}")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} that is not finite")


def _require_tree(calibrator: MulticlassRecursivePartitioning) -> None:
    """Look at what nodes, regions and splits have; that the splits make a tree they have seen to themselves."""
    tree, n_classes = calibrator.tree_, len(calibrator.classes_)
    if len(tree.gamma) and tree.gamma.shape[1] != n_classes:
        raise ValueError(f"splits of {tree.gamma.shape[1]} classes for {n_classes}")
    for start, size, of in (("node_", tree.split.size, "nodes"), ("", tree.n_cells, "regions")):
        _require_vectors(calibrator, f"{start}value_", size, of)
        _require_numbers(calibrator, f"{start}count_", size, of)
    _require_numbers(calibrator, "gain_", len(tree.gamma), "splits")
    if not np.array_equal(calibrator.staged_regions_, tree.n_regions) or calibrator.n_regions_ != tree.n_cells:
        raise ValueError("numbers of regions that are not those of the tree")


def _require_stages(calibrator: IsotonicRecursivePartitioning) -> None:
    """Look at what the stages of a map are made of."""
    n_cuts = np.size(calibrator.threshold_)
    for name in ("threshold_", "gain_"):
        _require_numbers(calibrator, name, n_cuts, "cuts")
    for name in ("weight_", "event_weight_"):
        _require_numbers(calibrator, name, n_cuts + 1, "regions")
    weight, events = np.asarray(calibrator.weight_), np.asarray(calibrator.event_weight_)
    if not ((weight > 0.0) & (events >= 0.0) & (events <= weight)).all():
        raise ValueError("an event_weight_ that is no part of weight_")


def _require_steps(calibrator: NormalizedFlattenedIsotonic) -> None:
    left, log_value = np.asarray(calibrator.left_), np.asarray(calibrator.log_value_)
    if left.ndim != 1 or not left.size or left.shape != log_value.shape:
        raise ValueError(
            f"left_ of shape {left.shape} and log_value_ of shape {log_value.shape}: one each a step is needed"
        )
    for name, values in (("left_", left), ("log_value_", log_value)):
        if not (np.isfinite(values).all() and (np.diff(values) > 0.0).all()):
            raise ValueError(f"{name} that does not increase")


def _require_map(calibrator: BinaryCalibrator) -> None:
    """Try a map of one score at the ends, in the middle, and at all scores at which it may have a step."""
    if isinstance(calibrator, IsotonicRecursivePartitioning):
        _require_stages(calibrator)
    own = [
        np.ravel(found) for found in vars(calibrator).values() if isinstance(found, np.ndarray) and found.dtype == float
    ]
    numbers = np.concatenate([[0.0, 0.5, 1.0], *own])
    score = numbers[(numbers >= 0.0) & (numbers <= 1.0)]
    prob = calibrator._apply(score)
    if prob.shape != score.shape or not _are_probabilities(prob):
        raise ValueError(f"a {type(calibrator).__name__} that does not map all scores to probabilities")


def _are_probabilities(values: FloatArray) -> bool:
    return bool(np.isfinite(values).all() and (values >= 0.0).all() and (values <= 1.0).all())
