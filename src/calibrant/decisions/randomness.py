"""The source of randomness that a user names."""

from __future__ import annotations

import numpy as np

from calibrant._parameters import whole
from calibrant.resampling import Rng, as_rng


def generator_of(rng: Rng) -> np.random.Generator:
    """Return the generator given, or a new one from a seed; what is neither is refused."""
    if rng is None or isinstance(rng, np.random.Generator):
        return as_rng(rng)
    return as_rng(whole("rng", rng, least=0, hint="Pass a seed such as 0, a numpy.random.Generator, or None"))
