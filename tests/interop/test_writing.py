"""Files and folders are written whole or not at all, and found by names, folders and patterns."""

import errno
import os
import re
import stat
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from calibrant.exceptions import CalibrationWarning
from calibrant.interop import writing
from calibrant.interop.writing import is_pattern, local_files, warn_of_unread, whole_file, whole_folder


@pytest.fixture(params=[False, True], ids=["new", "old"])
def target(request, tmp_path):
    """A path to write to, at which an old file stands or not."""
    path = tmp_path / "out.txt"
    if request.param:
        path.write_text("old")
    return path


def content(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


@pytest.mark.parametrize(
    "accident",
    [OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), KeyboardInterrupt(), ValueError("no"), SystemExit(1)],
    ids=lambda accident: type(accident).__name__,
)
def test_an_interrupted_write_leaves_the_old_file_intact(accident, target, tmp_path):
    def write():
        with whole_file(target, force=True) as beside:
            beside.write_text("half of it")
            raise accident

    before, kept = content(tmp_path), "what stood there still does" if target.exists() else "nothing was written"
    with pytest.raises(type(accident)) as told:
        write()
    assert content(tmp_path) == before
    if isinstance(accident, OSError):
        said = rf"out\.txt could not be: No space left on device; {kept}\. Make room"
        assert re.search(said, str(told.value))
        assert told.value.errno == errno.ENOSPC


@pytest.mark.parametrize("force", [True, False])
@pytest.mark.parametrize("step", ["fsync", "chmod", "replace"])
def test_a_write_that_fails_at_its_end_leaves_the_old_file_intact(step, force, tmp_path, monkeypatch):
    path = tmp_path / "out.txt"
    if force:
        path.write_text("old")
    before = content(tmp_path)
    for name in (step, "link"):  # of a file system that has none
        monkeypatch.setattr(os, name, Mock(side_effect=OSError(errno.ENOSPC, "No space left on device")))
    with pytest.raises(OSError, match="No space left"), whole_file(path, force=force) as beside:
        beside.write_text("all of it")
    monkeypatch.undo()
    assert content(tmp_path) == before


def test_nothing_is_to_be_seen_at_the_path_before_the_end(tmp_path, monkeypatch):
    """A process that is killed between two steps would leave an empty file that a later command takes for the output."""
    target, seen = tmp_path / "out.txt", []
    for step in ("link", "chmod", "fsync"):
        made = getattr(os, step)
        monkeypatch.setattr(os, step, lambda *given, made=made: (seen.append(target.exists()), made(*given))[1])
    with whole_file(target) as beside:
        beside.write_text("half")
        seen.append(target.exists())
        assert beside.parent == target.parent  # a rename between file systems would be a copy
    assert (seen, content(tmp_path)) == ([False] * 4, {"out.txt": "half"})


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_permissions_are_those_of_the_old_file_or_of_any_new_one(target, tmp_path):
    other = tmp_path / "other"
    other.touch()
    for path in (target, other) if target.exists() else ():
        path.chmod(0o640)
    before = os.umask(0)
    os.umask(before)
    with whole_file(target, force=True) as beside:
        beside.write_text("new")
    assert stat.S_IMODE(target.stat().st_mode) == stat.S_IMODE(other.stat().st_mode)
    assert os.umask(before) == before  # it stays as it was


def test_of_two_writers_without_force_the_second_is_refused_and_the_first_file_kept(tmp_path, monkeypatch):
    target = tmp_path / "out.txt"

    def second():
        with whole_file(target) as beside:
            beside.write_text("second")
            with whole_file(target) as other:
                other.write_text("first")
            monkeypatch.setattr(Path, "exists", lambda _: False)  # as a moment before

    with pytest.raises(FileExistsError, match=r"out\.txt already exists"):
        second()
    assert content(tmp_path) == {"out.txt": "first"}


@pytest.mark.skipif(os.name != "posix", reason="pipes with names are those of POSIX")
@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize(
    ("kind", "error", "said"),
    [
        ("pipe", OSError, r"must be a file; got .*device, a pipe or a loop"),
        ("loop", OSError, r"must be a file; got .*device, a pipe or a loop"),
        ("folder", IsADirectoryError, "must be a file"),
        ("nowhere", FileNotFoundError, r"directory must exist; got .*nowhere"),
    ],
)
def test_what_is_no_file_is_refused_even_by_force(kind, error, said, force, tmp_path):
    target = tmp_path / "out.txt"
    makers = {"pipe": os.mkfifo, "loop": lambda path: path.symlink_to(path), "folder": os.mkdir}
    if kind in makers:
        makers[kind](target)
    before = os.listdir(tmp_path)
    asked = tmp_path / "nowhere" / "out.txt" if kind == "nowhere" else target
    with pytest.raises(error, match=said), whole_file(asked, force=force):
        raise AssertionError("the block was entered")
    assert os.listdir(tmp_path) == before


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of a file that was open at that moment
@pytest.mark.parametrize("force", [False, True])
def test_an_interrupt_at_any_line_leaves_all_or_nothing(force, tmp_path):
    target, ended = tmp_path / "out.txt", set()

    def write(line):
        passed = iter(range(1, line + 1))

        def trace(frame, event, _):
            if frame.f_code.co_filename != writing.__file__:
                return None
            if event == "line" and next(passed, None) == line:
                raise KeyboardInterrupt
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            with whole_file(target, force=force) as beside:
                beside.write_text("all of it")
        finally:
            sys.settrace(before)

    for line in range(1, 100):
        try:
            write(line)
        except KeyboardInterrupt:
            found = content(tmp_path)
            assert found in ({}, {"out.txt": "all of it"}), line
            ended.add(len(found))
            target.unlink(missing_ok=True)
        else:
            break
    assert line > 20
    assert ended == {0, 1}


