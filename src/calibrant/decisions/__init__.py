"""Decisions from calibrated probabilities: when errors differ in cost, and when the shares of the classes change."""
