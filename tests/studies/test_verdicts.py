"""Verdicts that neither the stored numbers of a claim nor its mutant give, and rules that a study judges by."""

import numpy as np
import pytest

from studies.__main__ import PAPERS
from studies.claims import Verdict
from studies.na_isotonic import alternatives, claims_methods, claims_printed
from studies.na_isotonic import claims as na
from studies.na_isotonic.forecasts import consistently, from_differences, judge_best, judge_pair, judged
from studies.na_isotonic.forecasts import p_value_of_duel as p_value
from studies.roc_isotonic.claims import READINGS
from studies.survey import cases, claims
from studies.top_label import claims as top_label

HOLDS, IN_PART, FAILS, MISPRINT, OPEN, NOT_JUDGED = Verdict
CLAIMS = {(paper.name, one.key): one for paper in PAPERS for one in paper.claims}

LOW, HIGH = [-0.1, -0.11, -0.09], [0.1, 0.11, 0.09]
MODELS = ["A", "B"]


def draws(mean, spread=0.001):
    """Twenty figures with a mean and a small spread."""
    return [mean + spread * (-1) ** i for i in range(20)]


# The paper on test-based calibration error

GOOD, MIXED = [[5.0, 80.0], [7.0, 90.0]], [[5.0, 80.0], [81.0, 90.0]]
ONE_FAILS, NONE_FAILS = [[60.0, 40.0]], [[6.0, 85.0]]
BREAKS, STEADY = [1.0, 1.0, 1.1, 1.2, 6.0, 8.0], [1.0, 1.1, 1.2, 1.3, 1.4, 9.0]
CELLS, INNER = {"cells": [["RF", "TCE", "0.1", "0.1"]]}, [0.11, 0.05, 0.06]
OF_T, LEVEL = [-1.0, -2.0, -1.0], {"half": {"TCE(P)": 10.0}, "many": 34.0}
TCE = {
    "algorithm-3-smallest": [({"below": [1, 9], "library": [0, 0]}, FAILS)],
    "table-14-satimage": [(CELLS | {"rows": {"1931": 10}}, HOLDS)],
    "table-14-spambase": [(CELLS, HOLDS)],
    "table-5-misprint": [({"printed": "0.0102", "value": 0.010145, "line": [True, False]}, FAILS)],
    "level": [({"sizes": [[0.5, [4.3, 5.9]], [0.01, [4.0]]]} | LEVEL, HOLDS)],
    "slope": [({"slopes": {"a": 4.0, "b": 0.25}}, OPEN)],
    "small-ece": [({"differences": HIGH}, FAILS)],
    "order": [({"shares": {"TCE(P)": 0.2, "TCE(Q)": 0.1, "ECE": 0.99, "ACE": 1.0}}, FAILS)],
    "scale": [({"tce": [99.0, 23.0], "ece": [0.1, 0.01], "shift": [0.5, 0.5], "order": [0.6, 0.9, 1.0]}, FAILS)],
    **{f"reasonable-{of}": [({"good": [*GOOD, *ONE_FAILS], "bad": NONE_FAILS}, FAILS)] for of in ("6", "7")},
    **{f"reasonable-{of}": [({"good": MIXED, "bad": NONE_FAILS}, FAILS)] for of in ("10", "12-milder")},
    "reasonable-12": [({"good": GOOD, "bad": [[8.0, 79.0]]}, HOLDS)],
    "best-sizes": [
        ({"apart": [[90.0, 90.3], [91.0, 91.2], [90.0, 90.2], [85.0, 85.1], [88.0, 88.2]]}, FAILS),
        ({"apart": [[5.0, 5.1], [34.0, 34.1], [64.0, 64.1], [85.0, 85.1], [88.0, 88.2]]}, IN_PART)],
    "noise-breaks-down": [({"means": {"TCE(P)": BREAKS * 2, "ECE": STEADY * 2}}, IN_PART)],
    "binomial-against-t": [({"calibrated": OF_T, "miscalibrated": [-2.0, -1.0, -0.5], "rare": [2.8, 8.8], "printed": 2}, OPEN)],
    "overall-better": [({"printed": [[7.0, 8.0], [90.0, 80.0]], "means": [[1.0, 2.0], [3.0, 2.0]]}, HOLDS)],
    "balance": [({"total": [[0.039, 0.043, 0.048]] * 3, "within": [INNER] * 3, "elsewhere": [69, 69], "models": 75}, IN_PART)],
}  # fmt: skip

# The paper on ROC-regularised isotonic regression


