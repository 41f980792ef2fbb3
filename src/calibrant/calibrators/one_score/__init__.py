"""Calibrators of the probability of one event."""
