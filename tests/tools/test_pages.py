"""The pages that are made with the documentation hold every public name and every decision, and a word leads to one page."""

import importlib
import json
import re
from collections import Counter
from pathlib import Path

import pytest

import calibrant
from calibrant._core.lazy import PACKAGES
from tools.pages import decisions, links, llms, reference, search, tables

DECISIONS = Path(__file__).resolve().parents[2] / "docs" / "decisions"


def test_every_public_name_is_described_under_a_name_that_imports():
    assert set(reference.TITLES) == set(PACKAGES)
    for home in reference.homes().values():
        module, _, name = home.rpartition(".")
        assert hasattr(importlib.import_module(module), name), home


def test_the_reference_begins_with_every_name_of_the_front_door():
    listed = [name for names in reference.front_door().values() for name in names]
    assert sorted(listed) == sorted(set(calibrant.__all__) - set(PACKAGES))
    assert [name for name in listed if f"`{name} <{reference.homes()[name]}>`" not in reference.front_page()] == []


@pytest.mark.parametrize("package", reference.public_packages())
def test_every_name_of_a_package_stands_on_its_page_once(package):
    names = reference.public_packages()[package]
    page = reference.package_page(package, names)
    listed = Counter(line.strip() for line in page.splitlines() if line.startswith("   "))
    assert {name: listed[name] for name in names} == dict.fromkeys(names, 1)


def test_every_heading_of_the_reference_has_names_below_it():
    packages = reference.public_packages()
    used = {(package, reference.group_of(package, name)) for package, names in packages.items() for name in names}
    assert {(package, title) for package, titles in reference.GROUPS.items() for title in titles} <= used


def test_a_word_leads_to_one_name():
    words = Counter(word.lower() for words in reference.words().values() for word in words)
    assert words.most_common(1)[0][1] == 1
    assert {"ece", "mce", "ace", "tce", "ici", "nll", "auc", "vus"} <= set(words)


def test_the_tables_link_the_words_to_the_pages_of_their_functions():
    page = tables.page(reference.homes())
    assert "{py:obj}`ece <calibrant.metrics.expected_calibration_error>`" in page
    assert "{py:obj}`temperature <calibrant.calibrators.TemperatureScaling>`" in page


def test_every_decision_is_listed_with_date_and_status():
    page = decisions.page(DECISIONS)
    for path in DECISIONS.glob("[0-9]*.md"):
        title, date, status = decisions.decision(path)
        assert f"| {int(path.name[:4])} | [{title}]({path.name}) | {date} | {status} |" in page


@pytest.mark.parametrize("left_out", ["# 7. Names", "2026-11-23", "Status: accepted."])
def test_a_decision_without_title_date_or_status_is_refused(left_out, tmp_path):
    path = tmp_path / "0007-names.md"
    path.write_text("# 7. Names\n\nDate: 2026-11-23. Status: accepted.\n".replace(left_out, ""))
    with pytest.raises(ValueError, match=r"0007-names\.md does not"):
        decisions.page(tmp_path)


def test_a_search_that_leads_elsewhere_is_found(tmp_path):
    def build(entries):
        pages = list(search.FIRST.values())
        entries = {word.lower(): places for word, places in entries.items()}
        index = {"docnames": [*pages, "glossary"], "titles": [*pages, "What a term means"], "indexentries": entries}
        (tmp_path / "searchindex.js").write_text(f"Search.setIndex({json.dumps(index)})")
        return search.wrong(tmp_path)

    right = {query: [[place, "id", True]] for place, query in enumerate(search.FIRST)}
    assert build(right) == []
    assert len(build(right | {"ECE": [[1, "id", True]]})) == 1
    assert len(build(right | {"ECE": [[0, "id", False]]})) == 1
    assert build(right | {"ECE": [*right["ECE"], [len(right), "id", True]]}) == []
    gallery = list(search.FIRST.values()).index("gallery")  # its title comes before those of all others here
    assert len(build(right | {"ECE": [*right["ECE"], [gallery, "id", True]]})) == 1


def test_a_page_of_the_record_before_one_of_users_and_a_page_below_the_third_are_found():
    assert list(search.misled({"ECE": [search.FIRST["ECE"], "faq", "arena", "decisions/0001-x"]})) == []
    assert len(list(search.misled({"ECE": ["faq", "guide", "gallery", search.FIRST["ECE"]]}))) == 1
    assert len(list(search.misled({"ECE": [search.FIRST["ECE"], "arena", "faq"]}))) == 1
    assert len(search.ASKED) >= 40


def test_the_page_for_programs_has_each_public_name_once_with_its_first_sentence():
    text = llms.page({"faq": "Questions and answers", "arena": "The arena", "reference/metrics": "Metrics"}, ["arena"])
    assert text.index("(faq.html)") < text.index("\n## The record") < text.index("(arena.html)")
    found = Counter(re.findall(r"^- \[`\w+.*?`\]\(reference/([\w.]+)\.html\): [A-Z0-9].*\.$", text, flags=re.M))
    assert found == Counter(reference.homes().values())
    assert "\n- [Questions and answers](faq.html)\n" in text
    assert "`assess(y_true, y_prob=None, *, metrics=None, " in text
    assert "](reference/metrics.html)" not in text


def test_a_dead_link_and_a_picture_without_a_text_are_found(tmp_path):
    (tmp_path / "a b.html").write_text('<h1 id="top">A</h1><a href="#top">up</a><a href="https://else.where/x">out</a>')
    (tmp_path / "right.html").write_text('<a href="a%20b.html#top">A</a><img src="a b.html" alt="Two words">')
    (tmp_path / "llms.txt").write_text("- [A](right.html): a page\n")
    assert links.wrong(tmp_path) == []
    page = '<a href="gone.html">1</a><a href="a b.html#end">2</a><img src="a b.html" alt="A">'
    (tmp_path / "wrong.html").write_text(page)
    (tmp_path / "llms.txt").write_text("- [A](gone.html): a page\n")
    assert [sentence.partition(",")[0] for sentence in links.wrong(tmp_path)] == [
        "wrong.html links to a b.html#end",
        "wrong.html links to gone.html",
        "wrong.html shows a b.html without a text (alt)",
        "llms.txt links to gone.html",
    ]
