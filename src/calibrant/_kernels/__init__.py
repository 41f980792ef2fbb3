"""Compiled loops: arrays in, arrays out; no checks, no defaults, no objects, no randomness.

Import a kernel inside the function that calls it: numba loads with the first kernel and not before.
"""
