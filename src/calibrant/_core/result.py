"""What results share: read-only arrays, data frames, pictures and short representations, all from declared fields."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from functools import update_wrapper
from importlib import import_module
from importlib.util import find_spec
from string import Formatter
from textwrap import fill
from types import FunctionType
from typing import Any, ClassVar, TypeVar

import numpy as np

from calibrant._core.arrays import NDArray

# The columns of a result's data frame, declared by where each is read


class Table:
    """What one row of a data frame stands for, and where its columns are read.

    Parameters
    ----------
    row : str or None
        What a row stands for, such as "bin"; None where there is a single row.
    *columns : str
        Each is the path of an attribute of the result, such as ``"panels.bins.weight"``, whose last step names the column, or
        ``"name=path"``. A name that ends in ``_*`` stands for a column ``name_0``, ``name_1``, ... for each column of an array
        of shape (rows, k), and for ``name`` of an array of one dimension. One that ends in ``?`` is left out where it is None.

    Notes
    -----
    What a path finds along ``panels`` is one block of rows for each panel. The values of a block are broadcast against each
    other, so that a name, a number of the panel, or an array of the whole result is repeated as far as the block needs it.
    """

    def __init__(self, row: str | None, *columns: str) -> None:
        self.row, self.columns = row, columns

    @property
    def docstring(self) -> str:
        """Docstring of the ``to_frame`` of a class."""
        rows = "of one row" if self.row is None else f"with one row per {self.row}"
        names = ", ".join(_named(column)[0] for column in self.columns)
        some = ", of which some may be missing" if "?" in names else ""
        names = names.replace("?", "").replace("_*", "_0 ...")
        columns = fill(f"Columns {names}{some}.", 116, initial_indent="    ", subsequent_indent="    ")
        return TO_FRAME.format(rows=rows, columns=columns)

    def of(self, result: object) -> dict[str, NDArray[Any]]:
        """Return the columns of a result, by name."""
        panels = len(getattr(result, "panels", ())) or 1
        blocks: dict[str, list[Any]] = {}
        for name, path in map(_named, self.columns):
            value = read(result, path)
            for key, parts in _spread(name, list(value) if path.startswith("panels.") else [value] * panels):
                blocks[key] = parts
        rows = [np.broadcast_arrays(*block) for block in zip(*blocks.values(), strict=True)]
        return {key: np.concatenate([row[k].ravel() for row in rows]) for k, key in enumerate(blocks)}


def under(part: str, *columns: str) -> tuple[str, ...]:
    """Return columns that are read at a part of the result, such as ``under("panels", "score", "panel=name")``."""
    return tuple(f"{name}={part}.{path}" for name, path in map(_named, columns))


def read(of: Any, path: str) -> Any:
    """Return the attribute at the end of a path; along a tuple of parts the list of those of each part, of None none."""
    for step in path.split("."):
        if of is None:
            return None
        of = [getattr(part, step) for part in of] if isinstance(of, (tuple, list)) else getattr(of, step)
    return of


def _named(column: str) -> tuple[str, str]:
    """Return the name and the path of a column."""
    name, _, path = column.rpartition("=")
    return (name, path) if name else (path.rpartition(".")[2], path.rstrip("?").removesuffix("_*"))


def _spread(name: str, parts: list[Any]) -> list[tuple[str, list[Any]]]:
    """Return the columns that a name stands for, each with its values in every block."""
    if name.endswith("?") and parts[0] is None:
        return []
    bare = name.rstrip("?").removesuffix("_*")
    if "_*" not in name or np.ndim(parts[0]) == 1:
        return [(bare, parts)]
    return [(f"{bare}_{k}", [part[:, k] for part in parts]) for k in range(parts[0].shape[1])]


TO_FRAME = """Return a data frame {rows}.

Parameters
----------
backend : {{"pandas", "polars", "pyarrow"}}, optional
    By default the first that is installed.

Returns
-------
DataFrame
{columns}
"""


A = TypeVar("A", bound=np.generic)

LEAST_SHOWN = 0.001
"""No smaller p-value is printed: laws of many rows, and sums of a normal law, say nothing about such tails."""


@dataclass(frozen=True, eq=False, repr=False)
class Record:
    """A frozen dataclass whose arrays cannot be written to: a result, or a part of one."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray) and value.flags.writeable:
                object.__setattr__(self, name, view := value.view())
                view.setflags(write=False)


