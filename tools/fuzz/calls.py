"""Calls of all public functions, calibrators and results: the registries and ``__all__`` say which there are."""

import contextlib
import inspect
import re
import types
import typing
import warnings
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

from calibrant._core.border import DataOptions
from calibrant._core.lazy import homes, load
from calibrant._core.registry import entries
from calibrant.calibrators.base import BinaryCalibrator
from tools.fuzz.case import Case
from tools.fuzz.rows import TABLES, Rows, drawn_rows, listed

# Source text for the options of a function or a class: words that its signature or its refusals name, and hostile values.

NEVER = listed(TABLES["options"]["never"])
HOSTILE = (*NEVER, *listed(TABLES["options"]["unusual"]))
BY_NAME = {name: listed(block) for name, block in TABLES["by_name"].items()} | {"metric": (), "test": ()}
BY_NAME |= {name: (*map(repr, entries(name)), *BY_NAME[name]) for name in ("notion", "metric")}
BINNINGS = (*entries("binning").values(), *entries("simplex-binning").values())
BY_NAME["binning"] += tuple(f"calibrant.binning.{entry.target.__name__}()" for entry in BINNINGS)
BY_NAME["test"] += tuple(f"calibrant.significance.{entry.target.__name__}" for entry in entries("test").values())

FEW_RESAMPLES = ("n_resamples", "resolution", "n_thresholds")
"""Always given: their defaults take long, and the laws do not depend on them."""

FREE = {"pos_label", "labels", "class_weight", "reference", "facts", "classes", "dtype", "extra", "cv"}
FREE |= {"ax", "axes", "norm", "title"}
"""Options that may hold anything, or nearly."""


