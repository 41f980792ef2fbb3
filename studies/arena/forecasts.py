"""The forecasts that studies/arena/compare.py compares calibrators on.

Published forecasts come from the data in $CALIBRANT_DATA or ../shared/data, if there is such; ten classifiers are trained here,
on the tables found there or else on those of scikit-learn. studies/arena/harm.py takes the published ones from here, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from calibrant._core.arrays import prob_of_logit, score_of_logit
from studies.data import data_dir

MOST_TRAINED, MOST_FITTED, MOST_TESTED = 3000, 1000, 5000
PUBLISHED = "published"
SPLIT = ("cifar10_resnet50", "covertype2", "covertype3")
"""Stored in two parts, one to calibrate on and one to test."""

WHOLE = ("cifar10_lenet5", "cifar100_densenet_bc", "cifar100_lenet5")
DOGS = ("alexnet", "vgg19", "resnet18")


@dataclass(frozen=True)
class Forecast:
    """Rows to calibrate on and rows to test, of one column or a table; logits where the classifier has them."""

    name: str
    group: str
    y_fit: np.ndarray
    fit: np.ndarray
    y_test: np.ndarray
    test: np.ndarray
    input: str = "probability"

    @property
    def n_classes(self) -> int:
        return 2 if self.fit.ndim == 1 else self.fit.shape[1]

    @property
    def shape(self) -> str:
        return f"{len(self.fit):,} x {self.n_classes}"

    @property
    def before(self) -> np.ndarray:
        """Test rows as probabilities, as they come."""
        return prob_of_rows(self.test, self.input)


def prob_of_rows(rows: np.ndarray, word: str) -> np.ndarray:
    """Probabilities of the event or of every class, of what is given as probabilities or as logits."""
    if word == "probability":
        return rows
    return prob_of_logit(rows) if rows.ndim == 2 else score_of_logit(rows)


def published() -> Iterator[Callable[[], Forecast]]:
    """The shared sets: the first half of their rows to calibrate on, the last half to test, unless they say
    otherwise."""
    if not data_dir().is_dir():
        return
    for name in SPLIT:
        yield partial(_split_already, name)
    for name in WHOLE:
        yield partial(_halves, name, name, "P")
    for model in DOGS:
        yield partial(_halves, "imagenet_dogs", f"dogs, {model}", model)


def _split_already(name: str) -> Forecast:
    stored = stored_arrays(name)
    kind, word = ("logits", "logit") if "logits_cal" in stored else ("P", "probability")
    fit, test = (_one_column(stored[f"{kind}_{part}"], word) for part in ("cal", "test"))
    return Forecast(name, PUBLISHED, _labels(stored["y_cal"]), fit, _labels(stored["y_test"]), test, word)


def _halves(file: str, name: str, key: str) -> Forecast:
    stored = stored_arrays(file)
    y, prob = _labels(stored["y"]), np.asarray(stored[key], dtype=np.float64)
    half = len(y) // 2
    return Forecast(name, PUBLISHED, y[:half], prob[:half], y[half:], prob[half:])


@cache
def stored_arrays(name: str) -> Mapping[str, np.ndarray]:
    """The arrays of a shared set of forecasts."""
    with np.load(data_dir() / f"{name}.npz") as file:
        return dict(file)


def _labels(stored: np.ndarray) -> np.ndarray:
    return np.asarray(stored).astype(np.int64).ravel()


def _one_column(values: np.ndarray, word: str) -> np.ndarray:
    values = np.asarray(values, dtype=np.float64)
    if values.ndim == 1 or values.shape[1] > 2:
        return values
    return values[:, 1] - values[:, 0] if word == "logit" else values[:, 1]


def tables() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Features and labels to train classifiers on."""
    if not data_dir().is_dir():
        from sklearn.datasets import load_breast_cancer, load_digits

        return {"breast cancer": load_breast_cancer(return_X_y=True), "digits": load_digits(return_X_y=True)}
    import gzip

    folder = data_dir()
    with gzip.open(folder / "satimage.arff.gz", "rt") as file:
        rows = [line.strip().split(",") for line in file if line.strip() and line[0] not in "@%"]
    satellite = np.array([row[:-1] for row in rows], dtype=np.float64)
    with gzip.open(folder / "covertype_small.csv.gz", "rt") as file:
        head = file.readline().strip().replace('"', "").split(",")
        cover = np.loadtxt(file, delimiter=",")
    own = [head.index("Class"), 0]  # the first column is the number of the row, which gives the class away
    return {
        "spambase": spambase(),
        "satimage": (satellite, np.unique([row[-1].strip("'") for row in rows], return_inverse=True)[1]),
        "covertype": (np.delete(cover, own, axis=1), cover[:, own[0]]),
    }


def spambase() -> tuple[np.ndarray, np.ndarray]:
    """Features and labels of Spambase."""
    spam = np.loadtxt(data_dir() / "spambase.csv", delimiter=",")
    return spam[:, :-1], _labels(spam[:, -1])


def classifiers() -> dict[str, object]:
    """Ten classifiers with the defaults of scikit-learn, or nearly so."""
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
    from sklearn.ensemble import (
        AdaBoostClassifier,
        ExtraTreesClassifier,
        HistGradientBoostingClassifier,
        RandomForestClassifier,
    )
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    return {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
        "naive Bayes": GaussianNB(var_smoothing=1e-6),
        "QDA": QuadraticDiscriminantAnalysis(reg_param=0.1),
        "forest": RandomForestClassifier(random_state=0),
        "extra trees": ExtraTreesClassifier(random_state=0),
        "boosting": HistGradientBoostingClassifier(random_state=0),
        "AdaBoost": AdaBoostClassifier(random_state=0),
        "MLP": make_pipeline(StandardScaler(), MLPClassifier(random_state=0, max_iter=100)),
        "SVM": make_pipeline(StandardScaler(), SVC(decision_function_shape="ovr")),
        "k-NN": make_pipeline(StandardScaler(), KNeighborsClassifier(10)),
    }


def trained(table: str, classifier: str) -> Forecast:
    """Forecast of a classifier: 45 % of the rows to train on, 20 % to calibrate on, the others to test, in a fixed
    random order."""
    X, y = tables()[table]
    y = np.unique(y, return_inverse=True)[1]
    order = np.random.default_rng(0).permutation(len(y))
    cuts = np.cumsum([min(int(0.45 * len(y)), MOST_TRAINED), min(int(0.2 * len(y)), MOST_FITTED), MOST_TESTED])
    train, fit, test = np.split(order, cuts)[:3]
    model = classifiers()[classifier].fit(X[train], y[train])  # type: ignore[attr-defined]
    word = "logit" if classifier == "SVM" else "probability"
    forecast = model.decision_function if word == "logit" else model.predict_proba
    values = [_one_column(forecast(X[rows]), word) for rows in (fit, test)]
    return Forecast(f"{classifier}, {table}", table, y[fit], values[0], y[test], values[1], word)
