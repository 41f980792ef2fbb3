"""What the pages say about this paper, as rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
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
    Claim,
    Paper,
    Verdict,
    above_zero,
    all_of,
    holds,
    on_several,
    under_all_readings,
)
from studies.top_label.forecasts import (
    DRAWS,
    METHODS,
    RARE,
    SEEDS,
    by_class,
    cifar,
    difference,
    estimate,
    forecasts,
    of_metric,
    printed,
    ratios,
)
from studies.top_label.guarantee import ALPHA, mean_errors, promised_rates
from studies.top_label.pictures import RANDOM_SEEDS, covertype3

# Verdicts on the paper's sentences: functions of numbers that `claims.json` holds.


Figures = Mapping[str, float]
"""A figure of each method."""

ALIKE = 0.5
"""Share of the forest's spread between classes below which errors are quite uniform."""


# One network: several of them are needed, see `studies.claims.on_several`


def pairs(found: Figures, printed: Figures) -> list[bool]:
    """Return, for each pair of methods that the paper tells apart, whether it stands as printed."""
    told_apart = [(a, b) for a, b in combinations(found, 2) if printed[a] != printed[b]]
    return [(found[a] > found[b]) == (printed[a] > printed[b]) for a, b in told_apart]


def ordered(found: Figures, printed: Figures) -> Verdict:
    """Return whether all pairs of methods stand as printed; in part, whether some do."""
    stand = pairs(found, printed)
    return Verdict.HOLDS if all(stand) else Verdict.IN_PART if any(stand) else Verdict.FAILS


def two_or_three_times(ratios: Mapping[str, Sequence[float]]) -> Verdict:
    """Return whether more than half of the ratios are from 2 to 3, of each method; in part, of any."""
    often = [sum(2 <= r <= 3 for r in of) > len(of) / 2 for of in ratios.values()]
    return Verdict.HOLDS if all(often) else Verdict.IN_PART if any(often) else Verdict.FAILS


def lowest(found: Figures, method: str) -> Verdict:
    """Return whether a method has the lowest figure."""
    return holds(found[method] == min(found.values()))


