import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import isotonic as twin
from strategies import columns, scores

from calibrant import IsotonicCalibration
from calibrant.calibrators.isotonic import on_steps

# Drawn rows may all be of one class; that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore:only the class", "ignore:no calibration row")

new_scores = st.lists(scores, min_size=1, max_size=20)


@pytest.mark.parametrize(
    ("interpolate", "predict"), [(False, twin.step), (True, twin.interpolated)], ids=["step", "line"]
)
@given(rows=columns(), new=new_scores)
def test_the_map_is_what_its_definition_says(interpolate, predict, rows, new):
    label, score, weight = rows
    calibrator = IsotonicCalibration(interpolate=interpolate, finite=None).fit(score, label, weight)
    distinct, values = twin.fit(score.tolist(), label.tolist(), weight.tolist())
    expected = [predict(distinct, values, s) for s in new]
    np.testing.assert_allclose(calibrator.calibrate(new), expected, rtol=1e-9, atol=1e-12)


def test_three_columns_are_refused_with_the_remedy():
    with pytest.raises(ValueError, match=r"maps one score; got 3 classes\. Say how: ByNotion\(IsotonicCalibration\(\)"):
        IsotonicCalibration(finite=None).fit(np.full((3, 3), 1 / 3), [0, 1, 2])


# Values off 0 and 1


def smoothed_twin(rows):
    """Two rows more in each block of the fit, one of each class, and the fit of the blocks: the value of each row."""
    label, score, weight = rows
    distinct, values = twin.fit(score.tolist(), label.tolist(), weight.tolist())
    levels = sorted(set(values))
    block = [levels.index(values[distinct.index(s)]) for s in score.tolist()]
    numbers = range(len(levels))
    outcomes = [*label.tolist(), *(1 for _ in numbers), *(0 for _ in numbers)]
    _, fitted = twin.fit([*block, *numbers, *numbers], outcomes, [*weight.tolist(), *(1.0 for _ in 2 * [*numbers])])
    return [fitted[b] for b in block]


@given(rows=columns(weights=st.just(1)))
def test_smoothing_is_the_fit_of_the_blocks_with_a_row_of_each_class_more(rows):
    label, score, _ = rows
    ours = IsotonicCalibration(finite="smooth").fit(score, label).calibrate(score)
    np.testing.assert_allclose(ours, smoothed_twin(rows), rtol=1e-9)


@pytest.mark.parametrize("interpolate", [False, True], ids=["step", "line"])
@pytest.mark.parametrize("finite", ["smooth", "clip", 0.01, 1e-6])
@given(rows=columns(weights=st.one_of(st.integers(1, 4), st.floats(0.1, 5.0))), new=new_scores)
def test_a_finite_map_does_not_decrease_and_is_never_0_or_1(interpolate, finite, rows, new):
    label, score, weight = rows
    fitted = IsotonicCalibration(interpolate=interpolate, finite=finite).fit(score, label, weight)
    assert (np.diff(fitted.value_) >= 0).all()
    prob = fitted.calibrate(np.sort(new))
    assert (np.diff(prob) >= -1e-15).all()
    n = weight.sum() if (weight == np.floor(weight)).all() else weight.size
    least = finite if isinstance(finite, float) else 1 / (n + 2)
    assert prob.min() >= least * (1 - 1e-9)
    assert prob.max() <= 1 - least * (1 - 1e-9)


@given(rows=columns())
def test_clipping_moves_the_fit_to_one_row_in_all_rows_and_two(rows):
    label, score, weight = rows
    exact = IsotonicCalibration(finite=None).fit(score, label, weight)
    for finite, least in [("clip", 1 / (weight.sum() + 2)), (0.03, 0.03)]:
        clipped = IsotonicCalibration(finite=finite).fit(score, label, weight)
        np.testing.assert_allclose(clipped.value_, np.clip(exact.value_, least, 1 - least), rtol=1e-12)
        np.testing.assert_array_equal(clipped.left_, exact.left_)


@given(left=st.lists(scores, min_size=1, max_size=9, unique=True).map(sorted), new=new_scores)
def test_a_step_holds_from_where_it_begins_and_the_first_one_below_all_of_them(left, new):
    value = np.arange(len(left)) / 10
    expected = [value[max((i for i, begins in enumerate(left) if begins <= s), default=0)] for s in new]
    assert on_steps(np.array(left), value, np.array(new)).tolist() == expected


def test_lines_between_scores_that_almost_touch_stay_between_their_values():
    fitted = IsotonicCalibration(interpolate=True, finite=None).fit([0.0, 1e-310], [0, 1])
    assert fitted.calibrate([0.0, 1e-310, 1.0]).tolist() == [0.0, 1.0, 1.0]
    assert 0.0 <= fitted.calibrate([5e-311])[0] <= 1.0
