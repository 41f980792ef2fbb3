"""The command line. No mathematics here: files in, calls, tables out."""

from __future__ import annotations

import argparse
import json
import re
import sys
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calibrant._links import FloatArray
    from calibrant.assessment import Assessment
    from calibrant.calibrators.base import Calibrator
    from calibrant.interop.files import ForecastTable

OK, GATE_FAILED, BAD_USE, BROKEN = 0, 1, 2, 70

OPTIONS = {
    "input='logit'": "--logit",
    "normalize=True": "--normalize",
    "labels=": "--classes A,B,... in column order",
    "pos_label=": "--classes NEGATIVE,POSITIVE",
}
"""How the command line spells what a message of the library tells to pass."""

CERTIFICATES = ("gradient_",)
"""Fitted numbers that say how well a fit went and not what was found."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 success, 1 a gate failed, 2 bad use."""
    arguments = _parser().parse_args(argv)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _say_warning
            code: int = arguments.run(arguments)
    except (ValueError, TypeError, OSError, ImportError) as error:
        message = getattr(error, "strerror", None) or str(error)
        print(f"calibrant: error: {_spelled(' '.join(message.split()))}", file=sys.stderr)
        return BAD_USE
    except KeyboardInterrupt:
        print("calibrant: interrupted; nothing was written", file=sys.stderr)
        return 130
    except Exception:
        traceback.print_exc()  # a bug of calibrant: Python's own exit code 1 would read as a gate that failed
        return BROKEN
    return code


def _say_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"calibrant: warning: {message}", file=sys.stderr)


def _spelled(message: str) -> str:
    """Add to a message of the library how the command line spells the way out."""
    found = next((option for keyword, option in OPTIONS.items() if re.search(rf"(?<!\w){keyword}", message)), None)
    return message if found is None else f"{message} Here: {found}."


# Commands


def _assess(arguments: argparse.Namespace) -> int:
    gates = [_gate(text) for text in arguments.fail_if]
    forecast = _read(arguments, arguments.file)
    result = _assessed(arguments, forecast, extra=[name for name, *_ in gates])
    failed = [_gate_fails(gate, result) for gate in gates]
    if arguments.json:
        document = _document(result) | {
            "columns": {"label": forecast.label_column, forecast.input: list(forecast.forecast_columns)},
            "gates": [{"condition": text, "failed": bad} for text, bad in zip(arguments.fail_if, failed, strict=True)],
        }
        print(json.dumps(document, indent=2, allow_nan=False))
    else:
        print(result)
    for text, bad in zip(arguments.fail_if, failed, strict=True):
        if bad:
            print(f"calibrant: gate failed: {text}", file=sys.stderr)
    return GATE_FAILED if any(failed) else OK


def _fit(arguments: argparse.Namespace) -> int:
    from calibrant._registry import find
    from calibrant.calibrators.base import BinaryCalibrator
    from calibrant.calibrators.by_notion import ByNotion
    from calibrant.interop.persistence import save_calibrator
    from calibrant.interop.writing import require_free

    require_free(Path(arguments.output), force=arguments.force)
    forecast = _read(arguments, arguments.file)
    options: dict[str, Any] = {"input": forecast.input, "labels": _labels(arguments, forecast)}
    target: Any = find("calibrator", arguments.method).target
    many = len(forecast.forecast_columns) > 2
    calibrator: Calibrator
    if issubclass(target, BinaryCalibrator) and (many or arguments.notion):
        calibrator = ByNotion(target(), arguments.notion or "class-wise", **options)
    elif arguments.notion:
        raise ValueError(
            f"--notion belongs to methods of one score; {arguments.method!r} maps all classes. Leave it out."
        )
    else:
        calibrator = target(**options)
    truth = forecast.y_true
    calibrator.fit(_values(arguments, forecast), truth, _weight(arguments, forecast))
    save_calibrator(calibrator, arguments.output, columns=forecast.forecast_columns, force=arguments.force)
    found = {k: v for k, v in sorted(vars(calibrator).items()) if k.endswith("_") and isinstance(v, float)}
    details = ", ".join(f"{k.rstrip('_')} {v:.6g}" for k, v in found.items() if k not in CERTIFICATES)
    print(f"fitted {arguments.method} on {len(truth)} rows{': ' if details else ''}{details}")
    print(f"wrote {arguments.output}")
    return OK


