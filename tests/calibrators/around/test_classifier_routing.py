"""Weights, groups and other metadata go where they belong, with scikit-learn's routing and without it."""

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from calibrant import CalibratedClassifier, TemperatureScaling
from calibrant.exceptions import CalibrationWarning

# The forecasts of these tests are noise, for which every temperature is too low.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

FITS: list[dict] = []
"""What each fit of a spy got."""


class Spy(ClassifierMixin, BaseEstimator):
    """Notes rows, weights and metadata of each fit. The first feature is the number of the row."""

    def fit(self, X, y, sample_weight=None, metadata=None):
        FITS.append({"rows": X[:, 0].astype(int), "weight": sample_weight, "metadata": metadata})
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.random.default_rng(0).dirichlet(np.ones(len(self.classes_)), len(X))


class Weighed(TemperatureScaling):
    """Notes the weights it was fitted with."""

    def _fit(self, problem):
        FITS.append({"calibrated with": problem.weight.copy()})
        super()._fit(problem)


@pytest.fixture
def rows():
    FITS.clear()
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(60.0), rng.normal(size=60)])
    return X, rng.permutation(np.arange(60) % 2), rng.integers(1, 5, 60).astype(float), rng.integers(0, 12, 60)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def weights_of_estimators():
    return [fit["weight"] for fit in FITS if "rows" in fit]


def weights_of_calibrators():
    return [fit["calibrated with"] for fit in FITS if "calibrated with" in fit]


def assert_cut_to_the_rows(weight):
    for fit in FITS:
        if "rows" in fit:
            np.testing.assert_array_equal(fit["weight"], weight[fit["rows"]])


# Without routing


def test_without_routing_weights_go_to_estimator_and_calibrator(rows):
    X, y, weight, _ = rows
    CalibratedClassifier(Spy(), Weighed(), cv=3).fit(X, y, sample_weight=weight)
    assert_cut_to_the_rows(weight)
    assert sorted(weights_of_calibrators()[0]) == sorted(weight)


@pytest.mark.parametrize("model", [KNeighborsClassifier(), make_pipeline(StandardScaler(), LogisticRegression())])
def test_without_routing_an_estimator_that_takes_no_weights_is_told_of(rows, model):
    X, y, weight, _ = rows
    with pytest.warns(CalibrationWarning, match="takes no sample_weight: only the calibrator uses the weights"):
        CalibratedClassifier(model, cv=3).fit(X, y, sample_weight=weight)


def test_without_routing_other_keywords_go_to_the_estimator_cut_to_its_rows(rows):
    X, y, _, _ = rows
    CalibratedClassifier(Spy(), cv=3).fit(X, y, metadata=np.arange(60) * 10)
    assert len(FITS) == 4
    for fit in FITS:
        np.testing.assert_array_equal(fit["metadata"], fit["rows"] * 10)


# With routing


@pytest.mark.usefixtures("routing")
def test_weights_go_to_the_calibrator_alone_where_the_estimator_declines(rows):
    X, y, weight, _ = rows
    declining = Spy().set_fit_request(sample_weight=False)
    CalibratedClassifier(declining, Weighed(), cv=3).fit(X, y, sample_weight=weight)
    assert weights_of_estimators() == [None] * 4
    assert sorted(weights_of_calibrators()[0]) == sorted(weight)


@pytest.mark.usefixtures("routing")
def test_the_calibrator_can_decline_and_can_have_weights_of_its_own(rows):
    X, y, weight, _ = rows
    estimator = Spy().set_fit_request(sample_weight=True)
    CalibratedClassifier(estimator, Weighed().set_fit_request(sample_weight=False), cv=3).fit(
        X, y, sample_weight=weight
    )
    assert set(weights_of_calibrators()[0]) == {1.0}
    FITS.clear()
    own = Weighed().set_fit_request(sample_weight="importance")
    CalibratedClassifier(estimator, own, cv=3).fit(X, y, sample_weight=weight, importance=weight + 10)
    assert sorted(weights_of_calibrators()[0]) == sorted(weight + 10)
    assert_cut_to_the_rows(weight)


@pytest.mark.usefixtures("routing")
def test_the_defaults_ask_for_weights(rows):
    X, y, weight, _ = rows
    ours = CalibratedClassifier(cv=3).fit(X, y, sample_weight=weight).pairs_[0][0]
    np.testing.assert_array_equal(ours.coef_, LogisticRegression().fit(X, y, sample_weight=weight).coef_)


# Groups, with routing and without


@pytest.mark.usefixtures("routing")
def test_weights_and_groups_pass_through_cross_validation_to_every_depth(rows):
    """No rows of a group on both sides, neither of the outer folds nor of the inner ones."""
    X, y, weight, group = rows
    one = CalibratedClassifier(Spy().set_fit_request(sample_weight=True), Weighed(), cv=3)
    cross_validate(
        one,
        X,
        y,
        cv=GroupKFold(2),
        params={"sample_weight": weight, "groups": group},
        error_score="raise",
        scoring=count,
    )
    assert_cut_to_the_rows(weight)
    fits = [set(fit["rows"]) for fit in FITS if "rows" in fit]
    assert len(fits) == 8
    for outer in (fits[:4], fits[4:]):
        *inner, whole = outer
        assert not {group[row] for row in whole} & {group[row] for row in set(range(60)) - whole}
        for trained in inner:
            assert not {group[row] for row in trained} & {group[row] for row in whole - trained}


def count(estimator, X, y):
    return float(len(y))


def test_routing_can_be_asked_for_and_leaves_the_parts_as_they_were():
    estimator, calibrator = LogisticRegression(), TemperatureScaling()
    one = CalibratedClassifier(estimator, calibrator, cv=iter([]))
    assert "calibrator" in str(one.get_metadata_routing())
    with sklearn.config_context(enable_metadata_routing=True):
        assert calibrator.get_metadata_routing().fit.requests == {"sample_weight": None}


def test_an_iterable_of_folds_is_used_up_once_only():
    X, y = make_classification(90, random_state=0)
    with sklearn.config_context(enable_metadata_routing=True):
        fitted = CalibratedClassifier(GaussianNB(), cv=iter(KFold(3).split(X)), ensemble=True).fit(X, y)
    assert len(fitted.pairs_) == 3
