"""How a file is written: whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import secrets
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from shutil import rmtree
from urllib.parse import urlsplit
from urllib.request import url2pathname

from calibrant.exceptions import CalibrationWarning

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

READ_ONLY = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".pt": "pt", ".pth": "pt"}
"""Formats that are read whole, and not written."""

ARRAYS = (".npy",)
"""Endings of files of arrays without names: to rename them is of no use."""

OF_ONE_ARRAY = "Read it in Python and write np.savez('forecast.npz', label=y, logits=z), or P=... of probabilities."


def format_of(path: str | os.PathLike[str], *, reading: bool = False) -> str:
    """Return the format that a file's ending stands for, of a file to write or to read."""
    ending, known = Path(path).suffix.lower(), FORMATS | (READ_ONLY if reading else {})
    if ending not in known:
        hint = OF_ONE_ARRAY if ending in ARRAYS else "Rename or convert it."
        raise ValueError(f"a table must end in {', '.join(known)}; got {Path(path).name!r}. {hint}")
    return known[ending]


PATTERN = re.compile(r"[*?\[]")
"""A letter that makes an address a pattern, unless what it names is there as it is written."""

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
    path = Path(address)
    return not os.path.lexists(path) and bool(split(PurePosixPath(path.as_posix()), os.path.lexists)[1])


def split(path: PurePosixPath, exists: Callable[[str], bool]) -> tuple[PurePosixPath, tuple[str, ...]]:
    """Return the folder that holds all that a pattern may be, and the parts of the pattern below; none of a plain path."""
    parts = path.parts
    for number, part in enumerate(parts):
        if PATTERN.search(part) and not exists(str(PurePosixPath(*parts[: number + 1]))):
            return PurePosixPath(*parts[:number]), parts[number:]
    return path, ()


