"""Noise from strata: as that of labels drawn row by row, in every moment that is known and in distribution."""

import numpy as np
import pytest
from scipy.special import softmax

from calibrant import EqualMass, EqualWidth, assess
from calibrant._core.border import as_problem
from calibrant._core.rows import as_simplex
from calibrant.binning import as_binning
from calibrant.metrics import estimate as uncertainty
from calibrant.metrics.estimate import _events_by_cell, cells, consistent_deviations
from calibrant.metrics.kinds import metric_named
from calibrant.notions import Binary, ClassWise, Flattened, Notion, Part, ThresholdedClassWise, TopKConfidence, TopLabel
from calibrant.sums import Plan, scan
from calibrant.sums.sums import Moments

RNG = np.random.default_rng(7)


def problem_of(prob):
    return as_simplex(as_problem(np.arange(len(prob)) % prob.shape[1], prob))


def drawn(problem, notion, binning, *, by_sums, seed=0, draws=4000, monkeypatch):
    """Table and deviations, by rows or from sums."""
    monkeypatch.setattr(uncertainty, "MOST_BY_ROW", 0 if by_sums else problem.size)
    table = cells(problem, notion, binning)
    assert (table.moments is not None) == by_sums
    return table, consistent_deviations(problem, [table], draws, np.random.default_rng(seed))[0]


# The law of one cell


@pytest.mark.parametrize(("size", "mu"), [(2.6, 1.4), (1.2, 0.4), (7.5, 2.0), (900.5, 400.0)])
def test_a_number_of_rows_that_is_not_whole_has_its_mean_and_variance(size, mu):
    """A binomial law of ``size`` rows, of which the sum of squares mu² / size is known."""
    variance = mu - mu**2 / size
    row = np.array([[1000], [0]]), np.array([[mu], [0.0]]), np.array([[mu**2 / size], [0.0]])
    for is_upper, mean in ((False, mu), (True, 1000 - mu)):
        events = Moments(*row, np.array([is_upper])).events(200_000, np.random.default_rng(0))
        assert abs(events.mean() - mean) < 4 * np.sqrt(variance / 200_000)
        assert events.var() == pytest.approx(variance, rel=0.015)


def test_cells_have_the_mean_and_the_variance_of_their_rows(monkeypatch):
    """Bins with certain rows, with rows at half, and with a single row: mean zero, and the variance is the sum of p (1 - p)."""
    score = np.concatenate([RNG.random(590), np.zeros(5), np.ones(5), [0.5] * 4, RNG.random(50) * 1e-6, [0.3199]])
    problem = problem_of(np.column_stack([1 - score, score]))
    table, noise = drawn(problem, Binary(), EqualWidth(25), by_sums=True, draws=20_000, monkeypatch=monkeypatch)
    of = table.of[:, 1]
    variance = np.bincount(of, score * (1 - score)) / score.size**2
    assert (np.abs(noise.mean(axis=0)) < 4 * np.sqrt(variance / 20_000) + 1e-14).all()
    np.testing.assert_allclose(noise.var(axis=0), variance, rtol=0.06, atol=1e-15)


# Cells that share rows


@pytest.mark.parametrize(("n_classes", "rest", "dtype"), [(2, 1e-9, "f8"), (3, 1e-16, "f8"), (3, 1e-8, "f4")])
def test_rows_that_are_nearly_certain_have_correlations(n_classes, rest, dtype):
    """Of p near one the variance of a row is the difference of nearly equal numbers."""
    top = np.random.default_rng(0).integers(0, n_classes, 5000)
    prob = np.where(top[:, None] == np.arange(n_classes), 1.0 - (n_classes - 1) * rest, rest)
    prob[0] = 1.0 / n_classes
    table = assess(top, prob.astype(dtype), metrics=["classwise-ece"], n_resamples=20, rng=0)
    assert 0.0 <= table["classwise-ece"].lower <= table["classwise-ece"].upper < 0.01


