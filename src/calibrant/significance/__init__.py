"""Tests of calibration: a statistic, its law if the forecast were calibrated, a p-value, and what was assumed."""