def each_lower(found: Figures, methods: Sequence[str], other: str) -> Verdict:
    """Return whether each of the methods is lower than another one."""
    return all_of(holds(found[method] < found[other]) for method in methods)


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
        key="patients",
        where="Example",
        sentence="Two patients with the same probability have a conf-ECE of 0 and a TL-ECE of 0.4.",
        target="exactly",
        says=Verdict.HOLDS,
        measure=patients,
        judge=exactly,
        words=lambda found, expected: f"conf-ECE {found['confidence']}, TL-ECE {found['top-label']}",
    ),
    Claim(
        key="confidence-below",
        where="Fig. 1",
        sentence="The confidence diagram suggests better calibration than the top-label diagram.",
        target="over the same bins the conf-ECE is never above the TL-ECE, as the triangle inequality says of any "
        "predictions",
        says=Verdict.NOT_JUDGED,
        measure=both_errors,
        judge=lambda lower, upper: Verdict.NOT_JUDGED,
        words=lambda lower, upper: (
            "; ".join(f"{name} {lower[name]:.4f} and {upper[name]:.4f}" for name in lower)
            + ". True of any predictions; nothing was tested"
        ),
    ),
    Claim(
        key="panels",
        where="Fig. of six points, (b) to (d)",
        sentence="The binary problems of confidence, top-label and class-wise calibration.",
        target="each score and outcome as printed",
        says=Verdict.HOLDS,
        measure=panels,
        judge=all_stand,
        words=in_words,
    ),
    Claim(
        key="panel-e",
        where="Fig. of six points, (e)",
        sentence="The vectors of canonical calibration.",
        target="each as in panel (a)",
        says=Verdict.IN_PART,
        measure=vectors,
        judge=all_stand,
        words=lambda stand: in_words(stand) + ", which is g(c) of panel (a) with the outcome of b",
        one_suffices=ARITHMETIC,
    ),
    Claim(
        key="class-wise-not-canonical",
        where="Proposition",
        sentence="There are predictors that are class-wise calibrated and not canonically.",
        target="class-wise ECE 0, canonical ECE above 0, of three classes",
        says=Verdict.HOLDS,
        measure=class_wise_only,
        judge=lambda class_wise, canonical: (
            Verdict.HOLDS if Fraction(class_wise) == 0 < Fraction(canonical) else Verdict.FAILS
        ),
        words=lambda class_wise, canonical: (
            f"Class-wise ECE {class_wise}, canonical ECE {canonical}: [example B](notions.md)"
        ),
    ),
    Claim(
        key="accuracy",
        where="Algorithm 1",
        sentence="The predicted class does not change, and so neither does the accuracy.",
        target="the predicted class of each row is the same, and the accuracy",
        says=Verdict.HOLDS,
        measure=predicted_classes,
        judge=lambda rows, changed, before, after: all_of(
            (holds(not any(changed.values())), holds(all(value == before for value in after.values())))
        ),
        words=lambda rows, changed, before, after: (
            f"Of {rows:,} rows {', '.join(f'{n} ({name})' for name, n in changed.items())} change the predicted class; "
            f"accuracy {before:.4f} before, {', '.join(f'{v:.4f} ({n})' for n, v in after.items())}"
        ),
    ),
    Claim(
        key="theorem-1-constant",
        where="Theorem 1",
        sentence="With 50 points a bin the expected TL-ECE is at most about 0.1.",
        target="the bound sqrt(1 / (2 k)) is 0.1",
        tolerance="0.0005",
        says=Verdict.HOLDS,
        measure=lambda: {"bound": binning_guarantee(5000, 50, n_classes=10).expected_error},
        judge=lambda bound: Verdict.HOLDS if abs(bound - 0.1) <= 0.0005 else Verdict.FAILS,
        words=lambda bound: f"{bound:.4f}",
    ),
    Claim(
        key="theorem-1",
        where="Theorem 1, remark",
        sentence="Top-label binning is marginally and conditionally calibrated, and its TL-ECE and TL-MCE are bounded.",
        target=f"each promise is kept in at least {1 - ALPHA:.0%} of the calibration sets, within two standard errors",
        says=Verdict.HOLDS,
        measure=lambda: {"rates": promised_rates(THEORY_DRAWS), "promised": 1 - ALPHA},
        judge=kept,
        words=lambda rates, promised: (
            f"Kept least often, of {len(rates)} promises in simulated worlds of known truth: "
            + "; ".join(
                f"{rate:.1%} ({name})" for name, (rate, _) in sorted(rates.items(), key=lambda item: item[1])[:2]
            )
        ),
    ),
    Claim(
        key="theorem-1-mean",
        where="Theorem 1",
        sentence="On average over calibration sets the TL-ECE is at most sqrt(1 / (2 k)).",
        target="the mean over simulated calibration sets is below the bound",
        says=Verdict.HOLDS,
        measure=lambda: mean_errors(THEORY_DRAWS),
        judge=never_above,
        words=lambda lower, upper: "; ".join(f"{lower[n]:.3f} of {upper[n]:.3f} ({n})" for n in lower),
    ),
)


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


