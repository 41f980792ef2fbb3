"""`calibrant advise`, and what a report needs of it: which calibrator to fit, and how two forecasts of a file differ."""

from __future__ import annotations

import argparse
import shlex
import sys
import warnings
from typing import TYPE_CHECKING

from calibrant.cli.inputs import binning_of, labels_of, read, values_of, weight_of
from calibrant.cli.other_rows import warn_beside_other_rows
from calibrant.cli.shown import Shown, data_of, event_label

if TYPE_CHECKING:
    from calibrant.assessment.advice import Advice
    from calibrant.interop.files import ForecastTable
    from calibrant.metrics.kinds.metric import Metric
    from calibrant.significance.difference import PairedDifference

COLUMNS, FLAGS = ("label", "prob", "logit", "weight", "classes"), ("percent", "normalize")
"""Options that say where the columns of a file are, and what they hold; the next file will need them as well."""


def run_advise(arguments: argparse.Namespace) -> int:
    """Print which calibrator to fit to a forecast, if any."""
    forecast = read(arguments, arguments.file)
    warn_beside_other_rows(arguments, forecast)
    advice = advised(arguments, forecast)
    print(f"{advice.n_used} of {advice.n_rows} rows, {advice.n_classes} classes, {advice.n_folds} folds")
    print(advice)
    if advice.command is not None:
        print(advice.command.replace("CALIBRATION_FILE", _place(arguments), 1))
    return 0


def _place(arguments: argparse.Namespace) -> str:
    """Return the file, and its rows, as a command names them."""
    file = f"./{arguments.file}" if arguments.file.startswith("-") else arguments.file
    return " ".join([shlex.quote(file), *([] if arguments.rows is None else [_option("rows", arguments.rows)])])


def _option(name: str, value: str) -> str:
    """Return an option with its value; one that begins as an option does is joined to its name."""
    return f"--{name}{'=' if value.startswith('-') else ' '}{shlex.quote(value)}"


def advised(arguments: argparse.Namespace, forecast: ForecastTable) -> Advice:
    """Return the advice on the forecast of a file, with the options that its columns needed."""
    from dataclasses import replace

    from calibrant.assessment.advice import advise

    advice = advise(forecast.y_true, values_of(arguments, forecast), rng=arguments.seed, **data_of(arguments, forecast))
    return replace(advice, options=_options(arguments, forecast), event=_event(arguments, forecast))


def _options(arguments: argparse.Namespace, forecast: ForecastTable) -> str:
    named = {name: value for name in COLUMNS if (value := getattr(arguments, name)) is not None}
    if (event := event_label(arguments, forecast)) is not None and len(forecast.forecast_columns) == 1:
        known = labels_of(arguments, forecast) or forecast.y_true.tolist()
        other = next((str(label) for label in known if label != event), f"no {event}")
        named["classes"] = f"{other},{event}"
    words = [_option(name, value) for name, value in named.items()]
    return " ".join([*words, *(f"--{name}" for name in FLAGS if getattr(arguments, name, False))])


def _event(arguments: argparse.Namespace, forecast: ForecastTable) -> str:
    """Return what a report is told of its event, but for what the classes of one column say."""
    names = ("notion", "pos_label") if len(forecast.forecast_columns) > 1 else ("notion",)
    told = {name: value for name in names if (value := getattr(arguments, name, None)) is not None}
    return " ".join(_option(name.replace("_", "-"), value) for name, value in told.items())


def differences_from(arguments: argparse.Namespace, first: Shown, other: Shown) -> list[PairedDifference]:
    """Return metrics of one forecast less those of the first, where the rows are the same; else none, and say so."""
    import numpy as np

    from calibrant._core.warnings import CalibrationWarning
    from calibrant.report.comparison import COMPARED
    from calibrant.significance.difference import as_level, difference_of
    from calibrant.sums.draws import as_rng

    if said := _different_rows(arguments, first, other):
        print(
            f"calibrant: note: {other.name} has {said} than {first.name}: they are compared as samples of different rows",
            file=sys.stderr,
        )
        return []
    a, b = other.problem(arguments), first.problem(arguments)
    if a.size < 2:
        print("calibrant: note: there is no interval of a difference on one row", file=sys.stderr)
        return []
    level, n_resamples = as_level(arguments.level), max(2, arguments.resamples)
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):  # an infinite loss less another is no number
        # Of each forecast by itself it was said when it was assessed.
        warnings.simplefilter("ignore", CalibrationWarning)
        return [
            difference_of(_metric(arguments, metric), a, b, level, n_resamples, as_rng(arguments.seed))
            for metric in COMPARED
            if arguments.notion is None or metric != "ece"  # that of another notion has the interval of two samples
        ]


def _metric(arguments: argparse.Namespace, name: str) -> Metric:
    """Return a metric as the figures of the report have it: with the bins and the clip of the command."""
    from calibrant.metrics.kinds.metric import as_metric

    metric = as_metric(name, binning_of(arguments))
    return metric if arguments.clip is None else metric.clipped(arguments.clip)


def _different_rows(arguments: argparse.Namespace, first: Shown, other: Shown) -> str:
    """Say what differs in the rows of two files, as far as labels and weights show it; empty where nothing does."""
    import numpy as np

    truths = [shown.forecast.y_true for shown in (first, other)]
    if first.problem(arguments).classes.tolist() != other.problem(arguments).classes.tolist():
        return "other classes"
    if len(truths[0]) != len(truths[1]):
        return "another number of rows"
    if differ := int(np.sum(truths[0] != truths[1])):
        return f"other labels (in {differ} of {len(truths[1])} rows)"
    weights = [weight_of(arguments, shown.forecast) for shown in (first, other)]
    return "" if weights[0] is None or np.array_equal(*weights) else "other weights"
