"""The estimator that chooses a calibrator: it takes what `compare` recommends, and its nested loss is that of doing so."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from strategies import one_event

from calibrant import CalibratedClassifier, CalibratorSelector, compare, log_loss, save_calibrator
from calibrant._core.border import as_problem
from calibrant.calibrators.safe import folds, in_order
from calibrant.interop import to_numpy
from calibrant.sums.draws import as_rng


def over_confident(seed, n=400, boldness=2.0):
    return one_event(seed, n, lambda z: boldness * z, spread=1.2)


WORDS = ["temperature", "platt --safe"]


def test_it_fits_what_compare_recommends():
    y, p = over_confident(0)
    selector = CalibratorSelector(WORDS, nested=False).fit(p, y)
    found = compare(y, p, calibrators=WORDS)
    assert selector.method_ == found.recommended != "identity"
    assert selector.comparison_["temperature"].value == pytest.approx(found["temperature"].value, rel=1e-12)
    np.testing.assert_array_equal(selector.predict_proba(p), selector.calibrator_.predict_proba(p))
    assert np.isnan(selector.nested_loss_)


def test_a_forecast_that_is_calibrated_is_left_as_it_is():
    y, p = over_confident(1, boldness=1.0)
    selector = CalibratorSelector(["isotonic"]).fit(p, y)
    assert (selector.method_, selector.calibrator_) == ("identity", None)
    np.testing.assert_allclose(selector.predict_proba(p)[:, 1], p, rtol=1e-12)
    assert selector.nested_loss_ <= selector.identity_loss_ + 0.05


def test_the_nested_loss_is_that_of_choosing_and_fitting_without_each_fold():
    y, p = over_confident(2, n=200)
    selector = CalibratorSelector(WORDS, n_folds=3).fit(p, y)
    rows, counts = in_order(as_problem(y, p))
    losses = np.zeros(rows.size)
    for held in folds(counts, 3, as_rng(0)):
        out = held > 0
        rest = rows.score[~out], rows.outcome[~out].astype(int)
        prob = CalibratorSelector(WORDS, n_folds=3, nested=False).fit(*rest).predict_proba(rows.score[out])[:, 1]
        losses[out] = -np.log(np.where(rows.outcome[out], prob, 1 - prob))
    assert selector.nested_loss_ == pytest.approx(losses.mean(), rel=1e-9)
    assert selector.identity_loss_ == pytest.approx(log_loss(y, p), rel=1e-9)


def test_counts_are_repeated_rows():
    y, p = over_confident(4, n=120)
    weight = np.random.default_rng(0).integers(1, 4, y.size)
    one = CalibratorSelector(WORDS, nested=False).fit(p, y, sample_weight=weight)
    other = CalibratorSelector(WORDS, nested=False).fit(np.repeat(p, weight), np.repeat(y, weight))
    assert one.method_ == other.method_
    values = [[c.value for c in found.comparison_.candidates] for found in (one, other)]
    np.testing.assert_allclose(*values, rtol=1e-9)


def test_several_classes_logits_and_words():
    rng = np.random.default_rng(5)
    z = rng.normal(0, 1.5, (500, 3))
    y = np.array(["a", "b", "c"])[(z + rng.gumbel(size=z.shape)).argmax(axis=1)]
    selector = CalibratorSelector(["temperature", "svs"], input="logit", labels=["a", "b", "c"], nested=False)
    selector.fit(3.0 * z, y)
    assert selector.method_ in ("temperature", "svs")
    assert selector.predict(3.0 * z[:5]).tolist() == [["a", "b", "c"][k] for k in z[:5].argmax(axis=1)]


def test_it_is_an_estimator_of_scikit_learn(tmp_path):
    y, p = over_confident(6)
    selector = clone(CalibratorSelector(WORDS, nested=False)).fit(p, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(selector)).predict_proba(p), selector.predict_proba(p))
    save_calibrator(selector.calibrator_, tmp_path / "c.json")
    X, t = make_classification(300, random_state=0)
    inside = CalibratedClassifier(LogisticRegression(), CalibratorSelector(WORDS, nested=False), cv=3).fit(X, t)
    assert inside.predict_proba(X).shape == (300, 2)


def test_what_cannot_be_chosen_is_refused(tmp_path):
    y, p = over_confident(7, n=4)
    with pytest.raises(ValueError, match="there must be a row for each fold"):
        CalibratorSelector(WORDS).fit(p, y)
    y, p = over_confident(7)
    with pytest.raises(ValueError, match="level must be"):
        CalibratorSelector(WORDS, level=5).fit(p, y)
    selector = CalibratorSelector(WORDS, nested=False).fit(p, y)
    with pytest.raises(TypeError, match=r"registered method; got CalibratorSelector.*calibrator_"):
        save_calibrator(selector, tmp_path / "c.json")
    with pytest.raises(TypeError, match=r"got CalibratorSelector\. Export its calibrator_\."):
        to_numpy(selector)
