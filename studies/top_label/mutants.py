"""What must change the verdict of each claim on this paper."""

from __future__ import annotations

from functools import partial

from calibrant.calibrators import binning_guarantee
from calibrant.datasets import load_top_label_example
from studies.claims import Mutant, run_with
from studies.top_label import claims, guarantee


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

MUTANTS = {
    "patients": Mutant(
        "the conf-ECE in place of the TL-ECE",
        lambda found, expected: {"found": dict.fromkeys(found, found["confidence"])},
    ),
    "panels": Mutant(
        "labels in the reverse order",
        run_with(claims, "load_top_label_example", reversed_labels, claims.panels),
        measured=True,
    ),
    "panel-e": Mutant("the vectors of panel (a)", lambda stand: {"stand": dict.fromkeys(stand, True)}),
    "class-wise-not-canonical": Mutant(
        "the class-wise ECE in place of the canonical one", lambda class_wise, canonical: {"canonical": class_wise}
    ),
    "accuracy": Mutant(
        "two rows that exchange their classes: the accuracy is the same",
        lambda changed, **_: {"changed": dict.fromkeys(changed, 2)},
    ),
    "canonical-implies-class-wise": Mutant(
        "a label moved in each table", lambda **_: claims.canonical_worlds(moved=True)
    ),
    "two-or-three-times": Mutant(
        "a ratio of 2.5 everywhere",
        lambda ratios, **_: {"ratios": {name: [2.5] * len(of) for name, of in ratios.items()}},
    ),
    "theorem-1-constant": Mutant(
        "25 points a bin",
        lambda bound: {"bound": binning_guarantee(5000, 25, n_classes=10).expected_error},
    ),
    "theorem-1": Mutant(
        "promises for sixteen times as many points a bin",
        run_with(guarantee, "binning_guarantee", too_many_points, partial(rates, FEW_DRAWS)),
        measured=True,
    ),
    "theorem-1-mean": Mutant(
        "the bound of four times as many points a bin",
        lambda lower, upper: {"upper": {name: of / 2 for name, of in upper.items()}},
    ),
    "forest-rare": Mutant("the most frequent class in place of the rarest", lambda one, other: {"one": other}),
    "points-uniform": Mutant(
        "the forest in place of 100 points a bin",
        lambda spread: {"spread": spread | {"100 points a bin": spread["forest"]}},
    ),
    "bins-rare": Mutant(
        "100 points a bin in place of a fixed number of bins",
        lambda ways: {"ways": {way: {"one": of["other"], "other": of["other"]} for way, of in ways.items()}},
    ),
    "sierpinski": Mutant("13 in place of 14", lambda made, printed: {"printed": made}),
    "empty-bin": Mutant("1 / L in place of 1 / B", lambda classes, bins: {"bins": classes}),
    "projection": Mutant("the ceiling in place of the floor", lambda fewest, promised, ceiling: {"promised": ceiling}),
}
