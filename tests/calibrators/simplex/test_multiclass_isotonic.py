import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import mix_n_match as twin
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


def test_without_epsilon_a_row_where_the_map_is_zero_keeps_its_forecast():
    prob = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    fitted = MulticlassIsotonic(epsilon=0.0).fit([[0.1, 0.2, 0.7], [0.7, 0.2, 0.1], [0.1, 0.7, 0.2]], [2, 0, 1])
    np.testing.assert_array_equal(fitted.predict_proba(prob)[0], prob[0])
    np.testing.assert_array_equal(fitted.predict_proba(prob)[1], [0.0, 0.0, 1.0])


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
