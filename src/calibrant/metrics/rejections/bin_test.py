"""The calibration error that tests each prediction in its bin."""

from __future__ import annotations

from typing import Unpack

import numpy.typing as npt

from calibrant._core.validation import DataOptions
from calibrant.binning import Binning
from calibrant.binning.bounded_isotonic import BoundedIsotonic
from calibrant.metrics.binned.losses import NormOfBins
from calibrant.metrics.kinds.through_lens import point
from calibrant.metrics.rejections import TestName
from calibrant.metrics.rejections.loss import BinTest
from calibrant.notions import Notion

BOUNDED = BoundedIsotonic()


TCE = point("tce", "TCE", "Matsubara et al. 2023", binning=BOUNDED, loss=BinTest(), range=(0.0, 100.0))


@TCE.declare
def bin_test_calibration_error(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    binning: int | Binning = BOUNDED,
    test: TestName = "binomial",
    level: float = 0.05,
    **data: Unpack[DataOptions],
) -> float:
    """Percentage of predictions that differ significantly from the event rate of their bin (TCE), in [0, 100].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more. The authors propose ``"class-wise"``.
    binning : int or Binning, default=BoundedIsotonic()
        How scores are cut; a number n means ``EqualWidth(n)``. TCE(Q) of the paper is ``EqualMass(10)``, TCE(V) ``Isotonic()``.
    test : {"binomial", "mid-p", "clopper-pearson", "t"}, default="binomial"
        The test of a prediction against the events of its bin: see `BinTest`.
    level : float, default=0.05
        Level of each test, a fraction in (0, 1).
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`. Weights must
        be whole: a test counts rows.

    Returns
    -------
    float
        Percentage of the rows whose prediction is rejected: 100 / n times the sum over bins b and predictions p in b of
        [the test of k(b) events in n(b) rows rejects p]. Of a notion of several problems, the mean of their percentages by
        their shares.

    Raises
    ------
    ValueError
        If weights are no whole numbers or sum to 2**53 or more, or ``level`` is no fraction.

    Notes
    -----
    It is no distance: it counts predictions that are too far from an event rate to be chance, however far. So it grows with the
    number of rows, toward the share of predictions that are not exactly right, and a wide bin rejects predictions near its ends
    because they are not its middle. A calibrated forecast does not have ``level`` in percent: all predictions of a bin are
    tested with the same events. `estimate_calibration_error` states what it does have, and draws a label for each of the equal
    rows that a weight stands for.

    The authors' code divides by the variance in its t-test; here it is the standard error.

    References
    ----------
    Matsubara, Tax, Mudd, Guy, TCE: A test-based approach to measuring calibration error, UAI 2023 (Definition 2, Algorithm 1).

    Examples
    --------
    >>> from calibrant import bin_test_calibration_error
    >>> y, p = [0] * 9 + [1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    >>> bin_test_calibration_error(y, p, binning=1)
    60.0
    """
    size = NormOfBins(BinTest(test, level))
    return TCE.recut(binning).of(y_true, y_prob, data, notion=notion, size=size)
