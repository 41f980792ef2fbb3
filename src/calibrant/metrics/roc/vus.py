"""The volume under the ROC surface of K classes: how well thresholds tell them apart, in one number; and its interval.

The volume moves with the points of the surface, and these are means over rows: to first order each row adds what its
class's share in each point is worth (infinitesimal jackknife), and the squares of that add up to a variance. As in the
interval of Agresti and Coull, each class gets z^2 / 2 rows more that lie on the right side of every threshold, and as many
that lie on the wrong one: so rows that are all told apart are no certainty.

Thresholds that are best on the rows at hand make the volume too large on average. Those of some rows, with the facets between
their points, measured on held-out rows, do not: a determinant multiplies one share of each class, and classes are independent,
so that its mean is the volume within these facets at the true points. The true hull holds them: their volume is at most its
own where no cones over them overlap, as never of two classes; of more that is not proven. The lower end is counted from the
less of the two, the upper end from the volume itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Unpack

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from calibrant._core.links import FloatArray
from calibrant._core.parameters import choice, whole
from calibrant._core.problem import IntArray, Problem, as_simplex
from calibrant._core.validation import DataOptions, as_problem
from calibrant._core.weights import Weights
from calibrant.metrics.kinds.metric import Own
from calibrant.metrics.roc.hull import MOST_CLASSES, Hull
from calibrant.metrics.roc.surface import SurfaceRows, surface_points, warn_of_absent
from calibrant.metrics.roc.thresholds import MOST_SEARCHED, as_thresholds, warn_of_many
from calibrant.metrics.roc.tuples import PROBABILITY, sorted_right
from calibrant.metrics.roc.volume import Rays, VolumeUnderSurface, hull_volume, influence, is_exact
from calibrant.metrics.uncertainty.estimate import Estimate, Resampling
from calibrant.sums.draws import Rng, as_rng

METHODS = ("hull", "monte-carlo", PROBABILITY)

N_THRESHOLDS = 2000
N_DRAWS = 500
FOLDS = 5
"""Parts of the rows on which the thresholds of the others are measured."""

MOST_DEALT = 1e9
"""So many rows of a class are not dealt out any more: NumPy draws from fewer."""


def volume_estimate(problem: Problem, resampling: Resampling) -> Estimate:
    """Estimate the volume of the hull of the surface."""
    rows = SurfaceRows.of(as_simplex(problem))
    if not rows.has_all_classes:
        warn_of_absent(rows, "a volume under the ROC surface")
        return Estimate(float("nan"), float("nan"), float("nan"))
    if rows.n_classes > MOST_SEARCHED:
        warn_of_many(rows)
        return Estimate(float("nan"), float("nan"), float("nan"))
    gamma = as_thresholds("data", N_THRESHOLDS, rows)
    points = surface_points(rows, gamma)
    if rows.n_classes <= MOST_CLASSES:
        hull = Hull.of(points)
        value, pull, drawing = hull.volume, hull.pull, 0.0
        least = float(np.fmin(value, _volume_elsewhere(rows, resampling.rng)))
    else:
        # The rays of the metric itself, so that the interval is one of its value.
        rays = Rays.through(points, N_DRAWS, as_rng(0))
        value, pull, drawing = rays.volume, rays.pull, rays.standard_error
        least = value
    z = float(-ndtri(resampling.level / 2.0))
    error = z * float(np.sqrt(_variance(rows, gamma, pull, z) + drawing**2))
    return Estimate(value, max(least - error, 0.0), min(value + error, 1.0))


@Own(
    "vus",
    "VUS",
    "Ferri, Hernández-Orallo, Salido 2003; Berta, Bach, Jordan 2024",
    higher_is_better=True,
    estimator=volume_estimate,
    may_be_undefined=True,
).declare
def volume_under_surface_score(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
    *,
    method: str = "hull",
    thresholds: str | int | npt.ArrayLike = "data",
    n_thresholds: int = 2000,
    n_draws: int | None = None,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> float:
    """Volume under the ROC surface of K classes (VUS), in [0, 1]; 1 / K! is chance, 1 separates all classes.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    method : {"hull", "monte-carlo", "probability"}, default="hull"
        "hull": the volume of the convex hull of points of the surface and the origin, exactly up to five classes, by rays
        that are drawn beyond. "monte-carlo": the same by rays. "probability": how often a threshold sorts one row of each
        class right, by all such tuples or by drawn ones, for any number of classes.
    thresholds : "data", int or array-like of shape (m, n_classes), default="data"
        For the hull: thresholds that the rows give, of up to eight classes, see `roc_surface`; a number m: a grid of step 1
        / m; or thresholds themselves, each of sum one. Those that tell each class alone are always added.
    n_thresholds : int, default=2000
        Most thresholds of "data".
    n_draws : int, optional
        Rays, 500 by default, or tuples, 100 000 by default, that are drawn where there are too many.
    rng : numpy.random.Generator, int or None, default=0
        Source of what is drawn.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        The volume.

    Raises
    ------
    ValueError
        If a parameter is out of range, or a grid holds too many thresholds.

    Warns
    -----
    CalibrationWarning
        If some class never occurs, or a hull of more than eight classes would need thresholds of "data": the volume is NaN.

    See Also
    --------
    estimate_volume_under_surface : The same call, which returns the standard error of what was drawn with the volume.
    roc_surface : The surface itself.
    area_under_roc_hull_score : Of two classes the same as "hull".
    hand_till_score : Of two classes the same as "probability".
    hand_till_score : Mean of the areas of all pairs of classes, for any number of them.

    Notes
    -----
    A threshold gamma of sum one tells row p the class k where p_k - gamma_k is largest. The point of gamma on the surface
    is the share of each class that is told right.

    The hull is that of the surface and the origin: what decisions drawn between thresholds reach. It is in [1 / K!, 1]: 1 /
    K! if all forecasts are equal, 1 if some threshold tells all rows right. "monte-carlo" is the same volume, with chance
    in it.

    The probability is that of a tuple with one row of each class to have a threshold that tells all of it right, where the
    right assignment of its rows to the classes has the largest sum of probabilities; of m equally good ones it gets a part
    1 / m. It is 1 / K! of equal forecasts, 1 where the hull is, and below 1 / K! for a forecast that is worse than none.

    Where no tuple has equally good assignments, the probability is the volume of all that lies below some point of the
    surface: of the boxes from the origin to its points. The hull holds these, so that with all thresholds it is never
    smaller.

    Of two classes the probability is the area under the ROC curve, and the hull that under the curve's hull: they agree
    where the curve is concave, as after isotonic regression. Of more classes the surface of a calibrated forecast need not
    be concave, as thresholds are subtracted, and ties add to the difference: on three cells of forecasts the hull can have
    0.459 and the probability be 0.286.

    The hull is found from within, so that more thresholds only make it larger, and with many rows the default is too small.
    Of 30 000 rows, calibrated and spread over the simplex (Dirichlet, 1/2), it was 0.737, 0.516, 0.336 and 0.19 for
    three to six classes, and the probability to 0.738, 0.523, 0.352 and 0.22. Four times the thresholds gave 0.520 of four
    classes and 0.345 of five. The interval of `assess` knows nothing of thresholds that are missing. So of four classes and
    more with thousands of rows prefer the probability; of more than eight no thresholds are sought.

    On the rows at hand the hull is biased upward, as the thresholds were found on them; the probability is not. `assess`
    gives an interval of the hull to first order (infinitesimal jackknife), whose lower end starts from thresholds of held-out
    rows; beyond five classes from the same ones. Forecasts enter by their differences: what is nearer than 1e-12 is equal,
    but of two classes every difference counts.

    References
    ----------
    Berta, Bach, Jordan, Classifier calibration with ROC-regularized isotonic regression, AISTATS 2024.
    Ferri, Hernández-Orallo, Salido, Volume under the ROC surface for multi-class problems, ECML 2003.

    Examples
    --------
    >>> from calibrant.metrics import volume_under_surface_score
    >>> P = [[0.7, 0.2, 0.1], [0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.4, 0.4, 0.2], [0.1, 0.3, 0.6], [0.3, 0.5, 0.2]]
    >>> y = [0, 0, 1, 1, 2, 2]
    >>> round(volume_under_surface_score(y, P), 4)
    0.875
    >>> round(volume_under_surface_score(y, P, method="probability"), 4)
    0.75
    """
    return estimate_volume_under_surface(
        y_true,
        y_prob,
        method=method,
        thresholds=thresholds,
        n_thresholds=n_thresholds,
        n_draws=n_draws,
        rng=rng,
        **data,
    ).value


def estimate_volume_under_surface(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
    *,
    method: str = "hull",
    thresholds: str | int | npt.ArrayLike = "data",
    n_thresholds: int = 2000,
    n_draws: int | None = None,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> VolumeUnderSurface:
    """Volume under the ROC surface with the standard error of what was drawn to find it.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    method : {"hull", "monte-carlo", "probability"}, default="hull"
        See `volume_under_surface_score`, as for all that follows.
    thresholds : "data", int or array-like of shape (m, n_classes), default="data"
        Thresholds of the surface.
    n_thresholds : int, default=2000
        Most thresholds of "data".
    n_draws : int, optional
        Rays or tuples that are drawn.
    rng : numpy.random.Generator, int or None, default=0
        Source of what is drawn.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    VolumeUnderSurface
        ``value``, ``standard_error``, ``n_draws`` and ``method``. The standard error is that of drawing, for these rows; it
        says nothing of how the value varies with the rows (`assess` does).

    Raises
    ------
    ValueError
        As `volume_under_surface_score`.

    Warns
    -----
    CalibrationWarning
        As `volume_under_surface_score`: the value is NaN.

    See Also
    --------
    volume_under_surface_score : The volume alone, as a number.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.metrics import estimate_volume_under_surface
    >>> rng = np.random.default_rng(0)
    >>> P = rng.dirichlet([1, 1, 1], 600)
    >>> y = [rng.choice(3, p=p) for p in P]
    >>> estimate_volume_under_surface(y, P, method="probability", n_draws=10_000)  # doctest: +ELLIPSIS
    VolumeUnderSurface(value=0.5802, standard_error=0.0049..., n_draws=10000, method='probability')
    """
    choice("method", method, METHODS)
    whole("n_thresholds", n_thresholds, least=1, hint="2000 is usual")
    if n_draws is not None:
        whole("n_draws", n_draws, least=2, hint="Leave it out, or pass a number such as 1000")
    source = as_rng(rng)
    rows = SurfaceRows.of(as_simplex(as_problem(y_true, y_prob, **data)))
    if not rows.has_all_classes:
        warn_of_absent(rows, "a volume under the ROC surface")
        return VolumeUnderSurface(float("nan"), 0.0, 0, method)
    if method == PROBABILITY:
        return sorted_right(rows, n_draws or 100_000, source)
    if isinstance(thresholds, str) and rows.n_classes > MOST_SEARCHED:
        choice("thresholds", thresholds, ["data"])
        warn_of_many(rows)
        return VolumeUnderSurface(float("nan"), 0.0, 0, method)
    points = surface_points(rows, as_thresholds(thresholds, n_thresholds, rows))
    return hull_volume(points, n_draws or 500, source, exact=is_exact(method, rows.n_classes))


# The interval


def _variance(rows: SurfaceRows, gamma: FloatArray, pull: FloatArray, z: float) -> float:
    """Add up the variances that the classes bring in, each the mean of what its rows add."""
    added, highest, extra = influence(rows, gamma, pull), pull.sum(axis=0), z**2 / 2.0
    total = 0.0
    for k in range(rows.n_classes):
        own = rows.label == k
        weight, squares = rows.weight[own], rows.variance_weight[own]
        n = weight.sum() ** 2 / squares.sum()
        mean = (n * np.average(added[own], weights=weight) + extra * highest[k]) / (n + 2.0 * extra)
        spread = squares @ (added[own] - mean) ** 2 * n / squares.sum()
        total += (spread + extra * ((highest[k] - mean) ** 2 + mean**2)) / (n + 2.0 * extra) ** 2
    return float(total)


def _volume_elsewhere(rows: SurfaceRows, rng: np.random.Generator) -> float:
    """Return the mean volume of parts of the rows, within the facets that are best on the others; NaN if there is none."""
    if rows.class_weight.max() >= MOST_DEALT:
        return float("nan")
    found = []
    for part, others in _parts(rows, rng):
        if part.has_all_classes and others.has_all_classes:
            gamma = as_thresholds("data", N_THRESHOLDS, others)
            hull = Hull.of(surface_points(others, gamma))
            found.append(hull.volume_at(surface_points(part, gamma)))
    return float(np.mean(found)) if found else float("nan")


def _parts(rows: SurfaceRows, rng: np.random.Generator) -> Iterator[tuple[SurfaceRows, SurfaceRows]]:
    """Deal the rows of each class out evenly; yield each part and the rest.

    Where weights are numbers of rows each of equal rows is dealt by itself.
    """
    weight = np.zeros((FOLDS, rows.label.size))
    for k in range(rows.n_classes):
        own = np.flatnonzero(rows.label == k)
        if Weights(rows.weight).are_counts:
            weight[:, own] = _dealt(rows.weight[own].astype(np.int64), rng)
        else:
            mixed = rng.permutation(own)
            weight[np.arange(own.size) % FOLDS, mixed] = rows.weight[mixed]
    for inside in weight:
        yield _with_weight(rows, inside), _with_weight(rows, rows.weight - inside)


def _dealt(count: IntArray, rng: np.random.Generator) -> IntArray:
    """Deal so many equal rows of each kind out, evenly; shape (FOLDS, n_kinds)."""
    left, total, hands = count.copy(), int(count.sum()), []
    for fold in range(FOLDS):
        size = (total - fold + FOLDS - 1) // FOLDS
        hands.append(rng.multivariate_hypergeometric(left, size, method="marginals"))
        left -= hands[-1]
    return np.array(hands)


def _with_weight(rows: SurfaceRows, weight: FloatArray) -> SurfaceRows:
    kept = weight > 0
    return replace(rows.at(kept), weight=weight[kept])
