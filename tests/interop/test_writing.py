"""A file is written whole or not at all."""

import errno
import os
import stat

import pytest

from calibrant.interop.writing import whole_file


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
    [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), ValueError("no"), SystemExit(1)],
    ids=lambda accident: type(accident).__name__,
)
def test_an_interrupted_write_leaves_the_old_file_intact(accident, target, tmp_path):
    def write():
        with whole_file(target, force=True) as beside:
            beside.write_text("half of it")
            raise accident

    before = content(tmp_path)
    with pytest.raises(type(accident)):
        write()
    assert content(tmp_path) == before


@pytest.mark.parametrize("step", ["fsync", "chmod", "replace"])
def test_a_write_that_fails_at_its_end_leaves_the_old_file_intact(step, target, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    before = content(tmp_path)
    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match="No space left"), whole_file(target, force=True) as beside:
        beside.write_text("all of it")
    monkeypatch.undo()
    assert content(tmp_path) == before


def test_a_full_disk_is_told_with_what_became_of_the_file(target, tmp_path):
    kept = "what stood there still does" if target.exists() else "nothing was written"
    message = rf"out\.txt could not be: No space left on device; {kept}\. Make room"
    with pytest.raises(OSError, match=message) as told, whole_file(target, force=True):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert told.value.errno == errno.ENOSPC


def test_nothing_is_to_be_seen_at_the_path_before_the_end(tmp_path):
    target = tmp_path / "out.txt"
    with whole_file(target) as beside:
        beside.write_text("half")
        assert not target.exists()
        assert beside.parent == target.parent  # a rename between file systems would be a copy
    assert content(tmp_path) == {"out.txt": "half"}


def test_a_file_that_exists_is_refused_before_anything_is_written(tmp_path):
    target = tmp_path / "out.txt"
    target.write_text("old")
    with pytest.raises(FileExistsError, match=r"must not exist yet; got .*out\.txt\. .*--force"), whole_file(target):
        raise AssertionError("the block was entered")
    assert content(tmp_path) == {"out.txt": "old"}


def test_a_directory_is_refused_even_by_force(tmp_path):
    with pytest.raises(IsADirectoryError, match="must be a file"), whole_file(tmp_path, force=True):
        raise AssertionError("the block was entered")


def test_a_directory_that_is_not_there_is_refused(tmp_path):
    target = tmp_path / "nowhere" / "out.txt"
    with pytest.raises(FileNotFoundError, match=r"directory must exist; got .*nowhere"), whole_file(target):
        raise AssertionError("the block was entered")


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_permissions_are_those_of_the_old_file_or_of_any_new_one(target, tmp_path):
    if target.exists():
        target.chmod(0o640)
        expected = 0o640
    else:
        other = tmp_path / "other"
        other.touch()
        expected = stat.S_IMODE(other.stat().st_mode)
    with whole_file(target, force=True) as beside:
        beside.write_text("new")
    assert stat.S_IMODE(target.stat().st_mode) == expected


def test_of_two_writers_without_force_the_second_is_refused_and_the_first_file_kept(tmp_path):
    target = tmp_path / "out.txt"

    def second():
        with whole_file(target) as beside:
            beside.write_text("second")
            with whole_file(target) as other:
                other.write_text("first")

    with pytest.raises(FileExistsError, match=r"must not exist yet; got .*out\.txt"):
        second()
    assert content(tmp_path) == {"out.txt": "first"}


def test_a_rename_that_fails_leaves_no_empty_file(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="nothing was written"), whole_file(tmp_path / "out.txt") as beside:
        beside.write_text("all of it")
    assert content(tmp_path) == {}


@pytest.mark.skipif(os.name != "posix", reason="symbolic links are those of POSIX")
@pytest.mark.parametrize("dangling", [False, True])
def test_a_symbolic_link_is_followed(dangling, tmp_path):
    target, link = tmp_path / "real.txt", tmp_path / "link.txt"
    if not dangling:
        target.write_text("old")
    link.symlink_to(target)
    if not dangling:
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
    import sys
    import time

    code = """
import sys, time
from calibrant import cli
from calibrant.interop import tables
def slow(path, table, kind):
    path.write_text("half")
    print("writing", flush=True)
    time.sleep(60)
tables._write_csv = slow
sys.exit(cli.main(["decide", "in.csv", "--costs", "0,1;4,0", "-o", "out.csv"]))
"""
    (tmp_path / "in.csv").write_text("label,p\n1,0.5\n0,0.2\n")
    with subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as run:
        while "writing" not in (line := run.stdout.readline()) and line:
            time.sleep(0)
        run.send_signal(signal.SIGTERM)
        run.wait(timeout=60)
    assert run.returncode == 128 + signal.SIGTERM
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]
