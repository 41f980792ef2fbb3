"""`calibrant fit`, from a calibration set to a calibrator in a file, and `calibrant apply`, to calibrated predictions."""

import json
import sys
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import fields, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from calibrant._core.border import as_problem
from calibrant._core.checks import Advance, left_out, progress_bar, refuse
from calibrant._core.registry import find
from calibrant._core.rows import OF_CALIBRATOR
from calibrant._core.threads import ahead
from calibrant.calibrators.base import Calibrator, as_calibrator
from calibrant.calibrators.by_notion import for_classes
from calibrant.calibrators.classifier import default_of
from calibrant.calibrators.evidence import MANY_NUMBERS
from calibrant.calibrators.safe import Method, SafeCalibrator
from calibrant.cli import inputs
from calibrant.interop import export
from calibrant.interop.arrow_batches import said_at
from calibrant.interop.columns import FileTable, Values, require_arrow
from calibrant.interop.readers import Damaged, File, Reader, files_of, reader_of
from calibrant.interop.save import columns_of, load_calibrator, save_calibrator
from calibrant.interop.tables import alike, forecast_in, words_in, write_table
from calibrant.interop.writing import format_of, require_free, whole_file, whole_folder
from calibrant.notions import Notion, as_notion

NOT_FOUND = ("gradient_", "middle_", "row_weight_", "share_")
"""Fitted numbers that say how well a fit went, what features measure from, or what a row weighs, and not what was found."""

COUNTS = ("n_bins_", "n_regions_")
"""Whole numbers that were found, and not given by the data."""

FEWEST_SAMPLED = 10_000
"""Rows of streamed rows to which the default is fitted at least, however many classes they have."""


