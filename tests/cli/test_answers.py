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


@pytest.fixture
def standard_input(monkeypatch):
    """Let bytes, or nothing at all, come by standard input."""

    def given(data):
        inputs._of_standard_input.cache_clear()
        monkeypatch.setattr(sys, "stdin", data if data is None else io.TextIOWrapper(io.BytesIO(data)))

    yield given
    inputs._of_standard_input.cache_clear()


WORDS = [
    ("true", "false"),
    ("True", "False"),
    ("1", "0"),
    ("1.0", "0.0"),
    ("yes", "no"),
    ("C", "I"),
    ("correct", "incorrect"),
]


@pytest.mark.parametrize("words", WORDS, ids=[one for one, _ in WORDS])
@pytest.mark.parametrize(
    "stated", ["{p:.2f}", "{q:.0f}", "{q:.0f}%", " {q:.0f} % "], ids=["share", "percent", "sign", "blanks"]
)
def test_spellings_of_answers_give_the_same_figures(words, stated, shell):
    cells = [stated.format(p=p, q=100 * p) for p in P]
    lines = [f"{words[not right]},{cell}" for right, cell in zip(Y, cells, strict=True)]
    with open("a.csv", "w") as file:
        file.write("\n".join(["right,stated", *lines]))
    code, out, err = shell("assess", "a.csv", "--correct", "right", "--confidence", "stated", "--json")
    assert code == 0, err
    assert ("'stated' in percent" in err) == ("q" in stated)
    write_table("plain.csv", {"label": Y, "p": P})
    assert json.loads(out)["metrics"] == json.loads(shell("assess", "plain.csv", "--json")[1])["metrics"]


@pytest.mark.parametrize(
    ("table", "words", "says"),
    [
        ({"r": ["C", "P"], "s": [0.5, 0.5]}, [], "'P' in row 1. Leave out what is neither"),
        ({"r": ["C", ""], "s": [0.5, 0.5]}, [], "'' in row 1"),
        ({"r": ["C", "I"], "s": [1, 5]}, [], "none above 5. If they are percent, say --percent"),
        ({"r": ["C", "I"], "s": [50, 150]}, [], "'150' in row 1. Correct it, or leave it out"),
        ({"r": ["C", "I"], "s": [-1, 50]}, [], "'-1' in row 0"),
        (
            {"r": ["C", "I", "I"], "s": [0.9, 95, 1]},
            [],
            "'0.9' in row 0. Write all of them in one way, or say --percent",
        ),
        ({"r": ["C", "I"], "s": ["90%", "0.9"]}, [], "'90%' in row 0, '0.9' in row 1. Write all of them in one way"),
        ({"r": ["C", "I"], "s": ["90%", "0.9"]}, ["--percent"], "'90%' in row 0, '0.9' in row 1"),
        ({"r": ["C", "I"], "s": ["50%", "unsure"]}, [], "'unsure' in row 1. Leave out answers without a confidence"),
        ({"r": ["C", "I"], "s": [0.5, 0.5]}, ["--label", "r"], "--label must be left out beside --correct"),
        ({"r": ["C", "I"], "s": [0.5, 0.5]}, ["--prob", "s"], "--prob must be left out beside --confidence"),
    ],
)
def test_what_is_no_answer_is_refused(table, words, says, shell):
    write_table("a.csv", {name: np.array(column) for name, column in table.items()})
    code, _, err = shell("assess", "a.csv", "--correct", "r", "--confidence", "s", *words)
    assert code == 2
    assert says in err


def test_the_confidence_must_stand_beside_whether_it_was_right(shell):
    write_table("a.csv", {"r": Y, "s": P})
    code, _, err = shell("assess", "a.csv", "--correct", "r")
    assert code == 2
    assert "--confidence must stand beside --correct" in err
    assert shell("assess", "a.csv", "a.csv", "--correct", "r", "--confidence", "s")[0] == 2


def test_percent_that_is_said_is_not_divided_twice(shell):
    write_table("a.csv", {"r": Y, "s": 100 * P})
    words = "assess", "a.csv", "--correct", "r", "--confidence", "s", "--json"
    assert json.loads(shell(*words)[1])["metrics"] == json.loads(shell(*words, "--percent")[1])["metrics"]


def test_calibrated_answers_are_written_as_probabilities(shell):
    write_table("a.csv", {"r": Y, "s": 100 * P})
    words = "--correct", "r", "--confidence", "s"
    assert shell("fit", "a.csv", *words, "-o", "c.json", "--method", "platt")[0] == 0
    assert shell("apply", "c.json", "a.csv", "--confidence", "s", "-o", "out.csv")[0] == 0
    found = read_table("out.csv")["s"]
    assert found.max() <= 1.0
    assert (np.diff(found[np.argsort(P)]) >= 0).all()


