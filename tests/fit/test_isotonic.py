"""The isotonic fit and the labels drawn for it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import decomposition, isotonic
from strategies import columns

from calibrant._core.border import as_problem
from calibrant.binning.bins import Ordered
from calibrant.fit.isotonic import FEWEST_DRAWS, affordable, drawn_events, isotonic_fit, isotonic_fit_of, overfit_draws


def ordered(label, score, weight=None):
    return Ordered.of(as_problem(label, score, sample_weight=weight))


@given(rows=columns(weights=st.one_of(st.integers(1, 4), st.floats(0.1, 5.0))))
def test_the_fit_is_the_isotonic_regression(rows):
    label, score, weight = rows
    problem = ordered(label, score, weight)
    distinct, expected = isotonic.fit(score.tolist(), label.tolist(), weight.tolist())
    assert problem.score.tolist() == distinct
    steps = isotonic_fit(problem)
    assert steps.at_each_score(steps.rate) == pytest.approx(expected, abs=1e-12)
    assert (np.diff(steps.rate) > 0).all()
    assert steps.weight.sum() == pytest.approx(weight.sum())
    again = isotonic_fit_of(problem.outcome_sum, problem.weight)
    assert again.at_each_score(again.rate) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("most", [1, 3, 30], ids=["rows", "few a score", "many a score"])
@pytest.mark.parametrize("whole", [True, False], ids=["whole", "not whole"])
def test_drawn_events_have_the_mean_and_the_variance_of_independent_rows(most, whole):
    """Within four standard errors; a whole weight is many rows, another weight is one."""
    rng = np.random.default_rng(0)
    weight = rng.integers(1, most + 1, 40) + (0.0 if whole else 0.5)
    score = np.repeat(np.linspace(0.1, 0.9, 20), 2)
    problem = ordered(np.zeros(40, dtype=int), score, weight)
    rate = np.linspace(0.05, 0.8, 20)
    drawn = np.array(list(drawn_events(problem, rate, 4000, rng)))
    total = weight.reshape(20, 2).sum(axis=1)
    variance = rate * (1 - rate) * (total if whole else (weight**2).reshape(20, 2).sum(axis=1))
    assert drawn.shape == (4000, 20)
    assert (np.abs(drawn.mean(axis=0) - total * rate) < 4 * np.sqrt(variance / 4000)).all()
    assert drawn.var(axis=0) == pytest.approx(variance, rel=0.25)
    assert drawn.var(axis=0).sum() == pytest.approx(variance.sum(), rel=0.05)


def test_labels_that_are_certain_are_drawn_as_they_are():
    problem = ordered([0, 1, 1], [0.0, 0.5, 1.0])
    for events in drawn_events(problem, np.array([0.0, 1.0, 1.0]), 10, np.random.default_rng(0)):
        assert events.tolist() == [0.0, 1.0, 1.0]


@given(rows=columns(max_rows=12), seed=st.integers(0, 100))
def test_the_overfit_is_the_score_of_the_truth_minus_that_of_the_fit(rows, seed):
    """The miscalibration of the drawn labels, where they are drawn from the scores."""
    _, score, weight = rows
    problem = ordered(np.zeros(len(score), dtype=int), score, weight)
    found = overfit_draws(problem, problem.score, 3, np.random.default_rng(seed))
    events = drawn_events(problem, problem.score, 3, np.random.default_rng(seed))
    for value, occurred in zip(found, events, strict=True):
        both = (1, occurred), (0, problem.weight - occurred)
        drawn = [(s, y, w) for y, of in both for s, w in zip(problem.score, of, strict=True) if w > 0]
        assert value == pytest.approx(decomposition.corp(drawn, lambda p, y: (p - y) ** 2)[1], abs=1e-12)


def test_many_points_have_fewer_draws_and_never_too_few():
    assert affordable(500, 1000) == 500
    assert affordable(500, 4 * 10**5) == 250
    assert affordable(500, 10**9) == FEWEST_DRAWS
    assert affordable(7, 10**9) == 7
