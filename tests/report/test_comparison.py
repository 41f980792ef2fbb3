"""Forecasts beside one another: the headline, and differences, paired where the rows are the same, else of samples."""

import json
import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest
from scipy.special import expit
from strategies import dirichlet_rows, uniform_rows

from calibrant import CalibratorSelector, PlattScaling, assess, compare, reliability_curve
from calibrant.assessment.comparison import Compared, Comparison
from calibrant.cli import main
from calibrant.exceptions import CalibrationWarning
from calibrant.interop.tables import write_table
from calibrant.metrics.estimate import Estimate
from calibrant.report.page import render, summarise
from calibrant.report.sentences import COMPARED, NOUNS, comparison, headline
from calibrant.significance.result import shown_pvalue

pytestmark = pytest.mark.usefixtures("few_draws")


class Broken(PlattScaling):
    def fit(self, *rows, **options):
        raise ValueError("broken")


def forecasts(n=1500, seed=0):
    """Labels, a calibrated forecast and one that is a little over-confident."""
    rng = np.random.default_rng(seed)
    z = rng.normal(0, 1.5, n)
    return rng.random(n) < expit(z), expit(z), expit(1.6 * z)


@pytest.fixture(scope="module")
def both():
    y, right, bold = forecasts()
    return {"bold": assess(y, bold, n_resamples=99), "right": assess(y, right, n_resamples=99)}


def by_each(y, forecasts, n_resamples=100):
    """What `compare` says by each metric of a report, by as many draws as the fixture ``few_draws`` leaves."""
    return [compare(y, forecasts, metric=metric, n_resamples=n_resamples) for metric in COMPARED]


def printed(one, of):
    """A difference as the page has it."""
    p = shown_pvalue(one.adjusted, one.least_pvalue if one.pvalue <= one.least_pvalue else None, ".3g", name="p")
    return f"(difference{of} {one.difference:+.4f}, 95 % interval [{one.lower:+.4f}, {one.upper:+.4f}], {p})"


@pytest.fixture(scope="module")
def found():
    y, right, bold = forecasts()
    return by_each(y.astype(int), {"bold": bold, "right": right})


def test_the_page_has_the_differences_of_compare(both, found):
    (sentence,) = summarise(both, differences=found)["comparison"]
    assert sentence.startswith("From “bold” to “right”, on the same 1500 rows: log loss goes from ")
    for one in found:
        assert printed(one["right"], "") in sentence
    assert summarise(found[0])["comparison"] == [sentence]  # the page of one comparison has all three as well
    assert sentence in unescape(render(found[2]))


def test_the_command_has_the_differences_of_compare(found, tmp_path, monkeypatch, capsys):
    y, right, bold = forecasts()
    monkeypatch.chdir(tmp_path)
    for name, prob, rows in (("bold", bold, 1500), ("right", right, 1500), ("few", right, 700)):
        write_table(f"{name}.csv", {"label": y[:rows].astype(int), "p": prob[:rows]}, force=False)
    assert main(["report", "bold.csv", "right.csv", "-o", "r.html", "--resamples", "99"]) == 0
    out, page = capsys.readouterr().out, unescape((tmp_path / "r.html").read_text(encoding="utf-8"))
    for one in found:
        assert printed(one["right"], "") in out
        assert printed(one["right"], "") in page
    assert main(["report", "bold.csv", "few.csv", "-o", "s.html", "--resamples", "99"]) == 0
    out, samples = capsys.readouterr().out, {"bold": bold, "few": right[:700]}
    for metric, of in (("nll", ""), ("debiased-ece", " of squares without bias"), ("accuracy", "")):
        truth = {"bold": y.astype(int), "few": y[:700].astype(int)}
        one = compare(truth, samples, metric=metric, paired=False, n_resamples=100)["few"]
        interval = f"95 % interval [{one.lower:+.4f}, {one.upper:+.4f}]"
        assert f"{of} {one.difference:+.4f}, {interval}, p = {one.adjusted:.3g})" in out


