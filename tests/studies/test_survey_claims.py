"""The verdicts on the survey's sentences, each on both sides: which numbers a sentence needs, and which contradict it."""

import pytest

from studies.claims import Verdict, on_several
from studies.survey import cases, claims
from studies.survey.cases import lower_in_each, near_in_each
from studies.survey.claims import CLAIMS
from studies.survey.claims_methods import balanced, class_3_not_as_bad, worse_elsewhere

HOLDS, IN_PART, FAILS, OPEN = Verdict.HOLDS, Verdict.IN_PART, Verdict.FAILS, Verdict.OPEN
BY_KEY = {claim.key: claim for claim in CLAIMS}


def draws(mean, spread=0.001):
    """Twenty figures with a mean and a small spread."""
    return [mean + spread * (-1) ** i for i in range(20)]


def one(after):
    return {"before": 0.1, "after": draws(after)}


def classes(first, second):
    return {"class 1": [draws(first), draws(0.3)], "class 2": [draws(second), draws(0.3)]}


def caps(variance, deviation, bayes=None):
    known = {"variance": variance, "standard deviation": deviation}
    return {name: {"bayes": bayes or value, "networks": [value] * 2} for name, value in known.items()}


def worlds(first, other):
    network = {"one": draws(first), "other": draws(other)}
    return {"variance": [network] * 2, "standard deviation": [network] * 2}


def beaten(after):
    return {"moved": 0.1, "best": after, "own": 1.0, "after": [1.0, 1.1]}


def measures(first, second):
    return {"measures": {"one": one(first), "other": one(second)}}


