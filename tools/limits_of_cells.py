"""What figures from cells of scores are worth, beside those of the rows. Run: python -m tools.limits_of_cells [ROWS]"""

import sys
from collections.abc import Iterator

import numpy as np

from calibrant import metrics
from calibrant.interop.arrow_batches import Batches
from calibrant.metrics import roc
from tools.simulation import print_table

CORP = ("miscalibration_loss", "discrimination_score", "uncertainty_loss")
NAMES = {
    "kolmogorov_smirnov_error": "", "kuiper_error": "", "smooth_calibration_error": "",
    "adaptive_calibration_error": " (bins of equal mass)", "area_under_roc": "", "area_under_roc_hull_score": "",
    **dict.fromkeys(CORP, " (CORP)"),
}  # fmt: skip


def compared(rows: int = 1_000_000) -> Iterator[list[str]]:
    """Yield a row a figure of one column of scores, many of them near 0 and 1, that are too sure of themselves."""
    rng = np.random.default_rng(0)
    score = rng.beta(0.5, 0.8, rows)
    label = (rng.random(rows) < 0.1 + 0.8 * score).astype(int)
    for name, of in NAMES.items():
        metric = getattr(metrics, name, None) or getattr(roc, name)
        exact, found = metric(label, score), metric(Batches([(label, score)]))
        limits = f"{getattr(found, 'lower', found):.6f} to {getattr(found, 'upper', found):.6f}"
        yield [f"`{name}`{of}", f"{exact:.6f}", f"{float(found):.6f}", limits, f"{abs(found - exact):.0e}"]


if __name__ == "__main__":
    head = ["figure", "of the rows", "from cells", "stated limits", "difference"]
    print_table(head, compared(*map(int, sys.argv[1:])))
