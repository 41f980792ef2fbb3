"""The validity curve is the distribution of the distances whose mean is the calibration error."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import binned
from strategies import tables

from calibrant import EqualMass, EqualWidth, calibration_error, load_digits_forecast
from calibrant.binning import Unique
from calibrant.curves import plot_validity, validity_curve
from calibrant.exceptions import CalibrationWarning
from calibrant.notions import ThresholdedClassWise

TWINS = {EqualWidth(3): binned.equal_width(3), EqualMass(4): binned.equal_mass(4), Unique(): binned.unique}
NOTIONS = ["confidence", "top-label", "class-wise"]
Y = [0, 1, 1, 1, 0]
P = [0.5, 0.5, 0.5, 0.9, 0.9]


@pytest.mark.filterwarnings("ignore:binning must put rows together")
@pytest.mark.parametrize("binning", TWINS, ids=str)
@given(rows=tables(), notion=st.sampled_from(NOTIONS))
def test_shares_are_those_of_the_definition(binning, rows, notion):
    label, prob, weight = rows
    curve = validity_curve(label, prob, notion=notion, binning=binning, sample_weight=weight)
    problems = binned.NOTIONS[notion](prob.tolist(), label.tolist(), weight.tolist())
    distances = sorted(binned.gap(held) for own in problems for held in TWINS[binning](own) if held)
    np.testing.assert_allclose(curve.error, distances, atol=1e-12)
    # Between distances, where rounding cannot matter.
    between = [
        (low + high) / 2 for low, high in zip(distances, [*distances[1:], 1.1], strict=True) if high - low > 1e-9
    ]
    for error in between:
        expected = binned.share_within(problems, TWINS[binning], error)
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


def test_the_guarantee_is_that_of_the_theorem():
    assert validity_curve(Y, P).guarantee is None
    error, share = validity_curve(Y, P, points_per_bin=50).guarantee
    assert error[0] == 0.0
    assert error[-1] == 1.0
    for e, promised in zip(error.tolist(), share.tolist(), strict=True):
        assert promised == pytest.approx(max(0.0, 1 - 2 * np.exp(-2 * 49 * e * e)), abs=1e-12)
    # Theorem 1 with alpha = 0.1 and k = 50: eps_1 = 0.174839.
    assert np.interp(0.174839, error, share) == pytest.approx(0.9, abs=1e-3)


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


def test_a_notion_that_finds_no_row_has_no_distance():
    curve = validity_curve([0, 1], [[0.6, 0.4], [0.5, 0.5]], notion=ThresholdedClassWise(0.99))
    assert curve.error.size == curve.share.size == 0
    assert curve.share_within(0.0) == 1.0
    assert curve.share_within([0.0, 0.5]).tolist() == [1.0, 1.0]
    assert curve.mean_error == 0.0


@pytest.mark.parametrize(("points", "error"), [(1, ValueError), (0, ValueError), (2.5, TypeError), (True, TypeError)])
def test_a_guarantee_needs_two_points_a_bin(points, error):
    with pytest.raises(error, match="points_per_bin must be a whole number, at least 2"):
        validity_curve(Y, P, points_per_bin=points)


# Pictures


DIGITS, PROB = load_digits_forecast()


def curve(n_bins, **options):
    return validity_curve(DIGITS, PROB, notion="top-label", binning=n_bins, **options)


def words(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_artists_carry_exactly_the_arrays_of_the_result():
    result = curve(15, points_per_bin=50)
    steps, promised = result.plot().lines
    np.testing.assert_array_equal(steps.get_xdata(), [0.0, *result.error, 1.0])
    np.testing.assert_array_equal(steps.get_ydata(), [0.0, *result.share, 1.0])
    assert steps.get_drawstyle() == "steps-post"
    np.testing.assert_array_equal(promised.get_xydata(), np.column_stack(result.guarantee))


def test_several_curves_lie_over_each_other_with_one_line_a_guarantee():
    curves = {"a": curve(5, points_per_bin=50), "b": curve(10), "c": curve(15, points_per_bin=50)}
    ax = plot_validity(curves)
    assert words(ax) == ["a", "b", "c", "promised, 50 points a bin"]
    assert len({line.get_color() for line in ax.lines}) == 4
    assert words(plot_validity(curves, guarantee=False)) == ["a", "b", "c"]
    with pytest.raises(TypeError, match="guarantee must be True or False; got 'yes'"):
        plot_validity(curves, guarantee="yes")


def test_guarantees_of_different_numbers_of_points_are_told_apart():
    ax = plot_validity({"a": curve(5, points_per_bin=50), "b": curve(10, points_per_bin=100)})
    assert words(ax)[2:] == ["promised, 50 points a bin", "promised, 100 points a bin"]
    assert ax.lines[2].get_linestyle() != ax.lines[3].get_linestyle()
