"""Smooth reliability curves: what can be read off them, what their band covers, and where they degenerate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import smooth as reference
from strategies import columns, tables

from calibrant import integrated_calibration_index, smooth_calibration_error, smooth_reliability_curve
from calibrant.lenses import Local

smoothers = pytest.mark.parametrize("smoother", ["kernel", "local"])
METRICS = {"kernel": smooth_calibration_error, "local": integrated_calibration_index}


def simulated(rng, n, power=1.3):
    score = rng.beta(0.8, 1.5, n)
    truth = score**power
    return (rng.random(n) < truth).astype(int), score, truth


@smoothers
@given(rows=tables(), notion=st.sampled_from(["confidence", "class-wise", "top-label"]))
def test_the_error_of_the_curve_is_the_metric(smoother, rows, notion):
    label, prob, weight = rows
    data = {"sample_weight": weight, "labels": range(prob.shape[1]), "notion": notion}
    curve = smooth_reliability_curve(label, prob, smoother=smoother, **data)
    assert curve.error == pytest.approx(METRICS[smoother](label, prob, **data), abs=1e-12)


def test_a_narrow_kernel_is_read_at_every_thousandth():
    y, p, _ = simulated(np.random.default_rng(0), 400)
    score = smooth_reliability_curve(y, p, bandwidth=1e-3).panels[0].score
    assert np.diff(score).min() == pytest.approx(1e-3)


@pytest.mark.parametrize("power", [1.0, 1.3, 0.6])
def test_the_smooth_error_is_the_mean_distance_from_the_diagonal(power):
    y, p, _ = simulated(np.random.default_rng(0), 500, power)
    panel = smooth_reliability_curve(y, p).panels[0]
    assert panel.bandwidth == panel.error
    distance = np.trapezoid(panel.density * np.abs(panel.event_rate - panel.mean_prob), panel.score)
    assert distance == pytest.approx(smooth_calibration_error(y, p), abs=2e-5)
    assert np.trapezoid(panel.density, panel.score) == pytest.approx(1.0, abs=1e-6)


@settings(max_examples=20)
@given(rows=columns(max_rows=6), bandwidth=st.floats(0.02, 1.0))
def test_the_coordinates_are_means_under_the_kernel(rows, bandwidth):
    label, score, weight = rows
    panel = smooth_reliability_curve(label, score, sample_weight=weight, bandwidth=bandwidth).panels[0]
    for k in range(0, panel.score.size, 25):
        held = [w * reference.kernel(panel.score[k], p, bandwidth) for p, w in zip(score, weight, strict=True)]
        assert panel.density[k] == pytest.approx(sum(held) / weight.sum(), rel=1e-5, abs=1e-7)
        if panel.density[k] > 1e-3:
            assert panel.event_rate[k] == pytest.approx(np.average(label, weights=held), abs=1e-5)
            assert panel.mean_prob[k] == pytest.approx(np.average(score, weights=held), abs=1e-5)


@smoothers
@given(rows=columns())
def test_the_curve_rises_along_the_probability_within_its_band(smoother, rows):
    label, score, weight = rows
    panel = smooth_reliability_curve(label, score, sample_weight=weight, smoother=smoother).panels[0]
    rate = np.clip(panel.event_rate, 0, 1)
    assert panel.mean_prob.min() >= score.min() - 1e-6
    assert panel.mean_prob.max() <= score.max() + 1e-6
    assert (np.diff(panel.mean_prob) >= -1e-6).all()
    assert (panel.density > 0).all()
    assert ((panel.lower <= rate) & (rate <= panel.upper)).all()
    assert ((panel.lower >= 0) & (panel.upper <= 1)).all()


@pytest.mark.first(1)
@smoothers
@pytest.mark.parametrize("power", [1.0, 1.6])
def test_the_band_covers_the_smoothed_event_rate_at_each_place(smoother, power):
    """For a given bandwidth, on average over places: within four standard errors below, and not wildly above."""
    rng = np.random.default_rng(6)
    score = rng.beta(0.8, 1.5, 400)
    truth = score**power
    smoothed = _smooth(score, truth, smoother)
    bandwidth, covered = (None if smoother == "local" else 0.08), []
    for _ in range(250):
        y = rng.random(400) < truth
        panel = smooth_reliability_curve(y, score, smoother=smoother, bandwidth=bandwidth).panels[0]
        within = (panel.lower - 1e-9 <= smoothed) & (smoothed <= panel.upper + 1e-9)
        covered.append(np.average(within, weights=panel.density))
    standard_error = np.std(covered) / np.sqrt(len(covered))
    assert 0.95 - 0.01 - 4 * standard_error < np.mean(covered) < 0.985


def _smooth(score, truth, smoother):
    from calibrant._core.border import as_problem
    from calibrant.lenses import reflected_kernel

    if smoother == "local":
        view = Local()(as_problem(np.ones(score.size, dtype=int), score))
        return np.clip(view.look(truth[None])[0], 0, 1)
    kernel = reflected_kernel(np.linspace(0, 1, 201), score, 0.08)
    return kernel @ truth / kernel.sum(axis=1)


def test_where_all_rows_went_one_way_the_band_is_not_nothing():
    panel = smooth_reliability_curve(np.zeros(50, dtype=int), np.full(50, 0.1)).panels[0]
    top = panel.upper[panel.density.argmax()]
    assert panel.event_rate.max() == 0
    assert 0.03 < top < 0.09  # three in n is 0.06


@settings(max_examples=15)
@smoothers
@given(rows=columns())
def test_integer_weights_equal_repeated_rows(smoother, rows):
    label, score, weight = rows
    weighted = smooth_reliability_curve(label, score, sample_weight=weight, smoother=smoother).panels[0]
    times = weight.astype(int)
    repeated = smooth_reliability_curve(np.repeat(label, times), np.repeat(score, times), smoother=smoother).panels[0]
    dense = weighted.density > 1e-3 * weighted.density.max()
    assert weighted.score.size == repeated.score.size
    for name in ("score", "density", "mean_prob", "event_rate", "lower", "upper"):
        one, other = (getattr(panel, name)[dense] for panel in (weighted, repeated))
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)


def test_a_class_that_is_never_predicted_has_an_empty_panel():
    prob = [[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.9, 0.05, 0.05]]
    curve = smooth_reliability_curve([0, 1, 1], prob, notion="top-label")
    assert [panel.score.size > 0 for panel in curve.panels] == [True, True, False]
    assert np.isnan(curve.panels[2].error)
    assert curve.error == pytest.approx(smooth_calibration_error([0, 1, 1], prob, notion="top-label"))


def test_a_local_regression_of_another_kind_is_a_lens():
    y, p, _ = simulated(np.random.default_rng(1), 200)
    curve = smooth_reliability_curve(y, p, smoother=Local(span=0.5, degree=1))
    assert curve.error == integrated_calibration_index(y, p, span=0.5, degree=1)
    assert curve.smoother == "Local(span=0.5, degree=1, n_cells=512)"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"smoother": "loess"}, r"smoother must be one of 'kernel', 'local', Smooth\(\) or Local\(\); got 'loess'"),
        ({"bandwidth": 0.0}, r"bandwidth must be a number, at least 0\.001 and at most 1; got 0\.0\."),
        ({"bandwidth": 2}, r"bandwidth must be a number, at least 0\.001 and at most 1; got 2\."),
        ({"level": 95}, r"level must be a fraction in \(0, 1\); got 95"),
    ],
)
def test_options_that_mean_nothing_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        smooth_reliability_curve([0, 1], [0.2, 0.7], **options)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_a_row_a_place(backend):
    curve = smooth_reliability_curve([0, 1, 2], np.eye(3) * 0.4 + 0.2, notion="class-wise")
    frame = curve.to_frame(backend)
    columns = frame.column_names if backend == "pyarrow" else list(frame.columns)
    assert columns == ["panel", "score", "density", "mean_prob", "event_rate", "lower", "upper"]
    assert len(frame) == sum(panel.score.size for panel in curve.panels)


def test_a_curve_cannot_be_changed():
    curve = smooth_reliability_curve([0, 1], [0.2, 0.7])
    with pytest.raises(AttributeError):
        curve.level = 0.1
    with pytest.raises(ValueError, match="read-only"):
        curve.panels[0].event_rate[0] = 0.0
