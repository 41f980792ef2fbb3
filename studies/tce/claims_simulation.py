"""What the paper says of TCE (3.2) and of its simulation study: Table 2 (4.1) and Tables 6 to 13 (C.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np
from scipy.stats import binom

from calibrant.metrics.bin_losses import rejects
from studies.claims import (
    Functions,
    Numbers,
    Verdict,
    above_zero,
    all_of,
    below_zero,
    each_holds,
    holds,
    pm,
    under_all_readings,
)
from studies.tce import simulation as sim
from studies.tce.imagenet import PRINTED

LEVEL = 5.0
ROWS_OF_BINS = (300, 600, 1200)
MOST = 0.95
"""Share of pairs in the same order from which on a metric keeps the order."""

HALF = 50.0
"""TCE below which a model is shown as calibrated, and above it as miscalibrated, where the text speaks of one model alone."""


def digits(number: int) -> Functions:
    """The cells of a table."""

    def measure() -> Numbers:
        cells = [printed == found for _, _, printed, found in sim.compared(number)]
        return {"same": sum(cells), "cells": len(cells)}

    return measure, lambda same, cells: holds(same == cells > 0), lambda same, cells: f"{same} of {cells} cells"


JUDGED: dict[str, Functions] = {f"table-{number}": digits(number) for number in sim.TABLES}
"""What measures, judges and words each claim."""


# Section 4.1

JUDGED["slope"] = (
    lambda: {"slopes": {"the text": 2.0 / 2.0**2, "the text, 2 a variance": 2.0 / 2.0, "the code": 1.0 / 2.0**2}},
    lambda slopes: (
        Verdict.MISPRINT
        if (found := under_all_readings(holds(abs(abs(of) - 4.0) < 1e-9) for of in slopes.values())) is Verdict.FAILS
        else found
    ),
    lambda slopes: (
        "Its size is the difference of the means over the variance: "
        + ", ".join(f"{slope:g} ({name})" for name, slope in slopes.items())
        + ". With the printed sign of the exponent it would be negative. "
        "The text has means -1 and 1, the code that made the tables -0.5 and 0.5; with these the tables come out"
    ),
)


JUDGED["small-ece"] = (
    lambda: {"differences": [float(d) for d in sim.drawn(2, 4, "ECE") - sim.drawn(2, 0, "ECE")]},
    below_zero,
    lambda differences: (
        f"Difference {pm(differences)}; smaller in {np.mean(np.array(differences) < 0):.0%} of {len(differences)} draws"
    ),
)


def order_share(metric: str) -> float:
    """How often a miscalibrated model of rare events is above a calibrated one of frequent events, over all pairs."""
    wrong = np.concatenate([sim.drawn(2, line, metric) for line in (4, 5)])
    return float(np.mean(wrong[:, None] > sim.drawn(2, 0, metric)[None, :]))


JUDGED["order"] = (
    lambda: {"shares": {metric: order_share(metric) for metric in ("TCE(P)", "TCE(Q)", "ECE", "ACE")}},
    lambda shares: each_holds((share >= MOST) == metric.startswith("TCE") for metric, share in shares.items()),
    lambda shares: (
        "The miscalibrated model of rare events has the larger "
        + ", ".join(f"{metric} in {share:.0%}" for metric, share in shares.items())
        + f" of the pairs of {sim.SEEDS} draws"
    ),
)


JUDGED["scale"] = (
    lambda: {
        **{
            word: [abs(float(sim.at(p, "shifted", metric).mean())) for p in sim.PREVALENCES_MONITORING]
            for word, metric in (("tce", "TCE(P)"), ("ece", "ECE"), ("shift", "in the large"))
        },
        "order": [sim.told_apart(metric) for metric in ("TCE(P)", "ECE", "in the large")],
    },
    lambda tce, ece, shift, order: each_holds([order[0] >= MOST, min(tce) * 2 > max(tce)]),
    lambda tce, ece, shift, order: (
        f"Log-odds too high by one half, with as many rows: TCE {', '.join(f'{of:.0f}' for of in tce)} at prevalences from "
        f"50 % to 1 %, ECE from {ece[0]:.4f} to {ece[-1]:.4f}. Over pairs of prevalences the shifted predictions have the "
        f"larger TCE in {order[0]:.0%}, the larger ECE in {order[1]:.0%}. The paper does not say which of the two a consistent "
        f"scale is; `calibration_in_the_large` has both, {min(shift):.2f} to {max(shift):.2f} in size and {order[2]:.0%}"
    ),
)


# Section 3.2


def size(prob: float, n: int) -> float:
    """Expected TCE of a bin of n rows whose predictions are all equal, and right: exact."""
    events = np.arange(n + 1)
    rejected = rejects(np.full(n + 1, prob), events, events.astype(float), np.full(n + 1, float(n)), LEVEL / 100.0)
    return float(100.0 * binom.pmf(events, n, prob)[rejected].sum())


def measure_null() -> Numbers:
    half = {name: float(sim.at_prevalence(0.5)[name, "binomial"].mean()) for name in ("TCE(P)", "TCE(Q)", "TCE(V)")}
    sizes = [[prob, [size(prob, n) for n in ROWS_OF_BINS]] for prob in (0.5, 0.1, 0.01)]
    return {"sizes": sizes, "half": half, "many": float(sim.at_size(30_000)["TCE(Q)"].mean())}


JUDGED["level"] = (
    measure_null,
    lambda sizes, half, many: each_holds(max(abs(one - LEVEL) for one in of) <= 1.0 for _, of in sizes),
    lambda sizes, half, many: (
        "Where all predictions of a bin are equal and right, the exact test has, with 300, 600 and 1200 rows, "
        + "; ".join(f"at {prob:.0%} " + ", ".join(f"{one:.1f} %" for one in of) for prob, of in sizes)
        + ": never above the level, and below it where events are rare. Not judged: true probabilities that differ within "
        "bins, 6000 rows: "
        + ", ".join(f"{name} {value:.1f}" for name, value in half.items())
        + f"; with 30,000 rows TCE(Q) {many:.0f}. These are calibrated, but not all that is tested is true"
    ),
)


# Appendix C.1


def apart(number: int, i: int, metric: str = "TCE(P)") -> list[float]:
    """TCE of the miscalibrated model less that of the calibrated one, one a draw."""
    half = len(sim.TABLES[number].lines) // 2
    return [float(d) for d in sim.drawn(number, half + i, metric) - sim.drawn(number, i, metric)]


def reasonable(
    number: int, good: Sequence[int], bad: Sequence[int] = (), failing: str = "calibrated", *, alone: bool = False
) -> Functions:
    """Settings that the paper calls reasonable, for both models or for one alone, and others at which TCE(P) fails for one."""
    half = len(sim.TABLES[number].lines) // 2
    return (
        lambda: {
            word: [[float(sim.drawn(number, i + at, "TCE(P)").mean()) for at in (0, half)] for i in of]
            for word, of in (("good", good), ("bad", bad))
        },
        partial(judge_alone if alone else judge_reasonable, failing=failing),
        say_reasonable,
    )


def judge_reasonable(good: list[list[float]], bad: list[list[float]], failing: str) -> Verdict:
    """One line parts the models in all good settings; in each other one the failing model is worse than in any of them."""
    (right, wrong), others = zip(*good, strict=True), bad
    worse = [own > max(right) if failing == "calibrated" else other < min(wrong) for own, other in others]
    return each_holds([max(right) < min(wrong), *([all(worse)] if worse else [])])


def judge_alone(good: list[list[float]], bad: list[list[float]], failing: str) -> Verdict:
    """The model is on its own side of half in all good settings, and beyond half in each other one."""
    wrong = failing == "miscalibrated"
    return each_holds(
        all((line[wrong] > HALF) == above for line in of) for of, above in ((good, wrong), (bad, not wrong))
    )


def say_reasonable(good: list[list[float]], bad: list[list[float]]) -> str:
    parts = [
        f"calibrated model {_from_to(right)}, miscalibrated {_from_to(wrong)}{where}"
        for (right, wrong), where in zip(
            (zip(*of, strict=True) for of in (good, bad) if of),
            (" in the first settings", " in the others"),
            strict=False,
        )
    ]
    return "Mean TCE(P) over draws: " + "; ".join(parts)


JUDGED |= {
    "reasonable-6": reasonable(6, range(6), (6,), alone=True),
    "reasonable-7": reasonable(7, range(3, 7), range(3), "miscalibrated", alone=True),
    "reasonable-10": reasonable(10, range(5), (5,)),
    "reasonable-12": reasonable(12, range(4, 8), range(4)),
    "reasonable-12-milder": reasonable(12, range(4, 8), range(4), "miscalibrated"),
    "reasonable-13": reasonable(13, range(9)),
}


def _from_to(values: Iterable[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:.1f}" if low == high else f"{low:.1f} to {high:.1f}"


def judge_sizes(apart: list[list[float]]) -> Verdict:
    """Whether the fourth pair of sizes, 300 to 1200, is clearly ahead of each other."""
    best = np.array(apart[3])
    return all_of(above_zero(list(best - of)) for i, of in enumerate(apart) if i != 3)


JUDGED["best-sizes"] = (
    lambda: {"apart": [apart(8, i) for i in range(len(sim.PAIRS))]},
    judge_sizes,
    lambda apart: (
        "Mean points apart: "
        + ", ".join(
            f"{np.mean(of):.0f} ({low} to {high} rows)" for of, (low, high) in zip(apart, sim.PAIRS, strict=True)
        )
    ),
)


def measure_noise() -> Numbers:
    """Mean of each metric at each strength of the noise, of the calibrated and of the miscalibrated model."""
    lines = range(len(sim.TABLES[9].lines))
    return {"means": {metric: [float(sim.drawn(9, i, metric).mean()) for i in lines] for metric in sim.SHOWN[9]}}


BREAKS = sim.NOISES.index(0.5)


def judge_breaks(means: dict[str, list[float]]) -> Verdict:
    """Whether the largest factor from one strength to the next is that from 0.1 to 0.5, for each metric."""
    factors = [np.array(of[1 : len(sim.NOISES)]) / of[: len(sim.NOISES) - 1] for of in means.values()]
    return all_of(holds(int(np.argmax(of)) == BREAKS - 1) for of in factors)


JUDGED["noise-breaks-down"] = (
    measure_noise,
    judge_breaks,
    lambda means: (
        "Mean of the calibrated model without noise, with 0.1 and with 0.5: "
        + "; ".join(
            f"{metric} "
            + ", ".join(f"{of[i]:.{1 if metric.startswith('TCE') else 4}f}" for i in (0, BREAKS - 1, BREAKS))
            for metric, of in means.items()
        )
    ),
)


def say_alike(means: dict[str, list[float]]) -> str:
    half = len(sim.NOISES)
    parts = [
        f"{metric} times {of[BREAKS] / of[BREAKS - 1]:.1f}, miscalibrated {of[half + BREAKS] / of[half + BREAKS - 1]:.2f}"
        for metric, of in means.items()
    ]
    return (
        f"From noise of 0.1 to 0.5, calibrated model: {'; '.join(parts)}. So it is of the calibrated model, of which the paper "
        "goes on to speak; of the miscalibrated one the noise lowers TCE and raises the others"
    )


JUDGED["noise-felt-alike"] = (
    measure_noise,
    lambda means: each_holds(
        len({of[start + BREAKS] > of[start + BREAKS - 1] for of in means.values()}) == 1
        for start in (0, len(sim.NOISES))
    ),
    say_alike,
)


def measure_printed_t() -> Numbers:
    """Cells of the t columns of Table 11 that agree, with the published t-test and with a t-test."""
    names = sim.TABLES[11].metrics
    without = next(word for word in sim.WITH_OURS if "t-test" in word)
    same = [
        [printed == found for _, j, printed, found in sim.compared(11, how) if names[j].endswith("-T")]
        for how in ("", without)
    ]
    return {"cells": len(same[0]), "variance": sum(same[0]), "deviation": sum(same[1])}


JUDGED["printed-t-test"] = (
    measure_printed_t,
    lambda cells, variance, deviation: holds(deviation == cells),
    lambda cells, variance, deviation: (
        f"{variance} of {cells} printed cells come out with the variance in place of the standard deviation, as in the "
        f"published code, and {deviation} with the standard deviation"
    ),
)

T_NAMES = ("TCE(P)", "TCE(Q)", "TCE(V)")


def further_apart(binomial: Sequence[float], t: Sequence[float]) -> int:
    """In how many cells the binomial test has the two models further apart; those of the calibrated model come first."""
    half = len(binomial) // 2
    gaps = [np.subtract(of[half:], of[:half]) for of in (binomial, t)]
    return int((gaps[0] > gaps[1]).sum())


def printed_apart() -> int:
    """In how many cells of Table 11, as printed, the binomial test has the two models further apart."""
    cells = np.array(PRINTED[11], dtype=float)
    return further_apart(cells[:, ::2].ravel().tolist(), cells[:, 1::2].ravel().tolist())


def measure_t() -> Numbers:
    """Mean of the binomial test less that of the t-test, cells of the calibrated model first."""
    cells = [
        [float((sim.drawn(11, i, f"{name}-B") - sim.drawn(11, i, f"{name}-T")).mean()) for name in T_NAMES]
        for i in range(len(sim.TABLES[11].lines))
    ]
    half = len(cells) // 2
    rare = [float(sim.at_prevalence(0.01)["TCE(P)", test].mean()) for test in ("binomial", "t")]
    return {
        "calibrated": [d for line in cells[:half] for d in line],
        "miscalibrated": [d for line in cells[half:] for d in line],
        "rare": rare,
        "printed": printed_apart(),
    }


def judge_t(calibrated: list[float], miscalibrated: list[float], rare: list[float], printed: int) -> Verdict:
    """Both readings of better: cell by cell, and further apart. The printed columns are of no t-test and do not count."""
    better = sum(d < 0 for d in calibrated) + sum(d > 0 for d in miscalibrated)
    apart = sum(m > c for c, m in zip(calibrated, miscalibrated, strict=True))
    n = len(calibrated)
    return under_all_readings((holds(better > n), holds(2 * apart > n)))


def say_t(calibrated: list[float], miscalibrated: list[float], rare: list[float], printed: int) -> str:
    better = sum(d < 0 for d in calibrated), sum(d > 0 for d in miscalibrated)
    apart = sum(m > c for c, m in zip(calibrated, miscalibrated, strict=True))
    n = len(calibrated)
    largest = max(abs(d) for d in (*calibrated, *miscalibrated))
    return (
        f"With the standard deviation, means over draws: the binomial test has the smaller TCE of the calibrated model in "
        f"{better[0]} of {n} cells and the larger of the miscalibrated one in {better[1]} of {n}, and keeps them further "
        "apart in "
        f"{apart}; the two tests differ by at most {largest:.1f} points. At a prevalence of 1 % the binomial test rejects "
        f"{rare[0]:.1f} % of the true probabilities, the t-test {rare[1]:.1f} %. In the printed table the binomial test keeps "
        f"the models further apart in {printed} of {n} cells: so it looked, with a t-test that divides by the variance"
    )


JUDGED["binomial-against-t"] = (measure_t, judge_t, say_t)


def measure_overall_better() -> Numbers:
    printed = [[float(cell) for cell in line[:3]] for line in PRINTED[13]]
    means = [[float(sim.drawn(13, i, name).mean()) for name in T_NAMES] for i in range(len(printed))]
    return {"printed": printed, "means": means}


def means_of_models(lines: list[list[float]]) -> list[list[float]]:
    """Mean of each column over the calibrated models, which come first, and over the others."""
    half = len(lines) // 2
    return [[float(of) for of in np.mean(part, axis=0)] for part in (lines[:half], lines[half:])]


def judge_better(printed: list[list[float]], means: list[list[float]]) -> Verdict:
    """By the printed means: TCE(P) the least of the calibrated models, and the most of the others."""
    good, bad = means_of_models(printed)
    return each_holds([good[0] < min(good[1:]), bad[0] > max(bad[1:])])


def say_better(printed: list[list[float]], means: list[list[float]]) -> str:
    (good, bad), (drawn_good, drawn_bad) = (
        [", ".join(f"{value:.1f}" for value in of) for of in means_of_models(lines)] for lines in (printed, means)
    )
    return (
        f"TCE(P), TCE(Q), TCE(V), printed means: calibrated models {good}, miscalibrated models {bad}; means over draws "
        f"{drawn_good} and {drawn_bad}"
    )


def n_better(lines: list[list[float]], others: Sequence[int] = (1, 2)) -> int:
    """In how many lines no other is lower than the first, of the calibrated models, or higher, of the miscalibrated ones."""
    signs = np.repeat([1, -1], len(lines) // 2)
    return sum(all(sign * of[0] <= sign * of[j] for j in others) for sign, of in zip(signs, lines, strict=True))


JUDGED["overall-better"] = (measure_overall_better, judge_better, say_better)
JUDGED["all-better"] = (
    measure_overall_better,
    lambda printed, means: holds(n_better(printed) == len(printed)),
    lambda printed, means: "; ".join(
        f"{word} TCE(Q) is no better in {n_better(of, [1])}, TCE(V) in {n_better(of, [2])} and neither in {n_better(of)} of "
        f"{len(of)} lines"
        for word, of in (("as printed", printed), ("in the means over draws", means))
    ),
)
