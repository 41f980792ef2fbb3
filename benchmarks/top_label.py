"""Histogram binning of the predicted class, and of each class."""

import numpy as np

from benchmarks.calibrators import LONG_TABLE, by_rows, of_table
from benchmarks.fitting import log_loss
from benchmarks.measure import OURS, Contender, contenders


def top_loss(y: np.ndarray, prob: np.ndarray, score: np.ndarray) -> float:
    """Log loss of the score of the predicted class."""
    return log_loss((prob.argmax(axis=1) == y).astype(np.int64), score)


TL_HB = of_table(
    "Top-label histogram binning (TL-HB)",
    "One histogram for each predicted class, 50 points a bin; applied is the score of the predicted class (`predict_top`), "
    "whose log loss stands in the table. The authors' code adds noise of 1e-10 to scores and values, maps rows one at a time, "
    "and runs with NumPy below 2.4. Asked for: calibrant at least 20 times as fast.",
    (
        Contender(OURS, "calibrant", "top_label_histogram"),
        Contender("authors' code", "df_posthoc_calibration", "top_label_histogram"),
    ),
    loss=top_loss,
)

N_HB = of_table(
    "Histogram binning of each class (N-HB)",
    "Ten bins of equal width for each class against the rest, and rows divided by their sums; netcal maps by no other bins.",
    contenders("histogram_equal_width", "netcal.histogram"),
)

TOP_LABEL = {
    **by_rows("tl-hb", TL_HB, (10_000, 10), (1_000_000, 100)),
    **by_rows("n-hb", N_HB, (10_000, 10), LONG_TABLE),
}
