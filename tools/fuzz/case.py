"""A call as source text, and the numbers in what it returns. Of calibrant it takes public names alone."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

IMPORTS = """import datetime as dt, numpy as np, pandas as pd, polars as pl, pyarrow as pa, scipy.sparse as sp, calibrant
from decimal import Decimal
from fractions import Fraction
from sklearn.naive_bayes import GaussianNB"""
NAMES: dict[str, Any] = {}
exec(IMPORTS, NAMES)


@dataclass(frozen=True)
class Case:
    """Lines that make the arguments, and an expression that is the call: what is printed when it fails is what was run."""

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


def made(lines: tuple[str, ...]) -> dict[str, Any]:
    """Run lines, and return the names that they made."""
    names = dict(NAMES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what NumPy says of a hostile number is not said by the call
        exec("\n".join(lines), names)
    return names


def numbers(value: Any, path: str = "", owners: tuple[type, ...] = ()) -> Iterator[tuple[str, Any, tuple[type, ...]]]:
    """Yield each number or array of numbers in a result, where it stands, and the classes around it."""
    if isinstance(value, (int, float, np.number)) or (isinstance(value, np.ndarray) and value.dtype.kind in "fiub"):
        yield path, np.asarray(value, dtype=float), owners
    elif is_dataclass(value) and not isinstance(value, type):
        for one in fields(value):
            yield from numbers(getattr(value, one.name), f"{path}.{one.name}", (*owners, type(value)))
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from numbers(one, f"{path}[{key!r}]", owners)
    elif isinstance(value, (list, tuple)):
        for k, one in enumerate(value):
            yield from numbers(one, f"{path}[{k}]", owners)
