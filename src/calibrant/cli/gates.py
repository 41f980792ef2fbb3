"""Conditions such as ``ece.lower > 0.02`` under which a command fails. They are parsed, and nothing is evaluated."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from calibrant.assessment import Assessment

Gate = tuple[str, str, str, float]

FIELDS = ("value", "lower", "upper", "debiased", "noise_floor", "detectable", "pvalue")

NUMBER = r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"

GATE = re.compile(rf"\s*([a-z][a-z0-9-]*)(?:\.({'|'.join(FIELDS)}))?\s*(<=|>=|<|>)\s*" + NUMBER + r"\s*")


def parse_gate(text: str) -> Gate:
    """Parse ``METRIC[.FIELD] OP NUMBER``. Nothing is evaluated."""
    from calibrant._registry import find

    match = GATE.fullmatch(text)
    if match is None:
        raise ValueError(f"--fail-if must read METRIC[.FIELD] OP NUMBER; got {text!r}. For example 'ece > 0.05'.")
    metric, field, comparison, number = match.groups()
    find("metric", metric)
    return metric, field or "value", comparison, float(number)


def gate_fails(gate: Gate, result: Assessment) -> bool:
    """Whether the condition of a gate holds."""
    metric, field, comparison, number = gate
    found = getattr(result[metric], field)
    if found is None:
        others = [name for name in FIELDS if getattr(result[metric], name) is not None]
        raise ValueError(f"--fail-if needs a figure; {metric} has no {field}. Use its {', '.join(others)}.")
    return bool({"<": found < number, ">": found > number, "<=": found <= number, ">=": found >= number}[comparison])
