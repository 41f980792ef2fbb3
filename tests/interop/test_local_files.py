"""Paths, folders and patterns stand for files, each of them once."""

import os
from pathlib import Path

import pytest

from calibrant.exceptions import CalibrationWarning
from calibrant.interop.writing import is_pattern, local_files, warn_of_unread

LINKS = pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")


@pytest.fixture
def names(tmp_path, monkeypatch):
    """Make files, and return the names of those that an address stands for."""
    monkeypatch.chdir(tmp_path)
    for name in (
        "b.csv",
        "a.csv",
        "in/c.csv",
        "_no/d.csv",
        ".no/e.csv",
        "._a.csv",
        "notes.txt",
        "runs[1]/f.csv",
        "runs1/g.csv",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    return lambda address: [path.relative_to(tmp_path).as_posix() for path in local_files(tmp_path / address)]


def test_a_folder_stands_for_its_tables_by_name(names):
    assert names(".") == ["a.csv", "b.csv", "in/c.csv", "runs1/g.csv", "runs[1]/f.csv"]
    assert names("in/c.csv") == ["in/c.csv"]
    assert names("nowhere") == names("notes.txt/x") == []


def test_a_pattern_stays_within_a_folder_unless_it_has_two_stars(names):
    assert names("*.csv") == ["a.csv", "b.csv"]
    assert names("*/c.*") == ["in/c.csv"]
    assert names("**/[bc].csv") == ["b.csv", "in/c.csv"]
    assert names(".*.csv") == ["._a.csv"]


def test_brackets_in_the_name_of_what_is_there_are_no_pattern(names):
    assert names("runs[1]") == names("runs[1]/f.csv") == ["runs[1]/f.csv"]
    assert names("runs[12]/*.csv") == ["runs1/g.csv"]
    assert names("runs[1]/h.csv") == []
    assert names("runs[1]/*.csv") == ["runs[1]/f.csv"]
    assert [is_pattern(a) for a in ("runs[1]", "runs[1]/f.csv", "runs[12]", "runs1/*")] == [False, False, True, True]


@LINKS
def test_links_to_files_are_followed_and_those_to_folders_are_not(names, tmp_path):
    (tmp_path / "in" / "round").symlink_to(tmp_path / "in", target_is_directory=True)
    (tmp_path / "in" / "a_link.csv").symlink_to(tmp_path / "in" / "c.csv")
    (tmp_path / "in" / "more").symlink_to(tmp_path / "runs1", target_is_directory=True)
    (tmp_path / "in" / "gone.csv").symlink_to(tmp_path / "nowhere")
    assert names("in") == ["in/c.csv", "in/gone.csv"]
    assert names("in/a_link.csv") == ["in/a_link.csv"]


def test_a_pattern_is_of_the_folder_that_one_stands_in(names, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path / "runs[1]")
    assert [path.name for path in local_files(Path("*.csv"))] == ["f.csv"]


def test_a_folder_that_cannot_be_listed_is_no_folder_without_files(names, monkeypatch):
    def closed(path):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("os.scandir", closed)
    with pytest.raises(PermissionError):
        names("in")


@LINKS
def test_links_to_folders_are_named(names, tmp_path):
    (tmp_path / "in" / "more").symlink_to(tmp_path / "runs1", target_is_directory=True)
    with pytest.warns(CalibrationWarning, match=r"in holds more, not read: .* name what links lead to"):
        warn_of_unread("in", tmp_path / "in")
