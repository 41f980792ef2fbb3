import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import binned, shared_class_wise, top_k
from strategies import columns, tables

import calibrant as cb
from calibrant import notions as base
from calibrant._core.border import as_problem
from calibrant._core.registry import entries
from calibrant.binning import PointsPerBin
from calibrant.curves import bin_test_curve, calibration_map
from calibrant.metrics import estimate_calibration_error
from calibrant.notions import (
    Binary,
    ClassWise,
    Confidence,
    OneVsRest,
    Part,
    ThresholdedClassWise,
    TopKConfidence,
    TopKLabel,
    TopLabel,
    WithinGroups,
    as_notion,
    binary_problems,
    top_labels,
)

TWINS = binned.NOTIONS | top_k.NOTIONS | shared_class_wise.NOTIONS


def rows_of(notion, problem):
    """The rows of each problem that has some."""
    return [
        list(zip(part.score.tolist(), part.outcome.tolist(), part.weight.tolist(), strict=True))
        for part in notion.split(problem)
        if part.size
    ]


P = np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5], [0.7, 0.2, 0.1]])


def test_one_column_is_binary_and_a_table_is_about_confidence():
    assert as_notion(None, as_problem([0, 1], [0.2, 0.7])) == Binary()
    assert as_notion(None, as_problem([0, 1, 2], P)) == Confidence()


def test_class_wise_scores_are_views_of_the_forecast():
    assert all(np.shares_memory(part.scores(P), P) for part in ClassWise().parts(P))


def test_problems_bear_the_names_of_their_classes():
    problem = as_problem(["a", "b", "c"], P)
    assert [part.name for part in ClassWise().split(problem)] == ["class a", "class b", "class c"]
    assert [part.name for part in TopLabel().split(problem)] == ["predicted a", "predicted b", "predicted c"]


def test_a_class_that_is_never_predicted_is_an_empty_problem_without_share():
    sizes = {part.name: (part.size, part.share) for part in TopLabel().split(as_problem([0, 1, 2], P))}
    assert sizes["predicted 1"] == (0, 0.0)


class Forgetful(ClassWise):
    """Each class against the rest, and does not say that a row stands in the part of every class."""

    def parts_a_row(self, n_classes):
        return 1


class LeavesRowsOut(ClassWise):
    """The first two rows of each class."""

    def parts(self, prob, names=None):
        for part in super().parts(prob, names):
            yield Part(np.arange(2), part.column, part.name)


@pytest.mark.parametrize("name", sorted(entries("notion")))
@given(data=st.data())
def test_a_notion_splits_as_its_definition_does(name, data):
    label, prob, weight = data.draw(tables(n_classes=st.just(2)) if name == "binary" else tables())
    problem = as_problem(label, prob, sample_weight=weight, labels=range(prob.shape[1]))
    assert rows_of(as_notion(name), problem) == TWINS[name](prob.tolist(), label.tolist(), weight.tolist())


@pytest.mark.parametrize(
    "word", ["top-k-label", "top-k-confidence", "top-2-label", "top-12-confidence", "top-label", "confidence"]
)
def test_a_notion_is_called_by_the_word_that_makes_it(word):
    assert as_notion(word).name == word
    assert as_notion(word).of_predictions


@pytest.mark.parametrize(
    "notion", ["binary", "class-wise", "one-vs-rest", "thresholded-class-wise", WithinGroups([0, 1])], ids=str
)
def test_other_notions_are_not_about_predictions(notion):
    assert not as_notion(notion).of_predictions


class SecondGuess(TopKConfidence):
    """The second highest probability, by a name that tells nothing."""

    name = "second-guess"

    def parts(self, prob, names=None):
        yield list(super().parts(prob, names))[1]

    def parts_a_row(self, n_classes):
        return 1

    def _ranked(self, prob):
        return np.argsort(-prob, axis=1)


