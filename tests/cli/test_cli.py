"""The command line does what the library does, from any format of file and any way of naming columns."""

import json
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

from calibrant import ByNotion, SafeCalibrator, TemperatureScaling, advise, assess, load_calibrator
from calibrant._core.registry import HOMES, entries, find
from calibrant.calibrators import EvidenceScaling, IsotonicCalibration, IsotonicRecursivePartitioning
from calibrant.cli.commands import USUAL_TESTS
from calibrant.datasets import load_digits_forecast, make_survey_forecast
from calibrant.decisions import confusion_table, decide
from calibrant.interop.tables import read_table, write_table
from calibrant.metrics import classwise_calibration_error
from calibrant.significance import hosmer_lemeshow_test, spiegelhalter_test

RNG = np.random.default_rng(5)
LOGIT = RNG.normal(0.0, 2.0, (80, 3))
PROB = np.exp(LOGIT) / np.exp(LOGIT).sum(axis=1, keepdims=True)
TRUTH = (RNG.random((80, 1)) > PROB.cumsum(axis=1)).sum(axis=1).clip(0, 2)


def columns(prefix, table, names="012"):
    return {f"{prefix}{name}": column for name, column in zip(names, table.T, strict=True)}


def save(name, /, **table):
    write_table(name, {key: np.asarray(column) for key, column in table.items()})
    return name


def figures(shell, *words):
    """The values that `assess --json` gives."""
    metrics = shell.json("assess", *words, "--resamples", 1)["metrics"]
    return {name: estimate["value"] for name, estimate in metrics.items()}


def expected(truth=TRUTH, prob=PROB, **options):
    return {row.metric: row.estimate.value for row in assess(truth, prob, n_resamples=1, **options).rows}


@pytest.fixture
def forecast(shell):
    return save("forecast.csv", label=TRUTH, **columns("p_", PROB))


@pytest.fixture
def calibrator(shell, forecast):
    shell.out("fit", forecast, "--method", "temperature", "-o", "calibrator.json")
    return "calibrator.json"


# assess


def test_assess_prints_what_the_library_gives_and_says_what_is_guessed_on_stderr(shell, forecast):
    code, out, err = shell("assess", forecast, "--resamples", 20)
    assert (code, out) == (0, f"{assess(TRUTH, PROB, n_resamples=20)}\n")
    assert err == "forecast.csv: reading label 'label', probability 'p_0' to 'p_2' (3 columns)\n"
    document = shell.json("assess", forecast, "--resamples", 20, "--seed", 3)
    found = assess(TRUTH, PROB, n_resamples=20, rng=3)
    assert (document["rows"], document["resamples"]) == (80, 20)
    assert document["columns"] == {"label": "label", "probability": ["p_0", "p_1", "p_2"]}
    assert document["classes"] == found.class_weight
    assert document["metrics"] == {row.metric: vars(row.estimate) for row in found.rows}


def test_logits_are_declared_by_the_option_or_by_their_names(shell):
    path = save("f.csv", label=TRUTH, **columns("z_", LOGIT))
    values = expected(prob=LOGIT, input="logit")
    assert figures(shell, path) == values
    assert figures(shell, path, "--logit", "z_0:z_2") == values
    assert values == pytest.approx(expected())


@pytest.mark.parametrize(("rows", "cut"), [(":30", slice(30)), ("30:", slice(30, None)), ("10:20", slice(10, 20))])
def test_rows_are_cut_out(rows, cut, shell, forecast):
    assert figures(shell, forecast, "--rows", rows) == expected(TRUTH[cut], PROB[cut])


def test_commands_say_how_many_rows_the_weights_are(shell):
    """Counts one by one, and none of weight zero; of fractions the rows that have a weight."""
    n = len(TRUTH)
    counts = np.full(n, 3.0)
    counts[:5] = 0.0
    path = save("f.csv", label=TRUTH, counts=counts, parts=counts / 2, **columns("p_", PROB))
    for weight, rows in (("counts", 3 * (n - 5)), ("parts", n - 5)):
        for command, *words in (("assess",), ("test", "--tests", "spiegelhalter"), ("fit", "-o", "c.json", "--force")):
            said = shell.out(command, path, "--weight", weight, *words)
            assert f"{rows} rows" in said, said


