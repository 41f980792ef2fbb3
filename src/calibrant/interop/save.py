"""Calibrators as versioned JSON that people can read. Loading executes nothing: it only looks up registered methods."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import calibrant
from calibrant._core.arrays import FloatArray, NDArray, is_number, is_whole
from calibrant._core.border import Input
from calibrant._core.checks import are_words, choice, of_type, refuse, require, whole
from calibrant._core.checksum import checksum_of
from calibrant._core.registry import Kind, entries, find, named
from calibrant._core.rows import IntArray
from calibrant.calibrators.base import BinaryCalibrator, Calibrator
from calibrant.calibrators.by_notion import ByNotion
from calibrant.interop.writing import whole_file

if TYPE_CHECKING:
    from calibrant.calibrators.classifier import CalibratedClassifier

FORMAT = "calibrant-calibrator"
VERSION = 1
"""What this library writes. It reads all versions up to it."""

MOST_LEVELS = 64
"""Lists and objects in a file that stand in one another: some fifteen calibrators."""


# The classes of a calibrator in a file: numbers, booleans or words, each once


MOST_CHARACTERS = 1 << 22
"""Of names of classes, all as long as the longest. Above it they may hold 16 times what the names themselves do."""


def names_of(classes: NDArray[np.generic]) -> list[Any]:
    """Return the classes as what JSON can hold."""
    names: list[Any] = classes.tolist()
    must, hint = "classes must be words, numbers or booleans to be saved", "Fit with words: np.char.decode(labels)"
    require(bytes not in map(type, names), must, got=f"bytes, {shown(names)}", hint=hint, error=TypeError)
    return require_text("classes", names)


def classes_named(names: list[Any], *, in_order: bool) -> NDArray[np.generic]:
    """Return the classes as an array: numbers, booleans or words, each once."""
    kinds, got, hint = set(map(type, names)), shown(names), "Fit anew"
    is_one_kind = len(names) > 1 and kinds in ({int}, {str}, {bool}, {float})
    require(is_one_kind, "classes must be two or more numbers, booleans or words", got=got, hint=hint)
    if kinds == {str}:
        longest, all_together = max(map(len, names)), sum(map(len, names))
        is_like = longest * len(names) <= max(MOST_CHARACTERS, 16 * all_together)
        got_longest = f"{len(names)}, one with {longest} characters"
        require(is_like, "classes must be words of like lengths", got=got_longest, hint=hint)
        require_text("classes", names)
    # NumPy would take small and very large whole numbers together for fractions.
    is_large = kinds == {int} and max(names) >= 2**63 and min(names) >= 0
    try:
        classes = np.array(names, dtype=np.uint64 if is_large else np.int64 if kinds == {int} else None)
        is_finite = kinds == {str} or bool(np.isfinite(classes).all())
    except OverflowError:
        is_finite = False
    require(is_finite, "classes must be finite numbers of 64 bits, signed or unsigned", got=got, hint=hint)
    require(np.unique(classes).size == classes.size, "classes must be there once each", got=got, hint=hint)
    # Words are in the order of columns that have their names.
    is_sorted = not in_order or kinds == {str} or (classes[1:] > classes[:-1]).all()
    require(is_sorted, "classes must be sorted, since no labels were given", got=got, hint=hint)
    return classes


def require_text(what: str, names: list[Any]) -> list[Any]:
    """Refuse words that no file can hold: half of a pair of code units (a lone surrogate)."""
    lone = [word for word in map(str, names) if any("\ud800" <= letter <= "\udfff" for letter in word)]
    must, hint = f"{what} must be words that UTF-8 can encode", "Replace the lone surrogate in it"
    require(not lone, must, got=ascii("".join(lone[:1]))[:80], hint=hint)
    return names


def shown(names: list[Any]) -> str:
    """Return the first few names."""
    listed = ", ".join(repr(name)[:40] for name in names[:5])
    return f"[{listed}{', ...' if len(names) > 5 else ''}]"


# What a saved calibrator is made of, spelled out: JSON has no arrays, no infinities and no methods


OF_FLOATS, OF_INTS = frozenset({float, int}), frozenset({int})

DTYPES = {"float64": OF_FLOATS, "float32": OF_FLOATS, "int64": OF_INTS, "int32": OF_INTS, "bool": frozenset({bool})}
"""What arrays of a file may be, and what they may hold."""

NUMBERS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
"""Numbers that JSON has not."""

KINDS: tuple[Kind, ...] = ("notion", "binning", "simplex-binning")
CELLS = "cells of"
BY_NOTION = "by-notion"

OF_CLASSES: Mapping[str, type] = {"classes": list, "input": str, "named": bool, "columns": int, "calibrator": dict}
"""What a file holds of a calibrator that was fitted to classes."""

ELSEWHERE = frozenset({"input", "labels", "classes_", "n_features_in_", "feature_names_in_"})
"""What every calibrator has, and a file keeps beside its method."""


def encode(value: Any) -> Any:
    """Spell out a parameter or a fitted attribute."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": repr(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [encode(v) for v in value]
    if isinstance(value, np.ndarray) and str(value.dtype) in DTYPES:
        return {"array": encode(value.tolist()), "dtype": str(value.dtype)}
    if isinstance(value, Calibrator):
        return {"calibrator": described(value)}
    if (entry := named(type(value))) and entry.kind in KINDS:
        return {entry.kind: entry.name, "parameters": {name: encode(of) for name, of in vars(value).items()}}
    for name, binning in entries("simplex-binning").items():
        if getattr(binning.target, "cells", None) is type(value):
            return {CELLS: name, "parameters": {f.name: encode(getattr(value, f.name)) for f in fields(value)}}
    raise TypeError(
        "a saved calibrator holds numbers, strings, booleans, arrays of these, and notions, binnings and calibrators that "
        f"are registered; got {value!r}. Choose a parameter that can be written down, such as a number for a random state."
    )


def decode(value: Any) -> Any:
    """Return what is spelled out, in time and memory in proportion to it."""
    if isinstance(value, list):
        return [decode(v) for v in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return _array(value["array"], value.get("dtype"))
    if "number" in value:
        return _number(value)
    if "calibrator" in value:
        return restored(value["calibrator"])
    for kind in KINDS:
        if kind in value:
            return find(kind, value[kind]).target(**decoded(value, "parameters"))
    if CELLS not in value:
        must = "a value must be an array, a number, a binning or a calibrator"
        raise ValueError(f"{must}; got one of {sorted(value)[:5]}")
    target: Any = find("simplex-binning", value[CELLS]).target
    if target.cells is None:
        raise ValueError(f"{CELLS} must be a simplex binning whose cells can be saved; got {value[CELLS]!r}")
    return target.cells(**decoded(value, "parameters"))


def decoded(description: dict[str, Any], part: str) -> dict[str, Any]:
    """Return named values, decoded; what is wrong with one is said with its name."""
    found = {}
    for name, value in part_of(description, part, dict).items():
        try:
            found[name] = decode(value)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{name}: {error}") from error
    return found


def part_of(description: dict[str, Any], name: str, kind: type) -> Any:
    """Return a part of a description, which must be there and of its kind."""
    found = description.get(name)
    got = "nothing" if found is None else type(found).__name__
    require(type(found) is kind, f"{name} must be of type {kind.__name__}", got=got, hint="Fit anew", error=TypeError)
    return found


def _array(values: Any, dtype: Any) -> NDArray[Any]:
    """Return nested lists as an array of the dtype: its size is that of the lists."""
    if dtype not in [*DTYPES]:  # it may be anything
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}; got {dtype!r}")
    if not isinstance(values, list):
        raise TypeError(f"array must be a list; got {type(values).__name__}")
    listed = np.array(values, dtype=object)
    flat = [_number(value) if isinstance(value, dict) else value for value in listed.ravel().tolist()]
    strange = set(map(type, flat)) - DTYPES[dtype]
    if list in strange:
        raise ValueError("array must have rows of one length; got others")
    if strange:
        raise TypeError(f"array must hold {dtype} alone; got {min(kind.__name__ for kind in strange)}")
    try:
        return np.array(flat, dtype=dtype).reshape(listed.shape)
    except OverflowError:
        raise ValueError(f"array must hold numbers that are {dtype}; got larger ones") from None


def _number(value: dict[str, Any]) -> float:
    word: Any = value.get("number")
    if word not in [*NUMBERS]:  # it may be anything
        raise ValueError(f"number must be one of {', '.join(NUMBERS)}; got {word!r}")
    return NUMBERS[word]


# The fitted attributes of a calibrator: which there are, of what types, and what a file must hold of them


def restore(calibrator: Calibrator, state: Mapping[str, Any]) -> None:
    """Give a calibrator its fitted attributes; refuse those that are missing, unknown or of another type.

    A class that annotates none of its own is taken at its word: what it gives is looked at where it is used.
    """
    kinds = annotated(type(calibrator))
    if kinds and (missing := kinds.keys() - state.keys()):
        raise ValueError(f"{min(missing)} must be there; got none")
    for name, value in state.items():
        if not _is_fitted(name) or (kinds and name not in kinds):
            raise ValueError(f"{name!r} is no fitted attribute of {type(calibrator).__name__}")
        if kinds:
            _require(name, value, kinds[name])
        setattr(calibrator, name, value)


@cache
def annotated(of: type[Calibrator]) -> dict[str, Any]:
    """Return the fitted attributes that a class annotates, and their types."""
    return {name: kind for name, kind in get_type_hints(of).items() if _is_fitted(name)}


def _is_fitted(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_") and name not in ELSEWHERE


def _require(name: str, value: Any, kind: Any) -> None:
    """Refuse a value that is not of the annotated type."""
    if kind in (FloatArray, IntArray):
        letter, what = ("f", "numbers") if kind == FloatArray else ("i", "whole numbers")
        found = value.dtype if isinstance(value, np.ndarray) else type(value)
        if getattr(found, "kind", "") != letter:
            raise TypeError(f"{name} must be an array of {what}; got {getattr(found, '__name__', found)}")
    elif get_origin(kind) is list:
        _require(name, value, list)
        for one in value:
            _require(name, one, get_args(kind)[0])
    elif get_origin(kind) is UnionType:
        if value is not None:
            _require(name, value, get_args(kind)[0])
    elif kind is float:
        is_single = not isinstance(value, bool) and is_number(value)
        require(is_single, f"{name} must be a number", value=value, hint="Fit anew", error=TypeError)
    elif kind is int:
        whole(name, value, least=0, hint="Fit anew")
    elif not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__}; got {type(value).__name__}")
    elif isinstance(value, Calibrator):
        try:
            check_is_fitted(value)
        except NotFittedError:
            raise ValueError(f"{name} must be a fitted calibrator; got one that is not") from None


# From a calibrator to what JSON can hold, and back


def described(calibrator: Calibrator) -> dict[str, Any]:
    """Return the parameters of a calibrator and what fitting found: of the whole problem, of a binary one, or nothing."""
    given = {name: of for name, of in calibrator.get_params(deep=False).items() if name not in ELSEWHERE}
    method = BY_NOTION if type(calibrator) is ByNotion else getattr(named(type(calibrator)), "name", None)
    inner, hint = getattr(calibrator, "calibrator_", calibrator), "Save its calibrator_"
    if inner is calibrator:
        hint = "Declare it with calibrant.registry.declare('calibrator', ...)"
    elif inner is None:
        hint = "It leaves the forecast as it is: there is nothing to save"
    must = "the calibrator must be a registered method"
    require(method, must, got=type(calibrator).__name__, hint=hint, error=TypeError)
    objects = {name for name in calibrator.choices if is_dataclass(given[name])}
    told = {name: {"fields": vars(of)} if name in objects else encode(of) for name, of in given.items()}
    own: dict[str, Any] = {"method": method, "parameters": told}
    if state := {name: encode(of) for name, of in sorted(vars(calibrator).items()) if _is_fitted(name)}:
        own["fitted"] = state
    if not hasattr(calibrator, "classes_"):
        return own
    names, is_named = names_of(calibrator.classes_), calibrator.labels is not None
    return dict(zip(OF_CLASSES, (names, calibrator.input, is_named, int(calibrator.n_features_in_), own), strict=True))


def restored(description: Any) -> Calibrator:
    """Return the calibrator of a description; one of classes is checked by its class."""
    told = description if isinstance(description, dict) else {}
    if "classes" not in told:
        return _built(told, "probability")
    names, input, is_named, columns, own = (part_of(told, name, kind) for name, kind in OF_CLASSES.items())
    calibrator, n_classes = _built(own, input), len(names)
    calibrator.labels = names if is_named else None  # so that it can be fitted again
    calibrator.classes_, calibrator.n_features_in_ = classes_named(names, in_order=not is_named), columns
    fits = columns in (n_classes, 1 if n_classes == 2 else n_classes)
    require(fits, f"columns must be as many as classes, {n_classes}", value=columns, hint="Fit anew")
    fits, must = n_classes == 2 or not isinstance(calibrator, BinaryCalibrator), "classes must be two for "
    require(fits, must + type(calibrator).__name__, value=n_classes, hint="Fit anew")
    calibrator._check_loaded()
    return calibrator


def _built(description: dict[str, Any], input: str) -> Calibrator:
    """Return a calibrator with its parameters, and with what fitting found if that is described."""
    choice("input", input, get_args(Input))
    method = part_of(description, "method", str)
    target: Any = ByNotion if method == BY_NOTION else find("calibrator", method).target
    given, objects = part_of(description, "parameters", dict), dict[str, Any]()
    for name, choice_of in target.choices.items():
        if isinstance(given.get(name), dict):
            hint = get_type_hints(choice_of)["return"]
            own = part_of(given[name], "fields", dict)
            kinds = (kind for kind in get_args(hint) or (hint,) if {f.name for f in fields(kind)} == own.keys())
            objects[name] = next(kinds, dict)(**own)
    rest = {name: value for name, value in given.items() if name not in objects}
    told = decoded({"parameters": rest}, "parameters") | objects
    if reserved := told.keys() & ELSEWHERE:
        raise ValueError(f"parameters must not hold what stands elsewhere; got {min(reserved)}")
    if isinstance(word := told.get("calibrator"), str):
        find("calibrator", word)
    made: Calibrator = target(input=input, **told)
    if "fitted" in description:
        restore(made, decoded(description, "fitted"))
    return made


def save_calibrator(
    calibrator: Calibrator | CalibratedClassifier,
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    force: bool = False,
) -> None:
    """Write a fitted calibrator to a JSON file.

    Parameters
    ----------
    calibrator : Calibrator or CalibratedClassifier
        A fitted calibrator of calibrant. Of a fitted `CalibratedClassifier` its calibrator is saved, and the name of its
        estimator: `load_calibrator` gives the calibrator, which takes what the estimator predicts.
    path : str or path-like
        The file; it must not exist, unless ``force``. It is written beside and then renamed, so it is whole or absent.
    columns : sequence of str, optional
        Names of the columns that were fitted; by default those of the data frame that ``fit`` saw.
    force : bool, default=False
        Replace a file.

    Raises
    ------
    FileExistsError
        If the file exists.
    TypeError
        If the calibrator is not one of calibrant's registered methods, alone or in `ByNotion`.
    ValueError
        If a `CalibratedClassifier` is an ensemble, or smooths labels.
    sklearn.exceptions.NotFittedError
        If it is not fitted.

    See Also
    --------
    load_calibrator : Read it back.

    Notes
    -----
    Later versions read what earlier ones saved here. That is not promised of pickles: as scikit-learn's, they are for the
    version that wrote them.
    """
    text = json.dumps(to_document(calibrator, columns=columns), indent=2, allow_nan=False, ensure_ascii=False)
    with whole_file(path, force=force) as beside:
        beside.write_text(text + "\n", encoding="utf-8")


def load_calibrator(path: str | os.PathLike[str]) -> Calibrator:
    """Read a calibrator that `save_calibrator` wrote.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    Calibrator
        Fitted; its predictions are those of the calibrator that was saved, to the last bit.

    Raises
    ------
    ValueError
        If the file is no calibrator, was made by a newer calibrant, was changed or cut, or holds a value that no fit gives.

    See Also
    --------
    save_calibrator : Write it.

    Notes
    -----
    Time and memory are in proportion to the size of the file, whatever it holds.
    """
    return from_document(read_document(path), where=str(path))


def columns_of(calibrator: Calibrator) -> list[str] | None:
    """Return the names of the columns that were fitted, if they had names."""
    names = getattr(calibrator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _fitting(names: Any, calibrator: Calibrator) -> list[str]:
    """Return names of columns, as many as were fitted."""
    wanted = int(calibrator.n_features_in_)
    if isinstance(names, (str, Set)) or not isinstance(names, Iterable):  # a set has no order
        raise TypeError(f"columns must be a sequence of {wanted} names; got {names!r}. Pass a list.")
    listed = require_text("column_names", [str(name) for name in names])
    must, got = f"columns must name each of the {wanted} columns that were fitted", str(len(listed))
    require(len(listed) == wanted, must, got=got, hint="Pass them in their order")
    return listed


def to_document(
    calibrator: Calibrator | CalibratedClassifier, *, columns: Sequence[str] | None = None
) -> dict[str, Any]:
    """Return a fitted calibrator as what JSON can hold."""
    calibrator, classifier = parts_of(calibrator)
    body = {
        "format": FORMAT,
        "version": VERSION,
        "library": f"calibrant {calibrant.__version__}",
        **({"classifier": classifier} if classifier else {}),
        "column_names": columns_of(calibrator) if columns is None else _fitting(columns, calibrator),
        **described(calibrator),
    }
    return body | {"checksum": checksum_of(body)}


def parts_of(calibrator: Calibrator | CalibratedClassifier) -> tuple[Calibrator, str]:
    """Return a fitted calibrator and no word; of a `CalibratedClassifier` its calibrator, and its estimator in words."""
    from calibrant.calibrators.classifier import CalibratedClassifier  # trains models: loading a file needs none of it

    wanted, hint = "a fitted calibrator", "Fit one of calibrant, or load it: load_calibrator('calibrator.json')"
    of_type("calibrator", calibrator, (Calibrator, CalibratedClassifier), wanted, hint=hint)
    check_is_fitted(calibrator)
    if isinstance(calibrator, Calibrator):
        return calibrator, ""
    pairs, smoothing = calibrator.pairs_, calibrator.label_smoothing
    must = "a classifier leaves Python by the calibrator that makes its probabilities: it must have one, and no label smoothing"
    got, hint = f"{len(pairs)}, label_smoothing={smoothing}", "Fit with ensemble=False, label_smoothing=0.0"
    require(len(pairs) == 1 and not smoothing, must, got=got, hint=hint)
    estimator, own = pairs[0]
    return own, " ".join(repr(estimator).split())


def from_document(document: Any, *, where: str = "the document") -> Calibrator:
    """Return the calibrator that a document describes."""
    require_document(document, where)
    try:
        part_of(document, "classes", list)
        calibrator = restored(document)
        if (names := document.get("column_names")) is not None:
            fits = isinstance(names, list) and are_words(names)
            must, kind = "column_names must be a list of words", type(names).__name__
            require(fits, must, got=kind, hint="Fit anew", error=TypeError)
            calibrator.feature_names_in_ = np.array(_fitting(names, calibrator), dtype=object)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        found = " ".join(str(error).split()).removesuffix(".").removesuffix("Fit anew").rstrip(". ")
        shown = found if len(found) <= 800 else f"{found[:600]} ... {found[-100:]}"
        must = f"{where} must describe a calibrator fully"
        raise ValueError(f"{must}; got one that does not: {shown}. Fit anew.") from error
    return calibrator


def read_document(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what the file of a calibrator holds, as it was written."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:  # no UTF-8, no JSON, or a number of thousands of digits
        must = f"{path} must be a calibrator file (JSON)"
        raise ValueError(f"{must}; it is not: {error}. Was it cut or overwritten?") from None
    except OSError as error:
        must = "the calibrator must be a file that can be read"
        refuse(must, got=f"{path}: {error.strerror}", hint="Check the path", error=type(error))
    return require_document(document, str(path))


def require_document(document: Any, where: str) -> dict[str, Any]:
    """Return a document whose format, version, depth and checksum are right."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f"{where} must be a calibrator file; it holds something else. Make one with `calibrant fit`.")
    version = document.get("version")
    library = " ".join(str(document.get("library", "an unknown library")).split())[:40]
    if not is_whole(version) or version < 1:
        must, got = f"{where} must have a version from 1 to {VERSION}", f"{version!r:.40} (written by {library})"
        refuse(must, got=got, hint="Fit anew")
    if version > VERSION:
        raise ValueError(
            f"{where} must have a version up to {VERSION}; got {version!r:.40}: it was made by a newer calibrant ({library}). "
            "Update: pip install --upgrade calibrant."
        )
    _require_levels(document, where)
    if document.get("checksum") != checksum_of(document):
        raise ValueError(f"{where} must match its checksum; it does not. It was changed or damaged: fit anew.")
    return document


def _require_levels(document: dict[str, Any], where: str) -> None:
    """Refuse what is nested too deeply, level by level: nothing that follows needs a depth of its own."""
    level: list[Any] = [document]
    for _ in range(MOST_LEVELS):
        inner = [part.values() if isinstance(part, dict) else part for part in level]
        level = [part for parts in inner for part in parts if isinstance(part, (dict, list))]
        if not level:
            return
    raise ValueError(f"{where} must have at most {MOST_LEVELS} levels; it has more. Fit anew.")
