"""Optimism by the bootstrap is as a loop finds it."""

import numpy as np
import pytest
from scipy.stats import sem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from calibrant.assessment import optimism_corrected

MODEL = LogisticRegression(C=1e4)


def patients(rng, n, n_predictors=10):
    X = rng.normal(size=(n, n_predictors))
    return X, (rng.random(n) < 1 / (1 + np.exp(-X[:, 0] - 0.5 * X[:, 1]))).astype(int)


def by_loop(X, y, seeds):
    """Return apparent area and Brier score, their optimism over samples of these seeds, and its standard error."""

    def figures(model, X, y):
        risk = model.predict_proba(X)[:, 1]
        return np.array([roc_auc_score(y, risk), brier_score_loss(y, risk)])

    drawn = []
    for seed in seeds:
        rows = np.random.default_rng(seed).integers(0, y.size, y.size)
        model = GaussianNB().fit(X[rows], y[rows])
        drawn.append(figures(model, X[rows], y[rows]) - figures(model, X, y))
    return figures(GaussianNB().fit(X, y), X, y), np.mean(drawn, axis=0), sem(drawn, axis=0)


@pytest.mark.first(1)
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_it_is_what_a_loop_finds(n_jobs):
    X, y = patients(np.random.default_rng(1), 60)
    apparent, optimism, error = by_loop(X, y, np.random.default_rng(5).integers(0, 2**63, 7))
    how = {"metrics": ["roc-auc", "brier"], "n_resamples": 7, "rng": np.random.default_rng(5), "n_jobs": n_jobs}
    found = optimism_corrected(GaussianNB(), X, np.where(y, "yes", "no"), **how)
    np.testing.assert_allclose(found.apparent, apparent, rtol=1e-12)
    np.testing.assert_allclose(found.optimism, optimism, rtol=1e-10)
    np.testing.assert_allclose(found.corrected, apparent - optimism, rtol=1e-10)
    np.testing.assert_allclose(found.standard_error, error, rtol=1e-10)
    assert found.metric == ("roc-auc", "brier")
    assert str(found).splitlines()[-1] == "7 bootstrap samples; the standard error is that of drawing so many"


def test_several_classes_have_scores():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = np.array(list("abc"))[np.argmax(X + rng.normal(size=X.shape), axis=1)]
    found = optimism_corrected(GaussianNB(), X, y, metrics=["nll", "accuracy"], n_resamples=20)
    assert found.optimism[0] < 0 < found.optimism[1]  # a loss is too low and an accuracy too high


def test_samples_without_a_class_are_drawn_anew():
    X, y = patients(np.random.default_rng(0), 40, 2)
    y[:] = 0
    y[0] = 1
    assert optimism_corrected(MODEL, X, y, metrics=["brier"], n_resamples=10).n_resamples == 10


@pytest.mark.parametrize(
    ("error", "how", "words"),
    [
        (ValueError, {"y_true": np.ones(40)}, "y_true must have two classes or more; got 1"),
        (ValueError, {"estimator": SVC()}, "estimator must have predict_proba"),
        (ValueError, {"n_resamples": 1}, "n_resamples must be a whole number, at least 2"),
        (ValueError, {"metrics": []}, "metric must hold at least one metric"),
        (ValueError, {"metrics": "nl"}, "nll"),
        (TypeError, {"n_jobs": "all"}, "n_jobs must be a whole number other than 0, or None"),
        (ValueError, {"metrics": [lambda y, p: float("nan")]}, "numbers on most samples of the rows; got 0 of 5"),
    ],
)
def test_what_cannot_be_validated_is_refused(error, how, words):
    X, y = patients(np.random.default_rng(0), 40, 2)
    with pytest.raises(error, match=words):
        optimism_corrected(**{"estimator": MODEL, "X": X, "y_true": y, "n_resamples": 5} | how)
