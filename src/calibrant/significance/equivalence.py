"""Equivalence test: is the calibration error below a bound?

A calibration error is the size T of D + N, the true deviations and noise. T is convex, so that

    T(D + N)  >=  T(D) + shift,      shift = derivative of T at D in the direction of N,

and the shift depends on the direction of D alone, not on its length. If T(D) is at least the bound, the value falls as low as
observed only if shift <= value - bound. How often noise does that is the p-value. The direction is not known: the
observed one is taken, and with it some that are as plausible, and of these the one with the largest p-value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import numpy as np

from calibrant._core.arrays import FloatArray
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.checks import fraction, of_type, refuse, require, resamples
from calibrant._core.registry import declare
from calibrant._core.result import Table
from calibrant._core.rows import as_simplex
from calibrant.binning import Binning
from calibrant.metrics.estimate import (
    Sizes,
    consistent_deviations,
    resampled_deviations,
    smoothed_deviations,
)
from calibrant.metrics.kinds import YProb, YTrue, as_metric
from calibrant.metrics.noise import Residuals
from calibrant.significance.result import INDEPENDENT, OUTSIDE, TIE, Draws, TestResult, hypothesis_of
from calibrant.sums.draws import Bootstrap, Rng, as_rng

USUAL = "Pass 'ece' or 'ks-error'"

DIRECTIONS = 10
"""Plausible directions of the true deviations, of each kind of noise, besides the one observed."""

PAIRS = 50
"""Pairs of draws of noise on which a metric is seen to be a norm."""

FAR = 1e5
"""True deviations that are larger than noise by this factor have a size that is linear in the noise."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EquivalenceResult(TestResult):
    """A `TestResult` of an equivalence test: a small p-value means that the error is below the bound.

    Attributes
    ----------
    name, statistic, pvalue, null, assumptions, alternative, hypothesis : object
        As in `TestResult`.
    bound : float
        Error that was tested.
    upper : float
        Smallest bound that would have been accepted: the error is at most this, with confidence one minus ``level``.
    level : float
        One minus the confidence of ``upper``, a fraction.

    Notes
    -----
    ``to_frame()`` has the columns bound, upper and level beside those of `TestResult`.
    """

    _table = Table(None, *TestResult._table.columns, "bound", "upper", "level")

    bound: float
    upper: float
    level: float

    def __repr__(self) -> str:
        return (
            f"EquivalenceResult({self.name}: statistic={self.statistic:.6g}, {self._shown_pvalue}, "
            f"at most {self.upper:.4g} with confidence {1 - self.level:.0%})"
        )