TRADED = {"calibration": 1.0, "grouping": 1.0}
BY_FUNCTION = [
    ("an error falls where the draws say so clearly", cases.falls, (0.1,), [
        (draws(0.05), HOLDS), (draws(0.15), FAILS), (draws(0.1, 5.0), OPEN)]),
    ("or rises", cases.rises, (0.1,), [(draws(0.05), FAILS), (draws(0.15), HOLDS), (draws(0.1, 5.0), OPEN)]),
    ("a method works well where little of the error is left", cases.works_well, (0.1,), [
        (draws(0.02), HOLDS), (draws(0.05), IN_PART), (draws(0.15), FAILS), (draws(0.03, 1.0), OPEN)]),
    ("it does little where most is left", cases.does_little, (0.1,), [
        (draws(0.09), HOLDS), (draws(0.05), FAILS), (draws(0.075, 1.0), OPEN)]),
    ("cases are judged together", cases.in_each(cases.falls), (), [
        ({"one": one(0.05), "other": one(0.06)}, HOLDS), ({"one": one(0.05), "other": one(0.15)}, IN_PART),
        ({"one": one(0.05), "other": {"before": 0.1, "after": draws(0.1, 5.0)}}, OPEN)]),
    ("few values in every calibration set", lambda counts: cases.few_values(counts, 10), (), [
        ({"under-confident": [8, 8], "over-confident": [10, 10]}, HOLDS),
        ({"under-confident": [10, 8], "over-confident": [10, 10]}, FAILS),
        ({"under-confident": [8, 8], "over-confident": [10, 11]}, FAILS)]),
    ("many values in every calibration set", lambda counts: cases.many_values(counts, 10), (), [
        ({"a": [8, 8], "b": [10, 10]}, FAILS), ({"a": [8, 8], "b": [10, 11]}, FAILS), ({"a": [40, 50], "b": [41, 11]}, HOLDS)]),
    ("points are on the diagonal where the error falls and most are close",
        lambda of: cases.on_the_diagonal(0.1, draws(of[0]), draws(of[1])), (), [
        ((0.05, 0.9), HOLDS), ((0.05, 0.4), IN_PART), ((0.15, 0.4), FAILS)]),
    ("binning trades calibration for grouping",
        lambda of: cases.traded(TRADED, {"calibration": draws(of[0]), "grouping": draws(of[1])}), (), [
        ((0.5, 2.0), HOLDS), ((0.5, 0.5), IN_PART), ((2.0, 0.5), FAILS)]),
    ("both ends can have full confidence", lambda of: cases.full_confidence(*of), (), [
        ((1.0, 0.1), HOLDS), ((0.0, 1.0), FAILS), ((1.0, 0.0), FAILS)]),
    ("several regions are two or more",
        lambda worse: cases.worse_in_regions([0.1] * 5, [draws(0.2)] * worse + [draws(0.05)] * (5 - worse)), (), [
        (2, HOLDS), (1, FAILS), (0, FAILS)]),
    ("worse elsewhere is worse in most regions",
        lambda worse: worse_elsewhere([0.1] * 7, [draws(0.2)] * worse + [draws(0.05)] * (7 - worse)), (), [
        (4, HOLDS), (1, IN_PART), (0, FAILS)]),
    ("predictions are almost the same", cases.almost_the_same, (), [(draws(0.001), HOLDS), (draws(0.05), FAILS)]),
    ("an identity changes nothing", lambda change: cases.identity(change, 1e-12), (), [(1e-16, HOLDS), (1e-6, FAILS)]),
    ("a range is barely left",
        lambda share: cases.outside({"variance": share, "standard deviation": 0.8}, 0.01), (), [(1e-6, HOLDS), (0.5, FAILS)]),
    ("one network decides nothing and several must agree", on_several(cases.falls), (), [
        ([one(0.05)], OPEN), ([one(0.05), one(0.06)], HOLDS), ([one(0.2), one(0.3)], FAILS), ([one(0.05), one(0.2)], OPEN)]),
    ("both worlds of class 3 must say the same", lambda other: cases.in_both_worlds(cases.falls)(
        {"variance": [one(0.05), one(0.06)], "standard deviation": other}), (), [
        ([], OPEN), ([one(0.05)], OPEN), ([one(0.05)] * 2, HOLDS), ([one(0.2)] * 2, OPEN)]),
    ("a cap is judged on the reading that the sentence picks", lambda highest: cases.capped(highest, 0.75, 0.85), (), [
        (caps(0.91, 0.78), HOLDS), (caps(0.80, 0.78), HOLDS), (caps(0.80, 0.95), FAILS), (caps(0.9, 0.9, bayes=0.8), IN_PART)]),
    ("class 3 is not as bad only where temperature scaling makes it bad",
        lambda of: class_3_not_as_bad(0.1, *map(draws, of)), (), [
        ((0.3, 0.2), HOLDS), ((0.05, 0.02), IN_PART), ((0.05, 0.08), FAILS)]),
    ("a method is balanced where it wins on few rows and on many",
        lambda of: balanced(draws(of[0]), draws(0.3), draws(of[1]), draws(0.3)), (), [
        ((0.1, 0.1), HOLDS), ((0.1, 0.5), IN_PART), ((0.5, 0.5), FAILS)]),
    ("two methods are compared by pairs", lower_in_each, (), [
        (classes(0.1, 0.1), HOLDS), (classes(0.5, 0.5), FAILS), (classes(0.1, 0.5), IN_PART)]),
    ("diagrams are close where each class is", near_in_each, (), [
        (classes(0.3, 0.301), HOLDS), (classes(0.3, 0.31), FAILS), (classes(0.3, 0.29), FAILS)]),
    ("a printed figure is an exact value rounded", lambda of: cases.as_printed(*of), (), [
        (("107/315", "0.34", None), HOLDS), (("169/900", "0.1873", 5.62 / 30), IN_PART), (("169/900", "0.1873", None), FAILS),
        (("169/900", "0.1873", 0.2), FAILS), (("29/40", "0.72", None), HOLDS), (("29/40", "0.73", None), HOLDS),
        (("29/40", "0.74", None), FAILS), (("25.3004", "25.3", None), HOLDS), (("50.6", "25.3", None), FAILS)]),
    ("a table holds where all entries do", lambda off: cases.entries_as_printed(off, 3), (), [
        ([], HOLDS), (["a"], IN_PART), (["a", "b", "c"], FAILS)]),
    ("a printed p-value is one that a run of 1000 gives", lambda pvalue: claims.one_run(pvalue, 20_000, 0.016), (), [
        (0.012, HOLDS), (0.016, HOLDS), (0.05, FAILS), (0.001, FAILS)]),
    ("class-wise calibration is separated from confidence", lambda of: claims.separates(*of), (), [
        (("0", "1/40"), HOLDS), (("1/40", "1/40"), FAILS), (("0", "0"), FAILS)]),
]  # fmt: skip

