import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from reference import evidence_scaling as twin

from calibrant.calibrators.evidence_features import weighted_quantiles

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
