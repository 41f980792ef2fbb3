import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import binned
from strategies import tables

from calibrant import ByNotion, IsotonicCalibrator, OneVsRest, ThresholdedClassWise, expected_calibration_error
from calibrant._registry import entries
from calibrant._validation import as_problem
from calibrant.notions import Binary, ClassWise, Confidence, TopLabel, as_notion, top_label

P = np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5], [0.7, 0.2, 0.1]])


def test_of_equal_probabilities_the_first_class_is_predicted():
    assert top_label(P).tolist() == [0, 2, 0]


def test_one_column_is_binary_and_a_table_is_about_confidence():
    assert as_notion(None, as_problem([0, 1], [0.2, 0.7])) == Binary()
    assert as_notion(None, as_problem([0, 1, 2], P)) == Confidence()


def test_a_misspelt_notion_is_refused_with_the_nearest_name():
    with pytest.raises(ValueError, match=r"notion must be one of .*; got 'toplabel'\. Did you mean 'top-label'\?"):
        as_notion("toplabel")


def test_the_binary_notion_of_three_classes_is_refused():
    with pytest.raises(ValueError, match="speaks of two classes; the forecast has 3"):
        list(Binary().split(as_problem([0, 1, 2], P)))


def test_two_notions_of_one_class_are_the_same_notion():
    assert Confidence() == as_notion("confidence")
    assert hash(Confidence()) == hash(as_notion("confidence"))
    assert Confidence() != TopLabel()
    assert repr(TopLabel()) == "TopLabel()"


def test_swapping_two_classes_turns_the_binary_problem_round():
    prob, label = np.array([[0.75, 0.25], [0.125, 0.875]]), np.array([0, 1])
    one = next(Binary().split(as_problem(label, prob)))
    other = next(Binary().split(as_problem(1 - label, prob[:, ::-1])))
    assert other.score.tolist() == (1 - one.score).tolist()
    assert other.outcome.tolist() == (~one.outcome).tolist()


def test_class_wise_scores_are_views_of_the_forecast():
    assert all(np.shares_memory(part.scores(P), P) for part in ClassWise().parts(P))


def test_problems_bear_the_names_of_their_classes():
    problem = as_problem(["a", "b", "c"], P)
    assert [part.name for part in ClassWise().split(problem)] == ["class a", "class b", "class c"]
    assert [part.name for part in TopLabel().split(problem)] == ["predicted a", "predicted b", "predicted c"]


def test_a_class_that_is_never_predicted_is_an_empty_problem_without_share():
    sizes = {part.name: (part.size, part.share) for part in TopLabel().split(as_problem([0, 1, 2], P))}
    assert sizes["predicted 1"] == (0, 0.0)


@pytest.mark.parametrize("name", sorted(entries("notion")))
@given(data=st.data())
def test_a_notion_splits_as_its_definition_does(name, data):
    label, prob, weight = data.draw(tables(n_classes=st.just(2)) if name == "binary" else tables())
    problem = as_problem(label, prob, sample_weight=weight, labels=range(prob.shape[1]))
    found = [
        list(zip(part.score.tolist(), part.outcome.tolist(), part.weight.tolist(), strict=True))
        for part in as_notion(name).split(problem)
        if part.size
    ]
    assert found == binned.NOTIONS[name](prob.tolist(), label.tolist(), weight.tolist())


# One class


def test_one_against_the_rest_is_that_part_of_all_classes():
    problem = as_problem([0, 1, 2], P)
    for j, expected in enumerate(ClassWise().split(problem)):
        (found,) = OneVsRest(j).split(problem)
        assert found.score.tolist() == expected.score.tolist()
        assert found.outcome.tolist() == expected.outcome.tolist()
        assert (found.share, found.name) == (1.0, expected.name)


def test_the_last_of_two_classes_is_the_event():
    problem = as_problem([0, 1], [[0.75, 0.25], [0.125, 0.875]])
    (found,), (expected,) = OneVsRest().split(problem), Binary().split(problem)
    assert found.score.tolist() == expected.score.tolist()
    assert found.outcome.tolist() == expected.outcome.tolist()


def test_a_negative_column_counts_from_the_end():
    problem = as_problem([0, 1, 2], P)
    (found,), (expected,) = OneVsRest(-3).split(problem), OneVsRest(0).split(problem)
    assert found.outcome.tolist() == expected.outcome.tolist()


def test_a_class_may_be_named():
    options = {"notion": OneVsRest("b"), "labels": ["a", "b", "c"]}
    assert expected_calibration_error(["a", "b", "b"], P, **options) == expected_calibration_error(
        [0, 1, 1], P, notion=OneVsRest(1)
    )


def test_a_class_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="column must be among the classes 'a', 'b', 'c'; got 'd'"):
        expected_calibration_error(["a", "b", "c"], P, notion=OneVsRest("d"))


@pytest.mark.parametrize("column", [3, -4])
def test_a_column_that_is_not_there_is_refused(column):
    with pytest.raises(ValueError, match=f"column must be among the 3 columns of the forecast; got {column}"):
        list(OneVsRest(column).split(as_problem([0, 1, 2], P)))


@pytest.mark.parametrize("column", [1.0, None, True])
def test_a_column_that_is_no_number_and_no_name_is_refused(column):
    with pytest.raises(TypeError, match="column must be a number of a column or a name of a class"):
        OneVsRest(column)


