"""What figures from cells of scores are worth, beside those of the rows. Run: python -m tools.limits_of_cells [ROWS]"""

import sys
from collections.abc import Callable, Iterator

import numpy as np

from calibrant import smooth_calibration_error
from calibrant.interop.arrow_batches import Batches
from calibrant.metrics import (
    adaptive_calibration_error,
    area_under_roc_hull_score,
    discrimination_score,
    kolmogorov_smirnov_error,
    kuiper_error,
    miscalibration_loss,
    uncertainty_loss,
)
from calibrant.metrics.roc import area_under_roc
from tools.simulation import print_table

FIGURES: dict[str, Callable[..., float]] = {
    "`kolmogorov_smirnov_error`": kolmogorov_smirnov_error,
    "`kuiper_error`": kuiper_error,
    "`smooth_calibration_error`": smooth_calibration_error,
    "`adaptive_calibration_error` (bins of equal mass)": adaptive_calibration_error,
    "`area_under_roc`": area_under_roc,
    "`area_under_roc_hull_score`": area_under_roc_hull_score,
    "`miscalibration_loss` (CORP)": miscalibration_loss,
    "`discrimination_score` (CORP)": discrimination_score,
    "`uncertainty_loss` (CORP)": uncertainty_loss,
}


def compared(rows: int = 1_000_000) -> Iterator[list[str]]:
    """Yield a row a figure of one column of scores, many of them near 0 and 1, that are too sure of themselves."""
    rng = np.random.default_rng(0)
    score = rng.beta(0.5, 0.8, rows)
    label = (rng.random(rows) < 0.1 + 0.8 * score).astype(int)
    for name, metric in FIGURES.items():
        exact, found = metric(label, score), metric(Batches([(label, score)]))
        limits = f"{getattr(found, 'lower', found):.6f} to {getattr(found, 'upper', found):.6f}"
        yield [name, f"{exact:.6f}", f"{float(found):.6f}", limits, f"{abs(found - exact):.0e}"]


if __name__ == "__main__":
    head = ["figure", "of the rows", "from cells", "stated limits", "difference"]
    print_table(head, compared(*map(int, sys.argv[1:])))
