"""Guarantees of binning: bounds that hold with a stated probability."""
