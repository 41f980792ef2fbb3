"""Claims say no more than their numbers: the machine, and every stored row of every paper."""

import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from calibrant._core.lazy import homes
from calibrant._core.registry import entries
from studies import claims
from studies.__main__ import PAGE, PAPERS, page
from studies.claims import Claim, Item, Mutant, Paper, Row, State, Verdict, moved, overstatement, run, survival

# Rules of judgement, each with cases on both sides


def test_a_mean_difference_counts_from_two_standard_errors_on():
    for differences, verdict in (
        ([-1.0, -1.1, -0.9], Verdict.HOLDS),
        ([1.0, 1.1, 0.9], Verdict.FAILS),
        ([-1.0, 1.0, 0.1], Verdict.OPEN),
        ([-1.0], Verdict.OPEN),
    ):
        assert claims.below_zero(differences) is claims.above_zero([-value for value in differences]) is verdict


def test_a_figure_comes_out_within_its_tolerance_and_nan_does_not():
    assert claims.equals(0.5004, 0.5, 0.001) is Verdict.HOLDS
    assert claims.equals(0.502, 0.5, 0.001) is Verdict.FAILS
    assert claims.equals(float("nan"), 0.5, 0.001) is Verdict.FAILS


def test_a_sentence_of_several_parts_holds_where_each_does_and_readings_that_differ_decide_nothing():
    of = {"H": Verdict.HOLDS, "F": Verdict.FAILS, "O": Verdict.OPEN, "P": Verdict.IN_PART}
    for parts in ("HH H", "FF F", "HF P", "HO O", "FO O", "HFO P"):
        assert claims.all_of(of[part] for part in parts[:-2]) is of[parts[-1]], parts
    for readings in ("HH H", "HF O", "PF O", "HP P"):  # some hold and the others hold in part: in part
        assert claims.under_all_readings(of[part] for part in readings[:-2]) is of[readings[-1]], readings


# The machine


def claim(**given):
    of = {"key": "lower", "where": "Table 1", "sentence": "A is lower than B.", "target": "mean difference below zero"}
    of |= {"says": Verdict.FAILS, "measure": lambda: {"differences": [1.0, 1.1]}, "over": "differences"}
    of |= {"judge": lambda differences: claims.below_zero(differences)}
    of |= {"words": lambda differences: f"{len(differences)} networks"}
    return Claim(**of | given)


def test_not_decided_beside_numbers_that_decide_needs_a_reason_which_the_page_prints():
    of = claim(says=Verdict.OPEN)
    assert "the page says not decided, the numbers give does not hold" in overstatement(of, of.judged(of.measure()))
    assert overstatement(of, of.judged({"differences": [1.0, -1.0]})) is None
    with_reason = replace(of, undecided="two draws are few")
    row = with_reason.judged(of.measure())
    assert overstatement(with_reason, row) is None
    assert "**not decided**: two draws are few" in claims.claims_table([with_reason], [row])


def test_one_network_cannot_contradict_the_authors():
    of = claim(judge=lambda differences: Verdict.FAILS)
    assert "rests on one case" in overstatement(of, of.judged({"differences": [1.0]}))
    assert "rests on one case" in overstatement(replace(of, over=""), of.judged(of.measure()))
    alone = replace(of, over="", one_suffices="a counterexample")
    assert overstatement(alone, alone.judged({"differences": [1.0]})) is None


def test_a_sentence_about_most_cases_is_not_contradicted_by_a_target_about_each():
    of = claim(sentence="A is often lower than B.", target="lower on each network")
    assert "ask for most" in overstatement(of, of.judged(of.measure()))
    of = replace(of, target="lower on most networks")
    assert overstatement(of, of.judged(of.measure())) is None


def test_a_mutant_must_change_the_verdict_and_an_asserted_claim_must_have_one():
    of = claim(over="", one_suffices="drawn")
    own = of.measure()
    assert "must have a mutant" in survival(of, None, own)
    assert "no mutant breaks" in survival(of, Mutant("twice as much", lambda differences: {}), own)
    exchanged = Mutant("both exchanged", lambda differences: {"differences": [-d for d in differences]})
    assert survival(of, exchanged, own) is None
    measured = Mutant("run", lambda: {"differences": [1.0, 1.1]}, measured=True)
    assert survival(of, measured, own, {"differences": [-1.0, -1.1]}) is None
    assert survival(of, measured, own) is not None


