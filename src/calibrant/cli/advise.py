"""`calibrant advise`, and what a report needs of it: which calibrator to fit, and how two forecasts of a file differ."""

from __future__ import annotations

import argparse
import shlex
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibrant.cli.inputs import (
    binning_of,
    json_of,
    labels_of,
    pos_label_of,
    problem_of,
    read,
    rows_of,
    values_of,
    warn_beside_other_rows,
    weight_of,
)

if TYPE_CHECKING:
    from calibrant._core.arrays import FloatArray
    from calibrant.assessment.advice import Advice
    from calibrant.interop.tables import ForecastTable
    from calibrant.metrics.kinds import Metric
    from calibrant.significance.differences import PairedDifference


COLUMNS, FLAGS = ("label", "prob", "logit", "weight", "classes"), ("percent", "normalize")
"""Options that say where the columns of a file are, and what they hold; the next file will need them as well."""


def run_advise(arguments: argparse.Namespace) -> int:
    """Print what is wrong with a forecast, and which calibrator to fit, if any."""
    from calibrant.assessment.table import assess
    from calibrant.exceptions import CalibrationWarning

    forecast = read(arguments, arguments.file)
    warn_beside_other_rows(arguments, forecast)
    advice = advised(arguments, forecast)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)  # that of its log loss belongs to `calibrant assess`
        print(*assess(**rows_of(arguments, forecast), rng=arguments.seed).verdict.sentences, sep="\n")
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

    advice = advise(**rows_of(arguments, forecast), rng=arguments.seed)
    return replace(advice, options=_options(arguments, forecast), event=_event(arguments, forecast))


def _options(arguments: argparse.Namespace, forecast: ForecastTable) -> str:
    named = {name: value for name in COLUMNS if (value := getattr(arguments, name)) is not None}
    if (event := pos_label_of(arguments, forecast)) is not None and len(forecast.forecast_columns) == 1:
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


Shown = tuple[str, "ForecastTable", "FloatArray | None"]
"""What a forecast is called in a report, its file, and its calibrated probabilities where it is shown after a calibrator."""


def differences_from(arguments: argparse.Namespace, first: Shown, other: Shown) -> list[PairedDifference]:
    """Return metrics of one forecast less those of the first, where the rows are the same; else none, and say so."""
    import numpy as np

    from calibrant.exceptions import CalibrationWarning
    from calibrant.report.page import COMPARED
    from calibrant.significance.differences import as_level, difference_of
    from calibrant.sums.draws import as_rng

    a, b = (problem_of(arguments, *shown[1:]) for shown in (other, first))
    same_classes = a.classes.tolist() == b.classes.tolist()
    if said := _different_rows(arguments, first[1], other[1]) if same_classes else "other classes":
        print(
            f"calibrant: note: {other[0]} has {said} than {first[0]}: they are compared as samples of different rows",
            file=sys.stderr,
        )
        return []
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
    from calibrant.metrics.kinds import as_metric

    metric = as_metric(name, binning_of(arguments))
    return metric if arguments.clip is None else metric.clipped(arguments.clip)


def _different_rows(arguments: argparse.Namespace, first: ForecastTable, other: ForecastTable) -> str:
    """Say what differs in the rows of two files, as far as labels and weights show it; empty where nothing does."""
    if len(first.y_true) != len(other.y_true):
        return "another number of rows"
    if differ := int((first.y_true != other.y_true).sum()):
        return f"other labels (in {differ} of {len(other.y_true)} rows)"
    weights = [weight_of(arguments, forecast) for forecast in (first, other)]
    return "" if weights[0] is None or (weights[0] == weights[1]).all() else "other weights"


# `calibrant plan`: how many rows a question takes


ASKED = (
    *("detect", "width", "calibrate", "guarantee"),
    *("accuracy", "event_rate", "auc", "metric", "notion", "wrong", "power", "level", "harm"),
)
"""Options that `rows_for` knows by the same name."""


