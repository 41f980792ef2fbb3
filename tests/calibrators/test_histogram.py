import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import histogram as twin
from strategies import columns, scores

from calibrant import (
    ByNotion,
    CrossValidatedBins,
    EqualMass,
    EqualWidth,
    HistogramBinning,
    Isotonic,
    IsotonicCalibrator,
    MonotonicSweep,
    Unique,
    expected_calibration_error,
    load_calibrator,
    save_calibrator,
)

# Drawn rows may all be of one class; that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore:only the class")

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


@pytest.mark.parametrize(
    "binning", ["equal-mass", 10, [0, 0.3, 0.9, 1], Isotonic(), MonotonicSweep(), CrossValidatedBins(), Unique()]
)
@given(rows=columns())
def test_over_its_own_bins_the_fitted_rows_are_calibrated(binning, rows):
    label, score, weight = rows
    fitted = HistogramBinning(binning).fit(score, label, weight)
    prob = fitted.calibrate(score)
    for value in np.unique(prob):
        here = prob == value
        assert np.average(label[here], weights=weight[here]) == pytest.approx(value, abs=1e-12)
    assert expected_calibration_error(label, prob, sample_weight=weight, binning=Unique(), notion="binary") < 1e-12


@given(rows=columns(weights=st.floats(0.1, 5.0)))
def test_over_isotonic_blocks_it_is_isotonic_regression_on_the_fitted_rows(rows):
    label, score, weight = rows
    np.testing.assert_allclose(
        HistogramBinning(Isotonic()).fit(score, label, weight).calibrate(score),
        IsotonicCalibrator().fit(score, label, weight).calibrate(score),
        rtol=1e-9,
        atol=1e-12,
    )


@given(rows=columns(), n_bins=st.integers(1, 20))
def test_rows_are_counted(rows, n_bins):
    label, score, weight = rows
    fitted = HistogramBinning(n_bins).fit(score, label, weight)
    edges = fitted.edges_.tolist()
    assert fitted.count_.tolist() == np.bincount([twin.bin_of(edges, s) for s in score], minlength=n_bins).tolist()


def test_a_score_on_an_edge_belongs_to_the_bin_below():
    fitted = HistogramBinning([0, 0.5, 1]).fit([0.0, 0.5, 0.6, 1.0], [0, 0, 1, 1])
    assert fitted.calibrate([0.0, 0.5, np.nextafter(0.5, 1), 1.0]).tolist() == [0.0, 0.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("empty", "expected"), [("midpoint", 0.5), ("interpolate", 0.625), ("base-rate", 4 / 6), ("identity", 0.45)]
)
def test_what_a_bin_without_rows_gives(empty, expected):
    fitted = HistogramBinning([0, 0.4, 0.6, 1], empty=empty).fit([0.1, 0.2, 0.7, 0.7, 0.8, 0.9], [0, 1, 0, 1, 1, 1])
    assert fitted.value_[[0, 2]].tolist() == [0.5, 0.75]
    assert fitted.calibrate([0.45]) == pytest.approx([expected])


def test_smoothing_leaves_empty_bins_to_their_rule():
    fitted = HistogramBinning([0, 0.5, 1], smoothing=1.0).fit([0.1, 0.2, 0.3], [1, 1, 1])
    assert fitted.value_ == pytest.approx([0.8, 0.75])


@given(rows=columns(weights=st.floats(0.1, 5.0)), scale=st.sampled_from([0.25, 1 / 3, 7.5]))
def test_smoothing_counts_rows_whatever_the_unit_of_the_weights(rows, scale):
    label, score, weight = rows
    weight = weight + np.pi / 100  # not whole, in either unit
    fits = [HistogramBinning(4, smoothing=1.0).fit(score, label, w) for w in (weight, weight * scale)]
    np.testing.assert_allclose(fits[0].value_, fits[1].value_, rtol=1e-9)


@given(rows=columns(), smoothing=st.sampled_from([1e-3, 0.5, 1.0]))
def test_smoothing_keeps_the_log_loss_finite(rows, smoothing):
    label, score, weight = rows
    prob = HistogramBinning(smoothing=smoothing).fit(score, label, weight).predict_proba(score)
    assert prob.min() > 0


