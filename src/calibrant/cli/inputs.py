"""From the words of a command to forecasts, weights, classes and assessments."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calibrant._core.links import FloatArray
    from calibrant._core.rows import Rows
    from calibrant.assessment.table import Assessment
    from calibrant.calibrators.base import Calibrator
    from calibrant.interop.batches.forecast_stream import ForecastStream
    from calibrant.interop.files import ForecastTable


TRUTH = {"true": "1", "false": "0"}
"""Truth values as numbers."""

MOST_BINS = 10_000
"""Bins up to which memory holds sums over each of them for every resample."""


def read(arguments: argparse.Namespace, file: str, *, label_optional: bool = False) -> ForecastTable:
    """Read the file of a command, and say what was guessed."""
    from calibrant.interop.files import read_forecast

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
    from calibrant._core.finite_numbers import as_numbers
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
    arguments: argparse.Namespace, calibrator: Calibrator, forecast: ForecastTable, file: str
) -> FloatArray:
    """Return what a calibrator makes of a forecast, in the order of the file's columns."""
    import numpy as np

    values, order = _as_fitted(arguments, calibrator, forecast, file)
    bare = _without_names(calibrator)
    if values.ndim == 1:
        return bare.calibrate(values)
    calibrated = np.empty(values.shape)
    calibrated[:, order] = bare.calibrate(values)
    return calibrated


def top_by(
    arguments: argparse.Namespace, calibrator: Calibrator, forecast: ForecastTable, file: str
) -> tuple[Any, FloatArray]:
    """Return the label that a forecast predicts and its calibrated probability, where the calibrator has that."""
    top: Any = getattr(_without_names(calibrator), "predict_top", None)
    if top is None:
        raise ValueError(
            f"--top must have a calibrator of single scores, `calibrant fit --notion`; got {arguments.calibrator}, "
            f"a {type(calibrator).__name__}. Fit one with --notion top-label, or leave --top out."
        )
    values, _ = _as_fitted(arguments, calibrator, forecast, file)
    label, score = top(values)
    return label, score


def _as_fitted(
    arguments: argparse.Namespace, calibrator: Calibrator, forecast: ForecastTable, file: str
) -> tuple[Any, list[int]]:
    """Return the numbers of a forecast as the calibrator was fitted on, and where these columns stand in the file."""
    wanted = (calibrator.n_features_in_, calibrator.input)
    if wanted != (given := (len(forecast.forecast_columns), forecast.input)):
        raise ValueError(
            f"{arguments.calibrator} was fitted on {wanted[0]} {wanted[1]} columns; {file} gives {given[0]} {given[1]} "
            f"columns. Choose them with --{'prob' if calibrator.input == 'probability' else 'logit'}."
        )
    order = _fitted_order(arguments, calibrator, forecast, file)
    _require_its_event(arguments, calibrator, forecast, order)
    values = values_of(arguments, forecast)
    return (values if values.ndim == 1 else values[:, order]), order


def _without_names(calibrator: Calibrator) -> Calibrator:
    """Return the calibrator for bare arrays, once names are matched; the names stay where other files are matched by them."""
    bare: Any = copy(calibrator)
    if hasattr(bare, "feature_names_in_"):
        del bare.feature_names_in_
    found: Calibrator = bare
    return found


def _require_its_event(
    arguments: argparse.Namespace, calibrator: Calibrator, forecast: ForecastTable, order: list[int]
) -> None:
    """Refuse words that give the columns other classes than those that the calibrator was fitted for."""
    fitted, said = _plain(calibrator.classes_.tolist()), _plain(_claimed(arguments, forecast))
    if len(order) > 1:
        said = [said[k] for k in order] if len(said) == len(order) else []
    if said == fitted or sorted(said) != sorted(fitted):
        return
    names, claimed = ([str(c) for c in of] for of in (calibrator.classes_.tolist(), _claimed(arguments, forecast)))
    if len(order) > 1:
        what, hint = f"those of {', '.join(names[:5])}", f"Name them in that order, --{_option(forecast)} A,B"
    else:
        instead = "" if getattr(arguments, "pos_label", None) is None else " in place of --pos-label"
        what, hint = f"the probability of {names[1]}", f"If they are, say --classes {','.join(names)}{instead}"
    got = f"the probability of {claimed[1]}" if len(order) == 1 else ", ".join(claimed[:5])
    raise ValueError(
        f"the columns of {forecast.file} must be {what}, for which {arguments.calibrator} was fitted; got {got}. {hint}; "
        "else fit a calibrator to these columns."
    )


