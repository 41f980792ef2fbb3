"""Run the experiments of the paper on ROC-regularised isotonic regression and write docs/roc-isotonic.md.

Run: python -m studies.roc_isotonic. The data sets lie in $CALIBRANT_DATA, or in shared/data beside the repository.
"""

from __future__ import annotations

from pathlib import Path

from studies.claims import Row, claims_table, run
from studies.coverage import coverage_table
from studies.data import require
from studies.markdown import table
from studies.roc_isotonic.authors import N_BASELINE, SMOOTHING, irp
from studies.roc_isotonic.claims import CLAIMS, PAPER
from studies.roc_isotonic.coverage import COVERAGE
from studies.roc_isotonic.forecasts import FILES
from studies.roc_isotonic.methods import AS_MANY, BEFORE, COARSE_CV, LAPLACE_CV, SOFTENED, methods, on_paper
from studies.roc_isotonic.pictures import draw
from studies.roc_isotonic.study import BAYES, CASES, FOREST, LOGISTIC, gained, study_table
from studies.roc_isotonic.summary import summary
from studies.roc_isotonic.targets import VOLUME_OF_FOUR, target_table
from studies.roc_isotonic.volumes import DRAWS, FEW, forecasts, volume_table
from studies.roc_isotonic.volumes import volumes as of_volumes

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
