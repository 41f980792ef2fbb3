"""How calibrant's pictures look. The only place that knows a colour."""

from __future__ import annotations

# Okabe and Ito's palette, which people with any colour vision can tell apart; darkest first, so that lines read on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
IDEAL = "#7F7F7F"
GRID = "#E5E5E5"

FILL = "#9CC5E0"
"""Areas behind lines: the first colour, paler."""

GAP = "#D55E00"
GAP_FILL = "#F2C9AC"
"""What is missing or too much: its edge, and its area."""

BAND = "#E0E0E0"
"""Bands and bars behind the data, such as what is expected under calibration."""

CHANGE = "RdBu_r"
"""Colour map of what falls (blue) and rises (red), white at zero; told apart also without red or green."""

CERTAIN = ("#7733FF", "#FFD073", "#D92B2B", "#007373")
"""The certain forecasts of three and four classes: their mixtures differ, whatever one's colour vision, and none is muddy."""

RGB = ("#FF0000", "#00FF00", "#0000FF", "#000000")
"""The same where red, green and blue are the probabilities themselves."""

VIEW = (24.0, -42.0)
"""Height and turn, in degrees, from which a tetrahedron is seen: no corner hides behind another."""


def dashes(number: int, n_lines: int) -> tuple[float, tuple[float, float]]:
    """Return the dashes of one of several lines, which leave room for those of the others where lines lie on each other."""
    return 4.0 * number, (4.0, 4.0 * max(n_lines - 1, 1))


def colour(number: int) -> str:
    """Colour of the forecast of that number."""
    return COLOURS[number % len(COLOURS)]


def marker(number: int) -> str:
    """Marker of the forecast of that number."""
    return MARKERS[number % len(MARKERS)]
