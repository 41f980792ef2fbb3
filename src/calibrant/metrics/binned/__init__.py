"""Calibration errors over bins: the general one, and the named ones, each a point of it."""
