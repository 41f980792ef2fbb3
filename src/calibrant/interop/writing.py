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
        raise FileExistsError(
            f"the output must not exist yet; got {path}. Choose another name, or pass --force (force=True)."
        )


@contextmanager
def whole_file(path: str | os.PathLike[str], *, force: bool = False) -> Iterator[Path]:
    """Give a path beside ``path`` to write to, and rename it when the block ends without an error.

    Interrupted, or with a full disk, what stood at ``path`` before still stands there.
    """
    target = Path(path)
    require_free(target, force=force)
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
        os.replace(beside, target)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise _failed(target, error) from error
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


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
