"""Errors through a lens: smooth, local by loess, and cumulative, against their definitions, peers' figures, and bounds."""

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from reference import cumulative, loess, smooth
from strategies import columns

from calibrant import expected_calibration_error, lenses, metrics, smooth_calibration_error
from calibrant._core.border import as_problem
from calibrant.binning import Unique
from calibrant.lenses import Local, Smooth, fixed_point, reflected_kernel, smoothed_integral


@settings(max_examples=7)
@example(rows=(np.array([0, 1, 1]), np.array([0.002, 0.999, 0.996]), np.array([1.0, 2.0, 4.0])))
@given(rows=columns(max_rows=6))
def test_the_error_is_the_fixed_point_of_the_definition(rows):
    label, score, weight = rows
    found = smooth_calibration_error(label, score, sample_weight=weight)
    exact = smooth.error(label.tolist(), score.tolist(), weight.tolist())
    if exact > 2.0**-10:
        assert found == pytest.approx(exact, abs=1e-7)
    else:
        assert exact - 2.0**-10 < found < exact + 1e-7


@given(rows=columns(max_rows=8), level=st.integers(0, 5), part=st.floats(1.0, 2.0))
def test_the_integral_is_that_of_the_definition(rows, level, part):
    label, score, weight = rows
    seen = Smooth()(as_problem(label, score, sample_weight=weight)).look((label - score)[None])
    sigma = part * 2.0**-level
    found = smoothed_integral(seen, np.array([sigma]), 256 * 2**level)[0]
    assert found == pytest.approx(smooth.integral(label.tolist(), score.tolist(), weight.tolist(), sigma), abs=1e-7)


@given(t=st.floats(0, 1), p=st.floats(0, 1), sigma=st.floats(0.01, 1))
def test_the_kernel_is_reflected_without_end(t, p, sigma):
    found = reflected_kernel(np.array([t]), np.array([p]), sigma)[0, 0]
    assert found == pytest.approx(smooth.kernel(t, p, sigma), rel=1e-9, abs=1e-12)


@given(rows=columns())
def test_the_error_lies_between_the_mean_residual_and_the_error_over_distinct_scores(rows):
    label, score, weight = rows
    error = smooth_calibration_error(label, score, sample_weight=weight)
    assert error <= expected_calibration_error(label, score, binning=Unique(), sample_weight=weight) + 1e-9
    assert error >= abs(np.average(label - score, weights=weight)) - 1e-9


def test_working_in_blocks_leaves_no_trace(monkeypatch):
    rng = np.random.default_rng(0)
    score = rng.random(1000)
    problem = as_problem(rng.random(1000) < score, score)
    residual = rng.normal(size=(3, 1000))
    whole = Smooth()(problem).look(residual)
    errors = fixed_point(Smooth()(problem), whole)
    monkeypatch.setattr(lenses, "BLOCK", 64)
    np.testing.assert_allclose(Smooth()(problem).look(residual), whole, atol=1e-14)
    monkeypatch.setattr(lenses, "MOST_VALUES", 256)
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


# Loess


OF_GAPS = {
    metrics.integrated_calibration_index: np.mean,
    metrics.e50_error: np.median,
    metrics.e90_error: lambda gaps: np.quantile(gaps, 0.9),
    metrics.emax_error: np.max,
}


@given(rows=columns(max_rows=8), span=st.sampled_from([0.3, 0.5, 0.75, 1.0]), degree=st.integers(0, 2))
def test_the_errors_are_those_of_the_definition(rows, span, degree):
    label, score, weight = rows
    assume(not ((score > 0) & (score < np.finfo(float).tiny)).any())  # of so small numbers digits are missing
    fitted = loess.smooth(score.tolist(), (label - score).tolist(), weight.tolist(), span, degree)
    gaps = np.minimum(np.abs(np.repeat(fitted, weight.astype(int))), 1.0)
    for metric, of_gaps in OF_GAPS.items():
        found = metric(label, score, sample_weight=weight, span=span, degree=degree)
        assert found == pytest.approx(of_gaps(gaps), abs=1e-6)


# 60 rows; lowess(outcome, score, frac=span, it=0, delta=0) of statsmodels 0.15.0, and the four figures by numpy.
STATSMODELS = {
    0.75: (0.11160967928055912, 0.1169789482993752, 0.15811123264411064, 0.16539241817568462),
    0.5: (0.11822615019602623, 0.09135768504295774, 0.21599544734293288, 0.23859863734314585),
    0.3: (0.13131191872827516, 0.09180390594165934, 0.27963783630097316, 0.35370239870286424),
}


@pytest.mark.parametrize("span", STATSMODELS)
def test_with_lines_the_errors_are_those_of_lowess_in_statsmodels(span):
    i = np.arange(1, 61)
    score = (i * 0.6180339887498949) % 1
    label = (i * 0.7548776662466927) % 1 < score**1.5
    found = [metric(label, score, span=span, degree=1) for metric in OF_GAPS]
    np.testing.assert_allclose(found, STATSMODELS[span], rtol=1e-12)


@pytest.mark.parametrize(("a", "b"), [(1, 1), (0.3, 3), (8, 0.4)])
def test_gathering_neighbours_changes_little(a, b):
    rng = np.random.default_rng(4)
    score = rng.beta(a, b, 1500)
    problem = as_problem(rng.random(1500) < score**1.3, score)
    exact, gathered = Local(n_cells=1500)(problem), Local()(problem)
    assert (exact.score.size, gathered.score.size <= 512) == (1500, True)
    assert gathered.score[[0, -1]].tolist() == [score.min(), score.max()]
    residual = (problem.outcome - problem.score)[None]
    there = np.interp(exact.score, gathered.score, gathered.look(residual)[0])
    apart = np.abs(there - exact.look(residual)[0])
    assert apart.mean() < 1e-3
    assert abs(np.abs(there).mean() - np.abs(exact.look(residual)).mean()) < 1e-4


def test_equal_scores_are_never_parted():
    score = np.random.default_rng(5).integers(0, 900, 4000) / 900
    view = Local()(as_problem(np.ones(4000, dtype=int), score))
    assert all(len(set(view.place[score == s].tolist())) == 1 for s in np.unique(score))


# Cumulative


@given(rows=columns())
def test_the_distances_are_those_of_the_definition(rows):
    label, score, weight = rows
    y, p, w = label.tolist(), score.tolist(), weight.tolist()
    ks = metrics.kolmogorov_smirnov_error(label, score, sample_weight=weight)
    assert ks == pytest.approx(cumulative.kolmogorov_smirnov(y, p, w), abs=1e-12)
    kuiper = metrics.kuiper_error(label, score, sample_weight=weight)
    assert kuiper == pytest.approx(cumulative.kuiper(y, p, w), abs=1e-12)


@given(rows=columns())
def test_the_two_bin_error_is_that_of_the_definition(rows):
    label, score, weight = rows
    found = metrics.averaged_two_bin_error(label, score, sample_weight=weight)
    assert found == pytest.approx(cumulative.two_bins(label.tolist(), score.tolist(), weight.tolist()), abs=1e-12)
    squared = metrics.averaged_two_bin_error(label, score, sample_weight=weight, squared=True)
    assert squared == pytest.approx(found**2, abs=1e-15)
    assert abs(np.average(label - score, weights=weight)) / np.sqrt(2) <= found + 1e-12