def _apply(arguments: argparse.Namespace) -> int:
    import numpy as np

    from calibrant.interop.files import format_of, write_table
    from calibrant.interop.persistence import load_calibrator
    from calibrant.interop.writing import require_free

    require_free(Path(arguments.output), force=arguments.force)
    format_of(arguments.output)
    calibrator = load_calibrator(arguments.calibrator)
    forecast = _read(arguments, arguments.file, label_optional=True)
    calibrated = _calibrated(arguments, calibrator, forecast, arguments.file)
    columns = calibrated[:, None] if calibrated.ndim == 1 else calibrated
    n, names = len(columns), dict(zip(forecast.forecast_columns, _calibrated_names(forecast), strict=True))
    if taken := [new for new in names.values() if new in forecast.table and new not in names]:
        raise ValueError(
            f"calibrated columns need names of their own; {arguments.file} already has {', '.join(taken[:3])}. "
            "Rename or remove these columns."
        )
    values = dict(zip(names, columns.T, strict=True))
    # Whatever else the file holds is carried over; what an NPZ holds of another length is not part of the table.
    table = {
        names.get(name, name): np.ascontiguousarray(values.get(name, column))
        for name, column in forecast.table.items()
        if len(column) == n
    }
    write_table(arguments.output, table, force=arguments.force)
    shown = ", ".join(list(names.values())[:3]) + (", ..." if len(names) > 3 else "")
    print(f"wrote {arguments.output}: {n} rows, calibrated {shown}")
    return OK


def _report(arguments: argparse.Namespace) -> int:
    from calibrant.interop.persistence import load_calibrator
    from calibrant.interop.writing import require_free
    from calibrant.report.html import write_report

    require_free(Path(arguments.output), force=arguments.force)
    names = arguments.names.split(",") if arguments.names else [Path(file).stem for file in arguments.files]
    if len(names) != len(arguments.files) or len(set(names)) != len(names):
        raise ValueError(
            f"each file needs a name of its own; got {names} for {len(arguments.files)} files. Pass --names a,b."
        )
    assessments = {}
    for name, file in zip(names, arguments.files, strict=True):
        forecast = _read(arguments, file)
        assessments[name] = _assessed(arguments, forecast)
        if arguments.calibrator:
            calibrated = _calibrated(arguments, load_calibrator(arguments.calibrator), forecast, file)
            assessments[f"{name}, calibrated"] = _assessed(arguments, forecast, prob=calibrated)
    write_report(assessments, arguments.output, title=arguments.title, force=arguments.force)
    for name, result in assessments.items():
        print(f"{name}: {result}\n")
    print(f"wrote {arguments.output}")
    return OK


def _demo(arguments: argparse.Namespace) -> int:
    from calibrant.assessment import assess
    from calibrant.calibrators.temperature import TemperatureScaling
    from calibrant.datasets import load_digits_forecast
    from calibrant.interop.writing import require_free
    from calibrant.report.html import write_report

    target = Path(arguments.output)
    target.parent.mkdir(parents=True, exist_ok=True)
    require_free(target, force=arguments.force)
    y, prob = load_digits_forecast()
    half = len(y) // 2
    calibrator = TemperatureScaling().fit(prob[:half], y[:half])
    show = sys.stderr.isatty()
    assessments = {
        "before": assess(y[half:], prob[half:], progress=show),
        "after": assess(y[half:], calibrator.predict_proba(prob[half:]), progress=show),
    }
    print("A small neural network reads handwritten digits, and is surer than it should be.")
    print(f"Temperature scaling, fitted on {half} rows: T = {calibrator.temperature_:.4f}\n")
    for name, result in assessments.items():
        print(f"{name}: {result}\n")
    write_report(
        assessments, target, title="Handwritten digits, before and after temperature scaling", force=arguments.force
    )
    print(f"wrote {target}")
    return OK