def fits(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether names of folders and of a file fit a pattern: a star stays within a folder, two stars go into any.

    As in a shell, what begins with a point fits only where the pattern begins so too.
    """
    if not pattern:
        return not parts
    if pattern[0] == "**" and fits(parts, pattern[1:]):
        return True
    if not parts or (parts[0].startswith(".") and not pattern[0].startswith(".")):
        return False
    if pattern[0] == "**":
        return fits(parts[1:], pattern)
    return fnmatchcase(parts[0], pattern[0]) and fits(parts[1:], pattern[1:])


def is_deep(pattern: Sequence[str]) -> bool:
    """Whether a pattern looks into folders."""
    return len(pattern) > 1 or "**" in pattern


def is_table(path: PurePosixPath) -> bool:
    """Whether a file of a folder is a table, and neither it nor its folder is hidden."""
    return path.suffix.lower() in STREAMED and not any(part.startswith(HIDDEN) for part in path.parts)


def warn_of_unread(address: str, path: Path) -> None:
    """Warn of files of a folder that may be tables, such as ``a.csv.gz``, and are not read."""
    below = _below(path.absolute(), deep=True, hidden=HIDDEN) if path.is_dir() else ()
    if unread := sorted(one for one in below if _is_unread(one)):
        more = f" and {len(unread) - 1} more" if len(unread) > 1 else ""
        what = f"{address} holds {unread[0].name}{more}, not read"
        cure = "unpack what is compressed, and write Parquet, Feather or CSV"
        warnings.warn(f"{what}: {cure}.", CalibrationWarning, stacklevel=2)


def _is_unread(path: Path) -> bool:
    ending, endings = path.suffix.lower(), {suffix.lower() for suffix in path.suffixes}
    return ending in UNREAD or (ending in COMPRESSED and bool(endings & {*FORMATS, *UNREAD}))


def local_files(path: Path) -> list[Path]:
    """List the files that a path stands for, by their names: itself, the tables of a folder, or what fits a pattern.

    Links are followed, and each file is there once: under its own name where that is among them.
    """
    start, pattern = split(PurePosixPath(path.absolute().as_posix()), os.path.lexists)
    folder = Path(start)
    if not pattern and not folder.is_dir():
        return [folder] if os.path.lexists(folder) else []
    if not folder.is_dir():
        return []
    shown = not any(part.startswith(".") for part in pattern)
    below = _below(
        folder, deep=is_deep(pattern) or not pattern, hidden=(HIDDEN if not pattern else (".",)) if shown else ()
    )
    relative = ((one, PurePosixPath(one.relative_to(folder).as_posix())) for one in below)
    found = (one for one, name in relative if (fits(name.parts, pattern) if pattern else is_table(name)))
    return sorted(found, key=Path.as_posix)


def _below(folder: Path, *, deep: bool, hidden: tuple[str, ...]) -> Iterator[Path]:
    """Yield the files of a folder, each once; links are looked at after all else, so that they never lead round."""
    plain, links, seen = [folder], list[Path](), set[str]()
    while plain or links:
        at = plain.pop(0) if plain else links.pop(0)
        if (real := os.path.realpath(at)) in seen:
            continue
        if at.is_dir() and (deep or at == folder):
            for one in sorted(one for one in at.iterdir() if not one.name.startswith(hidden)):
                (links if one.is_symlink() else plain).append(one)
        elif at.is_dir() or (at.exists() and not at.is_file()):
            continue
        else:  # a link that leads nowhere is missed where it is read
            yield at
        seen.add(real)


# How a file is written: whole or not at all


LONGEST, MOST_OF_NAME = 40, 255
"""Characters of a file's name that stand in the name of what is written beside it, since names have a limit; and the limit."""

NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
"""What a file system answers that has no hard links."""


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


def _remove(path: Path) -> None:
    with suppress(OSError):  # also of a file system that is read only
        path.unlink()


def _read(inputs: Sequence[str]) -> Iterator[Path]:
    """Yield the files of this machine that are read, those of folders and patterns too."""
    for name in inputs:
        path = local_path(name)
        yield from () if path is None else (file for file in local_files(path) if file.exists())


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


# How a folder of tables is written: whole or not at all, and never in the place of anything else


ELSEWHERE = "Choose another folder."


def require_free_folder(path: Path, *, force: bool, inputs: Sequence[str] = ()) -> None:
    """Refuse the output of a folder that stands there, unless it holds tables alone and is to be replaced.

    Refused too, ``force`` or not, is one that is what is read, holds it, or lies in it, and a symbolic link.
    """
    if path.is_symlink():
        raise ValueError(
            f"the output must be a folder, and no symbolic link; got {path}. Name the folder that it points to."
        )
    real = Path(os.path.realpath(path))
    for name in inputs:
        if _touches(real, name):
            raise ValueError(
                f"the output must be apart from what is read; got {path}, which is {name}, holds it or lies in it. {ELSEWHERE}"
            )
    if real.exists():
        if not real.is_dir():
            raise NotADirectoryError(f"the output must be a folder; got the file {path}. {ELSEWHERE}")
        if not force:
            raise taken(path)
        if Path.cwd().is_relative_to(real):
            raise ValueError(f"the output must not be the folder where you are; got {path}. {ELSEWHERE}")
        _require_tables(real, path)
    if not real.parent.is_dir():
        raise FileNotFoundError(f"the output's directory must exist; got {path.absolute().parent}. Create it first.")


@contextmanager
def whole_folder(path: Path, *, force: bool = False, inputs: Sequence[str] = ()) -> Iterator[Path]:
    """Give a folder beside ``path`` to write files to, and rename it when the block ends without an error.

    With ``force`` a folder of tables that stands there is replaced; what stood in it is gone once the new one is there, and
    is put back after an error or an interruption.
    """
    require_free_folder(path, force=force, inputs=inputs)
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{target.name[:LONGEST]}.{secrets.token_hex(4)}.part")
    before = beside.with_suffix(".old")
    try:
        try:
            _make(beside, target)
            yield beside
            _put(beside, target, before, force=force)
        finally:
            _clean(beside, target, before)
    finally:
        _clean(beside, target, before)  # again: a signal may have come between


def _make(beside: Path, target: Path) -> None:
    try:
        beside.mkdir()
    except OSError as error:
        raise failed(target, error) from error


def _put(beside: Path, target: Path, before: Path, *, force: bool) -> None:
    try:
        if target.exists():
            if not force:
                raise taken(target)
            target.rename(before)
            _require_tables(before, target)  # again: something else may have been put there in the meantime
        beside.rename(target)
    except FileExistsError:
        raise
    except OSError as error:
        raise (taken(target) if target.exists() else failed(target, error)) from error


def _clean(beside: Path, target: Path, before: Path) -> None:
    """Remove what is not needed; what stood there before is put back unless the new folder is in its place."""
    if before.exists() and (beside.exists() or not target.exists()):
        # Where another process has put something in its place, what stood there gets a name that is seen.
        seen = target.with_name(f"{target.name}.{secrets.token_hex(4)}.old")
        before.rename(seen if target.exists() else target)
    rmtree(beside, ignore_errors=True)
    rmtree(before, ignore_errors=True)


def _require_tables(folder: Path, path: Path) -> None:
    """Refuse to replace a folder that holds anything but tables: it is none that was written here."""
    for at, folders, files in os.walk(folder):
        links = [name for name in folders if Path(at, name).is_symlink()]
        others = [name for name in files if Path(name).suffix.lower() not in STREAMED or Path(at, name).is_symlink()]
        if strange := [*links, *others]:
            found = Path(at, strange[0]).relative_to(folder)
            raise FileExistsError(
                f"the folder to replace must hold tables alone, as calibrant apply writes them; {path} holds {found}. "
                f"{ELSEWHERE}"
            )


def _touches(output: Path, address: str) -> bool:
    """Whether a folder is what an address stands for, holds it, or lies in it."""
    path = local_path(address)
    if path is None:
        return False
    if any(Path(os.path.realpath(file)).is_relative_to(output) for file in local_files(path)):  # by links, too
        return True
    start, pattern = split(PurePosixPath(path.absolute().as_posix()), os.path.lexists)
    real = Path(os.path.realpath(start))
    if not pattern:
        return real.is_relative_to(output) or output.is_relative_to(real)
    if real.is_relative_to(output) or not output.is_relative_to(real):
        return real.is_relative_to(output)
    inside, last = output.relative_to(real).parts, "**" if pattern[-1] == "**" else "*"
    return any(fits((*inside, *("a" * deep)), (*pattern[:-1], last)) for deep in range(1, len(pattern) + 1))