BY_CLAIM = {
    "isotonic-middle-left": [({"here": draws(h), "elsewhere": draws(0.1)}, v) for h, v in ((0.2, HOLDS), (0.05, FAILS))],
    "isotonic-middle-right": [({"here": draws(0.5, 10.0), "elsewhere": draws(0.1)}, OPEN)],
    "isotonic-not-monotone": [
        (([beaten(2.0)] * 2,), HOLDS), (([beaten(0.5)] * 2,), FAILS), (([beaten(2.0)],), OPEN), (([beaten(0.5)],), OPEN)],
    "platt-under": [(measures(0.01, 0.01), HOLDS), (measures(0.01, 0.05), OPEN)],
    "beta-under": [(measures(0.05, 0.05), IN_PART), (measures(0.01, 0.05), OPEN)],
    "platt-over": [(measures(0.09, 0.09), HOLDS), (measures(0.05, 0.05), FAILS), (measures(0.05, 0.09), OPEN)],
    "beta-over-high": [({"readings": {"before": one(0.05)}}, OPEN)],
    "boundary": [({"lost": 0.001, "best": 0.7}, HOLDS), ({"lost": 0.05, "best": 0.7}, FAILS)],
    "fig-12-slopes": [
        ({"under": 2.0, "over": 0.5}, HOLDS), ({"under": 0.9, "over": 0.5}, FAILS), ({"under": 2.0, "over": 1.5}, FAILS)],
    "beta-over-low": [
        ({"before": 0.3, "beta": draws(b), "platt": draws(0.1)}, v) for b, v in ((0.05, HOLDS), (0.2, FAILS))],
    "beta-calibrated": [
        ({"beta": draws(b), "platt": draws(0.1), "platt_log_odds": draws(0.0)}, v) for b, v in ((0.05, HOLDS), (0.2, FAILS))],
    "matrix-overfits": [((worlds(0.5, 0.1),), HOLDS), ((worlds(0.1, 0.5),), FAILS)],
    "odir": [((worlds(0.1, 0.5),), HOLDS), ((worlds(0.5, 0.1),), FAILS)],
    "table-1-signs": [({"over": ["20 to 29 %", "30 to 39 %"]}, HOLDS), ({"over": ["20 to 29 %"]}, FAILS)],
}  # fmt: skip


@pytest.mark.parametrize(
    ("judge", "numbers", "verdict"),
    [pytest.param(judge, (*first, of), v, id=f"{name}, {v}") for name, judge, first, rows in BY_FUNCTION for of, v in rows]
    + [pytest.param(BY_KEY[key].judge, of, v, id=f"{key}, {v}") for key, rows in BY_CLAIM.items() for of, v in rows],
)  # fmt: skip
def test_a_verdict_follows_from_its_numbers(judge, numbers, verdict):
    assert (judge(**numbers) if isinstance(numbers, dict) else judge(*numbers)) is verdict


def test_what_the_survey_did_not_run_or_does_not_measure_is_not_judged():
    keys = "log-odds-under log-odds-over log-odds-network isotonic-cost fig-12-network dirichlet-calibrated table-1"
    assert {BY_KEY[key].says for key in [*keys.split(), "platt-over-cause"]} == {Verdict.NOT_JUDGED}


def test_every_sentence_about_networks_is_undecided():
    rests_on_networks = [c for c in CLAIMS if {"network", "networks"} & set(c.target.replace(",", "").split())]
    assert len(rests_on_networks) > 15
    assert {c.says for c in rests_on_networks} <= {OPEN, Verdict.NOT_JUDGED}


def test_tables_are_measured_in_seconds_and_bear_out_the_page():
    for claim in (*claims.OF_TABLES, *claims.OF_TESTS):
        if claim.key != "resampling":
            assert claim.judged(claim.measure()).verdict is claim.says, claim.key


def test_shares_outside_exclude_standard_deviations_of_the_classes_1_and_2():
    shares = claims.shares_outside()["shares"]
    assert shares["variance"] < 1e-5
    assert 0.8 < shares["standard deviation"] < 0.9
