import numpy as np
import pytest

from calibrant.datasets import (
    load_hallenbeck_forecasts,
    load_survey_table_2,
    load_survey_table_3,
    load_top_label_example,
    load_two_patients,
)


def test_hallenbeck_has_the_forecasts_and_rains_of_the_printed_table():
    y, prob = load_hallenbeck_forecasts()
    printed = {
        0.95: (1, 1),
        0.85: (1, 1),
        0.75: (7, 6),
        0.65: (15, 11),
        0.55: (13, 8),
        0.45: (15, 8),
        0.35: (18, 6),
        0.25: (31, 7),
        0.15: (22, 4),
    }
    assert {p: (int((prob == p).sum()), int(y[prob == p].sum())) for p in sorted(set(prob))} == printed
    assert len(y) == 123


def test_the_second_table_has_the_models_of_its_caption():
    toy = load_survey_table_2()
    x = toy.x
    forecast = np.column_stack([0.3 * x[:, 2], 0.1 * x[:, 1], 1 - 0.3 * x[:, 2] - 0.1 * x[:, 1]])
    np.testing.assert_allclose(toy.prob, forecast, atol=1e-15)
    assert np.bincount(toy.y).tolist() == [0, 4, 4, 2]


@pytest.mark.parametrize("given", ["x", "prob"])
def test_the_second_table_is_representative(given):
    """Mean outcomes of equal features are the posterior, those of equal forecasts the calibrated probabilities."""
    toy = load_survey_table_2()
    outcome, key = np.eye(3)[toy.y - 1], getattr(toy, given)
    expected = toy.posterior if given == "x" else toy.calibrated
    for value in np.unique(key, axis=0):
        same = (key == value).all(axis=1)
        np.testing.assert_allclose(expected[same], np.broadcast_to(outcome[same].mean(axis=0), (same.sum(), 3)))


def test_the_third_table_holds_tenths_and_thirds_as_near_as_floats_come():
    y, prob = load_survey_table_3()
    assert np.bincount(y).tolist() == [0, 10, 10, 10]
    assert set(prob.ravel()) <= {*(k / 10 for k in range(11)), 1 / 3}
    assert (prob == 1 / 3).all(axis=1).sum() == 2
    assert prob.sum(axis=1) == pytest.approx(1, abs=1e-15)


def test_the_six_points_are_those_of_the_printed_table():
    """Panel (a) of the paper, a line a class."""
    y, prob = load_top_label_example()
    lines = ("0.1 0.6 0.2 0.0 0.0 0.9", "0.0 0.0 0.7 0.1 0.1 0.1", "0.6 0.1 0.0 0.1 0.8 0.0", "0.3 0.3 0.1 0.8 0.1 0.0")
    assert prob.T.tolist() == [[float(tenths) for tenths in line.split()] for line in lines]
    assert y.tolist() == [3, 4, 2, 1, 4, 1]
    assert prob.sum(axis=1) == pytest.approx(1, abs=1e-15)


def test_the_six_points_have_no_ties_at_the_top_and_the_printed_classes_there():
    prob = load_top_label_example()[1]
    assert (np.sort(prob, axis=1)[:, -1] > np.sort(prob, axis=1)[:, -2]).all()
    assert (prob.argmax(axis=1) + 1).tolist() == [3, 1, 2, 4, 3, 1]


def test_the_two_patients_are_representative_and_right_on_average_alone():
    toy = load_two_patients()
    outcome, predicted = np.eye(2)[toy.y - 1], toy.prob.argmax(axis=1)
    for patient, truth in ((0, 0.2), (1, 1.0)):
        same = toy.x == patient
        np.testing.assert_allclose(toy.posterior[same], [outcome[same].mean(axis=0)] * 5)
        assert np.unique(toy.prob[same], axis=0).shape == (1, 2)
        assert toy.posterior[same, predicted[same]] == pytest.approx([truth] * 5)
    assert (toy.y - 1 == predicted).mean() == pytest.approx(toy.prob.max())
    assert toy.calibrated is not None
    np.testing.assert_array_equal(toy.calibrated, toy.posterior)