def test_the_ece_of_another_notion_is_compared_by_that_notion(tmp_path, monkeypatch, capsys):
    y, prob = dirichlet_rows(400, 3)
    flat = (prob + 0.2) / 1.6
    monkeypatch.chdir(tmp_path)
    for name, table in (("a", prob), ("b", flat)):
        write_table(f"{name}.csv", {"label": y, **{f"p_{k}": table[:, k] for k in range(3)}}, force=False)
    words = ["report", "a.csv", "b.csv", "-o", "r.html", "--resamples", "99"]
    assert main([*words, "--notion", "flattened"]) == 0
    one = compare((y[:, None] == range(3)).ravel(), {"a": prob.ravel(), "b": flat.ravel()}, metric="ece")["b"]
    figures = re.search(r"ECE goes from ([\d.]+) to ([\d.]+) \(difference ([+-][\d.]+)", capsys.readouterr().out)
    before, after, difference = map(float, figures.groups())
    assert difference == pytest.approx(after - before, abs=1.1e-4)
    assert difference == pytest.approx(one.difference, abs=1e-4)
    assert main([*words, "--notion", "class-wise", "--force"]) == 2
    assert "'class-wise' makes 3. Pass one of these" in capsys.readouterr().err


def test_assessments_alone_have_figures_and_no_verdict_on_how_they_differ(both):
    (sentence,) = comparison(both, [])
    assert re.match(r"From “bold” to “right”, on 1500 and 1500 rows: (.* (goes|stays) .*, ){2}accuracy .*\.$", sentence)
    assert not re.search("difference|interval|p [=<]", sentence)
    said = headline(both)
    assert re.search(r"; log loss 0\.\d+ and 0\.\d+, without a test of their difference", said)
    assert not re.search("removed|shown to change|accuracy", said)


def test_differences_must_be_from_the_first_forecast(both):
    y, right, bold = forecasts()
    with pytest.raises(ValueError, match="differences must be from 'bold'; got from 'right'"):
        summarise(both, differences=by_each(y, {"right": right, "bold": bold}, n_resamples=19))
    fewer = by_each(y[:900], {"bold": bold[:900], "right": right[:900]}, n_resamples=19)
    with pytest.raises(ValueError, match="of the rows that were assessed; got 900 and 1500 of 'bold'"):
        summarise(both, differences=fewer)


def test_an_infinite_log_loss_compares_with_nothing():
    y, right, _ = forecasts(200)
    certain = np.where(np.arange(200) == 0, 1.0 - y[0], right)
    with pytest.warns(CalibrationWarning, match="infinite"):
        infinite = assess(y, certain, n_resamples=9, clip=0)
    finite = assess(y, right, n_resamples=9)
    which = ((infinite, finite, "“a”"), (finite, infinite, "“b”"), (infinite, infinite, "“a” and of “b”"))
    for one, other, whose in which:
        both = {"a": one, "b": other}
        assert f"; the log loss of {whose} is infinite" in headline(both)
        assert "nan" not in headline(both) + comparison(both, [])[0]


# The headline


@pytest.fixture(scope="module")
def made(both):
    """Make an assessment of these faults and figures, and how it differs from the first."""

    def made(*faults, ece=20.0, p=0.002, nll=1.0, accuracy=0.7, points=20.0):
        figures = {"ece": Estimate(ece / 100, 0, 1, 0.02, p, least_pvalue=0.002), "nll": Estimate(nll, 0, 2)}
        figures["accuracy"] = Estimate(accuracy, 0, 1)
        one = both["right"]
        rows = [replace(row, estimate=figures.get(row.metric, row.estimate)) for row in one.rows]
        return replace(one, rows=tuple(rows), verdict=replace(one.verdict, faults=faults, points=points))

    return made


def moves(*others, sure, pairing="rows", best="a"):
    """What a comparison by each metric says of these forecasts beside the first; those that are named are shown to differ."""
    (_, before), *rest = others
    found = []
    for metric in COMPARED:
        candidates = [Compared("a", before[metric].value, 0.0, 0.0, 0.0)]
        for name, after in rest:
            d = after[metric].value - before[metric].value
            p = 0.001 if metric in sure else 0.4
            candidates.append(Compared(name, after[metric].value, d, d - 0.01, d + 0.01, pvalue=p, adjusted=p))
        facts = {"scale": "value", "first": "a", "recommended": best, "reason": ""}
        facts |= {"n_rows": 9, "n_classes": 2, "n_folds": 0}
        found.append(Comparison(metric=metric, candidates=tuple(candidates), level=0.05, pairing=pairing, **facts))
    return found


