"""What each command does: read, call the library, print."""

from __future__ import annotations

import math
import re
import shlex
import sys
import warnings
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from calibrant._core.arrays import FloatArray
from calibrant._core.checks import choice, distinct_names, left_out, refuse, require
from calibrant._core.registry import HOMES, entries, find
from calibrant._core.result import shown_pvalue, shown_rows
from calibrant._core.rows import IntArray, Problem
from calibrant.assessment.advice import Advice, advise
from calibrant.assessment.compared_rows import groups_of, periods_of, require_same_classes
from calibrant.assessment.comparison import (
    Compared,
    Comparison,
    Pairing,
    compare,
    comparison_of,
    differences_of,
    metrics_of,
)
from calibrant.assessment.held_out import CrossValidation, maker_of, named_calibrators
from calibrant.assessment.table import MULTICLASS_METRICS, Assessment, assess
from calibrant.calibrators.temperature import TemperatureScaling
from calibrant.cli import inputs
from calibrant.datasets import load_digits_forecast
from calibrant.decisions.abstaining import risk_threshold
from calibrant.decisions.thresholds import confusion_table, decide, optimal_threshold
from calibrant.exceptions import CalibrationWarning
from calibrant.interop.columns import Values
from calibrant.interop.save import load_calibrator
from calibrant.interop.tables import select_one, write_table
from calibrant.interop.writing import PAGES, PICTURES, format_of, require_ending, require_free, whole_file
from calibrant.metrics.kinds import metric_named
from calibrant.notions import as_notion, single_problem
from calibrant.planning import rows_for
from calibrant.report.page import NEEDED, plot_clinical, rows_of, write_report
from calibrant.report.sentences import COMPARED, comparison, findings, headline
from calibrant.significance.differences import as_level
from calibrant.significance.result import TestResult, adjusted_pvalues, shown_adjusted
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)  # that of its log loss belongs to `calibrant assess`
        print(*assess(**forecast.rows(), rng=asked.seed).verdict.sentences, sep="\n")
    print(f"{advice.n_used} of {shown_rows(advice.n_rows)}, {advice.n_classes} classes, {advice.n_folds} folds")
    print(advice)
    if advice.command is not None:
        file = f"./{asked.file}" if asked.file.startswith("-") else asked.file
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
        options["classes"] = f"{other},{event}"
    words = [_option(*pair) for pair in options.items()] + [f"--{name}" for name in FLAGS if asked[name]]
    # A report is told of its event, but for what the classes of one column say.
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
    calibrators = named_calibrators([word.strip() for word in (asked.calibrators or "").split(",") if word.strip()])
    for one in calibrators.values():
        maker_of(one)  # before anything is read
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
        require_same_classes(problems)
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
    cv = CrossValidation(asked.folds, asked.jobs, asked.memory, sys.stderr.isatty())
    found = comparison_of(problems, calibrators, metrics, cv, level, draws, rng, groups, pairing=pairing)
    others = [one for one in found.candidates if one.name != found.first]
    failed = [next(filter(None, map(gate.fails_for, others)), None) for gate in gates]
    if asked.report:
        write_report(found, asked.report, title="Comparison", force=asked.force)
    if asked.json:
        facts = ("metric", "first", "recommended", "reason", "pairing", "n_rows", "n_classes", "n_folds", "level")
        document = {name: getattr(found, name) for name in facts}
        parts = {name: [asdict(one) for one in getattr(found, name)] for name in ("candidates", "groups")}
        print(inputs.json_of(document | parts | {"gates": _gates_told(asked, failed)}))
    else:
        print(f"{shown_rows(found.n_rows)}, {found.n_classes} classes")
        print(found)
        for name, problem in problems.items() if asked.confidence else ():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CalibrationWarning)  # the metrics that were asked for have warned
                judged = assess(**rows_of(problem), level=level, n_resamples=draws, rng=asked.seed)
            print(f"{name}: {' '.join(judged.verdict.sentences)}")
    return _end_of(failed)


def _gates_told(asked: Namespace, failed: list[str | None]) -> list[dict[str, Any]]:
    """Return each condition of --fail-if, and whether the command fails by it."""
    return [{"condition": text, "failed": bad is not None} for text, bad in zip(asked.fail_if, failed, strict=True)]


