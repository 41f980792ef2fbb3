"""What all calibrators are: scikit-learn's checks, extreme numbers, warnings at the line of the fit, maps of others."""

import inspect
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import calibrant as cal
from calibrant._core.registry import entries
from calibrant.calibrators import BinaryCalibrator, LogOddsCalibrator, MulticlassCalibrator
from calibrant.interop.save import to_document

CALIBRATORS = {name: entry.target for name, entry in entries("calibrator").items()}
OF_ONE_SCORE = {name: target for name, target in CALIBRATORS.items() if issubclass(target, BinaryCalibrator)}

MORE_CLASSES = "gives three classes and two features; a forecast has a column a class"
FROM_ONE = "gives two columns and the labels 1 and 2; such labels are named with labels="
OF_A_FORECAST = {
    "check_classifiers_train": "gives features without relation to the classes; a forecast has a column a class",
    "check_fit2d_1feature": "gives one column and the labels 1 and 2; the positive one is not guessed",
    **{f"check_{name}": MORE_CLASSES for name in (
        "estimators_overwrite_params", "estimators_fit_returns_self", "readonly_memmap_input", "classifiers_classes",
    )},
    **{f"check_{name}": FROM_ONE for name in (
        "sample_weights_pandas_series", "sample_weights_not_an_array", "sample_weights_shape",
        "sample_weights_not_overwritten", "classifier_data_not_an_array",
    )},
}  # fmt: skip
WIDE = "gives three or more features; this calibrator maps one score, and ByNotion is for more"
OF_A_SCORE = OF_A_FORECAST | {f"check_{name}": WIDE for name in (
    "fit_score_takes_y", "dont_overwrite_parameters", "n_features_in_after_fitting", "positive_only_tag_during_fit",
    "estimators_dtypes", "sample_weights_list", "sample_weight_equivalence_on_dense_data", "dtype_object",
    "pipeline_consistency", "estimators_nan_inf", "estimators_pickle", "f_contiguous_array_estimator", "supervised_y_2d",
    "methods_sample_order_invariance", "methods_subset_invariance", "fit2d_1sample", "dict_unchanged", "fit2d_predict1d",
)}  # fmt: skip
ONE_LABEL = "gives one class and many columns; calibrating does not make it the only one predicted"
OF_ALL_BUT_SOME = {"check_classifiers_one_label": ONE_LABEL}
"""May fail: with many rows of one class some methods leave no other class any chance, and so pass."""


CASES = {
    "classifier, by a word": (cal.CalibratedClassifier(calibrator="isotonic"), {}),
    "classifier": (cal.CalibratedClassifier(), {}),
    "ensemble": (cal.CalibratedClassifier(cv=3, ensemble=True, pooling="geometric", label_smoothing=0.01), {}),
    "classifier, safe": (cal.CalibratedClassifier(calibrator=cal.SafeCalibrator()), {}),
    "isotonic by notion": (cal.ByNotion(cal.IsotonicCalibration(), input="logit"), OF_A_FORECAST),
    **{name: (target(input="logit"), OF_A_FORECAST) for name, target in CALIBRATORS.items()},
    **{name: (target(input="logit"), OF_A_SCORE) for name, target in OF_ONE_SCORE.items()},
}


@pytest.mark.first(1)
@pytest.mark.parametrize("case", CASES)
def test_checks_of_scikit_learn_fail_only_where_a_forecast_is_no_table_of_features(case):
    estimator, expected = CASES[case]
    allowed = OF_ALL_BUT_SOME if expected is OF_A_FORECAST else {}
    with warnings.catch_warnings(action="ignore"):  # scikit-learn's checks provoke warnings on purpose
        results = check_estimator(estimator, on_skip=None, on_fail=None, expected_failed_checks=expected | allowed)
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert not failed
    really_failing = {result["check_name"] for result in results if result["status"] == "xfail"}
    assert really_failing - set(allowed) == set(expected)
    assert sum(result["status"] == "passed" for result in results) > 25


