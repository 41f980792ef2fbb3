import numpy as np
import pytest
from reference import evidence_scaling as twin

from calibrant._core.border import as_problem
from calibrant._core.rows import Forecast
from calibrant.calibrators.evidence_features import standard_of


def problem_of(label, prob, weight):
    return as_problem(label, prob, sample_weight=weight, labels=range(prob.shape[1]))


@pytest.mark.parametrize("seed", range(3))
def test_it_is_that_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    prob, weight = rng.dirichlet(np.full(3, 0.3), 200), rng.integers(1, 3, 200).astype(float)
    label = np.where(rng.random(200) < 0.2 * seed, prob.argmax(axis=1), rng.integers(0, 3, 200))
    found = standard_of(problem_of(label, prob, weight), weight)
    expected = twin.standardisation(prob, label, weight)
    np.testing.assert_allclose((found.exponent, found.floor, found.uniform), expected, rtol=1e-4)
    np.testing.assert_allclose(found.of(Forecast(prob)), twin.standardised(prob, *expected), atol=1e-4)


def test_zeros_that_occur_ask_for_a_floor_and_for_caution():
    rng = np.random.default_rng(0)
    prob = rng.dirichlet(np.full(3, 0.5), 500)
    prob[:50] = np.eye(3)[rng.integers(0, 3, 50)]
    label = (rng.random((500, 1)) > prob.cumsum(axis=1)).sum(axis=1).clip(0, 2)
    sure = standard_of(as_problem(label, prob), np.ones(500))
    label[:10] = (prob[:10].argmax(axis=1) + 1) % 3
    wrong = standard_of(as_problem(label, prob), np.ones(500))
    assert wrong.floor > sure.floor or wrong.uniform > 2.0 * sure.uniform


def test_few_rows_of_an_accurate_forecast_ask_for_little_of_the_uniform_one():
    number = np.arange(100)
    predicted = number[:, None] % 4 == np.arange(4)
    accurate = standard_of(as_problem(number % 4, np.where(predicted, 0.9985, 0.0005)), np.ones(100))
    assert 0.0 < accurate.uniform < 0.001
    label = (number + (number % 10 < 3)) % 4  # three rows in ten are of the next class
    noisy = standard_of(as_problem(label, np.where(predicted, 0.7, 0.1)), np.ones(100))
    assert noisy.uniform > 10.0 * accurate.uniform


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e4, 1e90])
def test_logits_of_any_size_have_numbers(size):
    logit = size * np.random.default_rng(0).normal(size=(50, 3))
    problem = as_problem(np.arange(50) % 3, logit, input="logit")
    assert np.isfinite(standard_of(problem, np.ones(50)).of(problem.forecast)).all()
