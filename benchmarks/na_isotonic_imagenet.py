"""Normalisation-aware isotonic calibration at the size of ImageNet: time and peak memory, each in a process of its own."""

from benchmarks.fitting import Stage
from benchmarks.fresh import in_fresh_process, megabytes, wall_and_cpu
from benchmarks.measure import markdown
from benchmarks.na_isotonic import IMAGENET, PAPER, images

TITLE = "NA-FIR and SCIR at the size of ImageNet"
(FIT_ROWS, CLASSES), QUICK_FIT_ROWS, APPLY_TIMES = IMAGENET, 300, 3


METHODS = {
    "NA-FIR, smoothing 0.001": ("na_fir_fixed", 15),
    "NA-FIR, default": ("na_fir", 15),
    "SCIR, epsilon 0.0001": ("scir_fixed", 120),
    "SCIR, default": ("scir", 120),
}
"""Function of the peer, and the minutes that the paper reports, on ImageNet-1k."""

CONTENDERS = tuple(
    Stage(f"{name}, {stage}", function, images, CLASSES, FIT_ROWS, times)
    for name, (function, _) in METHODS.items()
    for stage, times in (("fit", 0), ("apply", APPLY_TIMES))
)


def make(rows: int) -> tuple[int]:
    """The number of rows: a stage draws them."""
    return (rows,)


def tables(_: int, quick: bool) -> str:
    """Measure each stage in a process of its own, once, and return this part of the page."""
    rows = QUICK_FIT_ROWS if quick else FIT_ROWS
    sizes = [f"{times * rows * CLASSES * 8 / 1e6:.0f}" for times in (1, APPLY_TIMES)]
    text = (
        f"calibrant alone. Fit to {rows:,} x {CLASSES:,}, apply to {APPLY_TIMES * rows:,} x {CLASSES:,}, each once in a fresh "
        "process that has loaded what it needs; in brackets CPU seconds. The defaults choose smoothing or epsilon by "
        "cross-validation. Peak memory is all that the process holds at most meanwhile: Python, libraries, the forecasts "
        f"({' and '.join(sizes)} MB) and the result. Asked for at {FIT_ROWS:,} "
        "rows: NA-FIR fitted in under 5 s, SCIR in under 10 s, applied in under 10 s, a peak under 3000 MB. "
        f"{PAPER} (ICML 2025, 5.2) report about 15 minutes for NA-FIR and about 120 for SCIR on ImageNet-1k, on their machine."
    )
    lines = []
    for name, (_, minutes) in METHODS.items():
        fit, apply = (in_fresh_process("na_isotonic_imagenet", f"{name}, {stage}", rows) for stage in ("fit", "apply"))
        fitted = [wall_and_cpu(fit), f"about {minutes * 60:,}", megabytes(fit["peak_bytes"])]
        lines.append([name, *fitted, wall_and_cpu(apply), megabytes(apply["peak_bytes"])])
    head = ["", "fit, s (CPU)", "the paper's fit, s", "peak, MB", "apply, s (CPU)", "peak, MB"]
    return f"{text}\n\n{markdown(head, lines)}"