def _list(arguments: argparse.Namespace) -> int:
    from calibrant._registry import HOMES, entries

    for kind in HOMES:
        if arguments.kind in (None, f"{kind}s"):
            print(f"{kind}s")
            for name, entry in entries(kind).items():
                print(f"  {name:<15} {entry.summary}")
    return OK


# Reading


def _read(arguments: argparse.Namespace, file: str, *, label_optional: bool = False) -> ForecastTable:
    from calibrant.interop.files import read_forecast

    forecast = read_forecast(
        file,
        label=arguments.label,
        prob=arguments.prob,
        logit=arguments.logit,
        rows=_rows(arguments.rows),
        label_optional=label_optional,
    )
    if forecast.guessed:
        print(f"{file}: reading {', '.join(forecast.guessed)}", file=sys.stderr)
    return forecast


def _rows(text: str | None) -> slice:
    if text is None:
        return slice(None)
    if not (match := re.fullmatch(r"(\d*):(\d*)", text)):
        raise ValueError(
            f"--rows must be START:STOP, either may be left out; got {text!r}. For the first half: --rows :5000."
        )
    start, stop = (int(part) if part else None for part in match.groups())
    return slice(start, stop)


def _values(arguments: argparse.Namespace, forecast: ForecastTable) -> Any:
    from calibrant._validation import as_forecast, as_numbers

    values = as_numbers("y_prob", forecast.y_prob)
    if arguments.normalize and forecast.input == "probability" and values.ndim == 2:
        return as_forecast(values, input="probability", normalize=True).values
    return values


def _calibrated(
    arguments: argparse.Namespace, calibrator: Calibrator, forecast: ForecastTable, file: str
) -> FloatArray:
    import numpy as np

    wanted = (calibrator.n_features_in_, calibrator.input)
    if wanted != (given := (len(forecast.forecast_columns), forecast.input)):
        raise ValueError(
            f"{arguments.calibrator} was fitted on {wanted[0]} {wanted[1]} columns; {file} gives {given[0]} {given[1]} "
            f"columns. Choose them with --{'prob' if calibrator.input == 'probability' else 'logit'}."
        )
    order = _fitted_order(arguments, calibrator, forecast, file)
    if hasattr(calibrator, "feature_names_in_"):
        del calibrator.feature_names_in_  # names are matched now: what follows are bare arrays
    values = _values(arguments, forecast)
    if values.ndim == 1:
        return calibrator.calibrate(values)
    calibrated = np.empty(values.shape)
    calibrated[:, order] = calibrator.calibrate(values[:, order])
    return calibrated


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


def _weight(arguments: argparse.Namespace, forecast: ForecastTable) -> Any:
    from calibrant.interop.files import select

    if arguments.weight is None:
        return None
    return forecast.table[select(list(forecast.table), arguments.weight, where=arguments.file)[0]]


def _labels(arguments: argparse.Namespace, forecast: ForecastTable) -> list[Any] | None:
    from calibrant.interop.files import as_booleans

    if arguments.classes is None:
        return forecast.labels()
    classes = [name.strip() for name in arguments.classes.split(",")]
    if (booleans := as_booleans(classes)) is not None and forecast.y_true.dtype.kind == "b":
        return booleans
    if forecast.y_true.dtype.kind not in "iuf":
        return list(classes)
    if wrong := [name for name in classes if not re.fullmatch(r"-?\d+", name)]:
        raise ValueError(
            f"--classes must be numbers where the labels are numbers; got {wrong[0]!r}, and labels such as "
            f"{forecast.y_true[0].item()!r}. Name the labels of the file, in column order."
        )
    return [int(name) for name in classes]


