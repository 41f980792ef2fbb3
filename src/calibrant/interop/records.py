"""Records as other tools write them, which are read whole: JSON, JSON lines, and tensors of torch."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from calibrant.interop.columns import Column, FileTable, Text, Values, read_npz, require_arrow

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
    require_arrow("reading JSON")
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
    if isinstance(value, list) and len(value) > MOST_PARTS:
        yield name, json.dumps(value, ensure_ascii=False)
    elif isinstance(value, (dict, list)):
        for part, one in value.items() if isinstance(value, dict) else enumerate(value):
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
    found = torch.load(path, map_location="cpu", weights_only=True)
    named = {"tensor": found} if isinstance(found, torch.Tensor) else found
    if not isinstance(named, Mapping) or not all(isinstance(one, torch.Tensor) for one in named.values()):
        raise ValueError("it must hold a dict of tensors by their names, such as label and logits")
    exact = (torch.float64, torch.float32)
    plain = {
        str(name): (one if one.dtype in exact or not one.is_floating_point() else one.float()).detach()
        for name, one in named.items()
    }
    return FileTable({name: Values(one.numpy()) for name, one in plain.items()})


READ_WHOLE = {"npz": read_npz, "json": read_json, "jsonl": read_json_lines, "pt": read_tensors}
"""What reads a format that is read whole."""
