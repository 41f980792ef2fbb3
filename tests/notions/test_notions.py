"""Notions: what splits and merges say, predictions alone, classes that share a problem, and what is refused."""

import re
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import binned, shared_class_wise, top_k
from strategies import columns, dirichlet_rows, tables

import calibrant as cb
from calibrant import EqualMass, assess, calibration_error, notions
from calibrant._core.border import as_problem
from calibrant._core.registry import entries
from calibrant.binning import PointsPerBin
from calibrant.calibrators import MulticlassIsotonic
from calibrant.curves import bin_test_curve, calibration_map, class_errors, validity_curve
from calibrant.metrics import estimate_calibration_error
from calibrant.metrics.decompositions import accuracy
from calibrant.notions import ClassWise, Confidence, SharedClassWise, ThresholdedClassWise, TopKConfidence, WithinGroups
from calibrant.significance import by_group, paired_test, resampling_test

pytestmark = pytest.mark.filterwarnings("ignore:only the class", "ignore:no calibration row")


TWINS = binned.NOTIONS | top_k.NOTIONS | shared_class_wise.NOTIONS


def rows_of(notion, problem):
    """The rows of each problem that has some."""
    parts = [part for part in notion.split(problem) if part.size]
    return [list(zip(p.score.tolist(), p.outcome.tolist(), p.weight.tolist(), strict=True)) for p in parts]


P = np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5], [0.7, 0.2, 0.1]])


def test_one_column_is_binary_and_a_table_is_about_confidence():
    assert notions.as_notion(None, as_problem([0, 1], [0.2, 0.7])) == notions.Binary()
    assert notions.as_notion(None, as_problem([0, 1, 2], P)) == Confidence()


def test_class_wise_scores_are_views_of_the_forecast():
    assert all(np.shares_memory(part.scores(P), P) for part in ClassWise().parts(P))


def test_problems_bear_names_and_have_shares():
    problem = as_problem(["a", "b", "c"], P[[0, 1, 1]])

    def of(notion):
        return [(part.name, part.size, part.share) for part in notion.split(problem)]

    assert of(notions.TopLabel()) == [("predicted a", 1, 1 / 3), ("predicted b", 0, 0.0), ("predicted c", 2, 2 / 3)]
    assert of(ClassWise()) == [(f"class {name}", 3, 1 / 3) for name in "abc"]
    assert [name for name, *_ in of(TopKConfidence(2))] == ["rank 1", "rank 2"]
    found = [name for name, size, _ in of(notions.TopKLabel(2)) if size]
    assert found == ["rank 1, predicted a", "rank 1, predicted c", "rank 2, predicted b"]
    assert [share for *_, share in of(ThresholdedClassWise(0.45))] == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize("name", sorted(entries("notion")))
@given(data=st.data())
def test_a_notion_splits_as_its_definition_does(name, data):
    label, prob, weight = data.draw(tables(n_classes=st.just(2)) if name == "binary" else tables())
    problem = as_problem(label, prob, sample_weight=weight, labels=range(prob.shape[1]))
    assert rows_of(notions.as_notion(name), problem) == TWINS[name](prob.tolist(), label.tolist(), weight.tolist())


WORDS = {
    "top-k-label": notions.TopKLabel(),
    "top-k-confidence": TopKConfidence(),
    "top-2-label": notions.TopKLabel(2),
    "top-12-confidence": TopKConfidence(12),
    "top-label": notions.TopLabel(),
    "confidence": Confidence(),
    "binary": notions.Binary(),
    "class-wise": ClassWise(),
    "one-vs-rest": notions.OneVsRest(),
    "thresholded-class-wise": ThresholdedClassWise(),
}


@pytest.mark.parametrize("word", WORDS)
def test_a_notion_is_called_by_the_word_that_makes_it(word):
    assert (notions.as_notion(word), notions.as_notion(word).name) == (WORDS[word], word)
    assert notions.as_notion(word).of_predictions == word.startswith(("top", "confidence"))


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
    notion, y = SecondGuess(), [0, 1, 2]
    curves = [
        cb.reliability_curve(y, P, notion=notion),
        cb.corp_curve(y, P, notion=notion, band=None),
        cb.smooth_reliability_curve(y, P, notion=notion),
        bin_test_curve(y, P, notion=notion, binning=1),
        calibration_map(cb.ByNotion(cb.HistogramBinning(1), notion).fit(P, y), resolution=2),
    ]
    assert [(type(curve).__name__, curve.of_predictions) for curve in curves if not curve.of_predictions] == []
    named = assess(y, P, notion=notion, metrics=["ece"], n_resamples=2, binning=1)
    assert named.event is None


