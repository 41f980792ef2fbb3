"""Names, parameters, defaults and declarations change on purpose only."""

import importlib
import inspect
import pkgutil
import re
from dataclasses import fields, is_dataclass

import numpy as np
from sklearn.base import BaseEstimator

import calibrant
from calibrant._core.lazy import homes, load
from tools import public_api


def test_what_users_rely_on_is_as_it_was_written_down():
    written = public_api.KEPT.read_text().splitlines()
    found = list(public_api.lines())
    gone, new = sorted(set(written) - set(found)), sorted(set(found) - set(written))
    assert (gone, new) == ([], []), "if that is meant, run `python -m tools.public_api` and say so in changelog.d"


def dataclasses_of_the_package():
    for module in pkgutil.walk_packages(calibrant.__path__, "calibrant."):
        if not module.name.endswith("__main__"):
            for target in vars(importlib.import_module(module.name)).values():
                is_own = inspect.isclass(target) and target.__module__ == module.name and is_dataclass(target)
                if is_own and not issubclass(target, BaseEstimator):
                    yield target


EQUAL_BY_VALUE = {"Scale", "SharedClassWise", "Sizes"}
"""Annotated with arrays, and not compared."""


def test_every_dataclass_but_estimators_is_frozen_and_one_that_holds_arrays_equals_only_itself():
    found = list(dataclasses_of_the_package())
    held = [target for target in found if any(re.search("Array|ndarray", str(of.type)) for of in fields(target))]
    assert len(held) > 90
    assert all(target.__dataclass_params__.frozen for target in found)
    assert {target.__name__ for target in held if target.__eq__ is not object.__eq__} == EQUAL_BY_VALUE


def documented_defaults():
    """Every parameter of a public function or class whose documentation says a default: its name, that, and the default."""
    for name in sorted(homes()):
        target = load(name)
        if not (inspect.isclass(target) or inspect.isroutine(target)) or not getattr(target, "__doc__", None):
            continue
        for words, said in re.findall(r"^(\w+(?:, \w+)*) : .*?\bdefault=(.+)$", inspect.getdoc(target), flags=re.M):
            each = words.split(", ")
            values = said.split(" and ") if len(each) > 1 and " and " in said else [said] * len(each)
            for parameter, value in zip(each, values, strict=True):
                yield f"{name}: {parameter}", value, inspect.signature(target).parameters[parameter].default


def test_the_defaults_that_are_documented_are_those_of_the_signature():
    names = {"numpy": np} | vars(calibrant.binning) | {name: load(name) for name in ("EqualMass", "BoundedIsotonic")}
    found = list(documented_defaults())
    assert len(found) > 350
    assert {where: said for where, said, default in found if eval(said, names) != default} == {}