def _end_of(failed: list[str | None]) -> int:
    """Say which gates failed, and return the exit code."""
    for why in filter(None, failed):
        print(f"calibrant: gate failed: {why}", file=sys.stderr)
    return int(any(failed))


def _groups(
    asked: Namespace, named: dict[str, inputs.Forecast], rows: dict[str, IntArray], problems: dict[str, Problem]
) -> Any:
    """Return the group of each row, by the columns of the first file."""
    first = next(iter(named))
    table = named[first].table
    columns = [select_one(list(table), one.strip(), "--by", where=named[first].file) for one in asked.by.split(",")]
    distinct_names("columns of --by", columns)
    of_first = {column: table[column][rows[first]] for column in columns}
    for name, forecast in named.items():
        for column in (column for column in columns if column in forecast.table):
            if differ := int((forecast.table[column][rows[name]] != of_first[column]).sum()):
                said = f"{name} has another {column} than {first} in {differ} of {len(rows[first])} rows"
                inputs.note(f"{said}: the groups are those of {first}")
    return groups_of(of_first, problems[first], None, overlapping=asked.overlapping)


def _periods(asked: Namespace, named: dict[str, inputs.Forecast]) -> dict[str, Problem]:
    """Return the rows of each period of the one file."""
    must, hint = "one forecast must be given with --over", "Pass one file, without --model and --id"
    require(len(named) == 1 and asked.id is None, must, got=", ".join(named), hint=hint)
    (forecast,) = named.values()
    column = select_one(list(forecast.table), asked.over, "--over", where=forecast.file)
    cells = forecast.table.columns[column].cells()
    must, hint = f"{column} of {forecast.file} must have a value in each row", "Fill it, or leave these rows out"
    require(all(cells), must, got=f"{cells.count('')} empty", hint=hint)
    return periods_of(np.array(cells)[_kept(forecast)], asked.every, forecast.problem())


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
    columns = [name.strip() for name in asked.forecasts.split(",")]
    must, hint = "--forecasts must name several columns, each once", "Name those of the event's probability"
    require(1 < len(columns) == len(set(columns)), must, got=asked.forecasts, hint=hint)
    each = [inputs.read(Namespace(**(vars(asked) | {"prob": name})), asked.files[0]) for name in columns]
    return dict(zip(columns, inputs.aligned(each), strict=True))


MOST_MODELS = 100
"""Models in a file; more are a column of something else, such as ids."""


def _names_of(asked: Namespace) -> list[str]:
    """Return a name for each file of the command."""
    names = [name.strip() for name in asked.names.split(",")] if asked.names else [Path(f).stem for f in asked.files]
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
    names = [select_one(list(forecast.table), one.strip(), "--id", where=forecast.file) for one in key.split(",")]
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
        said["binning"] = inputs.binning_of(asked)
    if asked.file is not None:
        forecast = inputs.read(asked, asked.file, label_optional=True)
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
        print(inputs.json_of({**{name: getattr(found, name) for name in names}, "tried": tried}))
    else:
        print(found)
    return 0


# `calibrant decide`: from probabilities and costs to decisions


def run_decide(asked: Namespace) -> int:
    """Print what the decisions of least expected cost are; with labels, what they cost."""
    if asked.output:
        require_free(Path(asked.output), force=asked.force, inputs=[asked.file])
        format_of(asked.output)
    forecast = inputs.read(asked, asked.file, label_optional=True)
    values = forecast.values
    n_classes = 2 if values.ndim == 1 else values.shape[1]
    extra = asked.extra.split(",") if asked.extra else None
    options: Any = {"extra": extra, "labels": forecast.classes, "input": forecast.input}
    if asked.target_risk is None:
        cost = _costs(asked.costs, n_classes=n_classes)
    else:
        least = _kept_risk(asked, forecast)
        if asked.output is None:
            return 0
        abstaining = max(0.0, 1.0 - least)
        if asked.confidence is not None:  # there is one answer, and no class that could be the answer in its place
            kept = values >= least
            words, expected = np.where(kept, "answer", "abstain"), np.where(kept, 1.0 - values, abstaining)
            return _write_decisions(asked, forecast, words, expected)
        # To abstain costs the probability of an error at the threshold; of equal costs, of decimals too, a class is chosen.
        # Without a threshold an answer costs 1 more, so that one of probability 1 is not equal.
        answers = 1.0 - np.eye(n_classes) + math.isinf(least)
        cost = np.hstack([answers, np.full((n_classes, 1), abstaining)])
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
    return _write_decisions(asked, forecast, found.named.astype(str), found.expected_cost) if asked.output else 0