def group(n, kept):
    return {"n": n, "problems": 20, "monotone": 1000, "kept": kept, "tied": 0, "with_any": 1}


def surfaces(*shares):
    """Shares outside of the hull, and how far: beside counts that do not matter."""
    return {"surfaces": [[500, 10, 5, 0.9, 0.89, outside, far] for outside, far in shares]}


def volumes(after, kept):
    return {"six": [0.5, *after], "drawn": [[0.5] * 4] * 2, "kept": [[0.5, kept]], "paper": [], "four": []}


def gaps(own, same, end):
    return {"gaps": [[[own + step, same, end, own, own] for step in (0.0, 0.001, 0.002)]]}


ROC = {
    "two-classes": [
        ({"same": [[True, True], [False, True]], "blocks": [16], "grid_cuts": 15, "shared_cuts": 15}, IN_PART)],
    "too-restrictive": [({"groups": [group(8, 3), group(12, 0), group(30, 0)]}, HOLDS)],
    "covers-surface": [(surfaces((0.0, 0.0)), HOLDS), (surfaces((0.0, 0.0), (0.3, 0.06)), FAILS)],
    "keeps-surface": [({"drawn": [[9, 9, 0.5, 0.4]], "paper": [["a", 9, 9, 0.5, 0.5]]}, OPEN)],
    "volume-majorised": [(volumes([0.6, 0.6, 0.6], 0.6), FAILS), (volumes([0.6, 0.6, 0.5], 0.6), OPEN)],
    "lower-of-probabilities": [({"differences": [[2, name, HIGH] for name in READINGS], "elsewhere": [4, 6]}, FAILS)],
    "binning-over-fits": [({"rises": [[HIGH, [0.0, 0.001, 0.0005]]] * 3}, FAILS)],
    "monotony-prevents-over-fitting": [
        ({"rises": [[HIGH, [0.0] * 3]] * 3}, FAILS), ({"rises": [[HIGH, [10.0 * one for one in HIGH]]]}, IN_PART)],
    "stops-at-the-least": [
        ({"paper": [], "rises": [[0.0, 0.0], [0.0]]}, HOLDS), ({"paper": [], "rises": [[0.0, 0.0], HIGH]}, FAILS)],
    "fewer-bins": [({"same": [["a", HIGH]], "best": [["a", HIGH]]}, FAILS)],
    "bin-efficiency": [
        ({"same": [["a", LOW], ["b", LOW]], "best": [["a", HIGH]]}, HOLDS),
        ({"same": [["a", HIGH], ["b", HIGH]], "best": [["a", LOW]]}, FAILS)],
    "monotony-lessens-the-gap": [(gaps(-0.02, 0.5, 0.9), HOLDS), (gaps(0.02, 0.01, 0.01), FAILS)],
}  # fmt: skip

# The survey, and the paper on top-label calibration


def places(first, second):
    return {"cases": {name: {"here": draws(h), "elsewhere": draws(0.1)} for name, h in (("a", first), ("b", second))}}


def by_measure(first, second):
    measures = ("E abs(S - C)", first), ("the calibration loss", second)
    return {"readings": {name: {"before": 0.1, "after": draws(after)} for name, after in measures}}


def worlds(first, other, **beside):
    return {name: {"one": draws(first), "other": draws(other), **beside} for name in ("variance", "standard deviation")}


SURVEY = {
    "isotonic-middle": [(places(0.05, 0.2), IN_PART), (places(0.05, 0.05), FAILS)],
    "isotonic-not-monotone": [({"moved": [0.1], "best": draws(2.0), "own": draws(1.0), "after": draws(1.1)}, HOLDS)],
    "platt-under": [(by_measure(0.01, 0.05), HOLDS), (by_measure(0.15, 0.01), FAILS)],
    "beta-under": [(by_measure(0.01, 0.05), HOLDS)],
    "isotonic-few-rows": [({"cases": {"a": {"drawn": draws(0.003), "even": draws(0.006)}}}, FAILS)],
    "dirichlet-corner": [({"dirichlet": draws(0.01), "matrix": draws(0.05), "penalised": []}, HOLDS)],
    "beta-over-low": [({"before": 0.3, "beta": draws(0.2), "platt": draws(0.1)}, FAILS)],
    "beta-calibrated": [({"beta": draws(0.2), "platt": draws(0.1)}, FAILS)],
    "matrix-overfits": [({"readings": worlds(0.1, 0.5, before=draws(0.1))}, FAILS)],
    "odir": [({"readings": worlds(0.5, 0.1)}, FAILS)],
}  # fmt: skip


