"""Isotonic recursive partitioning of one score by its definition: all cuts of all regions, of those that keep the order."""

from fractions import Fraction
from itertools import pairwise

from reference import isotonic
from reference.near_isotonic import points


def grow(score, outcome, weight, max_bins=None):
    """Return the regions after each cut, as lists of distinct scores, the lowest score above each cut, and what it gained.

    Numbers are fractions: equal gains are equal.
    """
    distinct, *sums = points(score, outcome, weight)
    mass, events = (dict(zip(distinct, of_each, strict=True)) for of_each in sums)
    total = sum(mass.values())

    def size(scores):
        return sum(mass[d] for d in scores)

    def rate(scores):
        return sum(events[d] for d in scores) / size(scores)

    def gain(region, parts):
        """Twice: the rates of both classes differ by as much."""
        return sum(2 * size(part) * abs(rate(region) - rate(part)) for part in parts)

    def is_monotone(regions):
        rates = [rate(region) for region in regions]
        return all(low <= high for low, high in pairwise(rates))

    regions, stages, thresholds, gains = [distinct], [[distinct]], [], []
    while max_bins is None or len(regions) < max_bins:
        best = None
        for number, region in enumerate(regions):
            for at in range(1, len(region)):
                parts = [region[:at], region[at:]]
                after = [*regions[:number], *parts, *regions[number + 1 :]]
                if is_monotone(after):
                    m = gain(region, parts)
                    if m > 0 and (best is None or m > best[0]):
                        best = (m, after, region[at])
        if best is None:
            break
        regions = best[1]
        stages.append(regions)
        thresholds.append(best[2])
        gains.append(best[0] / total)
    return stages, thresholds, gains


def values(score, outcome, weight, regions, smoothing=0):
    """Return the value of each region: so many rows of each class more, out-of-order neighbours pooled, then the event rate."""
    more, place = Fraction(smoothing), {s: at for at, region in enumerate(regions) for s in region}
    at, numbers = [place[s] for s in score], list(range(len(regions)))
    outcomes = [*map(int, outcome), *(0 for _ in numbers), *(1 for _ in numbers)]
    _, pooled = isotonic.fit(at + 2 * numbers, outcomes, [*map(Fraction, weight), *(more for _ in 2 * numbers)])
    return [float(value) for value in pooled]


def predict(regions, value, score):
    """Value of the last region that begins at or below the score; of the first one below all."""
    held = [v for region, v in zip(regions, value, strict=True) if region[0] <= score]
    return held[-1] if held else value[0]
