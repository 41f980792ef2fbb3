"""Estimators with a calibrator: folds, groups, weights and other metadata, words for methods, the default."""

from uuid import UUID

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, RepeatedStratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from calibrant import ByNotion, CalibratedClassifier, IsotonicCalibration, SafeCalibrator, TemperatureScaling
from calibrant._core.registry import entries
from calibrant.calibrators import BinaryCalibrator, PlattScaling, ScalingBinning, VennAbers
from calibrant.calibrators.by_notion import calibrator_for
from calibrant.calibrators.classifier import as_groups, forecast_of, groups_of_copies
from calibrant.exceptions import CalibrationWarning

# Some forecasts are noise, for which every temperature is too low.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

BY_CLASS = ByNotion(IsotonicCalibration(), "class-wise")
SEEN: list[tuple[frozenset, frozenset]] = []
"""What each spy was fitted on, and what it then scored."""

FITS: list[dict] = []
"""What each fit of a spy got."""


class Spy(ClassifierMixin, BaseEstimator):
    """Notes rows, weights and metadata of each fit, and each forecast. The first feature is the number of the row."""

    def fit(self, X, y, sample_weight=None, metadata=None):
        self.classes_ = np.unique(y)
        self.rows_ = frozenset(X[:, 0].astype(int).tolist())
        FITS.append({"rows": X[:, 0].astype(int), "weight": sample_weight, "metadata": metadata})
        return self

    def predict_proba(self, X):
        SEEN.append((self.rows_, frozenset(X[:, 0].astype(int).tolist())))
        return np.random.default_rng(0).dirichlet(np.ones(len(self.classes_)), len(X))


class Weighed(TemperatureScaling):
    """Notes the weights it was fitted with."""

    def _fit(self, problem):
        FITS.append({"calibrated with": problem.weight.copy()})
        super()._fit(problem)


@pytest.fixture
def numbered():
    SEEN.clear()
    FITS.clear()
    rng = np.random.default_rng(0)
    return np.column_stack([np.arange(60.0), rng.normal(size=60)]), rng.permutation(np.arange(60) % 3)


WEIGHT, GROUP = np.random.default_rng(2).integers(1, 5, 60).astype(float), np.random.default_rng(1).integers(0, 12, 60)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def data():
    return make_classification(400, n_informative=5, n_classes=3, random_state=0)


@pytest.mark.parametrize("ensemble", [False, True])
@pytest.mark.parametrize("cv", [3, KFold(4, shuffle=True, random_state=0)], ids=["number", "splitter"])
def test_fold_models_never_score_rows_they_were_fitted_on(numbered, cv, ensemble):
    CalibratedClassifier(Spy(), BY_CLASS, cv=cv, ensemble=ensemble).fit(*numbered)
    assert len(SEEN) == (3 if cv == 3 else 4)
    assert all(not fitted & scored for fitted, scored in SEEN)
    assert frozenset().union(*(scored for _, scored in SEEN)) == frozenset(range(60))


def test_prefit_calibrates_on_the_given_rows_once_it_is_fitted(data):
    (X, y), estimator = data, GaussianNB()
    with pytest.raises(NotFittedError):
        CalibratedClassifier(estimator, cv="prefit").fit(X, y)
    estimator.fit(X[:200], y[:200])
    fitted = CalibratedClassifier(estimator, "temperature", cv="prefit").fit(X[200:], y[200:])
    by_hand = TemperatureScaling().fit(estimator.predict_proba(X[200:]), y[200:])
    assert fitted.pairs_[0][1].temperature_ == by_hand.temperature_


def test_a_fit_that_fails_leaves_the_classifier_as_it_was(data):
    fitted = CalibratedClassifier(GaussianNB(), "temperature", cv=3).fit(*data)
    with pytest.raises(ValueError, match="two classes"):
        fitted.fit(data[0], np.zeros(400))
    assert fitted.classes_.size == 3


def test_prefit_knows_the_classes_of_the_estimator_where_the_rows_lack_one(data):
    X, y = data
    estimator = GaussianNB().fit(X, y)
    fitted = CalibratedClassifier(estimator, cv="prefit").fit(X[y < 2], y[y < 2])
    assert fitted.predict_proba(X).shape == (400, 3)


def test_a_trained_estimator_may_have_its_classes_in_any_order(data):
    plain, turned = (LogisticRegression().fit(*data) for _ in range(2))
    turned.classes_, turned.coef_, turned.intercept_ = plain.classes_[::-1], plain.coef_[::-1], plain.intercept_[::-1]
    fits = [CalibratedClassifier(one, "temperature", cv="prefit").fit(*data) for one in (plain, turned)]
    assert fits[1].classes_.tolist() == [2, 1, 0]
    expected, found = (fit.predict_proba(data[0]) for fit in fits)
    np.testing.assert_allclose(found[:, ::-1], expected, rtol=1e-9)


