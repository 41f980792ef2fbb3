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
