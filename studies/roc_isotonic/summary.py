"""What docs/roc-isotonic.md says first."""

from __future__ import annotations

from studies.roc_isotonic.authors import irp, total
from studies.roc_isotonic.methods import (
    AS_MANY,
    AUTHORS,
    BEFORE,
    ISOTONIC,
    LAPLACE_ALL,
    LAPLACE_CV,
    MATRIX,
    SOFTENED,
    TEMPERATURE,
    on_paper,
)
from studies.roc_isotonic.study import BAYES, CASES, FOREST, LOGISTIC, Case, gained, is_better, is_worse, regions
from studies.roc_isotonic.targets import agreeing

OWN = (LAPLACE_ALL, LAPLACE_CV, SOFTENED)


def summary() -> str:
    """What came out, in a few sentences, all of it computed."""
    return "\n".join(f"* {line}" for line in (_digits(), _sums(), _better(), _many(), _wrong(), _choose()))


def _digits() -> str:
    same, targets = agreeing()
    word = "Every figure comes out" if same == targets else "Not every figure comes out"
    return (
        f"**{word}**: {same} of {targets} figures that a port of the published code gave, to the last of six digits, for two "
        "and three classes; and the curves of Figures 2, 4 and 5."
    )


def _sums() -> str:
    parts = [
        f"{irp(k).stages[-1].test_loss:.4f} becomes {irp(k).stages[-1].normalised:.4f} for K = {k}" for k in (2, 3, 4)
    ]
    before = ", ".join(f"{irp(k).before.test_loss:.4f}" for k in (2, 3, 4))
    worse = all(irp(k).stages[-1].normalised > irp(k).before.test_loss for k in (2, 3, 4))
    verdict = "no longer below" if worse else "not all above"
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
    word = "A lower test cross-entropy with no more regions" if all(map(beaten, (2, 3, 4))) else "On the same rows"
    return (
        f"**{word}**, with vectors that are probabilities, labels softened by the forecast and smoothed as cross-validation "
        f"says, other candidates, and growth stopped at as many regions as the authors' method has: {'; '.join(parts)}."
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
        "**Of forecasts that are nearly calibrated, as those of the paper's logistic regression, step functions "
        f"{'lose' if worse > better else 'do not lose'}.** Over many splits, {len(cases)} cases of K and number of rows: "
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
        f"**Of forecasts that are wrong it {'helps' if better > len(cases) / 2 else 'rarely helps'}**: in {better} of "
        f"{len(cases)} cases, and is behind {MATRIX} in {behind}. {'; '.join(parts)}."
    )


def _choose() -> str:
    cases = CASES
    soft = sum(is_better(case, SOFTENED, LAPLACE_CV) for case in cases)
    hard = sum(is_worse(case, SOFTENED, LAPLACE_CV) for case in cases)
    stop = sum(is_better(case, LAPLACE_CV, LAPLACE_ALL) for case in cases)
    late = sum(is_worse(case, LAPLACE_CV, LAPLACE_ALL) for case in cases)
    own = sum(is_better(case, LAPLACE_CV, AUTHORS) for case in cases)
    return (
        f"**How to choose.** Smoothing and number of regions by cross-validation are better than the authors' "
        f"choice in {own} of {len(cases)} cases, better than smoothing 1 and no stopping in {stop} and worse in {late}. "
        f"Softening labels by the forecast as well (`softening='cv'`, the default for two classes; for more it takes longer, "
        f"and is run here with a grid of 1/20) "
        f"is better than that in {soft} and worse in {hard}. If what counts is the log "
        f"loss and nothing asks for few values, take {TEMPERATURE} or {MATRIX} first."
    )
