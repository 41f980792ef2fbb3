"""The verdicts on normalisation-aware isotonic calibration, each on both sides, and the counts that they judge."""

import numpy as np
import pytest

from studies.claims import Verdict
from studies.na_isotonic import alternatives, claims, claims_methods, claims_printed, networks
from studies.na_isotonic.claims_methods import as_in_the_lemma, as_printed, gains, midpoints_above, misses, upper_set
from studies.na_isotonic.forecasts import (
    EXACT,
    MEASURED,
    METHODS,
    METRICS,
    PUBLISHED_AS,
    READINGS,
    Model,
    consistently,
    from_differences,
    judge_best,
    judge_pair,
    judged,
    out_of_order,
    readings_of,
    shift_by_band,
    stored,
)
from studies.na_isotonic.forecasts import p_value_of_duel as p_value

HOLDS, IN_PART, FAILS, OPEN, MISPRINT = Verdict.HOLDS, Verdict.IN_PART, Verdict.FAILS, Verdict.OPEN, Verdict.MISPRINT
MODELS = ["A", "B"]


def duel(better, different=30, ahead=5, behind=2):
    of = {"better": better, "different": different, "ahead": ahead, "behind": behind, "data_sets": 7}
    return {**of, "low": -0.1, "median": 0.0, "high": 0.1}


WINS, LOSES, LEVEL = duel(25), duel(5, ahead=2, behind=5), duel(16)

# Two methods on all models


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (WINS, HOLDS),
        (LOSES, FAILS),
        (LEVEL, OPEN),
        (duel(25, ahead=3, behind=4), OPEN),
        (duel(5, ahead=4, behind=3), OPEN),
        (duel(0, different=0, ahead=0, behind=0), OPEN),
    ],
)
def test_a_sign_test_counts_if_data_sets_agree(found, verdict):
    assert judged(found) is verdict


def test_a_duel_counts_models_and_data_sets_and_leaves_out_equal_ones():
    groups = [
        np.array([True, True, False, False]),
        np.array([False, False, True, False]),
        np.array([False] * 3 + [True]),
    ]
    found = from_differences(np.array([-1.0, -3.0, 2.0, 0.0]), groups)
    assert (found["better"], found["different"], found["ahead"], found["behind"], found["data_sets"]) == (2, 3, 1, 1, 3)
    assert found["median"] == -0.5
    assert p_value(found) == 1.0


@pytest.mark.parametrize(
    ("readings", "verdict"),
    [([WINS, WINS], HOLDS), ([LOSES, LOSES], FAILS), ([WINS, LOSES], OPEN), ([WINS, LEVEL], OPEN)],
)
def test_a_pair_is_judged_in_every_reading(readings, verdict):
    of = dict(enumerate(readings))
    assert judge_pair(of, neural={"one": LOSES}, beside={"With the library's defaults": LOSES}) is verdict
    assert judge_pair(of, neural={"one": WINS}, beside={"With the library's defaults": WINS}) is verdict


@pytest.mark.parametrize(
    ("found", "verdict"), [(duel(25, behind=0), HOLDS), (duel(25, behind=1), IN_PART), (LOSES, FAILS), (LEVEL, OPEN)]
)
def test_consistently_is_on_every_data_set(found, verdict):
    assert consistently(found) is verdict
    assert judge_pair({"one": found}, judge=consistently) is verdict


@pytest.mark.parametrize(
    ("opponents", "verdict"),
    [
        ({"TS": WINS, "VS": WINS}, HOLDS),
        ({"TS": WINS, "VS": LEVEL}, OPEN),
        ({"TS": WINS, "VS": LOSES}, FAILS),
        ({"SCIR, 1e-12": WINS, "SCIR, 0.001": LOSES}, OPEN),
        ({"SCIR, 1e-12": LOSES, "SCIR, 0.001": LOSES}, FAILS),
        ({"VS": duel(8, ahead=2, behind=5)}, FAILS),  # p = 0.016
        (
            {"VS": duel(8, ahead=2, behind=5), **dict.fromkeys(("TS", "MS", "FIR", "SCIR"), WINS)},
            OPEN,
        ),  # 0.05 is shared
    ],
)
def test_best_is_who_beats_each_other_and_not_best_whom_one_beats(opponents, verdict):
    assert judge_best({"one": opponents}) is verdict
    assert judge_best({"one": opponents}, at_most=[3], data_sets=7) is verdict


