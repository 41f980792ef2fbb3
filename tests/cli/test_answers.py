"""Answers of language models: whether they were correct, the stated confidence, several models in one file, and pipes."""

import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from calibrant import assess, compare
from calibrant.cli import inputs
from calibrant.interop.tables import read_table, write_table

RNG = np.random.default_rng(0)
N = 120
P = np.round(20 * RNG.uniform(0.1, 0.95, N)) / 20
Y = RNG.random(N) < P**1.4


ANSWERS = ("--correct", "right", "--confidence", "stated")


@pytest.fixture
def plain(shell):
    """The figures of the same answers as labels and probabilities."""
    write_table("plain.csv", {"label": Y.astype(int), "p": P})
    return shell.json("assess", "plain.csv")["metrics"]


def percent(share):
    return np.array([f"{100 * p:.0f}%" for p in share])


@pytest.fixture
def standard_input(monkeypatch):
    """Let bytes, or nothing at all, come by standard input."""

    def given(data):
        inputs._of_standard_input.cache_clear()
        monkeypatch.setattr(sys, "stdin", data if data is None else io.TextIOWrapper(io.BytesIO(data)))

    yield given
    inputs._of_standard_input.cache_clear()


@pytest.mark.parametrize("words", ["true false", "True False", "1 0", "1.0 0.0", "yes no", "C I", "correct incorrect"])
@pytest.mark.parametrize("stated", ["{p:.2f}", "{q:.0f}", "{q:.0f}%", " {q:.0f} % "])
def test_spellings_of_answers_give_the_same_figures(words, stated, shell, plain):
    lines = [f"{words.split()[not right]},{stated.format(p=p, q=100 * p)}" for right, p in zip(Y, P, strict=True)]
    Path("a.csv").write_text("\n".join(["right,stated", *lines]))
    out, err = shell.told("assess", "a.csv", *ANSWERS, "--json")
    assert ("'stated' in percent" in err) == ("q" in stated)
    assert json.loads(out)["metrics"] == plain


def test_percent_that_is_said_is_not_divided_twice_and_calibrated_answers_are_written_as_probabilities(shell):
    write_table("a.csv", {"right": Y, "stated": 100 * P})
    words = "assess", "a.csv", *ANSWERS
    assert shell.json(*words)["metrics"] == shell.json(*words, "--percent")["metrics"]
    shell.out("fit", "a.csv", *ANSWERS, "-o", "c.json", "--method", "platt")
    shell.out("apply", "c.json", "a.csv", "--confidence", "stated", "-o", "out.csv")
    found = read_table("out.csv")["stated"]
    assert found.max() <= 1.0
    assert (np.diff(found[np.argsort(P)]) >= 0).all()


def test_models_of_one_file_are_compared(shell):
    other = P**2
    rows = {
        "id": np.tile(np.arange(N), 2),
        "model": np.repeat(["a", "b"], N),
        "topic": np.tile(np.where(np.arange(N) % 2, "law", "maths"), 2),
        "right": np.tile(Y, 2),
        "stated": np.concatenate([P, other]),
    }
    records = [{name: column[k].item() for name, column in rows.items()} for k in RNG.permutation(2 * N)]
    Path("long.jsonl").write_text("\n".join(map(json.dumps, records)))
    words = "compare", "long.jsonl", "--model", "model", "--id", "id", *ANSWERS
    found = shell.json(*words, "--by", "topic", "--metric", "brier,roc-auc")
    expected = compare(Y, {"a": P, "b": other}, metric="brier")
    values = {one["name"]: one["value"] for one in found["candidates"]}
    assert values == {name: pytest.approx(expected[name].value, rel=1e-12) for name in "ab"}
    of_all = {(one["candidate"], one["metric"]): one["estimate"] for one in found["groups"] if not one["group"]}
    assert of_all.keys() == {(model, metric) for model in "ab" for metric in ("brier", "roc-auc")}
    auc = assess(Y, P, metrics=["roc-auc"])["roc-auc"].value
    assert of_all["a", "roc-auc"]["value"] == pytest.approx(auc, rel=1e-12)
    shell.refuses("there may be 100 models", *words, "--model", "id")


def test_columns_of_one_file_are_forecasts_of_the_same_rows(shell):
    write_table("beside.csv", {"y": Y.astype(int), "old, 8b": P**2, "new": P})
    document = shell.json("compare", "beside.csv", "--forecasts", '"old, 8b",new', "--label", "y")
    expected = compare(Y, {"old, 8b": P**2, "new": P})
    found = {one["name"]: one["value"] for one in document["candidates"]}
    assert found == {name: pytest.approx(expected[name].value, rel=1e-12) for name in ("old, 8b", "new")}


