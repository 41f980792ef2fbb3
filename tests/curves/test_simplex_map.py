import numpy as np
import pytest

from calibrant import ByNotion, IsotonicCalibration, TemperatureScaling, load_digits_forecast
from calibrant.curves import simplex_map

Y, PROB = load_digits_forecast()
THREE = PROB[:, :3] / PROB[:, :3].sum(axis=1, keepdims=True)
LABEL = np.array(["ant", "bee", "cat"])[Y % 3]


@pytest.mark.parametrize("resolution", [2, 3, 11])
def test_the_grid_is_a_triangle_of_distinct_forecasts_off_the_edges(resolution):
    prob = simplex_map(np.sqrt, resolution=resolution).prob
    assert len(np.unique(prob.round(9), axis=0)) == len(prob) == resolution * (resolution + 1) // 2
    np.testing.assert_allclose(prob.sum(axis=1), 1.0)
    assert prob.min() == pytest.approx(1e-3 / 3)


@pytest.mark.parametrize("given", ["probability", "logit"])
def test_a_calibrator_is_shown_as_it_maps(given):
    fitted = TemperatureScaling(input=given).fit(THREE if given == "probability" else np.log(THREE), LABEL)
    result = simplex_map(fitted, resolution=11)
    powers = result.prob ** (1 / fitted.temperature_)
    np.testing.assert_allclose(result.calibrated, powers / powers.sum(axis=1, keepdims=True), atol=1e-9)
    assert result.classes == ("ant", "bee", "cat")


def test_changes_of_a_row_sum_to_zero():
    result = simplex_map(ByNotion(IsotonicCalibration(), "class-wise").fit(THREE, LABEL), resolution=11)
    np.testing.assert_allclose(result.change.sum(axis=1), 0.0, atol=1e-12)


def test_the_identity_changes_nothing():
    assert not simplex_map(lambda prob: prob).change.any()


def test_the_result_says_what_it_is_and_cannot_be_changed():
    result = simplex_map(np.sqrt, resolution=3)
    assert repr(result) == "SimplexMap(sqrt, points=6)"
    with pytest.raises(ValueError, match="read-only"):
        result.prob[0] = 1.0
    assert result.to_frame("polars").shape == (6, 6)


@pytest.mark.parametrize(
    ("calibrator", "error", "message"),
    [
        (TemperatureScaling().fit(PROB, Y), ValueError, "three classes; the calibrator has 10"),
        (lambda prob: prob[:, 0], ValueError, r"a table of shape \(1891, 3\); got \(1891,\)"),
        ("dirichlet", TypeError, "must be a fitted calibrator or a function"),
    ],
    ids=["ten classes", "one column", "a word"],
)
def test_what_is_no_map_of_three_classes_is_refused(calibrator, error, message):
    with pytest.raises(error, match=message):
        simplex_map(calibrator)


@pytest.mark.parametrize(("resolution", "error"), [(1, ValueError), (2.5, TypeError)])
def test_a_grid_needs_two_points_a_side(resolution, error):
    with pytest.raises(error, match="resolution must be a whole number, at least 2"):
        simplex_map(np.sqrt, resolution=resolution)
