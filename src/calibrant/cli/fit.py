"""`calibrant fit`: from a calibration set to a calibrator in a file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from calibrant.cli.inputs import labels_of, n_rows_of, values_of, weight_of
from calibrant.cli.methods import found_notion
from calibrant.cli.other_rows import warn_beside_other_rows
from calibrant.cli.streams import missing_of, opened, sampled

NOT_FOUND = ("gradient_", "middle_", "row_weight_")
"""Fitted numbers that say how well a fit went, what features measure from, or what a row weighs, and not what was found."""

COUNTS = ("n_bins_", "n_regions_")
"""Whole numbers that were found, and not given by the data."""


FEWEST_SAMPLED = 10_000
"""Rows of streamed rows to which the default is fitted at least, however many classes they have."""


def run_fit(arguments: argparse.Namespace) -> int:
    """Fit a calibrator and save it."""
    from calibrant._core.parameters import left_out
    from calibrant._core.validation import as_weights
    from calibrant.calibrators.simplex.evidence_scaling import MANY_NUMBERS
    from calibrant.cli.methods import calibrator_of, method_of
    from calibrant.interop.files import ForecastTable
    from calibrant.interop.persistence import save_calibrator
    from calibrant.interop.writing import require_free

    read_too = [] if arguments.other is None else [arguments.other]
    require_free(Path(arguments.output), force=arguments.force, inputs=[arguments.file, *read_too])
    rows: tuple[Any, ...]
    forecast, of_all = opened(arguments, [arguments.file]), ""
    if not isinstance(forecast, ForecastTable) and not arguments.method and not arguments.notion:
        stream = forecast  # the default is fitted to rows in memory
        forecast = sampled(stream, max(MANY_NUMBERS // stream.n_classes, FEWEST_SAMPLED))
        if stream.n_rows != forecast.n_rows:
            of_all = f" of {stream.n_rows} rows, drawn at random"
    if isinstance(forecast, ForecastTable):
        warn_beside_other_rows(arguments, forecast)
        prob, weight = values_of(arguments, forecast), weight_of(arguments, forecast)
        rows, labels = (prob, forecast.y_true, weight), labels_of(arguments, forecast)
        n_columns = prob.shape[1] if prob.ndim > 1 else 1
        n_rows = len(prob) if weight is None else as_weights(weight, len(prob)).rows
    else:
        hint = "Pass --sample N, to fit to some of the rows and to compare these"
        left_out("--other", arguments.other, "with files that are read in batches", hint=hint)
        rows, labels = (forecast.predictions,), None
        n_columns, n_rows = len(forecast.forecast_columns), 0.0  # a default that depends on them is fitted to a sample
        if forecast.n_classes > 2:
            n_columns = forecast.n_classes  # perhaps in one column of lists
    chosen = method_of(arguments, n_columns=n_columns, n_rows=n_rows)
    calibrator = calibrator_of(arguments, chosen, n_columns=n_columns, input=forecast.input, labels=labels)
    calibrator.fit(*rows)
    names = forecast.forecast_columns
    if len(names) < calibrator.n_features_in_:  # a column of lists
        names = tuple(f"{names[0]}_{k}" for k in range(calibrator.n_features_in_))
    save_calibrator(calibrator, arguments.output, columns=names, force=arguments.force)
    details = ", ".join(
        f"{name.rstrip('_')} {value:.6g}"
        for name, value in sorted(vars(calibrator).items())
        if (name.endswith("_") and isinstance(value, float) and name not in NOT_FOUND)
        or (name in COUNTS and isinstance(value, int))
    )
    by_default = "" if arguments.method else " (the default; --method NAME takes another)"
    on = f"{n_rows_of(arguments, forecast)}{of_all or ' rows'}{missing_of(forecast)}"
    print(f"fitted {chosen}{by_default} on {on}{': ' if details else ''}{details}")
    if len(calibrator.classes_) == 2:
        print(f"event: class {calibrator.classes_[1]}")
    if (groups := found_notion(arguments, calibrator)) is not None:
        print(f"found {groups!r}")
    print(f"wrote {arguments.output}")
    return 0
