import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import centered_isotonic as twin
from sklearn.metrics import roc_auc_score
from strategies import columns, scores

from calibrant import ByNotion, IsotonicCalibration, brier_score_loss, log_loss
from calibrant.calibrators import CenteredIsotonicCalibration
from calibrant.exceptions import CalibrationWarning

# Drawn rows may all be of one class; that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore:only the class", "ignore:no calibration row")

new_scores = st.lists(scores, min_size=1, max_size=20)
some_weights = st.one_of(st.integers(1, 4), st.floats(0.1, 5.0))


@given(rows=columns(weights=some_weights), new=new_scores)
def test_the_map_is_what_its_definition_says(rows, new):
    label, score, weight = rows
    fitted = CenteredIsotonicCalibration(finite=None).fit(score, label, weight)
    dots = twin.points(score.tolist(), label.tolist(), weight.tolist())
    near = [*new, *score.tolist()]
    np.testing.assert_allclose(fitted.calibrate(near), [twin.calibrated(dots, s) for s in near], rtol=1e-9, atol=1e-12)


def test_the_worked_example_of_four_points():
    """Two rows out of order become one point in their middle: cir-model prints 32 of 100 at 3 and 37.5 of 100 beyond."""
    score = np.repeat([0.1, 0.2, 0.3, 0.4], 100)
    label = np.concatenate([np.arange(100) < events for events in (1, 21, 41, 34)])
    fitted = CenteredIsotonicCalibration(finite=None).fit(score, label)
    assert fitted.calibrate([0.1, 0.2, 0.3, 0.4]) == pytest.approx([0.01, 0.21, 0.32, 0.375])


@given(rows=columns(weights=some_weights))
def test_each_block_inside_is_a_knot_at_its_mean_score(rows):
    label, score, weight = rows
    blocks, fitted = (
        c(finite=None).fit(score, label, weight) for c in (IsotonicCalibration, CenteredIsotonicCalibration)
    )
    inside = [b for b, v in enumerate(blocks.value_) if 0 < v < 1]
    is_inside = (fitted.value_ > 0) & (fitted.value_ < 1)
    assert fitted.value_[is_inside].tolist() == blocks.value_[inside].tolist()
    for knot, b in zip(fitted.knot_[is_inside], inside, strict=True):
        here = (score >= blocks.left_[b]) & (score <= blocks.right_[b])
        assert knot == pytest.approx(np.average(score[here], weights=weight[here]), abs=1e-15)


@given(rows=columns())
def test_a_block_at_0_or_1_stays_as_wide_as_it_is(rows):
    label, score, weight = rows
    blocks, fitted = (
        c(finite=None).fit(score, label, weight) for c in (IsotonicCalibration, CenteredIsotonicCalibration)
    )
    for end in (0.0, 1.0):
        wide = [s for b, v in enumerate(blocks.value_) if v == end for s in (blocks.left_[b], blocks.right_[b])]
        assert fitted.knot_[fitted.value_ == end].tolist() == sorted(set(wide))


on_a_grid = st.integers(0, 1000).map(lambda k: k / 1000)


@given(st.lists(st.tuples(on_a_grid, st.integers(0, 1)), min_size=2, max_size=40), st.lists(on_a_grid, min_size=2))
def test_between_the_ends_the_map_increases_strictly(rows, new):
    score, label = np.array(rows).T
    fitted = CenteredIsotonicCalibration(finite=None).fit(score, label.astype(int))
    low, high = fitted.value_[0], fitted.value_[-1]
    prob = fitted.calibrate(np.unique(new))
    inside = prob[(prob > low) & (prob < high)]
    assert (np.diff(inside) > 0).all()
    assert (np.diff(fitted.knot_) > 0).all()


@pytest.mark.parametrize("seed", range(5))
def test_scores_stay_apart_that_isotonic_regression_ties(seed):
    rng = np.random.default_rng(seed)
    score = rng.random(500)
    label = (rng.random(500) < 0.2 + 0.6 * score).astype(int)
    line, step = (
        c(finite=None).fit(score, label).calibrate(score) for c in (CenteredIsotonicCalibration, IsotonicCalibration)
    )
    assert np.unique(line).size > 400 > 40 > np.unique(step).size
    assert roc_auc_score(label, line) >= roc_auc_score(label, score) - 0.01


