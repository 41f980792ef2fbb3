"""Source text for the options of a function or a class: words that its signature or its refusals name, and hostile values."""

from __future__ import annotations

import inspect
import re
import types
import typing
import warnings
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

from calibrant._core.lazy import homes, load
from calibrant._core.registry import entries

HOSTILE = (
    "None", "-1", "0", "1", "2", "0.5", "1.5", "-0.0", "1e-300", "float('nan')", "float('inf')", "10**30", "-1e300", "True",
    "''", "'xyzzy'", "b'x'", "[]", "{}", "()", "object()", "np.int64(3)", "np.float32(0.25)", "np.array([0.5, 0.5])",
    "np.nan", "(lambda *_: 0.5)", "1j", "int", "[None]", "np.datetime64('NaT')", "'\\x1b[2J'",
    "np.timedelta64(1, 's')", "np.timedelta64(5)", "pd.Timedelta(1, 's')", "dt.timedelta(1)", "np.array(3, 'm8[s]')",
)  # fmt: skip
NEVER = (
    "float('nan')", "np.nan", "'xyzzy'", "object()", "1j", "b'x'", "np.datetime64('NaT')", "'\\x1b[2J'",
    "np.timedelta64(1, 's')", "np.timedelta64(5)", "pd.Timedelta(1, 's')", "dt.timedelta(1)", "np.array(3, 'm8[s]')",
)  # fmt: skip
"""What no option of numbers, words or flags allows."""

NOTIONS = (
    "calibrant.notions.TopKLabel(2)", "calibrant.notions.TopKConfidence(2)", "calibrant.notions.OneVsRest(0)",
    "calibrant.notions.OneVsRest('b')",
    "calibrant.notions.SharedClassWise(ratio=1.5)", "calibrant.notions.ThresholdedClassWise(0.1)", "'top-3-label'",
    "calibrant.notions.WithinGroups(rng.integers(0, 2, n))",
)  # fmt: skip
BINNINGS = (
    "1",
    "2",
    "5",
    "15",
    "100",
    "calibrant.EqualWidth(3)",
    "calibrant.EqualMass(4)",
    "calibrant.binning.PointsPerBin(3)",
)

BY_NAME: dict[str, tuple[str, ...]] = {
    "binning": BINNINGS,
    "labels": ("range(2)", "[0, 1, 2]", "list('abc')", "np.arange(4)", "[1, 0]", "[True, False]"),
    "pos_label": ("0", "1", "True", "'a'", "'b'", "7"),
    "rng": ("0", "1", "np.random.default_rng(3)"),
    "random_state": ("0", "1", "np.random.default_rng(3)"),
    "n_resamples": ("1", "2", "7", "30"),
    "n_bins": ("1", "2", "10", "50"),
    "block_size": ("2", "3"),
    "bandwidth": ("0.1", "1.0"),
    "threshold": ("0.1", "0.5", "0.9"),
    "level": ("0.1", "0.01", "0.9"),
    "span": ("0.3", "0.75", "1.0"),
    "resolution": ("2", "11"),
    "n_thresholds": ("3", "30"),
    "n_draws": ("5", "50"),
    "n_folds": ("2", "3"),
    "most_bins": ("3", "10"),
    "max_points": ("1", "5", "100"),
    "metrics": ("['ece']", "['nll', 'brier']", "['ece', 'vus']", "('kuiper',)"),
    "y_pred": ("np.zeros(n, dtype=int)", "rng.integers(0, 2, n)"),
    "cost_matrix": ("[[0, 1], [4, 0]]", "1 - np.eye(3)", "[[0, 1, 0.2], [5, 0, 0.2]]"),
    "extra": ("'abstain'", "['abstain']"),
    "truth": ("q",),
    "at": ("[0.1, 0.5]", "np.linspace(0, 1, 5)"),
    "ranks": ("1", "3", "[1, 2]"),
    "old_prior": ("0.5", "[0.2, 0.8]", "[0.2, 0.3, 0.5]"),
    "new_prior": ("0.1", "[0.6, 0.4]", "[0.1, 0.1, 0.8]"),
    "train_prior": ("0.3", "[0.2, 0.8]"),
    "reference": ("0", "1"),
    "view": ("(0.0, 0.0)",),
    "splits": ("'exact'", "'pairwise'"),
    "candidates": ("5", "'data'"),
    "gamma": ("[0.2, 0.3, 0.5]", "[1/3, 1/3, 1/3]", "[1, 0, 0]"),
    "class_weight": ("'balanced'", "{0: 1, 1: 4}", "[1, 2]", "3"),
    "kept": ("0.25", "{0: 0.1, 1: 1.0}", "[0.5, 1]"),
    "error": ("0.05", "0.2"),
    "n_samples": ("1000", "50", "10"),
    "points_per_bin": ("5", "25"),
    "n_classes": ("1", "2", "3", "10"),
    "bins_per_class": ("2", "10"),
    "cost_false_positive": ("1", "0.5"),
    "cost_false_negative": ("4", "1"),
    "n": ("1", "20", "300"),
    "dtype": ("np.float32", "'float64'"),
    "kind": ("'metric'", "'binning'"),
    "old_true": ("rng.integers(0, 2, 20)", "np.array([0, 1, 2, 2, 1])"),
    "old_prob": ("rng.random(20)", "np.eye(3)[[0, 1, 2, 1, 1]] * 0.7 + 0.1"),
    "old_weight": ("np.ones(20)",),
    "y_true_b": ("y",),
    "groups": ("rng.integers(0, 2, n)", "np.array(list('ab'))[rng.integers(0, 2, n)]", "np.zeros(n)"),
    "posterior": ("q",),
    "calibrated": ("q", "{'a': q, 'b': p}"),
    "prob_a": ("p",),
    "prob_b": ("q",),
    "model": ("'over-confident'", "'calibrated'"),
    "class_3": ("'variance'",),
    "classes": ("('a', 'b', 'c')",),
    "score": ("'brier'", "'log'"),
    "cv": ("2", "3"),
    "n_jobs": ("1",),
}  # fmt: skip
"""Where the type does not say which values make sense."""