def test_best_in_one_reading_only_is_not_decided():
    assert judge_best({"one": {"TS": WINS}, "two": {"TS": LOSES}}) is OPEN


# Standings


@pytest.mark.parametrize(
    ("wins", "verdict"),
    [([(20, 4), (18, 5)], HOLDS), ([(2, 20), (3, 19)], FAILS), ([(10, 5), (20, 4)], OPEN), ([(20, 4), (4, 20)], OPEN)],
)
def test_most_wins_need_to_be_clear_in_every_reading(wins, verdict):
    of = {i: {"SCIR": own, "TS": other, "MS": 0.0} for i, (own, other) in enumerate(wins)}
    assert claims.judge_wins(of) is verdict


@pytest.mark.parametrize(
    ("places", "verdict"),
    [
        ([(1, 2), (3, 3), (1, 1)], HOLDS),
        ([(1, 2), (4, 5), (3, 1)], IN_PART),
        ([(4, 4), (5, 5), (1, 1)], FAILS),
        ([(1, 2), (3, 4), (1, 1)], IN_PART),
        ([(1, 2), (3, 4), (1, 5)], OPEN),
    ],
    ids=["on every data set", "on most", "on one", "on every one in one reading only", "on few in one reading"],
)
def test_consistently_near_the_top_is_on_every_data_set(places, verdict):
    assert claims.judge_top(dict(enumerate(places))) is verdict


@pytest.mark.parametrize(
    ("counts", "verdict"),
    [([(15, 16), (14, 15)], HOLDS), ([(1, 16), (1, 15)], FAILS), ([(9, 16), (15, 16)], OPEN), ([(0, 0)], OPEN)],
)
def test_worse_nll_at_a_comparable_brier_score(counts, verdict):
    assert claims.judge_comparable(MODELS, dict(enumerate(counts))) is verdict


@pytest.mark.parametrize(
    ("data_sets", "parted", "verdict"),
    [
        ([3, 4], [(7.0, 3.0, 0.001), (6.0, 4.0, 0.01)], HOLDS),
        ([3, 4], [(3.0, 7.0, 0.001), (4.0, 6.0, 0.01)], FAILS),
        ([3, 4], [(7.0, 3.0, 0.001), (6.0, 5.0, 0.5)], OPEN),
        ([2, 5], [(7.0, 3.0, 0.001), (6.0, 4.0, 0.01)], OPEN),
    ],
)
def test_rows_a_class_are_not_decided_by_two_data_sets(data_sets, parted, verdict):
    assert claims.judge_rows(MODELS, data_sets, dict(enumerate(parted))) is verdict


@pytest.mark.parametrize(
    ("left", "verdict"),
    [
        ([[0.3, 0.4, 0.35]], HOLDS),
        ([[0.7, 0.8, 0.75]], IN_PART),
        ([[1.4, 1.5, 1.6]], FAILS),
        ([[0.3, 1.5, 0.9]], OPEN),
        ([[0.3, 0.4, 0.35], [0.7, 0.8, 0.75]], IN_PART),
    ],
    ids=["half", "less, not half", "more", "noise", "half of the median, not of the best"],
)
def test_a_gain_is_substantial_by_its_size(left, verdict):
    assert claims.judge_sure(MODELS, dict(enumerate(left))) is verdict


