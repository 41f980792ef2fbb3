"""Questions at which peers are slow, at 2000 rows: the same question to calibrant and to one or more of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.measure import OURS, Contender, contenders, installed, interleaved, markdown

ROWS, QUICK_ROWS, WARM_UP_ROWS, MOST_ROUNDS = 2000, 400, 100, 3


@dataclass(frozen=True)
class Race:
    """A section of the page: what is asked, of whom, and what the answer is a figure of.

    ``close`` is how far an answer may be from calibrant's; draws are random, and each has its own.
    """

    TITLE: str
    text: str
    answer: str
    close: float
    make: Callable[[int], tuple[Any, ...]]
    contenders: tuple[Contender, ...]
    asked: str = " Asked for: calibrant at least 10 times as fast as the peer."

    def tables(self, rounds: int, quick: bool) -> str:
        """Run the race and return its part of the page."""
        tiny, _ = installed(self.contenders, *self.make(WARM_UP_ROWS))
        for call in tiny.values():
            call()
        calls, skipped = installed(self.contenders, *self.make(QUICK_ROWS if quick else ROWS))
        timings = interleaved(calls, min(rounds, MOST_ROUNDS), warm_up=False)
        ours = timings[OURS]
        lines = []
        for name, timing in timings.items():
            if not quick and abs(timing.result - ours.result) > self.close:
                raise AssertionError(f"{name} says {timing.result!r}, calibrant {ours.result!r}")
            lines.append([name, f"{timing.median:.4f}", timing.ratio(ours), f"{timing.result:.4f}"])
        table = markdown(["", "seconds", "times as long as calibrant (range)", self.answer], lines)
        return "\n".join([f"{self.text}{self.asked}", "", table, "", *skipped]).rstrip()


def column(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels and probabilities that are a little too sure."""
    rng = np.random.default_rng(0)
    z = 2.0 * rng.standard_normal(rows)
    y = (rng.random(rows) < 1.0 / (1.0 + np.exp(-z / 1.15))).astype(np.int64)
    return y, 1.0 / (1.0 + np.exp(-z))


def table(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels and probabilities of three classes that are a little too sure."""
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.ones(3), rows)
    y = (rng.random((rows, 1)) > truth.cumsum(axis=1)).sum(axis=1)
    sure = truth**1.1
    return y, sure / sure.sum(axis=1, keepdims=True)


RACES = {
    "resampling-test": Race(
        "Resampling test",
        "200 label sets drawn from the forecast of three classes; the class-wise ECE over 15 bins of each (Vaicenavicius et "
        "al.). PyCalib uses all CPUs. Its processes draw some sets alike (see [conformance](conformance.md)).",
        "p-value",
        0.15,
        table,
        contenders("resampling_test", "pycalib"),
    ),
    "kernel-test": Race(
        "Kernel test",
        "The unbiased squared kernel calibration error (SKCE) with a Laplace kernel of the median distance, against 999 "
        "draws of its null distribution: calibrant draws labels, which is exact for any number of rows, and probcal centred "
        "resamples of the rows (Widmann et al.).",
        "p-value",
        0.05,
        column,
        contenders("kernel_test", "probcal"),
    ),
    "corp-bands": Race(
        "CORP reliability diagram with consistency bands",
        "Isotonic regression and 1000 resamples of it, 90 % pointwise (Dimitriadis et al.).",
        "mean width of the band",
        0.01,
        column,
        contenders("corp_bands", "calibre"),
    ),
    "smooth-diagram": Race(
        "Smooth reliability diagram with a band",
        "The data of the picture: density, curve, 95 % band and smooth calibration error; relplot's band is made of 200 "
        "resamples, calibrant's of local variances. Beside it with an interval of the error, 100 resamples in both. "
        "What is raced is the picture. relplot's value alone, without the density and the band of its picture, was not "
        "raced.",
        "smooth calibration error",
        1e-3,
        column,
        (
            Contender(OURS, "calibrant", "smooth_diagram"),
            Contender("calibrant, with interval", "calibrant", "smooth_diagram_with_interval"),
            Contender("relplot", "relplot", "smooth_diagram"),
            Contender("relplot, with interval", "relplot", "smooth_diagram_with_interval"),
        ),
    ),
    "assessment": Race(
        "Assessment with intervals",
        "1000 resamples each. calibrant: its default metrics, and 13 metrics that probcal has too, each with interval, noise "
        "floor, debiased estimate and p-value where it has them. probcal: its report of 18 figures with percentile intervals. "
        "calibre: its report, and BCa intervals of the Brier score, the ECE and the smooth calibration error. What the "
        "intervals are worth says [conformance](conformance.md). "
        "The line of calibre is not its report alone: three BCa intervals are in it, a kind of interval that the others "
        "do not make and that as a rule takes a jackknife, one evaluation a row, beside the resamples.",
        "Brier score",
        1e-8,
        column,
        (
            Contender(OURS, "calibrant", "assessment"),
            Contender("calibrant, 13 metrics", "calibrant", "assessment_of_13"),
            Contender("probcal, 18 figures", "probcal", "assessment"),
            Contender("calibre, 3 intervals", "calibre", "assessment"),
        ),
    ),
}