def test_scikit_learn_is_asked_about_columns_only_where_they_may_be_wrong(monkeypatch):
    prob, label = np.random.default_rng(0).dirichlet(np.ones(3), 60), np.arange(60) % 3
    fitted, named = (cal.TemperatureScaling().fit(prob, label) for _ in range(2))
    named.feature_names_in_ = np.array(["a", "b", "c"], dtype=object)  # an array has no names to compare
    monkeypatch.setattr("calibrant.calibrators.base.validate_data", None)
    assert np.array_equal(fitted.predict_proba(prob[:1]), named.predict_proba(prob[:1]))
    monkeypatch.undo()
    with pytest.raises(ValueError, match="X has 2 features, but TemperatureScaling is expecting 3"):
        fitted.predict_proba(np.full((1, 2), 0.5))
    frame = pd.DataFrame(prob, columns=["a", "b", "c"])
    with pytest.raises(ValueError, match="names must be in the same order"):
        fitted.fit(frame, label).predict_proba(frame[["c", "b", "a"]])
    numbered = frame.set_axis([1, 2, 3], axis=1)  # no names to scikit-learn, but those of classes
    with pytest.raises(ValueError, match=r"classes \[1, 2, 3\], in this order; got \[3, 2, 1\]"):
        fitted.fit(numbered, label + 1).predict_proba(numbered[[3, 2, 1]])
    assert not hasattr(fitted.fit(prob, label), "feature_names_in_")


def test_a_fit_keeps_no_array_of_the_caller_and_no_names_of_an_earlier_fit():
    score, label = np.arange(0.05, 1.0, 0.1), np.arange(10) % 2
    labels, edges = np.array(["no", "yes"]), np.arange(3) / 2
    named = pd.DataFrame({"no": 1.0 - score, "yes": score})
    fitted = cal.HistogramBinning(edges, labels=labels).fit(named, labels[label]).fit(score, labels[label])
    before = fitted.calibrate(score), fitted.predict(score)
    edges[1], labels[:] = 0.1, "other"
    np.testing.assert_array_equal((fitted.calibrate(score), fitted.predict(score)), before)
    assert to_document(fitted)["column_names"] is None


# Extremes


LINEAR = ["vector", "matrix", "dirichlet", "svs", "sms"]
NAMES = ["platt", "beta", "quadratic", *LINEAR, "spline", "temperature", "ensemble-temperature", "irova-ts", "safe"]
COLUMNS = [(name, n) for name in NAMES for n in (1, 3) if n == 1 or name not in OF_ONE_SCORE]
DRAW = np.random.default_rng(0)
Z = DRAW.normal(0.0, 2.0, 200)
OCCURRED = (DRAW.random(200) < expit(Z)).astype(int)


SPREAD_WEIGHT = 10.0 ** DRAW.uniform(-100.0, 97.0, 200)
SPREAD_LOGIT = Z * 10.0 ** DRAW.uniform(-100.0, 99.0, 200)
EXTREMES = {
    "logits of 1e8": (1e8 * Z, None),
    "logits of 1e30": (1e30 * Z, None),
    "logits of 1e99": (1e99 * Z, None),
    "one logit of 1e100": (np.append(1e100, Z[1:]), None),
    "logits of -1e100 and 1e100": (np.append([-1e100, 1e100], Z[2:]), None),
    "one logit of 1e99 in all rows": (np.full(200, 1e99), None),
    "logits that are equal but for rounding": (1e12 + 1e-4 * Z, None),
    "logits of all sizes": (SPREAD_LOGIT, None),
    "weights of 1e-100": (Z, np.full(200, 1e-100)),
    "weights of 1e97": (Z, np.full(200, 1e97)),
    "weights of all sizes": (Z, SPREAD_WEIGHT),
    "weights and logits of all sizes": (SPREAD_LOGIT, SPREAD_WEIGHT),
}


