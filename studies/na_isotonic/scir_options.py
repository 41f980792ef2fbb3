"""What epsilon, ties and where a rise goes do to sorted cumulative isotonic regression."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np

from calibrant import SortedCumulativeIsotonic, expected_calibration_error, log_loss
from calibrant.calibrators.base import Calibrator
from studies.markdown import table
from studies.na_isotonic.forecasts import published_models
from studies.na_isotonic.splits import N_SPLITS, SCIR, calibrated, name_of, splits

OPTIONS: dict[str, Callable[..., Calibrator]] = {
    "1e-12": partial(SortedCumulativeIsotonic, epsilon=1e-12, rise="last"),
    "1e-6": partial(SortedCumulativeIsotonic, epsilon=1e-6, rise="last"),
    "1e-4": SCIR,
    "1e-3": partial(SortedCumulativeIsotonic, epsilon=1e-3, rise="last"),
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
            values = []
            for part in splits(model):
                prob = calibrated(part, make)
                values.append(
                    [
                        log_loss(part.y_test, prob, clip=1e-12),
                        expected_calibration_error(part.y_test, prob),
                    ]
                )
            found[name_of(model), name] = np.mean(values, axis=0)
    return found


@cache
def before_rows() -> dict[str, float]:
    """The conf-ECE of the fitted g(q, 1) as the probability that the predicted class is true, means over splits."""
    found = {}
    for model in published_models():
        errors = []
        for part in splits(model):
            fitted = SCIR(labels=range(part.n_classes)).fit(part.fit, part.y_fit)
            left, value = fitted.steps(1)
            score = value[np.searchsorted(left, part.test.max(axis=1), side="right") - 1]
            errors.append(expected_calibration_error((part.test.argmax(axis=1) == part.y_test).astype(int), score))
        found[name_of(model)] = float(np.mean(errors))
    return found


def section() -> list[str]:
    return ["## Epsilon, ties, and where a rise goes", by_option(), findings()]


def by_option() -> str:
    """Log loss, and below it conf-ECE."""
    parts = []
    for column, title in enumerate(("Log loss", "conf-ECE")):
        last = ["fitted g(q, 1) itself"] if column else []
        body = []
        for model in published_models():
            name = name_of(model)
            own = [f"{before_rows()[name]:.4f}"] if column else []
            body.append([name, *(f"{options()[name, option][column]:.4f}" for option in OPTIONS), *own])
        parts += [f"{title}, means over {N_SPLITS} splits:", table(["forecast", *OPTIONS, *last], body)]
    return "\n\n".join(parts)


def findings() -> str:
    names = [name_of(model) for model in published_models()]

    def change(after: str, before: str, column: int) -> np.ndarray:
        return np.array([options()[name, after][column] - options()[name, before][column] for name in names])

    ties = np.abs(change("1e-4, ties by column", "1e-4", 1)).max()
    least = change("1e-12", "1e-4", 1)
    chosen, spread = change("cv", "1e-4", 0), change("cv, spread", "cv", 0)
    own = np.array([before_rows()[name] - options()[name, "1e-4"][1] for name in names])
    lines = [
        f"* Ties: which of two equal classes comes first changes conf-ECE by at most {ties:.1g}.",
        f"* Epsilon: conf-ECE at 1e-12 less that at 1e-4 is {least.min():+.4f} to {least.max():+.4f}; log loss "
        f"{change('1e-12', '1e-4', 0).min():+.4f} to {change('1e-12', '1e-4', 0).max():+.4f}.",
        f"* Rows: conf-ECE of the fitted g(q, 1) for the class that was predicted, less that of the row: {own.min():+.4f} to "
        f"{own.max():+.4f}. What comes of it in the row is the addition of epsilon, and another class on top.",
        f"* Epsilon by cross-validation changes the log loss by {chosen.min():+.4f} to {chosen.max():+.4f} against 1e-4, on "
        f"average {chosen.mean():+.4f}, and conf-ECE by {change('cv', '1e-4', 1).min():+.4f} to "
        f"{change('cv', '1e-4', 1).max():+.4f}.",
        f"* To spread each rise over the classes since the last one changes the log loss by {spread.min():+.4f} to "
        f"{spread.max():+.4f}, on average {spread.mean():+.4f}, and conf-ECE by "
        f"{change('cv, spread', 'cv', 1).min():+.4f} to {change('cv, spread', 'cv', 1).max():+.4f}, both with epsilon by "
        "cross-validation.",
    ]
    return "\n".join(lines)
