"""Errors of what is predicted: the worked example by hand, and pairs of a label and its probability."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables

from calibrant import EqualMass, top_label_calibration_error
from calibrant.binning import Unique
from calibrant.metrics import top_label_maximum_calibration_error

# Pairs

METRICS = [top_label_calibration_error, top_label_maximum_calibration_error]
each_metric = pytest.mark.parametrize("metric", METRICS)


@each_metric
@pytest.mark.parametrize("binning", [1, 6, EqualMass(4), Unique()], ids=repr)
@given(rows=tables(weights=st.integers(0, 3)).filter(lambda rows: rows[2].sum() > 0))
def test_the_top_class_and_its_probability_are_as_good_as_the_table(metric, binning, rows):
    label, prob, weight = rows
    top = prob.argmax(axis=1)
    options = {"binning": binning, "sample_weight": weight}
    found = metric(label, prob.max(axis=1), y_pred=top, **options)
    assert found == pytest.approx(metric(label, prob, labels=range(prob.shape[1]), **options), rel=1e-12, abs=1e-15)


def test_a_predicted_class_that_never_came_counts():
    assert top_label_calibration_error([0, 0], [0.75, 0.5], y_pred=[0, 3]) == pytest.approx((0.25 + 0.5) / 2)
