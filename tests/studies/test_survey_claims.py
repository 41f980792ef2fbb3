"""The verdicts on the survey's sentences, each on both sides: which numbers a sentence needs, and which contradict it."""

import numpy as np
import pytest

from calibrant.datasets import SurveyMixture
from studies.claims import Verdict
from studies.survey import cases, claims
from studies.survey.cases import balanced, class_3_not_as_bad, lower_in_each, near
from studies.survey.claims import CLAIMS, PAPER

HOLDS, IN_PART, FAILS, OPEN = Verdict.HOLDS, Verdict.IN_PART, Verdict.FAILS, Verdict.OPEN
MISPRINT = Verdict.MISPRINT
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
    return {"variance": network, "standard deviation": network}


def over_fitted(first, other):
    return {name: {"before": draws(0.1), **of} for name, of in worlds(first, other).items()}


def best(after):
    return {"moved": [0.1], "best": draws(after), "own": draws(1.0), "after": draws(1.1)}


def by_measure(first, second):
    return {"readings": {"E abs(S - C)": one(first), "the calibration loss": one(second)}}


def networks(after, before=0.1, mixed=0.0):
    """Ten networks, every second of which moves by ``mixed`` up and the others down."""
    return {"before": [before] * 10, "after": [after + mixed * (-1) ** i for i in range(10)]}


def part(after):
    return {"before": 1.0, "after": draws(after)}


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
    ("few values in every calibration set", lambda counts: BY_KEY["binning-values"].judge(counts, 10), (), [
        ({"under-confident": [8, 8], "over-confident": [10, 10]}, HOLDS),
        ({"under-confident": [10, 8], "over-confident": [10, 10]}, FAILS),
        ({"under-confident": [8, 8], "over-confident": [10, 11]}, FAILS)]),
    ("many values in every calibration set", lambda counts: BY_KEY["isotonic-values"].judge(counts, 10), (), [
        ({"a": [8, 8], "b": [10, 10]}, FAILS), ({"a": [8, 8], "b": [10, 11]}, FAILS), ({"a": [40, 50], "b": [41, 11]}, HOLDS)]),
    ("points are on the diagonal where the error falls and most are close",
        lambda of: cases.on_the_diagonal(0.1, draws(of[0]), draws(of[1])), (), [
        ((0.05, 0.9), HOLDS), ((0.05, 0.4), IN_PART), ((0.15, 0.4), FAILS)]),
    ("binning trades calibration for grouping",
        lambda of: cases.traded(part(of[0]), part(of[1])), (), [
        ((0.5, 2.0), HOLDS), ((0.5, 0.5), IN_PART), ((2.0, 0.5), FAILS)]),
    ("both ends can have full confidence", lambda of: BY_KEY["isotonic-ends"].judge(*of), (), [
        ((1.0, 0.1), HOLDS), ((0.0, 1.0), FAILS), ((1.0, 0.0), FAILS)]),
    ("several regions are two or more", lambda worse: BY_KEY["platt-network"].judge(draws(worse)), (), [
        (2.0, HOLDS), (1.0, FAILS), (0.0, FAILS)]),
    ("worse elsewhere is worse in most regions", lambda worse: cases.mostly_worse(worse, draws(1.0), 7), (), [
        (draws(4.0), HOLDS), (draws(1.0), IN_PART), ([0.0] * 10, FAILS), (draws(3.5, 1.0), IN_PART)]),
    ("predictions are almost the same", BY_KEY["beta-same"].judge, (), [(draws(0.001), HOLDS), (draws(0.05), FAILS)]),
    ("what may never be above 0", BY_KEY["beta-identity"].judge, (), [
        ({"change": 1e-16}, HOLDS), ({"change": -1.0}, HOLDS), ({"change": 1e-6}, FAILS), ({"a": 0.0, "b": 1e-6}, FAILS)]),
    ("a misprint is one where what is meant stands", lambda of: BY_KEY["equation-12"].judge(*of), (), [
        ((0.0, 0.0), HOLDS), ((0.5, 0.0), MISPRINT), ((0.5, 0.5), FAILS)]),
    ("a range is barely left",
        lambda share: BY_KEY["fig-12-range"].judge({"variance": share, "standard deviation": 0.8}, 0.01), (), [
            (1e-6, HOLDS), (0.5, FAILS)]),
    ("networks are judged by their mean, and in part where it depends on the network", lambda of: cases.falls(**of), (), [
        (networks(0.05), HOLDS), (networks(0.2), FAILS), (networks(0.1, mixed=0.05), IN_PART), (networks(0.1), OPEN),
        (networks(0.1, mixed=0.001), OPEN)]),
    ("both readings of class 3 count", lambda other: cases.in_both_worlds(cases.falls)(
        {"variance": networks(0.05), "standard deviation": networks(**other)}), (), [
        ({"after": 0.06}, HOLDS), ({"after": 0.2}, OPEN), ({"after": 0.1, "mixed": 0.05}, IN_PART), ({"after": 0.1}, OPEN)]),
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
    ("diagrams are close where no calibration at all is further away", near, (), [
        (classes(0.1, 0.1), HOLDS), (classes(0.1, 0.4), HOLDS), (classes(0.3, 0.3), OPEN), (classes(0.5, 0.3), FAILS)]),
    ("a printed figure is an exact value rounded", lambda of: cases.as_printed(*of), (), [
        (("107/315", "0.34", None), HOLDS), (("169/900", "0.1873", 5.62 / 30), MISPRINT), (("169/900", "0.1873", None), FAILS),
        (("169/900", "0.1873", 0.2), FAILS), (("261/900", "0.1873", 5.62 / 30), FAILS),
        (("29/40", "0.72", None), HOLDS), (("29/40", "0.73", None), HOLDS),
        (("29/40", "0.74", None), FAILS), (("25.3004", "25.3", None), HOLDS), (("50.6", "25.3", None), FAILS)]),
    ("a table holds where all entries do", BY_KEY["table-4"].judge, (), [
        ({str(i): [of, "0.1"] for i, of in enumerate(entries)}, v) for entries, v in (
            (("1/10", "1/10"), HOLDS), (("1/10", "1/2"), IN_PART), (("1/2", "1/2"), FAILS))]),
    ("a gap is a misprint where it is that of the rounded mean and rate", lambda gap: BY_KEY["table-4"].judge(
        {"bin 1, mean": ["0.566", "0.57"], "bin 1, rate": ["0.333", "0.33"], "bin 1, gap": ["0.233", gap]}), (), [
        ("0.23", HOLDS), ("0.24", MISPRINT), ("0.25", IN_PART)]),
    ("a printed p-value is one that a run of 1000 gives", lambda pvalue: claims.one_run(pvalue, 20_000, 0.016), (), [
        (0.012, HOLDS), (0.016, HOLDS), (0.05, FAILS), (0.001, FAILS)]),
    ("figures are these and no others", BY_KEY["footnote-2"].judge, (), [
        ({"a": "0", "b": "1/40"}, HOLDS), ({"a": "1/40", "b": "1/40"}, FAILS), ({"a": "0", "b": "0"}, FAILS)]),
]  # fmt: skip

