"""`calibrant decide --target-risk`: the threshold of `risk_threshold`, and rows below it that abstain."""

import re

import numpy as np
import pytest

from calibrant.decisions import risk_threshold
from calibrant.interop.tables import read_table, write_table

RNG = np.random.default_rng(0)
P = RNG.dirichlet([0.2, 0.2, 0.2], 800)
Y = (P.cumsum(axis=1) < RNG.random((800, 1))).sum(axis=1).clip(max=2)


@pytest.fixture
def run(shell):
    write_table("f.csv", {"label": Y, **{f"p_{k}": P[:, k] for k in range(3)}})
    return shell


def test_it_prints_the_threshold_and_writes_who_abstains(run):
    out = run.out("decide", "f.csv", "--target-risk", 0.1, "-o", "out.csv")
    found = risk_threshold(Y, P, risk=0.1)
    assert out.splitlines()[0] == str(found)
    decided = read_table("out.csv")["decision"]
    answers = P.max(axis=1) >= found.threshold
    assert (decided == np.where(answers, P.argmax(axis=1).astype(str), "abstain")).all()
    assert 0 < answers.sum() < 800


def test_a_confidence_of_just_the_threshold_answers_though_its_decimals_are_rounded(shell):
    """0.05 + 0.05 is more than 1 - 0.9; 400 right answers at 0.9, and as many wrong ones below."""
    table = np.repeat([[0.9, 0.05, 0.05], [0.8999, 0.05, 0.0501]], 400, axis=0)
    write_table("g.csv", {"label": np.repeat([0, 1], 400), **{f"p_{k}": table[:, k] for k in range(3)}})
    out = shell.out("decide", "g.csv", "--classes", "0,1,2", "--target-risk", 0.1, "-o", "out.csv")
    assert out.startswith("Answer from a confidence of ")
    assert read_table("out.csv")["decision"].tolist() == ["0"] * 400 + ["abstain"] * 400


def test_where_no_threshold_keeps_it_all_abstain(run):
    certain = np.vstack([np.eye(3)[[0, 1, 2]], P[3:]])
    write_table("f.csv", {"label": Y, **{f"p_{k}": certain[:, k] for k in range(3)}}, force=True)
    out = run.out("decide", "f.csv", "--target-risk", 1e-4, "-o", "out.csv")
    rate = re.search(r": answer nothing; the lowest rate that these rows can show is (0\.\d+)\.\n", out)[1]
    assert run.out("decide", "f.csv", "--target-risk", rate).startswith("Answer from a confidence of ")
    assert set(read_table("out.csv")["decision"]) == {"abstain"}


@pytest.mark.parametrize("cells", ["{:.2f}", "{:.0%}"])
@pytest.mark.parametrize("risk", [0.1, 0.3, 1e-4])
def test_stated_confidences_below_the_threshold_abstain_and_the_rest_has_the_errors_printed(cells, risk, shell):
    """A confidence of 0 % is no sure answer "False": it is a wrong answer, as the model itself says."""
    rng = np.random.default_rng(1)
    stated = np.round(20 * rng.beta(0.8, 0.6, 3000)) / 20
    right = rng.random(3000) < stated
    text = "".join(f"{'C' if c else 'I'},{cells.format(p)}\n" for c, p in zip(right, stated, strict=True))
    with open("a.csv", "w") as file:
        file.write("right,stated\n" + text)
    words = ["--correct", "right", "--confidence", "stated"]
    out = shell.out("decide", "a.csv", *words, "--target-risk", risk, "-o", "out.csv")
    found = risk_threshold(right, stated, risk=risk, notion="binary")
    assert out.splitlines() == [str(found), "wrote out.csv: 3000 rows, decision and expected_cost"]
    decided = read_table("out.csv")["decision"]
    kept = decided != "abstain"
    assert set(decided[kept]) <= {"answer"}
    assert (stated == 0).sum() > 50
    assert not kept[stated == 0].any()
    assert (risk < 0.01) == (not kept.any())
    if kept.any():
        assert f"{kept.mean():.1%} of the rows, of which {(~right)[kept].mean():.2%} are errors" in out
        assert read_table("out.csv")["expected_cost"][kept] == pytest.approx(1 - stated[kept])
