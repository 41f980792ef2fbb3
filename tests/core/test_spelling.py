"""A word is found however it is spelled, and an unknown one brings the nearest."""

import pytest

from calibrant._core.checks import choice, folded, under_word
from calibrant._core.registry import HOMES, entries, find
from calibrant.binning import EqualMass, as_binning
from calibrant.binning.cells import Sierpinski, as_simplex_binning
from calibrant.notions import TopKLabel, TopLabel, as_notion


@pytest.mark.parametrize("kind", HOMES)
def test_every_thing_is_found_by_word_class_or_function_and_symbol(kind):
    for entry in entries(kind).values():
        for word in (*entry.words, *entry.names):
            assert find(kind, word.upper()) is find(kind, word.replace("-", "_")) is entry


@pytest.mark.parametrize("kind", HOMES)
def test_no_spelling_stands_for_two_things(kind):
    spelled = [{folded(word) for word in (*entry.words, *entry.names)} for entry in entries(kind).values()]
    assert sum(map(len, spelled)) == len(set().union(*spelled))


def test_the_word_that_was_meant_is_one_that_is_declared():
    assert find("metric", "TECE").word_for("TECE") == "tece"
    assert find("metric", "expected_calibration_error").word_for("expected_calibration_error") == "ece"


@pytest.mark.parametrize(
    ("kind", "word", "answer"),
    [
        ("metric", "expected_calibration_eror", "'expected_calibration_error'"),
        ("metric", "TOP_LABEL_EC", "'top-label-ece'"),
        ("notion", "top-lable", "'top-label'"),
        ("binning", "EqualMas", "'equal-mass'"),
        ("binning", "quantile", "'equal-mass'"),
        ("binning", "Uniform", "'equal-width'"),
        ("calibrator", "temprature", "'temperature'"),
        ("test", "Spiegelhalt", "'spiegelhalter'"),
    ],
)
def test_a_misspelt_word_brings_the_nearest_one_of_each_thing(kind, word, answer):
    with pytest.raises(ValueError, match=rf"{kind} must be one of .*; got '{word}'\. Did you mean {answer}\?$"):
        find(kind, word)


def test_what_is_no_word_is_refused_as_such():
    with pytest.raises(TypeError, match=r"metric must be a word; got 3\. See `calibrant list metrics`\."):
        find("metric", 3)


def test_words_with_numbers_are_spelled_in_any_way_too():
    assert as_notion("Top_3_Label") == TopKLabel(3)
    assert as_notion("TL") == TopLabel()
    assert as_binning("Equal mass 20") == EqualMass(20)
    assert as_simplex_binning("SIERPINSKI_3") == Sierpinski(3)


def test_a_choice_is_strict_and_knows_what_was_meant():
    with pytest.raises(ValueError, match=r"got 'LESS'\. Did you mean 'less'\?"):
        choice("a", "LESS", ["greater", "less"])
    assert under_word("a", "Two Sided", {"two-sided": 2}) == 2
    with pytest.raises(TypeError, match=r"a must be one of 'two-sided'; got 3\."):
        under_word("a", 3, {"two-sided": 2})
