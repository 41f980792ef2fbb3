"""Progress bars are shown where they are asked for, and never stand in the way."""

import io
import sys

import pytest

from calibrant._core.checks import progress_bar, tracked


def test_items_pass_through_in_their_order():
    assert list(tracked(iter("abc"), 3, show=False, desc="items", unit="item")) == ["a", "b", "c"]


def test_a_bar_counts_the_items_and_is_gone_afterwards(monkeypatch):
    pytest.importorskip("tqdm")
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)
    assert list(tracked(range(3), 3, show=True, desc="rows mapped", unit="row")) == [0, 1, 2]
    assert "rows mapped" in shown.getvalue()
    assert shown.getvalue().rstrip("\r").endswith(" ")  # the line is wiped


def test_nothing_is_written_where_nobody_asked(capsys):
    with progress_bar(2, show=False, desc="fit", unit="step") as advance:
        advance(2)
    assert capsys.readouterr().err == ""


def test_without_tqdm_the_work_is_done_all_the_same(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with progress_bar(2, show=True, desc="fit", unit="step") as advance:
        advance(1)
    assert capsys.readouterr().err == ""


def test_a_bar_is_closed_when_the_work_fails(monkeypatch):
    pytest.importorskip("tqdm")
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)

    def fail():
        with progress_bar(2, show=True, desc="fit", unit="step"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert shown.getvalue().rstrip("\r").endswith(" ")
