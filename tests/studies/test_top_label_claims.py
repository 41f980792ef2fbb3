"""Verdicts on the top-label paper, each judge with a case on both sides."""

import numpy as np
import pytest

from studies.claims import Verdict
from studies.top_label import claims, claims_printed, networks
from studies.top_label.claims import CLAIMS

HOLDS, IN_PART, FAILS, OPEN, MISPRINT = Verdict.HOLDS, Verdict.IN_PART, Verdict.FAILS, Verdict.OPEN, Verdict.MISPRINT
BY_KEY = {claim.key: claim for claim in CLAIMS}


def splits(mean, spread=0.001):
    """Twenty figures with a mean and a small spread."""
    return [mean + spread * (-1) ** i for i in range(20)]


def less(*pairs):
    """So many networks on which the one is lower, and on which it is higher, for each comparison."""
    differences = {str(i): {f"{j}": d for j, d in enumerate([-1.0] * a + [1.0] * b)} for i, (a, b) in enumerate(pairs)}
    return {"networks": ["some"], "differences": differences}


def ratios(**of):
    return {"networks": ["some"], "ratios": of}


def changed(rows, after):
    return {"rows": 100, "changed": {"a": 0, "b": rows}, "before": 0.95, "after": {"a": 0.95, "b": after}}


def ways(fifty):
    of = {"50 bins a class": splits(fifty), "10 bins a class": splits(0.4)}
    return {way: {"one": one, "other": splits(0.3)} for way, one in of.items()}


BY_FUNCTION = [
    ("an example holds exactly", lambda of: claims.exactly(
        dict(zip(("confidence", "top-label"), of, strict=True)), {"confidence": "0", "top-label": "2/5"}), [
        (("0", "2/5"), HOLDS), (("0", "1/2"), IN_PART), (("1/5", "1/2"), FAILS)]),
    ("a bound is never exceeded", lambda lower: claims.never_above({"a": lower, "b": 0.0}, {"a": 0.2, "b": 0.1}), [
        (0.1, HOLDS), (0.2, HOLDS), (0.3, FAILS)]),
    ("a promise is kept up to two standard errors", lambda rate: claims.kept({"one": [1.0, 0.0], "other": [rate, 0.01]}, 0.9), [
        (0.95, HOLDS), (0.89, HOLDS), (0.85, FAILS)]),
    ("panels stand as printed", BY_KEY["panels"].judge, [
        ({"a": True, "b": True}, HOLDS), ({"a": False, "b": True}, IN_PART), ({"a": False, "b": False}, FAILS)]),
    ("squares are compared split by split", lambda one: claims.higher(one, splits(0.3)), [
        (splits(0.4), HOLDS), (splits(0.2), FAILS), (splits(0.4, 5.0), OPEN), (splits(0.2, 5.0), OPEN)]),
    ("the paper's number of bins decides", claims.by_its_bins, [(ways(0.4), HOLDS), (ways(0.2), FAILS), (ways(0.3), OPEN)]),
    ("estimates are poor where bins have few rows", lambda of: claims.judge_poor(
        dict.fromkeys(claims.OF_DATA, [of[0]] * 20),
        dict.fromkeys(claims.OF_DATA, splits(of[1])) | {claims.PROJECTED: splits(0.5)}), [
        ((2, 0.9), HOLDS), ((2, 0.3), IN_PART), ((9, 0.3), FAILS), ((2, 0.5), OPEN)]),
    ("errors are uniform where points a bin leave little spread",
        lambda points: claims.uniform({"forest": 0.1, "100 points a bin": points, "10 bins a class": 0.04}), [
        (0.02, HOLDS), (0.06, FAILS), (0.045, FAILS)]),
    ("cells are counted", lambda of: BY_KEY["sierpinski"].judge(of, {"2": 14, "3": 40}), [
        ({"2": 14, "3": 40}, HOLDS), ({"2": 13, "3": 40}, MISPRINT), ({"2": 13, "3": 41}, FAILS)]),
]  # fmt: skip

