"""Brownian motion between two walls, by reflection: what the laws of its largest distance and of its range come from."""

from statistics import NormalDist

from scipy.integrate import quad

phi = NormalDist().cdf


def stays_between(low, high, images=60):
    """Probability that a path that starts at 0 touches neither ``low`` < 0 nor ``high`` > 0 before time 1."""
    width = high - low
    total = 0.0
    for k in range(-images, images + 1):
        start, mirrored = 2 * k * width, 2 * high + 2 * k * width
        total += phi(high - start) - phi(low - start) - phi(high - mirrored) + phi(low - mirrored)
    return total


def distance_at_most(x):
    return stays_between(-x, x)


def range_at_most(r, step=1e-4):
    """All walls at distance r: the integral over their position is E max(r - range, 0), whose derivative is the law."""

    def mean_room(width):
        return quad(lambda a: stays_between(-a, width - a), 0.0, width, epsabs=1e-13, epsrel=1e-13)[0]

    return (mean_room(r + step) - mean_room(r - step)) / (2 * step)
