"""Smooth reliability curves: what can be read off them, what their band covers, and where they degenerate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.collections import LineCollection, PolyCollection
from reference import smooth as reference
from scipy.special import expit, logit
from strategies import columns, tables

import calibrant as cb
from calibrant.drawing import DIAGONAL
from calibrant.lenses import Local
from calibrant.metrics import calibration_intercept, calibration_slope

smoothers = pytest.mark.parametrize("smoother", ["kernel", "local"])
METRICS = {"kernel": cb.smooth_calibration_error, "local": cb.integrated_calibration_index}


def simulated(rng, n, power=1.3):
    score = rng.beta(0.8, 1.5, n)
    truth = score**power
    return (rng.random(n) < truth).astype(int), score, truth


@smoothers
@given(rows=tables(), notion=st.sampled_from(["confidence", "class-wise", "top-label"]))
def test_the_error_of_the_curve_is_the_metric(smoother, rows, notion):
    label, prob, weight = rows
    data = {"sample_weight": weight, "labels": range(prob.shape[1]), "notion": notion}
    curve = cb.smooth_reliability_curve(label, prob, smoother=smoother, **data)
    assert curve.error == pytest.approx(METRICS[smoother](label, prob, **data), abs=1e-12)


@settings(max_examples=20)
@given(rows=columns(max_rows=6), bandwidth=st.floats(0.02, 1.0))
def test_the_coordinates_are_means_under_the_kernel(rows, bandwidth):
    label, score, weight = rows
    panel = cb.smooth_reliability_curve(label, score, sample_weight=weight, bandwidth=bandwidth).panels[0]
    for k in range(0, panel.score.size, 25):
        held = [w * reference.kernel(panel.score[k], p, bandwidth) for p, w in zip(score, weight, strict=True)]
        assert panel.density[k] == pytest.approx(sum(held) / weight.sum(), rel=1e-5, abs=1e-7)
        if panel.density[k] > 1e-3:
            assert panel.event_rate[k] == pytest.approx(np.average(label, weights=held), abs=1e-5)
            assert panel.mean_prob[k] == pytest.approx(np.average(score, weights=held), abs=1e-5)


@pytest.mark.first(1)
@smoothers
@pytest.mark.parametrize("power", [1.0, 1.6])
def test_the_band_covers_the_smoothed_event_rate_at_each_place(smoother, power):
    """For a given bandwidth, on average over places: within four standard errors below, and not wildly above."""
    rng = np.random.default_rng(6)
    score = rng.beta(0.8, 1.5, 400)
    truth = score**power
    smoothed = _smooth(score, truth, smoother)
    bandwidth, covered = (None if smoother == "local" else 0.08), []
    for _ in range(250):
        y = rng.random(400) < truth
        panel = cb.smooth_reliability_curve(y, score, smoother=smoother, bandwidth=bandwidth).panels[0]
        within = (panel.lower - 1e-9 <= smoothed) & (smoothed <= panel.upper + 1e-9)
        covered.append(np.average(within, weights=panel.density))
    standard_error = np.std(covered) / np.sqrt(len(covered))
    assert 0.95 - 0.01 - 4 * standard_error < np.mean(covered) < 0.985


def _smooth(score, truth, smoother):
    from calibrant._core.border import as_problem
    from calibrant.lenses import reflected_kernel

    if smoother == "local":
        view = Local()(as_problem(np.ones(score.size, dtype=int), score))
        return np.clip(view.look(truth[None])[0], 0, 1)
    kernel = reflected_kernel(np.linspace(0, 1, 201), score, 0.08)
    return kernel @ truth / kernel.sum(axis=1)


def test_a_local_regression_of_another_kind_is_a_lens():
    y, p, _ = simulated(np.random.default_rng(1), 200)
    curve = cb.smooth_reliability_curve(y, p, smoother=Local(span=0.5, degree=1))
    assert curve.error == cb.integrated_calibration_index(y, p, span=0.5, degree=1)
    assert curve.smoother == "Local(span=0.5, degree=1, n_cells=512)"


# Pictures


Y, PROB = cb.load_digits_forecast()


def below(ax):
    """The Axes with the density: an inset of our own figure, or one appended to a given Axes."""
    return next(a for a in [*ax.child_axes, *ax.figure.axes] if a is not ax and a.get_ylabel() == "density")


def shows(ax, panel, number=0):
    """Assert that the artists of one curve carry the arrays of its panel."""
    segments = np.array([c for c in ax.collections if isinstance(c, LineCollection)][number].get_segments())
    np.testing.assert_array_equal(segments[:, 0], np.column_stack([panel.mean_prob, panel.event_rate])[:-1])
    np.testing.assert_array_equal(segments[:, 1], np.column_stack([panel.mean_prob, panel.event_rate])[1:])
    band = [c for c in ax.collections if isinstance(c, PolyCollection)][number].get_paths()[0].vertices
    np.testing.assert_array_equal(np.unique(band[:, 1]), np.unique([panel.lower, panel.upper]))
    line = below(ax).lines[number]
    np.testing.assert_array_equal(line.get_xdata(), panel.score)
    np.testing.assert_array_equal(line.get_ydata(), panel.density)


@pytest.mark.parametrize("smoother", ["kernel", "local"])
@pytest.mark.parametrize("notion", ["confidence", "binary"])
def test_the_artists_carry_exactly_the_arrays_of_the_result(notion, smoother):
    data = (Y, PROB) if notion == "confidence" else (Y == 3, PROB[:, 3])
    curve = cb.smooth_reliability_curve(*data, smoother=smoother)
    shows(curve.plot(), curve.panels[0])


def test_every_class_has_a_panel_with_its_name_and_error():
    curve = cb.smooth_reliability_curve(Y, PROB, notion="class-wise")
    axes = curve.plot(panels=["class 7", "class 2"])
    assert [ax.get_title() for ax in axes] == ["class 7", "class 2"]
    for ax, panel in zip(axes, (curve.panels[7], curve.panels[2]), strict=True):
        shows(ax, panel)
        assert ax.texts[0].get_text() == f"smECE {panel.error:.3f}"


def test_forecasts_are_drawn_over_each_other_and_told_apart():
    curves = {
        "before": cb.smooth_reliability_curve(Y, PROB),
        "after": cb.smooth_reliability_curve(Y, 0.5 * PROB + 0.05),
    }
    ax = cb.curves.plot_smooth_reliability(curves)
    for number, curve in enumerate(curves.values()):
        shows(ax, curve.panels[0], number)
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == [DIAGONAL, *(f"{name}: smECE {curve.error:.3f}" for name, curve in curves.items())]


def test_a_constant_forecast_is_a_point_with_its_interval():
    curve = cb.smooth_reliability_curve([0, 1, 0, 0, 0], np.full(5, 0.3))
    ax = curve.plot()
    line = next(line for line in ax.lines if line.get_marker() == "o")
    assert line.get_xdata()[0] == pytest.approx(0.3)
    assert line.get_ydata()[0] == pytest.approx(0.2)
    assert len([c for c in ax.collections if isinstance(c, LineCollection)]) == 1


def test_band_and_density_can_be_left_out():
    ax = cb.smooth_reliability_curve(Y, PROB).plot(band=False, density=False)
    assert not [c for c in ax.collections if isinstance(c, PolyCollection)]
    assert not ax.child_axes


# The logistic curve


@pytest.mark.parametrize("repeated", [False, True])
def test_the_logistic_curve_is_that_of_slope_and_intercept_with_the_band_of_its_information(repeated):
    rng = np.random.default_rng(0)
    z = rng.normal(0, 1.5, 600)
    y, p = rng.random(600) < expit(z), expit(1.5 * z + 0.3)
    times = rng.integers(1, 4, 600)
    rows, weights = (np.repeat(np.arange(600), times), {}) if repeated else (np.arange(600), {"sample_weight": times})
    (panel,) = cb.smooth_reliability_curve(y[rows], p[rows], smoother="logistic", **weights).panels
    y, log_odds = np.repeat(y, times), np.repeat(1.5 * z + 0.3, times)
    a, b = calibration_intercept(y, expit(log_odds)), calibration_slope(y, expit(log_odds))
    np.testing.assert_allclose(panel.event_rate, expit(a + b * logit(panel.score)), atol=1e-7)
    design = np.column_stack([np.ones_like(log_odds), log_odds])
    rate = expit(design @ [a, b])
    covariance = np.linalg.inv(design.T * (rate * (1 - rate)) @ design)
    at = np.column_stack([np.ones(201), logit(panel.score)])
    reach = 1.959964 * np.sqrt(np.einsum("ij,jk,ik->i", at, covariance, at))
    np.testing.assert_allclose(panel.lower, expit(at @ [a, b] - reach), atol=1e-6)
    np.testing.assert_allclose(panel.upper, expit(at @ [a, b] + reach), atol=1e-6)
    assert panel.error == pytest.approx(np.abs(rate - expit(log_odds)).mean())


def test_scores_that_separate_the_outcomes_have_no_logistic_curve():
    (panel,) = cb.smooth_reliability_curve([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9], smoother="logistic").panels
    assert panel.score.size == 0
    assert np.isnan(panel.error)
