"""What the pages say about this paper, as rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from calibrant import calibration_error
from calibrant.binning import Projection, Sierpinski, SimplexUnique, Unique
from calibrant.calibrators import CanonicalBinning, binning_guarantee
from calibrant.datasets import load_top_label_example, load_two_patients
from calibrant.metrics import canonical_calibration_error
from calibrant.metrics.decompositions import accuracy
from calibrant.notions import binary_problems
from studies.claims import CLEAR, Claim, Paper, Verdict, above_zero, all_of, holds, under_all_readings
from studies.top_label.claims_printed import CLAIMS as PRINTED
from studies.top_label.claims_printed import MUTANTS as PRINTED_MUTANTS
from studies.top_label.forecasts import METHODS, RARE, SEEDS, by_class, cifar, forecasts
from studies.top_label.guarantee import ALPHA, mean_errors, promised_rates
from studies.top_label.networks import in_words as in_words_of_networks
from studies.top_label.networks import less, on_most, ratio_share, stored
from studies.top_label.pictures import RANDOM_SEEDS, covertype3

# Verdicts on the paper's sentences: functions of numbers that `claims.json` holds.


Figures = Mapping[str, float]
"""A figure of each method."""

ALIKE = 0.5
"""Share of the forest's spread between classes below which errors are quite uniform."""


def two_or_three_times(ratios: Mapping[str, Sequence[float]]) -> Verdict:
    """Return whether more than half of the ratios are from 2 to 3, of each method; in part, of any."""
    often = [sum(2 <= r <= 3 for r in of) > len(of) / 2 for of in ratios.values()]
    return Verdict.HOLDS if all(often) else Verdict.IN_PART if any(often) else Verdict.FAILS


# Exact sentences


def exactly(found: Mapping[str, str], expected: Mapping[str, str]) -> Verdict:
    """Return whether fractions are those expected."""
    same = [Fraction(found[name]) == Fraction(value) for name, value in expected.items()]
    return Verdict.HOLDS if all(same) else Verdict.IN_PART if any(same) else Verdict.FAILS


def never_above(lower: Figures, upper: Figures) -> Verdict:
    """Return whether no figure is above its bound."""
    return holds(all(lower[name] <= upper[name] + 1e-12 for name in lower))


def kept(rates: Mapping[str, Sequence[float]], promised: float) -> Verdict:
    """Return whether every promise is kept as often as promised, up to two standard errors: (rate, error) of each."""
    return holds(all(rate + CLEAR * error >= promised for rate, error in rates.values()))


# Forests: squares of gaps without their variance, one a split


def higher(one: Sequence[float], other: Sequence[float]) -> Verdict:
    """Return whether the one is clearly higher, by pairs of splits."""
    return above_zero([a - b for a, b in zip(one, other, strict=True)])


def in_every_way(ways: Mapping[str, Mapping[str, Sequence[float]]]) -> Verdict:
    """Return the verdict that every number of bins gives."""
    return under_all_readings(higher(**of) for of in ways.values())


def uniform(spread: Figures) -> Verdict:
    """Return whether points per bin leave the least spread between classes, and little of the forest's."""
    ours = spread["100 points a bin"]
    return holds(ours == min(spread.values()) and ours < ALIKE * spread["forest"])


# What the paper says that is exact: its examples, Algorithm 1 and Theorem 1.


ARITHMETIC = "arithmetic on printed figures: nothing is drawn"
THEORY_DRAWS = 400
"""Calibration sets of each world in the simulation of Theorem 1."""


def exact(value: float) -> str:
    """Return the fraction with a small denominator that a value is."""
    return str(Fraction(float(value)).limit_denominator(1000))


def patients() -> dict[str, Any]:
    """Return both errors of the two patients."""
    toy = load_two_patients()
    found = {
        word: exact(calibration_error(toy.y, toy.prob, notion=word, binning=Unique(), labels=[1, 2]))
        for word in ("confidence", "top-label")
    }
    return {"found": found, "expected": {"confidence": "0", "top-label": "2/5"}}


