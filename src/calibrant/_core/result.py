"""What results share: read-only arrays, data frames, pictures and short representations, all from declared fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from functools import update_wrapper
from importlib import import_module
from importlib.util import find_spec
from string import Formatter
from types import FunctionType
from typing import Any, ClassVar, TypeVar, cast

import numpy as np

from calibrant._core.parameters import require
from calibrant._core.table import Table, missing_step, read

A = TypeVar("A", bound=np.generic)

LEAST_SHOWN = 0.001
"""No smaller p-value is printed: laws of many rows, and sums of a normal law, say nothing about such tails."""


@dataclass(frozen=True, eq=False)
class Record:
    """A frozen dataclass whose arrays cannot be written to: a result, or a part of one."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray) and value.flags.writeable:
                object.__setattr__(self, name, read_only(value))


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
        if "_table" in own:
            _require_paths(cls, "_table", cls._table.paths)
        if "_summary" in own:
            _require_paths(cls, "_summary", [path for _, path, *_ in Formatter().parse(cls._summary) if path])
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
    """What ``plot`` draws, and the function of calibrant.plots that does it, such as "corp.plot_corp".

    ``options`` says what else it takes, ``axes`` is what it calls the axes, and ``of`` the part of the result that it draws, if
    not the whole.
    """

    what: str
    by: str
    options: str = "None."
    axes: str = "ax"
    of: str = ""

    def __post_init__(self) -> None:
        must = "by of a Picture must be a file of plots and a function in it"
        require(self.by.count(".") == 1, must, value=self.by, hint="Write 'corp.plot_corp'")

    @property
    def docstring(self) -> str:
        """Docstring of the ``plot`` of a class."""
        return PLOT.format(what=self.what, options=self.options)

    def draw(self, result: object, ax: Any, options: dict[str, Any]) -> Any:
        """Draw a result on the axes that are given, or on new ones."""
        drawn = read(result, self.of) if self.of else result
        return drawing(self.by)(drawn, **({} if ax is None else {self.axes: ax}), **options)


def drawing(path: str) -> Callable[..., Any]:
    """Return a function of calibrant.plots, found by its name when it is called: results stand below what draws them."""
    module, _, name = path.rpartition(".")
    function: Callable[..., Any] = getattr(import_module(f"calibrant.plots.{module}"), name)
    return function


class DrawnResult(Result):
    """A result with a picture, which the class declares as ``_picture``."""

    _picture: ClassVar[Picture]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "_picture" in vars(cls):
            _require_paths(cls, "_picture", [cls._picture.of] if cls._picture.of else [])
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


def _require_paths(kind: type, declared: str, paths: Sequence[str]) -> None:
    """Refuse a class of results that declares something to be read where nothing is."""
    for path in paths:
        step = missing_step(kind, path)
        require(
            step is None,
            f"{declared} of {kind.__name__} must read fields or properties of the class and its parts",
            got=f"{path!r}, and there is no {step!r}",
            hint="Declare it, or correct the path",
            error=TypeError,
        )


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


def frame(columns: Mapping[str, Sequence[Any] | np.ndarray[Any, Any]], backend: str | None = None) -> Any:
    """Return a data frame of the asked backend, or of the first of pandas, polars and pyarrow that is installed."""
    import narwhals as nw

    backends = ("pandas", "polars", "pyarrow") if backend is None else (backend,)
    installed = next((name for name in backends if find_spec(name)), None)
    if installed is None:
        raise ImportError(
            f"to_frame needs one of {', '.join(backends)}; none is installed. Install one: pip install 'calibrant[table]'"
        )
    plain = {key: np.asarray(values).tolist() for key, values in columns.items()}
    return nw.from_dict(plain, backend=cast("Any", installed)).to_native()


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