@pytest.mark.parametrize(("alone", "verdict"), [([1, 2], HOLDS), ([0, 2], OPEN), ([0, 0], OPEN)])
def test_other_forecasts_can_bear_out_a_statement_on_one_and_not_contradict_it(alone, verdict):
    assert claims.judge_passing(dict(enumerate(alone))) is verdict


# The methods themselves


@pytest.mark.parametrize(("method", "share", "verdict"), [(None, 0.0, HOLDS), ("FIR", 0.01, FAILS), ("VS", 0.0, FAILS)])
def test_order_is_kept_by_all_or_the_sentence_fails(method, share, verdict):
    shares = dict.fromkeys(claims_methods.KEEP_ORDER, 0.0) | dict.fromkeys(claims_methods.CHANGE_ORDER, 0.5)
    if method:
        shares[method] = share
    assert claims_methods.judge_order(MODELS, shares) is verdict


@pytest.mark.parametrize(("method", "change", "verdict"), [(None, 0, HOLDS), ("SCIR", 0.1, FAILS), ("MS", 0.0, FAILS)])
def test_permuted_columns_change_some_methods_only(method, change, verdict):
    changes = {key: [0.0, 1e-16] for key in claims_methods.INVARIANT} | {
        key: [0.2, 0.0] for key in claims_methods.NOT_INVARIANT
    }
    if method:
        changes[method] = [change, change]
    assert claims_methods.judge_invariance(MODELS, changes) is verdict


@pytest.mark.parametrize(("counts", "verdict"), [((9, 9), HOLDS), ((9, 0), IN_PART), ((0, 0), FAILS)])
def test_not_convex_in_one_form_only_holds_in_part(counts, verdict):
    assert claims_methods.judge_convexity(100, *counts) is verdict


@pytest.mark.parametrize(
    ("ends", "verdict"),
    [([1.0, 1.04], HOLDS), ([1.0, 1.06], FAILS), ([1.1, 1.1], FAILS), ([1.2, 1.2], FAILS)],
    ids=["alike", "apart by more than the gain", "a search that never moves", "a search that climbs"],
)
def test_a_search_converges_stably_if_it_gains_more_than_seeds_differ(ends, verdict):
    assert claims_methods.judge_stability({"set": {"0.01": ends}}, {"set": 1.1}, {"set": 0.9}) is verdict


@pytest.mark.parametrize(("printed", "verdict"), [(0.7, HOLDS), (0.8, MISPRINT)])
def test_a_printed_sum_is_compared(printed, verdict):
    assert claims_methods.judge_example([0.4, 0.7, 0.9], printed) is verdict


@pytest.mark.parametrize(("missed", "verdict"), [(0, HOLDS), (1, FAILS)])
def test_one_upper_set_that_is_not_maximal_fails_the_algorithm(missed, verdict):
    assert claims_methods.judge_upper_set(100, missed, [1]) is verdict


@pytest.mark.parametrize(("fit", "whole", "verdict"), [(0.5, 0.5, HOLDS), (0.5, 0.0, MISPRINT), (0.4, 0.0, FAILS)])
def test_the_constant_fit_is_compared_with_what_is_printed(fit, whole, verdict):
    assert claims_methods.judge_constant(fit, whole, []) is verdict


@pytest.mark.parametrize(("gain", "verdict"), [(0.0, HOLDS), (1e-3, FAILS)])
def test_a_better_map_by_any_proper_score_fails_the_theorem(gain, verdict):
    assert claims_methods.judge_scores({"log loss": 0.0, "Brier score": gain}, 10) is verdict


# What is counted


def test_the_printed_algorithm_misses_the_smallest_upper_set_and_the_lemma_does_not():
    assert upper_set([1, 2, 1], gains([1, 1, 0]), 2, as_printed) == [0, 1, 2]
    assert upper_set([1, 2, 1], gains([1, 1, 0]), 2, as_in_the_lemma) == [1]
    assert misses(40, 6, 3, as_printed) > 0
    assert misses(40, 6, 3, as_in_the_lemma) == 0


