"""Classifier calibration, a survey: Silva Filho et al., Machine Learning 2023."""