@pytest.mark.parametrize(
    ("words", "note"),
    [
        (["--metrics", "tce", "--binning", "equal-mass", "--bins", 10], "takes --binning or --bins; bins of"),
        (["--metrics", "ace,tece", "--bins", 15], "takes --bins; bins of ace, tece are always their own"),
        (["--metrics", "accuracy,ks-error", "--bins", 9], "takes --bins"),
    ],
)
def test_bins_that_no_metric_takes_are_noted_once(words, note, shell, forecast):
    named = ["--label", "label", "--prob", "p_*", "--resamples", 1]
    out, err = shell.told("assess", forecast, *named, *words)
    assert err.startswith(f"calibrant: note: no metric here {note}")
    assert len(err.splitlines()) == 1
    assert out == shell.out("assess", forecast, *named, *words[:2])
    assert shell("assess", forecast, *named, "--metrics", "tce,ece", "--bins", 9)[2] == ""


def test_a_figure_is_found_by_any_word_for_it(shell, forecast):
    assert figures(shell, forecast, "--metrics", "tece,tace") == {"tece": expected(metrics=["tace"])["tace"]}
    code, out, err = shell("assess", forecast, "--metrics", "tece", "--fail-if", "tace > 0", "--resamples", 1)
    assert (code, "gate failed: tace > 0" in err) == (1, True)
    assert len(out.split("Over-confident by")[0].splitlines()) == 4


# Gates


HOLD = ["ece.lower <= .9", "ece.pvalue <= +.99"]


@pytest.mark.parametrize(
    "condition", [*HOLD, "accuracy<.1", "ece.noise_floor < 1e-9", "calibration-slope.pvalue < 1e-300"]
)
def test_a_gate_that_holds_makes_the_exit_code_one_and_one_of_several_is_enough(condition, shell, forecast):
    code = int(condition in HOLD)
    words = ["assess", forecast, "--resamples", 20, "--fail-if", condition]
    found, out, err = shell(*words)
    assert (found, f"gate failed: {condition}" in err) == (code, bool(code))
    assert out.startswith("80 rows")
    found, out, _ = shell(*words, "--fail-if", "nll < 20", "--json")
    told = {one["condition"]: one["failed"] for one in json.loads(out)["gates"]}
    assert (found, told) == (1, {condition: bool(code), "nll < 20": True})


# fit and apply


SET = [
    ("isotonic --notion top-label", "ByNotion(calibrator=IsotonicCalibration(), {}, notion='top-label')"),
    ("beta --set parameters=ab", "ByNotion(calibrator=BetaCalibration(parameters='ab'), {})"),
    (
        "histogram-binning --set binning=points-per-bin-10",
        "ByNotion(calibrator=HistogramBinning(binning='points-per-bin-10'), {})",
    ),
    ("canonical-binning --set binning=sierpinski-1", "CanonicalBinning(binning='sierpinski-1', {})"),
    (
        "irp --set max_bins=3 --set smoothing=1",
        "ByNotion(calibrator=IsotonicRecursivePartitioning(max_bins=3, smoothing=1), {})",
    ),
    (
        "multiclass-irp --set candidates.steps=20 --set mixture.part=0.1",
        "MulticlassRecursivePartitioning(candidates=GridPoints(steps=20), {}, mixture=Mixture(part=0.1, prior='class-rate'))",
    ),
    ("multiclass-irp --set candidates=exact", "MulticlassRecursivePartitioning(candidates='exact', {})"),
    (
        "platt --set smooth_targets=false --safe --set safe.caution=2",
        "SafeCalibrator(calibrator=ByNotion(calibrator=PlattScaling(smooth_targets=False)), caution=2, {})",
    ),
]


@pytest.mark.parametrize(("words", "shown"), SET)
def test_fit_takes_the_parameters_of_any_method(words, shown, shell, forecast):
    shell.out("fit", forecast, "-o", "c.json", "--method", *words.split())
    assert " ".join(repr(load_calibrator("c.json")).split()) == shown.format("labels=[0, 1, 2]")


def test_fit_and_apply_equal_the_library_to_the_last_bit(shell, forecast):
    shell.out("fit", forecast, "-o", "c.json")
    shell.out("apply", "c.json", forecast, "-o", "out.csv")
    table = read_table("out.csv")
    assert list(table) == ["label", "p_0", "p_1", "p_2"]
    expected = SafeCalibrator(EvidenceScaling()).fit(PROB, TRUTH).predict_proba(PROB)
    np.testing.assert_array_equal(np.column_stack([table[f"p_{k}"] for k in range(3)]), expected)


