"""Pairs of estimator and calibrator: the one is fitted to what the other makes of rows that it was not trained on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params, _num_samples

from calibrant._core.links import FloatArray
from calibrant._core.parameters import require
from calibrant._core.validation import as_weights
from calibrant._core.warnings import warn
from calibrant.calibrators.around.default import default_method
from calibrant.calibrators.around.for_classes import calibrator_for
from calibrant.calibrators.around.model_output import Rows, columns_known, forecast_of
from calibrant.calibrators.around.routing import Metadata
from calibrant.calibrators.base import Calibrator

Pair = tuple[Any, Calibrator]
Folds = Sequence[tuple[Rows, Rows]]


class HeldOut(NamedTuple):
    """A model of a fold, and its forecast of rows that it was not trained on."""

    estimator: Any
    rows: Rows
    forecast: FloatArray


@dataclass(frozen=True, eq=False)
class Training:
    """Makes pairs.

    Attributes
    ----------
    estimator : classifier
        It is cloned, but by `behind_trained`.
    calibrator : str or Calibrator or None
        The method, by default that of so many classes and rows.
    classes : ndarray of shape (n_classes,)
        Labels in the order of the columns.
    n_jobs : int or None
        Folds that are trained at a time.
    """

    estimator: Any
    calibrator: str | Calibrator | None
    classes: npt.NDArray[np.generic]
    n_jobs: int | None

    def behind_trained(self, X: Any, truth: npt.NDArray[Any], weight: FloatArray | None) -> Pair:
        """Return the estimator as it is, with a calibrator of all rows."""
        n_classes = len(self.classes)
        forecast = forecast_of(self.estimator, X, np.arange(n_classes), n_classes)
        return self._pair(self.estimator, forecast, truth, weight)

    def over_folds(
        self, X: Any, truth: npt.NDArray[Any], metadata: Metadata, folds: Folds, *, ensemble: bool
    ) -> list[Pair]:
        """Return a pair a fold; or a single one, of the out-of-fold forecasts of all rows and a model of all rows."""
        require(folds, "cv must have at least one fold", got="none", hint="Pass cv=5")
        held_out = self._held_out(X, truth, metadata, folds)
        if ensemble:
            return [
                self._pair(one.estimator, one.forecast, truth[one.rows], _at(metadata.weight, one.rows))
                for one in held_out
            ]
        found = [(one.rows, one.forecast) for one in held_out]  # without the models, which are large
        rows, forecast = np.concatenate([rows for rows, _ in found]), np.concatenate([prob for _, prob in found])
        estimator = self._trained(X, truth, metadata, np.arange(_num_samples(X)))
        return [self._pair(estimator, forecast, truth[rows], _at(metadata.weight, rows))]

    def _held_out(self, X: Any, truth: npt.NDArray[Any], metadata: Metadata, folds: Folds) -> Iterator[HeldOut]:
        strange = 0
        models = Parallel(n_jobs=self.n_jobs, return_as="generator")(
            delayed(self._trained)(X, truth, metadata, train) for train, _ in folds
        )
        for estimator, (_, test_rows) in zip(models, folds, strict=True):
            # A model cannot be blamed for a class that its fold did not show it: such rows say nothing of calibration.
            test = test_rows[np.isin(truth[test_rows], estimator.classes_)]
            strange += len(test_rows) - len(test)
            require(
                len(test) and (metadata.weight is None or metadata.weight[test].any()),
                "each fold must hold a row with a weight, of a class in its model's training rows",
                got=f"a fold of {len(test_rows)} rows without one",
                hint="Use fewer folds, or a splitter that keeps the classes in proportion",
            )
            known = columns_known(estimator, self.classes)
            yield HeldOut(estimator, test, forecast_of(estimator, _safe_indexing(X, test), known, len(self.classes)))
        if strange:
            warn(
                f"{strange} rows are of a class that was absent when their fold's model was trained: they are not used to "
                "calibrate. Use fewer folds, or collect more rows of rare classes."
            )

    def _trained(self, X: Any, truth: npt.NDArray[Any], metadata: Metadata, rows: Rows) -> Any:
        keywords = _check_method_params(X, metadata.estimator, indices=rows)
        return clone(self.estimator).fit(_safe_indexing(X, rows), truth[rows], **keywords)

    def _pair(self, estimator: Any, forecast: FloatArray, truth: npt.NDArray[Any], weight: FloatArray | None) -> Pair:
        n_classes, n_rows = len(self.classes), as_weights(weight, len(truth)).rows
        method = default_method(n_classes, n_rows).calibrator() if self.calibrator is None else self.calibrator
        calibrator = calibrator_for(method, n_classes)
        calibrator.set_params(
            input="probability" if hasattr(estimator, "predict_proba") else "logit", labels=self.classes
        )
        return estimator, calibrator.fit(forecast, truth, weight)


def _at(weight: FloatArray | None, rows: Rows) -> FloatArray | None:
    return None if weight is None else weight[rows]
