import numpy as np
import pytest
from hypothesis import given
from reference import scores
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss
from strategies import tables

from calibrant import accuracy, brier_loss, mean_brier_loss, negative_log_likelihood

# What Hypothesis draws holds events of probability 0 that occurred: tests/metrics/test_log_losses.py is about these.
pytestmark = pytest.mark.filterwarnings("ignore:(expected )?log loss")


@pytest.mark.parametrize(
    ("score", "twin"),
    [
        (accuracy, scores.accuracy),
        (negative_log_likelihood, scores.negative_log_likelihood),
        (brier_loss, scores.brier),
        (mean_brier_loss, lambda prob, *rest: scores.brier(prob, *rest) / len(prob[0])),
    ],
    ids=["accuracy", "nll", "brier", "mean-brier"],
)
@given(rows=tables())
def test_a_score_is_what_its_definition_says(score, twin, rows):
    label, prob, weight = rows
    expected = twin(prob.tolist(), label.tolist(), weight.tolist())
    assert score(label, prob, sample_weight=weight) == pytest.approx(expected, rel=1e-10, abs=1e-13)


@pytest.fixture
def forecast():
    rng = np.random.default_rng(0)
    return rng.integers(0, 3, 200), rng.dirichlet(np.ones(3), 200), rng.random(200)


def test_the_likelihood_is_the_log_loss_of_scikit_learn(forecast):
    y, p, w = forecast
    assert negative_log_likelihood(y, p, sample_weight=w) == pytest.approx(log_loss(y, p, sample_weight=w), rel=1e-12)
    assert negative_log_likelihood(y > 0, p[:, 0]) == pytest.approx(log_loss(y > 0, p[:, 0]), rel=1e-12)


def test_the_brier_loss_of_one_column_is_that_of_scikit_learn(forecast):
    y, p, w = forecast
    expected = brier_score_loss(y > 0, p[:, 0], sample_weight=w)
    assert mean_brier_loss(y > 0, p[:, 0], sample_weight=w) == pytest.approx(expected, rel=1e-12)
    assert brier_loss(y > 0, p[:, 0], sample_weight=w) == pytest.approx(2 * expected, rel=1e-12)


def test_the_accuracy_is_that_of_scikit_learn(forecast):
    y, p, w = forecast
    expected = accuracy_score(y, p.argmax(axis=1), sample_weight=w)
    assert accuracy(y, p, sample_weight=w) == pytest.approx(expected, rel=1e-12)


def test_one_column_predicts_its_event_above_one_half_and_not_at_it():
    assert accuracy([1, 1, 0], [0.5, np.nextafter(0.5, 1), 0.5]) == pytest.approx(2 / 3)


def test_logits_are_scored_without_clipping():
    assert negative_log_likelihood([1], [[1000.0, 0.0]], input="logit") == 1000.0


def test_a_calibrated_forecast_costs_its_entropy():
    """Labels drawn from the forecast: mean NLL and Brier within four standard errors of what theory says."""
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.ones(4), 20_000)
    y = (rng.random((len(p), 1)) > p.cumsum(axis=1)).sum(axis=1).clip(0, 3)
    rows = np.arange(len(p))
    for score, losses, expected in [
        (negative_log_likelihood, -np.log(p[rows, y]), -(p * np.log(p)).sum(axis=1)),
        (brier_loss, ((p - np.eye(4)[y]) ** 2).sum(axis=1), 1 - (p**2).sum(axis=1)),
        (accuracy, p.argmax(axis=1) == y, p.max(axis=1)),
    ]:
        standard_error = (losses - expected).std() / np.sqrt(len(p))
        assert abs(score(y, p) - expected.mean()) < 4 * standard_error