def test_a_measure_can_be_run_with_something_else_in_a_module():
    assert claims.run_with(json, "dumps", lambda of: "other", lambda: {"text": json.dumps([])})() == {"text": "other"}
    assert json.dumps([]) == "[]"


CHANGED = Mutant("both exchanged", lambda differences: {"differences": [-d for d in differences]})


def paper(tmp_path, *of, **mutants):
    class Here(Paper):
        store = tmp_path / "x" / "claims.json"
        document = tmp_path / "x.md"
        unfinished = tmp_path / "build" / "x.json"

    Here.store.parent.mkdir(exist_ok=True)
    Here.mutants = {one.key: CHANGED for one in of} | mutants
    return Here("x", "A paper", "A. and B.", "2020", "make reproduce-x", 1, "x.md", of, ())


def test_a_run_shows_progress_stores_its_rows_and_counts_them(tmp_path):
    out = io.StringIO()
    here = paper(tmp_path, claim(), claim(key="again"))
    rows = run(here, out=out)
    lines = out.getvalue().splitlines()
    assert lines[0] == "A paper: 2 claims, about 1 minutes of processor time"
    assert lines[1].startswith("[1/2] lower: does not hold here")
    assert lines[-1] == "2 of 2 claims hold"
    assert here.stored() == rows


def test_a_run_that_says_too_much_fails_and_writes_nothing(tmp_path):
    here = paper(tmp_path, claim(), claim(key="too much", says=Verdict.HOLDS))
    with pytest.raises(SystemExit, match=r"too much: the page says holds(?s:.)*too much; nothing was written"):
        run(here, out=io.StringIO())
    assert not here.store.exists()


def test_a_run_with_a_mutant_that_changes_nothing_fails(tmp_path):
    here = paper(tmp_path, claim(), lower=Mutant("itself", lambda differences: {}))
    with pytest.raises(SystemExit, match="lower: with itself judged does not hold here as well"):
        run(here, out=io.StringIO())


def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path):
    calls = []

    def measure():
        calls.append(1)
        return {"differences": [1.0, 1.1]}

    def stop():
        raise KeyboardInterrupt

    run_mutant = Mutant("run", lambda: measure() and {"differences": [-1.0, -1.1]}, measured=True)
    here = paper(tmp_path, claim(measure=measure), claim(key="second", measure=stop), lower=run_mutant)
    with pytest.raises(KeyboardInterrupt):
        run(here, out=io.StringIO())
    assert (here.unfinished.exists(), len(calls)) == (True, 2)
    here = paper(tmp_path, claim(measure=measure), claim(key="second", measure=measure), lower=run_mutant)
    run(here, out=io.StringIO())
    assert (here.unfinished.exists(), len(calls)) == (False, 3)
    assert here.stored_mutants() == {"lower": {"differences": [-1.0, -1.1]}}


def test_verdicts_that_other_draws_move_are_told(tmp_path):
    drawn = claim(
        key="drawn",
        measure=lambda: {"differences": list(np.random.default_rng(0).normal(0.1, 1.0, 3).round(6))},
        judge=lambda differences: Verdict.FAILS if min(differences) > 0 else Verdict.HOLDS,
    )
    seed = next(s for s in range(50) if (np.random.default_rng(s).normal(0.1, 1.0, 3) > 0).all())
    here, out = paper(tmp_path, claim(), drawn), io.StringIO()
    assert moved(here, seed, out=out) == []
    assert out.getvalue().splitlines()[-1] == "no verdict of 2 moves"
    other = next(s for s in range(50) if (np.random.default_rng(s).normal(0.1, 1.0, 3) < 0).any())
    assert moved(here, other, out=out)[0].startswith(f"drawn: does not hold here, with seed {other} holds")


def test_a_page_is_older_than_numbers_that_changed_and_not_than_times(tmp_path):
    time = claim(key="time", says=Verdict.NOT_JUDGED, judge=lambda **_: Verdict.NOT_JUDGED)
    here = paper(tmp_path, claim(), time)
    run(here, out=io.StringIO())
    here.publish("# A page")
    assert here.outdated() is None
    run(paper(tmp_path, claim(), replace(time, measure=lambda: {"differences": [3.0]})), out=io.StringIO())
    assert here.outdated() is None
    run(paper(tmp_path, claim(measure=lambda: {"differences": [1.0, 1.2]}), time), out=io.StringIO())
    assert "Run `make reproduce-x`" in here.outdated()
    here.publish("# A page")
    here.store.with_name("claims.py").write_text("changed")
    assert here.outdated() is not None


