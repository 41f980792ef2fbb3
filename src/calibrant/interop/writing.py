"""How a file is written: whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from calibrant.interop.local_files import local_files, local_path

LONGEST = 40
"""Characters of a file's name that stand in the name of what is written beside it: names have a limit."""

NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
"""What a file system answers that has no hard links."""


PAGES = (".html", ".htm")
"""Endings of a page."""


def require_free(path: Path, *, force: bool, inputs: Sequence[str] = (), endings: Sequence[str] = ()) -> None:
    """Refuse an output path that exists, unless asked to replace it, is no file, is of what is read or has another ending."""
    if path.is_dir():
        raise IsADirectoryError(f"the output must be a file; got the directory {path}. Name a file in it.")
    if (path.exists() and not path.is_file()) or _is_loop(path):
        raise OSError(
            f"the output must be a file; got {path}, which is a device, a pipe or a loop of links. Name a file."
        )
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the output's directory must exist; got {path.parent}. Create it first.")
    if path.exists() and not force:
        raise taken(path)
    if path.exists() and any(path.samefile(file) for file in _read(inputs)):
        raise ValueError(f"the output must not be what is read; got {path}, which would be lost. Choose another name.")
    if endings:
        require_ending(path, endings)


def require_ending(path: Path, endings: Sequence[str]) -> None:
    """Refuse an output whose name does not say what is written."""
    if path.suffix.lower() not in endings:
        must = f"the output must end in {' or '.join(endings)}"
        raise ValueError(f"{must}; got {path.name!r}. The ending says what is written: name it so.")


@contextmanager
def whole_file(path: str | os.PathLike[str], *, force: bool = False) -> Iterator[Path]:
    """Give a path beside ``path`` to write to, and rename it when the block ends without an error.

    Interrupted, or with a full disk, what stood at ``path`` before still stands there. A symbolic link is followed: what it
    points to is written. Without ``force`` a file that another process has put there in the meantime is kept.
    """
    require_free(Path(path), force=force)
    target = Path(os.path.realpath(path))
    # Named before it is made: whenever the process is told to end, there is a name to remove.
    beside = target.with_name(f".{target.name[:LONGEST]}.{secrets.token_hex(4)}.part")
    try:
        try:
            os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            yield beside
            with beside.open("rb") as written:
                os.fsync(written.fileno())
            os.chmod(beside, _mode(target))
            _move(beside, target, force=force)
        finally:
            _remove(beside)
    except FileExistsError:
        raise
    except OSError as error:
        raise failed(target, error) from error
    finally:
        _remove(beside)  # again: a signal may have come between


def _read(inputs: Sequence[str]) -> Iterator[Path]:
    """Yield the files of this machine that are read, those of folders and patterns too."""
    for name in inputs:
        path = local_path(name)
        yield from () if path is None else (file for file in local_files(path) if file.exists())


def _remove(beside: Path) -> None:
    with suppress(OSError):
        beside.unlink()


def _move(beside: Path, target: Path, *, force: bool) -> None:
    """Rename; without force only where nothing stands, even if it was put there a moment ago."""
    if force:
        os.replace(beside, target)
        return
    try:
        os.link(beside, target)  # in one step: it fails where a file stands, and never shows an empty one
    except FileExistsError as error:
        raise taken(target) from error
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        _move_without_links(beside, target)


def _move_without_links(beside: Path, target: Path) -> None:
    try:
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError as error:
        raise taken(target) from error
    try:
        os.replace(beside, target)
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def _is_loop(path: Path) -> bool:
    """Whether a symbolic link leads to itself."""
    try:
        path.stat()
    except OSError as error:
        return error.errno == errno.ELOOP
    return False


def taken(path: Path) -> FileExistsError:
    """Return the error of an output that exists."""
    return FileExistsError(f"{path} already exists. Pass --force (force=True in Python), or choose another name.")


def failed(target: Path, error: OSError) -> OSError:
    """Return the error of an output that could not be written, with what became of what stood there."""
    kept = "what stood there still does" if target.exists() else "nothing was written"
    return OSError(
        error.errno,
        f"the output must be written whole; {target} could not be: {error.strerror or error}; {kept}. "
        "Make room, or choose another place",
    )


def _mode(target: Path) -> int:
    """Return the permissions of the file replaced, or those that a new file gets."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
