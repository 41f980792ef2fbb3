"""`calibrant advise`, and what a report needs of it: which calibrator to fit, and how two forecasts of a file differ."""

from __future__ import annotations

import shlex
import sys
import warnings
from argparse import Namespace
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from calibrant._core.arrays import FloatArray
from calibrant._core.checks import refuse
from calibrant.assessment.advice import Advice, advise
from calibrant.assessment.table import assess
from calibrant.cli.inputs import Forecast, binning_of, json_of, read, warn_beside_other_rows
from calibrant.decisions.confusion import confusion_table
from calibrant.decisions.prior_shift import shift_prior
from calibrant.decisions.thresholds import decide, optimal_threshold
from calibrant.exceptions import CalibrationWarning
from calibrant.interop.columns import Values
from calibrant.interop.local_files import format_of
from calibrant.interop.tables import require_csv, write_table
from calibrant.interop.writing import require_free
from calibrant.metrics.kinds import as_metric
from calibrant.planning import rows_for
from calibrant.report.page import COMPARED
from calibrant.significance.differences import PairedDifference, as_level, difference_of
from calibrant.sums.draws import as_rng

COLUMNS, FLAGS = ("label", "prob", "logit", "weight", "classes"), ("percent", "normalize")
"""Options that say where the columns of a file are, and what they hold; the next file will need them as well."""


def run_advise(asked: Namespace) -> int:
    """Print what is wrong with a forecast, and which calibrator to fit, if any."""
    forecast = read(asked, asked.file)
    warn_beside_other_rows(forecast)
    advice = advised(forecast)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)  # that of its log loss belongs to `calibrant assess`
        print(*assess(**forecast.rows(), rng=asked.seed).verdict.sentences, sep="\n")
    print(f"{advice.n_used} of {advice.n_rows} rows, {advice.n_classes} classes, {advice.n_folds} folds")
    print(advice)
    if advice.command is not None:
        file = f"./{asked.file}" if asked.file.startswith("-") else asked.file
        place = [shlex.quote(file), *([] if asked.rows is None else [_option("rows", asked.rows)])]
        print(advice.command.replace("CALIBRATION_FILE", " ".join(place), 1))
    return 0


def _option(name: str, value: str) -> str:
    """Return an option with its value; one that begins as an option does is joined to its name."""
    return f"--{name.replace('_', '-')}{'=' if value.startswith('-') else ' '}{shlex.quote(value)}"


def advised(forecast: Forecast) -> Advice:
    """Return the advice on the forecast of a file, with the options that its columns needed."""
    asked, is_one = vars(forecast.asked), len(forecast.forecast_columns) == 1
    options = {name: value for name in COLUMNS if (value := asked[name]) is not None}
    if is_one and (event := forecast.event) is not None:
        known = forecast.classes or forecast.y_true.tolist()
        other = next((str(label) for label in known if label != event), f"no {event}")
        options["classes"] = f"{other},{event}"
    words = [_option(*pair) for pair in options.items()] + [f"--{name}" for name in FLAGS if asked[name]]
    # A report is told of its event, but for what the classes of one column say.
    names = ("notion",) if is_one else ("notion", "pos_label")
    event = " ".join(_option(name, value) for name in names if (value := asked.get(name)) is not None)
    return replace(advise(**forecast.rows(), rng=asked["seed"]), options=" ".join(words), event=event)


Shown = tuple[str, Forecast, FloatArray | None]
"""What a forecast is called in a report, its file, and its calibrated probabilities where it is shown after a calibrator."""


def differences_from(first: Shown, other: Shown) -> list[PairedDifference]:
    """Return metrics of one forecast less those of the first, where the rows are the same; else none, and say so."""
    (_, before, calibrated), asked = first, first[1].asked
    a, b = other[1].problem(other[2]), before.problem(calibrated)
    same_classes = a.classes.tolist() == b.classes.tolist()
    if said := _different_rows(before, other[1]) if same_classes else "other classes":
        print(
            f"calibrant: note: {other[0]} has {said} than {first[0]}: they are compared as samples of different rows",
            file=sys.stderr,
        )
        return []
    if a.size < 2:
        print("calibrant: note: there is no interval of a difference on one row", file=sys.stderr)
        return []
    level, n_resamples = as_level(asked.level), max(2, asked.resamples)
    # As the report has them, with the bins and the clip of the command. The ECE of another notion has that of two samples.
    metrics = [as_metric(name, binning_of(asked)) for name in COMPARED if asked.notion is None or name != "ece"]
    if asked.clip is not None:
        metrics = [metric.clipped(asked.clip) for metric in metrics]
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):  # an infinite loss less another is no number
        # Of each forecast by itself it was said when it was assessed.
        warnings.simplefilter("ignore", CalibrationWarning)
        return [difference_of(metric, a, b, level, n_resamples, as_rng(asked.seed)) for metric in metrics]


