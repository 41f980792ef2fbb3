"""Commands that compare, advise and report: of forecasts, and of calibrators."""

import shlex
import sys
import warnings
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from calibrant._core.arrays import FloatArray
from calibrant._core.checks import CalibrationWarning, as_level, left_out, refuse, require
from calibrant._core.result import shown_rows
from calibrant._core.rows import IntArray, Problem
from calibrant.assessment import compared_rows
from calibrant.assessment.advice import Advice, advise
from calibrant.assessment.comparison import Comparison, Pairing, compare, comparison_of, differences_of, metrics_of
from calibrant.assessment.table import Assessment, assess
from calibrant.calibrators.parametric import TemperatureScaling
from calibrant.cli import inputs
from calibrant.cli.commands import OF_A_CANDIDATE, end_of, gates_told, parse_gate
from calibrant.datasets import load_digits_forecast
from calibrant.interop.columns import FileTable
from calibrant.interop.save import load_calibrator
from calibrant.interop.tables import in_one_text, select, select_one, words_in
from calibrant.interop.writing import PAGES, PICTURES, require_ending, require_free, stem_of, whole_file
from calibrant.metrics.kinds import metric_named
from calibrant.report.page import NEEDED, plot_clinical, rows_of, write_report
from calibrant.report.sentences import COMPARED, comparison, findings, headline
from calibrant.sums.draws import as_rng

# `calibrant advise`, and what a report needs of it: which calibrator to fit, and how two forecasts of a file differ


COLUMNS = "label", "prob", "logit", "where", "correct", "confidence", "weight", "classes"
"""Options that say where the columns of a file are, and of which rows; the next file will need them as well."""

FLAGS = "percent", "normalize"
"""Options that say what the columns hold."""


def run_advise(asked: Namespace) -> int:
    """Print what is wrong with a forecast, and which calibrator to fit, if any."""
    forecast = inputs.read(asked, asked.file)
    inputs.warn_beside_other_rows(forecast)
    advice = advised(forecast)
    with warnings.catch_warnings(action="ignore", category=CalibrationWarning):
        # `calibrant assess` has those of the log loss.
        print(*assess(**forecast.rows(), rng=asked.seed).verdict.sentences, sep="\n")
    print(f"{advice.n_used} of {shown_rows(advice.n_rows)}, {advice.n_classes} classes, {advice.n_folds} folds")
    print(advice)
    if advice.command is not None:
        file = f"./{asked.file}" if asked.file.startswith("-") and asked.file != "-" else asked.file
        place = [shlex.quote(file), *([] if asked.rows is None else [_option("rows", asked.rows)])]
        print(advice.command.replace("CALIBRATION_FILE", " ".join(place), 1))
    return 0


def _option(name: str, value: str) -> str:
    """Return an option with its value; one that begins as an option does is joined to its name."""
    return f"--{name.replace('_', '-')}{'=' if value.startswith('-') else ' '}{shlex.quote(value)}"


def advised(forecast: inputs.Forecast) -> Advice:
    """Return the advice on the forecast of a file, with the options that its columns needed."""
    asked, is_one = vars(forecast.asked), len(forecast.forecast_columns) == 1
    options = {name: value for name in COLUMNS if (value := asked[name]) is not None}
    if is_one and (event := forecast.event) is not None:
        known = forecast.classes or forecast.y_true.tolist()
        other = next((str(label) for label in known if label != event), f"no {event}")
        options["classes"] = in_one_text([other, str(event)])
    words = [_option(name, one) for name, of in options.items() for one in ([of] if isinstance(of, str) else of)]
    words += [f"--{name}" for name in FLAGS if asked[name]]
    # The options of a report name its event, unless --classes does, with one column.
    names = ("notion",) if is_one else ("notion", "pos_label")
    event = " ".join(_option(name, value) for name in names if (value := asked.get(name)) is not None)
    return replace(advise(**forecast.rows(), rng=asked["seed"]), options=" ".join(words), event=event)


Shown = tuple[str, inputs.Forecast, FloatArray | None]
"""What a forecast is called in a report, its file, and its calibrated probabilities where it is shown after a calibrator."""