PANELS = {
    "confidence": [("0.6 0.6 0.7 0.8 0.8 0.9", "1 0 1 0 0 1")],
    "top-label": [("0.6 0.9", "0 1"), ("0.7", "1"), ("0.6 0.8", "1 0"), ("0.8", "0")],
    "class-wise": [("0.1 0.6 0.2 0.0 0.0 0.9", "0 0 0 1 0 1"), ("0.0 0.0 0.7 0.1 0.1 0.1", "0 0 1 0 0 0"),
                   ("0.6 0.1 0.0 0.1 0.8 0.0", "1 0 0 0 0 0"), ("0.3 0.3 0.1 0.8 0.1 0.0", "0 1 0 0 1 0")],
}  # fmt: skip
"""Panels (b), (c) and (d) as printed: scores and outcomes of each binary problem."""


def panels() -> dict[str, Any]:
    """Return how many binary problems of the six points are those printed."""
    y, prob = load_top_label_example()
    stand = {}
    for notion, panel in PANELS.items():
        made = [
            (" ".join(f"{s:.1f}" for s in of.score), " ".join(f"{o:g}" for o in of.outcome))
            for of in binary_problems(y, prob, notion=notion, labels=[1, 2, 3, 4])
        ]
        stand[notion] = made == panel
    return {"stand": stand}


PANEL_E = {"g(a)": ("a", "0.1 0.0 0.6 0.3"), "g(b)": ("b", "0.2 0.7 0.0 0.1"), "g(f)": ("f", "0.9 0.1 0.0 0.0")}
"""Panel (e) as printed: the vector of three points."""


def vectors() -> dict[str, Any]:
    """Return which vectors of panel (e) are those of panel (a)."""
    _, prob = load_top_label_example()
    of = {name: " ".join(f"{v:.1f}" for v in row) for name, row in zip("abcdef", prob, strict=True)}
    return {"stand": {word: of[point] == printed for word, (point, printed) in PANEL_E.items()}}


def all_stand(stand: dict[str, bool]) -> Verdict:
    """Return whether everything stands as printed."""
    return Verdict.HOLDS if all(stand.values()) else Verdict.IN_PART if any(stand.values()) else Verdict.FAILS


def in_words(stand: dict[str, bool]) -> str:
    """Return what stands as printed and what does not."""
    good, bad = ([word for word, yes in stand.items() if yes is which] for which in (True, False))
    return f"As printed: {', '.join(good) or 'none'}" + (f"; not: {', '.join(bad)}" if bad else "")


def class_wise_only() -> dict[str, Any]:
    """Return both errors of example B of docs/notions.md."""
    lines = [((3, 8, 9), (3, 5, 12)), ((7, 4, 9), (10, 4, 6)), ((7, 8, 5), (4, 11, 5))]
    y = np.concatenate([np.repeat([1, 2, 3], occurred) for _, occurred in lines])
    prob = np.repeat([predicted for predicted, _ in lines], 20, axis=0) / 20
    how = {"binning": SimplexUnique(), "distance": "l1", "labels": [1, 2, 3]}
    return {
        "class_wise": exact(calibration_error(y, prob, notion="class-wise", binning=Unique(), labels=[1, 2, 3])),
        "canonical": exact(canonical_calibration_error(y, prob, **how)),
    }


WORLDS, VECTORS, PARTS = 100, 6, 12
"""Tables that are drawn, forecasts of each, and the rows of each forecast, one for each part of one."""


def canonical_worlds(*, moved: bool = False) -> dict[str, Any]:
    """Return the largest errors of tables in which each forecast comes true exactly; with a label moved, if asked for."""
    rng, found = np.random.default_rng(0), {"canonical": [], "class_wise": []}
    how = {"binning": SimplexUnique(), "distance": "l1", "labels": [1, 2, 3]}
    for _ in range(WORLDS):
        votes = rng.multinomial(PARTS, rng.dirichlet(np.ones(3)), size=VECTORS)
        y = np.concatenate([np.repeat([1, 2, 3], row) for row in votes])
        prob = np.repeat(votes, PARTS, axis=0) / PARTS
        y[0] = 1 + y[0] % 3 if moved else y[0]
        found["canonical"].append(canonical_calibration_error(y, prob, **how))
        found["class_wise"].append(calibration_error(y, prob, notion="class-wise", binning=Unique(), labels=[1, 2, 3]))
    return {name: float(max(of)) for name, of in found.items()}