def test_the_problems_of_a_notion_are_its_data():
    first, second, third = notions.binary_problems(["b", "a", "c"], P, notion="top-label", sample_weight=[2, 1, 0])
    assert [first.name, second.name, third.name] == ["predicted a", "predicted b", "predicted c"]
    assert (first.score.tolist(), first.outcome.tolist(), first.weight.tolist()) == ([0.5], [False], [2.0])
    assert third.share == 1 / 3
    assert repr(first) == "BinaryProblem(predicted a, rows=1, share=0.6667)"
    (event,) = notions.binary_problems([0, 1], [0.2, 0.7])
    assert repr(event) == "BinaryProblem(class 1, rows=2, share=1)"


# What weights are


@pytest.mark.parametrize("name", sorted(set(entries("notion")) - {"binary"}))
@given(rows=tables(weights=st.sampled_from([1.0, 2.0, 0.5])))
def test_what_weights_are_is_decided_for_the_whole_problem(name, rows):
    label, prob, weight = rows
    problem = as_problem(label, prob, sample_weight=weight, labels=range(prob.shape[1]))
    counts = not (weight == 0.5).any()
    for part in notions.as_notion(name).split(problem):
        assert part.weights.are_counts is counts
        assert part.weights.rows_per_weight == (1.0 if counts else len(weight) / weight.sum())


@pytest.mark.parametrize("more", [1.0, 1.0 + 1e-9, 0.3])
def test_whole_weights_of_one_predicted_class_make_no_bins_of_their_own(more):
    rng = np.random.default_rng(0)
    top, score = np.arange(400) % 2, rng.uniform(0.5, 1.0, 400)
    prob = np.where(top[:, None] == 0, np.column_stack([score, 1 - score]), np.column_stack([1 - score, score]))
    weight = np.where(top == 0, 4.0, 0.5) * more
    fitted = cb.ByNotion(cb.HistogramBinning(PointsPerBin(50)), "top-label")
    fitted.fit(prob, rng.permutation(top), sample_weight=weight)
    # 400 rows weigh 900: the first 200 stand for 356 rows and fill 7 bins, the others for 44.
    assert [len(one.count_) for one in fitted.calibrators_] == [7, 1]
    options = {"binning": PointsPerBin(50), "sample_weight": weight}
    curve = cb.reliability_curve(top * 0, score, notion=WithinGroups(top), **options)
    assert [len(panel.bins) for panel in curve.panels] == [7, 1]


# One class


def test_a_class_may_be_named_and_a_calibrator_looks_its_name_up():
    both = notions.OneVsRest("b"), notions.OneVsRest(1)
    named, numbered = (calibration_error(["a", "b", "b"], P, labels=list("abc"), notion=one) for one in both)
    assert named == numbered
    named, numbered = (cb.ByNotion(cb.IsotonicCalibration(), one).fit(P, list("abc")).predict_proba(P) for one in both)
    np.testing.assert_array_equal(named, numbered)


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
    assert notions.top_labels(np.array(prob, dtype=float), k).tolist() == expected


@pytest.mark.parametrize("k", [1, 9, 300])
def test_more_classes_than_a_byte_counts_are_ranked_and_grouped(k):
    prob = np.random.default_rng(0).integers(0, 50, (40, 300)) + 1.0
    assert notions.top_labels(prob, k).tolist() == [top_k.ranked(row)[:k] for row in prob.tolist()]
    top = [row.index(max(row)) for row in prob.tolist()]
    groups = [part.rows.tolist() for part in notions.TopLabel().parts(prob)]
    assert groups == [[i for i in range(40) if top[i] == j] for j in range(300)]


RANKS = [(TopKConfidence, top_k.top_k_confidence), (notions.TopKLabel, top_k.top_k_label)]


