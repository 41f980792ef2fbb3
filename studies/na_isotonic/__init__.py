"""Normalisation-aware isotonic calibration: Arad and Rosset, ICML 2025."""
