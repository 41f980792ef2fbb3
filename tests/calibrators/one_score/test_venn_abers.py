import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import venn_abers as twin
from strategies import columns, scores

from calibrant.calibrators.isotonic import VennAbers

# Drawn rows may all be of one class; that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore:only the class")

new_scores = st.lists(scores, min_size=1, max_size=8)
fractions = st.sampled_from([0.1, 0.3, 1.5, 2.25])


def expected_intervals(rows, new, more):
    label, score, weight = (column.tolist() for column in rows)
    return np.array([twin.interval(score, label, weight, s, more) for s in new])


@given(rows=columns(max_rows=12), new=new_scores)
def test_intervals_are_isotonic_fits_to_the_rows_and_the_new_score(rows, new):
    label, score, weight = rows
    new = [*new, *score[:4]]
    fitted = VennAbers().fit(score, label, weight)
    expected = expected_intervals(rows, new, 1.0)
    np.testing.assert_allclose(fitted.predict_interval(new), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fitted.calibrate(new), [twin.merged(*pair) for pair in expected], rtol=1e-9)


@given(rows=columns(max_rows=12, weights=fractions), new=new_scores)
def test_the_new_score_weighs_what_rows_weigh_on_average(rows, new):
    label, score, weight = rows
    expected = expected_intervals(rows, new, float(weight.mean()))
    np.testing.assert_allclose(
        VennAbers().fit(score, label, weight).predict_interval(new), expected, rtol=1e-9, atol=1e-12
    )
