"""The Wilson interval: the rates p that solve (events / n - p)^2 = z^2 p (1 - p) / n."""

import math
from statistics import NormalDist


def interval(events, n, level):
    z = NormalDist().inv_cdf(1.0 - level / 2.0)
    a = n + z * z
    b = -(2.0 * events + z * z)
    c = events * events / n
    root = math.sqrt(b * b - 4.0 * a * c)
    return (-b - root) / (2.0 * a), (-b + root) / (2.0 * a)