@pytest.mark.parametrize(("smoothing", "weight"), [(1.0, 1e17), (1e-300, 1.0)])
def test_smoothing_that_rounding_would_lose_keeps_new_scores_in_bins_with_rows_off_0_and_1(smoothing, weight):
    fitted = HistogramBinning([0, 0.5, 1], smoothing=smoothing).fit([0.2, 0.7], [0, 1], [weight, weight])
    assert fitted.predict_proba([0.0, 1.0]).min() == pytest.approx(1e-12, rel=1e-3, abs=0)


def test_smoothing_leaves_a_score_in_an_empty_bin_as_certain_as_it_is_where_identity_is_asked_for():
    fitted = HistogramBinning([0, 0.5, 1], empty="identity", smoothing=1.0).fit([0.1, 0.2], [0, 1])
    assert fitted.calibrate([0.0, 1.0]).tolist() == [0.5, 1.0]


def test_no_smoothing_is_so_large_that_it_overflows():
    fitted = HistogramBinning([0, 1], smoothing=1e15).fit([0.1, 0.2], [1, 1])
    assert fitted.value_ == pytest.approx([0.5])


@pytest.mark.parametrize("edges", [[0, 1], (0.0, 0.3, 1.0), np.array([0.0, 0.25, 0.5, 1.0])])
@pytest.mark.parametrize("empty", RULES)
def test_own_edges_and_the_rule_for_empty_bins_are_saved(edges, empty, tmp_path):
    fitted = HistogramBinning(edges, empty=empty).fit([0.1, 0.2], [0, 1])
    save_calibrator(fitted, tmp_path / "c.json")
    new = np.linspace(0, 1, 51)
    np.testing.assert_array_equal(load_calibrator(tmp_path / "c.json").calibrate(new), fitted.calibrate(new))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"binning": [0.1, 0.5, 1]}, ValueError, "edges must increase from 0 to 1; got"),
        ({"binning": [0, 0.5, 0.5, 1]}, ValueError, "edges must increase from 0 to 1"),
        ({"binning": [0, 0.5]}, ValueError, "edges must increase from 0 to 1"),
        ({"binning": [[0, 1]]}, ValueError, "edges must increase from 0 to 1"),
        ({"binning": [0, np.nan, 1]}, ValueError, "edges must increase from 0 to 1"),
        ({"binning": ["a", "b"]}, TypeError, "binning must be a number of bins, a Binning or edges"),
        ({"binning": None}, ValueError, "edges must increase from 0 to 1"),
        ({"binning": "equal-mas"}, ValueError, "Did you mean 'equal-mass'"),
        ({"binning": 0}, ValueError, "n_bins must be at least 1"),
        ({"empty": "zero"}, ValueError, "empty must be one of 'midpoint', 'interpolate'"),
        ({"empty": []}, TypeError, r"empty must be one of .*; got \[\]"),
        ({"empty": None}, TypeError, "empty must be one of .*; got None"),
        ({"smoothing": -1}, ValueError, "smoothing must be a number, at least 0"),
        ({"smoothing": np.inf}, ValueError, "smoothing must be a number, at least 0"),
        ({"smoothing": "x"}, TypeError, "smoothing must be a number, at least 0 .*; got 'x'"),
        ({"smoothing": True}, TypeError, "smoothing must be a number, at least 0 .*; got True"),
    ],
)
def test_what_is_no_choice_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        HistogramBinning(**options).fit([0.1, 0.9], [0, 1])


def test_class_wise_it_calibrates_each_class():
    rng = np.random.default_rng(0)
    prob = rng.dirichlet(np.ones(3), 300)
    label = (rng.random((300, 1)) > prob.cumsum(axis=1)).sum(axis=1)
    raw = ByNotion(HistogramBinning(10), "class-wise", normalize=False).fit(prob, label).predict_proba(prob)
    for j in range(3):
        alone = HistogramBinning(10).fit(prob[:, j], label == j).calibrate(prob[:, j])
        np.testing.assert_array_equal(raw[:, j], alone)