class Result(Record):
    """A record with a data frame and a short representation.

    A class declares ``_table``, the columns of its data frame, and ``_summary``, what its representation says between
    parentheses: a format string over the attributes of the result and of its parts, ``"{notion}, bins={panels.bins:n}"``.
    Four formats are added to Python's: ``n`` is the number of entries, ``total`` their sum, ``range`` the first and the last,
    and ``list`` all of them. A class for which this is not enough writes ``to_frame`` or ``__repr__`` itself.
    """

    _table: ClassVar[Table]
    _summary: ClassVar[str]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        own = vars(cls)
        if "__repr__" not in own:  # else the decorator of dataclasses would write one that prints all arrays
            cls.__repr__ = cls.__repr__  # type: ignore[method-assign]
        if "_table" in own and "to_frame" not in own:
            cls.to_frame = _documented(cls.to_frame, cls._table.docstring)  # type: ignore[method-assign]

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a data frame; the docstring of each class names its columns."""
        return frame(self._table.of(self), backend)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({SUMMARY.vformat(self._summary, (self,), {})})"


@dataclass(frozen=True)
class Picture:
    """What ``plot`` draws, and the function that does it, such as "curves.corp.plot_corp".

    ``takes`` names what else it takes, or ``options`` says so in words; ``axes`` is what it calls the axes, and ``of`` the part
    of the result that it draws, if not the whole.
    """

    what: str
    by: str
    takes: tuple[str, ...] = ()
    options: str = ""
    axes: str = "ax"
    of: str = ""

    @property
    def docstring(self) -> str:
        """Docstring of the ``plot`` of a class."""
        named = ", ".join(f"``{name}``" for name in self.takes)
        options = f"Those of `{self.by.rpartition('.')[2]}`: {named}." if named else self.options or "None."
        return PLOT.format(what=self.what, options=options)

    def draw(self, result: object, ax: Any, options: dict[str, Any]) -> Any:
        """Draw a result on the axes that are given, or on new ones."""
        drawn = read(result, self.of) if self.of else result
        return drawing(self.by)(drawn, **({} if ax is None else {self.axes: ax}), **options)


def drawing(path: str) -> Callable[..., Any]:
    """Return a function of calibrant, found by its name when it is called: results stand below what draws them."""
    module, _, name = path.rpartition(".")
    function: Callable[..., Any] = getattr(import_module(f"calibrant.{module}"), name)
    return function


class DrawnResult(Result):
    """A result with a picture, which the class declares as ``_picture``."""

    _picture: ClassVar[Picture]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "_picture" in vars(cls) and "plot" not in vars(cls):
            cls.plot = _documented(cls.plot, cls._picture.docstring)  # type: ignore[method-assign]

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the result with matplotlib; the docstring of each class names the function that does it."""
        return self._picture.draw(self, ax, options)


class _Summary(Formatter):
    """Python's formats, with names that are paths of attributes, and ``n``, ``total``, ``range`` and ``list``."""

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> tuple[Any, str]:
        return read(args[0], field_name), field_name

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec == "n":
            return str(_size(value))
        if format_spec == "total":
            return str(int(sum(np.sum(part) for part in value)))
        if format_spec == "range":
            return f"{value[0]}..{value[-1]}"
        if format_spec == "list":
            return ", ".join(map(str, value))
        return str(super().format_field(value, format_spec))


SUMMARY = _Summary()


def _size(value: Any) -> int:
    """Return the number of entries, of a list those of its parts."""
    if not isinstance(value, list):
        return len(value)
    return sum(len(part) if hasattr(part, "__len__") else 1 for part in value)


def _documented(method: Any, docstring: str) -> Any:
    """Return the method with a docstring of its own."""
    copy = FunctionType(method.__code__, method.__globals__, method.__name__, method.__defaults__, method.__closure__)
    update_wrapper(copy, method)
    copy.__doc__ = docstring
    return copy


def read_only(array: np.ndarray[Any, np.dtype[A]]) -> np.ndarray[Any, np.dtype[A]]:
    """Return a view that cannot be written to."""
    view = array.view()
    view.setflags(write=False)
    return view


def shown_pvalue(
    pvalue: float, least: float | None, digits: str = ".4g", *, name: str = "", equals: str = " = "
) -> str:
    """Return a p-value in words; up to 0.001, and where its draws can show no less, it is an upper bound: "<= 0.002".

    A bound is rounded up. ``name`` is what stands before it, such as "p", and ``equals`` the sign between the two.
    """
    is_least = least is not None and np.isclose(pvalue, least, rtol=1e-12, atol=0.0)
    if is_least or pvalue <= LEAST_SHOWN:
        shown = Decimal(repr(max(float(pvalue), LEAST_SHOWN)))
        bound = float(shown.normalize(Context(prec=2, rounding=ROUND_CEILING)))
        return f"{name}{equals.replace('=', '<=')}{bound:g}" if name else f"<= {bound:g}"
    text = f"{pvalue:{digits}}"
    return f"{name}{equals}{text}" if name else text


def in_columns(rows: Sequence[Sequence[str]], n_words: int) -> list[str]:
    """Return the lines of a table, the first of them its head; the first columns are words, the others figures."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    ruled = [rows[0], ["-" * width for width in widths], *rows[1:]]
    cells = (
        [*map(str.ljust, row[:n_words], widths), *map(str.rjust, row[n_words:], widths[n_words:])] for row in ruled
    )
    return ["  ".join(row).rstrip() for row in cells]


def shown_rows(n: int) -> str:
    """Return a number of rows in words."""
    return "1 row" if n == 1 else f"{n} rows"


def frame(columns: Mapping[str, Sequence[Any] | np.ndarray[Any, Any]], backend: str | None = None) -> Any:
    """Return a data frame of the asked backend, or of the first of pandas, polars and pyarrow that is installed."""
    import narwhals as nw

    backends = ("pandas", "polars", "pyarrow") if backend is None else (backend,)
    installed: Any = next((name for name in backends if find_spec(name)), None)
    if installed is None:
        raise ImportError(
            f"to_frame needs one of {', '.join(backends)}; none is installed. Install one: pip install 'calibrant[table]'"
        )
    plain = {key: np.asarray(values).tolist() for key, values in columns.items()}
    return nw.from_dict(plain, backend=installed).to_native()


PLOT = """Draw {what} with matplotlib.

Parameters
----------
ax : matplotlib Axes, optional
    Where to draw; a new figure by default.
**options : dict
    {options}

Returns
-------
matplotlib Axes, or ndarray of Axes where there are several
    What was drawn on.
"""