def test_entries_without_a_cell_have_none_where_empty_cells_are_left_out(monkeypatch):
    """Bins below the threshold are empty, and the last bin holds rows: what is in no cell is not in that one."""
    prob = softmax(np.random.default_rng(1).normal(0, 2, (5000, 3)), axis=1)
    notion = ThresholdedClassWise(0.5)
    monkeypatch.setattr(uncertainty, "MOST_BY_ROW", 0)
    table = cells(problem_of(prob), notion, EqualWidth(5))
    bins = scan(problem_of(prob), Plan.of_cells([(notion, EqualWidth(5))])).cells[0].bins
    assert not bins.count[0]
    assert bins.count[-1]
    assert table.count.size == np.count_nonzero(bins.count)
    for of, kept in ((table.of, prob), table.kept[::-1]):
        np.testing.assert_array_equal(of >= 0, kept >= 0.5)


def test_a_draw_exceeds_all_of_nineteen_others_once_in_twenty():
    """The largest gap of 45 cells: a test rejects as often as promised only if draws do not depend on each other."""
    problem = problem_of(softmax(np.random.default_rng(5).normal(0, 1.5, (400, 3)), axis=1))
    sums = scan(problem, Plan.of_cells([(ClassWise(), EqualWidth(15))], noise=True))
    table = cells(problem, ClassWise(), EqualWidth(15), sums)
    moments, rng, exceeded = Moments.of(sums.cells[0]), np.random.default_rng(0), 0
    kept = sums.kept.problem.prob, table.of
    for _ in range(1000):
        apart = np.concatenate([_events_by_cell(moments, kept, n, rng) for n in (1, 19)]) - table.expected
        largest = np.abs(apart / np.maximum(table.count, 1)).max(axis=1)
        exceeded += largest[0] > largest[1:].max()
    assert abs(exceeded / 1000 - 0.05) < 4 * np.sqrt(0.05 * 0.95 / 1000)


BY_CLASS = ("classwise-ece", "classwise-max-ece")
WORLDS = {
    "three classes": (softmax(RNG.normal(0, 1.5, (6000, 3)), axis=1), ("ece", "mce", "top-label-ece", "classwise-ece")),
    "rare events": (np.column_stack([1 - (p := RNG.beta(0.5, 20, 6000)), p]), ("ece", "classwise-max-ece")),
    "nearly certain": (softmax(RNG.normal((7, 0, 0), 1, (6000, 3)), axis=1), ("ece", *BY_CLASS)),
    "ties": (np.column_stack([1 - (p := RNG.choice([0.01, 0.2, 0.35, 0.5, 0.9], 6000)), p]), ("ece", "mce", "rmsce")),
    "rare classes": (softmax(RNG.normal(0, 0.7, (6000, 4)) - [0, 4, 5, 6], axis=1), BY_CLASS),
}


def agree(first, second):
    """Whether two samples have the same mean, spread and quantiles within five standard errors of a difference."""
    n, spread = first.size, np.hypot(first.std(), second.std())
    assert abs(first.mean() - second.mean()) < 5 * spread / np.sqrt(n)
    assert abs(np.log(first.std() / second.std())) < 5 * np.sqrt(1 / n) + 0.02
    for level in (0.5, 0.9, 0.95):  # whole numbers of events make steps: both sides of them count
        edge = np.quantile(first, level)
        slack = 5 * np.sqrt(2 * level * (1 - level) / n)
        for side in (1 - 1e-6, 1 + 1e-6):
            assert abs(np.mean(first <= side * edge) - np.mean(second <= side * edge)) < slack


@pytest.mark.parametrize(("world", "name"), [(world, name) for world in WORLDS for name in WORLDS[world][1]])
def test_the_null_of_a_metric_is_that_of_labels_drawn_by_row(world, name, monkeypatch):
    problem, metric, found = problem_of(WORLDS[world][0]), metric_named(name), []
    for most in (problem.size, 4096):
        monkeypatch.setattr(uncertainty, "MOST_BY_ROW", most)
        found.append(metric.null(problem, 1500, np.random.default_rng(most))[1])
    agree(*found)


OTHERS = [(Flattened(), 10), (TopKConfidence(2), 10), (ClassWise(), EqualMass(10)), (TopLabel(), EqualMass(6))]