def test_labels_of_bytes_are_refused_in_words_and_the_hint_works(data):
    X, y = data
    labels, model = np.array([b"a", b"b", b"c"])[y], CalibratedClassifier(GaussianNB(), "temperature")
    with pytest.raises(ValueError, match=r"classifiers do not take bytes; got array\(\[b'.'.*Pass y\.astype\(str\)"):
        model.fit(X, labels)
    assert model.fit(X, labels.astype(str)).classes_.tolist() == ["a", "b", "c"]


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
    without = clone(fitted).set_params(cv=PredefinedSplit(fold[y < 2])).fit(X[y < 2], y[y < 2])
    first, plain = (c.pairs_[0][1].temperature_ for c in (fitted, without))
    assert first == pytest.approx(plain, rel=0.5)  # three rows at 27.6 nats would move it by far more
    assert fitted.predict_proba(X).shape == (63, 3)


def test_a_class_unknown_to_a_fold_model_gets_the_lowest_logit_on_any_scale():
    X = np.random.default_rng(0).normal(size=(60, 2)) * 1e5
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


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"cv": "prefitted"}, ValueError, r"cv must be .*; got 'prefitted'\. Pass cv=5\."),
        ({"cv": ()}, ValueError, r"cv must have at least one fold; got none\. Pass cv=5\."),
        (
            {"calibrator": GaussianNB(), "estimator": Ridge()},
            TypeError,
            r"must be a word or a calibrator of calibrant; got GaussianNB\(\)",
        ),
        ({"pooling": "median"}, ValueError, r"pooling must be one of 'mean', 'geometric'; got 'median'"),
        ({"label_smoothing": 1.5}, ValueError, r"label_smoothing must be a number, at least 0 and at most 1; got 1\.5"),
        ({"estimator": Ridge()}, TypeError, r"estimator must be a classifier, .*; got Ridge\. Pass one\."),
        ({"estimator": SVC(decision_function_shape="ovo")}, ValueError, "value for each of the 3 classes; .*'ovr'"),
    ],
    ids=str,
)
def test_a_bad_option_is_refused(data, options, error, message):
    with pytest.raises(error, match=message):
        CalibratedClassifier(**options).fit(*data)


def test_rows_of_which_nothing_can_be_learnt_are_refused(data):
    X, y = data
    with pytest.raises(ValueError, match="y must hold at least two classes to train a classifier; got 1"):
        CalibratedClassifier(cv=2).fit(X, np.zeros(400, dtype=int))
    with pytest.raises(ValueError, match="each fold must hold a row with a weight, of a class in its model's training"):
        CalibratedClassifier(cv=KFold(3)).fit(X[np.argsort(y, kind="stable")], np.repeat([0, 1, 2], [134, 133, 133]))


def test_every_forecast_of_a_repeated_splitter_counts(numbered):
    """Five repeats of two folds give five out-of-fold forecasts a row: the calibrator sees them all."""
    folds = RepeatedStratifiedKFold(n_splits=2, n_repeats=5, random_state=0)
    CalibratedClassifier(Spy(), Weighed(), cv=folds).fit(*numbered)
    assert [len(weights) for weights in weights_of_calibrators()] == [300]


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
def test_label_smoothing_mixes_the_final_forecast_with_the_uniform_one(data, ensemble):
    plain = CalibratedClassifier(GaussianNB(), cv=3, ensemble=ensemble).fit(*data)
    smooth = clone(plain).set_params(label_smoothing=0.1).fit(*data)
    np.testing.assert_allclose(smooth.predict_proba(data[0]), 0.9 * plain.predict_proba(data[0]) + 0.1 / 3, rtol=1e-12)


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
    CalibratedClassifier(Spy(), BY_CLASS, cv=cv).fit(*numbered, groups=make(GROUP))
    assert len(SEEN) == 3
    for fitted, scored in SEEN:
        assert not {GROUP[row] for row in fitted} & {GROUP[row] for row in scored}


def test_a_number_and_the_word_for_it_are_two_groups():
    assert np.unique(as_groups([1, "1", 1, "1"])).size == 2


GAP = "hold a group for each row; got a missing one at index 1, and 1 more"
NO_GROUPS = {
    "NaN": ([0.5, np.nan, np.nan, *range(57)], GAP),
    "None": (["a", None, None, *"b" * 57], GAP),
    "NA": (["a", pd.NA, pd.NA, *"b" * 57], GAP),
    "NaT": (np.array(["2024", "NaT", "NaT", *["2024"] * 57], "M8[D]"), GAP),
    "two columns": (np.zeros((60, 2)), r"have one dimension, .*got shape \(60, 2\)\. Pass one column"),
}


