"""From the words of a command to forecasts, weights, classes and assessments."""

from __future__ import annotations

import atexit
import codecs
import inspect
import json
import math
import re
import shutil
import sys
import tempfile
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from operator import eq, ge, gt, le, lt, ne
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from calibrant._core import border
from calibrant._core.arrays import NUMERIC
from calibrant._core.border import Input
from calibrant._core.checks import as_numbers, left_out, refuse
from calibrant._core.registry import find
from calibrant._core.rows import Problem, Rows, as_probabilities, precision_of
from calibrant.assessment.table import Assessment, assess, default_metrics
from calibrant.binning import EqualWidth
from calibrant.interop import tables
from calibrant.interop.arrow_batches import Chosen, Columns, labels_as_read
from calibrant.interop.columns import Column, FileTable, Text, Understood, Values, has_arrow, is_figure, require_arrow
from calibrant.interop.readers import Damaged
from calibrant.interop.sources import Files, OfColumns
from calibrant.interop.writing import STREAMED, is_pattern
from calibrant.metrics.kinds import is_of_sums, metric_named
from calibrant.significance.differences import warn_if_training_rows

if TYPE_CHECKING:
    from calibrant.calibrators.base import Calibrator

TRUTH = {"true": "1", "false": "0"}
"""Truth values as numbers."""

