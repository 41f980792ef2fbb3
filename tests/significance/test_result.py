"""What every test returns, and the laws that p-values come from."""

import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calibrant.significance import TestResult
from calibrant.significance.result import Draws, chi_squared, label_draws, standard_normal

RESULT = TestResult("Hosmer-Lemeshow", 25.3004, 0.0003004, chi_squared(6), ("Rows are independent.", "And more."))


def test_a_result_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        RESULT.pvalue = 0.5


def test_its_name_is_no_test_for_pytest():
    assert TestResult.__test__ is False


def test_its_repr_is_short():
    assert repr(RESULT) == "TestResult(Hosmer-Lemeshow: statistic=25.3004, df=6, pvalue<=0.001)"
    assert repr(RESULT.null) == "NullDistribution(chi-squared, 6 degrees of freedom)"


def test_a_frame_has_a_row():
    frame = RESULT.to_frame("pandas")
    assert frame.iloc[0].to_dict() == {
        "test": "Hosmer-Lemeshow",
        "statistic": 25.3004,
        "df": 6,
        "pvalue": 0.0003004,
        "alternative": "greater",
        "null": "chi-squared, 6 degrees of freedom",
        "hypothesis": "the forecast is calibrated",
        "assumptions": "Rows are independent. And more.",
    }


def test_a_result_survives_pickle():
    again = pickle.loads(pickle.dumps(RESULT))
    assert repr(again) == repr(RESULT)
    assert again.null.sf(3.0) == RESULT.null.sf(3.0)


@pytest.mark.parametrize("df", [1, 2, 3, 6, 90])
def test_the_chi_squared_law_is_that_of_scipy(df):
    x = np.array([0.0, 1e-6, 0.5, 1.0, 7.0, 100.0, np.inf])
    law = chi_squared(df)
    np.testing.assert_allclose(law.sf(x), stats.chi2(df).sf(x), rtol=1e-12)
    assert law.df == df


def test_a_chi_squared_law_without_freedom_is_all_at_zero():
    law = chi_squared(0)
    np.testing.assert_array_equal(law.sf([0.0, 1e-9, 5.0]), [1.0, 0.0, 0.0])
    assert chi_squared(1).description == "chi-squared, 1 degree of freedom"


def test_the_normal_law_is_that_of_scipy():
    x = np.array([-40.0, -1.0, 0.0, 2.0, 37.0])
    np.testing.assert_allclose(standard_normal().sf(x), stats.norm.sf(x), rtol=1e-12)


@given(values=st.lists(st.floats(-5, 5), min_size=1, max_size=30), at=st.floats(-6, 6))
def test_the_share_of_draws_counts_the_observed_value_and_ties(values, at):
    reach = sum(1 for v in values if v >= at - 1e-9 * abs(at))
    assert label_draws(np.array(values)).sf(at) == (1 + reach) / (1 + len(values))


def test_no_draw_makes_a_pvalue_of_zero():
    assert label_draws(np.zeros(99)).sf(np.inf) == 0.01


def test_draws_that_differ_by_rounding_are_ties():
    assert label_draws(np.array([0.1 + 0.2, 0.0])).sf(0.3 * (1 + 1e-12)) == 2 / 3


def test_draws_are_read_only():
    null = Draws("draws", np.zeros(3))
    with pytest.raises(ValueError, match="read-only"):
        null.values[0] = 1.0