def run_plan(arguments: argparse.Namespace) -> int:
    """Print how many rows are needed, and what that rests on."""
    from calibrant.planning import rows_for

    asked: dict[str, Any] = {name: value for name in ASKED if (value := getattr(arguments, name)) is not None}
    if arguments.classes is not None:
        asked["n_classes"] = arguments.classes
    if arguments.safe:
        asked["safe"] = True
    if arguments.bins is not None or arguments.binning is not None:
        asked["binning"] = binning_of(arguments)
    if arguments.file is not None:
        forecast = read(arguments, arguments.file, label_optional=True)
        asked["y_prob"] = values_of(arguments, forecast)
        asked["sample_weight"] = weight_of(arguments, forecast)
        if forecast.input == "logit":
            asked["input"] = "logit"
    found = rows_for(**asked, rng=arguments.seed)
    if arguments.json:
        names = ("rows", "standard_error", "sentence", "assumed", "figure", "target")
        tried = [
            {"rows": n, "value": value if abs(value) < float("inf") else None}
            for n, value in zip(found.tried.tolist(), found.value.tolist(), strict=True)
        ]
        print(json_of({**{name: getattr(found, name) for name in names}, "tried": tried}))
    else:
        print(found)
    return 0


# `calibrant decide`: from probabilities and costs to decisions


def run_decide(arguments: argparse.Namespace) -> int:
    """Print what the decisions of least expected cost are; with labels, what they cost."""
    from calibrant.decisions.confusion import confusion_table
    from calibrant.decisions.thresholds import decide
    from calibrant.interop.columns import Values
    from calibrant.interop.tables import format_of, require_csv, write_table
    from calibrant.interop.writing import require_free

    if arguments.output:
        require_free(Path(arguments.output), force=arguments.force, inputs=[arguments.file])
        format_of(arguments.output)
        if arguments.escape_formulas:
            require_csv(arguments.output)
    forecast = read(arguments, arguments.file, label_optional=True)
    values, given = _for_new_priors(arguments, values_of(arguments, forecast), forecast.input)
    cost = _costs(arguments.costs, n_classes=2 if values.ndim == 1 else values.shape[1])
    options: dict[str, Any] = {
        "extra": arguments.extra.split(",") if arguments.extra else None,
        "labels": labels_of(arguments, forecast),
        "input": given,
    }
    found = decide(values, cost, **options)
    if cost.shape == (2, 2):
        print(f"class {found.names[1]} from a probability of {_threshold(cost):.6g} on")
    if forecast.label_column is None:
        print(found)
    else:
        weight = weight_of(arguments, forecast)
        print(confusion_table(forecast.y_true, values, cost_matrix=cost, sample_weight=weight, **options))
    if arguments.output:
        new = {"decision": Values(found.named.astype(str)), "expected_cost": Values(found.expected_cost)}
        if taken := [name for name in new if name in forecast.table]:
            raise ValueError(
                f"new columns need names of their own; {arguments.file} already has {', '.join(taken)}. "
                "Rename or remove these columns."
            )
        table, escape = forecast.table.extended(new), arguments.escape_formulas
        write_table(arguments.output, table, force=arguments.force, escape_formulas=escape)
        print(f"wrote {arguments.output}: {len(found.decision)} rows, decision and expected_cost")
    return 0


def _for_new_priors(arguments: argparse.Namespace, values: Any, given: str) -> tuple[Any, Any]:
    from calibrant.decisions.prior_shift import shift_prior

    if arguments.old_prior is None and arguments.new_prior is None:
        return values, given
    if arguments.old_prior is None or arguments.new_prior is None:
        raise ValueError("--old-prior and --new-prior must be given together; one is missing. Give both, or neither.")
    old, new = _numbers("--old-prior", arguments.old_prior), _numbers("--new-prior", arguments.new_prior)
    return shift_prior(values, old_prior=old, new_prior=new, input=given), "probability"  # type: ignore[arg-type]


def _costs(text: str | None, *, n_classes: int) -> Any:
    import numpy as np

    if text is None:
        return 1.0 - np.eye(n_classes)
    rows = [_numbers("--costs", row) for row in text.split(";")]
    if len({np.size(row) for row in rows}) > 1:
        raise ValueError(f"--costs must have rows of one length; got {text!r}. For two classes: '0,4;1,0'.")
    return np.atleast_2d(np.array(rows, dtype=float))


def _threshold(cost: Any) -> float:
    from calibrant.decisions.thresholds import optimal_threshold

    (true_negative, false_positive), (false_negative, true_positive) = cost.tolist()
    return optimal_threshold(
        false_positive, false_negative, cost_true_negative=true_negative, cost_true_positive=true_positive
    )


def _numbers(option: str, text: str) -> float | list[float]:
    """Numbers between commas; one alone is a number."""
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(
            f"{option} must be numbers between commas; got {text!r}. For two classes: --costs '0,4;1,0', --new-prior 0.1."
        ) from None
    return numbers if len(numbers) > 1 else numbers[0]
