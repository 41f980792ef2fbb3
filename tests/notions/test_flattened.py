import numpy as np
import pytest
from hypothesis import given
from strategies import tables

from calibrant import ByNotion, IsotonicCalibration
from calibrant.calibrators import MulticlassIsotonic

pytestmark = pytest.mark.filterwarnings("ignore:only the class")


@given(rows=tables())
def test_isotonic_by_flattened_is_flattened_isotonic_regression(rows):
    """Where the map is zero in all of a row, one keeps the forecast and the other makes it uniform."""
    label, prob, weight = rows
    labels = range(prob.shape[1])
    ours = (
        ByNotion(IsotonicCalibration(finite=None), "flattened", labels=labels)
        .fit(prob, label, weight)
        .predict_proba(prob)
    )
    other = MulticlassIsotonic(epsilon=0.0, labels=labels).fit(prob, label, weight).predict_proba(prob)
    np.testing.assert_allclose(ours, other, rtol=1e-12)