@pytest.mark.parametrize("finite", ["smooth", "clip", 0.01])
@given(rows=columns(), new=new_scores)
def test_finite_keeps_the_map_off_0_and_1(finite, rows, new):
    label, score, weight = rows
    fitted = CenteredIsotonicCalibration(finite=finite).fit(score, label, weight)
    blocks = IsotonicCalibration(finite=finite).fit(score, label, weight)
    assert fitted.value_.tolist() == blocks.value_.tolist()
    prob = fitted.predict_proba(new)
    assert prob.min() > 0


def test_where_the_truth_is_smooth_it_is_nearer_to_it_than_the_steps():
    grid = np.linspace(0.1, 0.9, 81)
    closer = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        score = rng.random(400)
        label = (rng.random(400) < 0.1 + 0.8 * score**2).astype(int)
        errors = [
            np.square(c(finite=None).fit(score, label).calibrate(grid) - (0.1 + 0.8 * grid**2)).mean()
            for c in (CenteredIsotonicCalibration, IsotonicCalibration)
        ]
        closer.append(errors[0] < errors[1])
    assert sum(closer) >= 17


@given(rows=columns(weights=st.integers(1, 4)))
def test_the_classes_are_treated_alike(rows):
    label, score, weight = rows
    score = np.round(score * 64) / 64  # one minus it is exact
    forward = CenteredIsotonicCalibration(finite=None).fit(score, label, weight).calibrate(score)
    backward = CenteredIsotonicCalibration(finite=None).fit(1 - score, 1 - label, weight).calibrate(1 - score)
    np.testing.assert_allclose(backward, 1 - forward, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_only_is_a_constant(label):
    with pytest.warns(CalibrationWarning, match=f"only the class {label} occurs in the 2 calibration rows"):
        fitted = CenteredIsotonicCalibration(finite=None).fit([0.2, 0.7], [label, label])
    assert fitted.calibrate([0.0, 0.5, 1.0]).tolist() == [label] * 3


def test_a_score_that_falls_as_events_rise_is_one_point():
    fitted = CenteredIsotonicCalibration(finite=None).fit([0.1, 0.2, 0.6], [1, 1, 0])
    assert fitted.knot_ == pytest.approx([0.3])
    assert fitted.calibrate([0.0, 1.0]) == pytest.approx([2 / 3, 2 / 3])


def test_the_fit_on_its_rows_is_a_little_worse_than_the_best_steps():
    rng = np.random.default_rng(0)
    score = rng.random(300)
    label = (rng.random(300) < score).astype(int)
    line, step = (
        brier_score_loss(label, c(finite=None).fit(score, label).calibrate(score))
        for c in (CenteredIsotonicCalibration, IsotonicCalibration)
    )
    assert step <= line < step + 0.02


@pytest.mark.first(1)
@pytest.mark.filterwarnings("ignore:log loss")  # isotonic regression calls events impossible
@pytest.mark.parametrize("name", ["cifar10_lenet5", "cifar100_densenet_bc", "cifar100_lenet5"])
def test_smoothed_it_has_less_log_loss_on_new_rows_than_isotonic_regression(data_dir, name):
    with np.load(data_dir / f"{name}.npz") as data:
        prob, label = data["P"].astype(float), data["y"]

    def held_out(calibrator):
        fitted = ByNotion(calibrator, "class-wise").fit(prob[:5000], label[:5000])
        return log_loss(label[5000:], fitted.predict_proba(prob[5000:]))

    steps = [held_out(IsotonicCalibration(finite=finite)) for finite in (None, "clip", 1e-3, "smooth")]
    assert held_out(CenteredIsotonicCalibration(finite="smooth")) < min(steps)


def test_a_knot_has_its_own_value_where_the_slope_rounds_down():
    from calibrant.calibrators.isotonic import joined

    low, high = 0.1, 0.45
    assert low + (high - low) < high
    assert joined(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0]), np.array([low, high])).tolist() == [low, high, high]
