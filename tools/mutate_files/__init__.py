"""Files that were damaged by chance or by intent, each given to whatever reads it.

`python -m tools.mutate_files SECONDS SEED` changes bytes and structure of calibrators, states of monitors, and predictions in
all formats. Each file must be read, or refused in one paragraph with exit code 2: without a traceback, a file left behind, a
crash, more memory than a worker has, or more than some seconds. A state of a monitor that is read must match its checksum.
"""
