"""Confidence and top-label reliability over the same bins: what the gap of a bin hides of its predicted classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Unpack

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.parameters import choice
from calibrant._core.problem import BinaryProblem, IntArray, Problem, as_simplex
from calibrant._core.result import DrawnResult, Picture, drawing, frame, read_only
from calibrant._core.validation import DataOptions, as_problem
from calibrant.binning import Binning, Bins, Edges, as_binning, sums_over
from calibrant.binning.base import shown
from calibrant.notions import as_notion
from calibrant.notions.grouped import rows_by_group
from calibrant.notions.predicted import top_label

ROUNDING = 1e-12
"""Gap up to which a bin lies on the diagonal: which side it is on is then an accident of rounding."""


@dataclass(frozen=True, eq=False)
class TopLabelCurve(DrawnResult):
    """Reliability of the predicted class: in each bin of the confidence for all rows, and for each class predicted there.

    Attributes
    ----------
    bins : Bins
        Confidence of all rows: mean probability, accuracy (``event_rate``), count and weight of each bin.
    class_bins : tuple of Bins
        The same over the same edges, of the rows that predict each class.
    classes : tuple of str
        Names of the classes.
    binning : str
        Where the edges come from.
    """

    _summary = "{binning}, classes={classes:n}, bins={bins:n}, rows={bins.count:total}"
    _picture = Picture("confidence and top-label reliability in one diagram", "top_label.plot_top_label")

    bins: Bins
    class_bins: tuple[Bins, ...]
    classes: tuple[str, ...]
    binning: str

    @cached_property
    def share(self) -> FloatArray:
        """Part of the predictions in each bin, shape (n_bins,)."""
        return read_only(self.bins.weight / self.bins.weight.sum())

    @cached_property
    def gap(self) -> FloatArray:
        """Distance between accuracy and mean probability of each bin, shape (n_bins,); NaN where a bin is empty."""
        return read_only(np.abs(self.bins.gap))

    @cached_property
    def class_gap(self) -> FloatArray:
        """Distance of each class predicted in each bin, shape (n_bins, n_classes); NaN where none predicts it."""
        return read_only(np.abs(np.column_stack([own.gap for own in self.class_bins])))

    @cached_property
    def top_label_gap(self) -> FloatArray:
        """Mean distance over the classes predicted in each bin, by weight, shape (n_bins,); NaN where a bin is empty."""
        weight = np.column_stack([own.weight for own in self.class_bins])
        total = np.where(weight > 0, weight * self.class_gap, 0.0).sum(axis=1)
        found = np.full(len(self.bins), np.nan)
        np.divide(total, self.bins.weight, out=found, where=self.bins.weight > 0)
        return read_only(found)

    @cached_property
    def top_label_height(self) -> FloatArray:
        """Where the top-label gap of each bin is drawn: as far from its mean probability, on the side of its accuracy.

        The gap is a mean of distances and has no side of its own. A bin whose accuracy is its mean probability is drawn
        below, where a forecast is over-confident. Where the place would lie outside of [0, 1], the other side is taken; where
        it would there too, the nearer end of [0, 1]. It is a place in a diagram and no rate.
        """
        side = np.where(self.bins.gap > ROUNDING, 1.0, -1.0)
        place, opposite = (self.bins.mean_prob + sign * side * self.top_label_gap for sign in (1.0, -1.0))
        turned = ((place < 0.0) | (place > 1.0)) & (opposite >= 0.0) & (opposite <= 1.0)
        return read_only(np.clip(np.where(turned, opposite, place), 0.0, 1.0))

    @property
    def confidence_ece(self) -> float:
        """Mean gap of the bins by their share (conf-ECE)."""
        return _mean(self.gap, self.share)

    @property
    def top_label_ece(self) -> float:
        """Mean top-label gap of the bins by their share (TL-ECE over edges that all classes share)."""
        return _mean(self.top_label_gap, self.share)

    def to_frame(self, backend: str | None = None, *, each: Literal["bin", "class"] = "bin") -> Any:
        """Return a data frame, a row a bin or a row a class in a bin.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first that is installed.
        each : {"bin", "class"}, default="bin"
            What a row is: a bin, or a class that is predicted in a bin.

        Returns
        -------
        DataFrame
            Columns bin, left, right, count, weight, mean_prob, accuracy, gap; of bins top_label_gap, of classes label.
        """
        choice("each", each, ("bin", "class"))
        if each == "bin":
            columns = self._columns(self.bins, self.gap, np.ones(len(self.bins), dtype=bool))
            return frame({**columns, "top_label_gap": self.top_label_gap}, backend)
        tables = [
            self._columns(own, gap, own.count > 0) for own, gap in zip(self.class_bins, self.class_gap.T, strict=True)
        ]
        held = [len(table["bin"]) for table in tables]
        long = {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
        return frame({"label": np.repeat(self.classes, held), **long}, backend)

    def plot_bin(self, bin: int | None = None, **options: Any) -> Any:
        """Draw the classes that are predicted in one bin with matplotlib.

        Parameters
        ----------
        bin : int, optional
            Number of the bin, from 0; by default the one with most rows.
        **options : dict
            See `plot_top_label_bin`.

        Returns
        -------
        ndarray of two matplotlib Axes
            The diagram, and the counts beside it.
        """
        return drawing("top_label.plot_top_label_bin")(self, bin, **options)

    def _columns(self, bins: Bins, gap: FloatArray, held: npt.NDArray[np.bool_]) -> dict[str, npt.NDArray[Any]]:
        columns: dict[str, npt.NDArray[Any]] = {
            "bin": np.arange(len(bins)),
            "left": bins.edges[:-1],
            "right": bins.edges[1:],
            "count": bins.count,
            "weight": bins.weight,
            "mean_prob": bins.mean_prob,
            "accuracy": bins.event_rate,
            "gap": gap,
        }
        return {name: values[held] for name, values in columns.items()}


def top_label_curve(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
    *,
    binning: int | Binning = 15,
    **data: Unpack[DataOptions],
) -> TopLabelCurve:
    """Confidence and top-label reliability over the same bins, ready to plot.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one. With ``y_pred`` the probability of the predicted class, shape (n_samples,).
    binning : int or Binning, default=15
        How the confidence of all rows is cut; a number n means ``EqualWidth(n)``. Every class has these edges.
    **data : DataOptions
        ``y_pred``, the predicted class of each row, such as `ByNotion.predict_top` gives with its probability; by default the
        column of the highest probability, of equal ones the first. ``sample_weight``, ``labels``, ``pos_label``, ``input`` and
        ``rows``: see `DataOptions`. With ``y_pred``, ``labels`` are all classes in their order, by default those seen.

    Returns
    -------
    TopLabelCurve
        A result with ``bins``, ``class_bins``, ``top_label_gap``, ``to_frame()``, ``plot()`` and ``plot_bin()``.

    Raises
    ------
    ValueError
        If ``y_pred`` is given with a table, with ``pos_label``, or with another number of rows than ``y_true``.
    TypeError
        If ``y_pred`` and ``y_true`` are not labels of one kind.

    Notes
    -----
    With q(l, b) the part of the weight of bin b that predicts class l,

        gap(b, l) = abs(accuracy(b, l) - mean probability(b, l)),  top-label gap(b) = sum over l of q(l, b) gap(b, l).

    Without the absolute values it is the gap of the bin as a whole, so that the top-label gap is never smaller: a bin in which
    one class is over-confident and another under-confident can lie on the diagonal. The means of both over the bins, by
    their shares, are conf-ECE and TL-ECE. Over bins of equal width these are `expected_calibration_error` and
    `top_label_calibration_error`; of other binnings the latter cuts each class by itself, and here all share the edges of
    the confidence.

    The 15 bins by default are those of the metrics. Most rows of a neural network lie in the last of them, and the others
    may hold a few rows a class, whose distances are mostly noise: look at the shares and at ``plot_bin``, and cut with
    ``EqualMass(15)`` to spread the rows out.

    References
    ----------
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022.

    Examples
    --------
    Of the rows with confidence 0.6 those that predict class 0 are right too rarely, and those that predict class 1 always.

    >>> from calibrant.curves import top_label_curve
    >>> curve = top_label_curve([0, 1, 1, 1, 1] + [1] * 5, [0.6] * 10, y_pred=[0] * 5 + [1] * 5)
    >>> round(curve.confidence_ece, 3), round(curve.top_label_ece, 3)
    (0.0, 0.4)
    """
    problem = as_problem(y_true, y_prob, **data)
    if isinstance(problem, BinaryProblem) and problem.predicted is None:
        problem = as_simplex(problem)  # predicts the likelier of two classes
    (confidence,) = as_notion("confidence", problem).split(problem)
    predicted, classes = _predicted(problem)
    cut = as_binning(binning)
    edges = Edges(cut.edges(confidence))
    return TopLabelCurve(
        bins=shown(sums_over(edges, confidence), are_counts=problem.weights.are_counts),
        class_bins=tuple(
            shown(sums_over(edges, own), are_counts=problem.weights.are_counts)
            for own in _by_class(confidence, predicted, len(classes))
        ),
        classes=tuple(str(c) for c in classes.tolist()),
        binning=repr(cut),
    )


def _predicted(problem: Problem) -> tuple[IntArray, npt.NDArray[np.generic]]:
    """Return the number of the class that each row predicts, and the classes."""
    if isinstance(problem, BinaryProblem) and problem.predicted is not None:
        return problem.predicted.code, problem.predicted.classes
    simplex = as_simplex(problem)
    return top_label(simplex.prob), simplex.classes


def _by_class(confidence: BinaryProblem, predicted: IntArray, n_classes: int) -> Iterator[BinaryProblem]:
    """Split the rows by the class that they predict."""
    return (confidence.at(rows) for rows in rows_by_group(predicted, n_classes))


def _mean(values: FloatArray, share: FloatArray) -> float:
    held = share > 0
    return float(share[held] @ values[held])