MOST_BINS = 10_000
"""Bins up to which memory holds sums over each of them for every resample."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Forecast(tables.ForecastTable):
    """A forecast read from a file, and what the words of a command, ``asked``, say of it.

    Of a sample ``is_checked``: its probabilities are no percent any more, and sum to one.
    """

    asked: Namespace
    is_checked: bool = False
    left_out: ClassVar[tuple[int, int]] = (0, 0)

    @classmethod
    def of(cls, table: tables.ForecastTable, asked: Namespace) -> Forecast:
        """Return the forecast of a table; what was guessed of it is said."""
        say_guess(table.file, table.guessed)
        return cls(**{field.name: getattr(table, field.name) for field in fields(tables.ForecastTable)}, asked=asked)

    @cached_property
    def values(self) -> Any:
        """Logits, or probabilities that are checked, of percent their hundredth; in single precision if the file has it."""
        given = self.y_prob
        values = as_numbers("y_prob", given)
        if self.input == "probability":
            rows = "as-given" if self.is_checked else rows_asked(self.asked)
            return as_probabilities("y_prob", values, rows).astype(precision_of(given, self.input, rows), copy=False)
        if self.asked.percent:
            must = "--percent must stand with probabilities"
            refuse(must, got="logits", hint="Name the columns with --prob, or leave --percent out")
        return values

    @cached_property
    def weight(self) -> Any:
        """The weights that the command names."""
        if self.asked.weight is None:
            return None
        return self.table.numbers(tables.select_one(list(self.table), self.asked.weight, "--weight", where=self.file))

    @cached_property
    def classes(self) -> list[Any] | None:
        """The class of each column, as named by the command or by the columns."""
        if self.label_column is None:  # only names say what the classes are
            return self.class_names if self.asked.classes is None else self._classes_named()
        if self.asked.classes is None:
            return self.labels()
        classes = self._classes_named()
        if (booleans := border.as_booleans(classes)) is not None and self.y_true.dtype.kind == "b":
            return list(booleans)
        return self._labels_named(classes, "--classes", "Name the labels of the file, in column order.")

    @cached_property
    def event(self) -> Any:
        """The label of the event, as named by the command; `calibrant fit` names classes in place of it."""
        if getattr(self.asked, "pos_label", None) is None:
            return None
        name = self.asked.pos_label.strip()
        if self.y_true.dtype.kind == "b" and name.lower() in ("true", "false"):
            return name.lower() == "true"
        return self._labels_named([name], "--pos-label", "Name a label of the file.")[0]

    @property
    def n_counted(self) -> int | None:
        """Number of rows, those that whole weights repeat one by one."""
        return border.as_weights(self.weight, self.n_rows).n_rows

    def rows(self, prob: Any = None) -> dict[str, Any]:
        """Return what a function of the library takes for rows, with calibrated probabilities in the place of theirs."""
        return {
            "y_true": self.y_true,
            "y_prob": self.values if prob is None else prob,
            "sample_weight": self.weight,
            "labels": self.classes,
            "pos_label": self.event,
            "input": self.input if prob is None else "probability",
        }

    def to_fit(self, asked: Namespace) -> tuple[tuple[Any, ...], list[Any] | None, int]:
        """Return what a calibrator is fitted to, the classes of the columns and how many; ``--other`` is compared with it."""
        warn_beside_other_rows(self)
        return (self.values, self.y_true, self.weight), self.classes, len(self.forecast_columns)

    def problem(self, prob: Any = None) -> Problem:
        """Return what the figures of a forecast are of: logits stay logits, whose log loss is exact."""
        return border.as_problem(**self.rows(prob))

    def calibrated(self, calibrator: Calibrator, *, top: bool = False) -> Any:
        """Return calibrated probabilities in the order of the file's columns; with ``top`` predicted labels, and theirs."""
        if top and not hasattr(calibrator, "predict_top"):
            must = "--top must have a calibrator of single scores, `calibrant fit --notion`"
            got = f"{self.asked.calibrator}, a {type(calibrator).__name__}"
            refuse(must, got=got, hint="Fit one with --notion top-label, or leave --top out")
        order = self._fitted_order(calibrator)
        values = self.values
        fitted = values if values.ndim == 1 else values[:, order]
        if top:
            return cast("Any", calibrator).predict_top(fitted)
        calibrated = calibrator.calibrate(fitted)
        return calibrated if values.ndim == 1 else calibrated[:, np.argsort(order)]

    def _fitted_order(self, calibrator: Calibrator) -> list[int]:
        """Where the columns that were fitted stand in a file: by their names, or in their order if all names are other ones.

        Words that give the columns other classes than those that the calibrator was fitted for are refused.
        """
        from calibrant.interop.save import columns_of  # with it scikit-learn, which takes a second to load

        here, fitted, file = list(self.forecast_columns), columns_of(calibrator), self.file
        wanted, given = (calibrator.n_features_in_, calibrator.input), (len(here), self.input)
        if wanted != given:
            raise ValueError(
                f"{self.asked.calibrator} was fitted on {wanted[0]} {wanted[1]} columns; {file} gives {given[0]} {given[1]} "
                f"columns. Choose them with --{_option(calibrator.input)}."
            )
        classes, named = [str(c) for c in calibrator.classes_.tolist()], self.class_names
        order = list(range(len(here)))
        if fitted is not None and sorted(fitted) == sorted(here):
            order = [here.index(name) for name in fitted]
        elif named is not None and named != classes and sorted(named) == sorted(classes):
            raise ValueError(
                f"columns must have the order of the classes fitted, {', '.join(classes[:5])}; {file} has "
                f"{', '.join(named[:5])}. Name them in that order, --{_option(self.input)} A,B."
            )
        elif fitted is not None and set(fitted) & set(here):
            raise ValueError(
                f"columns must be those that were fitted, {', '.join(fitted[:5])}; {file} gives {', '.join(here[:5])}. "
                f"Choose them with --{_option(calibrator.input)}."
            )
        claimed = self._claimed()
        said = _plain(claimed if len(order) == 1 else [claimed[k] for k in order] if len(claimed) == len(order) else [])
        if said == _plain(classes) or sorted(said) != sorted(_plain(classes)):
            return order
        if len(order) > 1:
            what, got = f"those of {', '.join(classes[:5])}", ", ".join(claimed[:5])
            hint = f"Name them in that order, --{_option(self.input)} A,B"
        else:
            instead = "" if getattr(self.asked, "pos_label", None) is None else " in place of --pos-label"
            what, got = (f"the probability of {names[1]}" for names in (classes, claimed))
            hint = f"If they are, say --classes {tables.in_one_text(classes)}{instead}"
        must = f"the columns of {file} must be {what}, for which {self.asked.calibrator} was fitted"
        raise ValueError(f"{must}; got {got}. {hint}; else fit a calibrator to these columns.")

    def _claimed(self) -> list[str]:
        """Return the classes of the columns as the command has them, two of one column; none where it does not say."""
        if not hasattr(self.asked, "pos_label") or len(self.forecast_columns) > 1:  # apply knows no labels
            return [] if self.asked.classes is None else self._classes_named()
        found = border.classes_of_score(border.as_labels(self.y_true), labels=self.classes, pos_label=self.event)
        return [str(c) for c in found.tolist()]

    def _classes_named(self) -> list[str]:
        """Return the words of --classes, unless the columns have the names of the same classes in another order."""
        classes = tables.words_in(self.asked.classes)
        said, written = _plain(classes), _plain(self.class_names or classes)
        if said != written and sorted(said) == sorted(written):
            turned = tables.in_one_text(self.forecast_columns[written.index(word)] for word in said)
            must = f"--classes must name the columns of {self.file} in their order"
            got = f"{self.asked.classes!r} for the columns {', '.join(self.forecast_columns)}"
            refuse(must, got=got, hint=f"Leave --classes out, or add --{_option(self.input)} {turned}")
        return classes

    def _labels_named(self, names: list[str], option: str, hint: str) -> list[Any]:
        """Return labels of the kind that the file holds."""
        if self.y_true.dtype.kind not in "iuf":
            return list(names)
        if (found := border.whole_numbers(names)) is None:
            wrong = next(name for name in names if border.whole_numbers([name]) is None)
            must = f"{option} must be numbers where the labels are numbers"
            raise ValueError(f"{must}; got {wrong!r}, and labels such as {self.y_true[0].item()!r}. {hint}")
        return found


