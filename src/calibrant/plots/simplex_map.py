"""Heat maps on the triangle of three classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant._core.parameters import require
from calibrant.plots import _style
from calibrant.plots._triangle import ABOVE, BESIDE, TRIANGLE, cut

if TYPE_CHECKING:
    from calibrant.curves.simplex_map import SimplexMap


def plot_simplex_map(result: SimplexMap, *, axes: Any = None, norm: Any = None) -> Any:
    """Draw where a calibrator raises and where it lowers the probability of each class, one triangle a class.

    Parameters
    ----------
    result : SimplexMap
        Of one calibrator.
    axes : sequence of three matplotlib Axes, optional
        Where to draw; a new figure by default.
    norm : matplotlib Normalize, optional
        Which changes the colours span, in all three triangles; pass one norm to several pictures that are to be compared. By
        default from minus to plus the largest change, in equal steps.

    Returns
    -------
    ndarray of matplotlib Axes
        One a class. The black line is where the probability of the class stays as it is.

    Raises
    ------
    ValueError
        If ``axes`` are not three.

    Examples
    --------
    >>> from calibrant.curves import simplex_map
    >>> axes = simplex_map(lambda prob: prob**2 / (prob**2).sum(axis=1, keepdims=True)).plot()
    """
    import matplotlib.pyplot as plt
    from matplotlib.colors import Normalize

    if axes is None:
        axes = plt.subplots(1, 3, figsize=(9.6, 3.1), layout="constrained")[1]
    axes = np.ravel(axes)
    require(axes.size == 3, "axes must be three, one a class", value=axes.size, hint="Leave axes out, or pass three")
    x, y = (result.prob @ TRIANGLE).T
    most = float(np.abs(result.change).max()) or 1.0
    scale = Normalize(-most, most) if norm is None else norm
    for j, ax in enumerate(axes):
        heat = ax.tripcolor(x, y, result.change[:, j], cmap=_style.CHANGE, norm=scale, shading="gouraud")
        if result.change[:, j].min() < 0 < result.change[:, j].max():
            ax.tricontour(x, y, result.change[:, j], levels=[0.0], colors="black", linewidths=1)
        ax.plot(*np.vstack([TRIANGLE, TRIANGLE[:1]]).T, color=_style.IDEAL, linewidth=1)
        for name, (corner_x, corner_y), side in zip(result.classes, TRIANGLE, ("top", "top", "bottom"), strict=True):
            words, away = (cut(name, ABOVE), 0.03) if side == "bottom" else (cut(name, BESIDE, lines=2), -0.03)
            ax.text(corner_x, corner_y + away, words, ha="center", va=side, parse_math=False)
        ax.set_title(f"class {cut(result.classes[j], ABOVE)}", fontsize="medium", pad=4, parse_math=False)
        ax.set(aspect="equal", xlim=(-0.05, 1.05), ylim=(-0.12, TRIANGLE[2, 1] + 0.1))
        ax.set_axis_off()
    axes[0].figure.colorbar(heat, ax=list(axes), label="change of probability", shrink=0.85)
    return axes
