"""Pictures of results, with matplotlib. They draw what a result holds and compute nothing."""
