"""Shared class-wise: classes that occur about equally often are one problem, and stay so for new rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import shared_class_wise as twin
from strategies import tables

import calibrant as cb
from calibrant._core.border import as_problem
from calibrant.calibrators import MulticlassIsotonic
from calibrant.curves import calibration_map
from calibrant.notions import SharedClassWise, as_notion

pytestmark = pytest.mark.filterwarnings("ignore:only the class", "ignore:no calibration row")

METHODS = [cb.IsotonicCalibration(finite=None), cb.HistogramBinning(5)]


def problem_of(counts):
    """A problem in which the classes occur so often."""
    label = np.repeat(np.arange(len(counts)), counts)
    return as_problem(label, np.full((len(label), len(counts)), 1 / len(counts)), labels=range(len(counts)))


def groups_of(counts, **options):
    return SharedClassWise(**options).fitted_to(problem_of(counts)).groups


def contents(notion, problem):
    return [
        (part.score.tolist(), part.outcome.tolist(), part.weight.tolist(), part.share, part.name)
        for part in notion.split(problem)
    ]


@pytest.fixture(scope="module")
def rows():
    """Two classes that occur often and three that occur seldom, over-confident."""
    rng = np.random.default_rng(0)
    truth = rng.dirichlet([4.0, 4.0, 0.3, 0.3, 0.3], 1500)
    label = (rng.random((1500, 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(0, 4)
    prob = truth**2 / (truth**2).sum(axis=1, keepdims=True)
    return prob, label


# Which classes share


@given(counts=st.lists(st.integers(0, 300), min_size=2, max_size=6).filter(any), ratio=st.sampled_from([1.0, 2.0, 3.5]))
def test_groups_are_those_of_the_exact_test(counts, ratio):
    codes = groups_of(counts, ratio=ratio)
    found = [[j for j, code in enumerate(codes) if code == group] for group in range(max(codes) + 1)]
    assert found == twin.groups(counts, ratio)


@pytest.mark.parametrize(
    ("prior", "n", "ratio"),
    [
        (np.full(20, 1 / 20), 100, 2.0),
        (np.full(100, 1 / 100), 5000, 2.0),
        ((2 / 3, 1 / 3), 900, 2.0),
        ((0.5, 0.5), 900, 1.0),
    ],
)
def test_chance_parts_classes_within_the_ratio_in_at_most_five_of_a_hundred_data_sets(prior, n, ratio):
    drawn = np.random.default_rng(0).multinomial(n, prior, 400)
    parted = [max(groups_of(counts, ratio=ratio)) > 0 for counts in drawn]
    assert np.mean(parted) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


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
    assert contents(SharedClassWise(), problem) == contents(as_notion("flattened"), problem)
    one, other = (
        cb.ByNotion(cb.IsotonicCalibration(finite=None), notion).fit(prob, label, weight).predict_proba(prob)
        for notion in ("shared-class-wise", "flattened")
    )
    np.testing.assert_array_equal(one, other)


@given(rows=tables())
def test_isotonic_by_flattened_is_flattened_isotonic_regression(rows):
    """Where the map is zero in all of a row, one keeps the forecast and the other makes it uniform."""
    label, prob, weight = rows
    labels = range(prob.shape[1])
    by_notion = cb.ByNotion(cb.IsotonicCalibration(finite=None), "flattened", labels=labels)
    other = MulticlassIsotonic(epsilon=0.0, labels=labels).fit(prob, label, weight).predict_proba(prob)
    np.testing.assert_allclose(by_notion.fit(prob, label, weight).predict_proba(prob), other, rtol=1e-12)


@given(table=tables())
def test_a_group_for_each_class_is_class_wise(table):
    label, prob, weight = table
    k = prob.shape[1]
    alone = SharedClassWise(range(k))
    problem = as_problem(label, prob, sample_weight=weight, labels=range(k))
    assert contents(alone, problem) == contents(as_notion("class-wise"), problem)
    one, other = (
        cb.ByNotion(cb.HistogramBinning(3), notion, labels=range(k)).fit(prob, label, weight).predict_proba(prob)
        for notion in (alone, "class-wise")
    )
    np.testing.assert_array_equal(one, other)


@given(table=tables(n_classes=st.just(4)), codes=st.lists(st.integers(0, 2), min_size=4, max_size=4))
def test_given_groups_split_as_their_definition_does(table, codes):
    label, prob, weight = table
    notion = SharedClassWise(codes)
    problem = as_problem(label, prob, sample_weight=weight, labels=range(4))
    grouped = [[j for j in range(4) if codes[j] == code] for code in sorted(set(codes))]
    found = list(notion.split(problem))
    assert [
        list(zip(part.score.tolist(), part.outcome.tolist(), part.weight.tolist(), strict=True)) for part in found
    ] == twin.problems(prob.tolist(), label.tolist(), weight.tolist(), grouped)
    assert [part.share for part in found] == pytest.approx([len(group) / 4 for group in grouped])


# A calibrator decides once


@pytest.mark.parametrize("method", METHODS)
def test_a_calibrator_has_one_map_for_each_group(method, rows):
    prob, label = rows
    fitted = cb.ByNotion(method, "shared-class-wise", normalize=False).fit(prob, label)
    assert fitted.notion_.groups == (0, 0, 1, 1, 1)
    raw = fitted.predict_proba(prob)
    for columns in ([0, 1], [2, 3, 4]):
        occurred = (label[:, None] == columns).ravel()
        by_hand = type(method)(**method.get_params()).fit(prob[:, columns].ravel(), occurred)
        np.testing.assert_array_equal(raw[:, columns].ravel(), by_hand.calibrate(prob[:, columns].ravel()))


def test_new_rows_are_mapped_by_the_groups_of_the_fitted_ones(rows):
    prob, label = rows
    fitted = cb.ByNotion(cb.IsotonicCalibration(finite=None), "shared-class-wise").fit(prob, label)
    whole = fitted.predict_proba(prob)
    for i in range(3):
        np.testing.assert_array_equal(fitted.predict_proba(prob[i : i + 1]), whole[i : i + 1])
    given = cb.ByNotion(cb.IsotonicCalibration(finite=None), SharedClassWise([0, 0, 1, 1, 1])).fit(prob, label)
    np.testing.assert_array_equal(given.predict_proba(prob), whole)


def test_a_saved_calibrator_keeps_its_groups_and_finds_new_ones_when_fitted_again(rows, tmp_path):
    prob, label = rows
    fitted = cb.ByNotion(cb.IsotonicCalibration(finite=None), "shared-class-wise").fit(prob, label)
    cb.save_calibrator(fitted, tmp_path / "c.json")
    loaded = cb.load_calibrator(tmp_path / "c.json")
    assert loaded.notion_ == fitted.notion_
    np.testing.assert_array_equal(loaded.predict_proba(prob), fitted.predict_proba(prob))
    assert loaded.fit(prob, np.arange(len(label)) % 5).notion_.groups == (0,) * 5


def test_the_top_score_is_the_value_of_the_group_of_the_top_class(rows):
    prob, label = rows
    fitted = cb.ByNotion(cb.IsotonicCalibration(finite=None), "shared-class-wise", normalize=False).fit(prob, label)
    top, score = fitted.predict_top(prob)
    np.testing.assert_array_equal(top, prob.argmax(axis=1))
    np.testing.assert_array_equal(score, fitted.predict_proba(prob)[np.arange(len(prob)), top])


def test_held_out_candidates_find_groups_of_their_own_rows(rows):
    prob, label = rows
    safe = cb.SafeCalibrator(cb.ByNotion(cb.IsotonicCalibration(finite="smooth"), "shared-class-wise")).fit(prob, label)
    assert safe.calibrator_.notion_.groups == (0, 0, 1, 1, 1)
    assert safe.pooled_loss_ < safe.identity_loss_


# Where it is a word


def test_metric_and_diagram_find_the_groups_of_their_own_rows(rows):
    prob, label = rows
    given = SharedClassWise([0, 0, 1, 1, 1])
    assert cb.calibration_error(label, prob, notion="shared-class-wise") == cb.calibration_error(
        label, prob, notion=given
    )
    curve = cb.reliability_curve(label, prob, notion="shared-class-wise")
    assert [panel.name for panel in curve.panels] == ["classes 0, 1", "classes 2, 3, 4"]
    assert curve.notion == "shared-class-wise"


def test_the_map_of_a_calibrator_stands_beside_the_rows_of_its_groups(rows):
    prob, label = rows
    fitted = cb.ByNotion(cb.IsotonicCalibration(finite=None), "shared-class-wise").fit(prob, label)
    balanced = np.arange(len(label)) % 5
    shown = calibration_map(fitted, balanced, prob)
    assert [panel.name for panel in shown.panels] == ["classes 0, 1", "classes 2, 3, 4"]
    assert [panel.name for panel in calibration_map(fitted).panels] == ["classes 0, 1", "classes 2, 3, 4"]


# What it is called, and what it refuses


def test_groups_are_the_same_however_they_are_named():
    assert SharedClassWise(["rare", "often", "rare"]) == SharedClassWise([1, 0, 1])
    assert SharedClassWise([0, 1]) != SharedClassWise([0, 0])


@pytest.mark.parametrize(
    ("groups", "names"), [([0] * 6, ["all classes"]), ([1, 0, 1, 1, 1, 1], ["class b", "classes a, c, d, ... (5)"])]
)
def test_problems_bear_the_names_of_the_classes_that_share(groups, names):
    problem = as_problem(list("abcdef"), np.full((6, 6), 1 / 6))
    assert [part.name for part in SharedClassWise(groups).split(problem)] == names


def test_it_is_shown_in_a_line():
    assert repr(SharedClassWise()) == "SharedClassWise(ratio=2)"
    assert repr(SharedClassWise(range(1000))) == "SharedClassWise(1000 groups of 1000 classes)"
    assert repr(SharedClassWise([0, 0])) == "SharedClassWise(1 group of 2 classes)"


A_LIST = r"groups must be a list with the group of each class; got {}\. Pass \[0, 0, 1\]\."
REFUSED = [
    (
        lambda: next(SharedClassWise().parts(np.array([[0.5, 0.5]]))),
        "groups must be known where no labels show how often",
    ),
    (lambda: SharedClassWise([0, 0]).split(problem_of([1, 1, 1])), "one value for each of the 3 classes; got 2"),
    *[
        (lambda r=r: SharedClassWise(ratio=r), "ratio must be a number, at least 1; got")
        for r in (0.5, np.nan, np.inf, "2")
    ],
    (lambda: SharedClassWise([[0, 1], [2, 3]]), A_LIST.format(r"shape \(2, 2\)")),
    (lambda: SharedClassWise([[0], [1]]), A_LIST.format(r"shape \(2, 1\)")),
    (lambda: SharedClassWise([[0, 1], [2]]), A_LIST.format("rows of different lengths")),
    (lambda: SharedClassWise(3), A_LIST.format(r"shape \(\)")),
    (lambda: SharedClassWise("rare"), A_LIST.format(r"shape \(\)")),
    (lambda: SharedClassWise([0.5, 1.0]), r"groups must hold class labels.*; got 0\.5"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_what_are_no_groups_is_refused(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        list(call())