@declare("test", "equivalence", symbol="EQ", source="Wellek 2010")
def equivalence_test(
    y_true: YTrue,
    y_prob: YProb = None,
    *,
    bound: float = 0.02,
    metric: str = "ece",
    binning: int | Binning | None = None,
    level: float = 0.05,
    n_resamples: int = 1000,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> EquivalenceResult:
    """Test whether a calibration error is below a bound: a small p-value speaks for calibration, up to the bound.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    bound : float, default=0.02
        Error that would still be accepted, in the metric's own units. The null hypothesis is an error at least as large.
    metric : str, default="ece"
        A registered metric that is the size of residuals: a binned error, or one seen through a lens. Not ``"tce"``, which
        counts predictions.
    binning : int or Binning, optional
        How scores are cut, for a metric with bins; a number n means ``EqualWidth(n)``. By default as the metric does, mostly
        ``EqualWidth(15)``. The fewer bins, the sooner a small error can be shown.
    level : float, default=0.05
        One minus the confidence of the upper limit that is stated beside the p-value.
    n_resamples : int, default=1000
        Draws of each kind of noise.
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness. The default makes two calls on the same data agree.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    EquivalenceResult
        The statistic is the metric; a small one speaks against the null hypothesis. ``upper`` is the limit.

    Notes
    -----
    Calibration cannot be shown by a large p-value of another test: few rows give one as well. The error in question is that of
    the bins at hand. The plug-in estimate is biased upwards, which makes the test conservative: it finds an error at the
    bound to be below it in less than the nominal share of cases (docs/testing.md has the figures).

    Examples
    --------
    >>> from calibrant import equivalence_test, load_digits_forecast
    >>> equivalence_test(*load_digits_forecast(), bound=0.25)
    EquivalenceResult(equivalence of ece: statistic=0.197294, pvalue<=0.001, at most 0.215... with confidence 95%)
    """
    of_type("metric", metric, str, "the name of a calibration error", hint=USUAL)
    measured, problem = as_metric(metric, binning), as_problem(y_true, y_prob, **data)
    if (residuals := measured.residuals(problem)) is None:
        refuse("metric must be the size of residuals, in bins or through a lens", value=measured.name, hint=USUAL)
    if residuals.size.counts_rows:
        refuse(
            "metric must be the size of residuals",
            got=f"{measured.name!r}, the percentage of predictions that tests reject",
            hint="It is no distance, with no triangle inequality, and grows with the number of rows: a bound on it has no "
            "meaning. Pass 'ece' or 'ks-error'; estimate_calibration_error gives its expected value under calibration",
        )
    bound = fraction("bound", bound, hint="Pass the largest error that you accept, such as 0.02")
    level = fraction("level", level, hint="For 95 % confidence pass level=0.05")
    resamples(n_resamples, hint="1000 is usual")
    value, shifts = _shifts(residuals, measured.name, n_resamples, as_rng(rng))
    reached = value - bound + TIE * (value + bound)
    pvalues = (1.0 + np.sum(shifts <= reached, axis=1)) / (1.0 + n_resamples)
    worst = int(np.argmax(pvalues))
    near = "Deviations are those over these bins, in a direction near the observed one."
    return EquivalenceResult(
        name=f"equivalence of {measured.name}",
        statistic=value,
        pvalue=float(pvalues[worst]),
        null=Draws(f"{n_resamples} draws of noise on an error of {bound:g}", bound + shifts[worst]),
        assumptions=(OUTSIDE, INDEPENDENT, near),
        alternative="less",
        hypothesis=hypothesis_of(problem, words=f"{measured.name} is {bound:g} or more"),
        bound=bound,
        upper=value - float(np.quantile(shifts, level, axis=1).min()),
        level=level,
    )


def _shifts(residuals: Residuals, name: str, n_resamples: int, rng: np.random.Generator) -> tuple[float, FloatArray]:
    """Return the metric, and by how much noise shifts it, a row for each direction and kind of noise."""
    require(
        residuals.has_fixed_cells,
        "binning must cut scores without looking at the outcomes, so that noise has bins to fall in",
        value=residuals.table[1],
        hint="Pass a number of bins or EqualMass(10)",
    )
    simplex, table = as_simplex(residuals.problem), residuals.cells()
    bootstrap = Bootstrap(simplex.weights, n_resamples, rng)
    kinds = [
        *consistent_deviations(simplex, [table], n_resamples, rng),
        resampled_deviations(simplex, table, bootstrap),
    ]
    if residuals.lens.has_bins:
        kinds.append(smoothed_deviations(table, n_resamples, rng))
    sizes, seen = residuals.sizes(table), table.deviation[None]
    other = kinds[0][PAIRS : 2 * PAIRS]
    one = kinds[0][:PAIRS][: len(other)]
    is_convex = (sizes(one + other) <= (sizes(one) + sizes(other)) * (1.0 + 1e-9)).all()
    must = "metric must be a norm of the residuals: twice as large for twice the residuals, and convex"
    is_norm = is_convex and np.allclose(sizes(2.0 * one), 2.0 * sizes(one))
    require(is_norm, must, given=f"{name} is not", hint="Pass 'ece', 'rmsce', 'mce', 'ks-error' or another")
    directions = np.concatenate([seen, *(seen - kind[:DIRECTIONS] for kind in kinds)])
    return float(sizes(seen)[0]), np.concatenate([_shifts_of(sizes, directions, kind) for kind in kinds])


def _shifts_of(sizes: Sizes, directions: FloatArray, noise: FloatArray) -> FloatArray:
    """Return the derivative of the size at each direction along each row of noise, shape (directions, rows)."""
    ahead, aside = sizes.look(directions), sizes.look(noise)  # what is seen is linear: each is looked at once
    lengths, reach = sizes.size(ahead), float(sizes.size(aside).max())
    shifts = np.empty((len(directions), len(noise)))
    for number, length in enumerate(lengths):
        factor = FAR * reach / length if length > reach * 1e-200 else 0.0
        far = [factor * seen[number : number + 1] for seen in ahead]
        shifts[number] = sizes.size([a + b for a, b in zip(far, aside, strict=True)]) - sizes.size(far)[0]
    return shifts
