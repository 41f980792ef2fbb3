"""Verdicts on the top-label paper, each judge with a case on both sides."""

import numpy as np
import pytest

from studies.claims import Verdict, on_several
from studies.top_label import claims
from studies.top_label.claims import CLAIMS

HOLDS, IN_PART, FAILS, OPEN = Verdict.HOLDS, Verdict.IN_PART, Verdict.FAILS, Verdict.OPEN
BY_KEY = {claim.key: claim for claim in CLAIMS}


def splits(mean, spread=0.001):
    """Twenty figures with a mean and a small spread."""
    return [mean + spread * (-1) ** i for i in range(20)]


# Networks


def network(**found):
    return {"found": found, "differences": {}}


@pytest.mark.parametrize("key", [claim.key for claim in claims.OF_NETWORKS])
def test_one_of_eight_networks_decides_nothing(key):
    assert BY_KEY[key].says is OPEN
    assert "several networks; the paper has" in BY_KEY[key].target
    assert BY_KEY[key].judge([{}]) is OPEN


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        ({"a": 1.0, "b": 2.0, "c": 3.0}, HOLDS),
        ({"a": 1.0, "b": 3.0, "c": 2.0}, IN_PART),
        ({"a": 3.0, "b": 2.0, "c": 1.0}, FAILS),
    ],
)
def test_an_order_holds_where_every_pair_stands(found, verdict):
    assert claims.ordered(found, {"a": 0.1, "b": 0.2, "c": 0.3}) is verdict


def test_methods_that_the_paper_does_not_tell_apart_make_no_pair():
    assert claims.pairs({"a": 2.0, "b": 1.0, "c": 3.0}, {"a": 0.1, "b": 0.1, "c": 0.3}) == [True, True]


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [
        ({"a": [2.1, 2.5, 1.0], "b": [2.0, 3.0]}, HOLDS),
        ({"a": [2.1, 2.5, 1.0], "b": [1.5, 2.0]}, IN_PART),
        ({"a": [1.1, 3.5], "b": [1.5, 3.1]}, FAILS),
    ],
)
def test_ratios_are_often_two_to_three_where_most_are(ratios, verdict):
    one = {"ratios": ratios}
    assert BY_KEY["two-or-three-times"].judge([one, one]) is verdict


@pytest.mark.parametrize(("key", "method"), [("n-hb-best", "N-HB"), ("cw-hb-best", "CW-HB")])
def test_the_best_method_has_the_lowest_error(key, method):
    best, worst = network(**{method: 0.1, "other": 0.2}), network(**{method: 0.3, "other": 0.2})
    judge = BY_KEY[key].judge
    assert (judge([best, best]), judge([worst, worst]), judge([best, worst])) == (HOLDS, FAILS, OPEN)


@pytest.mark.parametrize(("fifty", "hundred", "verdict"), [(0.1, 0.1, HOLDS), (0.1, 0.3, IN_PART), (0.3, 0.3, FAILS)])
def test_top_label_binning_is_better_with_50_and_with_100_points(fifty, hundred, verdict):
    one = network(**{"TL-HB (50)": fifty, "TL-HB (100)": hundred, "TS": 0.2})
    assert BY_KEY["better-than-temperature"].judge([one, one]) is verdict


@pytest.mark.parametrize(("n_hb", "verdict"), [(0.3, HOLDS), (0.1, FAILS)])
def test_a_terrible_method_is_worse_than_none(n_hb, verdict):
    one = network(**{"N-HB": n_hb, "Base": 0.2})
    assert BY_KEY["n-hb-terrible"].judge([one, one]) is verdict


@pytest.mark.parametrize(("pvalue", "lowest", "verdict"), [(0.01, 0.1, HOLDS), (0.01, 0.9, FAILS), (0.5, 0.1, OPEN)])
def test_maxima_that_are_noise_decide_nothing(pvalue, lowest, verdict):
    one = {"found": {"TL-HB (50)": lowest, "TS": 0.5}, "printed": {}, "pvalue": {"TL-HB (50)": 0.01, "TS": pvalue}}
    assert BY_KEY["tl-hb-lowest-mce"].judge([one, one]) is verdict


@pytest.mark.parametrize("metric", ["order-tl-ece", "order-tl-mce", "order-cw-ece"])
def test_orders_of_several_networks_are_judged(metric):
    right = {"found": {"a": 1.0, "b": 2.0}, "printed": {"a": 0.1, "b": 0.2}}
    wrong = {"found": {"a": 2.0, "b": 1.0}, "printed": {"a": 0.1, "b": 0.2}}
    if metric == "order-tl-mce":
        right, wrong = (of | {"pvalue": {}} for of in (right, wrong))
    judge = BY_KEY[metric].judge
    assert (judge([right, right]), judge([wrong, wrong]), judge([right, wrong])) == (HOLDS, FAILS, OPEN)


# Examples and Theorem 1


@pytest.mark.parametrize(
    ("confidence", "top_label", "verdict"), [("0", "2/5", HOLDS), ("0", "1/2", IN_PART), ("1/5", "1/2", FAILS)]
)
def test_an_example_holds_exactly(confidence, top_label, verdict):
    found = {"confidence": confidence, "top-label": top_label}
    assert claims.exactly(found, {"confidence": "0", "top-label": "2/5"}) is verdict


