"""Where sorted cumulative isotonic regression leads in the error of the confidence, and where not.

    python -m studies.na_isotonic.scir

prints the sections that docs/na-isotonic.md holds of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from calibrant import (
    ByNotion,
    IsotonicCalibration,
    NormalizedFlattenedIsotonic,
    SortedCumulativeIsotonic,
    TemperatureScaling,
    expected_calibration_error,
    log_loss,
)
from calibrant.calibrators.base import Calibrator
from studies.claims import table
from studies.na_isotonic.claims_printed import SURE, values
from studies.na_isotonic.forecasts import N_SPLITS, Model, name_of, published_models, splits
from studies.na_isotonic.forecasts import SCIR_FIXED as SCIR
from studies.na_isotonic.forecasts import calibrated_part as calibrated

# What epsilon, ties and where a rise goes do to sorted cumulative isotonic regression.


OPTIONS: dict[str, Callable[..., Calibrator]] = {
    **{word: partial(SCIR, epsilon=float(word)) for word in ("1e-12", "1e-6", "1e-4", "1e-3")},
    "cv": partial(SortedCumulativeIsotonic, rise="last"),
    "1e-4, ties by column": partial(SCIR, ties="column"),
    "1e-4, spread": partial(SCIR, rise="spread"),
    "cv, spread": partial(SortedCumulativeIsotonic, rise="spread"),
}


@cache
def options() -> dict[tuple[str, str], np.ndarray]:
    """Log loss and conf-ECE by forecast and option; means over splits."""
    found = {}
    for model in published_models():
        for name, make in OPTIONS.items():
            after = [(part.y_test, calibrated(part, make)) for part in splits(model)]
            values = [[log_loss(*of, clip=1e-12), expected_calibration_error(*of)] for of in after]
            found[name_of(model), name] = np.mean(values, axis=0)
    return found


def section() -> list[str]:
    return ["## Epsilon, ties, and where a rise goes", by_option(), findings()]


def by_option() -> str:
    """Log loss, and below it conf-ECE."""
    parts = []
    for column, title in enumerate(("Log loss", "conf-ECE")):
        body = []
        for model in published_models():
            name = name_of(model)
            body.append([name, *(f"{options()[name, option][column]:.4f}" for option in OPTIONS)])
        parts += [f"{title}, means over {N_SPLITS} splits:", table(["forecast", *OPTIONS], body)]
    return "\n\n".join(parts)


def findings() -> str:
    names = [name_of(model) for model in published_models()]

    def change(after: str, before: str, column: int) -> np.ndarray:
        return np.array([options()[name, after][column] - options()[name, before][column] for name in names])

    ties = np.abs(change("1e-4, ties by column", "1e-4", 1)).max()
    least = change("1e-12", "1e-4", 1)
    chosen, spread = change("cv", "1e-4", 0), change("cv, spread", "cv", 0)
    lines = [
        f"* Ties: which of two equal classes comes first changes conf-ECE by at most {ties:.1g}.",
        f"* Epsilon: conf-ECE at 1e-12 less that at 1e-4 is {least.min():+.4f} to {least.max():+.4f}; log loss "
        f"{change('1e-12', '1e-4', 0).min():+.4f} to {change('1e-12', '1e-4', 0).max():+.4f}.",
        f"* Epsilon by cross-validation changes the log loss by {chosen.min():+.4f} to {chosen.max():+.4f} against 1e-4, on "
        f"average {chosen.mean():+.4f}, and conf-ECE by {change('cv', '1e-4', 1).min():+.4f} to "
        f"{change('cv', '1e-4', 1).max():+.4f}.",
        f"* To spread each rise over the classes since the last one changes the log loss by {spread.min():+.4f} to "
        f"{spread.max():+.4f}, on average {spread.mean():+.4f}, and conf-ECE by "
        f"{change('cv, spread', 'cv', 1).min():+.4f} to {change('cv, spread', 'cv', 1).max():+.4f}, both with epsilon by "
        "cross-validation.",
    ]
    return "\n".join(lines)


# The conf-ECE that calibrators leave of forecasts whose over-confidence has one shape or another.


METHODS: dict[str, Callable[..., Calibrator]] = {
    "TS": TemperatureScaling,
    "FIR": partial(ByNotion, IsotonicCalibration(finite=None), "flattened"),
    "NA-FIR": partial(NormalizedFlattenedIsotonic, smoothing=1e-3),
    "SCIR": SCIR,
}
OTHERS = [name for name in METHODS if name != "SCIR"]

BENT, BACK = (2.0, 4.0), -0.7
"""How much of its highest probability is added to the power of a row: it becomes surer the surer it was, or the less sure."""


def raised(prob: np.ndarray, power: np.ndarray | float) -> np.ndarray:
    """Each row to a power, divided by its sum."""
    found: np.ndarray = np.clip(prob, 1e-300, 1.0) ** power
    return found / found.sum(axis=1, keepdims=True)


def bent(prob: np.ndarray, by: float) -> np.ndarray:
    """Each row to a power that depends on its highest probability."""
    return raised(prob, 1.0 + by * prob.max(axis=1, keepdims=True))


UNCHANGED, BENT_BACK = "unchanged", f"bent back, p^(1 - {-BACK:g} max p)"
BENT_SHAPES = {f"bent, p^(1 + {by:g} max p)": partial(bent, by=by) for by in BENT}

SHAPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    UNCHANGED: lambda prob: prob,
    "sharpened, p^2": lambda prob: raised(prob, 2.0),
    "sharpened, p^3": lambda prob: raised(prob, 3.0),
    **BENT_SHAPES,
    BENT_BACK: partial(bent, by=BACK),
}


@dataclass(frozen=True, eq=False)
class Shape:
    """The conf-ECE of a forecast of some shape: of each method an array, one value a split."""

    model: Model
    shape: str
    error: dict[str, np.ndarray]

    @property
    def leads(self) -> bool:
        """Whether SCIR has the lowest error on average."""
        return all(self.mean("SCIR") < self.mean(name) for name in OTHERS)

    @property
    def best_other(self) -> str:
        return min(OTHERS, key=self.mean)

    @property
    def gain(self) -> np.ndarray:
        """By how much SCIR is better than the best other, split by split."""
        return self.error[self.best_other] - self.error["SCIR"]

    def mean(self, name: str) -> float:
        return float(self.error[name].mean())


@cache
def shapes() -> tuple[Shape, ...]:
    """Every forecast in every shape."""
    found = []
    for model in published_models():
        for name, change in SHAPES.items():
            changed = replace(model, fit=change(model.fit), test=change(model.test))
            rows = [
                [expected_calibration_error(part.y_test, part.test)]
                + [expected_calibration_error(part.y_test, calibrated(part, make)) for make in METHODS.values()]
                for part in splits(changed)
            ]
            found.append(Shape(model, name, dict(zip(["Uncalibrated", *METHODS], np.array(rows).T, strict=True))))
    return tuple(found)


PRINTED = {name: values("conf-ECE")[SURE[0]][name] / 100 for name in ("Uncalibrated", "TS", "FIR", "NA-FIR", "SCIR")}
"""conf-ECE of DenseNet-121 on CIFAR-100 in the paper's Table 4."""


