"""Tables in files: CSV and NPZ with NumPy alone, all else (and faster CSV) with polars or pyarrow."""

from __future__ import annotations

import csv
import fnmatch
import os
import re
import zipfile
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from calibrant._labels import as_labels
from calibrant._links import FloatArray
from calibrant._validation import Input
from calibrant.interop.writing import whole_file

Column = npt.NDArray[Any]
Table = dict[str, Column]

FORMATS = {
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".npz": "npz",
}

LABEL_NAMES = ("label", "y", "y_true", "target", "class", "truth", "labels", "targets")
PROB_PATTERNS = ("p_*", "prob_*", "proba_*", "P", "prob", "probs", "proba", "p", "y_prob", "score", "confidence")
LOGIT_PATTERNS = ("z_*", "logit_*", "logits", "z", "logit")


@dataclass(frozen=True, eq=False)
class ForecastTable:
    """A forecast read from a file, and which columns it came from."""

    table: Table
    label_column: str | None
    forecast_columns: tuple[str, ...]
    input: Input
    guessed: tuple[str, ...]
    file: str = "the file"

    @property
    def y_true(self) -> Column:
        """The labels."""
        if self.label_column is None:
            raise ValueError("the file must have a label column; none was found. Name it with --label.")
        return self.table[self.label_column]

    @property
    def y_prob(self) -> FloatArray | Column:
        """The forecast: one column as a vector, several as a table."""
        columns = [self.table[name] for name in self.forecast_columns]
        return columns[0] if len(columns) == 1 else np.column_stack(columns)

    @property
    def class_names(self) -> list[str] | None:
        """What is left of the column names without their common prefix, if that names every column once."""
        if len(self.forecast_columns) < 2:
            return None
        # p_cat, p_dog: the prefix ends with the first separator, and all columns share it.
        split = [re.fullmatch(r"([^_.:\- ]*[_.:\- ])(.+)", name) for name in self.forecast_columns]
        if all(split) and len({match[1] for match in split if match}) == 1:
            return [match[2] for match in split if match]
        return list(self.forecast_columns)

    def labels(self) -> list[Any] | None:
        """Classes in column order where the column names say so; words that no column is named after are refused."""
        names = self.class_names
        if names is None or self.label_column is None:
            return None
        truth = as_labels(self.y_true)
        if truth.dtype.kind == "b":
            return as_booleans(names)
        known: list[Any] = names
        if truth.dtype.kind in "iu":
            numbers = as_whole_numbers(names, set(truth.tolist()))
            if numbers is None:
                return None
            known = numbers
        strange = sorted(set(truth.tolist()) - set(known))
        if not strange:
            return known
        raise ValueError(
            f"labels must be names of columns; got {_listed(strange, 5)} and columns named "
            f"{_listed(names, 5)}. Name the class of each column, in column order: --classes A,B,..."
        )


TRUTH_VALUES = {
    "true": True,
    "yes": True,
    "1": True,
    "1.0": True,
    "false": False,
    "no": False,
    "0": False,
    "0.0": False,
}
"""What names of columns call the classes of labels that are booleans."""


def as_booleans(names: Sequence[str]) -> list[bool] | None:
    """Return the truth values that two names spell, or None."""
    spelled = [TRUTH_VALUES.get(name.lower()) for name in names]
    return [name is True for name in spelled] if spelled in ([False, True], [True, False]) else None


def as_whole_numbers(names: Sequence[str], seen: Set[int]) -> list[int] | None:
    """Return the whole numbers that names spell: 1, 1.0, or True where the labels seen are 0 and 1 or -1 and 1; or None."""
    if all(re.fullmatch(r"-?\d+(\.0*)?", name) for name in names):
        return [int(name.split(".")[0]) for name in names]
    if (booleans := as_booleans(names)) is None or not (seen <= {0, 1} or seen <= {-1, 1}):
        return None
    return [1 if event else -1 if -1 in seen else 0 for event in booleans]


