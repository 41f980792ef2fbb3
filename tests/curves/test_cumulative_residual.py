"""The path of cumulative residuals is the one of the definition, and stays in its band as often as promised."""

import numpy as np
import pytest
from hypothesis import given
from reference import cumulative_path
from strategies import columns, tables

from calibrant.curves import cumulative_residual_curve
from calibrant.curves.cumulative import brownian_quantile
from calibrant.metrics import kolmogorov_smirnov_error, kuiper_error
from calibrant.sums.draws import distance_survival

Y = [0, 1, 2, 1]
P = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.7, 0.2, 0.1]])


@given(rows=columns())
def test_the_path_is_that_of_the_definition(rows):
    label, score, weight = rows
    panel = cumulative_residual_curve(label, score, sample_weight=weight).panels[0]
    path = cumulative_path.path(label.tolist(), score.tolist(), weight.tolist())
    np.testing.assert_allclose(np.column_stack([panel.score, panel.share, panel.cumulative]), path, atol=1e-12)


@given(rows=columns())
def test_the_errors_of_the_panel_are_the_metrics(rows):
    label, score, weight = rows
    panel = cumulative_residual_curve(label, score, sample_weight=weight).panels[0]
    assert panel.ks_error == pytest.approx(kolmogorov_smirnov_error(label, score, sample_weight=weight), abs=1e-15)
    assert panel.kuiper_error == pytest.approx(kuiper_error(label, score, sample_weight=weight), abs=1e-15)
    assert panel.ks_error == pytest.approx(np.abs(panel.cumulative).max(), abs=1e-15)
    assert panel.kuiper_error == pytest.approx(np.ptp(panel.cumulative), abs=1e-15)


@given(rows=columns())
def test_the_band_counts_a_whole_weight_as_rows(rows):
    label, score, weight = rows
    panel = cumulative_residual_curve(label, score, sample_weight=weight).panels[0]
    deviation = cumulative_path.standard_deviation_of_repeated_rows(score.tolist(), weight.tolist())
    assert panel.reach == pytest.approx(brownian_quantile(0.05) * deviation, abs=1e-12)


def test_the_band_squares_a_weight_that_is_no_number_of_rows():
    weight = np.array([0.5, 1.5])
    panel = cumulative_residual_curve([0, 1], [0.5, 0.2], sample_weight=weight).panels[0]
    deviation = np.sqrt(0.25 * 0.25 + 2.25 * 0.16) / 2.0
    assert panel.reach == pytest.approx(brownian_quantile(0.05) * deviation)


def test_the_slope_between_two_scores_is_event_rate_minus_mean_probability():
    panel = cumulative_residual_curve([0, 0, 1, 1, 1], [0.2, 0.2, 0.2, 0.9, 0.9]).panels[0]
    np.testing.assert_allclose(np.diff(panel.cumulative) / np.diff(panel.share), [1 / 3 - 0.2, 0.1])


@pytest.mark.parametrize("x", [0.4, 0.8, 1.0, 1.5, 2.2414, 3.0])
def test_the_law_of_the_largest_distance_is_that_of_the_heat_equation(x):
    expected = cumulative_path.probability_that_a_brownian_motion_goes_beyond(x)
    assert float(distance_survival(x)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("level", "quantile"), [(0.1, 1.9600), (0.05, 2.2414), (0.01, 2.8070)])
def test_quantiles_of_the_largest_distance(level, quantile):
    assert brownian_quantile(level) == pytest.approx(quantile, abs=1e-4)


@pytest.mark.parametrize("level", [1e-12, 0.5, 1 - 1e-12])
def test_quantiles_exist_for_every_level(level):
    assert float(distance_survival(brownian_quantile(level))) == pytest.approx(level, abs=1e-10)


def test_the_line_of_a_calibrated_forecast_leaves_the_band_as_often_as_promised():
    """The band is asymptotic, and a sum over rows exceeds less than the path between them: from 2.5 % to 5 %, and noise."""
    rng, runs = np.random.default_rng(0), 2000
    left = 0
    for _ in range(runs):
        p = rng.beta(0.7, 1.5, 400)
        panel = cumulative_residual_curve(rng.random(400) < p, p).panels[0]
        left += panel.ks_error > panel.reach
    noise = 4 * np.sqrt(0.05 * 0.95 / runs)
    assert 0.025 - noise < left / runs < 0.05 + noise


@given(rows=tables())
def test_the_path_starts_at_zero_and_ends_at_the_mean_residual(rows):
    label, prob, weight = rows
    curve = cumulative_residual_curve(label, prob, notion="class-wise", sample_weight=weight)
    for j, panel in enumerate(curve.panels):
        assert panel.cumulative[0] == panel.share[0] == 0.0
        assert panel.share[-1] == pytest.approx(1.0)
        assert panel.cumulative[-1] == pytest.approx(np.average((label == j) - prob[:, j], weights=weight), abs=1e-12)


def test_a_class_that_is_never_predicted_has_only_a_start():
    panel = cumulative_residual_curve([0, 1, 1], P[[0, 1, 3]], notion="top-label").panels[2]
    assert panel.share.tolist() == [0.0]
    assert np.isnan([panel.reach, panel.ks_error, panel.kuiper_error, panel.score[0]]).all()


def test_certain_forecasts_have_no_band():
    panel = cumulative_residual_curve([0, 1], [0.0, 1.0]).panels[0]
    assert panel.reach == 0.0
    assert panel.ks_error == 0.0


def test_the_curve_says_what_it_is_and_cannot_be_changed():
    curve = cumulative_residual_curve(Y, P, notion="top-label", level=0.1)
    assert repr(curve) == "CumulativeResidualCurve(top-label, panels=3, scores=4)"
    assert curve.level == 0.1
    with pytest.raises(ValueError, match="read-only"):
        curve.panels[0].cumulative[0] = 1.0
    frame = curve.to_frame("polars")
    assert frame.columns == ["panel", "score", "share", "cumulative", "reach"]
    assert len(frame) == 7


def test_a_level_in_percent_is_refused():
    with pytest.raises(ValueError, match="level must be a fraction"):
        cumulative_residual_curve(Y, P, level=5)
