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


def found(**of):
    """One network, asked twice."""
    return ([{"found": of, "differences": {}}] * 2,)


def maxima(lowest, pvalue):
    return (
        [{"found": {"TL-HB (50)": lowest, "TS": 0.5}, "printed": {}, "pvalue": {"TL-HB (50)": 0.01, "TS": pvalue}}] * 2,
    )


def ratios(**of):
    return ([{"ratios": of}] * 2,)


def changed(rows, after):
    return {"rows": 100, "changed": {"a": 0, "b": rows}, "before": 0.95, "after": {"a": 0.95, "b": after}}


def ways(ten):
    return {"50": {"one": splits(0.4), "other": splits(0.3)}, "10": {"one": splits(ten), "other": splits(0.3)}}


PRINTED = {"a": 0.1, "b": 0.2, "c": 0.3}
BY_FUNCTION = [
    ("an order holds where every pair stands", lambda of: claims.ordered(of, PRINTED), [
        ({"a": 1.0, "b": 2.0, "c": 3.0}, HOLDS), ({"a": 1.0, "b": 3.0, "c": 2.0}, IN_PART),
        ({"a": 3.0, "b": 2.0, "c": 1.0}, FAILS)]),
    ("an example holds exactly", lambda of: claims.exactly(
        dict(zip(("confidence", "top-label"), of, strict=True)), {"confidence": "0", "top-label": "2/5"}), [
        (("0", "2/5"), HOLDS), (("0", "1/2"), IN_PART), (("1/5", "1/2"), FAILS)]),
    ("a bound is never exceeded", lambda lower: claims.never_above({"a": lower, "b": 0.0}, {"a": 0.2, "b": 0.1}), [
        (0.1, HOLDS), (0.2, HOLDS), (0.3, FAILS)]),
    ("a promise is kept up to two standard errors", lambda rate: claims.kept({"one": [1.0, 0.0], "other": [rate, 0.01]}, 0.9), [
        (0.95, HOLDS), (0.89, HOLDS), (0.85, FAILS)]),
    ("panels stand as printed", claims.all_stand, [
        ({"a": True, "b": True}, HOLDS), ({"a": False, "b": True}, IN_PART), ({"a": False, "b": False}, FAILS)]),
    ("squares are compared split by split", lambda one: claims.higher(one, splits(0.3)), [
        (splits(0.4), HOLDS), (splits(0.2), FAILS), (splits(0.4, 5.0), OPEN), (splits(0.2, 5.0), OPEN)]),
    ("both numbers of bins must say the same", claims.in_every_way, [(ways(0.4), HOLDS), (ways(0.2), OPEN)]),
    ("errors are uniform where points a bin leave little spread",
        lambda points: claims.uniform({"forest": 0.1, "100 points a bin": points, "10 bins a class": 0.04}), [
        (0.02, HOLDS), (0.06, FAILS), (0.045, FAILS)]),
    ("cells are counted", lambda of: claims.counted(of, {"2": 14, "3": 40}), [
        ({"2": 14, "3": 40}, HOLDS), ({"2": 13, "3": 40}, IN_PART), ({"2": 13, "3": 41}, FAILS)]),
    ("several networks must agree", on_several(lambda value: HOLDS if value else FAILS), [
        ([{"value": True}, {"value": False}], OPEN)]),
]  # fmt: skip

BY_CLAIM = {
    "two-or-three-times": [
        (ratios(a=[2.1, 2.5, 1.0], b=[2.0, 3.0]), HOLDS), (ratios(a=[2.1, 2.5, 1.0], b=[1.5, 2.0]), IN_PART),
        (ratios(a=[1.1, 3.5], b=[1.5, 3.1]), FAILS)],
    "better-than-temperature": [
        (found(**{"TL-HB (50)": fifty, "TL-HB (100)": hundred, "TS": 0.2}), verdict)
        for fifty, hundred, verdict in ((0.1, 0.1, HOLDS), (0.1, 0.3, IN_PART), (0.3, 0.3, FAILS))],
    "n-hb-terrible": [(found(**{"N-HB": n_hb, "Base": 0.2}), verdict) for n_hb, verdict in ((0.3, HOLDS), (0.1, FAILS))],
    "tl-hb-lowest-mce": [(maxima(0.1, 0.01), HOLDS), (maxima(0.9, 0.01), FAILS), (maxima(0.1, 0.5), OPEN)],
    "class-wise-not-canonical": [
        ({"class_wise": "0", "canonical": "3/10"}, HOLDS), ({"class_wise": "0", "canonical": "0"}, FAILS),
        ({"class_wise": "1/5", "canonical": "3/10"}, FAILS)],
    "accuracy": [
        (changed(0, 0.95), HOLDS), (changed(1, 0.95), IN_PART), (changed(0, 0.94), IN_PART), (changed(100, 0.94), FAILS)],
    "theorem-1-constant": [({"bound": 0.1}, HOLDS), ({"bound": 0.11}, FAILS)],
    "empty-bin": [({"classes": 3, "bins": 3}, HOLDS), ({"classes": 3, "bins": 13}, FAILS)],
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


@pytest.mark.parametrize("key", [claim.key for claim in claims.OF_NETWORKS])
def test_one_of_eight_networks_decides_nothing(key):
    assert BY_KEY[key].says is OPEN
    assert "several networks; the paper has" in BY_KEY[key].target
    assert BY_KEY[key].judge([{}]) is OPEN


def test_methods_that_the_paper_does_not_tell_apart_make_no_pair():
    assert claims.pairs({"a": 2.0, "b": 1.0, "c": 3.0}, {"a": 0.1, "b": 0.1, "c": 0.3}) == [True, True]


RIGHT = {"found": {"a": 1.0, "b": 2.0}, "printed": {"a": 0.1, "b": 0.2}}
WRONG = RIGHT | {"found": {"a": 2.0, "b": 1.0}}


@pytest.mark.parametrize(
    ("key", "right", "wrong"),
    [
        ("n-hb-best", *({"found": {"N-HB": n, "other": 0.2}, "differences": {}} for n in (0.1, 0.3))),
        ("cw-hb-best", *({"found": {"CW-HB": n, "other": 0.2}, "differences": {}} for n in (0.1, 0.3))),
        ("order-tl-ece", RIGHT, WRONG),
        ("order-cw-ece", RIGHT, WRONG),
        ("order-tl-mce", *(one | {"pvalue": {}} for one in (RIGHT, WRONG))),
    ],
)  # fmt: skip
def test_networks_that_differ_decide_nothing(key, right, wrong):
    judge = BY_KEY[key].judge
    assert (judge([right, right]), judge([wrong, wrong]), judge([right, wrong])) == (HOLDS, FAILS, OPEN)


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
