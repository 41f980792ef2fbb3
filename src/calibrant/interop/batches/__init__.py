"""Predictions that are read in batches: from files, streams of Arrow tables, iterators and functions that give them."""

from calibrant.interop.batches.in_memory import Batches

__all__ = ["Batches"]
