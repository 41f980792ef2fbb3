"""What the pages say about this paper, as rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from studies.claims import (
    CLEAR,
    LEVEL,
    Functions,
    Paper,
    Verdict,
    above_zero,
    all_of,
    claims_of,
    each_holds,
    equals,
    holds,
    mostly,
    not_judged,
    printed_as,
    under_all_readings,
)
from studies.top_label.claims_printed import FUNCTIONS as PRINTED
from studies.top_label.forecasts import METHODS, RARE, SEEDS, by_class, cifar, forecasts
from studies.top_label.guarantee import ALPHA, mean_errors, promised_rates
from studies.top_label.networks import in_words as in_words_of_networks
from studies.top_label.networks import less, on_most, ratio_share, stored
from studies.top_label.pictures import BINNINGS, RANDOM_SEEDS, covertype3

# Verdicts on the paper's sentences: functions of numbers that `claims.json` holds.


Figures = Mapping[str, float]
"""A figure of each method."""

ALIKE = 0.5
"""Share of the forest's spread between classes below which errors are quite uniform."""


# Exact sentences


def exactly(found: Mapping[str, str], expected: Mapping[str, str]) -> Verdict:
    """Return whether fractions are those expected."""
    return each_holds(Fraction(found[name]) == Fraction(value) for name, value in expected.items())


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


def by_its_bins(ways: Mapping[str, Mapping[str, Sequence[float]]]) -> Verdict:
    """Return the verdict that the paper's number of bins gives; other numbers stand beside."""
    return higher(**ways[FIXED[0]])


def uniform(spread: Figures) -> Verdict:
    """Return whether points per bin leave the least spread between classes, and little of the forest's."""
    ours = spread["100 points a bin"]
    return holds(ours == min(spread.values()) and ours < ALIKE * spread["forest"])


# What the paper says that is exact: its examples, Algorithm 1 and Theorem 1.


THEORY_DRAWS, PROMISED = 400, 1 - ALPHA
"""Calibration sets of each world in the simulation of Theorem 1, and the share in which a promise is kept."""


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


OF_THEORY = {
    "patients": (
        patients,
        exactly,
        lambda found, expected: f"conf-ECE {found['confidence']}, TL-ECE {found['top-label']}",
    ),
    "confidence-below": (
        both_errors,
        not_judged,
        lambda lower, upper: (
            "; ".join(f"{name} {lower[name]:.4f} and {upper[name]:.4f}" for name in lower)
            + ". True of any predictions; nothing was tested"
        ),
    ),
    "panels": (panels, lambda stand: each_holds(stand.values()), in_words),
    "panel-e": (
        vectors,
        lambda stand: each_holds(stand.values()),
        lambda stand: in_words(stand) + ", which is g(c) of panel (a) with the outcome of b",
    ),
    "canonical-implies-class-wise": (
        canonical_worlds,
        lambda canonical, class_wise: holds(max(canonical, class_wise) <= 1e-12),
        lambda canonical, class_wise: (
            f"Largest canonical ECE {canonical:.1g}, largest class-wise ECE {class_wise:.1g}, of {VECTORS} forecasts of three "
            "classes a table"
        ),
    ),
    "class-wise-not-canonical": (
        class_wise_only,
        lambda class_wise, canonical: holds(Fraction(class_wise) == 0 < Fraction(canonical)),
        lambda class_wise, canonical: (
            f"Class-wise ECE {class_wise}, canonical ECE {canonical}: [example B](notions.md)"
        ),
    ),
    "accuracy": (
        predicted_classes,
        lambda changed, before, after, **_: each_holds([not any(changed.values()), {before} == {*after.values()}]),
        lambda rows, changed, before, after: (
            f"Of {rows:,} rows {', '.join(f'{n} ({name})' for name, n in changed.items())} change the predicted class; "
            f"accuracy {before:.4f} before, {', '.join(f'{v:.4f} ({n})' for n, v in after.items())}"
        ),
    ),
    "theorem-1-constant": (
        lambda: {"bound": binning_guarantee(5000, 50, n_classes=10).expected_error},
        lambda bound: equals(bound, 0.1, 0.0005),
        lambda bound: f"{bound:.4f}",
    ),
    "theorem-1": (
        lambda: {"rates": promised_rates(THEORY_DRAWS), "promised": PROMISED},
        kept,
        lambda rates, promised: (
            f"Kept least often, of {len(rates)} promises in simulated worlds of known truth: "
            + "; ".join(
                f"{rate:.1%} ({name})" for name, (rate, _) in sorted(rates.items(), key=lambda item: item[1])[:2]
            )
        ),
    ),
    "theorem-1-mean": (
        lambda: mean_errors(THEORY_DRAWS),
        never_above,
        lambda lower, upper: "; ".join(f"{lower[n]:.3f} of {upper[n]:.3f} ({n})" for n in lower),
    ),
}


