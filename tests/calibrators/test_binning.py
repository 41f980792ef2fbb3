"""Histogram binning, scaling-binning and Bayesian binning into quantiles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import bbq, histogram, scaling_binning
from strategies import columns, repeated, scores

from calibrant import EqualMass, HistogramBinning, IsotonicCalibration, PlattScaling
from calibrant._core.border import as_problem
from calibrant.binning import Isotonic, MonotonicSweep, PointsPerBin, Unique
from calibrant.binning.bins import Ordered
from calibrant.calibrators import BayesianBinning, BinaryCalibrator, ScalingBinning
from calibrant.calibrators import binning as bayesian

# Drawn rows may all be of one class, and be separable; that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings(
    "ignore:only the class", "ignore:no calibration row", "ignore::sklearn.exceptions.ConvergenceWarning"
)


RULES = ["midpoint", "interpolate", "base-rate", "identity"]
new_scores = st.lists(scores, min_size=1, max_size=20)
own_edges = st.lists(st.floats(0.01, 0.99), max_size=6, unique=True).map(lambda cuts: [0.0, *sorted(cuts), 1.0])


def fit(calibrator, rows):
    label, score, weight = rows
    return calibrator.fit(score, label, weight)


def lists(rows):
    label, score, _ = repeated(rows)
    return score.tolist(), label.tolist()


def require_the_map(fitted, rows, new, edges, empty="midpoint", smoothing=0.0, **options):
    values = histogram.fit(edges, *lists(rows), empty, smoothing, **options)
    expected = [histogram.calibrated(edges, values, s) for s in new]
    np.testing.assert_allclose(fitted.calibrate(new), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("empty", RULES)
@given(rows=columns(), edges=own_edges, new=new_scores, smoothing=st.sampled_from([0.0, 0.5, 1.0]))
def test_the_map_over_own_edges_is_what_its_definition_says(empty, rows, edges, new, smoothing):
    fitted = fit(HistogramBinning(edges, empty=empty, smoothing=smoothing), rows)
    require_the_map(fitted, rows, new, edges, empty, smoothing)


@given(rows=columns(), k=st.integers(1, 8), new=new_scores, smoothing=st.sampled_from([0.0, 1.0]))
def test_the_map_from_interior_rows_is_what_its_definition_says(rows, k, new, smoothing):
    fitted = fit(HistogramBinning(PointsPerBin(k), interior=True, smoothing=smoothing), rows)
    edges = histogram.equal_mass_edges(lists(rows)[0], max(1, int(rows[2].sum()) // k))
    require_the_map(fitted, rows, new, edges, smoothing=smoothing, interior=True)


@pytest.mark.parametrize("binning", ["equal-mass", 10, [0, 0.3, 0.9, 1], Isotonic(), MonotonicSweep(), Unique()])
@given(rows=columns())
def test_over_its_own_bins_the_fitted_rows_are_calibrated(binning, rows):
    label, score, weight = rows
    prob = fit(HistogramBinning(binning), rows).calibrate(score)
    for value in np.unique(prob):
        here = prob == value
        assert np.average(label[here], weights=weight[here]) == pytest.approx(value, abs=1e-12)


@given(rows=columns(weights=st.floats(0.1, 5.0)), scale=st.sampled_from([0.25, 1 / 3, 7.5]))
def test_smoothing_counts_rows_whatever_the_unit_of_the_weights(rows, scale):
    label, score, weight = rows
    weight = weight + np.pi / 100  # not whole, in either unit
    one, other = (HistogramBinning(4, smoothing=1.0).fit(score, label, w) for w in (weight, weight * scale))
    np.testing.assert_allclose(one.value_, other.value_, rtol=1e-9)


@given(rows=columns(), delta=st.sampled_from([1e-6, 0.1, 1.0]), seed=st.integers(0, 5), new=new_scores)
@pytest.mark.parametrize("empty", RULES)
def test_delta_moves_values_by_its_definition(empty, rows, delta, seed, new):
    as_is, moved = (fit(HistogramBinning(4, empty=empty, delta=d, random_state=seed), rows) for d in (0.0, delta))
    drawn = np.random.default_rng(seed).random(4)
    np.testing.assert_allclose(moved.value_, (as_is.value_ + delta * drawn) / (1.0 + delta), rtol=1e-15)
    assert moved.predict_proba(new).max() <= 1.0


@pytest.mark.parametrize("binning", [[0.1, 0.5, 1], [0, 0.5], [0, np.nan, 1], [0, 10**400], ["a", "b"]])
def test_what_are_no_edges_is_refused(binning):
    message = r"edges must increase from 0 to 1; got|binning must be a number of bins, a Binning or edges"
    with pytest.raises(TypeError if binning == ["a", "b"] else ValueError, match=message):
        HistogramBinning(binning).fit([0.1, 0.9], [0, 1])


# Scaling-binning


class Square(BinaryCalibrator):
    """A map without parameters, whose values are known."""

    def _fit(self, problem):
        self.rows_ = problem.size

    def _apply(self, score):
        return score**2


class Tent(Square):
    """A map that goes up and down."""

    def _apply(self, score):
        return 1 - 2 * np.abs(score - 0.5)


@pytest.mark.parametrize("inner", [Square(), Tent(), IsotonicCalibration()], ids=["rising", "up and down", "isotonic"])
@given(rows=columns(), n_bins=st.integers(1, 12), new=new_scores)
def test_the_map_over_bins_of_its_values_is_what_its_definition_says(inner, rows, n_bins, new):
    fitted = fit(ScalingBinning(inner, n_bins=n_bins), rows)
    values, mapped = (fitted.calibrator_._apply(np.array(score)) for score in (lists(rows)[0], new))
    edges, means = scaling_binning.fit(values.tolist(), n_bins)
    assert fitted.edges_.tolist() == edges
    expected = [scaling_binning.calibrated(edges, means, g) for g in mapped.tolist()]
    np.testing.assert_allclose(fitted.calibrate(new), expected, rtol=1e-12)


def test_logits_reach_the_map_as_they_are():
    logit, label = np.array([100.0, 200.0, 300.0, 400.0]), [0, 0, 1, 1]
    expected = PlattScaling(input="logit").fit(logit, label).calibrate(logit)
    assert (np.diff(expected) > 0.1).any()
    np.testing.assert_allclose(ScalingBinning(input="logit").fit(logit, label).calibrate(logit), expected, rtol=1e-12)


# Bayesian binning


@given(
    rows=columns(), new=new_scores, spread=st.sampled_from([1.0, 2.0, 10.0]), prior_rows=st.sampled_from([0.5, 2, 20])
)
def test_the_map_is_the_average_of_all_binnings_that_its_definition_says(rows, new, spread, prior_rows):
    models = bbq.fit(*lists(rows), spread, prior_rows)
    fitted = fit(BayesianBinning(spread=spread, prior_rows=prior_rows), rows)
    expected = [bbq.calibrated(models, s) for s in new]
    np.testing.assert_allclose(fitted.calibrate(new), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fitted.model_weight_, [w for _, _, w in models], rtol=1e-8)
    assert fitted.n_bins_.tolist() == [len(values) for _, values, _ in models]


uneven = st.lists(st.sampled_from([1, 2, 7, 10**6, 10**9]), min_size=1, max_size=8).map(np.array)


def ordered(weight):
    rows = np.arange(1, len(weight) + 1) / (len(weight) + 1)
    return Ordered.of(as_problem(np.arange(len(weight)) % 2, rows, sample_weight=weight, labels=[0, 1]))


@given(weight=uneven, size=st.integers(1, 10**5))
def test_binnings_are_those_of_equal_mass_however_heavy_the_rows(weight, size):
    rows, size = ordered(weight), min(size, int(weight.sum()))
    *inner, last = rows.score[next(bayesian._binnings(rows, range(size, size + 1)))].tolist()
    assert last == rows.score[-1]
    # Above the highest score there can be a bin more, without rows.
    assert inner == [cut for cut in EqualMass(size).cut(rows)[1:-1].tolist() if cut < last]


@given(weight=st.lists(st.integers(1, 40), min_size=1, max_size=6).map(np.array))
def test_sizes_that_are_not_tried_would_add_no_binning(weight):
    rows = ordered(weight)
    tried = bayesian._sizes(rows, 1e9)
    assert tried.stop - 1 <= weight.sum()
    everything = [last.tolist() for last in bayesian._binnings(rows, range(1, int(weight.sum()) + 1))]
    assert [last.tolist() for last in bayesian._binnings(rows, tried)] == everything