OVER, ALL = ["over-confident"], ("nll", "ece", "accuracy")
BETTER = {"ece": 3.57, "p": 0.64, "nll": 0.44}
CHANGES = [
    (OVER, [], BETTER, ALL, "“b” removed the over-confidence: ECE 20.0 to 3.6 points, which is within noise; "
     "log loss more than halved; accuracy did not change."),
    (OVER, ["other"], BETTER, ALL, "accuracy did not change; errors that the mean does not show remain."),
    (OVER, [], BETTER, ("nll",), "The over-confidence of “a” is not detected in “b”, but no difference in ECE is shown:"),
    (["too extreme"], [], BETTER, (), "The overly extreme predictions of “a” are not detected in “b”, but"),
    (OVER, OVER, {"ece": 10.0, "nll": 0.9}, ALL, "“b” lessened the over-confidence: ECE 20.0 to 10.0 points, which is more "
     "than noise; log loss fell by 10.0 %;"),
    (OVER, OVER, {"ece": 30.0, "nll": 1.2}, ALL, "“b” increased the over-confidence: ECE 20.0 to 30.0 points, which is more "
     "than noise; log loss rose by 20.0 %;"),
    (OVER, OVER, {"ece": 30.0, "points": 9.0}, ALL, "“b” still shows the over-confidence: ECE 20.0 to 30.0 points, which"),
    (OVER, OVER, {"ece": 19.0, "nll": 0.99}, (), "“b” is not shown to change the over-confidence: ECE 20.0 to 19.0 points, "
     "which is more than noise; no difference in log loss can be shown;"),
    (OVER, OVER, {}, (), "“b” is not shown to change the over-confidence: ECE still 20.0 points, which is more than noise; "
     "log loss did not change; accuracy did not change."),
    (OVER, ["under-confident"], {"ece": 5.0, "nll": 2.5}, ALL, "“b” shows under-confidence in place of the over-confidence: "
     "ECE 20.0 to 5.0 points, which is more than noise; log loss more than doubled;"),
    ([], ["too low"], {"ece": 30.0, "accuracy": 0.65}, ALL, "“b” brought under-prediction that “a” does not show: ECE 20.0 to "
     "30.0 points, which is more than noise; log loss did not change; accuracy fell by 5.0 points."),
    ([], [], {"p": 0.3, "accuracy": 0.71}, (), "Neither “a” nor “b” shows miscalibration: ECE still 20.0 points, which is "
     "within noise; log loss did not change; no difference in accuracy can be shown."),
    ([], [], {"accuracy": 0.75}, ALL, "accuracy rose by 5.0 points."),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "figures", "sure", "said"), CHANGES)
def test_the_headline_of_two_says_what_became_of_the_fault(old, new, figures, sure, said, made):
    before, after = made(*old), made(*new, **figures)
    sentence = headline({"a": before, "b": after}, moves(("a", before), ("b", after), sure=sure))
    assert said.replace("accuracy", "accuracy at a threshold of 50 %") in sentence
    before, after = (replace(one, n_classes=3) for one in (before, after))
    assert said in headline({"a": before, "b": after}, moves(("a", before), ("b", after), sure=sure))
    assert sentence.endswith(".")
    assert ". " not in sentence


SAMPLES = [
    (OVER, [], "“b” does not show the over-confidence of “a”: ECE 40.0 to 5.0 points, which is within noise;"),
    (OVER, ["by class"], "; it shows errors by class."),
    (OVER, OVER, "“b” shows less of the over-confidence of “a”: ECE 40.0"),
    (OVER, ["under-confident"], "“b” shows under-confidence in place of the over-confidence of “a”: ECE 40.0"),
    ([], ["too low"], "“b” shows under-prediction that “a” does not show: ECE 40.0"),
]


@pytest.mark.parametrize(("old", "new", "said"), SAMPLES)
def test_of_samples_of_different_rows_the_headline_says_what_each_shows(old, new, said, made):
    one, other = made(*old, ece=40.0, p=0.002 if old else 0.5), made(*new, ece=5.0, p=0.002 if new else 0.5)

    def of(before, after, sure=ALL):
        return headline({"a": before, "b": after}, moves(("a", before), ("b", after), sure=sure, pairing="none"))

    sentence = of(one, other)
    assert said in sentence
    assert not re.search("removed|brought|turned|lessened|increased|remain", sentence)
    if new == old:
        assert of(other, one).startswith("“b” shows more of the over-confidence of “a”: ECE 5.0 to 40.0")
    if old:
        same = of(one, one, sure=())
        assert same.startswith("“b” is not shown to differ in the over-confidence of “a”: ECE still 40.0")


