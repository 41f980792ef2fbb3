"""One table of all metrics, and advice on which calibrator to fit."""
