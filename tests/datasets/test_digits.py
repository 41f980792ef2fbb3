import pytest

from calibrant import load_digits_forecast


def test_the_digits_are_a_table_of_probabilities():
    y, prob = load_digits_forecast()
    assert prob.shape == (len(y), 10) == (1497, 10)
    assert prob.sum(axis=1) == pytest.approx(1, abs=1e-3)
    assert set(y) == set(range(10))
