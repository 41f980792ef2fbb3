"""Names of other packages, and symbols of metrics, answer with what to write."""

import ast
import importlib
import json
import re

import numpy as np
import pytest
import sklearn.calibration
import sklearn.isotonic
import sklearn.metrics

import calibrant
from calibrant._core import lazy
from calibrant._core.lazy import PACKAGES, homes, load, where

KNOWN = json.loads(lazy.FOREIGN.read_text(encoding="utf-8"))
FOREIGN, GUESSED = KNOWN["foreign"], KNOWN["guessed"]
RNG = np.random.default_rng(0)
P = RNG.random(60)
DATA = {"y_true": (RNG.random(60) < P).astype(int), "y_prob": P}


def names_in(expression):
    tree = ast.walk(ast.parse(expression))
    bound = {"values", "weights", *DATA}
    return {node.id for node in tree if isinstance(node, ast.Name)} - bound


@pytest.mark.parametrize("name", FOREIGN)
def test_a_name_of_another_package_answers_with_lines_that_run(name):
    package, ours = FOREIGN[name][:2]
    told = where(name)
    assert told.startswith(f"For {name} of {package}: from calibrant")
    for line in re.findall(r"from [\w.]+ import \w+", told):
        exec(line)
    assert names_in(ours) <= set(homes())
    assert eval(ours, {word: load(word) for word in names_in(ours)} | DATA) is not None


@pytest.mark.parametrize("name", GUESSED)
def test_a_name_that_people_try_first_leads_to_lines_that_run(name):
    told = where(name)
    assert told.startswith(f"For {name}: from calibrant")
    for line in told.removeprefix(f"For {name}: ").split("; "):
        exec(line)


@pytest.mark.parametrize("package", ["calibrant", "calibrant.metrics", "calibrant.calibrators"])
def test_every_package_answers(package):
    asked = importlib.import_module(package)
    with pytest.raises(AttributeError, match="For calibration_curve of scikit-learn: from calibrant import"):
        asked.calibration_curve  # noqa: B018 - the attribute is what is tried


def test_the_table_is_in_order_and_holds_no_name_of_ours():
    assert [*FOREIGN, *GUESSED] == [*sorted(FOREIGN), *sorted(GUESSED)]
    assert not {*FOREIGN} & {*GUESSED}
    assert not {*FOREIGN, *GUESSED} & {*homes(), *PACKAGES}


def test_names_of_scikit_learn_are_there():
    theirs = [name for name, foreign in FOREIGN.items() if foreign[0] == "scikit-learn"]
    assert len(theirs) > 4
    modules = (sklearn.calibration, sklearn.isotonic, sklearn.metrics)
    assert all(any(hasattr(module, name) for module in modules) for name in theirs)


def test_an_unknown_name_is_refused_without_advice():
    with pytest.raises(AttributeError, match=r"^module 'calibrant' has no attribute 'xyzzy'\.$"):
        calibrant.xyzzy  # noqa: B018 - the attribute is what is tried
