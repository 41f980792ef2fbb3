"""Run the experiments of the paper on ROC-regularised isotonic regression and write docs/roc-isotonic.md.

Run: python -m studies.roc_isotonic. The data sets lie in $CALIBRANT_DATA, or in shared/data beside the repository.
"""

from __future__ import annotations

from pathlib import Path

from studies.claims import Row, claims_table, coverage_table, require, run, table
from studies.roc_isotonic.authors import FILES, N_BASELINE, SMOOTHING, VOLUME_OF_FOUR, irp, target_table, targets, total
from studies.roc_isotonic.claims import CLAIMS, COVERAGE, PAPER
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


def summary() -> str:
    """The main results in a few sentences, all of it computed."""
    return "\n".join(f"* {line}" for line in (_digits(), _sums(), _better(), _many(), _wrong(), _choose()))


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
    parts = (introduction(rows), figures(), proper(), study(), volumes(), digits())
    return "\n\n".join(line for part in parts for line in part) + "\n"


def introduction(rows: list[Row]) -> list[str]:
    return [
        "# ROC-regularised isotonic regression, run",
        "The experiments of *Classifier calibration with ROC-regularized isotonic regression* (Berta, Bach and Jordan, AISTATS "
        "2024), run by `make reproduce-roc`, which writes this page and its pictures. Isotonic recursive partitioning (IRP) "
        "splits the simplex around points, as long as calibrated vectors keep the order of the predictions: "
        "`IsotonicRecursivePartitioning` of one score, `MulticlassRecursivePartitioning` of whole probability vectors.",
        "## What of the paper is here",
        coverage_table(COVERAGE),
        "## In short",
        summary(),
        "## What the paper says",
        "Differences are means over splits ± their standard error. *Published* is what the published code does, its first "
        "split "
        "included; *printed* is Algorithm 2 of the paper.",
        claims_table(CLAIMS, rows),
    ]


def figures() -> list[str]:
    parts = [
        "## The figures",
        "A logistic regression of the first two, three and four classes of Covertype; 500 rows to fit, 1000 to test. *As "
        f"published* is as the published code has it: smoothing (mean + λ) / (1 + λ) with λ = {SMOOTHING:g}, splitting points "
        "of "
        "a grid, a first split that compares smoothed means of the sides with the mean of all rows as it is, and a test row "
        "takes the value of the nearest point of the grid. *As printed* is Algorithm 2, whose means are all smoothed alike. "
        "For "
        "two and three classes both make the same splits. The vectors of these curves do not sum to one (see below). "
        "The regularised cross-entropy is the mean of -log r_y - λ Σ log r_k. "
        f"The baseline splits the first region in its queue at its centre, {N_BASELINE} times whatever K is.",
    ]
    for n_classes, number in ((2, 2), (3, 4), (4, 5)):
        parts.append(f"![Figure {number}: K = {n_classes}](images/roc/curves-{n_classes}.png)")
    return [
        *parts,
        "Figure 1, theorem 2.1 on a small example: the slopes of the greatest convex minorant are the isotonic fit, and the "
        "ROC curve of the fit is the convex hull of the ROC curve (`cumulative_sum_curve`).",
        "![Figure 1: cumulative sums, minorant and ROC curves](images/roc/theorem.png)",
        "Figure 3, a split of the triangle (`simplex_split`), and Figure 6, predictions all over the triangle with noisy "
        "labels: "
        "labels, calibrated vectors, splits in their order, regions.",
        "![Figure 3: a split around a point](images/roc/split.png)",
        "![Figure 6: three classes](images/roc/triangles.png)",
        "Figure 7, the ROC surface of these rows before and after (`roc_surface`).",
        "![Figure 7: ROC surfaces](images/roc/surface.png)",
        "Figure 8, four classes of Covertype. The HTML report has a tetrahedron that turns.",
        "![Figure 8: four classes](images/roc/tetrahedron.png)",
    ]