@pytest.mark.parametrize(("lower", "verdict"), [(0.1, HOLDS), (0.2, HOLDS), (0.3, FAILS)])
def test_a_bound_is_never_exceeded(lower, verdict):
    assert claims.never_above({"a": lower, "b": 0.0}, {"a": 0.2, "b": 0.1}) is verdict


@pytest.mark.parametrize(("rate", "verdict"), [(0.95, HOLDS), (0.89, HOLDS), (0.85, FAILS)])
def test_a_promise_is_kept_up_to_two_standard_errors(rate, verdict):
    assert claims.kept({"one": [1.0, 0.0], "other": [rate, 0.01]}, 0.9) is verdict


@pytest.mark.parametrize(
    ("second", "third", "verdict"), [(True, True, HOLDS), (False, True, IN_PART), (False, False, FAILS)]
)
def test_panels_stand_as_printed(second, third, verdict):
    assert claims.all_stand({"a": second, "b": third}) is verdict


@pytest.mark.parametrize(
    ("class_wise", "canonical", "verdict"), [("0", "3/10", HOLDS), ("0", "0", FAILS), ("1/5", "3/10", FAILS)]
)
def test_a_counterexample_is_class_wise_calibrated_only(class_wise, canonical, verdict):
    assert BY_KEY["class-wise-not-canonical"].judge(class_wise=class_wise, canonical=canonical) is verdict


@pytest.mark.parametrize(
    ("changed", "after", "verdict"), [(0, 0.95, HOLDS), (1, 0.95, IN_PART), (0, 0.94, IN_PART), (100, 0.94, FAILS)]
)
def test_predicted_classes_and_accuracy_do_not_change(changed, after, verdict):
    numbers = {"rows": 100, "changed": {"a": 0, "b": changed}, "before": 0.95, "after": {"a": 0.95, "b": after}}
    assert BY_KEY["accuracy"].judge(**numbers) is verdict


def test_other_wrong_classes_of_the_same_accuracy_are_changes():
    y, before = np.array([0, 1, 2, 2]), np.array([0, 1, 0, 1])
    shuffled = np.array([0, 1, 1, 0])
    assert (y == before).mean() == (y == shuffled).mean()
    assert claims.n_changed(before, before) == 0
    assert claims.n_changed(before, shuffled) == 2


@pytest.mark.parametrize(("bound", "verdict"), [(0.1, HOLDS), (0.11, FAILS)])
def test_the_constant_of_theorem_1(bound, verdict):
    assert BY_KEY["theorem-1-constant"].judge(bound=bound) is verdict


def test_examples_bear_out_the_page_without_data():
    for key in (
        "patients",
        "panels",
        "panel-e",
        "class-wise-not-canonical",
        "theorem-1-constant",
        "sierpinski",
        "empty-bin",
    ):
        assert BY_KEY[key].judged(BY_KEY[key].measure()).verdict is BY_KEY[key].says, key


# Forests and the simplex


@pytest.mark.parametrize(("one", "verdict"), [(0.4, HOLDS), (0.2, FAILS)])
def test_squares_are_compared_split_by_split(one, verdict):
    assert claims.higher(splits(one), splits(0.3)) is verdict
    assert claims.higher(splits(one, 5.0), splits(0.3)) is OPEN


@pytest.mark.parametrize(("ten", "verdict"), [(0.4, HOLDS), (0.2, OPEN)])
def test_both_numbers_of_bins_must_say_the_same(ten, verdict):
    ways = {"50": {"one": splits(0.4), "other": splits(0.3)}, "10": {"one": splits(ten), "other": splits(0.3)}}
    assert claims.in_every_way(ways) is verdict


@pytest.mark.parametrize(("points", "verdict"), [(0.02, HOLDS), (0.06, FAILS), (0.045, FAILS)])
def test_errors_are_uniform_where_points_a_bin_leave_little_spread(points, verdict):
    assert claims.uniform({"forest": 0.1, "100 points a bin": points, "10 bins a class": 0.04}) is verdict


@pytest.mark.parametrize(("two", "three", "verdict"), [(14, 40, HOLDS), (13, 40, IN_PART), (13, 41, FAILS)])
def test_cells_are_counted(two, three, verdict):
    assert claims.counted({"2": two, "3": three}, {"2": 14, "3": 40}) is verdict


@pytest.mark.parametrize(("bins", "verdict"), [(3, HOLDS), (13, FAILS)])
def test_an_empty_bin_needs_a_probability_vector(bins, verdict):
    assert BY_KEY["empty-bin"].judge(classes=3, bins=bins) is verdict


@pytest.mark.parametrize(("fewest", "verdict"), [([17, 20], HOLDS), ([17, 16], FAILS)])
def test_each_bin_holds_the_promised_rows(fewest, verdict):
    assert BY_KEY["projection"].judge(fewest=fewest, promised=17, ceiling=18) is verdict


def test_several_networks_must_agree():
    assert on_several(lambda value: HOLDS if value else FAILS)([{"value": True}, {"value": False}]) is OPEN
