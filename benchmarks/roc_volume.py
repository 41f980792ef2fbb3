"""Volume under the ROC surface of three classes, by the convex hull and by tuples of rows, against its definition in NumPy."""

from __future__ import annotations

from benchmarks.measure import OURS, Contender
from benchmarks.races import Race, table

VOLUMES = {
    "vus-hull": Race(
        "Volume under the ROC surface",
        "The volume of the convex hull of the points of the surface and the origin, at the thresholds of Berta, Bach and "
        "Jordan (AISTATS 2024): a grid of step 1/100 around and on the simplex. The peer is a loop over them in NumPy; the "
        "hull is SciPy's in both.",
        "volume",
        1e-9,
        table,
        (
            Contender(OURS, "calibrant", "volume_of_hull", "calibrant"),
            Contender("NumPy and SciPy", "naive_vus", "hull", "scipy"),
        ),
        asked="",
    ),
    "vus-tuples": Race(
        "Volume under the ROC surface, as a probability",
        "The probability that of a row of each class the assignment to the classes with the highest sum of probabilities is "
        "the right one. calibrant draws 100,000 such tuples, the peer 20,000, each assigned by SciPy: a fifth of the work.",
        "probability",
        0.02,
        table,
        (
            Contender(OURS, "calibrant", "volume_of_tuples", "calibrant"),
            Contender("SciPy, linear_sum_assignment", "naive_vus", "tuples", "scipy"),
        ),
        asked="",
    ),
}