RECORDS = [{"label": int(y), "p": p} for y, p in zip(Y, P, strict=True)]
DOCUMENTS = {
    "csv": "\n".join(["label,p", *(f"{row['label']},{row['p']}" for row in RECORDS)]),
    "json": json.dumps(RECORDS),
    "json lines": "\ufeff" + "\n".join(map(json.dumps, RECORDS)),
    "samples": json.dumps({"samples": RECORDS}),
    "columns": json.dumps({"label": Y.astype(int).tolist(), "p": P.tolist()}),
}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_standard_input_is_a_table_of_csv_or_json(document, shell, plain, standard_input):
    standard_input(DOCUMENTS[document].encode())
    out, err = shell.told("assess", "-", "--json")
    assert "standard input: reading" in err
    assert json.loads(out)["metrics"] == plain
    for words in (["--sample", "20"], ["plain.csv"]):
        shell.refuses("standard input must be read whole, and alone", "assess", "-", *words)
    standard_input(b"label,p\n" + 100 * b"1,.9\n0,.9\n")
    assert "\ncalibrant fit - --method" in shell.out("advise", "-")


def test_verdicts_and_groups_are_of_the_rows_that_are_compared(shell):
    ids = np.concatenate([np.arange(N), np.arange(2 * N)])
    model = np.repeat(["a", "b"], [N, 2 * N])
    right = np.concatenate([Y, Y, np.zeros(N, dtype=bool)])
    stated = np.concatenate([P, P, np.full(N, 0.95)])
    topic = np.concatenate([np.where(np.arange(N) % 2, "law", "maths"), np.full(2 * N, "law")])
    write_table("long.csv", {"id": ids, "model": model, "right": right, "stated": stated, "topic": topic})
    out, err = shell.told("compare", "long.csv", "--model", "model", "--id", "id", *ANSWERS, "--by", "topic")
    said = " ".join(assess(Y, P, n_resamples=1000).verdict.sentences)
    assert [line for line in out.splitlines() if line[:3] in ("a: ", "b: ")] == [f"a: {said}", f"b: {said}"]
    assert f"b has another topic than a in {N // 2} of {N} rows: the groups are those of a" in err
    assert "left out 120 rows of model b" in err
    _, err = shell.told("compare", "long.csv", "--model", "model", *ANSWERS)
    assert "note: model b has another number of rows than model a: they are compared as independent samples" in err


def test_words_of_parquet_may_have_a_percent_sign(shell, plain):
    write_table("a.parquet", {"right": np.where(Y, "C", "I"), "stated": percent(P)})
    assert shell.json("assess", "a.parquet", *ANSWERS)["metrics"] == plain


def test_what_is_only_read_is_copied_as_it_stands_and_decisions_are_named_as_in_the_table(shell):
    write_table("a.csv", {"right": np.where(Y, "C", "I"), "stated": percent(P)})
    shell.out("decide", "a.csv", *ANSWERS, "-o", "out.csv")
    written, given = read_table("out.csv").columns, read_table("a.csv").columns
    assert all(written[name].cells() == given[name].cells() for name in ("right", "stated"))
    assert set(written["decision"].cells()) == {"False", "True"}


NONE = "- must be a table that comes by standard input; got none. Write: calibrant COMMAND - < FILE."


@pytest.mark.parametrize(
    ("data", "said"),
    [(None, NONE), *((broken, "standard input must ") for broken in (b"", b'[{"label": 1, "p": ', b"\xff\xfe\x00"))],
)
def test_no_table_of_standard_input_is_called_so(data, said, shell, standard_input):
    standard_input(data)
    assert shell.refuses(said, "assess", "-").startswith(said)


def test_comparing_models_by_another_metric_warns_of_no_log_loss(shell):
    """The sentences that are said of each model count answers that were sure and wrong; nobody asked for a log loss."""
    for name, first in (("a", 1.0), ("b", 0.9)):
        write_table(f"{name}.csv", {"right": [False, *Y], "stated": [first, *P]})
    code, out, err = shell("compare", "a.csv", "b.csv", *ANSWERS, "--metric", "brier", "--resamples", 20)
    assert (code, err) == (0, "")
    assert out.splitlines()[-2].startswith("a: ")
