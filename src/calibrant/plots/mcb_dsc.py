"""The plane of miscalibration and discrimination: where several forecasts of the same events stand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant._core.parameters import refuse, require
from calibrant.plots import _style
from calibrant.plots._beside import put_beside, tie

if TYPE_CHECKING:
    from calibrant.metrics.decompositions.kull_flach import Decomposition

LINES = 8
"""About as many lines of equal score are drawn."""

PLACES = (
    (8, 0, "left", "center"),
    (-8, 0, "right", "center"),
    (0, 8, "center", "bottom"),
    (0, -8, "center", "top"),
    (6, -6, "left", "top"),
    (6, 6, "left", "bottom"),
    (-6, -6, "right", "top"),
    (-6, 6, "right", "bottom"),
)
"""Where a name stands beside its marker, in points: the first place that is free is taken."""

PLACES_BY_DISTANCE = tuple((far * x, far * y, ha, va) for far in (1.0, 2.2, 3.6) for x, y, ha, va in PLACES)


def plot_mcb_dsc(decompositions: Mapping[str, Decomposition], *, ax: Any = None) -> Any:
    """Draw forecasts by miscalibration and discrimination, over lines of equal score.

    Parameters
    ----------
    decompositions : dict of name to Decomposition
        Of forecasts of the same events, as `corp_decomposition` makes them.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Raises
    ------
    TypeError
        If it is no dict.
    ValueError
        If there is no forecast, or if they are not CORP decompositions of one score of the same events.

    Notes
    -----
    The best forecasts stand at the upper left. A score is miscalibration - discrimination + uncertainty, and the uncertainty
    is the same for all: scores are equal along lines that rise by one in one, and lower toward the upper left. Recalibration
    moves a forecast to the left, without a loss of discrimination if it keeps the order.

    References
    ----------
    Dimitriadis, Gneiting, Jordan, Vogel, Evaluating probabilistic classifiers: the triptych, International Journal of
    Forecasting 2024.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.metrics import corp_decomposition
    >>> from calibrant.plots import plot_mcb_dsc
    >>> y, prob = load_digits_forecast()
    >>> ax = plot_mcb_dsc({"digits": corp_decomposition(y, prob)})
    """
    import matplotlib.pyplot as plt

    _require_comparable(decompositions)
    if ax is None:
        _, ax = plt.subplots(figsize=(5.6, 4.6), layout="constrained")
    found = list(decompositions.values())
    mcb, dsc = (np.array([d[term] for d in found]) for term in ("miscalibration", "discrimination"))
    for number, (x, y) in enumerate(zip(mcb, dsc, strict=True)):
        ax.plot(x, y, _style.marker(number), color=_style.colour(number), markersize=7, zorder=3)
    _set_limits(ax, mcb, dsc)
    _draw_scores(ax, found[0]["uncertainty"])
    ax.set(xlabel="miscalibration (MCB)", ylabel="discrimination (DSC)")
    ax.set_title(f"score {found[0].score}, uncertainty {found[0]['uncertainty']:.4g}", fontsize="medium", pad=16)
    _write_names(ax, list(decompositions), mcb, dsc)
    return ax


def _require_comparable(decompositions: Mapping[str, Decomposition]) -> None:
    require(
        isinstance(decompositions, Mapping),
        "decompositions must be a dict of name to Decomposition",
        value=decompositions,
        hint="Pass {'name': corp_decomposition(y_true, y_prob)}",
        error=TypeError,
    )
    require(
        decompositions,
        "decompositions must hold at least one forecast",
        got="none",
        hint="Pass {'name': corp_decomposition(y_true, y_prob)}",
    )
    terms = {name: [term for term, _ in d.terms] for name, d in decompositions.items()}
    for name, names in terms.items():
        require(
            names == ["miscalibration", "discrimination", "uncertainty"],
            "decompositions must be made by corp_decomposition",
            got=f"{names} for {name!r}",
            hint="Use that",
        )
    scores = sorted({d.score for d in decompositions.values()})
    require(
        len(scores) <= 1,
        "decompositions must be of one score",
        got=f"{', '.join(scores)}",
        hint="Draw each score by itself",
    )
    uncertainty = np.array([d["uncertainty"] for d in decompositions.values()])
    if np.ptp(uncertainty) > 1e-9:
        refuse(
            "forecasts must be of the same events",
            got=f"uncertainties from {uncertainty.min():.6g} to {uncertainty.max():.6g}",
            hint="Use the same rows, and a notion whose events do not depend on the forecast",
        )


def _set_limits(ax: Any, mcb: Any, dsc: Any) -> None:
    """Leave room about the markers for their names; miscalibration begins at zero."""
    width, height = max(mcb.max(), 1e-6), max(np.ptp(dsc), 0.5 * mcb.max(), 1e-6)
    ax.set_xlim(-0.06 * width, 1.3 * width)
    ax.set_ylim(max(-0.06 * height, dsc.min() - 0.35 * height), dsc.max() + 0.35 * height)


def _draw_scores(ax: Any, uncertainty: float) -> None:
    """Draw lines of equal score, each with its score where it leaves the Axes."""
    from matplotlib.ticker import MaxNLocator

    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    scores = MaxNLocator(LINES).tick_values(uncertainty - top, uncertainty + right - bottom)
    for score in scores:
        intercept = uncertainty - score  # discrimination where miscalibration is zero
        x = np.clip(np.array([bottom, top]) - intercept, left, right)
        y = x + intercept
        if x[1] - x[0] <= 0.02 * (right - left):
            continue
        ax.plot(x, y, color=_style.IDEAL, linewidth=0.7, zorder=1)
        ends_on_top = y[1] >= top - 1e-9 * (top - bottom)
        ax.annotate(
            f"{score:.6g}",
            (x[1], y[1]),
            xytext=(0, 2) if ends_on_top else (3, 0),
            textcoords="offset points",
            ha="center" if ends_on_top else "left",
            va="bottom" if ends_on_top else "center",
            fontsize="x-small",
            color=_style.IDEAL,
            annotation_clip=False,
        )
    ax.set(xlim=(left, right), ylim=(bottom, top))


def _write_names(ax: Any, names: list[str], mcb: Any, dsc: Any) -> None:
    """Write each name beside its marker, in the first place where it covers no marker and no other name, or the least."""
    from matplotlib.patheffects import withStroke

    ax.figure.canvas.draw()  # the layout decides what covers what
    markers = ax.transData.transform(np.column_stack([mcb, dsc]))
    taken: list[Any] = []
    for name, *at in zip(names, mcb, dsc, strict=True):
        text = ax.annotate(name, at, xytext=(0, 0), textcoords="offset points", fontsize="small", zorder=4)
        text.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
        put_beside(text, PLACES_BY_DISTANCE, markers, taken, ax.bbox)
        taken.append(text.get_window_extent())
        tie(ax, text)
