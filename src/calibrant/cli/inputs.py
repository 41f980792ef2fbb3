"""From the words of a command to forecasts, weights, classes and assessments."""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections.abc import Sequence
from copy import copy
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibrant.interop.local_files import is_pattern

if TYPE_CHECKING:
    from calibrant._core.rows import Problem, Rows
    from calibrant.assessment.table import Assessment
    from calibrant.calibrators.base import Calibrator
    from calibrant.calibrators.classifier import Method
    from calibrant.interop.readers import BatchRows, Reader
    from calibrant.interop.sources import Files, ForecastStream
    from calibrant.interop.tables import ForecastTable
    from calibrant.notions import Notion


TRUTH = {"true": "1", "false": "0"}
"""Truth values as numbers."""

MOST_BINS = 10_000
"""Bins up to which memory holds sums over each of them for every resample."""


def read(arguments: argparse.Namespace, file: str, *, label_optional: bool = False) -> ForecastTable:
    """Read the file of a command, and say what was guessed."""
    from calibrant.interop.tables import read_forecast

    forecast = read_forecast(
        file,
        label=arguments.label,
        prob=arguments.prob,
        logit=arguments.logit,
        rows=rows_named(arguments.rows),
        label_optional=label_optional,
    )
    if forecast.guessed:
        print(f"{file}: reading {', '.join(forecast.guessed)}", file=sys.stderr)
    return forecast


def rows_named(text: str | None) -> slice:
    """Return the rows that the command names."""
    if text is None:
        return slice(None)
    if not (match := re.fullmatch(r"(\d*):(\d*)", text)):
        raise ValueError(
            f"--rows must be START:STOP, either may be left out; got {text!r}. For the first half: --rows :5000."
        )
    start, stop = (int(part) if part else None for part in match.groups())
    return slice(start, stop)


def values_of(arguments: argparse.Namespace, forecast: ForecastTable) -> Any:
    """Return the numbers of a forecast: logits, or probabilities that are checked, of percent their hundredth."""
    from calibrant._core.checks import as_numbers
    from calibrant._core.rows import as_probabilities

    values = as_numbers("y_prob", forecast.y_prob)
    if forecast.input == "probability":
        return as_probabilities("y_prob", values, asked_of_rows(arguments))
    if arguments.percent:
        raise ValueError(
            "--percent must stand with probabilities; got logits. Name the columns with --prob, or leave --percent out."
        )
    return values


def asked_of_rows(arguments: argparse.Namespace) -> Rows:
    """Return what the command says is to be done with rows."""
    if arguments.percent:
        return "percent"
    return "normalize" if arguments.normalize else "as-given"


def calibrated_by(
    arguments: argparse.Namespace, calibrator: Calibrator, forecast: ForecastTable, *, top: bool = False
) -> Any:
    """Return calibrated probabilities in the order of the file's columns; with ``top`` predicted labels, and theirs."""
    import numpy as np

    if top and not hasattr(calibrator, "predict_top"):
        raise ValueError(
            f"--top must have a calibrator of single scores, `calibrant fit --notion`; got {arguments.calibrator}, "
            f"a {type(calibrator).__name__}. Fit one with --notion top-label, or leave --top out."
        )
    order = _fitted_order(arguments, calibrator, forecast)
    values, bare = values_of(arguments, forecast), copy(calibrator)
    if hasattr(bare, "feature_names_in_"):  # names are matched; they stay where other files are matched by them
        del bare.feature_names_in_
    fitted = values if values.ndim == 1 else values[:, order]
    if top:
        return bare.predict_top(fitted)
    calibrated = bare.calibrate(fitted)
    return calibrated if values.ndim == 1 else calibrated[:, np.argsort(order)]


