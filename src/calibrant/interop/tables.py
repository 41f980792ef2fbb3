"""Tables in files: columns are copied as they stand, and parsed only where they are asked for.

NPZ needs NumPy alone, and so does writing CSV; the rest needs pyarrow, of the extra `table`.
"""

from __future__ import annotations

import csv
import fnmatch
import io
import json
import os
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from calibrant._core.arrays import NUMERIC, FloatArray, is_number, stacked
from calibrant._core.border import Input, as_labels, bare, classes_named
from calibrant._core.checks import by_name, warn
from calibrant.interop import columns as _columns
from calibrant.interop.columns import Array, Column, FileTable, Text, Values
from calibrant.interop.readers import read_whole, readable
from calibrant.interop.writing import format_of, whole_file

# Records as other tools write them, which are read whole: JSON, JSON lines, and tensors of torch


MOST_PARTS = 1000
"""Items of a list up to which each is a column; a longer one, such as all tokens of an answer, is text."""

ROWS_OF = "samples"
"""Where a JSON document has several lists of objects, the one whose objects are the rows, as in logs of evaluations."""

Record = Mapping[str, Any]


def read_json_lines(path: Path) -> FileTable:
    """Return the columns of a file with a JSON object on each line."""
    records: list[Record] = []
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").split("\n"), start=1):
        if line.strip():
            records.append(_record(_parsed(line, f"line {number}"), f"line {number}"))
    return table_of(records)


def read_json(path: Path) -> FileTable:
    """Return the columns of a JSON document: a list of objects, an object that has such a list, or an object of lists."""
    try:
        found = _parsed(path.read_text(encoding="utf-8-sig"), "the document")
    except ValueError as error:
        if "Extra data" in str(error):  # an object on each line
            return read_json_lines(path)
        raise
    if isinstance(found, dict):
        lists = {name: one for name, one in found.items() if isinstance(one, list)}
        of_objects = [name for name, one in lists.items() if one and all(isinstance(item, dict) for item in one)]
        if ROWS_OF not in of_objects and 1 < len(lists) == len(found) and len({*map(len, lists.values())}) == 1:
            return table_of([dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)])
        if ROWS_OF in of_objects or len(of_objects) == 1:
            found = lists[ROWS_OF if ROWS_OF in of_objects else of_objects[0]]
    if not isinstance(found, list):
        raise ValueError("it must hold a list of objects, one a row, alone or as one part of an object")
    return table_of([_record(item, f"item {number}") for number, item in enumerate(found)])


def _parsed(text: str, place: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{place} is no JSON: {error}") from error


def _object(pairs: list[tuple[str, Any]]) -> Record:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"an object has one of its names twice: {', '.join(name for name, _ in pairs[:5])}")
    return found


def _record(found: Any, place: str) -> Record:
    if not isinstance(found, dict):
        raise ValueError(f"{place} must be an object, with a name for each value; it is {type(found).__name__}")
    return found


def table_of(records: list[Record]) -> FileTable:
    """Return a column for each path in records, such as ``scores.match.value`` or ``resps.0``."""
    _columns.require_arrow("reading JSON")
    columns: dict[str, list[Any]] = {}
    for number, record in enumerate(records):
        for name, value in _parts(record, ""):
            if (column := columns.get(name)) is None:
                column = columns[name] = [None] * number
            if len(column) > number:
                raise ValueError(f"row {number} has {name!r} twice, once as a part of a part")
            column.append(value)
        for column in columns.values():
            if len(column) == number:
                column.append(None)
    return FileTable({name: _column(column) for name, column in columns.items()})


def _parts(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, list):
        value = dict(enumerate(value)) if len(value) <= MOST_PARTS else json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        for part, one in value.items():
            yield from _parts(one, f"{name}.{part}" if name else str(part))
    else:
        yield name, value


def _column(values: list[Any]) -> Column:
    """Return numbers and truth values as they are; all else as the text of a CSV file, of which words may be numbers.

    Whole numbers beside others, or beside missing ones, are text as well: as floats they would be written in another form.
    """
    kinds = {type(value) for value in values}
    if kinds <= {bool} or kinds <= {int}:
        numbers = np.array(values)
        if numbers.dtype.kind in "bi":
            return Values(numbers)
    elif kinds <= {float, type(None)} and kinds != {type(None)}:
        return Values(np.array([np.nan if value is None else value for value in values], dtype=np.float64))
    words = {True: "true", False: "false"}
    return Text(["" if one is None else words[one] if isinstance(one, bool) else str(one) for one in values])


