"""How calibrant's pictures look. The only place that knows a colour."""

from __future__ import annotations

# Okabe and Ito's palette, which people with any colour vision can tell apart; darkest first, so that lines read on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
IDEAL = "#7F7F7F"
GRID = "#E5E5E5"