def _fitted_order(arguments: argparse.Namespace, calibrator: Calibrator, forecast: ForecastTable) -> list[int]:
    """Where the columns that were fitted stand in a file: by their names, or in their order if all names are other ones.

    Words that give the columns other classes than those that the calibrator was fitted for are refused.
    """
    from calibrant.interop.save import columns_of

    here, fitted, file = list(forecast.forecast_columns), columns_of(calibrator), forecast.file
    wanted, given = (calibrator.n_features_in_, calibrator.input), (len(here), forecast.input)
    if wanted != given:
        raise ValueError(
            f"{arguments.calibrator} was fitted on {wanted[0]} {wanted[1]} columns; {file} gives {given[0]} {given[1]} "
            f"columns. Choose them with --{_option(calibrator.input)}."
        )
    classes, named = [str(c) for c in calibrator.classes_.tolist()], forecast.class_names
    order = list(range(len(here)))
    if fitted is not None and sorted(fitted) == sorted(here):
        order = [here.index(name) for name in fitted]
    elif named is not None and named != classes and sorted(named) == sorted(classes):
        raise ValueError(
            f"columns must have the order of the classes fitted, {', '.join(classes[:5])}; {file} has "
            f"{', '.join(named[:5])}. Name them in that order, --{_option(forecast.input)} A,B."
        )
    elif fitted is not None and set(fitted) & set(here):
        raise ValueError(
            f"columns must be those that were fitted, {', '.join(fitted[:5])}; {file} gives {', '.join(here[:5])}. "
            f"Choose them with --{_option(calibrator.input)}."
        )
    claimed = _claimed(arguments, forecast)
    said = _plain(claimed if len(order) == 1 else [claimed[k] for k in order] if len(claimed) == len(order) else [])
    if said == _plain(classes) or sorted(said) != sorted(_plain(classes)):
        return order
    if len(order) > 1:
        what, got = f"those of {', '.join(classes[:5])}", ", ".join(claimed[:5])
        hint = f"Name them in that order, --{_option(forecast.input)} A,B"
    else:
        instead = "" if getattr(arguments, "pos_label", None) is None else " in place of --pos-label"
        what, got = (f"the probability of {names[1]}" for names in (classes, claimed))
        hint = f"If they are, say --classes {','.join(classes)}{instead}"
    raise ValueError(
        f"the columns of {file} must be {what}, for which {arguments.calibrator} was fitted; got {got}. {hint}; "
        "else fit a calibrator to these columns."
    )


def _option(input: str) -> str:
    return "prob" if input == "probability" else "logit"


def _claimed(arguments: argparse.Namespace, forecast: ForecastTable) -> list[str]:
    """Return the classes of the columns as the command has them, two of one column; none where it does not say."""
    from calibrant._core.border import as_labels, classes_of_score

    if not hasattr(arguments, "pos_label") or len(forecast.forecast_columns) > 1:  # apply knows no labels
        return [] if arguments.classes is None else _classes_named(arguments, forecast)
    labels, event = labels_of(arguments, forecast), pos_label_of(arguments, forecast)
    return [str(c) for c in classes_of_score(as_labels(forecast.y_true), labels=labels, pos_label=event).tolist()]


def weight_of(arguments: argparse.Namespace, forecast: ForecastTable) -> Any:
    """Return the weights that the command names."""
    from calibrant.interop.tables import select_one

    if arguments.weight is None:
        return None
    return forecast.table.numbers(select_one(list(forecast.table), arguments.weight, "--weight", where=forecast.file))


def n_rows_of(arguments: argparse.Namespace, forecast: ForecastTable | ForecastStream) -> int | None:
    """Return the number of rows that count, if it is known; in memory those that whole weights repeat one by one."""
    from calibrant._core.border import as_weights
    from calibrant.interop.tables import ForecastTable

    if not isinstance(forecast, ForecastTable):
        return forecast.n_rows
    return as_weights(weight_of(arguments, forecast), forecast.n_rows).n_rows


def labels_of(arguments: argparse.Namespace, forecast: ForecastTable) -> list[Any] | None:
    """Return the class of each column, as named by the command or by the columns."""
    from calibrant.interop.tables import as_booleans

    if arguments.classes is None:
        return forecast.labels()
    classes = _classes_named(arguments, forecast)
    if (booleans := as_booleans(classes)) is not None and forecast.y_true.dtype.kind == "b":
        return booleans
    return _labels_named(classes, forecast, "--classes", "Name the labels of the file, in column order.")