BY_CLAIM = {
    "isotonic-middle": [({"cases": {a: {"here": draws(h), "elsewhere": draws(0.1)} for a, h in (("a", one), ("b", two))}}, v)
        for one, two, v in ((0.2, 0.3, HOLDS), (0.05, 0.2, IN_PART), (0.05, 0.05, FAILS))],
    "isotonic-not-monotone": [(best(2.0), HOLDS), (best(0.5), IN_PART), (best(-0.5), FAILS)],
    "platt-under": [(by_measure(0.01, 0.05), HOLDS), (by_measure(0.05, 0.01), IN_PART), (by_measure(0.15, 0.01), FAILS)],
    "beta-under": [(by_measure(0.01, 0.05), HOLDS), (by_measure(0.05, 0.01), IN_PART)],
    "platt-over": [(by_measure(0.09, 0.05), HOLDS), (by_measure(0.05, 0.09), FAILS)],
    "platt-over-cause": [({"at_0": draws(a), "at_1": draws(1 - a)}, v) for a, v in ((0.16, FAILS), (0.01, HOLDS))],
    "isotonic-few-rows": [({"cases": {"a": {"drawn": draws(0.003), "even": draws(e)}}}, v) for e, v in (
        (0.0, HOLDS), (0.006, FAILS), (0.003, OPEN))],
    "fig-3": [({"cases": {n: {"sigmoid": one(a)} for n, a in ((cases.HALVED, under), (cases.DOUBLED, over))}}, v)
        for under, over, v in ((0.01, 0.08, HOLDS), (0.05, 0.08, IN_PART), (0.01, 0.01, IN_PART))],
    "dirichlet-corner": [({"dirichlet": draws(d), "matrix": draws(0.05), "penalised": []}, v) for d, v in (
        (0.01, HOLDS), (0.09, FAILS))],
    "beta-over-high": [({"cases": {"beta": one(0.05)}}, OPEN)],
    "degrees-of-freedom": [({"fit": [s], "held_out": [0.11], "free": [0.05], "draws": 400}, v) for s, v in (
        (0.06, HOLDS), (0.11, FAILS))],
    "fig-2-off-centre": [({"centre": ["1/4", "3/4"], "mean": ["1/5", m], "low": []}, v) for m, v in (
        ("3/4", HOLDS), ("4/5", FAILS))],
    "boundary": [({"lost": 0.001, "best": 0.7}, HOLDS), ({"lost": 0.05, "best": 0.7}, FAILS)],
    "fig-12-slopes": [
        ({"under": 2.0, "over": 0.5}, HOLDS), ({"under": 0.9, "over": 0.5}, FAILS), ({"under": 2.0, "over": 1.5}, FAILS)],
    "beta-over-low": [
        ({"before": 0.3, "beta": draws(b), "platt": draws(0.1)}, v) for b, v in ((0.05, HOLDS), (0.2, FAILS))],
    "beta-calibrated": [({"beta": draws(b), "platt": draws(0.1)}, v) for b, v in ((0.05, HOLDS), (0.2, FAILS))],
    "matrix-overfits": [((over_fitted(0.5, 0.1),), HOLDS), ((over_fitted(0.1, 0.5),), FAILS)],
    "odir": [((worlds(0.1, 0.5),), HOLDS), ((worlds(0.5, 0.1),), FAILS)],
}  # fmt: skip