def _assessed(
    arguments: argparse.Namespace, forecast: ForecastTable, *, prob: Any = None, extra: Sequence[str] = ()
) -> Assessment:
    from calibrant import assessment

    binary = len(forecast.forecast_columns) == 1
    metrics = list(assessment.BINARY_METRICS if binary else assessment.MULTICLASS_METRICS)
    if getattr(arguments, "metrics", None):
        metrics = [name.strip() for name in arguments.metrics.split(",")]
    metrics += [name for name in extra if name not in metrics]
    return assessment.assess(
        forecast.y_true,
        _values(arguments, forecast) if prob is None else prob,
        metrics=metrics,
        binning=_binning(arguments),
        level=arguments.level,
        n_resamples=arguments.resamples,
        rng=arguments.seed,
        progress=sys.stderr.isatty(),
        sample_weight=_weight(arguments, forecast),
        labels=_labels(arguments, forecast),
        input=forecast.input if prob is None else "probability",
    )


def _binning(arguments: argparse.Namespace) -> Any:
    import inspect

    from calibrant._registry import find

    target = find("binning", arguments.binning).target
    return target(arguments.bins) if "n_bins" in inspect.signature(target).parameters else target()


def _calibrated_names(forecast: ForecastTable) -> list[str]:
    """Probability columns keep their names; logits become probabilities and say so."""
    if forecast.input == "probability":
        return list(forecast.forecast_columns)
    names = forecast.class_names or [str(k) for k in range(len(forecast.forecast_columns))]
    return [f"p_{name}" for name in names]


def _document(result: Assessment) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "rows": result.n_rows,
        "classes": result.class_weight,
        "level": result.level,
        "resamples": result.n_resamples,
        "metrics": {row.metric: asdict(row.estimate) for row in result.rows},
    }


# Gates

Gate = tuple[str, str, str, float]

NUMBER = r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"

GATE = re.compile(
    r"\s*([a-z][a-z0-9-]*)(?:\.(value|lower|upper|noise_floor|pvalue))?\s*(<=|>=|<|>)\s*" + NUMBER + r"\s*"
)


def _gate(text: str) -> Gate:
    """Parse ``METRIC[.FIELD] OP NUMBER``. Nothing is evaluated."""
    from calibrant._registry import find

    match = GATE.fullmatch(text)
    if match is None:
        raise ValueError(f"--fail-if must read METRIC[.FIELD] OP NUMBER; got {text!r}. For example 'ece > 0.05'.")
    metric, field, comparison, number = match.groups()
    find("metric", metric)
    return metric, field or "value", comparison, float(number)


def _gate_fails(gate: Gate, result: Assessment) -> bool:
    metric, field, comparison, number = gate
    found = getattr(result[metric], field)
    if found is None:
        raise ValueError(f"--fail-if needs a figure; {metric} has no {field}. Use its value, lower or upper.")
    return bool({"<": found < number, ">": found > number, "<=": found <= number, ">=": found >= number}[comparison])


