"""Isotonic regression in two directions from its definition, in exact fractions, and a certificate of optimality."""

from fractions import Fraction
from math import lcm

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow


def near(score):
    """The nearest multiple of 1e-12, as a float."""
    return float(Fraction(round(score * 10**12), 10**12))


def points(prob, label, weight, *, share, near=near):
    """Return {(score, rank): [weight, weight of events]} over the ranks of all rows but the last.

    Sums are of exact fractions, and those that are ``near`` each other are one.
    """
    found = {}
    for row, y, w in zip(prob, label, weight, strict=True):
        order = sorted(range(len(row)), key=lambda j: -row[j])  # stable: of equal ones the first
        tied = [r for r, j in enumerate(order) if row[j] == row[y]] if share else [order.index(y)]
        score = Fraction(0)
        for r in range(len(row) - 1):
            score += Fraction(row[order[r]])
            occurred = Fraction(sum(place <= r for place in tied), len(tied))
            held = found.setdefault((near(score), r + 1), [Fraction(0), Fraction(0)])
            held[0] += Fraction(w)
            held[1] += Fraction(w) * occurred
    return found


def below(a, b):
    return a[0] <= b[0] and a[1] <= b[1]


def upper_sets(places):
    """Every upper set: a point comes with all that is above it."""
    if not places:
        yield frozenset()
        return
    first, rest = places[0], places[1:]  # nothing else is below the first
    for chosen in upper_sets(rest):
        yield chosen
        if all(other in chosen for other in rest if below(first, other)):
            yield chosen | {first}


def fit(held):
    """Value of each point: the largest upper set of most gain over the mean is split off as long as there is one."""
    mass, events = (sum(part) for part in zip(*held.values(), strict=True))
    mean = events / mass

    def gain(chosen):
        return sum(held[p][1] - mean * held[p][0] for p in chosen), len(chosen)

    best = max(upper_sets(sorted(held)), key=gain)
    if gain(best)[0] == 0:
        return dict.fromkeys(held, mean)
    above = {p: v for p, v in held.items() if p in best}
    return fit(above) | fit({p: v for p, v in held.items() if p not in best})


def fit_by_minimum_cuts(held):
    """The same, with the upper set of most gain found by a minimum cut, as in the paper's comparison. Weights are whole."""
    places = sorted(held)
    mass, events = (sum(part) for part in zip(*held.values(), strict=True))
    unit = lcm(*(held[p][1].denominator for p in places))
    gains = [int(unit * (held[p][1] * mass - events * held[p][0])) for p in places]
    source, sink, endless = len(places), len(places) + 1, sum(abs(gain) for gain in gains) + 1
    capacity = np.zeros((sink + 1, sink + 1), dtype=np.int32)
    for i, gain in enumerate(gains):
        capacity[source, i], capacity[i, sink] = max(gain, 0), max(-gain, 0)
        for j, other in enumerate(places):
            capacity[i, j] = endless * (i != j and below(places[i], other))
    flow = maximum_flow(csr_array(capacity), source, sink)
    if flow.flow_value == sum(gain for gain in gains if gain > 0):
        return dict.fromkeys(held, events / mass)
    left = csr_array(capacity) - flow.flow
    left.eliminate_zeros()
    reached = set(breadth_first_order(left, source, return_predecessors=False).tolist())
    above = {p: held[p] for i, p in enumerate(places) if i in reached}
    return fit_by_minimum_cuts(above) | fit_by_minimum_cuts({p: v for p, v in held.items() if p not in above})


def value_at(fitted, score, rank):
    """The largest value at or below, and where there is none the lowest of all."""
    return max((v for p, v in fitted.items() if below(p, (score, rank))), default=min(fitted.values()))


def calibrated(fitted, prob, epsilon, *, share, spread=False, near=near):
    rows = []
    for row in prob:
        raised = rises(fitted, row, share=share, spread=spread, near=near)
        total = sum(v + epsilon for v in raised)
        rows.append([(v + epsilon) / total for v in raised])
    return np.array(rows)


def rises(fitted, row, *, share, spread, near):
    """By how much the map rises at each class; what ties, or waits for a rise, gets it together."""
    order = sorted(range(len(row)), key=lambda j: -row[j])
    score, last, raised, waiting = Fraction(0), 0, [0.0] * len(row), []
    for r, j in enumerate(order):
        score += Fraction(row[j])
        waiting.append(j)
        is_last = r + 1 == len(row)
        if share and not is_last and row[order[r + 1]] == row[j]:
            continue
        here = 1 if is_last else value_at(fitted, near(score), r + 1)
        if spread and here == last and not is_last:
            continue
        mass = sum(row[own] for own in waiting)
        for own in waiting:
            part = row[own] / mass if spread and mass > 0 else 1 / len(waiting)
            raised[own] = float(here - last) * part
        last, waiting = here, []
    return raised