def test_numbers_that_json_cannot_hold_are_refused(tmp_path):
    here = paper(tmp_path, claim(says=Verdict.NOT_JUDGED, measure=lambda: {"differences": [float("nan"), 1.0]}))
    with pytest.raises(ValueError, match="JSON"):
        run(here, out=io.StringIO())
    assert not here.store.exists()


def test_a_part_that_is_not_done_says_why():
    with pytest.raises(ValueError, match="says why"):
        Item("Fig. 1", "a figure", "", State.NOT_POSSIBLE)
    items = [Item("Fig. 1", "x", "`reliability_curve`", State.DONE), Item("Fig. 2", "x", "", State.NOT_YET, "later")]
    assert claims.counts(items)[State.DONE] == 1
    assert "**not yet**: later" in claims.coverage_table(items)


# Every paper

ROWS = [(of, one) for of in PAPERS for one in of.claims]


@pytest.mark.parametrize("of", PAPERS, ids=lambda of: of.name)
def test_stored_rows_are_those_that_the_code_declares(of):
    assert [row.key for row in of.stored()] == [one.key for one in of.claims]
    assert len({one.key for one in of.claims}) == len(of.claims)


@pytest.mark.parametrize(("of", "one"), ROWS, ids=lambda each: getattr(each, "key", getattr(each, "name", None)))
def test_stored_numbers_bear_out_what_the_page_says(of, one):
    row = next(row for row in of.stored() if row.key == one.key)
    again = one.judged(row.numbers)
    assert isinstance(again, Row)
    assert json.loads(json.dumps(again.numbers)) == row.numbers
    assert (again.verdict, again.evidence) == (row.verdict, row.evidence)
    assert overstatement(one, row) is None
    for part in (one.sentence, row.evidence, one.target):
        assert part.strip()
        assert "\n" not in part


@pytest.mark.parametrize("of", PAPERS, ids=lambda of: of.name)
def test_each_asserted_verdict_has_a_mutant_that_changes_it(of):
    stored, rows = of.stored_mutants(), {row.key: row.numbers for row in of.stored()}
    assert set(stored) >= {one.key for one in of.asserted if one.key in of.mutants and of.mutants[one.key].measured}
    wrong = [survival(one, of.mutants.get(one.key), rows[one.key], stored.get(one.key)) for one in of.asserted]
    assert [problem for problem in wrong if problem] == []


@pytest.mark.parametrize("of", PAPERS, ids=lambda of: of.name)
def test_what_holds_in_part_has_a_target_that_says_in_part(of):
    assert [one.key for one in of.claims if one.says is Verdict.IN_PART and "in part" not in one.target] == []


@pytest.mark.deep
@pytest.mark.parametrize("of", PAPERS, ids=lambda of: of.name)
def test_a_page_is_no_older_than_what_makes_it(of):
    assert of.outdated() is None


@pytest.mark.parametrize("of", PAPERS, ids=lambda of: of.name)
def test_a_page_shows_its_claims_and_opens_with_what_it_covers(of):
    text = of.document.read_text(encoding="utf-8")
    assert of.claims
    assert of.coverage
    assert claims.claims_table(of.claims, of.stored()) in text
    assert claims.coverage_table(of.coverage) in text


def known(word):
    """Whether something in backticks is public, or a word of a registry."""
    name = re.split(r"[(.=]", word)[0]
    words = {alias for kind in ("metric", "notion", "binning", "calibrator") for alias in entries(kind)}
    return name in homes() or word.strip("\"'") in words or name in {"notion", "binning", "studies", "python", "make"}


@pytest.mark.parametrize("of", PAPERS, ids=lambda of: of.name)
def test_names_in_a_table_of_what_is_covered_exist(of):
    assert [word for item in of.coverage for word in re.findall(r"`([^`]+)`", item.name) if not known(word)] == []


def test_the_page_of_all_claims_is_made_of_the_stored_rows():
    assert PAGE.read_text(encoding="utf-8") == page()