def differences_from(first: Shown, others: Sequence[Shown]) -> list[Comparison]:
    """Return how forecasts differ from the first, of the same rows or of samples, and say which are no such rows."""
    (start, before, calibrated), asked = first, first[1].asked
    reference = before.problem(calibrated)
    of: dict[Pairing, dict[str, Problem]] = {"rows": {}, "none": {}}
    for name, forecast, prob in others:
        problem, said = forecast.problem(prob), _different_rows(before, forecast)
        if problem.classes.tolist() != reference.classes.tolist():
            inputs.note(f"{name} has other classes than {start}: no difference is computed")
        elif min(problem.weights.n_rows, reference.weights.n_rows) < 2:
            inputs.note("there is no interval of a difference on one row")
        else:
            of["none" if said else "rows"][name] = problem
            if said:
                inputs.note(f"{name} has {said} than {start}: they are compared as samples of different rows")
    how: Any = {"notion": asked.notion, "binning": inputs.binning_of(asked), "clip": asked.clip, "seed": asked.seed}
    how |= {"names": [*COMPARED], "level": as_level(asked.level), "n_resamples": asked.resamples}
    each = (differences_of({start: reference, **some}, pairing=kind, **how) for kind, some in of.items() if some)
    return [found for compared in each for found in compared]


def _different_rows(first: inputs.Forecast, other: inputs.Forecast) -> str:
    """Say what differs in the rows of two files, as far as labels and weights show it; empty where nothing does."""
    if len(first.y_true) != len(other.y_true):
        return "another number of rows"
    if differ := int((first.y_true != other.y_true).sum()):
        return f"other labels (in {differ} of {len(other.y_true)} rows)"
    return "" if first.weight is None or (first.weight == other.weight).all() else "other weights"


# `calibrant compare`: forecasts of the same rows, and calibrators of them


def run_compare(asked: Namespace) -> int:
    """Print the candidates from the best to the worst, and which to take."""
    calibrators = compared_rows.named_calibrators(
        [word.strip() for word in (asked.calibrators or "").split(",") if word.strip()]
    )
    for one in calibrators.values():
        compared_rows.maker_of(one)  # before anything is read
    if asked.report:
        require_free(Path(asked.report), force=asked.force, inputs=asked.files, endings=PAGES)
    cut = None if asked.bins is None and asked.binning is None else inputs.binning_of(asked)
    words = [word.strip() for word in asked.metric.split(",")]
    metrics = metrics_of(words, cut)
    gates = [parse_gate(text, 0, OF_A_CANDIDATE) for text in asked.fail_if]
    for gate in gates:
        must, hint = "--fail-if must be about the metric by which candidates are ranked", "Name it first in --metric"
        require(metric_named(gate.metric).name == metric_named(words[0]).name, must, got=gate.metric, hint=hint)
    level, named, groups = as_level(asked.level), _forecasts_named(asked), None
    pairing: Pairing = "rows"
    if asked.over is not None:
        problems, pairing = _periods(asked, named), "periods"
    else:
        problems = {name: forecast.problem() for name, forecast in named.items()}
        compared_rows.require_same_classes(problems)
        if said := "" if asked.id else _samples_said(named):
            pairing = "none"
            inputs.note(f"{said}: they are compared as independent samples (the same rows are matched by --id)")
        elif asked.id is not None:
            problems, rows = _matched(named, asked.id)
        else:
            rows = {name: _kept(forecast) for name, forecast in named.items()}
    must, hint = "--fail-if must have a forecast beside the first one", "Pass another file, --calibrators or --over"
    require(not gates or len(problems) + len(calibrators) > 1, must, got=f"{', '.join(problems)} alone", hint=hint)
    alone = asked.overlapping and asked.by is None
    left_out("--overlapping", alone or None, "without --by", hint="Name columns by --by")
    left_out("--every", asked.every if asked.over is None else None, "without --over", hint="Name a column by --over")
    if pairing != "rows":
        hint = "Use them with forecasts of the same rows; name the column that tells rows by --id"
        for option, value in (("--calibrators", asked.calibrators), ("--by", asked.by)):
            left_out(option, value, "where candidates are of different rows", hint=hint)
    elif asked.by is not None:
        groups = _groups(asked, named, rows, problems)
        if asked.report and all(one.residuals(next(iter(problems.values()))) is None for one in metrics):
            metrics += metrics_of("ece", cut)  # by which the page puts the worst first
    for name, problem in problems.items():
        metrics[0].warn_impossible(problem, name)
    draws, rng = max(2, asked.resamples), as_rng(asked.seed)
    cv = compared_rows.CrossValidation(asked.folds, asked.jobs, asked.memory, sys.stderr.isatty())
    found = comparison_of(problems, calibrators, metrics, cv, level, draws, rng, groups, pairing=pairing)
    failed = [gate.fails_for([one for one in found.candidates if one.name != found.first]) for gate in gates]
    if asked.report:
        write_report(found, asked.report, title="Comparison", force=asked.force)
    if asked.json:
        facts = ("metric", "first", "recommended", "reason", "pairing", "n_rows", "n_classes", "n_folds", "level")
        document = {name: getattr(found, name) for name in facts}
        parts = {name: [asdict(one) for one in getattr(found, name)] for name in ("candidates", "groups")}
        print(inputs.json_of(document | parts | {"gates": gates_told(asked, failed)}))
    else:
        print(f"{shown_rows(found.n_rows)}, {found.n_classes} classes")
        print(found)
        for name, problem in problems.items() if asked.confidence else ():
            with warnings.catch_warnings(action="ignore", category=CalibrationWarning):  # the metrics have warned
                judged = assess(**rows_of(problem), level=level, n_resamples=draws, rng=asked.seed)
            print(f"{name}: {' '.join(judged.verdict.sentences)}")
    return end_of(failed)


