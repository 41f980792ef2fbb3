"""What must change the verdict of each claim on this paper."""

from __future__ import annotations

from functools import partial

from calibrant.calibrators import binning_guarantee
from calibrant.datasets import load_top_label_example
from studies.claims import run_with
from studies.printed import opposite, turned
from studies.top_label import claims, guarantee
from studies.top_label.claims_printed import FUNCTIONS as PRINTED


def reversed_labels():
    """The six points with labels in the reverse order."""
    y, prob = load_top_label_example()
    return y[::-1], prob


def too_many_points(n, k, **how):
    """The guarantee of sixteen times as many points a bin."""
    return binning_guarantee(16 * n, 16 * k, **how)


def rates(draws):
    """The numbers of Theorem 1 over some calibration sets."""
    return {"rates": guarantee.promised_rates(draws), "promised": 1 - guarantee.ALPHA}


FEW_DRAWS = 50

TOLD = {
    **dict.fromkeys(PRINTED, turned),
    "better-than-temperature": lambda **_: {"differences": {"TS less TL-HB": claims.less("TL-ECE", "TS", "TL-HB")}},
    "patients": lambda found, expected: {"found": dict.fromkeys(found, found["confidence"])},
    "panel-e": lambda stand: {"stand": dict.fromkeys(stand, True)},
    "class-wise-not-canonical": lambda class_wise, canonical: {"canonical": class_wise},
    "accuracy": lambda changed, **_: {"changed": dict.fromkeys(changed, 2)},
    "canonical-implies-class-wise": lambda **_: claims.canonical_worlds(moved=True),
    "two-or-three-times": lambda ratios, **_: {"ratios": {name: [2.5] * len(of) for name, of in ratios.items()}},
    "theorem-1-constant": lambda bound: {"bound": binning_guarantee(5000, 25, n_classes=10).expected_error},
    "theorem-1-mean": lambda lower, upper: {"upper": {name: of / 2 for name, of in upper.items()}},
    "forest-rare": lambda one, other: {"one": other},
    "points-uniform": lambda spread: {"spread": spread | {"100 points a bin": spread["forest"]}},
    "bins-rare": lambda ways: {"ways": {way: {"one": of["other"], "other": of["other"]} for way, of in ways.items()}},
    "n-hb-best": lambda differences, **_: {"differences": opposite(differences)},
    "few-rows": lambda **of: {word: dict.fromkeys(found, found[claims.PROJECTED]) for word, found in of.items()},
    "sierpinski": lambda made, printed: {"printed": made},
    "empty-bin": lambda classes, bins: {"bins": classes},
    "projection": lambda fewest, promised, ceiling: {"promised": ceiling},
}
"""Numbers that the mutant of a claim has otherwise, from the claim's own."""

RUN = {
    "panels": run_with(claims, "load_top_label_example", reversed_labels, claims.panels),
    "theorem-1": run_with(guarantee, "binning_guarantee", too_many_points, partial(rates, FEW_DRAWS)),
}
"""Mutants that are measured."""