def _classes_named(arguments: argparse.Namespace, forecast: ForecastTable) -> list[str]:
    """Return the words of --classes, unless the columns have the names of the same classes in another order."""
    classes = [name.strip() for name in arguments.classes.split(",")]
    names = forecast.class_names or classes
    said, written = _plain(classes), _plain(names)
    if said != written and sorted(said) == sorted(written):
        turned = ",".join(forecast.forecast_columns[written.index(word)] for word in said)
        raise ValueError(
            f"--classes must name the columns of {forecast.file} in their order; got {arguments.classes!r} for the columns "
            f"{', '.join(forecast.forecast_columns)}. Leave --classes out, or add --{_option(forecast.input)} {turned}."
        )
    return classes


def _plain(names: Sequence[Any]) -> list[str]:
    """Return names of classes in one spelling: of numbers without decimals, of truth values in small letters."""
    words = [str(name) for name in names]
    return [re.sub(r"\.0*$", "", w) if re.fullmatch(r"-?\d+\.0*", w) else TRUTH.get(w.lower(), w) for w in words]


def pos_label_of(arguments: argparse.Namespace, forecast: ForecastTable) -> Any:
    """Return the label of the event, as named by the command; `calibrant fit` names classes in place of it."""
    if getattr(arguments, "pos_label", None) is None:
        return None
    name = arguments.pos_label.strip()
    if forecast.y_true.dtype.kind == "b" and name.lower() in ("true", "false"):
        return name.lower() == "true"
    return _labels_named([name], forecast, "--pos-label", "Name a label of the file.")[0]


def _labels_named(names: list[str], forecast: ForecastTable, option: str, hint: str) -> list[Any]:
    """Return labels of the kind that the file holds."""
    if forecast.y_true.dtype.kind not in "iuf":
        return list(names)
    if wrong := [name for name in names if not re.fullmatch(r"-?\d+", name)]:
        raise ValueError(
            f"{option} must be numbers where the labels are numbers; got {wrong[0]!r}, and labels such as "
            f"{forecast.y_true[0].item()!r}. {hint}"
        )
    return [int(name) for name in names]


def metrics_asked(arguments: argparse.Namespace, extra: Sequence[str] = ()) -> list[str] | None:
    """Return the metrics that the command names, and those that are needed beyond; None where it names none."""
    if not getattr(arguments, "metrics", None):
        return None
    metrics = [name.strip() for name in arguments.metrics.split(",")]
    return metrics + [name for name in extra if name not in metrics]


def assessed(
    arguments: argparse.Namespace,
    forecast: ForecastTable | ForecastStream,
    *,
    prob: Any = None,
    extra: Sequence[str] = (),
) -> Assessment:
    """Assess a forecast, or calibrated probabilities in its place, with the options of the command."""
    from calibrant.assessment.table import assess, default_metrics

    usual = list(default_metrics(max(2, forecast.n_classes)))
    metrics = metrics_asked(arguments, extra) or [*usual, *(name for name in extra if name not in usual)]
    try:
        return assess(
            **rows_of(arguments, forecast, prob),
            metrics=metrics,
            notion=arguments.notion,
            binning=binning_of(arguments),
            level=arguments.level,
            n_resamples=arguments.resamples,
            **({} if arguments.clip is None else {"clip": arguments.clip}),
            rng=arguments.seed,
            progress=sys.stderr.isatty(),
        )
    except MemoryError as error:
        raise ValueError(
            f"memory must hold sums over all bins, classes and resamples; that of {forecast.file} does not: {error}. "
            "Pass a smaller --bins or --resamples, or a part of the rows by --rows."
        ) from error


def rows_of(
    arguments: argparse.Namespace, forecast: ForecastTable | ForecastStream, prob: Any = None
) -> dict[str, Any]:
    """Return the arguments of a function of the library that say what the rows are, or calibrated ones in their place."""
    from calibrant.interop.tables import ForecastTable

    if not isinstance(forecast, ForecastTable):
        return {"y_true": forecast.predictions}
    return {
        "y_true": forecast.y_true,
        "y_prob": values_of(arguments, forecast) if prob is None else prob,
        "sample_weight": weight_of(arguments, forecast),
        "labels": labels_of(arguments, forecast),
        "pos_label": pos_label_of(arguments, forecast),
        "input": forecast.input if prob is None else "probability",
    }


