"""Evidence scaling on networks that others trained: log loss on new rows, and the time of a fit."""
