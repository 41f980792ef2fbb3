"""The kernel calibration error, of sums over pairs of rows, and the canonical error over cells of the simplex."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from reference import kernel as reference
from reference import simplex
from strategies import columns, tables

from calibrant import assess
from calibrant._core.border import as_problem
from calibrant._core.rows import as_simplex
from calibrant.binning import Sierpinski, SimplexGrid, SimplexUnique
from calibrant.exceptions import CalibrationWarning
from calibrant.metrics import canonical_calibration_error, kernel, kernel_calibration_error
from calibrant.metrics.kernel import InSpace, OnLine, SimplexPairs, median_distance, noise_of_labels, pairs_of
from calibrant.notions import as_notion
from calibrant.significance import kernel_test

forecasts = st.one_of(columns(max_rows=12), tables(max_rows=10))


def in_columns(prob):
    return prob if prob.ndim == 2 else np.column_stack([1.0 - prob, prob])


def miscalibrated(n, k, seed=0, power=1.0):
    """A forecast of k classes whose labels come with its probabilities raised to a power, and normalised."""
    rng = np.random.default_rng(seed)
    prob = rng.dirichlet(np.full(k, 0.7), n)
    truth = prob**power / (prob**power).sum(axis=1, keepdims=True)
    return (rng.random((n, 1)) > truth.cumsum(axis=1)[:, :-1]).sum(axis=1), prob


def to_the_power(p, power):
    """Log-odds times a power."""
    return p**power / (p**power + (1 - p) ** power)


# The definition


@given(rows=forecasts, bandwidth=st.sampled_from([1e-3, 0.1, 0.5, 10.0]))
def test_the_unbiased_error_is_the_mean_over_pairs_and_the_biased_one_takes_each_row_with_itself_too(rows, bandwidth):
    label, prob, weight = rows
    expected = reference.unbiased(in_columns(prob), label, weight, bandwidth)
    if expected is None:
        with pytest.warns(CalibrationWarning, match="must have two rows"):
            assert np.isnan(kernel_calibration_error(label, prob, sample_weight=weight, bandwidth=bandwidth))
    else:
        value = kernel_calibration_error(label, prob, sample_weight=weight, bandwidth=bandwidth)
        assert value == pytest.approx(expected, rel=1e-9, abs=1e-12)
        expected = reference.biased(in_columns(prob), label, weight, bandwidth)
        value = kernel_calibration_error(label, prob, sample_weight=weight, bandwidth=bandwidth, estimator="biased")
        assert value == pytest.approx(expected, rel=1e-9, abs=1e-12)


fractions = st.sampled_from([0.3, 0.7, 1.0, 2.5, 3.1])


@given(rows=st.one_of(columns(min_rows=2, weights=fractions), tables(min_rows=2, weights=fractions)))
def test_rows_with_other_weights_make_no_pair_with_themselves(rows):
    label, prob, weight = rows
    weight = weight + 0.01
    expected = reference.unbiased_with_weights(in_columns(prob), label, weight, 0.2)
    value = kernel_calibration_error(label, prob, sample_weight=weight, bandwidth=0.2)
    assert value == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(rows=forecasts)
def test_the_bandwidth_is_the_median_distance_between_different_forecasts(rows):
    _, prob, weight = rows
    points = prob[:, None] if prob.ndim == 1 else prob
    assert median_distance(points, weight) == pytest.approx(reference.bandwidth(in_columns(prob), weight), rel=1e-9)


def test_of_many_forecasts_the_median_is_taken_of_some_whatever_their_order():
    rng = np.random.default_rng(0)
    prob = rng.dirichlet(np.ones(4), 5000)
    found, sample = median_distance(prob, np.ones(5000)), prob[:1500]
    distances = np.abs(sample[:, None] - sample[None]).sum(axis=2)[np.triu_indices(1500, 1)] / 2
    assert found == pytest.approx(np.median(distances), rel=0.05)
    assert median_distance(prob[rng.permutation(5000)], np.ones(5000)) == found
    assert median_distance(np.repeat(prob, 2, axis=0), np.ones(10_000)) == median_distance(prob, np.full(5000, 0.3))


# Notions


@pytest.mark.parametrize("name", ["confidence", "top-label", "class-wise"])
@given(rows=tables(min_rows=2))
def test_a_notion_is_the_mean_over_its_problems_that_have_pairs(name, rows):
    label, prob, weight = rows
    parts = as_notion(name).split(as_problem(label, prob, sample_weight=weight))
    terms = [(p.share, reference.unbiased(in_columns(p.score), p.outcome, p.weight, 0.3)) for p in parts]
    terms = [(share, value) for share, value in terms if value is not None]
    if terms:
        expected = sum(share * value / 2 for share, value in terms) / sum(share for share, _ in terms)
        value = kernel_calibration_error(label, prob, sample_weight=weight, notion=name, bandwidth=0.3)
        assert value == pytest.approx(expected, rel=1e-9, abs=1e-12)


# Ways to the same sums


@example(rows=([0] * 14, np.array([0, 0, 1 / 3, *[0] * 10, 1 / 3 + 5e-7]), np.ones(14)), bandwidth=1e-6)
@given(rows=columns(min_rows=2), bandwidth=st.sampled_from([1e-6, 1e-3, 0.02, 1.0]))
def test_the_walk_along_the_scores_takes_in_all_pairs(rows, bandwidth):
    _, score, weight = rows
    k = np.exp(-np.abs(score[:, None] - score) / bandwidth)
    line, v = OnLine(score, bandwidth), np.stack([weight, np.cos(np.arange(weight.size))])
    np.testing.assert_allclose(line.forms(v), np.einsum("mi,ij,mj->m", v, k, v), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(line.smoothed(v.T), k @ v.T, rtol=1e-10, atol=1e-12)


def test_the_walk_keeps_its_digits_where_scores_span_many_bandwidths():
    rng = np.random.default_rng(0)
    score, v = rng.random(400), rng.normal(size=(3, 400))
    for bandwidth in (1e-9, 1e-4, 3e-3, 1.0):
        k = np.exp(-np.abs(score[:, None] - score) / bandwidth)
        np.testing.assert_allclose(OnLine(score, bandwidth).forms(v), np.einsum("mi,ij,mj->m", v, k, v), rtol=1e-11)


@pytest.mark.parametrize("tile", [1, 7, 50])
def test_the_size_of_tiles_changes_nothing(monkeypatch, tile):
    _, prob = miscalibrated(50, 3)
    whole, v = InSpace(prob, 0.2), np.random.default_rng(1).normal(size=(4, 50))
    forms, smoothed = whole.forms(v), whole.smoothed(v.T)
    monkeypatch.setattr(kernel, "TILE", tile)
    np.testing.assert_allclose(whole.forms(v), forms, rtol=1e-12)
    np.testing.assert_allclose(whole.smoothed(v.T), smoothed, rtol=1e-12)


@pytest.mark.parametrize("notion", [None, "confidence", "top-label", "class-wise"])
@given(rows=tables(min_rows=2), seed=st.integers(0, 5))
def test_other_labels_give_the_sums_that_they_would_give_as_data(notion, rows, seed):
    label, prob, weight = rows
    problem = as_problem(label, prob, sample_weight=weight)
    chosen = None if notion is None else as_notion(notion)
    other = np.random.default_rng(seed).integers(0, prob.shape[1], (2, label.size))
    for number, labels in enumerate(other):
        again = pairs_of(as_problem(labels, prob, sample_weight=weight), chosen, 0.2)
        for pairs, drawn in zip(pairs_of(problem, chosen, 0.2), again, strict=True):
            sums, along = pairs.drawn(other)
            assert sums[number] / pairs.number == pytest.approx(drawn.mean, rel=1e-9, abs=1e-12)
            crossed = np.einsum("ie,ie,i->", drawn.residual, pairs.witness, pairs.weight)
            assert along[number] == pytest.approx(crossed, rel=1e-9, abs=1e-12)


def test_pairs_of_equal_labels_give_the_same_sums_as_matrix_products():
    label, prob = miscalibrated(60, 5)
    weight = np.random.default_rng(2).random(60)
    pairs = SimplexPairs(as_simplex(as_problem(label, prob, sample_weight=weight)), 0.2)
    labels = np.random.default_rng(3).integers(0, 5, (7, 60))
    np.testing.assert_allclose(pairs._walked(labels), pairs._multiplied(labels), rtol=1e-10)


def test_of_many_rows_a_whole_weight_is_a_number_of_equal_rows():
    label, prob = miscalibrated(7000, 3)
    weight = np.ones(7000)
    weight[7] = 3000
    rows = np.repeat(np.arange(7000), weight.astype(int))
    with pytest.warns(CalibrationWarning, match="are drawn from a fixed seed"):
        found = kernel_calibration_error(label, prob, sample_weight=weight)
    with pytest.warns(CalibrationWarning, match="are drawn from a fixed seed"):
        copies = kernel_calibration_error(label[rows], prob[rows])
    assert found == pytest.approx(copies, rel=1e-9)


def test_the_bootstrap_of_pairs_is_that_of_arcones_and_gine():
    """The mean of centred h over pairs of positions in the sample that was drawn."""
    label, prob = miscalibrated(12, 3, power=0.4)
    (pairs,) = pairs_of(as_problem(label, prob), None, 0.2)
    residual = np.eye(3)[label] - prob
    h = np.exp(-np.abs(prob[:, None] - prob).sum(axis=2) / 2 / 0.2) * (residual @ residual.T)
    centred = h - h.mean(axis=0) - h.mean(axis=1, keepdims=True) + h.mean()
    drawn = np.random.default_rng(0).integers(0, 12, (5, 12))
    times = np.stack([np.bincount(d, minlength=12) for d in drawn]).astype(float)
    expected = [centred[np.ix_(d, d)].sum() - np.trace(centred[np.ix_(d, d)]) for d in drawn]
    sums, along = pairs.redrawn(times, np.arange(12))
    np.testing.assert_allclose(sums, expected, rtol=1e-10)
    np.testing.assert_allclose(along, (times - 1.0) @ h.sum(axis=1), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("shape", [(1.0, 1.0), (8.0, 0.5)])
def test_noise_in_groups_of_neighbouring_scores_is_that_at_the_scores(monkeypatch, shape):
    rng = np.random.default_rng(0)
    score = rng.beta(*shape, 2000)
    problem = as_problem((rng.random(2000) < score).astype(int), score, sample_weight=rng.random(2000))
    labels, times = (rng.random((30, 2000)) < score).astype(int), rng.multinomial(50, np.full(50, 0.02), 30)
    group = rng.integers(0, 50, 2000)
    (exact,), (grouped,) = pairs_of(problem, None, None), pairs_of(problem, None, None)
    expected = (*exact.drawn(labels), *exact.redrawn(times.astype(float), group))
    monkeypatch.setattr(kernel, "MOST_CELLS", 400)
    found = (*grouped.drawn(labels), *grouped.redrawn(times.astype(float), group))
    assert grouped.cells[1].order.size <= 401 < exact.cells[1].order.size
    for one, other in zip(found, expected, strict=True):
        assert np.abs(one - other).max() < 0.05 * other.std()


# Many rows


IGNORED = pytest.mark.filterwarnings("ignore:the kernel calibration error must have at most")


@IGNORED
def test_of_too_many_rows_some_are_looked_at_whatever_their_order(monkeypatch):
    label, prob = miscalibrated(400, 3, power=0.1)
    everything, order = kernel_calibration_error(label, prob), np.random.default_rng(1).permutation(400)
    monkeypatch.setattr(kernel, "MOST_WORK", 150 * 150 * 13)
    found = kernel_calibration_error(label, prob)
    assert found != everything
    assert kernel_calibration_error(label[order], prob[order]) == pytest.approx(found, rel=1e-9)
    tested, known = kernel_test(label, prob, n_resamples=99), assess(label, prob, metrics=["skce"])["skce"]
    assert tested.statistic == pytest.approx(known.value) == pytest.approx(found)
    assert known.lower < everything < known.upper
    assert (tested.pvalue, known.pvalue) == (1 / 100, pytest.approx(1 / 501))


def test_rows_that_are_left_out_are_warned_of(monkeypatch):
    label, prob = miscalibrated(40, 3)
    monkeypatch.setattr(kernel, "MOST_WORK", 30 * 30 * 13)
    kernel_calibration_error(label, prob, notion="confidence")  # of scores all are looked at
    with pytest.warns(CalibrationWarning, match="at most 30 rows of 3 classes to look at all pairs; got 40, and 30 of"):
        kernel_calibration_error(label, prob)


@IGNORED
def test_the_mean_over_drawn_rows_is_that_over_all(monkeypatch):
    data = [miscalibrated(60, 3, seed, power=0.1) for seed in range(200)]
    everything = [kernel_calibration_error(label, prob, bandwidth=0.3) for label, prob in data]
    monkeypatch.setattr(kernel, "MOST_WORK", 30 * 30 * 13)
    apart = np.array([kernel_calibration_error(label, prob, bandwidth=0.3) for label, prob in data]) - everything
    assert 0 < abs(apart.mean()) < 4 * apart.std() / np.sqrt(200)


# What is known of it


@pytest.mark.deep
def test_the_interval_covers_at_calibration_and_away_from_it():
    """Binary, 100 rows with log-odds halved by nature: the true error is an integral over two independent scores."""
    rng, runs, bandwidth = np.random.default_rng(0), 120, 1 / 3
    grid = (np.arange(400) + 0.5) / 400
    k = np.exp(-np.abs(grid[:, None] - grid) / bandwidth)
    for slope in (1.0, 0.4):
        gap = to_the_power(grid, slope) - grid
        truth = 2 * gap @ k @ gap / grid.size**2
        covered = 0
        for run in range(runs):
            # Jittered quantiles, so that the median distance is that of the grid.
            p = (np.arange(100) + rng.random(100)) / 100
            y = (rng.random(100) < to_the_power(p, slope)).astype(int)
            found = assess(y, p, metrics=["skce"], n_resamples=99, rng=run)["skce"]
            assert found.lower <= found.value <= found.upper
            covered += found.lower <= truth <= found.upper
        assert covered / runs >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / runs)


def test_the_noise_floor_is_zero_and_where_rows_stand_for_copies_what_these_share():
    label, prob = miscalibrated(200, 3)
    assert assess(label, prob, metrics=["skce"], n_resamples=9)["skce"].noise_floor == 0.0
    weight = np.random.default_rng(0).integers(1, 5, 200)
    problem = as_problem(label, prob, sample_weight=weight)
    drawn = noise_of_labels(problem, list(pairs_of(problem, None, None)), 4000, np.random.default_rng(0)).squared
    floor = assess(label, prob, sample_weight=weight, metrics=["skce"], n_resamples=9)["skce"].noise_floor
    assert floor == pytest.approx(drawn.mean(), abs=4 * drawn.std() / np.sqrt(4000))


@given(value=st.floats(-1.0, 1.0))
def test_lengths_are_those_that_show_the_value_with_the_noise_drawn(value):
    rng = np.random.default_rng(0)
    noise = kernel.Noise(rng.normal(size=50) / 3, rng.normal(size=50) / 3)
    lengths = noise.lengths(value)
    shown = lengths**2 + 2 * lengths * noise.along + noise.squared
    np.testing.assert_allclose(shown[noise.squared < value], value, atol=1e-12)
    assert (lengths[noise.squared >= value] == 0).all()


def test_the_interval_begins_at_zero_where_the_test_does_not_reject():
    for seed in range(10):
        found = assess(*miscalibrated(60, 3, seed), metrics=["skce"], n_resamples=99)["skce"]
        assert found.lower <= 0 or found.pvalue < 0.05


# What is refused, and what has no answer


def test_a_single_row_has_no_error():
    for estimator in ("unbiased", "biased"):
        with pytest.warns(CalibrationWarning, match="must have two rows"):
            assert np.isnan(kernel_calibration_error([1], [[0.2, 0.3, 0.5]], estimator=estimator))
    with pytest.warns(CalibrationWarning, match="must have two rows"):
        found = assess([1], [0.4], metrics=["skce"], n_resamples=9)["skce"]
    assert np.isnan([found.value, found.lower, found.upper]).all()


# Over cells


CELLS = {"grid": (3, lambda rows: simplex.grid(rows, 3)), "unique": (SimplexUnique(), simplex.distinct)}


@pytest.mark.parametrize("distance", kernel.DISTANCES)
@pytest.mark.parametrize("norm", ["l1", "l2", "root", "max"])
@pytest.mark.parametrize(("binning", "twin"), CELLS.values(), ids=CELLS)
@given(rows=tables())
def test_the_error_over_cells_is_what_its_definition_says(binning, twin, norm, distance, rows):
    label, prob, weight = rows
    options = {"norm": norm, "distance": distance, "sample_weight": weight, "labels": range(prob.shape[1])}
    found = canonical_calibration_error(label, prob, binning=binning, **options)
    forecast = prob.tolist(), label.tolist(), weight.tolist()
    expected = simplex.calibration_error(*forecast, twin(prob.tolist()), norm, distance)
    assert found**2 == pytest.approx(expected**2, rel=1e-9, abs=1e-12)


DISTANCES = {"l1": 17 / 15, "total variation": 17 / 30, "max": 17 / 30, "squared l2": 11 / 15, "debiased squared l2": 0}


@pytest.mark.parametrize(("distance", "value"), DISTANCES.items())
def test_the_worked_example_of_gupta_and_ramdas_with_a_cell_a_forecast(distance, value):
    prob = np.array([[1, 0, 6, 3], [6, 0, 1, 3], [2, 7, 0, 1], [0, 1, 1, 8], [0, 1, 8, 1], [9, 1, 0, 0]]) / 10
    options = {"labels": [1, 2, 3, 4], "binning": SimplexUnique(), "distance": distance}
    found = canonical_calibration_error([3, 4, 2, 1, 4, 1], prob, **options)
    assert found == pytest.approx(value, rel=1e-12, abs=1e-15)


def test_cells_without_rows_are_left_out():
    label, prob = [0, 1, 2], np.array([[0.8, 0.1, 0.1], [0.9, 0.1, 0.0], [0.3, 0.3, 0.4]])
    norm = lambda values, weights: float(len(values)) if np.isfinite(values).all() else np.nan  # noqa: E731
    assert canonical_calibration_error(label, prob, binning=Sierpinski(1), norm=norm) == 2.0


# Uncertainty


def test_too_many_cells_warn_and_have_no_interval(monkeypatch):
    monkeypatch.setattr(kernel, "MOST_DEVIATIONS", 5)
    with pytest.warns(CalibrationWarning, match="cells must be few to draw their noise"):
        found = assess([0, 1, 2], np.eye(3), metrics=["canonical-ece"], n_resamples=9)["canonical-ece"]
    assert (found.value, found.lower, found.upper, found.pvalue) == (0.0, 0.0, 1.0, None)


P = np.random.default_rng(3).dirichlet(np.ones(3), 300)


@pytest.mark.first(1)
def test_of_a_calibrated_forecast_the_floor_is_the_mean_and_the_p_value_seldom_small():
    """Four standard errors; at most as many p-values below 0.05 as chance makes in 9999 of 10000 runs."""
    rng, draws, resamples = np.random.default_rng(8), 60, 100
    labels = [(rng.random((300, 1)) > P.cumsum(axis=1)).sum(axis=1).clip(0, 2) for _ in range(draws)]
    options = {"metrics": ["canonical-ece"], "n_resamples": resamples}
    found = [assess(y, P, **options, rng=run)["canonical-ece"] for run, y in enumerate(labels)]
    value, floor = (np.array([getattr(e, name) for e in found]) for name in ("value", "noise_floor"))
    assert abs(value.mean() - floor.mean()) < 4 * value.std(ddof=1) * np.sqrt(1 / draws + 1 / (draws * resamples))
    assert sum(e.pvalue < 0.05 for e in found) <= 10
    assert sum(e.lower > 0 for e in found) <= 10


@pytest.mark.first(1)
def test_the_interval_holds_the_error_over_the_cells():
    """At most as many misses of 60 as a coverage of 95 % makes in 9999 of 10000 runs; the truth is that over cells at hand."""
    rng, truth = np.random.default_rng(9), P**2 / (P**2).sum(axis=1, keepdims=True)
    bins = SimplexGrid()(as_simplex(as_problem(np.arange(300) % 3, P)))
    cell = bins.partition.index(P)
    there = np.unique(cell)
    gap = np.array([(truth - P)[cell == c].mean(axis=0) for c in there])
    share = np.bincount(cell)[there] / 300
    target = kernel.LENGTHS["total variation"](gap) @ share
    misses = 0
    for run in range(60):
        label = (rng.random((300, 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(0, 2)
        found = assess(label, P, metrics=["canonical-ece"], n_resamples=100, rng=run)["canonical-ece"]
        misses += not found.lower <= target <= found.upper
    assert misses <= 10
