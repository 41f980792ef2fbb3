"""The page is one file that loads nothing and runs its own script, shows what the summary holds, and escapes names."""

import base64
import builtins
import hashlib
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from calibrant import assess, load_digits_forecast, write_report
from calibrant.assessment.table import figures_of
from calibrant.report.page import DRAWN, render, summarise

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
        drawn = [
            (place[key], one[key])
            for place, one in zip(line["places"], line["estimates"], strict=True)
            for key in DRAWN
        ]
        drawn = sorted(one for one in drawn if one[0] is not None)
        assert [value for _, value in drawn] == sorted(value for _, value in drawn)
        assert all(3 <= place <= 97 for place, _ in drawn)
        zero = drawn[0][1] if line["estimates"][0]["noise_floor"] is None else 0.0
        _, value = drawn[-1]
        assert [at for at, _ in drawn] == pytest.approx(
            [3 + 94 * (v - zero) / (value - zero) for _, v in drawn], abs=0.02
        )


def test_the_tables_of_bins_show_the_figures_of_the_curve(digits, page):
    cells = page.texts("td")
    bins = digits["before"].curve.panels[0].bins
    panel = digits["before"].curve.panels[0]
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
    from calibrant.report.sentences import findings, headline

    shown = page.texts("p")
    for sentence in [
        *findings(digits["before"]),
        *findings(digits["after"]),
        *summarise(digits)["comparison"],
        headline(digits),
    ]:
        assert sentence in shown


@pytest.mark.parametrize(
    "data",
    [
        ([1], [0.7]),
        ([0], [[0.2, 0.3, 0.5]]),
        ([0, 1], [[0.6, 0.3, 0.1], [0.1, 0.8, 0.1]]),
        (np.arange(100), np.full((100, 100), 0.01)),
    ],
    ids=["one row", "one row of a table", "an absent class", "100 classes"],
)
def test_odd_but_legal_forecasts_have_a_page_without_nan(data):
    text = render({"f": assess(*data, n_resamples=9)})
    assert Page(text).open == []
    assert not re.search(r"\b(nan|None)\b|\binf\b(?!\])", text)  # the range of the log loss is [0, inf]


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
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert text == render({"forecast": digits["before"]}, title="Ä")


def test_a_page_that_exists_is_kept_unless_forced(digits, tmp_path):
    path = tmp_path / "r.html"
    path.write_text("mine")
    with pytest.raises(FileExistsError, match=r"already exists\. Pass --force"):
        write_report(digits, path)
    assert path.read_text() == "mine"
    write_report(digits, path, force=True)
    assert path.read_text(encoding="utf-8") == render(digits)


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
