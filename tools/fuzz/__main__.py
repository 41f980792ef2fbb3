"""Run: python -m tools.fuzz [SECONDS] [SEED] [--most N]"""

import contextlib
import inspect
import io
import pickle
import random as global_random
import re
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas

import calibrant
from calibrant._core.lazy import load
from calibrant.metrics.kinds import metrics
from tools.draws import is_clear, judge_draws, run
from tools.fuzz.calls import drawn_case, targets
from tools.fuzz.case import Case, made, numbers

# Laws of what a call returns: finite or explained, within its range, probabilities where they are promised.


OTHER_RANGE = re.compile(r"\b(score|norm|loss|distance|across)=")
"""Options that change the unit of a metric."""


def broken_by(case: Case, value: Any, said: list[str]) -> list[str]:
    """Return which laws a value breaks, of which ``said`` was warned."""
    faults = []
    documented, ranges = _documents(load(case.name)), {metric.target.__name__: metric.range for metric in metrics()}
    for path, number, owners in numbers(value):
        if not np.isfinite(number).all() and not said and not (documented or any(map(_documents, owners))):
            kind = "NaN" if np.isnan(number).any() else "infinite"
            faults.append(f"{kind} in silence at {re.sub('[0-9]+', '', path) or 'the value'}")
    if isinstance(value, float) and case.name in ranges and np.isfinite(value) and not OTHER_RANGE.search(case.call):
        low, high = ranges[case.name]
        if not low <= value <= high * (1 + 1e-12):
            faults.append(f"{value!r} is outside of its range, [{low}, {high}]")
    if ".predict_proba(" in case.call and "normalize=False" not in case.call:
        faults += _of_probabilities(value)
    return list(dict.fromkeys(faults))


def _of_probabilities(prob: Any) -> list[str]:
    if not isinstance(prob, np.ndarray) or prob.ndim != 2 or prob.dtype != np.float64:
        return [f"predict_proba must give a table of float64; got {type(prob).__name__}"]
    off = np.abs(prob.sum(axis=1) - 1).max(initial=0)
    if off < 1e-9 and ((prob >= 0) & (prob <= 1)).all():
        return []
    return [f"no probabilities: sums off by {off:g}, in [{prob.min()}, {prob.max()}]"]


@cache
def _documents(target: Any) -> bool:
    """Whether the documentation of a function, or of a class and its bases, speaks of values that are not finite."""
    texts = (inspect.getdoc(one) or "" for one in (target.__mro__ if inspect.isclass(target) else (target,)))
    return any(re.search(r"\bNaN\b|\bnan\b|infinit|\binf\b|undefined", text) for text in texts)


def alike(a: Any, b: Any, *, exact: bool) -> bool:
    """Whether two results hold the same numbers, bit for bit or but for rounding."""
    first, second = ({path: value for path, value, _ in numbers(one)} for one in (a, b))
    shapes = [{path: value.shape for path, value in one.items()} for one in (first, second)]
    same = np.array_equal if exact else partial(np.allclose, rtol=1e-8, atol=1e-10)
    return (type(a), shapes[0]) == (type(b), shapes[1]) and all(
        same(value, second[path], equal_nan=True) for path, value in first.items()
    )


# A call


HOME = str(Path(calibrant.__file__).parent)
MOST_SECONDS, STUCK = 30, 300
"""Seconds of computing that a call may take, the rows are few; and after which one that does not return ends the whole run."""

LAST = Path(tempfile.gettempdir(), "calibrant_last_call.py")
"""What was called when the run ended like that, or crashed."""

OF_ESTIMATORS = ("sklearn/utils/validation.py", "sklearn/model_selection/_split.py")
"""Where scikit-learn refuses, in its own words, what its checks of estimators ask to be refused, and folds without a class."""

OF_FITS = ("ConvergenceWarning", "DataConversionWarning")
"""Warnings that scikit-learn's contract asks of estimators."""

OF_OTHERS = re.compile(r"does not have valid feature names|less than n_splits|Conversion of an array with ndim > 0")
"""What scikit-learn says of an array given to what was fitted to a table, and where a class has fewer rows than folds; and an
older NumPy of cells that are lists."""


def judged(case: Case) -> tuple[str, list[str]]:
    """Make a call; return whether it was accepted or refused, and which laws it breaks."""
    names, untouched, before = made(case.lines), made(case.lines), _surroundings()
    begun = time.process_time()
    outcome, value, said, faults = _called(case, names)
    seconds = time.process_time() - begun
    faults += [f"the input {name} was changed" for name in "ypwqt" if _print(names[name]) != _print(untouched[name])]
    faults += ["the global state of NumPy or random was changed"] if _surroundings() != before else []
    faults += [f"it took more than {MOST_SECONDS} s"] if seconds > MOST_SECONDS else []
    if outcome == "accepted":
        faults += [f"it was not refused, in spite of {case.refuse}"] if case.refuse else []
        faults += broken_by(case, value, said)
        if seconds < 0.3:
            faults += _of_repetition(case, value)
    return outcome, faults