@pytest.mark.parametrize(("groups", "said"), NO_GROUPS.values(), ids=NO_GROUPS)
def test_what_are_no_groups_is_refused(groups, said, numbered):
    with pytest.raises(ValueError, match=f"groups must {said}"):
        CalibratedClassifier(Spy(), BY_CLASS, cv=3).fit(*numbered, groups=groups)


# Frozen models


def test_a_frozen_estimator_is_never_trained_and_may_have_a_calibrator_a_fold(numbered):
    X, y = numbered
    model = Spy().fit(X[:30], y[:30])
    fitted = CalibratedClassifier(FrozenEstimator(model), BY_CLASS, cv=3, ensemble=True).fit(X[30:], y[30:])
    assert len({id(calibrator) for _, calibrator in fitted.pairs_}) == 3
    assert model.rows_ == frozenset(range(30))
    assert all(estimator.rows_ is model.rows_ for estimator, _ in fitted.pairs_)


# Inside scikit-learn


@pytest.mark.parametrize("ensemble", [False, True])
def test_columns_of_a_data_frame_reach_a_column_transformer_by_name(ensemble):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.normal(size=120), "colour": rng.choice(["red", "blue"], 120)})
    columns = make_column_transformer((StandardScaler(), ["size"]), (OneHotEncoder(sparse_output=False), ["colour"]))
    model = make_pipeline(columns.set_output(transform="pandas"), LogisticRegression())
    fitted = CalibratedClassifier(model, cv=3, ensemble=ensemble).fit(X, np.where(X["size"] > 0.5, "yes", "no"))
    assert fitted.feature_names_in_.tolist() == ["size", "colour"]
    assert set(fitted.predict(X).tolist()) == {"no", "yes"}
    fitted.set_params(estimator=LogisticRegression()).fit(X[["size"]].to_numpy(), X["colour"])
    assert not hasattr(fitted, "feature_names_in_")


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
    # Who passes a splitter knows.
    assert groups_of_copies(KFold(5), as_given(np.tile(X, (5, 1))), np.tile(y, 5)) is None


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
def test_rows_of_weight_zero_are_in_no_fold(routed):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    t = (rng.random(300) < 1.0 / (1.0 + np.exp(-X[:, 0]))).astype(int)
    weight = np.repeat([1.0, 0.0], [300, 150])

    def fitted(*rows):
        with sklearn.config_context(enable_metadata_routing=routed):
            model = LogisticRegression().set_fit_request(sample_weight=True) if routed else LogisticRegression()
            calibrator = PlattScaling().set_fit_request(sample_weight=True) if routed else "platt"
            return CalibratedClassifier(model, calibrator, cv=5).fit(*rows[:2], sample_weight=rows[2]).predict_proba(X)

    expected = fitted(X, t, np.ones(300))
    np.testing.assert_array_equal(fitted(np.r_[X, X[:150]], np.r_[t, 1 - t[:150]], weight), expected)
    np.testing.assert_array_equal(fitted(np.r_[X[:150], X], np.r_[1 - t[:150], t], weight[::-1]), expected)


def test_weights_that_are_whole_in_a_fold_are_no_counts_where_others_are_fractions():
    X, t = make_classification(300, random_state=0)
    weight = np.r_[0.5, np.random.default_rng(0).choice([1.0, 20.0], 299)]
    model = CalibratedClassifier(GaussianNB(), SafeCalibrator("isotonic", caution=0), ensemble=True)
    one, other = (model.fit(X, t, weight * unit).predict_proba(X) for unit in (1.0, 0.3))
    np.testing.assert_allclose(one, other, atol=1e-9)


# Metadata


def weights_of_calibrators():
    return [sorted(fit["calibrated with"]) for fit in FITS if "calibrated with" in fit]


def assert_cut_to_the_rows(given="weight", values=WEIGHT, times=4):
    fits = [fit for fit in FITS if "rows" in fit]
    assert len(fits) == times
    for fit in fits:
        np.testing.assert_array_equal(fit[given], values[fit["rows"]])


def test_without_routing_weights_go_to_estimator_and_calibrator(numbered):
    CalibratedClassifier(Spy(), Weighed(), cv=3).fit(*numbered, sample_weight=WEIGHT)
    assert_cut_to_the_rows()
    assert weights_of_calibrators()[0] == sorted(WEIGHT)


