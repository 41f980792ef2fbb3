"""The figures of docs/reliability.md are those that the tools stored, and no law was broken."""

import pytest

from tools import reliability


def test_the_table_of_the_page_is_made_from_what_the_tools_stored():
    page = reliability.PAGE.read_text(encoding="utf-8")
    assert reliability.PLACE.search(page)[0] == reliability.table()


def test_no_law_was_broken():
    assert {
        name: one["figures"].get("broken laws", 0) for name, one in reliability.recorded().items()
    } == dict.fromkeys(reliability.recorded(), 0)


def test_a_record_replaces_one_row(tmp_path, monkeypatch):
    monkeypatch.setattr(reliability, "RECORD", tmp_path / "r.json")
    monkeypatch.setattr(reliability, "PAGE", tmp_path / "r.md")
    reliability.PAGE.write_text("before\n<!-- figures -->\nold\n<!-- end of figures -->\nafter\n")
    reliability.main(["inject_faults", "accidents=12000", "disk full=7", "broken laws=0"])
    page = reliability.PAGE.read_text()
    assert "| 12 000 accidents (7 disk full); after 0 of them a promise was broken | `python -m tools.inject_f" in page
    assert "not measured yet" in page
    assert page.startswith("before\n")
    assert page.endswith("after\n")
    with pytest.raises(ValueError, match=r"one of fuzz, .*; got 'x'"):
        reliability.record("x", {})
