"""Probabilities of logits depend on the logits of their row alone; one look at numbers is that of the slow checks."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import softmax

from calibrant._core import arrays
from calibrant._core import border as validation
from calibrant._core.border import as_problem
from calibrant._core.rows import SUM_TOLERANCE, BinaryProblem


@pytest.mark.parametrize("n_columns", [2, 10, arrays.MANY_COLUMNS - 1, arrays.MANY_COLUMNS, arrays.MANY_COLUMNS + 40])
def test_probabilities_of_scores_are_those_of_scipy_at_any_temperature(n_columns):
    scores = np.random.default_rng(n_columns).normal(size=(50, n_columns)) * 30
    before = scores.copy()
    for temperature in (1e-4, 1.0, 1.7, 1e4):
        logit = scores / temperature
        raised = np.maximum(logit, logit.max(axis=1, keepdims=True) + arrays.LEAST_SCORE)
        for table in (scores, np.asfortranarray(scores), scores[::-1][::-1]):
            found = arrays.prob_of_scores(table, temperature)
            np.testing.assert_allclose(found, softmax(raised, axis=1), rtol=1e-12)
            np.testing.assert_array_equal(found, arrays.prob_of_scores(scores, temperature))
            assert found.min() > 0.0
    np.testing.assert_array_equal(scores, before)


decimals = st.integers(1, 6).flatmap(
    lambda digits: st.lists(st.integers(0, 10**digits), min_size=1, max_size=8).map(lambda row: (row, 10**digits))
)


@given(one=decimals, other=decimals)
def test_sums_of_decimals_are_one_number_exactly_where_they_are_equal(one, other):
    sums = [float(np.cumsum(np.array(row) / unit)[-1]) for row, unit in (one, other)]
    exact = [Fraction(sum(row), unit) for row, unit in (one, other)]
    first, second = arrays.grouped(np.array(sums))
    assert (first == second) == (exact[0] == exact[1])
    assert first == exact[0].numerator / exact[0].denominator


def test_a_sum_is_grouped_whatever_else_is_there():
    sums = np.random.default_rng(0).random(1000)
    together = arrays.grouped(sums)
    np.testing.assert_array_equal(together, np.concatenate([arrays.grouped(part) for part in np.split(sums, 100)]))
    np.testing.assert_array_equal(arrays.grouped(together), together)
    np.testing.assert_allclose(together, sums, rtol=0, atol=5.1e-13)


@given(row=st.lists(st.one_of(st.floats(0.0, 2.0), st.sampled_from([1e-300, 0.1, 0.2, 0.3])), min_size=1, max_size=200))
def test_the_sum_of_a_row_does_not_depend_on_the_order_of_its_numbers(row):
    first, *others = arrays.sum_of_rows(np.array([row, sorted(row), sorted(row, reverse=True)]))[:, 0]
    assert others == [first, first]
    np.testing.assert_allclose(first, float(sum(map(Fraction, row))), rtol=1e-13)


@given(
    row=st.lists(st.integers(0, 1000), min_size=2, max_size=12).filter(any),
    unit=st.sampled_from([1, 7, 37, 100, 999, 12345]),
    scale=st.sampled_from([1, 100, 1000, 10**6]),
)
def test_a_row_of_decimals_is_divided_as_its_fractions(row, unit, scale):
    assume(unit * sum(row) / scale < 9000)  # whole multiples of 1e-12 below 2^53
    table = unit * np.array([row, row[::-1]]) / scale
    expected = [part / sum(row) for part in row]  # rounded once
    np.testing.assert_array_equal(arrays.quotients(table, table.sum(axis=1, keepdims=True)), [expected, expected[::-1]])


@pytest.mark.parametrize("parts", [3, 7, 30, 70])
def test_fractions_that_sum_to_one_are_divided_by_one(parts):
    table = np.random.default_rng(0).multinomial(parts, np.full(5, 0.2), 500) / parts
    assert (table.sum(axis=1) != 1.0).any() or parts == 3
    np.testing.assert_array_equal(arrays.quotients(table, table.sum(axis=1, keepdims=True)), table)


@pytest.mark.parametrize("shift", [0.0, 1e3, 1e9, 1e16])
def test_logits_that_are_equal_have_equal_log_odds_wherever_they_lie(shift):
    logit = shift + np.array([[0.0, 0.0, 0.0], [4.0, 0.0, 4.0]])
    expected = [3 * [-np.log(2.0)], [-np.log1p(np.exp(-4.0)), -4.0 - np.log(2.0), -np.log1p(np.exp(-4.0))]]
    found = arrays.log_odds_of_logits(logit)
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    np.testing.assert_array_equal(found[:, 0], found[:, 2])


def test_log_odds_of_all_that_is_clipped_are_the_same():
    tiny = np.array([1e-12, 3e-13, 1e-16, 5e-324, 0.0])
    assert set(arrays.log_odds_of_prob(tiny)) == {np.log(1e-12)}
    assert set(arrays.log_odds_of_prob(1.0 - tiny[2:])) == {-np.log(1e-12)}
    assert np.isfinite(arrays.log_odds_of_prob(np.nextafter([1e-12, 1.0], 0.0))).all()


# One look at numbers, against the checks that look once for each question


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
    monkeypatch.setattr(arrays, "BLOCK", 12)


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
    rows = (np.array(label), values[:, 0] if data.draw(st.booleans()) else values)
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


@pytest.mark.parametrize(("kind", "places"), [(np.float16, 3), (np.float32, 6)])
def test_decimals_become_those_of_double_precision_and_other_numbers_stay(kind, places):
    decimals = np.round(np.arange(10**places + 1) / 10**places, places)
    assert arrays.as_double(decimals.astype(kind)).tolist() == decimals.tolist()
    percent = np.round(100 * decimals, places - 2)
    assert arrays.as_double(percent.astype(kind)).tolist() == percent.tolist()
    other = np.append(np.random.default_rng(0).normal(size=1000).astype(kind) * 30, [np.nan, np.inf, -np.inf, 6e-8])
    np.testing.assert_array_equal(arrays.as_double(other.astype(kind)).astype(kind), other.astype(kind))
    assert arrays.stacked([decimals.astype(kind), 1 - decimals])[:, 0].tolist() == decimals.tolist()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("place", [(0, 0), (25, 1), (49, 2)])
@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf, -0.01, 1.01])
@pytest.mark.parametrize("threads", [1, 3])
def test_one_odd_number_in_any_block_is_seen(kind, place, odd, threads, monkeypatch):
    monkeypatch.setattr(arrays, "PARALLEL_FROM", 1)
    monkeypatch.setattr(arrays, "n_processors", lambda: threads)
    table = np.full((50, 3), 1 / 3, dtype=kind)
    assert arrays.are_within(table, 0.0, 1.0, SUM_TOLERANCE)
    table[place] = odd
    assert not arrays.are_within(table, 0.0, 1.0, SUM_TOLERANCE)
    assert not arrays.are_within(np.ascontiguousarray(table[:, place[1]]), 0.0, 1.0)


def test_only_native_single_and_double_precision_is_looked_at():
    def is_seen(values):
        return arrays.are_within(values, -1.0, 1.0)

    assert all(map(is_seen, [np.zeros(3), np.zeros((3, 2), dtype=np.float32)]))
    others = [np.zeros(3, dtype=kind) for kind in (">f8", "<f2", np.longdouble, int, bool, complex)]
    assert not any(map(is_seen, [*others, np.zeros(0), np.zeros((2, 2, 2)), np.float64(0.5) + np.zeros(())]))


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