def read_forecast(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    prob: str | None = None,
    logit: str | None = None,
    rows: slice = slice(None),
    label_optional: bool = False,
) -> ForecastTable:
    """Read a file and choose its columns: as told, or by guesses that are reported and refused when ambiguous."""
    table = {name: column[rows] for name, column in read_table(path).items()}
    guessed: list[str] = []
    label_column = _choose_label(table, label, guessed, optional=label_optional, where=str(path))
    if prob is not None and logit is not None:
        raise ValueError("a forecast is probabilities or logits; got --prob and --logit. Pass one of them.")
    rest = [name for name in table if name != label_column]
    if prob is not None or logit is not None:
        chosen = select(rest, prob or logit or "", where=str(path))
        input: Input = "probability" if prob is not None else "logit"
    else:
        chosen, input = _guess_forecast(rest, where=str(path))
        guessed.append(f"{input} {_span(chosen)}")
    _require_numbers(table, chosen, where=str(path))
    names = _unpacked_names(table, chosen)
    return ForecastTable(_unpacked(table, chosen), label_column, names, input, tuple(guessed), str(path))


def _require_numbers(table: Table, chosen: Sequence[str], *, where: str) -> None:
    for name in chosen:
        if table[name].dtype.kind not in "biuf":
            values = table[name].ravel().tolist()
            row = next((i for i, value in enumerate(values) if not _is_number(value)), 0)
            raise TypeError(
                f"{where} must hold numbers in the column {name!r}; got {values[row]!r} in row {row}. "
                "Repair the column, or choose others with --prob or --logit."
            )


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def select(names: Sequence[str], wanted: str, *, where: str) -> tuple[str, ...]:
    """Choose columns by comma-separated names, globs (``p_*``) or ranges (``first:last``), in the order named."""
    chosen: list[str] = []
    for word in (w.strip() for w in wanted.split(",")):
        if word in names:
            chosen.append(word)
        elif ":" in word and all(end in names for end in word.split(":", 1)):
            first, last = (names.index(end) for end in word.split(":", 1))
            if first > last:
                raise ValueError(
                    f"a range of columns must run in the file's order; got {word!r}. Turn it round, or name the columns."
                )
            chosen += names[first : last + 1]
        elif found := fnmatch.filter(names, word):
            chosen += found
        else:
            raise ValueError(f"{where} must have the column {word!r}; it has {_listed(names)}. Name one of these.")
    return tuple(dict.fromkeys(chosen))


def select_one(names: Sequence[str], wanted: str, option: str, *, where: str) -> str:
    """Choose the column of an option that takes one."""
    chosen = select(names, wanted, where=where)
    if len(chosen) > 1:
        raise ValueError(
            f"{option} must name one column of {where}; got {wanted!r}, which names {_listed(chosen, 5)}. Name one of these."
        )
    return chosen[0]


# Guesses


def _choose_label(table: Table, label: str | None, guessed: list[str], *, optional: bool, where: str) -> str | None:
    if label is not None:
        return select_one(list(table), label, "--label", where=where)
    found = [name for name in table if name.lower() in LABEL_NAMES]
    if len(found) > 1:
        raise ValueError(f"the label column must be clear; {where} has {_listed(found)}. Name it with --label.")
    if not found:
        if optional:
            return None
        raise ValueError(f"{where} must have a label column; it has {_listed(list(table))}. Name it with --label.")
    guessed.append(f"label {found[0]!r}")
    return found[0]


