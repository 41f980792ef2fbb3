"""Engines: Dask, Spark, DuckDB and polars, each of which holds rows in its own way. One file an engine."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["module_of"]

MODULES = ("dask", "duckdb", "polars", "pyspark")
"""First names of the modules of objects that an engine holds."""


def module_of(source: Any) -> Any:
    """Return the module that knows an object of an engine, or a tuple of arrays of it; None of anything else."""
    one = source[0] if isinstance(source, tuple) and source else source
    name = type(one).__module__.split(".")[0]
    if name not in MODULES or (name == "polars" and hasattr(one, "__arrow_c_stream__")):  # a data frame is in memory
        return None
    return import_module(f"calibrant.interop.engines.{name}")