def read_tensors(path: Path) -> FileTable:
    """Return the tensors of a file of torch by their names; nothing else in it is loaded."""
    try:
        torch: Any = import_module("torch")
    except ImportError as error:
        raise ImportError("reading tensors needs torch; it is not installed. pip install torch") from error
    named = by_name(torch.load(path, map_location="cpu", weights_only=True), "tensor")
    if not all(isinstance(one, torch.Tensor) for one in named.values()):
        raise ValueError("it must hold a dict of tensors by their names, such as label and logits")
    exact = (torch.float64, torch.float32)
    plain = {
        str(name): (one if one.dtype in exact or not one.is_floating_point() else one.float()).detach()
        for name, one in named.items()
    }
    return FileTable({name: Values(one.numpy()) for name, one in plain.items()})


READ_WHOLE = {"npz": _columns.read_npz, "json": read_json, "jsonl": read_json_lines, "pt": read_tensors}
"""What reads a format that is read whole."""


# Reading


def read_table(path: str | os.PathLike[str], *, may_be_empty: bool = False) -> FileTable:
    """Read a file as columns by name; one without rows is refused, unless it may be empty."""
    source = Path(path)
    if source.is_dir():
        raise IsADirectoryError(f"a table must be a file; got the directory {source}. Name a file in it.")
    if not source.exists():
        raise FileNotFoundError(f"the file must exist; got {source}. Check the path.")
    kind = format_of(source, reading=True)
    if source.stat().st_size == 0:
        raise ValueError(f"{source} must hold a table; it is empty. Check how it was written.")
    if kind in READ_WHOLE:
        with readable(str(source), kind):
            table = READ_WHOLE[kind](source)
    else:
        table = read_whole(source)
    if not may_be_empty and not any(map(len, table.columns.values())):
        raise ValueError(f"{source} must hold at least one row; it has none. Check how it was written.")
    return table


# Writing


def write_table(
    path: str | os.PathLike[str], table: Mapping[str, Array] | Iterator[FileTable], *, force: bool = False
) -> None:
    """Write columns, or tables one after the other, to a file that is there as a whole or not at all.

    Tables have the types of the first.
    """
    kind = format_of(path)
    if is_whole := isinstance(table, Mapping):
        whole = table if isinstance(table, FileTable) else FileTable({name: Values(c) for name, c in table.items()})
        tables = iter([whole])
    elif kind == "npz":
        must = "the output must be Parquet, Feather or CSV where rows are read in batches"
        raise ValueError(f"{must}; got {path}. Rename it.")
    else:
        tables = table
    with whole_file(path, force=force) as beside, ExitStack() as opened:
        writer: Any = None
        schema: Any = None
        for one in tables:
            try:
                if kind == "npz":
                    _write_npz(beside, one)
                elif kind == "csv":
                    names = writer is None
                    writer = writer or opened.enter_context(beside.open("w", newline="", encoding="utf-8"))
                    write_rows(writer, one, names=names)
                else:
                    arrow = arrow_of(one, path, keep_codes=is_whole)
                    schema = schema or arrow.schema
                    writer = writer or opened.enter_context(_arrow_writer(beside, kind, schema))
                    writer.write_table(arrow.cast(schema))
            except (OSError, ImportError):
                raise
            except Exception as error:  # pyarrow has errors of its own, also for a full disk
                raise ValueError(
                    f"the table must be writable as {kind}; {path} could not be: {_columns.first_line(error)}. "
                    "Make room, drop the column, or choose another format."
                ) from error


def _arrow_writer(path: Path, kind: str, schema: Any) -> Any:
    from pyarrow import ipc, parquet

    if kind == "parquet":
        return parquet.ParquetWriter(path, schema)
    return ipc.new_file(str(path), schema, options=ipc.IpcWriteOptions(compression="lz4"))


def _write_npz(path: Path, table: FileTable) -> None:
    arrays: dict[str, Any] = {name: np.asarray(table[name]) for name in table}
    if mixed := [name for name, array in arrays.items() if array.dtype == object]:
        raise TypeError(f"NPZ has no arrays for the column {mixed[0]!r}, which holds more than numbers or words")
    # In memory: of a file that a signal closes the half-made archive would complain. numpy.savez has names of its own.
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, array, allow_pickle=False)
    path.write_bytes(packed.getbuffer())


