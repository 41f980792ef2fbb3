"""Metrics of a calibrator that splits the simplex, against the number of its regions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from calibrant import drawing
from calibrant import style as _style
from calibrant._core.arrays import FloatArray
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.checks import left_out, list_of_names, require, some
from calibrant._core.registry import Entry, find
from calibrant._core.result import DrawnResult, Picture, frame
from calibrant._core.rows import BinaryProblem, IntArray, Problem, as_simplex

FIT_FIRST = "Pass one that was fitted, such as MulticlassRecursivePartitioning().fit(y_prob, y_true)"


@dataclass(frozen=True, eq=False)
class PartitionPath(DrawnResult):
    """Metrics after each split of a partition, or of each of several partitions.

    Attributes
    ----------
    n_regions : ndarray of shape (n_stages,)
        Numbers of regions.
    value : ndarray of shape (n_stages, n_metrics)
        The metrics of the calibrated forecast.
    before : ndarray of shape (n_metrics,)
        Those of the forecast that is calibrated.
    metrics : tuple of str
        Names of the metrics.
    symbols : tuple of str
        Their short signs.
    calibrator : str
        Where the figures come from.
    """

    _summary = "{calibrator}, {metrics:list}, n_regions={n_regions:range}"
    _picture = Picture("each metric against the number of regions", "curves.partition_path.plot_partition_path")

    n_regions: IntArray
    value: FloatArray
    before: FloatArray
    metrics: tuple[str, ...]
    symbols: tuple[str, ...]
    calibrator: str

    def __getitem__(self, metric: str) -> FloatArray:
        """Return the values of a metric, of shape (n_stages,), ``path["nll"]``."""
        if metric not in self.metrics:
            raise KeyError(f"{metric!r} was not measured; there are {', '.join(self.metrics)}")
        return self.value[:, self.metrics.index(metric)]

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a data frame, a row a stage.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first that is installed.

        Returns
        -------
        DataFrame
            Columns n_regions, and one a metric.
        """
        return frame({"n_regions": self.n_regions} | {name: self[name] for name in self.metrics}, backend)


def partition_path(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike,
    calibrator: Any,
    *,
    metrics: Sequence[str] = ("nll", "vus"),
    **data: Unpack[DataOptions],
) -> PartitionPath:
    """Path of metrics of a calibrated forecast after each split of the simplex, beside those of the forecast before.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Forecast of the kind that was fitted, not calibrated yet. Held-out rows show which number of regions is best.
    calibrator : fitted calibrator, or sequence of fitted calibrators
        One that splits step by step and so has ``staged_predict_proba``: `MulticlassRecursivePartitioning`, and
        `IsotonicRecursivePartitioning`, where a cut counts as a region more. Of others, such as
        ``CanonicalBinning(RecursiveSplit(n))``, one for each number of regions; a row or a number of ``value_`` is a region.
    metrics : sequence of str, default=("nll", "vus")
        Registry names (``calibrant list metrics`` prints them).
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    PartitionPath
        A result with ``n_regions``, ``value``, ``before``, ``to_frame()`` and ``plot()``.

    Raises
    ------
    ValueError
        If a metric is unknown, if none is asked for, if there is no calibrator, or if it has other classes than the forecast.
    TypeError
        If something is no fitted calibrator with regions.

    Notes
    -----
    On the rows that were fitted the cross-entropy falls with every split; on held-out rows it falls at first, and rises again
    where regions become too small. The last stage is what the calibrator predicts: with ``max_regions="cv"`` it is the one
    that cross-validation chose, and later ones are not there to be seen.

    One column of probabilities is measured as one column, a table as a table: the same metric before and after.

    References
    ----------
    Berta, Bach, Jordan, Classifier calibration with ROC-regularized isotonic regression, AISTATS 2024, Fig. 2, 4 and 5.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.calibrators import MulticlassRecursivePartitioning
    >>> from calibrant.curves import partition_path
    >>> rng = np.random.default_rng(0)
    >>> P = rng.dirichlet(np.ones(3), 400)
    >>> y = np.array([rng.choice(3, p=p) for p in P])
    >>> fitted = MulticlassRecursivePartitioning(max_regions=9, smoothing=1.0).fit(P[:200], y[:200])
    >>> path = partition_path(y[200:], P[200:], fitted, metrics=["nll", "brier"])
    >>> bool(path["nll"][-1] < path["nll"][0])
    True
    """
    list_of_names("metrics", metrics)
    some("metrics", metrics, "metric", hint="Pass ['nll']")
    entries = list({entry.name: entry for entry in (find("metric", word) for word in metrics)}.values())
    left_out("y_pred", data.get("y_pred"), "where whole forecasts are calibrated", hint="Pass y_true and y_prob")
    problem = as_problem(y_true, y_prob, all_rows="the path of a partition", **data)
    several = isinstance(calibrator, Sequence)
    stages = list(_of_each(calibrator, problem) if several else _staged(calibrator, problem))
    return PartitionPath(
        n_regions=np.array([n for n, _ in stages], dtype=np.intp),
        value=np.array([_measured(entries, problem, calibrated) for _, calibrated in stages]),
        before=np.array(_measured(entries, problem, as_simplex(problem).prob)),
        metrics=tuple(entry.name for entry in entries),
        symbols=tuple(entry.symbol for entry in entries),
        calibrator=type(calibrator[0] if several else calibrator).__name__,
    )


