"""From the words of `calibrant fit` to a calibrator."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calibrant.calibrators.base import Calibrator


def calibrator_of(arguments: argparse.Namespace, *, n_columns: int, **options: Any) -> Calibrator:
    """Return the calibrator that was asked for, not fitted yet; ``options`` say what its data are."""
    from calibrant._registry import find
    from calibrant.calibrators.base import BinaryCalibrator
    from calibrant.calibrators.by_notion import ByNotion
    from calibrant.calibrators.safe import SafeCalibrator

    calibrator: Calibrator = _with_parameters(find("calibrator", arguments.method).target(), arguments)
    if isinstance(calibrator, BinaryCalibrator) and (n_columns > 2 or arguments.notion):
        calibrator = ByNotion(calibrator, arguments.notion or "class-wise")
    elif arguments.notion:
        raise ValueError(
            f"--notion belongs to methods of one score; {arguments.method!r} maps all classes. Leave it out."
        )
    if arguments.safe:
        calibrator = SafeCalibrator(calibrator)
    calibrator.set_params(**options)
    return calibrator


def _with_parameters(calibrator: Calibrator, arguments: argparse.Namespace) -> Calibrator:
    known = sorted(set(calibrator.get_params(deep=False)) - {"input", "labels", "calibrator"})
    for text in arguments.set:
        name, sign, value = text.partition("=")
        if not sign or name not in known:
            raise ValueError(
                f"--set must be NAME=VALUE with a parameter of {arguments.method!r} "
                f"({', '.join(known) if known else 'it has none'}); got {text!r}. See the method's documentation."
            )
        calibrator.set_params(**{name: _value(value)})
    return calibrator


def _value(text: str) -> Any:
    """Numbers, true, false, null and lists are JSON; everything else is a word."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