def too_low(n):
    """An event, and a forecast that is too low: a temperature has no intercept, and makes one that is too low as well."""
    rng = np.random.default_rng(0)
    z = rng.normal(0, 1.0, n)
    return rng.random(n) < 1 / (1 + np.exp(-z)), 1 / (1 + np.exp(1.0 - z))


def test_the_default_of_two_classes_is_safe_below_3000_rows_of_weight(shell):
    y, prob = too_low(600)
    path = save("one.csv", y=y, p=prob, times=np.full(600, 2))
    said = shell.out("fit", path, "--set", "safe.caution=0.5", "-o", "c.json")
    assert said.startswith("fitted evidence-scaling --safe (the default; --method NAME takes another) on 600 rows: ")
    assert repr(load_calibrator("c.json")) == "SafeCalibrator(calibrator=EvidenceScaling(), caution=0.5)"
    again = shell.out("fit", path, "--weight", "times", "-o", "c.json", "--force")
    assert again.startswith("fitted evidence-scaling --safe (the default; ")  # 600 rows given twice are 600
    y, prob = too_low(3600)
    prob = prob.round(1)
    (label, score), count = np.unique([y, prob], axis=1, return_counts=True)
    table = save("counts.csv", y=label.astype(int), p=score, times=count)
    out = shell.out("fit", table, "--weight", "times", "-o", "c.json", "--force")
    assert out.startswith("fitted evidence-scaling (the default; --method NAME")
    rows = EvidenceScaling(labels=["0", "1"]).fit(prob, y.astype(int).astype(str))
    assert load_calibrator("c.json").calibrate(prob) == pytest.approx(rows.calibrate(prob), abs=1e-6)
    pairs = save("pairs.csv", y=np.tile(y, 2), p=np.tile(prob, 2))
    assert "fitted beta (the default" in shell.out("fit", pairs, "--notion", "top-label", "-o", "d.json")


def test_streamed_rows_get_the_default_of_a_sample(shell, monkeypatch):
    pytest.importorskip("pyarrow")
    y, prob = too_low(3200)
    Path("folder").mkdir()
    save("folder/one.csv", y=y, p=prob)
    default = "fitted evidence-scaling{} (the default; --method NAME takes another) on {}: "
    shell.out("fit", "folder/one.csv", "-o", "whole.json")
    assert default.format("", "3200 rows") in shell.out("fit", "folder", "-o", "few.json")
    assert Path("few.json").read_text() == Path("whole.json").read_text()
    assert "fitted temperature on 3200 rows: " in shell.out("fit", "folder", "--method", "temperature", "-o", "t.json")
    monkeypatch.setattr("calibrant.cli.fit.FEWEST_SAMPLED", 500)
    monkeypatch.setattr("calibrant.cli.fit.MANY_NUMBERS", 500)
    said = shell.out("fit", "folder", "-o", "sample.json")
    assert said.startswith(default.format(" --safe", "500 of 3200 rows, drawn at random"))
    shell.out("fit", "folder", "--sample", "500", "-o", "asked.json")
    assert Path("sample.json").read_text() == Path("asked.json").read_text()


# advise


@pytest.mark.usefixtures("bare_default")
def test_advise_prints_the_table_and_a_command_with_the_options_of_the_columns(shell):
    rng = np.random.default_rng(0)
    z = rng.normal(0, 1.5, 1000)
    path = save("my file.csv", outcome=rng.random(1000) < 1 / (1 + np.exp(-z)), z=3 * z + 2, w=np.ones(1000), other=z)
    out = shell.out("advise", path, "--label", "outcome", "--logit", "z", "--weight", "w")
    said, rows, table, command = re.split(r"\n(?=1000 of|method|calibrant)", out.strip())
    table_of = read_table(path)
    assert shell.out("assess", path, "--label", "outcome", "--logit", "z").endswith(f"\n{said}\n")
    expected = advise(table_of["outcome"], table_of["z"], input="logit", sample_weight=np.ones(1000))
    assert rows == "1000 of 1000 rows, 2 classes, 5 folds"
    assert table == str(expected)
    how = f"--label outcome --logit z --weight w --method {expected.recommended}"
    assert command == f"calibrant fit 'my file.csv' {how} -o calibrator.json"
    shell.out(*shlex.split(command)[1:])
    assert load_calibrator("calibrator.json").input == "logit"


