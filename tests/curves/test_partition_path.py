"""A partition path is the metric of each stage, measured as it is of any forecast."""

import numpy as np
import pytest
from matplotlib import pyplot as plt

from calibrant import brier_score_loss, log_loss
from calibrant.binning import SimplexGrid
from calibrant.calibrators import CanonicalBinning, IsotonicRecursivePartitioning, MulticlassRecursivePartitioning
from calibrant.curves import PartitionPath, partition_path, plot_partition_path
from calibrant.metrics import volume_under_surface_score

RNG = np.random.default_rng(5)
N = 60
PROB = RNG.dirichlet(np.ones(3), N)
Y = np.array([RNG.choice(3, p=p) for p in PROB])
SCORE = RNG.random(N)
OCCURRED = (RNG.random(N) < SCORE).astype(int)


class Staged:
    """A fitted calibrator of two stages: first the class rates, then half of the forecast beside them."""

    def __init__(self, classes, rate, form="probability"):
        self.classes_, self.rate, self.input = np.array(classes), np.array(rate), form
        self.staged_regions_ = np.array([1, 3])
        self.given = None

    def staged_predict_proba(self, X):
        self.given = np.asarray(X)
        prob = np.column_stack([1 - self.given, self.given]) if self.given.ndim == 1 else self.given
        if self.input == "logit":
            prob = np.exp(prob) / np.exp(prob).sum(axis=1, keepdims=True)
        yield np.tile(self.rate, (len(prob), 1))
        yield 0.5 * prob + 0.5 * self.rate


THREE = Staged([0, 1, 2], [0.2, 0.3, 0.5])


def test_each_value_is_the_metric_of_that_stage():
    path = partition_path(Y, PROB, THREE, metrics=["nll", "brier"])
    np.testing.assert_array_equal(path.n_regions, [1, 3])
    assert path.metrics == ("nll", "brier")
    for stage, calibrated in enumerate(THREE.staged_predict_proba(PROB)):
        assert path["nll"][stage] == log_loss(Y, calibrated)
        assert path["brier"][stage] == brier_score_loss(Y, calibrated)
    np.testing.assert_array_equal(path.before, [log_loss(Y, PROB), brier_score_loss(Y, PROB)])


def test_words_as_labels_are_those_of_the_calibrator():
    words = np.array(["ash", "fir", "oak"])
    named = partition_path(words[Y], PROB, Staged(words, [0.2, 0.3, 0.5]), metrics=["nll"])
    plain = partition_path(Y, PROB, THREE, metrics=["nll"])
    np.testing.assert_array_equal(named.value, plain.value)
    with pytest.raises(ValueError, match=r"classes of y_prob must be those of the calibrator, \['ash', 'fir', 'oak'\]"):
        partition_path(Y, PROB, Staged(words, [0.2, 0.3, 0.5]), metrics=["nll"])


def test_a_sequence_of_calibrators_has_a_stage_each():
    fitted = [CanonicalBinning(SimplexGrid(n), interior=False, smoothing=1.0).fit(PROB, Y) for n in (1, 2, 3)]
    path = partition_path(Y, PROB, fitted, metrics=["nll"])
    assert path.n_regions.tolist() == [len(one.value_) for one in fitted]
    assert path["nll"].tolist() == [log_loss(Y, one.predict_proba(PROB)) for one in fitted]
    assert path.calibrator == "CanonicalBinning"


REFUSED = [
    (object(), {}, TypeError, "must be fitted and have staged_predict_proba"),
    ([], {}, ValueError, "or hold some"),
    ([object()], {}, TypeError, "must be fitted and have regions"),
    (THREE, {"metrics": "nll"}, TypeError, "must be a list of names"),
    (THREE, {"metrics": []}, ValueError, "at least one metric"),
    (THREE, {"metrics": ["nllx"]}, ValueError, "Did you mean 'nll'"),
]


@pytest.mark.parametrize(("calibrator", "options", "error", "words"), REFUSED)
def test_what_cannot_be_measured_is_refused_in_words(calibrator, options, error, words):
    with pytest.raises(error, match=words):
        partition_path(Y, PROB, calibrator, **{"metrics": ["nll"]} | options)


def test_predictions_are_refused():
    with pytest.raises(ValueError, match="y_pred must be left out"):
        partition_path(Y, PROB.max(axis=1), THREE, metrics=["nll"], y_pred=PROB.argmax(axis=1))


@pytest.mark.parametrize("make", [IsotonicRecursivePartitioning, MulticlassRecursivePartitioning])
def test_the_last_stage_is_the_forecast_that_the_calibrator_makes(make):
    fitted = make(smoothing=1.0).fit(np.column_stack([1 - SCORE, SCORE]), OCCURRED)
    table = np.column_stack([1 - SCORE, SCORE])
    path = partition_path(OCCURRED, table, fitted, metrics=["nll", "vus"])
    last = fitted.predict_proba(table)
    assert path.value[-1].tolist() == [log_loss(OCCURRED, last), volume_under_surface_score(OCCURRED, last)]
    assert path.value[0, 1] == pytest.approx(0.5)


# Pictures


def path_of(shift=0.0, metrics=("nll", "vus"), before=(0.9, 0.2)):
    value = np.array([[1.1, 0.1], [0.8, 0.3], [0.7, 0.35]])[:, : len(metrics)] + shift
    symbols = tuple(name.upper() for name in metrics)
    return PartitionPath(np.array([1, 3, 5]), value, np.array(before[: len(metrics)]), metrics, symbols, "some")


def words_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_each_panel_carries_the_arrays_of_its_metric():
    path = path_of()
    axes = path.plot()
    assert len(axes) == 2
    for number, ax in enumerate(axes):
        line, before = ax.lines
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([path.n_regions, path.value[:, number]]))
        assert set(before.get_ydata()) == {path.before[number]}
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("number of regions", path.symbols[number])
    assert words_of(axes[-1]) == ["calibrated", "not calibrated"]


def test_several_have_a_colour_each_and_one_line_before_where_it_is_shared():
    axes = plot_partition_path({"a": path_of(), "b": path_of(0.1)})
    for ax in axes:
        first, second, before = ax.lines
        assert len({first.get_color(), second.get_color(), before.get_color()}) == 3
    assert words_of(axes[-1]) == ["a", "b", "not calibrated"]


def test_paths_of_several_rows_have_a_line_before_each_in_their_colours():
    axes = plot_partition_path({"fitted": path_of(), "test": path_of(0.1, before=(0.95, 0.25))})
    for ax in axes:
        *values, first, second = ax.lines
        assert [line.get_color() for line in values] == [first.get_color(), second.get_color()]
        assert (first.get_ydata()[0], second.get_ydata()[0]) != (0.0, 0.0)
    assert words_of(axes[-1]) == ["fitted", "test", "not calibrated"]


def test_what_does_not_fit_is_refused_in_words():
    with pytest.raises(ValueError, match="one Axes a metric; got 1 for 2"):
        path_of().plot(ax=plt.subplots()[1])
    with pytest.raises(ValueError, match="must have the same metrics"):
        plot_partition_path({"a": path_of(), "b": path_of(metrics=("nll",))})
    with pytest.raises(ValueError, match="at least one"):
        plot_partition_path({})
    with pytest.raises(TypeError, match="PartitionPath; got int under 'a'"):
        plot_partition_path({"a": 3})
