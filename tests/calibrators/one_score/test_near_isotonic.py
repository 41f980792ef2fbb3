import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from reference import near_isotonic as twin
from strategies import columns, scores

from calibrant import IsotonicCalibration
from calibrant._core.border import as_problem
from calibrant._kernels.isotonic import join_path
from calibrant.calibrators.isotonic import NearIsotonicCalibration, NearIsotonicPath

# Drawn rows may all be of one class; that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore:only the class")

penalties = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 2 / 3, 1.0, 2.0]), st.floats(0.0, 10.0))
any_weights = st.one_of(st.integers(1, 4), st.sampled_from([0.1, 0.3, 1.5]), st.floats(0.01, 3.0))
NOT_CHOSEN = np.inf, "bic"


def points_of(rows):
    label, score, weight = rows
    return twin.points(score.tolist(), label.tolist(), weight.tolist())


def path_of(rows):
    label, score, weight = rows
    return NearIsotonicPath.of(as_problem(label, score, sample_weight=weight))


def objective(fit, rate, mass, penalty):
    return 0.5 * mass @ (rate - fit) ** 2 + penalty * np.maximum(-np.diff(fit), 0).sum()


def prices(fit, rate, mass):
    """What each step costs if every point is in balance: the multipliers of the optimality conditions."""
    return np.cumsum(mass * (rate - fit))


@given(rows=columns(weights=any_weights), penalty=penalties)
def test_a_fit_is_the_optimum_of_a_generic_solver(rows, penalty):
    label, score, weight = rows
    distinct, mass, events = points_of(rows)
    expected = twin.by_least_squares([e / w for e, w in zip(events, mass, strict=True)], mass, penalty)
    fitted = NearIsotonicCalibration(penalty=penalty, finite=None).fit(score, label, weight).calibrate(distinct)
    np.testing.assert_allclose(fitted, expected, atol=1e-7)


@given(rows=columns(max_rows=60, weights=any_weights), penalty=penalties)
def test_a_fit_meets_the_optimality_conditions(rows, penalty):
    label, score, weight = rows
    distinct, mass, events = points_of(rows)
    rate, mass = np.array([float(e / w) for e, w in zip(events, mass, strict=True)]), np.array(mass, dtype=float)
    fit = NearIsotonicCalibration(penalty=penalty, finite=None).fit(score, label, weight).calibrate(distinct)
    price = prices(fit, rate, mass)
    assert price[-1] == pytest.approx(0.0, abs=1e-9)
    assert (price >= -1e-9).all()
    assert (price <= penalty + 1e-9).all()
    np.testing.assert_allclose(price[:-1][np.diff(fit) > 1e-9], 0.0, atol=1e-9)
    np.testing.assert_allclose(price[:-1][np.diff(fit) < -1e-9], penalty, atol=1e-9)


@given(rows=columns(max_rows=60))
def test_joins_are_those_of_the_paper_in_exact_fractions(rows):
    _, mass, events = points_of(rows)
    expected = list(twin.path(mass, events))
    path = path_of(rows)
    np.testing.assert_allclose(path.knots, [float(penalty) for penalty, _, _ in expected], rtol=1e-12)
    for knot, (_, groups, values) in zip(path.knots, expected, strict=True):
        fit = path.fit(knot)
        assert fit.starts.size == len(groups)
        np.testing.assert_allclose(fit.value, [float(v) for v in values], atol=1e-12)


@given(rows=columns(max_rows=40))
def test_the_bic_and_its_bound_are_what_their_definitions_say(rows):
    _, mass, events = points_of(rows)
    path = path_of(rows)
    for knot, bound, (_, groups, values) in zip(path.knots, path.best_bic, twin.path(mass, events), strict=True):
        assert path.bic(knot) == pytest.approx(twin.bic(mass, events, groups, values), rel=1e-9, abs=1e-9)
        rates = [sum(events[a : b + 1]) / sum(mass[a : b + 1]) for a, b in groups]
        assert bound == pytest.approx(twin.bic(mass, events, groups, rates), rel=1e-9, abs=1e-9)
        assert bound <= path.bic(knot) + 1e-9


@given(rows=columns(max_rows=40, weights=any_weights), other=penalties)
@example(rows=(np.array([0]), np.array([0.5]), np.array([1.0])), other=0.0)
def test_no_penalty_has_a_lower_bic_than_the_chosen_one(rows, other):
    label, score, weight = rows
    path = path_of(rows)
    chosen = NearIsotonicCalibration(finite=None).fit(score, label, weight).penalty_
    assert path.bic(chosen) == pytest.approx(min(path.bic(knot) for knot in path.knots), rel=1e-12, abs=1e-9)
    assert path.bic(chosen) <= path.bic(other) + 1e-9


@given(rows=columns(weights=any_weights))
def test_without_a_penalty_every_score_has_its_event_rate(rows):
    label, score, weight = rows
    distinct, mass, events = points_of(rows)
    fitted = NearIsotonicCalibration(penalty=0, finite=None).fit(score, label, weight)
    rates = [float(e / w) for e, w in zip(events, mass, strict=True)]
    np.testing.assert_allclose(fitted.calibrate(distinct), rates, atol=1e-12)


@pytest.mark.parametrize("penalty", [1e6, np.inf])
@given(rows=columns(weights=any_weights), new=st.lists(scores, min_size=1, max_size=10))
def test_a_great_penalty_is_isotonic_regression(penalty, rows, new):
    label, score, weight = rows
    fitted = NearIsotonicCalibration(penalty=penalty, finite=None).fit(score, label, weight)
    np.testing.assert_allclose(
        fitted.calibrate(new), IsotonicCalibration(finite=None).fit(score, label, weight).calibrate(new), atol=1e-12
    )