@pytest.mark.parametrize("fault", [None, *NOUNS])
def test_the_headline_of_one_states_the_fault_and_names_no_calibrator(fault, made):
    sentence = headline({"f": made(*([fault] if fault else []), p=0.002 if fault else 0.3)})
    if fault is None:
        assert sentence == "No miscalibration was detected in 1500 rows: ECE 20.0 points, which is within noise."
    else:
        assert sentence.startswith("The forecast is ")
        assert sentence.endswith(": ECE 20.0 points, which is more than noise.")
        assert headline({"f": made(fault, p=0.3)}).endswith(": ECE 20.0 points, which by itself is within noise.")
    assert "calibrator" not in sentence


def test_the_headline_of_several_names_the_one_that_compare_recommends(made):
    a, b, c = made("over-confident"), made(ece=3.57, p=0.6, nll=0.6), made(ece=3.0, p=0.6, nll=0.4)

    def said(recommended, first=a, **more):
        of = {"a": first, "b": b, "c": c}
        return headline(of, moves(*of.items(), sure=ALL, best=recommended), **more)

    start = (
        "The best forecast that is shown to be better than “a” is “b”: it removed the over-confidence: ECE 20.0 to 3.6"
    )
    assert said("b").startswith(start)
    assert "is “c”: " in said("c")
    assert "is “c”: " in said("b", best="c")
    none = "No other forecast is shown to be better than “a”: "
    assert said("a") == none + "it is over-confident by 20.0 points: ECE 20.0 points, which is more than noise."
    calm = said("a", made(p=0.3))
    assert calm == none + "of it no miscalibration was detected: ECE 20.0 points, which is within noise."


# The page of a comparison


@pytest.fixture(scope="module")
def compared():
    y, right, bold = forecasts(900)
    group = np.where(np.arange(900) < 450, "north", "south")
    how = {"calibrators": {"platt": "platt", "<broken>": Broken()}, "by": {"at": group}, "n_resamples": 19}
    return compare(y, {"bold": bold, "right": right}, metric=["nll", "ece"], **how)


def test_the_first_and_the_best_three_of_many_are_drawn():
    y, right, bold = forecasts(300)
    every = {"first": bold} | {f"{k}": expit(k * np.log(right / (1 - right))) for k in (0.2, 0.5, 0.8, 1.0, 3.0)}
    names = [one["name"] for one in summarise(compare(y, every, n_resamples=19))["forecasts"]]
    assert (names[0], set(names[1:])) == ("first", {"0.5", "0.8", "1.0"})


def test_a_comparison_is_drawn_as_its_tables_say(compared):
    summary = summarise(compared)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    names = [one["name"] for one in summary["forecasts"]]
    assert names[0] == compared.first == "bold"
    assert set(names) == {"bold", compared.recommended, *(one.name for one in compared.candidates if not one.failure)}
    assert f"shown to be better than “bold” is “{compared.recommended}”" in summary["headline"]
    assert summary["ranked"]["reason"] == compared.reason
    ranked, groups = summary["ranked"]["tables"]
    assert ranked == next(compared._tables())
    assert {row[0] for row in groups[1:]} == {"at north", "at south"}
    assert {row[3] for row in groups[1:]} == {"ece"}
    corrected = {(one.group, one.candidate): one.estimate.debiased for one in compared.groups if one.metric == "ece"}
    worst = [corrected[row[0], row[1]] for row in groups[1:]]
    assert worst == sorted(worst, reverse=True)
    page = render(compared)
    assert page.count("&lt;broken&gt;") >= 2  # that it failed stands in the table
    assert all(f">{cell}</td>" in page for row in ranked[1:] for cell in row[1:3])


def test_each_group_has_a_diagram_of_its_own_rows(compared):
    summary, names = summarise(compared)["ranked"], [compared.first, compared.recommended]
    diagrams = {one["name"]: one["curves"] for one in summary["diagrams"]}
    assert list(diagrams) == list(dict.fromkeys(row[0] for row in summary["tables"][1][1:]))
    assert summary["names"] == [one["forecast"] for one in diagrams["at north"]] == names
    y, _, bold = forecasts(900)
    for group, own in (("at north", slice(450)), ("at south", slice(450, 900))):
        bins = reliability_curve(y[own], bold[own], binning=15).panels[0].bins
        drawn = [one for one in diagrams[group][0]["bins"] if one["count"]]
        for name in ("count", "mean_prob", "event_rate"):
            held = getattr(bins, name)[bins.count > 0]
            np.testing.assert_allclose([one[name] for one in drawn], held, rtol=1e-9)
    page = render(compared)
    assert page.count('data-figure="group-1"') == 2  # the first candidate, and the recommended one
    assert page.count('<figure id="group-') == 2


