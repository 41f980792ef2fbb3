"""Forecasts to try things on: loaded ones, and made ones whose truth is known in closed form."""
