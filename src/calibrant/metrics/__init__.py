"""Numbers that say how far a forecast is from the outcomes."""
