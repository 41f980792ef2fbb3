"""The page is one file that loads nothing and runs its own script, shows what the summary holds, and escapes names."""

import base64
import builtins
import hashlib
import json
import re
import warnings
from html.parser import HTMLParser

import numpy as np
import pytest
from strategies import dirichlet_rows

from calibrant import EqualWidth, advise, assess, load_digits_forecast, write_report
from calibrant.assessment.table import figures_of
from calibrant.metrics import debiased_calibration_error
from calibrant.report.page import DRAWN, MOST_CLASSES, NEEDED, render, summarise
from calibrant.report.sentences import ASK, findings, headline

jinja2 = pytest.importorskip("jinja2")

HOSTILE = "<script>alert(1)</script>\"'&{{ 7 * 7 }}"
Y, PROB = load_digits_forecast()


class Page(HTMLParser):
    """Tags with their attributes, and the text of each element that was opened."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self.open = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in ("meta", "br", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag  # every element is closed in its place

    def handle_data(self, data):
        self.text.append((self.open[-1] if self.open else "", data))

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]

    def texts(self, tag):
        return [data for name, data in self.text if name == tag and data.strip()]


@pytest.fixture(scope="module")
def digits():
    return {"before": assess(Y, PROB, n_resamples=20), "after": assess(Y, 0.8 * PROB + 0.02, n_resamples=20)}


@pytest.fixture(scope="module")
def text(digits):
    return render(digits, title="Digits")


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


# Self-contained


def test_the_page_refers_to_nothing_outside(text, page):
    assert not re.search(r"https?:|//[a-z]|url\(|@import|srcset|\bsrc=", text)
    assert {"link", "img", "iframe", "object", "base", "form"} & {tag for tag, _ in page.tags} == set()
    assert not any(name.startswith("on") or name == "href" for _, attributes in page.tags for name in attributes)


def test_a_policy_forbids_loading_and_every_script_but_the_one_that_sorts_the_tables(text, page):
    def policy(page):
        return next(m["content"] for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy")

    (script,) = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy(page) == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert not re.search(r"fetch|XMLHttp|import|eval|innerHTML|https?:|localStorage|cookie", script)
    assert "runs nothing but the script that sorts the tables.</footer>" in text
    two = render({"f": assess(Y == 3, PROB[:, 3], n_resamples=1)})
    assert policy(Page(two)) == "default-src 'none'; style-src 'unsafe-inline'"
    assert "runs nothing.</footer>" in two


def test_the_script_may_run_where_files_have_other_ends_of_lines(monkeypatch, digits, text):
    """A browser reads both ends of lines as one character before it hashes a script."""
    read = jinja2.PackageLoader.get_source

    def of_windows(self, environment, template):
        source, *rest = read(self, environment, template)
        return (source.replace("\n", "\r\n"), *rest)

    monkeypatch.setattr(jinja2.PackageLoader, "get_source", of_windows)
    theirs = render(digits, title="Digits")
    (script,) = re.findall(r"<script>(.*?)</script>", theirs, flags=re.DOTALL)
    assert "\r" not in script
    of_both = [re.search(r"script-src '([^']*)'", one)[1] for one in (text, theirs)]
    assert of_both[0] == of_both[1]


def test_ids_are_unique_and_references_to_them_resolve(page):
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(set(ids)) == len(ids)
    referred = {word for _, a in page.tags for word in a.get("aria-labelledby", "").split()}
    assert referred
    assert referred <= set(ids)


def test_every_picture_has_a_text_alternative(page):
    pictures = page.all("svg")
    assert len(pictures) == 7 + 1 + 10  # a line for each metric; the forecasts over one another; the same of each class
    for picture in pictures:
        title, *desc = picture["aria-labelledby"].split()
        assert picture["role"] == "img"
        assert ("title", {"id": title}) in page.tags
        assert all(("desc", {"id": one}) in page.tags for one in desc)


# What it shows


@pytest.mark.parametrize("name", ["before", "after"])
def test_the_table_shows_the_figures_of_the_assessment(name, digits, page):
    cells = set(page.texts("td")) & set(page.texts("span"))  # in the table, and beside its dot
    for row in digits[name].rows:
        _, value, interval, *rest = figures_of(row)
        assert value in cells
        shown = " ".join(page.texts("span")).replace("\N{NO-BREAK SPACE}", " ")
        assert all(one in shown for one in (interval, *rest))


def test_a_dot_stands_in_its_interval_and_a_worse_figure_further_to_the_right(digits):
    for line in summarise(digits)["table"]:
        pairs = zip(line["places"], line["estimates"], strict=True)
        drawn = sorted((place[key], one[key]) for place, one in pairs for key in DRAWN if place[key] is not None)
        assert [value for _, value in drawn] == sorted(value for _, value in drawn)
        assert all(3 <= place <= 97 for place, _ in drawn)
        zero = drawn[0][1] if line["estimates"][0]["noise_floor"] is None else 0.0
        for at, value in drawn:
            assert at == pytest.approx(3 + 94 * (value - zero) / (drawn[-1][1] - zero), abs=0.02)


def test_the_tables_of_bins_show_the_figures_of_the_curve(digits, page):
    panel = digits["before"].curve.panels[0]
    cells, bins = page.texts("td"), panel.bins
    start = cells.index(f"{bins.edges[0]:.4g} to {bins.edges[1]:.4g}")
    found = [cells[start + 5 * b : start + 5 * b + 5] for b in range(len(bins))]
    for b, row in enumerate(found):
        shown = [f"{bins.edges[b]:.4g} to {bins.edges[b + 1]:.4g}", str(bins.count[b])]
        if bins.count[b]:
            interval = f"{panel.lower[b]:.4f} to {panel.upper[b]:.4f}"
            shown += [f"{bins.mean_prob[b]:.4f}", f"{bins.event_rate[b]:.4f}", interval]
        else:
            shown += ["–"] * 3
        assert row == shown


def test_the_sentences_of_the_summary_are_on_the_page(digits, page):
    sentences = {headline(digits), *summarise(digits)["comparison"]}
    assert sentences.union(*map(findings, digits.values())) <= set(page.texts("p"))


# Escaping


def test_hostile_names_are_shown_and_not_run():
    truth = np.array([HOSTILE, "b", "c", "b"])
    prob = np.array([[0.6, 0.3, 0.1], [0.1, 0.8, 0.1], [0.1, 0.2, 0.7], [0.5, 0.4, 0.1]])
    labels = [HOSTILE, "b", "c"]
    hostile = assess(truth, prob, labels=labels, n_resamples=1)
    absent = assess(truth[1:], prob[1:], labels=labels, n_resamples=1)
    text = render({HOSTILE: hostile, "other": absent}, title=HOSTILE)
    page = Page(text)
    assert len(page.all("script")) == 1
    assert "alert(1)" not in re.search(r"<script>(.*?)</script>", text, flags=re.DOTALL)[1]
    assert "{{ 7 * 7 }}" in text
    assert page.texts("title")[0] == HOSTILE
    assert HOSTILE in page.texts("h1")
    assert f"What was found in {HOSTILE}" in page.texts("summary")
    assert f"class {HOSTILE}" in page.texts("figcaption")
    assert f"Never seen in the labels: {HOSTILE}." in page.texts("p")


# Writing


def test_one_assessment_needs_no_name(digits, tmp_path):
    write_report(digits["before"], tmp_path / "r.html", title="Ä")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == render({"forecast": digits["before"]}, title="Ä")
    with pytest.raises(FileExistsError, match=r"already exists\. Pass --force"):
        write_report(digits, tmp_path / "r.html")
    write_report(digits, tmp_path / "r.html", force=True)


def test_without_jinja_the_extra_to_install_is_named(digits, monkeypatch, tmp_path):
    imported = builtins.__import__

    def no_jinja(name, *rest):
        if name == "jinja2":
            raise ImportError(name)
        return imported(name, *rest)

    monkeypatch.setattr(builtins, "__import__", no_jinja)
    with pytest.raises(ImportError, match=r"calibrant\[report\]"):
        write_report(digits, tmp_path / "r.html")
    assert list(tmp_path.iterdir()) == []


# The summary: what a report says is true of the data, is plain JSON, and covers odd but legal forecasts


N = 1000


def binary(*groups):
    """Rows of a score that say ``says`` while the event occurs in a share ``comes`` of them."""
    truth = np.concatenate([np.arange(N) < round(comes * N) for _, comes in groups])
    return assess(truth, np.repeat([says for says, _ in groups], N), n_resamples=99)


def by_prediction(*groups):
    """Rows that predict class j with confidence ``says`` and are right in a share ``comes`` of them."""
    k = len(groups)
    prob, truth = [], []
    for j, (says, comes) in enumerate(groups):
        prob += [np.full((N, k), (1 - says) / (k - 1))]
        prob[-1][:, j] = says
        truth += [np.where(np.arange(N) < round(comes * N), j, (j + 1) % k)]
    return assess(np.concatenate(truth), np.concatenate(prob), n_resamples=99)


# Findings


@pytest.mark.parametrize(
    ("assessment", "word"),
    [
        (lambda: by_prediction((0.9, 0.7), (0.9, 0.7), (0.9, 0.7)), "Over-confident by 20.0 points"),
        (lambda: binary((0.4, 0.3), (0.6, 0.7)), "Too timid by 10.0 points"),
        (lambda: binary((0.2, 0.3), (0.4, 0.3), (0.6, 0.5), (0.8, 0.9)), "Too high for some"),
        (lambda: by_prediction((0.7, 0.8), (0.7, 0.6), (0.7, 0.7)), "Off by class: class"),
    ],
    ids=["table over", "event under", "wave", "by class"],
)
def test_a_report_begins_with_the_verdict(assessment, word):
    found = assessment()
    how, *more = findings(found)
    assert how.startswith(word)
    assert [how, *more][: len(found.verdict.sentences)] == list(found.verdict.sentences)
    assert more[-2].startswith("The ECE of" if "by class" in word else "This is more than noise")
    assert more[-1] == ASK


def test_a_calibrated_forecast_shows_nothing_and_is_not_called_proven():
    how, real, then = findings(binary((0.3, 0.3), (0.7, 0.7)))
    assert how.startswith("No miscalibration was detected in 2000 rows: ")
    assert "is within the noise" in real
    assert then.startswith("No miscalibration is visible in 2000 rows.")
    assert "no proof of calibration" in then


def test_findings_quote_the_figures_of_the_assessment():
    assessment = by_prediction((0.9, 0.7), (0.9, 0.7), (0.9, 0.7))
    how, *_, real, _ = findings(assessment)
    ece = assessment["ece"]
    assert how.endswith(": mean confidence 90.0 %, accuracy 70.0 %.")
    assert f"the ECE is {ece.value:.4f}, and {ece.noise_floor:.4f} is expected of a calibrated forecast" in real
    assert ece.pvalue == 1 / 100
    assert "(p <= 0.01, from 99 draws" in real


# Values


ODD = {
    "one column": lambda: (np.array([0, 1, 1]), np.array([0.2, 0.9, 0.4])),
    "two classes": lambda: dirichlet_rows(60, 2),
    "three classes": lambda: dirichlet_rows(60, 3),
    "100 classes": lambda: dirichlet_rows(120, 100),
    "one row": lambda: ([2], [[0.2, 0.3, 0.5]]),
    "one row of one column": lambda: ([1], [0.7]),
    "an absent class": lambda: ([0, 1, 0], [[0.6, 0.3, 0.1], [0.1, 0.8, 0.1], [0.5, 0.4, 0.1]]),
    "certain": lambda: ([0, 1], [[1.0, 0.0], [1.0, 0.0]]),
}


@pytest.fixture(params=ODD)
def odd(request):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="log loss")  # of the certain forecast
        return assess(*ODD[request.param](), n_resamples=9)


def test_odd_but_legal_forecasts_have_a_summary_of_plain_json_and_a_page_without_nan(odd):
    summary = summarise({"forecast": odd})
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    text = render({"forecast": odd})
    assert Page(text).open == []
    assert not re.search(r"\b(nan|None)\b|\binf\b(?!\])", text)  # the range of the log loss is [0, inf]


@pytest.mark.filterwarnings("ignore:log loss")
def test_an_infinite_loss_is_plain_json_and_its_events_are_counted_beside_it():
    found = assess(*ODD["certain"](), clip=0, n_resamples=9)
    summary = summarise({"forecast": found, "clipped": assess(*ODD["certain"](), n_resamples=9)})
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    (line,) = [line for line in summary["table"] if line["metric"] == "nll"]
    assert line["estimates"][0]["value"] == line["estimates"][0]["upper"] == "inf"
    counted = "1 of 2 rows with probability 0 for the true class"
    assert line["notes"] == [counted, f"{counted}, 36.04 nats each"]
    assert f"The log loss is not exact: {counted}, 36.04 nats each." in summary["forecasts"][1]["findings"]
    assert f"The log loss is infinite: {counted}." in summary["forecasts"][0]["findings"]
    page = render({"forecast": found})
    assert "inf]" in page
    assert counted in page


def test_the_bins_are_those_of_the_curve(odd):
    panel = odd.curve.panels[0]
    found = summarise({"forecast": odd})["diagrams"][0]["curves"][0]["bins"]
    nan, (left, right) = {None: np.nan}, (panel.bins.edges[:-1], panel.bins.edges[1:])
    columns = {name: getattr(panel.bins, name) for name in ("count", "mean_prob", "event_rate")}
    columns |= {"left": left, "right": right, "lower": panel.lower, "upper": panel.upper}
    for key, column in columns.items():
        np.testing.assert_array_equal([nan.get(b[key], b[key]) for b in found], column)


@pytest.mark.parametrize("weight", [None, 2.0])
def test_the_worst_classes_come_first_by_the_error_without_its_bias(weight):
    rng = np.random.default_rng(0)
    prob = rng.dirichlet(np.ones(20), 2000)
    truth = np.array([rng.choice(20, p=p) for p in prob])
    bold = prob**2 / (prob**2).sum(axis=1, keepdims=True)
    weights = {} if weight is None else {"sample_weight": np.full(2000, weight)}
    both = {name: assess(truth, p, n_resamples=1, **weights) for name, p in (("bold", bold), ("right", prob))}
    summary = summarise(both)
    errors = [
        [debiased_calibration_error(truth == k, p[:, k], binning=EqualWidth(15), **weights) for p in (bold, prob)]
        for k in range(20)
    ]
    lines = summary["classes"]
    assert [line["name"] for line in lines] == [f"class {k}" for k in sorted(range(20), key=lambda k: -max(errors[k]))]
    for line in lines:
        k = int(line["name"].split()[1])
        assert [one["error"] for one in line["of"]] == pytest.approx([100 * error for error in errors[k]])
        assert line["of"][0]["occurred"] == pytest.approx(100 * (truth == k).mean())
    shown = summary["class_diagrams"]
    assert [one["name"] for one in shown] == [line["name"] for line in lines[:MOST_CLASSES]]
    assert [c["forecast"] for c in shown[0]["curves"]] == ["bold", "right"]


def test_a_line_joins_neighbours_of_enough_rows_alone():
    prob = np.repeat([0.1, 0.3, 0.5, 0.7, 0.9], [40, 40, 5, 40, 40])
    (diagram,) = summarise({"f": assess(np.arange(165) % 2, prob, binning=5, n_resamples=1)})["diagrams"]
    (curve,) = diagram["curves"]
    runs = [[b["mean_prob"] for b in run] for run in curve["joined"]]
    assert runs == [pytest.approx([0.1, 0.3]), pytest.approx([0.7, 0.9])]
    assert [b["few"] for b in curve["bins"]] == [False, False, True, False, False]


# Refusals

ONE = assess([0, 1], [0.3, 0.6], n_resamples=1)
ASIDE = ["advice", "clinical"]
OF_ONE = {"advice": advise([0, 1], [0.3, 0.6])}
REFUSED = [
    ({}, {}, ValueError, "a report must hold at least one result; got none"),
    ({"a": ONE, "b": ONE}, OF_ONE, TypeError, "advice must say which .*; got one for a, b"),
]
REFUSED += [(one, {}, TypeError, "a report must be of type Assessment") for one in (3, "x", [], {"a": 1}, {"a": None})]
REFUSED += [
    ({"f": ONE}, {what: {"g": ()}}, ValueError, f"{what} must be of forecasts of the report; got g for f")
    for what in ASIDE
]
REFUSED += [
    ({"f": ONE}, {what: given}, TypeError, rf"{what} must be (of type|a dict by the names of forecasts).*; got .*Pass ")
    for what in (*ASIDE, "differences")
    for given in (3, "platt", [1], {"f": "platt"})
]


@pytest.mark.parametrize(("found", "beside", "error", "said"), REFUSED)
def test_what_no_report_can_be_made_of_is_refused(found, beside, error, said):
    with pytest.raises(error, match=said):
        summarise(found, **beside)


@pytest.mark.parametrize("missing", NEEDED)
def test_an_assessment_without_the_metrics_of_the_sentences_is_refused(missing):
    metrics = [name for name in (*NEEDED, "brier") if name != missing]
    assessment = assess(*ODD["three classes"](), metrics=metrics, n_resamples=1)
    with pytest.raises(ValueError, match=rf"needs accuracy, nll, ece; 'mine' was assessed without {missing}\. Add"):
        summarise({"mine": assessment})
