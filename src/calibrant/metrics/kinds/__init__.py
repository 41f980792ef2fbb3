"""The three kinds of metrics: the size of what a lens sees, the mean of one value a row, and its own."""