def binning_of(arguments: argparse.Namespace) -> Any:
    """Return the bins that the command asks for."""
    import inspect

    from calibrant._core.registry import find

    target = find("binning", arguments.binning or "equal-width").target
    bins = 15 if arguments.bins is None else arguments.bins
    if bins > MOST_BINS:
        raise ValueError(f"--bins must be at most {MOST_BINS}; got {bins}. 15 is usual.")
    return target(bins) if "n_bins" in inspect.signature(target).parameters else target()


def say_unused_bins(arguments: argparse.Namespace, metrics: Sequence[str]) -> None:
    """Say once that no metric has the bins that were asked for."""
    from calibrant.metrics.kinds import metric_named

    asked = [option for option in ("binning", "bins") if getattr(arguments, option) is not None]
    chosen = [metric_named(name) for name in metrics]
    if not asked or any(metric.takes_binning for metric in chosen):
        return
    own = [name for name, metric in zip(metrics, chosen, strict=True) if metric.has_own_bins]
    kept = f"; bins of {', '.join(own)} are always their own" if own else ""
    print(f"calibrant: note: no metric here takes {' or '.join(f'--{o}' for o in asked)}{kept}", file=sys.stderr)


def calibrated_names(forecast: ForecastTable) -> list[str]:
    """Probability columns keep their names; logits become probabilities and say so."""
    if forecast.input == "probability":
        return list(forecast.forecast_columns)
    names = forecast.class_names or [str(k) for k in range(len(forecast.forecast_columns))]
    return [f"p_{name}" for name in names]


# A row that stands for a file without rows: what a calibrator makes of it tells the columns of an empty output


def one_row(reader: Reader, arguments: argparse.Namespace) -> BatchRows:
    """Return a row with the columns of a file, of which the first class is certain and all else is missing."""
    import pyarrow

    from calibrant.interop.columns import FileTable
    from calibrant.interop.readers import BatchRows as Rows
    from calibrant.interop.tables import choose_columns

    schema, of = reader.schema, arguments
    names = FileTable.of_names(schema.names)
    chosen = choose_columns(
        names, label=of.label, prob=of.prob, logit=of.logit, label_optional=True, where=reader.file.name
    ).forecast_columns
    whole = 100 if arguments.percent else 1
    certain = dict(zip(chosen, [whole, *[0] * (len(chosen) - 1)], strict=True)) if len(chosen) > 1 else {chosen[0]: 0}
    arrays = [_array(field.type, certain.get(field.name), whole) for field in schema]
    fields = [field.with_type(array.type) for field, array in zip(schema, arrays, strict=True)]
    whole_schema = pyarrow.schema(fields, metadata=schema.metadata)
    return Rows(pyarrow.record_batch(arrays, schema=whole_schema), reader.file.name, 0)


def _array(kind: Any, value: int | None, whole: int) -> Any:
    """Return an array of one row: a number of a column or of a list of classes, or what is missing."""
    import pyarrow
    from pyarrow import types

    if value is None:
        return pyarrow.array([""]) if types.is_string(kind) else pyarrow.nulls(1, kind)
    if types.is_fixed_size_list(kind):
        return pyarrow.array([[whole, *[0] * (kind.list_size - 1)]], kind)
    return pyarrow.array([str(value)] if types.is_string(kind) else [float(value)])


# Files that are read in batches: several of them, folders, patterns, addresses, and a file that is large


LARGE = 1 << 26
"""Bytes of a file from which it is read in batches, where what is asked for can be had so."""

AT_A_TIME = 1 << 16
"""Rows that tell what the labels are."""


def is_several(files: Sequence[str]) -> bool:
    """Whether it is more than a file: several, a folder, a pattern, or an address of another file system."""
    return len(files) > 1 or "://" in files[0] or Path(files[0]).is_dir() or is_pattern(files[0])


def is_in_batches(arguments: argparse.Namespace, files: Sequence[str]) -> bool:
    """Whether files must be read in batches: if they are several, or what is wrong in them is to be left out."""
    return is_several(files) or arguments.on_error == "skip"


def is_large(file: str) -> bool:
    """Whether a file is so large that it is better read in batches."""
    path = Path(file)
    return path.suffix.lower() != ".npz" and path.is_file() and path.stat().st_size >= LARGE