# What the paper says of random forests on Covertype, asked of a smaller part of it, and of binning the simplex.


PROJECTED = "projection, 27 cyclic"
RAREST, COMMONEST = 3, 1
"""Columns of predicted classes."""

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
    """Return root mean square gaps for each number of bins, and what they say."""
    return "Root mean square gaps, other data: " + "; ".join(
        f"{way}: {first} {root(of['one']):.3f}, {second} {root(of['other']):.3f}, {higher(**of)!s}"
        for way, of in ways.items()
    )


def of_the_most_frequent() -> dict[str, Any]:
    """Return the squares of the most frequent class for each number of bins."""
    return {"ways": {way: between((POINTS, COMMONEST), (way, COMMONEST)) for way in FIXED}}


def cells() -> dict[str, Any]:
    """Return how many cells 100,000 random points fall into at depths 1, 2 and 3, and what the paper counts."""
    points = np.random.default_rng(0).dirichlet(np.ones(3), 100_000)
    y = np.arange(len(points)) % 3
    made = {str(q): int((CanonicalBinning(Sierpinski(q)).fit(points, y).count_ > 0).sum()) for q in (1, 2, 3)}
    return {"made": made, "printed": {"1": 4, "2": 14, "3": 40}}


VERY_FEW, OF_DATA = 5, ("Sierpinski, q = 2", "grid, K = 5")
"""Rows, and the schemes whose bins do not follow the data."""


def poor_estimates() -> dict[str, Any]:
    """Return, for each draw, the fewest rows in a bin that has any, and how far the vector of a bin is from the true one.

    The labels are drawn from the probabilities, so that the true vector of a bin is the mean of the probabilities there.
    """
    prob, _, test, _ = covertype3()
    known = np.concatenate([prob, test])
    found: dict[str, dict[str, list[float]]] = {"fewest": {}, "worst": {}}
    for seed in range(RANDOM_SEEDS):
        rng = np.random.default_rng(seed)
        rows = known[rng.permutation(len(known))[: len(prob)]]
        y = (rng.random((len(rows), 1)) > rows.cumsum(axis=1)[:, :-1]).sum(axis=1)
        for name in (*OF_DATA, PROJECTED):
            of = CanonicalBinning(BINNINGS[name], labels=range(3)).fit(rows, y)
            cell, some = of.cells(known), np.flatnonzero(of.count_)
            true = np.array([known[cell == b].mean(axis=0) for b in some])
            found["fewest"].setdefault(name, []).append(int(of.count_[some].min()))
            found["worst"].setdefault(name, []).append(float(np.abs(of.value_[some] - true).sum(axis=1).max()))
    return found


def judge_poor(fewest: Mapping[str, Sequence[int]], worst: Mapping[str, Sequence[float]]) -> Verdict:
    """Return whether most draws have a bin of very few rows, and a worse estimate than projections, with each scheme."""
    few = (mostly(sum(n < VERY_FEW for n in fewest[name]), len(fewest[name])) for name in OF_DATA)
    return all_of([*few, *(higher(worst[name], worst[PROJECTED]) for name in OF_DATA)])


