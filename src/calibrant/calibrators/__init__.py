"""Maps that repair a forecast, one method a file. They are scikit-learn estimators whose X is a forecast."""