def test_what_an_event_is_does_not_hang_on_the_name_of_its_notion():
    notion = SecondGuess()
    y = [0, 1, 2]
    curves = [
        cb.reliability_curve(y, P, notion=notion),
        cb.corp_curve(y, P, notion=notion, band=None),
        cb.smooth_reliability_curve(y, P, notion=notion),
        bin_test_curve(y, P, notion=notion, binning=1),
        calibration_map(cb.ByNotion(cb.HistogramBinning(1), notion).fit(P, y), resolution=2),
    ]
    assert [(type(curve).__name__, curve.of_predictions) for curve in curves if not curve.of_predictions] == []
    named = cb.assess(y, P, notion=notion, metrics=["ece"], n_resamples=2, binning=1)
    assert named.event is None


def test_the_problems_of_a_notion_are_its_data():
    first, second, third = binary_problems(["b", "a", "c"], P, notion="top-label", sample_weight=[2, 1, 0])
    assert [first.name, second.name, third.name] == ["predicted a", "predicted b", "predicted c"]
    assert (first.score.tolist(), first.outcome.tolist(), first.weight.tolist()) == ([0.5], [False], [2.0])
    assert third.share == 1 / 3
    assert repr(first) == "BinaryProblem(predicted a, rows=1, share=0.6667)"
    (event,) = binary_problems([0, 1], [0.2, 0.7])
    assert repr(event) == "BinaryProblem(class 1, rows=2, share=1)"


# What weights are


@pytest.mark.parametrize("name", sorted(set(entries("notion")) - {"binary"}))
@given(rows=tables(weights=st.sampled_from([1.0, 2.0, 0.5])))
def test_what_weights_are_is_decided_for_the_whole_problem(name, rows):
    label, prob, weight = rows
    problem = as_problem(label, prob, sample_weight=weight, labels=range(prob.shape[1]))
    counts = not (weight == 0.5).any()
    for part in as_notion(name).split(problem):
        assert part.weights.are_counts is counts
        assert part.weights.rows_per_weight == (1.0 if counts else len(weight) / weight.sum())


@pytest.mark.parametrize("more", [1.0, 1.0 + 1e-9, 0.3])
def test_whole_weights_of_one_predicted_class_make_no_bins_of_their_own(more):
    rng = np.random.default_rng(0)
    top, score = np.arange(400) % 2, rng.uniform(0.5, 1.0, 400)
    prob = np.where(top[:, None] == 0, np.column_stack([score, 1 - score]), np.column_stack([1 - score, score]))
    weight = np.where(top == 0, 4.0, 0.5) * more
    fitted = cb.ByNotion(cb.HistogramBinning(PointsPerBin(50)), "top-label").fit(
        prob, rng.permutation(top), sample_weight=weight
    )
    # 400 rows weigh 900: the first 200 stand for 356 rows and fill 7 bins, the others for 44.
    assert [len(one.count_) for one in fitted.calibrators_] == [7, 1]
    curve = cb.reliability_curve(
        top * 0, score, notion=WithinGroups(top), binning=PointsPerBin(50), sample_weight=weight
    )
    assert [len(panel.bins) for panel in curve.panels] == [7, 1]


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


def test_a_class_may_be_named():
    options = {"notion": OneVsRest("b"), "labels": ["a", "b", "c"]}
    assert cb.expected_calibration_error(["a", "b", "b"], P, **options) == cb.expected_calibration_error(
        [0, 1, 1], P, notion=OneVsRest(1)
    )


def test_a_calibrator_looks_the_name_of_a_class_up():
    by_name, by_number = (
        cb.ByNotion(cb.IsotonicCalibration(), OneVsRest(which)).fit(P, ["a", "b", "c"]).predict_proba(P)
        for which in ("b", 1)
    )
    np.testing.assert_array_equal(by_name, by_number)


def test_one_class_can_be_calibrated_by_itself():
    calibrated = cb.ByNotion(cb.IsotonicCalibration(finite=None), OneVsRest(2)).fit(P, [0, 2, 1]).predict_proba(P)
    assert calibrated[:, 2].tolist() == [0.0, 1.0, 0.0]
    np.testing.assert_allclose(calibrated[2, :2], [7 / 9, 2 / 9])


# The highest k classes