def _called(case: Case, names: dict[str, Any]) -> tuple[str, Any, list[str], list[str]]:
    """Return the outcome, the value, what was warned of, and broken laws."""
    outcome, value, faults = "refused", None, []
    with warnings.catch_warnings(record=True) as said, contextlib.redirect_stdout(io.StringIO()) as printed:
        warnings.simplefilter("always")
        try:
            value = eval(case.call, names)
            _show(value)
            outcome = "accepted"
        except KeyboardInterrupt:
            raise
        except (ValueError, TypeError, ImportError) as error:
            faults = _of_refusal(case, error)
        except BaseException as error:  # engines have some of their own
            faults = [f"it raised {type(error).__name__}: {str(error)[:300]}"]
    strange = {
        f"{w.category.__name__}: {str(w.message)[:200]} ({w.filename}:{w.lineno})" for w in said if not _is_due(w)
    }
    faults += [f"a warning that is not the library's: {text}" for text in sorted(strange)]
    faults += ["it printed"] if printed.getvalue() else []
    return outcome, value, [str(w.message) for w in said], faults


def _show(value: Any) -> None:
    """Show a value in all ways it has."""
    if not isinstance(value, np.ndarray):
        repr(value)
        for show in ("_repr_html_", "to_frame"):
            getattr(value, show, lambda: None)()
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def _is_due(warned: warnings.WarningMessage) -> bool:
    """Whether a warning is the library's, or one that scikit-learn must give."""
    of_model = warned.category is RuntimeWarning and "/sklearn/" in warned.filename  # on columns that do not vary
    of_others = OF_OTHERS.search(str(warned.message)) or warned.category.__name__ in OF_FITS
    return bool(of_model or of_others) or issubclass(warned.category, calibrant.exceptions.CalibrationWarning)


def _of_refusal(case: Case, error: Exception) -> list[str]:
    """Judge a message: raised by calibrant, and in all parts; estimators may speak as scikit-learn asks of them."""
    raised = traceback.extract_tb(error.__traceback__)[-1]
    message = " ".join(str(error).split())
    told = f"{type(error).__name__}: {message[:300]} ({raised.filename}:{raised.lineno})"
    if (".fit(" in case.call or case.name.endswith("optimism_corrected")) and raised.filename.endswith(OF_ESTIMATORS):
        return []
    if not raised.filename.startswith(HOME) or "raise" not in (raised.line or ""):
        return [f"the message is not the library's, {told}"]
    return [] if is_clear(message) else [f"the message lacks a part, {told}"]


def _of_repetition(case: Case, value: Any) -> list[str]:
    """Judge the same call a second time, and the call whose value must be the same."""
    faults, again = [], _value_of(case, case.lines)
    is_random = "rng=None" in case.call or "random_state=None" in case.call or case.name.startswith(("make_", "plot_"))
    if not is_random and not alike(value, again, exact=True):
        faults.append("a second call gives another value")
    if case.twin and not alike(value, other := _value_of(case, case.twin), exact=False):
        faults.append(f"{value!r} becomes {other!r}: {case.because}")
    return faults


def _value_of(case: Case, lines: tuple[str, ...]) -> Any:
    outcome, value, _, faults = _called(case, made(lines))
    return value if outcome == "accepted" else f"refused {faults}"


def _surroundings() -> tuple[Any, ...]:
    state = np.random.get_state(legacy=True)  # noqa: NPY002
    return state[1].tobytes(), state[2], global_random.getstate(), tuple(np.geterr().items()), len(warnings.filters)


def _print(value: Any) -> Any:
    """Return what tells an input from a changed one."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.dtype, value.strides, value.flags.writeable, str(value.tolist())
    if isinstance(value, (pandas.DataFrame, pandas.Series, pandas.api.extensions.ExtensionArray)):
        index, kinds = list(getattr(value, "index", ())), str(getattr(value, "dtypes", ""))
        return index, kinds, str(value.to_numpy().tolist())  # pickled: with caches
    for listed in ("to_pydict", "to_pylist"):  # of Arrow
        if hasattr(value, listed):
            return str(getattr(value, "type", "")), str(getattr(value, listed)())
    try:
        return pickle.dumps(value)
    except Exception:
        return type(value)


def fuzz(seconds: float, seed: int, *, names: tuple[str, ...] = (), most: int = 10**9) -> Counter[str]:
    """Draw calls until the time is over, and print those that break a law."""
    names = names or targets()

    def judge(number: int, random: Random) -> tuple[str, str, list[str], str]:
        case = drawn_case(random, names[number % len(names)])
        LAST.write_text(case.snippet, encoding="utf-8")
        signal.alarm(STUCK)
        outcome, faults = judged(case)
        signal.alarm(0)
        return case.name, outcome, faults, case.snippet

    return judge_draws(judge, seconds, seed, most)


if __name__ == "__main__":
    sys.exit(run("fuzz", __doc__, fuzz, f"calls of {len(targets())} public names", "returned a result"))
