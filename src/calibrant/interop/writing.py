"""How a file is written: whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def require_free(path: Path, *, force: bool) -> None:
    """Refuse an output path that exists, unless asked to replace it."""
    if path.is_dir():
        raise IsADirectoryError(f"the output must be a file; got the directory {path}. Name a file in it.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the output's directory must exist; got {path.parent}. Create it first.")
    if path.exists() and not force:
        raise _taken(path)


@contextmanager
def whole_file(path: str | os.PathLike[str], *, force: bool = False) -> Iterator[Path]:
    """Give a path beside ``path`` to write to, and rename it when the block ends without an error.

    Interrupted, or with a full disk, what stood at ``path`` before still stands there. A symbolic link is followed: what it
    points to is written. Without ``force`` a file that another process has put there in the meantime is kept.
    """
    require_free(Path(path), force=force)
    target = Path(os.path.realpath(path))
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    except OSError as error:
        raise _failed(target, error) from error
    os.close(handle)
    beside = Path(name)
    try:
        yield beside
        with beside.open("rb") as written:
            os.fsync(written.fileno())
        os.chmod(beside, _mode(target))
        _move(beside, target, force=force)
    except FileExistsError:
        beside.unlink(missing_ok=True)
        raise
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise _failed(target, error) from error
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _move(beside: Path, target: Path, *, force: bool) -> None:
    """Rename; without force only where nothing stands, even if it was put there a moment ago."""
    if not force:
        try:
            os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except FileExistsError as error:
            raise _taken(target) from error
    try:
        os.replace(beside, target)
    except BaseException:
        if not force:
            target.unlink(missing_ok=True)
        raise


def _taken(path: Path) -> FileExistsError:
    return FileExistsError(
        f"the output must not exist yet; got {path}. Choose another name, or pass --force (force=True)."
    )


def _failed(target: Path, error: OSError) -> OSError:
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
