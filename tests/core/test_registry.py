"""What is declared is found by any of its words, and names of other packages answer with what to write."""

import ast
import json
import re

import numpy as np
import pytest
import sklearn.calibration
import sklearn.isotonic
import sklearn.metrics
from spellings import spelling_of

import calibrant
from calibrant._core import lazy, registry
from calibrant._core.border import as_problem
from calibrant._core.checks import folded, under_word
from calibrant._core.lazy import PACKAGES, homes, load, where
from calibrant._core.registry import HOMES, declare, entries, find, named
from calibrant.binning import BoundedIsotonic, EqualMass, as_binning
from calibrant.binning.cells import Sierpinski, as_simplex_binning
from calibrant.metrics.kinds import MeanOfRows, Own, ThroughLens
from calibrant.notions import TopKLabel, TopLabel, as_notion


@pytest.mark.parametrize("kind", HOMES)
def test_every_entry_says_what_it_is_and_is_found_by_word_class_or_function_and_symbol(kind):
    assert list(entries(kind)) == sorted(entries(kind))
    for name, entry in entries(kind).items():
        assert (entry.kind, entry.name) == (kind, name)
        assert entry.symbol
        assert entry.source
        assert entry.summary.endswith(".")
        assert named(entry.target) is entry
        for word in (*entry.words, *entry.names):
            assert find(kind, word) is find(kind, word.upper()) is find(kind, word.replace("-", "_")) is entry


def test_a_metric_is_one_of_three_things_has_a_range_and_over_bins_takes_some_or_has_its_own():
    for metric in entries("metric").values():
        assert sum(isinstance(metric, kind) for kind in (ThroughLens, MeanOfRows, Own)) == 1
        assert metric.range[0] < metric.range[1]
        assert metric.takes_binning + metric.has_own_bins == (spelling_of(metric) is not None)


def test_no_error_is_better_when_higher_and_one_is_a_percentage():
    better = [name for name, entry in entries("metric").items() if entry.higher_is_better]
    assert better == ["accuracy", "dsc", "hand-till", "hull-auc", "roc-auc", "vus"]
    assert [name for name, entry in entries("metric").items() if entry.unit] == ["tce"]  # in percent


@pytest.fixture
def restored(monkeypatch):
    monkeypatch.setattr(registry, "_ENTRIES", {kind: dict(held) for kind, held in registry._ENTRIES.items()})


@pytest.mark.usefixtures("restored")
def test_a_name_is_declared_once_with_guarantees_that_are_known():
    declare("test", "mine", symbol="M", source="-")(lambda: 0)
    with pytest.raises(ValueError, match="'mine' is declared twice"):
        declare("test", "mine", symbol="M", source="-")(lambda: 0)
    with pytest.raises(ValueError, match=r"guarantees must be among .*; 'mine' declares \['always right'\]"):
        declare("calibrator", "mine", symbol="M", source="-", guarantees={"always right"})(lambda: 0)


@pytest.mark.usefixtures("restored")
def test_a_metric_declares_its_function():
    mine = Own("mine", "M", "-", also=("ours",))

    def rate(y_true, y_prob):
        return float(np.mean(y_true))

    assert mine.declare(rate) is rate
    assert find("metric", "ours") is named(rate) is mine
    assert mine.value(as_problem([0, 1], [0.2, 0.7])) == 0.5
    with pytest.raises(ValueError, match=r"metric must have an estimator for an interval; mine has none"):
        calibrant.assess([0, 1], [0.2, 0.7], metrics=["ours"])
    with pytest.raises(ValueError, match="'mine' is declared twice"):
        mine.declare(rate)


def test_a_metric_is_declared_by_its_object_and_its_function_by_that():
    with pytest.raises(ValueError, match=r"got 'metric' for 'mine'\. Make a MeanOfRows, ThroughLens or Own"):
        declare("metric", "mine", symbol="M", source="-")
    message = "must have a function; got none\\. Decorate the function with the metric's declare, or pass target="
    with pytest.raises(ValueError, match=f"a metric {message}"):
        Own("mine", "M", "-").value(as_problem([0, 1], [0.2, 0.7]))


