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


@pytest.fixture
def files(shell):
    write_table("a.csv", {"key": KEY, "label": Y, "p": P})
    write_table("b.csv", {"key": KEY, "label": Y, "p": Q})
    order = RNG.permutation(N)[: N - 20]
    write_table("turned.parquet", {"key": KEY[order], "label": Y[order], "p": Q[order]})
    return shell, order


def figures(out):
    return {one["name"]: one for one in json.loads(out)["candidates"]}


def test_it_says_what_the_function_says(files):
    run, _ = files
    code, out, err = run("compare", "a.csv", "b.csv", "--prob", "p", "--calibrators", "platt,temperature")
    assert (code, err) == (0, "a.csv: reading label 'label'\nb.csv: reading label 'label'\n")
    found = compare(Y, {"a": P, "b": Q}, calibrators=["platt", "temperature"])
    shown = [line.rsplit(None, 1)[0] for line in out.splitlines()[1:] if not line.startswith(("Take", "Keep"))]
    expected = [line.rsplit(None, 1)[0] for line in str(found).splitlines()[:-1]]
    assert shown == expected  # but for the seconds
    assert out.splitlines()[-1] == found.reason
    document = json.loads(run("compare", "a.csv", "b.csv", "--prob", "p", "--json")[1])
    assert document["recommended"] == "a"
    assert document["candidates"][0]["value"] == compare(Y, {"a": P, "b": Q})["a"].value


def test_rows_are_matched_by_an_identifier_whatever_their_order(files):
    run, order = files
    code, out, err = run("compare", "a.csv", "turned.parquet", "--prob", "p", "--id", "key", "--json")
    assert code == 0
    assert "note: left out 20 rows of a.csv, not in all files" in err
    kept = np.sort(order)
    expected = compare(Y[kept], {"a": P[kept], "turned": Q[kept]})
    assert figures(out)["turned"]["difference"] == pytest.approx(expected["turned"].difference, rel=1e-12)


def test_models_of_other_labels_are_each_judged_by_their_own(files):
    run, _ = files
    right = Y.copy()
    right[:7] = 1 - right[:7]
    write_table("own.csv", {"key": KEY, "label": right, "p": Q})
    code, out, err = run("compare", "a.csv", "own.csv", "--prob", "p", "--id", "key", "--json")
    assert code == 0
    assert "note: own has other labels than a in 7 of 200 rows: each is judged by its own labels" in err
    assert figures(out)["own"]["value"] == pytest.approx(
        compare({"a": Y, "own": right}, {"a": P, "own": Q})["own"].value
    )


@pytest.mark.parametrize(
    ("table", "words", "said"),
    [
        ({"key": KEY, "label": 1 - Y, "p": Q}, ("--calibrators", "platt"), "name the column that tells rows by --id"),
        ({"key": KEY[1:], "label": Y[1:], "p": Q[1:]}, ("--by", "key"), "name the column that tells rows by --id"),
        ({"key": KEY, "label": Y, "p": Q}, ("--over", "key"), "one forecast must be given with --over; got a, c"),
        ({"key": KEY, "label": Y, "p": Q}, ("--every", "month"), "--every"),
        ({"key": np.repeat("q1", N), "label": Y, "p": Q}, ("--id", "key"), "must name each row once; got 'q1'"),
        ({"key": np.char.add(KEY, "x"), "label": Y, "p": Q}, ("--id", "key"), "must have rows in common"),
        ({"id": KEY, "label": Y, "p": Q}, ("--id", "key"), "c.csv must have the column 'key'"),
        ({"key": KEY, "label": Y, "p": Q}, ("--calibrators", "plat"), "Did you mean 'platt'"),
        ({"key": KEY, "label": Y, "p": Q}, ("--metric", "nl"), "'nll'"),
        (
            {"key": np.where(KEY == "q007", "", KEY), "label": Y, "p": Q},
            ("--id", "key"),
            "must name each row; got 1 empty",
        ),
        ({"key": KEY, "label": Y, "p": Q}, ("--by", "key,key"), "columns of --by must have names that differ"),
        ({"key": KEY, "label": Y, "p": Q}, ("--by", "p"), "must hold class labels"),
        ({"key": KEY, "label": Y, "p": Q}, ("--names", "a,"), "each file needs a name of its own"),
        ({"key": KEY, "label": Y, "p": Q}, ("--names", "a,a"), "each file needs a name of its own"),
    ],
)
def test_what_cannot_be_matched_is_refused(table, words, said, files):
    run, _ = files
    write_table("c.csv", table)
    code, out, err = run("compare", "a.csv", "c.csv", "--prob", "p", *words)
    assert (code, out) == (2, "")
    assert said in err


