"""Calibrators as versioned JSON that people can read. Loading executes nothing: it only looks up registered methods."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

import calibrant
from calibrant._core.parameters import choice, flag, whole
from calibrant._core.problem import Forecast
from calibrant._core.registry import find, named
from calibrant.calibrators.around.by_notion import ByNotion
from calibrant.calibrators.base import BinaryCalibrator, Calibrator
from calibrant.interop.fitted import annotated, restore, state_of
from calibrant.interop.old_names import current, renamed
from calibrant.interop.values import decode, encode
from calibrant.interop.writing import whole_file
from calibrant.notions import Notion, as_notion

FORMAT = "calibrant-calibrator"
VERSION = 1
"""What this library writes. It reads all versions up to it; a name that is not what it was is a line of `old_names`."""

MOST_LEVELS = 64
"""Lists and objects in a file that stand in one another: some fifteen calibrators."""

PIECE = 1 << 10
"""Numbers that are hashed at a time."""

MOST_CHARACTERS = 1 << 22
"""Of names of classes, all as long as the longest. Above it they may hold 16 times what the names themselves do."""


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
    Time and memory are in proportion to the size of the file, whatever it says.
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
    _require_text("column_names", names)
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
        **_whole(calibrator),
    }
    return body | {"checksum": _checksum(body)}


def from_document(document: Any, *, where: str = "the document") -> Calibrator:
    """Return the calibrator that a document describes."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f"{where} must be a calibrator file; it holds something else. Make one with `calibrant fit`.")
    _require_version(document, where)
    _require_levels(document, where)
    body = {key: value for key, value in document.items() if key != "checksum"}
    if document.get("checksum") != _checksum(body):
        raise ValueError(f"{where} must match its checksum; it does not. It was changed or damaged: fit anew.")
    try:
        calibrator = _restored_whole(body)
        if (names := body.get("column_names")) is not None:
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


def _whole(calibrator: Calibrator) -> dict[str, Any]:
    """What `fit` was told, and what it made of it."""
    return {
        "classes": _class_names(calibrator.classes_),
        "input": calibrator.input,
        "named": calibrator.labels is not None,
        "columns": int(calibrator.n_features_in_),
        "calibrator": _describe(calibrator),
    }


def _class_names(classes: npt.NDArray[np.generic]) -> list[Any]:
    """Return the classes as what JSON can hold."""
    names: list[Any] = classes.tolist()
    if any(isinstance(name, bytes) for name in names):
        raise TypeError(
            f"classes must be words, numbers or booleans to be saved; got bytes, {_short(names)}. "
            "Fit with words: np.char.decode(labels)."
        )
    _require_text("classes", [name for name in names if isinstance(name, str)])
    return names


def _restored_whole(body: Any) -> Calibrator:
    input: Any = choice("input", _part(body, "input", str), ("probability", "logit"))
    calibrator = _build(_part(body, "calibrator", dict), input=input)
    if "named" in body and flag("named", body["named"]):  # what labels= was given, so that it can be fitted again
        calibrator.labels = _part(body, "classes", list)
    in_order = body.get("named") is False  # what was written before there was the word does not say
    calibrator.classes_ = _classes(_part(body, "classes", list), in_order=in_order)
    n_classes, n_columns = len(calibrator.classes_), whole("columns", body.get("columns"), least=1, hint="Fit anew")
    if n_columns not in (n_classes, 1 if n_classes == 2 else n_classes):
        raise ValueError(f"columns must be as many as classes, {n_classes}; got {n_columns}")
    calibrator.n_features_in_ = n_columns
    if isinstance(calibrator, BinaryCalibrator) and n_classes != 2:
        raise ValueError(f"classes must be two for {type(calibrator).__name__}; got {n_classes}")
    calibrator._check_loaded()
    if not isinstance(calibrator, ByNotion) and not annotated(type(calibrator)):
        _try(calibrator)  # of a class that says nothing of its attributes
    return calibrator


