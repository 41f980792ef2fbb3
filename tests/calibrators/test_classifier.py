import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import KFold, PredefinedSplit, RepeatedStratifiedKFold
from sklearn.naive_bayes import GaussianNB

from calibrant import (
    ByNotion,
    CalibratedClassifier,
    CalibrationWarning,
    IsotonicCalibrator,
    TemperatureScaling,
    negative_log_likelihood,
)
from calibrant.calibrators.classifier import _forecast

BY_CLASS = ByNotion(IsotonicCalibrator(), "class-wise")

SEEN: list[tuple[frozenset, frozenset]] = []
"""What each spy was fitted on, and what it then scored."""


class Spy(ClassifierMixin, BaseEstimator):
    """Remembers the rows it was fitted on, by their first feature, and notes each forecast."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.rows_ = frozenset(X[:, 0].tolist())
        self.weight_ = sample_weight
        return self

    def predict_proba(self, X):
        SEEN.append((self.rows_, frozenset(X[:, 0].tolist())))
        rng = np.random.default_rng(0)
        return rng.dirichlet(np.ones(len(self.classes_)), len(X))


@pytest.fixture
def numbered():
    SEEN.clear()
    rng = np.random.default_rng(0)
    return np.column_stack([np.arange(60.0), rng.normal(size=60)]), rng.permutation(np.arange(60) % 3)


@pytest.fixture
def data():
    return make_classification(400, n_informative=5, n_classes=3, random_state=0)


@pytest.mark.parametrize("ensemble", [False, True])
@pytest.mark.parametrize("cv", [3, KFold(4, shuffle=True, random_state=0)], ids=["number", "splitter"])
def test_fold_models_never_score_rows_they_were_fitted_on(numbered, cv, ensemble):
    X, y = numbered
    CalibratedClassifier(Spy(), BY_CLASS, cv=cv, ensemble=ensemble).fit(X, y)
    assert len(SEEN) == (3 if cv == 3 else 4)
    assert all(not fitted & scored for fitted, scored in SEEN)
    assert frozenset().union(*(scored for _, scored in SEEN)) == frozenset(range(60))


def test_without_an_ensemble_the_estimator_is_trained_on_all_rows(numbered):
    X, y = numbered
    ((estimator, _),) = CalibratedClassifier(Spy(), BY_CLASS, cv=3).fit(X, y).pairs_
    assert estimator.rows_ == frozenset(range(60))


def test_an_ensemble_has_a_pair_a_fold_and_shares_nothing(numbered):
    X, y = numbered
    pairs = CalibratedClassifier(Spy(), BY_CLASS, cv=3, ensemble=True).fit(X, y).pairs_
    assert len(pairs) == 3
    assert len({id(part) for pair in pairs for part in pair}) == 6
    assert frozenset.intersection(*(estimator.rows_ for estimator, _ in pairs)) == frozenset()


def test_an_ensemble_averages_its_pairs(data):
    X, y = data
    fitted = CalibratedClassifier(GaussianNB(), cv=3, ensemble=True).fit(X, y)
    parts = [calibrator.predict_proba(estimator.predict_proba(X)) for estimator, calibrator in fitted.pairs_]
    np.testing.assert_allclose(fitted.predict_proba(X), np.mean(parts, axis=0), rtol=1e-12)


def test_a_prefit_estimator_is_taken_as_it_is(numbered):
    X, y = numbered
    estimator = Spy().fit(X[:30], y[:30])
    fitted = CalibratedClassifier(estimator, BY_CLASS, cv="prefit").fit(X[30:], y[30:])
    assert fitted.pairs_[0][0] is estimator
    assert estimator.rows_ == frozenset(range(30))
    assert [scored for _, scored in SEEN] == [frozenset(range(30, 60))]


def test_a_prefit_estimator_must_be_fitted(data):
    with pytest.raises(NotFittedError):
        CalibratedClassifier(GaussianNB(), cv="prefit").fit(*data)


def test_prefit_calibrates_on_the_given_rows(data):
    X, y = data
    estimator = GaussianNB().fit(X[:200], y[:200])
    fitted = CalibratedClassifier(estimator, cv="prefit").fit(X[200:], y[200:])
    by_hand = TemperatureScaling().fit(estimator.predict_proba(X[200:]), y[200:])
    assert fitted.pairs_[0][1].temperature_ == by_hand.temperature_


def test_prefit_knows_the_classes_of_the_estimator_where_the_rows_lack_one(data):
    X, y = data
    estimator = GaussianNB().fit(X, y)
    fitted = CalibratedClassifier(estimator, cv="prefit").fit(X[y < 2], y[y < 2])
    assert fitted.predict_proba(X).shape == (400, 3)


def test_the_estimator_and_the_calibrator_given_are_cloned(data):
    estimator, calibrator = GaussianNB(), TemperatureScaling()
    CalibratedClassifier(estimator, calibrator, cv=3).fit(*data)
    assert not hasattr(estimator, "classes_")
    assert not hasattr(calibrator, "temperature_")
    assert calibrator.labels is None


def test_an_overconfident_classifier_is_repaired(data):
    X, y = data
    train, test = slice(0, 250), slice(250, None)
    plain = GaussianNB().fit(X[train], y[train]).predict_proba(X[test])
    repaired = CalibratedClassifier(GaussianNB()).fit(X[train], y[train]).predict_proba(X[test])
    assert negative_log_likelihood(y[test], repaired) < negative_log_likelihood(y[test], plain)


@pytest.mark.parametrize("ensemble", [False, True])
def test_a_class_absent_from_a_fold_keeps_its_column_and_does_not_spoil_the_temperature(ensemble):
    rng = np.random.default_rng(0)
    y = np.array([0] * 30 + [1] * 30 + [2] * 3)
    X = rng.normal(size=(63, 2)) + y[:, None]
    fold = np.where(y == 2, 0, np.arange(63) % 3)  # all of class 2 in the first fold
    fitted = CalibratedClassifier(GaussianNB(), cv=PredefinedSplit(fold), ensemble=ensemble)
    with pytest.warns(CalibrationWarning, match="3 rows are of a class that was absent"):
        fitted.fit(X, y)
    prob = fitted.predict_proba(X)
    without = CalibratedClassifier(GaussianNB(), cv=PredefinedSplit(fold[y < 2]), ensemble=ensemble)
    without.fit(X[y < 2], y[y < 2])
    first, plain = (c.pairs_[0][1].temperature_ for c in (fitted, without))
    assert first == pytest.approx(plain, rel=0.5)  # three rows at 27.6 nats would move it by far more
    assert fitted.classes_.tolist() == [0, 1, 2]
    assert prob.shape == (63, 3)
    np.testing.assert_allclose(prob.sum(axis=1), 1.0)


def test_a_class_unknown_to_a_fold_model_gets_the_lowest_logit_on_any_scale():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) * 1e5
    estimator = RidgeClassifier().fit(X / 1e9, np.arange(60) % 3)  # coefficients that make decision values of +-1e4
    values = estimator.decision_function(X)
    assert values.min() < -100
    logit = _forecast(estimator, X, np.array([0, 1, 3]), 4)
    np.testing.assert_array_equal(logit[:, [0, 1, 3]], values)
    assert (logit[:, 2] < values.min(axis=1)).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_decision_values_are_taken_for_logits(n_classes):
    X, y = make_classification(200, n_informative=5, n_classes=n_classes, random_state=0)
    fitted = CalibratedClassifier(RidgeClassifier(), cv=3).fit(X, y)
    estimator, calibrator = fitted.pairs_[0]
    values = estimator.decision_function(X)
    logit = np.column_stack([np.zeros(200), values]) if n_classes == 2 else values
    np.testing.assert_allclose(fitted.predict_proba(X), calibrator.predict_proba(logit), rtol=1e-12)
    assert calibrator.input == "logit"


@pytest.mark.parametrize("ensemble", [False, True])
def test_labels_of_text_change_names_and_nothing_else(data, ensemble):
    X, y = data
    names = np.array(["ape", "bee", "cat"])
    number, text = (CalibratedClassifier(GaussianNB(), cv=3, ensemble=ensemble).fit(X, z) for z in (y, names[y]))
    np.testing.assert_array_equal(text.predict_proba(X), number.predict_proba(X))
    np.testing.assert_array_equal(text.predict(X), names[number.predict(X)])


@pytest.mark.parametrize("calibrator", [IsotonicCalibrator(), ByNotion(IsotonicCalibrator(), "confidence")])
def test_any_calibrator_will_do(calibrator):
    X, y = make_classification(300, random_state=0)
    prob = CalibratedClassifier(GaussianNB(), calibrator).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(prob.sum(axis=1), 1.0)


def test_weights_reach_the_calibrator_and_the_estimator(data):
    X, y = data
    weight = np.random.default_rng(0).integers(1, 4, 400).astype(float)
    fitted = CalibratedClassifier(LogisticRegression(), cv=KFold(3)).fit(X, y, sample_weight=weight)
    out_of_fold, estimator = np.zeros((400, 3)), LogisticRegression()
    for train, test in KFold(3).split(X):
        out_of_fold[test] = clone(estimator).fit(X[train], y[train], weight[train]).predict_proba(X[test])
    by_hand = TemperatureScaling().fit(out_of_fold, y, weight)
    assert fitted.pairs_[0][1].temperature_ == pytest.approx(by_hand.temperature_, rel=1e-9)


def test_the_defaults_are_logistic_regression_and_temperature(data):
    estimator, calibrator = CalibratedClassifier().fit(*data).pairs_[0]
    assert isinstance(estimator, LogisticRegression)
    assert isinstance(calibrator, TemperatureScaling)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"cv": "prefitted"}, ValueError, r"cv must be .*; got 'prefitted'\. Pass cv=5\."),
        ({"calibrator": GaussianNB()}, TypeError, r"calibrator must be a calibrator of calibrant; got GaussianNB\(\)"),
    ],
)
def test_a_bad_option_is_refused(data, options, error, message):
    with pytest.raises(error, match=message):
        CalibratedClassifier(**options).fit(*data)


def test_one_class_is_nothing_to_train_on(data):
    with pytest.raises(ValueError, match="y must hold at least two classes to train a classifier; got 1"):
        CalibratedClassifier(cv=2).fit(data[0], np.zeros(400, dtype=int))


def test_every_forecast_of_a_repeated_splitter_counts():
    """Five repeats of two folds give five out-of-fold forecasts a row: the calibrator sees them all."""
    X, y = make_classification(n_samples=60, random_state=0)
    seen = []

    class Counting(TemperatureScaling):
        def _fit(self, problem):
            seen.append(problem.size)
            super()._fit(problem)

    folds = RepeatedStratifiedKFold(n_splits=2, n_repeats=5, random_state=0)
    CalibratedClassifier(LogisticRegression(), Counting(), cv=folds).fit(X, y)
    assert seen == [300]
