"""One file a library. Each function takes the data and returns the call that is measured: what is made outside of it
(tensors, objects) is not timed.
"""
