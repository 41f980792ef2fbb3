"""Isotonic recursive partitioning of the simplex."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from reference import multiclass_irp as twin
from sklearn.exceptions import NotFittedError
from strategies import columns, dirichlet_rows, tables

from calibrant import IsotonicCalibration
from calibrant._core.border import as_problem
from calibrant._core.rows import as_simplex
from calibrant._kernels.irp import side_of
from calibrant.calibrators import GridPoints, Mixture, MulticlassRecursivePartitioning
from calibrant.exceptions import CalibrationWarning
from calibrant.fit import trees
from calibrant.fit.folds import folds_of
from calibrant.fit.isotonic import SMOOTHINGS, FoldLosses, chosen
from calibrant.fit.trees import DataCandidates, ExactCandidates, JoinedRows, Rows
from calibrant.interop.save import from_document, to_document

# Drawn rows may all be of one class; that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore:only the class")


smoothings = st.sampled_from([0.0, 0.5, 1.0, 4.0])
to_the_end = {"max_regions": None, "smoothing": 1.0}


def fitted(rows, **options):
    label, prob, weight = rows
    options = to_the_end | {"labels": range(prob.shape[1])} | options
    return MulticlassRecursivePartitioning(**options).fit(prob, label, weight)


def random_rows(seed, n, k):
    return *dirichlet_rows(n, k, seed, 0.7, 2.0), np.ones(n)


def in_order(rows):
    """Rows as lists, in the order in which the library has them: candidates made of forecasts come in that order."""
    label, prob, weight = rows
    order = np.lexsort([label, *prob.T[::-1]])
    return prob[order].tolist(), label[order].tolist(), weight[order].tolist()


def on_the_grid(points):
    def candidates_of(rows, before, gamma, k):
        return points if before is None else [c for c in before if twin.on_closed_side(c, gamma, k)]

    return candidates_of


def require_same_splits(calibrator, splits):
    tree = calibrator.tree_
    assert tree.parent.tolist() == [v for v, _, _ in splits]
    assert tree.gamma.tolist() == [gamma for _, gamma, _ in splits]
    np.testing.assert_allclose(calibrator.gain_, [m for _, _, m in splits], rtol=1e-9)


# Algorithm 2


@given(
    rows=tables(max_rows=12),
    steps=st.integers(2, 5),
    smoothing=smoothings,
    max_regions=st.sampled_from([None, None, 2, 4]),
)
def test_splits_are_those_that_trying_all_points_on_all_rows_finds(rows, steps, smoothing, max_regions):
    prob = rows[1]
    stops = {"max_regions": max_regions, "smoothing": smoothing}
    calibrator = fitted(rows, candidates=steps, **stops)
    splits, nodes = twin.fit(*in_order(rows), on_the_grid(twin.grid(prob.shape[1], steps)), **stops)
    require_same_splits(calibrator, splits)
    p, y, w = in_order(rows)
    for node, inside in nodes.items():
        value = twin.rates(twin.sums(inside, y, w, prob.shape[1]), smoothing)
        np.testing.assert_allclose(calibrator.node_value_[node], value, rtol=1e-12, atol=1e-15)
        counted = sum(w[i] for i in inside) if (rows[2] % 1 == 0).all() else len(inside)
        assert calibrator.node_count_[node] == counted
    leaves = calibrator.tree_.leaves().tolist()
    for cell, leaf in enumerate(leaves):
        assert (calibrator.cells(np.array([p[i] for i in nodes[leaf]])) == cell).all()


@pytest.mark.parametrize(
    ("word", "candidates", "most_classes"),
    [("data", DataCandidates(2000, np.random.default_rng(0)), 4), ("exact", ExactCandidates(), 3)],
)
@given(data=st.data(), smoothing=smoothings)
def test_candidates_of_the_data_are_those_of_each_region(word, candidates, most_classes, data, smoothing):
    rows = data.draw(tables(max_rows=9, n_classes=st.integers(3, most_classes)))
    prob, label, weight = map(np.array, in_order(rows))

    def candidates_of(some, before, gamma, k):
        return candidates.of_simplex(Rows(prob[some], label[some], weight[some])).gamma.tolist()

    splits, _ = twin.fit(*in_order(rows), candidates_of, smoothing=smoothing)
    require_same_splits(fitted(rows, candidates=word, smoothing=smoothing), splits)


def test_of_regions_that_gain_alike_the_oldest_is_split_first_even_if_another_promises_more():
    """What promises more does not leave the map monotone."""
    rng = np.random.default_rng(366)
    n = int(rng.integers(8, 26))
    rows = rng.multinomial(4, [1 / 3] * 3, n) / 4, rng.integers(0, 3, n)
    calibrator = fitted((rows[1], rows[0], np.ones(n)), candidates=4, smoothing=0.0)
    splits, _ = twin.fit(*in_order((rows[1], rows[0], np.ones(n))), on_the_grid(twin.grid(3, 4)))
    require_same_splits(calibrator, splits)
    assert [v for v, _, _ in splits] == [0, 1, 2, 4]


@given(rows=tables(max_rows=12), part=st.sampled_from([0.3, 0.75]), smoothing=st.sampled_from([0.5, 2.0]))
def test_a_softened_label_is_the_class_that_came_and_each_class_as_far_as_the_forecast_says(rows, part, smoothing):
    label, prob, weight = rows
    n, k = prob.shape
    share = part * prob
    share[np.arange(n), label] += 1 - part
    each = np.tile(np.arange(k), n), np.repeat(prob, k, axis=0), (weight[:, None] * share).ravel()
    # A row of the table is worth as much as all K rows that it is made into: weights that are no counts have a mean of one.
    some = each[2] > 0
    assume(each[2][some].min() > 1e-9)
    worth = some.sum() / weight.sum()
    label_of, prob_of, weight_of = (part[some] for part in each)
    by_hand = fitted((label_of, prob_of, 0.37 * weight_of), smoothing=smoothing * worth, candidates=4)
    softened = fitted(rows, softening=part, smoothing=smoothing, candidates=4)
    assert softened.n_regions_ == by_hand.n_regions_
    np.testing.assert_allclose(softened.predict_proba(prob), by_hand.predict_proba(prob), rtol=1e-9)


def test_the_kernels_may_return_early_without_another_result(monkeypatch):
    rows = random_rows(1, 150, 3)
    whole = fitted(rows)
    monkeypatch.setattr(trees, "BUDGET", 0)
    monkeypatch.setattr(trees, "AT_A_TIME", 1)
    np.testing.assert_array_equal(fitted(rows).tree_.gamma, whole.tree_.gamma)


def test_a_fit_of_many_splits_outgrows_the_first_tables():
    assert fitted(random_rows(3, 400, 2), candidates=500, smoothing=0.0).n_regions_ > 8
    rows = random_rows(3, 60, 2)
    splits, _ = twin.fit(*in_order(rows), on_the_grid(twin.grid(2, 40)))
    require_same_splits(fitted(rows, candidates=40, smoothing=0.0), splits)


# Two classes


@given(rows=columns(min_rows=2))
def test_two_classes_are_isotonic_regression(rows):
    label, score, weight = rows
    score = np.round(score, 2)
    calibrator = MulticlassRecursivePartitioning(**to_the_end | {"smoothing": 0.0}, labels=[0, 1])
    calibrator.fit(score, label, weight)
    isotonic = IsotonicCalibration(finite=None, labels=[0, 1]).fit(score, label, weight)
    assert calibrator.n_regions_ == isotonic.value_.size
    np.testing.assert_allclose(calibrator.calibrate(score), isotonic.calibrate(score), rtol=1e-12, atol=1e-12)


# Stages and stopping


def test_stages_are_what_fewer_regions_give():
    label, prob, weight = random_rows(2, 300, 3)
    whole = fitted((label, prob, weight))
    assert whole.n_regions_ >= 8
    tables_of = list(whole.staged_predict_proba(prob))
    assert len(tables_of) == whole.staged_regions_.size == whole.gain_.size + 1
    for n_regions, table in zip(whole.staged_regions_.tolist(), tables_of, strict=True):
        stopped = fitted((label, prob, weight), max_regions=n_regions)
        assert stopped.n_regions_ == n_regions
        np.testing.assert_array_equal(stopped.predict_proba(prob), table)
    np.testing.assert_array_equal(tables_of[-1], whole.predict_proba(prob))
    np.testing.assert_allclose(tables_of[0], np.tile((np.bincount(label) + 1) / 303, (300, 1)), rtol=1e-12)
    with pytest.raises(NotFittedError):  # at once
        MulticlassRecursivePartitioning().staged_predict_proba(np.eye(3))


@pytest.mark.parametrize("seed", range(2))
def test_cross_validation_takes_the_best_of_all_stages_of_trees_that_have_not_seen_the_rows(seed):
    """Trees grow with a smoothing of one; their regions are smoothed anew."""
    label, prob, _ = random_rows(seed, 150, 3)
    options = {"candidates": 6, "mixture": Mixture(0.05, "uniform")}
    folds = []
    for kept, left_out in folds_of(as_simplex(as_problem(label, prob))):
        tree, losses = fitted((label, prob, kept), **options).tree_, []
        for node in tree.stages(prob):
            count = np.zeros((tree.split.size, 3))
            np.add.at(count, (node, label), kept)
            mass = count.sum(axis=1)[node]
            value = [0.95 * (count[node, label] + a) / (mass + 3 * a) + 0.05 / 3 for a in SMOOTHINGS]
            losses.append([left_out @ -np.log(v) for v in value])
        folds.append((tree.n_regions, losses))
    mean = {
        (n_regions, -a): sum(losses[(reached <= n_regions).sum() - 1][at] for reached, losses in folds)
        for n_regions in range(1, 1 + max(reached[-1] for reached, _ in folds))
        for at, a in enumerate(SMOOTHINGS)
    }
    n_regions, smoothing = min(mean, key=lambda which: (mean[which], which))
    by_folds = fitted((label, prob, None), max_regions="cv", smoothing="cv", **options)
    best = fitted((label, prob, None), max_regions=n_regions, smoothing=-smoothing, **options)
    assert by_folds.smoothing_ == best.smoothing_
    np.testing.assert_array_equal(by_folds.predict_proba(prob), best.predict_proba(prob))


def test_one_row_is_one_region():
    calibrator = MulticlassRecursivePartitioning(labels=range(3)).fit([[0.2, 0.3, 0.5]], [2])
    assert calibrator.n_regions_ == 1
    np.testing.assert_allclose(calibrator.predict_proba([[1.0, 0.0, 0.0]]), [[16 / 49, 16 / 49, 17 / 49]])


def test_the_choice_is_the_least_mean_loss_and_of_equal_ones_that_with_fewer_regions():
    first = FoldLosses(np.array([1, 3, 5]), np.array([[9.0, 9.0], [4.0, 5.0], [3.0, 4.0]]), 2.0)
    second = FoldLosses(np.array([1, 2, 4]), np.array([[9.0, 9.0], [5.0, 4.0], [7.0, 4.0]]), 2.0)
    # Regions 1 to 5: 18 18, 14 13, 9 9, 11 9, 10 8.
    assert chosen([first, second])[:2] == (5, 1)
    assert chosen([first._replace(loss=first.loss[:2], n_regions=first.n_regions[:2]), second])[:2] == (3, 0)
    assert chosen([first])[:2] == (5, 0)
    assert chosen([first._replace(n_regions=np.array([1, 3, 9])), second], stops=False)[:2] == (9, 1)
    assert chosen([])[:2] == (1, 0)


# Candidates


def rows_of(prob, label):
    return JoinedRows.of(as_simplex(as_problem(label, prob, labels=range(prob.shape[1])))).rows


def test_few_rows_try_all_forecasts_all_mid_points_and_all_sets_of_classes():
    label, prob, _ = random_rows(0, 6, 3)
    gamma = DataCandidates(2000, np.random.default_rng(0)).of_simplex(rows_of(prob, label)).gamma
    assert len(gamma) == 6 + 15 + 6 * 3
    np.testing.assert_allclose(gamma.sum(axis=1), 1.0, rtol=1e-12)
    everywhere = np.random.default_rng(1).dirichlet(np.ones(3), 500)
    n_sides = [len({side_of(p, g) for p in everywhere}) for g in gamma[21:]]
    assert max(n_sides) == 2


def test_mid_points_beyond_the_budget_are_those_of_the_best_forecasts():
    label, prob, _ = random_rows(0, 3000, 3)
    found = DataCandidates(400, np.random.default_rng(0)).of_simplex(rows_of(prob, label))
    best = found.gamma[np.argsort(-found.gain[:100], kind="stable")[:20]]
    middle = [(a + b) / 2.0 for a, b in combinations(best, 2)]
    np.testing.assert_array_equal(found.gamma[100 : 100 + len(middle)], middle)
    assert len(middle) == 190
    # 105 forecasts, the 210 mid-points of 21 of them, and 105 of the last kind: nothing is left.
    assert len(DataCandidates(420, np.random.default_rng(0)).of_simplex(rows_of(prob, label)).gamma) == 420


# All splits of three classes


def test_all_splits_of_two_classes_are_those_between_blocks():
    rows = random_rows(3, 80, 2)
    exact = fitted(rows, candidates="exact")
    np.testing.assert_array_equal(exact.predict_proba(rows[1]), fitted(rows).predict_proba(rows[1]))


@given(rows=tables(max_rows=12, n_classes=st.just(3)), seed=st.integers(0, 5), softening=st.sampled_from([0.0, 0.3]))
def test_with_all_splits_a_weight_is_a_number_of_rows_in_any_order(rows, seed, softening):
    label, prob, weight = rows
    some = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(prob)), weight.astype(int)))
    both = rows, (label[some], prob[some], None)
    counted, repeated = (fitted(of, candidates="exact", softening=softening) for of in both)
    np.testing.assert_array_equal(counted.predict_proba(prob), repeated.predict_proba(prob))


# Persistence


def test_objects_among_the_parameters_are_saved_by_their_fields():
    label, prob, _ = random_rows(0, 100, 3)
    objects = {"candidates": GridPoints(4), "mixture": Mixture(0.1, "uniform")}
    document = to_document(fitted((label, prob, None), **objects))
    assert document["calibrator"]["parameters"]["candidates"] == {"fields": {"steps": 4}}
    again = from_document(document)
    assert {name: again.get_params()[name] for name in objects} == objects
    assert to_document(again) == document
    plain = from_document(to_document(fitted((label, prob, None), candidates="exact")))
    assert [plain.get_params()[name] for name in objects] == ["exact", 0.0]


# What is refused


def test_classes_of_which_there_are_too_many_are_refused():
    with pytest.raises(ValueError, match="must make a grid of at most 20000000 numbers; got 4000 steps for 3"):
        fitted(random_rows(0, 60, 3), candidates=4000)
    with pytest.raises(ValueError, match="candidates='exact' must have two or three classes; got 4"):
        fitted(random_rows(0, 60, 4), candidates="exact")
    with pytest.raises(ValueError, match=r"at most 32 classes; got 33\. For more take ByNotion"):
        fitted(random_rows(0, 60, 33))


def test_more_than_five_classes_are_warned_of():
    with pytest.warns(CalibrationWarning, match=r"is for up to 5 classes; got 6: .* 'top-label'"):
        calibrator = fitted(random_rows(0, 60, 6))
    assert calibrator.predict_proba(np.eye(6)).shape == (6, 6)


def test_all_splits_are_not_for_too_many_rows(monkeypatch):
    monkeypatch.setattr("calibrant.calibrators.isotonic.MOST_NUMBERS", 600)
    with pytest.raises(ValueError, match="at most 19 distinct predictions; got 20"):
        fitted(random_rows(0, 20, 3), candidates="exact")
    fitted(random_rows(0, 19, 3), candidates="exact")


# The paper's experiment


def test_the_three_classes_of_the_paper(data_dir):
    """The authors' grid and smoothing, (mean + 0.05) / 1.05, whose rows sum to (1 + 0.05 K) / 1.05."""
    with np.load(data_dir / "covertype3.npz") as data:
        prob, label = data["P_cal"], data["y_cal"]
    mixture = Mixture(1.0 - 1.0 / 1.15, "uniform")
    calibrator = fitted((label, prob, None), candidates=100, smoothing=0.0, mixture=mixture)
    value = np.log(calibrator.predict_proba(prob) * 1.15 / 1.05)
    loss = -(value[np.arange(len(label)), label] + 0.05 * value.sum(axis=1)).mean()
    assert loss == pytest.approx(0.711578, abs=1e-6)
    assert calibrator.staged_regions_.tolist() == [1, 3, 5, 7, 9, 10, 11, 12, 13, 14, 15, 16]
    first = [[0.29, 0.37, 0.34], [0.20, 0.70, 0.10], [0.00, 0.08, 0.92], [0.73, 0.27, 0.00]]
    np.testing.assert_allclose(calibrator.tree_.gamma[:4], first, rtol=0.0, atol=1e-12)
