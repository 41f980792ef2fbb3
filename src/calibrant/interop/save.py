"""Calibrators as versioned JSON that people can read. Loading executes nothing: it only looks up registered methods."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import fields
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar, cast, get_type_hints

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import calibrant
from calibrant._core.arrays import FloatArray, is_number
from calibrant._core.checks import choice, flag, require, whole
from calibrant._core.checksum import checksum_of
from calibrant._core.registry import Kind, entries, find, named
from calibrant._core.rows import Forecast, IntArray
from calibrant.binning import Binning, Partition
from calibrant.binning.cells import SimplexBinning
from calibrant.calibrators.base import Calibrator
from calibrant.calibrators.by_notion import ByNotion
from calibrant.interop.writing import whole_file
from calibrant.notions import Notion, as_notion

# The classes of a calibrator in a file: numbers, booleans or words, each once


MOST_CHARACTERS = 1 << 22
"""Of names of classes, all as long as the longest. Above it they may hold 16 times what the names themselves do."""


def names_of(classes: npt.NDArray[np.generic]) -> list[Any]:
    """Return the classes as what JSON can hold."""
    names: list[Any] = classes.tolist()
    if any(isinstance(name, bytes) for name in names):
        raise TypeError(
            f"classes must be words, numbers or booleans to be saved; got bytes, {shown(names)}. "
            "Fit with words: np.char.decode(labels)."
        )
    require_text("classes", [name for name in names if isinstance(name, str)])
    return names


def classes_named(names: list[Any], *, in_order: bool) -> npt.NDArray[np.generic]:
    """Return the classes as an array: numbers, booleans or words, each once."""
    kinds, found = set(map(type, names)), shown(names)
    if len(names) < 2 or kinds not in ({int}, {str}, {bool}, {float}):
        raise ValueError(f"classes must be two or more numbers, booleans or words; got {found}")
    if kinds == {str}:
        longest, all_together = max(map(len, names)), sum(map(len, names))
        if longest * len(names) > max(MOST_CHARACTERS, 16 * all_together):
            raise ValueError(f"classes must be words of like lengths; got {len(names)}, one with {longest} characters")
        require_text("classes", names)
    try:
        classes = np.array(names, dtype=_whole_kind(names) if kinds == {int} else None)
    except OverflowError:
        raise ValueError(f"classes must be finite numbers of 64 bits, signed or unsigned; got {found}") from None
    if kinds == {float} and not np.isfinite(classes).all():
        raise ValueError(f"classes must be finite numbers of 64 bits; got {found}")
    if np.unique(classes).size < classes.size:
        raise ValueError(f"classes must be there once each; got one again among {found}")
    # Words are in the order of columns that have their names.
    if in_order and kinds != {str} and not (classes[1:] > classes[:-1]).all():
        raise ValueError(f"classes must be sorted, since no labels were given; got {found}")
    return classes


def _whole_kind(names: list[int]) -> type[np.integer[Any]]:
    """Return the type of whole numbers: NumPy would take small and very large ones together for fractions."""
    return np.uint64 if max(names) >= 2**63 and min(names) >= 0 else np.int64


def require_text(what: str, words: list[str]) -> None:
    """Refuse words that no file can hold: half of a pair of code units (a lone surrogate)."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            raise ValueError(
                f"{what} must be words that UTF-8 can encode; got {ascii(word)[:80]}. Replace the lone surrogate in it."
            ) from None


def shown(names: list[Any]) -> str:
    """Return the first few names."""
    listed = ", ".join(repr(name)[:40] for name in names[:5])
    return f"[{listed}{', ...' if len(names) > 5 else ''}]"


# Names that saved calibrators have and the library has no more. A rename is one line of `OLD_NAMES`, and files outlive it


