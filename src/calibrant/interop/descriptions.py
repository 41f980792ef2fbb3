"""From a calibrator to what JSON can hold, and back. Each class says what it holds: see `Calibrator._described`."""

from __future__ import annotations

from copy import copy
from typing import Any, TypeVar, cast

import numpy as np

from calibrant._core.parameters import choice, flag, require, whole
from calibrant._core.problem import Forecast
from calibrant._core.registry import Kind, find, named
from calibrant.calibrators.around.by_notion import ByNotion
from calibrant.calibrators.base import Calibrator
from calibrant.interop.class_names import classes_named, names_of, shown
from calibrant.interop.fitted import annotated, restore, state_of
from calibrant.interop.old_names import current, renamed
from calibrant.interop.values import decode, encode
from calibrant.notions import Notion, as_notion

C = TypeVar("C", bound=Calibrator)

WORDS = {str: "a word", dict: "an object", list: "a list", int: "a whole number"}
"""What kinds are called."""


class Writer:
    """Writes what calibrators hold."""

    def value(self, value: Any) -> Any:
        """Return a parameter or a fitted attribute."""
        return encode(value, self.calibrator)

    def calibrator(self, calibrator: Calibrator) -> dict[str, Any]:
        """Return a calibrator that another one holds: fitted by `fit`, fitted to a binary problem, or only told what to do."""
        return whole_of(calibrator) if hasattr(calibrator, "classes_") else calibrator._described(self)

    def state(self, calibrator: Calibrator) -> dict[str, Any]:
        """Return what fitting found."""
        return {name: self.value(value) for name, value in state_of(calibrator).items()}

    def notion(self, notion: Notion) -> str | dict[str, Any]:
        """Return a notion: its word, with its parameters if it has any."""
        word = self.word("notion", notion, "one")
        parameters = {k: self.value(v) for k, v in vars(notion).items()}
        return {"name": word, "parameters": parameters} if parameters else word

    def word(self, kind: Kind, thing: object, what: str = "method") -> str:
        """Return the word by which a thing is declared."""
        entry = named(type(thing))
        require(
            entry is not None,
            f"the {kind} must be a registered {what}",
            got=type(thing).__name__,
            hint=f"Declare it with calibrant.declare({kind!r}, ...)",
            error=TypeError,
        )
        return str(cast("Any", entry).name)


class Reader:
    """Makes calibrators of what is written."""

    def calibrator(self, description: Any) -> Calibrator:
        """Return a calibrator that another one holds."""
        is_whole = isinstance(description, dict) and "classes" in description
        return restored_whole(description) if is_whole else self.built(description, input="probability")

    def built(self, description: Any, *, input: Any) -> Calibrator:
        """Return a calibrator with what fitting found, if that is described."""
        if isinstance(description, dict) and "notion" in description:
            return ByNotion._of_description(description, self, input=input)
        made = self.unfitted(description, input=input)
        return self.fitted(made, description) if "fitted" in description else made

    def unfitted(self, description: Any, *, input: Any = "probability") -> Calibrator:
        """Return a calibrator as it was told, not fitted."""
        name = current("calibrator", self.part(description, "method", str))
        target: Any = find("calibrator", name).target
        made: Calibrator = target(
            input=input, **target._restored_parameters(self._values("calibrator", name, description, "parameters"))
        )
        return made

    def fitted(self, calibrator: C, description: dict[str, Any]) -> C:
        """Return a calibrator with the fitted attributes of a description; its parameters are read once for many."""
        made, name = copy(calibrator), current("calibrator", description["method"])
        restore(made, self._values("calibrator", name, description, "fitted"))
        return made

    def notion(self, description: Any) -> str | Notion | None:
        """Return a notion, or the word of one."""
        if description is None:
            return None
        if isinstance(description, str):
            word = str(current("notion", description))
            as_notion(word)
            return word
        name = current("notion", self.part(description, "name", str))
        notion: Notion = find("notion", name).target(**self._values("notion", name, description, "parameters"))
        return notion

    def part(self, description: Any, name: str, kind: type) -> Any:
        """Return a part of a description, which must be there and of its kind."""
        if not isinstance(description, dict):
            raise TypeError(f"what holds {name} must be an object; got {type(description).__name__}")
        if not isinstance(description.get(name), kind):
            found = type(description[name]).__name__ if name in description else "nothing"
            raise TypeError(f"{name} must be {WORDS[kind]}; got {found}")
        return description[name]

    def _values(self, kind: str, name: str, description: dict[str, Any], part: str) -> dict[str, Any]:
        """Return parameters or fitted attributes, decoded, under the names of today."""
        given = renamed(kind, name, self.part(description, part, dict))
        return {key: self._decoded(key, value) for key, value in given.items()}

    def _decoded(self, name: str, value: Any) -> Any:
        try:
            if name == "calibrator" and isinstance(value, str):
                return find("calibrator", current("calibrator", value)).name
            return decode(value, self.calibrator)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{name}: {error}") from error


def whole_of(calibrator: Calibrator) -> dict[str, Any]:
    """Return what `fit` was told, and what it made of it."""
    return {
        "classes": names_of(calibrator.classes_),
        "input": calibrator.input,
        "named": calibrator.labels is not None,
        "columns": int(calibrator.n_features_in_),
        "calibrator": calibrator._described(Writer()),
    }


def restored_whole(body: Any) -> Calibrator:
    """Return the fitted calibrator of such a description, checked by its class."""
    read = Reader()
    input: Any = choice("input", read.part(body, "input", str), ("probability", "logit"))
    calibrator = read.built(read.part(body, "calibrator", dict), input=input)
    if "named" in body and flag("named", body["named"]):  # what labels= was given, so that it can be fitted again
        calibrator.labels = read.part(body, "classes", list)
    in_order = body.get("named") is False  # what was written before there was the word does not say
    calibrator.classes_ = classes_named(read.part(body, "classes", list), in_order=in_order)
    n_classes, n_columns = len(calibrator.classes_), whole("columns", body.get("columns"), least=1, hint="Fit anew")
    fits = n_columns in (n_classes, 1 if n_classes == 2 else n_classes)
    require(fits, f"columns must be as many as classes, {n_classes}", value=n_columns, hint="Fit anew")
    calibrator.n_features_in_ = n_columns
    calibrator._accept_loaded()
    if not annotated(type(calibrator)):
        _try(calibrator)  # of a class that says nothing of its attributes
    return calibrator


def _try(calibrator: Calibrator) -> None:
    """Calibrate the forecast that knows nothing, and those that are sure of the first or the last class, one by one."""
    n_classes = len(calibrator.classes_)
    is_logit = calibrator.input == "logit"
    for sure_of in (None, 0, -1):
        forecast = np.full((1, n_classes), 0.0 if is_logit or sure_of is not None else 1.0 / n_classes)
        if sure_of is not None:
            forecast[0, sure_of] = 10.0 if is_logit else 1.0
        with np.errstate(all="ignore"):
            prob = calibrator._map_forecast(Forecast(forecast, is_logit))
        if prob.shape != forecast.shape or not ((prob >= 0.0) & (prob <= 1.0)).all():
            raise ValueError(
                f"fitted must give probabilities of {n_classes} classes; got {shown(prob.ravel().tolist())}"
            )