BY_CLAIM = {
    "two-or-three-times": [
        (ratios(a=[2.1, 2.5, 1.0], b=[2.0, 3.0]), HOLDS), (ratios(a=[2.1, 2.5, 1.0], b=[1.5, 2.0]), IN_PART),
        (ratios(a=[1.1, 3.5], b=[1.5, 3.1]), FAILS)],
    "better-than-temperature": [
        (less((12, 1)), HOLDS), (less((1, 12)), FAILS), (less((7, 6)), OPEN), (less((0, 0)), OPEN)],
    "n-hb-best": [
        (less((12, 1), (13, 0)), HOLDS), (less((1, 12), (0, 13)), FAILS), (less((12, 1), (1, 12)), FAILS),
        (less((12, 1), (7, 6)), OPEN), (less((12, 1), (2, 11)), FAILS), (less((12, 1), (2, 11), (12, 1)), OPEN)],
    "cw-hb-best": [(less((12, 1)), HOLDS), (less((1, 12)), FAILS)],
    "n-hb-terrible": [(less((12, 1)), HOLDS), (less((1, 12)), FAILS)],
    "canonical-implies-class-wise": [
        ({"canonical": 0.0, "class_wise": 0.0}, HOLDS), ({"canonical": 0.0, "class_wise": 0.01}, FAILS)],
    "class-wise-not-canonical": [
        ({"class_wise": "0", "canonical": "3/10"}, HOLDS), ({"class_wise": "0", "canonical": "0"}, FAILS),
        ({"class_wise": "1/5", "canonical": "3/10"}, FAILS)],
    "accuracy": [
        (changed(0, 0.95), HOLDS), (changed(1, 0.95), IN_PART), (changed(0, 0.94), IN_PART), (changed(100, 0.94), FAILS)],
    "theorem-1-constant": [({"bound": 0.1}, HOLDS), ({"bound": 0.11}, FAILS)],
    "empty-bin": [({"classes": 3, "bins": 3}, HOLDS), ({"classes": 3, "bins": 13}, MISPRINT)],
    "projection": [
        ({"fewest": [17, 20], "promised": 17, "ceiling": 18}, HOLDS),
        ({"fewest": [17, 16], "promised": 17, "ceiling": 18}, FAILS)],
}  # fmt: skip


@pytest.mark.parametrize(
    ("judge", "numbers", "verdict"),
    [pytest.param(judge, (of,), v, id=f"{name}, {v}") for name, judge, rows in BY_FUNCTION for of, v in rows]
    + [pytest.param(BY_KEY[key].judge, of, v, id=f"{key}, {v}") for key, rows in BY_CLAIM.items() for of, v in rows],
)  # fmt: skip
def test_a_verdict_follows_from_its_numbers(judge, numbers, verdict):
    assert (judge(**numbers) if isinstance(numbers, dict) else judge(*numbers)) is verdict


def test_a_label_that_is_moved_breaks_the_first_half_of_the_proposition():
    judge = BY_KEY["canonical-implies-class-wise"].judge
    assert judge(**claims.canonical_worlds()) is HOLDS
    assert judge(**claims.canonical_worlds(moved=True)) is FAILS


@pytest.mark.parametrize(
    "one", [of for of in claims.CLAIMS if of.key in claims_printed.FUNCTIONS], ids=lambda one: one.key
)
def test_a_printed_table_decides_and_its_mutant_breaks_it(one):
    numbers = one.measure()
    assert one.judge(**numbers) is one.says is HOLDS
    assert one.judge(**claims.PAPER.mutants[one.key].given(numbers)) is FAILS


def test_the_printed_lines_are_those_of_eight_networks():
    assert {metric: len(claims_printed.lines(metric)) for metric in ("TL-ECE", "TL-MCE", "CW-ECE")} == {
        "TL-ECE": 8, "TL-MCE": 8, "CW-ECE": 8,
    }  # fmt: skip
    assert claims_printed.lines("CW-ECE")["ResNet-50 (CIFAR-10)"]["CW-HB"] == 0.28


def test_a_network_is_measured_at_every_size_that_leaves_rows_to_test():
    rng = np.random.default_rng(0)
    prob = rng.dirichlet(np.ones(3), 1400)
    y = np.where(rng.random(1400) < 0.6, rng.integers(0, 3, 1400), prob.argmax(axis=1))  # far less sure than they say
    found = networks.measure(prob, y)
    assert list(found["sizes"]) == ["300"]
    assert found["rows_a_class"]["300"] == 100.0
    of = found["sizes"]["300"]["TL-ECE"]
    assert set(of) == {"Base", "TS", "VS", "N-HB", "TL-HB"}
    assert all(len(values) == networks.SPLITS for values in of.values())
    assert np.mean(of["TL-HB"]) < np.mean(of["Base"])


def test_other_wrong_classes_of_the_same_accuracy_are_changes():
    y, before = np.array([0, 1, 2, 2]), np.array([0, 1, 0, 1])
    shuffled = np.array([0, 1, 1, 0])
    assert (y == before).mean() == (y == shuffled).mean()
    assert claims.n_changed(before, before) == 0
    assert claims.n_changed(before, shuffled) == 2


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
