"""What errors and warnings of fitting, comparing and reporting tell to do: the first call fails, the second works.

Hints about the numbers of a forecast are tried in tests/core/test_rows.py, sentences of a report in
tests/report/test_next_step.py.
"""

import warnings

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import calibrant as cb
from calibrant.exceptions import CalibrationWarning
from calibrant.report.page import summarise
from calibrant.significance import paired_difference

RNG = np.random.default_rng(0)
N = 120
P = RNG.random(N)
Y = (RNG.random(N) < P).astype(int)
WORDS = np.array(["no", "yes"])[Y]
TABLE = RNG.dirichlet(np.ones(3), N)
LABEL = RNG.integers(0, 3, N)
EVENTS = (np.random.default_rng(1).random((N, 3)) < 0.4).tolist()
LOGIT = np.linspace(30.0, 60.0, N)
X = RNG.normal(size=(N, 2))
FOUND = cb.assess(LABEL, TABLE, n_resamples=9)
ADVICE = cb.advise(LABEL, TABLE)

HINTS = {
    "one score": (
        lambda: cb.BetaCalibration().fit(TABLE, LABEL),
        r"Say how: ByNotion\(BetaCalibration\(\), 'class-wise'\)\.",
        lambda: cb.ByNotion(cb.BetaCalibration(), "class-wise").fit(TABLE, LABEL),
    ),
    "several events a row": (
        lambda: cb.log_loss(EVENTS, TABLE),
        r"an event of its own \(multilabel\): .* np\.asarray\(y_true\)\[:, k\] with np\.asarray\(y_prob\)\[:, k\]\.",
        lambda: [cb.log_loss(np.asarray(EVENTS)[:, k], np.asarray(TABLE)[:, k]) for k in range(3)],
    ),
    "one-hot rows": (
        lambda: cb.log_loss(np.eye(3)[LABEL], TABLE),
        r"If it is one-hot encoded, pass y_true\.argmax\(axis=1\)",
        lambda: cb.log_loss(np.eye(3)[LABEL].argmax(axis=1), TABLE),
    ),
    "labels that are words": (
        lambda: cb.paired_test(WORDS, P, P**2),
        r"Say which label the probability speaks of: pos_label='no' or pos_label='yes'\.",
        lambda: cb.paired_test(WORDS, P, P**2, pos_label="yes"),
    ),
    "rows in other numbers": (
        lambda: paired_difference(Y, P, TABLE[:, :2] / TABLE[:, :2].sum(axis=1, keepdims=True)),
        r"Compare forecasts of the same rows and classes\.",
        lambda: paired_difference(Y, P, P**2),
    ),
    "answers in other words": (
        lambda: cb.paired_test(Y, np.column_stack([1 - P, P]), np.column_stack([P, 1 - P]), y_true_b=WORDS),
        r"got \[0, 1\] and \['no', 'yes'\]\. Write both with the same labels",
        lambda: cb.paired_test(
            *(WORDS, np.column_stack([1 - P, P]), np.column_stack([P, 1 - P])), y_true_b=WORDS, labels=["no", "yes"]
        ),
    ),
    "no calibrator": (
        lambda: cb.SafeCalibrator(3).fit(P, Y),
        r"Pass 'temperature', or TemperatureScaling\(\)\.",
        lambda: (cb.SafeCalibrator("temperature").fit(P, Y), cb.SafeCalibrator(cb.TemperatureScaling()).fit(P, Y)),
    ),
    "no calibrator of a classifier": (
        lambda: cb.CalibratedClassifier(GaussianNB(), 3).fit(X, Y),
        r"Pass 'temperature', or TemperatureScaling\(\)\.",
        lambda: cb.CalibratedClassifier(GaussianNB(), "temperature").fit(X, Y),
    ),
    "folds of advice": (lambda: cb.advise(Y, P, n_folds=1), r"Pass n_folds=5\.", lambda: cb.advise(Y, P, n_folds=5)),
    "level": (
        lambda: paired_difference(Y, P, P**2, level=95),
        r"For a 95 % interval pass level=0\.05\.",
        lambda: paired_difference(Y, P, P**2, level=0.05),
    ),
    "sides": (
        lambda: cb.paired_test(Y, P, P**2, alternative="smaller"),
        r"alternative must be one of 'greater', 'less', 'two-sided'; got 'smaller'\. Pass one of them\.",
        lambda: cb.paired_test(Y, P, P**2, alternative="less"),
    ),
    "metrics of a report": (
        lambda: summarise({"a": cb.assess(LABEL, TABLE, metrics=["nll"], n_resamples=9)}),
        r"was assessed without accuracy, ece\. Add them to metrics=\.",
        lambda: summarise({"a": cb.assess(LABEL, TABLE, metrics=["nll", "accuracy", "ece"], n_resamples=9)}),
    ),
    "whose advice": (
        lambda: summarise({"a": FOUND, "b": FOUND}, advice=ADVICE),
        r"Pass {'name': advise\(\.\.\.\)}\.",
        lambda: summarise({"a": FOUND, "b": FOUND}, advice={"a": ADVICE}),
    ),
    "bound": (
        lambda: cb.equivalence_test(Y, P, bound=2),
        r"Pass the largest error that you accept, such as 0\.02\.",
        lambda: cb.equivalence_test(Y, P, bound=0.02),
    ),
}

WARNINGS = {
    "few rows": (
        lambda: cb.SafeCalibrator().fit(P[:4], [0, 1, 0, 1]),
        r"Fit on more rows\.",
        lambda: cb.SafeCalibrator().fit(P, Y),
    ),
    "one class": (
        lambda: cb.TemperatureScaling().fit(TABLE, np.zeros(N, dtype=int)),
        r"Fit on more rows\.",
        lambda: cb.TemperatureScaling().fit(TABLE, LABEL),
    ),
    "logits that are one probability": (
        lambda: cb.HistogramBinning(input="logit").fit(LOGIT, Y),
        r"or take a method of log-odds such as PlattScaling\.",
        lambda: cb.PlattScaling(input="logit").fit(LOGIT, Y),
    ),
}


@pytest.mark.parametrize("case", HINTS)
def test_what_an_error_tells_to_do_works(case):
    wrong, hint, right = HINTS[case]
    with pytest.raises((ValueError, TypeError), match=hint):
        wrong()
    with warnings.catch_warnings():
        warnings.simplefilter("error", CalibrationWarning)
        right()


@pytest.mark.parametrize("case", WARNINGS)
def test_what_a_warning_tells_to_do_leaves_no_warning(case):
    wrong, hint, right = WARNINGS[case]
    with pytest.warns(CalibrationWarning, match=hint):
        wrong()
    with warnings.catch_warnings():
        warnings.simplefilter("error", CalibrationWarning)
        right()
