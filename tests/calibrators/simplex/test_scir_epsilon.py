"""What SCIR adds so that no probability is zero, and where the mass of a rise goes."""

import numpy as np
import pytest
from reference import folds as folds_twin
from strategies import dirichlet_rows

from calibrant.calibrators.scir import EPSILONS, SortedCumulativeIsotonic

# Drawn rows may all be of one class; that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore:only the class")

both_rises = pytest.mark.parametrize("rise", ["last", "spread"])


def random_rows(seed, n, k):
    return dirichlet_rows(n, k, seed, 0.7, 1.5)


def fitted(label, prob, weight=None, **options):
    return SortedCumulativeIsotonic(labels=range(prob.shape[1]), **options).fit(prob, label, weight)


@both_rises
@pytest.mark.parametrize(("seed", "n", "k"), [(0, 100, 5), (1, 300, 12), (2, 60, 30), (3, 40, 2)])
def test_cross_validation_takes_the_epsilon_of_the_least_log_loss_on_rows_left_out(seed, n, k, rise):
    label, prob = random_rows(seed, n, k)
    weight = np.random.default_rng(seed).integers(1, 4, n).astype(float)
    losses = np.zeros(len(EPSILONS))
    for out in map(np.array, folds_twin.folds(prob.tolist(), label.tolist(), weight.tolist())):
        parts = (fitted(label, prob, weight - out, epsilon=e, rise=rise).predict_proba(prob) for e in EPSILONS)
        losses -= [out @ np.log(part[np.arange(n), label]) for part in parts]
    found = fitted(label, prob, weight, rise=rise)
    assert found.epsilon_ == max(EPSILONS[int(np.argmin(losses))], 1 / (k * (1 + weight.sum())))
    same = fitted(label, prob, weight, rise=rise, epsilon=found.epsilon_)
    np.testing.assert_array_equal(found.predict_proba(prob), same.predict_proba(prob))


def test_a_rise_is_spread_in_proportion_to_the_forecast():
    # The class at rank 1 was true in half of the rows, and that at rank 3 in the others: the map does not rise at rank 2.
    label, prob = np.array([0, 2]), np.tile([0.6, 0.3, 0.1], (2, 1))
    last, spread = (fitted(label, prob, epsilon=0.0, rise=rise).predict_proba(prob[:1]) for rise in ("last", "spread"))
    np.testing.assert_allclose(last, [[0.5, 0.0, 0.5]])
    np.testing.assert_allclose(spread, [[0.5, 0.375, 0.125]])
