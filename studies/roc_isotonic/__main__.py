"""Run the experiments of the paper on ROC-regularised isotonic regression and write docs/roc-isotonic.md.

Run: python -m studies.roc_isotonic. The data sets lie in $CALIBRANT_DATA, or in shared/data beside the repository.
"""

from __future__ import annotations

from pathlib import Path

from studies.claims import Row, claims_table, coverage_table, filled, require, run, table
from studies.roc_isotonic import exact
from studies.roc_isotonic.authors import FILES, N_BASELINE, SMOOTHING, VOLUME_OF_FOUR, irp, target_table, targets, total
from studies.roc_isotonic.claims import CLAIMS, FIRST_SPLITS, PAPER, risen
from studies.roc_isotonic.pictures import draw
from studies.roc_isotonic.study import (
    AS_MANY,
    BAYES,
    BEFORE,
    CASES,
    COARSE_CV,
    DRAWS,
    FEW,
    FOREST,
    ISOTONIC,
    LAPLACE_ALL,
    LAPLACE_CV,
    LOGISTIC,
    MATRIX,
    PUBLISHED,
    SOFTENED,
    TEMPERATURE,
    Case,
    forecasts,
    gained,
    is_better,
    is_worse,
    methods,
    on_paper,
    regions,
    study_table,
    volume_table,
)
from studies.roc_isotonic.study import volumes as of_volumes

# The main results of docs/roc-isotonic.md.


OWN = (LAPLACE_ALL, LAPLACE_CV, SOFTENED)


def summary(rows: list[Row]) -> str:
    """The main results in a few sentences, all of it computed."""
    return "\n".join(
        f"* {line}" for line in (_digits(), _sums(), _surface(rows), _better(), _many(), _wrong(), _choose())
    )


def _digits() -> str:
    found = {k: [one.agrees for one in targets(k)] for k in (2, 3, 4)}
    all_same = all(all(of) for of in found.values())
    verdict = "agree" if all_same else "do not all agree"
    counts = ", ".join(f"{sum(of)} of {len(of)} for K = {k}" for k, of in found.items())
    printed, published = irp(4, printed=True).stages[-1], irp(4).stages[-1]
    return (
        f"**The curves of Figures 2, 4 and 5 {verdict} with an independent port of the authors' published code**: {counts} of "
        "the numbers that were compared, which are cross-entropies and volumes before and at the end, numbers of regions and "
        "coordinates of the first splits. For four classes the first split of the published code is "
        f"not that of Algorithm 2: as published there are {published.n_regions} regions, as printed {printed.n_regions}."
    )


def _sums() -> str:
    parts = [
        f"{irp(k).stages[-1].test_loss:.4f} becomes {irp(k).stages[-1].normalised:.4f} for K = {k}" for k in (2, 3, 4)
    ]
    before = ", ".join(f"{irp(k).before.test_loss:.4f}" for k in (2, 3, 4))
    worse = all(irp(k).stages[-1].normalised > irp(k).before.test_loss for k in (2, 3, 4))
    verdict = "above" if worse else "not all above"
    return (
        f"**The published cross-entropies are of vectors that sum to {total(2):.3f}, {total(3):.3f}, {total(4):.3f}.** Divided "
        f"by it, {', '.join(parts)}: {verdict} those before calibration, {before}."
    )


def _surface(rows: list[Row]) -> str:
    found = {row.key: row.numbers for row in rows}
    volumes, groups = found["volume-majorised"], found["too-restrictive"]["groups"]
    of_many = [of for of in groups if of["n"] >= FIRST_SPLITS[0]]
    kept, tied, monotone = (sum(of[name] for of in of_many) for name in ("kept", "tied", "monotone"))
    return (
        "**The algorithm does not keep the ROC surface.** It asks for monotony at its own splits only. The volume on the "
        f"fitted rows rises in {risen(volumes['drawn'])[0]} of {len(volumes['drawn'])} drawn problems of three classes and "
        f"12 to 25 rows; six rows go from {volumes['six'][0]:.4f} to {volumes['six'][1]:.4f}. Under Definition 3.2 it "
        f"cannot rise, but {kept} of {monotone} monotone first splits of 12 rows and more keep that, {tied} of them with class "
        "rates that tie."
    )


