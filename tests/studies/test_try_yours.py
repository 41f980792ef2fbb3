"""The page of a user's own table."""

import numpy as np
import pytest
from scipy import stats

from studies.arena import try_yours
from studies.arena.cells import NONE, Line, methods

RNG = np.random.default_rng(0)
P = RNG.random(400)
Y = (RNG.random(400) < P).astype(int)
SHARP = P**3 / (P**3 + (1 - P) ** 3)  # twice as extreme as it should be, in log-odds and more


def broken(y, prob, other):
    raise ZeroDivisionError


@pytest.fixture
def few(monkeypatch):
    """The forecast as it is, two calibrators, and one that fails."""
    known = methods(2, peers=False)
    chosen = {name: known[name] for name in (NONE, "temperature", "histogram-binning")} | {"broken": broken}
    monkeypatch.setattr(try_yours, "methods", lambda n_classes, peers: chosen)
    monkeypatch.setattr(try_yours, "warm_up", lambda: None)


def page_of(tmp_path, label, columns, *words):
    names = ",".join(["label", *columns])
    rows = [",".join(map(str, row)) for row in zip(label, *columns.values(), strict=True)]
    (tmp_path / "own.csv").write_text("\n".join([names, *rows]) + "\n")
    try_yours.main([str(tmp_path / "own.csv"), "--no-peers", "-o", str(tmp_path / "page.md"), *words])
    return (tmp_path / "page.md").read_text()


def cells(page):
    lines = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| `")]
    return {line[0].strip("`"): line[1:] for line in lines}


@pytest.mark.usefixtures("few")
def test_an_overconfident_forecast_is_repaired_and_what_fails_is_a_row(tmp_path):
    page = page_of(tmp_path, Y, {"p": SHARP}, "--repeats", "1")
    found = cells(page)
    first, *others, last = found
    assert (first, last, set(others)) == ("temperature", "broken", {NONE, "histogram-binning"})
    assert float(found[others[0]][0]) <= float(found[others[1]][0])
    assert "**`temperature` has the lowest log loss" in page
    assert "fitted 5 times to 320 rows, and\nscored on the other 80" in page
    assert found["broken"][0] == "failed: ZeroDivisionError"
    assert float(found["temperature"][0]) == pytest.approx(-(Y * np.log(P) + (1 - Y) * np.log(1 - P)).mean(), abs=0.03)
    assert (found["temperature"][3], found[NONE][1]) == ("0%", "")


@pytest.mark.usefixtures("few")
def test_of_a_calibrated_forecast_no_method_is_said_to_be_better(tmp_path):
    page = page_of(tmp_path, Y, {"z": np.log(P / (1 - P))}, "--repeats", "2")
    assert "These rows show of no method" in page
    assert "fitted 10 times" in page


def test_the_interval_is_of_a_t_test_with_the_variance_of_folds_that_share_rows():
    gain = np.array([-0.3, -0.1, 0.1, -0.2, 0.0])
    wider = np.sqrt(1 + 5 / 4)  # a part of the fitted rows is tested: 1/n + n_test/n_train in place of 1/n
    mean, half = gain.mean(), stats.sem(gain) * wider * stats.t.ppf(0.975, 4)
    assert try_yours.interval(gain) == pytest.approx((mean - half, mean + half))


def test_the_lowest_of_those_that_are_surely_lower_is_named():
    losses = {NONE: [0.5] * 5, "wide": [0.1, 0.6, 0.1, 0.6, 0.1], "sure": [0.45, 0.44, 0.46, 0.45, 0.45]}
    verdict, _ = try_yours.table_of(
        {name: [Line(name, one, 1, 1, 1, 1) for one in each] for name, each in losses.items()}
    )
    assert verdict.startswith(
        "`sure` has the lowest log loss of those whose interval is below 0, 0.4500; the forecast as"
    )


@pytest.mark.parametrize(
    ("label", "words"),
    [(np.where(np.arange(400) < 3, 1, 0), "each class must have 5 rows or more; got 1"), (np.full(400, 0), "got 1")],
    ids=["few", "none"],
)
def test_a_table_without_rows_of_a_class_is_refused_in_words(tmp_path, capsys, label, words):
    with pytest.raises(SystemExit) as ended:
        page_of(tmp_path, label, {"p": P})
    assert ended.value.code == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "page.md").exists()


def test_a_file_that_is_not_there_is_refused_in_words(tmp_path, capsys):
    with pytest.raises(SystemExit):
        try_yours.main([str(tmp_path / "none.csv")])
    assert "none.csv" in capsys.readouterr().err
