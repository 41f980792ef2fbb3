import numpy as np
import pytest
from sklearn.neural_network import MLPClassifier

from calibrant import datasets as network
from calibrant.datasets import survey_network

X = np.random.default_rng(0).normal(0.0, 60.0, 50)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_network_is_a_perceptron_of_scikit_learn(n_classes):
    ours = survey_network(n_classes)
    theirs = MLPClassifier((128, 128), solver="lbfgs", max_iter=1, tol=1e9).fit(X[:, None], np.arange(50) % n_classes)
    weights, biases = ours.args
    assert [w.shape for w in theirs.coefs_] == [w.shape for w in weights]
    theirs.coefs_, theirs.intercepts_ = weights, biases
    expected = theirs.predict_proba(X[:, None])
    np.testing.assert_allclose(ours(X), expected[:, 1] if n_classes == 2 else expected, rtol=1e-9)


def test_rows_pass_in_blocks(monkeypatch):
    whole = survey_network(3)(X)
    monkeypatch.setattr(network, "ROWS_AT_A_TIME", 7)
    np.testing.assert_allclose(survey_network(3)(X), whole, rtol=1e-12)


def test_no_rows_pass_as_well():
    assert survey_network(3)(np.empty(0)).shape == (0, 3)
