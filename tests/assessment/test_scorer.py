"""Metrics as scorers of scikit-learn."""

import pickle
import warnings

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from calibrant import EqualMass, classwise_calibration_error, expected_calibration_error, scorer
from calibrant._core.registry import entries
from calibrant.metrics import observed_expected_ratio

X, LABEL = load_iris(return_X_y=True)
X = X[:, :2]  # overlapping classes
WORDS = load_iris().target_names[LABEL]
TWO = np.where(LABEL == 2, "yes", "no")
WEIGHT = np.random.default_rng(0).integers(1, 4, len(LABEL))
MODEL = GaussianNB().fit(X, WORDS)
OF_TWO = GaussianNB().fit(X, TWO)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("nll", "neg_log_loss"), ("neg_nll", "neg_log_loss"), ("accuracy", "accuracy"), ("roc-auc", "roc_auc_ovr")],
)
def test_what_scikit_learn_has_is_the_same(ours, theirs):
    found = cross_val_score(GaussianNB(), X, WORDS, scoring=scorer(ours), error_score="raise")
    assert found == pytest.approx(cross_val_score(GaussianNB(), X, WORDS, scoring=theirs), abs=1e-12)


def test_an_error_is_turned_around_whatever_it_is_called():
    error = expected_calibration_error(WORDS, MODEL.predict_proba(X), labels=MODEL.classes_)
    for name in ("ece", "ECE", "neg_ece", "NEG-ECE", expected_calibration_error):
        assert scorer(name)(MODEL, X, WORDS) == -error


@pytest.mark.parametrize("name", entries("metric"))
@pytest.mark.parametrize(("model", "labels"), [(MODEL, WORDS), (OF_TWO, TWO)], ids=["three", "two"])
def test_every_metric_scores_words(name, model, labels):
    metric = entries("metric")[name]
    value = metric.target(labels, model.predict_proba(X), labels=model.classes_)
    signed = value if metric.higher_is_better else -value
    wanted = signed if metric.ideal is None else -abs(value - metric.ideal)
    assert scorer(name)(model, X, labels) == pytest.approx(wanted, rel=1e-6, abs=1e-9)


def test_parameters_reach_the_metric():
    how = {"binning": EqualMass(5), "notion": "class-wise"}
    chosen = scorer("ece", **how)
    wanted = expected_calibration_error(WORDS, MODEL.predict_proba(X), labels=MODEL.classes_, **how)
    assert chosen(MODEL, X, WORDS) == -wanted
    assert repr(chosen) == "scorer('ece', binning=EqualMass(n_bins=5), notion='class-wise')"


@pytest.mark.parametrize("event", ["yes", "no"])
def test_the_event_is_the_one_that_is_named(event):
    ratio = observed_expected_ratio(event == TWO, OF_TWO.predict_proba(X)[:, list(OF_TWO.classes_).index(event)])
    wanted = pytest.approx(-abs(ratio - 1.0), rel=1e-9)
    assert scorer("observed-expected-ratio", pos_label=event)(OF_TWO, X, TWO) == wanted
    assert (scorer("observed-expected-ratio")(OF_TWO, X, TWO) == wanted) == (event == "yes")


def test_a_class_that_is_absent_from_a_fold_is_no_error():
    # Each fold holds one class, and its model has seen the two others.
    with warnings.catch_warnings(action="ignore"):  # the log loss of probability 0
        scoring = {"ece": scorer("ece"), "acc": scorer("accuracy")}
        found = cross_validate(GaussianNB(), X, WORDS, cv=KFold(3), scoring=scoring, error_score="raise")
    assert found["test_acc"].tolist() == [0.0, 0.0, 0.0]
    assert (found["test_ece"] < -0.5).all()
    few = np.flatnonzero(WORDS != "setosa")[:20]
    wanted = -classwise_calibration_error(WORDS[few], MODEL.predict_proba(X[few]), labels=MODEL.classes_)
    assert scorer("classwise-ece")(MODEL, X[few], WORDS[few]) == wanted
    assert np.isfinite(scorer("ece")(OF_TWO, X[:5], TWO[:5]))  # one class alone


def test_weights_reach_the_metric_by_routing_alone():
    plain = -expected_calibration_error(WORDS, MODEL.predict_proba(X), labels=MODEL.classes_)
    weighted = -expected_calibration_error(WORDS, MODEL.predict_proba(X), labels=MODEL.classes_, sample_weight=WEIGHT)
    assert plain != weighted
    assert scorer("ece")(MODEL, X, WORDS, sample_weight=WEIGHT) == weighted
    with sklearn.config_context(enable_metadata_routing=True):
        asks, leaves = (scorer("ece").set_score_request(sample_weight=word) for word in (True, False))
        found = cross_validate(
            GaussianNB().set_fit_request(sample_weight=False), X, WORDS, cv=[(np.arange(150), np.arange(150))],
            params={"sample_weight": WEIGHT}, scoring={"asks": asks, "leaves": leaves}, error_score="raise",
        )  # fmt: skip
    assert (found["test_asks"][0], found["test_leaves"][0]) == (weighted, plain)


def test_a_scorer_is_copied_and_pickled():
    one = scorer("ece", binning=7)
    for other in (pickle.loads(pickle.dumps(one)), clone(one, safe=False)):
        assert repr(other) == repr(one) == "scorer('ece', binning=7)"
        assert other(MODEL, X, WORDS) == one(MODEL, X, WORDS)


def test_an_estimator_without_probabilities_is_refused():
    with pytest.raises(AttributeError, match="predict_proba"):
        scorer("ece")(LinearSVC().fit(X, WORDS), X, WORDS)
