"""Maps that calibrate predicted probabilities, one method a file: scikit-learn estimators whose X is a forecast."""