OLD_NAMES: dict[str, str | None] = {}
"""What was called otherwise before: old to new.

    "calibrator/histogram": "histogram-binning"                       a word by which something is declared
    "binning/equal-mass/bins": "n_bins"                               a parameter, of the word of today
    "calibrator/temperature/T_": "temperature_"                       a fitted attribute
    "calibrator/temperature/solver": None                             a parameter or attribute that is there no more

Kinds are those of `calibrant.declare`, and "cells of" for the cells of a simplex binning. A class may change its name as it
likes: files hold the words. A parameter that is new, and whose default changes old maps, has its old value in ``unstored``.
"""


def current(kind: str, name: Any) -> Any:
    """Return the word of today for one that a file holds."""
    return OLD_NAMES.get(f"{kind}/{name}", name) if isinstance(name, str) else name


def renamed(kind: str, name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters or fitted attributes of something under the names of today."""
    named = {OLD_NAMES.get(f"{kind}/{name}/{key}", key): value for key, value in values.items()}
    return {key: value for key, value in named.items() if key is not None}


# What a saved calibrator is made of, spelled out: JSON has no arrays, no infinities and no methods


DTYPES = {
    "float64": (float, int),
    "float32": (float, int),
    "int64": (int,),
    "int32": (int,),
    "bool": (bool,),
}
"""What arrays of a file may be, and what they may hold."""

MOST_AXES = 3

NUMBERS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
"""Numbers that JSON has not."""

KINDS: tuple[Kind, ...] = ("binning", "simplex-binning")
CELLS = "cells of"


def encode(value: Any, of_calibrator: Callable[[Calibrator], dict[str, Any]]) -> Any:
    """Spell out a value; ``of_calibrator`` describes a calibrator that another one holds."""
    if isinstance(value, Calibrator):
        return {"calibrator": of_calibrator(value)}
    if isinstance(value, (Binning, SimplexBinning)) and (entry := named(type(value))):
        return {entry.kind: entry.name, "parameters": {k: encode(v, of_calibrator) for k, v in vars(value).items()}}
    if isinstance(value, Partition) and (name := _binning_of(value)):
        names = (field.name for field in fields(cast(Any, value)))
        return {CELLS: name, "parameters": {k: encode(getattr(value, k), of_calibrator) for k in names}}
    if isinstance(value, np.ndarray) and str(value.dtype) in DTYPES:
        return {"array": [encode(v, of_calibrator) for v in value.tolist()], "dtype": str(value.dtype)}
    if isinstance(value, np.generic):
        return encode(value.item(), of_calibrator)
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": repr(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [encode(v, of_calibrator) for v in value]
    raise TypeError(
        "a saved calibrator holds numbers, strings, booleans, arrays of these, and binnings and calibrators that are "
        f"registered; got {value!r}. Choose a parameter that can be written down, such as a number for a random state."
    )


def decode(value: Any, to_calibrator: Callable[[Any], Calibrator]) -> Any:
    """Return what is spelled out, in time and memory in proportion to it; ``to_calibrator`` builds a calibrator."""
    if isinstance(value, list):
        return [decode(v, to_calibrator) for v in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return _array(value["array"], value.get("dtype"))
    if "number" in value:
        return _number(value)
    if "calibrator" in value:
        return to_calibrator(value["calibrator"])
    for kind in (*KINDS, CELLS):
        if kind in value:
            return _made(kind, current(kind, value[kind]), value.get("parameters"), to_calibrator)
    raise ValueError(f"a value must be an array, a number, a binning or a calibrator; got one of {sorted(value)[:5]}")


def _made(kind: str, name: Any, parameters: Any, to_calibrator: Callable[[Any], Calibrator]) -> Any:
    """Make a binning, or the cells of one, of its parameters."""
    if not isinstance(name, str) or not isinstance(parameters, dict):
        raise TypeError(f"{kind} must be a word with parameters; got {name!r}")
    target: Any = find("simplex-binning" if kind == CELLS else cast(Kind, kind), name).target
    if kind == CELLS and (target := target.cells) is None:
        raise ValueError(f"{CELLS} must be a simplex binning whose cells can be saved; got {name!r}")
    return target(**{k: decode(v, to_calibrator) for k, v in renamed(kind, name, parameters).items()})


def _array(values: Any, dtype: Any) -> npt.NDArray[Any]:
    """Return nested lists as an array of the dtype: its size is that of the lists."""
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}; got {dtype!r}")
    flat, shape = _flat(values)
    if dtype.startswith("float"):
        flat = [_number(value) if isinstance(value, dict) else value for value in flat]
    if strange := set(map(type, flat)) - set(DTYPES[dtype]):
        raise TypeError(f"array must hold {dtype} alone; got {min(kind.__name__ for kind in strange)}")
    try:
        return np.array(flat, dtype=dtype).reshape(shape)
    except OverflowError:
        raise ValueError(f"array must hold numbers that are {dtype}; got larger ones") from None


def _flat(values: Any) -> tuple[list[Any], list[int]]:
    """Return what nested lists hold, and their shape."""
    if not isinstance(values, list):
        raise TypeError(f"array must be a list; got {type(values).__name__}")
    flat, shape = values, [len(values)]
    while flat and isinstance(flat[0], list):
        size = len(flat[0])
        if len(shape) == MOST_AXES or not all(isinstance(row, list) and len(row) == size for row in flat):
            raise ValueError(f"array must have rows of one length, and at most {MOST_AXES} axes; got others")
        flat, shape = list(chain.from_iterable(flat)), [*shape, size]
    return flat, shape


def _number(value: dict[str, Any]) -> float:
    word = value.get("number")
    if not isinstance(word, str) or word not in NUMBERS:
        raise ValueError(f"number must be one of {', '.join(NUMBERS)}; got {word!r}")
    return NUMBERS[word]


def _binning_of(partition: Partition) -> str | None:
    """Return the name of the registered simplex binning whose cells these are."""
    known = entries("simplex-binning").items()
    return next((name for name, entry in known if getattr(entry.target, "cells", None) is type(partition)), None)


# The fitted attributes of a calibrator: which there are, of what types, and what a file must hold of them


OF_EACH = frozenset({"classes_", "n_features_in_", "feature_names_in_"})
"""What every calibrator has, and a file keeps elsewhere."""


def state_of(calibrator: Calibrator) -> dict[str, Any]:
    """Return what fitting found."""
    return {k: v for k, v in sorted(vars(calibrator).items()) if k.endswith("_") and k not in OF_EACH}


def restore(calibrator: Calibrator, state: Mapping[str, Any]) -> None:
    """Give a calibrator its fitted attributes; refuse those that are missing, unknown or of another type.

    A class that annotates none of its own is taken at its word.
    """
    kinds = annotated(type(calibrator))
    if kinds and (missing := kinds.keys() - state.keys() - calibrator.unrecorded):
        raise ValueError(f"{min(missing)} must be there; got none")
    for name, value in state.items():
        if not name.endswith("_") or name.startswith("_") or (kinds and name not in kinds):
            raise ValueError(f"{name!r} is no fitted attribute of {type(calibrator).__name__}")
        if kinds:
            _require(name, value, kinds[name])
        setattr(calibrator, name, value)


@cache
def annotated(of: type[Calibrator]) -> dict[str, Any]:
    """Return the fitted attributes that a class annotates, and their types."""
    hints = get_type_hints(of)
    return {k: v for k, v in hints.items() if k.endswith("_") and not k.startswith("_") and k not in OF_EACH}


def _require(name: str, value: Any, kind: Any) -> None:
    """Refuse a value that is not of the annotated type."""
    if kind in CHECKS:
        CHECKS[kind](name, value)
    elif not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__}; got {type(value).__name__}")
    elif isinstance(value, Calibrator):
        try:
            check_is_fitted(value)
        except NotFittedError:
            raise ValueError(f"{name} must be a fitted calibrator; got one that is not") from None


def _is_array_of(kinds: str) -> Callable[[str, Any], None]:
    def check(name: str, value: Any) -> None:
        if not isinstance(value, np.ndarray) or value.dtype.kind not in kinds:
            found = value.dtype if isinstance(value, np.ndarray) else type(value).__name__
            raise TypeError(f"{name} must be an array of {'whole ' if kinds == 'i' else ''}numbers; got {found}")

    return check


def _is_list_of_arrays(name: str, value: Any) -> None:
    if not isinstance(value, list):
        raise TypeError(f"{name} must be a list of arrays; got {type(value).__name__}")
    for array in value:
        _is_array_of("f")(name, array)


def _is_number(name: str, value: Any) -> None:
    if isinstance(value, bool) or not is_number(value):
        raise TypeError(f"{name} must be a number; got {value!r}")


def _is_count(name: str, value: Any) -> None:
    whole(name, value, least=0, hint="Fit anew")


CHECKS: Mapping[Any, Callable[[str, Any], Any]] = {
    FloatArray: _is_array_of("f"),
    IntArray: _is_array_of("i"),
    list[FloatArray]: _is_list_of_arrays,
    float: _is_number,
    int: _is_count,
    bool: flag,
}
"""What makes sure of each type that annotations name."""


# From a calibrator to what JSON can hold, and back. Each class says what it holds: see `Calibrator._described`


C = TypeVar("C", bound=Calibrator)

WORDS = {str: "a word", dict: "an object", list: "a list", int: "a whole number"}
"""What kinds are called."""


class Writer:
    """Writes what calibrators hold."""

    def value(self, value: Any) -> Any:
        """Return a parameter or a fitted attribute."""
        return encode(value, self.calibrator)

    def calibrator(self, calibrator: Calibrator) -> dict[str, Any]:
        """Return a calibrator that another one holds: fitted by `fit`, fitted to a binary problem, or only told what to do."""
        return whole_of(calibrator) if hasattr(calibrator, "classes_") else calibrator._described(self)

    def state(self, calibrator: Calibrator) -> dict[str, Any]:
        """Return what fitting found."""
        return {name: self.value(value) for name, value in state_of(calibrator).items()}

    def notion(self, notion: Notion) -> str | dict[str, Any]:
        """Return a notion: its word, with its parameters if it has any."""
        word = self.word("notion", notion, "one")
        parameters = {k: self.value(v) for k, v in vars(notion).items()}
        return {"name": word, "parameters": parameters} if parameters else word

    def word(self, kind: Kind, thing: object, what: str = "method") -> str:
        """Return the word by which a thing is declared."""
        entry = named(type(thing))
        require(
            entry is not None,
            f"the {kind} must be a registered {what}",
            got=type(thing).__name__,
            hint=f"Declare it with calibrant.declare({kind!r}, ...)",
            error=TypeError,
        )
        return str(cast("Any", entry).name)


class Reader:
    """Makes calibrators of what is written."""

    def calibrator(self, description: Any) -> Calibrator:
        """Return a calibrator that another one holds."""
        is_whole = isinstance(description, dict) and "classes" in description
        return restored_whole(description) if is_whole else self.built(description, input="probability")

    def built(self, description: Any, *, input: Any) -> Calibrator:
        """Return a calibrator with what fitting found, if that is described."""
        if isinstance(description, dict) and "notion" in description:
            return ByNotion._of_description(description, self, input=input)
        made = self.unfitted(description, input=input)
        return self.fitted(made, description) if "fitted" in description else made

    def unfitted(self, description: Any, *, input: Any = "probability") -> Calibrator:
        """Return a calibrator as it was told, not fitted."""
        name = current("calibrator", self.part(description, "method", str))
        target: Any = find("calibrator", name).target
        made: Calibrator = target(
            input=input, **target._restored_parameters(self._values("calibrator", name, description, "parameters"))
        )
        return made

    def fitted(self, calibrator: C, description: dict[str, Any]) -> C:
        """Return a calibrator with the fitted attributes of a description; its parameters are read once for many."""
        made, name = copy(calibrator), current("calibrator", description["method"])
        restore(made, self._values("calibrator", name, description, "fitted"))
        return made

    def notion(self, description: Any) -> str | Notion | None:
        """Return a notion, or the word of one."""
        if description is None:
            return None
        if isinstance(description, str):
            word = str(current("notion", description))
            as_notion(word)
            return word
        name = current("notion", self.part(description, "name", str))
        notion: Notion = find("notion", name).target(**self._values("notion", name, description, "parameters"))
        return notion

    def part(self, description: Any, name: str, kind: type) -> Any:
        """Return a part of a description, which must be there and of its kind."""
        if not isinstance(description, dict):
            raise TypeError(f"what holds {name} must be an object; got {type(description).__name__}")
        if not isinstance(description.get(name), kind):
            found = type(description[name]).__name__ if name in description else "nothing"
            raise TypeError(f"{name} must be {WORDS[kind]}; got {found}")
        return description[name]

    def _values(self, kind: str, name: str, description: dict[str, Any], part: str) -> dict[str, Any]:
        """Return parameters or fitted attributes, decoded, under the names of today."""
        given = renamed(kind, name, self.part(description, part, dict))
        return {key: self._decoded(key, value) for key, value in given.items()}

    def _decoded(self, name: str, value: Any) -> Any:
        try:
            if name == "calibrator" and isinstance(value, str):
                return find("calibrator", current("calibrator", value)).name
            return decode(value, self.calibrator)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{name}: {error}") from error


def whole_of(calibrator: Calibrator) -> dict[str, Any]:
    """Return what `fit` was told, and what it made of it."""
    return {
        "classes": names_of(calibrator.classes_),
        "input": calibrator.input,
        "named": calibrator.labels is not None,
        "columns": int(calibrator.n_features_in_),
        "calibrator": calibrator._described(Writer()),
    }


def restored_whole(body: Any) -> Calibrator:
    """Return the fitted calibrator of such a description, checked by its class."""
    read = Reader()
    input: Any = choice("input", read.part(body, "input", str), ("probability", "logit"))
    calibrator = read.built(read.part(body, "calibrator", dict), input=input)
    if "named" in body and flag("named", body["named"]):  # what labels= was given, so that it can be fitted again
        calibrator.labels = read.part(body, "classes", list)
    in_order = body.get("named") is False  # what was written before there was the word does not say
    calibrator.classes_ = classes_named(read.part(body, "classes", list), in_order=in_order)
    n_classes, n_columns = len(calibrator.classes_), whole("columns", body.get("columns"), least=1, hint="Fit anew")
    fits = n_columns in (n_classes, 1 if n_classes == 2 else n_classes)
    require(fits, f"columns must be as many as classes, {n_classes}", value=n_columns, hint="Fit anew")
    calibrator.n_features_in_ = n_columns
    calibrator._accept_loaded()
    if not annotated(type(calibrator)):
        _try(calibrator)  # of a class that says nothing of its attributes
    return calibrator


def _try(calibrator: Calibrator) -> None:
    """Calibrate the forecast that knows nothing, and those that are sure of the first or the last class, one by one."""
    n_classes = len(calibrator.classes_)
    is_logit = calibrator.input == "logit"
    for sure_of in (None, 0, -1):
        forecast = np.full((1, n_classes), 0.0 if is_logit or sure_of is not None else 1.0 / n_classes)
        if sure_of is not None:
            forecast[0, sure_of] = 10.0 if is_logit else 1.0
        with np.errstate(all="ignore"):
            prob = calibrator._map_forecast(Forecast(forecast, is_logit))
        if prob.shape != forecast.shape or not ((prob >= 0.0) & (prob <= 1.0)).all():
            raise ValueError(
                f"fitted must give probabilities of {n_classes} classes; got {shown(prob.ravel().tolist())}"
            )


# Calibrators as versioned JSON that people can read. Loading executes nothing: it only looks up registered methods


FORMAT = "calibrant-calibrator"
VERSION = 1
"""What this library writes. It reads all versions up to it; a name that is not what it was is a line of `old_names`."""

MOST_LEVELS = 64
"""Lists and objects in a file that stand in one another: some fifteen calibrators."""


def save_calibrator(
    calibrator: Calibrator,
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    force: bool = False,
) -> None:
    """Write a fitted calibrator to a JSON file.

    Parameters
    ----------
    calibrator : Calibrator
        A fitted calibrator of calibrant.
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
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:  # no UTF-8, no JSON, or a number of thousands of digits
        raise ValueError(
            f"{path} must be a calibrator file (JSON); it is not: {error}. Was it cut or overwritten?"
        ) from None
    except OSError as error:
        raise type(error)(
            f"the calibrator must be a file that can be read; got {path}: {error.strerror}. Check the path."
        ) from None
    return from_document(document, where=str(path))


def columns_of(calibrator: Calibrator) -> list[str] | None:
    """Return the names of the columns that were fitted, if they had names."""
    names = getattr(calibrator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _named_columns(columns: Sequence[str], calibrator: Calibrator) -> list[str]:
    wanted = int(calibrator.n_features_in_)
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise TypeError(f"columns must be a sequence of {wanted} names; got {columns!r}. Pass a list.")
    return _fitting([str(name) for name in columns], calibrator)


def _fitting(names: Any, calibrator: Calibrator) -> list[str]:
    """Return names of columns, as many as were fitted."""
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"column_names must be a list of words; got {type(names).__name__}")
    require_text("column_names", names)
    if len(names) != calibrator.n_features_in_:
        raise ValueError(
            f"columns must name each of the {calibrator.n_features_in_} columns that were fitted; got {len(names)}. "
            "Pass them in their order."
        )
    return names


def to_document(calibrator: Calibrator, *, columns: Sequence[str] | None = None) -> dict[str, Any]:
    """Return a fitted calibrator as what JSON can hold."""
    if not isinstance(calibrator, Calibrator):
        raise TypeError(
            f"the calibrator must be a calibrator of calibrant; got {type(calibrator).__name__}. "
            "Save the calibrator alone; an estimator of another library is saved by that library."
        )
    check_is_fitted(calibrator)
    body = {
        "format": FORMAT,
        "version": VERSION,
        "library": f"calibrant {calibrant.__version__}",
        "column_names": columns_of(calibrator) if columns is None else _named_columns(columns, calibrator),
        **whole_of(calibrator),
    }
    return body | {"checksum": checksum_of(body)}


def from_document(document: Any, *, where: str = "the document") -> Calibrator:
    """Return the calibrator that a document describes."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f"{where} must be a calibrator file; it holds something else. Make one with `calibrant fit`.")
    _require_version(document, where)
    _require_levels(document, where)
    if document.get("checksum") != checksum_of(document):
        raise ValueError(f"{where} must match its checksum; it does not. It was changed or damaged: fit anew.")
    try:
        calibrator = restored_whole(document)
        if (names := document.get("column_names")) is not None:
            calibrator.feature_names_in_ = np.array(_fitting(names, calibrator), dtype=object)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        found = str(error).removesuffix(".").removesuffix("Fit anew").rstrip(". ")
        shown = found if len(found) <= 800 else f"{found[:600]} ... {found[-100:]}"
        raise ValueError(
            f"{where} must describe a calibrator fully; got one that does not: {shown}. Fit anew."
        ) from error
    return calibrator


def _require_version(document: dict[str, Any], where: str) -> None:
    version, library = document.get("version"), str(document.get("library", "an unknown library"))[:40]
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise ValueError(
            f"{where} must have a version from 1 to {VERSION}; got {version!r} (written by {library}). Fit anew."
        )
    if version > VERSION:
        raise ValueError(
            f"{where} must have a version up to {VERSION}; got {version}: it was made by a newer calibrant ({library}). "
            "Update: pip install --upgrade calibrant."
        )


def _require_levels(document: dict[str, Any], where: str) -> None:
    """Refuse what is nested too deeply, level by level: nothing that follows needs a depth of its own."""
    level: list[Any] = [document]
    for _ in range(MOST_LEVELS):
        inner = [part.values() if isinstance(part, dict) else part for part in level]
        level = [part for parts in inner for part in parts if isinstance(part, (dict, list))]
        if not level:
            return
    raise ValueError(f"{where} must have at most {MOST_LEVELS} levels; it has more. Fit anew.")
