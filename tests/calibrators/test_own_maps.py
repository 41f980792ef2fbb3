"""A calibrator written outside calibrant that maps to something else than probabilities is told so, wherever it is used."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone

from calibrant import BetaCalibration, ByNotion, SafeCalibrator
from calibrant.calibrators import BinaryCalibrator, LogOddsCalibrator, MulticlassCalibrator

RNG = np.random.default_rng(0)
P, Y = RNG.uniform(0.1, 0.9, 40), RNG.integers(0, 2, 40)
TABLE, LABEL = RNG.dirichlet(np.ones(3), 40), RNG.integers(0, 3, 40)
GIVEN = {
    "NaN": (lambda values: np.where(values == values.max(), np.nan, values), "from 0 to 1; got nan"),
    "above one": (lambda values: values + 2.0, "from 0 to 1; got 2"),
    "below zero": (lambda values: values - 2.0, "from 0 to 1; got -1"),
    "too few": (lambda values: values[:-1], r"keep the shape \(40"),
    "one number": (lambda values: 0.5, r"keep the shape \(40"),
}


class OfScore(BinaryCalibrator):
    """Maps by a function that is none of probabilities."""

    function = None

    def _fit(self, problem):
        self.fitted_ = True

    def _apply(self, score):
        return type(self).function(score)


class OfSimplex(MulticlassCalibrator):
    """The same of a table."""

    function = None

    def _fit(self, problem):
        self.fitted_ = True

    def _apply(self, forecast):
        return type(self).function(forecast.prob)


@pytest.mark.parametrize(
    ("function", "error", "said"),
    [
        (lambda values: values + 0j, TypeError, "must give real numbers; got dtype complex128"),
        (lambda values: values.astype(object), TypeError, "must give real numbers; got dtype object"),
        (lambda values: ["a"] * len(values), TypeError, "must give real numbers; got dtype <U1"),
    ],
)
def test_what_is_no_real_number_is_refused(function, error, said, monkeypatch):
    monkeypatch.setattr(OfScore, "function", staticmethod(function))
    with pytest.raises(error, match=said):
        OfScore().fit(P, Y).predict_proba(P)


class OfLogOdds(LogOddsCalibrator):
    """Loses a number."""

    def _fit(self, problem):
        self.fitted_ = True

    def _map_log_odds(self, log_odds):
        return np.where(log_odds == log_odds.max(), np.nan, log_odds)


@pytest.mark.parametrize(("function", "said"), GIVEN.values(), ids=GIVEN.keys())
def test_what_is_no_probability_is_refused(function, said, monkeypatch):
    monkeypatch.setattr(OfScore, "function", staticmethod(function))
    monkeypatch.setattr(OfSimplex, "function", staticmethod(function))
    for fitted, given in [(OfScore().fit(P, Y), P), (OfSimplex().fit(TABLE, LABEL), TABLE)]:
        for call in (fitted.calibrate, fitted.predict_proba):
            with pytest.raises(ValueError, match=f"the map of {type(fitted).__name__} must .*{said}"):
                call(given)


def test_log_odds_that_are_no_number_are_refused():
    fitted = OfLogOdds().fit(P, Y)
    for call in (fitted.calibrate, fitted.predict_proba):
        with pytest.raises(ValueError, match="the map of OfLogOdds must give probabilities from 0 to 1; got nan"):
            call(P)


def test_no_notion_and_no_safe_form_hides_it(monkeypatch):
    """Rows that are divided by their sums would be valid again, with any numbers."""
    monkeypatch.setattr(OfScore, "function", staticmethod(GIVEN["above one"][0]))
    fitted = ByNotion(OfScore(), "class-wise").fit(TABLE, LABEL)
    with pytest.raises(ValueError, match="the map of OfScore must give probabilities"):
        fitted.predict_proba(TABLE)
    with pytest.raises(ValueError, match="the map of OfScore must give probabilities"):
        SafeCalibrator(OfScore()).fit(P, Y)


def test_of_many_rows_some_are_looked_at(monkeypatch):
    monkeypatch.setattr(OfScore, "function", staticmethod(lambda score: np.where(score > 0.5, 1.5, score)))
    with pytest.raises(ValueError, match=r"from 0 to 1; got 1\.5"):
        OfScore().fit(P, Y).calibrate(np.tile(P, 10_000))


class Shrunk(BinaryCalibrator):
    """Draws scores to the event rate, by a share that is declared."""

    share: float = 0.5
    rate_: float

    def _fit(self, problem):
        self.rate_ = float(np.average(problem.outcome, weights=problem.weight))

    def _apply(self, score):
        return (1 - self.share) * score + self.share * self.rate_


class Own(Shrunk):
    """Has a constructor of its own."""

    def __init__(self, k):
        super().__init__(share=1 / k)
        self.k = k


class Below(Own):
    """Declares what fitting finds, and no parameter."""

    more_: float


def test_the_constructor_is_made_of_the_parameters_that_are_declared():
    assert list(inspect.signature(Shrunk).parameters) == ["share", "input", "labels"]
    assert Shrunk(share=0.2).get_params() == {"share": 0.2, "input": "probability", "labels": None}
    assert not hasattr(Shrunk(), "rate_")
    with pytest.raises(TypeError, match="rate_"):
        Shrunk(rate_=0.5)
    fitted = clone(Shrunk(share=1.0)).fit(P, Y)
    np.testing.assert_allclose(fitted.calibrate(P), Y.mean())


def test_a_constructor_of_its_own_is_kept():
    assert [made.share for made in (Own(4), Below(4))] == [0.25, 0.25]


def test_a_parameter_that_is_not_as_declared_is_refused_in_a_fit_and_inside_another_calibrator():
    for fit in (BetaCalibration(parameters="x").fit, SafeCalibrator(BetaCalibration(parameters="x")).fit):
        with pytest.raises(ValueError, match="parameters must be one of 'abm', 'am', 'ab', 'a'; got 'x'"):
            fit(P, Y)
