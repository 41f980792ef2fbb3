import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import histogram as twin
from strategies import columns, scores

from calibrant import EqualMass, EqualWidth, HistogramBinning, expected_calibration_error
from calibrant.binning import Isotonic, MonotonicSweep, PointsPerBin, Unique

# Drawn rows may all be of one class; that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore:only the class", "ignore:no calibration row")

RULES = ["midpoint", "interpolate", "base-rate", "identity"]
new_scores = st.lists(scores, min_size=1, max_size=20)
own_edges = st.lists(st.floats(0.01, 0.99), max_size=6, unique=True).map(lambda cuts: [0.0, *sorted(cuts), 1.0])


def repeated(rows):
    label, score, weight = rows
    times = weight.astype(int)
    return np.repeat(score, times).tolist(), np.repeat(label, times).tolist()


@pytest.mark.parametrize("empty", RULES)
@given(rows=columns(), edges=own_edges, new=new_scores, smoothing=st.sampled_from([0.0, 0.5, 1.0]))
def test_the_map_over_own_edges_is_what_its_definition_says(empty, rows, edges, new, smoothing):
    label, score, weight = rows
    fitted = HistogramBinning(edges, empty=empty, smoothing=smoothing).fit(score, label, weight)
    values = twin.fit(edges, *repeated(rows), empty, smoothing)
    expected = [twin.calibrated(edges, values, s) for s in new]
    np.testing.assert_allclose(fitted.calibrate(new), expected, rtol=1e-12, atol=1e-15)


@given(rows=columns(), n_bins=st.integers(1, 12), new=new_scores)
def test_the_map_over_bins_of_equal_mass_is_what_its_definition_says(rows, n_bins, new):
    label, score, weight = rows
    fitted = HistogramBinning(EqualMass(n_bins)).fit(score, label, weight)
    edges = twin.equal_mass_edges(repeated(rows)[0], n_bins)
    assert fitted.edges_.tolist() == edges
    values = twin.fit(edges, *repeated(rows), "midpoint")
    np.testing.assert_allclose(fitted.calibrate(new), [twin.calibrated(edges, values, s) for s in new], rtol=1e-12)


@given(rows=columns())
def test_a_number_means_bins_of_equal_width_and_a_word_its_binning(rows):
    label, score, weight = rows
    for short, long in [(7, EqualWidth(7)), ("equal-mass", EqualMass()), ("unique", Unique())]:
        fits = [HistogramBinning(binning).fit(score, label, weight) for binning in (short, long)]
        np.testing.assert_array_equal(fits[0].value_, fits[1].value_)
        np.testing.assert_array_equal(fits[0].edges_, fits[1].edges_)


@pytest.mark.parametrize("binning", ["equal-mass", 10, [0, 0.3, 0.9, 1], Isotonic(), MonotonicSweep(), Unique()])
@given(rows=columns())
def test_over_its_own_bins_the_fitted_rows_are_calibrated(binning, rows):
    label, score, weight = rows
    fitted = HistogramBinning(binning).fit(score, label, weight)
    prob = fitted.calibrate(score)
    for value in np.unique(prob):
        here = prob == value
        assert np.average(label[here], weights=weight[here]) == pytest.approx(value, abs=1e-12)
    assert expected_calibration_error(label, prob, sample_weight=weight, binning=Unique(), notion="binary") < 1e-12


@pytest.mark.parametrize(
    ("empty", "expected"), [("midpoint", 0.5), ("interpolate", 0.625), ("base-rate", 4 / 6), ("identity", 0.45)]
)
def test_what_a_bin_without_rows_gives(empty, expected):
    fitted = HistogramBinning([0, 0.4, 0.6, 1], empty=empty).fit([0.1, 0.2, 0.7, 0.7, 0.8, 0.9], [0, 1, 0, 1, 1, 1])
    assert fitted.value_[[0, 2]].tolist() == [0.5, 0.75]
    assert fitted.calibrate([0.45]) == pytest.approx([expected])


@given(rows=columns(weights=st.floats(0.1, 5.0)), scale=st.sampled_from([0.25, 1 / 3, 7.5]))
def test_smoothing_counts_rows_whatever_the_unit_of_the_weights(rows, scale):
    label, score, weight = rows
    weight = weight + np.pi / 100  # not whole, in either unit
    fits = [HistogramBinning(4, smoothing=1.0).fit(score, label, w) for w in (weight, weight * scale)]
    np.testing.assert_allclose(fits[0].value_, fits[1].value_, rtol=1e-9)


# Interior rows


@given(rows=columns(), k=st.integers(1, 8), new=new_scores, smoothing=st.sampled_from([0.0, 1.0]))
def test_the_map_from_interior_rows_is_what_its_definition_says(rows, k, new, smoothing):
    label, score, weight = rows
    fitted = HistogramBinning(PointsPerBin(k), interior=True, smoothing=smoothing).fit(score, label, weight)
    edges = twin.equal_mass_edges(repeated(rows)[0], max(1, int(weight.sum()) // k))
    values = twin.fit(edges, *repeated(rows), "midpoint", smoothing, interior=True)
    np.testing.assert_allclose(
        fitted.calibrate(new), [twin.calibrated(edges, values, s) for s in new], rtol=1e-12, atol=1e-15
    )


# Values apart


@given(rows=columns(), delta=st.sampled_from([1e-6, 0.1, 1.0]), seed=st.integers(0, 5), new=new_scores)
@pytest.mark.parametrize("empty", RULES)
def test_delta_moves_values_by_its_definition(empty, rows, delta, seed, new):
    label, score, weight = rows
    as_is, moved = (
        HistogramBinning(4, empty=empty, delta=d, random_state=seed).fit(score, label, weight) for d in (0.0, delta)
    )
    drawn = np.random.default_rng(seed).random(4)
    np.testing.assert_allclose(moved.value_, (as_is.value_ + delta * drawn) / (1.0 + delta), rtol=1e-15)
    shift = np.nan_to_num(moved.value_ - as_is.value_)
    assert np.abs(shift).max() <= delta
    assert moved.predict_proba(new).max() <= 1.0


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"binning": [0.1, 0.5, 1]}, ValueError, "edges must increase from 0 to 1; got"),
        ({"binning": [0, 0.5]}, ValueError, "edges must increase from 0 to 1"),
        ({"binning": [0, np.nan, 1]}, ValueError, "edges must increase from 0 to 1"),
        ({"binning": [0, 10**400]}, ValueError, "edges must increase from 0 to 1"),
        ({"binning": ["a", "b"]}, TypeError, "binning must be a number of bins, a Binning or edges"),
    ],
)
def test_what_is_no_choice_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        HistogramBinning(**options).fit([0.1, 0.9], [0, 1])
