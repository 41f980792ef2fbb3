import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import logistic as odds
from reference import recalibration as twin
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from strategies import GRID

from calibrant import TemperatureScaling
from calibrant.calibrators.parametric import BetaCalibration, PlattScaling

each_form = pytest.mark.parametrize("parameters", ["abm", "am", "ab", "a"])


def sample(n, curve, seed=0, spread=2.0):
    rng = np.random.default_rng(seed)
    z = spread * rng.normal(size=n)
    return (rng.random(n) < expit(curve(z))).astype(int), expit(z)


FORMS = {
    "abm": (twin.beta, lambda f: [f.c_, f.a_, f.b_]),
    "am": (twin.beta_of_one_slope, lambda f: [f.c_, f.a_]),
    "ab": (twin.beta_through_half, lambda f: [f.a_, f.b_]),
    "a": (twin.beta_temperature, lambda f: [f.a_]),
}
NAMES = {"abm": "cab", "am": "ca", "ab": "ab", "a": "a"}


rows_on_a_grid = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from(GRID), st.integers(1, 4)), min_size=3, max_size=20
).filter(lambda rows: len({row[1] for row in rows}) > 2)


def fitted_with_targets(parameters, label, score, weight):
    """The calibrator, and the targets that it says it was fitted to."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fitted = BetaCalibration(parameters=parameters).fit(score, label, weight)
    smoothed = any(issubclass(w.category, ConvergenceWarning) for w in said)
    return fitted, twin.platt_targets(label, weight) if smoothed else list(map(float, label))


@each_form
@given(rows=rows_on_a_grid)
def test_the_gradient_vanishes_at_the_curve_or_holds_a_parameter_at_zero(parameters, rows):
    label, score, weight = zip(*rows, strict=True)
    fitted, target = fitted_with_targets(parameters, label, score, weight)
    features, values = FORMS[parameters]
    slope = np.array(twin.gradient(features, values(fitted), list(map(odds.log_odds, score)), target, weight))
    held = np.array([name != "c" and value == 0 for name, value in zip(NAMES[parameters], values(fitted), strict=True)])
    slope[held] = np.minimum(slope[held], 0.0)
    np.testing.assert_allclose(slope, 0.0, atol=1e-8)
    assert fitted.a_ >= 0
    assert fitted.b_ >= 0


def test_with_equal_a_and_b_it_is_the_straight_line_of_platt():
    label, score = sample(500, lambda z: 0.3 + 0.7 * z)
    beta = BetaCalibration(parameters="am").fit(score, label)
    platt = PlattScaling(smooth_targets=False).fit(score, label)
    assert beta.a_ == beta.b_ == pytest.approx(platt.slope_, rel=1e-10)
    assert beta.c_ == pytest.approx(platt.intercept_, rel=1e-10)


def test_with_one_parameter_it_is_temperature_scaling():
    label, score = sample(500, lambda z: 0.7 * z)
    beta = BetaCalibration(parameters="a").fit(score, label)
    warm = TemperatureScaling().fit(score, label)
    assert 1 / beta.a_ == pytest.approx(warm.temperature_, rel=1e-7)
    assert beta.c_ == 0.0


@pytest.mark.parametrize("parameters", ["ab", "a"])
def test_with_m_one_half_a_score_of_one_half_stays(parameters):
    label, score = sample(500, lambda z: 0.4 + 0.7 * z)
    fitted = BetaCalibration(parameters=parameters).fit(score, label)
    assert fitted.calibrate([0.5])[0] == pytest.approx(0.5, abs=1e-12)


# What has no minimum, or many


def test_separated_the_wrong_way_round_is_a_constant_and_no_trouble():
    fitted = BetaCalibration().fit([0.1, 0.2, 0.6, 0.9], [1, 1, 0, 0])
    np.testing.assert_allclose(fitted.calibrate([0.0, 0.5, 1.0]), 0.5)


def test_through_one_half_classes_are_separated_by_one_half_alone():
    """A curve through (1/2, 1/2) cannot separate at 0.7."""
    BetaCalibration(parameters="ab").fit([0.1, 0.6, 0.8, 0.9], [0, 0, 1, 1])
    with pytest.warns(ConvergenceWarning):
        BetaCalibration(parameters="ab").fit([0.1, 0.4, 0.8, 0.9], [0, 0, 1, 1])


@pytest.mark.parametrize("parameters", ["abm", "am"])
def test_of_equal_scores_the_log_odds_are_shifted(parameters):
    fitted = BetaCalibration(parameters=parameters).fit([0.3] * 4, [0, 1, 1, 1])
    assert (fitted.a_, fitted.b_) == (1.0, 1.0)
    assert fitted.calibrate([0.3])[0] == pytest.approx(0.75)


@pytest.mark.parametrize("parameters", ["ab", "a"])
def test_scores_of_one_half_say_nothing_of_a_curve_through_one_half(parameters):
    fitted = BetaCalibration(parameters=parameters).fit([0.5] * 4, [0, 1, 1, 1])
    np.testing.assert_allclose(fitted.calibrate([0.1, 0.5, 0.9]), [0.1, 0.5, 0.9])


def test_scores_that_differ_by_rounding_are_one():
    fitted = BetaCalibration().fit([0.2] * 4 + [0.7] * 3 + [np.nextafter(0.7, 1)], [0, 0, 0, 1, 0, 1, 1, 1])
    assert fitted.a_ == fitted.b_
    np.testing.assert_allclose(fitted.calibrate([0.2, 0.7]), [0.25, 0.75], rtol=1e-10)


def test_logits_are_exact_and_probabilities_clipped():
    z, label = np.array([-60.0, -40.0, -35.0, 35.0, 40.0, 60.0]), np.array([0, 1, 0, 1, 0, 1])
    fitted = BetaCalibration(input="logit").fit(z, label)
    slope = twin.gradient(twin.beta, [fitted.c_, fitted.a_, fitted.b_], z, label.astype(float), np.ones(6))
    np.testing.assert_allclose(slope, 0.0, atol=1e-8)
    assert BetaCalibration().fit(expit(z), label).a_ != pytest.approx(fitted.a_, rel=1e-3)
