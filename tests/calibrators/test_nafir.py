import json
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import nafir as twin
from sklearn.exceptions import ConvergenceWarning
from strategies import tables

from calibrant import ByNotion, IsotonicCalibrator, MulticlassIsotonic, negative_log_likelihood
from calibrant._kernels.conditional_logit import pair_sums
from calibrant._validation import as_problem
from calibrant.calibrators.fits.conditional_logit import Comparisons, solve
from calibrant.calibrators.fits.nafir_blocks import Cells, split_blocks
from calibrant.calibrators.nafir import N_FOLDS, NormalizedFlattenedIsotonic, fold_of_rows

# Drawn rows may all be of one class, or be best served at infinity; that this is said is tested below.
pytestmark = [
    pytest.mark.filterwarnings("ignore:only the class"),
    pytest.mark.filterwarnings("ignore:the likelihood grows for ever"),
]

any_weights = st.one_of(st.integers(1, 4), st.sampled_from([0.1, 0.3, 1.5]))
smoothings = st.sampled_from([0.0, 1e-3, 0.1, 1.0])


def fitted(rows, **options):
    label, prob, weight = rows
    return NormalizedFlattenedIsotonic(labels=range(prob.shape[1]), **options).fit(prob, label, weight)


def random_rows(n=300, k=5, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.ones(k), n)
    label = (rng.random((n, 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(0, k - 1)
    return label, truth**2 / (truth**2).sum(axis=1, keepdims=True), np.ones(n)


def half(data_dir, name):
    data = np.load(data_dir / f"{name}.npz")
    prob = data["P"].astype(np.float64)
    prob /= prob.sum(axis=1, keepdims=True)
    return (data["y"][:5000], prob[:5000], None), data["y"][5000:], prob[5000:]


# The optimum


@settings(max_examples=25)
@given(rows=tables(max_rows=10, weights=any_weights), smoothing=smoothings)
def test_no_generic_search_finds_a_better_map(rows, smoothing):
    label, prob, weight = (column.tolist() for column in rows)
    calibrator = fitted(rows, smoothing=smoothing, blocks="distinct")
    left, values = calibrator.left_.tolist(), np.maximum(calibrator.log_value_, -600.0).tolist()
    ours = twin.loss(prob, label, weight, lambda p: np.exp(twin.step(left, values, p)), smoothing)
    theirs = twin.least_loss(prob, label, weight, twin.steps_at_classes_that_came(prob, label), smoothing)
    assert ours <= theirs + 1e-9


@given(rows=tables(weights=any_weights), smoothing=smoothings, blocks=st.sampled_from(["isotonic", "distinct"]))
def test_the_conditions_of_the_optimum_are_met(rows, smoothing, blocks):
    """Raising all steps above a boundary by the same amount never helps, and lowering them only where they would cross."""
    label, prob, weight = rows
    calibrator = fitted(rows, smoothing=smoothing, blocks=blocks)
    assert calibrator.gradient_ <= 1e-8
    share = weight / weight.sum()
    calibrated, k = calibrator.predict_proba(prob), prob.shape[1]
    target = (1 - smoothing) * np.eye(k)[label] + smoothing / k
    gap = share[:, None] * (calibrated - target)
    for left in calibrator.left_[1:]:  # steps that are there are in balance, but for those at the cap
        assert gap[prob >= left].sum() == pytest.approx(0.0, abs=2e-8)


@given(rows=tables(weights=any_weights), smoothing=smoothings)
def test_rows_are_the_map_divided_by_its_sum(rows, smoothing):
    calibrator = fitted(rows, smoothing=smoothing)
    values = np.maximum(calibrator.log_value_, -600.0).tolist()
    expected = []
    for row in rows[1].tolist():
        theta = [twin.step(calibrator.left_.tolist(), values, p) for p in row]
        raised = [np.exp(t - max(theta)) for t in theta]
        expected.append([v / sum(raised) for v in raised])
    np.testing.assert_allclose(calibrator.predict_proba(rows[1]), expected, rtol=1e-9, atol=1e-200)


def test_small_problems_have_the_loss_that_a_conic_solver_found(data_dir):
    known = json.loads((data_dir / "scir_nafir_small.json").read_text())["nafir_small_reference"]
    prob, label = np.array(known["P"]), np.array(known["y"])
    prob /= prob.sum(axis=1, keepdims=True)
    calibrator = fitted((label, prob, None), smoothing=0.0, blocks="distinct")
    assert calibrator.loss_ == pytest.approx(known["mean_nll"], abs=1e-7)
    assert calibrator.loss_ <= known["mean_nll"] + 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_finer_blocks_never_have_a_higher_loss_and_agree_where_they_are_as_good(seed):
    rows = random_rows(seed=seed)
    coarse, cut, fine = (
        fitted(rows, smoothing=0.0, **o) for o in ({}, {"min_blocks": 60, "min_block_size": 5}, {"blocks": "distinct"})
    )
    assert coarse.n_blocks_ < cut.n_blocks_ <= 60 < fine.n_blocks_
    assert fine.loss_ - 1e-9 <= cut.loss_ <= coarse.loss_ + 1e-9
    # Fitted again over the steps that the fine map has, nothing changes.
    cells = Cells.of(as_problem(rows[0], rows[1]))
    starts = np.searchsorted(cells.lower, fine.left_)
    again = solve(Comparisons.of(cells, starts), 0.0)
    assert Comparisons.of(cells, starts).loss(again.theta) == pytest.approx(fine.loss_, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_it_has_a_lower_loss_than_flattened_isotonic_regression_on_the_rows_fitted(seed):
    label, prob, weight = random_rows(seed=seed)
    flattened = MulticlassIsotonic(epsilon=0.0).fit(prob, label).predict_proba(prob)
    assert fitted((label, prob, weight), smoothing=0.0).loss_ < negative_log_likelihood(label, flattened)


@given(rows=tables(weights=any_weights), data=st.data())
def test_the_compiled_sums_of_pairs_equal_the_definition(rows, data):
    label, prob, weight = rows
    cells = Cells.of(as_problem(label, prob, sample_weight=weight, labels=range(prob.shape[1])))
    counts = Comparisons.of(cells, np.arange(cells.size))
    joined = data.draw(st.lists(st.integers(0, 1), min_size=cells.size, max_size=cells.size))
    group = np.cumsum(joined)[counts.block]
    n_groups = int(group.max()) + 1
    table = np.zeros((len(label), n_groups))
    for i, a, q in zip(counts.row, group, counts.count, strict=True):
        table[i, a] += q
    expected = sum(w * np.outer(row, row) for w, row in zip(weight, table, strict=True))
    found = pair_sums(counts.starts, group, counts.count, cells.weight, n_groups)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


# What the issue asks for


@pytest.mark.parametrize(
    ("name", "blocks", "optimum", "smoothed", "chosen"),
    [
        ("cifar100_densenet_bc", 76, 0.877675, 0.8706, 0.8710),
        ("cifar100_lenet5", 89, 3.780798, 3.8159, 3.8160),
        ("cifar10_lenet5", 68, 1.288225, 1.3307, 1.3316),
    ],
)
def test_real_forecasts_have_the_known_optima(name, blocks, optimum, smoothed, chosen, data_dir):
    rows, label, prob = half(data_dir, name)
    exact = fitted(rows, smoothing=0.0)
    assert exact.n_blocks_ == blocks
    assert exact.loss_ == pytest.approx(optimum, abs=5.1e-7)
    held_out = negative_log_likelihood(label, fitted(rows, smoothing=1e-3).predict_proba(prob))
    assert held_out == pytest.approx(smoothed, abs=5.1e-5)
    by_default = negative_log_likelihood(label, fitted(rows).predict_proba(prob))
    assert by_default <= chosen
    assert by_default < negative_log_likelihood(label, exact.predict_proba(prob))


def test_isotonic_by_flattened_has_the_known_figure(data_dir):
    rows, label, prob = half(data_dir, "cifar100_densenet_bc")
    flattened = ByNotion(IsotonicCalibrator(), "flattened").fit(rows[1], rows[0])
    assert negative_log_likelihood(label, flattened.predict_proba(prob)) == pytest.approx(0.88739, abs=5.1e-6)


# At infinity


def test_a_step_that_should_be_infinite_is_capped_and_said():
    rows = np.array([2, 0, 1]), np.array([[0.1, 0.2, 0.7], [0.7, 0.2, 0.1], [0.1, 0.7, 0.2]]), None
    with pytest.warns(ConvergenceWarning, match=r"grows for ever as 1 steps .* Pass a smoothing above 0"):
        calibrator = fitted(rows, smoothing=0.0)
    np.testing.assert_allclose(calibrator.log_value_, [np.log(1e-12), 0.0])
    assert (calibrator.predict_proba(rows[1]) > 0).all()


def test_with_smoothing_nothing_is_infinite_and_nothing_is_said():
    rows = np.array([2, 0, 1]), np.array([[0.1, 0.2, 0.7], [0.7, 0.2, 0.1], [0.1, 0.7, 0.2]]), None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        calibrator = fitted(rows, smoothing=0.3)
    np.testing.assert_allclose(calibrator.predict_proba(rows[1])[0], [0.1, 0.1, 0.8], rtol=1e-9)


def test_with_a_smoothing_of_one_the_map_is_constant():
    label, prob, weight = random_rows()
    np.testing.assert_allclose(fitted((label, prob, weight), smoothing=1.0).predict_proba(prob), 0.2, rtol=1e-6)


# The choice of the smoothing


@given(rows=tables(), random=st.randoms(use_true_random=False))
def test_the_fold_of_a_row_hangs_on_its_numbers_alone(rows, random):
    label, prob, _ = rows
    k, n = prob.shape[1], len(label)
    fold = fold_of_rows(as_problem(label, prob, labels=range(k)))
    column, row = np.array(random.sample(range(k), k)), np.array(random.sample(range(n), n))
    moved = as_problem(np.argsort(column)[label][row], prob[row][:, column], labels=range(k))
    np.testing.assert_array_equal(fold_of_rows(moved), fold[row])


def test_folds_are_of_about_equal_size():
    label, prob, _ = random_rows(n=5000)
    count = np.bincount(fold_of_rows(as_problem(label, prob)), minlength=N_FOLDS)
    assert (abs(count - 1000) < 5 * np.sqrt(800)).all()


def test_a_single_row_is_smoothed_by_a_half():
    calibrator = fitted((np.array([0]), np.array([[0.7, 0.2, 0.1]]), None))
    assert calibrator.smoothing_ == 0.5
    np.testing.assert_allclose(calibrator.predict_proba([[0.7, 0.2, 0.1]]), [[2 / 3, 1 / 6, 1 / 6]], rtol=1e-8)


# Blocks


def test_a_split_makes_the_largest_pieces_smaller():
    assert split_blocks(np.array([0, 8]), np.ones(12), 6, 2.0).tolist() == [0, 2, 4, 6, 8, 10]
    assert split_blocks(np.array([0, 8]), np.ones(12), 3, 2.0).tolist() == [0, 4, 8]
    assert split_blocks(np.array([0, 8]), np.ones(12), 1, 2.0).tolist() == [0, 8]


@given(
    mass=st.lists(st.integers(1, 9), min_size=1, max_size=30),
    cuts=st.sets(st.integers(1, 29)),
    most=st.integers(1, 40),
    least=st.integers(1, 12),
)
def test_pieces_keep_the_old_cuts_and_are_not_too_small(mass, cuts, most, least):
    mass = np.array(mass, dtype=float)
    starts = np.array(sorted({0} | {c for c in cuts if c < mass.size}))
    finer = split_blocks(starts, mass, most, float(least))
    assert (np.diff(finer) > 0).all()
    assert set(starts) <= set(finer)
    assert finer.size <= max(most, starts.size)
    of_old = np.add.reduceat(mass, finer)
    assert all(size >= least for first, size in zip(finer, of_old, strict=True) if first not in starts)


def test_blocks_are_those_of_flattened_isotonic_regression():
    label, prob, _ = random_rows()
    cells = Cells.of(as_problem(label, prob))
    expected = MulticlassIsotonic(epsilon=0.0).fit(prob, label).left_
    np.testing.assert_array_equal(cells.lower[cells.isotonic_starts(cells.mass())], expected)


@pytest.mark.parametrize("option", [{"smoothing": 1.5}, {"blocks": "all"}, {"min_blocks": 0}, {"min_block_size": 0}])
def test_options_that_make_no_sense_are_refused(option):
    with pytest.raises(ValueError, match=rf"{next(iter(option))} must be .*; got .*\. [A-Z]"):
        fitted((np.array([0, 1]), np.array([[0.6, 0.4], [0.3, 0.7]]), None), **option)
