"""Isotonic recursive partitioning (IRP), binary and multi-class, against its algorithm in NumPy, and how its cost grows."""

from benchmarks.calibrators import of_scores, table
from benchmarks.cost import Cost
from benchmarks.fitting import Fitting, Stage
from benchmarks.fresh import in_fresh_process, megabytes, wall_and_cpu
from benchmarks.measure import OURS, Contender, markdown
from benchmarks.peers import calibrant
from benchmarks.races import Race
from benchmarks.races import table as table_of_three

# Volume under the ROC surface of three classes, by the convex hull and by tuples of rows, against its definition in NumPy.


VOLUMES = {
    "vus-hull": Race(
        "Volume under the ROC surface",
        "The volume of the convex hull of the points of the surface and the origin, at the thresholds of Berta, Bach and "
        "Jordan (AISTATS 2024): a grid of step 1/100 around and on the simplex. The peer is a loop over them in NumPy; the "
        "hull is SciPy's in both.",
        "volume",
        1e-9,
        table_of_three,
        (
            Contender(OURS, "calibrant", "volume_of_hull"),
            Contender("NumPy and SciPy", "naive_vus", "hull"),
        ),
        asked="",
    ),
    "vus-tuples": Race(
        "Volume under the ROC surface, as a probability",
        "The probability that of a row of each class the assignment to the classes with the highest sum of probabilities is "
        "the right one. calibrant draws 100,000 such tuples, the peer 20,000, each assigned by SciPy: a fifth of the work.",
        "probability",
        0.02,
        table_of_three,
        (
            Contender(OURS, "calibrant", "volume_of_tuples"),
            Contender("SciPy, linear_sum_assignment", "naive_vus", "tuples"),
        ),
        asked="",
    ),
}


NUMPY = "Algorithm 2 in NumPy"
QUICK_ROWS, MANY_ROWS, QUICK_MANY_ROWS = 100, 50_000, 1_000


BINARY_IRP = of_scores(
    "Isotonic recursive partitioning (IRP)",
    "To the end and without smoothing it is isotonic regression, found from the top: the score that tells most is split at "
    "first, then the next. The order of the splits is what makes it possible to stop early, which the default does: it chooses "
    "the number of blocks, the smoothing and the softening by cross-validation. scikit-learn interpolates between blocks.",
    (
        Contender(OURS, "calibrant", "irp_to_the_end"),
        Contender("calibrant, isotonic regression", "calibrant", "isotonic"),
        Contender("scikit-learn, isotonic regression", "scikit_learn", "isotonic"),
        Contender("calibrant, default", "calibrant", "irp"),
    ),
)

ON_A_GRID = (
    "Splitting points are those of the simplex whose coordinates are multiples of 1/{}, {:,} of them; no smoothing, and "
    f"splits until none leaves the map monotone. '{NUMPY}' is that of Berta, Bach and Jordan (AISTATS 2024), written from its "
    "definition. Both make the same splits: their losses are the same to 1e-9. To apply, both walk down a tree, and calibrant "
    "checks its data first, which of 500 rows takes longer. {}"
)


def _on_a_grid(classes: int, steps: int, points: int, text: str) -> Fitting:
    return Fitting(
        f"Multi-class IRP, 500 x {classes}, splitting points on a grid",
        ON_A_GRID.format(steps, points, text),
        (
            Contender(OURS, "calibrant", f"multiclass_irp_{steps}"),
            Contender(NUMPY, "naive_irp", f"irp_{steps}"),
        ),
        make=table,
        size=(500, classes),
        quick=(QUICK_ROWS, classes),
        agree=1e-9,
    )


class Fresh:
    """A section of the page: seconds and peak memory of a fit, each in a process of its own, once."""

    TITLE = "Multi-class IRP in fresh processes"

    def tables(self, _: int, quick: bool) -> str:
        """Measure each fit and return this part of the page."""
        text = (
            "calibrant alone, each fit once in a fresh process that has loaded what it needs; in brackets CPU seconds. Peak "
            "memory is all that the process holds at most meanwhile. 'Data points' are up to 2,000 candidates a region, made "
            "of its rows. The default also chooses the number of regions and the smoothing by cross-validation."
        )
        lines = []
        for stage in CONTENDERS:
            rows = min(stage.rows, QUICK_MANY_ROWS) if quick else stage.rows
            measured = in_fresh_process("roc_isotonic", stage.name, rows)
            cells = [f"{rows:,} x {stage.classes}", wall_and_cpu(measured), ASKED.get(stage.name, "")]
            lines.append([stage.name, *cells, megabytes(measured["peak_bytes"])])
        head = ["", "rows x classes", "fit, s (CPU)", "asked for", "peak, MB"]
        return f"{text}\n\n{markdown(head, lines)}"


CONTENDERS = (
    Stage("grid of step 1/100", "multiclass_irp_100", table, 3, 500),
    Stage("grid of step 1/50", "multiclass_irp_50", table, 4, 500),
    Stage("data points", "multiclass_irp_data", table, 3, MANY_ROWS),
    Stage("default", "multiclass_irp", table, 3, MANY_ROWS),
    Stage("default, 500 rows", "multiclass_irp", table, 3, 500),
)
ASKED = {"grid of step 1/100": "1 s", "grid of step 1/50": "8 s", "data points": "30 s"}


def make(rows: int) -> tuple[int]:
    """The number of rows: what is drawn depends on the stage."""
    return (rows,)


OVER_ROWS = Cost(
    "Multi-class IRP: cost over rows",
    "rows",
    "3 classes",
    lambda rows: (rows, 3),
    table,
    {
        "data points, 2,000 a region": calibrant.multiclass_irp_data,
        "grid of step 1/100": calibrant.multiclass_irp_100,
        "default": calibrant.multiclass_irp,
    },
    (1_000, 2_000, 5_000, 10_000, 20_000, 50_000),
    (200, 400),
    "roc-isotonic-rows.png",
    " More rows make more regions, each of which looks at its rows again: the exponent is above that of one split, 1.",
)

ROC_ISOTONIC = {
    "irp": BINARY_IRP,
    "multiclass-irp-3": _on_a_grid(3, 100, 5_151, "Asked for: under 1 s."),
    "multiclass-irp-4": _on_a_grid(4, 50, 23_426, "Asked for: under 8 s."),
    "multiclass-irp-fresh": Fresh(),
    "multiclass-irp-rows": OVER_ROWS,
    **VOLUMES,
}
