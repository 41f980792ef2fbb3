"""The squared kernel calibration error: sums over pairs of rows with similar predictions."""
