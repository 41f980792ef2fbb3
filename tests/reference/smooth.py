"""The smooth calibration error from the definition: a Gaussian at each row and at its mirror images, integrals by its
distribution function between the zeros, which bisection finds."""

import math
from itertools import pairwise

from scipy.optimize import bisect

PLACES = 400


def images(p):
    """A row and its mirror images."""
    return [at for image in range(-6, 7) for at in (2 * image + p, 2 * image - p)]


def kernel(t, p, sigma):
    """Gaussian about p, reflected at 0 and 1 without end."""
    return sum(math.exp(-0.5 * ((t - at) / sigma) ** 2) for at in images(p)) / (sigma * math.sqrt(2 * math.pi))


def kernel_up_to(t, p, sigma):
    root = sigma * math.sqrt(2)
    return sum(math.erf((t - at) / root) - math.erf(-at / root) for at in images(p)) / 2


def integral(y, p, w, sigma):
    """Integral over [0, 1] of abs(smoothed residuals)."""
    mass = {}
    for yi, pi, wi in zip(y, p, w, strict=True):
        mass[pi] = mass.get(pi, 0.0) + wi * (yi - pi) / sum(w)

    def smoothed(t):
        return sum(m * kernel(t, at, sigma) for at, m in mass.items())

    def area(t):
        return sum(m * kernel_up_to(t, at, sigma) for at, m in mass.items())

    places = [k / PLACES for k in range(PLACES + 1)]
    values = [smoothed(t) for t in places]
    cuts = [0.0]
    for left, right, a, b in zip(places, places[1:], values, values[1:], strict=False):
        if (a > 0) != (b > 0):  # far from all scores both are 0
            cuts.append(bisect(smoothed, left, right))
    areas = [area(t) for t in [*cuts, 1.0]]
    return sum(abs(b - a) for a, b in pairwise(areas))


def error(y, p, w):
    """Where the integral equals the bandwidth, by bisection to 1e-9."""
    low, high = 0.0, 1.0
    for _ in range(30):
        middle = 0.5 * (low + high)
        if integral(y, p, w, middle) > middle:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)