def open_stream(arguments: argparse.Namespace, files: Sequence[str]) -> ForecastStream:
    """Open files for reading in batches, and say what was guessed."""
    from calibrant.interop.arrow_batches import Chosen, Columns
    from calibrant.interop.columns import FileTable, require_arrow
    from calibrant.interop.sources import Files, ForecastStream, OfColumns
    from calibrant.interop.tables import choose_columns, select_one

    if arguments.rows is not None:
        raise ValueError(
            f"--rows must be left out with files that are read in batches; got {arguments.rows!r}. "
            "Pass --sample N for some of the rows."
        )
    require_arrow("reading files in batches")
    source = Files(list(files), on_error=arguments.on_error)
    where = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"
    rest = [name for name in source.names if name != arguments.weight]
    found = choose_columns(
        FileTable.of_names(rest), label=arguments.label, prob=arguments.prob, logit=arguments.logit, where=source.where
    )
    weight = arguments.weight
    if weight is not None:
        weight = select_one(source.names, weight, "--weight", where=source.where)
    if found.guessed:
        print(f"{where}: reading {', '.join(found.guessed)}", file=sys.stderr)
    assert found.label_column is not None
    columns = Columns(found.label_column, found.forecast_columns, weight, found.input, found.guessed)
    head = _head(source, columns, where)
    chosen = Chosen(
        labels=labels_of(arguments, head),
        rows=asked_of_rows(arguments),
        pos_label=pos_label_of(arguments, head),
        batch_rows=AT_A_TIME,
        on_error=arguments.on_error,
        progress=sys.stderr.isatty(),
    )
    predictions = OfColumns(source, columns, chosen)
    return ForecastStream(predictions, columns.label, columns.numbers, columns.input, where)


def _head(source: Files, columns: Any, where: str) -> ForecastTable:
    """Return the first rows as a table, whose labels tell of what kind they are."""
    from calibrant.interop.arrow_batches import labels_as_read
    from calibrant.interop.columns import FileTable, Values
    from calibrant.interop.readers import Damaged
    from calibrant.interop.tables import ForecastTable

    wrong: Exception = ValueError(f"{where} must hold at least one row; it has none. Check how it was written.")
    for piece in source.pieces(columns, AT_A_TIME):
        if isinstance(piece, Damaged):
            wrong = piece.error
        elif len(piece):
            truth = labels_as_read(piece, is_parsed=source.is_parsed)
            if not len(truth):  # all are missing, which is said where the rows are read
                continue
            table = FileTable({columns.label: Values(truth)})
            return ForecastTable(table, columns.label, columns.numbers, columns.input, (), where)
    raise wrong


def sampled(stream: ForecastStream, n: int) -> ForecastTable:
    """Return some rows of a stream as a table in memory."""
    from calibrant.interop.columns import Column, FileTable, Values
    from calibrant.interop.tables import ForecastTable

    rows, weight = stream.predictions.sample(n), stream.predictions.columns.weight
    if left_out := missing_of(stream):
        print(f"calibrant: warning: {stream.n_rows} rows{left_out}", file=sys.stderr)
    values = rows["y_prob"] if rows["y_prob"].ndim == 2 else rows["y_prob"][:, None]
    names = stream.forecast_columns
    if len(names) < values.shape[1]:
        names = tuple(f"{names[0]}_{k}" for k in range(values.shape[1]))
    columns: dict[str, Column] = {name: Values(column) for name, column in zip(names, values.T, strict=True)}
    if weight is not None:
        columns[weight] = Values(rows["sample_weight"])
    table = FileTable({stream.label_column: Values(rows["y_true"]), **columns})
    return ForecastTable(table, stream.label_column, names, stream.input, (), stream.file)


def missing_of(forecast: ForecastTable | ForecastStream) -> str:
    """Return what was left out of a forecast, in words that follow the number of its rows."""
    from calibrant.interop.tables import ForecastTable

    return "" if isinstance(forecast, ForecastTable) else missing(*forecast.predictions.left_out)


def missing(n_batches: int, n_rows: int) -> str:
    """Return how much was left out, in words that follow the number of rows; nothing of nothing."""
    batches = "1 batch" if n_batches == 1 else f"{n_batches} batches"
    return f", {batches} of {n_rows or 'unknown'} rows left out" if n_batches else ""


