from uuid import UUID

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, RepeatedStratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from calibrant import (
    ByNotion,
    CalibratedClassifier,
    IsotonicCalibration,
    PlattScaling,
    SafeCalibrator,
    TemperatureScaling,
    VennAbers,
)
from calibrant.calibrators import EvidenceScaling
from calibrant.calibrators.classifier import as_groups, forecast_of, groups_of_copies
from calibrant.exceptions import CalibrationWarning

BY_CLASS = ByNotion(IsotonicCalibration(), "class-wise")

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


def test_a_prefit_estimator_must_be_fitted(data):
    with pytest.raises(NotFittedError):
        CalibratedClassifier(GaussianNB(), cv="prefit").fit(*data)


def test_prefit_calibrates_on_the_given_rows(data):
    X, y = data
    estimator = GaussianNB().fit(X[:200], y[:200])
    fitted = CalibratedClassifier(estimator, "temperature", cv="prefit").fit(X[200:], y[200:])
    by_hand = TemperatureScaling().fit(estimator.predict_proba(X[200:]), y[200:])
    assert fitted.pairs_[0][1].temperature_ == by_hand.temperature_


def test_prefit_knows_the_classes_of_the_estimator_where_the_rows_lack_one(data):
    X, y = data
    estimator = GaussianNB().fit(X, y)
    fitted = CalibratedClassifier(estimator, cv="prefit").fit(X[y < 2], y[y < 2])
    assert fitted.predict_proba(X).shape == (400, 3)


class Reversed(GaussianNB):
    """A classifier whose classes are not sorted."""

    def fit(self, X, y):
        super().fit(X, y)
        self.classes_ = self.classes_[::-1]
        return self

    def predict_proba(self, X):
        self.classes_ = self.classes_[::-1]
        prob = super().predict_proba(X)[:, ::-1]
        self.classes_ = self.classes_[::-1]
        return prob


def test_a_trained_estimator_may_have_its_classes_in_any_order(data):
    X, y = data
    plain, turned = (
        CalibratedClassifier(one.fit(X, y), "temperature", cv="prefit") for one in (GaussianNB(), Reversed())
    )
    assert turned.fit(X, y).classes_.tolist() == [2, 1, 0]
    np.testing.assert_allclose(turned.predict_proba(X)[:, ::-1], plain.fit(X, y).predict_proba(X), rtol=1e-9)


def test_labels_of_bytes_are_refused_in_words_and_the_hint_works(data):
    X, y = data
    labels = np.array([b"a", b"b", b"c"])[y]
    with pytest.raises(
        ValueError, match=r"scikit-learn's classifiers do not take bytes; got array\(\[b'.'.*Pass y\.astype\(str\)"
    ):
        CalibratedClassifier(GaussianNB(), "temperature").fit(X, labels)
    assert CalibratedClassifier(GaussianNB(), "temperature").fit(X, labels.astype(str)).classes_.tolist() == [
        "a",
        "b",
        "c",
    ]


def test_the_estimator_and_the_calibrator_given_are_cloned(data):
    estimator, calibrator = GaussianNB(), TemperatureScaling()
    CalibratedClassifier(estimator, calibrator, cv=3).fit(*data)
    assert not hasattr(estimator, "classes_")
    assert not hasattr(calibrator, "temperature_")
    assert calibrator.labels is None


@pytest.mark.parametrize("ensemble", [False, True])
def test_a_class_absent_from_a_fold_keeps_its_column_and_does_not_spoil_the_temperature(ensemble):
    rng = np.random.default_rng(0)
    y = np.array([0] * 30 + [1] * 30 + [2] * 3)
    X = rng.normal(size=(63, 2)) + y[:, None]
    fold = np.where(y == 2, 0, np.arange(63) % 3)  # all of class 2 in the first fold
    fitted = CalibratedClassifier(GaussianNB(), TemperatureScaling(), cv=PredefinedSplit(fold), ensemble=ensemble)
    with pytest.warns(CalibrationWarning, match="3 rows are of a class that was absent"):
        fitted.fit(X, y)
    prob = fitted.predict_proba(X)
    two = PredefinedSplit(fold[y < 2])
    without = CalibratedClassifier(GaussianNB(), TemperatureScaling(), cv=two, ensemble=ensemble)
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
    logit = forecast_of(estimator, X, np.array([0, 1, 3]), 4)
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


