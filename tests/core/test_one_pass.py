"""One look at numbers, against the checks that look once for each question."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant._core import arrays as one_pass
from calibrant._core import border as validation
from calibrant._core.arrays import are_between, are_probabilities, is_real
from calibrant._core.border import as_problem
from calibrant._core.rows import SUM_TOLERANCE, BinaryProblem

ODD = [0.0, -0.0, 1.0, 0.5, 1 + 1e-7, 1 + 1e-5, -1e-7, -1e-5, np.nan, np.inf, -np.inf, 5e-324, 1e308]
OFF = [0.0, 5e-4, 8.9e-4, 1e-3, 1.0005e-3, 1.1e-3, -5e-4, -1e-3, -1.1e-3]
LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda a: np.repeat(np.repeat(a, 2, axis=0), 2, axis=-1)[::2, ..., ::2] if a.ndim == 2 else a[::1],
    "reversed": lambda a: a[::-1].copy()[::-1],
}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(one_pass, "BLOCK", 12)


@st.composite
def tables(draw):
    n, k = draw(st.integers(1, 12)), draw(st.integers(2, 5))
    table = np.random.default_rng(draw(st.integers(0, 99))).dirichlet(np.ones(k), n)
    table[:, 0] += np.array(draw(st.lists(st.sampled_from(OFF), min_size=n, max_size=n)))
    if draw(st.booleans()):
        table[draw(st.integers(0, n - 1)), draw(st.integers(0, k - 1))] = draw(st.sampled_from(ODD))
    layout = LAYOUTS[draw(st.sampled_from(sorted(LAYOUTS)))]
    with np.errstate(over="ignore"):
        return layout(table.astype(draw(st.sampled_from([np.float32, np.float64]))))


@given(values=tables(), data=st.data())
def test_the_problem_and_the_refusal_are_those_of_the_slow_checks(values, data):
    label = data.draw(st.lists(st.integers(-1, values.shape[1]), min_size=len(values), max_size=len(values)))
    column = data.draw(st.booleans())
    rows = (np.array(label), values[:, 0] if column else values)
    with pytest.MonkeyPatch.context() as patch:
        fast = found(*rows)
        patch.setattr(validation, "_is_well", lambda *_: False)
        slow = found(*rows)
    if isinstance(fast, str) or isinstance(slow, str):
        assert fast == slow
    else:
        assert [part.dtype for part in fast] == [part.dtype for part in slow]
        for one, other in zip(fast, slow, strict=True):
            np.testing.assert_array_equal(one, other)


def found(label, values):
    try:
        problem = as_problem(label, values)
    except ValueError as refusal:
        return str(refusal)
    if isinstance(problem, BinaryProblem):
        return problem.score, problem.outcome, problem.classes
    return problem.forecast.values, problem.label, problem.classes


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("place", [(0, 0), (25, 1), (49, 2)])
@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf, -0.01, 1.01])
@pytest.mark.parametrize("threads", [1, 3])
def test_one_odd_number_in_any_block_is_seen(kind, place, odd, threads, monkeypatch):
    monkeypatch.setattr(one_pass, "PARALLEL_FROM", 1)
    monkeypatch.setattr(one_pass, "n_processors", lambda: threads)
    table = np.full((50, 3), 1 / 3, dtype=kind)
    assert are_probabilities(table, SUM_TOLERANCE)
    table[place] = odd
    assert not are_probabilities(table, SUM_TOLERANCE)
    assert not are_between(np.ascontiguousarray(table[:, place[1]]), 0.0, 1.0)


def test_only_native_single_and_double_precision_is_looked_at():
    assert all(map(is_real, [np.zeros(3), np.zeros((3, 2), dtype=np.float32)]))
    others = [np.zeros(3, dtype=kind) for kind in (">f8", "<f2", np.longdouble, int, bool, complex)]
    assert not any(map(is_real, [*others, np.zeros(0), np.zeros((2, 2, 2)), np.float64(0.5) + np.zeros(())]))


@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "u4", "i8", ">i4", ">i8", "?", "f4", "f8"])
def test_labels_of_any_width_are_read_alike(kind):
    label = np.array([0, 1, 1, 0] * 9)
    problem = as_problem(label.astype(kind), np.full(36, 0.5))
    assert (problem.outcome.dtype, problem.outcome.tolist()) == (bool, (label == 1).tolist())
    if kind != "?":
        assert problem.classes.tolist() == [0, 1]
        table = as_problem(label.astype(kind), np.full((36, 3), 1 / 3))
        assert (table.label.dtype, table.label.tolist()) == (np.intp, label.tolist())


@pytest.mark.parametrize("label", [-1, 3, 2**40, -(2**40)])
def test_a_label_beyond_the_columns_is_refused(label):
    with pytest.raises(ValueError, match="y_true must hold as many distinct labels"):
        as_problem(np.array([0, 1, 2, label] + [0] * 40), np.full((44, 3), 1 / 3))
