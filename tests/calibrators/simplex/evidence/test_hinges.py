import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from reference import evidence_scaling as twin

from calibrant.calibrators.evidence_features import Hinges, LogOddsFeatures, weighted_quantiles

AT = np.array([0.1, 0.25, 0.5, 0.75, 0.9])
numbers = st.lists(st.tuples(st.integers(-4, 4), st.integers(1, 3)), min_size=1, max_size=12)


@given(rows=numbers)
def test_quantiles_turn_with_the_axis_and_weights_are_repeated_rows(rows):
    x, weight = np.array(rows, dtype=float).T
    found = weighted_quantiles(x, weight, AT)
    np.testing.assert_array_equal(found, [twin.quantile(x, weight, at) for at in AT])
    np.testing.assert_array_equal(found, -weighted_quantiles(-x, weight, 1.0 - AT))
    repeated = np.repeat(x, weight.astype(int))
    np.testing.assert_array_equal(found, weighted_quantiles(repeated, np.ones(len(repeated)), AT))


def test_a_sum_of_hinges_and_a_line_turns_with_the_axis():
    knots, x = np.array([-2.0, -0.5, 0.0, 1.0]), np.linspace(-3, 3, 50)
    hinges = np.stack(Hinges.at(knots, 0.0).of(x))
    turned = np.stack(Hinges.at(-knots, 0.0).of(-x))
    np.testing.assert_allclose(hinges, turned[::-1])


def test_knots_that_rounding_parts_are_one():
    assert len(Hinges.at(np.array([1.0, 1.0 + 1e-13, 2.0]), 1.0).knots) == 2
    assert np.isfinite(Hinges.at(np.array([1.0]), 1.0).of(np.array([0.0, 3.0]))).all()


def test_ranks_of_many_rows_are_few_numbers():
    z = np.random.default_rng(0).normal(size=(3000, 2))
    z -= np.logaddexp(z[:, :1], z[:, 1:])
    few = LogOddsFeatures.measured(z, np.ones(3000))
    assert few.ranked.shape[1] < 520
    log_odds = z[:, 1] - z[:, 0]
    exact = (np.argsort(np.argsort(log_odds)) + 0.5) / 3000
    np.testing.assert_allclose(np.interp(log_odds, *few.ranked), exact, atol=2e-3)