# Words


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="calibrant",
        description="Measure, test, repair and show the calibration of classifiers.",
        epilog="calibrant COMMAND --help tells more. Exit codes: 0 success, 1 a --fail-if gate failed, 2 bad use.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    assess = _command(commands, "assess", _assess, "print how good and how calibrated a forecast is")
    assess.add_argument("file", metavar="FILE", help="CSV, Parquet, Feather or NPZ")
    _data_options(assess)
    _assess_options(assess)
    assess.add_argument("--json", action="store_true", help="print JSON")
    assess.add_argument(
        "--fail-if", action="append", default=[], metavar="CONDITION",
        help="exit with 1 if it holds, such as 'ece > 0.05' or 'ece.lower > 0'; may be repeated",
    )  # fmt: skip

    fit = _command(commands, "fit", _fit, "fit a calibrator and save it as JSON")
    fit.add_argument("file", metavar="FILE", help="a forecast of rows that the classifier was not trained on")
    fit.add_argument(
        "--method",
        default="temperature",
        metavar="NAME",
        help="see `calibrant list calibrators` (default: %(default)s)",
    )
    fit.add_argument(
        "--notion", metavar="NAME", help="for methods of one score; `class-wise` where there are more than two classes"
    )
    fit.add_argument("-o", "--output", required=True, metavar="CALIBRATOR", help="the JSON file to write")
    fit.add_argument("--force", action="store_true", help="replace the output if it exists")
    _data_options(fit)

    apply = _command(commands, "apply", _apply, "calibrate the forecasts in a file")
    apply.add_argument("calibrator", metavar="CALIBRATOR", help="what `calibrant fit` wrote")
    apply.add_argument("file", metavar="FILE", help="CSV, Parquet, Feather or NPZ; a label column is not needed")
    apply.add_argument(
        "-o", "--output", required=True, metavar="OUT", help="the file to write; its ending says the format"
    )
    apply.add_argument("--force", action="store_true", help="replace the output if it exists")
    _data_options(apply)

    report = _command(commands, "report", _report, "write one HTML page that compares forecasts")
    report.add_argument(
        "files", nargs="+", metavar="FILE", help="one or more forecasts with the same columns, such as before and after"
    )
    report.add_argument("-o", "--output", required=True, metavar="HTML", help="the page to write")
    report.add_argument("--calibrator", metavar="CALIBRATOR", help="show each forecast also after this calibrator")
    report.add_argument("--names", metavar="A,B", help="names of the forecasts (default: the files' names)")
    report.add_argument("--title", default="Calibration report", help="title of the page")
    report.add_argument("--force", action="store_true", help="replace the output if it exists")
    _data_options(report)
    _assess_options(report)

    demo = _command(commands, "demo", _demo, "run the whole job on an embedded data set")
    demo.add_argument(
        "-o", "--output", default="demo/report.html", metavar="HTML", help="the page to write (default: %(default)s)"
    )
    demo.add_argument("--force", action="store_true", help="replace the output if it exists")

    show = _command(commands, "list", _list, "list metrics, notions, binnings and calibrators")
    show.add_argument("kind", nargs="?", choices=["metrics", "notions", "binnings", "calibrators"], help="only these")
    return parser


def _command(commands: Any, name: str, run: Any, what: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=what, description=what[0].upper() + what[1:] + ".")
    parser.set_defaults(run=run)
    return parser


def _data_options(parser: argparse.ArgumentParser) -> None:
    data = parser.add_argument_group(
        "columns", "Where they are not named they are guessed, said, and refused if ambiguous."
    )
    data.add_argument("--label", metavar="COLUMN", help="the column with the true class")
    data.add_argument(
        "--prob", metavar="COLUMNS", help="probabilities: names, globs or ranges, such as p_0,p_1 or 'p_*' or p_0:p_9"
    )
    data.add_argument("--logit", metavar="COLUMNS", help="logits, in place of probabilities")
    data.add_argument("--weight", metavar="COLUMN", help="sample weights")
    data.add_argument(
        "--classes", metavar="A,B,...", help="the class of each column, where names and labels do not say it"
    )
    data.add_argument("--rows", metavar="START:STOP", help="use only these rows, counted from 0")
    data.add_argument("--normalize", action="store_true", help="divide rows by their sums instead of refusing them")


def _assess_options(parser: argparse.ArgumentParser) -> None:
    how = parser.add_argument_group("how to measure")
    how.add_argument("--metrics", metavar="A,B", help="see `calibrant list metrics` (default: the usual ones)")
    how.add_argument("--bins", type=_natural, default=15, metavar="N", help="number of bins (default: %(default)s)")
    how.add_argument(
        "--binning",
        default="equal-width",
        metavar="NAME",
        help="see `calibrant list binnings` (default: %(default)s); unique has no number of bins",
    )
    how.add_argument(
        "--level",
        type=float,
        default=0.05,
        metavar="A",
        help="one minus the coverage of intervals (default: %(default)s)",
    )
    how.add_argument(
        "--resamples",
        type=_natural,
        default=500,
        metavar="N",
        help="resamples behind intervals and p-values (default: %(default)s)",
    )
    how.add_argument(
        "--seed", type=_natural, default=0, metavar="N", help="seed of the resampling (default: %(default)s)"
    )


def _natural(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a whole number, 0 or more; got {text!r}")
    return int(text)


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any, **__: Any) -> None:
        import calibrant

        print(f"calibrant {calibrant.__version__}")
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())
