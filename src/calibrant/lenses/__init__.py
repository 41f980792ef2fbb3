"""Lenses: linear summaries of the residuals of a forecast along its score. Each gives a metric, a curve and a test."""
