"""The validity curve is the distribution of the distances whose mean is the calibration error."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import binned, validity
from strategies import tables

from calibrant import EqualMass, EqualWidth, calibration_error
from calibrant.binning import Unique
from calibrant.curves import validity_curve
from calibrant.exceptions import CalibrationWarning
from calibrant.notions import ThresholdedClassWise

TWINS = {EqualWidth(3): binned.equal_width(3), EqualMass(4): binned.equal_mass(4), Unique(): binned.unique}
NOTIONS = ["confidence", "top-label", "class-wise"]
ERRORS = [0.0, 0.05, 0.2, 0.37, 0.5, 1.0]
Y = [0, 1, 1, 1, 0]
P = [0.5, 0.5, 0.5, 0.9, 0.9]


@pytest.mark.filterwarnings("ignore:binning must put rows together")
@pytest.mark.parametrize("binning", TWINS, ids=str)
@given(rows=tables(), notion=st.sampled_from(NOTIONS))
def test_shares_are_those_of_the_definition(binning, rows, notion):
    label, prob, weight = rows
    curve = validity_curve(label, prob, notion=notion, binning=binning, sample_weight=weight)
    problems = binned.NOTIONS[notion](prob.tolist(), label.tolist(), weight.tolist())
    distances = sorted(validity.distance(held) for own in problems for held in TWINS[binning](own) if held)
    np.testing.assert_allclose(curve.error, distances, atol=1e-12)
    # Between distances, where rounding cannot matter.
    between = [
        (low + high) / 2 for low, high in zip(distances, [*distances[1:], 1.1], strict=True) if high - low > 1e-9
    ]
    for error in between:
        expected = validity.share_within(problems, TWINS[binning], error)
        assert curve.share_within(error) == pytest.approx(expected, abs=1e-12)


@pytest.mark.filterwarnings("ignore:binning must put rows together")
@given(rows=tables(), notion=st.sampled_from(NOTIONS), binning=st.sampled_from(list(TWINS)))
def test_the_area_above_the_curve_is_the_calibration_error(rows, notion, binning):
    label, prob, weight = rows
    options = {"notion": notion, "binning": binning, "sample_weight": weight}
    curve = validity_curve(label, prob, **options)
    steps = np.concatenate([[0.0], curve.error, [1.0]])
    middles = (steps[:-1] + steps[1:]) / 2
    area = np.sum(np.diff(steps) * (1.0 - curve.share_within(middles)))
    assert area == pytest.approx(calibration_error(label, prob, **options), abs=1e-9)
    assert curve.mean_error == pytest.approx(calibration_error(label, prob, **options), abs=1e-9)


@pytest.mark.filterwarnings("ignore:binning must put rows together")
@given(rows=tables(), notion=st.sampled_from(NOTIONS))
def test_whole_weights_count_as_rows(rows, notion):
    label, prob, weight = rows
    times = weight.astype(int)
    weighted = validity_curve(label, prob, notion=notion, sample_weight=weight)
    repeated = validity_curve(np.repeat(label, times), np.repeat(prob, times, axis=0), notion=notion)
    np.testing.assert_allclose(weighted.error, repeated.error, atol=1e-12)
    between = (repeated.error[:-1] + repeated.error[1:])[np.diff(repeated.error) > 1e-9] / 2
    np.testing.assert_allclose(weighted.share_within(between), repeated.share_within(between), atol=1e-12)


@pytest.mark.filterwarnings("ignore:binning must put rows together")
@given(rows=tables(), notion=st.sampled_from(NOTIONS))
def test_the_curve_rises_to_one(rows, notion):
    label, prob, weight = rows
    curve = validity_curve(label, prob, notion=notion, sample_weight=weight)
    assert (np.diff(curve.error) >= 0).all()
    assert (np.diff(curve.share) > 0).all()
    assert curve.share[-1] == curve.share_within(1.0) == 1.0


def test_an_error_that_is_reached_but_for_rounding_is_reached():
    """Of two rows of 0.7 that both bring the event, the gap comes out as a little more than 0.3."""
    curve = validity_curve([1, 1, 0], [0.7, 0.7, 0.0])
    assert curve.error[-1] > 0.3
    assert curve.share_within(0.3) == 1.0
    assert curve.share_within(0.299) == pytest.approx(1 / 3)


def test_one_error_has_one_share_and_several_have_several():
    curve = validity_curve(Y, P)
    assert isinstance(curve.share_within(0.2), float)
    np.testing.assert_allclose(curve.share_within([[0.1, 0.2], [0.4, 1.0]]), [[0.0, 0.6], [1.0, 1.0]])


def test_the_worked_example_of_top_label_calibration():
    """Six forecasts of four classes, each score with a bin of its own (Gupta and Ramdas, figure 5)."""
    prob = np.array(
        [
            [0.1, 0.0, 0.6, 0.3],
            [0.6, 0.0, 0.1, 0.3],
            [0.2, 0.7, 0.0, 0.1],
            [0.0, 0.1, 0.1, 0.8],
            [0.0, 0.1, 0.8, 0.1],
            [0.9, 0.1, 0.0, 0.0],
        ]
    )
    label = [2, 3, 1, 0, 3, 0]
    assert validity_curve(label, prob).error == pytest.approx([0.1, 0.1, 0.3, 0.8])
    assert validity_curve(label, prob).mean_error == pytest.approx(11 / 30)
    with pytest.warns(CalibrationWarning, match="got 6 of 6 rows alone in their bins"):
        curve = validity_curve(label, prob, notion="top-label")
    assert curve.error == pytest.approx([0.1, 0.3, 0.4, 0.6, 0.8, 0.8])
    assert curve.mean_error == pytest.approx(1 / 2)


def test_the_guarantee_is_that_of_the_theorem():
    assert validity_curve(Y, P).guarantee is None
    error, share = validity_curve(Y, P, points_per_bin=50).guarantee
    assert error[0] == 0.0
    assert error[-1] == 1.0
    for e, promised in zip(error.tolist(), share.tolist(), strict=True):
        assert promised == pytest.approx(max(0.0, 1 - 2 * np.exp(-2 * 49 * e * e)), abs=1e-12)
    # Theorem 1 with alpha = 0.1 and k = 50: eps_1 = 0.174839.
    assert np.interp(0.174839, error, share) == pytest.approx(0.9, abs=1e-3)


def test_the_guarantee_holds_of_true_rates_on_average():
    """Rows of bins of k = 10 whose true rates are known: the share within e is at least what is promised, 2000 fits."""
    rng = np.random.default_rng(0)
    k, rate = 10, rng.random((2000, 20))
    fitted = rng.binomial(k, rate) / k
    error, share = validity_curve(Y, P, points_per_bin=k).guarantee
    off = np.sort(np.abs(fitted - rate).ravel())
    within = np.searchsorted(off, error, side="right") / off.size
    assert (within >= share - 4 * np.sqrt(0.25 / off.size)).all()


def test_rows_alone_in_their_bins_are_warned_of():
    rng = np.random.default_rng(0)
    score = rng.random(100)
    label = (rng.random(100) < score).astype(int)
    with pytest.warns(CalibrationWarning, match=r"got 100 of 100 rows alone.*EqualMass\(15\)"):
        validity_curve(label, score)
    validity_curve(label, score, binning=EqualMass(15))  # filterwarnings: error
    validity_curve([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.3])  # half of them are not too many
    with pytest.warns(CalibrationWarning, match="got 3 of 5 rows alone"):
        validity_curve([0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.3, 0.4])


def test_the_plug_in_curve_of_a_calibrated_forecast_lies_to_the_right_of_the_true_one():
    rng = np.random.default_rng(0)
    score = rng.choice([0.2, 0.5, 0.8], 300)
    curve = validity_curve((rng.random(300) < score).astype(int), score)
    assert curve.share_within(0.001) < 1.0  # the true distances are zero
    assert curve.share_within(4 * np.sqrt(0.25 / 80)) == 1.0


def test_a_notion_that_finds_no_row_has_no_distance():
    curve = validity_curve([0, 1], [[0.6, 0.4], [0.5, 0.5]], notion=ThresholdedClassWise(0.99))
    assert curve.error.size == curve.share.size == 0
    assert curve.share_within(0.0) == 1.0
    assert curve.share_within([0.0, 0.5]).tolist() == [1.0, 1.0]
    assert curve.mean_error == 0.0


def test_the_curve_says_what_it_is_and_cannot_be_changed():
    curve = validity_curve(Y, P, binning=2)
    assert repr(curve) == "ValidityCurve(binary, EqualWidth(n_bins=2), cells=2, mean_error=0.26)"
    with pytest.raises(ValueError, match="read-only"):
        curve.error[0] = 1.0
    assert curve.to_frame("polars").columns == ["error", "share"]


@pytest.mark.parametrize(("points", "error"), [(1, ValueError), (0, ValueError), (2.5, TypeError), (True, TypeError)])
def test_a_guarantee_needs_two_points_a_bin(points, error):
    with pytest.raises(error, match="points_per_bin must be a whole number, at least 2"):
        validity_curve(Y, P, points_per_bin=points)
