"""Sampling noise of sums: draws of labels and of rows."""
