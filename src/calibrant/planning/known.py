"""Answers that are known: rows to calibrate, by the study of harm, and rows for a guarantee, by a theorem."""

from __future__ import annotations

import numpy as np

from calibrant._core.parameters import flag, number, require, whole
from calibrant.calibrators.guarantees.binning_plan import samples_for_guarantee
from calibrant.planning.harm import ROWS, harm_of
from calibrant.planning.rows_needed import RowsNeeded

LEVEL, HARM = 0.1, 0.1
"""What is assumed where nothing is said: the probability with which a guarantee may fail, and the tolerated share of harm."""

BOUNDS_SHOWN = (2.0, 1.5, 1.25, 1.0, 0.8)
"""Multiples of the wanted bound whose rows are shown beside it."""


def to_calibrate(
    rng: np.random.Generator,
    *,
    calibrate: str,
    n_classes: int | None = None,
    safe: bool | None = None,
    harm: float | None = None,
) -> RowsNeeded:
    """Return the rows from which on a method seldom did harm; nothing is drawn."""
    classes = _n_classes(n_classes, "calibrate")
    is_safe = flag("safe", safe) if safe is not None else False
    tolerated = HARM if harm is None else number("harm", harm, above=0.0, below=1.0, hint="0.1 tolerates one in ten")
    found = harm_of(calibrate, classes, safe=is_safe)
    method = f"{calibrate} within SafeCalibrator" if is_safe else calibrate
    needed = found.rows(tolerated)
    require(
        needed is not None,
        f"harm must be a share that {method} kept to with {ROWS[-1]:,} rows, the most of the study of harm",
        got=f"{tolerated:g}, and there it made {100 * found.share[-1]:.0f} % of the {found.experiments[-1]} experiments worse",
        hint="Take safe=True, a larger harm=, or another calibrator"
        if not is_safe
        else "Take a larger harm=, or another calibrator",
    )
    assert needed is not None
    at = ROWS.index(needed)
    sentence = (
        f"{needed:,} rows are needed to calibrate by {method}: from there on it raised the log loss of held-out rows in at "
        f"most {100 * tolerated:g} % of the experiments."
    )
    assumed = {
        "source": "the study of harm, docs/do-no-harm.md, with 100, 200, 500 and 2000 rows",
        "predictions": f"those of the study of {found.group}",
        "experiments": f"{found.experiments[at]} with {needed:,} rows, of which {100 * found.share[at]:.0f} % were made worse",
    }
    return RowsNeeded(needed, sentence, 0.0, assumed, "share of harm", tolerated, np.array(ROWS), found.share)


def to_guarantee(
    rng: np.random.Generator, *, guarantee: float, n_classes: int | None = None, level: float | None = None
) -> RowsNeeded:
    """Return the rows with which histogram binning has a bound; nothing is drawn."""
    classes = 1 if n_classes is None else n_classes
    alpha = LEVEL if level is None else number("level", level, above=0.0, below=1.0, hint="0.1 is usual")
    plan = samples_for_guarantee(guarantee, n_classes=classes, alpha=alpha)
    bounds = [times * guarantee for times in BOUNDS_SHOWN if times * guarantee <= 1.0]
    sentence = (
        f"{plan.n_samples:,} rows are needed: after top-label histogram binning no error is above {guarantee:g} with "
        f"probability {1.0 - alpha:g}."
    )
    assumed = {
        "theorem": "the conditional bound of samples_for_guarantee, whatever the predictions",
        "bins": f"{plan.n_bins:,} of {plan.points_per_bin:,} rows, 10 for each of {classes} classes"
        if classes > 1
        else f"{plan.n_bins:,} of {plan.points_per_bin:,} rows",
    }
    tried = np.array([samples_for_guarantee(bound, n_classes=classes, alpha=alpha).n_samples for bound in bounds])
    return RowsNeeded(plan.n_samples, sentence, 0.0, assumed, "bound", guarantee, tried, np.array(bounds))


def _n_classes(n_classes: object, question: str) -> int:
    require(
        n_classes is not None,
        f"n_classes must be given beside {question}",
        got="None",
        hint="Pass n_classes=2 for one event",
    )
    return whole("n_classes", n_classes, least=2, hint="Pass n_classes=2 for one event")
