"""What results share: read-only arrays, a way into data frames, and how p-values are printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, Context, Decimal
from importlib.util import find_spec
from typing import Any, TypeVar, cast

import numpy as np

A = TypeVar("A", bound=np.generic)


def read_only(array: np.ndarray[Any, np.dtype[A]]) -> np.ndarray[Any, np.dtype[A]]:
    """Return a view that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def shown_pvalue(
    pvalue: float, least: float | None, digits: str = ".4g", *, name: str = "", equals: str = " = "
) -> str:
    """Return a p-value in words; one that is the least that its draws can show is an upper bound, rounded up: "<= 0.002".

    ``name`` is what stands before it, such as "p", and ``equals`` the sign between the two.
    """
    if least is not None and np.isclose(pvalue, least, rtol=1e-12, atol=0.0):
        bound = Decimal(repr(float(pvalue))).normalize(Context(prec=2, rounding=ROUND_CEILING))
        return f"{name}{equals.replace('=', '<=')}{float(bound):g}" if name else f"<= {float(bound):g}"
    text = f"{pvalue:{digits}}"
    if pvalue > 0 and float(text) == 0:  # a law in formulas has p-values of any size
        text = f"{pvalue:.1e}"
    return f"{name}{equals}{text}" if name else text


def frame(columns: Mapping[str, Sequence[Any] | np.ndarray[Any, Any]], backend: str | None = None) -> Any:
    """Return a data frame of the asked backend, or of the first of pandas, polars and pyarrow that is installed."""
    import narwhals as nw

    backends = ("pandas", "polars", "pyarrow") if backend is None else (backend,)
    installed = next((name for name in backends if find_spec(name)), None)
    if installed is None:
        raise ImportError(
            f"to_frame needs one of {', '.join(backends)}; none is installed. Install one: pip install 'calibrant[table]'"
        )
    plain = {key: np.asarray(values).tolist() for key, values in columns.items()}
    return nw.from_dict(plain, backend=cast("Any", installed)).to_native()
