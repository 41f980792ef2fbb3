"""Vector and matrix scaling on logits: which of the logits that stand for the same probabilities enter the map."""

import numpy as np
import pytest
from reference import multinomial as twin
from sklearn.base import clone

from calibrant import VectorScaling, log_loss
from calibrant.calibrators import MatrixScaling

WORDS = ("as-given", "log-softmax", "reference")
SCALINGS = (VectorScaling, MatrixScaling)
each_scaling = pytest.mark.parametrize("scaling", SCALINGS, ids=lambda scaling: scaling.__name__)
each_word = pytest.mark.parametrize("word", WORDS)


def drawn(n=400, k=3, seed=0):
    """Logits with a number a row that probabilities do not show, and on which the class depends."""
    rng = np.random.default_rng(seed)
    logit = rng.normal(0.0, 1.5, (n, k)) + rng.normal(0.0, 2.0, (n, 1))
    truth = twin.softmax(logit * np.linspace(0.4, 1.2, k))
    label = (rng.random((n, 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(0, k - 1)
    return logit, label


def entering(logit, word):
    return {"as-given": logit, "log-softmax": np.log(twin.softmax(logit)), "reference": logit - logit[:, -1:]}[word]


def objective(fitted, z, label):
    if isinstance(fitted, VectorScaling):
        return twin.vector_objective(z, label, np.ones(len(z)), fitted.coef_, fitted.intercept_, 1e-8, 1e-8)
    return twin.matrix_objective(z, label, np.ones(len(z)), fitted.coef_, fitted.intercept_, 1e-8, 1e-3, 1e-3)


@pytest.mark.first(1)
@each_scaling
@each_word
def test_no_other_map_of_these_logits_has_a_lower_objective(scaling, word):
    logit, label = drawn()
    fitted = scaling(logits=word, input="logit").fit(logit, label)
    z = entering(logit, word)
    lowest = (
        twin.lowest_vector(z, label, np.ones(len(z)), 1e-8, 1e-8)[0]
        if scaling is VectorScaling
        else twin.lowest_matrix(z, label, np.ones(len(z)), 1e-8, 1e-3, 1e-3)[0]
    )
    assert objective(fitted, z, label) <= lowest + 1e-9
    scores = z * fitted.coef_ if fitted.coef_.ndim == 1 else z @ fitted.coef_.T
    np.testing.assert_allclose(fitted.calibrate(logit), twin.softmax(scores + fitted.intercept_), rtol=1e-9)


@each_scaling
def test_of_probabilities_those_as_given_are_log_probabilities(scaling):
    logit, label = drawn()
    prob = twin.softmax(logit)
    given, logs = (scaling(logits=word).fit(prob, label) for word in WORDS[:2])
    np.testing.assert_array_equal(given.coef_, logs.coef_)
    np.testing.assert_array_equal(given.calibrate(prob), logs.calibrate(prob))


@pytest.mark.first(2)
@pytest.mark.parametrize(
    "free", [VectorScaling(), MatrixScaling(off_diagonal=0.0, intercept=0.0)], ids=["vector", "matrix"]
)
@pytest.mark.parametrize("unit", [1e-2, 1e-4, 1e-6, 1e-12, 1e-60])
@pytest.mark.parametrize("k", [3, 40])
def test_tiny_logits_are_fitted_as_others_are(free, unit, k):
    """The same logits in another unit: the same map, but for the ridge. Of 40 classes the steps are those of products."""
    logit, label = drawn(n=400 if k == 3 else 4000, k=k)
    expected = clone(free).set_params(input="logit").fit(logit, label).calibrate(logit)
    fitted = clone(free).set_params(input="logit").fit(unit * logit, label)
    found = fitted.calibrate(unit * logit)
    np.testing.assert_allclose(found, expected, atol=5e-4)
    losses = [log_loss(label, prob, labels=range(k)) for prob in (found, expected)]
    assert losses[0] == pytest.approx(losses[1], abs=1e-6)
    assert fitted.gradient_ <= 1e-8


@pytest.mark.parametrize("unit", [1e-4, 1e-6, 1e-12, 1e-60])
def test_penalties_hold_weights_back_that_tiny_logits_need_and_not_those_of_the_class_itself(unit):
    logit, label = drawn()
    default = MatrixScaling(input="logit").fit(unit * logit, label)
    diagonal = MatrixScaling(input="logit", off_diagonal=1e50).fit(logit, label)
    np.testing.assert_allclose(default.calibrate(unit * logit), diagonal.calibrate(logit), atol=1e-3)


@pytest.mark.filterwarnings("error")
@each_scaling
@pytest.mark.parametrize("unit", [0.0, 1e-200, 1e-320])
def test_logits_that_are_all_but_zero_leave_the_shares_of_the_classes(scaling, unit):
    logit, label = drawn()
    fitted = scaling(input="logit").fit(unit * logit, label)
    shares = np.bincount(label, minlength=3) / len(label)
    np.testing.assert_allclose(fitted.calibrate(unit * logit)[0], shares, atol=1e-2)
