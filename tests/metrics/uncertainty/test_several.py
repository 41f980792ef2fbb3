"""The estimate of any spelling: that of the named metrics, and right where the truth is known."""

import numpy as np
import pytest
from spellings import spelling_of

from calibrant import EqualMass, assess, calibration_error
from calibrant.binning import Isotonic, Unique
from calibrant.metrics import estimate_calibration_error
from calibrant.metrics.kinds import metrics
from calibrant.notions import ThresholdedClassWise, WithinGroups

SPELLED = {metric.name: words for metric in metrics() if (words := spelling_of(metric)) is not None}
RNG = np.random.default_rng(3)
P = RNG.dirichlet(np.full(3, 0.7), 300)
Y = (RNG.random((300, 1)) > P.cumsum(axis=1)).sum(axis=1)
FEW = {"n_resamples": 50, "rng": 4}


@pytest.mark.parametrize("name", SPELLED)
def test_a_named_error_is_estimated_as_it_is_assessed(name):
    spelling = {"binning": EqualMass(6), **SPELLED[name]}
    found = estimate_calibration_error(Y, P, level=0.2, **spelling, **FEW)
    assert found == assess(Y, P, metrics=[name], binning=EqualMass(6), level=0.2, **FEW)[name]


SPELLINGS = [
    {"notion": "top-3-label", "binning": EqualMass(20)},
    {"notion": "top-2-confidence", "norm": "l3"},
    {"notion": "top-label", "norm": "l1", "across": "max"},
    {"notion": "top-label", "loss": "debiased squared gap", "norm": "root"},
    {"notion": "class-wise", "loss": "debiased squared gap"},
    {"loss": "debiased squared gap", "norm": "max"},
    {"notion": "top-label", "loss": "debiased squared gap", "norm": "root", "across": "max"},
    {"loss": "squared gap"},
    {"loss": "squared gap", "norm": "root"},
    {"loss": lambda problem, bins: bins.gap},
    {"norm": lambda values, weights: float(np.median(values))},
    {"binning": Isotonic(), "notion": "top-label"},
]


@pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda spelling: "-".join(spelling))
def test_the_value_is_the_error_and_the_interval_holds_it_without_its_bias(spelling):
    found = estimate_calibration_error(Y, P, **spelling, **FEW)
    assert found.value == calibration_error(Y, P, **spelling)
    assert found.lower <= (found.value if found.debiased is None else found.debiased) <= found.upper
    assert 1 / 51 <= found.pvalue <= 1.0
    assert found.noise_floor is not None


@pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda spelling: "-".join(spelling))
def test_without_weight_a_row_is_absent_from_an_estimate(spelling):
    weight = np.ones(300)
    weight[::3] = 0.0
    found = estimate_calibration_error(Y, P, sample_weight=weight, **spelling, **FEW)
    assert found == estimate_calibration_error(Y[weight > 0], P[weight > 0], **spelling, **FEW)


def test_the_root_of_squares_is_estimated_as_the_norm_of_gaps():
    assert estimate_calibration_error(Y, P, loss="squared gap", norm="root", **FEW) == pytest.approx(
        estimate_calibration_error(Y, P, norm="l2", **FEW)
    )


def test_the_default_is_the_same_each_time_and_none_draws_anew():
    first, again = (estimate_calibration_error(Y, P, n_resamples=50) for _ in range(2))
    assert first == again
    assert first != estimate_calibration_error(Y, P, n_resamples=50, rng=None)


# Where the truth is known: four values in two groups, events come at another rate than said by `shift`.

DRAWS, N = 200, 400
GROUP = np.repeat(["a", "b"], N // 2)
SCORE = np.tile([0.3, 0.6], N // 2)
NOTION = {"notion": WithinGroups(GROUP), "binning": Unique()}


def drawn(spelling, shift):
    """Estimates of as many draws of the events; in group b the rate is lower by ``shift``."""
    rng = np.random.default_rng(5)
    rate = SCORE - np.where(GROUP == "b", shift, 0.0)
    return [
        estimate_calibration_error(rng.random(N) < rate, SCORE, n_resamples=100, rng=run, **NOTION, **spelling)
        for run in range(DRAWS)
    ]


@pytest.mark.first(1)
@pytest.mark.parametrize("spelling", [{}, {"norm": "l3"}, {"loss": "squared gap"}, {"loss": "debiased squared gap"}])
def test_of_a_calibrated_forecast_the_floor_is_the_mean_and_p_values_are_uniform(spelling):
    found = drawn(spelling, 0.0)
    value, floor, pvalue = (np.array([getattr(e, name) for e in found]) for name in ("value", "noise_floor", "pvalue"))
    assert abs(value.mean() - floor.mean()) < 4 * value.std(ddof=1) * np.sqrt(1 / DRAWS + 1 / (DRAWS * 100))
    assert abs(pvalue.mean() - 0.5) < 4 * np.sqrt(1 / 12 / DRAWS)
    assert 0.25 < np.mean(pvalue > 0.6) < 0.55
    assert np.mean(pvalue <= 0.05) <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / DRAWS)


@pytest.mark.parametrize("name", [metric.name for metric in metrics() if metric.draws_labels and metric.takes_notion])
def test_of_a_notion_without_rows_the_error_is_zero_and_nothing_speaks_against_calibration(name):
    found = assess(Y, P, metrics=[name], notion=ThresholdedClassWise(0.9999), n_resamples=9)[name]
    assert (found.value, found.noise_floor, found.pvalue) == (0.0, 0.0, 1.0)
