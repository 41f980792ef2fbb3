"""Parameters are refused in four parts: what must hold, what was given, where, and what to do."""

import numpy as np
import pytest

from calibrant._core import checks as must
from calibrant.calibrators import Mixture

OF_VALUES = [
    (lambda: must.require(False, "a must be one", value=[2], hint="Pass 1"), "a must be one; got [2]. Pass 1."),
    (lambda: must.require([], "a must be one", given="b has two", hint="Pass 1"), "a must be one; b has two. Pass 1."),
    (
        lambda: must.each(
            "a", np.array([[1.0, -2.0], [3.0, -4.0]]), np.array([[True, False]] * 2), "rise", hint="Sort"
        ),
        "a must rise; got -2 at index (0, 1). Sort.",
    ),
    (
        lambda: must.one_each("a", np.ones(2), 3, "share"),
        "a must hold a share for each of the 3 classes; got shape (2,). Pass them in column order.",
    ),
    (lambda: must.together(a=1, b=None), "a and b must be given together; b is missing. Pass both, or neither."),
    (lambda: must.some("a", [], "name", hint="Pass ['x']"), "a must hold at least one name; got none. Pass ['x']."),
    (
        lambda: must.some("a", {}, "name", hint="Pass {'x': 1}"),
        "a must hold at least one name; got an empty dict. Pass {'x': 1}.",
    ),
    (
        lambda: must.distinct_names("forecasts", [1, "1"]),
        "forecasts must have names that differ as text; got 1, '1'. Rename one of them.",
    ),
    (
        lambda: must.choice("a", "les", ("greater", "less")),
        "a must be one of 'greater', 'less'; got 'les'. Did you mean 'less'?",
    ),
    (lambda: Mixture(3), "mixture must be a number, at least 0 and below 1; got 3. Pass 0 for none."),
]
OF_TYPES = [
    (lambda: must.list_of_names("a", "ece"), "a must be a list of names; got the string 'ece'. Pass ['ece']."),
    (lambda: must.list_of_names("a", np.array(3)), "a must be a list of names; got array(3). Pass a list."),
    (
        lambda: must.choice("a", ["less"], ("greater", "less")),
        "a must be one of 'greater', 'less'; got ['less']. Pass one of them.",
    ),
]


@pytest.mark.parametrize(
    ("error", "call", "message"), [(ValueError, *row) for row in OF_VALUES] + [(TypeError, *row) for row in OF_TYPES]
)
def test_what_is_refused_is_said_in_four_parts(error, call, message):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("values", "place"),
    [([[0.0, 0.0], [1.0, -1.0]], r"got -1\.0 at index 1, 1"), ([[0.0, float("nan")]], "got nan at index 0, 1")],
)
def test_a_number_that_does_not_fit_is_named_by_its_place(values, place):
    with pytest.raises(ValueError, match=place):
        must.numbers("x_", np.array(values), shape=(None, 2), order="rising")
