"""One table of everything, and which calibrator to take."""
