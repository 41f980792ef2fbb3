"""Newton's method: what it finds, its steps, and the shares of mixtures."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import decisions
from scipy.special import logsumexp, softmax

from calibrant.fit import minimise as newton

numbers = st.integers(-4, 4).map(float)


def log_sum_exp(rows, pull, x, lower=-np.inf):
    """log sum exp(rows @ x) - pull @ x, with a little curvature everywhere."""
    p = softmax(rows @ x)
    mean = p @ rows
    value = logsumexp(rows @ x) - pull @ x + 0.005 * x @ x
    hessian = (rows * p[:, None]).T @ rows - np.outer(mean, mean) + 0.01 * np.eye(x.size)
    return newton.DensePoint(x, float(value), mean - pull + 0.01 * x, hessian, lower)


@given(
    rows=st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=6).map(np.array),
    pull=st.tuples(numbers, numbers, numbers).map(np.array),
    lower=st.tuples(*[st.sampled_from([-np.inf, -1.0, 0.0])] * 3).map(np.array),
)
def test_it_ends_where_the_gradient_vanishes_or_pushes_against_a_bound(rows, pull, lower):
    at = partial(log_sum_exp, rows, pull, lower=lower)
    found = newton.minimise(at, np.ones(3), newton.Stop(residual=1e-10), lower=lower)
    point = at(found.point.x)
    assert found.converged
    assert (point.x >= lower).all()
    inside = point.x > lower
    np.testing.assert_allclose(point.gradient[inside], 0.0, atol=1e-9)
    assert (point.gradient[~inside] >= -1e-9).all()
    assert found.residual == newton.projected(found.point.x, found.point.gradient, lower)


@dataclass(frozen=True)
class Hyperbola(newton.Point):
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


@pytest.mark.parametrize("start", [1.5, 5.0, 100.0])
def test_steps_that_overshoot_are_halved_until_they_go_down(start):
    found = newton.minimise(Hyperbola, np.array([start]), newton.Stop(residual=1e-12))
    assert found.converged
    assert abs(found.point.x[0]) <= 1e-12
    assert found.point.value == 1.0


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
def test_a_curvature_that_is_lost_sends_the_search_across_the_interval(scale):
    """Far from its minimum the function is straight to the last bit."""

    def softplus(x):
        z = scale * (x - 1e-3)
        p = 0.5 * (1.0 + np.tanh(z / 2.0))
        value = float(np.logaddexp(0.0, z[0]) - 0.25 * z[0])
        return newton.ScalarPoint(x, value, scale * (p - 0.25), float((scale**2 * p * (1.0 - p))[0]), length=1.0)

    found = newton.minimise(softplus, np.ones(1), newton.Stop(residual=1e-12 * scale), lower=0.0, upper=1.0)
    assert found.residual <= 1e-6 * scale
    at = 1e-3 - np.log(3.0) / scale
    assert found.point.x[0] == pytest.approx(np.clip(at, 0.0, 1.0), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("centre", "end"), [(-3.0, 0.0), (0.25, 0.25), (7.0, 1.0)])
def test_an_interval_is_kept(centre, end):
    def parabola(x):
        return newton.DensePoint(x, float((x - centre) @ (x - centre)), 2.0 * (x - centre), np.array([[2.0]]))

    found = newton.minimise(parabola, np.array([0.6]), newton.Stop(residual=1e-12), lower=0.0, upper=1.0)
    assert found.converged
    assert found.point.x[0] == pytest.approx(end, abs=1e-14)


@pytest.mark.parametrize("stop", [newton.Stop(residual=0.0), newton.Stop(reach=1e-6)])
def test_a_function_that_falls_for_ever_has_not_converged(stop):
    def falling(x):
        power = np.exp(-x)
        return newton.DensePoint(x, float(power[0]), -power, power[:, None])

    assert not newton.minimise(falling, np.zeros(1), stop).converged


def test_a_last_step_is_one_that_is_short_or_gains_little():
    at = partial(log_sum_exp, np.array([[1.0], [-1.0]]), np.array([0.5]))
    loose, tight = (newton.minimise(at, np.zeros(1), newton.Stop(gain=gain)) for gain in (1.0, 1e-20))
    assert loose.n_iter == 1
    assert loose.converged
    assert tight.residual < 1e-15 < loose.residual


# Steps


def test_a_hessian_that_rounding_makes_indefinite_gets_a_little_more_curvature():
    hessian = np.array([[1.0, 1.0], [1.0, 1.0 - 1e-15]])
    step = newton.newton_step(hessian, np.array([1.0, 1.0]))
    np.testing.assert_allclose(step.sum(), -1.0, rtol=1e-6)


def test_a_hessian_that_is_all_rounding_leaves_a_step_downhill():
    hessian, slope = np.array([[1e-6, 3e-6], [3e-6, -2e-6]]), np.array([1.0, -2.0])
    assert slope @ newton.newton_step(hessian, slope) < 0.0


def test_without_curvature_there_is_no_step():
    assert np.isnan(newton.newton_step(np.zeros((1, 1)), np.array([1.0]))).all()
    assert np.isnan(newton.newton_step(np.full((2, 2), np.nan), np.ones(2))).all()


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
    step = newton.bounded_step(hessian, slope, u)
    end, pull = u + step, slope + hessian @ step
    assert (end >= 0.0).all()
    if slope[(u > 0) | (slope < 0)].any():  # else it is there, and some step is made up
        np.testing.assert_allclose(pull[end > 0.0], 0.0, atol=1e-5)
        assert (pull >= -1e-5).all()


MANY_PIVOTS = [
    [19.0, -2.0, 6.0, -6.0, -16.0, -3.0],
    [-2.0, 32.0, -2.0, 0.0, -6.0, -5.0],
    [6.0, -2.0, 11.0, 5.0, -12.0, -3.0],
    [-6.0, 0.0, 5.0, 14.0, 1.0, -4.0],
    [-16.0, -6.0, -12.0, 1.0, 27.0, -3.0],
    [-3.0, -5.0, -3.0, -4.0, -3.0, 32.0],
]
"""What goes to zero at first would do so against the slope, and more than the rest gains."""


@pytest.mark.parametrize(
    ("hessian", "slope", "u", "most"),
    [
        ([[11.0, -10.0], [-10.0, 14.0]], [-2.0, 3.0], [2.0, 0.0], 1),
        (MANY_PIVOTS, [-4.0, 0.0, 4.0, -3.0, 2.0, 4.0], [2.0, 1.0, 0.0, 0.0, 1.0, 0.0], None),
    ],
    ids=["not found in time", "against the slope"],
)
def test_a_step_always_goes_down_and_stays_in_the_bounds(hessian, slope, u, most, monkeypatch):
    if most is not None:
        monkeypatch.setattr(newton, "MOST_PIVOTS", most)
    step = newton.bounded_step(np.array(hessian), np.array(slope), np.array(u))
    assert np.array(slope) @ step < 0.0
    assert (np.array(u) + step >= 0.0).all()


# Mixtures


GAP = 1e-9
"""Nats a row by which other shares may be better."""


@pytest.mark.parametrize("parts", [2, 3, 4, 6])
@given(seed=st.integers(0, 10**6))
def test_newton_ends_where_em_would(parts, seed):
    rng = np.random.default_rng(seed)
    density, weight = rng.dirichlet(np.full(parts, 0.2), 40), rng.integers(1, 4, 40).astype(float)
    start = np.full(parts, 1.0 / parts)
    found = newton.most_likely_shares(density, weight, start)
    expected = np.array(decisions.em((density * start).tolist(), weight.tolist(), start.tolist(), 300))
    shares = found.point.x
    assert shares.sum() == pytest.approx(1.0, abs=1e-14)
    assert shares.min() >= 0.0
    assert found.point.gap <= 1e-12
    assert weight @ np.log(density @ shares) >= weight @ np.log(density @ expected) - 1e-9


@given(seed=st.integers(0, 10**6), parts=st.integers(1, 8), spread=st.sampled_from([0.0, 10.0, 100.0]))
def test_densities_of_any_size_are_certified(seed, parts, spread):
    rng = np.random.default_rng(seed)
    density = np.maximum(rng.random((30, parts)) * 10.0 ** -rng.uniform(0.0, spread, (30, parts)), 1e-100)
    found = newton.most_likely_shares(density, np.ones(30), rng.dirichlet(np.ones(parts)) * 0.9 + 0.1 / parts)
    assert found.point.gap <= GAP
    assert found.residual <= 1e-8


def test_equal_parts_share_what_is_theirs():
    """Their Hessian is singular; the mixture is what is determined."""
    density = np.column_stack([np.tile([1.0, 3.0], 10), np.tile([1.0, 3.0], 10), np.tile([2.5, 1.0], 10)])
    found = newton.most_likely_shares(density, np.ones(20), np.array([0.2, 0.5, 0.3]))
    alone = newton.most_likely_shares(density[:, 1:], np.ones(20), np.array([0.7, 0.3]))
    np.testing.assert_allclose(density @ found.point.x, density[:, 1:] @ alone.point.x, rtol=1e-9)


def test_neither_a_trial_nor_a_step_of_em_leaves_a_row_without_density():
    """A prior of one row beside rows of enormous weight; the last share becomes 0, though its own row has no other."""
    rng = np.random.default_rng(0)
    density = np.vstack([np.eye(3), rng.dirichlet(np.ones(3), 200) ** 0.1])
    found = newton.most_likely_shares(density, np.repeat([1.0 / 3.0, 1e8], [3, 200]), np.full(3, 1.0 / 3.0))
    assert found.point.gap <= GAP
    density = np.vstack([np.eye(5), [[0.9, 0.9, 0.9, 0.9, 0.0]] * 4])
    found = newton.most_likely_shares(density, np.repeat([0.2, 1.7e89], [5, 4]), np.full(5, 0.2))
    np.testing.assert_allclose(found.point.x, [0.25] * 4 + [0.0], rtol=0, atol=1e-12)


def test_the_information_is_minus_the_second_derivative():
    rng = np.random.default_rng(0)
    density, weight = rng.random((50, 3)), rng.random(50)
    found = newton.most_likely_shares(density, weight, np.full(3, 1.0 / 3.0)).point
    relative = density / (density @ found.x)[:, None]
    np.testing.assert_allclose(found.hessian, (relative.T * (weight / weight.sum())) @ relative, rtol=1e-12)