def test_fit_prints_how_many_bins_were_found(shell):
    path = save("one.csv", y=TRUTH == 1, p=PROB[:, 1])
    fitted = IsotonicRecursivePartitioning().fit(PROB[:, 1], TRUTH == 1)
    found = f"smoothing {fitted.smoothing_:.6g}, softening {fitted.softening_:.6g}"
    said = f"irp on 80 rows: n_bins {fitted.n_bins_}, {found}\n"
    assert said in shell.out("fit", path, "--method", "irp", "-o", "c.json")


def test_fit_prints_the_groups_of_classes_that_it_found(shell, forecast):
    words = ["fit", forecast, "--method", "isotonic", "-o", "c.json", "--force", "--notion"]
    assert "found" not in shell.out(*words, "class-wise")
    found = ByNotion(IsotonicCalibration(), "shared-class-wise").fit(PROB, TRUTH).notion_
    assert shell.out(*words, "shared-class-wise", "--safe").splitlines()[-2:] == [f"found {found!r}", "wrote c.json"]


def test_calibrated_logits_are_probabilities_and_are_named_so(shell):
    path = save("f.csv", label=np.array(["cat", "dog", "eel"])[TRUTH], **columns("z_", LOGIT, ["cat", "dog", "eel"]))
    shell.out("fit", path, "--method", "temperature", "-o", "c.json")
    shell.out("apply", "c.json", path, "-o", "out.csv")
    table = read_table("out.csv")
    assert list(table) == ["label", "p_cat", "p_dog", "p_eel"]
    fitted = TemperatureScaling(input="logit").fit(LOGIT, TRUTH)
    np.testing.assert_array_equal(np.column_stack(list(table.values())[1:]).astype(float), fitted.predict_proba(LOGIT))


@pytest.mark.parametrize(("names", "ending"), [([0, 1, 2], "npz"), (["cat", "dog", "eel"], "csv")])
def test_the_top_pair_is_written_in_place_of_the_table(ending, names, shell):
    label = np.array(names)[TRUTH]
    path = save("f.csv", id=np.arange(80), **columns("p_", PROB, names), y=label, note=np.arange(80) / 8)
    shell.out("fit", path, "--label", "y", "--method", "isotonic", "--notion", "top-label", "-o", "c.json")
    out = shell.out("apply", "c.json", path, "--label", "y", "--top", "-o", f"out.{ending}")
    assert out == f"wrote out.{ending}: 80 rows, calibrated predicted, probability\n"
    table = read_table(f"out.{ending}")
    assert list(table) == ["id", "predicted", "probability", "y", "note"]
    predicted, score = ByNotion(IsotonicCalibration(), "top-label", labels=names).fit(PROB, label).predict_top(PROB)
    np.testing.assert_array_equal(table["predicted"], predicted)
    np.testing.assert_array_equal(table["probability"], score)


def test_apply_needs_no_label_and_takes_the_columns_that_were_fitted(shell, calibrator):
    new = save("new.csv", prob=PROB[:5, 0], **columns("p_", PROB[:5]))
    out = shell.out("apply", calibrator, new, "-o", "out.csv")
    assert out == "wrote out.csv: 5 rows, calibrated p_0, p_1, p_2\n"
    given, with_points = (Path(name).read_text() for name in ("new.csv", "out.csv"))
    Path("new.csv").write_text(given.replace(",", ";").replace(".", ","))
    for skips in ([], ["--on-error", "skip"]):
        shell.out("apply", calibrator, "new.csv", "-o", "out.csv", "--force", *skips)
        assert Path("out.csv").read_text() == with_points.replace(",", ";").replace(".", ",")


# The forecast calls the true class of row 0 impossible.
IMPOSSIBLE = np.vstack([(1.0 - np.eye(3)[TRUTH[0]]) / 2.0, PROB[1:]])


