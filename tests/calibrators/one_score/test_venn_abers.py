import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import venn_abers as twin
from strategies import columns, scores

from calibrant import IsotonicCalibration
from calibrant._kernels.isotonic import fits_with_one_event
from calibrant.calibrators.isotonic import VennAbers

# Drawn rows may all be of one class; that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore:only the class")

new_scores = st.lists(scores, min_size=1, max_size=8)
fractions = st.sampled_from([0.1, 0.3, 1.5, 2.25])


def expected_intervals(rows, new, more):
    label, score, weight = (column.tolist() for column in rows)
    return np.array([twin.interval(score, label, weight, s, more) for s in new])


@given(rows=columns(max_rows=12), new=new_scores)
def test_intervals_are_isotonic_fits_to_the_rows_and_the_new_score(rows, new):
    label, score, weight = rows
    new = [*new, *score[:4]]
    fitted = VennAbers().fit(score, label, weight)
    expected = expected_intervals(rows, new, 1.0)
    np.testing.assert_allclose(fitted.predict_interval(new), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fitted.calibrate(new), [twin.merged(*pair) for pair in expected], rtol=1e-9)


@given(rows=columns(max_rows=12, weights=fractions), new=new_scores)
def test_the_new_score_weighs_what_rows_weigh_on_average(rows, new):
    label, score, weight = rows
    expected = expected_intervals(rows, new, float(weight.mean()))
    np.testing.assert_allclose(
        VennAbers().fit(score, label, weight).predict_interval(new), expected, rtol=1e-9, atol=1e-12
    )


@given(rows=columns(weights=st.one_of(st.integers(1, 4), fractions)), new=new_scores)
def test_the_merged_probability_lies_inside_its_interval(rows, new):
    label, score, weight = rows
    fitted = VennAbers().fit(score, label, weight)
    low, high = fitted.predict_interval(new).T
    merged = fitted.calibrate(new)
    assert (low < merged).all()
    assert (merged < high).all()
    assert low.min() >= 0
    assert high.max() <= 1


@given(rows=columns(weights=st.one_of(st.integers(1, 4), fractions)), new=st.lists(scores, min_size=2, max_size=20))
def test_all_three_grow_with_the_score(rows, new):
    label, score, weight = rows
    fitted = VennAbers().fit(score, label, weight)
    new = np.sort(np.append(new, score))
    assert (np.diff(fitted.predict_interval(new), axis=0) >= 0).all()
    assert (np.diff(fitted.calibrate(new)) >= -1e-15).all()


@given(rows=columns(weights=st.one_of(st.integers(1, 4), fractions)))
def test_all_three_rise_from_each_isotonic_block_to_the_next(rows):
    label, score, weight = rows
    distinct = np.unique(score)
    rises = np.diff(IsotonicCalibration(finite=None).fit(score, label, weight).calibrate(distinct)) > 1e-9
    fitted = VennAbers().fit(score, label, weight)
    assert (np.diff(fitted.predict_interval(distinct), axis=0)[rises] > 0).all()
    assert (np.diff(fitted.calibrate(distinct))[rises] > 0).all()


eighths = st.integers(0, 64).map(lambda i: i / 64)


@given(data=st.data(), new=st.lists(eighths, min_size=1, max_size=8).map(np.array))
def test_exchanging_the_classes_turns_the_interval_round(data, new):
    n = data.draw(st.integers(1, 20))
    score = np.array(data.draw(st.lists(eighths, min_size=n, max_size=n)))
    label = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    there, back = VennAbers().fit(score, label), VennAbers().fit(1 - score, 1 - label)
    np.testing.assert_allclose(back.predict_interval(1 - new), 1 - there.predict_interval(new)[:, ::-1], atol=1e-15)
    np.testing.assert_allclose(back.calibrate(1 - new), 1 - there.calibrate(new), rtol=1e-12)


def test_among_rows_of_one_class_the_rule_of_succession_holds_for_one_label():
    fitted = VennAbers().fit([0.2, 0.4, 0.6], [0, 0, 0])
    np.testing.assert_allclose(fitted.predict_interval([0.1, 0.6, 0.7]), [[0, 1 / 4], [0, 1 / 2], [0, 1]])
    np.testing.assert_allclose(fitted.calibrate([0.1, 0.6, 0.7]), [1 / 5, 1 / 3, 1 / 2])


