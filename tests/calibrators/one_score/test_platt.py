import numpy as np
import pytest
from hypothesis import assume, given
from reference import logistic as odds
from reference import recalibration as twin
from scipy.special import expit, logit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from strategies import columns

from calibrant import ByNotion
from calibrant.calibrators.parametric import PlattScaling
from calibrant.fit import minimise as newton

# Drawn rows may all be of one class; that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore:only the class", "ignore:no calibration row")


def sample(n, a=0.4, b=0.6, seed=0):
    rng = np.random.default_rng(seed)
    z = 1.5 * rng.normal(size=n)
    return (rng.random(n) < expit(a + b * z)).astype(int), z


@given(rows=columns())
def test_at_the_line_the_gradient_of_the_loss_on_platts_targets_vanishes(rows):
    label, score, weight = rows
    x = np.array([odds.log_odds(p) for p in score])
    assume(np.ptp(x) > 1e-6)
    fitted = PlattScaling().fit(score, label, weight)
    target = twin.platt_targets(label.tolist(), weight.tolist())
    slope = twin.gradient(twin.line, [fitted.intercept_, fitted.slope_], x, target, weight)
    np.testing.assert_allclose(slope, 0.0, atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_without_smoothing_it_is_an_unpenalised_logistic_regression(weighted):
    label, z = sample(400)
    weight = np.random.default_rng(1).random(400) if weighted else None
    peer = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-12).fit(z[:, None], label, weight)
    fitted = PlattScaling(smooth_targets=False, input="logit").fit(z, label, weight)
    assert fitted.slope_ == pytest.approx(peer.coef_[0, 0], rel=1e-9)
    assert fitted.intercept_ == pytest.approx(peer.intercept_[0], rel=1e-9)
    np.testing.assert_allclose(fitted.predict_proba(z), peer.predict_proba(z[:, None]), rtol=1e-9)


def test_logits_are_exact_and_probabilities_clipped():
    z, label = np.array([-60.0, -40.0, -35.0, 35.0, 40.0, 60.0]), [0, 1, 0, 1, 0, 1]
    exact = PlattScaling(input="logit").fit(z, label)
    target = twin.platt_targets(label, [1.0] * 6)
    np.testing.assert_allclose(
        twin.gradient(twin.line, [exact.intercept_, exact.slope_], z, target, [1.0] * 6), 0.0, atol=1e-9
    )
    assert PlattScaling().fit(expit(z), label).slope_ != pytest.approx(exact.slope_, rel=1e-3)


# What has no minimum


@pytest.mark.parametrize("smooth_targets", [True, False])
def test_of_equal_scores_the_log_odds_are_shifted(smooth_targets):
    fitted = PlattScaling(smooth_targets=smooth_targets).fit([0.3] * 4, [0, 1, 1, 1])
    rate = (3 * 4 / 5 + 1 / 3) / 4 if smooth_targets else 0.75
    assert fitted.slope_ == 1.0
    assert fitted.calibrate([0.3])[0] == pytest.approx(rate)
    assert fitted.calibrate([0.6])[0] == pytest.approx(expit(logit(0.6) + logit(rate) - logit(0.3)))


def test_a_search_that_does_not_arrive_says_so(monkeypatch):
    monkeypatch.setattr(newton, "MOST_STEPS", 1)
    label, z = sample(50)
    with pytest.warns(ConvergenceWarning, match="Newton's method has not reached it"):
        PlattScaling(input="logit").fit(z, label)


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
