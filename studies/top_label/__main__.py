"""Run the experiments of the top-label paper and write docs/top-label.md: python -m studies.top_label

The data sets lie in $CALIBRANT_DATA, or in shared/data beside the repository.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from calibrant.exceptions import CalibrationWarning
from studies.claims import AGAINST, Row, Verdict, claims_table, coverage_table, filled, require, run
from studies.top_label.claims import NOTE, PAPER
from studies.top_label.forecasts import (
    ALIKE,
    CLASSES,
    LEVEL,
    METHODS,
    RARE,
    RESAMPLES,
    SEEDS,
    TREES,
    by_class,
    check_facts,
    class_table,
    estimate,
    forecasts,
    maximum_table,
    of_metric,
    other_table,
    top_label_table,
    truth_table,
)
from studies.top_label.forecasts import TRUTH_DRAWS as DRAWS
from studies.top_label.networks import SPLITS, crossing, size_table, stored
from studies.top_label.networks import draw as draw_sizes
from studies.top_label.pictures import (
    IMAGES,
    canonical_table,
    draw,
    error_table,
    fullest_bin,
    random_directions,
    root_table,
)
from studies.top_label.pictures import draw_canonical as draw_partitions
from studies.top_label.pictures import draw_covertype_shown as draw_covertype
from studies.top_label.pictures import finding as canonical_finding

FILES = ("cifar10_resnet50.npz", "covertype_small.csv.gz", "covertype3.npz")


def page(rows: list[Row]) -> str:
    """The whole page."""
    rare = ", ".join(map(str, RARE.calibrate))
    return filled(
        Path(__file__).with_name("page.md"), paper_note=PAPER.note, summary=summary(),
        coverage=coverage_table(PAPER.coverage), note=NOTE, claims=claims_table(PAPER.claims, rows), level=1 - LEVEL,
        resamples=RESAMPLES, top_label_table=top_label_table(), maximum_table=maximum_table(), class_table=class_table(),
        other_table=other_table(), fullest_bin=fullest_bin(), draws=DRAWS, truth_table=truth_table(), trees=TREES,
        rare_train=sum(RARE.train), rare_calibrate=sum(RARE.calibrate), rare_rows=rare, classes=", ".join(map(str, CLASSES)),
        alike_train=sum(ALIKE.train), alike_calibrate=sum(ALIKE.calibrate), seeds=SEEDS, error_table_rare=error_table(RARE),
        root_table_rare=root_table(RARE), error_table_alike=error_table(ALIKE), root_table_alike=root_table(ALIKE),
        canonical_table=canonical_table(), random_directions=random_directions(), splits=SPLITS, size_table=size_table(),
        crossing=crossing(),
    )  # fmt: skip


def summary() -> str:
    """What was found, in a few sentences."""
    top = {name: estimate(name, "TL-ECE") for name in of_metric("TL-ECE")}
    confidence = {name: forecasts()[name].error("confidence") for name in ("Base", "TS")}
    root = {name: by_class(RARE, name).root for name in METHODS}
    spread = {name: np.ptp(of) for name, of in root.items()}
    says = [claim.says for claim in PAPER.claims]
    undecided, slips = says.count(Verdict.OPEN), sum(verdict in AGAINST for verdict in says)
    lines = [
        f"* **{undecided} sentences are not decided.** Those about networks are asked of {len(stored())} here, none the "
        "paper's, at the largest calibration set of each.",
        "* **TL-HB against N-HB**: " + crossing(),
        f"* **On the ResNet-50** temperature scaling lowers the conf-ECE from {confidence['Base']:.4f} to "
        f"{confidence['TS']:.4f} and leaves the TL-ECE at {top['TS'].value:.4f} ({top['Base'].value:.4f} before). "
        f"Top-label histogram binning has {top['TL-HB (50)'].value:.4f} with 50 points a bin and "
        f"{top['TL-HB (100)'].value:.4f} with 100.",
        "* **The examples and Theorem 1 hold**, the theorem in simulated worlds of known truth. "
        f"{slips} printed details do not, or in part: a column of panel (e), a count of bins and the vector of an empty bin.",
        f"* **Points per bin on Covertype**, over {SEEDS} splits of one data set: the root mean square errors of the "
        f"classes lie {spread['100 points a bin']:.3f} apart with 100 points a bin, {spread['forest']:.3f} before "
        f"calibration, and {spread['50 bins a class']:.3f} with 50 bins a class.",
        canonical_finding(),
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure and judge the claims, draw the pictures and write the page."""
    require(FILES)
    warnings.simplefilter("ignore", CalibrationWarning)  # of losses that the page says how it clips
    check_facts()
    rows = run(PAPER)
    print("pictures", flush=True)
    for make in (draw, draw_covertype, draw_partitions):
        make()
    draw_sizes(IMAGES / "top-label-sizes.png")
    print("page", flush=True)
    PAPER.publish(page(rows))


if __name__ == "__main__":
    main()