def _classes(names: list[Any], *, in_order: bool) -> npt.NDArray[np.generic]:
    """Return the classes as an array: numbers, booleans or words, each once."""
    kinds, found = set(map(type, names)), _short(names)
    if len(names) < 2 or kinds not in ({int}, {str}, {bool}, {float}):
        raise ValueError(f"classes must be two or more numbers, booleans or words; got {found}")
    if kinds == {str}:
        longest, all_together = max(map(len, names)), sum(map(len, names))
        if longest * len(names) > max(MOST_CHARACTERS, 16 * all_together):
            raise ValueError(f"classes must be words of like lengths; got {len(names)}, one with {longest} characters")
        _require_text("classes", names)
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


def _require_text(what: str, words: list[str]) -> None:
    """Refuse words that no file can hold: half of a pair of code units (a lone surrogate)."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            raise ValueError(
                f"{what} must be words that UTF-8 can encode; got {ascii(word)[:80]}. Replace the lone surrogate in it."
            ) from None


def _short(names: list[Any]) -> str:
    listed = ", ".join(repr(name)[:40] for name in names[:5])
    return f"[{listed}{', ...' if len(names) > 5 else ''}]"


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
                f"fitted must give probabilities of {n_classes} classes; got {_short(prob.ravel().tolist())}"
            )


def _part(description: Any, name: str, kind: type) -> Any:
    """Return a part of a description, which must be there and of its kind."""
    if not isinstance(description, dict):
        raise TypeError(f"what holds {name} must be an object; got {type(description).__name__}")
    if not isinstance(description.get(name), kind):
        found = type(description[name]).__name__ if name in description else "nothing"
        raise TypeError(f"{name} must be {WORDS[kind]}; got {found}")
    return description[name]


WORDS = {str: "a word", dict: "an object", list: "a list", int: "a whole number"}
"""What kinds are called."""


def _describe(calibrator: Calibrator) -> dict[str, Any]:
    if isinstance(calibrator, ByNotion):
        reduction, fitted = _describe_reduction(calibrator), _describe_notion(calibrator.notion_)
        return (
            reduction
            | ({} if fitted == reduction["notion"] else {"fitted notion": fitted})
            | {
                "problems": [_state_or_none(c) for c in calibrator.calibrators_],
                "pooled": _state_or_none(calibrator.pooled_),
            }
        )
    return _method(calibrator) | {"fitted": _state(calibrator)}


def _describe_reduction(calibrator: ByNotion) -> dict[str, Any]:
    """Describe what `ByNotion` was told to do."""
    return {
        "notion": None if calibrator.notion is None else _describe_notion(as_notion(calibrator.notion)),
        "normalize": bool(calibrator.normalize),
        "unseen": calibrator.unseen,
        "each": _method(calibrator.calibrator),
    }


def _describe_notion(notion: Notion) -> str | dict[str, Any]:
    entry = named(type(notion))
    if entry is None:
        raise TypeError(
            f"the notion must be a registered one; got {type(notion).__name__}. "
            "Declare it with calibrant.declare('notion', ...)."
        )
    parameters = {k: encode(v, _describe_inner) for k, v in vars(notion).items()}
    return {"name": entry.name, "parameters": parameters} if parameters else entry.name


def _notion_of(description: Any) -> str | Notion | None:
    if description is None:
        return None
    if isinstance(description, str):
        word = str(current("notion", description))
        as_notion(word)
        return word
    name = current("notion", _part(description, "name", str))
    notion: Notion = find("notion", name).target(**_parameters("notion", name, description))
    return notion


def _is_fitted(calibrator: Calibrator) -> bool:
    return any(name.endswith("_") and not name.startswith("_") for name in vars(calibrator))


def _describe_inner(calibrator: Calibrator) -> dict[str, Any]:
    """Describe a calibrator that another one holds: fitted by `fit`, fitted to a binary problem, or only told what to do."""
    if hasattr(calibrator, "classes_"):
        return _whole(calibrator)
    if isinstance(calibrator, ByNotion):
        return _describe_reduction(calibrator)
    return _method(calibrator) | ({"fitted": _state(calibrator)} if _is_fitted(calibrator) else {})


def _build_inner(description: Any) -> Calibrator:
    is_whole = isinstance(description, dict) and "classes" in description
    return _restored_whole(description) if is_whole else _build(description, input="probability")


def _method(calibrator: Calibrator) -> dict[str, Any]:
    entry = named(type(calibrator))
    if entry is None:
        raise TypeError(
            f"the calibrator must be a registered method; got {type(calibrator).__name__}. "
            "Declare it with calibrant.declare('calibrator', ...)."
        )
    parameters = calibrator._stored_parameters()
    return {"method": entry.name, "parameters": {k: encode(v, _describe_inner) for k, v in parameters.items()}}


def _state(calibrator: Calibrator) -> dict[str, Any]:
    return {name: encode(value, _describe_inner) for name, value in state_of(calibrator).items()}


def _state_or_none(calibrator: Calibrator | None) -> dict[str, Any] | None:
    return None if calibrator is None else _state(calibrator)


def _build(description: Any, *, input: Any) -> Calibrator:
    if not isinstance(description, dict) or "notion" not in description:
        made = _new(description, input=input)
        if "fitted" in description:
            restore(made, _attributes(description))
        return made
    each = _new(_part(description, "each", dict), input="probability")
    if not isinstance(each, BinaryCalibrator):
        raise TypeError(f"each must be a map of one score; got {type(each).__name__}")
    # What was written before there was the word left unseen scores as they are.
    unseen, notion = description.get("unseen", "identity"), _notion_of(description["notion"])
    reduced = ByNotion(each, notion, normalize=description.get("normalize"), unseen=unseen, input=input)  # type: ignore[arg-type]
    if "problems" in description:
        fitted_notion = description.get("fitted notion", description["notion"])
        reduced.notion_ = as_notion(_notion_of(fitted_notion))
        *reduced.calibrators_, reduced.pooled_ = [
            None if state is None else _copied(each, state, description["each"])
            for state in [*_part(description, "problems", list), description.get("pooled")]
        ]
    return reduced


def _copied(each: BinaryCalibrator, state: Any, description: Any) -> BinaryCalibrator:
    """Return the map of a problem: its parameters are those of all, and are read once."""
    made = copy(each)
    restore(made, _attributes({"method": description["method"], "fitted": state}))
    return made


def _new(description: Any, *, input: Any) -> Calibrator:
    name = current("calibrator", _part(description, "method", str))
    target: Any = find("calibrator", name).target
    parameters = target._restored_parameters(_parameters("calibrator", name, description))
    calibrator: Calibrator = target(input=input, **parameters)
    return calibrator


def _parameters(kind: str, name: str, description: Any) -> dict[str, Any]:
    """Return parameters, decoded, under the names of today."""
    given = renamed(kind, name, _part(description, "parameters", dict))
    return {key: _decoded(key, value) for key, value in given.items()}


def _attributes(description: dict[str, Any]) -> dict[str, Any]:
    """Return fitted attributes, decoded, under the names of today."""
    given = renamed("calibrator", current("calibrator", description["method"]), _part(description, "fitted", dict))
    return {key: _decoded(key, value) for key, value in given.items()}


def _decoded(name: str, value: Any) -> Any:
    try:
        return decode(value, _build_inner)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name}: {error}") from error


def _checksum(body: dict[str, Any]) -> str:
    found = hashlib.sha256()
    for piece in _canonical(body):
        found.update(piece.encode())
    return f"sha256:{found.hexdigest()}"


def _canonical(value: Any) -> Iterator[str]:
    """Yield JSON without spaces and with sorted keys, in pieces: the whole of it takes more memory than the file."""
    if isinstance(value, dict) and value:
        for number, key in enumerate(sorted(value)):
            yield f"{',' if number else '{'}{json.dumps(key)}:"
            yield from _canonical(value[key])
        yield "}"
    elif isinstance(value, list) and value and isinstance(value[0], (dict, list)):
        for number, part in enumerate(value):
            yield "," if number else "["
            yield from _canonical(part)
        yield "]"
    elif isinstance(value, list) and len(value) > PIECE:
        for start in range(0, len(value), PIECE):
            yield ("," if start else "[") + _dumped(value[start : start + PIECE])[1:-1]
        yield "]"
    else:
        yield _dumped(value)


def _dumped(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
