"""The survey's equations, run as they are printed and as they are meant; and what it says of scores, notions and fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from scipy.special import xlogy
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import roc_auc_score

from calibrant import (
    IsotonicCalibration,
    brier_score_loss,
    datasets,
    expected_calibration_error,
    log_loss,
    maximum_calibration_error,
    metrics,
)
from studies.claims import Functions, holds, printed_as
from studies.survey import cases as sv

TOY, (LABELS, PROB) = datasets.load_survey_table_2(), datasets.load_survey_table_3()
"""Table 2 and Table 3."""

CLASSES, EXACT = {"labels": [1, 2, 3]}, 1e-12


# Equations with a misprint: how far they are, as printed and as meant, from what the survey says that they are.


def softmax_by_sign() -> tuple[float, float]:
    """How far probabilities move at temperature 1, with exp(-z) and with exp(z)."""
    prob = 0.9 * PROB + 0.1 / 3
    powers = ((prob / prob[:, 2:]) ** sign for sign in (-1, 1))
    printed, meant = (np.abs(of / of.sum(axis=1, keepdims=True) - prob).max() for of in powers)
    return printed, meant


def log_of_a_sum() -> tuple[float, float]:
    """The share of rows where ln sum -1(y = j) g_j does not exist; how far sum -1(y = j) ln g_j is from the log loss."""
    own = TOY.prob[np.arange(10), TOY.y - 1]
    return np.mean(-own <= 0), abs(-np.log(own).mean() - log_loss(TOY.y, TOY.prob, **CLASSES))


def value_of_a_block() -> tuple[float, float]:
    """How far eq. 7 is above its least value for class 1 of Table 3, with m and with v_m as the value of bin m."""
    score, event = PROB[:, 0], LABELS == 1
    fit, best = IsotonicCalibration(finite=None).fit(score, event), IsotonicRegression().fit_transform(score, event)
    block = np.searchsorted(fit.left_, score, side="right")
    printed, meant = (((of - event) ** 2 - (best - event) ** 2).mean() for of in (block, fit.value_[block - 1]))
    return printed, meant


def weights_of_bins() -> tuple[float, float]:
    """How far sums of Table 4's gaps are from Definition 1, without and with the shares of the bins."""
    gap, share = np.array([9 / 110, 8 / 105, 7 / 30, 17 / 35, 1 / 20]), np.array([11, 7, 3, 7, 2]) / 30
    ece = expected_calibration_error(LABELS == 1, PROB[:, 0], notion="binary", binning=5)
    return abs(gap.sum() - ece), abs(share @ gap - ece)


def parts_of_scores() -> tuple[float, float]:
    """How far E phi(S, C) + E phi(C, Y), and the same with d, are from E phi(S, Y) in Table 2: the worse of both scores."""
    s, c, y = TOY.prob, TOY.calibrated, np.eye(3)[TOY.y - 1]

    def phi(one: np.ndarray, other: np.ndarray) -> np.ndarray:
        return np.array([((one - other) ** 2).sum(axis=1).mean(), -xlogy(other, one).sum(axis=1).mean()])

    off = phi(s, c) + phi(c, y) - phi(s, y)
    return np.abs(off).max(), np.abs(off - phi(c, c) - phi(y, y)).max()


def equation(measure: Callable[[], tuple[float, float]]) -> Functions:
    """Return the functions of a claim that an equation is what the text says of it."""
    return (
        lambda: dict(zip(("printed", "meant"), map(float, measure()), strict=True)),
        lambda printed, meant: printed_as(printed <= EXACT, meant <= EXACT),
        lambda printed, meant: f"Off by {printed:.3g} as printed, by {meant:.0e} as meant",
    )


# Statements about all cases: the largest of some figures, which must be 0.


def never(measure: Callable[[], Mapping[str, float]]) -> Functions:
    """Return the functions of a claim that some figures are never above 0."""
    return (
        lambda: {"largest": {name: float(of) for name, of in measure().items()}},
        lambda largest: holds(max(largest.values()) <= EXACT),
        lambda largest: "At most " + sv.each({name: f"{of:.3g}" for name, of in largest.items()}),
    )


