"""calibrant against its peers, in one run: ``python -m benchmarks``."""
