"""How a folder of tables is written: whole or not at all, and never in the place of anything else."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from shutil import rmtree

from calibrant.interop.local_files import STREAMED, fits, local_files, local_path, split
from calibrant.interop.writing import LONGEST, failed, taken

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
        if before.exists() and target.exists():
            raise FileExistsError(
                f"the output must not be written by two at a time; {target} was. What stood there is {_kept(target, before)}. "
                f"{ELSEWHERE}"
            ) from error
        raise (taken(target) if target.exists() else failed(target, error)) from error


def _clean(beside: Path, target: Path, before: Path) -> None:
    """Remove what is not needed; what stood there before is put back unless the new folder is in its place."""
    if before.exists() and (beside.exists() or not target.exists()):
        before.rename(_kept(target, before))
    rmtree(beside, ignore_errors=True)
    rmtree(before, ignore_errors=True)


def _kept(target: Path, before: Path) -> Path:
    """Return where the old folder is put back to: another name, that is seen, if another process took the place."""
    return target.with_name(f"{target.name}{before.suffixes[-2]}.old") if target.exists() else target


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
