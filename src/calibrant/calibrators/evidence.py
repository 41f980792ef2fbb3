"""Evidence scaling: the pool of maps, intervals, what keeps the order of classes, parts and picture, and a Bayes factor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from scipy.special import expit, logsumexp, ndtri
from sklearn.utils.validation import check_is_fitted

from calibrant import drawing
from calibrant._core.arrays import ArrayLike, FloatArray, NDArray, prob_of_scores
from calibrant._core.checks import fraction, numbers, require
from calibrant._core.registry import FINITE, PERMUTED
from calibrant._core.result import DrawnResult, Picture, Table
from calibrant._core.rows import BoolArray, Forecast, IntArray, SimplexProblem
from calibrant._core.threads import in_order, n_processors
from calibrant.calibrators import evidence_features
from calibrant.calibrators.base import MulticlassCalibrator, fitted, method, parameter, warn_unless_certain
from calibrant.fit import evidence as laplace
from calibrant.fit.folds import folds_of, observed
from calibrant.fit.minimise import Minimum, most_likely_shares

# Intervals of calibrated probabilities, and of the curve, from Laplace's approximation of the posterior of the weights


BLOCK = 1 << 21
"""Numbers worked on at a time."""

SMALLEST = 1e-300


@dataclass(frozen=True, eq=False)
class Posterior:
    """Maps with roots of their A^-1, shape (M, d, d): R with  R R' = A^-1."""

    maps: evidence_features.Maps
    features: evidence_features.Features
    roots: FloatArray

    def interval(self, z: FloatArray, prob: FloatArray, level: float) -> FloatArray:
        """Return both ends for each class, shape (n, K, 2), given standardised log-probabilities and the prediction."""
        mixed = self.maps.mixed(z, prob, self.features)
        variance = self.maps.shares[-1] * apart(prob, mixed) ** 2
        for share, (one, own_variance) in zip(self.maps.shares[:-1], self._each(z), strict=True):
            variance += share * (own_variance + apart(one, mixed) ** 2)
        return ends(mixed, variance, level)

    def _each(self, z: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield the probabilities of each map and their variances, shape (n, K) each."""
        step = max(1, BLOCK // (z.shape[1] * self.roots.shape[1]))
        for place, root in enumerate(self.roots):
            parts = [self._one(place, root, z[start : start + step]) for start in range(0, len(z), step)]
            yield np.concatenate([one for one, _ in parts]), np.concatenate([variance for _, variance in parts])

    def _one(self, number: int, root: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        alone = evidence_features.Maps(self.maps.shared[[number]], self.maps.own[[number]], np.array([1.0, 0.0]))
        q = alone.mixed(z, np.zeros_like(z), self.features)
        return q, self.features.variance(z, q, root)

    def curve(self, columns: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
        """Return both ends of a curve, a mean over maps: columns, shape (n, S), times as many of the first weights."""
        share = self.maps.shares[:-1] / max(float(self.maps.shares[:-1].sum()), SMALLEST)
        each = self.maps.shared[:, : columns.shape[1]] @ columns.T
        mean, variance = share @ each, np.zeros(len(columns))
        for of_map, one, root in zip(share, each, self.roots, strict=True):
            own = ((columns @ root[: columns.shape[1]]) ** 2).sum(axis=1)
            variance += of_map * (own + (one - mean) ** 2)
        reach = -ndtri(level / 2.0) * np.sqrt(variance)
        return mean - reach, mean + reach


def apart(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return differences of probabilities, shape (n, K), from the smaller of each and the rest."""
    return np.where(other < 0.5, one - other, evidence_features.rest_of(other) - evidence_features.rest_of(one))


def ends(prob: FloatArray, variance: FloatArray, level: float) -> FloatArray:
    """Return the ends of intervals that are symmetric in log-odds, shape (n, K, 2)."""
    rest = np.maximum(evidence_features.rest_of(prob), SMALLEST)
    prob = np.maximum(prob, SMALLEST)
    log_odds = np.log(prob) - np.log(rest)
    reach = -ndtri(level / 2.0) * np.sqrt(variance) / prob / rest
    return np.stack([expit(log_odds - reach), expit(log_odds + reach)], axis=-1)


def packed(curvature: laplace.Curvature, size: int) -> FloatArray:
    """Return the entries of H on and below the diagonal, row after row, shape (d (d + 1) / 2,)."""
    hessian = np.stack([curvature.times(unit) for unit in np.eye(size)])
    return (0.5 * (hessian + hessian.T))[np.tril_indices(size)]


def unpacked(entries: FloatArray, size: int) -> FloatArray:
    """Return H, shape (d, d)."""
    hessian = np.zeros((size, size))
    hessian[np.tril_indices(size)] = entries
    return hessian + np.tril(hessian, -1).T


# Bayes factor of a recalibration against the forecast as it is, to the second order at the forecast


UNIFORM = 1e-9
"""Share of the uniform forecast that features are made with, so that a probability of 0 has a finite logarithm."""

N_PRECISIONS = 16
"""Points of the prior of the precisions."""

PRIMES = (2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0)


@dataclass(frozen=True, eq=False)
class BayesFactor:
    """The logarithm of the Bayes factor as a function of the labels.

    Attributes
    ----------
    expected : ndarray of shape (n, K)
        Probabilities times the weights of the rows.
    weight : ndarray of shape (n,)
        Number of rows that each row stands for.
    shared : ndarray of shape (S, n, K)
        Features that all classes share.
    table : Table
        Features that have a weight for each class.
    roots : ndarray of shape (n_points, d, d)
        Roots R of the inverses of A, R' R = A^-1, for each point of the prior.
    gains : ndarray of shape (n_points,)
        What does not depend on the labels: half of  sum(rho) - log det A.
    """

    expected: FloatArray
    weight: FloatArray
    shared: FloatArray
    table: laplace.FeatureTable
    roots: FloatArray
    gains: FloatArray

    @classmethod
    def of(cls, forecast: Forecast, weight: FloatArray) -> BayesFactor:
        """Measure the features of a forecast."""
        z = evidence_features.Standard(1.0, 0.0, UNIFORM).of(forecast)
        prob, n_classes = np.exp(z), z.shape[1]
        features = evidence_features.measured(z, weight)
        shared, (table, names) = features.shared(z), features.small_table(z, laplace.MOST_DENSE)
        groups = evidence_features.TWO_CLASSES if n_classes == 2 else evidence_features.MANY_CLASSES
        group = np.array([list(groups).index(name) for name in names])
        curvature = laplace.SoftmaxCurvature(prob, weight, shared, table)
        hessian = np.stack([curvature.times(unit) for unit in np.eye(len(names))])
        log_precisions = [rho[group] for rho in _points(groups, n_classes)]
        roots = np.stack([laplace.inverse_root(hessian, np.exp(rho)) for rho in log_precisions])
        gains = [0.5 * (rho.sum() - laplace.log_det_of(root)) for rho, root in zip(log_precisions, roots, strict=True)]
        return cls(weight[:, None] * prob, weight, shared, table, roots, np.array(gains))

    def log_of(self, labels: Iterable[IntArray]) -> FloatArray:
        """Return the logarithm of the Bayes factor for each of some labellings: labels (n,), or counts of each class (n, K)."""
        gradients = np.stack([self._gradient(label) for label in labels], axis=1)
        each = [
            gain + 0.5 * ((root @ gradients) ** 2).sum(axis=0)
            for root, gain in zip(self.roots, self.gains, strict=True)
        ]
        return np.asarray(logsumexp(each, axis=0) - np.log(len(each)))

    def _gradient(self, label: IntArray) -> FloatArray:
        residual = self.expected.copy()
        if label.ndim == 2:
            residual -= label
        else:
            residual[np.arange(len(label)), label] -= self.weight
        shared = self.shared.reshape(len(self.shared), -1) @ residual.ravel()
        return np.concatenate([shared, self.table.pulled(residual).ravel()])


def _points(groups: Mapping[str, evidence_features.Normal], n_classes: int) -> FloatArray:
    """Return logarithms of precisions, shape (n_points, G), spread evenly over their prior for a forecast of exponent 1."""
    mean, spread = evidence_features.prior_of(groups, n_classes, 1.0)
    evenly = (np.arange(1, N_PRECISIONS + 1)[:, None] * np.sqrt(PRIMES[: len(groups)])) % 1.0
    return np.asarray(mean + spread * ndtri(evenly))


# Maps that keep the order of the classes in each row, and mixtures that keep the class of highest probability


LEAST_SLOPE = 0.01
"""Slope of a score in its log-probability, at least, so that no two classes are tied."""

WITHIN = 1.0 - 1e-6
"""Part of the largest share that keeps a class on top."""


def rising(weights: FloatArray, features: evidence_features.Features, n_classes: int) -> FloatArray:
    """Return the weights of shared features, shape (S,), made smaller until the score rises in z in every row there can be.

    The slope is 1 plus a function that is linear in the weights, so that a part of them always does.
    """
    curve = features.curve
    ends = np.concatenate([[curve.knots[0] - 1.0], curve.knots, [curve.knots[-1] + 1.0]])
    middles, width = 0.5 * (ends[1:] + ends[:-1]), 0.25 * np.diff(ends)
    hinges = np.stack(curve.of(middles + width)) - np.stack(curve.of(middles - width))
    # Of temperature and curve between the knots and beyond, and the least that entropy and highest log-probability add.
    slopes = weights[0] + weights[1 : 1 + len(curve.knots)] @ (hinges / (2.0 * width))
    most, (mean_entropy, mean_top) = float(np.log(n_classes)), features.centre[-2:]
    entropy = weights[-2] * (np.array([0.0, most]) - mean_entropy)
    top = weights[-1] * (np.array([-most, 0.0]) - mean_top)
    least = float(1.0 + slopes.min() + entropy.min() + top.min())
    if least >= LEAST_SLOPE:
        return weights
    return weights * ((1.0 - LEAST_SLOPE) / (1.0 - least))


def keeping_top(free: FloatArray, ordered: FloatArray, top: BoolArray) -> FloatArray:
    """Mix free probabilities with ordered ones, shape (n, K): as many of the free as keep the class of ``top`` on top.

    Parameters
    ----------
    free, ordered : ndarray of shape (n, K)
        Probabilities; in the second the classes of a row have the order that they were given in.
    top : ndarray of shape (n, K)
        True at one class of each row, of highest probability in ``ordered``.
    """
    ahead = np.maximum(ordered[top][:, None] - ordered, 0.0)
    behind = np.maximum(free - free[top][:, None], 0.0)
    share = np.ones_like(ahead)
    np.divide(ahead, ahead + behind, out=share, where=behind > 0.0)
    of_free = share.min(axis=1, keepdims=True)
    of_free[of_free < 1.0] *= WITHIN
    return np.asarray(of_free * free + (1.0 - of_free) * ordered)


# What a file must hold of an evidence scaling


FARTHEST, SMALLEST_LOADED, MOST_COEFFICIENT = 1e15, 1e-12, 1e100
"""Places, units and weights in a file are at most, or at least, this: their products are then numbers."""

MOST_CURVATURE, ROUNDING = 1e30, 1e-6
"""Second derivatives are at most this, and their matrix has no eigenvalue below zero by more than this part of the largest."""


def check_fitted(fitted: EvidenceScaling, sizes: Mapping[str, int], ordered: bool) -> None:
    """Refuse ranks, weights that keep the order, and what intervals are made of, if they are none that a fit gives."""
    limits: Any = {"least": -MOST_COEFFICIENT, "most": MOST_COEFFICIENT}
    numbers("ranks_", fitted.ranks_[0], shape=(None,), order="rising")
    fewest = 1 if sizes["K"] == 2 and not ordered else 0
    numbers("ranks_", fitted.ranks_[1], shape=(None,), least=1e-100, most=1.0 - 1e-16, fewest=fewest)
    n_maps, is_mixed = len(fitted.shared_), fitted.keep == "argmax" and not ordered
    own = fitted.ordered_weights_
    of_ordered = numbers("ordered_weights_", own, shape=(None if is_mixed else 0,), sum_to_one=is_mixed)
    shape = (len(of_ordered) - 1, sizes["s"]) if is_mixed else (0,)
    numbers("ordered_", fitted.ordered_, shape=shape, **limits)
    size = (sizes["s"] + sizes["K"] * sizes["f"]) * fitted.intervals
    numbers("path_", fitted.path_, shape=(n_maps, sizes["g"]) if size else (0,), least=-100.0, most=100.0)
    numbers("hessian_", fitted.hessian_, shape=(size * (size + 1) // 2,))
    if size:
        least, *_, largest = np.linalg.eigvalsh(unpacked(fitted.hessian_, size)).tolist()
        must = "hessian_ must have no negative eigenvalue"
        require(least >= -ROUNDING * max(largest, 1.0), must, got=f"{least:.3g}", hint="Fit anew")


# What the parts of a fitted evidence scaling do: how much of each group is used, curve, biases and interactions


class Group(NamedTuple):
    """How much of a group of features is used.

    Attributes
    ----------
    variance : float
        Prior variance of its weights, that of most evidence.
    degrees_of_freedom : float
        How many of its weights the rows determine, from 0 to ``n_weights``.
    n_weights : int
        Number of weights.
    """

    variance: float
    degrees_of_freedom: float
    n_weights: int


@dataclass(frozen=True, eq=False)
class EvidenceParts(DrawnResult):
    """The parts of a fitted `EvidenceScaling`, as means over its maps, by their shares.

    Attributes
    ----------
    group : tuple of str
        Names of the groups of features.
    variance : ndarray of shape (n_groups,)
        Prior variance of the weights of each.
    degrees_of_freedom : ndarray of shape (n_groups,)
        How many of these weights the rows determine.
    n_weights : ndarray of shape (n_groups,)
        How many there are.
    place : ndarray of shape (n_places,)
        Standardised log-probabilities; of two classes standardised log-odds of the second.
    curve : ndarray of shape (n_places,)
        What temperature and curve add there to the score; of two classes what all parts add.
    lower, upper : ndarray of shape (n_places,)
        Ends of the band of the curve, of a map that was fitted with ``intervals=True``; else empty.
    bias : ndarray of shape (n_classes,)
        What is added to the score of each class, less the mean over classes; of two classes zero, as the curve holds it.
    interaction : ndarray of shape (n_classes, n_classes)
        What a log-probability of class k that is higher by one adds to the score of class j, besides the curve; of two classes,
        and where classes do not interact, zero off the diagonal.
    classes : tuple of str
        Names of the classes.
    """

    _table = Table("group", "group", "variance", "degrees_of_freedom", "n_weights")
    _summary = "{group:list}"
    _picture = Picture(
        "the curve, the biases and the strongest interactions", "calibrators.evidence.plot_evidence_parts"
    )

    group: tuple[str, ...]
    variance: FloatArray
    degrees_of_freedom: FloatArray
    n_weights: IntArray
    place: FloatArray
    curve: FloatArray
    lower: FloatArray
    upper: FloatArray
    bias: FloatArray
    interaction: FloatArray
    classes: tuple[str, ...]


def parts_of(
    groups: Mapping[str, Group],
    maps: evidence_features.Maps,
    features: evidence_features.Features,
    classes: NDArray[np.generic],
    posterior: Posterior | None,
    level: float,
) -> EvidenceParts:
    """Return the parts of maps of these features; the curve with a band if there is a posterior."""
    share = maps.shares[:-1] / max(float(maps.shares[:-1].sum()), 1e-300)
    own, n_classes = np.tensordot(share, maps.own, axes=1), len(classes)
    bias, interaction = np.zeros(n_classes), np.zeros((n_classes, n_classes))
    place, columns = features.drawn()
    if own.shape[1]:
        bias = own[:, 0] - own[:, 0].mean()
        interaction = own[:, 1 : 1 + n_classes] if own.shape[1] > n_classes else np.diag(own[:, 1])
        interaction = interaction / features.unit[0]
    curve = columns @ (share @ maps.shared)[: columns.shape[1]]
    band = (np.empty(0), np.empty(0)) if posterior is None else posterior.curve(columns, level)
    variance, determined, count = (np.array(column) for column in zip(*groups.values(), strict=True))
    names = tuple(map(str, classes.tolist()))
    return EvidenceParts(tuple(groups), variance, determined, count, place, curve, *band, bias, interaction, names)


# From the weights and precisions of most evidence to maps that are mixed with each other and with the prediction itself


N_FOLDS = 4

FIXED = "temp"
"""The group whose precision is that of most evidence in all maps."""

FOR_THE_MAP = 1.0
"""Log-odds of the map against the prediction itself, where the evidence is equal."""

FULL_GAIN, FOLD_GAIN = (1e-10, 1e-7, 1e-1), (1e-4, 1e-1, 50.0)
"""Gain in nats of all rows that the last step of a fit to all rows, and to those outside a fold, promises: in double precision;
in single; and in single where each step is Newton's own, so that the gain of the next one is about the square."""


class Pool:
    """Fits with the precisions of most evidence less each of some numbers, on all rows.

    Attributes
    ----------
    log_precisions, ridges : ndarray of shape (M, G) and (M, d)
        Logarithms of the precisions of each group in each map, and the precision of each weight.
    weights : ndarray of shape (M, d)
        Weights of the features in each map.
    gradient : float
        Largest component of the gradient of a map's penalised log loss, a row.
    n_iter : int
        Steps taken by all fits.
    n_workers : int
        Fits that are done at a time.
    """

    def __init__(self, model: evidence_features.Model, evidence: laplace.Evidence, path: Sequence[float]) -> None:
        self.logit = logit = model.logit
        self.exact = 0 if logit.rounding == laplace.TwoClasses.rounding else 1 + (logit.size > laplace.MOST_DENSE)
        curvature, free = evidence.look.curvature, np.array([name != FIXED for name in model.names])
        self.log_precisions = np.stack([evidence.rho - delta * free for delta in path])
        self.ridges = np.exp(self.log_precisions)[:, model.group]
        factors = [curvature.with_ridge(ridge) for ridge in self.ridges]
        self.factors = [factored.for_part(1.0 - 1.0 / N_FOLDS) for factored in factors] if len(path) > 1 else factors
        self.n_workers = n_processors() if len(logit.weight) * logit.size >= laplace.SEVERAL_THREADS else 1

        def fit(known: tuple[FloatArray, laplace.Solvable]) -> Minimum[laplace.Penalised]:
            return laplace.refitted(logit, evidence.w, *known, FULL_GAIN[self.exact], renews=True)

        found = list(in_order(fit, zip(self.ridges, factors, strict=True), self.n_workers))
        self.weights = np.stack([one.point.x for one in found])
        self.gradient = max(one.residual for one in found) / float(logit.weight.sum())
        self.n_iter = sum(one.n_iter for one in found)

    def without(self, kept: FloatArray, rows: IntArray) -> list[FloatArray]:
        """Return the probabilities of the true classes of some rows in each map, fitted to those of other weights."""
        fitted, others = replace(self.logit, weight=kept).part(np.flatnonzero(kept)), self.logit.part(rows)
        again = (
            laplace.refitted(fitted, w, ridge, factored, FOLD_GAIN[self.exact])
            for w, ridge, factored in zip(self.weights, self.ridges, self.factors, strict=True)
        )
        return [others.at(found.point.x).of_true for found in again]


def fast_pool(
    model: evidence_features.Model, evidence: laplace.Evidence, problem: SimplexProblem
) -> tuple[Pool, FloatArray]:
    """Return one map, with a share of one.

    With three classes or more its precisions are those of most evidence, divided by up to e with a thousand rows.
    """
    path = model.features.fast_path(float(model.logit.weight.sum()))
    return Pool(model, evidence, path), np.array([1.0, 0.0])


def folds_pool(
    model: evidence_features.Model, evidence: laplace.Evidence, problem: SimplexProblem
) -> tuple[Pool, FloatArray]:
    """Return a path of maps, and their shares and that of the prediction itself that are most likely on held-out rows.

    The precisions are those of all rows; the weights of each map are fitted to the rows outside of each fold.
    """
    pool = Pool(model, evidence, model.features.path)
    of_prediction = problem.prob[np.arange(problem.size), problem.label]
    n_parts, unit = len(pool.ridges) + 1, problem.weights.effective_rows_per_weight
    # A row of the identity is one that a part alone explains: together they are a Dirichlet prior of one row.
    density, weight = [np.eye(n_parts)], [np.full(n_parts, 1.0 / n_parts)]
    folds = [(kept * unit, left_out, np.flatnonzero(left_out > 0.0)) for kept, left_out in folds_of(problem, N_FOLDS)]
    each = in_order(lambda fold: pool.without(fold[0], fold[2]), folds, pool.n_workers)
    for (_, left_out, rows), found in zip(folds, each, strict=True):
        density.append(np.column_stack([*found, of_prediction[rows]]))
        weight.append(left_out[rows] * unit)
    return pool, most_likely_shares(np.vstack(density), np.concatenate(weight), np.full(n_parts, 1.0 / n_parts)).point.x


# Evidence scaling: curves, features of rows and interactions of classes on top of a forecast, each as strong as rows say


Pooling = Literal["auto", "folds", "fast"]
"""How the shares of maps are found: on held-out rows, or by the evidence; ``"auto"`` takes the first where it is cheap."""

Keep = Literal["argmax", "order"]
"""What stays in each row: the class of highest probability, or the order of all."""

FEW_OF_TWO, MANY_NUMBERS = 200, 1_000_000
"""Rows of two classes below which, and numbers of a forecast above which, ``"auto"`` is ``"fast"``."""

MOST_ROWS = 1e12
"""Counts of more rows are made fewer in proportion: beside them a prior would be lost in rounding."""

CERTAIN = 1e-3
"""Largest component of the gradient of a mean penalised log loss at which weights are optimal enough."""


@method("evidence-scaling", symbol="ES", source="calibrant", guarantees={PERMUTED, FINITE})
class EvidenceScaling(MulticlassCalibrator):
    """Softmax of curves, features of rows and interactions of classes, each as strong as its evidence (ES).

    Use it where the log loss on new rows is what counts. It holds temperature, vector and matrix scaling, curves shared by
    all classes and, of two classes, Platt scaling, beta calibration and splines, and finds from the rows how much of each they
    bear, so that you choose no penalty. Where few rows say that the forecast needs it, it changes little. With 100 rows it did
    harm in one experiment of eight; `SafeCalibrator` around it prevents most of that.

    Parameters
    ----------
    pool : {"auto", "folds", "fast"}, default="auto"
        ``"folds"`` fits maps with stronger and weaker priors, and finds their shares on rows held out in four folds.
        ``"fast"`` takes one map, with a share by its evidence: quicker, a little worse. ``"auto"`` is ``"folds"``, but for
        two classes with fewer than 200 rows, and for more than a million numbers in the forecast.
    keep : {"argmax", "order"}, optional
        ``"order"`` takes only features that keep the order of the classes in each row; ``"argmax"`` mixes both kinds of map
        so that the predicted class of each row stays. By default neither is asked for.
    intervals : bool, default=False
        Keep what `predict_interval` and the band of the curve need: the second derivatives of the log loss, 51,681 numbers of
        ten classes and 2016 of four. Maps of more than 800 weights, from 17 classes on, refuse it, but for ``keep="order"``.
    max_numbers : int or None, default=1_000_000
        Rows times classes that are fitted. Of more a random part of the rows is drawn, the same for the same table; they keep
        their weights. None fits all rows, in a time that grows with them.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``. Logits are turned into log-probabilities, exactly; probabilities are
        clipped at 1e-12.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    exponent_, floor_, uniform_ : float
        The standardisation: probabilities plus floor / K, to the power of the exponent, mixed with a share of the uniform
        forecast. An exponent below 1 says that the forecast was over-confident.
    groups_ : dict of str to Group
        For each group of features the prior variance of its weights, and how many of them the rows determine.
    weights_ : ndarray of shape (n_maps + 1,)
        Share of each map, from the strongest prior to the weakest, and last of the prediction itself.
    shared_ : ndarray of shape (n_maps, n_shared)
        Weights of features that all classes share; of two classes all weights.
    coef_ : ndarray of shape (n_maps, n_classes, n_features)
        Weights that a class has for itself.
    evidence_ : float
        Logarithm of the evidence of the map against the prediction as it is, in nats of all rows, less one for the
        standardisation: far above 0 the rows say that calibration is needed.
    gradient_ : float
        Largest component of the gradient of a map's penalised mean log loss: the certificate.
    n_iter_ : int
        Newton steps taken on all rows.
    log_precision_, degrees_of_freedom_ : ndarray of shape (n_groups,)
        What `groups_` is made of.
    centre_, unit_, knots_, middle_, ranks_ : ndarray or float
        What the features measure from: means, units, knots of the curve and their middle, and ranks of log-odds.
    ordered_, ordered_weights_ : ndarray
        Weights and shares of the maps that keep the order, where ``keep="argmax"``; else empty.
    hessian_, path_ : ndarray of shape (n_weights * (n_weights + 1) / 2,) and (n_maps, n_groups)
        Second derivatives of the log loss of all rows at the weights of most evidence, on and below the diagonal, and the
        logarithms of the precisions of each map, where ``intervals=True``; else empty.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    Notes
    -----
    With z the standardised log-probabilities a map is the softmax of z plus weights times features. The log loss of all rows
    is convex in the weights. Those of a group are normal, with one variance, and the variances maximise Laplace's
    approximation of the evidence under a prior that was learned from other forecasts. ``docs/evidence-scaling.md`` has all
    formulas, what was tried, and figures. Beyond 800 weights steps come from conjugate gradients, and variances from a block
    for each class; beyond 150 classes the score of a class depends on its own probability and on the row, and no longer on that
    of each other class; beyond 50 on the logarithms of these alone.

    Rows are as much evidence as there are independent ones. Copies, as of rows that were upsampled, are found by their labels
    and count as one row, with a `CalibrationWarning`. Weights that are not whole are (sum of weights)^2 / sum of squares rows
    (Kish), whatever their scale.

    References
    ----------
    MacKay, Bayesian interpolation, Neural Computation, 1992.

    Berta, Holzmüller, Jordan, Bach, Structured matrix scaling for multi-class calibration, arXiv 2511.03685, 2025.

    Examples
    --------
    >>> from calibrant import EvidenceScaling, load_digits_forecast
    >>> y, prob = load_digits_forecast()
    >>> scaling = EvidenceScaling(pool="fast").fit(prob, y)
    >>> scaling.groups_["temp"].n_weights
    1
    """

    made_safe: ClassVar[Mapping[str, float]] = MappingProxyType(
        {"caution": 0.0, "least_gain": 2.0, "least_share": 0.005}
    )
    pool: Pooling = parameter(default="auto")
    keep: Keep | None = parameter(default=None)
    intervals: bool = parameter(default=False)
    max_numbers: int | None = parameter(
        default=MANY_NUMBERS, least=1, hint="Pass max_numbers=1_000_000, or None for all rows"
    )
    exponent_: float = fitted("", least=1e-100, most=1e100)
    floor_: float = fitted("", least=0.0, most=1.0)
    uniform_: float = fitted("", least=1e-100, most=1.0)
    centre_: FloatArray = fitted("c", least=-FARTHEST, most=FARTHEST)
    unit_: FloatArray = fitted("2", least=SMALLEST_LOADED)
    knots_: FloatArray = fitted("k", least=-FARTHEST, most=FARTHEST, order="rising", fewest=1)
    middle_: float = fitted("", least=-FARTHEST, most=FARTHEST)
    ranks_: FloatArray = fitted("2 r", least=-FARTHEST, most=FARTHEST)
    shared_: FloatArray = fitted("m s", least=-MOST_COEFFICIENT, most=MOST_COEFFICIENT)
    coef_: FloatArray = fitted("m K f", least=-MOST_COEFFICIENT, most=MOST_COEFFICIENT)
    weights_: FloatArray = fitted("m+1", sum_to_one=True)
    ordered_: FloatArray = fitted()
    ordered_weights_: FloatArray = fitted()
    hessian_: FloatArray = fitted("h", least=-MOST_CURVATURE, most=MOST_CURVATURE)
    path_: FloatArray = fitted()
    log_precision_: FloatArray = fitted("g", least=-100.0, most=100.0)
    degrees_of_freedom_: FloatArray = fitted("g")
    evidence_: float = fitted()
    gradient_: float = fitted()
    n_iter_: int = fitted()

    def _fit(self, problem: SimplexProblem) -> None:
        if self.max_numbers is not None and problem.size > (most := max(1, self.max_numbers // len(self.classes_))):
            problem = problem.taken(np.sort(np.random.default_rng(0).choice(problem.size, most, replace=False)))
        problem = observed(problem)
        if problem.weights.are_counts and problem.weights.total > MOST_ROWS:
            problem = problem.weighted(np.rint(problem.weight * (MOST_ROWS / problem.weights.total)))
        weight = problem.weight * problem.weights.effective_rows_per_weight
        standard = evidence_features.standard_of(problem, weight)
        z = standard.of(problem.forecast)
        ordered = self._ordered
        features = evidence_features.measured(z, weight, ordered=ordered)
        self._require_few_weights(features)

        def fit(*, ordered: bool) -> tuple[laplace.Evidence, Pool, float, FloatArray, FloatArray]:
            """Fit maps: the evidence, its advantage over the prediction as it is, in nats, weights, and shares."""
            model = evidence_features.model_of(z, problem.label, weight, features, standard.exponent, ordered=ordered)
            evidence = laplace.most_evident(model.logit, model.group, model.prior)
            of_true = np.maximum(
                problem.forecast.log_prob[np.arange(problem.size), problem.label], evidence_features.LEAST_LOG
            )
            advantage = float(evidence.log_evidence - weight @ of_true) - 1.0  # the standardisation costs one
            many_rows = z.shape[1] > 2 or problem.weights.effective_rows >= FEW_OF_TWO
            is_cheap = z.size <= MANY_NUMBERS and many_rows
            pools = folds_pool if self.pool == "folds" or (self.pool == "auto" and is_cheap) else fast_pool
            pool, shares = pools(model, evidence, problem)
            weights = pool.weights
            if ordered:
                weights = np.stack([rising(one, features, z.shape[1]) for one in weights])
            # The prediction itself gets what the evidence leaves it of the whole.
            of_maps = float(expit(advantage + FOR_THE_MAP))
            shares = of_maps * shares
            shares[-1] += 1.0 - of_maps
            return evidence, pool, advantage, weights, shares

        evidence, pool, self.evidence_, weights, self.weights_ = fit(ordered=ordered)
        self.exponent_, self.floor_, self.uniform_ = standard.exponent, standard.floor, standard.uniform
        self.knots_, self.middle_ = features.curve.knots, features.curve.middle
        self.centre_, self.unit_, self.ranks_ = features.centre, features.unit, features.ranked
        self.shared_, own = np.split(weights, [len(features.shared_groups)], axis=1)
        self.coef_ = own.reshape(len(weights), z.shape[1], -1)
        self.ordered_ = self.ordered_weights_ = self.hessian_ = self.path_ = np.empty(0)
        if self.keep == "argmax" and not ordered:
            *_, self.ordered_, self.ordered_weights_ = fit(ordered=True)
        if self.intervals:
            self.hessian_, self.path_ = packed(evidence.look.curvature, evidence.w.size), pool.log_precisions
        self.log_precision_, self.degrees_of_freedom_ = evidence.rho, evidence.determined
        self.gradient_, self.n_iter_ = pool.gradient, evidence.n_iter + pool.n_iter
        what, then = "the largest component of the gradient must fall", "The last weights are used. Fit on more rows"
        warn_unless_certain(what, self.gradient_, CERTAIN, self.n_iter_, problem.size, then)

    @property
    def groups_(self) -> dict[str, Group]:
        """How much of each group of features is used."""
        check_is_fitted(self)
        names, each = (
            list(evidence_features.groups_of(len(self.classes_), ordered=self._ordered)),
            self._group_of_each(),
        )
        found = zip(names, self.log_precision_, self.degrees_of_freedom_, strict=True)
        return {name: Group(float(np.exp(-rho)), float(dof), each.count(name)) for name, rho, dof in found}

    def predict_interval(self, X: ArrayLike, *, level: float = 0.05) -> FloatArray:
        """Return intervals of the calibrated probabilities, by Laplace's approximation; fitted with ``intervals=True``.

        Parameters
        ----------
        X : array-like of shape (n_samples,) or (n_samples, n_classes)
            Forecast of the kind that was fitted.
        level : float, default=0.05
            One minus the coverage that is aimed at, a fraction in (0, 1).

        Returns
        -------
        ndarray of shape (n_samples, 2) or (n_samples, n_classes, 2)
            Both ends for the second of two classes, or for each of more. They hold the probability of ``predict_proba``.

        Notes
        -----
        Weights are about normal, with the inverse of the penalised Hessian as covariance. That of the log-odds follows by the
        delta method. The pool counts as a mixture of its maps and of the prediction itself: how far these are apart widens the
        interval. The standardisation and the precisions count as known; the coverage stands in
        ``docs/evidence-intervals.md``.
        """
        fraction("level", level, hint="For intervals of 95 % pass level=0.05")
        z, prob = self._standardised(self._fitted_forecast(X))
        found = self._posterior().interval(z, prob, level)
        return found[:, 1] if len(self.classes_) == 2 else found

    def parts(self, *, level: float = 0.05) -> EvidenceParts:
        """Return what the parts of the map do: groups, curve, biases and interactions of classes.

        Parameters
        ----------
        level : float, default=0.05
            One minus the coverage of the band of the curve, which is there if the map was fitted with ``intervals=True``.

        Returns
        -------
        EvidenceParts
            A result with ``to_frame()``, a row a group, and ``plot()``.
        """
        fraction("level", level, hint="For a band of 95 % pass level=0.05")
        posterior = self._posterior() if self.path_.size else None
        return parts_of(self.groups_, self._maps(), self._features(), self.classes_, posterior, level)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the curve, with its band if there is one, the largest biases and the strongest interactions: ``parts().plot()``.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes, or ndarray of Axes
            What was drawn on.
        """
        return self.parts().plot(ax=ax)

    def _group_of_each(self) -> list[str]:
        """Group of each weight."""
        return self._features().groups(ordered=self._ordered)

    def _maps(self) -> evidence_features.Maps:
        return evidence_features.Maps(self.shared_, self.coef_, self.weights_)

    def _posterior(self) -> Posterior:
        """Return the posterior of the weights, if it was kept."""
        must, got = "what intervals are made of must have been kept", "intervals was False when it was fitted"
        require(self.path_.size, must, given=got, hint="Fit EvidenceScaling(intervals=True)")
        names, each = (
            list(evidence_features.groups_of(len(self.classes_), ordered=self._ordered)),
            self._group_of_each(),
        )
        ridges = np.exp(self.path_[:, [names.index(name) for name in each]])
        matrix = unpacked(self.hessian_, ridges.shape[1])
        roots = np.stack([laplace.inverse_root(matrix, ridge).T for ridge in ridges])
        return Posterior(self._maps(), self._features(), roots)

    def _features(self) -> evidence_features.Features:
        kind = (
            evidence_features.LogOddsFeatures
            if len(self.classes_) == 2 and not self._ordered
            else evidence_features.ClassFeatures
        )
        return kind(self.centre_, self.unit_, evidence_features.Hinges(self.knots_, self.middle_), self.ranks_)

    def _standardised(self, forecast: Forecast) -> tuple[FloatArray, FloatArray]:
        """Return standardised log-probabilities, and the prediction itself."""
        z = evidence_features.Standard(self.exponent_, self.floor_, self.uniform_).of(forecast)
        return z, prob_of_scores(forecast.values) if forecast.is_logit else forecast.prob

    def _apply(self, forecast: Forecast) -> FloatArray:
        (z, prob), features = self._standardised(forecast), self._features()
        free = self._maps().mixed(z, prob, features)
        if not self.ordered_.size:
            return free
        none = np.empty((len(self.ordered_), z.shape[1], 0))
        ordered = evidence_features.Maps(self.ordered_, none, self.ordered_weights_).mixed(z, prob, features)
        return keeping_top(free, ordered, prob.argmax(axis=1)[:, None] == np.arange(z.shape[1]))

    @property
    def _ordered(self) -> bool:
        """Whether maps keep the order of classes; of two classes that is to keep the higher one."""
        return self.keep == "order" or (self.keep == "argmax" and len(self.classes_) == 2)

    def _require_few_weights(self, features: evidence_features.Features) -> None:
        """Refuse a matrix of second derivatives that is too large to be kept."""
        size = len(features.groups(ordered=self._ordered))
        must = f"intervals must be of at most {laplace.MOST_DENSE} weights"
        hint = "Pass keep='order', whose weights all classes share, or leave intervals out"
        fits, got = not self.intervals or size <= laplace.MOST_DENSE, f"{size}, of {len(self.classes_)} classes"
        require(fits, must, got=got, hint=hint)
        must, hint = "intervals must be of maps that are not mixed row by row", "Pass keep='order' or leave keep out"
        require(not self.intervals or self._ordered or self.keep is None, must, got=f"keep={self.keep!r}", hint=hint)

    def _sizes(self) -> dict[str, int]:
        n_classes, ordered = len(self.classes_), self._ordered
        return super()._sizes() | {
            "c": 2 if n_classes == 2 and not ordered else 2 * n_classes + 2,
            "s": len(self._features().shared_groups),
            "f": 0 if ordered or n_classes == 2 else len(evidence_features.table_groups(n_classes)[0]),
            "g": len(evidence_features.groups_of(n_classes, ordered=ordered)),
        }

    def _check_loaded(self) -> None:
        super()._check_loaded()
        check_fitted(self, self._sizes(), self._ordered)


# The parts of a fitted evidence scaling


MOST_BARS = 12
"""Classes, and pairs of classes, that are shown: those of the longest bars."""


def plot_evidence_parts(parts: EvidenceParts, *, ax: Any = None) -> Any:
    """Draw the curve with its band; of three classes or more also the largest biases and the strongest interactions of classes.

    Parameters
    ----------
    parts : EvidenceParts
        Of a fitted `EvidenceScaling`.
    ax : matplotlib Axes or sequence of Axes, optional
        Where to draw, one for two classes and else three; a new figure by default.

    Returns
    -------
    matplotlib Axes, or ndarray of three Axes
        What was drawn on.

    Raises
    ------
    ValueError
        If there is not one Axes a panel.
    """
    n_panels = 1 if len(parts.classes) == 2 else 3
    if ax is None:
        import matplotlib.pyplot as plt

        size = (4.6 if n_panels == 1 else 10.5, 3.4)
        ax = plt.subplots(1, n_panels, figsize=size, layout="constrained", squeeze=False)[1][0]
    axes = np.atleast_1d(np.array(ax, dtype=object))
    must = f"ax must hold {n_panels} Axes for {len(parts.classes)} classes"
    require(len(axes) == n_panels, must, got=str(len(axes)), hint="Leave ax out for a new figure")
    axes[0].axhline(0.0, color=drawing.IDEAL, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)
    if parts.lower.size:
        axes[0].fill_between(parts.place, parts.lower, parts.upper, color=drawing.FILL, linewidth=0.0, zorder=0)
    axes[0].plot(parts.place, parts.curve, color=drawing.COLOURS[0], linewidth=1.6, zorder=2)
    of = "log-odds" if n_panels == 1 else "log-probability"
    axes[0].set(xlabel=f"standardised {of}", ylabel="added to the score")
    axes[0].spines[["top", "right"]].set_visible(False)
    if n_panels == 1:
        return axes[0]
    _draw_bars(axes[1], parts.bias, list(parts.classes), "bias of a class")
    j, k = np.nonzero(np.ones_like(parts.interaction))
    names = [f"{parts.classes[b]} on {parts.classes[a]}" for a, b in zip(j, k, strict=True)]
    _draw_bars(axes[2], parts.interaction.ravel(), names, "effect of log p on a score")
    return axes


def _draw_bars(ax: Any, value: FloatArray, names: list[str], label: str) -> None:
    """Draw the longest bars, the first on top."""
    largest = np.argsort(-np.abs(value), kind="stable")[:MOST_BARS][::-1]
    colours = [drawing.COLOURS[0] if value[i] >= 0.0 else drawing.COLOURS[1] for i in largest]
    ax.barh(range(len(largest)), value[largest], color=colours, height=0.7, zorder=2)
    ax.set_yticks(range(len(largest)), [names[i] for i in largest])
    ax.axvline(0.0, color=drawing.IDEAL, linewidth=1.0, zorder=3)
    ax.set(xlabel=label)
    ax.locator_params(axis="x", nbins=5)
    ax.spines[["top", "right"]].set_visible(False)