def test_the_defaults_are_logistic_regression_and_evidence_scaling_made_safe(data):
    estimator, calibrator = CalibratedClassifier().fit(*data).pairs_[0]
    assert isinstance(estimator, LogisticRegression)
    assert isinstance(calibrator, SafeCalibrator)
    assert isinstance(calibrator.calibrator, EvidenceScaling)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"cv": "prefitted"}, ValueError, r"cv must be .*; got 'prefitted'\. Pass cv=5\."),
        ({"cv": ()}, ValueError, r"cv must have at least one fold; got none\. Pass cv=5\."),
        (
            {"calibrator": GaussianNB()},
            TypeError,
            r"calibrator must be a word or a calibrator of calibrant; got GaussianNB\(\)",
        ),
        ({"pooling": "median"}, ValueError, r"pooling must be one of 'mean', 'geometric'; got 'median'"),
        ({"label_smoothing": 1.5}, ValueError, r"label_smoothing must be a number, at least 0 and at most 1; got 1\.5"),
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


# Platt's three folds, and what becomes of an ensemble


def test_three_folds_and_an_ensemble_are_platts_scheme(data):
    """Two folds train, the third calibrates, three times; the mean of the three pairs is the forecast."""
    X, y = data
    fitted = CalibratedClassifier(GaussianNB(), "temperature", cv=KFold(3), ensemble=True).fit(X, y)
    expected = np.zeros((400, 3))
    for train, test in KFold(3).split(X):
        model = GaussianNB().fit(X[train], y[train])
        scaling = TemperatureScaling().fit(model.predict_proba(X[test]), y[test])
        expected += scaling.predict_proba(model.predict_proba(X)) / 3
    np.testing.assert_allclose(fitted.predict_proba(X), expected, rtol=1e-12)


def test_a_geometric_ensemble_is_the_normalised_geometric_mean(data):
    X, y = data
    fitted = CalibratedClassifier(GaussianNB(), cv=3, ensemble=True, pooling="geometric").fit(X, y)
    parts = [calibrator.predict_proba(estimator.predict_proba(X)) for estimator, calibrator in fitted.pairs_]
    product = np.prod(parts, axis=0) ** (1 / 3)
    np.testing.assert_allclose(fitted.predict_proba(X), product / product.sum(axis=1, keepdims=True), rtol=1e-9)


# Label smoothing


@pytest.mark.parametrize("ensemble", [False, True])
@pytest.mark.parametrize("share", [0.1])
def test_label_smoothing_mixes_the_final_forecast_with_the_uniform_one(data, share, ensemble):
    X, y = data
    plain = CalibratedClassifier(GaussianNB(), cv=3, ensemble=ensemble).fit(X, y).predict_proba(X)
    smooth = CalibratedClassifier(GaussianNB(), cv=3, ensemble=ensemble, label_smoothing=share).fit(X, y)
    np.testing.assert_allclose(smooth.predict_proba(X), (1 - share) * plain + share / 3, rtol=1e-12)


# Groups


WORDS = np.array(list("abcdefghijkl"))
GROUPS = {
    "dates": lambda k: np.datetime64("2024-01-01") + k,
    "fractions": lambda k: k / 4,
    "UUIDs": lambda k: np.array([UUID(int=int(i)) for i in k], dtype=object),
    "words and numbers": lambda k: [WORDS[i].item() if i % 2 else int(i) for i in k],
    "a column": lambda k: k[:, None],
}


@pytest.mark.parametrize("cv", [3, GroupKFold(3)], ids=["number", "groups"])
@pytest.mark.parametrize("make", GROUPS.values(), ids=GROUPS)
def test_groups_are_whatever_says_which_rows_belong_together(make, cv, numbered):
    X, y = numbered
    group = np.random.default_rng(1).integers(0, 12, 60)
    CalibratedClassifier(Spy(), BY_CLASS, cv=cv).fit(X, y, groups=make(group))
    assert len(SEEN) == 3
    for fitted, scored in SEEN:
        assert not {group[int(row)] for row in fitted} & {group[int(row)] for row in scored}


def test_a_number_and_the_word_for_it_are_two_groups():
    assert np.unique(as_groups([1, "1", 1, "1"])).size == 2


