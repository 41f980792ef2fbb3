"""The general calibration error: a notion, a binning, a loss and a norm. The named metrics are points of it.

    GCE = norm( loss of bin b ; weight  share(problem) * weight(b) / weight(problem)  :  b in the bins of all problems )

(Matsubara et al. 2023, Def. 1, with the notion of Gupta and Ramdas 2022 put in front.) Or, of the norms of the problems,

    GCE = across( norm of the problem's bins ; weight  share(problem)  :  all problems ).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, Unpack

import numpy as np
import numpy.typing as npt

from calibrant._core.problem import Problem
from calibrant._core.registry import declare
from calibrant._core.validation import DataOptions, as_problem
from calibrant.binning import Binning, as_binning
from calibrant.lenses.base import Lens, Size, residual_of
from calibrant.metrics.losses import Loss, Norm, as_loss, as_norm
from calibrant.notions import Notion, as_notion

F = TypeVar("F", bound=Callable[..., float])


def point(name: str, symbol: str, source: str, *, also: tuple[str, ...] = (), **spelling: Any) -> Callable[[F], F]:
    """Register the decorated metric as the point of `calibration_error` that has this spelling."""
    return declare("metric", name, symbol=symbol, source=source, also=also, range=(0.0, 1.0), spelling=spelling)


def calibration_error(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike,
    *,
    notion: str | Notion | None = None,
    binning: int | Binning = 15,
    loss: str | Loss = "gap",
    norm: str | Norm = "l1",
    across: str | Norm | None = None,
    **data: Unpack[DataOptions],
) -> float:
    """Distance between probabilities and event rates over the bins of a notion's problems; 0 is calibrated.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one. Logits are declared with ``input="logit"``, never guessed.
    notion : str or Notion, optional
        What the statement speaks of: ``"binary"``, ``"confidence"``, ``"top-label"``, ``"class-wise"``,
        ``"top-3-confidence"``, ``"top-3-label"`` and others that ``calibrant list notions`` prints, or an object such as
        `WithinGroups`. By default ``"binary"`` for two classes and ``"confidence"`` for more.
    binning : int or Binning, default=15
        How scores are cut; a number n means ``EqualWidth(n)``.
    loss : {"gap", "squared gap", "debiased squared gap", "binomial test", ...} or callable, default="gap"
        A function of (problem, bins) with one value a bin. "binomial test", "mid-p test", "clopper-pearson test" and "t-test"
        are percentages of rejected predictions: see `BinTest`.
    norm : {"l1", "l2", "l<p>", "root", "max"} or callable, default="l1"
        A function of (values, weights) over the bins that hold rows; the weights sum to one. "l3" and "l1.5" are l_p
        norms, (sum of weight * abs(value)^p)^(1/p), for any p from 1. "root" is the root of the weighted mean, of losses
        that are squares.
    across : {"l1", "l2", "l<p>", "max"} or callable, optional
        How the problems of the notion are put together. By default one norm is taken over the bins of all of them; with
        ``across`` each problem has its own norm, and this is a function of (norms, shares).
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        The error, in [0, 1] for the built-in losses and norms, but that the mean of a debiased loss can be negative, and that
        tests count in percent, in [0, 100]. 0 where a notion finds no row to speak of.

    Raises
    ------
    ValueError
        If values are not what they must be: not finite, outside [0, 1], rows that do not sum to one, unknown labels.
    TypeError
        If the data are not numbers, or the labels neither integers, strings nor booleans.

    Notes
    -----
    The plug-in estimate is biased upwards: a calibrated forecast has a positive error in every finite sample. `assess`
    states that noise floor.

    Examples
    --------
    >>> from calibrant import EqualMass, calibration_error
    >>> round(calibration_error([0, 1, 1, 1], [0.1, 0.4, 0.8, 0.9], binning=EqualMass(2)), 3)
    0.2
    """
    problem = as_problem(y_true, y_prob, **data)
    return general_error(
        problem,
        as_notion(notion, problem),
        as_binning(binning),
        as_loss(loss),
        as_norm(norm),
        None if across is None else as_norm(across, "across"),
    )


def general_error(
    problem: Problem, notion: Notion, binning: Binning, loss: Loss, norm: Norm, across: Norm | None = None
) -> float:
    """Return the general calibration error of a valid problem."""
    values, weights, shares = [], [], []
    for binary in notion.split(problem):
        if binary.size == 0:  # a class that is never predicted
            continue
        bins = binning(binary)
        held = bins.weight > 0
        values.append(loss(binary, bins)[held])
        weights.append(bins.weight[held] / bins.weight.sum())
        shares.append(binary.share)
    if not values:
        return 0.0
    if across is not None:
        return across(np.array([norm(*own) for own in zip(values, weights, strict=True)]), np.array(shares))
    scaled = [share * weight for share, weight in zip(shares, weights, strict=True)]
    return norm(np.concatenate(values), np.concatenate(scaled))


def lens_error(problem: Problem, notion: Notion, lens: Lens, size: Size) -> float:
    """Return the size of what a lens sees of a valid problem, averaged over the problems of the notion by their shares."""
    total = 0.0
    for binary in notion.split(problem):
        if binary.size > 0:  # else a class that is never predicted
            view = lens(binary)
            total += binary.share * float(size(view, view.look(residual_of(binary)))[0])
    return total
