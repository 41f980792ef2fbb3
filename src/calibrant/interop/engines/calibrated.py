"""Calibrated probabilities where the rows are: an engine calls a calibrator for each partition, once its result is needed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._core.links import FloatArray
from calibrant.calibrators.base import Calibrator
from calibrant.interop.batches.arrow import in_python
from calibrant.interop.columns import Values
from calibrant.interop.engines import module_of
from calibrant.interop.file_table import FileTable
from calibrant.interop.files import choose_columns


def calibrated(source: Any, calibrator: Calibrator, *, prob: str | Sequence[str] | None = None) -> Any:
    """Calibrate the predictions that an engine holds, and leave them there.

    Parameters
    ----------
    source : object of an engine
        A data frame of Dask or Spark, a Dask array of predictions, a relation of DuckDB, or a lazy frame of polars.
    calibrator : Calibrator
        A calibrator that was fitted.
    prob : str or sequence of str, optional
        The columns of the predictions, as in `calibrant.predictions`. By default they are found by their names.

    Returns
    -------
    object of the engine
        The same rows. Calibrated probabilities stand in the place of the predictions, in double precision: columns of
        probabilities keep their names, and those of logits become ``p_0``, ``p_1`` and so on, by the classes. Nothing is
        computed before the engine is asked for it, but by DuckDB: its query is run, and the result is a table of Arrow on disk,
        which any connection queries by its name, as often as it likes.

    Raises
    ------
    TypeError
        If the source is not of an engine.
    ValueError
        If the columns are not found, or are not as many as the calibrator was fitted on.
    """
    module = module_of(source)
    if module is None:
        raise TypeError(
            f"source must be an object of Dask, Spark, DuckDB or polars; got {type(source).__name__}. "
            "Rows in memory are calibrated by calibrator.calibrate(y_prob), and files by the command calibrant apply."
        )
    return module.calibrated(source, calibrator, prob)


@dataclass(frozen=True)
class Calibrated:
    """Puts the calibrated probabilities of a table in the place of these columns, under the new names."""

    calibrator: Calibrator
    columns: tuple[str, ...]
    names: tuple[str, ...]

    @classmethod
    def of(
        cls, calibrator: Calibrator, known: Iterable[str], prob: str | Sequence[str] | None, where: str
    ) -> Calibrated:
        """Choose the columns as told, or by their names."""
        wanted = prob if prob is None or isinstance(prob, str) else ",".join(prob)
        is_logit = calibrator.input == "logit"
        table = FileTable({name: Values(np.empty(0)) for name in known})
        told = {"prob": None if is_logit else wanted, "logit": wanted if is_logit else None}
        try:
            found = choose_columns(table, label_optional=True, where=where, **told)
        except ValueError as error:
            raise ValueError(in_python(str(error))) from None
        columns = found.forecast_columns
        if (calibrator.n_features_in_, calibrator.input) != (len(columns), found.input):
            raise ValueError(
                f"predictions must be as the calibrator was fitted, {calibrator.n_features_in_} columns of {calibrator.input}; "
                f"{where} gives {len(columns)} of {found.input}: {', '.join(map(repr, columns[:12]))}. Name them with prob=."
            )
        classes = calibrator.classes_ if len(columns) > 1 else calibrator.classes_[1:]
        names = tuple(f"p_{one}" for one in classes) if is_logit else columns
        return cls(calibrator, columns, names)

    def __call__(self, table: Any) -> Any:
        """Return a table of the same kind."""
        import narwhals as nw

        frame = nw.from_native(table, eager_only=True)
        column = dict(zip(self.columns, self._values(frame).T, strict=True))
        new = dict(zip(self.columns, self.names, strict=True))
        made = [
            nw.new_series(name, np.ascontiguousarray(of), backend=frame.implementation) for name, of in column.items()
        ]
        return frame.with_columns(*made).rename(new).to_native()

    def _values(self, frame: Any) -> FloatArray:
        """Return calibrated probabilities, shape (n, columns), of the columns in the order in which they were chosen."""
        shape = len(frame), len(self.columns)
        if not len(frame):
            return np.empty(shape)
        one = self.columns[0]
        given = frame[one] if len(self.columns) == 1 else frame.select(self.columns)
        has_names = hasattr(self.calibrator, "feature_names_in_")  # scikit-learn warns of names where none were fitted
        return self.calibrator.calibrate(given.to_native() if has_names else given.to_numpy()).reshape(shape)