@dataclass(frozen=True, eq=False)
class ForecastStream:
    """A forecast in files that are read in batches, and the names of its columns."""

    predictions: OfColumns
    label_column: str
    forecast_columns: tuple[str, ...]
    input: Input
    file: str

    @property
    def n_counted(self) -> int | None:
        """Number of rows that are as they must be, once they were read."""
        n_rows = self.predictions.n_rows
        return None if n_rows is None else n_rows - self.predictions.left_out[1]

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.predictions.classes.size)

    @property
    def left_out(self) -> tuple[int, int]:
        """Batches and rows that were left out."""
        return self.predictions.left_out

    def rows(self, prob: Any = None) -> dict[str, Any]:
        """Return the arguments of a function of the library that say what the rows are."""
        return {"y_true": self.predictions}

    def to_fit(self, asked: Namespace) -> tuple[tuple[Any, ...], list[Any] | None, int]:
        """Return what a calibrator is fitted to, and the number of columns, which one column of lists may hold."""
        hint = "Pass --sample N, to fit to some of the rows and to compare these"
        left_out("--other", asked.other, "with files that are read in batches", hint=hint)
        return (self.predictions,), None, self.n_classes if self.n_classes > 2 else len(self.forecast_columns)

    def problem(self) -> Problem:
        """Return the problem of the first rows."""
        return self.predictions.head()


def _option(input: str) -> str:
    return "prob" if input == "probability" else "logit"


def _plain(names: Sequence[Any]) -> list[str]:
    """Return names of classes in one spelling: of numbers without decimals, of truth values in small letters."""
    words = [str(name) for name in names]
    return [re.sub(r"\.0*$", "", w) if re.fullmatch(r"-?\d+\.0*", w) else TRUTH.get(w.lower(), w) for w in words]


def note(said: str) -> None:
    """Say what was done, beside the output."""
    print(f"calibrant: note: {said}", file=sys.stderr)


def say_guess(file: str, guessed: Sequence[str]) -> None:
    """Say what was guessed of the columns of a file."""
    if guessed:
        print(f"{file}: reading {', '.join(guessed)}", file=sys.stderr)


BESIDE = ("weight", "by", "id", "time", "over", "model")
"""Options that name columns which are no part of a forecast."""


def chosen_columns(asked: Namespace) -> dict[str, Any]:
    """Return what the command says of columns, as the functions take it that choose them."""
    chosen = {name: getattr(asked, name, None) for name in ("label", "prob", "logit", "fitted")}
    beside = [words for name in BESIDE if isinstance(words := getattr(asked, name, None), str)]
    return chosen | {"beside": [name for words in beside for name in tables.words_in(words)]}


def read(asked: Namespace, file: str, *, label_optional: bool = False) -> Forecast:
    """Read the file of a command, and say what was guessed."""
    rows, where = rows_named(asked.rows), "standard input" if file == STANDARD_INPUT else file
    path = _of_standard_input() if file == STANDARD_INPUT else file
    try:
        whole = tables.read_table(path)
    except ValueError as error:
        raise ValueError(str(error).replace(path, where)) from error
    for condition in getattr(asked, "where", None) or ():
        whole = whole.taken(_rows_where(whole, condition, where))
    table, chosen, said = _answers(whole, asked, where)
    n_rows = len(next(iter(table.columns.values())))
    if asked.rows is not None and not range(n_rows)[rows]:
        refuse(f"--rows must leave rows of {where}", got=f"{asked.rows} of {n_rows}", hint="They are counted from 0")
    found = tables.forecast_in(table, rows=rows, label_optional=label_optional, where=where, **chosen)
    return Forecast.of(replace(found, guessed=(*found.guessed, *said)), asked)