def _guess_forecast(names: Sequence[str], *, where: str) -> tuple[tuple[str, ...], Input]:
    candidates: list[tuple[tuple[str, ...], Input]] = []
    kinds: tuple[tuple[Sequence[str], Input], ...] = ((PROB_PATTERNS, "probability"), (LOGIT_PATTERNS, "logit"))
    for patterns, input in kinds:
        for pattern in patterns:
            if found := tuple(fnmatch.filter(names, pattern)):
                candidates.append((found, input))
    distinct = list(dict.fromkeys(candidates))
    if len(distinct) == 1:
        return distinct[0]
    if not distinct:
        raise ValueError(
            f"{where} must have forecast columns; it has {_listed(names)}. Name them with --prob 'p_*' or --logit 'z_*'."
        )
    options = " or ".join(f"{input} {_span(columns)}" for columns, input in distinct)
    raise ValueError(
        f"the forecast columns of {where} must be clear; they could be {options}. Say with --prob or --logit."
    )


def _span(columns: Sequence[str]) -> str:
    return repr(columns[0]) if len(columns) == 1 else f"{columns[0]!r} to {columns[-1]!r} ({len(columns)} columns)"


def _listed(names: Sequence[str], most: int = 12) -> str:
    return ", ".join(map(repr, names[:most])) + (f", ... ({len(names)} in all)" if len(names) > most else "")


# An NPZ holds a table of probabilities as one array: it is unpacked into columns, so that all files look alike.


def _unpacked_names(table: Table, chosen: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        name if table[name].ndim == 1 else f"{name}_{k}"
        for name in chosen
        for k in range(1 if table[name].ndim == 1 else table[name].shape[1])
    )


def _unpacked(table: Table, chosen: Sequence[str]) -> Table:
    columns: Table = {}
    for name, column in table.items():
        if column.ndim == 2 and name in chosen:
            columns |= {f"{name}_{k}": column[:, k] for k in range(column.shape[1])}
        else:
            columns[name] = column
    return columns


# Reading and writing


def format_of(path: str | os.PathLike[str]) -> str:
    """Return the format that a file's ending stands for."""
    ending = Path(path).suffix.lower()
    if ending not in FORMATS:
        raise ValueError(f"a table must end in {', '.join(FORMATS)}; got {Path(path).name!r}. Rename or convert it.")
    return FORMATS[ending]


def read_table(path: str | os.PathLike[str]) -> Table:
    """Read a file as columns by name."""
    source = Path(path)
    if source.is_dir():
        raise IsADirectoryError(f"a table must be a file; got the directory {source}. Name a file in it.")
    if not source.exists():
        raise FileNotFoundError(f"the file must exist; got {source}. Check the path.")
    kind = format_of(source)
    if source.stat().st_size == 0:
        raise ValueError(f"{source} must hold a table; it is empty. Check how it was written.")
    try:
        table = {"csv": _read_csv, "npz": _read_npz, "parquet": _read_arrow, "feather": _read_arrow}[kind](source)
    except ImportError:
        raise
    except Exception as error:
        raise ValueError(
            f"{source} must be a readable {kind} file; it is not: {_first_line(error)}. Was it cut or damaged?"
        ) from error
    if not table or not len(next(iter(table.values()))):
        raise ValueError(f"{source} must hold at least one row; it has none. Check how it was written.")
    return table


def write_table(path: str | os.PathLike[str], table: Mapping[str, Column], *, force: bool = False) -> None:
    """Write columns to a file, whole or not at all."""
    kind = format_of(path)
    write = {"csv": _write_csv, "npz": _write_npz, "parquet": _write_arrow, "feather": _write_arrow}[kind]
    with whole_file(path, force=force) as beside:
        try:
            write(beside, table, kind)
        except (OSError, ImportError):
            raise
        except Exception as error:  # polars and pyarrow have errors of their own, also for a full disk
            raise ValueError(
                f"the table must be writable as {kind}; {path} could not be: {_first_line(error)}. "
                "Make room, drop the column, or choose another format."
            ) from error


