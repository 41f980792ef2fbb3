"""scikit-learn's own checks. The classifier passes all; a calibrator's X is a forecast, and what that breaks is listed."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

from calibrant import ByNotion, CalibratedClassifier, IsotonicCalibration, SafeCalibrator, TemperatureScaling
from calibrant._core.registry import entries
from calibrant.calibrators import BinaryCalibrator

MORE_CLASSES = "gives three classes and two features; a forecast has a column a class"
FROM_ONE = "gives two columns and the labels 1 and 2; such labels are named with labels="
OTHER_COLUMNS = "gives features without relation to the classes; a forecast has a column a class"

OF_A_FORECAST = {
    "check_estimators_overwrite_params": MORE_CLASSES,
    "check_estimators_fit_returns_self": MORE_CLASSES,
    "check_readonly_memmap_input": MORE_CLASSES,
    "check_classifiers_classes": MORE_CLASSES,
    "check_classifiers_train": OTHER_COLUMNS,
    "check_sample_weights_pandas_series": FROM_ONE,
    "check_sample_weights_not_an_array": FROM_ONE,
    "check_sample_weights_shape": FROM_ONE,
    "check_sample_weights_not_overwritten": FROM_ONE,
    "check_classifier_data_not_an_array": FROM_ONE,
    "check_fit2d_1feature": "gives one column and the labels 1 and 2; the positive one is not guessed",
}

WIDE = "gives three or more features; this calibrator maps one score, and ByNotion is for more"
OF_A_SCORE = OF_A_FORECAST | dict.fromkeys(
    [
        "check_fit_score_takes_y",
        "check_dont_overwrite_parameters",
        "check_n_features_in_after_fitting",
        "check_positive_only_tag_during_fit",
        "check_estimators_dtypes",
        "check_sample_weights_list",
        "check_sample_weight_equivalence_on_dense_data",
        "check_dtype_object",
        "check_pipeline_consistency",
        "check_estimators_nan_inf",
        "check_estimators_pickle",
        "check_f_contiguous_array_estimator",
        "check_supervised_y_2d",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_fit2d_1sample",
        "check_dict_unchanged",
        "check_fit2d_predict1d",
    ],
    WIDE,
)

ONE_LABEL = "gives one class and many columns; calibrating does not make it the only one predicted"

OF_ALL_BUT_SOME = {"check_classifiers_one_label": ONE_LABEL}
"""May fail: with many rows of one class some methods leave no other class any chance, and so pass."""


def of_a_calibrator(target):
    """What must fail, by what X is: one score, or a forecast of all classes."""
    return OF_A_SCORE if issubclass(target, BinaryCalibrator) else OF_A_FORECAST


CASES = {
    "classifier": (CalibratedClassifier(), {}),
    "classifier, ensemble": (CalibratedClassifier(cv=3, ensemble=True, pooling="geometric", label_smoothing=0.01), {}),
    "classifier, safe": (CalibratedClassifier(calibrator=SafeCalibrator()), {}),
    "classifier, by a word": (CalibratedClassifier(calibrator="isotonic"), {}),
    "isotonic by notion": (ByNotion(IsotonicCalibration(), input="logit"), OF_A_FORECAST),
} | {
    name: (entry.target(input="logit"), of_a_calibrator(entry.target)) for name, entry in entries("calibrator").items()
}


@pytest.mark.first(1)
@pytest.mark.parametrize("case", CASES)
def test_checks_of_scikit_learn_fail_only_where_a_forecast_is_no_table_of_features(case):
    estimator, expected = CASES[case]
    allowed = OF_ALL_BUT_SOME if expected is OF_A_FORECAST else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's checks provoke warnings on purpose
        results = check_estimator(estimator, on_skip=None, on_fail=None, expected_failed_checks=expected | allowed)
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert not failed
    really_failing = {result["check_name"] for result in results if result["status"] == "xfail"}
    assert really_failing - set(allowed) == set(expected)
    assert sum(result["status"] == "passed" for result in results) > 25


def test_scikit_learn_is_asked_about_columns_only_where_they_may_be_wrong(monkeypatch):
    prob, label = np.random.default_rng(0).dirichlet(np.ones(3), 60), np.arange(60) % 3
    fitted, named = TemperatureScaling().fit(prob, label), TemperatureScaling().fit(prob, label)
    named.feature_names_in_ = np.array(["a", "b", "c"], dtype=object)
    asked = []
    monkeypatch.setattr("calibrant.calibrators.base.validate_data", lambda *args, **options: asked.append(args[0]))
    fitted.predict_proba(prob[:1])
    assert asked == []
    named.predict_proba(prob[:1])  # an array has no names to compare
    assert asked == []
    with pytest.raises(ValueError, match="X has 2 features, but TemperatureScaling is expecting 3"):
        fitted.predict_proba(np.full((1, 2), 0.5))
    with pytest.raises(NotFittedError):
        TemperatureScaling().predict_proba(prob[:1])
