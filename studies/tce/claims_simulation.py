"""What the paper says of TCE (3.2) and of its simulation study: Table 2 (4.1) and Tables 6 to 13 (C.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from calibrant import EqualWidth, bin_test_calibration_error
from studies.claims import (
    Claim,
    Numbers,
    Verdict,
    above_zero,
    all_of,
    below_zero,
    holds,
    mean_and_error,
    under_all_readings,
)
from studies.tce.imagenet import PRINTED
from studies.tce.simulation import (
    NOISES,
    PAIRS,
    SEEDS,
    SHOWN,
    TABLES,
    WITH_OURS,
    at_prevalence,
    at_size,
    compared,
    drawn,
    told_apart,
)
from studies.tce.simulation import at as monitored

LEVEL = 5.0
MOST = 0.95
"""Share of pairs in the same order from which on a metric keeps the order."""


def digits(number: int) -> Claim:
    """The cells of a table."""

    def measure() -> Numbers:
        cells = [printed == found for _, _, printed, found in compared(number)]
        return {"same": sum(cells), "cells": len(cells)}

    return Claim(
        key=f"table-{number}",
        where=f"Table {number}",
        sentence="The cells, as the published code computes them.",
        target="all cells, to the printed digits",
        says=Verdict.HOLDS,
        measure=measure,
        judge=lambda same, cells: holds(same == cells > 0),
        words=lambda same, cells: f"{same} of {cells} cells",
    )


# Section 4.1

SLOPE = Claim(
    key="slope",
    where="4.1",
    sentence="In P = 1 / (1 + exp(beta_0 + beta_1 x)), as printed, beta_1 is 4.",
    target="a size of 4 under the readings of the set-up; a misprint where none gives it, as the tables come out with another",
    tolerance="1e-9",
    says=Verdict.MISPRINT,
    # The coefficient is the difference of the means over the variance.
    measure=lambda: {
        "slopes": {"the text": 2.0 / 2.0**2, "the text, 2 a variance": 2.0 / 2.0, "the code": 1.0 / 2.0**2}
    },
    judge=lambda slopes: (
        Verdict.MISPRINT
        if (found := under_all_readings(holds(abs(abs(of) - 4.0) < 1e-9) for of in slopes.values())) is Verdict.FAILS
        else found
    ),
    words=lambda slopes: (
        "Its size is the difference of the means over the variance: "
        + ", ".join(f"{slope:g} ({name})" for name, slope in slopes.items())
        + ". With the printed sign of the exponent it would be negative. "
        "The text has means -1 and 1, the code that made the tables -0.5 and 0.5; with these the tables come out"
    ),
    over="slopes",
)


SMALL_ECE = Claim(
    key="small-ece",
    where="4.1, Table 2",
    sentence="The ECE of the miscalibrated model at 1 % - 0 % is smaller than that of the calibrated one at 50 % - 50 %.",
    target="a mean difference below zero over draws, by two standard errors",
    says=Verdict.HOLDS,
    measure=lambda: {"differences": [float(d) for d in drawn(2, 4, "ECE") - drawn(2, 0, "ECE")]},
    judge=below_zero,
    words=lambda differences: (
        f"Difference {mean_and_error(differences)[0]:+.4f} ± {mean_and_error(differences)[1]:.4f}; smaller in "
        f"{np.mean(np.array(differences) < 0):.0%} of {len(differences)} draws"
    ),
    over="differences",
)


def order_share(metric: str) -> float:
    """How often a miscalibrated model of rare events is above a calibrated one of frequent events, over all pairs."""
    wrong = np.concatenate([drawn(2, line, metric) for line in (4, 5)])
    return float(np.mean(wrong[:, None] > drawn(2, 0, metric)[None, :]))


ORDER = Claim(
    key="order",
    where="4.1, Table 2",
    sentence="ECE and ACE of miscalibrated models of rare events can be smaller than those of a calibrated model of frequent "
    "events; TCE is not.",
    target=f"the miscalibrated model has the larger TCE in {MOST:.0%} of the pairs of draws, and not the larger ECE or ACE",
    says=Verdict.HOLDS,
    measure=lambda: {"shares": {metric: order_share(metric) for metric in ("TCE(P)", "TCE(Q)", "ECE", "ACE")}},
    judge=lambda shares: all_of(
        (
            *(holds(shares[metric] >= MOST) for metric in ("TCE(P)", "TCE(Q)")),
            *(holds(shares[metric] < MOST) for metric in ("ECE", "ACE")),
        )
    ),
    words=lambda shares: (
        "The miscalibrated model of rare events has the larger "
        + ", ".join(f"{metric} in {share:.0%}" for metric, share in shares.items())
        + f" of the pairs of {SEEDS} draws"
    ),
    over="shares",
)


def judge_scale(tce: list[float], ece: list[float], order: list[float]) -> Verdict:
    """Two readings: one threshold orders predictions over prevalences; the same error in log-odds has the same TCE."""
    return under_all_readings((holds(order[0] >= MOST), holds(min(tce) * 2 > max(tce))))


SCALE = Claim(
    key="scale",
    where="Abstract, 3.2, 4.1",
    sentence="TCE has a consistent scale, whatever the prevalence.",
    target=f"one threshold for all prevalences orders {MOST:.0%} of the pairs; and the same error in log-odds has a TCE that "
    "differs by less than a factor of two",
    says=Verdict.OPEN,
    measure=lambda: {
        "tce": [float(monitored(p, "shifted", "TCE(P)").mean()) for p in (0.5, 0.01)],
        "ece": [float(monitored(p, "shifted", "ECE").mean()) for p in (0.5, 0.01)],
        "order": [told_apart("shifted", metric) for metric in ("TCE(P)", "ECE")],
    },
    judge=judge_scale,
    words=lambda tce, ece, order: (
        f"Log-odds too high by one half: TCE {tce[0]:.0f} at a prevalence of 50 % and {tce[1]:.0f} at 1 %, with as many rows, "
        f"ECE {ece[0]:.4f} and {ece[1]:.4f}. Over pairs of prevalences the shifted predictions have the larger TCE in "
        f"{order[0]:.0%}, the larger ECE in {order[1]:.0%}. The paper does not say which of the two a consistent scale is"
    ),
    over="order",
)


# Section 3.2


def all_true(draws: int = 200, n_bins: int = 10, rows: int = 600) -> list[float]:
    """TCE where all predictions of each fixed bin are equal, and right."""
    prob = np.repeat((np.arange(n_bins) + 0.5) / n_bins, rows)
    found = []
    for seed in range(draws):
        y = (np.random.default_rng(seed).random(prob.size) < prob).astype(int)
        found.append(bin_test_calibration_error(y, prob, binning=EqualWidth(n_bins), labels=[0, 1]))
    return found


def measure_null() -> Numbers:
    half = {name: float(at_prevalence(0.5)[name, "binomial"].mean()) for name in ("TCE(P)", "TCE(Q)", "TCE(V)")}
    return {"equal": all_true(), "half": half, "many": float(at_size(30_000)["TCE(Q)"].mean())}


def judge_null(equal: list[float], half: dict[str, float], many: float) -> Verdict:
    """All predictions of a bin are equal and right: only there is all true that is tested."""
    return holds(abs(mean_and_error(equal)[0] - LEVEL) <= 1.0)


NULL = Claim(
    key="level",
    where="3.2",
    sentence="If all hypotheses that are tested are true, the expected TCE is the level of the test.",
    target="a mean TCE within one point of 5, where all predictions of a bin are equal and right",
    says=Verdict.HOLDS,
    measure=measure_null,
    judge=judge_null,
    words=lambda equal, half, many: (
        "Where all predictions of each fixed bin are equal and right, TCE is "
        f"{np.mean(equal):.1f} ± {mean_and_error(equal)[1]:.1f} on average. Not judged: true probabilities that differ within "
        "bins, 6000 rows: "
        + ", ".join(f"{name} {value:.1f}" for name, value in half.items())
        + f"; with 30,000 rows TCE(Q) {many:.0f}. These are calibrated, but not all that is tested is true"
    ),
    over="equal",
)


# Appendix C.1


def apart(number: int, i: int, metric: str = "TCE(P)") -> list[float]:
    """TCE of the miscalibrated model less that of the calibrated one, one a draw."""
    half = len(TABLES[number].lines) // 2
    return [float(d) for d in drawn(number, half + i, metric) - drawn(number, i, metric)]


def reasonable(number: int, where: str, sentence: str, good: Sequence[int], bad: Sequence[int]) -> Claim:
    """Settings that the paper calls reasonable, and others that it does not."""

    def measure() -> Numbers:
        return {
            "good": [mean_and_error(apart(number, i))[0] for i in good],
            "bad": [mean_and_error(apart(number, i))[0] for i in bad],
        }

    return Claim(
        key=f"reasonable-{number}",
        where=where,
        sentence=sentence,
        target="the mean TCEs of both models are further apart in each of the first settings than in each of the others",
        says=Verdict.HOLDS,
        measure=measure,
        judge=lambda good, bad: holds(min(good) > max(bad)),
        words=lambda good, bad: (
            f"{_from_to(good)} points apart in the first settings, {_from_to(bad)} in the others, over draws"
        ),
        over="good",
    )


def _from_to(values: Iterable[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:.1f}" if low == high else f"{low:.1f} to {high:.1f}"


def judge_sizes(apart: list[list[float]]) -> Verdict:
    """Whether the fourth pair of sizes, 300 to 1200, is clearly ahead of each other."""
    best = np.array(apart[3])
    return all_of(above_zero(list(best - of)) for i, of in enumerate(apart) if i != 3)


BEST_SIZES = Claim(
    key="best-sizes",
    where="C.1, Table 8",
    sentence="Sizes of bins that make 5 to 20 bins are the most reasonable.",
    target="both models furthest apart with 300 to 1200 rows a bin, by two standard errors",
    says=Verdict.HOLDS,
    measure=lambda: {"apart": [apart(8, i) for i in range(len(PAIRS))]},
    judge=judge_sizes,
    words=lambda apart: (
        "Mean points apart: "
        + ", ".join(f"{np.mean(of):.0f} ({low} to {high} rows)" for of, (low, high) in zip(apart, PAIRS, strict=True))
    ),
    over="apart",
)


def measure_noise() -> Numbers:
    """Mean of each metric at each strength of the noise, of the calibrated and of the miscalibrated model."""
    return {
        "means": {
            metric: [float(drawn(9, i, metric).mean()) for i in range(len(TABLES[9].lines))] for metric in SHOWN[9]
        }
    }


BREAKS = NOISES.index(0.5)


def judge_breaks(means: dict[str, list[float]]) -> Verdict:
    """Whether the largest factor from one strength to the next is that from 0.1 to 0.5, for each metric."""
    factors = [np.array(of[1 : len(NOISES)]) / of[: len(NOISES) - 1] for of in means.values()]
    return all_of(holds(int(np.argmax(of)) == BREAKS - 1) for of in factors)


NOISE = Claim(
    key="noise-breaks-down",
    where="C.1, Table 9",
    sentence="Between noise of 0.1 and 0.5 each of the five measured metrics starts to give unreasonable values for the "
    "calibrated model.",
    target="the largest factor between neighbouring strengths is that from 0.1 to 0.5, for each of the five measured",
    says=Verdict.HOLDS,
    measure=measure_noise,
    judge=judge_breaks,
    words=lambda means: (
        "Mean of the calibrated model without noise, with 0.1 and with 0.5: "
        + "; ".join(
            f"{metric} "
            + ", ".join(f"{of[i]:.{1 if metric.startswith('TCE') else 4}f}" for i in (0, BREAKS - 1, BREAKS))
            for metric, of in means.items()
        )
    ),
    over="means",
)


def say_alike(means: dict[str, list[float]]) -> str:
    half = len(NOISES)
    parts = [
        f"{metric} times {of[BREAKS] / of[BREAKS - 1]:.1f}, miscalibrated {of[half + BREAKS] / of[half + BREAKS - 1]:.2f}"
        for metric, of in means.items()
    ]
    return (
        f"From noise of 0.1 to 0.5, calibrated model: {'; '.join(parts)}. So it is of the calibrated model, of which the paper "
        "goes on to speak; of the miscalibrated one the noise lowers TCE and raises ECE and ACE"
    )


NOISE_ALIKE = Claim(
    key="noise-felt-alike",
    where="C.1, Table 9",
    sentence="The five measured metrics are about equally sensitive to noise, as all are said to be.",
    target="noise of 0.5 in place of 0.1 moves all of the five measured in the same direction, for both models",
    says=Verdict.IN_PART,
    measure=measure_noise,
    judge=lambda means: all_of(
        holds(len({of[start + BREAKS] > of[start + BREAKS - 1] for of in means.values()}) == 1)
        for start in (0, len(NOISES))
    ),
    words=say_alike,
    over="means",
)


def measure_printed_t() -> Numbers:
    """Cells of the t columns of Table 11 that agree, with the published t-test and with a t-test."""
    names = TABLES[11].metrics
    without = next(word for word in WITH_OURS if "t-test" in word)
    same = [
        [printed == found for _, j, printed, found in compared(11, how) if names[j].endswith("-T")]
        for how in ("", without)
    ]
    return {"cells": len(same[0]), "variance": sum(same[0]), "deviation": sum(same[1])}


PRINTED_T = Claim(
    key="printed-t-test",
    where="Table 11",
    sentence="The columns of the t-test are those of a t-test.",
    target="the printed cells come out with the standard deviation",
    says=Verdict.FAILS,
    measure=measure_printed_t,
    judge=lambda cells, variance, deviation: holds(deviation == cells),
    words=lambda cells, variance, deviation: (
        f"{variance} of {cells} printed cells come out with the variance in place of the standard deviation, as in the "
        f"published code, and {deviation} with the standard deviation"
    ),
    one_suffices="the paper's own table: its digits come out of another formula",
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
        [float((drawn(11, i, f"{name}-B") - drawn(11, i, f"{name}-T")).mean()) for name in T_NAMES]
        for i in range(len(TABLES[11].lines))
    ]
    half = len(cells) // 2
    rare = [float(at_prevalence(0.01)["TCE(P)", test].mean()) for test in ("binomial", "t")]
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


T_TEST = Claim(
    key="binomial-against-t",
    where="C.1, Table 11",
    sentence="The binomial test does better than the t-test in most settings.",
    target="better in most cells, counted by model and by how far the models are apart",
    says=Verdict.FAILS,
    measure=measure_t,
    judge=judge_t,
    words=say_t,
    over="calibrated",
)


def measure_overall_better() -> Numbers:
    printed = [[float(cell) for cell in line[:3]] for line in PRINTED[13]]
    means = [[float(drawn(13, i, name).mean()) for name in T_NAMES] for i in range(len(printed))]
    return {"printed": printed, "means": means}


def means_of_models(lines: list[list[float]]) -> list[list[float]]:
    """Mean of each column over the calibrated models, which come first, and over the others."""
    half = len(lines) // 2
    return [[float(of) for of in np.mean(part, axis=0)] for part in (lines[:half], lines[half:])]


def judge_better(printed: list[list[float]], means: list[list[float]]) -> Verdict:
    """By the printed means: TCE(P) the least of the calibrated models, and the most of the others."""
    good, bad = means_of_models(printed)
    return all_of((holds(good[0] < min(good[1:])), holds(bad[0] > max(bad[1:]))))


def say_better(printed: list[list[float]], means: list[list[float]]) -> str:
    (good, bad), (drawn_good, drawn_bad) = (
        [", ".join(f"{value:.1f}" for value in of) for of in means_of_models(lines)] for lines in (printed, means)
    )
    return (
        f"TCE(P), TCE(Q), TCE(V), printed means: calibrated models {good}, miscalibrated models {bad}; means over draws "
        f"{drawn_good} and {drawn_bad}. Cell by cell TCE(P) is best in {_best(printed)} of {len(printed)} printed lines"
    )


def _best(lines: list[list[float]]) -> int:
    """In how many lines the first column is the least, of the calibrated models, or the greatest, of the others."""
    half = len(lines) // 2
    good, bad = lines[:half], lines[half:]
    return sum(own < min(others) for own, *others in good) + sum(own > max(others) for own, *others in bad)


OVERALL_BETTER = Claim(
    key="overall-better",
    where="C.1, Table 13",
    sentence="At all prevalences taken together TCE(P) has better values than TCE(Q) and TCE(V).",
    target="the least mean of the calibrated models and the greatest of the others, as printed",
    says=Verdict.IN_PART,
    measure=measure_overall_better,
    judge=judge_better,
    words=say_better,
    over="printed",
)

SIMULATION = (
    NULL,
    SLOPE,
    digits(2),
    SMALL_ECE,
    ORDER,
    SCALE,
    *(digits(number) for number in TABLES if number != 2),
    reasonable(6, "C.1, Table 6", "Smallest sizes up to 600 are reasonable, 3000 is not.", range(6), (6,)),
    reasonable(
        7, "C.1, Table 7", "Largest sizes from 300 on are reasonable, up to 60 they are not.", range(3, 7), range(3)
    ),
    BEST_SIZES,
    NOISE,
    NOISE_ALIKE,
    reasonable(10, "C.1, Table 10", "Levels up to 0.1 are reasonable, 0.5 is not.", range(5), (5,)),
    PRINTED_T,
    T_TEST,
    reasonable(
        12, "C.1, Table 12", "From 3000 test rows on TCE is reasonable, up to 600 it is not.", range(4, 8), range(4)
    ),
    OVERALL_BETTER,
)