def both_errors() -> dict[str, Any]:
    """Return conf-ECE and TL-ECE of each method over the same bins."""
    tables = {name: of for name, of in forecasts().items() if of.column is None}
    return {
        "lower": {name: of.error("confidence") for name, of in tables.items()},
        "upper": {name: of.error("top-label") for name, of in tables.items()},
    }


def n_changed(before: np.ndarray, after: np.ndarray) -> int:
    """Return the number of rows whose predicted class is another."""
    return int((before != after).sum())


def predicted_classes() -> dict[str, Any]:
    """Return in how many rows top-label binning changes the predicted class, and the accuracy before and after."""
    of, test_y = forecasts(), cifar()[3]
    before, pairs = of["Base"].prob.argmax(axis=1), {n: f.label for n, f in of.items() if f.label is not None}
    return {
        "rows": test_y.size,
        "changed": {n: n_changed(before, label) for n, label in pairs.items()},
        "before": accuracy(of["Base"].y, of["Base"].prob),
        "after": {n: float(np.mean(test_y == label)) for n, label in pairs.items()},
    }


OF_THEORY: tuple[Claim, ...] = (
    Claim(
        key="patients", where="Example",
        sentence="Two patients with the same probability have a conf-ECE of 0 and a TL-ECE of 0.4.", target="exactly",
        says=Verdict.HOLDS, measure=patients, judge=exactly,
        words=lambda found, expected: f"conf-ECE {found['confidence']}, TL-ECE {found['top-label']}",
    ),
    Claim(
        key="confidence-below", where="Fig. 1",
        sentence="The confidence diagram suggests better calibration than the top-label diagram.",
        target="over the same bins the conf-ECE is never above the TL-ECE, as the triangle inequality says of any "
        "predictions",
        says=Verdict.NOT_JUDGED, measure=both_errors, judge=lambda lower, upper: Verdict.NOT_JUDGED,
        words=lambda lower, upper: (
            "; ".join(f"{name} {lower[name]:.4f} and {upper[name]:.4f}" for name in lower)
            + ". True of any predictions; nothing was tested"
        ),
    ),
    Claim(
        key="panels", where="Fig. of six points, (b) to (d)",
        sentence="The binary problems of confidence, top-label and class-wise calibration.",
        target="each score and outcome as printed", says=Verdict.HOLDS, measure=panels, judge=all_stand, words=in_words,
    ),
    Claim(
        key="panel-e", where="Fig. of six points, (e)", sentence="The vectors of canonical calibration.",
        target="each as in panel (a)", says=Verdict.IN_PART, measure=vectors, judge=all_stand,
        words=lambda stand: in_words(stand) + ", which is g(c) of panel (a) with the outcome of b", one_suffices=ARITHMETIC,
    ),
    Claim(
        key="canonical-implies-class-wise", where="Proposition, first half",
        sentence="A canonically calibrated predictor is class-wise calibrated.",
        target=f"in {WORLDS} drawn tables in which every forecast comes true exactly, both errors are 0", tolerance="1e-12",
        says=Verdict.HOLDS, measure=canonical_worlds,
        judge=lambda canonical, class_wise: holds(max(canonical, class_wise) <= 1e-12),
        words=lambda canonical, class_wise: (
            f"Largest canonical ECE {canonical:.1g}, largest class-wise ECE {class_wise:.1g}, of {VECTORS} forecasts of three "
            "classes a table"
        ),
    ),
    Claim(
        key="class-wise-not-canonical", where="Proposition, second half",
        sentence="There are predictors that are class-wise calibrated and not canonically.",
        target="class-wise ECE 0, canonical ECE above 0, of three classes", says=Verdict.HOLDS, measure=class_wise_only,
        judge=lambda class_wise, canonical: (
            Verdict.HOLDS if Fraction(class_wise) == 0 < Fraction(canonical) else Verdict.FAILS
        ),
        words=lambda class_wise, canonical: (
            f"Class-wise ECE {class_wise}, canonical ECE {canonical}: [example B](notions.md)"
        ),
    ),
    Claim(
        key="accuracy", where="Algorithm 1",
        sentence="The predicted class does not change, and so neither does the accuracy.",
        target="the predicted class of each row is the same, and the accuracy", says=Verdict.HOLDS, measure=predicted_classes,
        judge=lambda rows, changed, before, after: all_of(
            (holds(not any(changed.values())), holds(all(value == before for value in after.values())))
        ),
        words=lambda rows, changed, before, after: (
            f"Of {rows:,} rows {', '.join(f'{n} ({name})' for name, n in changed.items())} change the predicted class; "
            f"accuracy {before:.4f} before, {', '.join(f'{v:.4f} ({n})' for n, v in after.items())}"
        ),
    ),
    Claim(
        key="theorem-1-constant", where="Theorem 1",
        sentence="With 50 points a bin the expected TL-ECE is at most about 0.1.", target="the bound sqrt(1 / (2 k)) is 0.1",
        tolerance="0.0005", says=Verdict.HOLDS,
        measure=lambda: {"bound": binning_guarantee(5000, 50, n_classes=10).expected_error},
        judge=lambda bound: Verdict.HOLDS if abs(bound - 0.1) <= 0.0005 else Verdict.FAILS,
        words=lambda bound: f"{bound:.4f}",
    ),
    Claim(
        key="theorem-1", where="Theorem 1, remark",
        sentence="Top-label binning is marginally and conditionally calibrated, and its TL-ECE and TL-MCE are bounded.",
        target=f"each promise is kept in at least {1 - ALPHA:.0%} of the calibration sets, within two standard errors",
        says=Verdict.HOLDS, measure=lambda: {"rates": promised_rates(THEORY_DRAWS), "promised": 1 - ALPHA}, judge=kept,
        words=lambda rates, promised: (
            f"Kept least often, of {len(rates)} promises in simulated worlds of known truth: "
            + "; ".join(
                f"{rate:.1%} ({name})" for name, (rate, _) in sorted(rates.items(), key=lambda item: item[1])[:2]
            )
        ),
    ),
    Claim(
        key="theorem-1-mean", where="Theorem 1",
        sentence="On average over calibration sets the TL-ECE is at most sqrt(1 / (2 k)).",
        target="the mean over simulated calibration sets is below the bound", says=Verdict.HOLDS,
        measure=lambda: mean_errors(THEORY_DRAWS), judge=never_above,
        words=lambda lower, upper: "; ".join(f"{lower[n]:.3f} of {upper[n]:.3f} ({n})" for n in lower),
    ),
)  # fmt: skip


