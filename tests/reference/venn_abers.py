"""Venn-Abers from its definition: isotonic regression is fitted anew, twice for every score."""

from reference import isotonic


def interval(score, label, weight, new, more):
    """Fits at a new score that has weight ``more`` and label 0, then label 1."""
    fits = []
    for given in (0, 1):
        distinct, values = isotonic.fit([*score, new], [*label, given], [*weight, more])
        fits.append(values[distinct.index(new)])
    return fits


def merged(p0, p1):
    return p1 / (1 - p0 + p1)


def cross(intervals):
    """Vovk, Petej and Fedorova: geometric means of p1 and of 1 - p0 over the folds, divided by their sum."""
    event = other = 1.0
    for p0, p1 in intervals:
        event *= p1 ** (1 / len(intervals))
        other *= (1 - p0) ** (1 / len(intervals))
    return event / (other + event)
