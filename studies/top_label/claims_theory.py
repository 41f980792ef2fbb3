"""What the paper says that is exact: its examples, Algorithm 1 and Theorem 1."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from calibrant import calibration_error
from calibrant.binning import SimplexUnique, Unique
from calibrant.calibrators import binning_guarantee
from calibrant.datasets import load_top_label_example, load_two_patients
from calibrant.metrics import canonical_calibration_error
from calibrant.metrics.scores import accuracy
from calibrant.notions import binary_problems
from studies.claims import Claim, Verdict
from studies.judging import all_of, holds
from studies.top_label import judges
from studies.top_label.forecasts import cifar, forecasts
from studies.top_label.guarantee import ALPHA, mean_errors, promised_rates

ARITHMETIC = "arithmetic on printed figures: nothing is drawn"
DRAWS = 400
"""Calibration sets of each world in the simulation of Theorem 1."""


def exact(value: float) -> str:
    """Return the fraction with a small denominator that a value is."""
    return str(Fraction(float(value)).limit_denominator(1000))


def patients() -> dict[str, Any]:
    """Return both errors of the two patients."""
    toy = load_two_patients()
    found = {
        word: exact(calibration_error(toy.y, toy.prob, notion=word, binning=Unique(), labels=[1, 2]))
        for word in ("confidence", "top-label")
    }
    return {"found": found, "expected": {"confidence": "0", "top-label": "2/5"}}


PANELS = {
    "confidence": [("0.6 0.6 0.7 0.8 0.8 0.9", "1 0 1 0 0 1")],
    "top-label": [("0.6 0.9", "0 1"), ("0.7", "1"), ("0.6 0.8", "1 0"), ("0.8", "0")],
    "class-wise": [("0.1 0.6 0.2 0.0 0.0 0.9", "0 0 0 1 0 1"), ("0.0 0.0 0.7 0.1 0.1 0.1", "0 0 1 0 0 0"),
                   ("0.6 0.1 0.0 0.1 0.8 0.0", "1 0 0 0 0 0"), ("0.3 0.3 0.1 0.8 0.1 0.0", "0 1 0 0 1 0")],
}  # fmt: skip
"""Panels (b), (c) and (d) as printed: scores and outcomes of each binary problem."""


def panels() -> dict[str, Any]:
    """Return how many binary problems of the six points are those printed."""
    y, prob = load_top_label_example()
    stand = {}
    for notion, printed in PANELS.items():
        made = [
            (" ".join(f"{s:.1f}" for s in of.score), " ".join(f"{o:g}" for o in of.outcome))
            for of in binary_problems(y, prob, notion=notion, labels=[1, 2, 3, 4])
        ]
        stand[notion] = made == printed
    return {"stand": stand}


PANEL_E = {"g(a)": ("a", "0.1 0.0 0.6 0.3"), "g(b)": ("b", "0.2 0.7 0.0 0.1"), "g(f)": ("f", "0.9 0.1 0.0 0.0")}
"""Panel (e) as printed: the vector of three points."""


def vectors() -> dict[str, Any]:
    """Return which vectors of panel (e) are those of panel (a)."""
    _, prob = load_top_label_example()
    of = {name: " ".join(f"{v:.1f}" for v in row) for name, row in zip("abcdef", prob, strict=True)}
    return {"stand": {word: of[point] == printed for word, (point, printed) in PANEL_E.items()}}


def all_stand(stand: dict[str, bool]) -> Verdict:
    """Return whether everything stands as printed."""
    return Verdict.HOLDS if all(stand.values()) else Verdict.IN_PART if any(stand.values()) else Verdict.FAILS


def in_words(stand: dict[str, bool]) -> str:
    """Return what stands as printed and what does not."""
    good, bad = ([word for word, yes in stand.items() if yes is which] for which in (True, False))
    return f"As printed: {', '.join(good) or 'none'}" + (f"; not: {', '.join(bad)}" if bad else "")


def class_wise_only() -> dict[str, Any]:
    """Return both errors of example B of docs/notions.md."""
    lines = [((3, 8, 9), (3, 5, 12)), ((7, 4, 9), (10, 4, 6)), ((7, 8, 5), (4, 11, 5))]
    y = np.concatenate([np.repeat([1, 2, 3], occurred) for _, occurred in lines])
    prob = np.repeat([predicted for predicted, _ in lines], 20, axis=0) / 20
    how = {"binning": SimplexUnique(), "distance": "l1", "labels": [1, 2, 3]}
    return {
        "class_wise": exact(calibration_error(y, prob, notion="class-wise", binning=Unique(), labels=[1, 2, 3])),
        "canonical": exact(canonical_calibration_error(y, prob, **how)),
    }


def both_errors() -> dict[str, Any]:
    """Return conf-ECE and TL-ECE of each method over the same bins."""
    tables = {name: of for name, of in forecasts().items() if of.column is None}
    return {
        "lower": {name: of.error("confidence") for name, of in tables.items()},
        "upper": {name: of.error("top-label") for name, of in tables.items()},
    }


def n_changed(before: np.ndarray, after: np.ndarray) -> int:
    """Return the number of rows whose predicted class is another."""
    return int((before != after).sum())


def predicted_classes() -> dict[str, Any]:
    """Return in how many rows top-label binning changes the predicted class, and the accuracy before and after."""
    of, test_y = forecasts(), cifar()[3]
    before, pairs = of["Base"].prob.argmax(axis=1), {n: f.label for n, f in of.items() if f.label is not None}
    return {
        "rows": test_y.size,
        "changed": {n: n_changed(before, label) for n, label in pairs.items()},
        "before": accuracy(of["Base"].y, of["Base"].prob),
        "after": {n: float(np.mean(test_y == label)) for n, label in pairs.items()},
    }


CLAIMS: tuple[Claim, ...] = (
    Claim(
        key="patients",
        where="Example",
        sentence="Two patients with the same probability have a conf-ECE of 0 and a TL-ECE of 0.4.",
        target="exactly",
        says=Verdict.HOLDS,
        measure=patients,
        judge=judges.exactly,
        words=lambda found, expected: f"conf-ECE {found['confidence']}, TL-ECE {found['top-label']}",
    ),
    Claim(
        key="confidence-below",
        where="Fig. 1",
        sentence="The confidence diagram suggests better calibration than the top-label diagram.",
        target="over the same bins the conf-ECE is never above the TL-ECE, as the triangle inequality says of any "
        "predictions",
        says=Verdict.NOT_JUDGED,
        measure=both_errors,
        judge=lambda lower, upper: Verdict.NOT_JUDGED,
        words=lambda lower, upper: (
            "; ".join(f"{name} {lower[name]:.4f} and {upper[name]:.4f}" for name in lower)
            + ". True of any predictions; nothing was tested"
        ),
    ),
    Claim(
        key="panels",
        where="Fig. of six points, (b) to (d)",
        sentence="The binary problems of confidence, top-label and class-wise calibration.",
        target="each score and outcome as printed",
        says=Verdict.HOLDS,
        measure=panels,
        judge=all_stand,
        words=in_words,
    ),
    Claim(
        key="panel-e",
        where="Fig. of six points, (e)",
        sentence="The vectors of canonical calibration.",
        target="each as in panel (a)",
        says=Verdict.IN_PART,
        measure=vectors,
        judge=all_stand,
        words=lambda stand: in_words(stand) + ", which is g(c) of panel (a) with the outcome of b",
        one_suffices=ARITHMETIC,
    ),
    Claim(
        key="class-wise-not-canonical",
        where="Proposition",
        sentence="There are predictors that are class-wise calibrated and not canonically.",
        target="class-wise ECE 0, canonical ECE above 0, of three classes",
        says=Verdict.HOLDS,
        measure=class_wise_only,
        judge=lambda class_wise, canonical: (
            Verdict.HOLDS if Fraction(class_wise) == 0 < Fraction(canonical) else Verdict.FAILS
        ),
        words=lambda class_wise, canonical: (
            f"Class-wise ECE {class_wise}, canonical ECE {canonical}: [example B](notions.md)"
        ),
    ),
    Claim(
        key="accuracy",
        where="Algorithm 1",
        sentence="The predicted class does not change, and so neither does the accuracy.",
        target="the predicted class of each row is the same, and the accuracy",
        says=Verdict.HOLDS,
        measure=predicted_classes,
        judge=lambda rows, changed, before, after: all_of(
            (holds(not any(changed.values())), holds(all(value == before for value in after.values())))
        ),
        words=lambda rows, changed, before, after: (
            f"Of {rows:,} rows {', '.join(f'{n} ({name})' for name, n in changed.items())} change the predicted class; "
            f"accuracy {before:.4f} before, {', '.join(f'{v:.4f} ({n})' for n, v in after.items())}"
        ),
    ),
    Claim(
        key="theorem-1-constant",
        where="Theorem 1",
        sentence="With 50 points a bin the expected TL-ECE is at most about 0.1.",
        target="the bound sqrt(1 / (2 k)) is 0.1",
        tolerance="0.0005",
        says=Verdict.HOLDS,
        measure=lambda: {"bound": binning_guarantee(5000, 50, n_classes=10).expected_error},
        judge=lambda bound: Verdict.HOLDS if abs(bound - 0.1) <= 0.0005 else Verdict.FAILS,
        words=lambda bound: f"{bound:.4f}",
    ),
    Claim(
        key="theorem-1",
        where="Theorem 1, remark",
        sentence="Top-label binning is marginally and conditionally calibrated, and its TL-ECE and TL-MCE are bounded.",
        target=f"each promise is kept in at least {1 - ALPHA:.0%} of the calibration sets, within two standard errors",
        says=Verdict.HOLDS,
        measure=lambda: {"rates": promised_rates(DRAWS), "promised": 1 - ALPHA},
        judge=judges.kept,
        words=lambda rates, promised: (
            f"Kept least often, of {len(rates)} promises in simulated worlds of known truth: "
            + "; ".join(
                f"{rate:.1%} ({name})" for name, (rate, _) in sorted(rates.items(), key=lambda item: item[1])[:2]
            )
        ),
    ),
    Claim(
        key="theorem-1-mean",
        where="Theorem 1",
        sentence="On average over calibration sets the TL-ECE is at most sqrt(1 / (2 k)).",
        target="the mean over simulated calibration sets is below the bound",
        says=Verdict.HOLDS,
        measure=lambda: mean_errors(DRAWS),
        judge=judges.never_above,
        words=lambda lower, upper: "; ".join(f"{lower[n]:.3f} of {upper[n]:.3f} ({n})" for n in lower),
    ),
)