def less(*pairs):
    """So many networks on which the one is lower, and on which it is higher, for each comparison."""
    differences = {str(i): {f"{j}": d for j, d in enumerate([-1.0] * a + [1.0] * b)} for i, (a, b) in enumerate(pairs)}
    return {"networks": ["some"], "differences": differences}


TOP_LABEL = {
    "two-or-three-times": [({"networks": ["some"], "ratios": {"a": [1.1, 3.5], "b": [1.5, 3.1]}}, FAILS)],
    "better-than-temperature": [(less((7, 6)), OPEN), (less((0, 0)), OPEN)],
    "n-hb-best": [(less((12, 1), (13, 0)), HOLDS), (less((12, 1), (2, 11), (12, 1)), OPEN)],
    **{key: [(less((12, 1)), HOLDS), (less((1, 12)), FAILS)] for key in ("cw-hb-best", "n-hb-terrible")},
    "accuracy": [({"rows": 100, "changed": {"a": 0, "b": 100}, "before": 0.95, "after": {"a": 0.95, "b": 0.94}}, FAILS)],
}  # fmt: skip


@pytest.mark.parametrize(
    ("paper", "key", "numbers", "verdict"),
    [
        (paper, key, *case)
        for paper, of in {"tce": TCE, "roc_isotonic": ROC, "survey": SURVEY, "top_label": TOP_LABEL}.items()
        for key, rows in of.items()
        for case in rows
    ],
    ids=str,
)
def test_a_verdict_follows_from_its_numbers(paper, key, numbers, verdict):
    assert CLAIMS[paper, key].judge(**numbers) is verdict


# Rules of a study


def networks(after, mixed=0.0):
    """Ten networks, every second of which moves by ``mixed`` up and the others down."""
    return {"before": [0.1] * 10, "after": [after + mixed * (-1) ** i for i in range(10)]}


def caps(variance, deviation, bayes=None):
    known = {"variance": variance, "standard deviation": deviation}
    return {name: {"bayes": bayes or value, "networks": [value] * 2} for name, value in known.items()}


def both_worlds(other):
    return cases.in_both_worlds(cases.falls)({"variance": networks(0.05), "standard deviation": networks(*other)})


def ways(fifty):
    of = {"50 bins a class": draws(fifty), "10 bins a class": draws(0.4)}
    return top_label.by_its_bins({way: {"one": one, "other": draws(0.3)} for way, one in of.items()})


def poor(rows, ece):
    known = dict.fromkeys(top_label.OF_DATA, draws(ece)) | {top_label.PROJECTED: draws(0.5)}
    return top_label.judge_poor(dict.fromkeys(top_label.OF_DATA, [rows] * 20), known)


def duel(better, different=30, ahead=5, behind=2):
    of = {"better": better, "different": different, "ahead": ahead, "behind": behind, "data_sets": 7}
    return {**of, "low": -0.1, "median": 0.0, "high": 0.1}


WINS, LOSES, EVEN = duel(25), duel(5, ahead=2, behind=5), duel(16)
FEW = duel(8, ahead=2, behind=5)  # p = 0.016
OTHERS = dict.fromkeys(("TS", "MS", "FIR", "SCIR"), WINS)


def modest(*swin):
    gains = {name: {"none": [0.1, 19.0], "next": [0.3, 3.3]} for name in claims_printed.SURE}
    return gains | {name: {"none": [0.3, swin[0]], "next": [0.9, swin[1]]} for name in claims_printed.LESS_SURE}


def searched(fit, test):
    return {"calibration rows": {"SLSQP": [fit] * 3}, "test rows": {"SLSQP": [test] * 3}}


def standing(*wins):
    return {i: {"SCIR": own, "TS": other, "MS": 0.0} for i, (own, other) in enumerate(wins)}


def listed(*of):
    return dict(enumerate(of))


