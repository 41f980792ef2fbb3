import numpy as np
import pytest

from calibrant import datasets


def test_the_second_table_has_the_models_of_its_caption():
    toy = datasets.load_survey_table_2()
    x = toy.x
    forecast = np.column_stack([0.3 * x[:, 2], 0.1 * x[:, 1], 1 - 0.3 * x[:, 2] - 0.1 * x[:, 1]])
    np.testing.assert_allclose(toy.prob, forecast, atol=1e-15)
    assert np.bincount(toy.y).tolist() == [0, 4, 4, 2]


@pytest.mark.parametrize("given", ["x", "prob"])
def test_the_second_table_is_representative(given):
    """Mean outcomes of equal features are the posterior, those of equal forecasts the calibrated probabilities."""
    toy = datasets.load_survey_table_2()
    outcome, key = np.eye(3)[toy.y - 1], getattr(toy, given)
    expected = toy.posterior if given == "x" else toy.calibrated
    for value in np.unique(key, axis=0):
        same = (key == value).all(axis=1)
        np.testing.assert_allclose(expected[same], np.broadcast_to(outcome[same].mean(axis=0), (same.sum(), 3)))


def test_the_two_patients_are_representative_and_right_on_average_alone():
    toy = datasets.load_two_patients()
    outcome, predicted = np.eye(2)[toy.y - 1], toy.prob.argmax(axis=1)
    for patient, truth in ((0, 0.2), (1, 1.0)):
        same = toy.x == patient
        np.testing.assert_allclose(toy.posterior[same], [outcome[same].mean(axis=0)] * 5)
        assert np.unique(toy.prob[same], axis=0).shape == (1, 2)
        assert toy.posterior[same, predicted[same]] == pytest.approx([truth] * 5)
    assert (toy.y - 1 == predicted).mean() == pytest.approx(toy.prob.max())
    assert toy.calibrated is not None
    np.testing.assert_array_equal(toy.calibrated, toy.posterior)