def _option(forecast: ForecastTable) -> str:
    return "prob" if forecast.input == "probability" else "logit"


def _claimed(arguments: argparse.Namespace, forecast: ForecastTable) -> list[str]:
    """Return the classes of the columns as the command has them, two of one column; none where it does not say."""
    from calibrant._core.labels import as_labels, classes_of_score

    if not hasattr(arguments, "pos_label") or len(forecast.forecast_columns) > 1:  # apply knows no labels
        return [] if arguments.classes is None else _classes_named(arguments, forecast)
    labels, event = labels_of(arguments, forecast), pos_label_of(arguments, forecast)
    return [str(c) for c in classes_of_score(as_labels(forecast.y_true), labels=labels, pos_label=event).tolist()]


def _fitted_order(
    arguments: argparse.Namespace, calibrator: Calibrator, forecast: ForecastTable, file: str
) -> list[int]:
    """Where the columns that were fitted stand in a file: by their names, or in their order if all names are other ones."""
    from calibrant.interop.persistence import columns_of

    here, fitted = list(forecast.forecast_columns), columns_of(calibrator)
    if fitted is not None and sorted(fitted) == sorted(here):
        return [here.index(name) for name in fitted]
    classes, named = [str(c) for c in calibrator.classes_.tolist()], forecast.class_names
    if named is not None and named != classes and sorted(named) == sorted(classes):
        raise ValueError(
            f"columns must have the order of the classes fitted, {', '.join(classes[:5])}; {file} has "
            f"{', '.join(named[:5])}. Name them in that order, --{'prob' if forecast.input == 'probability' else 'logit'} A,B."
        )
    if fitted is not None and set(fitted) & set(here):
        raise ValueError(
            f"columns must be those that were fitted, {', '.join(fitted[:5])}; {file} gives {', '.join(here[:5])}. "
            f"Choose them with --{'prob' if calibrator.input == 'probability' else 'logit'}."
        )
    return list(range(len(here)))


def weight_of(arguments: argparse.Namespace, forecast: ForecastTable) -> Any:
    """Return the weights that the command names."""
    from calibrant.interop.files import select_one

    if arguments.weight is None:
        return None
    return forecast.table.numbers(select_one(list(forecast.table), arguments.weight, "--weight", where=forecast.file))


def n_rows_of(arguments: argparse.Namespace, forecast: ForecastTable | ForecastStream) -> int | None:
    """Return the number of rows that count, if it is known; in memory those that whole weights repeat one by one."""
    from calibrant._core.validation import as_weights
    from calibrant.interop.files import ForecastTable

    if not isinstance(forecast, ForecastTable):
        return forecast.n_rows
    return as_weights(weight_of(arguments, forecast), forecast.n_rows).n_rows


def labels_of(arguments: argparse.Namespace, forecast: ForecastTable) -> list[Any] | None:
    """Return the class of each column, as named by the command or by the columns."""
    from calibrant.interop.files import as_booleans

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
            f"{', '.join(forecast.forecast_columns)}. Leave --classes out, or add --{_option(forecast)} {turned}."
        )
    return classes


def _plain(names: Sequence[Any]) -> list[str]:
    """Return names of classes in one spelling: of numbers without decimals, of truth values in small letters."""
    words = [str(name) for name in names]
    return [re.sub(r"\.0*$", "", w) if re.fullmatch(r"-?\d+\.0*", w) else TRUTH.get(w.lower(), w) for w in words]


def pos_label_of(arguments: argparse.Namespace, forecast: ForecastTable) -> Any:
    """Return the label of the event, as named by the command."""
    if arguments.pos_label is None:
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
            **_rows_of(arguments, forecast, prob),
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


def _rows_of(arguments: argparse.Namespace, forecast: ForecastTable | ForecastStream, prob: Any) -> dict[str, Any]:
    """Return the arguments that say what the rows are."""
    from calibrant.interop.files import ForecastTable

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
    from calibrant.metrics.kinds.metric import metric_named

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