RULES = {
    "little of the error is left": (cases.works_well, [
        ((0.1, draws(0.02)), HOLDS), ((0.1, draws(0.05)), IN_PART), ((0.1, draws(0.15)), FAILS),
        ((0.1, draws(0.03, 1.0)), OPEN)]),
    "most of the error is left": (cases.does_little, [
        ((0.1, draws(0.09)), HOLDS), ((0.1, draws(0.05)), FAILS), ((0.1, draws(0.075, 1.0)), OPEN)]),
    "by the mean of networks, and in part where it depends on the network": (lambda *of: cases.falls(**networks(*of)), [
        ((0.05,), HOLDS), ((0.2,), FAILS), ((0.1, 0.05), IN_PART), ((0.1,), OPEN), ((0.1, 0.001), OPEN)]),
    "both readings of class 3": (lambda *of: both_worlds(of), [
        ((0.06,), HOLDS), ((0.2,), OPEN), ((0.1, 0.05), IN_PART), ((0.1,), OPEN)]),
    "a cap is judged on the reading that the sentence picks": (lambda *of: cases.capped(caps(*of), 0.75, 0.85), [
        ((0.91, 0.78), HOLDS), ((0.80, 0.78), HOLDS), ((0.80, 0.95), FAILS), ((0.9, 0.9, 0.8), IN_PART)]),
    "not as bad only where temperature scaling is bad": (lambda *of: cases.class_3_not_as_bad(0.1, *map(draws, of)), [
        ((0.3, 0.2), HOLDS), ((0.05, 0.02), IN_PART), ((0.05, 0.08), FAILS)]),
    "worse in most regions": (lambda *of: cases.mostly_worse(draws(*of), draws(1.0), 7), [
        ((4.0,), HOLDS), ((1.0,), IN_PART), ((0.0, 0.0), FAILS), ((3.5, 1.0), IN_PART)]),
    "a printed figure is an exact value rounded": (cases.as_printed, [
        (("107/315", "0.34", None), HOLDS), (("169/900", "0.1873", 5.62 / 30), MISPRINT), (("169/900", "0.1873", None), FAILS),
        (("169/900", "0.1873", 0.2), FAILS), (("29/40", "0.72", None), HOLDS), (("29/40", "0.73", None), HOLDS),
        (("29/40", "0.74", None), FAILS), (("25.3004", "25.3", None), HOLDS)]),
    "a printed p-value is one that a run of 1000 gives": (lambda pvalue: claims.one_run(pvalue, 20_000, 0.016), [
        ((0.012,), HOLDS), ((0.016,), HOLDS), ((0.05,), FAILS), ((0.001,), FAILS)]),
    "the paper's number of bins decides": (ways, [((0.4,), HOLDS), ((0.2,), FAILS), ((0.3,), OPEN)]),
    "poor where bins have few rows": (poor, [((2, 0.9), HOLDS), ((2, 0.3), IN_PART), ((9, 0.3), FAILS), ((2, 0.5), OPEN)]),
    "kept up to two standard errors": (lambda rate: top_label.kept({"a": [1.0, 0.0], "b": [rate, 0.01]}, 0.9), [
        ((0.95,), HOLDS), ((0.89,), HOLDS), ((0.85,), FAILS)]),
    "a sign test counts if data sets agree": (judged, [
        ((WINS,), HOLDS), ((LOSES,), FAILS), ((EVEN,), OPEN), ((duel(25, ahead=3, behind=4),), OPEN),
        ((duel(5, ahead=4, behind=3),), OPEN), ((duel(0, different=0, ahead=0, behind=0),), OPEN)]),
    "a pair is judged in every reading": (lambda *of: judge_pair(listed(*of), neural={"a": LOSES}, beside={"b": LOSES}), [
        ((WINS, WINS), HOLDS), ((LOSES, LOSES), FAILS), ((WINS, LOSES), OPEN), ((WINS, EVEN), OPEN)]),
    "consistently is on every data set": (consistently, [
        ((duel(25, behind=0),), HOLDS), ((duel(25, behind=1),), IN_PART), ((LOSES,), FAILS), ((EVEN,), OPEN)]),
    "best is who beats each other": (lambda *of: judge_best(listed(*of), at_most=[3], data_sets=7), [
        (({"TS": WINS, "VS": WINS},), HOLDS), (({"TS": WINS, "VS": EVEN},), OPEN), (({"TS": WINS, "VS": LOSES},), FAILS),
        (({"SCIR, 1e-12": WINS, "SCIR, 0.001": LOSES},), OPEN), (({"SCIR, 1e-12": LOSES, "SCIR, 0.001": LOSES},), FAILS),
        (({"VS": FEW},), FAILS), (({"VS": FEW} | OTHERS,), OPEN),  # where 0.05 is shared
        (({"TS": WINS}, {"TS": LOSES}), OPEN)]),
    "most wins are clear in every reading": (lambda *of: na.judge_wins(standing(*of)), [
        (((20, 4), (18, 5)), HOLDS), (((2, 20), (3, 19)), FAILS), (((10, 5), (20, 4)), OPEN), (((20, 4), (4, 20)), OPEN)]),
    "near the top on every data set": (lambda *of: na.judge_top(listed(*of)), [
        (((1, 2), (3, 3), (1, 1)), HOLDS), (((1, 2), (4, 5), (3, 1)), IN_PART), (((4, 4), (5, 5), (1, 1)), FAILS),
        (((1, 2), (3, 4), (1, 1)), IN_PART), (((1, 2), (3, 4), (1, 5)), OPEN)]),
    "worse NLL at a comparable Brier score": (lambda *of: na.judge_comparable(MODELS, listed(*of)), [
        (((15, 16), (14, 15)), HOLDS), (((1, 16), (1, 15)), FAILS), (((9, 16), (15, 16)), OPEN), (((0, 0),), OPEN)]),
    "rows a class are not decided by two data sets": (lambda sets, *of: na.judge_rows(MODELS, sets, listed(*of)), [
        (([3, 4], (7.0, 3.0, 0.001), (6.0, 4.0, 0.01)), HOLDS), (([3, 4], (3.0, 7.0, 0.001), (4.0, 6.0, 0.01)), FAILS),
        (([3, 4], (7.0, 3.0, 0.001), (6.0, 5.0, 0.5)), OPEN), (([2, 5], (7.0, 3.0, 0.001), (6.0, 4.0, 0.01)), OPEN)]),
    "a gain is substantial by its size": (lambda *of: na.judge_sure(MODELS, listed(*of)), [
        (([0.3, 0.4, 0.35],), HOLDS), (([0.7, 0.8, 0.75],), IN_PART), (([1.4, 1.5, 1.6],), FAILS), (([0.3, 1.5, 0.9],), OPEN),
        (([0.3, 0.4, 0.35], [0.7, 0.8, 0.75]), IN_PART)]),
    "a search gains more than seeds differ": (lambda *of: claims_methods.judge_stability(
        {"set": {"0.01": list(of)}}, {"set": 1.1}, {"set": 0.9}), [
        ((1.0, 1.04), HOLDS), ((1.0, 1.06), FAILS), ((1.1, 1.1), FAILS), ((1.2, 1.2), FAILS)]),
    "not convex in one form only": (claims_methods.judge_convexity, [
        ((100, 9, 9), HOLDS), ((100, 9, 0), IN_PART), ((100, 0, 0), FAILS)]),
    "a modest gain is smaller than others": (lambda *of: claims_printed.judge_modest(modest(*of)), [
        ((2.4, 0.1), HOLDS), ((2.4, -0.1), OPEN), ((-2.4, -0.1), FAILS), ((20.0, 4.0), FAILS)]),
    "a search is compared on both kinds of rows": (lambda *of: alternatives.judge_search(["a", "b", "c"], searched(*of)), [
        ((-1.0, -1.0), HOLDS), ((1.0, 1.0), FAILS), ((1.0, -1.0), OPEN), ((-1.0, 1.0), OPEN)]),
    "low rises and high falls on most models": (lambda low, high: alternatives.judge_inflation(
        {str(i): [low, 0.0, 0.0, 0.0, high] for i in range(10)}), [
        ((0.1, -0.1), HOLDS), ((-0.1, 0.1), FAILS), ((0.1, 0.1), OPEN), ((0.0, 0.0), OPEN)]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("judge", "of", "verdict"),
    [pytest.param(judge, *case, id=f"{name}, {case[1]}") for name, (judge, rows) in RULES.items() for case in rows],
)
def test_a_rule_has_its_verdicts(judge, of, verdict):
    assert judge(*of) is verdict


def test_a_duel_counts_models_and_data_sets_and_leaves_out_equal_ones():
    groups = np.array([[True, True, False, False], [False, False, True, False], [False, False, False, True]])
    found = from_differences(np.array([-1.0, -3.0, 2.0, 0.0]), list(groups))
    assert (found["better"], found["different"], found["ahead"], found["behind"], found["data_sets"]) == (2, 3, 1, 1, 3)
    assert found["median"] == -0.5
    assert p_value(found) == 1.0


def test_a_label_that_is_moved_breaks_the_first_half_of_the_proposition():
    judge = CLAIMS["top_label", "canonical-implies-class-wise"].judge
    assert judge(**top_label.canonical_worlds()) is HOLDS
    assert judge(**top_label.canonical_worlds(moved=True)) is FAILS


def test_other_wrong_classes_of_the_same_accuracy_are_changes():
    y, before, shuffled = np.array([0, 1, 2, 2]), np.array([0, 1, 0, 1]), np.array([0, 1, 1, 0])
    assert (y == before).mean() == (y == shuffled).mean()
    assert (top_label.n_changed(before, before), top_label.n_changed(before, shuffled)) == (0, 2)