def _write_decisions(asked: Namespace, forecast: inputs.Forecast, decision: Any, expected_cost: FloatArray) -> int:
    """Write the file with the decision of each row, and its expected cost."""
    new = {"decision": Values(decision), "expected_cost": Values(expected_cost)}
    if taken := [name for name in new if name in forecast.table]:
        must = "new columns need names of their own"
        refuse(must, given=f"{asked.file} already has {', '.join(taken)}", hint="Rename or remove these columns")
    write_table(asked.output, forecast.table.extended(new), force=asked.force)
    print(f"wrote {asked.output}: {shown_rows(len(decision))}, decision and expected_cost")
    return 0


def _kept_risk(asked: Namespace, forecast: inputs.Forecast) -> float:
    """Print the threshold from which answers keep the target risk, and return it."""
    hint = "It is another question: ask one of them"
    for name in ("costs", "extra"):
        left_out(f"--{name}", getattr(asked, name), "with --target-risk", hint=hint)
    must, hint = "--target-risk needs a label column, to count errors", "Name it by --label"
    require(forecast.label_column is not None, must, got=f"none in {forecast.file}", hint=hint)
    rows, notion = forecast.rows(), "binary"  # a stated confidence is that the one answer is right
    if asked.confidence is None:
        rows["pos_label"], notion = None, "confidence"  # either class may be the answer
    found = risk_threshold(**rows, risk=asked.target_risk, notion=notion)
    print(found)
    return found.threshold


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
        refuse(f"{option} must be numbers between commas", value=text, hint="For two classes: --costs '0,4;1,0'")
    return numbers if len(numbers) > 1 else numbers[0]


# What each command does: read, call the library, print


# Conditions such as ``ece.lower > 0.02`` under which a command fails. They are parsed, and nothing is evaluated


FIELDS = ("value", "lower", "upper", "debiased", "noise_floor", "detectable", "pvalue")

OF_A_CANDIDATE = ("value", "difference", "lower", "upper")
"""Figures of a candidate of `calibrant compare`: its metric, and how that differs from the first one's."""

NUMBER = r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"

GATE = re.compile(r"\s*([A-Za-z][A-Za-z0-9_-]*)(?:\.([A-Za-z_]+))?\s*(<=|>=|<|>)\s*" + NUMBER + r"\s*")


