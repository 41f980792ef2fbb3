"""The data behind a diagram, as results that plot themselves."""