def test_the_objective_is_convex_in_logarithms_only():
    assert midpoints_above(60, logarithm=False) > 0
    assert midpoints_above(60, logarithm=True) == 0


def test_rows_out_of_order_are_counted_and_ties_are_not():
    before = np.array([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2], [0.4, 0.4, 0.2], [0.5, 0.25, 0.25]])
    after = np.array([[0.4, 0.4, 0.2], [0.5, 0.2, 0.3], [0.3, 0.5, 0.2], [0.4, 0.1, 0.5]])
    assert out_of_order(before, after) == 0.5


def test_conf_ece_of_two_columns_is_of_the_predicted_class():
    prob = np.array([[0.8, 0.2], [0.2, 0.8]])
    assert METRICS["conf-ECE"](np.array([0, 0]), prob) == pytest.approx(0.3)  # of the second column: 0.5


@pytest.mark.parametrize("method", ["NA-FIR", "SCIR", "MS"])
def test_no_verdict_and_no_table_rests_on_a_default_of_the_library_or_on_the_exact_optimum(method):
    assert not {method, EXACT} & {*readings_of(method), *PUBLISHED_AS}
    assert set(readings_of(method)) <= set(READINGS)
    assert all(set(methods) <= {*READINGS, *METHODS} - {method, EXACT} for methods in claims.CHOICES.values())


# The paper's own tables, and what was run beside


@pytest.mark.parametrize(
    "one", [of for of in claims.CLAIMS if of.key in claims_printed.FUNCTIONS], ids=lambda one: one.key
)
def test_the_printed_table_decides_and_its_mutant_breaks_it(one):
    numbers = one.measure()
    assert one.judge(**numbers) is one.says
    if one.says is not OPEN:
        assert one.judge(**claims.PAPER.mutants[one.key].given(numbers)) is FAILS


def test_printed_networks_have_all_metrics_and_methods():
    found = {metric: claims_printed.values(metric) for metric in METRICS}
    assert all(set(of) == set(found["NLL"]) and len(of) == 8 for of in found.values())
    assert all(set(line) == set(METHODS) for of in found.values() for line in of.values())
    assert found["conf-ECE"]["ViT (CIFAR-100)"]["SCIR"] == 1.09


@pytest.mark.parametrize(
    ("swin", "verdict"), [([2.4, 0.1], HOLDS), ([2.4, -0.1], OPEN), ([-2.4, -0.1], FAILS), ([20.0, 4.0], FAILS)]
)
def test_a_modest_gain_is_a_gain_that_is_smaller_than_others(swin, verdict):
    gains = {name: {"none": [0.1, 19.0], "next": [0.3, 3.3]} for name in claims_printed.SURE}
    gains |= {name: {"none": [0.3, swin[0]], "next": [0.9, swin[1]]} for name in claims_printed.LESS_SURE}
    assert claims_printed.judge_modest(gains) is verdict


@pytest.mark.parametrize(("best", "verdict"), [(1.0, HOLDS), (30.0, FAILS)])
def test_networks_that_need_less_are_less_sensitive(best, verdict):
    of = {str(i): [float(i + 2), best, float(i) if best == 1.0 else -float(i)] for i in range(8)}
    assert claims_printed.judge_spread(of) is verdict


def test_pairs_are_permuted_within_columns_and_rows_keep_labels_and_sums():
    rng = np.random.default_rng(0)
    votes = rng.multinomial(12, np.ones(4) / 4, 200) * 1.0
    y = rng.integers(0, 4, 200)
    other = alternatives.permuted(votes, y, rng)
    assert (other != votes).any(axis=1).sum() > 50
    np.testing.assert_array_equal(other.sum(axis=1), votes.sum(axis=1))
    for label in range(4):
        np.testing.assert_array_equal(np.sort(other[y == label], axis=0), np.sort(votes[y == label], axis=0))