@dataclass(frozen=True)
class Gate:
    """A condition on a figure of a metric: the command fails where it holds, and where the figure is NaN."""

    text: str
    metric: str
    field: str
    comparison: str
    number: float

    def require_possible(self, low: float, high: float, *, draws: int | None = None) -> None:
        """Refuse a condition that holds for every figure from ``low`` to ``high``, or for none.

        With ``draws`` the lower end is the smallest p-value of so many draws.
        """
        ends = [self._holds(end) for end in (low, high)]
        if not math.isfinite(low):
            ends[0] = self.comparison.startswith("<")
        if not math.isfinite(high):
            ends[1] = self.comparison.startswith(">")
        if ends[0] != ends[1]:
            return
        must = f"--fail-if must be a condition that can hold and can fail to hold; {self.text!r} "
        must += "always holds" if ends[0] else "can never hold"
        if draws is not None and 0 < self.number < 1:
            needed = draws_for(self.number, strictly=self.comparison in ("<", ">="))
            least = f"the smallest p-value that {draws} draws can show is 1/{draws + 1}"
            raise ValueError(f"{must}: {least}. Pass --resamples {needed} or more.")
        named = {"value": self.metric, "pvalue": f"the p-value of {self.metric}"}
        what = named.get(self.field, f"{self.field} of {self.metric}")
        raise ValueError(f"{must}: {what} is in [{low:.4g}, {high:.4g}]. Compare it with a number inside.")

    def fails(self, result: Assessment) -> str | None:
        """Return why the command fails by this condition; None where it does not."""
        figures = result[self.metric]
        found = getattr(figures, self.field)
        if found is None:
            others = [name for name in FIELDS if getattr(figures, name) is not None]
            must = "--fail-if needs a figure"
            refuse(must, given=f"{self.metric} has no {self.field}", hint=f"Use its {', '.join(others)}")
        if math.isnan(found):
            return f"{self.text}: {self.metric} is NaN on these rows, and NaN fails every gate"
        if self.field == "pvalue":
            least = figures.least_pvalue
            self.require_possible(least or 0.0, 1.0, draws=None if least is None else round(1 / least) - 1)
        return self.text if self._holds(found) else None

    def fails_for(self, candidate: Compared) -> str | None:
        """Return why the command fails by this condition for a candidate that was compared; None where it does not."""
        found = getattr(candidate, self.field)
        if math.isnan(found):
            return f"{self.text}: {self.metric} of {candidate.name} is NaN, and NaN fails every gate"
        return f"{self.text}: {candidate.name}" if self._holds(found) else None

    def _holds(self, found: float) -> bool:
        return bool(inputs.COMPARED[self.comparison](found, self.number))


def parse_gate(text: str, n_resamples: int, fields: Sequence[str] = FIELDS) -> Gate:
    """Parse ``METRIC[.FIELD] OP NUMBER``, and refuse what no figure can decide. Nothing is evaluated."""
    match = GATE.fullmatch(text)
    if match is None or not math.isfinite(float(match[4])):
        must = "--fail-if must read METRIC[.FIELD] OP NUMBER, with a finite number"
        refuse(must, value=text, hint="For example 'ece > 0.05'")
    metric, field, comparison, number = match.groups()
    if field is not None:
        choice(f"the figure of {metric} in --fail-if", field, fields)
    known = metric_named(metric)
    gate = Gate(text.strip(), known.word_for(metric), field or "value", comparison, float(number))
    low, high = known.range
    if fields == OF_A_CANDIDATE and gate.field != "value":
        low, high = low - high, high - low
    if gate.field != "pvalue":
        gate.require_possible(low, high)
    elif n_resamples > 0:
        drawn = known.draws_labels  # others say it of the estimate
        gate.require_possible(1 / (n_resamples + 1) if drawn else 0.0, 1.0, draws=n_resamples if drawn else None)
    return gate


def draws_for(level: float, *, strictly: bool, times: int = 1) -> int:
    """Return the smallest number of draws of which the least p-value, ``times`` a number, is the level, or below it."""

    def reached(draws: int) -> bool:
        least = times * (1 / (draws + 1))
        return least < level if strictly else least <= level

    about = max(1, math.floor(times / Fraction(level)) - 2)
    return next((draws for draws in range(about, about + 5) if reached(draws)), about + 5)  # a few, for rounding


def require_level(level: float, drawn: Sequence[str], n_tests: int, n_resamples: int) -> None:
    """Refuse a level of ``--fail-below`` that some of the tests, those that draw, cannot go below."""
    least = n_tests * (1 / (n_resamples + 1))
    if not drawn or least < level:
        return
    by_holm = f" of {n_tests} tests, by Holm's method," if n_tests > 1 else ""
    needed = draws_for(level, strictly=True, times=n_tests)
    raise ValueError(
        f"--fail-below must be a p-value that each test can go below; got {level:g}, and the smallest{by_holm} that "
        f"{n_resamples} draws can show is {n_tests}/{n_resamples + 1} = {least:.2g} ({', '.join(drawn)}). "
        f"Pass --resamples {needed} or more, or name tests with a law in formulas by --tests."
    )


def draws_labels(test: str) -> bool:
    """Whether a test draws labels unless it is told not to."""
    options = signature(find("test", test).target).parameters
    return "n_resamples" in options and options["n_resamples"].default is not None


