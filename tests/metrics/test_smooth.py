"""The smooth calibration error against its definition, figures of real forecasts, and its bounds."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference import smooth as reference
from strategies import columns, tables

from calibrant import expected_calibration_error, smooth_calibration_error
from calibrant._core.border import as_problem
from calibrant.binning import Unique
from calibrant.lenses import Smooth, fixed_point, reflected_kernel, smoothed_integral

UNRESOLVED = 2.0**-10


@settings(max_examples=7)
@example(rows=(np.array([0, 1, 1]), np.array([0.002, 0.999, 0.996]), np.array([1.0, 2.0, 4.0])))
@given(rows=columns(max_rows=6))
def test_the_error_is_the_fixed_point_of_the_definition(rows):
    label, score, weight = rows
    found = smooth_calibration_error(label, score, sample_weight=weight)
    exact = reference.error(label.tolist(), score.tolist(), weight.tolist())
    if exact > UNRESOLVED:
        assert found == pytest.approx(exact, abs=1e-7)
    else:
        assert exact - UNRESOLVED < found < exact + 1e-7


@given(rows=columns(max_rows=8), level=st.integers(0, 5), part=st.floats(1.0, 2.0))
def test_the_integral_is_that_of_the_definition(rows, level, part):
    label, score, weight = rows
    seen = Smooth()(as_problem(label, score, sample_weight=weight)).look((label - score)[None])
    sigma = part * 2.0**-level
    found = smoothed_integral(seen, np.array([sigma]), 256 * 2**level)[0]
    assert found == pytest.approx(reference.integral(label.tolist(), score.tolist(), weight.tolist(), sigma), abs=1e-7)


@given(t=st.floats(0, 1), p=st.floats(0, 1), sigma=st.floats(0.01, 1))
def test_the_kernel_is_reflected_without_end(t, p, sigma):
    found = reflected_kernel(np.array([t]), np.array([p]), sigma)[0, 0]
    assert found == pytest.approx(reference.kernel(t, p, sigma), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("sigma", [0.01, 0.1, 0.5, 1.0])
def test_no_mass_is_lost_at_the_boundary(sigma):
    t = np.linspace(0, 1, 4001)
    for p in (0.0, 0.001, 0.4, 1.0):
        mass = np.trapezoid(reflected_kernel(t, np.array([p]), sigma)[:, 0], t)
        assert mass == pytest.approx(1.0, abs=1e-6)


@given(rows=columns())
def test_the_error_lies_between_the_mean_residual_and_the_error_over_distinct_scores(rows):
    label, score, weight = rows
    error = smooth_calibration_error(label, score, sample_weight=weight)
    assert error <= expected_calibration_error(label, score, binning=Unique(), sample_weight=weight) + 1e-9
    assert error >= abs(np.average(label - score, weights=weight)) - 1e-9


@given(rows=columns(), seed=st.integers(0, 99))
def test_the_error_of_a_sum_of_residuals_is_at_most_the_sum_of_the_errors(rows, seed):
    """Smoothing in two steps is smoothing once, so that the fixed point keeps the triangle inequality."""
    label, score, weight = rows
    view = Smooth()(as_problem(label, score, sample_weight=weight))
    a, b = view.look(np.random.default_rng(seed).uniform(-0.5, 0.5, (2, label.size)))
    whole, one, other = fixed_point(view, np.array([a + b, a, b]))
    assert whole <= one + other + 1e-7


@given(weight=st.integers(1, 9), events=st.integers(0, 20), score=st.sampled_from([0.0, 0.3, 1.0]))
def test_of_equal_scores_the_error_is_the_distance_to_the_event_rate(weight, events, score):
    label = np.arange(20) < events
    error = smooth_calibration_error(label, np.full(20, score), sample_weight=np.full(20, float(weight)))
    assert error == pytest.approx(abs(events / 20 - score), abs=1e-9)


@given(rows=tables())
def test_of_a_notion_the_error_is_the_mean_over_its_problems(rows):
    label, prob, weight = rows
    one_by_one = [smooth_calibration_error(label == j, prob[:, j], sample_weight=weight) for j in range(prob.shape[1])]
    of_all = smooth_calibration_error(label, prob, sample_weight=weight, notion="class-wise")
    assert of_all == pytest.approx(np.mean(one_by_one), abs=1e-9)


def test_working_in_blocks_leaves_no_trace(monkeypatch):
    from calibrant import lenses as smooth

    rng = np.random.default_rng(0)
    score = rng.random(1000)
    problem = as_problem(rng.random(1000) < score, score)
    residual = rng.normal(size=(3, 1000))
    whole = Smooth()(problem).look(residual)
    errors = fixed_point(Smooth()(problem), whole)
    monkeypatch.setattr(smooth, "BLOCK", 64)
    np.testing.assert_allclose(Smooth()(problem).look(residual), whole, atol=1e-14)
    monkeypatch.setattr(smooth, "MOST_VALUES", 256)
    np.testing.assert_array_equal(fixed_point(Smooth()(problem), whole), errors)


def test_the_grid_keeps_cosines_to_nine_digits():
    """What rows put on the grid weigh, against the cosines themselves, for every mode that the finest bandwidth lets pass."""
    rng = np.random.default_rng(1)
    score = np.concatenate([rng.random(300), [0.0, 1.0, 1e-9, 1 - 1e-9]])
    residual = rng.uniform(-1, 1, (1, score.size))
    view = Smooth()(as_problem(np.ones(score.size, dtype=int), score))
    seen = view.look(residual)
    modes = np.arange(seen.shape[1])
    exact = residual @ np.cos(np.pi * score[:, None] * modes) / score.size
    finest = np.exp(-0.5 * (np.pi * modes * 2.0**-view.level) ** 2)
    assert np.abs((seen - exact) * finest).max() < 2e-8
    assert np.abs((seen - exact) * finest**4).max() < 1e-9
