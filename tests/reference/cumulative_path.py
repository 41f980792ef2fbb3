"""The path of cumulative residuals, and how far a Brownian motion goes, in another form than the library's."""

import math


def path(y, p, w):
    """(score, share, cumulative) at the start and after each distinct score."""
    points = [(min(p), 0.0, 0.0)]
    for s in sorted(set(p)):
        rows = [(yi, pi, wi) for yi, pi, wi in zip(y, p, w, strict=True) if pi <= s]
        share = sum(wi for _, _, wi in rows) / sum(w)
        points.append((s, share, sum(wi * (yi - pi) for yi, pi, wi in rows) / sum(w)))
    return points


def probability_that_a_brownian_motion_goes_beyond(x):
    """Eigenfunctions of the heat equation between two walls at -x and x."""
    stays = sum(
        (-1) ** k / (2 * k + 1) * math.exp(-((2 * k + 1) ** 2) * math.pi**2 / (8.0 * x * x)) for k in range(200)
    )
    return 1.0 - 4.0 / math.pi * stays