def test_where_nothing_is_known_the_interval_is_everything_and_the_probability_a_half():
    fitted = VennAbers().fit([0.2, 0.4], [0, 1])
    assert fitted.predict_interval([0.3]).tolist() == [[0.0, 1.0]]
    assert fitted.calibrate([0.3]).tolist() == [0.5]


def test_however_many_rows_there_are_new_scores_at_the_ends_are_not_certain():
    fitted = VennAbers().fit([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1], np.full(4, 1e17))
    np.testing.assert_allclose(fitted.predict_proba([0.1, 0.9]), [[1.0, 1e-12], [1e-12, 1.0]], rtol=1e-3)
    assert fitted.predict_proba([0.0, 1.0]).min() > 0


def test_many_rows_bring_the_two_fits_together_around_isotonic_regression():
    rng = np.random.default_rng(0)
    score = rng.integers(0, 10, 20_000) / 10
    label = (rng.random(20_000) < 0.05 + score).astype(int)
    new = np.arange(10) / 10
    low, high = VennAbers().fit(score, label).predict_interval(new).T
    isotonic = IsotonicCalibration(finite=None).fit(score, label).calibrate(new)
    assert (low <= isotonic).all()
    assert (isotonic <= high).all()
    assert (high - low).max() < 0.002


def test_the_fit_of_the_label_that_comes_is_calibrated_on_any_distribution():
    """With exchangeable rows: the mean of that fit is the event rate, here of 200 new rows for each of 200 small samples."""
    rng = np.random.default_rng(0)
    gap = []
    for _ in range(200):
        score = rng.random(220)
        label = (rng.random(220) < 0.8 * (score > 0.3) * score**3).astype(int)
        fits = VennAbers().fit(score[:20], label[:20]).predict_interval(score[20:])
        gap.append((fits[np.arange(200), label[20:]] - label[20:]).mean())
    assert abs(np.mean(gap)) < 4 * np.std(gap) / np.sqrt(200)


@given(folds=st.lists(columns(max_rows=12), min_size=1, max_size=4), new=new_scores)
def test_pooling_folds_geometrically_is_cross_venn_abers(folds, new):
    fitted = [VennAbers().fit(score, label, weight) for label, score, weight in folds]
    intervals = np.array([fold.predict_interval(new) for fold in fitted])
    both = np.array([fold.predict_proba(new) for fold in fitted])
    pooled = np.exp(np.log(both).mean(axis=0))
    pooled /= pooled.sum(axis=1, keepdims=True)
    expected = [twin.cross([tuple(pair) for pair in of_row]) for of_row in intervals.transpose(1, 0, 2)]
    np.testing.assert_allclose(pooled[:, 1], expected, rtol=1e-9)


@given(rows=columns(max_rows=60, weights=st.one_of(st.integers(1, 4), fractions)))
def test_the_compiled_fits_are_those_of_the_max_min_formula(rows):
    label, score, weight = rows
    distinct = np.unique(score)
    reached = np.append(0.0, [weight[score <= d].sum() for d in distinct])
    events = np.append(0.0, [(weight * label)[score <= d].sum() for d in distinct])
    m, more = distinct.size, 0.75
    expected = [
        max(
            min((events[j] - events[i] + more) / (reached[j] - reached[i] + more) for j in range(k + 1, m + 1))
            for i in range(k + 1)
        )
        for k in range(m)
    ]
    np.testing.assert_allclose(fits_with_one_event(reached, events, more), expected, rtol=1e-9)


def test_intervals_of_logits_are_those_of_their_probabilities():
    logit, label = np.array([-2.0, -1.0, 0.5, 3.0]), [0, 1, 0, 1]
    as_logit = VennAbers(input="logit").fit(logit, label).predict_interval(logit)
    prob = 1 / (1 + np.exp(-logit))
    np.testing.assert_array_equal(as_logit, VennAbers().fit(prob, label).predict_interval(prob))
