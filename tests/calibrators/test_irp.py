"""Isotonic recursive partitioning of one score."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from reference import isotonic_tree as twin
from strategies import columns, scores, whole_weights

from calibrant import IsotonicCalibration
from calibrant._core.border import as_problem
from calibrant._core.rows import as_simplex
from calibrant.binning.bins import Ordered
from calibrant.calibrators import IsotonicRecursivePartitioning
from calibrant.fit.folds import folds_of
from calibrant.fit.isotonic import SMOOTHINGS, SMOOTHINGS_IF_SOFTENED, SOFTENINGS, tried
from calibrant.fit.trees import Blocks, isotonic_tree, path_loss

# Drawn rows may all be of one class; that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings(
    "ignore:only the class", "ignore:no calibration row", "ignore:the rows of a calibration set"
)


new_scores = st.lists(scores, min_size=1, max_size=20)
few = columns(max_rows=12)
WHOLE = {"max_bins": None, "smoothing": 0.0, "softening": 0.0}


def fitted(rows, **options):
    label, score, weight = rows
    return IsotonicRecursivePartitioning(**{**WHOLE, **options}).fit(score, label, weight)


def lists(rows):
    label, score, weight = rows
    return score.tolist(), label.tolist(), weight.astype(int).tolist()


def tree_of(rows, **options):
    label, score, weight = rows
    problem = as_problem(label, score, sample_weight=weight, labels=[0, 1])
    return isotonic_tree(Blocks.of(Ordered.of(problem)), **options)


# The order of the cuts


@given(rows=few)
def test_cuts_come_in_the_order_of_the_definition_over_all_cuts_of_all_regions(rows):
    stages, thresholds, gains = twin.grow(*lists(rows))
    ours = fitted(rows)
    assert ours.threshold_.tolist() == thresholds
    np.testing.assert_allclose(ours.gain_, np.array(gains, dtype=float), atol=1e-12)
    assert ours.left_.tolist() == [region[0] for region in stages[-1]]


@given(rows=columns(min_rows=2))
def test_a_border_parts_the_scores_that_the_block_above_begins_with(rows):
    blocks = tree_of(rows).blocks
    for left, border in zip(blocks.left[1:], blocks.border, strict=True):
        np.testing.assert_array_equal(rows[1] > border, rows[1] >= left)


# The map


@given(rows=columns(weights=st.one_of(whole_weights, st.floats(0.1, 5.0))))
def test_run_to_the_end_it_is_isotonic_regression_to_the_last_bit(rows):
    ours, theirs = fitted(rows), IsotonicCalibration(finite=None).fit(rows[1], rows[0], rows[2])
    np.testing.assert_array_equal(ours.left_, theirs.left_)
    np.testing.assert_array_equal(ours.value_, theirs.value_)
    assert ours.n_bins_ == theirs.value_.size


@given(rows=few, new=new_scores, max_bins=st.integers(1, 4), smoothing=st.sampled_from([0.0, 0.5, 3.0]))
def test_the_map_is_what_its_definition_says(rows, new, max_bins, smoothing):
    regions = twin.grow(*lists(rows), max_bins)[0][-1]
    value = twin.values(*lists(rows), regions, smoothing)
    ours = fitted(rows, max_bins=max_bins, smoothing=smoothing)
    np.testing.assert_allclose(ours.calibrate(new), [twin.predict(regions, value, s) for s in new], rtol=1e-9)


@given(rows=columns(), smoothing=st.sampled_from([0.0, 2.0]))
def test_a_stage_is_the_map_that_stops_there(rows, smoothing):
    new = np.linspace(0.0, 1.0, 11)
    for n_bins, prob in enumerate(fitted(rows, smoothing=smoothing).staged_predict_proba(new), 1):
        stopped = fitted(rows, smoothing=smoothing, max_bins=n_bins)
        np.testing.assert_array_equal(stopped.predict_proba(new), prob)


def test_one_row_is_one_bin_of_the_strongest_smoothing():
    ours = IsotonicRecursivePartitioning(max_bins="cv", smoothing="cv").fit([0.3], [1])
    assert (ours.n_bins_, ours.smoothing_) == (1, 16.0)
    assert ours.calibrate([0.9]) == pytest.approx([17 / 33])


# What cross-validation compares


@given(rows=columns(), held=columns())
def test_losses_along_the_path_are_those_of_its_stages(rows, held):
    tree = tree_of(rows)
    label, score, weight = held
    problem = as_problem(label, score, sample_weight=weight, labels=[0, 1])
    stages, added = np.arange(1, tree.cut.size + 2), (0.0, 1.0, 8.0)
    found = path_loss(tree, problem, stages, added)
    assert found.weight == weight.sum()
    for j, a in enumerate(added):
        for i, prob in enumerate(fitted(rows, smoothing=a).staged_predict_proba(score)):
            prob = np.clip(prob, 1e-12, 1 - 1e-12)
            expected = weight @ -np.log(prob[np.arange(label.size), label])
            assert found.loss[i, j] == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_cross_validation_takes_the_best_of_all_stages_of_maps_that_have_not_seen_the_rows(seed):
    rng = np.random.default_rng(seed)
    score = rng.random(150)
    label = (rng.random(150) < 0.5 * score).astype(int)
    row, mean = np.arange(150), {}
    for smoothing in SMOOTHINGS:
        losses = []
        for kept, left_out in folds_of(as_simplex(as_problem(label, score))):
            of_fold = fitted((label, score, kept), smoothing=smoothing)
            stages = [prob[row, label] for prob in of_fold.staged_predict_proba(score)]
            losses.append([left_out @ -np.log(prob) for prob in stages])
        for n_bins in range(1, max(map(len, losses)) + 1):
            mean[n_bins, -smoothing] = sum(loss[:n_bins][-1] for loss in losses)
    n_bins, smoothing = min((loss, which) for which, loss in mean.items())[1]
    chosen = fitted((label, score, None), max_bins="cv", smoothing="cv")
    assert (chosen.threshold_.size + 1, chosen.smoothing_) == (n_bins, -smoothing)


@given(
    parts=st.sampled_from([10, 20, 30]),
    rows=st.lists(st.tuples(st.integers(0, 10), st.integers(0, 1), whole_weights), min_size=2, max_size=8),
    softening=st.sampled_from([Fraction(3, 10), Fraction(4, 5)]),
    smoothing=st.sampled_from([0.0, 2.0]),
)
# Two cuts gain alike; the rates of two scores are one.
@example(parts=30, rows=[(4, 1, 1), (2, 1, 1), (0, 1, 1)], softening=Fraction(3, 10), smoothing=0.0)
@example(parts=20, rows=[(0, 1, 1), (5, 0, 1)], softening=Fraction(4, 5), smoothing=0.0)
def test_a_softened_label_is_the_class_that_came_and_the_event_as_the_score_says(parts, rows, softening, smoothing):
    """Of decimals: cut as their fractions are."""
    score, label, weight = (np.array(part) for part in zip(*rows, strict=True))
    exact = [Fraction(int(s), parts) for s in score]
    of_rows = zip(exact, label.tolist(), weight.tolist(), strict=True)
    event = [w * ((1 - softening) * y + softening * s) for s, y, w in of_rows]
    shares = event + [w - share for w, share in zip(weight.tolist(), event, strict=True)]
    soft = exact * 2, [1] * len(rows) + [0] * len(rows), shares
    stages, thresholds, gains = twin.grow(*soft)
    found = fitted((label, score / parts, weight), softening=float(softening), smoothing=smoothing, labels=[0, 1])
    np.testing.assert_array_equal(found.threshold_, [t.numerator / t.denominator for t in thresholds])
    np.testing.assert_allclose(found.gain_, np.array(gains, dtype=float), atol=1e-12)
    value = twin.values(*soft, stages[-1], smoothing)
    expected = [twin.predict(stages[-1], value, s) for s in exact]
    np.testing.assert_allclose(found.calibrate(score / parts), expected, rtol=1e-9, atol=1e-12)


def test_a_hundred_bins_that_all_count_are_all_kept():
    rate = np.linspace(0.005, 0.995, 100)
    weight = np.rint(1e6 * np.column_stack([1.0 - rate, rate])).ravel()
    rows = np.tile([0, 1], 100), np.repeat(rate, 2), weight
    assert fitted(rows, max_bins="cv", smoothing="cv").n_bins_ == 100


# Where it is used


def test_where_some_labels_are_softened_less_smoothing_is_tried_too():
    assert tried("cv", "cv") == (SMOOTHINGS_IF_SOFTENED, SOFTENINGS)
    assert tried("cv", 0.0) == (SMOOTHINGS, (0.0,))
    assert tried(0.5, "cv") == ((0.5,), SOFTENINGS)