@pytest.mark.parametrize(
    ("method", "change", "verdict"),
    [(None, 0.0, HOLDS), ("FIR", 0.1, FAILS), ("TS", 0.0, FAILS), ("NA-FIR", 0.0, FAILS)],
)
def test_categories_are_independent_where_pairs_alone_decide(method, change, verdict):
    changes = {key: [0.0] for key in alternatives.INDEPENDENT} | {key: [0.1] for key in alternatives.DEPENDENT}
    assert alternatives.judge_pairs(changes | ({method: [change]} if method else {})) is verdict


@pytest.mark.parametrize(
    ("fit", "test", "verdict"), [(-1.0, -1.0, HOLDS), (1.0, 1.0, FAILS), (1.0, -1.0, OPEN), (-1.0, 1.0, OPEN)]
)
def test_a_search_is_compared_on_both_kinds_of_rows(fit, test, verdict):
    above = {"calibration rows": {"SLSQP": [fit] * 3}, "test rows": {"SLSQP": [test] * 3}}
    assert alternatives.judge_search(["a", "b", "c"], above) is verdict


@pytest.mark.parametrize(
    ("low", "high", "verdict"), [(0.1, -0.1, HOLDS), (-0.1, 0.1, FAILS), (0.1, 0.1, OPEN), (0.0, 0.0, OPEN)]
)
def test_low_rises_and_high_falls_on_most_models(low, high, verdict):
    shift = {str(i): [low, 0.0, 0.0, 0.0, high] for i in range(10)}
    assert alternatives.judge_inflation(shift) is verdict


def test_bands_of_the_probability_before_and_what_lies_below_them():
    before = np.array([[0.005, 0.1, 0.895], [0.3, 0.3, 0.4]])
    change = np.array([[9.0, 0.5, -0.5], [0.1, 0.3, 0.0]])
    np.testing.assert_allclose(shift_by_band(before, change), [0.5, (0.1 + 0.3 + 0.0) / 3, 0.0, 0.0, -0.5])


@pytest.mark.filterwarnings("ignore:Values in x were outside bounds:RuntimeWarning")  # of SLSQP in an old SciPy
def test_every_way_to_the_map_lowers_the_likelihood_of_flattened_isotonic_regression():
    rng = np.random.default_rng(0)
    prob = rng.dirichlet(np.ones(3), 400)
    y = (rng.random((400, 1)) > (prob**2 / (prob**2).sum(axis=1, keepdims=True)).cumsum(axis=1)).sum(axis=1).clip(0, 2)
    of = alternatives.Blocks(Model("", "", 0, y, prob, y, prob))
    start = of.ended(of.start)[0]
    g = np.sort(rng.uniform(0.2, 0.9, of.start.size))
    slope = [(of.at(g + e)[0] - of.at(g - e)[0]) / 2e-6 for e in 1e-6 * np.eye(g.size)]
    np.testing.assert_allclose(of.at(g)[1], slope, atol=1e-6)
    for name, way in alternatives.ALTERNATIVES.items():
        assert of.ended(way(of))[0] < start, name


def test_a_convolution_is_trained_by_the_slope_of_its_loss():
    rng = np.random.default_rng(0)
    X = networks.patches(rng.normal(size=(12, 16)).astype(np.float32), 4, 4, 1, 3)
    assert X.shape == (12, 4, 9)
    network = networks.Convolutional(4, 9, (5, 2), rng)
    target = np.eye(2, dtype=np.float32)[rng.integers(0, 2, 12)]

    def loss():
        return -np.log((network.prob(X) * target).sum(axis=1)).mean()

    before = loss()
    for _ in range(30):
        network.step(X, target, 0.0)
    assert loss() < before - 0.05


def test_stored_networks_have_the_methods_of_the_study():
    found = stored()
    assert {one.architecture for one in found} == {"deep MLP", "CNN"}
    assert len(found) == networks.SEEDS * 9
    assert all(one.value.shape[0] == len(MEASURED) for one in found)