def beaten(n_classes: int) -> bool:
    """Whether the library has a lower test cross-entropy than the authors', of no more regions."""
    (loss, n_regions), target = on_paper(n_classes)[AS_MANY], irp(n_classes).stages[-1]
    return loss < target.normalised and n_regions <= target.n_regions


def _better() -> str:
    parts = []
    for k in (2, 3, 4):
        (loss, n_regions), (before, _), target = on_paper(k)[AS_MANY], on_paper(k)[BEFORE], irp(k).stages[-1]
        word = "above" if loss > before else "below"
        parts.append(
            f"K = {k}: {loss:.4f} with {n_regions} regions, the authors' {target.normalised:.4f} with {target.n_regions}, "
            f"{word} the {before:.4f} of no calibration"
        )
    word = "a lower test cross-entropy with no more regions" if all(map(beaten, (2, 3, 4))) else "other figures"
    return (
        f"**On the paper's rows the library has {word}**, with vectors that are probabilities, labels mixed with the "
        "predictions (softened), smoothing by cross-validation, other candidates, and growth stopped at as many regions as the "
        f"authors' method has: {'; '.join(parts)}. These "
        "settings were chosen after the test figures of these rows had been seen; the fresh splits below are the fair "
        "comparison."
    )


def _of(model: str) -> list[Case]:
    return [case for case in CASES if case.model == model]


def _many() -> str:
    cases = _of(LOGISTIC)
    counts = {name: (sum(is_better(c, name) for c in cases), sum(is_worse(c, name) for c in cases)) for name in OWN}
    parts = [f"{name}: better than no calibration in {b}, worse in {w}" for name, (b, w) in counts.items()]
    rivals = ", ".join(
        f"{name} better in {sum(is_better(c, name) for c in cases)}" for name in (ISOTONIC, TEMPERATURE, MATRIX)
    )
    few, many = (regions(next(c for c in cases if c.n_classes == 3 and c.n_fit == n), LAPLACE_ALL) for n in (500, 5000))
    better, worse = (sum(both) for both in zip(*counts.values(), strict=True))
    return (
        "**Where predictions are nearly calibrated, as those of the paper's logistic regression, step functions "
        f"{'often raise the log loss' if worse > better else 'do not often raise the log loss'}.** Over many splits, "
        f"{len(cases)} cases "
        "of K and number of rows: "
        f"{'; '.join(parts)} ({rivals}). Monotony keeps regions few: for K = 3 and ten times the rows there are "
        f"{many / few:.1f} times as many, {few:.0f} and {many:.0f}."
    )


def _wrong() -> str:
    parts = []
    for model in (BAYES, FOREST):
        for case in _of(model):
            mean, error = gained(case, LAPLACE_CV)
            matrix, _ = gained(case, MATRIX)
            parts.append(f"{case.name} {mean:+.3f} ± {error:.3f} ({MATRIX} {matrix:+.3f})")
    cases = _of(BAYES) + _of(FOREST)
    better = sum(is_better(case, LAPLACE_CV) for case in cases)
    behind = sum(is_worse(case, LAPLACE_CV, MATRIX) for case in cases)
    return (
        f"**Where predictions are miscalibrated it {'helps' if better > len(cases) / 2 else 'rarely helps'}**: in {better} of "
        f"{len(cases)} cases, all on Covertype, and its log loss is above that of {MATRIX} in {behind}. Changes of "
        f"{LAPLACE_CV}, with the number of "
        f"rows that were fitted: {'; '.join(parts)}."
    )


def _choose() -> str:
    cases = CASES
    soft = sum(is_better(case, SOFTENED, LAPLACE_CV) for case in cases)
    hard = sum(is_worse(case, SOFTENED, LAPLACE_CV) for case in cases)
    stop = sum(is_better(case, LAPLACE_CV, LAPLACE_ALL) for case in cases)
    late = sum(is_worse(case, LAPLACE_CV, LAPLACE_ALL) for case in cases)
    own = sum(is_better(case, LAPLACE_CV, PUBLISHED) for case in cases)
    return (
        f"**How to choose.** Smoothing and number of regions by cross-validation are better than the authors' "
        f"choice in {own} of {len(cases)} cases, better than smoothing 1 and no stopping in {stop} and worse in {late}. "
        "Mixing the labels with the predictions as well (`softening='cv'`, the default for two classes; for more it takes "
        "longer, "
        f"and is run here with a grid of 1/20) "
        f"is better than that in {soft} and worse in {hard}. If what counts is the log "
        f"loss and nothing asks for few values, take {TEMPERATURE} or {MATRIX} first."
    )


