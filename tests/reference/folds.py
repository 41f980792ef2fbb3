"""Folds of cross-validation from their definition: equal rows are dealt out one by one, in plain loops."""

import struct
from collections import defaultdict

N_FOLDS = 5
WORD = 1 << 64


def folds(prob, label, weight):
    """Return the weight of each row that is left out, for each fold with some rows in and some out."""
    unit = 1.0 if all(w == int(w) for w in weight) else len(weight) / sum(weight)
    alike = defaultdict(list)
    for i, (row, y) in enumerate(zip(prob, label, strict=True)):
        numbers = [single(p) for p in row]
        alike[tuple(sorted(numbers)), numbers[y]].append(i)
    found = [[0.0] * len(weight) for _ in range(N_FOLDS)]
    for (numbers, occurred), rows in alike.items():
        total = sum(weight[i] for i in rows)
        for fold, number in dealt(total * unit, hashed(numbers, occurred) % N_FOLDS).items():
            for i in rows:
                found[fold][i] = weight[i] * number / (total * unit)
    return [out for out in found if any(out) and any(o < 0.999999 * w for o, w in zip(out, weight, strict=True))]


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