CONDITION = re.compile(r"\s*(.+?)\s*(<=|>=|!=|<|>|==?)\s*(?=\S)(['\"]?)(.*?)\3\s*")

DATE, TIME = re.compile(r"\d{4}-\d\d(-\d\d([T ][\d:.]+)?)?"), re.compile(r"\d{4}-\d\d(-\d\d([T ]\d.*)?)?")
"""A date, to the month, the day or a part of it, as in a condition; and as in a cell, which may have a zone."""

MIDNIGHT = "0000-01-01 00:00:00.000000000"
"""What a date that is less exact than another is taken to go on with."""

COMPARED = {"<": lt, ">": gt, "<=": le, ">=": ge, "=": eq, "==": eq, "!=": ne}


def _rows_where(table: FileTable, condition: str, where: str) -> Any:
    """Return the rows of a table for which a condition on a column holds: of numbers, truth values, or text such as dates."""
    match = CONDITION.fullmatch(condition)
    if match is None:
        hint = "For example 'day >= 2026-10-01'"
        refuse("--where must read COLUMN OP VALUE, with one of < <= > >= = !=", value=condition, hint=hint)
    name, value = tables.select_one(list(table), match[1], "--where", where=where), match[4]
    known = table[name]
    numbers = known if known.dtype.kind in "biu" else table.numbers(name)  # all digits, also beyond 2**53
    if is_figure(value) and numbers.dtype.kind in NUMERIC:
        number = int(value) if re.fullmatch(r"[+-]?[0-9]+", value) else float(value)
        kept = COMPARED[match[2]](numbers, number) & ~np.isnan(numbers)
    else:
        listed = table.columns[name].cells()
        if numbers.dtype.kind == "f":  # a NaN is written as "nan", and is no value
            listed = ["" if is_none else cell for cell, is_none in zip(listed, np.isnan(numbers), strict=True)]
        distinct = list(dict.fromkeys(listed))  # of many rows there are few dates
        cells = np.array(distinct, dtype=object)
        if value.lower() in TRUTH:
            value, cells = value.lower(), np.array([cell.lower() for cell in cells], dtype=object)
        others = (cell for cell in cells if cell and not TIME.fullmatch(cell))
        wrong = next(others, None) if DATE.fullmatch(value) else value
        if wrong is not None and match[2] not in ("=", "==", "!="):
            must = f"--where must compare numbers with a number, or dates such as 2026-03-31, by {match[2]}"
            refuse(must, got=f"{wrong!r} beside {name} of {where}", hint="Words can be = or !=")
        if DATE.fullmatch(value):
            # Of a time as much is compared as the value says: 2026-10-01 08:30 is of the day 2026-10-01.
            value, *times = (re.sub(r"[T ](\d:)", r" 0\1", text).replace("T", " ") for text in (value, *cells))
            cells = np.array([time and (time + MIDNIGHT[len(time) :])[: len(value)] for time in times], dtype=object)
        holds = dict(zip(distinct, COMPARED[match[2]](cells, value) & (cells != ""), strict=True))
        kept = np.array([holds[cell] for cell in listed])
    rows = np.flatnonzero(kept)
    if not rows.size:
        refuse(f"--where must leave rows of {where}", got=f"none with {condition}", hint=f"See what {name} holds")
    print(f"{where}: {rows.size} of {kept.size} rows have {condition.strip()}", file=sys.stderr)
    return rows


STANDARD_INPUT = "-"


@cache
def _of_standard_input() -> str:
    """Return the path of a file, there until the process ends, that holds what comes by standard input."""
    if sys.stdin is None or sys.stdin.isatty():
        refuse("- must be a table that comes by standard input", got="none", hint="Write: calibrant COMMAND - < FILE")
    data = sys.stdin.buffer.read().removeprefix(codecs.BOM_UTF8)
    if data.startswith((b"PAR1", b"ARROW1", b"PK\x03\x04")):
        refuse("- must be a table of CSV or JSON", got="a binary one", hint="Name the file in its place")
    ending = ".json" if data.lstrip()[:1] in (b"{", b"[") else ".csv"
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder, f"standard-input{ending}")
    path.write_bytes(data)
    return str(path)


