"""Where a name is that was asked of the wrong package: in another package of ours, or under another name."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.util import find_spec, resolve_name
from pathlib import Path
from types import ModuleType
from typing import Any

from calibrant._core.foreign import FOREIGN, GUESSED, Foreign

# The stub of a package, which lists its names and where they are


Homes = dict[str, tuple[str, str | None]]
"""Where each name of a package is: the module, and what it is called there; None for the module itself."""


def read_stub(package: str, stub: Path) -> tuple[Homes, list[str]]:
    """Return where each name of a package is, and which of them are public."""
    homes: Homes = {}
    public: list[str] | None = None
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            homes |= dict(_homes_of(node, package))
        elif isinstance(node, ast.Assign):
            public = ast.literal_eval(node.value)
    return homes, [name for name, (_, member) in homes.items() if member] if public is None else public


def _homes_of(node: ast.ImportFrom, package: str) -> Iterator[tuple[str, tuple[str, str | None]]]:
    source = resolve_name("." * node.level + (node.module or ""), package)
    for alias in node.names:
        whole = node.module is None
        yield alias.asname or alias.name, (f"{source}.{alias.name}", None) if whole else (source, alias.name)


# Public names that load when they are first used (PEP 562): the stub beside an `__init__.py` lists them, once


IN_AN_IMPORT = "_handle_fromlist"
"""The function of Python that asks a package for the names of a `from` import."""


def attach(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return the `__getattr__`, `__dir__` and `__all__` of a package.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    file : str
        Its ``__file__``; the stub stands beside it.

    Returns
    -------
    tuple
        What ``__all__`` of the stub lists is public; without it all names of the stub that are no modules. Other names of the
        stub are there as well.
    """
    homes, public = read_stub(package, Path(file).with_suffix(".pyi"))
    modules = {name for name, (_, member) in homes.items() if member is None}

    def load(name: str) -> Any:
        if name not in homes:
            raise _unknown(package, name, is_import=sys._getframe(1).f_code.co_name == IN_AN_IMPORT)
        module, member = homes[name]
        found = importlib.import_module(module)
        value = found if member is None else getattr(found, member)
        setattr(sys.modules[package], name, value)
        return value

    class Package(ModuleType):
        """A package in which a public name stays what it is when a module of the same name is loaded."""

        def __setattr__(self, name: str, value: Any) -> None:
            own = isinstance(value, ModuleType) and name in homes and name not in modules
            super().__setattr__(name, getattr(value, name) if own else value)

    sys.modules[package].__class__ = Package
    return load, lambda: sorted({*public, *modules, *filter(_is_special, vars(sys.modules[package]))}), public


def _is_special(name: str) -> bool:
    return name.startswith("__")


def _unknown(package: str, name: str, *, is_import: bool) -> Exception:
    """Return the error of a name that is not there; Python would drop the message of an AttributeError in an import."""
    hint = ""
    if not name.startswith("_") and find_spec(f"{package}.{name}") is None:  # a module is imported next
        hint = where(name)
    message = f"module {package!r} has no attribute {name!r}. {hint}".rstrip()
    if is_import and hint:
        return ImportError(message, name=package)
    return AttributeError(message, name=name, obj=sys.modules[package])


# Where a name is that was asked of the wrong package: in another package of ours, or under another name


PACKAGES = (
    "assessment",
    "binning",
    "calibrators",
    "curves",
    "datasets",
    "decisions",
    "exceptions",
    "interop",
    "metrics",
    "notions",
    "monitoring",
    "planning",
    "registry",
    "report",
    "significance",
)
"""The public packages of calibrant. Each public name stands in exactly one of them; the front door repeats some."""