@pytest.mark.parametrize("model", [KNeighborsClassifier(), make_pipeline(StandardScaler(), LogisticRegression())])
def test_without_routing_an_estimator_that_takes_no_weights_is_told_of(numbered, model):
    with pytest.warns(CalibrationWarning, match="takes no sample_weight: only the calibrator uses the weights"):
        CalibratedClassifier(model, cv=3).fit(*numbered, sample_weight=WEIGHT)


def test_without_routing_nothing_is_said_where_a_step_of_a_pipeline_gets_the_weights(numbered):
    model = CalibratedClassifier(make_pipeline(StandardScaler(), LogisticRegression()), "temperature", cv=3)
    model.fit(*numbered, sample_weight=WEIGHT, logisticregression__sample_weight=WEIGHT)  # a warning is an error


def test_without_routing_other_keywords_go_to_the_estimator_cut_to_its_rows(numbered):
    CalibratedClassifier(Spy(), cv=3).fit(*numbered, metadata=np.arange(60) * 10)
    assert_cut_to_the_rows("metadata", np.arange(60) * 10)


@pytest.mark.usefixtures("routing")
def test_weights_go_to_the_calibrator_alone_where_the_estimator_declines(numbered):
    declining = Spy().set_fit_request(sample_weight=False)
    CalibratedClassifier(declining, Weighed(), cv=3).fit(*numbered, sample_weight=WEIGHT)
    assert [fit["weight"] for fit in FITS if "rows" in fit] == [None] * 4
    assert weights_of_calibrators()[0] == sorted(WEIGHT)


@pytest.mark.usefixtures("routing")
def test_the_calibrator_can_decline_and_can_have_weights_of_its_own(numbered):
    estimator, declining = Spy().set_fit_request(sample_weight=True), Weighed().set_fit_request(sample_weight=False)
    CalibratedClassifier(estimator, declining, cv=3).fit(*numbered, sample_weight=WEIGHT)
    assert set(weights_of_calibrators()[0]) == {1.0}
    FITS.clear()
    own = CalibratedClassifier(estimator, Weighed().set_fit_request(sample_weight="importance"), cv=3)
    own.fit(*numbered, sample_weight=WEIGHT, importance=WEIGHT + 10)
    assert weights_of_calibrators()[0] == sorted(WEIGHT + 10)
    assert_cut_to_the_rows()


@pytest.mark.usefixtures("routing")
def test_the_defaults_ask_for_weights(numbered):
    ours = CalibratedClassifier(cv=3).fit(*numbered, sample_weight=WEIGHT).pairs_[0][0]
    np.testing.assert_array_equal(ours.coef_, LogisticRegression().fit(*numbered, sample_weight=WEIGHT).coef_)


@pytest.mark.usefixtures("routing")
def test_weights_and_groups_pass_through_cross_validation_to_every_depth(numbered):
    """No rows of a group on both sides, neither of the outer folds nor of the inner ones."""
    one = CalibratedClassifier(Spy().set_fit_request(sample_weight=True), Weighed(), cv=3)
    params = {"sample_weight": WEIGHT, "groups": GROUP}
    cross_validate(one, *numbered, cv=GroupKFold(2), params=params, error_score="raise", scoring=lambda *_: 0.0)
    assert_cut_to_the_rows(times=8)
    fits = [set(fit["rows"]) for fit in FITS if "rows" in fit]
    for *inner, whole in (fits[:4], fits[4:]):
        assert not {GROUP[row] for row in whole} & {GROUP[row] for row in set(range(60)) - whole}
        for trained in inner:
            assert not {GROUP[row] for row in trained} & {GROUP[row] for row in whole - trained}


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


def test_folds_may_be_arrays_lists_or_masks():
    X, y = make_classification(90, random_state=0)
    arrays = list(KFold(3).split(X))
    lists = [(train.tolist(), test.tolist()) for train, test in arrays]
    masks = [tuple(np.isin(np.arange(90), rows) for rows in fold) for fold in arrays]
    one, *others = (of("platt", cv=folds).fit(X, y).predict_proba(X) for folds in (arrays, lists, masks))
    np.testing.assert_array_equal(others, [one, one])


# Words


def of(calibrator, **options):
    return CalibratedClassifier(GaussianNB(), calibrator, **options)


RNG = np.random.default_rng(0)
PROB = RNG.dirichlet(np.ones(3), 90)
TRUTH = np.array(["a", "b", "c"])[[RNG.choice(3, p=row) for row in PROB]]
SCORE, EVENT = PROB[:, 0], (TRUTH == "a").astype(int)
FLOWERS, SPECIES = load_iris(return_X_y=True)
IRIS = FLOWERS[:, :2]
METHODS = entries("calibrator")


