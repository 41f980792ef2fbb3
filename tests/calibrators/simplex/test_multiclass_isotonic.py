import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import mix_n_match as twin
from strategies import tables

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
