"""Colours of vectors of three or four probabilities: mixtures of the colours of the corners."""

from __future__ import annotations

from typing import Literal

import numpy as np

from calibrant._core.links import FloatArray
from calibrant.plots import _style

Colours = Literal["safe", "rgb"]

CERTAIN: dict[Colours, tuple[str, ...]] = {"safe": _style.CERTAIN, "rgb": _style.RGB}
"""Colours of the certain forecasts."""

BRIGHTNESS = np.array([0.299, 0.587, 0.114])
"""What red, green and blue add to how bright a colour looks."""

GAMMA = 2.2
"""Power by which the numbers of a colour become light."""

TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
).T
TO_SEEN = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
).T
"""From light to what the cones of an eye take in, and from the cube root of that to what is seen (Ottosson's OKLab)."""


def mixed(vectors: FloatArray, colours: Colours = "safe") -> FloatArray:
    """Mix the colours of the corners: red, green and blue of each vector of probabilities, in [0, 1].

    Safe colours are mixed as they are seen: half way between two colours is half way to the eye, neither darker nor grey.
    """
    certain = np.array([list(bytes.fromhex(colour[1:])) for colour in CERTAIN[colours][: vectors.shape[1]]]) / 255.0
    if colours == "rgb":
        return np.clip(vectors @ certain, 0.0, 1.0)
    seen = vectors @ (np.cbrt(certain**GAMMA @ TO_CONES) @ TO_SEEN)
    light = (seen @ np.linalg.inv(TO_SEEN)) ** 3 @ np.linalg.inv(TO_CONES)
    mixture: FloatArray = np.clip(light, 0.0, 1.0) ** (1.0 / GAMMA)
    return mixture