@pytest.mark.parametrize("word", METHODS)
def test_a_word_is_the_method_of_one_event_and_by_class_of_more(word):
    target = METHODS[word].target
    assert type(calibrator_for(word, 2)) is target
    made = calibrator_for(word.upper(), 3)
    if issubclass(target, BinaryCalibrator):
        assert (type(made), type(made.calibrator), made.notion) == (ByNotion, target, None)
    else:
        assert type(made) is target


@pytest.mark.parametrize("ensemble", [False, True])
def test_an_estimator_counts_the_rows_that_its_calibrator_is_fitted_to(ensemble):
    rng = np.random.default_rng(0)
    features, event = rng.normal(size=(3600, 2)), rng.random(3600) < 0.4
    trained = GaussianNB().fit(features, event)
    models = [CalibratedClassifier(trained, cv=cv, ensemble=ensemble).fit(features, event) for cv in (2, "prefit")]
    found = [type(calibrator) for model in models for _, calibrator in model.pairs_]
    safe, evidence = SafeCalibrator, METHODS["evidence-scaling"].target
    assert found == ([safe, safe, evidence] if ensemble else [evidence, evidence])
    twice = CalibratedClassifier(trained, cv="prefit")
    assert type(twice.fit(features[:1800], event[:1800], np.full(1800, 2.0)).pairs_[0][1]) is safe  # copies are one row
    assert type(twice.fit(features[:1800], event[:1800]).pairs_[0][1]) is safe
    coarse, count = np.unique(np.column_stack([features.round(), event]), axis=0, return_counts=True)
    assert type(twice.fit(coarse[:, :2], coarse[:, 2] > 0, count).pairs_[0][1]) is evidence
    for unit in (1e-6, 1e6):  # weights that are no counts are scaled to a mean of one
        assert type(twice.fit(features, event, unit * rng.random(3600)).pairs_[0][1]) is evidence


PAIRS = {
    "by notion": (ByNotion("beta", "class-wise"), ByNotion(METHODS["beta"].target(), "class-wise"), (PROB, TRUTH)),
    "safe, by class": (SafeCalibrator("Beta"), SafeCalibrator(ByNotion("beta")), (PROB, TRUTH)),
    "safe, one event": (SafeCalibrator("sigmoid"), SafeCalibrator(PlattScaling()), (SCORE, EVENT)),
    "scaling-binning": (ScalingBinning("beta"), ScalingBinning(METHODS["beta"].target()), (SCORE, EVENT)),
    "one event": (of("isotonic", ensemble=True), of(IsotonicCalibration(), ensemble=True), (IRIS, SPECIES == 1)),
    "logits": (of("platt", cv=3), of(ByNotion(PlattScaling()), cv=3), (IRIS, SPECIES)),
}


@pytest.mark.parametrize("case", PAIRS)
def test_a_word_fits_what_the_object_fits(case):
    of_word, of_object, (data, labels) = PAIRS[case]
    word = of_word.calibrator
    assert isinstance(word, str)
    fitted = clone(of_word).fit(data, labels)
    assert fitted.calibrator == fitted.get_params()["calibrator"] == word  # as it was given, and resolved in fit alone
    assert f"{word!r}" in repr(fitted)
    assert np.array_equal(fitted.predict_proba(data), of_object.fit(data, labels).predict_proba(data))


def test_a_word_is_set_and_resolved_late():
    model = CalibratedClassifier(GaussianNB(), "no such method").set_params(calibrator="isotonic")
    assert clone(model).get_params()["calibrator"] == "isotonic"
    with pytest.raises(ValueError, match=r"calibrator must be one of .*; got 'isotonik'\. Did you mean 'isotonic'\?"):
        model.set_params(calibrator="isotonik").fit(IRIS, SPECIES)


def test_methods_that_depend_on_the_calibrator_are_there_with_words():
    assert hasattr(ByNotion("venn-abers"), "predict_interval")
    assert not hasattr(ByNotion("beta"), "predict_interval")
    assert not hasattr(ByNotion("no such method"), "predict_interval")
    several = CalibratedClassifier(GaussianNB(), "isotonic").fit(IRIS, SPECIES)
    assert several.predict_top(IRIS)[1].shape == (150,)
    assert not hasattr(several, "predict_interval")
    one = CalibratedClassifier(GaussianNB(), "venn-abers").fit(IRIS, SPECIES == 1)
    assert one.predict_interval(IRIS).shape == (150, 2)
    assert hasattr(CalibratedClassifier(GaussianNB(), VennAbers()), "predict_interval")