PAGE = Path(__file__).parents[2] / "docs" / "roc-isotonic.md"

SOFTEN = """```python
import numpy as np
from calibrant.calibrators import MulticlassRecursivePartitioning

rng = np.random.default_rng(0)
p = rng.dirichlet(np.ones(3), 300)
y = np.array([rng.choice(3, p=row) for row in p])

calibrator = MulticlassRecursivePartitioning(candidates=20, softening="cv").fit(p, y)
print(calibrator.softening_, calibrator.smoothing_, calibrator.n_regions_)
```"""
"""What the documentation runs."""


def page(rows: list[Row]) -> str:
    """The whole page."""
    far = max(
        (case for case in CASES if case.n_classes > 2), key=lambda case: abs(gained(case, COARSE_CV, LAPLACE_CV)[0])
    )
    mean, error = gained(far, COARSE_CV, LAPLACE_CV)
    real = [of_volumes(name) for name in forecasts() if name.startswith("paper")]
    return filled(
        Path(__file__).with_name("page.md"),
        coverage=coverage_table(PAPER.coverage),
        summary=summary(rows),
        claims=claims_table(CLAIMS, rows),
        smoothing=SMOOTHING,
        n_baseline=N_BASELINE,
        proper_table=proper_table(),
        softened=SOFTENED,
        soften=SOFTEN,
        n_splits=dict(exact.counts())[500],
        first_split_table=exact.first_split_table(),
        loss_table=exact.loss_table(),
        study_table_2=study_table(2, (LOGISTIC, BAYES, FOREST)),
        study_table_3=study_table(3, (LOGISTIC, BAYES, FOREST)),
        study_table_4=study_table(4, (LOGISTIC, BAYES, FOREST)),
        farthest=far.name,
        mean=mean,
        error=error,
        draws=DRAWS,
        few=FEW,
        volume_table=volume_table(),
        n_smaller=sum(grid < data for grid, data, *_ in real),
        n_real=len(real),
        near=VOLUME_OF_FOUR,
        target_table_2=target_table(2),
        target_table_3=target_table(3),
        target_table_4=target_table(4),
    )


def proper_table() -> str:
    """Test cross-entropy on the paper's rows, a method a line."""
    head = ["", *(f"K = {k}" for k in (2, 3, 4))]
    names = [BEFORE, *methods(3)]
    names.insert(names.index(SOFTENED) + 1, AS_MANY)
    ends = [[irp(k, printed=printed).stages[-1] for k in (2, 3, 4)] for printed in (False, True)]
    words = ("IRP as published", "IRP, Algorithm 2 as printed")
    body = [
        *(
            [f"{w}, vectors that do not sum to one", *(_end(e.test_loss, e.n_regions) for e in of)]
            for w, of in zip(words, ends, strict=True)
        ),
        *(
            [f"{w}, divided by their sums", *(_end(e.normalised, e.n_regions) for e in of)]
            for w, of in zip(words, ends, strict=True)
        ),
        *([name, *(_cell(k, name) for k in (2, 3, 4))] for name in names),
    ]
    return table(head, body)


def _end(loss: float, n_regions: int) -> str:
    return f"{loss:.4f} ({n_regions})"


def _cell(n_classes: int, name: str) -> str:
    found = on_paper(n_classes).get(name)
    if found is None:
        return ""
    loss, n_regions = found
    return f"{loss:.4f} ({n_regions})" if n_regions else f"{loss:.4f}"


def main() -> None:
    """Draw the pictures and write the page."""
    require(FILES)
    rows = run(PAPER)
    print("pictures", flush=True)
    draw()
    print("page", flush=True)
    PAGE.write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
