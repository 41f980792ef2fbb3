"""Histogram binning of the predicted class, and of each class."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.calibrators import LONG_TABLE, QUICK_TABLE, table
from benchmarks.fitting import Fitting, log_loss
from benchmarks.measure import OURS, Contender


def top_loss(y: np.ndarray, prob: np.ndarray, score: np.ndarray) -> float:
    """Log loss of the score of the predicted class."""
    return log_loss((prob.argmax(axis=1) == y).astype(np.int64), score)


TL_HB = Fitting(
    "Top-label histogram binning (TL-HB)",
    "One histogram for each predicted class, 50 points a bin; applied is the score of the predicted class (`predict_top`), "
    "whose log loss stands in the table. The authors' code adds noise of 1e-10 to scores and values, maps rows one at a time, "
    "and runs with NumPy below 2.4. Asked for: calibrant at least 20 times as fast.",
    table,
    (10_000, 10),
    QUICK_TABLE,
    (
        Contender(OURS, "calibrant", "top_label_histogram", "calibrant"),
        Contender("authors' code", "df_posthoc_calibration", "top_label_histogram", "df-posthoc-calibration"),
    ),
    loss=top_loss,
)

N_HB = Fitting(
    "Histogram binning of each class (N-HB)",
    "Ten bins of equal width for each class against the rest, and rows divided by their sums; netcal maps by no other bins.",
    table,
    (10_000, 10),
    QUICK_TABLE,
    (
        Contender(OURS, "calibrant", "histogram_equal_width", "calibrant"),
        Contender("netcal", "netcal", "histogram", "netcal"),
    ),
)

TOP_LABEL = {
    "tl-hb-10000": replace(TL_HB, TITLE=f"{TL_HB.TITLE}, 10,000 rows"),
    "tl-hb-1000000": replace(TL_HB, TITLE=f"{TL_HB.TITLE}, 1,000,000 rows", size=(1_000_000, 100)),
    "n-hb-10000": replace(N_HB, TITLE=f"{N_HB.TITLE}, 10,000 rows"),
    "n-hb-50000": replace(N_HB, TITLE=f"{N_HB.TITLE}, 50,000 rows", size=LONG_TABLE),
}