def test_an_impossible_event_is_said_in_a_line_and_beside_the_figure(shell):
    path = save("f.csv", label=TRUTH, **columns("p_", IMPOSSIBLE))
    beside = "1 of 80 rows with probability 0 for the true class, 36.04 nats each"
    code, out, err = shell("assess", path, "--resamples", 5)
    assert (code, out.count(beside)) == (0, 1)
    (said,) = (line for line in err.splitlines() if line.startswith("calibrant: warning: log loss"))
    assert "got probability 0 in 1 of 80 rows" in said
    assert "Here: --clip 0." in said
    code, out, err = shell("report", path, "-o", "r.html", "--resamples", 5)
    assert (code, out.count(beside), err.count("warning")) == (0, 1, 1)
    page = Path("r.html").read_text(encoding="utf-8")
    # It stands among the findings, in the table, and beside its dot for the eye and for a reader aloud.
    assert page.count(beside) == 4


@pytest.mark.parametrize(("condition", "code"), [("nll > 3", 1), ("nll.upper > 1e300", 1), ("nll.value <= 1e300", 0)])
def test_an_infinite_loss_is_a_word_in_json_and_a_number_to_a_gate(shell, condition, code):
    path = save("f.csv", label=TRUTH, **columns("p_", IMPOSSIBLE))
    words = ("assess", path, "--resamples", 99, "--clip", 0, "--json", "--fail-if", condition)
    failed, out, err = shell(*words)
    assert (failed, "gate failed" in err) == (code, bool(code))
    assert "Here: --clip 0." not in err
    document = json.loads(out, parse_constant=pytest.fail)
    assert document["gates"] == [{"condition": condition, "failed": bool(code)}]
    found = document["metrics"]["nll"]
    assert (found["value"], found["upper"], float(found["value"])) == ("Infinity", "Infinity", np.inf)
    assert 0 < found["lower"] < 3
    assert found["note"] == "1 of 80 rows with probability 0 for the true class"
    assert found["pvalue"] is None  # what there is not stays null
    assert "note" not in document["metrics"]["ece"]


# decide


def test_decisions_cost_what_the_library_says(shell, forecast):
    cost = [[0, 4, 1], [1, 0, 1], [2, 2, 0]]
    expected = confusion_table(TRUTH, PROB, cost_matrix=cost)
    assert shell.out("decide", forecast, "--costs", "0,4,1;1,0,1;2,2,0") == f"{expected}\n"


@pytest.mark.parametrize("words", [[], ["--classes", "cat,dog,emu"]])
def test_decisions_are_written_beside_the_other_columns_by_the_names_of_classes(shell, words):
    path = save("f.csv", p_cat=PROB[:, 0], p_dog=PROB[:, 1], p_emu=PROB[:, 2])
    words = [*words, "--costs", "0,4,1,0.3;1,0,1,0.3;2,2,0,0.3", "--extra", "ask", "-o", "out.csv"]
    assert "wrote out.csv: 80 rows" in shell.out("decide", path, *words)
    cost, named = [[0, 4, 1, 0.3], [1, 0, 1, 0.3], [2, 2, 0, 0.3]], ["cat", "dog", "emu"]
    found = decide(PROB, cost, extra=["ask"], labels=named)
    table = read_table("out.csv")
    assert list(table) == ["p_cat", "p_dog", "p_emu", "decision", "expected_cost"]
    assert table["decision"].tolist() == found.named.astype(str).tolist()
    np.testing.assert_array_equal(table["expected_cost"], found.expected_cost)


def test_report_compares_files_and_prints_their_tables(shell, forecast, calibrator):
    shell.out("apply", calibrator, forecast, "-o", "after.csv")
    words = ["--title", "A & B", "--metrics", "tce,ece"]
    out = shell.out("report", forecast, "after.csv", "-o", "r.html", "--resamples", 20, *words)
    page = Path("r.html").read_text(encoding="utf-8")
    assert "<title>A &amp; B</title>" in page
    assert "forecast; after: 80 rows, 3 classes, notion: confidence" in page
    assert "TCE (%)" in page
    spoken_of = ["tce", "ece", "accuracy", "nll"]  # those that are asked for, and those that a report speaks of
    assert f"forecast: {assess(TRUTH, PROB, metrics=spoken_of, n_resamples=20)}" in out


def test_labels_of_a_csv_file_that_apply_writes_as_text_are_the_same(shell, forecast, calibrator):
    shell.out("apply", calibrator, forecast, "-o", "after.parquet")
    assert read_table("after.parquet")["label"].dtype.kind == "U"
    assert "on the same 80 rows" in shell.out("report", forecast, "after.parquet", "-o", "r.html", "--resamples", 9)