# Answers of a language model: whether they were correct, and the stated confidence

BY_WHERE = ": --where \"{} != '{}'\""
"""How rows with a cell are left out."""

CORRECT = dict.fromkeys(("true", "1", "1.0", "yes", "c", "correct", "right"), True)
WRONG = dict.fromkeys(("false", "0", "0.0", "no", "i", "incorrect", "wrong"), False)

MOST_OF_SCALE = 10.0
"""Confidences above 1 and up to this are no percent, but perhaps points of a scale."""


def _answers(table: FileTable, asked: Namespace, where: str) -> tuple[FileTable, dict[str, Any], tuple[str, ...]]:
    """Return a table in which answers are an event and its probability, what to choose of it, and what was read as what."""
    chosen = chosen_columns(asked)
    correct, confidence = getattr(asked, "correct", None), getattr(asked, "confidence", None)
    places: dict[str, dict[str, Column]] = {}
    said: tuple[str, ...] = ()
    if correct is not None:
        left_out("--label", asked.label, "beside --correct", hint="Name the column of the labels once")
        if confidence is None:
            refuse("--confidence must stand beside --correct", got="none", hint="Name the column of the confidence")
        name = chosen["label"] = tables.select_one(list(table), correct, "--correct", where=where)
        column = table.columns[name]
        places[name] = {name: Understood(_are_correct(column.cells(), name, where), column)}
    if confidence is not None:
        for option in ("prob", "logit"):
            left_out(f"--{option}", getattr(asked, option), "beside --confidence", hint="Name the forecast once")
        name = chosen["prob"] = tables.select_one(list(table), confidence, "--confidence", where=where)
        column = table.columns[name]
        numbers, is_percent = _stated(column, name, where, said=asked.percent)
        if is_percent and not asked.percent:
            numbers, said = numbers / 100.0, (f"{name!r} in percent",)
        places[name] = {name: Understood(numbers, column)}
    return table.replaced(places), chosen, said


def _stated(column: Column, name: str, where: str, *, said: bool) -> tuple[Any, bool]:
    """Return confidences as numbers, and whether they are percent: all of them, as the cells or the command say, or none."""
    cells = [cell.strip() for cell in column.cells()]
    signed = [cell.endswith("%") for cell in cells]
    numbers = column.numbers
    if numbers.dtype.kind not in NUMERIC:
        plain = [cell.removesuffix("%").strip() for cell in cells]
        numbers = Text(plain, decimal=column.decimal).numbers
    is_number = numbers.dtype.kind in NUMERIC
    wrong = (
        np.isnan(numbers) if is_number else np.array([not is_figure(cell.removesuffix("%").strip()) for cell in cells])
    )
    must = f"{name} of {where} must be probabilities, from 0 to 1, or percent"
    if wrong.any() or not is_number:
        row = int(np.argmax(wrong))
        hint = "Write decimals with a point, and a number for each word; leave out answers without a confidence"
        refuse(must, got=f"{cells[row]!r} in row {row}", hint=hint + BY_WHERE.format(name, cells[row]))
    outside = (numbers < 0.0) | (numbers > 100.0)
    if outside.any():
        row = int(np.argmax(outside))
        refuse(
            must, got=f"{cells[row]!r} in row {row}", hint="Correct it, or leave it out; of log-probabilities take exp"
        )
    above, within = numbers > 1.0, (numbers > 0.0) & (numbers < 1.0)
    mixed = (signed, np.logical_not(signed)) if any(signed) else (above, within)
    if all(bool(np.any(of)) for of in mixed) and (any(signed) or not said):
        first, second = (int(np.argmax(of)) for of in mixed)
        hint = "Write all of them in one way" + ("" if any(signed) else ", or say --percent if all are percent")
        got = f"{cells[first]!r} in row {first}, {cells[second]!r} in row {second}"
        refuse(f"{must}, all in one way", got=got, hint=hint)
    most = float(np.max(numbers, initial=0.0))
    if 1.0 < most <= MOST_OF_SCALE and not any(signed) and not said:
        hint = "If they are percent, say --percent; points of a scale are no probabilities, even divided by the highest"
        refuse(must, got=f"none above {most:g}", hint=hint)
    return numbers, said or any(signed) or most > 1.0


