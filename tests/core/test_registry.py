import re

import numpy as np
import pytest
from spellings import spelling_of

import calibrant
from calibrant._core import registry
from calibrant._core.border import as_problem
from calibrant._core.registry import HOMES, declare, entries, find, named
from calibrant.metrics.kinds import MeanOfRows, Own, ThroughLens


@pytest.mark.parametrize("kind", HOMES)
def test_entries_come_in_the_order_of_their_names(kind):
    assert list(entries(kind)) == sorted(entries(kind))


@pytest.mark.parametrize("kind", HOMES)
def test_every_entry_says_what_it_is(kind):
    for name, entry in entries(kind).items():
        assert (entry.kind, entry.name) == (kind, name)
        assert entry.symbol
        assert entry.source
        assert entry.summary.endswith(".")


def test_a_metric_is_one_of_three_things_and_has_a_range():
    for metric in entries("metric").values():
        assert sum(isinstance(metric, kind) for kind in (ThroughLens, MeanOfRows, Own)) == 1
        assert metric.range[0] < metric.range[1]


def test_no_error_is_better_when_higher():
    better = [name for name, entry in entries("metric").items() if entry.higher_is_better]
    assert better == ["accuracy", "dsc", "hand-till", "hull-auc", "roc-auc", "vus"]


def test_a_notion_bears_its_registered_name():
    for name, entry in entries("notion").items():
        assert entry.target().name == name


@pytest.mark.parametrize("kind", HOMES)
def test_a_thing_is_found_by_name_and_by_itself(kind):
    for name, entry in entries(kind).items():
        assert find(kind, name) is entry
        assert named(entry.target) is entry


def test_a_name_like_no_other_brings_the_list():
    with pytest.raises(ValueError, match=r"got 'xyzzy'\. See `calibrant list`\."):
        find("binning", "xyzzy")


def test_a_thing_is_found_by_its_other_words():
    entry = find("metric", "tece")
    assert (entry.name, entry.words) == ("tace", ("tace", "tece"))
    with pytest.raises(ValueError, match=r"got 'teece'\. Did you mean 'tece'\?"):
        find("metric", "teece")


def test_a_metric_over_bins_takes_those_asked_for_or_has_its_own():
    for metric in entries("metric").values():
        assert metric.takes_binning + metric.has_own_bins == (spelling_of(metric) is not None)


def test_a_percentage_says_so():
    assert {name: entry.unit for name, entry in entries("metric").items() if entry.unit} == {"tce": "%"}


@pytest.fixture
def restored(monkeypatch):
    monkeypatch.setattr(registry, "_ENTRIES", {kind: dict(held) for kind, held in registry._ENTRIES.items()})


@pytest.mark.usefixtures("restored")
def test_a_name_is_declared_once():
    declare("test", "mine", symbol="M", source="-")(lambda: 0)
    with pytest.raises(ValueError, match="'mine' is declared twice"):
        declare("test", "mine", symbol="M", source="-")(lambda: 0)


@pytest.mark.usefixtures("restored")
def test_an_unknown_guarantee_is_refused():
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


def test_a_metric_is_declared_by_its_object():
    with pytest.raises(ValueError, match=r"got 'metric' for 'mine'\. Make a MeanOfRows, ThroughLens or Own"):
        declare("metric", "mine", symbol="M", source="-")


def test_a_metric_without_a_function_says_how_it_gets_one():
    message = (
        "a metric must have a function; got none. Decorate the function with the metric's declare, or pass target="
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        Own("mine", "M", "-").value(as_problem([0, 1], [0.2, 0.7]))