def run_assess(asked: Namespace) -> int:
    """Print how good and how calibrated a forecast is."""
    gates = [parse_gate(text, asked.resamples) for text in asked.fail_if]
    extra = [gate.metric for gate in gates]
    forecast = inputs.opened(asked, asked.files, inputs.metrics_asked(asked, extra) or [*MULTICLASS_METRICS, *extra])
    result = inputs.assessed(asked, forecast, extra=extra)
    inputs.say_unused_bins(asked, [row.metric for row in result.rows])
    failed = [gate.fails(result) for gate in gates]
    if asked.json:
        document = {
            "rows": result.n_rows,
            "classes": result.class_weight,
            "notion": result.curve.notion,
            "event": result.event,
            "level": result.level,
            "resamples": result.n_resamples,
            "metrics": {
                row.metric: asdict(row.estimate) | ({"note": row.note} if row.note else {}) for row in result.rows
            },
            "verdict": asdict(result.verdict),
            "left_out": result.left_out,
            "columns": {"label": forecast.label_column, forecast.input: list(forecast.forecast_columns)},
            "gates": _gates_told(asked, failed),
        }
        print(inputs.json_of(document))
    else:
        print(result)
    return _end_of(failed)


USUAL_TESTS = ("spiegelhalter", "cox", "hosmer-lemeshow", "kuiper", "resampling", "kernel")
"""Tests that are run if none are named: one for each way to be wrong, and none that needs scores that repeat."""


OF_SUMS = ("spiegelhalter", "resampling")
"""Those that are run of files that are read in batches."""


def run_test(asked: Namespace) -> int:
    """Print the results of tests of calibration, each alone and all together."""
    several = asked.sample is None and inputs.is_in_batches(asked, asked.files)
    words = asked.tests.split(",") if asked.tests else OF_SUMS if several else USUAL_TESTS
    chosen = tuple(dict.fromkeys(find("test", word).name for word in words))
    if "equivalence" in chosen:
        must, got = "--tests must ask whether a forecast is calibrated", "equivalence asks whether its error is small"
        refuse(must, given=got, hint="In Python: calibrant.equivalence_test(y_true, y_prob, bound=0.02)")
    if (level := asked.fail_below) is not None:  # before anything is computed
        if not 0 < level < 1:
            raise ValueError(f"--fail-below must be a fraction in (0, 1); got {level:g}. 0.01 is usual.")
        draw = [name for name in chosen if draws_labels(name) and name != "kernel"]  # of very many rows it has a law
        require_level(level, draw, len(chosen), asked.resamples)
    forecast = inputs.opened(asked, asked.files)
    event, spoken, rows = _tested(asked, forecast, chosen)
    not_run = [name for name in USUAL_TESTS if several and not asked.tests and name not in OF_SUMS]
    if not_run:
        inputs.note(f"{', '.join(not_run)} need all rows, and are not run: --sample N runs them on N of the rows")
    drawn = {"n_resamples": asked.resamples, "rng": asked.seed}
    results = {n: find("test", n).target(**rows, **(drawn if draws_labels(n) else {})) for n in chosen}
    if level is not None:
        draw = [name for name, result in results.items() if result.least_pvalue is not None]
        require_level(level, draw, len(results), asked.resamples)
    n_rows = forecast.n_counted
    together = adjusted_pvalues(np.array([result.pvalue for result in results.values()]), method="holm")
    adjusted = dict(zip(results, together.tolist(), strict=True))
    undefined = [n for n, r in results.items() if math.isnan(r.statistic) or math.isnan(r.pvalue)]
    failed: list[str | None] = []
    if level is not None and any(p < level for p in adjusted.values()):
        failed.append(f"a p-value is below {level:g}")
    if level is not None and undefined:
        failed.append(f"{', '.join(undefined)} is NaN on these rows, and NaN fails every gate")
    notions = {} if event is not None else {n: _notion_of(r) for n, r in results.items()}
    if asked.json:
        document = {
            n: {name: getattr(r, name) for name in ("statistic", "df", "pvalue", "least_pvalue")}
            | {"holm": adjusted[n], "null": r.null.description, "notion": notions.get(n)}
            for n, r in results.items()
        }
        found = {"rows": n_rows, "left_out": forecast.left_out[0], "event": event, "tests": document}
        print(inputs.json_of(found | {"not_run": not_run, "failed": bool(failed)}))
    else:
        print(f"{n_rows} rows, {spoken}{inputs.missing(*forecast.left_out)}")
        told = f"{'notion':<13}" if notions else ""
        print(f"{'test':<20}{'statistic':>12}{'p-value':>12}{'Holm':>12}  {told}if the forecast were calibrated")
        for n, r in results.items():
            alone = shown_pvalue(r.pvalue, r.least_pvalue, ".3g")
            all_told = shown_adjusted(adjusted[n], r.pvalue, r.least_pvalue, ".3g")
            told = f"{notions[n]:<13}" if notions else ""
            print(f"{n:<20}{r.statistic:>12.5g}{alone:>12}{all_told:>12}  {told}{r.null.description}")
    return _end_of(failed)