def write_rows(target: TextIO, table: FileTable, *, names: bool) -> None:
    """Write the rows of a table as lines of CSV, with the names before them or without."""
    cells = list(table.each(lambda column: column.cells()).values())
    # Before Python 3.13 a cell with a carriage return gets quotes only if all do.
    has_returns = any("\r" in cell for cell in chain(table, *cells))
    quoting: Any = csv.QUOTE_ALL if has_returns else csv.QUOTE_MINIMAL
    writer = csv.writer(target, lineterminator="\n", delimiter=table.separator, quoting=quoting)
    if names:
        writer.writerow(table)
    writer.writerows(zip(*cells, strict=True))


def arrow_of(table: FileTable, path: str | os.PathLike[str], *, keep_codes: bool) -> Any:
    """Return columns as a table of pyarrow, with what is said of them in their file.

    Without ``keep_codes`` words stand in place of their codes: in a file of batches each has its own.
    """
    _columns.require_arrow(f"writing {Path(path).suffix.lstrip('.')}")
    import pyarrow
    from pyarrow import types

    arrays = table.each(lambda column: column.arrow())
    fields = [
        pyarrow.field(name, array.type) if column.field is None else column.field
        for (name, column), array in zip(table.columns.items(), arrays.values(), strict=True)
    ]
    found = pyarrow.table(list(arrays.values()), schema=pyarrow.schema(fields, metadata=dict(table.metadata) or None))
    if keep_codes:
        return found
    plain = [one.with_type(one.type.value_type) if types.is_dictionary(one.type) else one for one in found.schema]
    return found.cast(pyarrow.schema(plain, metadata=found.schema.metadata))


# A forecast in a file: which of its columns are the labels and the probabilities


LABEL_NAMES = ("label", "y", "y_true", "target", "class", "truth", "labels", "targets")
PROB_PATTERNS = ("p_*", "prob_*", "proba_*", "P", "prob", "probs", "proba", "p", "y_prob", "score", "confidence")
LOGIT_PATTERNS = ("z_*", "logit_*", "logits", "z", "logit")


@dataclass(frozen=True, eq=False)
class ForecastTable:
    """A forecast read from a file, and the names of its columns."""

    table: FileTable
    label_column: str | None
    forecast_columns: tuple[str, ...]
    input: Input
    guessed: tuple[str, ...]
    file: str = "the file"

    @property
    def y_true(self) -> Array:
        """The labels; bytes are the text that they are in UTF-8."""
        if self.label_column is None:
            raise ValueError("the file must have a label column; none was found. Name it with --label.")
        truth = self.table[self.label_column]
        return np.char.decode(truth, "utf-8") if truth.dtype.kind == "S" else truth

    @property
    def y_prob(self) -> FloatArray | Array:
        """The forecast: one column as a vector, several as a table."""
        columns = [self.table.numbers(name) for name in self.forecast_columns]
        return columns[0] if len(columns) == 1 else stacked(columns)

    @property
    def n_classes(self) -> int:
        """Number of columns."""
        return len(self.forecast_columns)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y_true)

    @property
    def class_names(self) -> list[str] | None:
        """What is left of the column names without their common prefix, if that names every column once."""
        return None if len(self.forecast_columns) < 2 else bare(self.forecast_columns)

    def labels(self) -> list[Any] | None:
        """Classes in column order where the column names say so; words that no column is named after are refused."""
        names = self.class_names
        if names is None or self.label_column is None:
            return None
        known, seen = classes_named(names, truth := as_labels(self.y_true)), set(np.unique(truth).tolist())
        if known is None or seen <= set(known):
            return known
        if seen <= set(self.forecast_columns):  # with their prefix
            return list(self.forecast_columns)
        raise ValueError(
            f"labels must be names of columns; got {_listed(sorted(seen - set(known)), 5)} and columns named "
            f"{_listed(names, 5)}. Name the class of each column, in column order: --classes A,B,..."
        )


def read_forecast(path: str | os.PathLike[str], *, rows: slice = slice(None), **chosen: Any) -> ForecastTable:
    """Read a file and choose its columns: as told, or by guesses that are reported and refused when ambiguous."""
    return forecast_in(read_table(path), rows=rows, where=str(path), **chosen)