def test_models_of_one_file_are_compared(shell):
    other = P**2
    order = RNG.permutation(2 * N)
    rows = {
        "id": np.tile(np.arange(N), 2),
        "model": np.repeat(["a", "b"], N),
        "topic": np.tile(np.where(np.arange(N) % 2, "law", "maths"), 2),
        "right": np.tile(Y, 2),
        "stated": np.concatenate([P, other]),
    }
    with open("long.jsonl", "w") as file:
        for k in order:
            file.write(json.dumps({name: column[k].item() for name, column in rows.items()}) + "\n")
    words = "--model", "model", "--id", "id", "--correct", "right", "--confidence", "stated"
    code, out, err = shell("compare", "long.jsonl", *words, "--by", "topic", "--metric", "brier,roc-auc", "--json")
    assert code == 0, err
    found = {one["name"]: one for one in json.loads(out)["candidates"]}
    expected = compare(Y, {"a": P, "b": other}, metric="brier")
    assert found["b"]["value"] == pytest.approx(expected["b"].value, rel=1e-12)
    of_all = [one for one in json.loads(out)["groups"] if not one["group"]]
    assert {(one["candidate"], one["metric"]) for one in of_all} == {(m, f) for m in "ab" for f in ("brier", "roc-auc")}
    values = {(one["candidate"], one["metric"]): one["estimate"]["value"] for one in of_all}
    assert values["a", "roc-auc"] == pytest.approx(assess(Y, P, metrics=["roc-auc"])["roc-auc"].value, rel=1e-12)
    shown = shell("compare", "long.jsonl", *words)[1]
    assert "a: " in shown
    for wrong, says in ((["--names", "x"], "--names must be left out"), (["--model", "id"], "there may be 100 models")):
        code, _, err = shell("compare", "long.jsonl", *words, *wrong)
        assert (code, says in err) == (2, True), err


def test_columns_of_one_file_are_forecasts_of_the_same_rows(shell):
    with open("beside.csv", "w") as file:
        file.write(
            "y,old,new\n" + "\n".join(f"{y},{p**2!r},{p!r}" for y, p in zip(Y.tolist(), P.tolist(), strict=True))
        )
    code, out, err = shell("compare", "beside.csv", "--forecasts", "old,new", "--label", "y", "--json")
    assert code == 0, err
    found = {one["name"]: one["value"] for one in json.loads(out)["candidates"]}
    expected = compare(Y, {"old": P**2, "new": P})
    assert found == {name: pytest.approx(expected[name].value, rel=1e-12) for name in ("old", "new")}
    for words, says in (
        (["--forecasts", "old,old"], "several columns, each once"),
        (["--forecasts", "old"], "several columns, each once"),
        (["--forecasts", "old,none"], "'none'"),
        (["--forecasts", "old,new", "--prob", "old"], "--prob must be left out"),
        (["beside.csv", "--forecasts", "old,new"], "got 2 files"),
    ):
        code, _, err = shell("compare", "beside.csv", *words)
        assert (code, says in err) == (2, True), err


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".json"])
def test_standard_input_is_a_table_of_csv_or_json(ending, shell, standard_input):
    if ending in (".json", ".jsonl"):
        records = [{"label": int(y), "p": p} for y, p in zip(Y, P, strict=True)]
        texts = {".json": json.dumps(records), ".jsonl": "\n".join(map(json.dumps, records))}
        with open(f"t{ending}", "w") as file:
            file.write(texts[ending])
    else:
        write_table(f"t{ending}", {"label": Y.astype(int), "p": P})
    data = Path(f"t{ending}").read_bytes()
    if ending == ".jsonl":
        data = b"\xef\xbb\xbf" + data
    expected = json.loads(shell("assess", f"t{ending}", "--json")[1])
    standard_input(data)
    code, out, err = shell("assess", "-", "--json")
    assert code == 0, err
    assert "standard input: reading" in err
    assert json.loads(out)["metrics"] == expected["metrics"]