def opened(
    arguments: argparse.Namespace, files: Sequence[str], metrics: Sequence[str] = ()
) -> ForecastTable | ForecastStream:
    """Return the forecast of files: in memory, but of several files, and of a large one whose figures are sums."""
    from calibrant.interop.columns import has_arrow

    if arguments.sample is not None:
        return sampled(open_stream(arguments, files), arguments.sample)
    if is_in_batches(arguments, files):
        return open_stream(arguments, files)
    if metrics and arguments.rows is None and arguments.weight is None and has_arrow() and is_large(files[0]):
        stream = open_stream(arguments, files)
        if _are_sums(arguments, stream, metrics):
            return stream
    return read(arguments, files[0])


def _are_sums(arguments: argparse.Namespace, stream: ForecastStream, metrics: Sequence[str]) -> bool:
    """Whether all figures are had from one reading in batches."""
    from calibrant.binning import EqualWidth
    from calibrant.metrics.kinds import is_of_sums, metric_named

    chosen, cut, head = [metric_named(name) for name in metrics], binning_of(arguments), stream.predictions.head()
    seen = (one for metric in chosen if (one := metric.residuals(head, cut, arguments.notion)) is not None)
    fixed = all(type(one.table[1]) is EqualWidth for one in seen if one.size.of_bins is not None)
    return fixed and type(cut) is EqualWidth and all(is_of_sums(one, head, cut, arguments.notion) for one in chosen)


# Forecasts of several files beside one another


def problem_of(arguments: argparse.Namespace, forecast: ForecastTable, prob: Any = None) -> Problem:
    """Return what the figures of a forecast are of: logits stay logits, whose log loss is exact."""
    from calibrant._core.border import as_problem

    return as_problem(**rows_of(arguments, forecast, prob))


def aligned(arguments: argparse.Namespace, forecasts: list[ForecastTable]) -> list[ForecastTable]:
    """Put the columns of all forecasts in one order of classes, so that figures beside one another are of the same event.

    It is the order of the first forecast, or of the first that has one column, as that cannot be turned.
    """
    from calibrant._core.border import as_problem

    def classes_of(forecast: ForecastTable) -> list[Any]:  # of one column no event, and the event
        rows = rows_of(arguments, forecast)
        event = rows["pos_label"] if len(forecast.forecast_columns) == 1 else None
        return list(as_problem(**{**rows, "pos_label": event}).classes.tolist())

    def turned(forecast: ForecastTable) -> ForecastTable:
        own, columns = classes_of(forecast), forecast.forecast_columns
        if len(columns) == 1 or set(own) != set(wanted):
            return forecast
        return replace(forecast, forecast_columns=tuple(columns[own.index(one)] for one in wanted))

    if len(forecasts) < 2 or arguments.classes is not None:
        return forecasts
    wanted = classes_of(next((one for one in forecasts if len(one.forecast_columns) == 1), forecasts[0]))
    return [turned(forecast) for forecast in forecasts]


# Held-out rows of a second file, with which rows for calibration are compared


def warn_beside_other_rows(arguments: argparse.Namespace, forecast: ForecastTable) -> None:
    """Warn where the rows of the command look like training rows beside those of ``--other``, if that is given."""
    from calibrant.significance.differences import warn_if_training_rows

    if arguments.other is None:
        return
    if Path(arguments.other).resolve() == Path(arguments.file).resolve():
        raise ValueError(
            f"--other must name another file than the calibration set; got {arguments.other} for both. "
            "Write held-out rows, such as the test set, to a file of their own, and name that."
        )
    whole = argparse.Namespace(**vars(arguments) | {"rows": None, "weight": None})
    both = aligned(whole, [forecast, read(whole, arguments.other)])
    warn_if_training_rows(*(problem_of(whole, one) for one in both))


