import pytest

import calibrant
from calibrant._core import registry
from calibrant._core.registry import GUARANTEES, HOMES, declare, entries, find, named


@pytest.mark.parametrize("kind", HOMES)
def test_there_is_something_of_every_kind(kind):
    assert entries(kind)


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


@pytest.mark.parametrize("kind", ["metric", "binning", "simplex-binning", "calibrator"])
def test_every_entry_is_public(kind):
    for entry in entries(kind).values():
        assert getattr(calibrant, entry.target.__name__) is entry.target


def test_a_metric_is_one_of_four_things_and_has_a_range():
    for entry in entries("metric").values():
        assert sum(fact is not None for fact in (entry.spelling, entry.per_row, entry.lens, entry.estimate)) == 1
        assert (entry.lens is None) == (entry.size is None)
        assert entry.range[0] < entry.range[1]


def test_no_error_is_better_when_higher():
    better = [name for name, entry in entries("metric").items() if entry.higher_is_better]
    assert better == ["accuracy", "dsc", "hand-till", "hull-auc", "roc-auc", "vus"]


def test_a_calibrator_promises_only_what_is_explained():
    for entry in entries("calibrator").values():
        assert entry.guarantees <= set(GUARANTEES)


def test_a_notion_bears_its_registered_name():
    for name, entry in entries("notion").items():
        assert entry.target().name == name


@pytest.mark.parametrize("kind", HOMES)
def test_a_thing_is_found_by_name_and_by_itself(kind):
    for name, entry in entries(kind).items():
        assert find(kind, name) is entry
        assert named(entry.target) is entry


def test_what_is_not_declared_has_no_entry():
    assert named(object()) is None


def test_a_misspelt_name_brings_the_nearest_one():
    with pytest.raises(ValueError, match=r"metric must be one of .*; got 'eec'\. Did you mean 'ece'\?"):
        find("metric", "eec")


def test_a_name_like_no_other_brings_the_list():
    with pytest.raises(ValueError, match=r"got 'xyzzy'\. See `calibrant list`\."):
        find("binning", "xyzzy")


def test_a_thing_is_found_by_its_other_words():
    entry = find("metric", "tece")
    assert (entry.name, entry.words) == ("tace", ("tace", "tece"))
    with pytest.raises(ValueError, match=r"got 'teece'\. Did you mean 'tece'\?"):
        find("metric", "teece")


def test_a_word_stands_for_one_thing():
    for kind in HOMES:
        words = [word for entry in entries(kind).values() for word in entry.words]
        assert len(words) == len(set(words))


def test_a_metric_over_bins_takes_those_asked_for_or_has_its_own():
    for entry in entries("metric").values():
        assert entry.takes_binning + entry.has_own_bins == (entry.spelling is not None)


def test_a_percentage_says_so():
    assert {name: entry.unit for name, entry in entries("metric").items() if entry.unit} == {"tce": "%"}


@pytest.fixture
def restored(monkeypatch):
    monkeypatch.setattr(registry, "_ENTRIES", {kind: dict(held) for kind, held in registry._ENTRIES.items()})


@pytest.mark.usefixtures("restored")
def test_a_name_is_declared_once():
    declare("metric", "mine", symbol="M", source="-")(lambda: 0)
    with pytest.raises(ValueError, match="'mine' is declared twice"):
        declare("metric", "mine", symbol="M", source="-")(lambda: 0)


@pytest.mark.usefixtures("restored")
def test_an_unknown_guarantee_is_refused():
    with pytest.raises(ValueError, match=r"guarantees must be among .*; 'mine' declares \['always right'\]"):
        declare("calibrator", "mine", symbol="M", source="-", guarantees={"always right"})(lambda: 0)


@pytest.mark.usefixtures("restored")
def test_a_newcomer_is_listed():
    declare("metric", "mine", symbol="M", source="-")(lambda: 0)
    assert find("metric", "mine").symbol == "M"
