"""Labels that a classifier is trained on, in the type that they have, and their classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.preprocessing import LabelEncoder
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from calibrant._core.arrays import as_array
from calibrant._core.labels import as_labels
from calibrant._core.parameters import require


def as_training_labels(y: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return labels as an array, checked as scikit-learn's classifiers check them."""
    require(
        y is not None,
        "y must be given",
        given="CalibratedClassifier requires y to be passed, but the target y is None",
        hint="Pass the class of each row",
    )
    truth: npt.NDArray[Any] = column_or_1d(as_array("y_true", y), warn=True)
    checked = as_labels(truth)
    if truth.dtype == object and checked.dtype.kind != "U":  # words keep their type
        truth = checked
    must = "y must hold numbers or text, as scikit-learn's classifiers do not take bytes"
    require(truth.dtype.kind != "S", must, value=truth[:1], hint="Pass y.astype(str)")
    check_classification_targets(truth)
    return truth


def classes_to_train(truth: npt.NDArray[Any]) -> npt.NDArray[np.generic]:
    """Return the classes of labels, in their order; one alone is refused."""
    classes: npt.NDArray[np.generic] = LabelEncoder().fit(truth).classes_
    require(
        len(classes) >= 2,
        "y must hold at least two classes to train a classifier",
        got=f"{len(classes)} (one class or no row)",
        hint="Check how the rows were chosen",
    )
    return classes