def as_json(value: Any) -> Any:
    """What JSON can hold: infinity is a word that `float` and JavaScript's Number read, and what is no number is null."""
    if isinstance(value, dict):
        return {name: as_json(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(one) for one in value]
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return None if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")


def json_of(document: dict[str, Any]) -> str:
    """Return the text of a document."""
    return json.dumps(as_json(document), indent=2, allow_nan=False)


# Options that are whole numbers


def natural(text: str) -> int:
    """Return a number of at least 0."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a whole number, 0 or more; got {text!r}")
    return int(text)


def positive(text: str) -> int:
    """Return a number of at least 1."""
    if (number := natural(text)) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number, 1 or more; got {text!r}")
    return number


# From the words of `calibrant fit` to a calibrator


SAFE = "safe."
"""Before the name of a parameter: it is one of `SafeCalibrator`, and not of the method inside."""

OF_A_NOTION = "beta"
"""The default of one event, with an intercept and few numbers, where ``--notion`` asks for a map of each."""

PYTHON = {"True": True, "False": False, "None": None}


def method_of(arguments: argparse.Namespace, problem: Problem | None) -> Method:
    """Return the method that was asked for, or the default of the problem; there is none where a notion makes many events."""
    from calibrant._core.registry import find
    from calibrant.calibrators.classifier import Method, default_of

    if arguments.method:
        return Method(find("calibrator", arguments.method).word_for(arguments.method), arguments.safe)
    default = Method(OF_A_NOTION, safe=False) if problem is None else default_of(problem)
    return default._replace(safe=default.safe or arguments.safe)


def calibrator_of(arguments: argparse.Namespace, chosen: Method, *, n_columns: int, **options: Any) -> Calibrator:
    """Return the calibrator of a method, not fitted yet; ``options`` say what its data are."""
    from calibrant.calibrators.base import BinaryCalibrator, as_calibrator
    from calibrant.calibrators.by_notion import for_classes
    from calibrant.calibrators.safe import SafeCalibrator

    inner = [text for text in arguments.set if not text.startswith(SAFE)]
    outer = [text.removeprefix(SAFE) for text in arguments.set if text.startswith(SAFE)]
    method, safe = chosen
    calibrator = _with_parameters(as_calibrator(method), inner, method)
    if arguments.notion and not isinstance(calibrator, BinaryCalibrator):
        raise ValueError(f"--notion belongs to methods of one score; {method!r} maps all classes. Leave it out.")
    calibrator = for_classes(calibrator, n_columns, arguments.notion)
    if safe and method == "safe":
        raise ValueError(
            "--safe must stand beside a method that it makes safe; got --method safe. Leave one of them out."
        )
    if outer and not safe:
        raise ValueError(f"--set safe.NAME=VALUE must stand beside --safe; got {outer[0]!r} without it. Add --safe.")
    if safe:
        calibrator = _with_parameters(SafeCalibrator(calibrator), outer, "safe")
    calibrator.set_params(**options)
    return calibrator


def found_notion(arguments: argparse.Namespace, calibrator: Calibrator) -> Notion | None:
    """Return the notion of a fitted calibrator, if the rows decided something in it, such as groups of classes."""
    from calibrant.notions import as_notion

    inner: Any = getattr(calibrator, "calibrator_", calibrator)
    found: Notion | None = getattr(inner, "notion_", None)
    return None if found is None or inner.notion is None or found == as_notion(inner.notion) else found


def _with_parameters(calibrator: Calibrator, settings: list[str], method: str) -> Calibrator:
    known = sorted({*calibrator.get_params(deep=False), *_parts(calibrator)} - {"input", "labels", "calibrator"})
    for text in settings:
        name, sign, value = text.partition("=")
        if not sign or name not in known:
            raise ValueError(
                f"--set must be NAME=VALUE with a parameter of {method!r} "
                f"({', '.join(known) if known else 'it has none'}); got {text!r}. Choose one of them; what they mean stands "
                f"in help(calibrant.{type(calibrator).__name__})."
            )
        whole, _, part = name.partition(".")
        given = _value(value)
        if part:
            given = replace(calibrator.choices[whole](getattr(calibrator, whole)), **{part: given})
        calibrator.set_params(**{whole: given})
    return calibrator


def _parts(calibrator: Calibrator) -> list[str]:
    """Return the names of what parameters that are objects hold, each after that of its parameter."""
    objects = {name: make(getattr(calibrator, name)) for name, make in calibrator.choices.items()}
    return [f"{name}.{field.name}" for name, one in objects.items() for field in fields(one)]


def _value(text: str) -> Any:
    """Numbers, true, false, null and lists are JSON, True, False and None Python; everything else is a word."""
    if text in PYTHON:
        return PYTHON[text]
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
