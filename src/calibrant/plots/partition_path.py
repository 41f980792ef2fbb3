"""The plot of metrics against the number of regions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from calibrant._core.parameters import refuse, require
from calibrant.curves.partition_path import PartitionPath
from calibrant.plots import _style
from calibrant.plots._given import as_results
from calibrant.plots._legend import legend_beside

CALL = "partition_path(y_true, y_prob, calibrator)"

BEFORE = "not calibrated"

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
    named = as_results(paths, "paths", CALL, PartitionPath)
    first = next(iter(named.values()))
    if any(path.metrics != first.metrics for path in named.values()):
        refuse(
            "paths over each other must have the same metrics",
            value=[path.metrics for path in named.values()],
            hint="Pass the same metrics= to each",
        )
    axes = _new_axes(len(first.metrics)) if ax is None else _given_axes(ax, len(first.metrics))
    for number, panel in enumerate(axes):
        _draw(panel, named, number)
    if len(named) > 1 or ax is None:
        legend_beside(axes[-1])
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
        ax.axhline(level, color=colour, linestyle="--", linewidth=1.2, label=None if k else BEFORE, zorder=2)
    ax.set(xlabel="number of regions", ylabel=next(iter(named.values())).symbols[number])
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    ax.set_axisbelow(True)
    ax.grid(color=_style.GRID, linewidth=0.8)


def _new_axes(n_metrics: int) -> Any:
    import matplotlib.pyplot as plt

    return plt.subplots(1, n_metrics, figsize=(1.6 + 3.6 * n_metrics, 3.4), layout="constrained", squeeze=False)[
        1
    ].ravel()


def _given_axes(ax: Any, n_metrics: int) -> Any:
    axes = np.array(list(ax) if isinstance(ax, (Sequence, np.ndarray)) else [ax], dtype=object)
    require(
        len(axes) == n_metrics,
        "ax must be one Axes a metric",
        got=f"{len(axes)} for {n_metrics}",
        hint="Leave ax out for a new figure",
    )
    return axes
