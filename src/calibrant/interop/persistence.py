"""Calibrators as versioned JSON that people can read. Loading executes nothing: it only looks up registered methods."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

import calibrant
from calibrant._core.checksum import checksum_of
from calibrant.calibrators.base import Calibrator
from calibrant.interop.class_names import require_text
from calibrant.interop.descriptions import restored_whole, whole_of
from calibrant.interop.writing import whole_file

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
