"""What is refused is said in four parts, what a message tells to do works, and progress bars never stand in the way."""

import sys
import warnings

import numpy as np
import pytest

import calibrant as cb
from calibrant import curves
from calibrant._core import checks as must
from calibrant.assessment import mean_ranks
from calibrant.calibrators import Mixture
from calibrant.exceptions import CalibrationWarning
from calibrant.lenses import Local
from calibrant.metrics import canonical_calibration_error, kernel_calibration_error
from calibrant.registry import entries
from calibrant.significance import by_class, by_group, hosmer_lemeshow_test, kuiper_test, paired_difference

NO_NAMES = "a must hold at least one name; got"
FALLING = np.array([[1.0, -2.0], [3.0, -4.0]])


def chosen(word):
    return must.choice("a", word, ("greater", "less"))


OF_VALUES = [
    (lambda: must.require(False, "a must be one", value=[2], hint="Pass 1"), "a must be one; got [2]. Pass 1."),
    (lambda: must.require([], "a must be one", given="b has two", hint="Pass 1"), "a must be one; b has two. Pass 1."),
    (lambda: must.each("a", FALLING, FALLING > 0, "rise", hint="Sort"), "a must rise; got -2 at index (0, 1). Sort."),
    (
        lambda: must.one_each("a", np.ones(2), 3, "share"),
        "a must hold a share for each of the 3 classes; got shape (2,). Pass them in column order.",
    ),
    (lambda: must.together(a=1, b=None), "a and b must be given together; b is missing. Pass both, or neither."),
    (lambda: must.some("a", [], "name", hint="Pass ['x']"), f"{NO_NAMES} none. Pass ['x']."),
    (lambda: must.some("a", {}, "name", hint="Pass {'x': 1}"), f"{NO_NAMES} an empty dict. Pass {{'x': 1}}."),
    (
        lambda: must.distinct_names("forecasts", [1, "1"]),
        "forecasts must have names that differ as text; got 1, '1'. Rename one of them.",
    ),
    (lambda: chosen("les"), "a must be one of 'greater', 'less'; got 'les'. Did you mean 'less'?"),
    (lambda: chosen("LESS"), "a must be one of 'greater', 'less'; got 'LESS'. Did you mean 'less'?"),
    (lambda: Mixture(3), "mixture must be a number, at least 0 and below 1; got 3. Pass 0 for none."),
]
OF_TYPES = [
    (
        lambda: must.list_of_names("a", "ece, b"),
        "a must be a list of names; got the string 'ece, b'. Pass ['ece', 'b'].",
    ),
    (lambda: must.list_of_names("a", np.array(3)), "a must be a list of names; got array(3). Pass a list."),
    (lambda: chosen(["less"]), "a must be one of 'greater', 'less'; got ['less']. Pass one of them."),
]


@pytest.mark.parametrize(
    ("error", "call", "message"), [(ValueError, *row) for row in OF_VALUES] + [(TypeError, *row) for row in OF_TYPES]
)
def test_what_is_refused_is_said_in_four_parts(error, call, message):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("values", "place"),
    [([[0.0, 0.0], [1.0, -1.0]], r"got -1\.0 at index 1, 1"), ([[0.0, float("nan")]], "got nan at index 0, 1")],
)
def test_a_number_that_does_not_fit_is_named_by_its_place(values, place):
    with pytest.raises(ValueError, match=place):
        must.numbers("x_", np.array(values), shape=(None, 2), order="rising")


# What is no option


