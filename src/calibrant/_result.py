"""What results share: read-only arrays and a way into data frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, TypeVar, cast

import numpy as np

A = TypeVar("A", bound=np.generic)


def read_only(array: np.ndarray[Any, np.dtype[A]]) -> np.ndarray[Any, np.dtype[A]]:
    """Return a view that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


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