def test_report_shows_a_forecast_also_after_a_calibrator(shell, forecast, calibrator):
    words = "--calibrator", calibrator, "--names", "net", "--resamples", 9
    out = shell.out("report", forecast, "-o", "r.html", *words)
    after = TemperatureScaling().fit(PROB, TRUTH).predict_proba(PROB)
    assert f"net: {assess(TRUTH, PROB, n_resamples=9)}" in out
    assert f"net, calibrated: {assess(TRUTH, after, n_resamples=9)}" in out
    assert "net, calibrated" in Path("r.html").read_text(encoding="utf-8")


OTHER_LABELS = {
    "other labels (in 3 of 80 rows)": np.where(np.arange(80) < 3, (TRUTH + 1) % 3, TRUTH),
    "another number of rows": TRUTH[:60],
}


@pytest.mark.parametrize("said", OTHER_LABELS)
def test_files_of_different_rows_are_said_to_be_so_and_compared_as_samples(said, shell):
    bold, second = PROB**2 / (PROB**2).sum(axis=1, keepdims=True), OTHER_LABELS[said]
    save("a.csv", label=TRUTH, **columns("p_", PROB))
    save("b.csv", label=second, **columns("p_", bold[: len(second)]))
    out, err = shell.told("report", "a.csv", "b.csv", "-o", "r.html", "--resamples", 99)
    assert f"calibrant: note: b has {said} than a: they are compared as samples of different rows\n" in err
    assert f"on 80 and {len(second)} rows, taken for independent samples of different rows" in out


FIGURE = r"(?:goes from (-?[\d.]+) to (-?[\d.]+)|stays at (-?[\d.]+)) \(difference ([+-][\d.]+)"


def compared(shell, *words):
    """The figures of two files and their differences, as a report tells them, and what it says on stderr."""
    out, err = shell.told("report", *words, "-o", "r.html", "--force", "--resamples", 9)
    (sentence,) = (line for line in out.splitlines() if line.startswith("From "))
    found = [[float(number) for number in match if number] for match in re.findall(FIGURE, sentence)]
    return [(f[0], f[-2], f[-1]) for f in found], sentence, err


@pytest.mark.parametrize(("classes", "clip"), [(2, []), (3, []), (2, ["--clip", 0.1])])
@pytest.mark.parametrize("prefix", ["p_", "z_"])
def test_a_difference_is_that_of_the_two_figures_beside_it(prefix, classes, clip, shell):
    """Logits so far apart that their probabilities become 0: their log loss is exact."""
    rng = np.random.default_rng(0)
    z = rng.normal(0, 8 if prefix == "p_" else 60, (2, 80, classes))
    truth = rng.integers(0, classes, 80)
    prob = np.exp(z - z.max(axis=2, keepdims=True))
    tables = z if prefix == "z_" else prob / prob.sum(axis=2, keepdims=True)
    for name, table in zip(("a.npz", "b.npz"), tables, strict=True):
        save(name, label=truth, **columns(prefix, table, "012"[:classes]))
    figures, sentence, _ = compared(shell, "a.npz", "b.npz", *clip)
    assert len(figures) == 3
    assert figures[0][0] != figures[0][1]
    for before, after, difference in figures:
        assert difference == pytest.approx(after - before, abs=1.1e-4)
    assert f"on the same {len(truth)} rows" in sentence


SHARE = np.random.default_rng(0).random(80)
EVENT = np.random.default_rng(1).random(80) < SHARE
YES_NO = np.where(EVENT, "yes", "no")


@pytest.mark.parametrize(
    ("first", "second", "truth", "words"),
    [
        ({"p": True}, {"p_no": False, "p_yes": True}, ("yes", "no"), ["--pos-label", "yes"]),
        ({"p": True}, {"p_no": False, "p_yes": True}, ("yes", "no"), ["--classes", "no,yes"]),
        ({"p": True}, {"p_0": False, "p_1": True}, (1.0, 0.0), ["--pos-label", "1.0"]),
        ({"p_1": True, "p_0": False}, {"p": True}, (1, 0), []),
        ({"p_1": True, "p_0": False}, {"p_0": False, "p_1": True}, (1, 0), []),
        ({"p_False": False, "p_True": True}, {"p_True": True, "p_False": False}, None, []),
    ],
)
def test_one_event_in_other_columns_is_compared_row_by_row(first, second, truth, words, shell):
    label = EVENT if truth is None else np.where(EVENT, *truth)
    for name, spelled in (("a.csv", first), ("b.csv", second)):
        save(name, label=label, **{column: SHARE if of_event else 1 - SHARE for column, of_event in spelled.items()})
    figures, sentence, err = compared(shell, "a.csv", "b.csv", *words)
    assert "on the same 80 rows" in sentence
    assert "different rows" not in err
    assert all(difference == 0.0 and before == after for before, after, difference in figures)


