"""The one damped Newton: what it finds, and that it never goes up."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp, softmax

from calibrant.fit import minimise as newton
from calibrant.fit.minimise import DensePoint, Point, ScalarPoint, Stop, minimise, projected

numbers = st.integers(-4, 4).map(float)


def log_sum_exp(rows, pull, x, lower=-np.inf):
    """log sum exp(rows @ x) - pull @ x, with a little curvature everywhere."""
    p = softmax(rows @ x)
    mean = p @ rows
    value = logsumexp(rows @ x) - pull @ x + 0.005 * x @ x
    hessian = (rows * p[:, None]).T @ rows - np.outer(mean, mean) + 0.01 * np.eye(x.size)
    return DensePoint(x, float(value), mean - pull + 0.01 * x, hessian, lower)


@given(
    rows=st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=6).map(np.array),
    pull=st.tuples(numbers, numbers, numbers).map(np.array),
    lower=st.tuples(*[st.sampled_from([-np.inf, -1.0, 0.0])] * 3).map(np.array),
)
def test_it_ends_where_the_gradient_vanishes_or_pushes_against_a_bound(rows, pull, lower):
    found = minimise(partial(log_sum_exp, rows, pull, lower=lower), np.ones(3), Stop(residual=1e-10), lower=lower)
    point = log_sum_exp(rows, pull, found.point.x)
    assert found.converged
    assert (point.x >= lower).all()
    inside = point.x > lower
    np.testing.assert_allclose(point.gradient[inside], 0.0, atol=1e-9)
    assert (point.gradient[~inside] >= -1e-9).all()
    assert found.residual == projected(found.point.x, found.point.gradient, lower)


@dataclass(frozen=True)
class Hyperbola(Point):
    """sqrt(1 + x^2), on which Newton's full steps from beyond 1 diverge: x -> -x^3."""

    x: np.ndarray

    @property
    def value(self):
        return float(np.sqrt(1.0 + self.x @ self.x))

    @property
    def gradient(self):
        return self.x / self.value

    def step(self):
        return -self.gradient * self.value**3


def noted(at, seen):
    def evaluated(x):
        seen.append(at(x))
        return seen[-1]

    return evaluated


@pytest.mark.parametrize("start", [1.5, 5.0, 100.0])
def test_steps_that_overshoot_are_halved_until_they_go_down(start):
    found = minimise(Hyperbola, np.array([start]), Stop(residual=1e-12))
    assert found.converged
    assert abs(found.point.x[0]) <= 1e-12
    assert found.point.value == 1.0


def test_no_accepted_step_goes_up():
    rows, pull = np.random.default_rng(0).normal(size=(5, 3)) * 20.0, np.array([3.0, -1.0, 2.0])
    values = []
    for most in range(1, 12):
        with pytest.MonkeyPatch.context() as shorter:
            shorter.setattr(newton, "MOST_STEPS", most)
            values.append(minimise(partial(log_sum_exp, rows, pull), np.full(3, 5.0), Stop(residual=1e-12)).point.value)
    assert (np.diff(values) <= 1e-13 * max(values)).all()


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
def test_a_curvature_that_is_lost_sends_the_search_across_the_interval(scale):
    """Far from its minimum the function is straight to the last bit."""

    def softplus(x):
        z = scale * (x - 1e-3)
        p = 0.5 * (1.0 + np.tanh(z / 2.0))
        value = float(np.logaddexp(0.0, z[0]) - 0.25 * z[0])
        return ScalarPoint(x, value, scale * (p - 0.25), float((scale**2 * p * (1.0 - p))[0]), length=1.0)

    found = minimise(softplus, np.ones(1), Stop(residual=1e-12 * scale), lower=0.0, upper=1.0)
    assert found.residual <= 1e-6 * scale
    at = 1e-3 - np.log(3.0) / scale
    assert found.point.x[0] == pytest.approx(np.clip(at, 0.0, 1.0), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("centre", "end"), [(-3.0, 0.0), (0.25, 0.25), (7.0, 1.0)])
def test_an_interval_is_kept(centre, end):
    def parabola(x):
        return DensePoint(x, float((x - centre) @ (x - centre)), 2.0 * (x - centre), np.array([[2.0]]))

    found = minimise(parabola, np.array([0.6]), Stop(residual=1e-12), lower=0.0, upper=1.0)
    assert found.converged
    assert found.point.x[0] == pytest.approx(end, abs=1e-14)


@pytest.mark.parametrize("stop", [Stop(residual=0.0), Stop(reach=1e-6)])
def test_a_function_that_falls_for_ever_has_not_converged(stop):
    def falling(x):
        power = np.exp(-x)
        return DensePoint(x, float(power[0]), -power, power[:, None])

    assert not minimise(falling, np.zeros(1), stop).converged


def test_what_is_known_at_the_start_is_not_evaluated_anew():
    seen, rows, pull = [], np.eye(3), np.full(3, 1.0 / 3.0)
    at = noted(partial(log_sum_exp, rows, pull), seen)
    start = at(np.zeros(3))
    assert minimise(at, start, Stop(residual=1e-12)).point is start
    assert len(seen) == 1


def test_a_last_step_is_one_that_is_short_or_gains_little():
    rows, pull = np.array([[1.0], [-1.0]]), np.array([0.5])
    loose, tight = (
        minimise(partial(log_sum_exp, rows, pull), np.zeros(1), stop) for stop in (Stop(gain=1.0), Stop(gain=1e-20))
    )
    assert loose.n_iter == 1
    assert loose.converged
    assert tight.residual < 1e-15 < loose.residual
