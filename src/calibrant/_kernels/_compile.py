"""How a kernel is compiled, and the arrays that it takes. The machine code is cached where a place to write to can be found."""

import warnings
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

COMPILED = True

try:
    from numba import njit
except ImportError:  # numba has no build for Pyodide, which runs Python in a browser
    COMPILED = False
    warnings.warn(
        "numba is not installed, so compiled loops run as plain Python. Fits of parameters and the default calibrator take as "
        "long as with it, `assess` about five times as long, and NA-FIR, SCIR, recursive partitioning, kernel tests and a "
        "million rows 40 times or more.",
        RuntimeWarning,
        stacklevel=2,
    )

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
LongArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile without the GIL, cached on disk if that is possible."""
    if not COMPILED:
        return np.errstate(over="ignore")(function)  # whole numbers wrap around, as compiled
    try:
        return cast("F", njit(cache=True, nogil=True)(function))
    except RuntimeError:
        # numba refuses to decorate when neither the package's directory nor the user's cache can be written to
        # (a read-only installation in a container): then each process compiles once for itself.
        return cast("F", njit(nogil=True)(function))