@pytest.mark.parametrize("kind", HOMES)
def test_no_spelling_stands_for_two_things(kind):
    spelled = [{folded(word) for word in (*entry.words, *entry.names)} for entry in entries(kind).values()]
    assert sum(map(len, spelled)) == len(set().union(*spelled))


def test_the_word_that_was_meant_is_one_that_is_declared():
    assert (find("metric", "tece").name, find("metric", "tece").words) == ("tace", ("tace", "tece"))
    assert find("metric", "TECE").word_for("TECE") == "tece"
    assert find("metric", "expected_calibration_error").word_for("expected_calibration_error") == "ece"


@pytest.mark.parametrize(
    ("kind", "word", "answer"),
    [
        ("metric", "expected_calibration_eror", "'expected_calibration_error'"),
        ("metric", "teece", "'tece'"),
        ("metric", "TOP_LABEL_EC", "'top-label-ece'"),
        ("binning", "EqualMas", "'equal-mass'"),
        ("binning", "quantile", "'equal-mass'"),
        ("calibrator", "temprature", "'temperature'"),
    ],
)
def test_a_misspelt_word_brings_the_nearest_one_of_each_thing(kind, word, answer):
    with pytest.raises(ValueError, match=rf"{kind} must be one of .*; got '{word}'\. Did you mean {answer}\?$"):
        find(kind, word)


def test_what_is_like_no_word_brings_the_list():
    with pytest.raises(ValueError, match=r"got 'xyzzy'\. See `calibrant list`\."):
        find("binning", "xyzzy")
    with pytest.raises(TypeError, match=r"metric must be a word; got 3\. See `calibrant list metrics`\."):
        find("metric", 3)


def test_words_with_numbers_are_spelled_in_any_way_too():
    assert as_notion("Top_3_Label") == TopKLabel(3)
    assert as_notion("TL") == TopLabel()
    assert [as_binning(word) for word in ("Equal mass 20", "bounded-isotonic")] == [EqualMass(20), BoundedIsotonic()]
    assert as_simplex_binning("SIERPINSKI_3") == Sierpinski(3)


def test_a_choice_is_found_by_another_spelling():
    assert under_word("a", "Two Sided", {"two-sided": 2}) == 2
    with pytest.raises(TypeError, match=r"a must be one of 'two-sided'; got 3\."):
        under_word("a", 3, {"two-sided": 2})


# Names of other packages, and symbols of metrics


KNOWN = json.loads(lazy.FOREIGN.read_text(encoding="utf-8"))
FOREIGN, GUESSED = KNOWN["foreign"], KNOWN["guessed"]
RNG = np.random.default_rng(0)
P = RNG.random(60)
DATA = {"y_true": (RNG.random(60) < P).astype(int), "y_prob": P}


def names_in(expression):
    bound = {"values", "weights", *DATA}
    return {node.id for node in ast.walk(ast.parse(expression)) if isinstance(node, ast.Name)} - bound


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


def test_the_table_is_in_order_and_holds_names_of_others_only():
    assert [*FOREIGN, *GUESSED] == [*sorted(FOREIGN), *sorted(GUESSED)]
    assert not {*FOREIGN} & {*GUESSED}
    assert not {*FOREIGN, *GUESSED} & {*homes(), *PACKAGES}
    theirs = [name for name, foreign in FOREIGN.items() if foreign[0] == "scikit-learn"]
    assert len(theirs) > 4
    modules = (sklearn.calibration, sklearn.isotonic, sklearn.metrics)
    assert all(any(hasattr(module, name) for module in modules) for name in theirs)


def test_a_package_answers_and_an_unknown_name_is_refused_without_advice():
    with pytest.raises(AttributeError, match="For calibration_curve of scikit-learn: from calibrant import"):
        calibrant.calibrators.calibration_curve  # noqa: B018 - the attribute is what is tried
    with pytest.raises(AttributeError, match=r"^module 'calibrant' has no attribute 'xyzzy'\.$"):
        calibrant.xyzzy  # noqa: B018 - the attribute is what is tried