@pytest.mark.parametrize(("notion", "binning"), OTHERS, ids=repr)
def test_other_notions_and_bins_have_the_spread_of_labels_drawn_by_row(notion, binning, monkeypatch):
    problem, sizes = problem_of(WORLDS["three classes"][0]), []
    for by_sums in (False, True):
        options = {"by_sums": by_sums, "seed": by_sums, "draws": 1500, "monkeypatch": monkeypatch}
        _, noise = drawn(problem, notion, as_binning(binning), **options)
        sizes.append(np.abs(noise).sum(axis=1))
    agree(*sizes)


# Rows drawn with replacement


@pytest.mark.parametrize("n_bins", [4, 200])
def test_sums_of_resampled_rows_vary_as_those_of_rows_drawn_with_replacement(n_bins, monkeypatch):
    """Covariances of all cells: n times those of what one row adds, in wide bins and in narrow groups."""
    monkeypatch.setattr(uncertainty, "MOST_BY_ROW", 0)
    score = np.concatenate([RNG.beta(0.7, 0.7, 3000), [0.0, 1.0, 0.5]])
    outcome = RNG.random(score.size) < 0.2 + 0.6 * score
    problem = as_simplex(as_problem(outcome, score))
    table = cells(problem, Binary(), EqualWidth(n_bins))
    drawn = table.moments.resampled(20_000, np.random.default_rng(0))
    of, residual = table.of[:, 1], outcome - score
    observed = np.bincount(of, residual)
    np.testing.assert_allclose(drawn.mean(axis=0), observed, atol=4.5 * drawn.std(axis=0).max() / np.sqrt(20_000))
    variance = np.bincount(of, residual**2) - observed**2 / score.size
    np.testing.assert_allclose(drawn.var(axis=0), variance, rtol=0.06, atol=1e-9)
    covariance = np.cov(drawn[:, :2].T)[0, 1]
    rounding = 4.5 * np.sqrt(variance[:2].prod() / 20_000)
    assert covariance == pytest.approx(-observed[0] * observed[1] / score.size, abs=rounding)


# Which road is taken


def test_a_p_value_counts_draws_that_equal_the_value():
    """One event where 0.2 are expected: it is reached in each draw in which an event occurs."""
    outcome = np.zeros(50_000, dtype=int)
    outcome[0] = 1
    found = assess(outcome, np.full(50_000, 4e-6), metrics=["mce"], n_resamples=400)["mce"]
    expected = 1 - (1 - 4e-6) ** 50_000
    assert abs(found.pvalue - expected) < 4 * np.sqrt(expected * (1 - expected) / 400) + 1 / 401


def test_up_to_4096_rows_labels_are_drawn_by_row(monkeypatch):
    monkeypatch.setattr(Moments, "of", None)  # calling it would raise
    prob = RNG.dirichlet(np.ones(3), 4097)
    assess(np.arange(4096) % 3, prob[:4096], metrics=["ece"], n_resamples=9)
    with pytest.raises(TypeError, match="not callable"):
        assess(np.arange(4097) % 3, prob, metrics=["ece"], n_resamples=9)


def test_weights_and_notions_of_ones_own_are_drawn_by_row():
    class First(Notion):
        name = "first"

        def parts(self, prob, names=None):
            yield Part(slice(None), 0, "first")

    n = 5000
    problem = problem_of(RNG.dirichlet(np.ones(3), n))
    assert cells(problem, First(), EqualWidth(5)).moments is None
    assert cells(problem.weighted(np.full(n, 2.5)), TopLabel(), EqualWidth(5)).moments is None
    assert cells(problem, TopLabel(), EqualWidth(5)).moments is not None


def test_counts_have_the_moments_of_the_repeated_rows():
    few, times = problem_of(RNG.dirichlet(np.ones(3), 60)), RNG.integers(1, 400, 60)
    for notion in (TopLabel(), ClassWise()):
        counted = cells(few.weighted(times.astype(float)), notion, EqualWidth(7))
        repeated = cells(few.taken(np.repeat(np.arange(60), times)), notion, EqualWidth(7))
        for name in ("count", "first", "second"):
            a, b = (getattr(one.moments, name) for one in (counted, repeated))
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9, err_msg=name)
        np.testing.assert_array_equal(counted.count, repeated.count)


def test_problems_without_strata_have_no_moments():
    problem = problem_of(RNG.dirichlet(np.ones(3), 50))
    assert Moments.of(scan(problem, Plan.of_cells([(ClassWise(), EqualWidth(5))])).cells[0]) is None
