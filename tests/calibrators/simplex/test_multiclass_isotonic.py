import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import mix_n_match as twin
from sklearn.isotonic import IsotonicRegression
from strategies import tables

from calibrant import log_loss
from calibrant.calibrators import MulticlassIsotonic

# Drawn rows may all be of one class; that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore:only the class")

three = st.just(3)


@pytest.mark.parametrize("epsilon", [0.0, 1e-3, 1.0])
@given(rows=tables(n_classes=three), new=tables(n_classes=three))
def test_the_map_is_what_its_definition_says(epsilon, rows, new):
    label, prob, weight = rows
    calibrator = MulticlassIsotonic(epsilon=epsilon, labels=range(3)).fit(prob, label, weight)
    other = np.vstack([prob, new[1]])
    expected = twin.multiclass_isotonic(prob.tolist(), label.tolist(), weight.tolist(), other.tolist(), epsilon)
    np.testing.assert_allclose(calibrator.predict_proba(other), expected, rtol=1e-9, atol=1e-12)


def test_fitted_rows_agree_with_scikit_learn_on_all_scores_at_once():
    rng = np.random.default_rng(0)
    prob, label = rng.dirichlet(np.ones(4), 200), rng.integers(0, 4, 200)
    occurred = (label[:, None] == np.arange(4)).ravel().astype(float)
    theirs = IsotonicRegression().fit_transform(prob.ravel(), occurred).reshape(prob.shape)
    ours = MulticlassIsotonic(epsilon=0.0).fit(prob, label).predict_proba(prob)
    np.testing.assert_allclose(ours, theirs / theirs.sum(axis=1, keepdims=True), atol=1e-12)


@given(rows=tables())
def test_of_two_classes_the_one_with_more_keeps_more(rows):
    label, prob, weight = rows
    calibrated = MulticlassIsotonic(labels=range(prob.shape[1])).fit(prob, label, weight).predict_proba(prob)
    more = prob[:, :, None] > prob[:, None, :] + 1e-9
    assert (calibrated[:, :, None] > calibrated[:, None, :])[more].all()


@given(rows=tables())
def test_classes_with_equal_scores_keep_them_equal(rows):
    label, prob, weight = rows
    calibrated = MulticlassIsotonic(labels=range(prob.shape[1])).fit(prob, label, weight).predict_proba(prob)
    equal = prob[:, :, None] == prob[:, None, :]
    assert (calibrated[:, :, None] == calibrated[:, None, :])[equal].all()


def test_without_epsilon_a_row_where_the_map_is_zero_keeps_its_forecast():
    prob = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    fitted = MulticlassIsotonic(epsilon=0.0).fit([[0.1, 0.2, 0.7], [0.7, 0.2, 0.1], [0.1, 0.7, 0.2]], [2, 0, 1])
    np.testing.assert_array_equal(fitted.predict_proba(prob)[0], prob[0])
    np.testing.assert_array_equal(fitted.predict_proba(prob)[1], [0.0, 0.0, 1.0])


def test_a_score_above_zero_keeps_a_probability_where_its_rate_is_zero():
    fitted = MulticlassIsotonic().fit([[0.1, 0.2, 0.7], [0.7, 0.2, 0.1], [0.1, 0.7, 0.2]], [2, 0, 1])
    assert fitted.value_[0] == 0.0
    assert (fitted.predict_proba([[0.1, 0.2, 0.7]]) > 0).all()


def test_blocks_are_ordered_and_their_rates_increase():
    rng = np.random.default_rng(1)
    prob = rng.dirichlet(np.ones(5), 300)
    label = (rng.random((300, 1)) > prob.cumsum(axis=1)).sum(axis=1).clip(0, 4)
    fitted = MulticlassIsotonic().fit(prob, label)
    assert (np.diff(fitted.left_) > 0).all()
    assert (np.diff(fitted.value_) > 0).all()


def test_one_class_only_still_tells_its_scores_from_the_others():
    fitted = MulticlassIsotonic(labels=range(3)).fit([[0.6, 0.3, 0.1], [0.8, 0.1, 0.1]], [0, 0])
    np.testing.assert_allclose(fitted.predict_proba([[0.7, 0.2, 0.1]]), [[1, 0, 0]], atol=1e-3)


@pytest.mark.parametrize("epsilon", [-1e-9, 1.5, float("nan"), "small", None, True])
def test_an_epsilon_that_is_no_small_number_is_refused(epsilon):
    wanted = r"epsilon must be a number, at least 0 and at most 1; got .* Pass a small one"
    with pytest.raises((ValueError, TypeError), match=wanted):
        MulticlassIsotonic(epsilon=epsilon).fit([[0.6, 0.4], [0.3, 0.7]], [0, 1])


@pytest.mark.filterwarnings("ignore:log loss")  # isotonic regression calls events impossible
@pytest.mark.parametrize(
    ("name", "expected", "blocks"),
    [("cifar10_lenet5", 1.33159, 68), ("cifar100_densenet_bc", 0.88739, 76), ("cifar100_lenet5", 3.81919, 89)],
)
def test_without_epsilon_it_has_the_figures_of_flattened_isotonic_regression(name, expected, blocks, data_dir):
    data = np.load(data_dir / f"{name}.npz")
    prob = data["P"].astype(np.float64)
    prob /= prob.sum(axis=1, keepdims=True)
    fitted = MulticlassIsotonic(epsilon=0.0).fit(prob[:5000], data["y"][:5000])
    assert fitted.value_.size == blocks
    assert log_loss(data["y"][5000:], fitted.predict_proba(prob[5000:]), clip=1e-12) == pytest.approx(
        expected, abs=5.1e-6
    )