RNG = np.random.default_rng(0)
N = 120
P = RNG.random(N)
Y = (RNG.random(N) < P).astype(int)
WORDS = np.array(["no", "yes"])[Y]
BOTH = np.column_stack([1 - P, P])
TABLE = RNG.dirichlet(np.ones(3), N)
LABEL = RNG.integers(0, 3, N)
EVENTS = (np.random.default_rng(1).random((N, 3)) < 0.4).tolist()
LOGIT = np.linspace(30.0, 60.0, N)
X = RNG.normal(size=(N, 2))
OPTION_VALUES = [
    (lambda: curves.calibration_map(lambda score: score * 5, Y, P), r"values in \[0, 1\]; got 1\.005 at index"),
    (lambda: curves.calibration_map(lambda score: score * np.nan), r"values in \[0, 1\]; got nan at index"),
    (lambda: cb.smooth_reliability_curve(Y, P, smoother="local", bandwidth=0.1), "bandwidth must be left out for a"),
    (lambda: hosmer_lemeshow_test(Y, P, n_resamples=10**30), "n_resamples must be at most 10000000; got 10{30}. 1000"),
    (lambda: cb.measure(Y, P, binning=10**30), r"binning must be at most 10000000; got 10{30}\. 10 to 20"),
    (lambda: cb.measure(Y, P, binning=-3), r"binning must be a whole number, at least 1; got -3\. 10 to 20"),
    (lambda: kuiper_test(Y, P, rng=-1), "rng must be a whole number, at least 0; got -1. Pass"),
    (lambda: entries(()), r"kind must be one of 'metric', .*; got \(\)\. Pass one"),
    (lambda: cb.log_loss(Y, P, clip=0.5), "clip must be a number, at least 0 and below 0.5; got 0.5"),
    (lambda: cb.smooth_reliability_curve(Y, P, bandwidth=2), r"at least 0\.001 and at most 1"),
    (lambda: cb.paired_test(WORDS, P, P**2), r"the probability speaks of: pos_label='no' or pos_label='yes'\."),
    (lambda: cb.PlattScaling().fit(P, WORDS), r"speaks of: labels=\['yes', 'no'\] or labels=\['no', 'yes'\]\."),
    (lambda: cb.advise(Y, P, n_folds=1), r"Pass n_folds=5\."),
    (lambda: paired_difference(Y, P, P**2, level=95), r"For 95 % intervals pass level=0\.05\."),
    (lambda: cb.equivalence_test(Y, P, bound=2), r"Pass the largest error that you accept, such as 0\.02\."),
    (lambda: Local(span=75), "span must be a number, .*; got 75. .*0.75 is usual."),
    (lambda: Local(degree=3), "degree must be at most 2; got 3. 2 is usual."),
    (lambda: Local(n_cells=2), "n_cells must be a whole number, at least 3; got 2. 512 is usual."),
    (lambda: kernel_calibration_error(Y, P, bandwidth=0.0), r"bandwidth must be a number, above 0; got 0\.0"),
    (lambda: cb.assess(Y, P, metrics=["eece"]), r"got 'eece'\. Did you mean 'ece'\?"),
    (lambda: cb.assess(Y, P, n_resamples=0), r"n_resamples must be a whole number, at least 1; got 0\. 500 is usual\."),
    (lambda: cb.scorer("eec"), r"got 'eec'\. Did you mean 'ece'\?"),
    (lambda: cb.scorer("neg_accuracy"), r"got 'neg_accuracy'\. Pass 'accuracy'\."),
    (lambda: mean_ranks({"a": [1, 2], "b": [1, 2, 3]}), "as many data sets, two or more, for each method"),
    (lambda: mean_ranks({"a": [1], "b": [1]}), "two or more"),
    (lambda: mean_ranks({"a": [1, np.nan], "b": [1, 2]}), "infinity for a failure"),
    (lambda: mean_ranks({1: [1, 2], "1": [1, 2]}), "methods"),
    (lambda: Mixture(0.1, "flat"), "prior must be one of"),
]
OPTION_TYPES = [
    (lambda: by_class("cox", Y, P), "test must be a function such as spiegelhalter_test; got 'cox'. Pass it with"),
    (lambda: by_class(lambda y, p: y, Y, P, sample_weight=P), "test must take y_true, y_prob,"),
    (lambda: by_group(lambda *rows, **data: 0.5, Y, P, Y), "test must return a TestResult; <function .*> returned"),
    (lambda: curves.plot_roc(curves.roc_curve(Y, P), panels=1), "panels must be a list of names;"),
    (lambda: canonical_calibration_error(Y, P, binning=cb.EqualMass(5)), "binning must be a whole number, a word, or"),
    (
        lambda: cb.assess(Y, P, metrics="ece"),
        r"metrics must be a list of names; got the string 'ece'\. Pass \['ece'\]\.",
    ),
    (lambda: cb.scorer("ece", binnin=3), r"'binning', .*; got 'binnin'\. Pass 'binning'\.$"),
    (lambda: cb.scorer("ece", xyzzy=3), r"got 'xyzzy'\. Pass one of them\."),
    (lambda: cb.scorer("ece", labels=["a"]), r"got 'labels'\. The estimator gives it\."),
    (lambda: cb.scorer("ece", sample_weight=[1]), r"Call set_score_request\(sample_weight=True\)\."),
    (lambda: cb.scorer(len), r"metric must be a name or a metric .* sklearn\.metrics\.make_scorer\."),
    (lambda: mean_ranks({"a": [1, 2]}), "values must be a dict of two or more methods"),
    (lambda: mean_ranks([[1, 2]]), "values must be a dict of two or more methods"),
    (lambda: mean_ranks({"a": ["x", "y"], "b": [1, 2]}), r"values\['a'\] must hold numbers"),
]


