"""Receiver operating characteristic: points, hulls, surfaces and what lies under them."""
