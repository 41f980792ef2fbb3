"""What `calibrant monitor` keeps between runs: how files are read, which were read, and a monitor for each group."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibrant.cli.watched_files import Content, WatchedFile, require_own_window

if TYPE_CHECKING:
    from calibrant.monitoring import Monitor

STATE = "calibrant_monitor_files"

VERSION = 2
"""Of the file of a state."""

ALL = ""
"""Name of the one group where there are no groups."""

TEXT = (str,)
OPEN = (str, type(None))


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
    """The state of a watch; ``before`` is what its file held when it was read, None where there was none."""

    def __init__(self, path: str | None, before: bytes | None = None) -> None:
        self.path, self.before = path, before
        self.reading: Reading | None = None
        self.known: dict[str, Known] = {}
        self.monitors: dict[str, Monitor] = {}

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
                "Name another, or begin a new one."
            ) from error
        return found

    def _fill(self, plain: Any) -> None:
        from calibrant.monitoring import Monitor

        _require(isinstance(plain, dict) and STATE in plain, "the entries of a state")
        _require(plain.get("version") == VERSION, f"a state of version {VERSION}")
        self.reading = reading = Reading.from_dict(plain["reading"])
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
            if is_window and one.window == file.window:
                require_own_window(file, place)
        return None

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
        }
        text = json.dumps(state, allow_nan=False)
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

    def named(self, reading: Reading) -> Reading:
        """Settle how files are read."""
        self.reading = reading
        return reading

    def of_first_notion(self) -> None:
        """Take the notion that the first rows decided: all groups have it."""
        if self.reading is not None and self.monitors:
            notion = next(iter(self.monitors.values())).notion
            self.reading = replace(self.reading, notion=None if notion is None else notion.name)


@contextmanager
def _alone(path: str) -> Iterator[None]:
    """Hold the place beside a state, for the moment in which it is compared and replaced."""
    target = Path(os.path.realpath(path))
    lock = target.with_name(f".{target.name}.lock")
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
