"""Calibrators as versioned JSON that people can read. Loading executes nothing: it only looks up registered methods."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

import calibrant
from calibrant._registry import entries, find, named
from calibrant.binning import Binning
from calibrant.calibrators.base import BinaryCalibrator, Calibrator
from calibrant.calibrators.by_notion import ByNotion
from calibrant.interop.soundness import require_sound
from calibrant.interop.writing import whole_file
from calibrant.notions import Notion, as_notion
from calibrant.simplex_binning import Partition, SimplexBinning

FORMAT = "calibrant-calibrator"
VERSION = 1


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
        If the file is no calibrator, has a version that this library does not know, was changed or cut, or describes parts
        that do not fit together.

    See Also
    --------
    save_calibrator : Write it.
    """
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
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
    names = [str(name) for name in columns]
    if len(names) != wanted:
        raise ValueError(
            f"columns must name each of the {wanted} columns that were fitted; got {len(names)}. Pass them in their order."
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
    if document.get("version") != VERSION:
        raise ValueError(
            f"{where} must have version {VERSION}; got {document.get('version')!r} (written by "
            f"{document.get('library', 'an unknown library')}). Install a calibrant that knows it, or fit anew."
        )
    body = {key: value for key, value in document.items() if key != "checksum"}
    if document.get("checksum") != _checksum(body):
        raise ValueError(f"{where} must match its checksum; it does not. It was changed or damaged: fit anew.")
    try:
        calibrator = _restored_whole(body)
        if (names := body["column_names"]) is not None:
            calibrator.feature_names_in_ = np.array(names, dtype=object)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise ValueError(f"{where} must describe a calibrator fully; got {error!r}. Fit anew.") from error
    return calibrator


def _whole(calibrator: Calibrator) -> dict[str, Any]:
    """What `fit` was told, and what it made of it."""
    return {
        "classes": calibrator.classes_.tolist(),
        "input": calibrator.input,
        "named": calibrator.labels is not None,
        "columns": int(calibrator.n_features_in_),
        "calibrator": _describe(calibrator),
    }


def _restored_whole(body: dict[str, Any]) -> Calibrator:
    calibrator = _build(body["calibrator"], input=body["input"])
    calibrator.classes_ = np.array(body["classes"])
    calibrator.n_features_in_ = int(body["columns"])
    if body.get("named"):  # what labels= was given, so that it can be fitted again
        calibrator.labels = body["classes"]
    require_sound(calibrator)
    return calibrator


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
    parameters = {k: _encode(v) for k, v in vars(notion).items()}
    return {"name": entry.name, "parameters": parameters} if parameters else entry.name


def _notion_of(description: str | dict[str, Any] | None) -> str | Notion | None:
    if description is None or isinstance(description, str):
        return description
    notion: Notion = find("notion", description["name"]).target(**_decoded(description["parameters"]))
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


def _build_inner(description: dict[str, Any]) -> Calibrator:
    return _restored_whole(description) if "classes" in description else _build(description, input="probability")


def _method(calibrator: Calibrator) -> dict[str, Any]:
    entry = named(type(calibrator))
    if entry is None:
        raise TypeError(
            f"the calibrator must be a registered method; got {type(calibrator).__name__}. "
            "Declare it with calibrant.declare('calibrator', ...)."
        )
    parameters = {k: v for k, v in calibrator.get_params(deep=False).items() if k not in ("input", "labels")}
    return {"method": entry.name, "parameters": {k: _encode(v) for k, v in parameters.items()}}


def _state(calibrator: Calibrator) -> dict[str, Any]:
    known = {"classes_", "n_features_in_", "feature_names_in_"}
    return {k: _encode(v) for k, v in sorted(vars(calibrator).items()) if k.endswith("_") and k not in known}


def _state_or_none(calibrator: Calibrator | None) -> dict[str, Any] | None:
    return None if calibrator is None else _state(calibrator)


def _build(description: dict[str, Any], *, input: Any) -> Calibrator:
    if "notion" in description:
        each = _new(description["each"], input="probability")
        if not isinstance(each, BinaryCalibrator):
            raise TypeError(f"{type(each).__name__} maps no single score")
        notion = _notion_of(description["notion"])
        # What was written before there was the word left unseen scores as they are.
        unseen = description.get("unseen", "identity")
        reduced = ByNotion(each, notion, normalize=description["normalize"], unseen=unseen, input=input)
        if "problems" not in description:
            return reduced
        reduced.notion_ = as_notion(_notion_of(description.get("fitted notion", description["notion"])))
        *reduced.calibrators_, reduced.pooled_ = [
            None if state is None else _restored(_new(description["each"], input="probability"), state)
            for state in [*description["problems"], description.get("pooled")]
        ]
        return reduced
    return _restored(_new(description, input=input), description.get("fitted", {}))


def _new(description: dict[str, Any], *, input: Any) -> Calibrator:
    target = find("calibrator", description["method"]).target
    parameters = dict(getattr(target, "unstored", {})) | _decoded(description["parameters"])
    calibrator: Calibrator = target(input=input, **parameters)
    return calibrator


def _restored(calibrator: Calibrator, state: dict[str, Any]) -> Calibrator:
    for name, value in state.items():
        if not name.endswith("_") or name.startswith("_"):
            raise TypeError(f"{name!r} is no fitted attribute")
        setattr(calibrator, name, _decode(value))
    return calibrator


def _encode(value: Any) -> Any:
    """JSON has no arrays, no infinities and no methods: they are spelled out."""
    if isinstance(value, Calibrator):
        return {"calibrator": _describe_inner(value)}
    if isinstance(value, (Binning, SimplexBinning)) and (entry := named(type(value))):
        return {entry.kind: entry.name, "parameters": {k: _encode(v) for k, v in vars(value).items()}}
    if isinstance(value, Partition) and (name := _binning_of(value)):
        named_fields = (field.name for field in fields(cast(Any, value)))
        return {"cells of": name, "parameters": {k: _encode(getattr(value, k)) for k in named_fields}}
    if isinstance(value, np.ndarray):
        return {"array": [_encode(v) for v in value.tolist()], "dtype": str(value.dtype)}
    if isinstance(value, np.generic):
        return _encode(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": repr(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_encode(v) for v in value]
    raise TypeError(
        "a saved calibrator holds numbers, strings, booleans, arrays, and binnings and calibrators that are registered; "
        f"got {value!r}. Choose a parameter that can be written down, such as a number for a random state."
    )


def _decode(value: Any) -> Any:
    if isinstance(value, dict) and "array" in value:
        return np.array([_decode(v) for v in value["array"]], dtype=value["dtype"])
    if isinstance(value, dict) and "number" in value:
        return float(value["number"])
    if isinstance(value, dict) and "calibrator" in value:
        return _build_inner(value["calibrator"])
    if isinstance(value, dict) and (word := next((word for word in MADE if word in value), None)):
        return MADE[word](value[word])(**_decoded(value["parameters"]))
    return [_decode(v) for v in value] if isinstance(value, list) else value


def _decoded(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: _decode(value) for name, value in parameters.items()}


MADE: Mapping[str, Callable[[str], Any]] = {
    "binning": lambda name: find("binning", name).target,
    "simplex-binning": lambda name: find("simplex-binning", name).target,
    "cells of": lambda name: getattr(find("simplex-binning", name).target, "cells", None),
}
"""What is made of parameters, by the word that names it."""


def _binning_of(partition: Partition) -> str | None:
    """Return the name of the registered simplex binning whose cells these are."""
    known = entries("simplex-binning").items()
    return next((name for name, entry in known if getattr(entry.target, "cells", None) is type(partition)), None)


def _checksum(body: dict[str, Any]) -> str:
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()