def _different_rows(first: Forecast, other: Forecast) -> str:
    """Say what differs in the rows of two files, as far as labels and weights show it; empty where nothing does."""
    if len(first.y_true) != len(other.y_true):
        return "another number of rows"
    if differ := int((first.y_true != other.y_true).sum()):
        return f"other labels (in {differ} of {len(other.y_true)} rows)"
    return "" if first.weight is None or (first.weight == other.weight).all() else "other weights"


# `calibrant plan`: how many rows a question takes


def run_plan(asked: Namespace) -> int:
    """Print how many rows are needed, and what that rests on."""
    known = signature(rows_for).parameters.keys() - {"rows", "binning"}  # which rows of a file, and a word
    said = {
        name: value for name, value in vars(asked).items() if name in known and value is not None and value is not False
    }
    if asked.classes is not None:
        said["n_classes"] = asked.classes
    if asked.bins is not None or asked.binning is not None:
        said["binning"] = binning_of(asked)
    if asked.file is not None:
        forecast = read(asked, asked.file, label_optional=True)
        said |= {"y_prob": forecast.values, "sample_weight": forecast.weight}
        if forecast.input == "logit":
            said["input"] = "logit"
    found = rows_for(**said, rng=asked.seed)
    if asked.json:
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


def run_decide(asked: Namespace) -> int:
    """Print what the decisions of least expected cost are; with labels, what they cost."""
    if asked.output:
        require_free(Path(asked.output), force=asked.force, inputs=[asked.file])
        format_of(asked.output)
        if asked.escape_formulas:
            require_csv(asked.output)
    forecast = read(asked, asked.file, label_optional=True)
    values, given = _for_new_priors(asked, forecast.values, forecast.input)
    cost = _costs(asked.costs, n_classes=2 if values.ndim == 1 else values.shape[1])
    options: dict[str, Any] = {
        "extra": asked.extra.split(",") if asked.extra else None,
        "labels": forecast.classes,
        "input": given,
    }
    found = decide(values, cost, **options)
    if cost.shape == (2, 2):
        (true_negative, false_positive), (false_negative, true_positive) = cost.tolist()
        right = {"cost_true_negative": true_negative, "cost_true_positive": true_positive}
        least = optimal_threshold(false_positive, false_negative, **right)
        print(f"class {found.names[1]} from a probability of {least:.6g} on")
    if forecast.label_column is None:
        print(found)
    else:
        print(confusion_table(forecast.y_true, values, cost_matrix=cost, sample_weight=forecast.weight, **options))
    if asked.output:
        new = {"decision": Values(found.named.astype(str)), "expected_cost": Values(found.expected_cost)}
        if taken := [name for name in new if name in forecast.table]:
            must = "new columns need names of their own"
            refuse(must, given=f"{asked.file} already has {', '.join(taken)}", hint="Rename or remove these columns")
        table, escape = forecast.table.extended(new), asked.escape_formulas
        write_table(asked.output, table, force=asked.force, escape_formulas=escape)
        print(f"wrote {asked.output}: {len(found.decision)} rows, decision and expected_cost")
    return 0


def _for_new_priors(asked: Namespace, values: Any, given: str) -> tuple[Any, Any]:

    if asked.old_prior is None and asked.new_prior is None:
        return values, given
    if asked.old_prior is None or asked.new_prior is None:
        raise ValueError("--old-prior and --new-prior must be given together; one is missing. Give both, or neither.")
    old, new = _numbers("--old-prior", asked.old_prior), _numbers("--new-prior", asked.new_prior)
    return shift_prior(values, old_prior=old, new_prior=new, input=given), "probability"  # type: ignore[arg-type]


def _costs(text: str | None, *, n_classes: int) -> Any:

    if text is None:
        return 1.0 - np.eye(n_classes)
    rows = [_numbers("--costs", row) for row in text.split(";")]
    if len({np.size(row) for row in rows}) > 1:
        raise ValueError(f"--costs must have rows of one length; got {text!r}. For two classes: '0,4;1,0'.")
    return np.atleast_2d(np.array(rows, dtype=float))


def _numbers(option: str, text: str) -> float | list[float]:
    """Numbers between commas; one alone is a number."""
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        must = f"{option} must be numbers between commas"
        refuse(must, value=text, hint="For two classes: --costs '0,4;1,0', --new-prior 0.1")
    return numbers if len(numbers) > 1 else numbers[0]