FEW_RESAMPLES = ("n_resamples", "resolution", "n_thresholds")
"""Always given: their defaults take long, and the laws do not depend on them."""

FREE = (
    "pos_label",
    "labels",
    "class_weight",
    "ax",
    "axes",
    "norm",
    "reference",
    "facts",
    "classes",
    "dtype",
    "title",
    "extra",
    "cv",
)
"""Options that may hold anything, or nearly."""


@cache
def hints(target: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of the parameters, as far as they can be found."""
    code = target.__init__ if inspect.isclass(target) else target
    module = inspect.getmodule(target)
    names = {**vars(typing), **{n: load(n) for n in homes()}, **vars(module)}
    found = {}
    for name, parameter in inspect.signature(target).parameters.items():
        try:
            found[name] = typing.get_type_hints(
                types.SimpleNamespace(__annotations__={name: parameter.annotation}), names
            )[name]
        except Exception:
            found[name] = getattr(code, "__annotations__", {}).get(name, Any)
    return found


def literals(hint: Any) -> list[str]:
    """Return the words that a type allows."""
    if typing.get_origin(hint) is typing.Literal:
        return [repr(word) for word in typing.get_args(hint)]
    return [word for part in typing.get_args(hint) for word in literals(part)]


def kinds(hint: Any) -> set[Any]:
    """Return the plain types that a type allows."""
    parts = typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)
    return {part for part in parts if part in (int, float, str, bool, type(None))}


@cache
def learned_words(target: Callable[..., Any], name: str) -> tuple[str, ...]:
    """Return the words that a function names when it refuses one that it does not know."""
    given: dict[str, Any] = {name: "xyzzy"}
    rows: tuple[Any, ...] = ([0, 1, 1, 0], [[0.6, 0.4], [0.3, 0.7], [0.2, 0.8], [0.5, 0.5]])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = (
                target(**given) if inspect.isclass(target) or "y_true" not in hints(target) else target(*rows, **given)
            )
            if hasattr(made, "fit"):
                made.fit(rows[1], rows[0])
    except Exception as error:
        listed = re.search(r"one of (.*?); got", str(error))
        return tuple(re.findall(r"'[^']+'", listed[1])) if listed else ()
    return ()


def valid_values(target: Callable[..., Any], name: str) -> tuple[str, ...]:
    """Return source text for values that may make sense."""
    hint = hints(target)[name]
    if name == "notion":
        return (*map(repr, entries("notion")), *NOTIONS)
    if name == "binning":
        return (
            *BINNINGS,
            *(
                f"calibrant.binning.{e.target.__name__}()"
                for k in ("binning", "simplex-binning")
                for e in entries(k).values()
            ),
        )
    if name == "test" and not literals(hint):
        return tuple(f"calibrant.significance.{entry.target.__name__}" for entry in entries("test").values())
    if name == "metric":
        return tuple(map(repr, entries("metric")))
    if name in BY_NAME:
        return BY_NAME[name]
    words = (*literals(hint), *(learned_words(target, name) if str in kinds(hint) or isinstance(hint, str) else ()))
    plain = {bool: ("True", "False"), int: ("1", "2", "5"), float: ("0.1", "0.5", "0.9", "2.0"), type(None): ("None",)}
    return (*words, *(value for kind in kinds(hint) for value in plain.get(kind, ())))


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
