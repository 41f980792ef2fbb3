"""Isotonic recursive partitioning (IRP): binary against isotonic regression, multi-class in fresh processes."""

from benchmarks.calibrators import of_scores, table
from benchmarks.fitting import Stage
from benchmarks.fresh import in_fresh_process, megabytes, wall_and_cpu
from benchmarks.measure import OURS, Contender, markdown

MANY_ROWS, QUICK_MANY_ROWS = 50_000, 1_000


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


ROC_ISOTONIC = {"irp": BINARY_IRP, "multiclass-irp-fresh": Fresh()}