@pytest.mark.parametrize(
    ("error", "call", "words"),
    [(ValueError, *row) for row in OPTION_VALUES] + [(TypeError, *row) for row in OPTION_TYPES],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_makes_no_sense_is_refused_with_what_to_do(error, call, words):
    with pytest.raises(error, match=words):
        call()


def test_a_map_that_misses_an_end_by_rounding_is_clipped():
    found = curves.calibration_map(lambda score: score * (1 + 1e-12), resolution=3)
    assert found.panels[0].calibrated.tolist() == [0.0, 0.5 * (1 + 1e-12), 1.0]


# What errors and warnings tell to do: the first call fails, the second works


HINTS = {
    "one score": (
        ValueError,
        lambda: cb.BetaCalibration().fit(TABLE, LABEL),
        r"Say how: ByNotion\(BetaCalibration\(\), 'class-wise'\)\.",
        lambda: cb.ByNotion(cb.BetaCalibration(), "class-wise").fit(TABLE, LABEL),
    ),
    "several events a row": (
        ValueError,
        lambda: cb.log_loss(EVENTS, TABLE),
        r"an event of its own \(multilabel\): .* np\.asarray\(y_true\)\[:, k\] with np\.asarray\(y_prob\)\[:, k\]\.",
        lambda: cb.log_loss(np.asarray(EVENTS)[:, 0], np.asarray(TABLE)[:, 0]),
    ),
    "answers in other words": (
        ValueError,
        lambda: cb.paired_test(Y, BOTH, BOTH[:, ::-1], y_true_b=WORDS),
        r"got \[0, 1\] and \['no', 'yes'\]\. Write both with the same labels",
        lambda: cb.paired_test(WORDS, BOTH, BOTH[:, ::-1], y_true_b=WORDS, labels=["no", "yes"]),
    ),
    "no calibrator": (
        TypeError,
        lambda: cb.SafeCalibrator(3).fit(P, Y),
        r"Pass 'temperature', or TemperatureScaling\(\)\.",
        lambda: (cb.SafeCalibrator("temperature").fit(P, Y), cb.SafeCalibrator(cb.TemperatureScaling()).fit(P, Y)),
    ),
    "few rows": (
        CalibrationWarning,
        lambda: cb.SafeCalibrator().fit(P[:4], [0, 1, 0, 1]),
        r"Fit on more rows\.",
        lambda: cb.SafeCalibrator().fit(P, Y),
    ),
    "one class": (
        CalibrationWarning,
        lambda: cb.TemperatureScaling().fit(TABLE, np.zeros(N, dtype=int)),
        r"Fit on more rows\.",
        lambda: cb.TemperatureScaling().fit(TABLE, LABEL),
    ),
    "logits that are one probability": (
        CalibrationWarning,
        lambda: cb.HistogramBinning(input="logit").fit(LOGIT, Y),
        r"or take a method of log-odds such as PlattScaling\.",
        lambda: cb.PlattScaling(input="logit").fit(LOGIT, Y),
    ),
}


@pytest.mark.parametrize("case", HINTS)
def test_what_an_error_or_a_warning_tells_to_do_works_without_a_warning(case):
    kind, wrong, hint, right = HINTS[case]
    with (pytest.warns if kind is CalibrationWarning else pytest.raises)(kind, match=hint):
        wrong()
    with warnings.catch_warnings(action="error", category=CalibrationWarning):
        right()


# Progress bars


def test_a_bar_counts_the_items_and_is_gone_afterwards(capsys):
    pytest.importorskip("tqdm")
    assert list(must.tracked(iter("abc"), 3, show=False, desc="items", unit="item")) == ["a", "b", "c"]
    assert capsys.readouterr().err == ""  # where nobody asked
    assert list(must.tracked(range(3), 3, show=True, desc="rows mapped", unit="row")) == [0, 1, 2]
    shown = capsys.readouterr().err
    assert "rows mapped" in shown
    assert shown.rstrip("\r").endswith(" ")  # the line is wiped


def test_without_tqdm_the_work_is_done_all_the_same(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with must.progress_bar(2, show=True, desc="fit", unit="step") as advance:
        advance(1)
    assert capsys.readouterr().err == ""


def test_a_bar_is_closed_when_the_work_fails(capsys):
    pytest.importorskip("tqdm")
    with pytest.raises(KeyboardInterrupt), must.progress_bar(2, show=True, desc="fit", unit="step"):
        raise KeyboardInterrupt
    assert capsys.readouterr().err.rstrip("\r").endswith(" ")
