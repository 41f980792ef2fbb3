"""The most likely shares of a mixture, with few parts and many, certified."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import decisions as slow

from calibrant.fit.minimise import most_likely_shares

GAP = 1e-9
"""Nats a row by which other shares may be better."""


@pytest.mark.parametrize("parts", [2, 3, 4, 6])
@given(seed=st.integers(0, 10**6))
def test_newton_ends_where_em_would(parts, seed):
    rng = np.random.default_rng(seed)
    density, weight = rng.dirichlet(np.full(parts, 0.2), 40), rng.integers(1, 4, 40).astype(float)
    start = np.full(parts, 1.0 / parts)
    found = most_likely_shares(density, weight, start)
    expected = np.array(slow.em((density * start).tolist(), weight.tolist(), start.tolist(), 300))
    shares = found.point.x
    assert shares.sum() == pytest.approx(1.0, abs=1e-14)
    assert shares.min() >= 0.0
    assert found.point.gap <= 1e-12
    assert weight @ np.log(density @ shares) >= weight @ np.log(density @ expected) - 1e-9


@given(seed=st.integers(0, 10**6), parts=st.integers(1, 8), spread=st.sampled_from([0.0, 10.0, 100.0]))
def test_densities_of_any_size_are_certified(seed, parts, spread):
    rng = np.random.default_rng(seed)
    density = np.maximum(rng.random((30, parts)) * 10.0 ** -rng.uniform(0.0, spread, (30, parts)), 1e-100)
    found = most_likely_shares(density, np.ones(30), rng.dirichlet(np.ones(parts)) * 0.9 + 0.1 / parts)
    assert found.point.gap <= GAP
    assert found.residual <= 1e-8


def test_equal_parts_share_what_is_theirs():
    """Their Hessian is singular; the mixture is what is determined."""
    density = np.column_stack([np.tile([1.0, 3.0], 10), np.tile([1.0, 3.0], 10), np.tile([2.5, 1.0], 10)])
    found = most_likely_shares(density, np.ones(20), np.array([0.2, 0.5, 0.3]))
    alone = most_likely_shares(density[:, 1:], np.ones(20), np.array([0.7, 0.3]))
    np.testing.assert_allclose(density @ found.point.x, density[:, 1:] @ alone.point.x, rtol=1e-9)


def test_a_trial_that_leaves_a_row_without_density_raises_no_warning():
    """As a prior of one row does beside rows of enormous weight; warnings are errors here."""
    rng = np.random.default_rng(0)
    density = np.vstack([np.eye(3), rng.dirichlet(np.ones(3), 200) ** 0.1])
    weight = np.concatenate([np.full(3, 1.0 / 3.0), np.full(200, 1e8)])
    found = most_likely_shares(density, weight, np.full(3, 1.0 / 3.0))
    assert found.point.gap <= GAP


def test_rows_that_weigh_all_leave_no_share_of_zero_behind():
    """A step of EM made the last share 0, whose own row then had density 0; warnings are errors here."""
    density = np.vstack([np.eye(5), [[0.9, 0.9, 0.9, 0.9, 0.0]] * 4])
    found = most_likely_shares(density, np.repeat([0.2, 1.7e89], [5, 4]), np.full(5, 0.2))
    np.testing.assert_allclose(found.point.x, [0.25] * 4 + [0.0], rtol=0, atol=1e-12)


def test_the_information_is_minus_the_second_derivative():
    rng = np.random.default_rng(0)
    density, weight = rng.random((50, 3)), rng.random(50)
    found = most_likely_shares(density, weight, np.full(3, 1.0 / 3.0)).point
    relative = density / (density @ found.x)[:, None]
    np.testing.assert_allclose(found.hessian, (relative.T * (weight / weight.sum())) @ relative, rtol=1e-12)