@given(
    prob=st.integers(2, 12).flatmap(
        lambda k: st.lists(st.lists(st.integers(0, 5), min_size=k, max_size=k), min_size=1, max_size=8)
    ),
    data=st.data(),
)
def test_ranks_are_from_the_highest_down_and_ties_go_to_the_first_column(prob, data):
    k = data.draw(st.integers(1, len(prob[0])))
    expected = [top_k.ranked(row)[:k] for row in prob]
    assert top_labels(np.array(prob, dtype=float), k).tolist() == expected


@pytest.mark.parametrize("k", [1, 9, 300])
def test_more_classes_than_a_byte_counts_are_ranked_and_grouped(k):
    rng = np.random.default_rng(0)
    prob = rng.integers(0, 50, (40, 300)) + 1.0
    assert top_labels(prob, k).tolist() == [top_k.ranked(row)[:k] for row in prob.tolist()]
    top = [row.index(max(row)) for row in prob.tolist()]
    groups = [part.rows.tolist() for part in TopLabel().parts(prob)]
    assert groups == [[i for i in range(40) if top[i] == j] for j in range(300)]


@pytest.mark.parametrize(("notion", "twin"), [(TopKConfidence, top_k.top_k_confidence), (TopKLabel, top_k.top_k_label)])
@given(data=st.data())
def test_the_first_k_ranks_are_what_their_definition_says(notion, twin, data):
    label, prob, weight = data.draw(tables())
    k = data.draw(st.integers(1, prob.shape[1]))
    problem = as_problem(label, prob, sample_weight=weight, labels=range(prob.shape[1]))
    assert rows_of(notion(k), problem) == twin(prob.tolist(), label.tolist(), weight.tolist(), k)
    assert sum(part.share for part in notion(k).split(problem)) == pytest.approx(1.0, rel=1e-12)


def test_ranks_bear_their_number_and_the_name_of_the_class():
    problem = as_problem(["a", "b", "c"], P)
    assert [part.name for part in TopKConfidence(2).split(problem)] == ["rank 1", "rank 2"]
    assert [part.name for part in TopKLabel(2).split(problem) if part.size] == [
        "rank 1, predicted a",
        "rank 1, predicted c",
        "rank 2, predicted b",
    ]


def test_a_word_says_how_many_ranks():
    assert as_notion("top-3-confidence") == TopKConfidence(3)
    assert as_notion("top-12-label") == TopKLabel(12)
    assert as_notion("top-k-label") == TopKLabel() != TopKLabel(3)
    assert repr(as_notion("top-3-label")) == "TopKLabel(k=3)"


def test_all_ranks_but_the_last_leave_the_rest_to_it():
    prob = np.array([[0.5, 0.3, 0.2]])
    merged = TopKConfidence(2).merge(prob, [np.array([0.6]), np.array([0.1])])
    np.testing.assert_allclose(merged, [[0.6, 0.1, 0.3]])


@pytest.mark.filterwarnings("ignore:no calibration row for rank 1")
@pytest.mark.parametrize("word", ["top-2-confidence", "top-2-label"])
def test_each_rank_has_a_calibrator_of_its_own_and_the_rest_keeps_what_is_left(word):
    """Of the first rank half were right, at no score more than at another; of the second a third; by class it is the same."""
    fitted = cb.ByNotion(cb.IsotonicCalibration(finite=None), word).fit(np.tile(P, (2, 1)), [0, 1, 2, 0, 2, 1])
    np.testing.assert_allclose(
        fitted.predict_proba(P), [[1 / 2, 1 / 3, 1 / 6], [1 / 6, 1 / 3, 1 / 2], [1 / 2, 1 / 3, 1 / 6]]
    )


# Groups


@given(rows=columns(), data=st.data())
def test_groups_are_problems_of_their_own(rows, data):
    label, score, weight = rows
    group = data.draw(st.lists(st.sampled_from("cab"), min_size=len(label), max_size=len(label)))
    found = rows_of(WithinGroups(group), as_problem(label, score, sample_weight=weight))
    assert found == top_k.within_groups(score.tolist(), label.tolist(), weight.tolist(), group)
    expected = binned.calibration_error(found, binned.equal_width(6), "l1")
    measured = cb.calibration_error(label, score, sample_weight=weight, notion=WithinGroups(group), binning=6)
    assert measured == pytest.approx(expected, rel=1e-9, abs=1e-12)


