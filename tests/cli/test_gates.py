"""Gates can fail: NaN fails each of them, and one that no figure or no number of draws can decide is refused."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from calibrant import equivalence_test, log_loss
from calibrant._core.result import shown_pvalue
from calibrant.assessment.comparison import Compared
from calibrant.cli.commands import OF_A_CANDIDATE, draws_for, parse_gate
from calibrant.interop.tables import write_table
from calibrant.significance import by_class, kernel_test, kuiper_test, resampling_test

RNG = np.random.default_rng(0)
P = RNG.random(300)
TRUTH = (RNG.random(300) < P).astype(int)
WRONG = 1 - P
"""A forecast so wrong that no draw of labels from it has as much error."""


@pytest.fixture
def run(shell):
    write_table("good.csv", {"label": TRUTH, "p_0": 1 - P, "p_1": P})
    write_table("wrong.csv", {"label": TRUTH, "p_0": 1 - WRONG, "p_1": WRONG})

    return shell


# NaN


def failed(run, *words):
    """Return what a gate that fails prints as JSON, and what it says."""
    code, out, err = run(*words, "--json")
    assert code == 1, err
    return json.loads(out), err


ONES = {"label": np.ones(30, dtype=int), "p_0": 1 - P[:30], "p_1": P[:30]}


@pytest.mark.filterwarnings("ignore::calibrant.exceptions.CalibrationWarning")
@pytest.mark.parametrize(
    ("table", "condition"),
    [
        (ONES, "roc-auc < 0.6"),
        (ONES, "roc-auc.upper >= 0.9"),
        ({"label": [1], "p_0": [0.5], "p_1": [0.5]}, "skce.pvalue < 0.05"),
        ({"label": [0, 1] * 5, "p_0": [0.5] * 10, "p_1": [0.5] * 10}, "calibration-slope.pvalue < 0.05"),
    ],
)
def test_a_figure_that_is_nan_fails_every_gate(table, condition, run):
    write_table("few.csv", table)
    metric = condition.split()[0].partition(".")[0]
    words = "--metrics", metric, "--resamples", 29, "--fail-if", condition
    document, said = failed(run, "assess", "few.csv", *words)
    assert f"gate failed: {condition}: {metric} is NaN on these rows, and NaN fails every gate" in said
    assert document["gates"] == [{"condition": condition, "failed": True}]


@pytest.mark.filterwarnings("ignore::calibrant.exceptions.CalibrationWarning")
def test_a_test_that_is_nan_fails_the_gate_of_tests(run):
    """The kernel test of a single row: its statistic is NaN, its p-value 1."""
    write_table("few.csv", {"label": [1], "p_0": [0.2], "p_1": [0.3], "p_2": [0.5]})
    document, said = failed(run, "test", "few.csv", "--tests", "kernel", "--fail-below", 0.001)
    assert "gate failed: kernel is NaN on these rows, and NaN fails every gate" in said
    assert document["failed"] is True
    assert document["tests"]["kernel"]["least_pvalue"] is None


# Draws


@pytest.mark.parametrize(
    ("comparison", "level", "needed"), [("<", 0.001, 1000), ("<=", 0.001, 999), (">=", 0.001, 1000), (">", 0.0019, 526)]
)
def test_a_level_that_draws_cannot_reach_is_refused_with_the_number_of_draws(comparison, level, needed, run):
    """And that number is the smallest one with which the command does its work."""
    condition = f"ece.pvalue {comparison} {level}"
    holds = "can never hold" if "<" in comparison else "always holds"
    said = f"{condition!r} {holds}: the smallest p-value that 500 draws can show is 1/501."
    told = run.refuses(said, "assess", "nothing.csv", "--fail-if", condition)  # before the file is opened
    assert f"Pass --resamples {needed} or more." in told
    assert run("assess", "wrong.csv", "--fail-if", condition, "--resamples", needed - 1)[0] == 2
    assert run("assess", "wrong.csv", "--fail-if", condition, "--resamples", needed)[0] == ("<" in comparison)


def test_a_p_value_of_a_law_in_formulas_has_no_floor(run):
    words = ("--metrics", "calibration-slope", "--resamples", 9, "--fail-if", "calibration-slope.pvalue < 1e-6")
    assert run("assess", "wrong.csv", *words)[0] == 1
    run.out("assess", "good.csv", *words)


@pytest.mark.parametrize("level", [1e-300, 5e-324, 0.001, 1 / 3, 0.01, 0.07, 0.049999999])
@pytest.mark.parametrize("times", [1, 6, 7])
def test_the_number_of_draws_is_the_smallest(level, times):
    for strictly in (True, False):
        draws = draws_for(level, strictly=strictly, times=times)
        assert not times / draws < level
        if level > 1e-9:
            least = times * (1 / (draws + 1))
            assert least < level if strictly else least <= level


# Tests together, by Holm's method


def test_the_gate_of_tests_knows_what_their_draws_can_show(run):
    words = ["test", "wrong.csv", "--tests", "cox,hosmer-lemeshow,kuiper", "--fail-below", 0.01, "--resamples"]
    said = "of 3 tests, by Holm's method, that 299 draws can show is 3/300 = 0.01 (hosmer-lemeshow)"
    told = run.refuses(said, *words, 299)
    assert "Pass --resamples 300 or more, or name tests with a law in formulas by --tests." in told
    assert run(*words, 300)[0] == 1
    words[3] = "cox,kuiper"  # both have a law in formulas
    assert run(*words, 1)[0] == 1


def test_the_seed_and_the_number_of_draws_of_tests_are_as_asked(run):
    found = resampling_test(TRUTH, np.column_stack([1 - P, P]), n_resamples=19, rng=7)
    document = run.json("test", "good.csv", "--tests", "resampling", "--resamples", 19, "--seed", 7)
    drawn = document["tests"]["resampling"]
    assert (drawn["pvalue"], drawn["least_pvalue"]) == (found.pvalue, 1 / 20)


# How p-values are printed


@pytest.mark.parametrize(
    ("pvalue", "least", "shown"),
    [
        (1 / 501, 1 / 501, "<= 0.002"),
        (1 / 1001, 1 / 1001, "<= 0.001"),
        (1 / 300, 1 / 300, "<= 0.0034"),  # rounded up: a bound that is too low would be wrong
        (2 / 501, 1 / 501, "0.0040"),
        (1 / 501, None, "0.0020"),
        (0.001, None, "<= 0.001"),
        (0.0, 1 / 501, "<= 0.001"),
        (2 / 10_001, 1 / 10_001, "<= 0.001"),
        (float("nan"), 1 / 501, "nan"),
    ],
)
def test_a_p_value_at_its_floor_or_below_a_thousandth_is_printed_as_a_bound(pvalue, least, shown):
    assert shown_pvalue(pvalue, least, ".4f") == shown
    sign = "" if shown.startswith("<") else "= "
    assert shown_pvalue(pvalue, least, ".4f", name="p") == f"p {sign}{shown}"


def test_every_place_prints_the_bound(run):
    lines = run.out("assess", "wrong.csv", "--metrics", "ece,calibration-slope").splitlines()
    ece, slope = (line for line in lines if line.startswith(("ECE", "slope")))
    assert ece.endswith("<= 0.002")
    assert slope.endswith("<= 0.001")
    run.out("report", "wrong.csv", "-o", "page.html", "--metrics", "ece")
    page = Path("page.html").read_text(encoding="utf-8")
    assert ">p-value &lt;= 0.002<" in page
    assert "(p &lt;= 0.002, from 500 draws of labels from the forecast itself)" in page
    drawn, law = run.out("test", "wrong.csv", "--tests", "resampling,kuiper", "--resamples", 500).splitlines()[2:]
    assert drawn.split()[2:6] == ["<=", "0.002", "<=", "0.002"]  # the second of two by Holm's method
    assert law.split()[2:6] == ["<=", "0.001", "<=", "0.001"]


def test_results_of_tests_print_the_bound():
    found = resampling_test(TRUTH, WRONG, n_resamples=99)
    assert repr(found).endswith("pvalue<=0.01)")
    both = resampling_test(TRUTH, WRONG, metric="calibration-slope", n_resamples=99)  # two tails
    assert (both.alternative, both.least_pvalue) == ("two-sided", 0.02)
    assert kuiper_test(TRUTH, WRONG).least_pvalue is None
    assert "pvalue<=0.01" in repr(equivalence_test(TRUTH, P, bound=0.5, n_resamples=99))
    classes = np.column_stack([WRONG / 2, WRONG / 2, 1 - WRONG])
    three = by_class(lambda y, p, **o: kernel_test(y, p, n_resamples=99, **o), TRUTH * 2, classes, labels=[0, 1, 2])
    assert repr(three).endswith("smallest adjusted p-value <= 0.03)")
    (legend,) = [t.get_text() for t in found.plot().get_legend().get_texts() if "beyond" in t.get_text()]
    assert legend == "beyond it: p <= 0.01"


# Of candidates that are compared, and of recent rows


def later_worse():
    """Two forecasts of a file, of which the second is wrong from October on; of the first row all three are missing."""
    late, old = np.arange(300) >= 200, np.clip(P, 0.02, 0.98)
    new = np.where(late, 1 - old, old)
    day, site = np.where(late, "2026-10-05", "2026-09-05 08:30"), np.where(late, 2.0, 1.0)
    day[0], site[0], known = "", np.nan, late.astype(str)
    known[0] = ""
    for name, prob in (("old", old), ("new", new)):
        write_table(
            f"{name}.csv", {"day": day, "site": site, "late": known, "id": 2**60 + late, "label": TRUTH, "p": prob}
        )
    return late, old, new


FAILING, HOLDING = ["nll.lower > 0", "nll.difference > 0", "nll > 0.5"], ["nll.upper < 0", "nll.difference > 30"]


@pytest.mark.parametrize("condition", FAILING + HOLDING)
def test_a_gate_of_compare_is_about_the_candidates_after_the_first(condition, run):
    later_worse()
    fails = condition in FAILING
    code, out, err = run("compare", "old.csv", "new.csv", "--prob", "p", "--fail-if", condition, "--json")
    assert code == fails
    assert json.loads(out)["gates"] == [{"condition": condition, "failed": fails}]
    assert (f"gate failed: {condition}: new" in err) == fails
    run.out("compare", "new.csv", "new.csv", "--names", "a,b", "--prob", "p", "--fail-if", "nll.lower > 0")


def test_candidates_that_fail_a_gate_are_all_named_and_those_without_a_figure_fail_every_gate():
    gate = parse_gate("nll > 30", 0, OF_A_CANDIDATE)
    said = gate.fails_for([Compared("a", 31.0), Compared("a + platt", np.nan, failure="no rows")])
    assert said == "nll > 30: nll of a + platt is NaN, and NaN fails every gate"
    assert gate.fails_for([Compared("a", 31.0), Compared("b", 29.0), Compared("c", 32.0)]) == "nll > 30: a, c"


@pytest.mark.parametrize(
    "condition",
    [
        "day >= 2026-09-05T09:00",
        "site = 2",
        f"id = {2**60 + 1}",
        "day > 2026-09-05",
        "day != 2026-09",
        "site != 1",
        "late != false",
        "day >= 2026-10-05 00:00",
        "day != 2026-09-05 8:30",
    ],
)
def test_where_keeps_the_rows_for_which_a_condition_holds(condition, run):
    late, _, new = later_worse()
    both = "--where", condition, "--where", "p != ''"
    out, err = run.told("assess", "new.csv", "--prob", "p", "--metrics", "nll", *both, "--json")
    assert f"new.csv: 100 of 300 rows have {condition}" in err
    assert json.loads(out)["metrics"]["nll"]["value"] == pytest.approx(log_loss(TRUTH[late], new[late]))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_advice_for_a_number_that_is_none_leaves_its_row_out(suffix, run):
    prob = np.append(np.nan, P[1:])
    columns = {"label": TRUTH, "p": prob.astype("U22") if suffix == "csv" else prob, "p_w": np.arange(TRUTH.size) + 1}
    write_table(f"gap.{suffix}", columns)
    asked = "assess", f"gap.{suffix}", "--weight", "p_w", "--prob", "p", "--metrics", "nll"
    (advice,) = re.findall('Here: --where "COLUMN (.+)", of one file', run(*asked)[2])
    found = json.loads(run.told(*asked, "--where", f"p {advice}", "--json")[0])["metrics"]["nll"]["value"]
    assert found == pytest.approx(log_loss(TRUTH[1:], P[1:], sample_weight=columns["p_w"][1:]))
