import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import binned
from strategies import tables

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
