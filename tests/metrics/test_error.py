import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import binned
from strategies import columns, tables

from calibrant import EqualMass, EqualWidth, Unique, calibration_error
from calibrant._registry import entries

CUTS = {
    "equal-width": (EqualWidth(6), binned.equal_width(6)),
    "equal-mass": (EqualMass(4), binned.equal_mass(4)),
    "unique": (Unique(), binned.unique),
}
Y = [0, 0, 1, 0]
P = [[0.5, 0.5], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8]]


@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("notion", sorted(entries("notion")))
@given(data=st.data())
def test_the_error_is_what_its_definition_says(notion, cut, norm, data):
    label, prob, weight = data.draw(tables(n_classes=st.just(2)) if notion == "binary" else tables())
    binning, twin = CUTS[cut]
    problems = binned.NOTIONS[notion](prob.tolist(), label.tolist(), weight.tolist())
    found = calibration_error(label, prob, notion=notion, binning=binning, norm=norm, sample_weight=weight)
    assert found == pytest.approx(binned.calibration_error(problems, twin, norm), rel=1e-9, abs=1e-12)


@given(rows=columns())
def test_one_column_is_its_own_binary_problem(rows):
    label, score, weight = rows
    twin = binned.calibration_error(
        [list(zip(score.tolist(), label.tolist(), weight.tolist(), strict=True))], binned.equal_width(15), "l1"
    )
    assert calibration_error(label, score, sample_weight=weight) == pytest.approx(twin, rel=1e-9, abs=1e-12)


@given(rows=tables(), n_bins=st.integers(1, 10))
def test_norms_are_ordered(rows, n_bins):
    label, prob, weight = rows
    l1, l2, most = (
        calibration_error(label, prob, binning=n_bins, norm=norm, sample_weight=weight) for norm in ("l1", "l2", "max")
    )
    assert l1 <= l2 * (1 + 1e-9) + 1e-15
    assert l2 <= most * (1 + 1e-9) + 1e-15


@given(rows=tables(), n_bins=st.integers(1, 10))
def test_the_top_label_error_is_never_below_the_confidence_error(rows, n_bins):
    label, prob, weight = rows
    top, confidence = (
        calibration_error(label, prob, notion=notion, binning=n_bins, sample_weight=weight)
        for notion in ("top-label", "confidence")
    )
    assert top >= confidence - 1e-12


@given(rows=columns())
def test_the_root_mean_square_is_the_root_of_the_mean_squared_gap(rows):
    label, score, weight = rows
    squared = calibration_error(label, score, loss="squared gap", norm="l1", sample_weight=weight)
    rooted = calibration_error(label, score, loss="gap", norm="l2", sample_weight=weight)
    assert rooted**2 == pytest.approx(squared, rel=1e-9, abs=1e-15)


def test_a_number_means_equal_width():
    assert calibration_error(Y, P, binning=3) == calibration_error(Y, P, binning=EqualWidth(3))


def test_a_loss_may_be_a_function():
    signed = calibration_error(Y, P, binning=1, loss=lambda problem, bins: bins.gap)
    assert signed == pytest.approx(0.75 - 0.65)


def test_a_norm_may_be_a_function_and_its_weights_sum_to_one():
    assert calibration_error(Y, P, notion="class-wise", norm=lambda values, weights: weights.sum()) == pytest.approx(
        1.0
    )


def test_a_function_of_loss_sees_the_scores():
    sizes = []
    calibration_error(Y, P, notion="class-wise", loss=lambda problem, bins: sizes.append(problem.size) or bins.gap)
    assert sizes == [4, 4]


@pytest.mark.parametrize(
    ("option", "known"), [("loss", "'gap', 'squared gap'"), ("norm", "'l1', 'l2', 'max'")], ids=["loss", "norm"]
)
def test_an_unknown_name_is_refused_with_the_known_ones(option, known):
    with pytest.raises(ValueError, match=f"{option} must be one of {known} or a function; got 'gep'"):
        calibration_error(Y, P, **{option: "gep"})


def test_a_forecast_that_says_what_comes_has_no_error():
    assert calibration_error([0, 1, 2], np.eye(3)) == 0.0


def test_a_forecast_that_says_the_opposite_has_all_the_error():
    assert calibration_error([1, 0], np.eye(2)) == 1.0