def _staged(calibrator: Any, problem: Problem) -> Iterator[tuple[int, FloatArray]]:
    """Return the number of regions and the calibrated table after no split, after one, and so on."""
    fits = hasattr(calibrator, "staged_predict_proba") and hasattr(calibrator, "classes_")
    must = "calibrator must be fitted and have staged_predict_proba, or be a sequence of fitted ones"
    require(fits, must, value=calibrator, hint=FIT_FIRST, error=TypeError)
    stages = calibrator.staged_predict_proba(_input_of(calibrator, problem))
    return zip(getattr(calibrator, "staged_regions_", count(1)), stages, strict=False)


def _of_each(calibrators: Sequence[Any], problem: Problem) -> Iterator[tuple[int, FloatArray]]:
    """Return the number of regions and the calibrated table of each calibrator."""
    require(calibrators, "calibrator must be a fitted calibrator, or hold some", value=calibrators, hint=FIT_FIRST)
    for one in calibrators:
        fits, must = hasattr(one, "predict_proba") and hasattr(one, "value_"), "each calibrator must be fitted"
        require(fits, f"{must} and have regions, value_", value=one, hint=FIT_FIRST, error=TypeError)
    return ((len(one.value_), one.predict_proba(_input_of(one, problem))) for one in calibrators)


def _input_of(calibrator: Any, problem: Problem) -> FloatArray:
    """Return the forecast as the calibrator was given it."""
    must = f"the classes of y_prob must be those of the calibrator, {calibrator.classes_.tolist()}"
    same, hint = np.array_equal(calibrator.classes_, problem.classes), "Pass labels=calibrator.classes_"
    require(same, must, value=problem.classes.tolist(), hint=hint)
    as_logits = calibrator.input == "logit"
    if isinstance(problem, BinaryProblem):
        return problem.log_odds if as_logits else problem.score
    return problem.forecast.log_prob if as_logits else problem.prob


def _measured(entries: list[Entry], problem: Problem, table: FloatArray) -> list[float]:
    """Return the metrics of a table, measured as the forecast is: one column as one."""
    truth = problem.classes[problem.code]
    own: dict[str, Any] = {"y_prob": table, "labels": problem.classes}
    if isinstance(problem, BinaryProblem):
        own = {"y_prob": table[:, 1], "pos_label": problem.classes[1]}
    return [float(entry.target(truth, **problem.weights.keyword, **own)) for entry in entries]


# The plot of metrics against the number of regions


ROUNDING = 1e-9
"""Levels that agree to this, relative to them, are one."""


def plot_partition_path(paths: PartitionPath | Mapping[str, PartitionPath], *, ax: Any = None) -> Any:
    """Draw each metric against the number of regions, one panel a metric; dashed, where it stands before calibration.

    Parameters
    ----------
    paths : PartitionPath or dict of name to PartitionPath
        One calibrator, or several over each other, all with the same metrics.
    ax : matplotlib Axes or sequence of Axes, optional
        Where to draw, one a metric; a new figure by default.

    Returns
    -------
    matplotlib Axes, or ndarray of Axes for several metrics
        What was drawn on.

    Raises
    ------
    ValueError
        If there is no path, if metrics differ, or if there is not one Axes a metric.
    TypeError
        If something is no path.

    Notes
    -----
    A forecast that all paths start from has one dashed line in grey; where they start from several, each has its own colour.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.calibrators import MulticlassRecursivePartitioning
    >>> from calibrant.curves import partition_path
    >>> rng = np.random.default_rng(0)
    >>> P = rng.dirichlet(np.ones(3), 200)
    >>> y = np.array([rng.choice(3, p=p) for p in P])
    >>> fitted = MulticlassRecursivePartitioning(max_regions=9, smoothing=1.0).fit(P, y)
    >>> ax = partition_path(y, P, fitted, metrics=["nll"]).plot()
    """
    named = drawing.as_named(paths, "paths", "partition_path(y_true, y_prob, calibrator)", PartitionPath)
    measured = [path.metrics for path in named.values()]
    hint = "Pass the same metrics= to each"
    require(len(set(measured)) == 1, "paths over each other must have the same metrics", value=measured, hint=hint)
    n_metrics = len(measured[0])
    axes = drawing.axes_in_a_row(ax, n_metrics, "one Axes a metric", (1.6 + 3.6 * n_metrics, 3.4))
    for number, panel in enumerate(axes):
        _draw(panel, named, number)
    if len(named) > 1 or ax is None:
        drawing.legend_beside(axes[-1])
    return axes[0] if len(axes) == 1 else axes


def _draw(ax: Any, named: Mapping[str, PartitionPath], number: int) -> None:
    """Draw one metric of all paths."""
    from matplotlib.ticker import MaxNLocator

    before = [float(path.before[number]) for path in named.values()]
    for k, (name, path) in enumerate(named.items()):
        look = {"color": _style.colour(k), "marker": _style.marker(k), "markersize": 3.5, "linewidth": 1.5}
        ax.plot(path.n_regions, path.value[:, number], label=name or "calibrated", zorder=3, **look)
    shared = bool(np.allclose(before, before[0], rtol=ROUNDING, atol=0.0, equal_nan=True))
    for k, level in enumerate(before[:1] if shared else before):
        colour = _style.IDEAL if shared else _style.colour(k)
        ax.axhline(level, color=colour, linestyle="--", linewidth=1.2, label=None if k else "not calibrated", zorder=2)
    ax.set(xlabel="number of regions", ylabel=path.symbols[number])
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    drawing.grid(ax)