def forecast_in(whole: FileTable, *, rows: slice = slice(None), where: str, **chosen: Any) -> ForecastTable:
    """Return the forecast that a table holds: its columns are those that `choose_columns` chooses, and are numbers."""
    found = choose_columns(whole, where=where, **chosen)
    names = found.forecast_columns
    for name in names:
        if (axes := whole.axes(name)) not in (1, 2):
            raise ValueError(
                f"{where} must hold an array of one or two axes in {name!r}; got one of {axes}. "
                "Choose another with --prob or --logit."
            )
    _require_one_length(whole, [*names, *([] if found.label_column is None else [found.label_column])], where=where)
    n_rows = len(whole.columns[names[0]])
    if others := {name for name, column in whole.columns.items() if len(column) != n_rows}:
        shown = ", ".join(map(repr, sorted(others)[:3]))
        warn(f"{where} is read without the arrays {shown}, {len(others)} in all, which have another number of rows.")
    table = whole.without(others).taken(rows)
    for name in names:
        if len(table.columns[name]) and table.numbers(name).dtype.kind not in NUMERIC:
            row, cell = _wrong_cell(table, name)
            raise _columns.no_number(cell, name, where=where, row=(rows.start or 0) + row)
    # An NPZ holds a table of probabilities as one array: it is unpacked into columns, so that all files look alike.
    places: dict[str, dict[str, Column]] = {
        name: {f"{name}_{k}": Values(column) for k, column in enumerate(table[name].T)}
        for name in names
        if table.axes(name) == 2
    }
    unpacked = [new for name in names for new in places.get(name, [name])]
    return replace(found, table=table.replaced(places), forecast_columns=tuple(unpacked))


def choose_columns(
    whole: FileTable,
    *,
    label: str | None = None,
    prob: str | Sequence[str] | None = None,
    logit: str | Sequence[str] | None = None,
    fitted: tuple[tuple[str, ...], Input] | None = None,
    label_optional: bool = False,
    beside: Collection[str] = (),
    where: str,
) -> ForecastTable:
    """Choose the columns of a table, by their names alone; those that a calibrator was fitted to are not guessed.

    Columns ``beside`` the forecast, such as weights, are no part of it where they are not named for one.
    """
    guessed: list[str] = []
    label_column = _choose_label(whole, label, guessed, optional=label_optional, where=where)
    if prob is not None and logit is not None:
        raise ValueError("a forecast is probabilities or logits; got --prob and --logit. Pass one of them.")
    rest = [name for name in whole if name != label_column]
    if prob is not None or logit is not None:
        wanted = prob or logit or ""
        said = words_in(wanted) if isinstance(wanted, str) else wanted
        found = select(rest, wanted, where=where)
        chosen = tuple(name for name in found if name not in beside or name in said)
        input: Input = "probability" if prob is not None else "logit"
    else:
        if fitted is None or not set(fitted[0]) <= set(rest):
            fitted = _guess_forecast(
                [name for name in rest if whole.axes(name) in (1, 2) and name not in beside], where=where
            )
        chosen, input = fitted
        guessed.append(f"{input} {_span(chosen)}")
    return ForecastTable(whole, label_column, chosen, input, tuple(guessed), where)


def _wrong_cell(table: FileTable, name: str) -> tuple[int, Any]:
    """Return the first cell that is no number, and its row; in a column of another type that is any cell."""
    column = table.columns[name]
    if isinstance(column, Text):
        return column.wrong_cell()
    listed = table[name].ravel().tolist()
    known = (_columns.is_figure(value) if isinstance(value, str) else is_number(value) for value in listed)
    at = next((i for i, is_known in enumerate(known) if not is_known), 0)
    return at // (len(listed) // len(column)), listed[at]


def _require_one_length(table: FileTable, names: Sequence[str], *, where: str) -> None:
    """Refuse arrays of an NPZ file that are no columns of one table."""
    lengths = {name: len(table.columns[name]) for name in names}
    other = next((name for name in names if lengths[name] != lengths[names[0]]), None)
    if other is not None:
        raise ValueError(
            f"{where} must hold as many rows in {names[0]!r} as in {other!r}; got {lengths[names[0]]} and {lengths[other]}. "
            "Choose others with --label, --prob or --logit."
        )


