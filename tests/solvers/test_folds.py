"""Rows that are left out: which they are, and what cross-validation makes of equal ones."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import folds as twin
from strategies import tables

from calibrant._core.border import as_problem
from calibrant.calibrators import nafir, scir
from calibrant.calibrators.nafir import NormalizedFlattenedIsotonic
from calibrant.calibrators.scir import SortedCumulativeIsotonic
from calibrant.exceptions import CalibrationWarning
from calibrant.fit.folds import N_FOLDS, Fold, folds_of, observed
from calibrant.fit.nafir import SMOOTHINGS

# Drawn rows may all be of one class; that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore:only the class", "ignore:the rows of a calibration set")

any_weights = st.one_of(st.integers(1, 13), st.sampled_from([0.1, 0.3, 1.5, 2.25, 7.5]))
FIXED = {NormalizedFlattenedIsotonic: ("smoothing", SMOOTHINGS), SortedCumulativeIsotonic: ("epsilon", scir.EPSILONS)}
both = pytest.mark.parametrize(
    ("module", "calibrator", "chosen"),
    [(nafir, NormalizedFlattenedIsotonic, "smoothing_"), (scir, SortedCumulativeIsotonic, "epsilon_")],
)


def found_folds(label, prob, weight=None):
    return list(folds_of(as_problem(label, prob, sample_weight=weight, labels=range(prob.shape[1]))))


def left_out(*rows):
    """Weight left out by fold and row."""
    return np.array([fold.left_out for fold in found_folds(*rows)]).reshape(-1, len(rows[0]))


def random_rows(n=300, k=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, k, n), rng.dirichlet(np.ones(k), n)


def tree(seed, n_distinct, k=3):
    """True rates in the leaves of a tree, the forecast, which are those of the 50 rows that each was grown on, and a source."""
    rng = np.random.default_rng(seed)
    leaves = rng.dirichlet(np.full(k, 0.3), n_distinct)
    return leaves, np.array([rng.multinomial(50, leaf) for leaf in leaves]) / 50.0, rng


def tied_rows(seed, n=1500, n_distinct=20, k=3):
    """A forecast as of a tree: few distinct rows."""
    leaves, forecast, rng = tree(seed, n_distinct, k)
    leaf = rng.integers(0, n_distinct, n)
    label = (rng.random((n, 1)) > leaves[leaf].cumsum(axis=1)).sum(axis=1).clip(0, k - 1)
    return label, forecast[leaf]


# Which rows are left out


@given(rows=tables(weights=any_weights))
def test_rows_are_dealt_out_as_in_the_definition(rows):
    label, prob, weight = rows
    expected = twin.folds(prob.tolist(), label.tolist(), weight.tolist())
    np.testing.assert_allclose(left_out(*rows), np.reshape(expected, (-1, len(label))), rtol=1e-9)


@given(rows=tables(weights=any_weights))
def test_what_is_kept_and_what_is_left_out_is_the_whole_and_each_row_is_left_out_once(rows):
    weight, folds = rows[2], found_folds(*rows)
    for fold in folds:
        assert (fold.kept >= 0).all()
        assert (fold.left_out >= 0).all()
        np.testing.assert_allclose(fold.kept + fold.left_out, weight, rtol=1e-12)
    if folds:
        np.testing.assert_allclose(left_out(*rows).sum(axis=0), weight, rtol=1e-9)


@given(rows=tables(), random=st.randoms(use_true_random=False))
def test_the_order_of_rows_and_columns_does_not_matter(rows, random):
    label, prob, weight = rows
    k, n = prob.shape[1], len(label)
    column, row = np.array(random.sample(range(k), k)), np.array(random.sample(range(n), n))
    moved = left_out(np.argsort(column)[label][row], prob[row][:, column], weight[row])
    np.testing.assert_allclose(moved, left_out(*rows)[:, row], rtol=1e-12)


@given(rows=tables())
def test_an_integer_weight_is_so_many_rows(rows):
    label, prob, weight = rows
    times = weight.astype(int)
    repeated = left_out(np.repeat(label, times), np.repeat(prob, times, axis=0))
    starts = np.cumsum(times) - times
    np.testing.assert_allclose(np.add.reduceat(repeated, starts, axis=1), left_out(*rows), rtol=1e-9)


@given(rows=tables())
def test_folds_hold_about_as_many_of_equal_rows_each(rows):
    out = left_out(*rows)
    if len(out) < N_FOLDS:
        return
    out *= np.array(twin.observations(rows[1].tolist(), rows[0].tolist(), rows[2].tolist()), float) / rows[2]
    alike = [(tuple(np.sort(p.astype(np.float32))), np.float32(p[y])) for y, p in zip(*rows[:2], strict=True)]
    for one in set(alike):
        held = out[:, [other == one for other in alike]].sum(axis=1)
        assert held.max() - held.min() <= 1 + 1e-9


@pytest.mark.parametrize("weight", [1.0, 0.1, 1 / 3, 1e-3, 123.456])
def test_distinct_rows_of_one_weight_are_in_one_fold_as_they_are(weight):
    label, prob = random_rows()
    for fold in found_folds(label, prob, np.full(300, weight)):
        out = fold.left_out > 0
        assert (fold.kept[out] == 0).all()
        assert (fold.left_out[out] == weight).all()


def test_whole_weights_of_distinct_rows_stay_whole():
    label, prob = random_rows()
    weight = np.random.default_rng(0).integers(1, 100, 300).astype(float)
    out = left_out(label, prob, weight)
    np.testing.assert_array_equal(out, np.floor(out))
    np.testing.assert_array_equal(out.sum(axis=0), weight)


def test_folds_are_of_about_equal_size():
    count = left_out(*random_rows(n=5000)).sum(axis=1)
    assert (abs(count - 1000) < 5 * np.sqrt(800)).all()


def test_rows_that_differ_in_the_order_of_columns_are_dealt_out_together():
    prob = np.array([[0.5, 0.3, 0.2], [0.3, 0.2, 0.5], [0.2, 0.5, 0.3], [0.5, 0.2, 0.3], [0.3, 0.5, 0.2]])
    out = left_out(prob.argmax(axis=1), prob)
    np.testing.assert_allclose(out, 0.2)


def test_which_of_equally_probable_classes_came_makes_no_difference():
    prob = np.tile([0.4, 0.4, 0.2], (3, 1))
    np.testing.assert_allclose(left_out(np.array([0, 1, 0]), prob), 1 / 3)
    assert (np.ptp(left_out(np.array([0, 2, 0]), prob), axis=1) > 0).all()


@pytest.mark.parametrize(("weight", "expected"), [(None, 0), (1.0, 0), (0.3, 0), (3.0, 3), (7.0, 5)])
def test_of_one_row_nothing_is_left_out_but_of_several_like_it(weight, expected):
    weight = None if weight is None else np.array([weight])
    assert len(found_folds(np.array([0]), np.array([[0.7, 0.3]]), weight)) == expected


def test_weights_of_any_size_are_dealt_out():
    label, prob = random_rows(n=20)
    weight = np.geomspace(1e-99, 1e99, 20)
    out = left_out(label, prob, weight)
    np.testing.assert_allclose(out.sum(axis=0), weight, rtol=1e-9)


# Copies of rows


def drawn_rows(n, k, seed, decimals=12):
    """A calibrated forecast, perhaps rounded."""
    rng = np.random.default_rng(seed)
    prob = rng.dirichlet(np.ones(k), n)
    label = (rng.random((n, 1)) > prob.cumsum(axis=1)).sum(axis=1).clip(0, k - 1)
    rounded = prob.round(decimals)
    rounded[:, -1] = 1.0 - rounded[:, :-1].sum(axis=1).round(decimals)
    return label, rounded


def observed_rows(label, prob, weight=None):
    return observed(as_problem(label, prob, sample_weight=weight, labels=range(prob.shape[1])))


def rows_of(problem):
    order = np.lexsort([*problem.prob.T, problem.label])
    return problem.label[order], problem.prob[order], problem.weight[order]


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("decimals", [12, 2])
def test_rows_given_ten_times_or_with_weight_ten_are_the_rows_themselves(k, decimals):
    label, prob = drawn_rows(150, k, 0, decimals)
    expected = rows_of(observed_rows(*(np.repeat(part, 3, axis=0) for part in (label, prob))))
    assert expected[2].sum() == 150
    for copies in ((label, prob, np.full(150, 10.0)), (np.tile(label, 10), np.tile(prob, (10, 1)))):
        for found, part in zip(rows_of(observed_rows(*copies)), expected, strict=True):
            np.testing.assert_array_equal(found, part)


@pytest.mark.parametrize("k", [2, 5])
def test_rows_drawn_again_and_again_have_one_weight_each_and_are_in_one_fold(k):
    label, prob = drawn_rows(150, k, 0)
    drawn = np.random.default_rng(0).integers(0, 150, 1500)
    problem = observed_rows(label[drawn], prob[drawn])
    assert problem.size == np.unique(drawn).size == problem.weights.rows
    assert not problem.weights.are_counts
    number = np.bincount(drawn, minlength=150)
    np.testing.assert_allclose(np.sort(problem.weight), np.sort(number[number > 0] / 1500))
    out = left_out(label[drawn], prob[drawn])
    assert (out.max(axis=0) == 1).all()
    assert all(np.ptp(fold[drawn == i]) == 0 for fold in out for i in set(drawn.tolist()))


@pytest.mark.parametrize(
    "rows", [drawn_rows(5000, 2, 0, 2), drawn_rows(5000, 3, 0, 1), tied_rows(0), drawn_rows(60, 3, 0)]
)
def test_rows_that_coincide_are_observations_each(rows):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert observed_rows(*rows).size == len(rows[0])


def test_copies_are_warned_of_and_the_hint_ends_it():
    label, prob = drawn_rows(150, 3, 0)
    weight = np.random.default_rng(0).integers(5, 15, 150).astype(float)
    with pytest.warns(CalibrationWarning, match=r"1[34]\d\d rows are copies of 150"):
        found = observed_rows(label, prob, weight)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        followed = observed_rows(label, prob, weight / weight.sum())
    np.testing.assert_allclose(rows_of(found)[2], rows_of(followed)[2])


# What is chosen where many rows are equal


def random_folds(seed):
    def drawn(problem):
        fold = np.random.default_rng(seed).integers(0, N_FOLDS, problem.size)
        weights = (np.where(fold == number, problem.weight, 0.0) for number in range(N_FOLDS))
        return (Fold(problem.weight - out, out) for out in weights)

    return drawn


@pytest.mark.first(1)
@both
def test_tied_forecasts_are_smoothed_about_as_much_as_by_random_folds(module, calibrator, chosen, monkeypatch):
    """Were equal rows left out together, it would be more than ten times as much."""
    mean = []
    for folds in (folds_of, random_folds(0)):
        monkeypatch.setattr(module, "folds_of", folds)
        fits = [calibrator().fit(*tied_rows(seed)[::-1]) for seed in range(12)]
        mean.append(np.log10([getattr(fit, chosen) for fit in fits]).mean())
    assert abs(mean[0] - mean[1]) < 0.5


@pytest.mark.parametrize("calibrator", FIXED)
@pytest.mark.parametrize("n_distinct", [10, 30])
@pytest.mark.parametrize("seed", range(3))
def test_of_few_distinct_forecasts_the_choice_is_as_good_as_the_best(calibrator, n_distinct, seed):
    """The expected log loss of new rows is within 0.001 of the least that any value gives."""
    label, prob = tied_rows(seed, n=5000, n_distinct=n_distinct)
    leaves, forecast, _ = tree(seed, n_distinct)
    name, values = FIXED[calibrator]

    def expected_loss(**options):
        fit = calibrator(labels=range(3), **options).fit(prob, label)
        return -(leaves * np.log(fit.predict_proba(forecast))).sum(axis=1).mean()

    assert expected_loss() <= min(expected_loss(**{name: value}) for value in values) + 0.001