def refuse_some_rows(asked: Namespace, hint: str) -> None:
    """Refuse to choose rows of files that are read in batches, and to read answers there."""
    where, whole = "with files that are read in batches", "Pass one file, without --sample and --on-error"
    for option, way in {"rows": hint, "where": whole, "correct": whole, "confidence": whole}.items():
        left_out(f"--{option}", getattr(asked, option), where, hint=way)


def _are_correct(cells: list[str], name: str, where: str) -> Any:
    """Return whether answers were correct, as cells say it."""
    found = [(CORRECT | WRONG).get(cell.strip().lower()) for cell in cells]
    if None in found:
        row = found.index(None)
        must = f"{name} of {where} must say of each answer whether it was correct: true or false, 1 or 0, yes or no, C or I"
        hint = "Leave out what is neither, such as half points"
        refuse(must, got=f"{cells[row]!r} in row {row}", hint=hint + BY_WHERE.format(name, cells[row]))
    return np.array(found)


def rows_named(text: str | None) -> slice:
    """Return the rows that the command names."""
    if text is None:
        return slice(None)
    if not (match := re.fullmatch(r"(\d*):(\d*)", text)):
        refuse("--rows must be START:STOP, either may be left out", value=text, hint="For the first half: --rows :5000")
    start, stop = (int(part) if part else None for part in match.groups())
    return slice(start, stop)


def rows_asked(asked: Namespace) -> Rows:
    """Return what the command says is to be done with rows."""
    return "percent" if asked.percent else "normalize" if asked.normalize else "as-given"


def missing(n_batches: int, n_rows: int) -> str:
    """Return how much was left out, in words that follow the number of rows; nothing of nothing."""
    batches = "1 batch" if n_batches == 1 else f"{n_batches} batches"
    return f", {batches} of {n_rows or 'unknown'} rows left out" if n_batches else ""


def metrics_asked(asked: Namespace, extra: Sequence[str] = ()) -> list[str] | None:
    """Return the metrics that the command names, and those that are needed beyond; None where it names none."""
    if not getattr(asked, "metrics", None):
        return None
    metrics = [name.strip() for name in asked.metrics.split(",")]
    return metrics + [name for name in extra if name not in metrics]


def assessed(
    asked: Namespace, forecast: Forecast | ForecastStream, *, prob: Any = None, extra: Sequence[str] = ()
) -> Assessment:
    """Assess a forecast, or calibrated probabilities in its place, with the options of the command."""
    usual = list(default_metrics(max(2, forecast.n_classes)))
    metrics = metrics_asked(asked, extra) or [*usual, *(name for name in extra if name not in usual)]
    try:
        return assess(
            **forecast.rows(prob),
            metrics=metrics,
            notion=asked.notion,
            binning=binning_of(asked),
            level=asked.level,
            n_resamples=asked.resamples,
            **({} if asked.clip is None else {"clip": asked.clip}),
            rng=asked.seed,
            progress=sys.stderr.isatty(),
        )
    except MemoryError as error:
        must = f"memory must hold sums over all bins, classes and resamples; that of {forecast.file} does not: {error}"
        raise ValueError(f"{must}. Pass a smaller --bins or --resamples, or a part of the rows by --rows.") from error


def binning_of(asked: Namespace) -> Any:
    """Return the bins that the command asks for."""
    target = find("binning", asked.binning or "equal-width").target
    bins = 15 if asked.bins is None else asked.bins
    if bins > MOST_BINS:
        raise ValueError(f"--bins must be at most {MOST_BINS}; got {bins}. 15 is usual.")
    return target(bins) if "n_bins" in inspect.signature(target).parameters else target()


def say_unused_bins(asked: Namespace, metrics: Sequence[str]) -> None:
    """Say once that no metric has the bins that were asked for."""
    said = [option for option in ("binning", "bins") if getattr(asked, option) is not None]
    chosen = [metric_named(name) for name in metrics]
    if not said or any(metric.takes_binning for metric in chosen):
        return
    own = [name for name, metric in zip(metrics, chosen, strict=True) if metric.has_own_bins]
    kept = f"; bins of {', '.join(own)} are always their own" if own else ""
    note(f"no metric here takes {' or '.join(f'--{o}' for o in said)}{kept}")


# Files that are read in batches: several of them, folders, patterns, addresses, and a file that is large


LARGE = 1 << 26
"""Bytes of a file from which it is read in batches, where what is asked for can be had so."""