GROUP, SCORE, OCCURRED = ["b", "a", "b", "a"], [0.2, 0.4, 0.6, 0.8], [0, 1, 1, 1]


def test_groups_of_logits_keep_them():
    problem = as_problem(OCCURRED, [-800.0, 0.0, 1.0, 800.0], input="logit")
    assert [part.logit.tolist() for part in WithinGroups(GROUP).split(problem)] == [[0.0, 800.0], [-800.0, 1.0]]


@given(rows=columns(), data=st.data())
def test_merging_groups_puts_each_score_back_into_its_row(rows, data):
    _, score, _ = rows
    group = data.draw(st.lists(st.integers(0, 2), min_size=len(score), max_size=len(score)))
    prob, notion = np.column_stack([1 - score, score]), WithinGroups(group)
    np.testing.assert_allclose(notion.merge(prob, [part.scores(prob) for part in notion.parts(prob)]), prob, rtol=1e-15)
    merged = notion.merge(prob, [part.scores(prob) / 2 for part in notion.parts(prob)])
    np.testing.assert_allclose(merged, np.column_stack([1 - score / 2, score / 2]), rtol=1e-12)


def test_groups_serve_curves_and_estimates():
    notion = WithinGroups(GROUP)
    assert [panel.name for panel in cb.reliability_curve(OCCURRED, SCORE, notion=notion).panels] == [
        "group a",
        "group b",
    ]
    value = cb.calibration_error(OCCURRED, SCORE, notion=notion, binning=cb.EqualMass(2))
    estimate = estimate_calibration_error(OCCURRED, SCORE, notion=notion, binning=cb.EqualMass(2), n_resamples=9)
    assert value == estimate.value == pytest.approx((0.6 + 0.2 + 0.2 + 0.4) / 4)


def test_equal_groups_are_the_same_notion():
    notion = WithinGroups(np.array(GROUP))
    assert notion == WithinGroups(GROUP)
    assert hash(notion) == hash(WithinGroups(GROUP))
    assert notion not in (WithinGroups(["a", "b", "a", "b"]), WithinGroups(["d", "c", "d", "c"]), Binary())
    assert repr(notion) == "WithinGroups(2 groups of 4 rows)"


# Thresholds


def test_classes_that_are_spoken_of_have_equal_shares():
    parts = list(ThresholdedClassWise(0.6).split(as_problem([0, 1, 2], P)))
    assert [part.share for part in parts] == [1.0, 0.0, 0.0]


# What is refused


def error_of(notion, y=(0, 1, 2), prob=P, **data):
    return cb.calibration_error(y, prob, notion=notion, **data)


