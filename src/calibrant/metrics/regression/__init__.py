"""Slope, intercepts and observed/expected ratio, and how far each row moves them."""
