"""Random calls of everything public, valid and hostile, each judged by the laws that every call keeps.

`python -m tools.fuzz SECONDS SEED` draws calls until the time is over, and prints each call that breaks a law as lines
that can be pasted into Python. A call that crashes, or does not return, ends the run; it stands in
calibrant_last_call.py of the folder for temporary files.
"""