def words_in(text: str) -> list[str]:
    """Return the words between commas; one that has a comma itself stands in quotes, as in a CSV file."""
    if '"' not in text:
        return [word.strip() for word in text.split(",")]
    return [word.strip() for word in next(csv.reader(io.StringIO(text, newline=""), skipinitialspace=True))]


def in_one_text(words: Iterable[str]) -> str:
    """Return words as `words_in` reads them."""
    return ",".join('"' + word.replace('"', '""') + '"' if set(word) & {",", '"'} else word for word in words)


def select(names: Sequence[str], wanted: str | Sequence[str], *, where: str) -> tuple[str, ...]:
    """Choose columns by names between commas, globs (``p_*``) or ranges (``first:last``), in the order named; or by a list."""
    chosen: list[str] = []
    for word in words_in(wanted) if isinstance(wanted, str) else map(str, wanted):
        if word in names:
            chosen.append(word)
        elif ":" in word and all(end in names for end in word.split(":", 1)):
            first, last = (names.index(end) for end in word.split(":", 1))
            if first > last:
                must, hint = "a range of columns must run in the file's order", "Turn it round, or name the columns."
                raise ValueError(f"{must}; got {word!r}. {hint}")
            chosen += names[first : last + 1]
        elif found := fnmatch.filter(names, word):
            chosen += found
        else:
            raise ValueError(f"{where} must have the column {word!r}; it has {_listed(names)}. Name one of these.")
    return tuple(dict.fromkeys(chosen))


def select_one(names: Sequence[str], wanted: str, option: str, *, where: str) -> str:
    """Choose the column of an option that takes one."""
    chosen = select(names, wanted, where=where)
    if len(chosen) > 1:
        must, got = f"{option} must name one column of {where}", f"{wanted!r}, which names {_listed(chosen, 5)}"
        raise ValueError(f"{must}; got {got}. Name one of these.")
    return chosen[0]


# Guesses


def _choose_label(table: FileTable, label: str | None, guessed: list[str], *, optional: bool, where: str) -> str | None:
    if label is not None:
        return select_one(list(table), label, "--label", where=where)
    found = [name for name in table if name.lower() in LABEL_NAMES and table.axes(name) in (1, 2)]
    if len(found) > 1:
        raise ValueError(f"the label column must be clear; {where} has {_listed(found)}. Name it with --label.")
    if not found:
        if optional:
            return None
        hint = "Name it with --label, or with --correct if it says which answers are correct."
        raise ValueError(f"{where} must have a label column; it has {_listed(list(table))}. {hint}")
    guessed.append(f"label {found[0]!r}")
    return found[0]


def alike(names: Iterable[str], name: str) -> list[str]:
    """Return the names of the usual pattern of a name of forecast columns, such as all of p_*."""
    patterns = [pattern for pattern in PROB_PATTERNS + LOGIT_PATTERNS if fnmatch.fnmatchcase(name, pattern)]
    return fnmatch.filter(names, patterns[0]) if patterns else []


def _guess_forecast(names: Sequence[str], *, where: str) -> tuple[tuple[str, ...], Input]:
    kinds: tuple[tuple[Sequence[str], Input], ...] = ((PROB_PATTERNS, "probability"), (LOGIT_PATTERNS, "logit"))
    candidates = [(tuple(fnmatch.filter(names, one)), input) for patterns, input in kinds for one in patterns]
    distinct = list(dict.fromkeys(candidate for candidate in candidates if candidate[0]))
    if len(distinct) == 1:
        return distinct[0]
    if not distinct:
        must, hint = f"{where} must have forecast columns", "Name them with --prob 'p_*' or --logit 'z_*'."
        raise ValueError(f"{must}; it has {_listed(names)}. {hint}")
    options = " or ".join(f"{input} {_span(columns)}" for columns, input in distinct)
    must = f"the forecast columns of {where} must be clear"
    raise ValueError(f"{must}; they could be {options}. Say with --prob or --logit.")


def _span(columns: Sequence[str]) -> str:
    return repr(columns[0]) if len(columns) == 1 else f"{columns[0]!r} to {columns[-1]!r} ({len(columns)} columns)"


def _listed(names: Sequence[str], most: int = 12) -> str:
    return ", ".join(map(repr, names[:most])) + (f", ... ({len(names)} in all)" if len(names) > most else "")