AT_A_TIME = 1 << 16
"""Rows that tell what the labels are."""


def is_several(files: Sequence[str]) -> bool:
    """Whether it is more than a file: several, a folder, a pattern, or an address of another file system."""
    return len(files) > 1 or "://" in files[0] or Path(files[0]).is_dir() or is_pattern(files[0])


def is_in_batches(asked: Namespace, files: Sequence[str]) -> bool:
    """Whether files must be read in batches: if they are several, or what is wrong in them is to be left out."""
    return is_several(files) or asked.on_error == "skip"


def is_large(asked: Namespace, file: str) -> bool:
    """Whether a file is so large that it is better read in batches, and all of it is read."""
    path, is_all = Path(file), (asked.rows, asked.where, asked.confidence) == (None, None, None)
    is_read_so = is_all and path.suffix.lower() in (*STREAMED, ".gz") and path.is_file() and has_arrow()
    return is_read_so and path.stat().st_size >= LARGE


def open_stream(asked: Namespace, files: Sequence[str]) -> ForecastStream:
    """Open files for reading in batches, and say what was guessed."""
    refuse_some_rows(asked, "Pass --sample N for some of the rows")
    require_arrow("reading files in batches")
    source, weight = Files(list(files), on_error=asked.on_error), asked.weight
    where = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"
    found = tables.choose_columns(FileTable.of_names(source.names), where=source.where, **chosen_columns(asked))
    if weight is not None:
        weight = tables.select_one(source.names, weight, "--weight", where=source.where)
    assert found.label_column is not None
    columns = Columns(found.label_column, found.forecast_columns, weight, found.input, found.guessed)
    truth = FileTable({columns.label: Values(_first_labels(source, columns, where, asked.on_error))})
    head = Forecast.of(replace(found, table=truth, file=where), asked)
    chosen = Chosen(
        labels=head.classes,
        rows=rows_asked(asked),
        pos_label=head.event,
        batch_rows=AT_A_TIME,
        on_error=asked.on_error,
        progress=sys.stderr.isatty(),
    )
    return ForecastStream(OfColumns(source, columns, chosen), columns.label, columns.numbers, columns.input, where)


def _first_labels(source: Files, columns: Columns, where: str, on_error: str) -> Any:
    """Return the labels of the first rows, which tell of what kind all are."""
    wrong: Exception = ValueError(f"{where} must hold at least one row; it has none. Check how it was written.")
    for piece in source.pieces(columns, AT_A_TIME):
        if isinstance(piece, Damaged):
            wrong = piece.error
            if on_error == "raise":
                break
        else:
            truth = labels_as_read(piece, is_parsed=source.is_parsed)
            known = [label is not None and label == label for label in truth.tolist()]
            if any(known):
                return truth[np.array(known)]  # what is missing is said later, or left out
    raise wrong


def sampled(asked: Namespace, stream: ForecastStream, n: int) -> Forecast:
    """Return some rows of a stream as a table in memory."""
    rows, weight = stream.predictions.sample(n), stream.predictions.columns.weight
    if left_out := missing(*stream.left_out):
        print(f"calibrant: warning: {stream.n_counted} rows{left_out}", file=sys.stderr)
    values = np.reshape(rows["y_prob"], (len(rows["y_prob"]), -1))
    names = columns_named(stream.forecast_columns, values.shape[1])
    columns: dict[str, Column] = {name: Values(column) for name, column in zip(names, values.T, strict=True)}
    if weight is not None:
        columns[weight] = Values(rows["sample_weight"])
    table = FileTable({stream.label_column: Values(rows["y_true"]), **columns})
    found = Forecast.of(tables.ForecastTable(table, stream.label_column, names, stream.input, (), stream.file), asked)
    found = replace(found, is_checked=True)
    # The last column is that of --pos-label, and perhaps not the last of the file.
    order = names[::-1] if rows["labels"] == _classes_of(found)[::-1] else names
    return replace(found, table=table.extended({name: columns[own] for name, own in zip(names, order, strict=True)}))


def columns_named(names: tuple[str, ...], n: int) -> tuple[str, ...]:
    """Return names of n columns, which one column of lists may hold."""
    return names if len(names) == n else tuple(f"{names[0]}_{k}" for k in range(n))


