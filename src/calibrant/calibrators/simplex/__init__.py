"""Calibrators of whole rows of probabilities."""
