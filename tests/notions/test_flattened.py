import numpy as np
import pytest
from hypothesis import given
from strategies import tables

from calibrant import ByNotion, HistogramBinning, IsotonicCalibration
from calibrant._core.border import as_problem
from calibrant.calibrators import MulticlassIsotonic
from calibrant.notions import as_notion

pytestmark = pytest.mark.filterwarnings("ignore:only the class")


@given(rows=tables())
def test_the_one_problem_holds_every_score_of_every_row(rows):
    label, prob, weight = rows
    (binary,) = as_notion("flattened").split(as_problem(label, prob, sample_weight=weight, labels=range(prob.shape[1])))
    found = list(zip(binary.score.tolist(), binary.outcome.tolist(), binary.weight.tolist(), strict=True))
    assert found == [
        (p, j == y, w) for row, y, w in zip(prob.tolist(), label, weight, strict=True) for j, p in enumerate(row)
    ]
    assert binary.share == pytest.approx(1.0)


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


@given(rows=tables())
def test_within_a_row_it_preserves_the_order(rows):
    label, prob, weight = rows
    calibrator = ByNotion(IsotonicCalibration(finite=None), "flattened", labels=range(prob.shape[1])).fit(
        prob, label, weight
    )
    calibrated = calibrator.predict_proba(prob)
    more = prob[:, :, None] > prob[:, None, :]
    assert (calibrated[:, :, None] >= calibrated[:, None, :])[more].all()


@pytest.mark.parametrize("calibrator", [IsotonicCalibration(finite=None), HistogramBinning(10)])
def test_renaming_the_classes_renames_the_result(calibrator):
    rng = np.random.default_rng(0)
    prob, label = rng.dirichlet(np.ones(4), 100), rng.integers(0, 4, 100)
    turned = np.array([2, 0, 3, 1])
    before = ByNotion(calibrator, "flattened").fit(prob, label).predict_proba(prob)
    after = ByNotion(calibrator, "flattened").fit(prob[:, turned], np.argsort(turned)[label])
    np.testing.assert_allclose(after.predict_proba(prob[:, turned]), before[:, turned], rtol=1e-12)
