import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from reference import near_isotonic as twin
from strategies import columns, scores

from calibrant import IsotonicCalibration
from calibrant._core.border import as_problem
from calibrant.calibrators.isotonic import NearIsotonicCalibration, NearIsotonicPath

# Drawn rows may all be of one class; that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore:only the class")

penalties = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 2 / 3, 1.0, 2.0]), st.floats(0.0, 10.0))
any_weights = st.one_of(st.integers(1, 4), st.sampled_from([0.1, 0.3, 1.5]), st.floats(0.01, 3.0))


def points_of(rows):
    label, score, weight = rows
    return twin.points(score.tolist(), label.tolist(), weight.tolist())


def path_of(rows):
    label, score, weight = rows
    return NearIsotonicPath.of(as_problem(label, score, sample_weight=weight))


def prices(fit, rate, mass):
    """What each step costs if every point is in balance: the multipliers of the optimality conditions."""
    return np.cumsum(mass * (rate - fit))


@given(rows=columns(max_rows=60, weights=any_weights), penalty=penalties)
def test_a_fit_meets_the_optimality_conditions(rows, penalty):
    label, score, weight = rows
    distinct, mass, events = points_of(rows)
    rate, mass = np.array([float(e / w) for e, w in zip(events, mass, strict=True)]), np.array(mass, dtype=float)
    fit = NearIsotonicCalibration(penalty=penalty, finite=None).fit(score, label, weight).calibrate(distinct)
    price = prices(fit, rate, mass)
    assert price[-1] == pytest.approx(0.0, abs=1e-9)
    assert (price >= -1e-9).all()
    assert (price <= penalty + 1e-9).all()
    np.testing.assert_allclose(price[:-1][np.diff(fit) > 1e-9], 0.0, atol=1e-9)
    np.testing.assert_allclose(price[:-1][np.diff(fit) < -1e-9], penalty, atol=1e-9)


@given(rows=columns(max_rows=60))
def test_joins_are_those_of_the_paper_in_exact_fractions(rows):
    _, mass, events = points_of(rows)
    expected = list(twin.path(mass, events))
    path = path_of(rows)
    np.testing.assert_allclose(path.knots, [float(penalty) for penalty, _, _ in expected], rtol=1e-12)
    for knot, (_, groups, values) in zip(path.knots, expected, strict=True):
        fit = path.fit(knot)
        assert fit.starts.size == len(groups)
        np.testing.assert_allclose(fit.value, [float(v) for v in values], atol=1e-12)


@given(rows=columns(max_rows=40))
def test_the_bic_and_its_bound_are_what_their_definitions_say(rows):
    _, mass, events = points_of(rows)
    path = path_of(rows)
    for knot, bound, (_, groups, values) in zip(path.knots, path.best_bic, twin.path(mass, events), strict=True):
        assert path.bic(knot) == pytest.approx(twin.bic(mass, events, groups, values), rel=1e-9, abs=1e-9)
        rates = [sum(events[a : b + 1]) / sum(mass[a : b + 1]) for a, b in groups]
        assert bound == pytest.approx(twin.bic(mass, events, groups, rates), rel=1e-9, abs=1e-9)
        assert bound <= path.bic(knot) + 1e-9


@given(rows=columns(max_rows=40, weights=any_weights), other=penalties)
@example(rows=(np.array([0]), np.array([0.5]), np.array([1.0])), other=0.0)
def test_no_penalty_has_a_lower_bic_than_the_chosen_one(rows, other):
    label, score, weight = rows
    path = path_of(rows)
    chosen = NearIsotonicCalibration(finite=None).fit(score, label, weight).penalty_
    assert path.bic(chosen) == pytest.approx(min(path.bic(knot) for knot in path.knots), rel=1e-12, abs=1e-9)
    assert path.bic(chosen) <= path.bic(other) + 1e-9


@pytest.mark.parametrize("penalty", [1e6, np.inf])
@given(rows=columns(weights=any_weights), new=st.lists(scores, min_size=1, max_size=10))
def test_a_great_penalty_is_isotonic_regression(penalty, rows, new):
    label, score, weight = rows
    fitted = NearIsotonicCalibration(penalty=penalty, finite=None).fit(score, label, weight)
    np.testing.assert_allclose(
        fitted.calibrate(new), IsotonicCalibration(finite=None).fit(score, label, weight).calibrate(new), atol=1e-12
    )
