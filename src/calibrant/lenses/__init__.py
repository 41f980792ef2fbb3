"""Lenses: linear ways to look at the residuals of a forecast along its score. Of each come a metric, a curve and a test."""
