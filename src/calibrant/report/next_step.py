"""The next step that a report recommends: as computed on the rows at hand, or the command that computes it."""

from __future__ import annotations

from calibrant.assessment.advice import IDENTITY, Advice

ASK = (
    "Next: choose a calibrator on a calibration set: rows that neither the classifier was trained on nor this report shows: "
    "calibrant advise CALIBRATION_FILE (in Python calibrant.advise)."
)
"""Where nothing was computed: the report was made without rows, or of rows to test on."""

REFIT = (
    "If these rows are your test set, fit on a separate calibration set, and compare before and after on the test set:"
)


def next_step(advice: Advice | None, *, visible: bool, detectable: float | None, n_rows: int) -> str:
    """Return the last finding; ``visible`` is whether some miscalibration is significant."""
    if advice is not None and advice.recommended != IDENTITY:
        event = f" {advice.event}" if advice.event else ""
        return (
            f"Next: fit {advice.recommended} on a calibration set: {advice.command}. {_figures(advice)} {REFIT} "
            f"calibrant report TEST_FILE{advice.given}{event} --calibrator calibrator.json -o after.html."
        )
    if visible and advice is None:
        return ASK
    if visible and advice is not None:
        return f"Next: collect more rows. {advice.reason}"
    stay = "" if advice is None else f" {advice.reason}"
    return (
        f"No miscalibration is visible in {'1 row' if n_rows == 1 else f'{n_rows} rows'}.{stay} That is no proof of "
        f"calibration: an ECE below about {detectable:.4f} would often go undetected here."
    )


def _figures(advice: Advice) -> str:
    before, chosen = advice.candidates[0], advice.chosen
    rows = f"{advice.n_rows} rows" if advice.n_used == advice.n_rows else f"{advice.n_used} of {advice.n_rows} rows"
    return (
        f"In {advice.n_folds}-fold cross-validation on {rows} it lowers the log loss from {before.log_loss:.4f} to "
        f"{chosen.log_loss:.4f} (difference {chosen.difference:.4f}, standard error {chosen.standard_error:.4f})."
    )
