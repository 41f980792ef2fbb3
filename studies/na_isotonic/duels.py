"""Two methods compared on every model: how often the one is better, on which data sets, by how much, and what that decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from scipy.stats import binomtest

from studies.claims import Verdict
from studies.judging import holds, under_all_readings
from studies.na_isotonic.measured import LEVEL
from studies.na_isotonic.ranks import after, data_sets, names, of_data_set

Duel = Mapping[str, Any]
"""Counts of models and data sets, and quartiles of the differences."""

NA_FIR = ("NA-FIR, annealed by 0.001", "NA-FIR, annealed by 0.003", "NA-FIR, annealed by 0.01")
EXACT = "NA-FIR, exact"
SCIR = ("SCIR, 1e-12", "SCIR, 1e-06", "SCIR, 0.0001", "SCIR, 0.001")
MS = ("MS, no penalty",)
"""How the paper can be read: it leaves open by how much annealing changes a value, and which epsilon SCIR adds.

The exact optimum of NA-FIR and the defaults of the library were not run by its authors: they stand beside, and decide nothing.
"""

NLLS = ("NLL", "NLL, 1e-15", "NLL, 1e-07")
"""NLL with probabilities clipped at 1e-12, 1e-15 and 1e-7."""


def readings_of(method: str) -> tuple[str, ...]:
    """The names of a method as the paper can be read."""
    return {"NA-FIR": NA_FIR, "SCIR": SCIR, "MS": MS}.get(method, (method,))


def metrics_of(metric: str, *methods: str) -> tuple[str, ...]:
    """NLL is clipped in three ways where a method predicts zeros."""
    return NLLS if metric == "NLL" and {"FIR", "IR-OvR"} & set(methods) else (metric,)


def model_names() -> list[str]:
    """The models, as a list that JSON holds."""
    return [f"{data_set}, {architecture}" for data_set, architecture in names()]


def duel(metric: str, one: str, other: str) -> Duel:
    """Compare the one with the other: lower is better."""
    return from_differences(after(metric, one) - after(metric, other), [of_data_set(name) for name in data_sets()])


def from_differences(difference: np.ndarray, groups: Sequence[np.ndarray]) -> Duel:
    """Count over models, and over the data sets that the masks select."""
    sign = np.sign(np.where(np.abs(difference) < 1e-12, 0.0, difference))
    by_group = [float(sign[group].sum()) for group in groups]
    low, middle, high = np.quantile(difference, [0.25, 0.5, 0.75])
    return {
        "better": int((sign < 0).sum()),
        "different": int((sign != 0).sum()),
        "ahead": sum(total < 0 for total in by_group),
        "behind": sum(total > 0 for total in by_group),
        "data_sets": len(groups),
        "low": float(low),
        "median": float(middle),
        "high": float(high),
    }


def p_value(found: Duel) -> float:
    """P-value of the sign test over the models on which the two differ."""
    return float(binomtest(found["better"], found["different"]).pvalue) if found["different"] else 1.0


def judged(found: Duel, level: float = LEVEL) -> Verdict:
    """Whether the one is better: by a sign test over models, with more data sets that say so than say the contrary."""
    is_better = 2 * found["better"] > found["different"]
    agreeing, contrary = (found["ahead"], found["behind"]) if is_better else (found["behind"], found["ahead"])
    if p_value(found) > level or agreeing <= contrary:
        return Verdict.OPEN
    return holds(is_better)


def judge_pair(one: str, models: Sequence[str], readings: Mapping[str, Duel], beside: Mapping[str, Duel]) -> Verdict:
    """Judge a pair in every reading of the paper."""
    return under_all_readings(judged(found) for found in readings.values())


def judge_best(models: Sequence[str], readings: Mapping[str, Mapping[str, Duel]], **beside: Any) -> Verdict:
    """Whether a method beats each other one: fails where another clearly beats it, with the level shared among the others.

    ``readings`` has a mapping of opponents for each reading of the method; opponents that differ behind a comma are readings of
    one opponent.
    """
    return under_all_readings(_first(chosen) for duels in readings.values() for chosen in _choices(duels))


def _choices(duels: Mapping[str, Duel]) -> list[tuple[Duel, ...]]:
    """Every way to take one reading of each opponent."""
    of_opponent: dict[str, list[Duel]] = {}
    for name, found in duels.items():
        of_opponent.setdefault(name.split(",")[0], []).append(found)
    return list(product(*of_opponent.values()))


def _first(duels: Sequence[Duel]) -> Verdict:
    if any(judged(found, LEVEL / len(duels)) is Verdict.FAILS for found in duels):
        return Verdict.FAILS
    return Verdict.HOLDS if all(judged(found) is Verdict.HOLDS for found in duels) else Verdict.OPEN


def said(found: Duel) -> str:
    """The counts and the spread of one duel."""
    return (
        f"on {found['better']} of {found['different']} models and {found['ahead']} of {found['data_sets']} data sets "
        f"(sign test p = {p_value(found):.2g}; half of the differences {found['low']:+.4f} to {found['high']:+.4f})"
    )


def words_pair(one: str, models: Sequence[str], readings: Mapping[str, Duel], beside: Mapping[str, Duel]) -> str:
    """Say the first reading in full, the range over all, and what stands beside."""
    text = f"{one} is lower {said(next(iter(readings.values())))}."
    if len(readings) > 1:
        counts = [found["better"] for found in readings.values()]
        n_clear = sum(judged(found) is not Verdict.OPEN for found in readings.values())
        text += f" Over {len(readings)} readings of the paper: on {span(counts)} models, clear in {n_clear} readings."
    for name, found in beside.items():
        text += f" {name}: on {found['better']} of {found['different']}."
    return text


def words_best(models: Sequence[str], readings: Mapping[str, Mapping[str, Duel]], **beside: Any) -> str:
    """Say on how many models the method is lower than each other one, over all readings."""
    parts = [f"{name} on {span(counts)}" for name, counts in _counts(readings).items()]
    return f"Of {len(models)} models lower than {', '.join(parts)} (ranges over the readings of the paper)."


def _counts(readings: Mapping[str, Mapping[str, Duel]]) -> dict[str, list[int]]:
    counts: dict[str, list[int]] = {}
    for duels in readings.values():
        for name, found in duels.items():
            counts.setdefault(name.split(",")[0], []).append(found["better"])
    return counts


def span(counts: Sequence[int]) -> str:
    """Least and greatest."""
    return f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
