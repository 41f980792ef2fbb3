"""Bins with bounds on their sizes: Algorithms 2 and 3 of Matsubara et al. 2023, and the best of all partitions.

Outcomes are in the order of their scores. A partition is a list of sizes.
"""

from fractions import Fraction
from itertools import accumulate


def sizes(outcome, least, most, joins=None):
    """Algorithm 2, line by line, for rows of distinct scores. ``joins(last, tail)`` is the condition of the last step."""
    n = len(outcome)
    if least >= n:
        return [n]
    block = []  # (events, rows)
    for i in range(n - least):
        block.append((outcome[i], 1))
        while len(block) > 1:
            (y0, w0), (y1, w1) = block[-2], block[-1]
            if w0 + w1 > least and (w0 + w1 > most or Fraction(y0, w0) < Fraction(y1, w1)):
                break
            block[-2:] = [(y0 + y1, w0 + w1)]
    last = block[-1][1]
    found = [w for _, w in block]
    if last + least <= most if joins is None else joins(last, least):
        found[-1] += least
    elif least > 0:
        found.append(least)
    return found


def edges(score, sizes):
    """Algorithm 3: edges midway between the scores at which blocks part."""
    ordered = sorted(score)
    return [0.0, *((ordered[at - 1] + ordered[at]) / 2 for at in accumulate(sizes[:-1])), 1.0]


def of_scores(groups, least, most):
    """The rule for scores that hold many rows: (rows, events) of each score; returns the scores of each bin.

    Written from the statement in the docstring of `BoundedIsotonic` with lists of scores for blocks.
    """

    def rows(block):
        return sum(groups[g][0] for g in block)

    def rate(block):
        return Fraction(sum(groups[g][1] for g in block), rows(block))

    tail = []
    for g in reversed(range(len(groups))):
        if rows(tail) >= least:
            break
        tail.insert(0, g)
    body = [g for g in range(len(groups)) if g not in tail]
    if not body or rows(tail) < least:
        return [body + tail]
    blocks = []
    for g in body:
        if blocks and rows(blocks[-1]) < least:
            too_large = rows(blocks[-1] + [g]) > most
            if too_large and len(blocks) > 1 and rows(blocks[-2] + blocks[-1]) <= most:
                blocks[-2:] = [blocks[-2] + blocks[-1]]
                blocks.append([g])
                continue
            blocks[-1] = blocks[-1] + [g]
        else:
            blocks.append([g])
        while len(blocks) > 1:
            both = blocks[-2] + blocks[-1]
            if rows(both) > most or rate(blocks[-2]) < rate(blocks[-1]):
                break
            blocks[-2:] = [both]
    if tail:
        if rows(blocks[-1] + tail) <= most:
            blocks[-1] = blocks[-1] + tail
        elif rows(blocks[-1]) >= least:
            blocks.append(tail)
        elif len(blocks) > 1 and rows(blocks[-2] + blocks[-1]) <= most:
            blocks[-2:] = [blocks[-2] + blocks[-1], tail]
        else:
            blocks[-1] = blocks[-1] + tail
    return blocks


def spread(outcome):
    """Sum of squared distances to the mean: what a bin adds to N times the criterion (eq. 8 and 9)."""
    mean = Fraction(sum(outcome), len(outcome))
    return sum((y - mean) ** 2 for y in outcome)


def criterion(outcome, sizes):
    ends = accumulate(sizes)
    return sum(spread(outcome[end - size : end]) for size, end in zip(sizes, ends, strict=True)) / len(outcome)
