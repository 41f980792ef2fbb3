"""What the survey says of calibrators of three classes (its figures 17 to 20), and what is computed of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from calibrant import DirichletCalibration
from studies.survey.findings import (
    CLEARLY,
    NOT_JUDGED,
    ROWS,
    Finding,
    Mean,
    confirmed,
    falls,
    judged,
    over_draws,
    rises,
    rows,
    the_case,
)
from studies.survey.three_errors import (
    CLASSES,
    ODIR,
    PENALISED,
    Region,
    added_to_bayes,
    before_of_class,
    excess,
    excess_before,
    fitted_three,
    of_class,
    on_few_rows,
)

LOW, MIDDLE, HIGH = (0.0, 0.1), (0.1, 0.4), (0.4, 1.0)
CLOSE = 0.005
"""Reliability diagrams are close where E|S - C| differs by less, for each class."""

FEW = 200
CAPPED = (0.75, 0.85)
"""What counts as around 0.8."""

CORNER = np.array([[0.02, 0.02, 0.96]])


# Figures


def of_classes(show: Callable[[int], str], classes: Iterable[int] = CLASSES) -> str:
    return "; ".join(f"{show(j)} (class {j + 1})" for j in classes)


def gain(j: int, method: str, other: str | None = None, region: Region = (0.0, 1.0)) -> Mean:
    """E|S - C| of a class after one method less that after another, or less that before calibration."""
    against = before_of_class(j, region) if other is None else of_class(j, other, region)
    return of_class(j, method, region) - against


def few(*methods: str) -> str:
    shown = ", ".join(f"{on_few_rows(m, FEW).show(4)} ({m})" for m in methods)
    return f"Fitted to {FEW} rows, the log loss above Bayes is {shown}; {excess_before():.4f} without calibration"


# Fig. 17


def temperature() -> list[Finding]:
    elsewhere = [(j, r) for j in CLASSES for r in (LOW, MIDDLE, HIGH) if r != MIDDLE or j == 2]
    changes = [gain(j, "temperature", None, r) for j, r in elsewhere]
    worse, better = sum(c.is_above_0 for c in changes), sum(c.is_below_0 for c in changes)
    heat = over_draws(lambda s: fitted_three("temperature", s).temperature_)
    more = excess("vector") - excess("temperature")
    return [
        Finding(
            "It manages to improve the reliability diagram around the [0.1, 0.4] region for classes 1 and 2 ...",
            "E abs(S - C) there: "
            + of_classes(
                lambda j: f"{before_of_class(j, MIDDLE):.4f} to {of_class(j, 'temperature', MIDDLE).show()}", (0, 1)
            )
            + f"; T = {heat.show(3)}",
            f"it falls {CLEARLY}",
            judged(gain(j, "temperature", None, MIDDLE).is_below_0 for j in (0, 1)),
        ),
        Finding(
            "... it actually makes things worse elsewhere.",
            "Change of E abs(S - C): "
            + "; ".join(
                f"{c.change()} (class {j + 1}, [{r[0]:g}, {r[1]:g}])"
                for (j, r), c in zip(elsewhere, changes, strict=True)
            )
            + f": worse in {worse} of {len(changes)} regions, better in {better}, {CLEARLY}",
            "worse in more than half of the regions; in part: in any",
            confirmed(worse > len(changes) / 2, "in part" if worse else "refuted"),
        ),
        Finding(
            "It applies the same calibration map to all three classes despite them having different class-wise reliability "
            "diagrams, which is the main reason for the sub-optimal results.",
            f"Log loss above Bayes {excess_before():.5f} before, {excess('temperature').show(5)} with one factor, "
            f"{excess('vector').show(5)} with a factor and a constant for each class (vector); difference {more.change(5)}",
            f"vector scaling is better {CLEARLY}",
            falls(more),
        ),
    ]


# Fig. 18


def vector() -> list[Finding]:
    apart = {j: gain(j, "vector", "temperature") for j in CLASSES}
    heated, less = gain(2, "temperature"), on_few_rows("vector", FEW) - on_few_rows("matrix", FEW)
    return [
        Finding(
            "The reliability diagram is close to the ones of temperature scaling.",
            f"E abs(S - C) after vector scaling less that after temperature scaling: {of_classes(lambda j: apart[j].change())}",
            f"each differs by less than {CLOSE}",
            judged(abs(apart[j].value) < CLOSE for j in CLASSES),
        ),
        Finding(
            "Some minor improvements can be seen with class 3 ...",
            f"For class 3 the difference is {apart[2].change()}",
            f"it is below 0 {CLEARLY}",
            falls(apart[2]),
        ),
        Finding(
            "... where vector scaling does not make it quite as bad as for temperature scaling.",
            f"E abs(S - C) of class 3: {before_of_class(2):.4f} before, {of_class(2, 'temperature').show()} after temperature "
            f"scaling, {of_class(2, 'vector').show()} after vector scaling. Temperature scaling changes it by "
            f"{heated.change()}" + (": it improves it, and the premise fails" if heated.is_below_0 else ""),
            f"temperature scaling makes it worse, and vector scaling less so, {CLEARLY}",
            confirmed(heated.is_above_0 and apart[2].is_below_0),
        ),
        Finding(
            "It balances the risk of overfitting and the richness of available calibration maps.",
            f"{few('temperature', 'vector', 'matrix')}. Vector less matrix: {less.change()}",
            f"fitted to {FEW} rows it is better than matrix scaling, and to {ROWS:,} than temperature scaling, {CLEARLY}",
            f"{falls(less)} against matrix scaling, {falls(excess('vector') - excess('temperature'))} against temperature",
        ),
    ]


# Fig. 19


def matrix() -> list[Finding]:
    apart = {j: gain(j, "matrix", "vector") for j in CLASSES}
    figure = (
        "E abs(S - C) after matrix scaling less that after vector scaling: "
        + of_classes(lambda j: apart[j].change())
        + "; less that before calibration: "
        + of_classes(lambda j: gain(j, "matrix").change())
    )
    overfit = on_few_rows("matrix", FEW) - on_few_rows("temperature", FEW)
    return [
        Finding(
            "There are still minor improvements on the reliability diagram of class 1 and class 2 ...",
            figure,
            f"below 0 against vector scaling, {CLEARLY}",
            judged(apart[j].is_below_0 for j in (0, 1)),
        ),
        Finding(
            "... class 3 has gained a significant improvement.",
            "The same for class 3",
            f"below 0 against vector scaling, {CLEARLY}",
            falls(apart[2]),
        ),
        Finding(
            "It can support a broader family of calibration maps than vector scaling and temperature scaling ...",
            f"So it does. Log loss above Bayes {excess('matrix').show(5)}; vector {excess('vector').show(5)}, temperature "
            f"{excess('temperature').show(5)}",
            "a matter of definition",
            NOT_JUDGED,
        ),
        Finding(
            "... but may be vulnerable to overfitting.",
            f"{few('matrix', 'vector', 'temperature')}. Matrix less temperature: {overfit.change()}",
            f"fitted to {FEW} rows it is worse than temperature scaling, {CLEARLY}",
            rises(overfit),
        ),
    ]


# Fig. 20


def dirichlet() -> list[Finding]:
    return [*dirichlet_and_matrix(), capped(), *dirichlet_identity(), *dirichlet_on_few_rows()]


def dirichlet_and_matrix() -> list[Finding]:
    apart = {j: gain(j, "dirichlet", "matrix") for j in CLASSES}
    moved = {
        m: over_draws(lambda s, m=m: fitted_three(m, s).calibrate(CORNER)[0, 2] - CORNER[0, 2])  # type: ignore[misc]
        for m in ("matrix", "dirichlet")
    }
    less = Mean(np.abs(moved["dirichlet"].of_draws)) - Mean(np.abs(moved["matrix"].of_draws))
    highest = the_case("mlp", 3).forecast[:, 2].max()
    return [
        Finding(
            "The overall results on the class-wise reliability diagrams are close to those obtained with matrix scaling.",
            f"E abs(S - C) after Dirichlet less that after matrix scaling: {of_classes(lambda j: apart[j].change())}; log "
            f"loss above Bayes {excess('dirichlet').show(5)} and {excess('matrix').show(5)}",
            f"each differs by less than {CLOSE}",
            judged(abs(apart[j].value) < CLOSE for j in CLASSES),
        ),
        Finding(
            "The region of its changes on class 3 doesn't cover the area where the predicted probability of class 3 is close "
            "to 1, which is more reasonable compared with matrix scaling.",
            f"At the forecast (0.02, 0.02, 0.96) the probability of class 3 changes by {moved['matrix'].change()} (matrix) and "
            f"{moved['dirichlet'].change()} (Dirichlet). The network's highest is {highest:.2f}: both extrapolate",
            f"Dirichlet moves it less than matrix scaling, {CLEARLY}",
            falls(less),
        ),
    ]


def capped() -> Finding:
    of = the_case("mlp", 3)
    highest = [float(prob[:, 2].max()) for prob in (of.posterior, of.forecast)]
    return Finding(
        "Both the Bayes-optimal predictions and the MLP predictions for class 3 are capped around 0.8.",
        f"The highest are {highest[0]:.3f} and {highest[1]:.3f}",
        f"both between {CAPPED[0]} and {CAPPED[1]}",
        judged(CAPPED[0] < value < CAPPED[1] for value in highest),
    )


def dirichlet_identity() -> list[Finding]:
    prob, y = rows("mlp", 3, 0)
    same = DirichletCalibration(diagonal=1e-3).fit(prob, y)
    same.coef_, same.intercept_ = np.eye(3), np.zeros(3)
    unchanged = float(np.abs(same.calibrate(prob) - prob).max())
    less = added_to_bayes("dirichlet") - added_to_bayes(PENALISED)
    return [
        Finding(
            "It also supports the identity map ...",
            f"With W = I and b = 0 nothing changes (to {unchanged:.0e})",
            "exact to 1e-10",
            confirmed(unchanged < 1e-10),
        ),
        Finding(
            "... so it can also prevent over-adjusting calibrated results.",
            f"Fitted to Bayes' own forecast it adds {added_to_bayes('dirichlet').show(5)} to the log loss. With calibrant's "
            "default penalties, which draw W to zero, so that its fit is never the identity, it adds "
            f"{added_to_bayes(PENALISED).show(5)}; temperature scaling, which contains the identity, "
            f"{added_to_bayes('temperature').show(5)}. Without less with penalties: {less.change(5)}",
            f"it adds less than the form whose fit is never the identity, {CLEARLY}",
            falls(less),
        ),
    ]


def dirichlet_on_few_rows() -> list[Finding]:
    overfit = on_few_rows("dirichlet", FEW) - on_few_rows("temperature", FEW)
    helped = on_few_rows(ODIR, FEW) - on_few_rows("dirichlet", FEW)
    return [
        Finding(
            "It can also overfit on small datasets.",
            f"{few('dirichlet', 'matrix', 'temperature')}. Dirichlet less temperature: {overfit.change()}",
            f"fitted to {FEW} rows it is worse than temperature scaling, {CLEARLY}",
            rises(overfit),
        ),
        Finding(
            "The authors propose the ODIR approach to address this issue further.",
            f"{few(ODIR, PENALISED)}. ODIR less without penalties: {helped.change()}",
            f"better with it, {CLEARLY}",
            falls(helped),
        ),
    ]
