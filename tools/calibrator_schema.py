"""Write docs/_static/saved-calibrator.schema.json, the JSON Schema of saved calibrators: python -m tools.calibrator_schema

It is made of what `interop/save.py` checks a file by: the declared methods with their parameters, the annotated types of what
they fit, and the words of its format. Descriptions are those of the docstrings.
"""

import inspect
import json
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
from numpydoc.docscrape import NumpyDocString

from calibrant._core.arrays import FloatArray
from calibrant._core.border import Input
from calibrant._core.registry import Entry, entries
from calibrant._core.rows import IntArray
from calibrant.calibrators.base import BinaryCalibrator, Calibrator
from calibrant.calibrators.by_notion import ByNotion
from calibrant.interop import save
from calibrant.notions import Notion

WRITTEN = Path(__file__).parents[1] / "docs" / "_static" / "saved-calibrator.schema.json"

Schema = dict[str, Any]

JSON_TYPES: dict[Any, Schema] = {
    float: {"$ref": "#/$defs/number"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    str: {"type": "string"},
    list: {"type": "array"},
    dict: {"$ref": "#/$defs/calibrator"},
}
DETAILS: dict[str, Schema] = {
    "classes": {
        "description": "The class of each column: numbers, words or booleans; of one column, the event is the second.",
        "minItems": 2,
        "uniqueItems": True,
        "anyOf": [{"items": {"type": kind}} for kind in ("integer", "number", "string", "boolean")],
    },
    "input": {"description": "What the map takes.", "enum": list(get_args(Input))},
    "named": {"description": "Whether labels were passed, so that classes need not be sorted."},
    "columns": {"description": "Columns that were fitted: 1, or one a class.", "minimum": 1},
    "calibrator": {"description": "The map.", "required": ["fitted"]},
}
HELD = {name: JSON_TYPES[kind] | DETAILS[name] for name, kind in save.OF_CLASSES.items()}
OF_FILE = {
    "format": {"const": save.FORMAT},
    "version": {"description": "Of the format.", "type": "integer", "minimum": 1, "maximum": save.VERSION},
    "library": {"description": "What wrote the file.", "type": "string"},
    "classifier": {"description": "The estimator whose predictions were calibrated, in words.", "type": "string"},
    "column_names": {
        "description": "Names of the columns that were fitted, or null.",
        "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}],
    },
    **HELD,
    "checksum": {"description": "Of all other entries.", "type": "string", "pattern": "^sha256:[0-9a-f]{64}$"},
}


def ref(name: str, **beside: Any) -> Schema:
    """Return a reference to a definition."""
    return {"$ref": f"#/$defs/{name}", **beside}


def an_object(properties: Schema, required: Iterable[str] | None = None, **more: Any) -> Schema:
    """Return the schema of an object, of which all properties are required where nothing else is said."""
    return more | {"type": "object", "required": sorted(required or properties), "properties": properties}


def closed(properties: Schema, required: Iterable[str]) -> Schema:
    """Return the schema of an object of which a file may name no other property."""
    return {"type": "object", "required": sorted(required), "properties": properties, "additionalProperties": False}


def ours(kind: Any) -> dict[str, Entry]:
    """Return what calibrant itself declares of a kind."""
    return {name: of for name, of in entries(kind).items() if of.target.__module__.startswith("calibrant.")}


def of_type(kind: Any) -> Schema:
    """Return the schema of a value of an save.annotated type."""
    if kind in (FloatArray, IntArray):
        letter = "f" if kind == FloatArray else "i"
        return {"anyOf": [ref(name) for name in save.DTYPES if np.dtype(name).kind == letter]}
    if get_origin(kind) in (list, tuple):
        return {"type": "array", "items": of_type(get_args(kind)[0])}
    if get_origin(kind) is UnionType:
        return {"anyOf": [{"type": "null"} if one is type(None) else of_type(one) for one in get_args(kind)]}
    if kind in JSON_TYPES:
        return JSON_TYPES[kind] | ({"minimum": 0} if kind is int else {})
    if issubclass(kind, Calibrator):
        own = ref("calibrator-of-one-score" if kind is BinaryCalibrator else "calibrator", required=["fitted"])
        return an_object({"calibrator": own if kind is BinaryCalibrator else {"anyOf": [ref("for-classes"), own]}})
    if issubclass(kind, Notion):
        return ref("notion")
    fit = [name for name, of in ours("simplex-binning").items() if issubclass(of.target.cells or object, kind)]
    return ref("cells", properties={save.CELLS: {"enum": fit}})


def named(word: str, name: str, of: Entry) -> Schema:
    """Return the schema of a registered thing: its word and its parameters."""
    return an_object({word: {"const": name}, "parameters": parameters(of.target)})


def of_method(name: str, target: type[Calibrator]) -> Schema:
    """Return the schema of a calibrator: its word, its parameters, and what fitting found, unless it is not fitted."""
    made = {"method": {"const": name}, "parameters": parameters(target), "fitted": attributes(target)}
    return an_object(made, ("method", "parameters"), description=(target.__doc__ or "").splitlines()[0])


def parameters(target: Any) -> Schema:
    """Return the schema of the parameters of a class: values of any kind, since the class checks them itself."""
    given = {name: one for name, one in inspect.signature(target).parameters.items() if name not in save.ELSEWHERE}
    found = dict.fromkeys(given, ref("value"))
    for name, choose in getattr(target, "choices", {}).items():  # the fields of a choice are written as they are
        kind = get_type_hints(choose)["return"]
        written = ({one.name: {} for one in fields(of)} for of in get_args(kind) or (kind,))
        found[name] = {"anyOf": [ref("value"), *(an_object({"fields": closed(of, of)}) for of in written)]}
    return closed(found, [name for name, one in given.items() if one.default is one.empty])


def attributes(target: type[Calibrator]) -> Schema:
    """Return the schema of what fitting found, each attribute with its words in the docstring."""
    said = {
        name: " ".join([f"{one.type}.", *one.desc])
        for one in NumpyDocString(inspect.getdoc(target))["Attributes"]
        for name in one.name.split(", ")
    }
    found = {
        name: of_type(kind) | ({"description": said[name]} if name in said else {})
        for name, kind in save.annotated(target).items()
    }
    return closed(found, found)


def schema() -> Schema:
    """Return the schema of a file."""
    methods = {name: of.target for name, of in ours("calibrator").items()} | {save.BY_NOTION: ByNotion}
    made = {f"calibrator-{name}": of_method(name, target) for name, target in methods.items()}
    of_one_score = [f"calibrator-{name}" for name, target in methods.items() if issubclass(target, BinaryCalibrator)]
    registered: Schema = {kind: {"oneOf": [named(kind, *one) for one in ours(kind).items()]} for kind in save.KINDS}
    cells = [
        an_object({save.CELLS: {"const": name}, "parameters": closed(part, part)})
        for name, of in ours("simplex-binning").items()
        if (kind := of.target.cells)
        and (part := {one.name: of_type(get_type_hints(kind)[one.name]) for one in fields(kind)})
    ]
    arrays = {}
    for name, kinds in save.DTYPES.items():
        held = JSON_TYPES[float if float in kinds else min(kinds, key=str)]
        arrays[f"{name}-rows"] = {"type": "array", "items": {"anyOf": [held, ref(f"{name}-rows")]}}
        arrays[name] = an_object({"array": ref(f"{name}-rows"), "dtype": {"const": name}})
    inner = an_object({"calibrator": {"anyOf": [ref("for-classes"), ref("calibrator")]}})
    values = [{"type": kind} for kind in ("null", "boolean", "string")]
    values += [ref(name) for name in ("number", *save.DTYPES, *save.KINDS, "cells")] + [inner]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A calibrator saved by calibrant",
        **an_object(OF_FILE, OF_FILE.keys() - {"library", "classifier", "column_names"}),
        "$defs": {
            "for-classes": an_object(HELD),
            "calibrator": {"oneOf": [ref(name) for name in made]},
            "calibrator-of-one-score": {"oneOf": [ref(name) for name in of_one_score]},
            **made,
            **registered,
            "cells": {"oneOf": cells},
            "value": {"anyOf": [*values, {"type": "array", "items": ref("value")}]},
            "number": {"anyOf": [{"type": "number"}, an_object({"number": {"enum": list(save.NUMBERS)}})]},
            **arrays,
        },
    }


def text() -> str:
    """Return the file, a definition a line."""
    whole = schema()
    listed = ",\n".join(f"  {json.dumps(name)}: {json.dumps(part)}" for name, part in whole.pop("$defs").items())
    head = ",\n".join(f" {json.dumps(name)}: {json.dumps(part)}" for name, part in whole.items())
    return f'{{\n{head},\n "$defs": {{\n{listed}\n }}\n}}\n'


if __name__ == "__main__":
    WRITTEN.write_text(text(), encoding="utf-8")
