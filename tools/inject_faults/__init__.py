"""Accidents while a file is written: full disks, signals, two writers, strange places and closed pipes.

`python -m tools.inject_faults [SECONDS] [SEED]` runs every command that writes, and every function of Python that does, into
each kind of accident. Afterwards the output must be as it was before, or whole; nothing else may lie beside it; and the
command must have said in one sentence what happened.
"""
