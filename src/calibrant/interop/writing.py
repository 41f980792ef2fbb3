"""How a file is written: whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from glob import escape, glob, has_magic
from pathlib import Path
from shutil import rmtree
from urllib.parse import urlsplit
from urllib.request import url2pathname

from calibrant._core.checks import warn

# Files of this machine that a path, a folder or a pattern stands for


FORMATS = {
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".npz": "npz",
}
"""Formats of tables, by the endings of their files."""

PACKED_CSV = ".csv.gz"

READ_ONLY = {PACKED_CSV: "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".pt": "pt", ".pth": "pt"}
"""Formats that are read, and not written."""

ARRAYS = (".npy",)
"""Endings of files of arrays without names: to rename them is of no use."""

OF_ONE_ARRAY = "Read it in Python and write np.savez('forecast.npz', label=y, logits=z), or P=... of probabilities."


def format_of(path: str | os.PathLike[str], *, reading: bool = False) -> str:
    """Return the format that a file's ending stands for, of a file to write or to read."""
    name, known = Path(path).name.lower(), FORMATS | (READ_ONLY if reading else {})
    ending = PACKED_CSV if name.endswith(PACKED_CSV) else Path(name).suffix
    if ending not in known:
        hint = OF_ONE_ARRAY if ending in ARRAYS else "Rename or convert it."
        raise ValueError(f"a table must end in {', '.join(known)}; got {Path(path).name!r}. {hint}")
    return known[ending]


def stem_of(path: Path) -> str:
    """Return the name of a file without its ending, which may have two parts."""
    return path.name[: -len(PACKED_CSV)] if path.name.lower().endswith(PACKED_CSV) else path.stem


STREAMED = {ending: kind for ending, kind in FORMATS.items() if kind != "npz"}
"""Endings of files that are read batch by batch."""

UNREAD = (".npz", ".tsv", *READ_ONLY, ".orc", ".avro")
"""Endings of tables that are not read in a folder."""

COMPRESSED = (".gz", ".bz2", ".zip", ".zst", ".xz")
"""Endings of what is a table once it is unpacked, if another ending says so."""

HIDDEN = (".", "_")
"""How a name begins, in a folder, of what is no part of the data."""


def local_path(address: str) -> Path | None:
    """Return the path of an address; None of one of another file system."""
    if "://" not in address:
        return Path(address)
    return Path(url2pathname(urlsplit(address).path)) if address.startswith("file://") else None


def is_pattern(address: str) -> bool:
    """Whether an address of this machine is a pattern: brackets and stars that are the name of what is there are none."""
    return not os.path.lexists(address) and has_magic(address)


def is_table(name: str) -> bool:
    """Whether a file is a table, and neither it nor a folder of its path is hidden."""
    return Path(name).suffix.lower() in STREAMED and not any(part.startswith(HIDDEN) for part in Path(name).parts)


def warn_of_unread(address: str, path: Path) -> None:
    """Warn of files of a folder that may be tables, such as ``a.csv.gz``, and are not read."""
    seen = (Path(at, one) for at, folders, _ in os.walk(path) for one in folders if not one.startswith(HIDDEN))
    links = (one for one in seen if one.is_symlink())
    unread = [*links, *(one for one in _below(path) if _is_unread(one))] if path.is_dir() else []
    if unread:
        unread.sort()
        more = f" and {len(unread) - 1} more" if len(unread) > 1 else ""
        what = f"{address} holds {unread[0].name}{more}, not read"
        cure = f"unpack what is compressed, or name *{PACKED_CSV}, write Parquet, Feather or CSV, and name what links lead to"
        warn(f"{what}: {cure}.")


def _is_unread(path: Path) -> bool:
    ending, endings = path.suffix.lower(), {suffix.lower() for suffix in path.suffixes}
    return ending in UNREAD or (ending in COMPRESSED and bool(endings & {*FORMATS, *UNREAD}))


def local_files(path: Path) -> list[Path]:
    """List the files that a path stands for, by their names: itself, the tables of a folder, or what fits a pattern.

    Patterns are those of a shell. Each file is there once, whatever links lead to it. Links to folders are not followed.
    """
    whole, home = path.absolute(), home_of(path)
    if whole.is_dir():
        found = [one for one in _below(whole) if one.suffix.lower() in STREAMED]
    elif os.path.lexists(whole):
        found = [whole]
    else:
        there = glob(str(Path(escape(str(home)), whole.relative_to(home))), recursive=True)
        found = [Path(one) for one in there if not os.path.isdir(one)]
    if twice := min(
        (one for one in found if one.suffix.lower() == ".gz" and one.with_suffix("") in found), default=None
    ):
        must = "a pattern must name each table once"
        raise ValueError(f"{must}; {path} names {twice.with_suffix('').name} and {twice.name}. Name one kind of them.")
    own_names_last = sorted(found, key=lambda one: not one.is_symlink())
    return sorted({os.path.realpath(one): one for one in own_names_last}.values(), key=Path.as_posix)