@pytest.mark.parametrize("names", [["p_no", "p_yes"], ["z.no", "z.yes"]])
def test_classes_that_contradict_the_columns_are_refused_with_words_that_work(names, shell):
    is_logit = names[0][0] == "z"
    values = [np.zeros(80), np.log(SHARE / (1 - SHARE))] if is_logit else [1 - SHARE, SHARE]
    path = save("f.csv", label=YES_NO, **dict(zip(names, values, strict=True)))
    words = ["--logit", "z*"] if is_logit else []
    wanted = figures(shell, path, *words)
    said = "in their order; got 'yes,no' for the columns"
    told = shell.refuses(said, "assess", path, *words, "--classes", "yes,no")
    hint = re.search(r"Leave --classes out, or add (--\w+) (\S+)\.$", told)
    assert hint.groups() == ("--logit" if is_logit else "--prob", ",".join(names[::-1]))
    found = figures(shell, path, *hint.groups(), "--classes", "yes,no", "--pos-label", "yes")
    assert found == pytest.approx(wanted)
    assert figures(shell, path, *words, "--classes", "no,yes") == wanted


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("report f.csv --calibrator k.json -o r.html --pos-label no", " in place of --pos-label"),
        ("report f.csv --calibrator k.json -o r.html --classes yes,no", ""),
        ("apply k.json f.csv -o o.csv --classes yes,no", ""),
    ],
)
def test_a_calibrator_of_the_other_event_is_refused_with_words_that_work(words, hint, shell):
    save("f.csv", label=YES_NO, p=SHARE)
    shell.out("fit", "f.csv", "-o", "k.json", "--classes", "no,yes")
    words = words.split()
    said = "must be the probability of yes, for which k.json was fitted; got the probability of no."
    assert f"If they are, say --classes no,yes{hint}; else fit" in shell.refuses(said, *words)
    shell.out(*words[:-2], "--classes", "no,yes")
    if words[0] == "report":
        shell.out(*words[:-2], "--pos-label", "yes", "--force")


def test_columns_that_are_said_to_be_of_another_order_than_fitted_are_refused(shell):
    save("f.csv", label=YES_NO, p_no=1 - SHARE, p_yes=SHARE)
    save("g.csv", one=SHARE, two=1 - SHARE)
    shell.out("fit", "f.csv", "-o", "k.json", "--method", "temperature")
    words = ["apply", "k.json", "g.csv", "-o", "o.csv"]
    said = "must be those of no, yes, for which k.json was fitted; got yes, no. Name them in that order, --prob"
    shell.refuses(said, *words, "--prob", "one,two", "--classes", "yes,no")
    shell.out(*words, "--prob", "two,one", "--classes", "no,yes")


def test_one_row_is_reported_without_an_interval_of_the_difference(shell):
    save("a.csv", label=[1], p=[0.7])
    save("many.csv", label=[1, 0], p=[0.7, 0.4])
    _, err = shell.told("report", "a.csv", "many.csv", "-o", "m.html", "--resamples", 9)
    assert "note: there is no interval of a difference on one row" in err
    save("b.csv", label=[1], p=[0.6])
    out, err = shell.told("report", "a.csv", "b.csv", "-o", "r.html", "--resamples", 9)
    assert "note: there is no interval of a difference on one row" in err
    assert "log loss goes from 0.3567 to 0.5108, " in out
    assert "; log loss 0.3567 and 0.5108, without a test of their difference." in out
    (compared,) = [line for line in out.splitlines() if "goes from" in line]
    assert "(difference" not in compared


