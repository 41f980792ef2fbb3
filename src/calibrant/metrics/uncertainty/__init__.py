"""How sure a metric is: its noise under calibration, its interval, and its value without bias."""
