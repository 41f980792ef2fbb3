import numpy as np
import pytest
from reference import evidence_scaling as twin
from scipy.special import softmax

from calibrant._core.rows import Forecast
from calibrant.calibrators import evidence as bayes_factor
from calibrant.calibrators.evidence_features import groups_of
from calibrant.significance import bayes_factor_test
from calibrant.sums.draws import ConsistentLabels


def forecast(n, k, seed=0):
    return softmax(np.random.default_rng(seed).normal(0.0, 1.5, (n, k)), axis=1)


def drawn(prob, seed=0):
    return next(iter(ConsistentLabels(prob, 1, np.random.default_rng(seed))))


@pytest.mark.parametrize("k", [2, 3])
def test_the_statistic_is_that_of_the_definition(k):
    prob, weight = forecast(40, k), np.random.default_rng(1).integers(1, 4, 40).astype(float)
    label = np.random.default_rng(2).integers(0, k, 40)
    groups = groups_of(k)
    points = [dict(zip(groups, rho, strict=True)) for rho in bayes_factor._points(groups, k)]
    expected = twin.log_bayes_factor(prob, label, weight, points, lambda column, name: True)
    found = bayes_factor_test(label, prob, sample_weight=weight, n_resamples=1, labels=list(range(k)))
    assert found.statistic == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("most", "own"), [(30, True), (15, False)])
def test_of_many_classes_each_depends_on_its_own_probability_or_on_what_all_share(most, own, monkeypatch):
    monkeypatch.setattr("calibrant.fit.evidence.MOST_DENSE", most)
    prob, label = forecast(40, 4), np.random.default_rng(2).integers(0, 4, 40)
    groups = groups_of(4)
    points = [dict(zip(groups, rho, strict=True)) for rho in bayes_factor._points(groups, 4)]
    z = twin.standardised(prob, 1.0, 0.0, 1e-9)
    made_of_one = [z - z.mean(axis=0), np.exp(z) - np.exp(z).mean(axis=0), (z - z.mean(axis=0)) ** 2]

    def is_wanted(column, name):
        (classes,) = np.nonzero(np.abs(column).max(axis=0))
        if name in ("temp", "curve", "row", "bias", "slope"):
            return own or name in ("temp", "curve", "row")
        x, j = column[:, classes[0]], classes[0]
        parallel = [abs(x @ f[:, j]) / np.linalg.norm(x) / np.linalg.norm(f[:, j]) for f in made_of_one]
        return own and name != "mat" and max(parallel) > 1.0 - 1e-9

    expected = twin.log_bayes_factor(prob, label, np.ones(40), points, is_wanted)
    found = bayes_factor.BayesFactor.of(Forecast(prob), np.ones(40)).log_of([label])
    assert found == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("k", [3, pytest.param(2, marks=pytest.mark.deep)])
def test_calibrated_forecasts_are_rejected_as_often_as_the_level_says(k):
    pvalues = []
    for seed in range(150):
        prob = forecast(50, k, seed)
        label = drawn(prob, seed + 1000)
        pvalues.append(bayes_factor_test(label, prob, n_resamples=19, rng=seed, labels=list(range(k))).pvalue)
    for level in (0.05, 0.1, 0.5):
        error = np.sqrt(level * (1.0 - level) / len(pvalues))
        assert abs(np.mean(np.array(pvalues) <= level + 1e-12) - level) < 3.0 * error


def test_an_impossible_event_counts_and_certain_rows_do_not():
    prob = np.vstack([forecast(100, 3), np.eye(3)[[0, 1, 2]]])
    label = np.append(drawn(prob[:100]), [0, 1, 2])
    as_predicted = bayes_factor_test(label, prob, n_resamples=99)
    label[-1] = 0
    otherwise = bayes_factor_test(label, prob, n_resamples=99)
    assert otherwise.statistic > as_predicted.statistic
    assert otherwise.pvalue < as_predicted.pvalue


def test_logits_are_forecasts_too():
    logit = np.random.default_rng(0).normal(0.0, 1.5, (80, 3)) + 500.0
    prob = softmax(logit, axis=1)
    label = drawn(prob)
    found = bayes_factor_test(label, logit, input="logit", n_resamples=9)
    assert found.statistic == pytest.approx(bayes_factor_test(label, prob, n_resamples=9).statistic, rel=1e-9)
    far = bayes_factor_test(label, 1e4 * logit, input="logit", n_resamples=9)
    assert np.isfinite(far.statistic)
