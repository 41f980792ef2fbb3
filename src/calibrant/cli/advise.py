"""`calibrant advise`, and what a report needs of it: which calibrator to fit, and how two forecasts of a file differ."""

from __future__ import annotations

import argparse
import shlex
import sys
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calibrant.cli.forecasts import binning_of, labels_of, pos_label_of, read, values_of, weight_of

if TYPE_CHECKING:
    from calibrant._links import FloatArray
    from calibrant.advice import Advice
    from calibrant.interop.files import ForecastTable
    from calibrant.significance.difference import PairedDifference

COLUMNS, FLAGS = ("label", "prob", "logit", "weight", "classes"), ("percent", "normalize")
"""Options that say where the columns of a file are, and what they hold; the next file will need them as well."""


def run_advise(arguments: argparse.Namespace) -> int:
    """Print which calibrator to fit to a forecast, if any."""
    advice = advised(arguments, read(arguments, arguments.file))
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

    from calibrant.advice import advise

    advice = advise(forecast.y_true, values_of(arguments, forecast), rng=arguments.seed, **_data(arguments, forecast))
    return replace(advice, options=_options(arguments, forecast), event=_event(arguments, forecast))


def _options(arguments: argparse.Namespace, forecast: ForecastTable) -> str:
    named = {name: value for name in COLUMNS if (value := getattr(arguments, name)) is not None}
    if (event := _pos_label(arguments, forecast)) is not None and len(forecast.forecast_columns) == 1:
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


@dataclass(frozen=True, eq=False)
class Shown:
    """A forecast of a report: the file that it is from, and its probabilities, calibrated or as they are."""

    name: str
    forecast: ForecastTable
    prob: FloatArray

    @classmethod
    def of(cls, arguments: argparse.Namespace, name: str, forecast: ForecastTable) -> Shown:
        """Return the forecast of a file as it is."""
        from calibrant import _links

        values = values_of(arguments, forecast)
        if forecast.input == "logit":
            values = _links.score_of_logit(values) if values.ndim == 1 else _links.prob_of_logit(values)
        return cls(name, forecast, values)


def differences_from(arguments: argparse.Namespace, first: Shown, other: Shown) -> list[PairedDifference]:
    """Return metrics of one forecast less those of the first, where the rows are the same; else none, and say so."""
    from calibrant._warnings import CalibrationWarning
    from calibrant.report.comparison import COMPARED
    from calibrant.significance.difference import paired_difference

    if said := _different_rows(arguments, first.forecast, other.forecast):
        print(
            f"calibrant: note: {other.name} has {said} than {first.name}: they are compared as samples of different rows",
            file=sys.stderr,
        )
        return []
    options: dict[str, Any] = _data(arguments, other.forecast) | {
        "input": "probability",
        "binning": binning_of(arguments),
        "level": arguments.level,
        "n_resamples": max(2, arguments.resamples),
        "rng": arguments.seed,
    }
    truth = first.forecast.y_true
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", CalibrationWarning
        )  # of each forecast by itself it was said when it was assessed
        return [
            paired_difference(truth, other.prob, first.prob, metric=metric, **options)
            for metric in COMPARED
            if arguments.notion is None or metric != "ece"  # that of another notion has the interval of two samples
        ]


def _different_rows(arguments: argparse.Namespace, first: ForecastTable, other: ForecastTable) -> str:
    """Say what differs in the rows of two files, as far as labels and weights show it; empty where nothing does."""
    import numpy as np

    if labels_of(arguments, first) != labels_of(arguments, other):
        return "other classes"
    if len(first.y_true) != len(other.y_true):
        return "another number of rows"
    if differ := int(np.sum(first.y_true != other.y_true)):
        return f"other labels (in {differ} of {len(other.y_true)} rows)"
    weights = [weight_of(arguments, forecast) for forecast in (first, other)]
    return "" if weights[0] is None or np.array_equal(*weights) else "other weights"


def _pos_label(arguments: argparse.Namespace, forecast: ForecastTable) -> Any:
    """Return the label of the event where the command has a word for it: `calibrant fit` names classes in place of it."""
    return pos_label_of(arguments, forecast) if hasattr(arguments, "pos_label") else None


def _data(arguments: argparse.Namespace, forecast: ForecastTable) -> dict[str, Any]:
    return {
        "sample_weight": weight_of(arguments, forecast),
        "labels": labels_of(arguments, forecast),
        "pos_label": _pos_label(arguments, forecast),
        "input": forecast.input,
    }
