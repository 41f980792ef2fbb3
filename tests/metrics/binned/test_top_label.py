"""Errors of what is predicted: the worked example by hand, and pairs of a label and its probability."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables

from calibrant import ByNotion, EqualMass, HistogramBinning, calibration_error, top_label_calibration_error
from calibrant.binning import Unique
from calibrant.metrics import top_label_maximum_calibration_error
from calibrant.notions import WithinGroups

# Six points of four classes, 1 to 4 (Gupta and Ramdas 2022, Figure 2).


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


def test_a_pair_of_predict_top_is_measured_as_it_is():
    rng = np.random.default_rng(0)
    prob = rng.dirichlet(np.full(3, 0.5), 400)
    label = np.array(["ape", "bee", "cat"])[[rng.choice(3, p=row) for row in prob]]
    predicted, score = ByNotion(HistogramBinning(4), "top-label").fit(prob[:200], label[:200]).predict_top(prob[200:])
    truth = label[200:]
    expected = sum(
        abs(np.mean(truth[at] == name) - value) * np.mean(at)
        for name in np.unique(predicted)
        for value in np.unique(score[predicted == name])
        for at in [(predicted == name) & (score == value)]
    )
    found = top_label_calibration_error(truth, score, y_pred=predicted, binning=Unique())
    assert found == pytest.approx(expected, rel=1e-12)
    assert found == calibration_error(truth == predicted, score, notion=WithinGroups(predicted), binning=Unique())


def test_a_pair_may_come_as_logits():
    assert top_label_calibration_error([0, 1], [0.0, 0.0], y_pred=[0, 0], input="logit") == 0.0


def test_a_predicted_class_that_never_came_counts():
    assert top_label_calibration_error([0, 0], [0.75, 0.5], y_pred=[0, 3]) == pytest.approx((0.25 + 0.5) / 2)
