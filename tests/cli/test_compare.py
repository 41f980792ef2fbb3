"""`calibrant compare`: files of the same rows, matched by a column or by their order."""

import json

import numpy as np
import pytest

from calibrant import compare
from calibrant.interop.tables import write_table

RNG = np.random.default_rng(0)
N = 200
P = RNG.uniform(0.05, 0.95, N)
Y = (RNG.random(N) < P).astype(int)
Q = P**3
KEY = np.array([f"q{k:03}" for k in RNG.permutation(N)])


ORDER = RNG.permutation(N)[: N - 20]
"""The rows of a file that lacks some, in its order."""


@pytest.fixture
def run(shell):
    write_table("a.csv", {"key": KEY, "label": Y, "p": P})
    write_table("b.csv", {"key": KEY, "label": Y, "p": Q})
    write_table("turned.parquet", {"key": KEY[ORDER], "label": Y[ORDER], "p": Q[ORDER]})
    return shell


def figures(out):
    return {one["name"]: one for one in json.loads(out)["candidates"]}


def test_it_says_what_the_function_says(run):
    code, out, err = run("compare", "a.csv", "b.csv", "--prob", "p", "--calibrators", "platt,temperature")
    assert (code, err) == (0, "a.csv: reading label 'label'\nb.csv: reading label 'label'\n")
    found = compare(Y, {"a": P, "b": Q}, calibrators=["platt", "temperature"])
    shown = [line.rsplit(None, 1)[0] for line in out.splitlines()[1:] if not line.startswith(("Take", "Keep"))]
    expected = [line.rsplit(None, 1)[0] for line in str(found).splitlines()[:-1]]
    assert shown == expected  # but for the seconds
    assert out.splitlines()[-1] == found.reason
    document = run.json("compare", "a.csv", "b.csv", "--prob", "p")
    assert document["recommended"] == "a"
    assert document["candidates"][0]["value"] == compare(Y, {"a": P, "b": Q})["a"].value


def test_rows_are_matched_by_an_identifier_whatever_their_order(run):
    out, err = run.told("compare", "a.csv", "turned.parquet", "--prob", "p", "--id", "key", "--json")
    assert "note: left out 20 rows of a.csv, not in all files" in err
    kept = np.sort(ORDER)
    expected = compare(Y[kept], {"a": P[kept], "turned": Q[kept]})
    assert figures(out)["turned"]["difference"] == pytest.approx(expected["turned"].difference, rel=1e-12)


def test_models_of_other_labels_are_each_judged_by_their_own(run):
    right = Y.copy()
    right[:7] = 1 - right[:7]
    write_table("own.csv", {"key": KEY, "label": right, "p": Q})
    out, err = run.told("compare", "a.csv", "own.csv", "--prob", "p", "--id", "key", "--json")
    assert "note: own has other labels than a in 7 of 200 rows: each is judged by its own labels" in err
    found = compare({"a": Y, "own": right}, {"a": P, "own": Q})
    assert figures(out)["own"]["value"] == pytest.approx(found["own"].value)


@pytest.mark.parametrize(
    ("rows", "said"), [(np.arange(N)[::-1], "other labels (in"), (np.arange(N - 50), "another number of rows")]
)
def test_files_of_other_rows_are_independent_samples(rows, said, run):
    write_table("c.csv", {"label": Y[rows], "p": Q[rows]})
    out, err = run.told("compare", "a.csv", "c.csv", "--prob", "p", "--json")
    assert f"calibrant: note: c.csv has {said}" in err
    assert "than a.csv: they are compared as independent samples" in err
    expected = compare({"a": Y, "c": Y[rows]}, {"a": P, "c": Q[rows]}, paired=False)
    assert json.loads(out)["pairing"] == "none"
    assert figures(out)["c"]["pvalue"] == pytest.approx(expected["c"].pvalue)


def test_a_column_of_dates_is_cut_into_periods(run):
    when, weight = np.datetime64("2024-01-20") + np.arange(N) % 60, np.arange(N) % 3
    write_table("dated.csv", {"day": when.astype(str), "label": Y, "p": P, "w": weight})
    words = ("compare", "dated.csv", "--prob", "p", "--weight", "w", "--over", "day", "--every", "month")
    out = run.out(*words, "--metric", "debiased-ece")
    expected = compare(Y, P, times=when, every="month", metric="debiased-ece", sample_weight=weight)
    assert out.splitlines()[1:] == str(expected).splitlines()
    write_table("weeks.csv", {"week": np.arange(N) % 3 + 8, "label": Y, "p": P})
    assert run.json("compare", "weeks.csv", "--prob", "p", "--over", "week")["first"] == "8"


def test_groups_are_those_of_the_first_file_and_rows_of_weight_zero_do_not_count(run):
    topic, weight = np.where(RNG.random(N) < 0.5, "law", "maths"), RNG.integers(0, 3, N)
    write_table("a.csv", {"key": KEY, "label": Y, "p": P, "topic": topic, "w": weight}, force=True)
    write_table("b.csv", {"key": KEY[ORDER], "label": Y[ORDER], "p": Q[ORDER], "w": weight[ORDER]}, force=True)
    words = ("compare", "a.csv", "b.csv", "--prob", "p", "--id", "key", "--weight", "w", "--by", "topic")
    document = run.json(*words, "--metric", "ece")
    kept = np.sort(ORDER)
    forecasts = {"a": P[kept], "b": Q[kept]}
    how = {"sample_weight": weight[kept], "by": {"topic": topic[kept]}, "metric": "ece"}
    expected = compare(Y[kept], forecasts, **how)
    found = {(one["group"], one["candidate"]): one for one in document["groups"]}
    values = {names: one["estimate"]["value"] for names, one in found.items()}
    assert {(one.group, one.candidate): one.estimate.value for one in expected.groups} == pytest.approx(values)
    law = found["topic law", "a"]
    assert law["n_rows"] == weight[kept][topic[kept] == "law"].sum()


def test_groups_may_be_fractions_and_dates_of_any_file(run):
    day, heat = np.datetime64("2026-01-01") + np.arange(N) % 2, np.arange(N) % 2 * 0.7
    for name in ("a.csv", "b.parquet"):
        write_table(name, {"label": Y, "p": P, "day": day, "heat, °C": heat}, force=True)
    out, err = run.told("compare", "a.csv", "b.parquet", "--prob", "p", "--by", 'day,"heat, °C"', "--json")
    assert {one["group"] for one in json.loads(out)["groups"]} == {
        f"day 2026-01-0{k + 1}, heat, °C {heat[k]}" for k in (0, 1)
    }
    assert "note" not in err


def test_a_row_of_weight_zero_in_one_file_alone_has_two_weights(run):
    weight = np.ones(N, dtype=int)
    write_table("v.csv", {"key": KEY, "label": Y, "p": P, "w": weight})
    weight[5] = 0
    write_table("w.csv", {"key": KEY, "label": Y, "p": Q, "w": weight})
    said = "rows must have one weight in all files; got others in w.csv than in v.csv"
    run.refuses(said, "compare", "v.csv", "w.csv", "--prob", "p", "--weight", "w", "--id", "key")


def test_a_way_out_is_spelled_only_where_the_command_has_the_option(run):
    write_table("sure.csv", {"label": [0, 1] * 100, "p": [1.0, 0.5] * 100})
    for command, is_told in (("assess", True), ("compare", False)):
        code, _, err = run(command, "sure.csv", "--label", "label", "--prob", "p")
        assert (code, "With clip=0" in err, "Here: --clip 0." in err) == (0, True, is_told)