def test_verdicts_and_groups_are_of_the_rows_that_are_compared(shell):
    ids = np.concatenate([np.arange(N), np.arange(2 * N)])
    model = np.repeat(["a", "b"], [N, 2 * N])
    right = np.concatenate([Y, Y, np.zeros(N, dtype=bool)])
    stated = np.concatenate([P, P, np.full(N, 0.95)])
    topic = np.concatenate([np.where(np.arange(N) % 2, "law", "maths"), np.full(2 * N, "law")])
    write_table("long.csv", {"id": ids, "model": model, "right": right, "stated": stated, "topic": topic})
    words = "--model", "model", "--id", "id", "--correct", "right", "--confidence", "stated", "--by", "topic"
    code, out, err = shell("compare", "long.csv", *words)
    assert code == 0, err
    lines = [line.removeprefix("a: ").removeprefix("b: ") for line in out.splitlines() if line[:3] in ("a: ", "b: ")]
    assert lines == [lines[0]] * 2
    assert lines[0] == " ".join(assess(Y, P, n_resamples=1000).verdict.sentences)
    assert f"b has another topic than a in {N // 2} of {N} rows: the groups are those of a" in err
    assert "left out 120 rows of the rows of b" in err


def test_words_of_parquet_may_have_a_percent_sign(shell):
    write_table("a.parquet", {"r": np.where(Y, "C", "I"), "s": np.array([f"{100 * p:.0f}%" for p in P])})
    code, out, err = shell("assess", "a.parquet", "--correct", "r", "--confidence", "s", "--json")
    assert code == 0, err
    write_table("plain.csv", {"label": Y, "p": P})
    assert json.loads(out)["metrics"] == json.loads(shell("assess", "plain.csv", "--json")[1])["metrics"]


def test_what_is_only_read_is_copied_as_it_stands(shell):
    write_table("a.csv", {"r": np.where(Y, "C", "I"), "s": np.array([f"{100 * p:.0f}%" for p in P])})
    assert shell("decide", "a.csv", "--correct", "r", "--confidence", "s", "-o", "out.csv")[0] == 0
    written, given = read_table("out.csv").columns, read_table("a.csv").columns
    assert written["r"].cells() == given["r"].cells()
    assert written["s"].cells() == given["s"].cells()


def test_no_standard_input_is_refused(shell, standard_input):
    standard_input(None)
    code, _, err = shell("assess", "-")
    assert code == 2
    assert "- must be a table that comes by standard input; got none. Write: calibrant COMMAND - < FILE." in err


@pytest.mark.parametrize("data", [b"", b'[{"label": 1, "p": ', b"\xff\xfe\x00"])
def test_a_broken_table_of_standard_input_is_called_so(data, shell, standard_input):
    standard_input(data)
    code, _, err = shell("assess", "-")
    assert (code, err.startswith("calibrant: error: standard input must ")) == (2, True), err


@pytest.mark.parametrize("document", ["samples", "columns"])
def test_a_json_document_on_one_line_comes_by_standard_input(document, shell, standard_input):
    labels, stated = Y.astype(int).tolist(), P.tolist()
    samples = [{"label": y, "p": p} for y, p in zip(labels, stated, strict=True)]
    text = json.dumps({"samples": samples} if document == "samples" else {"label": labels, "p": stated})
    standard_input(text.encode())
    code, out, err = shell("assess", "-", "--json")
    assert code == 0, err
    write_table("plain.csv", {"label": Y.astype(int), "p": P})
    assert json.loads(out)["metrics"] == json.loads(shell("assess", "plain.csv", "--json")[1])["metrics"]
    for words in (["-", "--sample", "20"], ["-", "plain.csv"]):
        code, _, err = shell("assess", *words)
        assert (code, "standard input must be read whole, and alone" in err) == (2, True), err


def test_comparing_models_by_another_metric_warns_of_no_log_loss(shell):
    """The sentences that are said of each model count answers that were sure and wrong; nobody asked for a log loss."""
    write_table("a.csv", {"right": [False, *Y], "a": [1.0, *P], "b": [0.9, *P]})
    words = ["--correct", "right", "--confidence", "a", "--metric", "brier", "--resamples", 20]
    lines = Path("a.csv").read_text().splitlines()
    Path("b.csv").write_text("\n".join([lines[0].replace("a", "c").replace("b", "a"), *lines[1:]]))
    code, out, err = shell("compare", "a.csv", "b.csv", *words)
    assert (code, err) == (0, "")
    assert out.splitlines()[-2].startswith("a: ")


@pytest.mark.parametrize("page", ["faq.md", "reliability.md"])
def test_a_page_that_says_what_is_guessed_names_the_percent_of_a_confidence(page):
    text = (Path(__file__).parents[2] / "docs" / page).read_text("utf-8")
    assert "guesses nothing" not in text
    assert "never guessed" not in text
    assert any("`--confidence`" in line and "percent" in line for line in text.splitlines())