def _groups(
    asked: Namespace, named: dict[str, inputs.Forecast], rows: dict[str, IntArray], problems: dict[str, Problem]
) -> Any:
    """Return the group of each row, by the columns of the first file."""
    first = next(iter(named))
    table = named[first].table
    columns = select(list(table), asked.by, where=named[first].file)
    of_first = {column: _telling(table, column)[rows[first]] for column in columns}
    for name, forecast in named.items():
        for column in (column for column in columns if column in forecast.table):
            if differ := int((_telling(forecast.table, column)[rows[name]] != of_first[column]).sum()):
                said = f"{name} has another {column} than {first} in {differ} of {len(rows[first])} rows"
                inputs.note(f"{said}: the groups are those of {first}")
    return compared_rows.groups_of(of_first, problems[first], None, overlapping=asked.overlapping)


def _telling(table: FileTable, column: str) -> Any:
    """Return what tells rows apart: whole numbers, truth values, or words, such as those of other numbers and of dates."""
    values = table[column]
    if values.dtype.kind == "f" and np.isfinite(values).all():
        return values.astype(str) if (values % 1).any() else values
    return values if values.dtype.kind in "biuU" else np.array(table.columns[column].cells())


def _periods(asked: Namespace, named: dict[str, inputs.Forecast]) -> dict[str, Problem]:
    """Return the rows of each period of the one file."""
    must, hint = "one forecast must be given with --over", "Pass one file, without --model and --id"
    require(len(named) == 1 and asked.id is None, must, got=", ".join(named), hint=hint)
    (forecast,) = named.values()
    column = select_one(list(forecast.table), asked.over, "--over", where=forecast.file)
    cells = forecast.table.columns[column].cells()
    must, hint = f"{column} of {forecast.file} must have a value in each row", "Fill it, or leave these rows out"
    require(all(cells), must, got=f"{cells.count('')} empty", hint=hint)
    times = _telling(forecast.table, column)[_kept(forecast)]
    return compared_rows.periods_of(times, asked.every, forecast.problem())


def _samples_said(named: dict[str, inputs.Forecast]) -> str:
    """Say which file is of rows that differ from those of the first; empty where none is."""
    first, *others = named.values()
    of_others = ((forecast, _different_rows(first, forecast)) for forecast in others)
    return next((f"{forecast.file} has {said} than {first.file}" for forecast, said in of_others if said), "")


def _forecasts_named(asked: Namespace) -> dict[str, inputs.Forecast]:
    """Return the forecasts of the files by their names, or of the models whose columns or rows one file has."""
    if asked.forecasts is not None:
        return _forecasts_beside(asked)
    if asked.model is None:
        names = _names_of(asked)
        return dict(zip(names, inputs.aligned([inputs.read(asked, file) for file in asked.files]), strict=True))
    left_out("--names", asked.names, "beside --model", hint="The names are those of the models")
    must, got = "one file must hold the rows of all models of --model", f"{len(asked.files)} files"
    require(len(asked.files) == 1, must, got=got, hint="Pass one, or leave --model out")
    whole = inputs.read(asked, asked.files[0])
    column = select_one(list(whole.table), asked.model, "--model", where=whole.file)
    cells = np.array(whole.table.columns[column].cells(), dtype=object)
    must, hint = f"{column} of {whole.file} must name the model of each row", "Name another column by --model"
    require(all(cells.tolist()), must, got=f"{cells.tolist().count('')} empty", hint=hint)
    models = list(dict.fromkeys(cells.tolist()))
    must, got = f"there may be {MOST_MODELS} models", f"{len(models)} in {column}"
    require(len(models) <= MOST_MODELS, must, got=got, hint=hint)
    return {
        name: replace(whole, table=whole.table.taken(np.flatnonzero(cells == name)), file=f"model {name}")
        for name in models
    }