def _read_npz(path: Path) -> Table:
    if not zipfile.is_zipfile(path):
        raise ValueError("it is no zip archive")
    with np.load(path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    return {name: array for name, array in arrays.items() if array.ndim in (1, 2)}


def _read_csv(path: Path) -> Table:
    with path.open(newline="", encoding="utf-8-sig") as lines:
        names = next(csv.reader(lines))
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise ValueError(f"its first line has the name {twice[0]!r} more than once")
    if find_spec("polars"):
        import polars

        frame = polars.read_csv(path, infer_schema_length=None, null_values=["nan", "NaN"])
        columns = frame.filter(~polars.all_horizontal(polars.all().is_null())).get_columns()  # a blank line is no row
        return {name: _column(column.to_numpy()) for name, column in zip(names, columns, strict=True)}
    with path.open(newline="", encoding="utf-8-sig") as lines:
        rows = [row for row in list(csv.reader(lines))[1:] if row]
    for number, row in enumerate(rows, start=2):
        if len(row) != len(names):
            raise ValueError(f"line {number} has {len(row)} values for {len(names)} columns")
    return {name: _parsed(np.array([row[k] for row in rows])) for k, name in enumerate(names)}


def _read_arrow(path: Path) -> Table:
    if find_spec("polars"):
        import polars

        frame = polars.read_parquet(path) if format_of(path) == "parquet" else polars.read_ipc(path)
        return {name: _column(frame[name].to_numpy()) for name in frame.columns}
    if not find_spec("pyarrow"):
        raise ImportError(
            f"reading {path.name} needs polars or pyarrow; none is installed. pip install 'calibrant[table]'"
        )
    import pyarrow.feather
    import pyarrow.parquet

    read = pyarrow.parquet.read_table if format_of(path) == "parquet" else pyarrow.feather.read_table
    arrow = read(path)
    return {name: _column(arrow[name].to_numpy()) for name in arrow.column_names}


def _parsed(text: Column) -> Column:
    """Strings as booleans, integers or floats where all of them are."""
    for dtype in (np.int64, np.float64):
        try:
            return text.astype(dtype)
        except ValueError:
            continue
    return _words(text)


def _column(values: Column) -> Column:
    if values.dtype == object and all(isinstance(v, str) for v in values.tolist()):
        return _words(values.astype(str))
    return values


def _words(text: Column) -> Column:
    """Strings as they are, or as booleans where all of them are: pandas writes True and others write true."""
    distinct = set(text.tolist())
    if distinct <= {"True", "False"} or distinct <= {"true", "false"}:
        return np.isin(text, ("True", "true"))
    return text


def _write_npz(path: Path, table: Mapping[str, Column], kind: str) -> None:
    with path.open("wb") as target:
        arrays: dict[str, Any] = {name: np.asarray(column) for name, column in table.items()}
        np.savez_compressed(target, **arrays)


def _write_csv(path: Path, table: Mapping[str, Column], kind: str) -> None:
    with path.open("w", newline="", encoding="utf-8") as target:
        writer = csv.writer(target, lineterminator="\n")
        writer.writerow(table)
        writer.writerows(zip(*map(_cells, table.values()), strict=True))


def _cells(column: Column) -> list[Any]:
    """Values of a column; what is missing is an empty cell."""
    cells: list[Any] = column.tolist()
    if column.dtype.kind == "b":
        return ["true" if v else "false" for v in cells]
    return ["" if v != v else v for v in cells] if column.dtype.kind == "f" else cells


def _write_arrow(path: Path, table: Mapping[str, Column], kind: str) -> None:
    if find_spec("polars"):
        import polars

        frame = polars.DataFrame(dict(table))
        _ = frame.write_parquet(path) if kind == "parquet" else frame.write_ipc(path)
        return
    if not find_spec("pyarrow"):
        raise ImportError(
            "writing this format needs polars or pyarrow; none is installed. pip install 'calibrant[table]'"
        )
    import pyarrow
    import pyarrow.feather
    import pyarrow.parquet

    arrow = pyarrow.table(dict(table))
    _ = pyarrow.parquet.write_table(arrow, path) if kind == "parquet" else pyarrow.feather.write_feather(arrow, path)


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
