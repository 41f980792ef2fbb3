"""The file of a saved calibrator, and its map run by NumPy alone: what a service loads that must start fast.

Nothing here imports scikit-learn, SciPy or a kernel, which take ten times as long as NumPy.
"""

from __future__ import annotations

import json
import os
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from calibrant._core.checksum import checksum_of
from calibrant._core.graph import compiled, from_dicts

FORMAT = "calibrant-calibrator"
VERSION = 1
"""What this library writes. It reads all versions up to it."""

MOST_LEVELS = 64
"""Lists and objects in a file that stand in one another: some fifteen calibrators."""

BEYOND, SUM_TOLERANCE, MOST_LOGIT = 1e-6, 1e-3, 1e100
"""How far a probability may lie outside [0, 1], the sum of a row from 1, and a logit from 0, as for every forecast."""


class SavedMap:
    """The map of a saved calibrator, of plain arrays; `load_map` makes one.

    Attributes
    ----------
    classes : list
        Names of the classes, in the order of the columns.
    column_names : list of str or None
        Names of the columns that were fitted, if they had names.
    n_columns : int
        How many columns a row has: 1, the probability of the event, or one for each class.
    input : {"probability", "logit"}
        What the columns are.
    method : str
        The registered name of the calibrator.
    """

    def __init__(self, document: dict[str, Any], *, where: str = "the document") -> None:
        try:
            self.classes: list[Any] = document["classes"]
            self.column_names: list[str] | None = document["column_names"]
            self.n_columns: int = document["columns"]
            self.input: str = document["input"]
            self.method: str = document["calibrator"]["method"]
            self.where = where
            is_listed = [isinstance(self.classes, list), isinstance(self.column_names, (list, type(None)))]
            if not all(is_listed) or type(self.n_columns) is not int or self.n_columns < 1:
                raise TypeError("classes and column_names must be lists, and columns a whole number")
            if self.input not in ("probability", "logit") or not isinstance(self.method, str):
                raise ValueError(f"input must be probability or logit, and method a word; got {self.input!r}")
            nodes = document["map"]
            if nodes is None:
                raise ValueError(f"map must be there; {self.method!r} has none that can be written down")
            root = from_dicts(nodes, self.n_columns)
            self._run = compiled(root)
            if root.width != self.n_columns or self.n_columns not in (1, len(self.classes)):
                raise ValueError("map must give as many columns as it takes, one or one for each class")
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
            shown = f"{type(error).__name__} {error}" if isinstance(error, (KeyError, IndexError)) else str(error)
            raise ValueError(
                f"{where} must hold the map of a calibrator; got {shown[:400]}. Save it anew, or use load_calibrator."
            ) from error

    def __repr__(self) -> str:
        return f"SavedMap({self.method!r}, {len(self.classes)} classes, input={self.input!r})"

    def calibrate(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the calibrated probabilities.

        Parameters
        ----------
        X : array-like, shape (n,), (n, 1) or (n, n_classes)
            Probabilities, or logits if the calibrator was fitted on them; of one column the probability of the event.

        Returns
        -------
        ndarray, shape (n,) or (n, n_classes)
            What ``calibrate`` of the saved calibrator gives, to 1e-13. Where steps are of computed numbers (of three or more
            logits, or of scaling-binning), a score within 1e-12 of one may be on the step beside.

        Raises
        ------
        ValueError
            If X has other columns, or in another order, or holds what is no probability or no finite logit, or if the map was
            changed so that it gives no probabilities.
        """
        table = self._numbers(X)
        if self.n_columns == 1 and table.ndim == 1:
            table = table[:, None]
        if table.ndim != 2 or table.shape[1] != self.n_columns:
            raise ValueError(
                f"X must have shape (n, {self.n_columns}); got {np.shape(X)}. Pass the columns that were fitted."
            )
        if table.size and self.input == "logit":
            size = np.maximum.reduce(np.abs(table), axis=None)
            if not size <= MOST_LOGIT:
                raise ValueError(
                    f"X must hold finite logits of at most {MOST_LOGIT:g}; got {size}. Leave out such rows."
                )
        elif table.size:
            table = self._probabilities(table)
        found = self._run(table)
        if found.size and not np.maximum.reduce(np.abs(found - 0.5), axis=None) <= 0.5 + BEYOND:
            raise ValueError(f"{self.where} must hold a map to probabilities; it gave others. Save it anew.")
        return found[:, 0] if self.n_columns == 1 else found

    def _numbers(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Refuse what is no table of numbers, and columns in another order than those that were fitted."""
        if type(X) is np.ndarray and X.dtype.kind in "fiub":
            return X.astype(np.float64, copy=False)
        names = getattr(X, "column_names", getattr(X, "columns", None))  # pyarrow; pandas and polars
        if names is not None and self.column_names is not None and list(names) != self.column_names:
            raise ValueError(
                f"the columns of X must be {self.column_names}; got {list(names)}. Put them into this order."
            )
        try:
            table = np.asarray(X)
            cells = table.ravel().tolist() if table.dtype.kind == "O" else []
            if table.dtype.kind not in "biufO" or not all(isinstance(cell, (Real, Decimal)) for cell in cells):
                raise TypeError(f"dtype {table.dtype}")
            if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
                raise TypeError("a masked array")
            return np.asarray(table, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"X must be a table of numbers; got what is none: {error}. Pass an array.") from error

    def _probabilities(self, table: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Refuse rows that are no probabilities; what rounding alone put outside [0, 1] is put back."""
        is_well = are_between(table, 0.0, 1.0)
        if not is_well and not are_between(table, -BEYOND, 1.0 + BEYOND):
            got = table[~((table >= -BEYOND) & (table <= 1.0 + BEYOND))][0]
            raise ValueError(f"X must hold probabilities in [0, 1]; got {got}. Logits need a calibrator of logits.")
        if self.n_columns > 1 and len(table):
            off = np.abs(np.add.reduce(table, axis=1) - 1.0)
            if np.maximum.reduce(off) > SUM_TOLERANCE + BEYOND:
                row = int(off.argmax())
                raise ValueError(
                    f"each row of X must sum to 1; got {table[row].sum():.6g} in row {row}. Divide rows by their sums."
                )
        return table if is_well else table.clip(0.0, 1.0)

    def predict_proba(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the calibrated probabilities of all classes, shape (n, n_classes); see `calibrate`."""
        found = self.calibrate(X)
        return np.column_stack([1.0 - found, found]) if self.n_columns == 1 else found


def are_between(numbers: npt.NDArray[np.float64], least: float, most: float) -> bool:
    """Whether no number lies outside, and none is NaN. Few are compared one by one, which takes a third of the time."""
    if numbers.size <= FEW:
        return all(least <= one <= most for one in numbers.ravel().tolist())
    return bool(np.minimum.reduce(numbers, axis=None) >= least and np.maximum.reduce(numbers, axis=None) <= most)


FEW = 16


def load_map(path: str | os.PathLike[str]) -> SavedMap:
    """Read the map of a saved calibrator, for a process that must start fast: it imports nothing but NumPy.

    Parameters
    ----------
    path : str or path-like
        A file that `save_calibrator` wrote.

    Returns
    -------
    SavedMap
        It calibrates arrays and data frames, to 1e-13 as the calibrator that was saved. It cannot be fitted.

    Raises
    ------
    ValueError
        If the file is no calibrator, was made by a newer calibrant, was changed or cut, or has no map.

    See Also
    --------
    load_calibrator : The estimator of scikit-learn.
    calibrant.interop.to_numpy : The map as a module of its own, without calibrant.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from calibrant import PlattScaling, load_digits_forecast, load_map, save_calibrator
    >>> y, prob = load_digits_forecast()
    >>> path = f"{mkdtemp()}/three.json"
    >>> save_calibrator(PlattScaling().fit(prob[:, 3], y == 3), path)
    >>> load_map(path).calibrate([0.2, 0.7]).round(3)
    array([0.408, 0.526])
    """
    document = read_document(path)
    return SavedMap(document, where=str(path))


def read_document(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what the file of a calibrator holds, as it was written."""
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
    return require_document(document, str(path))


def require_document(document: Any, where: str) -> dict[str, Any]:
    """Return a document whose format, version, depth and checksum are right."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f"{where} must be a calibrator file; it holds something else. Make one with `calibrant fit`.")
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
