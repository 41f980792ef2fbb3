"""What a file must hold of an evidence scaling."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant._core.parameters import number, numbers, require, shares, some
from calibrant.calibrators.simplex.evidence.bands import unpacked
from calibrant.calibrators.simplex.evidence.class_features import table_groups
from calibrant.calibrators.simplex.evidence.hyper_prior import groups_of
from calibrant.calibrators.simplex.evidence.model import n_shared_of

FARTHEST, SMALLEST, MOST_COEFFICIENT = 1e15, 1e-12, 1e100
"""Places, units and weights in a file are at most, or at least, this: their products are then numbers."""

MOST_CURVATURE, ROUNDING = 1e30, 1e-6
"""Second derivatives are at most this, and their matrix has no eigenvalue below zero by more than this part of the largest."""


def check_fitted(fitted: Any, ordered: bool) -> None:
    """Refuse attributes that no fit of `EvidenceScaling` gives; ``ordered`` where the maps keep the order of classes."""
    n_classes = len(fitted.classes_)
    of_two = n_classes == 2 and not ordered
    number("exponent_", fitted.exponent_, least=1e-100, most=1e100, hint="Fit anew")
    number("floor_", fitted.floor_, least=0.0, most=1.0, hint="Fit anew")
    number("uniform_", fitted.uniform_, least=1e-100, most=1.0, hint="Fit anew")
    numbers("knots_", fitted.knots_, shape=(None,), least=-FARTHEST, most=FARTHEST, order="rising")
    some("knots_", fitted.knots_, "knot", hint="Fit anew")
    number("middle_", fitted.middle_, least=-FARTHEST, most=FARTHEST, hint="Fit anew")
    numbers("unit_", fitted.unit_, shape=(2,), least=SMALLEST)
    size = 2 if of_two else 2 * n_classes + 2
    numbers("centre_", fitted.centre_, shape=(size,), least=-FARTHEST, most=FARTHEST)
    ranks = numbers("ranks_", fitted.ranks_, shape=(2, None), least=-FARTHEST, most=FARTHEST)
    numbers("ranks_", ranks[0], shape=(None,), order="rising")
    numbers("ranks_", ranks[1], shape=(None,), least=1e-100, most=1.0 - 1e-16)
    require(ranks.shape[1] > 0 or not of_two, "ranks_ must hold at least one rank", got="none", hint="Fit anew")
    n_groups, n_weights = len(groups_of(n_classes, ordered=ordered)), _check_maps(fitted, ordered)
    numbers("log_precision_", fitted.log_precision_, shape=(n_groups,), least=-100.0, most=100.0)
    numbers("degrees_of_freedom_", fitted.degrees_of_freedom_, shape=(n_groups,))
    _check_posterior(fitted, n_groups, n_weights)


def _check_maps(fitted: Any, ordered: bool) -> int:
    """Refuse maps of other shapes; return how many weights each has."""
    n_classes, n_shared = len(fitted.classes_), n_shared_of(fitted._features())
    own = 0 if ordered or n_classes == 2 else len(table_groups(n_classes)[0])
    limits: Any = {"least": -MOST_COEFFICIENT, "most": MOST_COEFFICIENT}
    shares("weights_", fitted.weights_)
    n_maps = len(fitted.weights_) - 1
    numbers("shared_", fitted.shared_, shape=(n_maps, n_shared), **limits)
    numbers("coef_", fitted.coef_, shape=(n_maps, n_classes, own), **limits)
    if fitted.keep != "argmax" or ordered:
        numbers("ordered_", fitted.ordered_, shape=(0,))
        numbers("ordered_weights_", fitted.ordered_weights_, shape=(0,))
    else:
        shares("ordered_weights_", fitted.ordered_weights_)
        numbers("ordered_", fitted.ordered_, shape=(len(fitted.ordered_weights_) - 1, n_shared), **limits)
    return n_shared + n_classes * own


def _check_posterior(fitted: Any, n_groups: int, n_weights: int) -> None:
    """Refuse second derivatives of another size, or such as no convex function has."""
    if not fitted.intervals:
        numbers("hessian_", fitted.hessian_, shape=(0,))
        numbers("path_", fitted.path_, shape=(0,))
        return
    numbers("path_", fitted.path_, shape=(len(fitted.weights_) - 1, n_groups), least=-100.0, most=100.0)
    size = n_weights * (n_weights + 1) // 2
    numbers("hessian_", fitted.hessian_, shape=(size,), least=-MOST_CURVATURE, most=MOST_CURVATURE)
    values = np.linalg.eigvalsh(unpacked(fitted.hessian_, n_weights))
    least = float(values[0])
    require(
        least >= -ROUNDING * max(float(values[-1]), 1.0),
        "hessian_ must have no negative eigenvalue",
        got=f"{least:.3g}",
        hint="Fit anew",
    )
