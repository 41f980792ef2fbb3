"""What the paper says of random forests on Covertype, asked of a smaller part of it, and of binning the simplex."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant.binning import Projection, Sierpinski
from calibrant.calibrators import CanonicalBinning
from studies.claims import Claim, Verdict
from studies.judging import CLEAR
from studies.top_label import judges
from studies.top_label.canonical import RANDOM_SEEDS, covertype3
from studies.top_label.claims_theory import ARITHMETIC
from studies.top_label.covertype import METHODS, RARE, SEEDS, by_class

RAREST, COMMONEST = 3, 1
"""Columns of predicted classes."""

CLEARLY = f"by more than {CLEAR:g} standard errors over {SEEDS} splits and forests"
FIXED = ("50 bins a class", "10 bins a class")
POINTS = "100 points a bin"


def squares(name: str, column: int) -> list[float]:
    """Return the bias-corrected mean squared gap of a predicted class, for each split."""
    return [float(value) for value in by_class(RARE, name).square[:, column]]


def root(values: Sequence[float]) -> float:
    """Return the root mean square."""
    return float(np.sqrt(max(0.0, np.mean(values))))


def between(one: tuple[str, int], other: tuple[str, int]) -> dict[str, list[float]]:
    """Return two lists of squares."""
    return {"one": squares(*one), "other": squares(*other)}


def of_ways(ways: dict[str, dict[str, list[float]]], first: str, second: str) -> str:
    """Return root mean square gaps for each number of bins."""
    return "; ".join(
        f"{way}: {first} {root(of['one']):.3f}, {second} {root(of['other']):.3f}" for way, of in ways.items()
    )


def cells() -> dict[str, Any]:
    """Return how many cells 100,000 random points fall into at depths 1, 2 and 3, and what the paper counts."""
    points = np.random.default_rng(0).dirichlet(np.ones(3), 100_000)
    y = np.arange(len(points)) % 3
    made = {str(q): int((CanonicalBinning(Sierpinski(q)).fit(points, y).count_ > 0).sum()) for q in (1, 2, 3)}
    return {"made": made, "printed": {"1": 4, "2": 14, "3": 40}}


def counted(made: dict[str, int], printed: dict[str, int]) -> Verdict:
    """Return whether each depth has the number of cells that is printed."""
    same = [made[q] == printed[q] for q in printed]
    return Verdict.HOLDS if all(same) else Verdict.IN_PART if any(same) else Verdict.FAILS


def fewest() -> dict[str, Any]:
    """Return the fewest rows in a cell, for each draw of the directions, and the number promised."""
    prob, y, _, _ = covertype3()
    binnings = [Projection(27), *(Projection(27, "random", random_state=seed) for seed in range(RANDOM_SEEDS))]
    return {
        "fewest": [int(CanonicalBinning(binning).fit(prob, y).count_.min()) for binning in binnings],
        "promised": (len(y) + 1) // 27 - 1,
        "ceiling": -(-(len(y) + 1) // 27) - 1,
    }


CLAIMS: tuple[Claim, ...] = (
    Claim(
        key="forest-rare",
        where="Fig. 4 (a)",
        sentence="The forest has a much higher TL-ECE for the least likely classes.",
        target=f"the squared gap is higher for the rarest class than for the most frequent, {CLEARLY}",
        says=Verdict.HOLDS,
        measure=lambda: between(("forest", RAREST), ("forest", COMMONEST)),
        judge=judges.higher,
        words=lambda one, other: (
            f"Root mean square gaps, other data: {root(one):.3f} (rarest), {root(other):.3f} (most frequent)"
        ),
        over="one",
    ),
    Claim(
        key="points-uniform",
        where="Fig. 4 (a)",
        sentence="With a fixed number of points a bin the TL-ECE after calibration is quite uniform.",
        target=f"the least spread between classes, and below {judges.ALIKE:.0%} of the forest's",
        says=Verdict.HOLDS,
        measure=lambda: {"spread": {name: float(np.ptp(by_class(RARE, name).root)) for name in METHODS}},
        judge=judges.uniform,
        words=lambda spread: (
            "Highest less lowest root mean square gap, other data: "
            + ", ".join(f"{value:.3f} ({name})" for name, value in spread.items())
        ),
    ),
    Claim(
        key="bins-rare",
        where="Fig. 4 (b)",
        sentence="With a fixed number of bins it is higher on the least likely classes.",
        target=f"higher than with 100 points a bin, {CLEARLY}, with 50 bins and with 10",
        says=Verdict.HOLDS,
        measure=lambda: {"ways": {way: between((way, RAREST), (POINTS, RAREST)) for way in FIXED}},
        judge=judges.in_every_way,
        words=lambda ways: "Root mean square gaps, other data: " + of_ways(ways, "bins", "points"),
    ),
    Claim(
        key="bins-frequent",
        where="Fig. 4 (b)",
        sentence="... and lower on the most likely classes.",
        target=f"lower than with 100 points a bin, {CLEARLY}, with 50 bins and with 10",
        says=Verdict.OPEN,
        measure=lambda: {"ways": {way: between((POINTS, COMMONEST), (way, COMMONEST)) for way in FIXED}},
        judge=judges.in_every_way,
        words=lambda ways: (
            "Root mean square gaps, other data: "
            + of_ways(ways, "points", "bins")
            + ". With 50 bins these data have 40 rows a bin, the paper's some 370"
        ),
    ),
    Claim(
        key="sierpinski",
        where="Sierpinski binning",
        sentence="There are (3^(q + 1) - 1) / 2 bins: 14 at depth 2, 40 at depth 3.",
        target="as many cells as printed, at depths 1, 2 and 3",
        says=Verdict.IN_PART,
        measure=cells,
        judge=counted,
        words=lambda made, printed: ", ".join(
            f"{n} at depth {q}" + ("" if n == printed[q] else f" (printed {printed[q]})") for q, n in made.items()
        ),
        one_suffices=ARITHMETIC,
    ),
    Claim(
        key="empty-bin",
        where="Binning scheme",
        sentence="A bin without rows predicts 1 / B for each class, with B bins.",
        target="the vector sums to 1",
        tolerance="1e-12",
        says=Verdict.FAILS,
        measure=lambda: {"classes": 3, "bins": 13},
        judge=lambda classes, bins: Verdict.HOLDS if abs(classes / bins - 1) <= 1e-12 else Verdict.FAILS,
        words=lambda classes, bins: (
            f"{classes} classes and {bins} bins: it sums to {classes / bins:.3f}. `CanonicalBinning` predicts 1 / "
            f"{classes}"
        ),
        one_suffices=ARITHMETIC,
    ),
    Claim(
        key="projection",
        where="Algorithm 10",
        sentence="Each bin of the projections holds at least floor((n + 1) / B) - 1 rows. (The floor is that of the algorithm; "
        "the prose prints the ceiling.)",
        target="the fewest rows in a bin are no fewer than with the floor",
        says=Verdict.HOLDS,
        measure=fewest,
        judge=lambda fewest, promised, ceiling: Verdict.HOLDS if min(fewest) >= promised else Verdict.FAILS,
        words=lambda fewest, promised, ceiling: (
            f"{min(fewest)} at least, along the axes and in {len(fewest) - 1} draws of random directions: the floor gives "
            f"{promised}, which holds, the ceiling {ceiling}, which does not. The sign of the ceiling may be the slides'"
        ),
    ),
)