def fewest() -> dict[str, Any]:
    """Return the fewest rows in a cell, for each draw of the directions, and the number promised."""
    prob, y, _, _ = covertype3()
    binnings = [Projection(27), *(Projection(27, "random", random_state=seed) for seed in range(RANDOM_SEEDS))]
    return {
        "fewest": [int(CanonicalBinning(binning).fit(prob, y).count_.min()) for binning in binnings],
        "promised": (len(y) + 1) // 27 - 1,
        "ceiling": -(-(len(y) + 1) // 27) - 1,
    }


OF_FORESTS = {
    "forest-rare": (
        lambda: between(("forest", RAREST), ("forest", COMMONEST)),
        higher,
        lambda one, other: (
            f"Root mean square gaps, other data: {root(one):.3f} (rarest), {root(other):.3f} (most frequent)"
        ),
    ),
    "points-uniform": (
        lambda: {"spread": {name: float(np.ptp(by_class(RARE, name).root)) for name in METHODS}},
        uniform,
        lambda spread: (
            "Highest less lowest root mean square gap, other data: "
            + ", ".join(f"{value:.3f} ({name})" for name, value in spread.items())
        ),
    ),
    "bins-rare": (
        lambda: {"ways": {way: between((way, RAREST), (POINTS, RAREST)) for way in FIXED}},
        by_its_bins,
        lambda ways: of_ways(ways, "bins", "points"),
    ),
    "bins-frequent": (
        of_the_most_frequent,
        lambda ways: under_all_readings(above_zero(np.subtract(*of.values())) for of in ways.values()),
        lambda ways: (
            of_ways(ways, "points", "bins")
            + ". The paper's 50 bins have more rows there than 100, some 370; here they have 40, and 10 bins have 200"
        ),
    ),
    "sierpinski": (
        cells,
        lambda made, printed: printed_as(made == printed, made == {q: (3 ** (int(q) + 1) - 1) // 2 for q in printed}),
        lambda made, printed: ", ".join(
            f"{n} at depth {q}" + ("" if n == printed[q] else f" (printed {printed[q]})") for q, n in made.items()
        ),
    ),
    "empty-bin": (
        lambda: {"classes": 3, "bins": 13},
        lambda classes, bins: printed_as(abs(classes / bins - 1) <= 1e-12, True),
        lambda classes, bins: (
            f"{classes} classes and {bins} bins: it sums to {classes / bins:.3f}. `CanonicalBinning` predicts 1 / "
            f"{classes}"
        ),
    ),
    "few-rows": (
        poor_estimates,
        judge_poor,
        lambda fewest, worst: (
            f"Three classes of Covertype, labels drawn from the predictions, {RANDOM_SEEDS} draws of 500 rows; fewest rows in "
            "a bin, and distance of the worst vector from the true one (sum over classes, mean of draws): "
            + "; ".join(f"{n} {min(of)} to {max(of)}, {np.mean(worst[n]):.2f}" for n, of in fewest.items())
        ),
    ),
    "projection": (
        fewest,
        lambda fewest, promised, ceiling: holds(min(fewest) >= promised),
        lambda fewest, promised, ceiling: (
            f"{min(fewest)} at least, along the axes and in {len(fewest) - 1} draws of random directions: the floor gives "
            f"{promised}, which holds, the ceiling {ceiling}, which does not. The sign of the ceiling may be the slides'"
        ),
    ),
}


# What the paper says of networks, asked of those at hand: published ones, and small ones that are trained here.


def of_ratios(networks: Sequence[str], ratios: Mapping[str, Sequence[float]]) -> str:
    """Return the range of ratios, and how many of them are from 2 to 3."""
    return f"Over {len(networks)} networks: " + "; ".join(
        f"{name} {min(of):.1f} to {max(of):.1f} times, {sum(2 <= r <= 3 for r in of)} of {len(of)} are 2 to 3"
        for name, of in ratios.items()
    )


def lowest(differences: Mapping[str, Mapping[str, float]]) -> Verdict:
    """Return whether the one is lower than each other; it fails where another is clearly lower, the level shared."""
    if any(on_most({"": of}, LEVEL / len(differences)) is Verdict.FAILS for of in differences.values()):
        return Verdict.FAILS
    return holds(True) if on_most(differences) is Verdict.HOLDS else Verdict.OPEN


def on_networks(metric: str, *pairs: tuple[str, str], judge: Callable[..., Verdict] = on_most) -> Functions:
    """Return the functions of a claim that the first of each pair has the lower error on most networks."""
    return (
        lambda: {
            "networks": list(stored()),
            "differences": {f"{one} less {other}": less(metric, one, other) for one, other in pairs},
        },
        lambda networks, differences: judge(differences),
        lambda networks, differences: in_words_of_networks(differences),
    )


OF_NETWORKS = {
    "two-or-three-times": (
        lambda: {"networks": list(stored()), "ratios": ratio_share()},
        lambda networks, ratios: each_holds(sum(2 <= r <= 3 for r in of) > len(of) / 2 for of in ratios.values()),
        of_ratios,
    ),
    "better-than-temperature": on_networks("TL-ECE", ("TL-HB", "TS")),
    "n-hb-best": on_networks("TL-ECE", *(("N-HB", other) for other in ("Base", "TS", "VS", "TL-HB")), judge=lowest),
    "cw-hb-best": on_networks("CW-ECE", *(("CW-HB", other) for other in ("Base", "TS", "VS", "N-HB")), judge=lowest),
    "n-hb-terrible": on_networks("CW-ECE", ("CW-HB", "N-HB"), ("Base", "N-HB")),
}

NOTE = "What Tables 2 and 3 themselves print is in the rows that say *as printed*."


CLAIMS = claims_of(
    "top_label",
    OF_THEORY | PRINTED | OF_NETWORKS | OF_FORESTS,
    ALIKE=ALIKE,
    PROMISED=PROMISED,
    SEEDS=SEEDS,
    WORLDS=WORLDS,
    VERY_FEW=VERY_FEW,
)

PAPER = Paper(
    name="top_label", title="Top-label calibration and multiclass-to-binary reductions", authors="Gupta and Ramdas",
    venue="ICLR 2022", command="make reproduce-top-label", minutes=2, page="top-label.md", claims=CLAIMS,
    note="Read from slides on the paper (Shiyun Xu, 2022); a misprint named here is the slides' and may not be in the paper.",
)  # fmt: skip
