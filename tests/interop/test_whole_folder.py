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


def write(path="out", content="new", **options):
    with whole_folder(Path(path), **{"force": True, **options}) as beside:
        (beside / "new.csv").write_text(content)


def test_a_folder_of_tables_is_replaced_by_force_alone(place):
    with pytest.raises(FileExistsError, match=r"^out already exists\. Pass --force"):
        write(force=False)
    write()
    assert tree(place) == {"out/new.csv": "new", "rows/in/a.csv": "rows/in/a.csv"}
    assert sorted(os.listdir(place)) == ["out", "rows"]


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("output", ["rows", "rows/in", "rows/new", ".", "rows/in/deep"])
@pytest.mark.parametrize("read", ["rows", "rows/**/*.csv"])
def test_a_folder_that_touches_what_is_read_is_refused(read, output, force, place):
    before = tree(place)
    with pytest.raises(ValueError, match=rf"must be apart from what is read; got .*, which is {read[:4]}"):
        write(output, inputs=[read], force=force)
    assert tree(place) == before


@pytest.mark.parametrize(("output", "read"), [("rows/new", "rows/in"), ("rows/new", "rows/*.csv"), ("out", "*.csv")])
def test_a_folder_beside_what_is_read_is_written(output, read, place):
    write(output, inputs=[read, "s3://bucket/rows"])
    assert tree(place / output) == {"new.csv": "new"}


def test_a_folder_that_holds_more_than_tables_is_never_replaced(place):
    (place / "out" / "in").mkdir()
    (place / "out" / "in" / "thesis.tex").write_text("words")
    with pytest.raises(
        FileExistsError, match=r"hold tables alone, .*; out holds in.thesis\.tex\. Choose another folder"
    ):
        write()
    assert tree(place / "out")["in/thesis.tex"] == "words"


def test_what_came_into_the_old_folder_in_the_meantime_is_kept(place):
    with pytest.raises(FileExistsError, match="hold tables alone"), whole_folder(Path("out"), force=True):
        (place / "out" / "notes.txt").write_text("words")
    assert tree(place / "out") == {"old.csv": "out/old.csv", "notes.txt": "words"}
    assert sorted(os.listdir(place)) == ["out", "rows"]


def test_the_folder_where_one_is_is_never_replaced(place, monkeypatch):
    monkeypatch.chdir(place / "out")
    for name in (".", "../out"):
        with pytest.raises(ValueError, match="must not be the folder where you are"):
            write(name)


def test_links_and_files_are_no_folders_to_replace(place):
    (place / "out" / "x.txt").write_text("file")
    with pytest.raises(NotADirectoryError, match=r"must be a folder; got the file out.x\.txt"):
        write("out/x.txt")
    with pytest.raises(FileNotFoundError, match=r"directory must exist; got .*nowhere\. Create it first"):
        write("nowhere/out")
    if os.name != "nt":
        (place / "link").symlink_to("out", target_is_directory=True)
        with pytest.raises(ValueError, match=r"and no symbolic link; got link\. Name the folder that it points to"):
            write("link")


@pytest.mark.parametrize("accident", [KeyboardInterrupt(), OSError(5, "Input/output error"), SystemExit(1)], ids=repr)
@pytest.mark.parametrize("at", ["before", "after"])
@pytest.mark.parametrize("step", [1, 2])
def test_an_interruption_between_the_two_renames_loses_nothing(step, at, accident, place, monkeypatch):
    rename, calls = Path.rename, []

    def interrupted(self, to):
        calls.append(to)
        if len(calls) == step and at == "before":
            raise accident
        found = rename(self, to)
        if len(calls) == step:
            raise accident
        return found

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(type(accident)):
        write()
    assert tree(place / "out") in ({"old.csv": "out/old.csv"}, {"new.csv": "new"})
    assert (tree(place / "out") == {"new.csv": "new"}) == ((step, at) == (2, "after"))
    assert sorted(os.listdir(place)) == ["out", "rows"]


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_a_folder_that_holds_what_a_link_leads_to_is_not_replaced(place):
    (place / "rows" / "b.csv").symlink_to(place / "out" / "old.csv")
    with pytest.raises(ValueError, match="must be apart from what is read"):
        write(inputs=["rows"])
    (place / "rows" / "b.csv").unlink()
    (place / "rows" / "more").symlink_to(place / "out", target_is_directory=True)
    for read in ("rows", "rows/**/*.csv", "rows/more"):
        with pytest.raises(ValueError, match="must be apart from what is read"):
            write(inputs=[read])
    assert tree(place / "out") == {"old.csv": "out/old.csv"}