def test_a_name_is_refused_where_names_are_not_known():
    with pytest.raises(ValueError, match="column must be a number where the names of the classes are not known"):
        next(OneVsRest("b").parts(np.array(P)))


def test_a_calibrator_looks_the_name_of_a_class_up():
    by_name, by_number = (
        ByNotion(IsotonicCalibrator(), OneVsRest(which)).fit(P, ["a", "b", "c"]).predict_proba(P) for which in ("b", 1)
    )
    np.testing.assert_array_equal(by_name, by_number)


def test_one_class_can_be_calibrated_by_itself():
    calibrated = ByNotion(IsotonicCalibrator(), OneVsRest(2)).fit(P, [0, 2, 1]).predict_proba(P)
    assert calibrated[:, 2].tolist() == [0.0, 1.0, 0.0]
    np.testing.assert_allclose(calibrated[2, :2], [7 / 9, 2 / 9])


@given(rows=tables(), random=st.randoms(use_true_random=False))
def test_relabelling_the_classes_moves_the_column(rows, random):
    label, prob, _ = rows
    k = prob.shape[1]
    old_of_new = np.array(random.sample(range(k), k))
    (before,) = OneVsRest(int(old_of_new[0])).split(as_problem(label, prob, labels=range(k)))
    (after,) = OneVsRest(0).split(as_problem(np.argsort(old_of_new)[label], prob[:, old_of_new], labels=range(k)))
    assert after.score.tolist() == before.score.tolist()
    assert after.outcome.tolist() == before.outcome.tolist()


# Thresholds


def test_only_probabilities_that_reach_the_threshold_are_spoken_of():
    parts = list(ThresholdedClassWise(0.5).split(as_problem([0, 1, 2], P)))
    assert [part.score.tolist() for part in parts] == [[0.5, 0.7], [0.5], [0.5]]


def test_classes_that_are_spoken_of_have_equal_shares():
    parts = list(ThresholdedClassWise(0.6).split(as_problem([0, 1, 2], P)))
    assert [part.share for part in parts] == [1.0, 0.0, 0.0]


def test_where_no_probability_reaches_the_threshold_there_is_no_error():
    assert expected_calibration_error([0, 1, 2], P, notion=ThresholdedClassWise(0.9)) == 0.0


def test_a_threshold_of_zero_is_class_wise():
    options = {"binning": 4}
    assert expected_calibration_error([0, 1, 2], P, notion=ThresholdedClassWise(0.0), **options) == pytest.approx(
        expected_calibration_error([0, 1, 2], P, notion="class-wise", **options)
    )


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan")])
def test_a_threshold_that_is_no_probability_is_refused(threshold):
    with pytest.raises(ValueError, match=r"threshold must be a probability in \[0, 1\]"):
        ThresholdedClassWise(threshold)


# Merging


def test_what_a_row_does_not_speak_of_keeps_its_proportions():
    merged = Confidence().merge(np.array([[0.5, 0.3, 0.2]]), [np.array([0.75])])
    np.testing.assert_allclose(merged, [[0.75, 0.15, 0.10]])


def test_where_nothing_is_left_to_keep_proportions_of_the_rest_is_even():
    merged = Confidence().merge(np.array([[1.0, 0.0, 0.0]]), [np.array([0.5])])
    np.testing.assert_allclose(merged, [[0.5, 0.25, 0.25]])


def test_a_rest_as_small_as_a_softmax_can_make_it_is_spread_without_overflow():
    merged = Confidence().merge(np.array([[1.0, 1e-310, 0.0]]), [np.array([0.5])])
    np.testing.assert_allclose(merged, [[0.5, 0.5, 0.0]])


def test_class_wise_scores_are_divided_by_their_sum():
    merged = ClassWise().merge(P[:1], [np.array([0.2]), np.array([0.2]), np.array([0.1])])
    np.testing.assert_allclose(merged, [[0.4, 0.4, 0.2]])


def test_class_wise_zeros_become_uniform():
    merged = ClassWise().merge(P[:1], [np.zeros(1)] * 3)
    np.testing.assert_allclose(merged, [[1 / 3, 1 / 3, 1 / 3]])


def test_without_normalisation_class_wise_scores_stay_as_they_are():
    merged = ClassWise().merge(P[:1], [np.array([0.2]), np.array([0.2]), np.array([0.1])], normalize=False)
    assert merged.tolist() == [[0.2, 0.2, 0.1]]


def test_more_than_one_in_all_that_was_spoken_of_is_divided_by_its_sum():
    prob = np.array([[0.45, 0.45, 0.1]])
    merged = ThresholdedClassWise(0.4).merge(prob, [np.array([0.9]), np.array([0.6]), np.array([])])
    np.testing.assert_allclose(merged, [[0.6, 0.4, 0.0]])


def test_a_row_without_a_part_stays_as_it_is():
    prob = np.array([[0.4, 0.3, 0.3], [0.6, 0.3, 0.1]])
    merged = ThresholdedClassWise(0.5).merge(prob, [np.array([0.8]), np.array([]), np.array([])])
    np.testing.assert_allclose(merged, [[0.4, 0.3, 0.3], [0.8, 0.15, 0.05]])
