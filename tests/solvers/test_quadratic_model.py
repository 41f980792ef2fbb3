"""The step to the least value of a quadratic model, without bounds and with lower ones."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from calibrant.fit import minimise as quadratic_model
from calibrant.fit.minimise import bounded_step, newton_step


def test_a_hessian_that_rounding_makes_indefinite_gets_a_little_more_curvature():
    hessian = np.array([[1.0, 1.0], [1.0, 1.0 - 1e-15]])
    step = newton_step(hessian, np.array([1.0, 1.0]))
    np.testing.assert_allclose(step.sum(), -1.0, rtol=1e-6)


def test_a_hessian_that_is_all_rounding_leaves_a_step_downhill():
    hessian, slope = np.array([[1e-6, 3e-6], [3e-6, -2e-6]]), np.array([1.0, -2.0])
    assert slope @ newton_step(hessian, slope) < 0.0


def test_without_curvature_there_is_no_step():
    assert np.isnan(newton_step(np.zeros((1, 1)), np.array([1.0]))).all()
    assert np.isnan(newton_step(np.full((2, 2), np.nan), np.ones(2))).all()


@given(
    size=st.integers(1, 6),
    numbers=st.lists(st.integers(-3, 3), min_size=36, max_size=36),
    slope=st.lists(st.integers(-4, 4), min_size=6, max_size=6),
    u=st.lists(st.sampled_from([0.0, 0.0, 0.1, 1.0, np.inf]), min_size=6, max_size=6),
)
def test_a_step_ends_where_the_quadratic_model_is_least_within_the_bounds(size, numbers, slope, u):
    """There it has no slope at what is above zero, and rises with what is zero."""
    root = np.reshape(numbers, (6, 6))[:, :size]
    hessian, slope, u = root.T @ root + 0.1 * np.eye(size), np.array(slope[:size], dtype=float), np.array(u[:size])
    step = bounded_step(hessian, slope, u)
    end, pull = u + step, slope + hessian @ step
    assert (end >= 0.0).all()
    if slope[(u > 0) | (slope < 0)].any():  # else it is there, and some step is made up
        np.testing.assert_allclose(pull[end > 0.0], 0.0, atol=1e-5)
        assert (pull >= -1e-5).all()


def test_a_step_that_is_not_found_in_time_goes_down_all_the_same(monkeypatch):
    monkeypatch.setattr(quadratic_model, "MOST_PIVOTS", 1)
    hessian, slope, u = np.array([[11.0, -10.0], [-10.0, 14.0]]), np.array([-2.0, 3.0]), np.array([2.0, 0.0])
    step = bounded_step(hessian, slope, u)
    assert slope @ step < 0.0
    assert (u + step >= 0.0).all()


def test_a_step_always_goes_down_and_stays_in_the_bounds():
    """In this case what goes to zero at first would do so against the slope, and more than the rest gains."""
    hessian = [
        [19.0, -2.0, 6.0, -6.0, -16.0, -3.0],
        [-2.0, 32.0, -2.0, 0.0, -6.0, -5.0],
        [6.0, -2.0, 11.0, 5.0, -12.0, -3.0],
        [-6.0, 0.0, 5.0, 14.0, 1.0, -4.0],
        [-16.0, -6.0, -12.0, 1.0, 27.0, -3.0],
        [-3.0, -5.0, -3.0, -4.0, -3.0, 32.0],
    ]
    slope, u = np.array([-4.0, 0.0, 4.0, -3.0, 2.0, 4.0]), np.array([2.0, 1.0, 0.0, 0.0, 1.0, 0.0])
    step = bounded_step(np.array(hessian), slope, u)
    assert slope @ step < 0.0
    assert (u + step >= 0.0).all()
