"""States of monitors: one that was changed is refused, one that is made up is refused in words, and what NumPy gave is JSON."""

import copy
import json
import re
import warnings
from itertools import pairwise

import numpy as np
import pytest

from calibrant import Monitor
from calibrant._core.checksum import checksum_of

RNG = np.random.default_rng(0)
P = RNG.random(900)
Y = (RNG.random(900) < P).astype(int)
TABLE = RNG.dirichlet(np.ones(3), 900)
CLASS = (TABLE.cumsum(axis=1) < RNG.random((900, 1))).sum(axis=1)


@pytest.fixture(scope="module")
def state():
    return json.loads(json.dumps(Monitor(window=300).update_reference(Y, P).update(Y, P).to_dict()))


def places(plain, at=()):
    """Every entry of a document, by its way; the first ones of lists."""
    pairs = plain.items() if isinstance(plain, dict) else enumerate(plain[:1]) if isinstance(plain, list) else ()
    for key, value in pairs:
        yield (*at, key)
        yield from places(value, (*at, key))


def with_entry(plain, at, value):
    """Return a state that was made up: its checksum is made to fit."""
    plain = copy.deepcopy(plain)
    inside = plain
    for key in at[:-1]:
        inside = inside[key]
    if value is KeyError:
        del inside[at[-1]]
    else:
        inside[at[-1]] = value
    if at != ("checksum",):
        plain["checksum"] = checksum_of(plain)
    return plain


def changes(inside):
    """Change each number of a state by one digit, rename each entry, and swap it with the next, one at a time and in place."""
    for key, value in list(inside.items() if isinstance(inside, dict) else enumerate(inside)):
        if isinstance(value, (dict, list)):
            yield from changes(value)
        if isinstance(value, (int, float)):
            other = re.sub(
                r"\d", lambda digit: "8" if digit[0] == "9" else str(int(digit[0]) + 1), repr(value), count=1
            )
            inside[key] = not value if isinstance(value, bool) else type(value)(other)
            yield f"{key}: {value}"
            inside[key] = value
    if isinstance(inside, dict):
        whole = dict(inside)
        for key, other in pairwise([*whole, next(iter(whole))]):
            for renamed in ({key: f"{key}_"}, {key: other, other: key}):
                inside.clear()
                inside.update({renamed.get(name, name): value for name, value in whole.items()})
                if inside != whole:
                    yield f"{renamed}"
        inside.clear()
        inside.update(whole)


def test_a_state_with_any_number_changed_or_entries_swapped_is_refused(state):
    state, seen = copy.deepcopy(state), []
    for change in changes(state):
        seen.append(change)
        with pytest.raises(ValueError, match=r"must match its checksum; got|must be the state of a monitor, version"):
            Monitor.from_dict(state)
    assert len(seen) > 900
    Monitor.from_dict(state)


@pytest.mark.parametrize("value", [None, "x", -5, 0.5, [], {}, True, float("nan"), 1e300, KeyError])
def test_a_damaged_entry_is_refused_in_words_or_changes_no_sum(state, value):
    sound = Monitor.from_dict(state)
    read, said = 0, 0
    for at in places(state):
        damaged = with_entry(state, at, value)
        try:
            found = Monitor.from_dict(damaged)
        except ValueError as error:
            assert "; got " in str(error)  # noqa: PT017 - many entries, each of which may do
            said += 1
            continue
        if {**damaged, "checksum": ""} == {**state, "checksum": ""}:
            continue
        read += 1
        assert found.n_windows == sound.n_windows
        assert at[0] in ("options", "n_rows", "next_row", "reference") or at[-1] in ("share", "name", "window", 0), at
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert np.isfinite(found._look.calibration.path).all()
    assert said > 2 * read


@pytest.mark.parametrize(
    ("at", "value", "words"),
    [
        (("windows", 0, "sums", "rows"), 299, "numbers of rows"),
        (("windows", 0, "sums", "cells", 0, "problems", 0, "score_sum", 3), 1e6, "probabilities of at most 1"),
        (("windows", 0, "sums", "cells", 0, "problems", 0, "outcome_sum", 3), 0.5, "whole numbers of events"),
        (("windows", 0, "sums", "cells", 0, "problems", 0, "outcome_sum", 3), 0.0, "rows of each bin by outcome"),
        (("windows", 0, "sums", "scores", "log loss"), [-1.0], "a log loss that is not negative"),
        (("windows", 0, "sums", "scores", "events of probability 0"), [301], "whole numbers of impossible events"),
        (("windows", 0, "window"), "a", "names of windows"),
        (("windows", 1, "window"), 0, "each window once"),
        (("options", "labels"), [0, 0], "distinct labels"),
        (("options", "input"), "odds", "probabilities or logits"),
        (("options", "notion"), None, "the notion of its rows"),
        (("next_row",), -1, "whole numbers of rows"),
    ],
)
def test_sums_that_contradict_each_other_are_refused(state, at, value, words):
    with pytest.raises(ValueError, match=words):
        Monitor.from_dict(with_entry(state, at, value))


@pytest.mark.parametrize("notion", ["confidence", "top-label", "class-wise"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_states_of_all_notions_and_precisions_are_read(notion, kind):
    table = TABLE.astype(kind)
    table[:, 2] += 0 * kind(1)
    monitor = Monitor(window=450, notion=notion, rows="normalize").update(CLASS, table)
    one = Monitor(window=450, notion=notion, rows="normalize").update([0, 1], table[[0, 0]] * 0 + [0.9, 0.1, 0.0])
    for each in (monitor, one):  # in the second one class alone is predicted
        again = Monitor.from_dict(json.loads(json.dumps(each.to_dict())))
        assert again.to_dict() == each.to_dict()


def test_labels_windows_and_names_of_numpy_are_json():
    monitor = Monitor(window=np.int64(300), pos_label=np.int64(1), labels=np.array([0, 1])).update(Y, P)
    again = Monitor.from_dict(json.loads(json.dumps(monitor.to_dict())))
    assert again.update(Y, P).n_rows == 1800
    words = np.array(["no", "yes"])
    monitor = Monitor(window=300, pos_label=np.str_("yes")).update(words[Y], P)
    assert json.loads(json.dumps(monitor.to_dict()))["options"]["pos_label"] == "yes"
    with pytest.raises(ValueError, match="numbers, dates or words"):
        Monitor().update(Y, P, at=np.inf)
