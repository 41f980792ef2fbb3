"""Binning of the simplex."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import projection
from strategies import repeated, tables

from calibrant._core.registry import entries
from calibrant.binning import Projection, SimplexUnique
from calibrant.calibrators import CanonicalBinning
from calibrant.metrics import canonical_calibration_error

# Drawn rows may all be of one class; that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore:only the class")


def fitted(binning, rows, **options):
    label, prob, weight = rows
    return CanonicalBinning(binning, labels=range(prob.shape[1]), **options).fit(prob, label, weight)


# The map


@given(rows=tables(), n_bins=st.integers(1, 6), data=st.data())
def test_the_map_is_what_its_definition_says(rows, n_bins, data):
    label, prob, _ = repeated(rows)
    n_classes, interior = prob.shape[1], data.draw(st.booleans())
    smoothing = data.draw(st.sampled_from([0.0, 0.5, 1.0]))
    made = projection.cuts(prob.tolist(), n_bins, projection.cyclic(n_classes, 100))
    values, counts = projection.class_rates(prob.tolist(), label.tolist(), made, n_classes, interior, smoothing)
    weighted = fitted(Projection(n_bins), rows, interior=interior, smoothing=smoothing)
    np.testing.assert_allclose(weighted.value_, values, rtol=1e-12)
    assert fitted(Projection(n_bins), (label, prob, None), interior=interior).count_.tolist() == counts
    new = data.draw(tables(n_classes=st.just(n_classes)))[1]
    cells = [projection.cell(row, made) for row in new.tolist()]
    assert weighted.cells(new).tolist() == cells
    np.testing.assert_allclose(weighted.predict_proba(new), np.array(values)[cells], rtol=1e-12)


@pytest.mark.first(2)
@pytest.mark.parametrize("binning", entries("simplex-binning"))
@given(rows=tables(n_classes=st.just(3)))
def test_of_all_rows_the_map_has_no_error_over_its_own_cells(binning, rows):
    """The exact canonical error, in which a cell is a value that the map takes."""
    label, prob, weight = rows
    calibrated = fitted(binning, rows, interior=False).predict_proba(prob)
    options = {"binning": SimplexUnique(), "norm": "max", "sample_weight": weight, "labels": range(3)}
    assert canonical_calibration_error(label, calibrated, **options) == pytest.approx(0.0, abs=1e-12)