@pytest.mark.parametrize(("notion", "twin"), RANKS)
@given(data=st.data())
def test_the_first_k_ranks_are_what_their_definition_says(notion, twin, data):
    label, prob, weight = data.draw(tables())
    k = data.draw(st.integers(1, prob.shape[1]))
    problem = as_problem(label, prob, sample_weight=weight, labels=range(prob.shape[1]))
    assert rows_of(notion(k), problem) == twin(prob.tolist(), label.tolist(), weight.tolist(), k)
    assert sum(part.share for part in notion(k).split(problem)) == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("word", ["top-2-confidence", "top-2-label"])
def test_each_rank_has_a_calibrator_of_its_own_and_the_rest_keeps_what_is_left(word):
    """Of the first rank half were right, at no score more than at another; of the second a third; by class it is the same."""
    fitted = cb.ByNotion(cb.IsotonicCalibration(finite=None), word).fit(np.tile(P, (2, 1)), [0, 1, 2, 0, 2, 1])
    expected = np.array([[3, 2, 1], [1, 2, 3], [3, 2, 1]]) / 6
    np.testing.assert_allclose(fitted.predict_proba(P), expected)


# Groups


@given(rows=columns(), data=st.data())
def test_groups_are_problems_of_their_own(rows, data):
    label, score, weight = rows
    group = data.draw(st.lists(st.sampled_from("cab"), min_size=len(label), max_size=len(label)))
    found = rows_of(WithinGroups(group), as_problem(label, score, sample_weight=weight))
    assert found == top_k.within_groups(score.tolist(), label.tolist(), weight.tolist(), group)
    expected = binned.calibration_error(found, binned.equal_width(6), "l1")
    measured = calibration_error(label, score, sample_weight=weight, notion=WithinGroups(group), binning=6)
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


# Merging


APART = [[0.4, 0.3, 0.3], [0.6, 0.3, 0.1]]
MERGED = {
    "the rest keeps its proportions": (Confidence(), [[0.5, 0.3, 0.2]], [[0.75]], [[0.75, 0.15, 0.10]]),
    "a rest of nothing is even": (Confidence(), [[1.0, 0.0, 0.0]], [[0.5]], [[0.5, 0.25, 0.25]]),
    "a rest as small as of a softmax": (Confidence(), [[1.0, 1e-310, 0.0]], [[0.5]], [[0.5, 0.5, 0.0]]),
    "class-wise scores are divided by their sum": (ClassWise(), P[:1], [[0.2], [0.2], [0.1]], [[0.4, 0.4, 0.2]]),
    "more than one in all": (ThresholdedClassWise(0.4), [[0.45, 0.45, 0.1]], [[0.9], [0.6], []], [[0.6, 0.4, 0.0]]),
    "the last rank has the rest": (TopKConfidence(2), [[0.5, 0.3, 0.2]], [[0.6], [0.1]], [[0.6, 0.1, 0.3]]),
    "a row without a part": (ThresholdedClassWise(0.5), APART, [[0.8], [], []], [[0.4, 0.3, 0.3], [0.8, 0.15, 0.05]]),
}


@pytest.mark.parametrize(("notion", "prob", "scores", "expected"), MERGED.values(), ids=MERGED)
def test_new_scores_are_merged_into_rows_that_sum_to_one(notion, prob, scores, expected):
    np.testing.assert_allclose(notion.merge(np.array(prob), [np.array(part) for part in scores]), expected)
    raw = ClassWise().merge(P[:1], [np.array([0.2]), np.array([0.2]), np.array([0.1])], normalize=False)
    assert raw.tolist() == [[0.2, 0.2, 0.1]]


