"""Isotonic regression, as steps, centered, nearly isotonic, averaged, and as Venn-Abers intervals."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from reference import centered_isotonic, isotonic, near_isotonic, venn_abers
from strategies import columns, scores

from calibrant import IsotonicCalibration
from calibrant._core.border import as_problem
from calibrant.calibrators import CenteredIsotonicCalibration
from calibrant.calibrators.isotonic import EnsembleNearIsotonic, NearIsotonicCalibration, NearIsotonicPath, VennAbers

# Drawn rows may all be of one class; that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore:only the class", "ignore:no calibration row")


new_scores = st.lists(scores, min_size=1, max_size=20)
any_weights = st.one_of(st.integers(1, 4), st.sampled_from([0.1, 0.3, 1.5]), st.floats(0.01, 5.0))
penalties = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 2 / 3, 1.0, 2.0]), st.floats(0.0, 10.0))


def fit(calibrator, rows):
    label, score, weight = rows
    return calibrator.fit(score, label, weight)


def lists(rows):
    label, score, weight = rows
    return score.tolist(), label.tolist(), weight.tolist()


@pytest.mark.parametrize(("interpolate", "predict"), [(False, isotonic.step), (True, isotonic.interpolated)])
@given(rows=columns(weights=any_weights), new=new_scores)
def test_the_map_is_what_its_definition_says(interpolate, predict, rows, new):
    distinct, values = isotonic.fit(*lists(rows))
    fitted = fit(IsotonicCalibration(interpolate=interpolate, finite=None), rows)
    expected = [predict(distinct, values, s) for s in new]
    np.testing.assert_allclose(fitted.calibrate(new), expected, rtol=1e-9, atol=1e-12)


# Values off 0 and 1


def smoothed_twin(rows):
    """Two rows more in each block of the fit, one of each class, and the fit of the blocks: the value of each row."""
    score, label, weight = lists(rows)
    distinct, values = isotonic.fit(score, label, weight)
    levels = sorted(set(values))
    block, numbers = [levels.index(values[distinct.index(s)]) for s in score], range(len(levels))
    outcomes = [*label, *(1 for _ in numbers), *(0 for _ in numbers)]
    _, fitted = isotonic.fit([*block, *numbers, *numbers], outcomes, [*weight, *(1.0 for _ in 2 * [*numbers])])
    return [fitted[b] for b in block]


@given(rows=columns(weights=st.just(1)))
def test_smoothing_is_the_fit_of_the_blocks_with_a_row_of_each_class_more(rows):
    ours = fit(IsotonicCalibration(finite="smooth"), rows).calibrate(rows[1])
    np.testing.assert_allclose(ours, smoothed_twin(rows), rtol=1e-9)


@pytest.mark.parametrize("interpolate", [False, True], ids=["step", "line"])
@pytest.mark.parametrize("finite", ["smooth", "clip", 0.01, 1e-6])
@given(rows=columns(weights=st.one_of(st.integers(1, 4), st.floats(0.1, 5.0))), new=new_scores)
def test_a_finite_map_does_not_decrease_and_is_never_0_or_1(interpolate, finite, rows, new):
    weight = rows[2]
    fitted = fit(IsotonicCalibration(interpolate=interpolate, finite=finite), rows)
    assert (np.diff(fitted.value_) >= 0).all()
    prob = fitted.calibrate(np.sort(new))
    assert (np.diff(prob) >= -1e-15).all()
    n = weight.sum() if (weight == np.floor(weight)).all() else weight.size
    least = finite if isinstance(finite, float) else 1 / (n + 2)
    assert prob.min() >= least * (1 - 1e-9)
    assert prob.max() <= 1 - least * (1 - 1e-9)
    centered = fit(CenteredIsotonicCalibration(finite=finite), rows)
    assert centered.value_.tolist() == fit(IsotonicCalibration(finite=finite), rows).value_.tolist()
    assert centered.predict_proba(new).min() > 0


@pytest.mark.parametrize("unit", [0.1, 1 / 3, 0.5, 0.7, 1e-99])
def test_equal_rates_of_two_scores_are_one_block_in_any_unit_of_weights(unit):
    counts = np.array([4, 36])  # with 1 and 9 events: smoothed one by one they would be in the wrong order
    label, score = np.repeat([1, 0, 1, 0], [1, 3, 9, 27]), np.repeat([0.1, 0.2], counts)
    fitted = IsotonicCalibration().fit(score, label, np.full(40, unit))
    np.testing.assert_allclose(fitted.calibrate([0.1, 0.2]), 11 / 42, rtol=1e-12)


@given(rows=columns())
def test_clipping_moves_the_fit_to_one_row_in_all_rows_and_two(rows):
    exact = fit(IsotonicCalibration(finite=None), rows)
    for finite, least in [("clip", 1 / (rows[2].sum() + 2)), (0.03, 0.03)]:
        clipped = fit(IsotonicCalibration(finite=finite), rows)
        np.testing.assert_allclose(clipped.value_, np.clip(exact.value_, least, 1 - least), rtol=1e-12)
        np.testing.assert_array_equal(clipped.left_, exact.left_)


def test_lines_between_scores_that_almost_touch_stay_between_their_values():
    fitted = IsotonicCalibration(interpolate=True, finite=None).fit([0.0, 1e-310], [0, 1])
    assert fitted.calibrate([0.0, 1e-310, 1.0]).tolist() == [0.0, 1.0, 1.0]
    assert 0.0 <= fitted.calibrate([5e-311])[0] <= 1.0


# Centered


@given(rows=columns(weights=any_weights), new=new_scores)
def test_the_centered_map_is_what_its_definition_says(rows, new):
    fitted, dots = fit(CenteredIsotonicCalibration(finite=None), rows), centered_isotonic.points(*lists(rows))
    near = [*new, *rows[1].tolist()]
    expected = [centered_isotonic.calibrated(dots, s) for s in near]
    np.testing.assert_allclose(fitted.calibrate(near), expected, rtol=1e-9, atol=1e-12)


def test_the_worked_example_of_four_points():
    """Two rows out of order become one point in their middle: cir-model prints 32 of 100 at 3 and 37.5 of 100 beyond."""
    score = np.repeat([0.1, 0.2, 0.3, 0.4], 100)
    label = np.concatenate([np.arange(100) < events for events in (1, 21, 41, 34)])
    fitted = CenteredIsotonicCalibration(finite=None).fit(score, label)
    assert fitted.calibrate([0.1, 0.2, 0.3, 0.4]) == pytest.approx([0.01, 0.21, 0.32, 0.375])


# Nearly isotonic


def path_of(rows):
    label, score, weight = rows
    return NearIsotonicPath.of(as_problem(label, score, sample_weight=weight))


@given(rows=columns(max_rows=60, weights=any_weights), penalty=penalties)
def test_a_fit_meets_the_optimality_conditions(rows, penalty):
    distinct, mass, events = near_isotonic.points(*lists(rows))
    rate, mass = np.array([float(e / w) for e, w in zip(events, mass, strict=True)]), np.array(mass, dtype=float)
    values = fit(NearIsotonicCalibration(penalty=penalty, finite=None), rows).calibrate(distinct)
    price = np.cumsum(mass * (rate - values))  # what each step costs if every point is in balance: the multipliers
    assert price[-1] == pytest.approx(0.0, abs=1e-9)
    assert (price >= -1e-9).all()
    assert (price <= penalty + 1e-9).all()
    np.testing.assert_allclose(price[:-1][np.diff(values) > 1e-9], 0.0, atol=1e-9)
    np.testing.assert_allclose(price[:-1][np.diff(values) < -1e-9], penalty, atol=1e-9)


@given(rows=columns(max_rows=50))
def test_joins_and_their_bic_are_those_of_the_paper_in_exact_fractions(rows):
    _, mass, events = near_isotonic.points(*lists(rows))
    expected, path = list(near_isotonic.path(mass, events)), path_of(rows)
    np.testing.assert_allclose(path.knots, [float(penalty) for penalty, _, _ in expected], rtol=1e-12)
    for knot, bound, (_, groups, values) in zip(path.knots, path.best_bic, expected, strict=True):
        found = path.fit(knot)
        assert found.starts.size == len(groups)
        np.testing.assert_allclose(found.value, [float(v) for v in values], atol=1e-12)
        assert path.bic(knot) == pytest.approx(near_isotonic.bic(mass, events, groups, values), rel=1e-9, abs=1e-9)
        rates = [sum(events[a : b + 1]) / sum(mass[a : b + 1]) for a, b in groups]
        assert bound == pytest.approx(near_isotonic.bic(mass, events, groups, rates), rel=1e-9, abs=1e-9)
        assert bound <= path.bic(knot) + 1e-9


@given(rows=columns(max_rows=40, weights=any_weights), other=penalties)
@example(rows=(np.array([0]), np.array([0.5]), np.array([1.0])), other=0.0)
def test_no_penalty_has_a_lower_bic_than_the_chosen_one(rows, other):
    path, chosen = path_of(rows), fit(NearIsotonicCalibration(finite=None), rows).penalty_
    assert path.bic(chosen) == pytest.approx(min(path.bic(knot) for knot in path.knots), rel=1e-12, abs=1e-9)
    assert path.bic(chosen) <= path.bic(other) + 1e-9


@pytest.mark.parametrize("penalty", [1e6, np.inf])
@given(rows=columns(weights=any_weights), new=new_scores)
def test_a_great_penalty_is_isotonic_regression(penalty, rows, new):
    near, exact = NearIsotonicCalibration(penalty=penalty, finite=None), IsotonicCalibration(finite=None)
    np.testing.assert_allclose(fit(near, rows).calibrate(new), fit(exact, rows).calibrate(new), atol=1e-12)


@given(rows=columns(max_rows=40), new=new_scores)
def test_the_ensemble_is_the_average_over_the_whole_path(rows, new):
    distinct, mass, events = near_isotonic.points(*lists(rows))
    values, weights = near_isotonic.ensemble(mass, events)
    fitted, new = fit(EnsembleNearIsotonic(finite=None), rows), [*distinct, *new]
    expected = [isotonic.step(distinct, values, s) for s in new]
    np.testing.assert_allclose(fitted.calibrate(new), expected, atol=1e-9)
    assert sorted(fitted.weight_)[::-1] == pytest.approx(sorted(weights)[::-1][: fitted.weight_.size], abs=1e-9)


# Venn-Abers


@pytest.mark.parametrize(
    "weights", [st.integers(1, 4), st.sampled_from([0.1, 0.3, 1.5, 2.25])], ids=["whole", "fractions"]
)
@given(data=st.data(), new=st.lists(scores, min_size=1, max_size=8))
def test_intervals_are_isotonic_fits_to_the_rows_and_the_new_score(weights, data, new):
    """The new score weighs one row, or where weights are fractions what rows weigh on average."""
    rows = data.draw(columns(max_rows=12, weights=weights))
    new, weight = [*new, *rows[1][:4]], rows[2]
    more = 1.0 if (weight == np.floor(weight)).all() else float(weight.mean())
    expected = np.array([venn_abers.interval(*lists(rows), s, more) for s in new])
    fitted = fit(VennAbers(), rows)
    np.testing.assert_allclose(fitted.predict_interval(new), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fitted.calibrate(new), [venn_abers.merged(*pair) for pair in expected], rtol=1e-9)


def test_one_row_among_1e60_is_no_division_by_zero():
    found = VennAbers().fit([0.1, 0.2, 0.3], [0, 1, 0], [1.0, 1e60, 1e60]).predict_interval([0.15, 0.25])
    np.testing.assert_allclose(found, [[0.0, 0.5], [0.5, 0.5]], atol=1e-9)