@pytest.mark.parametrize(
    ("judge", "numbers", "verdict"),
    [pytest.param(judge, (*first, of), v, id=f"{name}, {v}") for name, judge, first, rows in BY_FUNCTION for of, v in rows]
    + [pytest.param(BY_KEY[key].judge, of, v, id=f"{key}, {v}") for key, rows in BY_CLAIM.items() for of, v in rows],
)  # fmt: skip
def test_a_verdict_follows_from_its_numbers(judge, numbers, verdict):
    assert (judge(**numbers) if isinstance(numbers, dict) else judge(*numbers)) is verdict


def test_what_the_survey_did_not_run_or_does_not_measure_is_not_judged():
    assert {claim.key for claim in CLAIMS if claim.says is Verdict.NOT_JUDGED} == {"isotonic-cost", "fig-12-network"}


def test_every_sentence_about_networks_rests_on_ten():
    rows = {row.key: row.numbers for row in PAPER.stored()}
    of_three = [key for key, numbers in rows.items() if set(numbers.get("readings", ())) == set(cases.READINGS)]
    assert len(of_three) > 12
    for key in of_three:
        for figures in rows[key]["readings"].values():
            assert {len(values) for values in _lists(figures)} == {10}, key
    assert len(rows["binning-works-network"]["after"]) == len(rows["dirichlet-corner"]["matrix"]) == 10


def _lists(of):
    """Every list of numbers inside of numbers."""
    if isinstance(of, list) and not isinstance(of[0], list):
        return [of]
    inner = of.values() if isinstance(of, dict) else of if isinstance(of, list) else ()
    return [found for each in inner for found in _lists(each)]


def test_no_network_is_calibrated_on_its_training_set():
    trained_on = [SurveyMixture(2).sample(5, rng=number)[0][0] for number in range(10)]
    for seed in range(cases.SETS):
        for name in cases.NETWORKS:
            of = cases.the_case(name)
            assert of.mixture.sample(5, rng=of.first + seed)[0][0] not in trained_on


LAST_DIGIT = {"calibration": 1e-4, "brier_calibration": 1e-6, "grouping": 1e-6, "log_excess": 1e-5}


@pytest.mark.deep
def test_on_a_grid_of_twice_as_many_points_figures_change_by_less_than_their_last_digit():
    name, reading = cases.NETWORKS[0], cases.READINGS[0]

    def two(refined):
        of = cases.the_case(name, refined=refined)
        forecasts = [of.forecast, *(cases.fitted(name, method, 0).calibrate(of.forecast) for method in cases.METHODS)]
        found = [cases.errors(of, value) for value in forecasts]
        return [getattr(error, what) / digit for error in found for what, digit in LAST_DIGIT.items()]

    def three(refined):
        of = cases.the_case(name, reading, refined)
        fits = [cases.fitted_three(reading, name, method, 0) for method in cases.OF_THREE]
        forecasts = [of.forecast, *(fit.calibrate(of.forecast) for fit in fits)]
        return [sums[1].sum() / 1e-4 for value in forecasts for sums in cases.class_wise(of, value)]

    coarse, fine = (np.array(two(refined) + three(refined)) for refined in (1, 2))
    seen = np.isfinite(coarse)  # a log loss of binning is infinite on both
    assert (np.isfinite(fine) == seen).all()
    assert np.abs(coarse[seen] - fine[seen]).max() < 1.0


def test_each_of_the_21_figures_is_drawn_small_and_shown():
    pytest.importorskip("matplotlib")
    from studies.survey.pictures import IMAGES, PICTURES

    page = (IMAGES.parents[1] / "survey.md").read_text(encoding="utf-8")
    assert list(PICTURES) == list(range(1, 22))
    for number in PICTURES:
        picture = IMAGES / f"fig-{number}.png"
        assert 2000 < picture.stat().st_size < 60_000, number
        assert f"images/survey/fig-{number}.png" in page


def test_tables_are_measured_in_seconds_and_bear_out_the_page():
    for claim in claims.CLAIMS:
        if claim.key in claims.OF_TABLES | claims.OF_TESTS and claim.key != "resampling":
            assert claim.judged(claim.measure()).verdict is claim.says, claim.key


def test_shares_outside_exclude_standard_deviations_of_the_classes_1_and_2():
    shares = claims.shares_outside()["shares"]
    assert shares["variance"] < 1e-5
    assert 0.8 < shares["standard deviation"] < 0.9
