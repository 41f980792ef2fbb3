from functools import partial
from inspect import signature

import numpy as np
import pytest
from hypothesis import given
from reference import scores
from sklearn.metrics import brier_score_loss as brier_of_scikit_learn
from strategies import tables

from calibrant import brier_score_loss, log_loss
from calibrant._core.border import as_problem
from calibrant.metrics import mean_class_brier_loss
from calibrant.metrics.decompositions import accuracy
from calibrant.metrics.kinds import MeanOfRows

# What Hypothesis draws holds events of probability 0 that occurred: tests/metrics/test_log_losses.py is about these.
pytestmark = pytest.mark.filterwarnings("ignore:(expected )?log loss")


@pytest.mark.parametrize(
    ("score", "twin"),
    [
        (accuracy, scores.accuracy),
        (log_loss, scores.log_loss),
        (partial(brier_score_loss, scale_by_half=False), scores.brier),
        (mean_class_brier_loss, lambda prob, *rest: scores.brier(prob, *rest) / len(prob[0])),
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


@pytest.mark.parametrize("scaled", [{}, {"scale_by_half": True}, {"scale_by_half": False}], ids=str)
def test_the_brier_loss_is_that_of_scikit_learn(forecast, scaled):
    y, p, w = forecast
    two = np.column_stack([1.0 - p[:, 0], p[:, 0]])
    if "scale_by_half" not in signature(brier_of_scikit_learn).parameters:  # before 1.7
        pytest.skip("this scikit-learn has no scale_by_half")
    for event, prob in [(y > 0, p[:, 0]), (y > 0, two), (y, p)]:
        expected = brier_of_scikit_learn(event, prob, sample_weight=w, **scaled)
        assert brier_score_loss(event, prob, sample_weight=w, **scaled) == pytest.approx(expected, rel=1e-12)


def test_one_column_predicts_its_event_above_one_half_and_not_at_it():
    assert accuracy([1, 1, 0], [0.5, np.nextafter(0.5, 1), 0.5]) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("per_row", "shape"), [(lambda rows: rows.prob, r"\(4, 2\)"), (lambda rows: float(rows.prob.max()), r"\(\)")]
)
def test_a_metric_of_ones_own_that_gives_no_number_a_row_is_refused(per_row, shape):
    own, problem = (
        MeanOfRows("own", "own", "this test", per_row=per_row),
        as_problem([0, 1, 1, 0], [0.25, 0.75, 0.5, 0.5]),
    )
    said = f"per_row of the metric 'own' must give one number for each of the 4 rows; got shape {shape}"
    for call in (own.value, own.losses, lambda problem: own.null(problem, 2, np.random.default_rng(0))):
        with pytest.raises(ValueError, match=said):
            call(problem)