@cache
def hints(target: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of the parameters, as far as they can be found."""
    names = {**vars(typing), **{n: load(n) for n in homes()}, **vars(inspect.getmodule(target))}
    found = {name: parameter.annotation for name, parameter in inspect.signature(target).parameters.items()}
    for name, annotation in found.items():
        with contextlib.suppress(Exception):
            found[name] = eval(annotation, names)
    return found


def literals(hint: Any) -> list[str]:
    """Return the words that a type allows."""
    if typing.get_origin(hint) is typing.Literal:
        return [repr(word) for word in typing.get_args(hint)]
    return [word for part in typing.get_args(hint) for word in literals(part)]


def kinds(hint: Any) -> set[Any]:
    """Return the plain types that a type allows."""
    parts = typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)
    return {part for part in parts if part in PLAIN}


PLAIN: dict[Any, tuple[str, ...]] = {
    bool: ("True", "False"),
    int: ("1", "2", "5", "30"),
    float: ("0.1", "0.5", "0.9", "2.0"),
    type(None): ("None",),
    str: (),
}


@cache
def learned_words(target: Callable[..., Any], name: str) -> tuple[str, ...]:
    """Return the words that a function names when it refuses one that it does not know."""
    given: dict[str, Any] = {name: "xyzzy"}
    rows: tuple[Any, ...] = ([0, 1, 1, 0], [[0.6, 0.4], [0.3, 0.7], [0.2, 0.8], [0.5, 0.5]])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = target(*(rows if "y_true" in hints(target) else ()), **given)
            if hasattr(made, "fit"):
                made.fit(rows[1], rows[0])
    except Exception as error:
        listed = re.search(r"one of (.*?); got", str(error))
        return tuple(re.findall(r"'[^']+'", listed[1])) if listed else ()
    return ()


def valid_values(target: Callable[..., Any], name: str) -> tuple[str, ...]:
    """Return source text for values that may make sense."""
    hint = hints(target)[name]
    if name in BY_NAME:
        return (*literals(hint), *BY_NAME[name])
    words = (*literals(hint), *(learned_words(target, name) if str in kinds(hint) or isinstance(hint, str) else ()))
    return (*words, *(value for kind in kinds(hint) for value in PLAIN[kind]))


def drawn_options(
    random: Random, target: Callable[..., Any], *, hostile: float, skip: tuple[str, ...] = ()
) -> tuple[dict[str, str], str]:
    """Draw options of a function or a class as source text, and why they must be refused, if they must."""
    chosen: dict[str, str] = {}
    refuse = ""
    for name, parameter in inspect.signature(target).parameters.items():
        if name in skip or parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        needed = parameter.default is parameter.empty or name in FEW_RESAMPLES
        if not needed and random.random() > 0.3:
            continue
        values = valid_values(target, name)
        is_flag_of_plot = target.__name__.startswith("plot_") and kinds(hints(target)[name]) == {bool}
        if (random.random() < hostile and not is_flag_of_plot) or not values:
            chosen[name] = random.choice(HOSTILE)
            if chosen[name] in NEVER and is_strict(target, name):
                refuse = f"{name}={chosen[name]}"
        else:
            chosen[name] = random.choice(values)
    return chosen, refuse


def is_strict(target: Callable[..., Any], name: str) -> bool:
    """Whether an option is a number, a word or a flag, and nothing else."""
    return (
        name not in FREE
        and not target.__name__.startswith("plot_")
        and bool(literals(hints(target)[name]) or kinds(hints(target)[name]) - {str, type(None)})
    )


ELSEWHERE = {
    "declare": "it changes the registries",
    "save_calibrator": "tests/interop/test_writing.py",
    "write_report": "tests/interop/test_writing.py",
    "load_calibrator": "tools/mutate_files",
    "calibrated": "it takes a table of an engine, and gives one",
    "show_versions": "it prints",
}
"""What is not called here, and why."""

OF_MATPLOTLIB = ("ax", "axes", "norm", "view")
"""Options that another library's objects belong to."""

AS_DECLARED = ("percent", "logits", "negative numbers", "huge numbers")
"""What makes predictions wrong only as long as they are not said to be something else."""

MISFITS = ("q", "rng", " n", "y", "'probability'")
"""Options that belong to the rows of one call, or look at them in their order, or draw some."""

IN_BATCHES = 0.2
"""Share of the calls that are given their rows in batches, of the functions that take them."""

BATCHES = (
    "calibrant.predictions(lambda: ((y[k : k + 2], p[k : k + 2], np.ones(len(y))[k : k + 2] if w is None else w[k : k + 2])"
    " for k in range(0, len(y), 2)))"
)

GIVEN = {"y_true": "y", "y_prob": "p", "source": "lambda: iter([(y, p)])", "sample_weight": "w", "progress": "False"}
PERMUTED = "o = np.random.default_rng(0).permutation(n); y, p, w = y[o], p[o], None if w is None else np.asarray(w)[o]"
REPEATED = "k = np.asarray(w).astype(int); y, p, w = np.repeat(y, k), np.repeat(p, k, axis=0), None"


@cache
def functions() -> tuple[str, ...]:
    """Return the names of the public functions."""
    return tuple(name for name in sorted(homes()) if name not in ELSEWHERE and inspect.isfunction(load(name)))


@cache
def calibrators() -> tuple[str, ...]:
    """Return the names of the classes of calibrators, and of the classifier that holds one."""
    known = {entry.target.__name__ for entry in entries("calibrator").values()}
    return (*sorted(known), "ByNotion", "CalibratedClassifier")


def targets() -> tuple[str, ...]:
    """Return all names that are called."""
    return functions() + calibrators()


def drawn_case(random: Random, name: str) -> Case:
    """Draw a call of a public name."""
    hostile = random.choice((0.0, 0.0, 0.15, 0.5))
    draw = _of_calibrator if name in calibrators() else _of_function
    return draw(random, name, drawn_rows(random, hostile=hostile), hostile)


# Functions


def _of_function(random: Random, name: str, rows: Rows, hostile: float) -> Case:
    target = load(name)
    parameters = inspect.signature(target).parameters
    given = GIVEN | {"calibrator": fitted(random, rows)}
    given |= {parameter: drawn for parameter in parameters if (drawn := _result_for(random, target, parameter))}
    arguments = {parameter: text for parameter, text in given.items() if parameter in parameters}
    chosen, refuse = drawn_options(random, target, hostile=hostile / 2, skip=(*arguments, *OF_MATPLOTLIB))
    arguments |= chosen
    if "data" in parameters:
        arguments |= {"sample_weight": "w", **_data_options(random, rows, hostile)}
    if {"y_true", "y_prob"} <= set(arguments):
        declared = "input" in arguments or "rows" in arguments
        refuse = refuse or ("" if declared and rows.refuse in AS_DECLARED else rows.refuse)
    if "Predictions" in str(parameters.get("y_true")) and rows.are_usual and random.random() < IN_BATCHES:
        arguments = {n: text for n, text in arguments.items() if n not in ("y_prob", *DataOptions.__annotations__)}
        arguments["y_true"] = BATCHES
    first = [n for n, p in parameters.items() if n in arguments and p.default is p.empty and p.kind != p.KEYWORD_ONLY]
    ordered = [arguments.pop(n) for n in first]
    words = [f"{parameter}={text}" for parameter, text in arguments.items()]
    twin, because = _twin(random, name, rows, arguments)
    return Case(name, rows.lines, f"{homes()[name]}.{name}({', '.join([*ordered, *words])})", refuse, twin, because)


def _data_options(random: Random, rows: Rows, hostile: float) -> dict[str, str]:
    """Draw what every metric and curve accepts about its data."""
    if random.random() < 0.6:
        return {}
    unfit = {"sample_weight", *(["y_pred"] if rows.is_table else [])}
    name = random.choice(sorted(set(DataOptions.__annotations__) - unfit))
    return {name: random.choice(BY_NAME[name]) if random.random() > hostile / 2 else "'xyzzy'"}


def _result_for(random: Random, target: Callable[..., Any], parameter: str) -> str:
    """Return a call whose result is what a parameter takes, for those that take results."""
    hint = str(inspect.signature(target).parameters[parameter].annotation)
    makers = [name for kind, name in _makers().items() if kind in re.findall(r"\w+", hint)]
    if not makers:
        return ""
    maker = makers[0]
    needs = inspect.signature(load(maker)).parameters
    texts = {"y_true": "t", "y_prob": "q", "n_resamples": "5", "resolution": "11"}
    texts |= {"values": "{'a': [1, 2], 'b': [2, 1]}", "estimator": "GaussianNB()", "X": "np.eye(len(t))"}
    texts["calibrator"] = "calibrant.TemperatureScaling().fit(q, t)"
    made = f"{homes()[maker]}.{maker}({', '.join(f'{n}={texts[n]}' for n in needs if n in texts)})"
    named = "Mapping" in hint and random.random() < 0.3
    return f"{{'a': {made}}}" if named else made


@cache
def _makers() -> dict[str, str]:
    """Return the function that makes each kind of result."""
    makers = (name for name in reversed(functions()) if name != "predictions")  # these stand for y_true and y_prob
    kinds_of = {str(inspect.signature(load(name)).return_annotation): name for name in makers}
    return {kind: name for kind, name in kinds_of.items() if kind in homes() and inspect.isclass(load(kind))}


def _twin(random: Random, name: str, rows: Rows, options: dict[str, str]) -> tuple[tuple[str, ...], str]:
    """Return lines that make rows of which a metric, or the statistic of a test, must be the same, and why."""
    own = {text for option, text in options.items() if option != "sample_weight"}
    of_rows = {entry.target.__name__ for entry in entries("metric").values()}  # no order, no folds, no draws
    if name not in of_rows or not rows.are_usual or any(part in text for text in own for part in MISFITS):
        return (), ""
    if rows.marks[2] == "count" and random.random() < 0.5:
        return (*rows.lines, REPEATED), "integer weights are repeated rows"
    return (*rows.lines, PERMUTED), "the order of the rows does not matter"


# Calibrators


def fitted(random: Random, rows: Rows) -> str:
    """Return the source text of a calibrator, fitted on rows that are valid."""
    own = f"labels=range({rows.n_classes})" if rows.is_table else ""
    name = random.choice(calibrators()[:-2])
    if issubclass(load(name), BinaryCalibrator) and rows.n_classes > 2:
        return f"calibrant.ByNotion({homes()[name]}.{name}(), {own}).fit(q, t)"
    return f"{homes()[name]}.{name}({own}).fit(q, t)"


def _of_calibrator(random: Random, name: str, rows: Rows, hostile: float) -> Case:
    target = load(name)
    options, refuse = drawn_options(random, target, hostile=hostile / 3, skip=("progress", "calibrator", "estimator"))
    if name == "MulticlassRecursivePartitioning":
        options.setdefault("max_regions", "3")  # cross-validation of the number of regions takes seconds
    of_scores = [name for name in calibrators() if issubclass(load(name), BinaryCalibrator)]
    inner = f"calibrant.calibrators.{random.choice(of_scores)}()"
    if name == "CalibratedClassifier":
        return _of_classifier(random, rows, options, inner, refuse)
    if "calibrator" in hints(target) and (name == "ByNotion" or random.random() < 0.5):
        options["calibrator"] = inner
    if rows.is_table and "labels" not in options:
        options["labels"] = f"range({rows.n_classes})"
    words = ", ".join(f"{n}={text}" for n, text in options.items())
    extremes = f"np.eye({rows.n_classes})" if rows.is_table else "np.array([0.0, 0.5, 1.0])"
    new = random.choice(("p", "p", "q", extremes))
    reason = "" if options.get("input") and rows.refuse in AS_DECLARED else rows.refuse
    call = f"{homes()[name]}.{name}({words}).fit(p, y, w).predict_proba({new})"
    return Case(name, rows.lines, call, refuse or reason)


def _of_classifier(random: Random, rows: Rows, options: dict[str, str], inner: str, refuse: str) -> Case:
    """Draw a call of the classifier that fits a model and a calibrator."""
    word = random.choice([inner, *(repr(name) for name in entries("calibrator"))])
    words = ", ".join(f"{n}={text}" for n, text in {"calibrator": word, **options}.items() if n != "labels")
    features = "np.c_[np.asarray(q, dtype=float)]"
    call = f"calibrant.CalibratedClassifier(GaussianNB(), {words}).fit({features}, y, w).predict_proba({features})"
    return Case("CalibratedClassifier", rows.lines, call, refuse)


def undrawn() -> list[str]:
    """Return the parameters without a default for which nothing is known to be drawn: such names are called in vain."""
    parameters = [(name, *of) for name in functions() for of in inspect.signature(load(name)).parameters.items()]
    needed = [(n, p) for n, p, of in parameters if of.default is of.empty and of.kind != of.VAR_KEYWORD]
    return [
        f"{name}({parameter}=)"
        for name, parameter in needed
        if not {parameter} & {*GIVEN, "calibrator"}
        and not (_result_for(Random(0), load(name), parameter) or valid_values(load(name), parameter))
    ]
