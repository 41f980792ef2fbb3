"""Folds of cross-validation from their definition: equal rows are dealt out one by one, in plain loops."""

import struct
from collections import defaultdict
from fractions import Fraction
from math import gcd

N_FOLDS = 5
WORD = 1 << 64


def folds(prob, label, weight):
    """Return the weight of each row that is left out, for each fold with some rows in and some out."""
    times = observations(prob, label, weight)
    alike = defaultdict(list)
    for i, (row, y) in enumerate(zip(prob, label, strict=True)):
        numbers = [single(p) for p in row]
        alike[tuple(sorted(numbers)), numbers[y]].append(i)
    found = [[0.0] * len(weight) for _ in range(N_FOLDS)]
    for (numbers, occurred), rows in alike.items():
        total = float(round(sum(times[i] for i in rows)))
        for fold, number in dealt(total, hashed(numbers, occurred) % N_FOLDS).items():
            for i in rows:
                found[fold][i] = weight[i] * number / total
    return [out for out in found if any(out) and any(o < 0.999999 * w for o, w in zip(out, weight, strict=True))]


def observations(prob, label, weight):
    """Return how many observations each row is: its count, or its part of the one observation that it is a copy of."""
    times = [Fraction(w) if all(v == int(v) for v in weight) else Fraction(1) for w in weight]
    key = [(tuple(single(p) for p in row), y) for row, y in zip(prob, label, strict=True)]
    of_key = defaultdict(Fraction)
    for k, t in zip(key, times, strict=True):
        of_key[k] += t
    factor = gcd(*map(int, of_key.values())) if len(of_key) >= 20 else 1
    if differ_too_seldom({k: t / factor for k, t in of_key.items()}):
        return [t / of_key[k] for k, t in zip(key, times, strict=True)]
    return [t / factor for t in times]


def differ_too_seldom(of_key):
    """Whether equal forecasts have equal labels much more often than isotonic regression on the highest number says."""
    rows = defaultdict(lambda: [Fraction(0), Fraction(0)])
    for (numbers, y), t in of_key.items():
        rows[numbers][0] += t
        rows[numbers][1] += t * (numbers[y] == max(numbers))
    tops = sorted({max(numbers) for numbers in rows})
    sums = [[sum(r[j] for numbers, r in rows.items() if max(numbers) == top) for j in (0, 1)] for top in tops]

    blocks = []  # event sum, weight and number of scores; of neighbours that fall both are one
    for weight, events in sums:
        blocks.append((events, weight, 1))
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] > blocks[-1][0] * blocks[-2][1]:
            blocks[-2:] = [tuple(map(sum, zip(*blocks[-2:], strict=True)))]
    q = dict(zip(tops, (events / weight for events, weight, n in blocks for _ in range(n)), strict=True))
    differ = sum(right * (n - right) / n for n, right in rows.values())
    expected = sum((n - 1) * q[max(numbers)] * (1 - q[max(numbers)]) for numbers, (n, _) in rows.items())
    return 2 * differ + 2 < expected


def dealt(number, fold):
    """Deal out a number of rows to folds, one each, and at last what is left; a ten-millionth of a row is nothing."""
    held = defaultdict(float)
    while number > 1e-7:
        held[fold % N_FOLDS] += min(number, 1.0)
        number, fold = number - 1.0, fold + 1
    return held


def single(number):
    """Bits of a number in single precision; a negative zero is a zero."""
    return struct.unpack("I", struct.pack("f", number + 0.0))[0]


def hashed(numbers, occurred):
    return mixed((sum(map(mixed, numbers)) + 3 * mixed(occurred)) % WORD)


def mixed(z):
    """SplitMix64: the next number from a state."""
    z = (z + 0x9E3779B97F4A7C15) % WORD
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB % WORD
    return z ^ z >> 31
