"""One isotonic map for all classes (FIR) beside one for each (IR-OvR): what each keeps, and the figures of real forecasts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import isotonic as twin
from strategies import tables

from calibrant import ByNotion, HistogramBinning, IsotonicCalibration

pytestmark = pytest.mark.filterwarnings("ignore:only the class", "ignore:no calibration row")

FIR = ByNotion(IsotonicCalibration(finite=None), "flattened")
IR_OVR = ByNotion(IsotonicCalibration(finite=None), "class-wise")
HB_OVR = ByNotion(HistogramBinning(1), "class-wise")

# The forecast prefers the first class, and the second comes three times in four.
PROB, LABEL = np.tile([[0.5, 0.3, 0.2]], (4, 1)), [1, 1, 1, 0]


def fitted(calibrator, *rows, **options):
    return ByNotion(calibrator.calibrator, calibrator.notion, **options).fit(*rows)


@pytest.mark.parametrize("calibrator", [IR_OVR, HB_OVR], ids=["IR-OvR", "HB-OvR"])
def test_a_map_for_each_class_turns_the_order_of_classes_round(calibrator):
    row = fitted(calibrator, PROB, LABEL).predict_proba(PROB)[0]
    np.testing.assert_allclose(row, [0.25, 0.75, 0.0], rtol=1e-12)


def test_one_isotonic_map_ties_classes_and_never_turns_them_round():
    np.testing.assert_allclose(fitted(FIR, PROB, LABEL).predict_proba(PROB)[0], [0.5, 0.5, 0.0], rtol=1e-12)


@given(rows=tables(), data=st.data())
def test_one_map_keeps_the_order_in_rows_that_it_has_not_seen(rows, data):
    label, prob, weight = rows
    k = prob.shape[1]
    unseen = data.draw(tables(n_classes=st.just(k)))[1]
    calibrated = fitted(FIR, prob, label, weight, labels=range(k)).predict_proba(unseen)
    more = unseen[:, :, None] > unseen[:, None, :]
    assert (calibrated[:, :, None] >= calibrated[:, None, :])[more].all()


# Two columns

EIGHTHS = st.integers(0, 8).map(lambda i: i / 8)  # 1 - p is exact


@st.composite
def pairs(draw):
    n = draw(st.integers(1, 20))
    score = draw(st.lists(EIGHTHS, min_size=n, max_size=n))
    label = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    weight = draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    return np.array(label), np.array(score), np.array(weight, dtype=float)


@given(rows=pairs())
def test_of_two_classes_one_map_is_the_isotonic_fit_of_both_columns_and_needs_no_normalisation(rows):
    label, score, weight = rows
    prob = np.column_stack([1 - score, score])
    raw, whole = (
        fitted(FIR, prob, label, weight, normalize=normalize, labels=[0, 1]).predict_proba(prob)
        for normalize in (False, True)
    )
    distinct, values = twin.fit([*score, *(1 - score)], [*label, *(1 - label)], [*weight, *weight])
    expected = dict(zip(distinct, values, strict=True))
    np.testing.assert_allclose(raw[:, 1], [expected[s] for s in score], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(raw.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(whole, raw, rtol=1e-12, atol=1e-15)


# Figures

FLOOR = 1e-7
"""Of the map, before rows are divided by their sums."""


@pytest.mark.parametrize(
    ("name", "objective", "held_out"),
    [
        ("cifar100_densenet_bc", 0.884718, 0.8805),
        ("cifar100_lenet5", 3.781316, 3.8169),
        ("cifar10_lenet5", 1.288933, 1.3316),
    ],
)
def test_one_map_has_the_known_losses_on_fitted_and_on_held_out_rows(name, objective, held_out, data_dir):
    with np.load(data_dir / f"{name}.npz") as data:
        prob, label = data["P"].astype(float), data["y"]
    prob /= prob.sum(axis=1, keepdims=True)
    raw = np.maximum(fitted(FIR, prob[:5000], label[:5000], normalize=False).predict_proba(prob), FLOOR)
    loss = -np.log(raw[np.arange(len(label)), label] / raw.sum(axis=1))
    assert loss[:5000].mean() == pytest.approx(objective, abs=5.1e-7)
    assert loss[5000:].mean() == pytest.approx(held_out, abs=5.1e-5)
