"""Curves of log-odds: Platt, beta, quadratic, and the two splines."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import cdf_spline, spline
from reference import logistic as odds
from reference import recalibration as twin
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from strategies import GRID, columns, scores

from calibrant import ByNotion, SplineCalibration, load_calibrator, save_calibrator
from calibrant._core.rows import BinaryProblem, Weights
from calibrant.calibrators import CDFSplineCalibration
from calibrant.calibrators.parametric import BetaCalibration, PlattScaling, QuadraticScaling
from calibrant.fit import minimise as newton
from calibrant.fit.log_loss import recalibration_of
from calibrant.fit.splines import Curves, fits_of_all_penalties, knots_of, natural_spline
from calibrant.interop import to_numpy

# Drawn rows may all be of one class; that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore:only the class", "ignore:no calibration row")


FORMS = {
    "platt": (PlattScaling(), twin.line, ["intercept_", "slope_"]),
    "quadratic": (QuadraticScaling(), twin.parabola, ["a_", "b_", "c_"]),
    "abm": (BetaCalibration(), twin.beta, ["c_", "a_", "b_"]),
    "am": (BetaCalibration(parameters="am"), twin.line, ["c_", "a_"]),
    "ab": (BetaCalibration(parameters="ab"), twin.beta_through_half, ["a_", "b_"]),
    "a": (BetaCalibration(parameters="a"), twin.beta_temperature, ["a_"]),
}


def sample(n, a=0.4, b=0.6, seed=0):
    rng = np.random.default_rng(seed)
    z = 1.5 * rng.normal(size=n)
    return (rng.random(n) < expit(a + b * z)).astype(int), z


def fitted_with_targets(calibrator, label, score, weight):
    """The calibrator, and the targets that it says it was fitted to."""
    with warnings.catch_warnings(record=True, action="always") as said:
        fitted = clone(calibrator).fit(score, label, weight)
    smoothed = isinstance(fitted, PlattScaling) or any(issubclass(w.category, ConvergenceWarning) for w in said)
    return fitted, twin.platt_targets(label, weight) if smoothed else list(map(float, label))


rows_on_a_grid = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from(GRID), st.integers(1, 4)), min_size=3, max_size=20
).filter(lambda rows: len({row[1] for row in rows}) > 2)


@pytest.mark.parametrize("form", FORMS)
@given(rows=rows_on_a_grid)
def test_the_gradient_vanishes_at_the_curve_or_holds_a_parameter_at_zero(form, rows):
    label, score, weight = zip(*rows, strict=True)
    calibrator, features, names = FORMS[form]
    fitted, target = fitted_with_targets(calibrator, label, score, weight)
    values, x = [getattr(fitted, name) for name in names], list(map(odds.log_odds, score))
    slope = np.array(twin.gradient(features, values, x, target, weight))
    if form in ("abm", "am", "ab", "a"):
        held = np.array([name != "c_" and value == 0 for name, value in zip(names, values, strict=True)])
        slope[held] = np.minimum(slope[held], 0.0)
        assert fitted.a_ >= 0
        assert fitted.b_ >= 0
    # Of a square that goes up to 763.
    np.testing.assert_allclose(slope, 0.0, atol=1e-6 if form == "quadratic" else 1e-8)
    expected = expit([np.dot(features(z), values) for z in x])
    np.testing.assert_allclose(fitted.calibrate(score), expected, rtol=1e-8, atol=1e-300)  # none becomes zero


@pytest.mark.parametrize("weighted", [False, True])
def test_without_smoothing_it_is_an_unpenalised_logistic_regression(weighted):
    label, z = sample(400)
    weight = np.random.default_rng(1).random(400) if weighted else None
    peer = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-12).fit(z[:, None], label, weight)
    fitted = PlattScaling(smooth_targets=False, input="logit").fit(z, label, weight)
    assert [fitted.slope_, fitted.intercept_] == pytest.approx([peer.coef_[0, 0], peer.intercept_[0]], rel=1e-9)


@pytest.mark.parametrize("form", ["platt", "abm"])
def test_logits_are_exact_and_probabilities_clipped(form):
    z, label, (calibrator, features, names) = np.array([-60.0, -40, -35, 35, 40, 60]), [0, 1, 0, 1, 0, 1], FORMS[form]
    exact, target = fitted_with_targets(clone(calibrator).set_params(input="logit"), label, z, np.ones(6))
    values = [getattr(exact, name) for name in names]
    np.testing.assert_allclose(twin.gradient(features, values, z, target, np.ones(6)), 0.0, atol=1e-8)
    assert getattr(clone(calibrator).fit(expit(z), label), names[1]) != pytest.approx(values[1], rel=1e-3)


# What has no minimum, or many


UNSMOOTHED = [
    PlattScaling(smooth_targets=False),
    BetaCalibration(),
    BetaCalibration(parameters="am"),
    QuadraticScaling(),
]


@pytest.mark.parametrize(
    ("calibrator", "rate"), [(PlattScaling(), (3 * 4 / 5 + 1 / 3) / 4), *((one, 0.75) for one in UNSMOOTHED)], ids=repr
)
def test_of_equal_scores_the_log_odds_are_shifted(calibrator, rate):
    fitted = calibrator.fit([0.3] * 4, [0, 1, 1, 1])
    assert fitted.calibrate([0.3, 0.6]) == pytest.approx([rate, expit(logit(0.6) + logit(rate) - logit(0.3))])


@pytest.mark.parametrize(
    ("calibrator", "said"),
    [
        (PlattScaling(input="logit"), "Newton's method has not reached it"),
        (SplineCalibration(input="logit"), "the spline must have a gradient below 1e-08; got"),
    ],
)
def test_a_search_that_does_not_arrive_says_so(calibrator, said, monkeypatch):
    monkeypatch.setattr(newton, "MOST_STEPS", 1)
    with pytest.warns(ConvergenceWarning, match=said):
        calibrator.fit(*drawn(wave, n=100))


def test_the_problem_without_a_minimum_is_named():
    prob = np.full((6, 3), 1 / 3) + np.outer([0.1, -0.1, 0.05, 0.0, 0.2, -0.2], [1, -1, 0])
    with pytest.warns(ConvergenceWarning, match="it keeps falling for 'class 2'"):
        ByNotion(PlattScaling(smooth_targets=False), labels=[0, 1, 2]).fit(prob, [0, 0, 1, 0, 1, 0])


def test_a_line_that_rounding_keeps_from_the_minimum_is_told_of():
    """Log-odds whose differences are lost in their size: a slope of one and an intercept of -1e12 cannot be exact."""
    label, z = sample(1000)
    with pytest.warns(ConvergenceWarning, match="gradient of at most 1e-08 in standardised units; got"):
        fitted = PlattScaling(input="logit").fit(1e10 + z, label)
    assert fitted.gradient_ > 1e-8


def test_separated_the_wrong_way_round_is_a_constant_and_no_trouble():
    fitted = BetaCalibration().fit([0.1, 0.2, 0.6, 0.9], [1, 1, 0, 0])
    np.testing.assert_allclose(fitted.calibrate([0.0, 0.5, 1.0]), 0.5)


def test_through_one_half_classes_are_separated_by_one_half_alone():
    """A curve through (1/2, 1/2) cannot separate at 0.7."""
    BetaCalibration(parameters="ab").fit([0.1, 0.6, 0.8, 0.9], [0, 0, 1, 1])
    with pytest.warns(ConvergenceWarning):
        BetaCalibration(parameters="ab").fit([0.1, 0.4, 0.8, 0.9], [0, 0, 1, 1])


@pytest.mark.parametrize("parameters", ["ab", "a"])
def test_scores_of_one_half_say_nothing_of_a_curve_through_one_half(parameters):
    fitted = BetaCalibration(parameters=parameters).fit([0.5] * 4, [0, 1, 1, 1])
    np.testing.assert_allclose(fitted.calibrate([0.1, 0.5, 0.9]), [0.1, 0.5, 0.9])


def test_scores_that_differ_by_rounding_are_one():
    fitted = BetaCalibration().fit([0.2] * 4 + [0.7] * 3 + [np.nextafter(0.7, 1)], [0, 0, 0, 1, 0, 1, 1, 1])
    assert fitted.a_ == fitted.b_
    np.testing.assert_allclose(fitted.calibrate([0.2, 0.7]), [0.25, 0.75], rtol=1e-10)


@pytest.mark.parametrize(
    "label", [[0, 0, 0, 1, 1], [1, 1, 0, 0, 0], [0, 0, 1, 1, 0], [1, 0, 0, 0, 1], [0, 0, 1, 0, 0]], ids=str
)
def test_where_a_parabola_separates_the_classes_targets_are_smoothed_and_this_is_said(label):
    """Above, below, inside, outside, at a point."""
    score, weight = [0.1, 0.2, 0.4, 0.7, 0.8], [1] * 5
    with pytest.warns(ConvergenceWarning, match="both classes must occur, and their scores overlap"):
        fitted = QuadraticScaling().fit(score, label)
    target, values = twin.platt_targets(label, weight), [fitted.a_, fitted.b_, fitted.c_]
    np.testing.assert_allclose(twin.gradient(twin.parabola, values, logit(score), target, weight), 0.0, atol=1e-9)


@pytest.mark.parametrize("method", [QuadraticScaling(), BetaCalibration()], ids=repr)
def test_scores_of_one_class_at_the_ends_leave_the_rates_between_to_the_curve(method):
    """Votes of three: how near the ends come to 0 and 1 is lost in rounding, which must not decide on smoothed targets."""
    times = [3, 13, 7, 5, 14, 9]
    fitted = method.fit(np.repeat(np.array([0, 1, 1, 2, 2, 3]) / 3, times), np.repeat([0, 0, 1, 0, 1, 1], times))
    np.testing.assert_allclose(fitted.calibrate([1 / 3, 2 / 3]), [7 / 20, 14 / 19], rtol=1e-9)


# Splines


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
        return spline.objective(x, label, weight, fitted.knots_.tolist(), values, fitted.penalty_, centre)

    best = objective(fitted.deviation_)
    line = np.column_stack([np.ones(fitted.knots_.size), fitted.knots_ - centre])
    assert best <= objective(spline.fit(x, label, weight, fitted.knots_.tolist(), fitted.penalty_, centre)) + 1e-7
    assert best <= objective(fitted.deviation_ + line @ [0.01, 0.0])
    assert best <= objective(fitted.deviation_ - line @ [0.0, 0.01])


# The choice of the penalty


def test_a_row_left_out_costs_about_a_degree_of_freedom_over_the_rows():
    """So it is to first order where the curve is right (Takeuchi); a line has two degrees of freedom."""
    n = 4000
    x, label = drawn(lambda x: x, n=n)
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
    expected = [spline.deviation(knots.tolist(), values.tolist(), z) for z in x]
    np.testing.assert_allclose(natural_spline(knots, values, x), expected, atol=1e-12)


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


# The CDF spline


@pytest.mark.parametrize("n_knots", [2, 3, 6])
@given(rows=columns(max_rows=12), new=st.lists(scores, min_size=1, max_size=10))
def test_the_map_is_what_its_definition_says(n_knots, rows, new):
    label, score, weight = rows
    calibrator = CDFSplineCalibration(n_knots=n_knots).fit(score, label, weight)
    distinct, added = cdf_spline.fit(score.tolist(), label.tolist(), weight.tolist(), n_knots)
    np.testing.assert_allclose(calibrator.deviation_, added, rtol=1e-7, atol=1e-8)
    expected = [cdf_spline.predict(distinct, added, s) for s in new]
    np.testing.assert_allclose(calibrator.calibrate(new), expected, rtol=1e-7, atol=1e-8)


def test_scores_that_are_closer_than_normal_numbers_are_joined_by_lines():
    score = np.arange(1, 40) * 1e-319
    calibrator = CDFSplineCalibration().fit(score, np.arange(39) % 3 == 0)
    ends, between = calibrator.calibrate(score), calibrator.calibrate(score[1:] - 5e-320)
    np.testing.assert_allclose(between, (ends[1:] + ends[:-1]) / 2.0, atol=1e-3)


# What is kept


@pytest.mark.parametrize("n", [20_000, 100_000])
def test_a_saved_map_does_not_grow_with_the_rows(n, tmp_path):
    rng = np.random.default_rng(0)
    score = rng.beta(0.3, 1.5, n)
    fitted = CDFSplineCalibration().fit(score, rng.random(n) < 0.9 * score**1.6 + 0.03)
    save_calibrator(fitted, tmp_path / "map.json")
    assert (tmp_path / "map.json").stat().st_size < 260_000
    assert len(to_numpy(fitted)) < 120_000
    new = np.linspace(0.0, 1.0, 1001)
    np.testing.assert_array_equal(load_calibrator(tmp_path / "map.json").calibrate(new), fitted.calibrate(new))
