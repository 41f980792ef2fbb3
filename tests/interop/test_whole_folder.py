"""A folder of tables is written whole or not at all, and never in the place of anything else."""

import os
from pathlib import Path

import pytest

from calibrant.interop.writing import whole_folder


def tree(folder):
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder that holds a folder of old tables, and rows to read."""
    monkeypatch.chdir(tmp_path)
    for name in ("out/old.csv", "rows/in/a.csv"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(name)
    return tmp_path


def write(path="new", content="new", **options):
    with whole_folder(Path(path), **options) as beside:
        (beside / "new.csv").write_text(content)


def test_a_folder_that_stands_there_is_never_replaced(place):
    for path in ("out", "out/old.csv"):
        with pytest.raises(FileExistsError, match=r"must be a new folder; out.* already exists\. Remove it, or"):
            write(path)
    assert tree(place) == {"out/old.csv": "out/old.csv", "rows/in/a.csv": "rows/in/a.csv"}


@pytest.mark.parametrize("output", ["rows/new", "rows/in/deep"])
def test_a_folder_in_what_is_read_is_refused(output, place):
    before = tree(place)
    with pytest.raises(ValueError, match=r"must be apart from what is read; got .*, which lies in rows"):
        write(output, inputs=["rows"])
    assert tree(place) == before


@pytest.mark.parametrize(("output", "read"), [("rows/new", "rows/in"), ("rows/new", "rows/*.csv"), ("new", "*.csv")])
def test_a_folder_beside_what_is_read_is_written(output, read, place):
    write(output, inputs=[read, "s3://bucket/rows"])
    assert tree(place / output) == {"new.csv": "new"}


def test_the_place_of_a_folder_must_be_there(place):
    with pytest.raises(FileNotFoundError, match=r"directory must exist; got .*nowhere\. Create it first"):
        write("nowhere/out")


@pytest.mark.parametrize("accident", [KeyboardInterrupt(), OSError(5, "Input/output error"), SystemExit(1)], ids=repr)
def test_an_interruption_leaves_no_folder(accident, place, monkeypatch):
    def interrupted(self, to):
        raise accident

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(type(accident)):
        write()
    assert sorted(os.listdir(place)) == ["out", "rows"]