@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore::calibrant.exceptions.CalibrationWarning"
)
@pytest.mark.parametrize("case", EXTREMES)
@pytest.mark.parametrize(("name", "n_columns"), COLUMNS)
def test_what_is_accepted_gives_probabilities(name, n_columns, case):
    target = CALIBRATORS[name]
    z, weight = EXTREMES[case]
    X = z if n_columns == 1 else np.column_stack([z, -z, z[::-1]])
    calibrator = target(input="logit", labels=range(max(n_columns, 2)))
    calibrator.fit(X, OCCURRED, weight)
    prob = calibrator.predict_proba(np.concatenate([X, 0.3 * X, 0.0 * X, X / 1e50]))
    assert np.isfinite(prob).all()
    np.testing.assert_allclose(prob.sum(axis=1), 1.0, rtol=1e-12)
    assert np.isfinite(calibrator.gradient_)


@pytest.mark.parametrize("scale", [1e4, 1e8, 1e50, 1e99])
@pytest.mark.parametrize("name", ["platt", "beta", "quadratic", "vector", "matrix"])
def test_logits_of_any_size_are_fitted_as_well_as_small_ones(name, scale):
    """Beta calibration bends at zero over some units, which no larger scale shows."""
    target = CALIBRATORS[name]
    options = {"off_diagonal": 0.0, "intercept": 0.0} if name == "matrix" else {}
    one, other = (
        target(input="logit", **options).fit(factor * Z, OCCURRED).predict_proba(factor * Z)[:, 1]
        for factor in (1e4, scale)
    )
    np.testing.assert_allclose(other, one, atol=1e-3)


# Warnings


ALL = {
    **CALIBRATORS,
    **{f"{name} by class": partial(cal.ByNotion, target(), "class-wise") for name, target in OF_ONE_SCORE.items()},
    **{f"safe {name}": partial(cal.SafeCalibrator, target(), caution=0.0) for name, target in CALIBRATORS.items()},
}
SEPARATED = [0.1, 0.1, 0.2, 0.2, 0.8, 0.8, 0.9, 0.9], [0, 0, 0, 0, 1, 1, 1, 1]
ONE_CLASS = SEPARATED[0], [0] * 8
SAY_SO = ("beta", "quadratic", "vector", "matrix", "temperature", "ensemble-temperature", "irova-ts", "svs", "sms")


def said_by(calibrator, score, label):
    with warnings.catch_warnings(record=True, action="always") as said:
        calibrator.fit(score, label)
    return said


@pytest.mark.parametrize("rows", [SEPARATED, ONE_CLASS], ids=["separated", "one class"])
@pytest.mark.parametrize("name", ALL)
def test_a_warning_of_a_fit_points_at_the_line_that_called_it_and_comes_once(name, rows):
    said = said_by(ALL[name]().set_params(labels=[0, 1]), *rows)
    assert {warning.filename for warning in said} <= {__file__}
    messages = [str(warning.message) for warning in said]
    assert len(set(messages)) == len(messages)


@pytest.mark.parametrize("name", SAY_SO)
def test_separated_classes_are_told_of_where_the_likelihood_has_no_maximum(name):
    assert len(said_by(ALL[name](), *SEPARATED)) == 1


def test_a_warning_that_comes_through_a_classifier_points_at_the_line_of_its_fit():
    X = np.array(SEPARATED[0])[:, None].repeat(3, axis=0)
    label = np.repeat(SEPARATED[1], 3)
    for name in SAY_SO:
        said = said_by(cal.CalibratedClassifier(calibrator=ALL[name](), cv=2), X, label)
        assert {warning.filename for warning in said} <= {__file__}


@pytest.mark.parametrize(("far", "times"), [([800.0, 800.0], 0), ([800.0, 900.0], 1), ([-800.0, 800.0], 1)])
def test_logits_that_differ_and_are_one_probability_to_the_method_are_told_of(far, times):
    logit = np.concatenate([np.linspace(-2.0, 2.0, 20), far])
    said = said_by(cal.IsotonicCalibration(input="logit"), logit, logit > 0.3)
    assert sum("are one probability" in str(one.message) for one in said) == times


# Maps written elsewhere