@pytest.mark.parametrize(
    ("rows", "said"), [(np.arange(N)[::-1], "other labels (in"), (np.arange(N - 50), "another number of rows")]
)
def test_files_of_other_rows_are_independent_samples(rows, said, files):
    run, _ = files
    write_table("c.csv", {"label": Y[rows], "p": Q[rows]})
    code, out, err = run("compare", "a.csv", "c.csv", "--prob", "p", "--json")
    assert code == 0
    assert f"calibrant: note: c.csv has {said}" in err
    assert "than a.csv: they are compared as independent samples" in err
    expected = compare({"a": Y, "c": Y[rows]}, {"a": P, "c": Q[rows]}, paired=False)
    assert json.loads(out)["pairing"] == "none"
    assert figures(out)["c"]["pvalue"] == pytest.approx(expected["c"].pvalue)


def test_a_column_of_dates_is_cut_into_periods(files):
    run, _ = files
    when, weight = np.datetime64("2024-01-20") + np.arange(N) % 60, np.arange(N) % 3
    write_table("dated.csv", {"day": when.astype(str), "label": Y, "p": P, "w": weight})
    words = ("compare", "dated.csv", "--prob", "p", "--weight", "w", "--over", "day", "--every", "month")
    code, out, _ = run(*words, "--metric", "debiased-ece")
    assert code == 0
    expected = compare(Y, P, times=when, every="month", metric="debiased-ece", sample_weight=weight)
    assert out.splitlines()[1:] == str(expected).splitlines()
    write_table("gap.csv", {"day": np.where(np.arange(N) == 3, "", when.astype(str)), "label": Y, "p": P})
    code, _, err = run("compare", "gap.csv", "--prob", "p", "--over", "day")
    assert code == 2
    assert "day of gap.csv must have a value in each row; got 1 empty" in err


def test_groups_are_those_of_the_first_file_and_rows_of_weight_zero_do_not_count(files):
    run, order = files
    topic, weight = np.where(RNG.random(N) < 0.5, "law", "maths"), RNG.integers(0, 3, N)
    write_table("a.csv", {"key": KEY, "label": Y, "p": P, "topic": topic, "w": weight}, force=True)
    write_table("b.csv", {"key": KEY[order], "label": Y[order], "p": Q[order], "w": weight[order]}, force=True)
    words = ("compare", "a.csv", "b.csv", "--prob", "p", "--id", "key", "--weight", "w", "--by", "topic")
    code, out, _ = run(*words, "--metric", "ece", "--json")
    assert code == 0
    kept = np.sort(order)
    forecasts = {"a": P[kept], "b": Q[kept]}
    how = {"sample_weight": weight[kept], "by": {"topic": topic[kept]}, "metric": "ece"}
    expected = compare(Y[kept], forecasts, **how)
    found = {(one["group"], one["candidate"]): one for one in json.loads(out)["groups"]}
    assert {(one.group, one.candidate): one.estimate.value for one in expected.groups} == pytest.approx(
        {names: one["estimate"]["value"] for names, one in found.items()}
    )
    law = found["topic law", "a"]
    assert law["n_rows"] == weight[kept][topic[kept] == "law"].sum()


def test_a_row_of_weight_zero_in_one_file_alone_has_two_weights(files):
    run, _ = files
    weight = np.ones(N, dtype=int)
    write_table("v.csv", {"key": KEY, "label": Y, "p": P, "w": weight})
    weight[5] = 0
    write_table("w.csv", {"key": KEY, "label": Y, "p": Q, "w": weight})
    code, _, err = run("compare", "v.csv", "w.csv", "--prob", "p", "--weight", "w", "--id", "key")
    assert code == 2
    assert "rows must have one weight in all files; got others in w.csv than in v.csv" in err


def test_one_file_is_compared_with_its_calibrators(files):
    run, _ = files
    code, out, _ = run("compare", "b.csv", "--prob", "p", "--calibrators", "platt")
    assert code == 0
    assert "Take b + platt" in out
    code, out, err = run("compare", "b.csv", "--prob", "p", "--calibrators", "platt", "--folds", "1")
    assert (code, out) == (2, "")
    assert "n_folds must be a whole number, at least 2; got 1" in err


def test_files_of_other_classes_are_refused(files):
    run, _ = files
    three = RNG.dirichlet(np.ones(3), N)
    write_table("two.csv", {"label": Y, "p_0": 1 - P, "p_1": P})
    write_table("three.csv", {"label": Y, **{f"p_{k}": three[:, k] for k in range(3)}})
    code, out, err = run("compare", "two.csv", "three.csv", "--prob", "p_*")
    assert (code, out) == (2, "")
    assert "forecasts must have the same classes; got [0, 1] in two, [0, 1, 2] in three" in err


def test_a_way_out_is_spelled_only_where_the_command_has_the_option(files):
    run, _ = files
    write_table("sure.csv", {"label": [0, 1] * 100, "p": [1.0, 0.5] * 100})
    for command, is_told in (("assess", True), ("compare", False)):
        code, _, err = run(command, "sure.csv", "--label", "label", "--prob", "p")
        assert (code, "With clip=0" in err, "Here: --clip 0." in err) == (0, True, is_told)