def run_fit(asked: Namespace) -> int:
    """Fit a calibrator and save it."""
    read = [asked.file, *([] if asked.other is None else [asked.other])]
    require_free(Path(asked.output), force=asked.force, inputs=read, endings=(".json",))
    by_default = not asked.method and not asked.notion
    forecast, of_all = inputs.opened(asked, [asked.file]), ""
    if not isinstance(forecast, inputs.Forecast) and by_default:  # the default is fitted to rows in memory
        stream = forecast
        forecast = inputs.sampled(asked, stream, max(MANY_NUMBERS // stream.n_classes, FEWEST_SAMPLED))
        if stream.n_counted != forecast.n_rows:
            of_all = f" of {stream.n_counted} rows, drawn at random"
    rows, labels, n_columns = forecast.to_fit(asked)
    word = asked.method or OF_A_NOTION
    chosen = Method(find("calibrator", word).word_for(word), safe=False)
    if by_default:
        chosen = default_of(as_problem(**forecast.rows(), remedies=OF_CALIBRATOR))
    chosen = chosen._replace(safe=chosen.safe or asked.safe)
    calibrator = calibrator_of(asked, chosen, n_columns=n_columns, input=forecast.input, labels=labels)
    calibrator.fit(*rows)
    names = inputs.columns_named(forecast.forecast_columns, calibrator.n_features_in_)
    save_calibrator(calibrator, asked.output, columns=names, force=asked.force)
    details = ", ".join(
        f"{name.rstrip('_')} {value:.6g}"
        for name, value in sorted(vars(calibrator).items())
        if (name.endswith("_") and isinstance(value, float) and name not in NOT_FOUND)
        or (name in COUNTS and isinstance(value, int))
    )
    said = "" if asked.method else " (the default; --method NAME takes another)"
    on = f"{forecast.n_counted}{of_all or ' rows'}{inputs.missing(*forecast.left_out)}"
    print(f"fitted {chosen}{said} on {on}{': ' if details else ''}{details}")
    if len(calibrator.classes_) == 2:
        print(f"event: class {calibrator.classes_[1]}")
    if (groups := found_notion(calibrator)) is not None:
        print(f"found {groups!r}")
    print(f"wrote {asked.output}")
    return 0


# `calibrant apply`: calibrated predictions of a file, at once or in batches, or of the files of a folder


AT_A_TIME = 1 << 17
"""Rows that are read, calibrated and written together."""


ENDINGS = {"numpy": [".py"], "torch": [".py"], "sql": [".sql"], "onnx": [".onnx"], "js": [".js", ".mjs"]}
"""Endings of what is written, by target."""


def run_export(asked: Namespace) -> int:
    """Write a calibrator in another language."""
    require_free(Path(asked.output), force=asked.force, inputs=[asked.calibrator], endings=ENDINGS[asked.to])
    calibrator = load_calibrator(asked.calibrator)
    printers: dict[str, Any] = {"numpy": export.to_numpy, "js": export.to_js, "torch": export.torch_source}
    printers |= {"onnx": export.to_onnx, "sql": partial(export.to_sql, **_of_query(asked))}
    made = printers[asked.to](calibrator)
    data = made.SerializeToString() if asked.to == "onnx" else made.encode()
    with whole_file(Path(asked.output), force=asked.force) as place:
        place.write_bytes(data)
    print(f"wrote {asked.output}: {type(calibrator).__name__} for {asked.to}, {len(data)} bytes")
    return 0


def _of_query(asked: Namespace) -> dict[str, Any]:
    """Return what is said of a query; refuse it with another target."""
    said = {
        name: word for name in ("dialect", "table", "columns", "keep") if (word := getattr(asked, name)) is not None
    }
    for name, word in said.items():
        if asked.to != "sql":
            left_out(f"--{name}", word, f"with --to {asked.to}", hint="It is of a query: --to sql")
        if name in ("columns", "keep"):
            said[name] = words_in(word)
    return said


def run_apply(asked: Namespace) -> int:
    """Calibrate a file, or each file of a folder; what is written is there as a whole or not at all."""
    output, several = Path(asked.output), inputs.is_several([asked.file])
    in_batches = inputs.is_in_batches(asked, [asked.file])
    if in_batches:
        inputs.refuse_some_rows(asked, "Leave it out")
    if not several:
        require_free(output, force=asked.force, inputs=[asked.calibrator, asked.file])
        format_of(output)
    job = _Job(asked, load_calibrator(asked.calibrator))
    streamed = in_batches or (output.suffix.lower() != ".npz" and inputs.is_large(asked, asked.file))
    if streamed:
        require_arrow("reading files in batches")
    with progress_bar(None, show=streamed and sys.stderr.isatty(), desc="calibrating", unit="row") as advance:
        if several:
            files = files_of([asked.file])
            with whole_folder(output, inputs=[asked.file]) as beside:
                for file, name in zip(files, _names(files), strict=True):
                    if (reader := job.reader(file)) is not None:
                        (beside / name).parent.mkdir(parents=True, exist_ok=True)
                        write_table(beside / name, job.tables(reader, advance))
        elif streamed:
            write_table(output, job.tables(reader_of(files_of([asked.file])[0]), advance), force=asked.force)
        else:
            write_table(output, job.table(inputs.read(asked, asked.file, label_optional=True)), force=asked.force)
    shown = ", ".join(job.new[:3]) + (", ..." if len(job.new) > 3 else "")
    of = f"{job.n_files} file{'s' if job.n_files != 1 else ''}, " if several else ""
    print(f"wrote {output}: {of}{job.n_rows} rows{inputs.missing(*job.left_out)}, calibrated {shown}{job.beside}")
    return 0


def _names(files: list[File]) -> list[PurePosixPath]:
    """Return what stands of each path below the folder that holds all of them; what is compressed is written without."""
    paths = [PurePosixPath(file.path) for file in files]
    paths = [path.with_suffix("") if path.suffix.lower() == ".gz" else path for path in paths]
    home = paths[0].parent
    while not all(path.is_relative_to(home) for path in paths):
        home = home.parent
    return [path.relative_to(home) for path in paths]


class _Job:
    """What is calibrated, and how many rows it was so far."""

    def __init__(self, asked: Namespace, calibrator: Calibrator) -> None:
        self.asked, self.calibrator, names = asked, calibrator, columns_of(calibrator)
        asked.fitted = None if names is None else (tuple(names), calibrator.input)
        self.n_files, self.n_rows, self.left_out, self.new = 0, 0, (0, 0), list[str]()
        self.beside = ""

    def table(self, forecast: inputs.Forecast) -> FileTable:
        """Return the table with calibrated columns in the places of the forecast's; whatever else it holds stays."""
        rows, table, columns = forecast, forecast.table, forecast.forecast_columns
        n_rows = len(table.columns[columns[0]])
        if not n_rows:  # what a calibrator makes of a certain row tells the columns of an empty table
            kind = np.float32 if forecast.y_prob.dtype == np.float32 else np.float64
            certain = np.eye(1, len(columns), dtype=kind)[0] * (100 if self.asked.percent else 1)
            held = {name: Values(certain[k : k + 1]) for k, name in enumerate(columns)}
            rows = replace(forecast, table=FileTable(held))
        calibrated = rows.calibrated(self.calibrator, top=self.asked.top)
        if self.asked.top:  # in the place of the whole forecast
            new = dict(zip(("predicted", "probability"), calibrated, strict=True))
            places = {name: dict[str, Any]() for name in columns}
            places[next(name for name in table if name in columns)] = new
        else:
            turned = np.reshape(calibrated, (-1, len(columns))).T
            names = list(columns)
            if forecast.input == "logit":
                names = [f"p_{name}" for name in forecast.class_names or range(len(columns))]
            places = {old: {name: one} for old, name, one in zip(columns, names, turned, strict=True)}
        self.new = [name for of in places.values() for name in of]
        if len(columns) == 1 and (others := [name for name in alike(table, columns[0]) if name not in columns]):
            self.beside = f"; {', '.join(others[:3])} left as given"
        if taken := [name for name in self.new if name in table and name not in places]:
            got = f"{self.asked.file} already has {', '.join(taken[:3])}"
            refuse("calibrated columns need names of their own", given=got, hint="Rename or remove these columns")
        self.n_rows += n_rows
        given = [table.columns[name] for name in columns]
        decimal = "," if any(one.decimal == "," and any("," in cell for cell in one.cells()) for one in given) else "."
        made = {
            old: {name: Values(one[:n_rows], decimal=decimal) for name, one in of.items()} for old, of in places.items()
        }
        return table.replaced(made)

    def reader(self, file: File) -> Reader | None:
        """Return what reads a file, or None of one that is left out."""
        try:
            reader = reader_of(file)
            self._table(reader, reader.schema.empty_table(), file.name)  # it may lack columns
            return reader
        except ValueError as error:
            self._leave_out(error, 0)
            return None

    def tables(self, reader: Reader, advance: Advance) -> Iterator[FileTable]:
        """Yield the calibrated tables of a file, of one without rows a table without rows."""
        is_begun = False
        self.n_files += 1
        for found in ahead(reader.whole(AT_A_TIME), 1):
            if isinstance(found, Damaged):
                self._leave_out(found.error, found.n_rows)
            elif n := len(found.batch):
                try:
                    table = self._table(reader, found.batch, found.place)
                except (ValueError, TypeError) as error:
                    self._leave_out(said_at(found.place, found.row, error), n)
                    continue
                advance(n)
                is_begun = True
                yield table
        if not is_begun:
            yield self._table(reader, reader.schema.empty_table(), reader.file.name)

    def _table(self, reader: Reader, batch: Any, place: str) -> FileTable:
        table = reader.as_file_table(batch)
        found = forecast_in(table, label_optional=True, where=place, **inputs.chosen_columns(self.asked))
        if not self.new:
            inputs.say_guess(self.asked.file, found.guessed)
        return self.table(inputs.Forecast.of(replace(found, guessed=()), self.asked))

    def _leave_out(self, error: Exception, n_rows: int) -> None:
        """Raise the error, or say it and count the rows, as the command asks."""
        if self.asked.on_error == "raise":
            raise error
        self.left_out = self.left_out[0] + 1, self.left_out[1] + n_rows
        print(f"calibrant: warning: left out: {error}", file=sys.stderr)


# From the words of `calibrant fit` to a calibrator


SAFE = "safe."
"""Before the name of a parameter: it is one of `SafeCalibrator`, and not of the method inside."""

OF_A_NOTION = "beta"
"""The default of one event, with an intercept and few numbers, where ``--notion`` asks for a map of each."""

PYTHON = {"True": True, "False": False, "None": None}


def calibrator_of(asked: Namespace, chosen: Method, *, n_columns: int, **options: Any) -> Calibrator:
    """Return the calibrator of a method, not fitted yet; ``options`` say what its data are."""
    inner = [text for text in asked.set if not text.startswith(SAFE)]
    outer = [text.removeprefix(SAFE) for text in asked.set if text.startswith(SAFE)]
    method, safe = chosen
    calibrator = _with_parameters(as_calibrator(method), inner, method)
    alone, calibrator = calibrator, for_classes(calibrator, n_columns, asked.notion)
    if asked.notion and calibrator is alone:
        raise ValueError(f"--notion belongs to methods of one score; {method!r} maps all classes. Leave it out.")
    if safe and method == "safe":
        must = "--safe must stand beside a method that it makes safe"
        refuse(must, got="--method safe", hint="Leave one of them out")
    if outer and not safe:
        raise ValueError(f"--set safe.NAME=VALUE must stand beside --safe; got {outer[0]!r} without it. Add --safe.")
    if safe:
        calibrator = _with_parameters(SafeCalibrator(calibrator), outer, "safe")
    calibrator.set_params(**options)
    return calibrator


def found_notion(calibrator: Calibrator) -> Notion | None:
    """Return the notion of a fitted calibrator, if the rows decided something in it, such as groups of classes."""
    inner: Any = getattr(calibrator, "calibrator_", calibrator)
    found: Notion | None = getattr(inner, "notion_", None)
    return None if found is None or inner.notion is None or found == as_notion(inner.notion) else found


def _with_parameters(calibrator: Calibrator, settings: list[str], method: str) -> Calibrator:
    known = sorted({*calibrator.get_params(deep=False), *_parts(calibrator)} - {"input", "labels", "calibrator"})
    for text in settings:
        name, sign, value = text.partition("=")
        if not sign or name not in known:
            must = f"--set must be NAME=VALUE with a parameter of {method!r} ({', '.join(known) if known else 'it has none'})"
            see = f"Choose one of them; what they mean stands in help(calibrant.{type(calibrator).__name__})"
            refuse(must, value=text, hint=see if known else "Leave --set out")
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