def test_demo_makes_its_folder_writes_the_page_and_shows_the_repair(shell):
    out = shell.out("demo")
    y, prob = load_digits_forecast()
    half = len(y) // 2
    assert f"T = {TemperatureScaling().fit(prob[:half], y[:half]).temperature_:.4f}" in out
    assert "before: 749 rows" in out
    assert "temperature scaling: 749 rows" in out
    assert "removed the over-confidence: ECE 20.0 to 3.6 points, which by itself is within noise;" in out
    assert "Handwritten digits" in Path("demo/report.html").read_text(encoding="utf-8")
    shell.refuses("already exists", "demo")
    shell.out("demo", "--force")


def test_list_prints_everything_that_is_registered(shell):
    out = shell.out("list")
    for kind in HOMES:
        for name, entry in entries(kind).items():
            shown = f"{name} (also {', '.join(entry.also)})" if entry.also else name
            assert re.search(rf"^  {re.escape(shown)} +{re.escape(entry.summary)}$", out, flags=re.M)


# Tests of calibration


def test_each_test_of_several_classes_says_what_it_speaks_of(shell, forecast):
    """The statistic is that of the notion: of confidence alone, of each class in turn, or of none, of the whole table."""
    words = "test", forecast, "--resamples", 19
    document = shell.json(*words)["tests"]
    expected = dict.fromkeys(USUAL_TESTS, "confidence")
    expected |= {"resampling": "class-wise", "hosmer-lemeshow": "all classes", "kernel": "all classes"}
    assert {name: one["notion"] for name, one in document.items()} == expected
    first, header, *lines = shell.out(*words).splitlines()
    assert first == "80 rows, 3 classes"
    for line in lines:
        _, _, pvalue, together, *_ = line.split()
        assert 0 <= float(pvalue) <= float(together) <= 1
    column = header.index("notion ")
    assert {line.split()[0]: re.split(r"  +", line[column:])[0] for line in lines} == expected
    for name in ("spiegelhalter", "kuiper"):
        found = find("test", name).target(TRUTH, PROB, notion="confidence")
        assert document[name]["statistic"] == pytest.approx(found.statistic)
    assert document["resampling"]["statistic"] == pytest.approx(classwise_calibration_error(TRUTH, PROB))
    told = shell.json(*words, "--notion", "confidence")
    assert told["event"] == "confidence"
    assert {one["notion"] for one in told["tests"].values()} == {None}


def test_chosen_tests_come_as_json_that_the_library_confirms(shell):
    truth = make_survey_forecast(500, model="over-confident", rng=2)
    file = save("truth.csv", label=truth.y, p=truth.prob)
    code, out, _ = shell("test", file, "--tests", "spiegelhalter,hosmer-lemeshow", "--json", "--fail-below", 0.01)
    document = json.loads(out)
    assert (code, document["failed"], list(document["tests"])) == (1, True, ["spiegelhalter", "hosmer-lemeshow"])
    for name, expected in (("spiegelhalter", spiegelhalter_test), ("hosmer-lemeshow", hosmer_lemeshow_test)):
        found = expected(truth.y, truth.prob)
        told = document["tests"][name]
        assert (told["statistic"], told["pvalue"]) == pytest.approx((found.statistic, found.pvalue))
    calibrated = make_survey_forecast(500, model="bayes-optimal", rng=3)
    shell.out("test", save("good.csv", label=calibrated.y, p=calibrated.prob), "--fail-below", 0.01)


def test_words_are_spelled_in_any_way_and_told_as_they_are_declared(shell, forecast):
    asked = ("--metrics", "ECE, Brier,expected_calibration_error", "--binning", "Equal_Mass", "--notion", "Class-Wise")
    document = shell.json("assess", forecast, *asked, "--resamples", 9, "--fail-if", "ECE > 0.9")
    assert (list(document["metrics"]), document["notion"]) == (["ece", "brier"], "class-wise")
    document = shell.json("test", forecast, "--tests", "RESAMPLING,resampling", "--resamples", 9)
    assert list(document["tests"]) == ["resampling"]
    words = ["fit", forecast, "-o", "c.json", "--notion", "TOP_LABEL", "--method"]
    assert shell.out(*words, "IsotonicCalibration").startswith("fitted isotonic on ")


# Terminal


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_shown_only_on_a_terminal(terminal, shell, forecast, monkeypatch):
    pytest.importorskip("tqdm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    _, out, err = shell("assess", forecast, "--resamples", 30, "--metrics", "tce")
    assert ("resampling" in err) == terminal
    assert "resampling" not in out