RENAMED: Mapping[str, str] = {
    "CenteredIsotonicCalibrator": "CenteredIsotonicCalibration",
    "CumulativeCurve": "CumulativeResidualCurve",
    "CumulativeMap": "CumulativeCalibrationMap",
    "CumulativeSumDiagram": "CumulativeSumCurve",
    "IsotonicCalibrator": "IsotonicCalibration",
    "NearIsotonicCalibrator": "NearIsotonicCalibration",
    "NetBenefitCurve": "DecisionCurve",
    "SurfaceVolume": "VolumeUnderSurface",
    "area_under_roc_hull": "area_under_roc_hull_score",
    "brier_loss": "brier_score_loss",
    "cumulative_curve": "cumulative_residual_curve",
    "cumulative_map": "cumulative_calibration_map",
    "cumulative_sum_diagram": "cumulative_sum_curve",
    "maximum_class_calibration_error": "classwise_worst_calibration_error",
    "mean_brier_loss": "mean_class_brier_loss",
    "mean_class_maximum_calibration_error": "classwise_mean_maximum_calibration_error",
    "negative_log_likelihood": "log_loss",
    "net_benefit_curve": "decision_curve",
    "plot_cumulative": "plot_cumulative_residual",
    "plot_cumulative_map": "plot_cumulative_calibration_map",
    "surface_volume": "estimate_volume_under_surface",
    "volume_under_surface": "volume_under_surface_score",
}
"""Names of calibrant before it was released: old to new."""

RETIRED: Mapping[str, str] = {
    "accuracy": 'Call assess(y_true, y_prob, metrics=["accuracy"]).',
    "area_under_roc": 'Call assess(y_true, y_prob, metrics=["roc-auc"]).',
    "plot_calibration_shift": "Call plot() of what calibration_shift returns.",
    "plot_decision_curve": "Call plot() of what decision_curve returns.",
    "plot_expected_cost": "Call plot() of what expected_cost_curve returns.",
    "plot_net_benefit": "Call plot() of what decision_curve returns.",
    "plot_null": "Call plot() of the result of a test.",
    "plot_score_distribution": "Call plot() of what score_distribution returns.",
    "plot_simplex_map": "Call plot() of what simplex_map returns.",
}
"""What is done otherwise now, and how."""


@cache
def homes() -> Mapping[str, str]:
    """Return the public package of each public name."""
    return {name: f"calibrant.{package}" for package in PACKAGES for name in _names(package)}


def load(name: str) -> Any:
    """Return a public object by its name, wherever it stands."""
    return getattr(import_module(homes()[name]), name)


def _names(package: str) -> list[str]:
    """Return the public names of a package, or of a module that lists them."""
    home = Path(__file__).parents[1] / package
    if (stub := home / "__init__.pyi").exists():
        return read_stub(f"calibrant.{package}".rstrip("."), stub)[1]
    listed = next(
        n for n in ast.parse(home.with_suffix(".py").read_text(encoding="utf-8")).body if isinstance(n, ast.Assign)
    )
    return list(ast.literal_eval(listed.value))


def where(name: str) -> str:
    """Return where to find a name, as a sentence that says what to write; empty if nothing is known of it."""
    if name in homes():
        return f"{name} is in {_nearest(name)}: {_import_of(name)}"
    if name in RENAMED:
        return f"{name} is {RENAMED[name]} now: {_import_of(RENAMED[name])}"
    if name in RETIRED:
        return RETIRED[name]
    if name in FOREIGN:
        return _of_other_package(name, FOREIGN[name])
    if name in GUESSED:
        return f"For {name}: {'; '.join(map(_import_of, GUESSED[name]))}"
    if answer := _of_metric(name):
        return answer
    near = get_close_matches(name, [*homes(), *RENAMED], n=1, cutoff=0.8)
    if not near:
        return ""
    meant = RENAMED.get(near[0], near[0])
    return f"Did you mean {meant}? {_import_of(meant)}"


def _of_other_package(name: str, known: Foreign) -> str:
    needed = dict.fromkeys(word for word in re.findall(r"\w+", known.ours) if word in homes())
    lines = [*map(_import_of, needed), *([] if known.ours in needed else [known.ours])]
    return f"For {name} of {known.package}: {'; '.join(lines)}{f'. {known.note}.' if known.note else ''}"


def _of_metric(name: str) -> str:
    """Return what to write for a metric that is found by a name, such as "NLL"; empty where there is none."""
    from calibrant._core.registry import find

    try:
        metric = find("metric", name)
    except ValueError:
        return ""
    function = str(getattr(metric.target, "__name__", ""))
    if function in homes():
        return f"{name} is {function} here: {_import_of(function)}"
    return f'For {name} write assess(y_true, y_prob, metrics=["{metric.name}"]): {_import_of("assess")}'


def _import_of(name: str) -> str:
    return f"from {_nearest(name)} import {name}"


def _nearest(name: str) -> str:
    """Return the front door for a name that stands there, else its package."""
    return "calibrant" if name in _front_door() else homes()[name]


@cache
def _front_door() -> frozenset[str]:
    return frozenset(_names(""))