def test_assessments_of_a_comparison_are_those_of_its_rows():
    y, right, bold = forecasts(300)
    found = compare(y, {"bold": bold, "right": right}, n_resamples=19, sample_weight=np.arange(300) % 3)
    table = {line["metric"]: line["estimates"] for line in summarise(found)["table"]}
    for k, prob in enumerate((bold, right)):
        own = assess(y, prob, n_resamples=19, sample_weight=np.arange(300) % 3)
        for metric in ("nll", "ece", "accuracy"):
            assert table[metric][k]["value"] == pytest.approx(own[metric].value)
    ece = table["ece"][1]["value"] - table["ece"][0]["value"]
    assert f"(difference {ece:+.4f}, 95 % interval" in summarise(found)["comparison"][0]


def test_the_comparison_of_a_selector_keeps_no_rows_and_has_no_page():
    y, _, bold = forecasts(200)
    found = CalibratorSelector(["temperature"], nested=False).fit(bold, y).comparison_
    assert found.problems == {}
    with pytest.raises(ValueError, match="a report needs the rows of a comparison; got that of a CalibratorSelector"):
        summarise(found)


def test_periods_are_shown_in_their_order_under_what_became_of_them():
    y, right, bold = forecasts(600)
    half = np.repeat(["2026-01", "2026-02"], 300)
    found = compare(y, np.where(half == "2026-01", right, bold), times=half, metric="brier", n_resamples=19)
    summary = summarise(found)
    assert summary["headline"] == found.reason
    assert (summary["ranked"]["title"], summary["ranked"]["reason"]) == ("In the order of time", "")
    assert "independent samples" in " ".join(summary["comparison"])


def test_of_many_periods_those_that_differ_are_drawn_and_else_the_latest_and_the_page_says_of_how_many():
    y, right = (np.tile(part, 6) for part in forecasts(200)[:2])
    month = np.repeat([f"2026-{k:02}" for k in range(1, 7)], 200)
    for wrong, drawn in (("2026-05", [1, 4, 5, 6]), ("2026-02", [1, 2, 5, 6])):
        prob = np.where(month == wrong, 1 - right, right)
        found = compare(y, prob, times=month, n_resamples=19)
        names = [one["name"] for one in summarise(found)["forecasts"]]
        assert names == [f"2026-{k:02}" for k in drawn]
        assert "From here on: 4 of the 6 periods, the first and those that differ from it the most" in render(found)
    y, prob = y[:400], right[:400]
    found = compare(y, {f"{k}": prob**k for k in range(1, 6)}, n_resamples=19)
    assert "From here on: 4 of the 5 candidates, the first and those that are the best" in render(found)
    assert "From here on" not in render(compare(y, {"a": prob, "b": prob**2}, n_resamples=19))


def test_the_command_puts_the_worst_group_first_by_the_ece_that_it_adds(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    y, _, bold = forecasts(300)
    write_table("a.csv", {"label": y.astype(int), "p": bold, "at": np.arange(300) % 2}, force=False)
    assert main(["compare", "a.csv", "--by", "at", "--resamples", "19", "--report", "c.html"]) == 0
    last, page = capsys.readouterr().out.splitlines()[-1], unescape((tmp_path / "c.html").read_text(encoding="utf-8"))
    assert " miscalibrated " in last
    assert last in page
    assert "Groups, the worst first" in page


def test_the_headline_does_not_call_better_what_is_not_shown_to_be():
    y, p = (values[:12] for values in uniform_rows(300))
    q = p**2 / (p**2 + (1 - p) ** 2)
    found = compare(y, q, calibrators=["evidence-scaling --safe", "temperature"], n_resamples=200)
    taken = found[found.recommended]
    assert taken.name == "evidence-scaling --safe"
    assert not taken.adjusted < found.level
    said = summarise(found)["headline"]
    assert said.startswith("The forecast to take is “evidence-scaling --safe”, though it is not shown to be better")
