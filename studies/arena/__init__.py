"""Every calibrator on every forecast at hand: the comparison, the harm of few rows, the advice."""
