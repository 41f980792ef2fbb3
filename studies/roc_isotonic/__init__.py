"""Classifier calibration with ROC-regularised isotonic regression: Berta, Bach and Jordan, AISTATS 2024."""
