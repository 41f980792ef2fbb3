"""What every call keeps: the laws that the fuzzer judges by."""

from __future__ import annotations

import contextlib
import io
import linecache
import os
import pickle
import random as global_random
import re
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas

import calibrant
from tools.fuzz.cases import Case, made
from tools.fuzz.values import alike, broken_by

HOME = str(Path(calibrant.__file__).parent)
MOST_SECONDS = 30
"""Seconds of computing that a call may take; the rows are few."""

PARTS = r".+[;:,] .+[.?!:)] \S.*"
"""What must hold; what was given and where. What to do."""

OF_ESTIMATORS = tuple(
    os.path.join("sklearn", *parts) for parts in (("utils", "validation.py"), ("model_selection", "_split.py"))
)
"""Where scikit-learn refuses, in its own words, what its checks of estimators ask to be refused, and folds without a class."""

OF_FITS = ("ConvergenceWarning", "DataConversionWarning")
"""Warnings that scikit-learn's contract asks of estimators."""


@dataclass(frozen=True)
class Verdict:
    """How a call ended, and which laws it broke."""

    outcome: str
    """"accepted", "refused" or "broken"."""
    faults: tuple[str, ...]


def judged(case: Case) -> Verdict:
    """Make a call and say which laws it breaks."""
    names, untouched = made(case.lines), made(case.lines)
    before = _surroundings()
    outcome, value, said, faults, seconds = _called(case, names)
    faults += [
        f"the input {name} was changed"
        for name in ("y", "p", "w", "q", "t")
        if _print(names[name]) != _print(untouched[name])
    ]
    if _surroundings() != before:
        faults.append("the global state of NumPy or random was changed")
    if outcome == "accepted":
        if case.refuse:
            faults.append(f"it was not refused, in spite of {case.refuse}")
        faults += broken_by(case, value, said)
        if seconds < 0.3:
            faults += _of_repetition(case, value)
    return Verdict(outcome if not faults else "broken", tuple(faults))


def _called(case: Case, names: dict[str, Any]) -> tuple[str, Any, list[str], list[str], float]:
    """Return the outcome, the value, what was warned of, broken laws, and the seconds."""
    with warnings.catch_warnings(record=True) as said, contextlib.redirect_stdout(io.StringIO()) as printed:
        warnings.simplefilter("always")
        outcome, value, faults, seconds = _tried(case, names)
    strange = {
        f"{w.category.__name__}: {str(w.message)[:200]} ({w.filename}:{w.lineno})" for w in said if not _is_ours(w)
    }
    faults += [f"a warning that is not the library's: {text}" for text in sorted(strange)]
    faults += ["it printed"] if printed.getvalue() else []
    return outcome, value, [str(w.message) for w in said], faults, seconds


WITHOUT_NAMES = "does not have valid feature names"
"""What scikit-learn says of an array given to what was fitted to a table with names."""

FEW_OF_A_CLASS = "members, which is less than n_splits"
"""What scikit-learn warns of by itself where a class has fewer rows than there are folds."""


def _is_ours(warned: warnings.WarningMessage) -> bool:
    if FEW_OF_A_CLASS in str(warned.message) or WITHOUT_NAMES in str(warned.message):
        return True
    if warned.category is RuntimeWarning and "/sklearn/" in warned.filename:
        return True  # the classifier that is passed, on columns that do not vary
    return issubclass(warned.category, calibrant.exceptions.CalibrationWarning) or warned.category.__name__ in OF_FITS


def _tried(case: Case, names: dict[str, Any]) -> tuple[str, Any, list[str], float]:
    start = time.process_time()
    try:
        with _limited(MOST_SECONDS):
            value = eval(case.call, names)
            if not isinstance(value, np.ndarray):
                repr(value)
                _ = value._repr_html_() if hasattr(value, "_repr_html_") else None
                _ = value.to_frame() if hasattr(value, "to_frame") else None
            if "matplotlib.pyplot" in sys.modules:
                sys.modules["matplotlib.pyplot"].close("all")
    except TooLong:
        return "refused", None, [f"it took more than {MOST_SECONDS} s"], MOST_SECONDS
    except (ValueError, TypeError) as error:
        return "refused", None, _of_refusal(case, error), time.process_time() - start
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        return "refused", None, [f"it raised {type(error).__name__}: {str(error)[:300]}"], time.process_time() - start
    return "accepted", value, [], time.process_time() - start


class TooLong(BaseException):
    """A call that does not end."""


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    def end(*_: Any) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


# Refusals


def _of_refusal(case: Case, error: Exception) -> list[str]:
    """Judge a message: raised by calibrant, and in four parts; estimators may speak as scikit-learn asks of them."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    file, line = (trace.tb_frame.f_code.co_filename, trace.tb_lineno) if trace is not None else ("", 0)
    message = " ".join(str(error).split())
    if ".fit(" in case.call and file.endswith(OF_ESTIMATORS):
        return []
    if not file.startswith(HOME) or "raise" not in linecache.getline(file, line):
        return [f"the message is not the library's, {type(error).__name__}: {message[:300]} ({file}:{line})"]
    if not re.fullmatch(PARTS, message):
        return [f"the message lacks a part, {type(error).__name__}: {message[:300]} ({file}:{line})"]
    return []


# The same value again


def _of_repetition(case: Case, value: Any) -> list[str]:
    """Judge the same call a second time, and the call whose value must be the same."""
    faults = []
    again = _value_of(case, case.lines)
    is_random = "rng=None" in case.call or "random_state=None" in case.call or case.name.startswith("make_")
    if not is_random and not case.name.startswith("plot_") and not alike(value, again, exact=True):
        faults.append("a second call gives another value")
    if case.twin and not alike(value, other := _value_of(case, case.twin), exact=False):
        faults.append(f"{value!r} becomes {other!r}: {case.because}")
    return faults


def _value_of(case: Case, lines: tuple[str, ...]) -> Any:
    outcome, value, _, faults, _ = _called(case, made(lines))
    return value if outcome == "accepted" else f"refused {faults}"


# What lies around


def _surroundings() -> tuple[Any, ...]:
    state = np.random.get_state(legacy=True)  # noqa: NPY002
    return state[1].tobytes(), state[2], global_random.getstate(), tuple(np.geterr().items()), len(warnings.filters)


def _print(value: Any) -> Any:
    """Return what tells an input from a changed one."""
    if isinstance(value, np.longdouble) or (isinstance(value, np.ndarray) and value.dtype == np.longdouble):
        return np.asarray(value).tolist()  # its bytes hold gaps, with anything in them
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.dtype, value.shape, value.strides, value.flags.writeable, value.tobytes()
    if hasattr(value, "to_pydict"):
        return value.to_pydict()
    if hasattr(value, "to_pylist"):
        return str(value.type), value.to_pylist()
    if isinstance(value, (pandas.DataFrame, pandas.Series, pandas.api.extensions.ExtensionArray)):
        kinds = value.dtypes.tolist() if isinstance(value, pandas.DataFrame) else [value.dtype]
        index = list(getattr(value, "index", ()))
        return list(map(str, kinds)), index, list(map(str, value.to_numpy().ravel().tolist()))  # pickled: with caches
    try:
        return pickle.dumps(value)
    except Exception:
        return type(value)
