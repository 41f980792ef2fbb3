"""From calibrated probabilities to decisions: what to do when errors differ in cost, and when classes change their shares."""
