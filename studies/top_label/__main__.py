"""Run the experiments of the top-label paper and write docs/top-label.md: python -m studies.top_label

The data sets lie in $CALIBRANT_DATA, or in shared/data beside the repository.
"""

from __future__ import annotations

import warnings
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np

from calibrant.exceptions import CalibrationWarning
from studies.claims import AGAINST, Row, Verdict, claims_table, coverage_table, filled, reproduce
from studies.top_label import forecasts as fc
from studies.top_label import networks, pictures
from studies.top_label.claims import NOTE, PAPER

FILES = ("cifar10_resnet50.npz", "covertype_small.csv.gz", "covertype3.npz")


def page(rows: list[Row]) -> str:
    """The whole page."""
    rare = ", ".join(map(str, fc.RARE.calibrate))
    return filled(
        Path(__file__).with_name("page.md"), paper_note=PAPER.note, summary=summary(),
        coverage=coverage_table(PAPER.coverage), note=NOTE, claims=claims_table(PAPER.claims, rows), level=1 - fc.LEVEL,
        resamples=fc.RESAMPLES, top_label_table=fc.top_label_table(), maximum_table=fc.maximum_table(),
        class_table=fc.class_table(), other_table=fc.other_table(), fullest_bin=pictures.fullest_bin(),
        trees=fc.TREES, rare_train=sum(fc.RARE.train), rare_calibrate=sum(fc.RARE.calibrate),
        rare_rows=rare, classes=", ".join(map(str, fc.CLASSES)), alike_train=sum(fc.ALIKE.train),
        alike_calibrate=sum(fc.ALIKE.calibrate), seeds=fc.SEEDS, error_table_rare=pictures.error_table(fc.RARE),
        root_table_rare=pictures.root_table(fc.RARE), error_table_alike=pictures.error_table(fc.ALIKE),
        root_table_alike=pictures.root_table(fc.ALIKE),
        splits=networks.SPLITS, size_table=networks.size_table(),
        crossing=networks.crossing(),
    )  # fmt: skip


def summary() -> str:
    """What was found, in a few sentences."""
    top = {name: fc.estimate(name, "TL-ECE") for name in fc.of_metric("TL-ECE")}
    confidence = {name: fc.forecasts()[name].error("confidence") for name in ("Base", "TS")}
    root = {name: fc.by_class(fc.RARE, name).root for name in fc.METHODS}
    spread = {name: np.ptp(of) for name, of in root.items()}
    found = Counter(claim.says for claim in PAPER.claims)
    against = " ".join(f"{claim.sentence} (*{claim.says!s}*)" for claim in PAPER.claims if claim.says in AGAINST)
    lines = [
        f"* **Verdicts**: {', '.join(f'{verdict!s} {found[verdict]}' for verdict in Verdict)}. Not as the paper has it: "
        f"{against} Sentences about networks are asked of {len(networks.stored())} here, none the paper's, at the largest "
        "calibration set of each.",
        "* **TL-HB against N-HB**: " + networks.crossing(),
        f"* **On the ResNet-50** temperature scaling lowers the conf-ECE from {confidence['Base']:.4f} to "
        f"{confidence['TS']:.4f} and leaves the TL-ECE at {top['TS'].value:.4f} ({top['Base'].value:.4f} before). "
        f"Top-label histogram binning has {top['TL-HB (50)'].value:.4f} with 50 points a bin and "
        f"{top['TL-HB (100)'].value:.4f} with 100.",
        "* **The examples and Theorem 1 hold**, the theorem in simulated worlds of known truth.",
        f"* **Points per bin on Covertype**, over {fc.SEEDS} splits of one data set: the root mean square errors of the "
        f"classes lie {spread['100 points a bin']:.3f} apart with 100 points a bin, {spread['forest']:.3f} before "
        f"calibration, and {spread['50 bins a class']:.3f} with 50 bins a class.",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure and judge the claims, draw the pictures and write the page."""
    warnings.simplefilter("ignore", CalibrationWarning)  # of losses that the page says how it clips
    sizes = partial(networks.draw, pictures.IMAGES / "top-label-sizes.png")
    made = (pictures.draw, pictures.draw_covertype_shown, pictures.draw_canonical, sizes)
    reproduce(PAPER, page, *made, files=FILES, check=fc.check_facts)


if __name__ == "__main__":
    main()
