"""A call as source text: what is printed when it fails is what was run."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

IMPORTS = """import datetime as dt, numpy as np, pandas as pd, polars as pl, pyarrow as pa, scipy.sparse as sp, calibrant
from decimal import Decimal
from fractions import Fraction"""


@dataclass(frozen=True)
class Case:
    """Lines that make the arguments, and an expression that is the call."""

    name: str
    """The public name that is called."""
    lines: tuple[str, ...]
    call: str
    refuse: str = ""
    """Why the call must be refused; empty where it need not be."""
    twin: tuple[str, ...] = ()
    """Lines that make other arguments of which the value must be the same."""
    because: str = ""
    """Why it must be the same."""

    @property
    def snippet(self) -> str:
        """What a person pastes to see it happen."""
        twin = [f"# {self.because}: the same value is due after", *self.twin, self.call] if self.twin else []
        return "\n".join([IMPORTS, *self.lines, self.call, *twin])


@cache
def _names() -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(IMPORTS, names)
    return names


def made(lines: tuple[str, ...]) -> dict[str, Any]:
    """Run lines, and return the names that they made."""
    names = dict(_names())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what NumPy says of a hostile number is not said by the call
        exec("\n".join(lines), names)
    return names
