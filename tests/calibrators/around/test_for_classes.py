"""Words choose calibrators wherever an object does, with the words of the command line."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from calibrant import ByNotion, CalibratedClassifier, PlattScaling, SafeCalibrator, TemperatureScaling, VennAbers
from calibrant._core.registry import entries
from calibrant.calibrators import BinaryCalibrator, ScalingBinning
from calibrant.calibrators.by_notion import calibrator_for

RNG = np.random.default_rng(0)
PROB = RNG.dirichlet(np.ones(3), 90)
TRUTH = np.array(["a", "b", "c"])[[RNG.choice(3, p=row) for row in PROB]]
SCORE, EVENT = PROB[:, 0], (TRUTH == "a").astype(int)
X, SPECIES = load_iris(return_X_y=True)
X = X[:, :2]
WORDS = entries("calibrator")


@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_the_method_of_one_event_and_by_class_of_more(word):
    target = WORDS[word].target
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
    found = [
        type(pair[1])
        for cv in (2, "prefit")
        for pair in CalibratedClassifier(GaussianNB().fit(features, event), cv=cv, ensemble=ensemble)
        .fit(features, event)
        .pairs_
    ]
    safe, evidence = SafeCalibrator, WORDS["evidence-scaling"].target
    assert found == ([safe, safe, evidence] if ensemble else [evidence, evidence])
    twice = CalibratedClassifier(GaussianNB().fit(features, event), cv="prefit")
    assert type(twice.fit(features[:1800], event[:1800], np.full(1800, 2.0)).pairs_[0][1]) is safe  # copies are one row
    assert type(twice.fit(features[:1800], event[:1800]).pairs_[0][1]) is safe
    coarse, count = np.unique(np.column_stack([features.round(), event]), axis=0, return_counts=True)
    assert type(twice.fit(coarse[:, :2], coarse[:, 2] > 0, count).pairs_[0][1]) is evidence
    for unit in (1e-6, 1e6):  # weights that are no counts are scaled to a mean of one
        assert type(twice.fit(features, event, unit * rng.random(3600)).pairs_[0][1]) is evidence


PAIRS = {
    "by notion": (ByNotion("beta", "class-wise"), ByNotion(WORDS["beta"].target(), "class-wise"), (PROB, TRUTH)),
    "safe": (SafeCalibrator("sms"), SafeCalibrator(WORDS["sms"].target()), (PROB, TRUTH)),
    "safe, by class": (SafeCalibrator("Beta"), SafeCalibrator(ByNotion("beta")), (PROB, TRUTH)),
    "safe, one event": (SafeCalibrator("sigmoid"), SafeCalibrator(PlattScaling()), (SCORE, EVENT)),
    "scaling-binning": (ScalingBinning("beta"), ScalingBinning(WORDS["beta"].target()), (SCORE, EVENT)),
    "classifier": (
        CalibratedClassifier(GaussianNB(), "Temperature_Scaling"),
        CalibratedClassifier(GaussianNB(), TemperatureScaling()),
        (X, SPECIES),
    ),
    "classifier, by class": (
        CalibratedClassifier(GaussianNB(), "isotonic"),
        CalibratedClassifier(GaussianNB(), ByNotion("isotonic", "class-wise")),
        (X, SPECIES),
    ),
    "classifier, one event": (
        CalibratedClassifier(GaussianNB(), "isotonic", ensemble=True),
        CalibratedClassifier(GaussianNB(), WORDS["isotonic"].target(), ensemble=True),
        (X, SPECIES == 1),
    ),
    "classifier, logits": (
        CalibratedClassifier(LogisticRegression(), "platt", cv=3),
        CalibratedClassifier(LogisticRegression(), ByNotion(PlattScaling()), cv=3),
        (X, SPECIES),
    ),
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
        model.set_params(calibrator="isotonik").fit(X, SPECIES)


@pytest.mark.parametrize("made", [ByNotion("temperature"), ScalingBinning("temperature")], ids=["by notion", "bins"])
def test_a_word_of_all_classes_is_no_map_of_one_score(made):
    with pytest.raises(
        TypeError, match=r"calibrator must be a BinaryCalibrator, a map of one score; got 'temperature'\."
    ):
        made.fit(SCORE, EVENT)


def test_methods_that_depend_on_the_calibrator_are_there_with_words():
    assert hasattr(ByNotion("venn-abers"), "predict_interval")
    assert not hasattr(ByNotion("beta"), "predict_interval")
    assert not hasattr(ByNotion("no such method"), "predict_interval")
    several = CalibratedClassifier(GaussianNB(), "isotonic").fit(X, SPECIES)
    assert several.predict_top(X)[1].shape == (150,)
    assert not hasattr(several, "predict_interval")
    one = CalibratedClassifier(GaussianNB(), "venn-abers").fit(X, SPECIES == 1)
    assert one.predict_interval(X).shape == (150, 2)
    assert hasattr(CalibratedClassifier(GaussianNB(), VennAbers()), "predict_interval")
