import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import mix_n_match as twin
from strategies import tables

from calibrant.calibrators import IsotonicTemperatureScaling

pytestmark = [
    pytest.mark.filterwarnings("ignore:only the class"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

three = st.just(3)


@pytest.mark.parametrize("epsilon", [0.0, 1e-3])
@given(rows=tables(n_classes=three))
def test_the_map_is_what_its_definition_says(epsilon, rows):
    label, prob, weight = rows
    calibrator = IsotonicTemperatureScaling(epsilon=epsilon, labels=range(3)).fit(prob, label, weight)
    new = np.vstack([prob, np.eye(3), np.full((1, 3), 1 / 3)])
    expected = twin.isotonic_temperature(
        prob.tolist(), label.tolist(), weight.tolist(), new.tolist(), calibrator.temperature_, epsilon
    )
    np.testing.assert_allclose(calibrator.predict_proba(new), expected, rtol=1e-7, atol=1e-9)
