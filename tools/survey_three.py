"""Calibrators of three classes on the survey's network: its figures 17 to 20, and what it says of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Self

import numpy as np
from sklearn.linear_model import LogisticRegression
from survey_exact import class_wise, divergence
from survey_findings import DRAWS, Finding, Make, confirmed, rows, table, the_case

from calibrant import DirichletCalibration, TemperatureScaling, VectorScaling


class RelativeMatrix:
    """Matrix scaling as the survey has it: softmax(W z + b) of z_j = log s_j / s_K, a logistic regression on K - 1
    features."""

    def fit(self, prob: np.ndarray, y: np.ndarray) -> Self:
        self.regression = LogisticRegression(C=np.inf, tol=1e-8, max_iter=1000).fit(self._features(prob), y)
        return self

    def calibrate(self, prob: np.ndarray) -> np.ndarray:
        return np.asarray(self.regression.predict_proba(self._features(prob)))

    def _features(self, prob: np.ndarray) -> np.ndarray:
        log_prob = np.log(np.maximum(prob, 1e-12))
        return np.asarray(log_prob[:, :-1] - log_prob[:, -1:])


OF_THREE: dict[str, Make] = {
    "temperature": TemperatureScaling,
    "vector": VectorScaling,
    "matrix": lambda: RelativeMatrix(),
    "dirichlet": lambda: DirichletCalibration(diagonal=0.0, off_diagonal=0.0, intercept=0.0),
}


@dataclass(frozen=True)
class OfThree:
    """Errors of a forecast of three classes: class-wise E|S_j - C_j|, and the log loss above that of Bayes' rule."""

    by_class: np.ndarray
    log_excess: float


@cache
def fitted_three(method: str, seed: int) -> Any:
    prob, y = rows("mlp", 3, seed)
    return OF_THREE[method]().fit(prob, y)


@cache
def values_three(method: str, seed: int) -> np.ndarray:
    return np.asarray(fitted_three(method, seed).calibrate(the_case("mlp", 3).forecast))


def errors_three(value: np.ndarray) -> OfThree:
    of = the_case("mlp", 3)
    return OfThree(of.mass @ class_wise(of, value), of.mean(divergence(of.posterior, value)))


@cache
def before_three() -> OfThree:
    return errors_three(the_case("mlp", 3).forecast)


@cache
def after_three(method: str) -> OfThree:
    found = [errors_three(values_three(method, seed)) for seed in range(DRAWS)]
    return OfThree(np.mean([e.by_class for e in found], axis=0), float(np.mean([e.log_excess for e in found])))


def region_of_class(j: int, low: float, high: float, method: str | None) -> float:
    """Mean |S_j - C_j| over the forecasts whose probability of class j was in [low, high] before calibration."""
    of = the_case("mlp", 3)
    mass = of.mass * ((of.forecast[:, j] >= low) & (of.forecast[:, j] <= high))
    forecasts = [of.forecast] if method is None else [values_three(method, seed) for seed in range(DRAWS)]
    return float(np.mean([mass @ class_wise(of, value)[:, j] / mass.sum() for value in forecasts]))


def of_three_classes() -> str:
    """Errors before and after, for the network of three classes."""
    found = {"before": before_three(), **{method: after_three(method) for method in OF_THREE}}
    body = [
        [name, *(f"{v:.4f}" for v in e.by_class), f"{e.by_class.mean():.4f}", f"{e.log_excess:.5f}"]
        for name, e in found.items()
    ]
    return table(["", "E abs(S - C), class 1", "class 2", "class 3", "mean", "log loss above Bayes"], body)


def temperature() -> list[Finding]:
    parts = {}
    for j in (0, 1, 2):
        regions = ((0.0, 0.1), (0.1, 0.4), (0.4, 1.0))
        parts[j] = [(region_of_class(j, *r, None), region_of_class(j, *r, "temperature")) for r in regions]
    middle = all(parts[j][1][1] < parts[j][1][0] for j in (0, 1))
    elsewhere = [parts[j][r] for j in (0, 1) for r in (0, 2)] + parts[2]
    shown = "; ".join(
        f"class {j + 1}: "
        + ", ".join(
            f"{b:.4f} to {a:.4f} in {r}"
            for (b, a), r in zip(parts[j], ("[0, 0.1]", "[0.1, 0.4]", "[0.4, 1]"), strict=True)
        )
        for j in range(3)
    )
    heat = [fitted_three("temperature", s).temperature_ for s in range(DRAWS)]
    return [
        Finding(
            "It improves the classes 1 and 2 around [0.1, 0.4], and makes things worse elsewhere.",
            f"T = {np.mean(heat):.3f} (standard deviation {np.std(heat):.3f}). E abs(S - C), {shown}",
            f"{confirmed(middle)} for [0.1, 0.4]; elsewhere worse in {sum(a > b for b, a in elsewhere)} of "
            f"{len(elsewhere)} regions, "
            + (
                "and better on the whole"
                if after_three("temperature").by_class.sum() < before_three().by_class.sum()
                else "and in sum"
            ),
        ),
        Finding(
            "It has the same map for all classes, although their diagrams differ, and is sub-optimal for that.",
            f"Log loss above Bayes {after_three('temperature').log_excess:.5f}; with a factor and a constant for "
            f"each class (vector) {after_three('vector').log_excess:.5f}",
            confirmed(after_three("vector").log_excess < after_three("temperature").log_excess),
        ),
    ]


