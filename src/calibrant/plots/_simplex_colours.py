"""Colours of vectors of three or four probabilities: mixtures of the colours of the corners."""

from __future__ import annotations

from typing import Literal

import numpy as np

from calibrant._links import FloatArray
from calibrant.plots import _style

Colours = Literal["safe", "rgb"]

CERTAIN: dict[Colours, tuple[str, ...]] = {"safe": _style.CERTAIN, "rgb": _style.RGB}
"""Colours of the certain forecasts."""

GAMMA: dict[Colours, float] = {"safe": 2.2, "rgb": 1.0}
"""Power by which the numbers of a colour become what is mixed: light, or the numbers themselves."""

BRIGHTNESS = np.array([0.299, 0.587, 0.114])
"""What red, green and blue add to how bright a colour looks."""


def mixed(vectors: FloatArray, colours: Colours = "safe") -> FloatArray:
    """Mix the colours of the corners: red, green and blue of each vector of probabilities, in [0, 1]."""
    certain = np.array([list(bytes.fromhex(colour[1:])) for colour in CERTAIN[colours][: vectors.shape[1]]]) / 255.0
    light = vectors @ certain ** GAMMA[colours]
    mixture: FloatArray = np.clip(light, 0.0, 1.0) ** (1.0 / GAMMA[colours])
    return mixture
