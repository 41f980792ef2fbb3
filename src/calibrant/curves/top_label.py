"""Confidence and top-label reliability over the same bins: what the gap of a bin hides of its predicted classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Unpack

import numpy as np

from calibrant import drawing
from calibrant._core.arrays import ArrayLike, FloatArray, NDArray, ratio
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.checks import choice, require, whole
from calibrant._core.result import DrawnResult, Picture, frame, read_only
from calibrant._core.rows import IntArray, as_simplex, top_column
from calibrant.binning.bins import Binning, Bins, Edges, as_binning, shown, sums_over
from calibrant.notions import as_notion, rows_by_group

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
    _picture = Picture("confidence and top-label reliability in one diagram", "curves.top_label.plot_top_label")

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
        return read_only(ratio(np.where(weight > 0, weight * self.class_gap, 0.0).sum(axis=1), self.bins.weight))

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
        if choice("each", each, ("bin", "class")) == "bin":
            return frame({**_columns(self.bins), "top_label_gap": self.top_label_gap}, backend)
        tables = [
            {key: own[held] for key, own in _columns(c).items()} for c in self.class_bins for held in [c.count > 0]
        ]
        long = {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
        return frame({"label": np.repeat(self.classes, [len(table["bin"]) for table in tables]), **long}, backend)

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
        return plot_top_label_bin(self, bin, **options)


def top_label_curve(
    y_true: ArrayLike,
    y_prob: ArrayLike | None = None,
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
    if problem.predicted is not None:
        predicted, classes = problem.predicted.code, problem.predicted.classes
    else:
        problem = as_simplex(problem)  # predicts the likelier of two classes
        predicted, classes = top_column(problem.prob), problem.classes
    (confidence,) = as_notion("confidence", problem).split(problem)
    cut = as_binning(binning)
    edges = Edges(cut.edges(confidence))
    parts = [confidence, *map(confidence.at, rows_by_group(predicted, len(classes)))]
    bins, *class_bins = (shown(sums_over(edges, own), are_counts=problem.weights.are_counts) for own in parts)
    return TopLabelCurve(bins, tuple(class_bins), tuple(str(c) for c in classes.tolist()), repr(cut))


def _columns(bins: Bins) -> dict[str, NDArray[Any]]:
    same = {name: getattr(bins, name) for name in ("left", "right", "count", "weight", "mean_prob")}
    return {"bin": np.arange(len(bins)), **same, "accuracy": bins.event_rate, "gap": np.abs(bins.gap)}


def _mean(values: FloatArray, share: FloatArray) -> float:
    held = share > 0
    return float(share[held] @ values[held])


# Confidence and top-label reliability in one diagram, and the classes within one of its bins


CALL = "top_label_curve(y_true, y_prob)"

MOST_CLASSES = 10
"""Classes that are told apart in a bin; the eye does not tell more."""

N_COLOURS = len(drawing.COLOURS) - 1
"""Colours of classes in a bin. The last, black, is that of the bin as a whole."""

SMALLEST, LARGEST = 5.0, 11.0
"""Size in points of the marker of a bin: from no rows to the most rows."""


def plot_top_label(curves: TopLabelCurve | Mapping[str, TopLabelCurve], *, ax: Any = None) -> Any:
    """Draw confidence and top-label reliability in one diagram, over the share of predictions in each bin.

    Parameters
    ----------
    curves : TopLabelCurve or dict of name to TopLabelCurve
        One forecast, or several side by side.
    ax : matplotlib Axes, optional
        Where to draw one forecast; a new figure by default.

    Returns
    -------
    matplotlib Axes, or ndarray of Axes for several forecasts
        What was drawn on.

    Raises
    ------
    ValueError
        If there is no curve, or if ``ax`` is given for several.
    TypeError
        If something is no such curve.

    Notes
    -----
    A star is the mean probability and the accuracy of a bin. The plus above or below it is as far from the diagonal as the
    classes predicted in the bin are on average, each by itself, so that it is never nearer than the star. A mean of
    distances has no side of its own: the plus stands on the side of the star, below where the star is on the diagonal, and on
    the other side where it would leave the unit square. Where neither side has room for the distance, the plus stands on the
    edge and the distance is written beside. The legend holds the means of both distances, conf-ECE and TL-ECE.

    The fewer rows a bin holds, of the fullest bin, the smaller and paler its markers: the distances of bins of a few rows
    are mostly noise and weigh little in the means.

    References
    ----------
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022, Fig. 1.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.curves import top_label_curve
    >>> ax = top_label_curve(*load_digits_forecast(), binning=10).plot()
    """
    named = drawing.as_named(curves, "curves", CALL, TopLabelCurve)
    hint = "Leave ax out, or draw each into its own"
    require(ax is None or len(named) <= 1, "one Axes holds one curve", value=len(named), hint=hint)
    axes = drawing.axes_in_a_row(ax, len(named), "one", (4.0 * len(named) + 0.6, 5.5))
    for own, (name, curve) in zip(axes, named.items(), strict=True):
        _draw_curve(own, curve)
        own.set_title(name, fontsize="medium")
    axes[0].set_ylabel("accuracy")
    return axes if len(named) > 1 else axes[0]


def plot_top_label_bin(
    curve: TopLabelCurve, bin: int | None = None, *, most: int = MOST_CLASSES, axes: Any = None
) -> Any:
    """Draw the mean probability and the accuracy of each class predicted in one bin, with the counts beside.

    Parameters
    ----------
    curve : TopLabelCurve
        Of one forecast.
    bin : int, optional
        Number of the bin, from 0; by default the one with most rows.
    most : int, default=10
        Classes that have a colour and a bar, those with most rows in the bin; the others are grey points.
    axes : sequence of two matplotlib Axes, optional
        Where to draw the diagram and the counts; a new figure by default.

    Returns
    -------
    ndarray of two matplotlib Axes
        The diagram, and the counts beside it.

    Raises
    ------
    ValueError
        If the bin is none of the curve or holds no rows, or if ``axes`` are not two.
    TypeError
        If ``curve`` is none, or if ``bin`` or ``most`` is no whole number.

    Notes
    -----
    The black star is the bin as a whole, where it stands in `plot_top_label`. Thin lines lead from the points to the
    diagonal: their mean length, by weight, is the top-label gap of the bin.

    References
    ----------
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022, Fig. 2.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.curves import top_label_curve
    >>> from calibrant.curves import plot_top_label_bin
    >>> axes = plot_top_label_bin(top_label_curve(*load_digits_forecast(), binning=10), bin=9)
    """
    drawing.require_kind(curve, "curve", CALL, TopLabelCurve)
    held = np.flatnonzero(curve.bins.count).tolist()
    hint = f"Pass one of {', '.join(map(str, held))}"
    b = int(curve.bins.count.argmax()) if bin is None else whole("bin", bin, least=0, hint=hint)
    require(b in held, "bin must be the number of a bin that holds rows", value=b, hint=hint)
    most = whole("most", most, least=1, hint="10 is usual")
    axes = drawing.axes_in_a_row(axes, 2, "two, of the diagram and of the counts", (7.2, 4.0), width_ratios=[1.7, 1.0])
    count = np.array([own.count[b] for own in curve.class_bins])
    order = np.argsort(-count, kind="stable")[: int((count > 0).sum())]
    shown = np.sort(order[:most])
    _draw_classes(axes[0], curve, b, shown, order[most:])
    _draw_counts(axes[1], curve, b, shown)
    if order.size > most:
        axes[1].set_xlabel(f"rows ({most} of {order.size} classes)")
    return axes


def _draw_curve(ax: Any, curve: TopLabelCurve) -> None:
    bins, held = curve.bins, curve.bins.count > 0
    x, star, plus = bins.mean_prob[held], bins.event_rate[held], curve.top_label_height[held]
    part = np.cbrt(curve.share[held] / curve.share.max())
    bars = {"color": drawing.BAND, "edgecolor": "white", "linewidth": 0.6, "label": "share of predictions"}
    ax.bar(bins.edges[:-1], curve.share, np.diff(bins.edges), align="edge", zorder=1.1, **bars)
    drawing.unit_square(ax)
    ax.vlines(x, x, plus, color=drawing.colour(1), linewidth=0.4 + 0.8 * part, alpha=0.5, zorder=2)
    size, pale = (SMALLEST + (LARGEST - SMALLEST) * part) ** 2, 0.5 + 0.5 * part
    for number, (marker, width, y, label) in enumerate(
        (
            ("*", 0.0, star, f"accuracy of all rows: conf-ECE {curve.confidence_ece:.4f}"),
            ("+", 1.8, plus, f"mean distance of classes: TL-ECE {curve.top_label_ece:.4f}"),
        )
    ):  # small and pale where a bin holds a small part of the rows of the fullest
        look = {"marker": marker, "color": drawing.colour(number)}
        ax.scatter(x, y, size, linewidths=width * pale, alpha=pale, zorder=3 + 0.1 * number, clip_on=False, **look)
        ax.plot([], [], linestyle="", markersize=LARGEST - 1.0, markeredgewidth=width, label=label, **look)
    _write_distances(ax, x, plus, curve.top_label_gap[held])
    ax.set_xlabel("mean probability")
    drawing.legend_above(ax)


def _write_distances(ax: Any, x: FloatArray, plus: FloatArray, distance: FloatArray) -> None:
    """Write the mean distance beside a plus that stands on the edge because neither side has room for it."""
    for b in np.flatnonzero(np.abs(np.abs(plus - x) - distance) > ROUNDING):
        below, right = plus[b] > 0.5, x[b] < 0.5
        place = {"xytext": (8 if right else -8, -2 if below else 2), "textcoords": "offset points"}
        side = {"ha": "left" if right else "right", "va": "top" if below else "bottom"}
        ax.annotate(f"{distance[b]:.2f}", (x[b], plus[b]), color=drawing.colour(1), fontsize="small", **place, **side)


def _draw_classes(ax: Any, curve: TopLabelCurve, b: int, shown: IntArray, others: IntArray) -> None:
    mean_prob, accuracy = curve.bins.mean_prob[b], curve.bins.event_rate[b]
    points = np.array([(own.mean_prob[b], own.event_rate[b]) for own in curve.class_bins])
    ax.axline((mean_prob, mean_prob), slope=1, color=drawing.IDEAL, linestyle="--", linewidth=1, label=drawing.DIAGONAL)
    if others.size:
        label = f"{others.size} other classes"
        ax.plot(*points[others].T, "o", markersize=3, color=drawing.IDEAL, alpha=0.6, label=label, zorder=2)
    for number, (x, y) in enumerate(points[shown]):
        key = _key(number)
        ax.vlines(x, x, y, color=key["color"], linewidth=1, alpha=0.5, zorder=2.5)
        ax.plot(x, y, **key, zorder=3)
    star = {"markersize": 15, "color": drawing.COLOURS[-1], "markeredgecolor": "white", "linestyle": ""}
    ax.plot(mean_prob, accuracy, marker="*", label="whole bin", zorder=3.5, **star)
    ax.margins(0.08)
    left, right = curve.bins.edges[b : b + 2]
    ax.set(xlabel="mean probability", ylabel="accuracy")
    ax.locator_params(axis="x", nbins=5)
    ax.set_title(f"confidence in {'[' if b == 0 else '('}{left:.4g}, {right:.4g}]", fontsize="medium")
    drawing.grid(ax)
    drawing.legend_above(ax)


def _draw_counts(ax: Any, curve: TopLabelCurve, b: int, shown: IntArray) -> None:
    """Draw a bar a class, from top to bottom, which is also the key to the points."""
    for number, j in enumerate(shown):
        key = _key(number)
        hollow = key["markerfacecolor"] == "white"
        look = {"facecolor": "none" if hollow else key["color"], "edgecolor": key["color"], "linewidth": 1.3}
        ax.barh(number, curve.class_bins[j].count[b], alpha=0.75, **look)
        ax.plot(0, number, **key, clip_on=False, zorder=3)
    ax.set_yticks(range(len(shown)), [curve.classes[j] for j in shown])
    ax.tick_params(axis="y", length=0, pad=8)
    ax.invert_yaxis()
    ax.set(xlabel="rows", ylabel="predicted class", title="")
    ax.set_xlim(left=0)
    ax.spines[["top", "right"]].set_visible(False)
    ax.locator_params(axis="x", nbins=4)


def _key(number: int) -> dict[str, Any]:
    """Return the look of a class; where the colours start again, its marker is hollow and another."""
    colour, is_filled = drawing.colour(number % N_COLOURS), number // N_COLOURS % 2 == 0
    look = {"markerfacecolor": colour, "markeredgecolor": "white"} if is_filled else {"markerfacecolor": "white"}
    return {"color": colour, "marker": drawing.marker(number), "markersize": 6.5, "linestyle": "", **look}
