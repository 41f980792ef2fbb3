"""CORP curves and smooth ones: definitions, what can be read off them, what their bands cover, and what is drawn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.patches import StepPatch
from reference import isotonic, simultaneous
from reference import smooth as reference
from scipy.special import expit, logit
from scipy.stats import binom
from strategies import columns, tables

import calibrant as cb
from calibrant import corp_curve, load_digits_forecast
from calibrant._core.border import as_problem
from calibrant.curves import plot_corp
from calibrant.curves.corp import MOST_PLACES, places_shown, simultaneous_band
from calibrant.drawing import DIAGONAL
from calibrant.lenses import Local, reflected_kernel
from calibrant.metrics import calibration_intercept, calibration_slope, corp_decomposition

BANDS = ["consistency", "confidence", "simultaneous"]
each_band = pytest.mark.parametrize("band", BANDS)
Y, PROB = (of[:300] for of in load_digits_forecast())


@given(rows=columns())
def test_the_curve_is_the_isotonic_regression_and_its_steps_are_the_fit_without_repetition(rows):
    label, score, weight = rows
    panel = corp_curve(label, score, sample_weight=weight, band=None).panels[0]
    distinct, values = isotonic.fit(score.tolist(), label.tolist(), weight.tolist())
    assert panel.score.tolist() == distinct
    assert panel.fit == pytest.approx(values, abs=1e-12)
    assert np.isnan([panel.lower, panel.upper]).all()
    assert (np.diff(panel.rate) > 0).all()
    assert (panel.left <= panel.right).all()
    assert (panel.right[:-1] < panel.left[1:]).all()
    np.testing.assert_array_equal(panel.rate[np.searchsorted(panel.right, panel.score)], panel.fit)
    assert panel.weight.sum() == weight.sum()


@each_band
@given(rows=tables())
def test_bands_lie_between_zero_and_one_and_confidence_bands_hold_the_curve(band, rows):
    label, prob, weight = rows
    for panel in corp_curve(label, prob, notion="class-wise", band=band, n_resamples=5, sample_weight=weight).panels:
        ends = [0.0 * panel.fit, panel.lower, *([panel.fit] if band != "consistency" else []), panel.upper]
        assert (np.diff([*ends, np.ones(panel.fit.size)], axis=0) >= 0).all()


def truth(p, temperature):
    return expit(np.log(p / (1 - p)) / temperature)


def drawn(rng, n, temperature):
    p = expit(rng.normal(0.0, 2.0, n))
    return (rng.random(n) < truth(p, temperature)).astype(int), p


def test_at_calibration_the_curve_lies_in_the_consistency_band_as_often_as_promised():
    """Pointwise, on average over scores: 95 % within four standard errors between data sets, and 1 % for 200 draws."""
    rng, shares = np.random.default_rng(0), []
    for run in range(100):
        panel = corp_curve(*drawn(rng, 200, 1.0), n_resamples=200, rng=run).panels[0]
        shares.append(((panel.lower <= panel.fit) & (panel.fit <= panel.upper)).mean())
    assert abs(np.mean(shares) - 0.95) < 0.01 + 4 * np.std(shares) / 10


@pytest.mark.first(1)
@pytest.mark.parametrize("temperature", [1.0, 2.0, 1e9], ids=["calibrated", "over-confident", "flat"])
def test_true_probabilities_lie_in_the_confidence_bands(temperature):
    """Pointwise, on average over scores, at least 95 %, and all at once in the simultaneous band; four standard errors off."""
    rng, pointwise, at_once = np.random.default_rng(0), [], []
    for run in range(60):
        data = drawn(rng, 200, temperature)
        panel = corp_curve(*data, band="confidence", n_resamples=200, rng=run).panels[0]
        c = truth(panel.score, temperature)
        pointwise.append(((panel.lower <= c) & (c <= panel.upper)).mean())
        panel = corp_curve(*data, band="simultaneous").panels[0]
        at_once.append(((panel.lower <= c) & (c <= panel.upper)).all())
    assert np.mean(pointwise) > 0.95 - 4 * np.std(pointwise) / np.sqrt(60)
    assert np.mean(at_once) > 0.95 - 4 * np.sqrt(0.95 * 0.05 / 60)


def test_a_panel_knows_what_its_squared_error_is_made_of():
    for notion in ("confidence", "class-wise"):
        found = corp_decomposition(Y, PROB, notion=notion)
        panels = corp_curve(Y, PROB, notion=notion, band=None).panels
        for name in ("miscalibration", "discrimination", "uncertainty"):
            assert np.mean([getattr(p, name) for p in panels]) == pytest.approx(found[name], rel=1e-12)
        assert np.mean([p.brier for p in panels]) == pytest.approx(found.total, rel=1e-12)


def test_of_many_scores_the_band_stands_at_some_that_are_spread_over_ranks_and_scores():
    score = np.sort(np.random.default_rng(0).random(50_000) ** 8)
    at = places_shown(score)
    assert at.size <= MOST_PLACES
    assert (at[0], at[-1]) == (0, score.size - 1)
    assert np.diff(at).max() <= 51
    assert np.diff(score[at]).max() < 0.002
    np.testing.assert_array_equal(places_shown(score[:MOST_PLACES]), np.arange(MOST_PLACES))


@each_band
def test_the_band_at_some_scores_is_the_band_at_all_of_them(band, monkeypatch):
    y, p = drawn(np.random.default_rng(0), 300, 1.5)
    whole = corp_curve(y, p, band=band, n_resamples=50).panels[0]
    monkeypatch.setattr("calibrant.curves.corp.MOST_PLACES", 40)
    some = corp_curve(y, p, band=band, n_resamples=50).panels[0]
    at = np.searchsorted(whole.score, some.score)
    for name in ("score", "fit", "lower", "upper"):
        np.testing.assert_array_equal(getattr(some, name), getattr(whole, name)[at])


def curve(**options):
    return corp_curve(Y, PROB, n_resamples=20, **options)


def fits(ax):
    """Lines of fits: neither the diagonal nor what stands in the legend only."""
    return [line for line in ax.lines if line.get_label() != DIAGONAL and line.get_xdata().size]


@pytest.mark.parametrize("of", ["kernel", "local", "logistic", "bins"])
def test_bands_of_uneven_weights_cover(of):
    """Of a calibrated forecast; with weights in place of rows they missed in 17 to 25 %."""
    missed = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        p, weight = rng.random(400), np.exp(rng.normal(size=400))
        data, smooth = (
            {"y_true": rng.random(400) < p, "y_prob": p, "sample_weight": weight},
            cb.smooth_reliability_curve,
        )
        curve = cb.reliability_curve(**data, binning=5) if of == "bins" else smooth(**data, smoother=of)
        (panel,) = curve.panels
        mean = panel.bins.mean_prob if of == "bins" else panel.mean_prob
        at = np.abs(mean - 0.5).argmin()
        missed += not panel.lower[at] <= mean[at] <= panel.upper[at]
    assert missed <= binom.ppf(0.999, 60, 0.05)


def test_the_band_of_the_logistic_curve_is_that_of_the_sandwich():
    rng = np.random.default_rng(0)
    p, weight = rng.uniform(0.05, 0.95, 300), rng.uniform(0.1, 1.0, 300)
    weight, y = weight * p**2, rng.random(300) < p
    (panel,) = cb.smooth_reliability_curve(y, p, smoother="logistic", sample_weight=weight).panels
    X, at = (np.stack([np.ones(of.size), logit(of)]) for of in (p, panel.score))
    a, b = (fit(y, p, sample_weight=weight) for fit in (calibration_intercept, calibration_slope))
    bread, meat = ((X * w * (r := expit(a + b * X[1])) * (1 - r)) @ X.T for w in (weight, weight**2))
    error = np.sqrt(np.einsum("ik,ij,jk->k", at, np.linalg.inv(bread) @ meat @ np.linalg.inv(bread), at))
    np.testing.assert_allclose(logit(panel.upper) - logit(panel.event_rate), 1.959964 * error, rtol=1e-5)


def bands(ax):
    return [c for c in ax.collections if isinstance(c, PolyCollection)]


def below(ax):
    others = [*ax.child_axes, *(a for a in ax.figure.axes if a is not ax)]
    return next(a for a in others if any(isinstance(p, StepPatch) for p in a.patches))


def words(ax):
    legend = ax.get_legend()
    return [] if legend is None else [legend.get_title().get_text(), *(text.get_text() for text in legend.get_texts())]


def shows(ax, panel, number=0):
    """Assert that the artists of one curve carry the arrays of its panel."""
    x, y = np.column_stack([panel.left, panel.right]).ravel(), np.repeat(panel.rate, 2)
    np.testing.assert_array_equal(fits(ax)[number].get_xydata(), np.column_stack([x, y]))
    blocks = [c for c in ax.collections if isinstance(c, LineCollection)][number]
    np.testing.assert_array_equal(np.array(blocks.get_segments()).reshape(-1, 2), np.column_stack([x, y]))
    stairs = below(ax).patches[number].get_data()
    np.testing.assert_array_equal(stairs.values, panel.histogram.count)
    np.testing.assert_array_equal(stairs.edges, panel.histogram.edges)


def corners(ax, number=0):
    return {tuple(corner) for corner in bands(ax)[number].get_paths()[0].vertices}


@pytest.mark.parametrize("band", ["consistency", "confidence"])
def test_the_artists_carry_exactly_the_arrays_of_the_result(band):
    found = curve(band=band)
    ax, panel = found.plot(), found.panels[0]
    shows(ax, panel)
    for ends in (panel.lower, panel.upper):
        assert set(zip(panel.score, ends, strict=True)) <= corners(ax)


def test_a_simultaneous_lower_bound_holds_on_to_the_next_score_and_an_upper_one_from_the_one_before():
    found = curve(band="simultaneous")
    ax, panel = found.plot(), found.panels[0]
    shows(ax, panel)
    score, lower, upper = panel.score, panel.lower, panel.upper
    for x, end in ((score, lower), (score[1:], lower[:-1]), (score, upper), (score[:-1], upper[1:])):
        assert set(zip(x, end, strict=True)) <= corners(ax)


def test_every_class_has_a_panel_with_its_name_and_terms():
    found = curve(notion="class-wise")
    for ax, panel in zip(found.plot(), found.panels, strict=True):
        shows(ax, panel)
        assert ax.get_title() == panel.name
        assert ax.texts[0].get_text() == f"MCB {panel.miscalibration:.4f}\nDSC {panel.discrimination:.4f}"


def test_the_legend_says_what_the_band_is_and_what_the_score_is_made_of():
    found = curve(band="simultaneous")
    panel = found.panels[0]
    terms = f"MCB {panel.miscalibration:.4f}   DSC {panel.discrimination:.4f}   UNC {panel.uncertainty:.4f}"
    assert words(found.plot()) == [terms, DIAGONAL, "95% confidence at all scores", "isotonic fit"]


def test_forecasts_are_drawn_over_each_other_with_their_terms():
    curves = {"before": curve(), "after": corp_curve(Y, 0.5 * PROB + 0.05, n_resamples=20)}
    ax = plot_corp(curves)
    for number, found in enumerate(curves.values()):
        shows(ax, found.panels[0], number)
    assert fits(ax)[0].get_color() != fits(ax)[1].get_color()
    panels = [found.panels[0] for found in curves.values()]
    terms = [f"MCB {panel.miscalibration:.4f}, DSC {panel.discrimination:.4f}" for panel in panels]
    assert words(ax)[1:] == [DIAGONAL, f"before: {terms[0]}", f"after: {terms[1]}"]


@pytest.mark.parametrize("options", [{"band": False}, {"histogram": False}])
def test_band_and_histogram_can_be_left_out(options):
    ax = curve().plot(**options)
    assert bool(bands(ax)) == options.get("band", True)
    assert bool(ax.child_axes) == options.get("histogram", True)


@given(
    rows=st.lists(st.tuples(st.integers(1, 30), st.floats(0, 1)), min_size=1, max_size=40),
    level=st.sampled_from([0.5, 0.05, 0.001]),
)
def test_the_bounds_are_those_of_all_intervals_one_at_a_time(rows, level):
    count, events = [n for n, _ in rows], [round(share * n) for n, share in rows]
    found = simultaneous_band(np.array(count, dtype=float), np.array(events, dtype=float), level)
    np.testing.assert_allclose(found, simultaneous.band(count, events, level), rtol=1e-6, atol=1e-12)


METRICS = {"kernel": cb.smooth_calibration_error, "local": cb.integrated_calibration_index}
smoothers = pytest.mark.parametrize("smoother", METRICS)


@smoothers
@given(rows=tables(), notion=st.sampled_from(["confidence", "class-wise", "top-label"]))
def test_the_error_of_the_curve_is_the_metric(smoother, rows, notion):
    label, prob, weight = rows
    data = {"sample_weight": weight, "labels": range(prob.shape[1]), "notion": notion}
    curve = cb.smooth_reliability_curve(label, prob, smoother=smoother, **data)
    assert curve.error == pytest.approx(METRICS[smoother](label, prob, **data), abs=1e-12)


@settings(max_examples=20)
@given(rows=columns(max_rows=6), bandwidth=st.floats(0.02, 1.0))
def test_the_coordinates_are_means_under_the_kernel(rows, bandwidth):
    label, score, weight = rows
    panel = cb.smooth_reliability_curve(label, score, sample_weight=weight, bandwidth=bandwidth).panels[0]
    for k in range(0, panel.score.size, 25):
        held = [w * reference.kernel(panel.score[k], p, bandwidth) for p, w in zip(score, weight, strict=True)]
        assert panel.density[k] == pytest.approx(sum(held) / weight.sum(), rel=1e-5, abs=1e-7)
        if panel.density[k] > 1e-3:
            assert panel.event_rate[k] == pytest.approx(np.average(label, weights=held), abs=1e-5)
            assert panel.mean_prob[k] == pytest.approx(np.average(score, weights=held), abs=1e-5)


@pytest.mark.first(1)
@smoothers
@pytest.mark.parametrize("power", [1.0, 1.6])
def test_the_band_covers_the_smoothed_event_rate_at_each_place(smoother, power):
    """For a given bandwidth, on average over places: within four standard errors below, and not wildly above."""
    rng = np.random.default_rng(6)
    score = rng.beta(0.8, 1.5, 400)
    truth = score**power
    if smoother == "local":
        view = Local()(as_problem(np.ones(score.size, dtype=int), score))
        smoothed = np.clip(view.look(truth[None])[0], 0, 1)
    else:
        kernel = reflected_kernel(np.linspace(0, 1, 201), score, 0.08)
        smoothed = kernel @ truth / kernel.sum(axis=1)
    bandwidth, covered = (None if smoother == "local" else 0.08), []
    for _ in range(250):
        y = rng.random(400) < truth
        panel = cb.smooth_reliability_curve(y, score, smoother=smoother, bandwidth=bandwidth).panels[0]
        within = (panel.lower - 1e-9 <= smoothed) & (smoothed <= panel.upper + 1e-9)
        covered.append(np.average(within, weights=panel.density))
    standard_error = np.std(covered) / np.sqrt(len(covered))
    assert 0.95 - 0.01 - 4 * standard_error < np.mean(covered) < 0.985


def test_a_local_regression_of_another_kind_is_a_lens():
    curve = cb.smooth_reliability_curve(Y == 3, PROB[:, 3], smoother=Local(span=0.5, degree=1))
    assert curve.error == cb.integrated_calibration_index(Y == 3, PROB[:, 3], span=0.5, degree=1)
    assert curve.smoother == "Local(span=0.5, degree=1, n_cells=512)"


def density_below(ax):
    """The Axes with the density: an inset of our own figure, or one appended to a given Axes."""
    return next(a for a in [*ax.child_axes, *ax.figure.axes] if a is not ax and a.get_ylabel() == "density")


def shows_smooth(ax, panel, number=0):
    """Assert that the artists of one curve carry the arrays of its panel."""
    segments = np.array([c for c in ax.collections if isinstance(c, LineCollection)][number].get_segments())
    points = np.column_stack([panel.mean_prob, panel.event_rate])
    np.testing.assert_array_equal(segments, np.stack([points[:-1], points[1:]], axis=1))
    band = bands(ax)[number].get_paths()[0].vertices
    np.testing.assert_array_equal(np.unique(band[:, 1]), np.unique([panel.lower, panel.upper]))
    line = density_below(ax).lines[number]
    np.testing.assert_array_equal(line.get_xydata(), np.column_stack([panel.score, panel.density]))


@pytest.mark.parametrize("smoother", ["kernel", "local"])
@pytest.mark.parametrize("notion", ["confidence", "binary"])
def test_the_artists_carry_exactly_the_arrays_of_a_smooth_curve(notion, smoother):
    data = (Y, PROB) if notion == "confidence" else (Y == 3, PROB[:, 3])
    curve = cb.smooth_reliability_curve(*data, smoother=smoother)
    shows_smooth(curve.plot(), curve.panels[0])


def test_every_class_has_a_smooth_curve_with_its_error():
    curve = cb.smooth_reliability_curve(Y, PROB, notion="class-wise")
    for ax, number in zip(curve.plot(panels=["class 7", "class 2"]), (7, 2), strict=True):
        panel = curve.panels[number]
        shows_smooth(ax, panel)
        assert (ax.get_title(), ax.texts[0].get_text()) == (f"class {number}", f"smECE {panel.error:.3f}")


def test_smooth_curves_are_drawn_over_each_other():
    both = {"before": PROB, "after": 0.5 * PROB + 0.05}
    curves = {name: cb.smooth_reliability_curve(Y, prob) for name, prob in both.items()}
    ax = cb.curves.plot_smooth_reliability(curves)
    for number, curve in enumerate(curves.values()):
        shows_smooth(ax, curve.panels[0], number)
    assert words(ax)[1:] == [DIAGONAL, *(f"{name}: smECE {curve.error:.3f}" for name, curve in curves.items())]


def test_a_constant_forecast_is_a_point_with_its_interval():
    ax = cb.smooth_reliability_curve([0, 1, 0, 0, 0], np.full(5, 0.3)).plot()
    line = next(line for line in ax.lines if line.get_marker() == "o")
    assert line.get_xdata()[0] == pytest.approx(0.3)
    assert line.get_ydata()[0] == pytest.approx(0.2)
    assert len([c for c in ax.collections if isinstance(c, LineCollection)]) == 1


def test_band_and_density_can_be_left_out():
    ax = cb.smooth_reliability_curve(Y, PROB).plot(band=False, density=False)
    assert not bands(ax)
    assert not ax.child_axes


# The logistic curve


@pytest.mark.parametrize("repeated", [False, True])
def test_the_logistic_curve_is_that_of_slope_and_intercept_with_the_band_of_its_information(repeated):
    rng = np.random.default_rng(0)
    z = rng.normal(0, 1.5, 600)
    y, p = rng.random(600) < expit(z), expit(1.5 * z + 0.3)
    times = rng.integers(1, 4, 600)
    rows, weights = (np.repeat(np.arange(600), times), {}) if repeated else (np.arange(600), {"sample_weight": times})
    (panel,) = cb.smooth_reliability_curve(y[rows], p[rows], smoother="logistic", **weights).panels
    y, log_odds = np.repeat(y, times), np.repeat(1.5 * z + 0.3, times)
    a, b = calibration_intercept(y, expit(log_odds)), calibration_slope(y, expit(log_odds))
    np.testing.assert_allclose(panel.event_rate, expit(a + b * logit(panel.score)), atol=1e-7)
    design = np.column_stack([np.ones_like(log_odds), log_odds])
    rate = expit(design @ [a, b])
    covariance = np.linalg.inv(design.T * (rate * (1 - rate)) @ design)
    at = np.column_stack([np.ones(201), logit(panel.score)])
    reach = 1.959964 * np.sqrt(np.einsum("ij,jk,ik->i", at, covariance, at))
    np.testing.assert_allclose(panel.lower, expit(at @ [a, b] - reach), atol=1e-6)
    np.testing.assert_allclose(panel.upper, expit(at @ [a, b] + reach), atol=1e-6)
    assert panel.error == pytest.approx(np.abs(rate - expit(log_odds)).mean())


def test_scores_that_separate_the_outcomes_have_no_logistic_curve():
    (panel,) = cb.smooth_reliability_curve([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9], smoother="logistic").panels
    assert panel.score.size == 0
    assert np.isnan(panel.error)