def vector() -> list[Finding]:
    a, b = after_three("temperature").by_class, after_three("vector").by_class
    return [
        Finding(
            "Its reliability diagram is close to that of temperature scaling, with minor improvements for class 3.",
            "E abs(S - C) after temperature and after vector scaling: "
            + "; ".join(f"{a[j]:.4f} and {b[j]:.4f} (class {j + 1})" for j in range(3)),
            confirmed(b[2] < a[2]),
        )
    ]


def matrix() -> list[Finding]:
    a, b, was = after_three("vector").by_class, after_three("matrix").by_class, before_three().by_class
    return [
        Finding(
            "Minor improvements for the classes 1 and 2, and a significant one for class 3.",
            "E abs(S - C) before, after vector and after matrix scaling: "
            + "; ".join(f"{was[j]:.4f}, {a[j]:.4f} and {b[j]:.4f} (class {j + 1})" for j in range(3)),
            confirmed(bool(b[2] < 0.7 * a[2])),
        )
    ]


def dirichlet() -> list[Finding]:
    a, b = after_three("matrix"), after_three("dirichlet")
    corner = np.array([[0.02, 0.02, 0.96]])
    moved = {
        m: float(np.mean([fitted_three(m, s).calibrate(corner)[0, 2] - 0.96 for s in range(DRAWS)]))
        for m in ("matrix", "dirichlet")
    }
    of = the_case("mlp", 3)
    plain, drawn = (spoils_three(make) for make in (OF_THREE["dirichlet"], DirichletCalibration))
    prob, y = rows("mlp", 3, 0)
    same = DirichletCalibration().fit(prob, y)
    same.coef_, same.intercept_ = np.eye(3), np.zeros(3)
    unchanged = float(np.abs(same.calibrate(prob) - prob).max())
    return [
        Finding(
            "Its reliability diagrams are close to those of matrix scaling.",
            "E abs(S - C) after matrix and after Dirichlet: "
            + "; ".join(f"{a.by_class[j]:.4f} and {b.by_class[j]:.4f} (class {j + 1})" for j in range(3))
            + f"; log loss above Bayes {a.log_excess:.5f} and {b.log_excess:.5f}",
            confirmed(bool(np.abs(a.by_class - b.by_class).max() < 0.005)),
        ),
        Finding(
            "Its changes of class 3 leave out the corner of class 3, unlike those of matrix scaling.",
            f"At the forecast (0.02, 0.02, 0.96) the probability of class 3 changes by {moved['matrix']:+.4f} "
            f"(matrix) and {moved['dirichlet']:+.4f} (Dirichlet). No forecast of the network comes there (the "
            f"highest is {of.forecast[:, 2].max():.2f}): both extrapolate",
            confirmed(abs(moved["dirichlet"]) < abs(moved["matrix"])),
        ),
        Finding(
            "The Bayes-optimal and the network's probability of class 3 are capped around 0.8.",
            f"The highest are {of.posterior[:, 2].max():.3f} and {of.forecast[:, 2].max():.3f}",
            confirmed(bool(of.posterior[:, 2].max() < 0.85)),
        ),
        Finding(
            "It contains the identity, which prevents over-adjusting calibrated results.",
            f"With W = I and b = 0 nothing changes (to {unchanged:.0e}). Fitted to Bayes' own forecast it adds "
            f"{plain:.5f} to the log loss. The default penalty, which draws W to zero and does not contain the "
            f"identity, adds {drawn:.5f}",
            confirmed(unchanged < 1e-10 and plain < 0.002),
        ),
    ]


def spoils_three(make: Make) -> float:
    """Log loss that a calibrator adds to Bayes' own forecast of three classes."""
    of = the_case("bayes-optimal", 3)
    found = []
    for seed in range(DRAWS):
        fitted_here = make().fit(*rows("bayes-optimal", 3, seed))
        found.append(of.mean(divergence(of.posterior, np.asarray(fitted_here.calibrate(of.forecast)))))
    return float(np.mean(found))
