"""From the words of `calibrant fit` to a calibrator."""

from __future__ import annotations

import argparse
import json
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calibrant.calibrators.around.default import Method
    from calibrant.calibrators.base import Calibrator
    from calibrant.notions import Notion

SAFE = "safe."
"""Before the name of a parameter: it is one of `SafeCalibrator`, and not of the method inside."""

OF_A_NOTION = "beta"
"""The default of one event, with an intercept and few numbers, where ``--notion`` asks for a map of each."""

PYTHON = {"True": True, "False": False, "None": None}


def method_of(arguments: argparse.Namespace, *, n_columns: int, n_rows: float) -> Method:
    """Return the method that was asked for, or the default: beta calibration, of one event, where a notion makes many."""
    from calibrant._core.registry import find
    from calibrant.calibrators.around.default import Method, default_method

    if arguments.method:
        return Method(find("calibrator", arguments.method).word_for(arguments.method), arguments.safe)
    default = Method(OF_A_NOTION, safe=False) if arguments.notion else default_method(max(2, n_columns), n_rows)
    return default._replace(safe=default.safe or arguments.safe)


def calibrator_of(arguments: argparse.Namespace, chosen: Method, *, n_columns: int, **options: Any) -> Calibrator:
    """Return the calibrator of a method, not fitted yet; ``options`` say what its data are."""
    from calibrant.calibrators.around.for_classes import for_classes
    from calibrant.calibrators.around.safe import SafeCalibrator
    from calibrant.calibrators.by_word import as_calibrator
    from calibrant.calibrators.kinds import BinaryCalibrator

    inner = [text for text in arguments.set if not text.startswith(SAFE)]
    outer = [text.removeprefix(SAFE) for text in arguments.set if text.startswith(SAFE)]
    method, safe = chosen
    calibrator = _with_parameters(as_calibrator(method), inner, method)
    if arguments.notion and not isinstance(calibrator, BinaryCalibrator):
        raise ValueError(f"--notion belongs to methods of one score; {method!r} maps all classes. Leave it out.")
    calibrator = for_classes(calibrator, n_columns, arguments.notion)
    if safe and method == "safe":
        raise ValueError(
            "--safe must stand beside a method that it makes safe; got --method safe. Leave one of them out."
        )
    if outer and not safe:
        raise ValueError(f"--set safe.NAME=VALUE must stand beside --safe; got {outer[0]!r} without it. Add --safe.")
    if safe:
        calibrator = _with_parameters(SafeCalibrator(calibrator), outer, "safe")
    calibrator.set_params(**options)
    return calibrator


def found_notion(arguments: argparse.Namespace, calibrator: Calibrator) -> Notion | None:
    """Return the notion of a fitted calibrator, if the rows decided something in it, such as groups of classes."""
    from calibrant.notions import as_notion

    inner: Any = getattr(calibrator, "calibrator_", calibrator)
    found: Notion | None = getattr(inner, "notion_", None)
    return None if found is None or inner.notion is None or found == as_notion(inner.notion) else found


def _with_parameters(calibrator: Calibrator, settings: list[str], method: str) -> Calibrator:
    known = sorted({*calibrator.get_params(deep=False), *_parts(calibrator)} - {"input", "labels", "calibrator"})
    for text in settings:
        name, sign, value = text.partition("=")
        if not sign or name not in known:
            raise ValueError(
                f"--set must be NAME=VALUE with a parameter of {method!r} "
                f"({', '.join(known) if known else 'it has none'}); got {text!r}. Choose one of them; what they mean stands "
                f"in help(calibrant.{type(calibrator).__name__})."
            )
        whole, _, part = name.partition(".")
        given = _value(value)
        if part:
            given = replace(calibrator.choices[whole](getattr(calibrator, whole)), **{part: given})
        calibrator.set_params(**{whole: given})
    return calibrator


def _parts(calibrator: Calibrator) -> list[str]:
    """Return the names of what parameters that are objects hold, each after that of its parameter."""
    objects = {name: make(getattr(calibrator, name)) for name, make in calibrator.choices.items()}
    return [f"{name}.{field.name}" for name, one in objects.items() for field in fields(one)]


def _value(text: str) -> Any:
    """Numbers, true, false, null and lists are JSON, True, False and None Python; everything else is a word."""
    if text in PYTHON:
        return PYTHON[text]
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