def opened(asked: Namespace, files: Sequence[str], metrics: Sequence[str] = ()) -> Forecast | ForecastStream:
    """Return the forecast of files: in memory, but of several files, and of a large one whose figures are sums."""
    if STANDARD_INPUT in files and (asked.sample is not None or is_in_batches(asked, files)):
        must, hint = "standard input must be read whole, and alone", "Leave out --sample, --on-error and other files"
        refuse(must, got=f"it beside {'--sample' if asked.sample is not None else 'these'}", hint=hint)
    if asked.sample is None and is_in_batches(asked, files):
        return open_stream(asked, files)
    if metrics and asked.sample is None and asked.weight is None and is_large(asked, files[0]):
        stream = open_stream(asked, files)
        if _are_sums(asked, stream, metrics):
            return stream
    return in_memory(asked, *files)


def in_memory(asked: Namespace, *files: str) -> Forecast:
    """Return the forecast of a file, or some rows of files."""
    return read(asked, *files) if asked.sample is None else sampled(asked, open_stream(asked, files), asked.sample)


def _are_sums(asked: Namespace, stream: ForecastStream, metrics: Sequence[str]) -> bool:
    """Whether all figures are had from one reading in batches."""
    chosen, cut, head = [metric_named(name) for name in metrics], binning_of(asked), stream.predictions.head()
    seen = (one for metric in chosen if (one := metric.residuals(head, cut, asked.notion)) is not None)
    fixed = all(type(one.table[1]) is EqualWidth for one in seen if one.size.of_table is not None)
    return fixed and type(cut) is EqualWidth and all(is_of_sums(one, head, cut, asked.notion) for one in chosen)


# Forecasts of several files beside one another


def _classes_of(forecast: Forecast) -> list[Any]:
    """Return the classes of the columns of a file, of one column no event and the event."""
    event = forecast.event if len(forecast.forecast_columns) == 1 else None
    return list(border.as_problem(**{**forecast.rows(), "pos_label": event}).classes.tolist())


def aligned(forecasts: list[Forecast]) -> list[Forecast]:
    """Put the columns of all forecasts in one order of classes, so that figures beside one another are of the same event.

    It is the order of the first forecast, or of the first that has one column, as that cannot be turned. Words are read as
    those of a CSV file where other labels are no words: `apply` writes the cells of a CSV file to Parquet as text.
    """

    def understood(forecast: Forecast) -> Forecast:
        if (label := forecast.label_column) is None or forecast.y_true.dtype.kind not in "UO":
            return forecast
        return replace(forecast, table=forecast.table.extended({label: Text(forecast.y_true.tolist())}))

    def turned(forecast: Forecast) -> Forecast:
        own, columns = _classes_of(forecast), forecast.forecast_columns
        if len(columns) == 1 or set(own) != set(wanted):
            return forecast
        return replace(forecast, forecast_columns=tuple(columns[own.index(one)] for one in wanted))

    most = sorted((float(np.max(one.y_prob)), one.file) for one in forecasts if one.asked.percent)
    if most and most[0][0] <= 1 < most[-1][0]:
        got = f"at most {most[0][0]:g} in {most[0][1]}, {most[-1][0]:g} in {most[-1][1]}"
        hint = "Divide the others by 100 and leave it out: calibrant apply writes fractions"
        refuse("--percent must be true of all forecasts", got=got, hint=hint)
    if len({forecast.y_true.dtype.kind in "UO" for forecast in forecasts}) > 1:
        forecasts = [understood(forecast) for forecast in forecasts]
    if len(forecasts) < 2 or forecasts[0].asked.classes is not None:
        return forecasts
    wanted = _classes_of(next((one for one in forecasts if len(one.forecast_columns) == 1), forecasts[0]))
    return [turned(forecast) for forecast in forecasts]


# Held-out rows of a second file, with which rows for calibration are compared


def warn_beside_other_rows(forecast: Forecast) -> None:
    """Warn where the rows of the command look like training rows beside those of ``--other``, if that is given."""
    asked = forecast.asked
    if asked.other is None:
        return
    if Path(asked.other).resolve() == Path(asked.file).resolve():
        hint = "Write held-out rows, such as the test set, to a file of their own, and name that"
        refuse("--other must name another file than the calibration set", got=f"{asked.other} for both", hint=hint)
    whole = Namespace(**vars(asked) | {"rows": None, "weight": None})
    both = aligned([replace(forecast, asked=whole), read(whole, asked.other)])
    warn_if_training_rows(*(one.problem() for one in both))


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
