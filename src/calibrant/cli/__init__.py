"""The command line. No mathematics here: files in, calls, tables out."""

import io
import os
import re
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from calibrant.cli.options import parser
from calibrant.exceptions import CalibrationWarning

__all__ = ["main"]

OK, GATE_FAILED, BAD_USE, BROKEN = 0, 1, 2, 70
"""Exit codes."""

PIPE = 13
"""SIGPIPE, which Windows does not name."""

OPTIONS = {
    "input='logit'": "--logit COLUMNS",
    "rows='percent'": "--percent",
    "rows='normalize'": "--normalize",
    "clip=0": "--clip 0",
    r"labels=(?!\[)": "--classes A,B,... in column order",
    "prob=": "--prob COLUMNS",
    r"pos_label=|labels=\[": "--classes NEGATIVE,POSITIVE",
    "y_prob must be left out beside guarantee": "without FILE, with --classes K",
    "y_prob=pilot": "FILE, --classes K or --event-rate R",
    "n_classes=2": "--classes 2",
    "safe=True": "--safe",
    "risk=0.05": "--target-risk 0.05",
    "Drop (or correct these rows|the rows without)": "--where \"COLUMN != ''\", of one file",
    "exchange the two arguments": "--label with the column of the classes",
    "predictions.sample": "--sample N",
    "on_error='skip'": "--on-error skip",
}
"""How the command line spells what a message of the library tells to pass."""


LONGEST = 600
"""Characters of an error from its beginning, and as many from its end, that are shown."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 success, 1 a gate failed, 2 bad use, 128 + n ended by signal n."""
    stderr = sys.stderr
    sys.stderr = _Notes(stderr)
    try:
        return _main(argv)
    finally:
        sys.stderr = stderr


class _Notes:
    """Standard error: text for one that is closed or full is lost, and the exit code is that of the command."""

    def __init__(self, stream: Any) -> None:
        self.stream = open(os.devnull, "w") if stream is None else stream  # noqa: SIM115 - as long as the process

    def write(self, text: str) -> int:
        try:
            self.stream.write(text)
            self.stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.stream.fileno())
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def _main(argv: Sequence[str] | None) -> int:
    if sys.stdout is None:  # as by >&-: what was asked for would be lost, and the next file opened would get its number
        said = "standard output must be open; it is closed. Send it somewhere: > /dev/null."
        print(f"calibrant: error: {said}", file=sys.stderr)
        return BAD_USE
    known = dict[str, Any]()
    try:
        with warnings.catch_warnings(), _ended_by_exception(), _always_printable():
            arguments = parser().parse_args(argv)
            known = vars(arguments)
            warnings.showwarning = partial(_say_warning, known)
            warnings.simplefilter("default", CalibrationWarning)  # said, whatever PYTHONWARNINGS makes of warnings
            code: int = arguments.run(arguments)
            sys.stdout.flush()  # what cannot be printed is found here, and not when Python ends
    except SystemExit:  # --help, or an option that is not known
        if (lost := _unprinted()) is None:
            raise
        return _said(lost, known)
    except (ValueError, TypeError, OSError, ImportError) as error:
        _unprinted()
        return _said(error, known)
    except (KeyboardInterrupt, _Terminated) as end:
        return _ended(end)
    except Exception as error:
        if isinstance(cause := error.__cause__, (KeyboardInterrupt, _Terminated)):
            return _ended(cause)  # before Python 3.12 it is wrapped where a class is made
        traceback.print_exc()  # a bug of calibrant: Python's own exit code 1 would read as a gate that failed
        return BROKEN
    return code


def _ended(end: BaseException) -> int:
    """Say what ended the command, and return the exit code."""
    number, word = (end.number, "terminated") if isinstance(end, _Terminated) else (signal.SIGINT, "interrupted")
    print(f"calibrant: {word}; no file was left half written", file=sys.stderr)
    return 128 + number


def _said(error: Exception, known: Mapping[str, Any]) -> int:
    """Print an error, and return the exit code; a reader of a pipe that has had enough, such as head, is none."""
    if isinstance(error, BrokenPipeError):
        return 128 + PIPE
    message = _escaped(_spelled(" ".join(_message_of(error).split()), known))
    # The middle of words, and of a message, is left out that no person reads: a cell of a file may hold anything.
    words = re.sub(r"(\S{80})\S{120,}(\S{40})", r"\1...\2", message)
    words = words if len(words) <= 2 * LONGEST else f"{words[:LONGEST]} ... {words[-LONGEST:]}"
    print(f"calibrant: error: {words}", file=sys.stderr)
    return BAD_USE


class _Terminated(BaseException):
    """A signal told the process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _terminate(number: int, frame: Any) -> None:
    raise _Terminated(number)


def _message_of(error: Exception) -> str:
    """Return the message of an error; one of the system alone gets the place and what to do."""
    if not isinstance(error, OSError) or error.errno is None or error.strerror != os.strerror(error.errno):
        return getattr(error, "strerror", None) or str(error)
    place = error.filename or "standard output"
    return f"{place} must be readable and writable; the system says: {error.strerror}. Check its rights and its disk."


def _unprinted() -> OSError | None:
    """Return why what is held cannot be printed; the output is then given up, so that Python does not try again at its end."""
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return error
    return None


@contextmanager
def _ended_by_exception() -> Iterator[None]:
    """Turn a request to end into an exception, so that a file that is half written is removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ends = [signal.SIGTERM]
    # A terminal that is closed; under nohup the signal is ignored.
    if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        ends.append(signal.SIGHUP)
    before = {end: signal.signal(end, _terminate) for end in ends}
    try:
        yield
    finally:
        for end, handler in before.items():
            signal.signal(end, handler)


@contextmanager
def _always_printable() -> Iterator[None]:
    """Print names that the encoding of the output lacks with escapes: what was done is no error for want of a letter."""
    if not isinstance(sys.stdout, io.TextIOWrapper):
        yield
        return
    out, errors = sys.stdout, sys.stdout.errors
    out.reconfigure(errors="backslashreplace")
    try:
        yield
    finally:
        out.reconfigure(errors=errors)


def _say_warning(known: Mapping[str, Any], message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"calibrant: warning: {_escaped(_spelled(str(message), known))}", file=sys.stderr)


def _escaped(message: str) -> str:
    """Write control characters, which a file may hold in names and cells, as what they are and not as what they do."""
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in message)


def _spelled(message: str, known: Mapping[str, Any]) -> str:
    """Add to a message of the library how the command line spells the way out, by options that the command has."""
    if "correct" not in known:  # a command that takes no answers
        message = re.sub(r", or with --correct [^.]*", "", message)
    told = [option for keyword, option in OPTIONS.items() if re.search(rf"(?<!\w){keyword}", message)]
    found = [one for one in told if known.keys() >= {name.replace("-", "_") for name in re.findall(r"--([\w-]+)", one)}]
    return f"{message} Here: {' or '.join(found)}." if found else message