# What the paper says of random forests on Covertype, asked of a smaller part of it, and of binning the simplex.


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
    """Return whether each depth has the number of cells that is printed; a misprint, where the printed formula has ours."""
    if made == printed:
        return Verdict.HOLDS
    by_formula = {q: (3 ** (int(q) + 1) - 1) // 2 for q in printed}
    return Verdict.MISPRINT if made == by_formula else Verdict.FAILS


def fewest() -> dict[str, Any]:
    """Return the fewest rows in a cell, for each draw of the directions, and the number promised."""
    prob, y, _, _ = covertype3()
    binnings = [Projection(27), *(Projection(27, "random", random_state=seed) for seed in range(RANDOM_SEEDS))]
    return {
        "fewest": [int(CanonicalBinning(binning).fit(prob, y).count_.min()) for binning in binnings],
        "promised": (len(y) + 1) // 27 - 1,
        "ceiling": -(-(len(y) + 1) // 27) - 1,
    }


OF_FORESTS: tuple[Claim, ...] = (
    Claim(
        key="forest-rare", where="Fig. 4 (a)", sentence="The forest has a much higher TL-ECE for the least likely classes.",
        target=f"the squared gap is higher for the rarest class than for the most frequent, {CLEARLY}", says=Verdict.HOLDS,
        measure=lambda: between(("forest", RAREST), ("forest", COMMONEST)), judge=higher,
        words=lambda one, other: (
            f"Root mean square gaps, other data: {root(one):.3f} (rarest), {root(other):.3f} (most frequent)"
        ),
        over="one",
    ),
    Claim(
        key="points-uniform", where="Fig. 4 (a)",
        sentence="With a fixed number of points a bin the TL-ECE after calibration is quite uniform.",
        target=f"the least spread between classes, and below {ALIKE:.0%} of the forest's", says=Verdict.HOLDS,
        measure=lambda: {"spread": {name: float(np.ptp(by_class(RARE, name).root)) for name in METHODS}}, judge=uniform,
        words=lambda spread: (
            "Highest less lowest root mean square gap, other data: "
            + ", ".join(f"{value:.3f} ({name})" for name, value in spread.items())
        ),
    ),
    Claim(
        key="bins-rare", where="Fig. 4 (b)", sentence="With a fixed number of bins it is higher on the least likely classes.",
        target=f"higher than with 100 points a bin, {CLEARLY}, with 50 bins and with 10", says=Verdict.HOLDS,
        measure=lambda: {"ways": {way: between((way, RAREST), (POINTS, RAREST)) for way in FIXED}}, judge=in_every_way,
        words=lambda ways: "Root mean square gaps, other data: " + of_ways(ways, "bins", "points"),
    ),
    Claim(
        key="bins-frequent", where="Fig. 4 (b)", sentence="... and lower on the most likely classes.",
        target=f"lower than with 100 points a bin, {CLEARLY}, with 50 bins and with 10", says=Verdict.OPEN,
        measure=lambda: {"ways": {way: between((POINTS, COMMONEST), (way, COMMONEST)) for way in FIXED}}, judge=in_every_way,
        words=lambda ways: (
            "Root mean square gaps, other data: "
            + of_ways(ways, "points", "bins")
            + ". With 50 bins these data have 40 rows a bin, the paper's some 370"
        ),
    ),
    Claim(
        key="sierpinski", where="Sierpinski binning",
        sentence="There are (3^(q + 1) - 1) / 2 bins: 14 at depth 2, 40 at depth 3.",
        target="as many cells as printed, at depths 1, 2 and 3; a misprint if as many as the formula says",
        says=Verdict.MISPRINT, measure=cells, judge=counted,
        words=lambda made, printed: ", ".join(
            f"{n} at depth {q}" + ("" if n == printed[q] else f" (printed {printed[q]})") for q, n in made.items()
        ),
        one_suffices=ARITHMETIC,
    ),
    Claim(
        key="empty-bin", where="Binning scheme", sentence="A bin without rows predicts 1 / B for each class, with B bins.",
        target="the vector sums to 1; a misprint if only 1 / L, with L classes, does", tolerance="1e-12",
        says=Verdict.MISPRINT, measure=lambda: {"classes": 3, "bins": 13},
        judge=lambda classes, bins: Verdict.HOLDS if abs(classes / bins - 1) <= 1e-12 else Verdict.MISPRINT,
        words=lambda classes, bins: (
            f"{classes} classes and {bins} bins: it sums to {classes / bins:.3f}. `CanonicalBinning` predicts 1 / "
            f"{classes}"
        ),
        one_suffices=ARITHMETIC,
    ),
    Claim(
        key="projection", where="Algorithm 10",
        sentence="Each bin of the projections holds at least floor((n + 1) / B) - 1 rows. (The floor is that of the algorithm; "
        "the prose prints the ceiling.)",
        target="the fewest rows in a bin are no fewer than with the floor", says=Verdict.HOLDS, measure=fewest,
        judge=lambda fewest, promised, ceiling: Verdict.HOLDS if min(fewest) >= promised else Verdict.FAILS,
        words=lambda fewest, promised, ceiling: (
            f"{min(fewest)} at least, along the axes and in {len(fewest) - 1} draws of random directions: the floor gives "
            f"{promised}, which holds, the ceiling {ceiling}, which does not. The sign of the ceiling may be the slides'"
        ),
    ),
)  # fmt: skip


# What the paper says of networks, asked of those at hand: published ones, and small ones that are trained here.


def of_ratios(networks: Sequence[str], ratios: Mapping[str, Sequence[float]]) -> str:
    """Return the range of ratios, and how many of them are from 2 to 3."""
    return f"Over {len(networks)} networks: " + "; ".join(
        f"{name} {min(of):.1f} to {max(of):.1f} times, {sum(2 <= r <= 3 for r in of)} of {len(of)} are 2 to 3"
        for name, of in ratios.items()
    )


def on_networks(key: str, where: str, sentence: str, says: Verdict, metric: str, *pairs: tuple[str, str]) -> Claim:
    """Return a claim that the first of each pair has the lower error on most networks."""
    target = " and ".join(f"{one} below {other}" for one, other in pairs)
    return Claim(
        key=key, where=where, sentence=sentence, target=f"{metric}: {target} on most networks, clear at 5% by sign tests",
        says=says,
        measure=lambda: {
            "networks": list(stored()),
            "differences": {f"{one} less {other}": less(metric, one, other) for one, other in pairs},
        },
        judge=lambda networks, differences: on_most(differences),
        words=lambda networks, differences: in_words_of_networks(differences), over="networks",
    )  # fmt: skip


OF_NETWORKS: tuple[Claim, ...] = (
    Claim(
        key="two-or-three-times",
        where="Fig. 3",
        sentence="The TL-ECE is often 2 to 3 times the conf-ECE.",
        target="more than half of the networks have a ratio from 2 to 3, with each method",
        says=Verdict.IN_PART,
        measure=lambda: {"networks": list(stored()), "ratios": ratio_share()},
        judge=lambda networks, ratios: two_or_three_times(ratios),
        words=of_ratios,
        over="networks",
    ),
    on_networks(
        "better-than-temperature", "Fig. 3", "Top-label histogram binning typically does better than temperature scaling.",
        Verdict.HOLDS, "TL-ECE", ("TL-HB", "TS"),
    ),
    on_networks(
        "n-hb-best", "Table 2", "N-HB has the lowest TL-ECE. (Asked of other networks; a row above has the paper's.)",
        Verdict.NOT_JUDGED, "TL-ECE", *(("N-HB", other) for other in ("Base", "TS", "VS", "TL-HB")),
    ),
    on_networks(
        "cw-hb-best", "Table 3",
        "Class-wise binning has the lowest class-wise ECE. (Asked of other networks; a row above has the paper's.)",
        Verdict.NOT_JUDGED, "CW-ECE", *(("CW-HB", other) for other in ("Base", "TS", "VS", "N-HB")),
    ),
    on_networks(
        "n-hb-terrible", "Table 3", "N-HB performs terribly by class-wise ECE.", Verdict.OPEN, "CW-ECE",
        ("CW-HB", "N-HB"), ("Base", "N-HB"),
    ),
)  # fmt: skip

NOTE = "What Tables 2 and 3 themselves print is in the rows that say *as printed*."


CLAIMS: tuple[Claim, ...] = (*OF_THEORY, *PRINTED, *OF_NETWORKS, *OF_FORESTS)

PAPER = Paper(
    name="top_label", title="Top-label calibration and multiclass-to-binary reductions", authors="Gupta and Ramdas",
    venue="ICLR 2022", command="make reproduce-top-label", minutes=2, page="top-label.md", claims=CLAIMS,
    note="Read from slides on the paper; a misprint named here is one of the slides and may not be in the paper.",
)  # fmt: skip

MUTANTS = {
    **PRINTED_MUTANTS,
    "canonical-implies-class-wise": ("a label that is moved", lambda **_: canonical_worlds(moved=True)),
    "two-or-three-times": (
        "the conf-ECE in place of the TL-ECE", lambda ratios, **_: {"ratios": {name: [1.0] for name in ratios}},
    ),
    "better-than-temperature": (
        "TS in place of TL-HB", lambda **_: {"differences": {"TS less TL-HB": less("TL-ECE", "TS", "TL-HB")}},
    ),
}  # fmt: skip
"""What must change the verdict of each new claim: in words, and the numbers that are then others."""