OF_FORESTS: tuple[Claim, ...] = (
    Claim(
        key="forest-rare",
        where="Fig. 4 (a)",
        sentence="The forest has a much higher TL-ECE for the least likely classes.",
        target=f"the squared gap is higher for the rarest class than for the most frequent, {CLEARLY}",
        says=Verdict.HOLDS,
        measure=lambda: between(("forest", RAREST), ("forest", COMMONEST)),
        judge=higher,
        words=lambda one, other: (
            f"Root mean square gaps, other data: {root(one):.3f} (rarest), {root(other):.3f} (most frequent)"
        ),
        over="one",
    ),
    Claim(
        key="points-uniform",
        where="Fig. 4 (a)",
        sentence="With a fixed number of points a bin the TL-ECE after calibration is quite uniform.",
        target=f"the least spread between classes, and below {ALIKE:.0%} of the forest's",
        says=Verdict.HOLDS,
        measure=lambda: {"spread": {name: float(np.ptp(by_class(RARE, name).root)) for name in METHODS}},
        judge=uniform,
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
        judge=in_every_way,
        words=lambda ways: "Root mean square gaps, other data: " + of_ways(ways, "bins", "points"),
    ),
    Claim(
        key="bins-frequent",
        where="Fig. 4 (b)",
        sentence="... and lower on the most likely classes.",
        target=f"lower than with 100 points a bin, {CLEARLY}, with 50 bins and with 10",
        says=Verdict.OPEN,
        measure=lambda: {"ways": {way: between((POINTS, COMMONEST), (way, COMMONEST)) for way in FIXED}},
        judge=in_every_way,
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


# What the paper says of networks, asked of the one whose logits are at hand: a ResNet-50 on CIFAR-10.


NETWORK = "ResNet-50 on CIFAR-10"
SEVERAL = "on every one of several networks; the paper has"
FIGURE = "Fig. 3"
"""conf-ECE and TL-ECE of four networks on CIFAR-10."""

TWICE = ("Base", "TS", "TL-HB (50)")
"""Methods whose ratio of TL-ECE to conf-ECE is shown."""


def on_the_network(
    key: str, where: str, sentence: str, target: str, measure: Callable[[], Mapping[str, Any]],
    judge: Callable[..., Verdict], words: Callable[..., str],
) -> Claim:  # fmt: skip
    """Return a claim about networks, undecided until there are several."""
    return Claim(
        key=key,
        where=where,
        sentence=sentence,
        target=f"{target}, {SEVERAL} {'four in this figure' if where == FIGURE else 'eight'}",
        says=Verdict.OPEN,
        measure=lambda: {"networks": [dict(measure())]},
        judge=on_several(judge),
        words=lambda networks: (
            f"On one network, {NETWORK}, which does not decide it: " + "; ".join(words(**one) for one in networks)
        ),
    )


# Measures


def corrected(metric: str) -> dict[str, float]:
    """Return the bias-corrected figure of each method that the paper has; of both TL-HB that with 50 points a bin."""
    return {n: estimate(n, metric).debiased or 0.0 for n in of_metric(metric) if n != "TL-HB (100)"}


def paper(metric: str) -> dict[str, float]:
    """Return the paper's figures."""
    return {name: printed(name, metric) for name in of_metric(metric) if name != "TL-HB (100)"}


def order(metric: str) -> Callable[[], dict[str, Any]]:
    """Return a measure of the order of the methods."""
    return lambda: {"found": corrected(metric), "printed": paper(metric)}


def maxima() -> dict[str, Any]:
    """Return the TL-MCE of each method, what the paper prints, and the p-value under calibration."""
    of = {name: estimate(name, "TL-MCE") for name in of_metric("TL-MCE") if name != "TL-HB (100)"}
    return {
        "found": {name: e.value for name, e in of.items()},
        "printed": paper("TL-MCE"),
        "pvalue": {name: e.pvalue for name, e in of.items()},
    }


def against(metric: str, *pairs: tuple[str, str]) -> Callable[[], dict[str, Any]]:
    """Return a measure of the bias-corrected figures, and of differences of pairs."""
    return lambda: {
        "found": {name: estimate(name, metric).debiased or 0.0 for name in of_metric(metric)},
        "differences": {f"{one} less {other}": difference(one, other, metric) for one, other in pairs},
    }


# Words


def of_order(found: Figures, printed: Figures, pvalue: Mapping[str, float] | None = None) -> str:
    """Return both orders, and how many pairs stand."""
    here, there = (", ".join(sorted(of, key=lambda name: of[name])) for of in (found, printed))
    stand = pairs(found, printed)
    text = f"lowest first, here {here}; the paper {there}; {sum(stand)} of {len(stand)} pairs stand"
    if pvalue is not None:
        noise = [name for name, p in pvalue.items() if p > 0.05]
        text += f". With the scores of {', '.join(noise)} calibrated predictions show as much (p above 0.05)"
    return text


def of_differences(found: Figures, differences: Mapping[str, Mapping[str, float]], times: float = 1.0) -> str:
    """Return differences of pairs, plug-in and bias-corrected."""
    digits = 4 if times == 1.0 else 3
    best = min(found, key=lambda name: found[name])
    shown = "; ".join(
        f"{pair} {times * of['corrected']:+.{digits}f} bias-corrected, {times * of['plug_in']:+.{digits}f} plug-in "
        f"({times * of['error']:.{digits}f})"
        for pair, of in differences.items()
    )
    return f"lowest {best}; {shown}"


def of_hundredths(found: Figures, differences: Mapping[str, Mapping[str, float]]) -> str:
    """Return the same, in hundredths."""
    return f"in hundredths, {of_differences(found, differences, 100.0)}"


def of_ratios(ratios: Mapping[str, Sequence[float]]) -> str:
    """Return the range of ratios, and how many of them are from 2 to 3."""
    return "; ".join(
        f"{name} {min(of):.1f} to {max(of):.1f} times, {sum(2 <= r <= 3 for r in of) / len(of):.0%} of them 2 to 3"
        for name, of in ratios.items()
    )


OF_NETWORKS: tuple[Claim, ...] = (
    on_the_network(
        "two-or-three-times",
        FIGURE,
        "The TL-ECE is often 2 to 3 times the conf-ECE.",
        "more than half of the ratios over 5 to 25 bins are from 2 to 3 for each method",
        lambda: {"ratios": {name: ratios(name) for name in TWICE}},
        two_or_three_times,
        of_ratios,
    ),
    on_the_network(
        "better-than-temperature",
        FIGURE,
        "Top-label histogram binning typically does better than temperature scaling.",
        "its bias-corrected TL-ECE is lower, with 50 and with 100 points a bin",
        against("TL-ECE", ("TL-HB (50)", "TS"), ("TL-HB (100)", "TS")),
        lambda found, differences: each_lower(found, ["TL-HB (50)", "TL-HB (100)"], "TS"),
        of_differences,
    ),
    on_the_network(
        "order-tl-ece",
        "Table 2",
        "The order in the line ResNet-50, CIFAR-10, by TL-ECE.",
        "every pair that the paper tells apart stands as printed, bias-corrected",
        order("TL-ECE"),
        ordered,
        of_order,
    ),
    on_the_network(
        "n-hb-best",
        "Table 2",
        "N-HB has the lowest TL-ECE.",
        "its bias-corrected TL-ECE is the lowest",
        against("TL-ECE", ("N-HB", "TL-HB (50)"), ("N-HB", "TL-HB (100)")),
        lambda found, differences: lowest(found, "N-HB"),
        of_differences,
    ),
    on_the_network(
        "order-tl-mce",
        "Table 2",
        "The order in the line ResNet-50, CIFAR-10, by TL-MCE.",
        "every pair that the paper tells apart stands as printed",
        maxima,
        lambda found, printed, pvalue: ordered(found, printed),
        of_order,
    ),
    on_the_network(
        "tl-hb-lowest-mce",
        "Table 2",
        "On the four CIFAR-10 networks TL-HB has the lowest TL-MCE. (Read off the table: not a sentence of the paper; on "
        "CIFAR-100 TL-HB has it for none.)",
        "its TL-MCE is the lowest, and calibrated predictions with the scores of the others would show less than they "
        "do",
        maxima,
        lambda found, printed, pvalue: lowest(found, "TL-HB (50)") if max(pvalue.values()) <= 0.05 else Verdict.OPEN,
        lambda found, printed, pvalue: (
            f"{', '.join(f'{value:.3f} ({name}, p {pvalue[name]:.2f})' for name, value in found.items())}: most are "
            "noise"
        ),
    ),
    on_the_network(
        "order-cw-ece",
        "Table 3",
        "The order in the line ResNet-50, CIFAR-10, by class-wise ECE.",
        "every pair that the paper tells apart stands as printed, bias-corrected",
        order("CW-ECE"),
        ordered,
        of_order,
    ),
    on_the_network(
        "cw-hb-best",
        "Table 3",
        "Class-wise binning has the lowest class-wise ECE. (The text has TL-HB, the table CW-HB.)",
        "the bias-corrected class-wise ECE of CW-HB is the lowest",
        against("CW-ECE", ("CW-HB", "DS")),
        lambda found, differences: lowest(found, "CW-HB"),
        of_hundredths,
    ),
    on_the_network(
        "n-hb-terrible",
        "Table 3",
        "N-HB performs terribly by class-wise ECE. (In the table it is above no calibration on 5 of 8 networks.)",
        "its bias-corrected class-wise ECE is above that without calibration",
        against("CW-ECE", ("N-HB", "Base")),
        lambda found, differences: each_lower(found, ["Base"], "N-HB"),
        of_hundredths,
    ),
)

NOTE = (
    f"In brackets stands the standard error of the plug-in difference, over {DRAWS} bootstrap draws of the test rows, "
    "the same for both methods. It does not hold what another calibration set, or another network, would change."
)


CLAIMS: tuple[Claim, ...] = (*OF_THEORY, *OF_NETWORKS, *OF_FORESTS)

PAPER = Paper(
    name="top_label",
    title="Top-label calibration and multiclass-to-binary reductions",
    authors="Gupta and Ramdas",
    venue="ICLR 2022",
    command="make reproduce-top-label",
    minutes=2,
    page="top-label.md",
    claims=CLAIMS,
    note="Read from slides on the paper; a misprint named here is one of the slides and may not be in the paper.",
)