def sections() -> list[str]:
    """What is computed for the page."""
    return [_by_shape(), *_findings_of_shapes(), *section()]


def _by_shape() -> str:
    head = ["predictions", "shape", "Uncalibrated", *METHODS, "SCIR less the best other"]
    body = []
    for found in shapes():
        errors = [f"{found.mean(name):.4f} ± {found.error[name].std(ddof=1):.4f}" for name in METHODS]
        gain = f"{-found.gain.mean():+.4f} ± {found.gain.std(ddof=1):.4f}"
        body.append([name_of(found.model), found.shape, f"{found.mean('Uncalibrated'):.4f}", *errors, gain])
    return table(head, body)


def _findings_of_shapes() -> list[str]:
    lines = []
    for shape in SHAPES:
        here = of_shape(shape)
        ahead = [found for found in here if found.leads]
        clear = [found for found in ahead if found.gain.mean() > 2 * found.gain.std(ddof=1)]
        left = np.mean([found.mean("TS") / found.mean("Uncalibrated") for found in here])
        lines.append(
            f"* {shape}: SCIR is lowest on {len(ahead)} of {len(here)}, on {len(clear)} by more than twice the standard "
            f"deviation over splits. A temperature leaves {left:.0%} of the conf-ECE, on average."
        )
    lines += [_cause(), _other_way()]
    return ["\n".join(lines)]


def of_shape(*names: str) -> list[Shape]:
    return [found for found in shapes() if found.shape in names]


def _cause() -> str:
    """How often SCIR leads where over-confidence grows with the confidence, and elsewhere."""
    bent = [found.leads for found in of_shape(*BENT_SHAPES)]
    other = [found.leads for found in shapes() if found.shape not in (*BENT_SHAPES, BENT_BACK)]
    return (
        f"* SCIR is lowest in {sum(bent)} of {len(bent)} bent cases, in {sum(other)} of {len(other)} unchanged or sharpened "
        f"ones. {_epsilon()} The bent shape was made to show a possible reason: the first rank of SCIR maps the confidence "
        "of a row by a curve of its own, while a temperature, and maps of single probabilities, treat rows of high and of "
        "low confidence alike. Five tables of predictions, bent on purpose, do not show that the paper's lead has this reason."
    )


def _epsilon() -> str:
    """How often SCIR leads on the unchanged predictions, by epsilon."""
    unchanged = {name_of(found.model): found for found in of_shape(UNCHANGED)}
    without = sum(
        options()[name, "1e-12"][1] < min(found.mean(other) for other in OTHERS) for name, found in unchanged.items()
    )
    at_fixed = sum(found.leads for found in unchanged.values())
    return f"Of {len(unchanged)} unchanged ones it is lowest on {at_fixed} at epsilon 1e-4 and on {without} at 1e-12."


def _other_way() -> str:
    """What becomes of the lead where the same shape is bent the other way."""
    back = of_shape(BENT_BACK)
    lost = {name_of(found.model): found.mean("SCIR") - found.mean("NA-FIR") for found in back}
    behind = ", ".join(f"{name} {by:+.4f}" for name, by in lost.items())
    return (
        f"* Bent back by {-BACK:g} of the highest probability SCIR is lowest on {sum(f.leads for f in back)} of {len(back)} "
        f"and has a higher conf-ECE than NA-FIR on {sum(by > 0 for by in lost.values())} (SCIR less NA-FIR: {behind}). No "
        "temperature undoes this shape either."
    )


if __name__ == "__main__":
    print("\n\n".join(sections()))
