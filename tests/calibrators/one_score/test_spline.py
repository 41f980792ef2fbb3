import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import spline as twin
from scipy.special import expit, logit
from sklearn.exceptions import ConvergenceWarning
from strategies import columns

from calibrant import SplineCalibration
from calibrant._core.rows import BinaryProblem, Weights
from calibrant.fit import minimise as newton
from calibrant.fit.log_loss import Recalibration, recalibration_of
from calibrant.fit.splines import Curves, fits_of_all_penalties, knots_of, natural_spline

# Drawn rows may all be of one class; that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore:only the class", "ignore:no calibration row")


def identity(x):
    return x


def wave(x):
    return x + 1.2 * np.sin(1.5 * x)


def drawn(truth, n=3000, seed=0):
    """Log-odds, and events whose log-odds are ``truth`` of them."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 2.5, n)
    return x, (rng.random(n) < expit(truth(x))).astype(int)


# The optimum


@settings(max_examples=15)
@given(rows=columns(min_rows=2, max_rows=10, weights=st.integers(1, 3)))
def test_no_other_spline_has_a_smaller_penalised_loss(rows):
    label, score, weight = rows
    fitted = SplineCalibration(n_knots=5).fit(score, label, weight)
    x = np.log(np.maximum(score, 1e-12)) - np.log(np.maximum(1 - score, 1e-12))
    centre = float(np.average(x, weights=weight))

    def objective(values):
        return twin.objective(x, label, weight, fitted.knots_.tolist(), values, fitted.penalty_, centre)

    best = objective(fitted.deviation_)
    line = np.column_stack([np.ones(fitted.knots_.size), fitted.knots_ - centre])
    other = twin.fit(x, label, weight, fitted.knots_.tolist(), fitted.penalty_, centre)
    assert best <= objective(other) + 1e-7
    assert best <= objective(fitted.deviation_ + line @ [0.01, 0.0])
    assert best <= objective(fitted.deviation_ - line @ [0.0, 0.01])


def test_a_curve_that_is_not_optimal_is_told_of(monkeypatch):
    monkeypatch.setattr(newton, "MOST_STEPS", 1)
    with pytest.warns(ConvergenceWarning, match="the spline must have a gradient below 1e-08; got"):
        SplineCalibration(input="logit").fit(*drawn(wave, n=100))


# The choice of the penalty


def test_a_row_left_out_costs_about_a_degree_of_freedom_over_the_rows():
    """So it is to first order where the curve is right (Takeuchi); a line has two degrees of freedom."""
    n = 4000
    x, label = drawn(identity, n=n)
    rows = recalibration_of(BinaryProblem(expit(x), label == 1, Weights.one_each(n), logit=x))
    line, *_, curve = (fit.point for fit in fits_of_all_penalties(Curves(rows, knots_of(rows, 5))))
    for fit in (line, curve):
        assert n * fit.left_out_loss() - fit.curve.loss == pytest.approx(fit.degrees_of_freedom, rel=0.25)
    assert line.degrees_of_freedom == pytest.approx(2.0, rel=0.01)


def test_of_all_penalties_the_one_with_the_least_left_out_loss_is_taken():
    x, label = drawn(wave, n=500)
    rows = recalibration_of(BinaryProblem(expit(x), label == 1, Weights.one_each(500), logit=x))
    losses = [fit.point.left_out_loss() for fit in fits_of_all_penalties(Curves(rows, knots_of(rows, 15)))]
    assert len(losses) == 14
    assert SplineCalibration(input="logit").fit(x, label).loss_ == pytest.approx(min(losses), abs=1e-9)


# What it keeps


def test_between_the_knots_it_is_the_natural_spline_of_its_values():
    knots, values = np.array([0.0, 1.0, 1.5, 4.0]), np.array([0.3, -0.2, 0.5, 0.1])
    x = np.linspace(-2, 6, 41)
    expected = [twin.deviation(knots.tolist(), values.tolist(), z) for z in x]
    np.testing.assert_allclose(natural_spline(knots, values, x), expected, atol=1e-12)


def test_sums_over_the_rows_between_knots_are_those_of_each_row():
    x = np.array([-2.0, -1.5, 0.0, 0.0, 2.5, 3.0])
    rows = Recalibration(x, np.ones(6), np.ones(6))
    curves = Curves(rows, np.array([-2.0, -1.6, -1.55, 0.0, 1.0, 2.0, 3.0]))  # some have no rows between them
    gap = np.array([0, 2, 3, 3, 5, 5])
    place = (x - curves.knots[gap]) / np.diff(curves.knots)[gap]
    mass, powers = np.arange(1.0, 7.0), np.arange(18.0).reshape(6, 3)
    np.testing.assert_array_equal(curves.place, place)
    by_row = np.stack([np.bincount(gap, mass * place**k, 6) for k in range(4)], axis=1)
    np.testing.assert_allclose(curves.moments(mass, 4), by_row, rtol=1e-14)
    np.testing.assert_allclose(curves.polynomials(powers), (powers[gap] * place[:, None] ** [0, 1, 2]).sum(axis=1))


# Degenerate rows have a defined answer


@pytest.mark.parametrize("label", [0, 1])
def test_one_row_moves_the_log_odds_by_its_residual(label):
    """With a normal prior of variance one the shift a solves  a = y - p(x + a)."""
    fitted = SplineCalibration().fit([0.3], [label])
    shift = fitted.deviation_[0]
    assert shift == pytest.approx(label - expit(logit(0.3) + shift), abs=1e-10)
    assert fitted.penalty_ == np.inf


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e3, 1e5])
def test_logits_on_another_scale_are_fitted_all_the_same(scale):
    x, label = drawn(wave, n=300)
    fitted = SplineCalibration(input="logit").fit(scale * x, label)
    assert np.isfinite(fitted.deviation_).all()
    assert fitted.gradient_ < 1e-8
