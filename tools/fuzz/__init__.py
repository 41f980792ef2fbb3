"""Random calls of everything public, valid and hostile, each judged by the laws that every call keeps.

`python -m tools.fuzz SECONDS SEED` draws calls until the time is over, and prints each call that breaks a law as lines
that can be pasted into Python.
"""