def _forecasts_beside(asked: Namespace) -> dict[str, inputs.Forecast]:
    """Return the forecast of each column that ``--forecasts`` names."""
    for option in ("prob", "logit", "confidence", "names", "model"):
        left_out(f"--{option}", getattr(asked, option), "beside --forecasts", hint="Name the columns once")
    must, got = "one file must hold the columns of --forecasts", f"{len(asked.files)} files"
    require(len(asked.files) == 1, must, got=got, hint="Pass one, or leave --forecasts out")
    columns = words_in(asked.forecasts)
    must, hint = "--forecasts must name several columns, each once", "Name those of the event's probability"
    require(1 < len(columns) == len(set(columns)), must, got=asked.forecasts, hint=hint)
    each = [inputs.read(Namespace(**(vars(asked) | {"prob": [name]})), asked.files[0]) for name in columns]
    return dict(zip(columns, inputs.aligned(each), strict=True))


MOST_MODELS = 100
"""Models in a file; more are a column of something else, such as ids."""


def _names_of(asked: Namespace) -> list[str]:
    """Return a name for each file of the command."""
    names = words_in(asked.names) if asked.names else [stem_of(Path(f)) for f in asked.files]
    if len(names) != len(asked.files) or len(set(names)) != len(names) or "" in names:
        must = "each file needs a name of its own"
        refuse(must, got=f"{names} for {len(asked.files)} files", hint="Pass --names a,b")
    return names


def _matched(forecasts: dict[str, inputs.Forecast], key: str) -> tuple[dict[str, Problem], dict[str, IntArray]]:
    """Return the problems of the rows that all files have, in one order, and where these stand in each."""
    first = next(iter(forecasts.values()))
    places = {name: _places_of(forecast, key) for name, forecast in forecasts.items()}
    shared = [one for one in next(iter(places.values())) if all(one in of for of in places.values())]
    got = f"no {key} that all files have"
    require(bool(shared), "files must have rows in common", got=got, hint="Check what --id names in each file")
    problems, rows = dict[str, Problem](), dict[str, IntArray]()
    of_first = np.array([next(iter(places.values()))[one] for one in shared])
    for name, forecast in forecasts.items():
        rows[name] = at = np.array([places[name][one] for one in shared])
        if missed := len(places[name]) - len(at):
            inputs.note(f"left out {shown_rows(missed)} of {forecast.file}, not in all files")
        weight, other = forecast.weight, first.weight
        agree = weight is None or other is None or bool((weight[at] == other[of_first]).all())
        must = "rows must have one weight in all files"
        require(agree, must, got=f"others in {forecast.file} than in {first.file}", hint="Check --weight")
        if weight is not None:
            rows[name] = at[weight[at] > 0]
            at = np.searchsorted(_kept(forecast), rows[name])
        problems[name] = forecast.problem().taken(at)
        if differ := int((problems[name].code != next(iter(problems.values())).code).sum()):
            said = f"{name} has other labels than {next(iter(forecasts))} in {differ} of {len(at)} rows"
            inputs.note(f"{said}: each is judged by its own labels")
    return problems, rows


def _kept(forecast: inputs.Forecast) -> IntArray:
    """Return the rows of a file that count: those of weight zero do not."""
    return np.arange(len(forecast.y_true)) if forecast.weight is None else np.flatnonzero(forecast.weight > 0)


def _places_of(forecast: inputs.Forecast, key: str) -> dict[tuple[str, ...], int]:
    """Return the row of each identifier of a file."""
    names = select(list(forecast.table), key, where=forecast.file)
    columns = [forecast.table.columns[name].cells() for name in names]
    must = f"{', '.join(names)} of {forecast.file} must name each row"
    hint = "Name other columns, such as --id id,epoch"
    for cells in columns:
        require(all(cells), must, got=f"{cells.count('')} empty", hint=hint)
    places: dict[tuple[str, ...], int] = {}
    for row, own in enumerate(zip(*columns, strict=True)):
        require(own not in places, f"{must} once", got=f"{', '.join(own)!r} in several rows", hint=hint)
        places[own] = row
    return places


# `calibrant report`, and `calibrant demo`: pages


