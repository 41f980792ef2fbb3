import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import logistic as odds
from reference import recalibration as twin
from scipy.special import logit
from sklearn.exceptions import ConvergenceWarning
from strategies import GRID

from calibrant.calibrators.parametric import QuadraticScaling

rows_on_a_grid = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from(GRID), st.integers(1, 4)), min_size=3, max_size=20
).filter(lambda rows: len({row[1] for row in rows}) > 2)


def fitted_with_targets(label, score, weight):
    """The calibrator, and the targets that it says it was fitted to."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fitted = QuadraticScaling().fit(score, label, weight)
    smoothed = any(issubclass(w.category, ConvergenceWarning) for w in said)
    return fitted, twin.platt_targets(label, weight) if smoothed else list(map(float, label))


@given(rows=rows_on_a_grid)
def test_at_the_parabola_the_gradient_vanishes(rows):
    label, score, weight = zip(*rows, strict=True)
    fitted, target = fitted_with_targets(label, score, weight)
    x = list(map(odds.log_odds, score))
    slope = twin.gradient(twin.parabola, [fitted.a_, fitted.b_, fitted.c_], x, target, weight)
    np.testing.assert_allclose(slope, 0.0, atol=1e-6)  # of a square that goes up to 763


# What has no minimum, or many


@pytest.mark.parametrize(
    "label",
    [[0, 0, 0, 1, 1], [1, 1, 0, 0, 0], [0, 0, 1, 1, 0], [1, 0, 0, 0, 1], [0, 0, 1, 0, 0]],
    ids=["above", "below", "inside", "outside", "a point"],
)
def test_where_a_parabola_separates_the_classes_targets_are_smoothed_and_this_is_said(label):
    score = [0.1, 0.2, 0.4, 0.7, 0.8]
    with pytest.warns(ConvergenceWarning, match="both classes must occur, and their scores overlap"):
        fitted = QuadraticScaling().fit(score, label)
    slope = twin.gradient(
        twin.parabola, [fitted.a_, fitted.b_, fitted.c_], logit(score), twin.platt_targets(label, [1] * 5), [1] * 5
    )
    np.testing.assert_allclose(slope, 0.0, atol=1e-9)


def test_of_equal_scores_the_log_odds_are_shifted():
    fitted = QuadraticScaling().fit([0.3] * 4, [0, 1, 1, 1])
    assert (fitted.b_, fitted.c_) == (1.0, 0.0)
    assert fitted.calibrate([0.3])[0] == pytest.approx(0.75)
