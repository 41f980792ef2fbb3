"""The fit of a logistic regression: certificate, signs, dependent columns, many rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import recalibration
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from calibrant._core.rows import BinaryProblem, Weights
from calibrant.fit import minimise as newton
from calibrant.fit.log_loss import fit_logistic, is_separated

LIMITS = {
    "straight": (recalibration.line, [(-1, 1)] * 2),
    "bent": (recalibration.parabola, [(-1, 1)] * 3),
    "rising": (recalibration.beta, [(-1, 1), (0, 1), (0, 1)]),
    "rising through zero": (recalibration.beta_through_half, [(0, 1)] * 2),
}


def sample(n, curve, seed=0, spread=2.0):
    rng = np.random.default_rng(seed)
    x = spread * rng.normal(size=n)
    return x, (rng.random(n) < expit(curve(x))).astype(float)


def problem_of(x, label):
    return BinaryProblem(expit(x), label, Weights.one_each(label.size), logit=x.astype(float))


def require_the_fit_of_a_peer(table, y, rtol):
    peer = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-12).fit(table.T, y)
    fit = fit_logistic((table, np.ones(y.size), y))
    np.testing.assert_allclose([fit.intercept, *fit.coef], [*peer.intercept_, *peer.coef_[0]], rtol=rtol)
    return fit


@pytest.mark.parametrize("order", ["as drawn", "by label", "by score"])
def test_many_rows_begin_at_the_fit_of_a_part_and_end_at_the_fit_of_all(order):
    x, y = sample(100_000, lambda x: 0.3 + 0.7 * x + 0.05 * x**2)
    if order != "as drawn":
        at = np.argsort(y if order == "by label" else x, kind="stable")
        x, y = x[at], y[at]
    assert require_the_fit_of_a_peer(np.array([x, x**2]), y, rtol=1e-8).n_iter <= 4


def test_many_rows_with_few_events_are_fitted_though_a_part_may_hold_none():
    x, _ = sample(100_000, lambda x: x)
    require_the_fit_of_a_peer(x[None], np.isin(np.arange(x.size), [1, 2, 3, 5, 77]).astype(float), rtol=1e-7)


def test_a_column_that_is_constant_in_a_part_of_many_rows_has_its_coefficient():
    x, y = sample(100_000, lambda x: x)
    table = np.array([x, np.arange(x.size) % 16 == 1], dtype=float)
    y[table[1] > 0] = 1.0 - y[table[1] > 0] * (np.arange(y[table[1] > 0].size) % 3 > 0)
    assert require_the_fit_of_a_peer(table, y, rtol=1e-7).rank == 3


def test_columns_that_say_nothing_new_have_coefficient_zero():
    x, y = sample(200, lambda x: x)
    alone = fit_logistic((x[None], np.ones(200), y))
    fit = fit_logistic((np.array([x, 3.0 - 2.0 * x, np.full(200, 7.0)]), np.ones(200), y))
    assert fit.rank == 2
    assert fit.coef[1:].tolist() == [0.0, 0.0]
    np.testing.assert_allclose([fit.intercept, fit.coef[0]], [alone.intercept, *alone.coef], rtol=1e-12)


def test_without_any_column_left_the_intercept_is_the_log_odds_of_the_rate():
    fit = fit_logistic((np.array([[0.3, np.nextafter(0.3, 1), 0.3, 0.3]]), np.ones(4), np.array([1.0, 0.0, 0.0, 0.0])))
    assert (fit.rank, fit.coef.tolist()) == (1, [0.0])
    assert fit.intercept == pytest.approx(-np.log(3))


@pytest.mark.parametrize("y", [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
def test_without_a_minimum_it_has_not_converged(y):
    assert not fit_logistic((np.array([[-1.0, 0.0, 2.0]]), np.ones(3), np.array(y))).converged


def test_a_step_too_many_is_not_taken_for_a_solution(monkeypatch):
    monkeypatch.setattr(newton, "MOST_STEPS", 1)
    x, y = sample(100, lambda x: x)
    assert not fit_logistic((x[None], np.ones(100), y)).converged


@pytest.mark.parametrize("family", LIMITS)
@given(rows=st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=9))
def test_separated_is_what_a_linear_program_says(family, rows):
    x, label = (np.array(column) for column in zip(*rows, strict=True))
    features, bounds = LIMITS[family]
    assert is_separated(problem_of(x, label), family) == recalibration.is_separated(features, x.tolist(), label, bounds)


@pytest.mark.parametrize("family", LIMITS)
@pytest.mark.parametrize("turned", [(), (5,), (5, 1500), (1200, 1300, 1800, 2900)])
def test_the_first_rows_do_not_mislead(family, turned):
    """Of 3001 rows in order, some have the other label."""
    x = np.linspace(-3.0, 3.0, 3001)
    label = x > 0
    label[list(turned)] ^= True
    # The turned row 5 lies beside rows 0 to 4 of its old label: a parabola, too, would have to turn twice.
    assert is_separated(problem_of(x, label), family) == (not turned)