@pytest.mark.parametrize("notion", [ClassWise(), Confidence(), TopKConfidence(2), ThresholdedClassWise(0.1)], ids=repr)
@pytest.mark.parametrize("n_classes", [3, 100])
@pytest.mark.parametrize("normalize", [True, False])
def test_a_row_is_merged_by_itself_whatever_the_size_of_the_table(notion, n_classes, normalize):
    rng = np.random.default_rng(n_classes)
    n = 2 * notions.BLOCK // n_classes + 5
    prob = rng.dirichlet(np.ones(n_classes), n).astype(np.float32).astype(np.float64)

    def merged(rows):
        scores = [part.scores(rows) for part in notion.parts(rows)]
        return notion.merge(rows, [np.sqrt(score) for score in scores], normalize=normalize)

    some = np.append(np.arange(0, n, n // 20), n - 1)
    expected = np.concatenate([merged(prob[row : row + 1]) for row in some])
    np.testing.assert_allclose(merged(prob)[some], expected, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(merged(np.asfortranarray(prob)), merged(prob))


# A predicted class and its probability alone say the same as the table


NAMES = np.array(["pear", "apple", "quince", "plum"])


def forecast(n=240, seed=0):
    rng = np.random.default_rng(seed)
    prob = np.round(rng.dirichlet(np.full(4, 0.7), n), 2) + 1e-4
    prob[:, 3] *= 1e-3  # all but never predicted
    prob /= prob.sum(axis=1, keepdims=True)
    return NAMES[[rng.choice(4, p=row) for row in prob]], prob, rng.integers(0, 3, n)


def both(weighted=True):
    """The same forecast as a table and as a pair."""
    label, prob, weight = forecast()
    common = {"y_true": label, "labels": NAMES.tolist()} | ({"sample_weight": weight} if weighted else {})
    return common | {"y_prob": prob}, common | {"y_prob": prob.max(axis=1), "y_pred": NAMES[prob.argmax(axis=1)]}


def problems_said(notion, **data):
    found = notions.binary_problems(notion=notion, **data)
    columns = [(p.score.tolist(), p.outcome.tolist(), p.weight.tolist()) for p in found]
    return columns, [(p.name, p.share, p.weights.are_counts, p.weights.rows_per_weight) for p in found]


def cubes(problem, bins):
    return np.abs(bins.gap) ** 3


FEW = {"n_resamples": 20}
SAID = {
    "calibration_error": lambda notion, **data: calibration_error(notion=notion, binning=EqualMass(7), **data),
    "estimate": lambda notion, **data: estimate_calibration_error(notion=notion, **FEW, **data).value,
    "computed anew": lambda notion, **data: estimate_calibration_error(notion=notion, loss=cubes, **FEW, **data).value,
    "reliability_curve": lambda notion, **data: cb.reliability_curve(notion=notion, **data).to_frame().to_csv(),
    "validity": lambda notion, **data: validity_curve(notion=notion, binning=PointsPerBin(9), **data).error.tolist(),
    "corp_curve": lambda notion, **data: cb.corp_curve(notion=notion, band=None, **data).to_frame().to_csv(),
    "class_errors": lambda notion, **data: class_errors(notion=notion, n_resamples=0, **data).to_frame().to_csv(),
    "top_label_curve": lambda _, **data: cb.curves.top_label_curve(**data).to_frame(each="class").to_csv(),
    "binary_problems": problems_said,
}


@pytest.mark.parametrize("weighted", [True, False], ids=["weights", "no weights"])
@pytest.mark.parametrize("notion", ["top-label", "confidence"])
@pytest.mark.parametrize("what", SAID)
def test_a_pair_says_the_same_as_the_table(what, notion, weighted):
    table, pair = both(weighted)
    assert SAID[what](notion, **pair) == SAID[what](notion, **table)


def test_by_default_a_pair_is_about_confidence_as_a_table_is():
    table, pair = both()
    assert calibration_error(**pair) == calibration_error(**table)
    assert repr(cb.reliability_curve(**pair)) == repr(cb.reliability_curve(**table))
    assert calibration_error(notion="binary", **pair) == calibration_error(**pair)


@pytest.mark.parametrize("metric", ["top-label-ece", "top-label-mce", "ece"])
def test_tests_and_the_assessment_find_the_same_value(metric):
    table, pair = both()
    found, expected = (resampling_test(metric=metric, **FEW, **data).statistic for data in (pair, table))
    assert found == pytest.approx(expected, rel=1e-12)
    one, other = (assess(metrics=[metric], **FEW, **data) for data in (pair, table))
    assert one[metric].value == other[metric].value
    prob = pair.pop("y_prob")
    assert paired_test(prob_a=prob, prob_b=prob**2, metric=metric, **FEW, **pair).statistic != 0.0
    assert (one.n_rows, one.n_classes) == (other.n_rows, other.n_classes)
    assert repr(one.curve) == repr(other.curve)
    assert one.class_curve.notion == "top-label"


@pytest.mark.parametrize("weighted", [False, True])
def test_the_accuracy_of_a_pair_is_that_of_its_predictions(weighted):
    table, pair = both(weighted)
    assert accuracy(**pair) == accuracy(**table)
    rows = [assess(**forecast, metrics=["accuracy"], n_resamples=20).rows[0].estimate for forecast in (table, pair)]
    assert rows[0] == rows[1]


@pytest.mark.parametrize("notion", ["confidence", "top-label"])
def test_groups_of_a_pair_are_tested_as_those_of_the_table(notion):
    label, prob, _ = forecast()
    group = np.arange(len(label)) % 2
    test = partial(resampling_test, metric="top-label-ece" if notion == "top-label" else "ece", n_resamples=99)
    whole = by_group(test, label, prob, group, labels=NAMES.tolist())
    pair = by_group(test, label, prob.max(axis=1), group, y_pred=NAMES[prob.argmax(axis=1)])
    for one, other in zip(whole.results, pair.results, strict=True):
        assert other.statistic == pytest.approx(one.statistic, rel=1e-12)


def problem_of(counts):
    """A problem in which the classes occur so often."""
    label = np.repeat(np.arange(len(counts)), counts)
    return as_problem(label, np.full((len(label), len(counts)), 1 / len(counts)), labels=range(len(counts)))


def contents_of(notion, problem):
    parts = list(notion.split(problem))
    return rows_of(notion, problem), [(part.share, part.name) for part in parts if part.size]


@pytest.fixture(scope="module")
def rows():
    """Two classes that occur often and three that occur seldom, over-confident."""
    label, prob = dirichlet_rows(1500, 5, concentration=[4.0, 4.0, 0.3, 0.3, 0.3], power=2.0)
    return prob, label


# Which classes share a problem


@given(counts=st.lists(st.integers(0, 300), min_size=2, max_size=6).filter(any), ratio=st.sampled_from([1.0, 2.0, 3.5]))
def test_groups_are_those_of_the_exact_test(counts, ratio):
    codes = SharedClassWise(ratio=ratio).fitted_to(problem_of(counts)).groups
    found = [[j for j, code in enumerate(codes) if code == group] for group in range(max(codes) + 1)]
    assert found == shared_class_wise.groups(counts, ratio)


def test_weights_count_as_effective_rows():
    label, prob = np.repeat([0, 1], [8, 1]), np.full((9, 2), 0.5)
    for weight, expected in ((1.0, 1), (10.0, 2), (0.1, 1)):  # whole weights are rows, tenths have no unit
        problem = as_problem(label, prob, sample_weight=np.full(9, weight))
        assert SharedClassWise().fitted_to(problem).n_parts(problem) == expected


# What it lies between


@given(table=tables())
def test_classes_of_equal_frequency_are_flattened(table):
    _, prob, weight = table
    k = prob.shape[1]
    prob, weight, label = np.repeat(prob, k, axis=0), np.repeat(weight, k), np.tile(np.arange(k), len(prob))
    problem = as_problem(label, prob, sample_weight=weight)
    assert contents_of(SharedClassWise(), problem) == contents_of(notions.as_notion("flattened"), problem)
    words, isotonic = ("shared-class-wise", "flattened"), cb.IsotonicCalibration(finite=None)
    one, other = (cb.ByNotion(isotonic, word).fit(prob, label, weight).predict_proba(prob) for word in words)
    np.testing.assert_array_equal(one, other)


@given(rows=tables())
def test_isotonic_by_flattened_is_flattened_isotonic_regression(rows):
    """Where the map is zero in all of a row, one keeps the forecast and the other makes it uniform."""
    label, prob, weight = rows
    labels = range(prob.shape[1])
    by_notion = cb.ByNotion(cb.IsotonicCalibration(finite=None), "flattened", labels=labels)
    other = MulticlassIsotonic(epsilon=0.0, labels=labels).fit(prob, label, weight).predict_proba(prob)
    np.testing.assert_allclose(by_notion.fit(prob, label, weight).predict_proba(prob), other, rtol=1e-12)


@given(table=tables(n_classes=st.just(4)), codes=st.lists(st.integers(0, 2), min_size=4, max_size=4))
def test_given_groups_split_as_their_definition_does(table, codes):
    label, prob, weight = table
    notion = SharedClassWise(codes)
    problem = as_problem(label, prob, sample_weight=weight, labels=range(4))
    grouped = [[j for j in range(4) if codes[j] == code] for code in sorted(set(codes))]
    expected = shared_class_wise.problems(prob.tolist(), label.tolist(), weight.tolist(), grouped)
    assert rows_of(notion, problem) == expected
    assert [part.share for part in notion.split(problem)] == pytest.approx([len(group) / 4 for group in grouped])


# A calibrator decides once


@pytest.mark.parametrize("method", [cb.IsotonicCalibration(finite=None), cb.HistogramBinning(5)])
def test_a_calibrator_has_one_map_for_each_group(method, rows):
    prob, label = rows
    fitted = cb.ByNotion(method, "shared-class-wise", normalize=False).fit(prob, label)
    assert fitted.notion_.groups == (0, 0, 1, 1, 1)
    raw = fitted.predict_proba(prob)
    for shared in ([0, 1], [2, 3, 4]):
        occurred = (label[:, None] == shared).ravel()
        by_hand = type(method)(**method.get_params()).fit(prob[:, shared].ravel(), occurred)
        np.testing.assert_array_equal(raw[:, shared].ravel(), by_hand.calibrate(prob[:, shared].ravel()))


def test_a_saved_calibrator_keeps_its_groups_and_finds_new_ones_when_fitted_again(rows, tmp_path):
    prob, label = rows
    fitted = cb.ByNotion(cb.IsotonicCalibration(finite=None), "shared-class-wise").fit(prob, label)
    cb.save_calibrator(fitted, tmp_path / "c.json")
    loaded = cb.load_calibrator(tmp_path / "c.json")
    assert loaded.notion_ == fitted.notion_
    np.testing.assert_array_equal(loaded.predict_proba(prob), fitted.predict_proba(prob))
    assert loaded.fit(prob, np.arange(len(label)) % 5).notion_.groups == (0,) * 5


def test_held_out_candidates_find_groups_of_their_own_rows(rows):
    safe = cb.SafeCalibrator(cb.ByNotion(cb.IsotonicCalibration(finite="smooth"), "shared-class-wise")).fit(*rows)
    assert safe.calibrator_.notion_.groups == (0, 0, 1, 1, 1)
    assert safe.pooled_loss_ < safe.identity_loss_


def test_metric_diagram_and_map_show_the_groups(rows):
    prob, label = rows
    value = calibration_error(label, prob, notion="shared-class-wise")
    assert value == calibration_error(label, prob, notion=SharedClassWise([0, 0, 1, 1, 1]))
    fitted = cb.ByNotion(cb.IsotonicCalibration(finite=None), "shared-class-wise").fit(prob, label)
    np.testing.assert_array_equal(fitted.predict_proba(prob[:1]), fitted.predict_proba(prob)[:1])
    balanced = np.arange(len(label)) % 5
    curve = cb.reliability_curve(label, prob, notion="shared-class-wise")
    assert curve.notion == "shared-class-wise"
    for shown in (curve, calibration_map(fitted), calibration_map(fitted, balanced, prob)):
        assert [panel.name for panel in shown.panels] == ["classes 0, 1", "classes 2, 3, 4"]


def test_problems_bear_the_names_of_the_classes_that_share():
    problem = as_problem(list("abcdef"), np.full((6, 6), 1 / 6))
    for codes, names in (([0] * 6, ["all classes"]), ([1, 0, 1, 1, 1, 1], ["class b", "classes a, c, d, ... (5)"])):
        assert [part.name for part in SharedClassWise(codes).split(problem)] == names


# What they are called, and what is refused


def test_equal_notions_are_one_and_are_shown_in_a_line():
    groups = WithinGroups(np.array(GROUP))
    assert groups == WithinGroups(GROUP)
    assert hash(groups) == hash(WithinGroups(GROUP))
    assert groups not in (WithinGroups(["a", "b", "a", "b"]), WithinGroups(["d", "c", "d", "c"]), notions.Binary())
    assert SharedClassWise(["rare", "often", "rare"]) == SharedClassWise([1, 0, 1]) != SharedClassWise([0, 0, 1])
    assert repr(groups) == "WithinGroups(2 groups of 4 rows)"
    assert repr(SharedClassWise(range(1000))) == "SharedClassWise(1000 groups of 1000 classes)"


class Forgetful(ClassWise):
    """Each class against the rest, and does not say that a row stands in the part of every class."""

    def parts_a_row(self, n_classes):
        return 1


class LeavesRowsOut(ClassWise):
    """The first two rows of each class."""

    def parts(self, prob, names=None):
        for part in super().parts(prob, names):
            yield notions.Part(np.arange(2), part.column, part.name)


def error_of(notion, y=(0, 1, 2), prob=P, **data):
    return calibration_error(y, prob, notion=notion, **data)


A_LIST = "groups must be a list with the group of each class; got {}. Pass [0, 0, 1]."
OF_VALUES = [
    (lambda: notions.as_notion("toplable"), "got 'toplable'. Did you mean 'top-label'?"),
    (lambda: notions.as_notion("canonical"), "Measure with canonical_calibration_error, calibrate with Canonical"),
    (lambda: error_of("binary"), "speaks of two classes; the forecast has 3"),
    (lambda: error_of(Forgetful()), "notion 'class-wise' must sum to one; got 3. Return from parts_"),
    (lambda: error_of(LeavesRowsOut()), "notion 'class-wise' must sum to one; got 0.666667"),
    (lambda: error_of(notions.OneVsRest("d"), list("abc")), "among the classes 'a', 'b', 'c'; got 'd'"),
    (lambda: error_of(notions.OneVsRest(3)), "column must be among the 3 columns of the forecast; got 3"),
    (lambda: error_of(notions.OneVsRest(-4)), "column must be among the 3 columns of the forecast; got -4"),
    (lambda: next(notions.OneVsRest("b").parts(P)), "where the names of the classes are not known"),
    (lambda: notions.as_notion("top3-label"), "For the k of 'top-k-label' write a number, as in 'top-3-label'"),
    (lambda: error_of("top-4-label"), "must be at most the number of classes, 3; got 4"),
    (lambda: notions.TopKLabel(0), "k must be a whole number, at least 1"),
    (lambda: error_of(WithinGroups([0, 0, 1])), "one event; the forecast has 3 classes"),
    (lambda: error_of(WithinGroups(GROUP), OCCURRED, SCORE, sample_weight=[1, 1, 0, 1]), "one value for each row that"),
    (lambda: WithinGroups([0.5, 1.0]), "groups must"),
    (lambda: ThresholdedClassWise(-0.1), "threshold must be a number, at least 0 and at most 1"),
    (lambda: next(SharedClassWise().parts(P)), "groups must be known where no labels show how often"),
    (lambda: list(SharedClassWise([0, 0]).split(problem_of([1, 1, 1]))), "one value for each of the 3 classes; got 2"),
    (lambda: SharedClassWise(ratio=0.5), "ratio must be a number, at least 1; got 0.5"),
    (lambda: SharedClassWise([[0, 1], [2, 3]]), A_LIST.format("shape (2, 2)")),
    (lambda: SharedClassWise([[0, 1], [2]]), A_LIST.format("rows of different lengths")),
    (lambda: SharedClassWise("rare"), A_LIST.format("shape ()")),
    (lambda: SharedClassWise([0.5, 1.0]), "groups must hold class labels"),
    (lambda: error_of("top-2-label", [0, 1], [0.2, 0.7], y_pred=[0, 1]), "where y_pred is given; got 'top-2-label'"),
]
OF_TYPES = [
    (lambda: notions.OneVsRest(1.0), "column must be a number of a column or a name of a class"),
    (lambda: TopKConfidence("3"), "k must be a whole number, at least 1"),
]


@pytest.mark.parametrize(
    ("error", "call", "words"),
    [(ValueError, *row) for row in OF_VALUES] + [(TypeError, *row) for row in OF_TYPES],
    ids=[words[:60] for _, words in OF_VALUES + OF_TYPES],
)
def test_what_is_no_notion_of_a_forecast_is_refused(error, call, words):
    with pytest.raises(error, match=re.escape(words)):
        call()