@pytest.mark.parametrize("gap", [float("nan"), None, np.datetime64("NaT"), pd.NA])
def test_a_missing_group_is_refused_by_its_row(gap, numbered):
    X, y = numbered
    groups = (
        [0.5, *[gap] * 2, *range(57)] if isinstance(gap, float) else [gap if i in (1, 2) else "a" for i in range(60)]
    )
    if isinstance(gap, np.datetime64):
        groups = np.where(np.isin(np.arange(60), (1, 2)), gap, np.datetime64("2024-01-01"))
    with pytest.raises(
        ValueError, match=r"groups must hold a group for each row; got a missing one at index 1, and 1 more"
    ):
        CalibratedClassifier(Spy(), BY_CLASS, cv=3).fit(X, y, groups=groups)


def test_groups_of_two_columns_are_refused(numbered):
    X, y = numbered
    with pytest.raises(ValueError, match=r"groups must have one dimension, .*got shape \(60, 2\)\. Pass one column"):
        CalibratedClassifier(Spy(), BY_CLASS, cv=3).fit(X, y, groups=np.zeros((60, 2)))


# Frozen models


def test_a_frozen_estimator_is_never_trained_and_may_have_a_calibrator_a_fold(numbered):
    X, y = numbered
    model = Spy().fit(X[:30], y[:30])
    fitted = CalibratedClassifier(FrozenEstimator(model), BY_CLASS, cv=3, ensemble=True).fit(X[30:], y[30:])
    assert len({id(calibrator) for _, calibrator in fitted.pairs_}) == 3
    assert model.rows_ == frozenset(range(30))
    assert all(estimator.rows_ is model.rows_ for estimator, _ in fitted.pairs_)


# Inside scikit-learn


def table_of_sizes(frames):
    rng = np.random.default_rng(0)
    X = frames.DataFrame({"size": rng.normal(size=120), "colour": rng.choice(["red", "blue"], 120)})
    return X, np.where(rng.random(120) < 0.3, "no", np.where(X["size"].to_numpy() > 0, "yes", "no"))


@pytest.mark.parametrize("ensemble", [False, True])
def test_columns_of_a_data_frame_reach_a_column_transformer_by_name(ensemble):
    X, y = table_of_sizes(pytest.importorskip("pandas"))
    columns = make_column_transformer((StandardScaler(), ["size"]), (OneHotEncoder(sparse_output=False), ["colour"]))
    model = make_pipeline(columns.set_output(transform="pandas"), LogisticRegression())
    fitted = CalibratedClassifier(model, cv=3, ensemble=ensemble).fit(X, y)
    assert fitted.feature_names_in_.tolist() == ["size", "colour"]
    assert fitted.predict_proba(X[:5]).shape == (5, 2)
    assert set(fitted.predict(X).tolist()) <= {"no", "yes"}


def test_values_for_pairs_of_classes_are_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"decision_function must give a value for each of the 3 classes; .*'ovr'"):
        CalibratedClassifier(SVC(decision_function_shape="ovo"), cv=3).fit(X, y)


def test_a_fold_of_which_nothing_can_be_learnt_is_refused(data):
    X, y = data
    order = np.argsort(y, kind="stable")
    with pytest.raises(
        ValueError, match="each fold must hold a row with a weight, of a class in its model's training rows; got"
    ):
        CalibratedClassifier(GaussianNB(), cv=KFold(3)).fit(X[order], np.repeat([0, 1, 2], [134, 133, 133]))


def test_the_interval_of_cross_venn_abers_merges_into_its_probability():
    X, y = make_classification(300, random_state=0)
    model = CalibratedClassifier(GaussianNB(), VennAbers(), ensemble=True, pooling="geometric").fit(X, y)
    p0, p1 = model.predict_interval(X).T
    assert (p0 < p1).all()
    np.testing.assert_allclose(p1 / (1 - p0 + p1), model.predict_proba(X)[:, 1], rtol=1e-12)


# The label that is predicted and its probability

TOP = ByNotion(IsotonicCalibration(finite=None), "top-label")


