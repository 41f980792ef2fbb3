"""The files of `calibrant monitor`, and what it keeps between runs: how they are read, which were, a monitor for each group."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from calibrant._core.checksum import checksum_of

if TYPE_CHECKING:
    from calibrant.monitoring import Monitor

STATE = "calibrant_monitor_files"

VERSION = 2
"""Of the file of a state."""

LONGEST_WRITE = 600
"""Seconds after which the lock of a state is that of a run that was killed."""

ALL = ""
"""Name of the one group where there are no groups."""

TEXT = (str,)
OPEN = (str, type(None))


@dataclass(frozen=True)
class WatchedFile:
    """A file: its ``path`` as it is shown, its ``place`` on this machine, and the ``window`` that it is without --time."""

    path: str
    place: str
    window: str


@dataclass(frozen=True)
class Content:
    """What a file holds: its length and digest, by which it is known wherever it lies."""

    bytes: int
    sha256: str

    @classmethod
    def of(cls, path: str) -> Content:
        """Read a file."""
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256")
            return cls(file.tell(), digest.hexdigest())


@dataclass(frozen=True)
class Reading:
    """How all files are read, as the first one settled it.

    ``by``, ``time``, ``label`` and ``weight`` are columns, as are ``columns``, in the order of ``labels``. ``rows`` is the part
    of each file that is used, ``scale`` what is done with probabilities; ``reference`` is a file, and ``reference_sha256`` what
    it held.
    """

    by: str | None
    time: str | None
    label: str
    columns: tuple[str, ...]
    input: str
    weight: str | None
    rows: str | None
    scale: str
    reference: str | None
    reference_sha256: str | None
    labels: tuple[Any, ...]
    pos_label: Any
    notion: str | None
    bins: int
    window: int | str | None
    n_reference: int
    alpha: float

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Reading:
        """Return what `asdict` wrote down, or refuse it."""
        names = [one.name for one in fields(cls)]
        _require(isinstance(plain, dict) and sorted(plain) == sorted(names), "how files are read")
        kinds: dict[str, tuple[type, ...]] = {
            **dict.fromkeys(("label", "input", "scale"), TEXT),
            **dict.fromkeys(("by", "time", "weight", "rows", "reference", "reference_sha256", "notion"), OPEN),
            "columns": (list,),
            "labels": (list,),
        }
        _require(all(isinstance(plain[name], kind) for name, kind in kinds.items()), "how files are read, in words")
        _require(plain["columns"] and all(isinstance(one, str) for one in plain["columns"]), "names of columns")
        _require(plain["scale"] in ("as-given", "normalize", "percent"), "a rule for rows")
        return cls(**{**plain, "columns": tuple(plain["columns"]), "labels": tuple(plain["labels"])})


@dataclass(frozen=True)
class Known(Content):
    """What a file held when it was read, and its window."""

    window: str | None


class WatchState:
    """The state of a watch; ``before`` is what its file held when it was read, None where there was none.

    ``pages`` are digests by --output: of what the last run wrote there, and of what it replaced, as it may have ended between
    state and page. ``reported`` are alarms by group and test, with the number of files that were known when the gate failed.
    """

    def __init__(self, path: str | None, before: bytes | None = None) -> None:
        self.path, self.before = path, before
        self.reading: Reading | None = None
        self.known: dict[str, Known] = {}
        self.monitors: dict[str, Monitor] = {}
        self.pages: dict[str, list[str]] = {}
        self.reported: dict[str, dict[str, int]] = {}

    @classmethod
    def read(cls, path: str | None) -> WatchState:
        """Read a state, or begin a new one."""
        if path is None or not os.path.lexists(path):
            return cls(path)
        if not Path(path).is_file():  # a device has no end
            raise ValueError(
                f"--state must be a file that `calibrant monitor` wrote; {path} is none. Name another, or begin a new one."
            )
        data = Path(path).read_bytes()
        try:
            found = cls(path, data)
            found._fill(json.loads(data.decode("utf-8"), parse_constant=_no_number))
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError) as error:
            raise ValueError(
                f"--state must be a file that `calibrant monitor` wrote; {path} is not: {str(error).removesuffix('.')}. "
                "Put back a copy of it, or remove it and name all files again: their rows are then read anew."
            ) from error
        return found

    def _fill(self, plain: Any) -> None:
        from calibrant.monitoring import Monitor

        _require(isinstance(plain, dict) and STATE in plain, "the entries of a state")
        _require(plain.get("version") == VERSION, f"a state of version {VERSION}")
        if plain.get("checksum") != checksum_of(plain):
            raise ValueError("it does not match its checksum, so it was changed or damaged")
        self.reading = reading = Reading.from_dict(plain["reading"])
        self.pages, self.reported = plain["pages"], plain["reported"]
        _require(all(set(map(type, one)) == {str} for one in self.pages.values()), "digests of what was written")
        _require(all(set(map(type, one.values())) == {int} for one in self.reported.values()), "alarms of groups")
        for place, one in plain[STATE].items():
            _require(
                sorted(one) == ["bytes", "sha256", "window"]
                and type(one["bytes"]) is int
                and isinstance(one["sha256"], str)
                and len(one["sha256"]) == 64
                and isinstance(one["window"], OPEN),
                "what each file held",
            )
            self.known[place] = Known(**one)
        _require(self.known, "the files that were read")
        _require(plain["groups"] and (reading.by is not None or list(plain["groups"]) == [ALL]), "groups of --by")
        for name, one in plain["groups"].items():
            monitor = Monitor.from_dict(one)
            own = (monitor.window, monitor.reference, monitor.alpha, monitor.binning.n_bins, monitor.pos_label)
            settled = (reading.window, reading.n_reference, reading.alpha, reading.bins, reading.pos_label)
            is_same = (
                own == settled and tuple(monitor.labels or ()) == reading.labels and monitor.input == reading.input
            )
            notion = None if monitor.notion is None else monitor.notion.name
            _require(
                is_same and monitor.n_windows and notion == reading.notion, "monitors with the options of the state"
            )
            self.monitors[name] = monitor

    def is_read(self, file: WatchedFile, content: Content, *, is_window: bool) -> str | None:
        """Return where a file was read already, or a moved one before; refuse one that has changed, and a copy."""
        before = self.known.get(file.place)
        if before is not None:
            if (before.bytes, before.sha256) == (content.bytes, content.sha256):
                return file.path
            how = f"had {before.bytes} bytes and has {content.bytes}"
            if before.bytes == content.bytes:
                how = f"has other content of the same {content.bytes} bytes"
            raise ValueError(
                f"a file that was read must stay as it is; {file.path} {how}. Put new rows into a new file, or begin anew."
            )
        for place, one in self.known.items():
            if (one.bytes, one.sha256) == (content.bytes, content.sha256):
                if not os.path.exists(place) or os.path.samefile(place, file.path):
                    return place
                raise ValueError(
                    f"no file must be read twice; {file.path} has the content of {place}, which was read. Remove the copy; "
                    "if these are other events, add a column that tells, such as their time."
                )
            if is_window and one.window == file.window and place != file.place:
                raise ValueError(
                    f"files must have names that differ without folder and ending, as each is a window; got {place} and "
                    f"{file.place}. Rename one, name a folder that holds both, or name windows by --time."
                )
        return None

    def own(self, page: Path) -> list[str]:
        """Return the digest of a page that stands there, if it is one that this state wrote."""
        if str(page) not in self.pages or not page.is_file():
            return []
        return [one for one in self.pages[str(page)] if one == Content.of(str(page)).sha256]

    def fails_for(self, group: str, test: str) -> bool:
        """Return whether the gate fails for an alarm: on its first run, and again while no other file is read."""
        return self.reported.setdefault(group, {}).setdefault(test, len(self.known)) == len(self.known)

    def write(self) -> None:
        """Write the state, whole or not at all, and only if no other run has written it since it was read."""
        from calibrant.interop.writing import whole_file

        if self.path is None or self.reading is None:
            return
        state: dict[str, Any] = {
            STATE: {place: asdict(one) for place, one in self.known.items()},
            "version": VERSION,
            "reading": asdict(self.reading),
            "groups": {name: monitor.to_dict() for name, monitor in sorted(self.monitors.items())},
            "pages": self.pages,
            "reported": self.reported,
        }
        text = json.dumps(state | {"checksum": checksum_of(state)}, allow_nan=False)
        if self.before is None:
            try:
                with whole_file(self.path) as beside:
                    beside.write_text(text, encoding="utf-8")
            except FileExistsError as error:
                raise _written_by_another(self.path) from error
            return
        with _alone(self.path):
            if not os.path.exists(self.path) or Path(self.path).read_bytes() != self.before:
                raise _written_by_another(self.path)
            with whole_file(self.path, force=True) as beside:
                beside.write_text(text, encoding="utf-8")

    def of_first_notion(self) -> None:
        """Take the notion that the first rows decided: all groups have it."""
        if self.reading is not None and self.monitors:
            notion = next(iter(self.monitors.values())).notion
            self.reading = replace(self.reading, notion=None if notion is None else notion.name)


def files_of(named: list[str]) -> list[WatchedFile]:
    """Return the files that are named, those of a folder or pattern in the order of their names: day_9 stands before day_10.

    Of a folder these are the files that `calibrant assess` reads: those that end as tables do, in its folders as well, but for
    hidden ones and those that begin with an underscore.
    """
    return [file for name in named for file in _files(name)]


def _files(name: str) -> Iterator[WatchedFile]:
    from calibrant.interop.local_files import STREAMED, local_files, split, warn_of_unread
    from calibrant.monitoring.windows import in_order

    if "://" in name:
        raise ValueError(f"files to watch must lie on this machine; got {name}. Copy them, or use Monitor in Python.")
    path = Path(name)
    start, pattern = split(PurePosixPath(path.as_posix()), os.path.lexists)
    folder = Path(start)
    if not pattern and not folder.is_dir():
        yield WatchedFile(name, os.path.abspath(name), path.stem)
        return
    inside = {file.relative_to(folder.absolute()).as_posix(): file for file in local_files(path)}
    if not inside:
        raise FileNotFoundError(
            f"{name} must hold files that end in {', '.join(STREAMED)}; it holds none. Check the path."
        )
    warn_of_unread(name, path)
    for below, file in sorted(inside.items(), key=lambda pair: in_order(pair[0])):
        yield WatchedFile(str(folder / below), os.path.abspath(file), str(PurePosixPath(below).with_suffix("")))


@contextmanager
def _alone(path: str) -> Iterator[None]:
    """Hold the place beside a state, for the moment in which it is compared and replaced."""
    target = Path(os.path.realpath(path))
    lock = target.with_name(f".{target.name}.lock")
    with suppress(OSError):
        if time.time() - lock.stat().st_mtime > LONGEST_WRITE:
            lock.unlink()
    try:
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError as error:
        raise ValueError(
            f"one run at a time must write --state {path}; another holds {lock}. Run again, or remove it if no run is left."
        ) from error
    try:
        yield
    finally:
        with suppress(OSError):
            lock.unlink()


def _written_by_another(path: str) -> ValueError:
    return ValueError(
        f"--state must stay as it was while a run reads files; another run wrote {path}. Nothing was written; run again."
    )


def _no_number(word: str) -> None:
    raise ValueError(f"it holds {word}")


def _require(holds: object, what: str) -> None:
    if not holds:
        raise ValueError(f"it must hold {what}")
