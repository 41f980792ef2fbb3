"""Calibrators around others: by notion, of a classifier, never worse than before."""