@pytest.mark.skipif(os.name != "posix", reason="symbolic links are those of POSIX")
@pytest.mark.parametrize("dangling", [False, True])
def test_a_symbolic_link_is_followed(dangling, tmp_path):
    target, link = tmp_path / "real.txt", tmp_path / "link.txt"
    link.symlink_to(target)
    if not dangling:
        target.write_text("old")
        with pytest.raises(FileExistsError), whole_file(link):
            raise AssertionError("the block was entered")
    with whole_file(link, force=not dangling) as beside:
        beside.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
def test_a_command_that_is_terminated_removes_its_temporary_file(tmp_path):
    import signal
    import subprocess
    import time

    code = """
import sys, time
from calibrant import cli
from calibrant.interop import tables
def slow(target, table, names):
    target.write("half")
    print("writing", flush=True)
    time.sleep(60)
tables.write_rows = slow
sys.exit(cli.main(["decide", "in.csv", "--costs", "0,1;4,0", "-o", "out.csv"]))
"""
    (tmp_path / "in.csv").write_text("label,p\n1,0.5\n0,0.2\n")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, text=True, **pipes) as run:
        while "writing" not in (line := run.stdout.readline()) and line:
            time.sleep(0)
        run.send_signal(signal.SIGTERM)
        _, said = run.communicate(timeout=60)
    assert run.returncode == 128 + signal.SIGTERM
    assert said.endswith("calibrant: terminated; no file was left half written\n")
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


# A folder of tables is written whole or not at all, and never in the place of anything else


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


@pytest.mark.parametrize(
    ("path", "error", "said"),
    [
        ("out", FileExistsError, r"must be a new folder; out already exists\. Choose another name\."),
        ("out/old.csv", FileExistsError, r"must be a new folder; out.* already exists\. Choose another name\."),
        ("nowhere/out", FileNotFoundError, r"directory must exist; got .*nowhere\. Create it first"),
        ("rows/new", ValueError, r"must be apart from what is read; got .*, which lies in rows"),
        ("rows/in/deep", ValueError, r"must be apart from what is read; got .*, which lies in rows"),
    ],
)
def test_a_folder_replaces_nothing_and_lies_apart_from_what_is_read(path, error, said, place):
    with pytest.raises(error, match=said):
        write(path, inputs=["rows"])
    assert tree(place) == {"out/old.csv": "out/old.csv", "rows/in/a.csv": "rows/in/a.csv"}


@pytest.mark.parametrize(("output", "read"), [("rows/new", "rows/in"), ("rows/new", "rows/*.csv"), ("new", "*.csv")])
def test_a_folder_beside_what_is_read_is_written(output, read, place):
    write(output, inputs=[read, "s3://bucket/rows"])
    assert tree(place / output) == {"new.csv": "new"}


@pytest.mark.parametrize("accident", [KeyboardInterrupt(), OSError(5, "Input/output error"), SystemExit(1)], ids=repr)
def test_an_interruption_leaves_no_folder(accident, place, monkeypatch):
    monkeypatch.setattr(Path, "rename", Mock(side_effect=accident))
    with pytest.raises(type(accident)):
        write()
    assert sorted(os.listdir(place)) == ["out", "rows"]


# Paths, folders and patterns stand for files, each of them once

LINKS = pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")


@pytest.fixture
def names(tmp_path, monkeypatch):
    """Make files, and return the names of those that an address stands for."""
    monkeypatch.chdir(tmp_path)
    read = ["b.csv", "a.csv", "in/c.csv", "runs[1]/f.csv", "runs1/g.csv"]
    for name in [*read, "_no/d.csv", ".no/e.csv", "._a.csv", "notes.txt"]:
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
    monkeypatch.setattr("os.scandir", Mock(side_effect=PermissionError(13, "Permission denied")))
    with pytest.raises(PermissionError):
        names("in")


@LINKS
def test_links_to_folders_are_named(names, tmp_path):
    (tmp_path / "in" / "more").symlink_to(tmp_path / "runs1", target_is_directory=True)
    with pytest.warns(CalibrationWarning, match=r"in holds more, not read: .* name what links lead to"):
        warn_of_unread("in", tmp_path / "in")
