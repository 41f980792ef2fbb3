"""How much evidence weighted rows are, where a test has a law in formulas.

Whole weights are numbers of equal rows, here as everywhere. Other weights say how much a row counts and not how often it was
seen: each row is one observation still. (Chi-squared tests that draw labels do the same. Other tests that draw labels move a
row with its weight, whatever the weight, but for errors that count rejected predictions.)
"""

from __future__ import annotations

from calibrant._core.links import FloatArray
from calibrant._core.problem import are_counts, is_unit_weight


def assumption(weight: FloatArray) -> tuple[str, ...]:
    """Return what has to be assumed of weights, in words; nothing of equal ones."""
    if is_unit_weight(weight):
        return ()
    if are_counts(weight):
        return ("Weights are numbers of equal, independent rows.",)
    return ("Weights do not depend on the labels.",)
