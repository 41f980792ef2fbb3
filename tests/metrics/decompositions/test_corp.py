"""Miscalibration, discrimination and uncertainty as metrics: how sure they are."""

import numpy as np
import pytest
from hypothesis import given
from scipy.special import expit
from strategies import columns, tables

from calibrant import assess, predictions
from calibrant._core.border import as_problem
from calibrant._core.registry import entries
from calibrant.metrics import corp_decomposition, discrimination_score, miscalibration_loss, uncertainty_loss
from calibrant.metrics.estimate import Resampling

# What Hypothesis draws holds events of probability 0 that occurred: tests/metrics/test_log_losses.py is about these.
pytestmark = pytest.mark.filterwarnings("ignore:(expected )?log loss")

METRICS = {"mcb": miscalibration_loss, "dsc": discrimination_score, "unc": uncertainty_loss}
TERMS = {"mcb": "miscalibration", "dsc": "discrimination", "unc": "uncertainty"}


def estimates(y, p, n_resamples=60, **options):
    found = assess(y, p, metrics=list(METRICS), n_resamples=n_resamples, **options)
    return [found[name] for name in METRICS]


@given(rows=tables())
def test_each_metric_is_a_term(rows):
    label, prob, weight = rows
    for options in ({}, {"notion": "class-wise"}, {"score": "log"}):
        terms = corp_decomposition(label, prob, sample_weight=weight, **options)
        for name, metric in METRICS.items():
            assert metric(label, prob, sample_weight=weight, **options) == terms[TERMS[name]]


@given(rows=columns())
def test_an_interval_holds_its_estimate_within_the_range(rows):
    label, prob, weight = rows
    most = {"mcb": 1.0, "dsc": 0.25, "unc": 0.25}
    for name, found in zip(METRICS, estimates(label, prob, 5, sample_weight=weight), strict=True):
        value = METRICS[name](label, prob, sample_weight=weight)
        assert found.value == pytest.approx(value, rel=1e-12, abs=1e-15)
        assert 0 <= found.lower <= found.value + 1e-15
        assert found.value <= found.upper + 1e-15 <= most[name] + 1e-12
        if name == "mcb":
            assert 0 <= found.debiased <= found.value
            assert found.noise_floor >= 0
            assert 0 <= found.detectable <= 1
            assert 0 < found.pvalue <= 1


def directly(y, p, weight=None):
    """Estimates from draws that begin at the same state."""
    problem = as_problem(y, p, sample_weight=weight)
    return [
        vars(entries("metric")[name].estimator(problem, Resampling(0.05, 60, np.random.default_rng(0))))
        for name in METRICS
    ]


def same(found, expected):
    for a, b in zip(found, expected, strict=True):
        assert {k: v for k, v in a.items() if v is not None} == pytest.approx(
            {k: v for k, v in b.items() if v is not None}
        )


def test_weights_count_by_their_proportions_and_not_by_their_size():
    rng = np.random.default_rng(0)
    p, weight = rng.random(80), rng.random(80) + 0.1
    y = (rng.random(80) < p).astype(int)
    same(directly(y, p, weight), directly(y, p, 1000.3 * weight))


def over_confident(rng, n, temperature):
    logit = rng.normal(0.0, 2.0, n)
    return expit(logit), expit(logit / temperature)


@pytest.mark.first(1)
@pytest.mark.parametrize("temperature", [2.0, 1.0, 1.25])
def test_intervals_cover_the_truth(temperature):
    """Truths are those of a very large sample with its probabilities for outcomes: 95 % of them less four standard errors."""
    p, c = over_confident(np.random.default_rng(1), 200_000, temperature)
    truth = [np.mean((p - c) ** 2), np.mean((c - c.mean()) ** 2), c.mean() * (1 - c.mean())]
    rng, covered = np.random.default_rng(0), []
    for run in range(120):
        p, c = over_confident(rng, 200, temperature)
        found = estimates((rng.random(200) < c).astype(int), p, rng=run)
        covered.append([e.lower <= t + 1e-12 and t - 1e-12 <= e.upper for e, t in zip(found, truth, strict=True)])
    assert (np.mean(covered, axis=0) > 0.95 - 4 * np.sqrt(0.95 * 0.05 / 120)).all()


def test_at_calibration_the_p_value_is_uniform_and_the_estimate_at_its_floor():
    rng, pvalues, excess, debiased = np.random.default_rng(0), [], [], []
    for run in range(200):
        p, c = over_confident(rng, 200, 1.0)
        found = assess((rng.random(200) < c).astype(int), p, metrics=["mcb"], n_resamples=99, rng=run)["mcb"]
        pvalues.append(found.pvalue)
        excess.append(found.value - found.noise_floor)
        debiased.append(found.debiased)
    for level in (0.05, 0.2, 0.5):
        assert abs(np.mean(np.array(pvalues) <= level) - level) < 4 * np.sqrt(level * (1 - level) / 200)
    assert abs(np.mean(excess)) < 4 * np.std(excess) / np.sqrt(200)
    assert abs(np.mean(np.array(debiased) == 0) - 0.5) < 4 * np.sqrt(0.25 / 200)


def test_where_one_class_came_nothing_is_known_of_discrimination_but_that_uncertainty_bounds_it():
    _, dsc, unc = estimates(np.zeros(50, dtype=int), np.linspace(0, 0.2, 50))
    assert dsc.value == 0.0
    assert dsc.upper == unc.upper > 0.05


def test_a_decomposition_of_rows_in_batches_shows_its_limits(monkeypatch):
    monkeypatch.setattr("calibrant.interop.arrow_batches.FEW", 10)
    rng = np.random.default_rng(2)
    p = rng.random(2000)
    y = rng.random(2000) < p
    found, rows = corp_decomposition(predictions([(y, p)])), corp_decomposition(y, p)
    frame, exact = found.to_frame("pandas"), rows.to_frame("pandas")
    assert list(exact) == ["term", "sign", "value"]
    assert list(frame) == ["term", "sign", "value", "lower", "upper"]
    assert ((frame.lower <= exact.value) & (exact.value <= frame.upper)).all()
    assert "; of rows in batches, exact to within 0.00" in repr(found)
    assert "batches" not in repr(rows)