RNG = np.random.default_rng(0)
P, Y = RNG.uniform(0.1, 0.9, 40), RNG.integers(0, 2, 40)
TABLE, LABEL = RNG.dirichlet(np.ones(3), 40), RNG.integers(0, 3, 40)
GIVEN = {
    "NaN": (lambda values: np.where(values == values.max(), np.nan, values), ValueError, "from 0 to 1; got nan"),
    "above one": (lambda values: values + 2.0, ValueError, "from 0 to 1; got 2"),
    "below zero": (lambda values: values - 2.0, ValueError, "from 0 to 1; got -1"),
    "too few": (lambda values: values[:-1], ValueError, r"keep the shape \(40"),
    "one number": (lambda values: 0.5, ValueError, r"keep the shape \(40"),
    "complex": (lambda values: values + 0j, TypeError, "give real numbers; got dtype complex128"),
    "objects": (lambda values: values.astype(object), TypeError, "give real numbers; got dtype object"),
    "words": (lambda values: ["a"] * len(values), TypeError, "give real numbers; got dtype <U1"),
}
A_NAN, _, OF_A_NAN = GIVEN["NaN"]


class OfScore(BinaryCalibrator):
    """Maps by a function that is none of probabilities."""

    function = None

    def _fit(self, problem):
        self.fitted_ = True

    def _apply(self, score):
        return type(self).function(score)


class OfSimplex(MulticlassCalibrator):
    """The same of a table."""

    function, _fit = None, OfScore._fit

    def _apply(self, forecast):
        return type(self).function(forecast.prob)


class OfLogOdds(LogOddsCalibrator):
    """Loses a number."""

    _fit = OfScore._fit

    def _map_log_odds(self, log_odds):
        return A_NAN(log_odds)


def require_refused(fitted, given, error, said):
    for call in (fitted.calibrate, fitted.predict_proba):
        with pytest.raises(error, match=f"the map of {type(fitted).__name__} must .*{said}"):
            call(given)


@pytest.mark.parametrize(("function", "error", "said"), GIVEN.values(), ids=GIVEN.keys())
def test_what_is_no_probability_is_refused(function, error, said, monkeypatch):
    monkeypatch.setattr(OfScore, "function", staticmethod(function))
    monkeypatch.setattr(OfSimplex, "function", staticmethod(function))
    require_refused(OfScore().fit(P, Y), P, error, said)
    require_refused(OfSimplex().fit(TABLE, LABEL), TABLE, error, said)
    require_refused(OfLogOdds().fit(P, Y), P, ValueError, OF_A_NAN)


def test_one_column_is_no_forecast_of_three_classes():
    with pytest.raises(ValueError, match="y_prob must have 3 columns; got one"):
        OfSimplex().fit(TABLE, LABEL).calibrate(P)


def test_no_notion_and_no_safe_form_and_no_number_of_rows_hides_it(monkeypatch):
    """Rows that are divided by their sums would be valid again, with any numbers. Of many rows some are looked at."""
    monkeypatch.setattr(OfScore, "function", staticmethod(GIVEN["above one"][0]))
    calls = [
        lambda: cal.ByNotion(OfScore(), "class-wise").fit(TABLE, LABEL).predict_proba(TABLE),
        lambda: cal.SafeCalibrator(OfScore()).fit(P, Y),
        lambda: OfScore().fit(P, Y).calibrate(np.tile(P, 10_000)),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="the map of OfScore must give probabilities"):
            call()


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


def test_the_constructor_is_made_of_the_parameters_that_are_declared_but_for_one_of_its_own():
    assert list(inspect.signature(Shrunk).parameters) == ["share", "input", "labels"]
    assert Shrunk(share=0.2).get_params() == {"share": 0.2, "input": "probability", "labels": None}
    assert not hasattr(Shrunk(), "rate_")
    with pytest.raises(TypeError, match="rate_"):
        Shrunk(rate_=0.5)
    np.testing.assert_allclose(clone(Shrunk(share=1.0)).fit(P, Y).calibrate(P), Y.mean())
    assert [made.share for made in (Own(4), Below(4))] == [0.25, 0.25]


def test_a_parameter_that_is_not_as_declared_is_refused_inside_another_calibrator():
    with pytest.raises(ValueError, match="parameters must be one of 'abm', 'am', 'ab', 'a'; got 'x'"):
        cal.SafeCalibrator(cal.BetaCalibration(parameters="x")).fit(P, Y)
