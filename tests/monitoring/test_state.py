"""States of monitors: one that was changed is refused, and what NumPy gave is JSON."""

import copy
import json
import re
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
    assert Monitor.from_dict(state).to_dict() == state


def test_a_state_that_lacks_an_entry_is_refused_in_words(state):
    for name in set(state) - {"calibrant_monitor", "checksum"}:
        lacking = {key: value for key, value in state.items() if key != name}
        with pytest.raises(ValueError, match=r"state of a monitor must be whole; got KeyError"):
            Monitor.from_dict({**lacking, "checksum": checksum_of(lacking)})


@pytest.mark.parametrize("alpha", [{"number": "nan"}, None, "a"])
def test_an_alarm_whose_level_is_no_number_is_refused(alpha):
    monitor = Monitor(window=300).update(1 - Y, P)
    assert monitor.alarms
    state = json.loads(json.dumps(monitor.to_dict()))
    (*_, alarm) = state["alarms"]
    alarm["alpha"] = alpha
    with pytest.raises(ValueError, match=r"state of a monitor must be whole; got (Type|Value)Error"):
        Monitor.from_dict({**state, "checksum": checksum_of(state)})


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