@given(rows=columns(weights=any_weights), penalty=penalties)
def test_the_mean_is_kept(rows, penalty):
    label, score, weight = rows
    fitted = NearIsotonicCalibration(penalty=penalty, finite=None).fit(score, label, weight).calibrate(score)
    assert np.average(fitted, weights=weight) == pytest.approx(np.average(label, weights=weight), abs=1e-9)


@given(rows=columns(weights=any_weights), times=st.floats(0.01, 100.0))
def test_the_penalty_is_counted_in_the_unit_of_the_weights(rows, times):
    label, score, weight = rows
    once = NearIsotonicCalibration(penalty=0.7, finite=None).fit(score, label, weight)
    scaled = NearIsotonicCalibration(penalty=0.7 * times, finite=None).fit(score, label, weight * times)
    np.testing.assert_allclose(scaled.calibrate(score), once.calibrate(score), atol=1e-9)


def test_a_block_that_stands_out_gives_up_as_many_events_as_the_penalty_says():
    score, label = np.repeat([0.2, 0.5, 0.8], 10), np.repeat([0, 1, 0, 1, 0, 1], [8, 2, 2, 8, 7, 3])
    np.testing.assert_allclose(
        NearIsotonicCalibration(penalty=1.5, finite=None).fit(score, label).calibrate([0.2, 0.5, 0.8]),
        [0.2, 0.65, 0.45],
    )


def test_a_step_down_that_is_there_outlives_isotonic_regression():
    score, label = np.repeat([0.2, 0.5, 0.8], 1000), np.repeat([0, 1, 0, 1, 0, 1], [900, 100, 300, 700, 600, 400])
    fitted = NearIsotonicCalibration(finite=None).fit(score, label)
    assert fitted.calibrate([0.2, 0.5, 0.8]).tolist() == [0.1, 0.7, 0.4]
    assert fitted.penalty_ == 0.0


def test_between_scores_the_one_below_counts_and_below_all_the_first():
    fitted = NearIsotonicCalibration(penalty=0, finite=None).fit([0.2, 0.5, 0.8], [1, 0, 1])
    assert fitted.calibrate([0.0, 0.2, 0.49, 0.5, 0.79, 1.0]).tolist() == [1.0, 1.0, 1.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize("finite", ["smooth", "clip", 0.01])
@given(rows=columns(weights=any_weights), penalty=penalties)
def test_finite_keeps_values_off_the_ends(finite, rows, penalty):
    label, score, weight = rows
    value = NearIsotonicCalibration(penalty=penalty, finite=finite).fit(score, label, weight).calibrate(score)
    assert value.min() > 0
    assert value.max() < 1


def test_smoothing_is_one_row_more_of_each_class_in_every_block():
    score, label = np.repeat([0.2, 0.5, 0.8], 8), np.repeat([0, 1, 0], 8)
    smooth, clip = (NearIsotonicCalibration(penalty=2, finite=way).fit(score, label) for way in ("smooth", "clip"))
    np.testing.assert_allclose(smooth.calibrate([0.2, 0.5, 0.8]), [0.1, 0.7, 0.3])
    np.testing.assert_allclose(clip.calibrate([0.2, 0.5, 0.8]), [1 / 26, 0.75, 0.25])


@pytest.mark.parametrize(
    ("penalty", "error", "given"),
    [
        (-1, ValueError, "got -1"),
        (np.nan, ValueError, "got nan"),
        ("aic", TypeError, "'aic'"),
        (True, TypeError, "True"),
        (None, TypeError, "None"),
        (np.array([1.0, 2.0]), TypeError, "array"),
        (-np.inf, ValueError, "got -inf"),
    ],
)
def test_a_penalty_that_is_none_is_refused(penalty, error, given):
    with pytest.raises(error, match=rf"penalty must be .*{given}.* Pass "):
        NearIsotonicCalibration(penalty=penalty, finite=None).fit([0.2, 0.7], [0, 1])


def test_a_way_to_be_finite_that_is_none_is_refused():
    with pytest.raises(ValueError, match=r"finite must be .*got 'round'"):
        NearIsotonicCalibration(finite="round").fit([0.2, 0.7], [0, 1])


@pytest.mark.parametrize("penalty", [0, 1, *NOT_CHOSEN])
@pytest.mark.parametrize("label", [0, 1])
def test_one_class_only_is_a_constant(penalty, label):
    fitted = NearIsotonicCalibration(penalty=penalty, finite=None).fit([0.2, 0.4, 0.7], [label] * 3)
    assert fitted.calibrate([0.0, 0.5, 1.0]).tolist() == [label] * 3


def test_long_paths_end_in_order():
    rng = np.random.default_rng(0)
    score = rng.random(20_000)
    label = rng.random(20_000) < score
    path = path_of((label.astype(int), score, np.ones(20_000)))
    assert (np.diff(path.join_penalty) >= 0).all()
    assert (np.diff(path.fit(np.inf).value) > 0).all()
    assert np.isfinite(path.gone[path.above == 1]).all()


def test_the_compiled_path_leaves_its_input_alone():
    events, weight = np.array([1.0, 0.0, 1.0]), np.ones(3)
    join_path(events, weight, np.array([1, 0]))
    assert events.tolist() == [1.0, 0.0, 1.0]
    assert weight.tolist() == [1.0, 1.0, 1.0]