def home_of(path: Path) -> Path:
    """Return the folder that a folder or pattern begins with: the longest part that is there, whatever its name."""
    whole = path.absolute()
    return next(one for one in (whole, *whole.parents) if one.is_dir())


def _refuse_closed(error: OSError) -> None:
    raise error


def _below(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder and of its folders, but for hidden ones."""
    for at, folders, files in os.walk(folder, onerror=_refuse_closed):
        folders[:] = [name for name in folders if not name.startswith(HIDDEN)]
        yield from (Path(at, name) for name in files if not name.startswith(HIDDEN))


# How a file is written: whole or not at all


LONGEST, MOST_OF_NAME = 40, 255
"""Characters of a file's name that stand in the name of what is written beside it, since names have a limit; and the limit."""

PAGES = (".html", ".htm")
"""Endings of a page."""

PICTURES = (".png", ".svg", ".pdf")
"""Endings of a picture."""


def require_free(path: Path, *, force: bool, inputs: Sequence[str] = (), endings: Sequence[str] = ()) -> None:
    """Refuse an output path that exists, unless asked to replace it, is no file, is of what is read or has another ending."""
    if (size := len(os.fsencode(path.name))) > MOST_OF_NAME:
        raise ValueError(f"the output's name must have at most {MOST_OF_NAME} bytes; got {size}. Choose a shorter one.")
    if path.is_dir():
        raise IsADirectoryError(f"the output must be a file; got the directory {path}. Name a file in it.")
    if (path.exists() and not path.is_file()) or Path(os.path.realpath(path)).is_symlink():  # a loop
        what = "which is a device, a pipe or a loop of links"
        raise OSError(f"the output must be a file; got {path}, {what}. Name a file.")
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
            _put(beside, target, force=force)
        finally:
            _remove(beside)
    except FileExistsError:
        raise
    except OSError as error:
        raise failed(target, error) from error
    finally:
        _remove(beside)  # again: a signal may have come between


def _put(beside: Path, target: Path, *, force: bool) -> None:
    """Give a file its name; without ``force`` only if no other has it, which a hard link tells in the same step."""
    if not force:
        try:
            os.link(beside, target)
            return
        except FileExistsError:
            raise taken(target) from None
        except OSError:  # a file system without links
            if target.exists():
                raise taken(target) from None
    os.replace(beside, target)


@contextmanager
def one_at_a_time(path: Path) -> Iterator[None]:
    """Let other processes that ask for a file of the same folder wait until the block ends, where the system has such locks."""
    folder = None
    with suppress(OSError, ImportError):
        import fcntl

        folder = os.open(Path(os.path.realpath(path)).parent, os.O_RDONLY)
        fcntl.flock(folder, fcntl.LOCK_EX)
    try:
        yield
    finally:
        if folder is not None:
            os.close(folder)


def _remove(path: Path) -> None:
    with suppress(OSError):  # also of a file system that is read only
        path.unlink()


def _read(inputs: Sequence[str]) -> Iterator[Path]:
    """Yield the files of this machine that are read, those of folders and patterns too."""
    for name in inputs:
        path = local_path(name)
        yield from () if path is None else (file for file in local_files(path) if file.exists())


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


# How a folder of tables is written: whole or not at all


@contextmanager
def whole_folder(path: Path, *, inputs: Sequence[str] = ()) -> Iterator[Path]:
    """Give a folder beside ``path`` to write files to, and rename it when the block ends without an error.

    It must not stand there yet, and must not lie in a folder that is read.
    """
    target = Path(os.path.realpath(path))
    if os.path.lexists(path):
        raise FileExistsError(f"the output must be a new folder; {path} already exists. Choose another name.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"the output's directory must exist; got {path.absolute().parent}. Create it first.")
    paths = (one for name in inputs if (one := local_path(name)) is not None and (one.is_dir() or "**" in name))
    read = (one if one.is_dir() else home_of(one) for one in paths)
    if (holds := next((one for one in read if target.is_relative_to(one.resolve())), None)) is not None:
        must = f"the output must be apart from what is read; got {path}, which lies in {holds}"
        raise ValueError(f"{must}. Choose another folder.")
    beside = target.with_name(f".{target.name[:LONGEST]}.{secrets.token_hex(4)}.part")
    try:
        beside.mkdir()
        yield beside
        beside.rename(target)
    finally:
        rmtree(beside, ignore_errors=True)