REFUSED = [
    (lambda: as_notion("toplable"), "got 'toplable'. Did you mean 'top-label'?"),
    (lambda: as_notion("canonical"), "Measure with canonical_calibration_error, calibrate with Canonical"),
    (lambda: error_of("binary"), "speaks of two classes; the forecast has 3"),
    (lambda: error_of(Forgetful()), "notion 'class-wise' must sum to one; got 3. Return from parts_"),
    (lambda: error_of(LeavesRowsOut()), "notion 'class-wise' must sum to one; got 0.666667"),
    (lambda: error_of(OneVsRest("d"), list("abc")), "among the classes 'a', 'b', 'c'; got 'd'"),
    (lambda: error_of(OneVsRest(3)), "column must be among the 3 columns of the forecast; got 3"),
    (lambda: error_of(OneVsRest(-4)), "column must be among the 3 columns of the forecast; got -4"),
    (lambda: OneVsRest(1.0), "column must be a number of a column or a name of a class"),
    (lambda: OneVsRest(True), "column must be a number of a column or a name of a class"),
    (lambda: next(OneVsRest("b").parts(P)), "where the names of the classes are not known"),
    (lambda: as_notion("top3-label"), "For the k of 'top-k-label' write a number, as in 'top-3-label'"),
    (lambda: error_of(TopKConfidence(4)), "must be at most the number of classes, 3; got 4"),
    (lambda: error_of("top-4-label"), "must be at most the number of classes, 3; got 4"),
    (lambda: TopKLabel(0), "k must be a whole number, at least 1"),
    (lambda: TopKConfidence("3"), "k must be a whole number, at least 1"),
    (lambda: error_of(WithinGroups([0, 0, 1])), "one event; the forecast has 3 classes"),
    (
        lambda: error_of(WithinGroups(GROUP), OCCURRED, SCORE, sample_weight=[1, 1, 0, 1]),
        "one value for each row that counts;",
    ),
    (lambda: WithinGroups([0.5, 1.0]), "groups must"),
    (lambda: WithinGroups([[1, 2]]), "groups must"),
    (lambda: WithinGroups([None, "a"]), "groups must"),
    (lambda: ThresholdedClassWise(-0.1), "threshold must be a number, at least 0 and at most 1"),
    (lambda: ThresholdedClassWise(float("nan")), "threshold must be a number, at least 0 and at most 1"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED, ids=[row[-1][:60] for row in REFUSED])
def test_what_is_no_notion_of_a_forecast_is_refused(call, words):
    with pytest.raises((ValueError, TypeError), match=re.escape(words)):
        call()


# Merging


APART = [[0.4, 0.3, 0.3], [0.6, 0.3, 0.1]]
MERGED = {
    "the rest keeps its proportions": (Confidence(), [[0.5, 0.3, 0.2]], [[0.75]], [[0.75, 0.15, 0.10]]),
    "a rest of nothing is even": (Confidence(), [[1.0, 0.0, 0.0]], [[0.5]], [[0.5, 0.25, 0.25]]),
    "a rest as small as of a softmax": (Confidence(), [[1.0, 1e-310, 0.0]], [[0.5]], [[0.5, 0.5, 0.0]]),
    "class-wise scores are divided by their sum": (ClassWise(), P[:1], [[0.2], [0.2], [0.1]], [[0.4, 0.4, 0.2]]),
    "more than one in all": (ThresholdedClassWise(0.4), [[0.45, 0.45, 0.1]], [[0.9], [0.6], []], [[0.6, 0.4, 0.0]]),
    "a row without a part": (ThresholdedClassWise(0.5), APART, [[0.8], [], []], [[0.4, 0.3, 0.3], [0.8, 0.15, 0.05]]),
}


@pytest.mark.parametrize(("notion", "prob", "scores", "expected"), MERGED.values(), ids=MERGED)
def test_new_scores_are_merged_into_rows_that_sum_to_one(notion, prob, scores, expected):
    np.testing.assert_allclose(notion.merge(np.array(prob), [np.array(part) for part in scores]), expected)


def test_without_normalisation_class_wise_scores_stay_as_they_are():
    merged = ClassWise().merge(P[:1], [np.array([0.2]), np.array([0.2]), np.array([0.1])], normalize=False)
    assert merged.tolist() == [[0.2, 0.2, 0.1]]


@pytest.mark.parametrize("notion", [ClassWise(), Confidence(), TopKConfidence(2), ThresholdedClassWise(0.1)], ids=repr)
@pytest.mark.parametrize("n_classes", [3, 100])
@pytest.mark.parametrize("normalize", [True, False])
def test_a_row_is_merged_by_itself_whatever_the_size_of_the_table(notion, n_classes, normalize):
    rng = np.random.default_rng(n_classes)
    n = 2 * base.BLOCK // n_classes + 5
    prob = rng.dirichlet(np.ones(n_classes), n).astype(np.float32).astype(np.float64)

    def merged(rows):
        scores = [part.scores(rows) for part in notion.parts(rows)]
        return notion.merge(rows, [np.sqrt(score) for score in scores], normalize=normalize)

    some = np.append(np.arange(0, n, n // 20), n - 1)
    expected = np.concatenate([merged(prob[row : row + 1]) for row in some])
    np.testing.assert_allclose(merged(prob)[some], expected, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(merged(np.asfortranarray(prob)), merged(prob))