@pytest.mark.parametrize("cv", [3, "prefit", "frozen"])
def test_the_top_pair_is_that_of_the_calibrator_behind_the_estimator(data, cv):
    X, y = data
    names = np.array(["a", "b", "c"])[y]
    estimator = GaussianNB() if cv == 3 else GaussianNB().fit(X[:200], names[:200])
    if cv == "frozen":
        estimator, cv = FrozenEstimator(estimator), 3
    model = CalibratedClassifier(estimator, TOP, cv=cv).fit(X[200:], names[200:])
    ((estimator, calibrator),) = model.pairs_
    prob = estimator.predict_proba(X)
    label, score = model.predict_top(X)
    np.testing.assert_array_equal(label, estimator.predict(X))
    np.testing.assert_array_equal(label, calibrator.classes_[prob.argmax(axis=1)])
    np.testing.assert_array_equal(score, calibrator.predict_top(prob)[1])


def test_label_smoothing_mixes_the_top_probability_as_it_does_rows(data):
    plain, smooth = (CalibratedClassifier(GaussianNB(), TOP, label_smoothing=s).fit(*data) for s in (0.0, 0.3))
    (label, score), (same, mixed) = plain.predict_top(data[0]), smooth.predict_top(data[0])
    np.testing.assert_array_equal(label, same)
    np.testing.assert_allclose(mixed, 0.7 * score + 0.1, rtol=1e-12)


def test_an_ensemble_has_no_top_pair_and_says_so(data):
    model = CalibratedClassifier(GaussianNB(), TOP, cv=3, ensemble=True).fit(*data)
    with pytest.raises(ValueError, match=r"must have one estimator .*; got an ensemble of 3, .*ensemble=False"):
        model.predict_top(data[0])


def test_without_a_calibrator_that_has_one_there_is_no_top_pair(data):
    assert not hasattr(CalibratedClassifier(GaussianNB(), TemperatureScaling()).fit(*data), "predict_top")
    assert not hasattr(CalibratedClassifier(GaussianNB()), "predict_top")
    with pytest.raises(NotFittedError):
        CalibratedClassifier(GaussianNB(), TOP).predict_top(data[0])


@pytest.mark.parametrize(
    "as_given", [np.asarray, pd.DataFrame, lambda X: np.round(X, 3).astype(str)], ids=["array", "pandas", "words"]
)
def test_copies_of_rows_stay_in_one_fold(as_given):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 3, 80)
    order = rng.permutation(400)
    groups = groups_of_copies(5, as_given(np.tile(X, (5, 1))[order]), np.tile(y, 5)[order])
    np.testing.assert_array_equal(groups[:, None] == groups, order[:, None] % 80 == order % 80)
    assert (
        groups_of_copies(KFold(5), as_given(np.tile(X, (5, 1))), np.tile(y, 5)) is None
    )  # who passes a splitter knows


def test_rows_that_coincide_are_no_copies():
    rng = np.random.default_rng(0)
    for X in (rng.normal(size=(200, 2)), rng.integers(0, 3, (200, 2)), csr_array(rng.integers(0, 2, (200, 2)))):
        assert groups_of_copies(5, X, rng.integers(0, 2, 200)) is None


def test_a_model_is_not_calibrated_on_copies_of_its_training_rows():
    """One neighbour knows the label of each copy: on rows it was trained on it is always right, on others half of the time."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 2)), rng.integers(0, 2, 100)
    fitted = CalibratedClassifier(KNeighborsClassifier(1), "temperature").fit(np.tile(X, (5, 1)), np.tile(y, 5))
    assert fitted.predict_proba(rng.normal(size=(100, 2))).max() < 0.6


@pytest.mark.parametrize("routed", [False, True])
@pytest.mark.parametrize("zeros", [150])
def test_rows_of_weight_zero_are_in_no_fold(zeros, routed):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    t = (rng.random(300) < 1.0 / (1.0 + np.exp(-X[:, 0]))).astype(int)
    weight = np.r_[np.ones(300), np.zeros(zeros)]

    def fitted(*rows):
        with config_context(enable_metadata_routing=routed):
            model = LogisticRegression().set_fit_request(sample_weight=True) if routed else LogisticRegression()
            calibrator = PlattScaling().set_fit_request(sample_weight=True) if routed else "platt"
            return CalibratedClassifier(model, calibrator, cv=5).fit(*rows[:2], sample_weight=rows[2]).predict_proba(X)

    expected = fitted(X, t, np.ones(300))
    np.testing.assert_array_equal(fitted(np.r_[X, X[:zeros]], np.r_[t, 1 - t[:zeros]], weight), expected)
    np.testing.assert_array_equal(fitted(np.r_[X[:zeros], X], np.r_[1 - t[:zeros], t], weight[::-1]), expected)