def proper() -> list[str]:
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
    return [
        "## With vectors that are probabilities",
        "(mean + λ) / (1 + λ) is a constant, (1 + Kλ) / (1 + λ), times a mixture of the mean with the uniform vector: the "
        "regions are the same, and the cross-entropy is lower by the logarithm of the constant, whatever the data. The library "
        "has the mixture (`mixture`) and Laplace's rule, rows that are added to each region (`smoothing`). Test cross-entropy "
        "on the paper's rows, number of regions in brackets. The first four lines take the nearest point of a grid, as the "
        "published code does; all others walk down the tree, *normalised* with the vectors of the first line divided by their "
        "sums:",
        table(head, body),
        "![Test cross-entropy along the paths](images/roc/proper.png)",
        f"*{SOFTENED}*: each row counts 1 - m for its true class and m p_k for each class k, so that the vector of a "
        "region is (1 - m) times its class rates plus m times its mean prediction, and noise in the labels stops fewer "
        "splits. m "
        "is 0, 0.3, 0.6, 0.8 or 0.9, chosen with the smoothing and the number of regions by cross-validation; for "
        "three classes and more the candidates are a grid of 1/20, which is fast:",
        SOFTEN,
        "**Chosen afterwards:** that labels are softened at all, these parts, the grid of 1/20 and little smoothing were "
        "settled when test figures of the paper's rows and of some other splits had been seen. The splits below are new ones.",
    ]


def _end(loss: float, n_regions: int) -> str:
    return f"{loss:.4f} ({n_regions})"


def _cell(n_classes: int, name: str) -> str:
    found = on_paper(n_classes).get(name)
    if found is None:
        return ""
    loss, n_regions = found
    return f"{loss:.4f} ({n_regions})" if n_regions else f"{loss:.4f}"


def study() -> list[str]:
    far = max(
        (case for case in CASES if case.n_classes > 2), key=lambda case: abs(gained(case, COARSE_CV, LAPLACE_CV)[0])
    )
    mean, error = gained(far, COARSE_CV, LAPLACE_CV)
    return [
        "## Over many splits",
        "The same data, shuffled anew; 4500 rows to train (1500 where 5000 of two classes are fitted), all that are left to "
        "test. Test cross-entropy less that of no calibration on the same rows, mean ± standard error over splits, and number "
        "of regions. **Bold**: lower by more than two standard errors. Splits share rows: errors are a little too small.",
        "Two classes:",
        study_table(2, (LOGISTIC, BAYES, FOREST)),
        "Three classes:",
        study_table(3, (LOGISTIC, BAYES, FOREST)),
        "Four classes:",
        study_table(4, (LOGISTIC, BAYES, FOREST)),
        "Bars in the picture are two standard errors over splits to each side.",
        "![Differences to no calibration](images/roc/study.png)",
        f"A grid of step 1/20 in place of candidates from the data changes most in {far.name}: {mean:+.4f} ± {error:.4f}. "
        "Points of a lattice share borders, so that later splits do not cut across earlier ones; where predictions lie near a "
        "corner a lattice is too coarse.",
    ]


def volumes() -> list[str]:
    real = [of_volumes(name) for name in forecasts() if name.startswith("paper")]
    smaller = sum(grid < data for grid, data, *_ in real)
    return [
        "## Volumes under the ROC surface",
        "`volume_under_surface_score` measures the convex hull of the surface's points and the origin, or how often a "
        "threshold sorts one row of each class right (tuples). Hull over the grid of the published code, over "
        f"thresholds that the rows give, by {DRAWS} rays that are drawn; tuples; and the mean of the pairwise areas "
        f"(`hand_till_score`). Artificial predictions have {FEW} rows.",
        volume_table(),
        "All are 1 for a perfect classifier. For one whose predictions are all equal the hull and the tuples are 1 / K!, and "
        "the "
        f"pairwise areas 1/2. A grid misses points of the surface: its hull is the smaller one in {smaller} of the first "
        f"{len(real)}. "
        "Of two classes the tuples are the area under the curve and the hull that under its convex hull; of more classes they "
        "stay apart where the surface is not concave, or predictions tie.",
    ]


def digits() -> list[str]:
    return [
        "## Digit by digit",
        "Targets are of ports of the published code, run apart from this library: six digits for two and three classes, four "
        f"for four. Volumes of four classes agree to {VOLUME_OF_FOUR:g}, as they hang on the grid of thresholds.",
        *(target_table(k) for k in (2, 3, 4)),
    ]


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
