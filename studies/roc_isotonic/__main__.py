"""Run the experiments of the paper on ROC-regularised isotonic regression and write docs/roc-isotonic.md.

Run: python -m studies.roc_isotonic. The data sets lie in $CALIBRANT_DATA, or in shared/data beside the repository.
"""

from __future__ import annotations

from pathlib import Path

from studies.claims import Row, claims_table, coverage_table, filled, reproduce
from studies.roc_isotonic import authors, exact
from studies.roc_isotonic.claims import CLAIMS, CLASSES, FIRST_SPLITS, PAPER, risen
from studies.roc_isotonic.pictures import draw

# The main results of docs/roc-isotonic.md.


def summary(rows: list[Row]) -> str:
    """The main results in a few sentences, all of it computed."""
    return "\n".join(f"* {line}" for line in (_digits(), _sums(), _surface(rows)))


def _digits() -> str:
    found = {k: [one.agrees for one in authors.targets(k) if not one.follows] for k in CLASSES}
    all_same = all(all(of) for of in found.values())
    verdict = "agree" if all_same else "do not all agree"
    counts = ", ".join(f"{sum(of)} of {len(of)} for K = {k}" for k, of in found.items())
    printed, published = authors.irp(4, printed=True).stages[-1], authors.irp(4).stages[-1]
    return (
        f"**The curves of Figures 2, 4 and 5 {verdict} with an independent port of the authors' published code**: {counts} of "
        "the numbers that were compared, which are cross-entropies and volumes before and at the end, numbers of regions and "
        "coordinates of the first splits. For four classes the first split of the published code is "
        f"not that of Algorithm 2: as published there are {published.n_regions} regions, as printed {printed.n_regions}."
    )


def _sums() -> str:
    parts = [
        f"{authors.irp(k).stages[-1].test_loss:.4f} becomes {authors.irp(k).stages[-1].normalised:.4f} for K = {k}"
        for k in CLASSES
    ]
    before = ", ".join(f"{authors.irp(k).before.test_loss:.4f}" for k in CLASSES)
    worse = all(authors.irp(k).stages[-1].normalised > authors.irp(k).before.test_loss for k in CLASSES)
    verdict = "above" if worse else "not all above"
    return (
        "**The published cross-entropies are of vectors that sum to "
        f"{', '.join(f'{authors.total(k):.3f}' for k in CLASSES)}.** Divided by it, {', '.join(parts)}: {verdict} "
        f"those before calibration, {before}."
    )


def _surface(rows: list[Row]) -> str:
    found = {row.key: row.numbers for row in rows}
    volumes, groups = found["volume-majorised"], found["too-restrictive"]["groups"]
    points = [sum(of[at] for of in found["keeps-surface"]["drawn"]) for at in (0, 1)]
    of_many = [of for of in groups if of["n"] >= FIRST_SPLITS[0]]
    kept, tied, monotone = (sum(of[name] for of in of_many) for name in ("kept", "tied", "monotone"))
    return (
        "**The algorithm does not keep the ROC surface.** It asks for monotony at its own splits only: of the points of the "
        f"surface after, {points[1]:.0f} of {points[0]:.0f} are points of that before. The volume on the fitted rows rises in "
        f"{risen(volumes['drawn'])[0]} of {len(volumes['drawn'])} drawn problems of three classes and "
        f"12 to 25 rows; six rows go from {volumes['six'][0]:.4f} to {volumes['six'][1]:.4f}. Under Definition 3.2 it "
        f"cannot rise, but {kept} of {monotone} monotone first splits of 12 rows and more keep that, {tied} of them with class "
        "rates that tie."
    )


def page(rows: list[Row]) -> str:
    """The whole page."""
    return filled(
        Path(__file__).with_name("page.md"), coverage=coverage_table(PAPER.coverage), summary=summary(rows),
        claims=claims_table(CLAIMS, rows), smoothing=authors.SMOOTHING, n_baseline=authors.N_BASELINE,
        n_splits=dict(exact.counts())[500], **{f"target_table_{k}": authors.target_table(k) for k in CLASSES},
        near=authors.VOLUME_OF_FOUR,
    )  # fmt: skip


if __name__ == "__main__":
    reproduce(PAPER, page, draw, files=authors.FILES)
