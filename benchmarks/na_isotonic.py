"""Normalisation-aware isotonic calibration against generic solvers."""

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.calibrators import CONVEX, QUICK_TABLE, TABLE
from benchmarks.fitting import Fitting
from benchmarks.measure import OURS, Contender

IMAGENET = (12_500, 1_000)
PAPER = "Arad and Rosset"


def images(rows: int, classes: int, *, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels and too sure probabilities of a classifier that is right in two thirds of the rows or more.

    One class stands out in each row, by more or by less; by what factor logits are too large varies with the class.
    """
    of_class = np.random.default_rng(100)  # the same for the rows that are fitted and for the others
    scale = of_class.uniform(1.2, 1.6, classes)
    rng = np.random.default_rng(seed)
    z = 2.0 * rng.standard_normal((rows, classes))
    z[np.arange(rows), rng.integers(0, classes, rows)] += np.log(classes) + 4.0 + 4.0 * rng.standard_normal(rows)
    y = (z + rng.gumbel(size=z.shape)).argmax(axis=1)
    z *= scale
    sure = np.exp(z - z.max(axis=1, keepdims=True))
    return y, sure / sure.sum(axis=1, keepdims=True)


def cumulative_error(y: np.ndarray, prob: np.ndarray, calibrated: np.ndarray) -> float:
    """Mean over rows of the objective of SCIR, the squared errors of the sums of the r highest classes, all r."""
    order = np.argsort(-prob, axis=1, kind="stable")
    occurred = np.maximum.accumulate(order == y[:, None], axis=1)
    value = np.cumsum(np.take_along_axis(calibrated, order, axis=1), axis=1)
    return float(((occurred - value)[:, :-1] ** 2).sum(axis=1).mean())


class OverBlocks(Fitting):
    """All lines are maps over the same blocks: none may have a lower log loss on the fitted rows than the optimum."""

    @property
    def of_marks(self) -> str:
        return ""

    def mark(self, *_: Any) -> str:
        return ""


NA_FIR = OverBlocks(
    "Normalisation-aware flattened isotonic regression (NA-FIR)",
    "The first line is the optimum of the paper's problem (eq. 4), by projected Newton. SciPy's L-BFGS-B solves the same "
    "problem with the same bounds, to a tolerance at which it comes to the same, and to its default one. No other map over the "
    f"blocks may have a lower log loss on the fitted rows. Annealing is how {PAPER} search, written anew "
    "(`solver='annealing'`). calibrant's default chooses a label smoothing by cross-validation: less well on the fitted rows, "
    "and on others better where the optimum over-fits. FIR is flattened isotonic regression, where all begin.",
    (
        Contender(OURS, "calibrant", "na_fir_exact"),
        Contender("SciPy, L-BFGS-B", "scipy_nafir", "na_fir"),
        Contender("SciPy, L-BFGS-B, its default tolerance", "scipy_nafir", "na_fir_by_default"),
        Contender("calibrant, annealing", "calibrant", "na_fir_annealing"),
        Contender("calibrant, default", "calibrant", "na_fir"),
        Contender("calibrant, FIR", "calibrant", "fir"),
    ),
    make=images,
    size=TABLE,
    quick=QUICK_TABLE,
    close=CONVEX,
)

SCIR = Fitting(
    "Sorted cumulative isotonic regression (SCIR)",
    f"K - 1 points a row. By recursive minimum cuts (as {PAPER} time it in their Figure 5, with igraph) the problem is one of "
    "flows on the graph of neighbouring points. All solve it exactly: what is shown is the squared error that is minimised, "
    "with epsilon = 0.",
    (
        Contender(OURS, "calibrant", "scir_exact"),
        Contender("igraph, minimum cut", "min_cut", "with_igraph"),
        Contender("SciPy, maximum flow", "min_cut", "with_scipy"),
    ),
    make=images,
    size=(1_000, 10),
    quick=(300, 10),
    close=1e-9,
    agree=1e-9,
    loss=cumulative_error,
    loss_name="squared error",
)

NA_ISOTONIC = {
    "na-fir-5000": replace(NA_FIR, TITLE=f"{NA_FIR.TITLE}, 5,000 x 100"),
    "na-fir-12500": replace(NA_FIR, TITLE=f"{NA_FIR.TITLE}, 12,500 x 1,000", size=IMAGENET),
    "scir-1000": replace(SCIR, TITLE=f"{SCIR.TITLE}, 1,000 x 10"),
    "scir-5000": replace(SCIR, TITLE=f"{SCIR.TITLE}, 5,000 x 10", size=(5_000, 10)),
}