SCORES = {"Brier score": brier_score_loss, "log loss": log_loss}


def no_better_vector(scores: Mapping[str, Callable[..., float]] = SCORES) -> dict[str, float]:
    """By how much the truth has a higher expected score than the best other vector of twentieths."""
    grid = [np.array([i, j, 20 - i - j]) / 20 for i in range(21) for j in range(21 - i)]
    worst = {}
    for name, score in scores.items():
        for truth in ([0.8, 0.2, 0.0], [0.5, 0.3, 0.2]):
            *others, own = (score([1, 2, 3], [of] * 3, sample_weight=truth, **CLASSES) for of in [*grid, truth])
            worst[f"{name}, truth {truth}"] = own - sorted(others)[1] + 2 * EXACT  # the least is the truth itself
    return worst


def calibrated_table_2(of: str = "calibrated") -> dict[str, float]:
    """The calibration loss of C, and how far its refinement loss is from that of S."""
    worst = {}
    for score in ("brier", "log"):
        both = TOY.prob, getattr(TOY, of)
        before, after = (metrics.calibration_refinement(TOY.y, p, score=score, **CLASSES).terms for p in both)
        worst[f"calibration, {score}"] = after[0][1]
        worst[f"change of refinement, {score}"] = abs(after[1][1] - before[1][1])
    return worst


def of_whole_vectors(shuffle: bool = False) -> dict[str, float]:
    """The largest errors of twenty forecasts of tenths whose rows occur as often as they say, vector by vector."""
    worst = {"confidence": 0.0, "class-wise": 0.0}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        tenths = rng.multinomial(10, [0.5, 0.3, 0.2], size=5)
        y = np.concatenate([np.repeat([1, 2, 3], row) for row in tenths])
        rows = rng.permutation(y) if shuffle else y, np.repeat(tenths / 10, 10, axis=0)
        for notion, error in worst.items():
            worst[notion] = max(error, metrics.calibration_error(*rows, notion=notion, binning=100, **CLASSES))
    return worst


def by_numbers_of_bins(*numbers: int) -> dict[str, float]:
    """The lowest ECE and MCE of the forecasts of rain in some numbers of bins, less three quarters of the highest."""
    rain, worst = datasets.load_hallenbeck_forecasts(), {}
    for name, error in {"ECE": expected_calibration_error, "MCE": maximum_calibration_error}.items():
        of = [error(*rain, binning=n) for n in numbers]
        worst[f"{name} {', '.join(f'{e:.4f}' for e in of)}"] = min(of) - 0.75 * max(of)
    return worst


def of_isotonic(method: str = "isotonic") -> dict[str, float]:
    """How far a fit to the over-confident case is from the least Brier score of a monotone map, and from the ROC hull."""
    worst = {"Brier score above the least": 0.0, "area below that of the hull": 0.0}
    for seed in range(sv.DRAWS):
        prob, y = sv.the_case("over-confident").draw(sv.ROWS, seed)
        value, best = (
            sv.fitted("over-confident", method, seed).calibrate(prob),
            IsotonicRegression().fit_transform(prob, y),
        )
        above = np.mean((value - y) ** 2 - (best - y) ** 2)
        below = metrics.roc_convex_hull(y, prob).area - roc_auc_score(y, value)
        worst = {name: max(of, new) for (name, of), new in zip(worst.items(), (above, below), strict=True)}
    return worst


OF_EQUATIONS: dict[str, Functions] = {
    "decomposition": equation(parts_of_scores),
    "equation-5": equation(weights_of_bins),
    "equation-6": equation(value_of_a_block),
    "equation-9": equation(log_of_a_sum),
    "equation-12": equation(softmax_by_sign),
    "strictly-proper": never(no_better_vector),
    "calibrator-of-table-2": never(calibrated_table_2),
    "multiclass-is-strongest": never(of_whole_vectors),
    "numbers-of-bins": never(lambda: by_numbers_of_bins(10, 5, 2)),
    "isotonic-optimal": never(of_isotonic),
}