def _notion_of(result: TestResult) -> str:
    """Return the notion that a test of several classes speaks of; tests of the table know none."""
    found = re.search(r"\(notion: (.+)\)$", result.hypothesis)
    return "all classes" if found is None else found[1]


def _tested(
    asked: Namespace, forecast: inputs.Forecast | inputs.ForecastStream, tests: Sequence[str]
) -> tuple[str | None, str, dict[str, Any]]:
    """Return the event that is tested, such as "class 1", or None of several classes; its words; and the arguments of a test.

    With --notion the rows are those of its one problem, so that tests that know no notions speak of it as well.
    """
    rows, others = forecast.rows(), [name for name in tests if name not in OF_SUMS]
    in_batches = not isinstance(forecast, inputs.Forecast)
    if in_batches and (others or asked.notion is not None):
        what = f"--tests {','.join(others)}" if others else f"--notion {asked.notion}"
        must = f"tests of files that are read in batches must be {' or '.join(OF_SUMS)}, of the usual notion"
        refuse(must, got=what, hint="Pass --sample N for N of the rows, which all tests take")
    problem = forecast.problem()
    if asked.notion is None and problem.classes.size > 2:
        return None, f"{forecast.n_classes} classes", rows
    chosen = as_notion(asked.notion, problem)
    binary = single_problem(problem, chosen, "For each class in turn: calibrant.by_class, in Python")
    event = f"class {problem.classes[1]}" if in_batches else binary.name
    if asked.notion is not None:
        event, is_logit = binary.name or chosen.name, binary.logit is not None
        rows = {
            "y_true": binary.outcome,
            "y_prob": binary.logit if is_logit else binary.score,
            "sample_weight": None if rows["sample_weight"] is None else binary.weight,
            "input": "logit" if is_logit else "probability",
        }
    return event, f"{'notion' if chosen.of_predictions else 'event'}: {event}", rows


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
    calibrated = calibrator.predict_proba(prob[half:])
    show, after = sys.stderr.isatty(), "temperature scaling"
    assessments = {
        "before": assess(y[half:], prob[half:], progress=show),
        after: assess(y[half:], calibrated, progress=show),
    }
    differences = [compare(y[half:], {"before": prob[half:], after: calibrated}, metric=metric) for metric in COMPARED]
    print("A small neural network classifies handwritten digits; its probabilities are over-confident.")
    print(f"Temperature scaling, fitted on {half} rows: T = {calibrator.temperature_:.4f}\n")
    for name, result in assessments.items():
        print(f"{name}: {result}\n")
    print(f"{headline(assessments, differences)}\n")
    title = "Handwritten digits, before and after temperature scaling"
    write_report(assessments, target, title=title, differences=differences, force=asked.force)
    print(f"wrote {target}")
    return 0


def run_list(asked: Namespace) -> int:
    """Print the registry."""
    for kind in HOMES:
        if asked.kind in (None, f"{kind}s"):
            print(f"{kind}s")
            found = entries(kind)
            shown = [name + (f" (also {', '.join(e.also)})" if e.also else "") for name, e in found.items()]
            width = max(map(len, shown))
            for name, entry in zip(shown, found.values(), strict=True):
                print(f"  {name:<{width}} {entry.summary}")
    return 0
