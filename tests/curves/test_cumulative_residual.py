"""The path of cumulative residuals is the one of the definition, and stays in its band as often as promised."""

import numpy as np
import pytest
from hypothesis import given
from reference import cumulative_path
from strategies import columns

from calibrant import load_digits_forecast
from calibrant.curves import cumulative_residual_curve, plot_cumulative_residual
from calibrant.curves.cumulative import brownian_quantile
from calibrant.metrics import kolmogorov_smirnov_error, kuiper_error
from calibrant.sums.draws import distance_survival

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


def test_the_band_squares_a_weight_that_is_no_number_of_rows():
    weight = np.array([0.5, 1.5])
    panel = cumulative_residual_curve([0, 1], [0.5, 0.2], sample_weight=weight).panels[0]
    deviation = np.sqrt(0.25 * 0.25 + 2.25 * 0.16) / 2.0
    assert panel.reach == pytest.approx(brownian_quantile(0.05) * deviation)


@pytest.mark.parametrize("x", [0.4, 0.8, 1.0, 1.5, 2.2414, 3.0])
def test_the_law_of_the_largest_distance_is_that_of_the_heat_equation(x):
    expected = cumulative_path.probability_that_a_brownian_motion_goes_beyond(x)
    assert float(distance_survival(x)) == pytest.approx(expected, abs=1e-12)


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


def test_a_class_that_is_never_predicted_has_only_a_start():
    panel = cumulative_residual_curve([0, 1, 1], P[[0, 1, 3]], notion="top-label").panels[2]
    assert panel.share.tolist() == [0.0]
    assert np.isnan([panel.reach, panel.ks_error, panel.kuiper_error, panel.score[0]]).all()


# Pictures


Y, PROB = load_digits_forecast()


def path(ax, number=0):
    return [line for line in ax.lines if len(line.get_xdata()) > 2][number]


def upper_axis(ax):
    """Labels of the axis of probabilities."""
    (upper,) = ax.child_axes
    return [label.get_text() for label in upper.get_xticklabels()]


def test_the_artists_carry_exactly_the_arrays_of_the_result():
    curve = cumulative_residual_curve(Y, PROB)
    panel = curve.panels[0]
    ax = curve.plot()
    np.testing.assert_array_equal(path(ax).get_xdata(), panel.share)
    np.testing.assert_array_equal(path(ax).get_ydata(), panel.cumulative)
    (band,) = ax.patches
    assert (band.get_y(), band.get_y() + band.get_height()) == pytest.approx((-panel.reach, panel.reach))


def test_the_legend_states_the_errors():
    curve = cumulative_residual_curve(Y, PROB)
    words = [text.get_text() for text in curve.plot().get_legend().get_texts()]
    panel = curve.panels[0]
    assert words == [
        "calibrated",
        "95% if calibrated",
        f"forecast: KS {panel.ks_error:.3f}, Kuiper {panel.kuiper_error:.3f}",
    ]


def test_the_upper_axis_says_which_probability_has_been_reached():
    assert upper_axis(cumulative_residual_curve([0, 0, 1, 1], [0.0, 0.004, 0.3, 0.9999]).plot()) == [
        "0.00",
        "0.00",
        "0.004",
        "0.30",
        "1.00",
    ]
    assert upper_axis(cumulative_residual_curve([0, 0], [1e-5, 0.5]).plot())[0] == "<.001"


def test_forecasts_over_each_other_have_bands_of_their_own():
    curves = {"before": cumulative_residual_curve(Y, PROB), "after": cumulative_residual_curve(Y, 0.5 * PROB + 0.05)}
    ax = plot_cumulative_residual(curves)
    for number, curve in enumerate(curves.values()):
        np.testing.assert_array_equal(path(ax, number).get_ydata(), curve.panels[0].cumulative)
        ends = [line for line in ax.lines if line.get_color() == path(ax, number).get_color()]
        assert sorted(line.get_ydata()[0] for line in ends if len(line.get_xdata()) == 2) == pytest.approx(
            [-curve.panels[0].reach, curve.panels[0].reach]
        )
