"""How a kernel is compiled. The machine code is cached where a place to write to can be found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile without the GIL, cached on disk if that is possible."""
    try:
        return cast("F", njit(cache=True, nogil=True)(function))
    except RuntimeError:
        # numba refuses to decorate when neither the package's directory nor the user's cache can be written to
        # (a read-only installation in a container): then each process compiles once for itself.
        return cast("F", njit(nogil=True)(function))