def run_report(asked: Namespace) -> int:
    """Write a page that compares forecasts."""
    read_files = [*asked.files, *([asked.calibrator] if asked.calibrator else [])]
    require_free(Path(asked.output), force=asked.force, inputs=read_files, endings=PAGES)
    names = _names_of(asked)
    in_batches = asked.sample is None and any(inputs.is_in_batches(asked, [file]) for file in asked.files)
    if in_batches:
        hint = "Run calibrant apply first, and report on what it writes"
        left_out("--calibrator", asked.calibrator, "with files that are read in batches", hint=hint)
    if asked.picture is not None:
        require_free(Path(asked.picture), force=asked.force, inputs=read_files, endings=PICTURES)
        if asked.notion:
            left_out("--picture", asked.picture, "with --notion", hint="It is of one event: leave --notion out")
        must, got = "a picture must be of one forecast that is read whole", f"{len(asked.files)} to read"
        require(len(names) == 1 and not in_batches, must, got=got, hint="Pass one file")
    assessments: dict[str, Assessment] = {}
    shown: list[Shown] = []  # without files in batches, of which no single rows are shown
    for name, file in zip(names, asked.files if in_batches else [], strict=False):
        assessments[name] = inputs.assessed(asked, inputs.open_stream(asked, [file]), extra=NEEDED)
    tables = [] if in_batches else [inputs.in_memory(asked, file) for file in asked.files]
    for name, forecast in zip(names, inputs.aligned(tables), strict=False):
        assessments[name] = inputs.assessed(asked, forecast, extra=NEEDED)
        shown.append((name, forecast, None))
        if asked.calibrator:
            calibrated = forecast.calibrated(load_calibrator(asked.calibrator))
            shown.append((f"{name}, calibrated", forecast, calibrated))
            assessments[shown[-1][0]] = inputs.assessed(asked, forecast, prob=calibrated, extra=NEEDED)
    # A forecast that stands alone may be one of a calibration set; those that are compared are of rows to test on.
    advice = advised(shown[0][1]) if len(shown) == 1 else None
    differences = differences_from(shown[0], shown[1:]) if len(shown) > 1 else []
    more: Any = {"advice": advice, "differences": differences}
    more["clinical"] = {} if asked.notion else {name: forecast.rows(prob) for name, forecast, prob in shown}
    ax = None
    if asked.picture is not None:
        ax = plot_clinical(**shown[-1][1].rows(shown[-1][2]), level=asked.level, n_resamples=asked.resamples)
        if ax.get_title() in ("class 1", "class True"):  # zeros and ones have no name, and their column has
            ax.set_title(shown[-1][1].label_column, parse_math=False)
    write_report(assessments, asked.output, title=asked.title, force=asked.force, **more)
    if ax is not None:
        with whole_file(asked.picture, force=asked.force) as beside:
            ax.figure.savefig(beside, format=Path(asked.picture).suffix[1:].lower(), dpi=300)
    for name, result in assessments.items():
        print(f"{name}: {result}\n")
    for sentence in (headline(assessments, differences), *comparison(assessments, differences)):
        print(f"{sentence}\n")
    if advice is not None:
        print(f"{findings(assessments[shown[0][0]], advice)[-1]}\n")
    print(f"wrote {asked.output}{f' and {asked.picture}' if asked.picture else ''}")
    return 0


def run_demo(asked: Namespace) -> int:
    """Do the whole job on the embedded data set."""
    target = Path(asked.output)
    require_ending(target, PAGES)
    target.parent.mkdir(parents=True, exist_ok=True)
    require_free(target, force=asked.force)
    y, prob = load_digits_forecast()
    half = len(y) // 2
    calibrator = TemperatureScaling().fit(prob[:half], y[:half])
    both = {"before": prob[half:], "temperature scaling": calibrator.predict_proba(prob[half:])}
    assessments = {name: assess(y[half:], one, progress=sys.stderr.isatty()) for name, one in both.items()}
    differences = [compare(y[half:], both, metric=metric) for metric in COMPARED]
    print("A small neural network classifies handwritten digits; its probabilities are over-confident.")
    print(f"Temperature scaling, fitted on {half} rows: T = {calibrator.temperature_:.4f}\n")
    for name, result in assessments.items():
        print(f"{name}: {result}\n")
    print(f"{headline(assessments, differences)}\n")
    title = "Handwritten digits, before and after temperature scaling"
    write_report(assessments, target, title=title, differences=differences, force=asked.force)
    print(f"wrote {target}")
    return 0
