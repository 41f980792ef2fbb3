"""Time, processor time and memory of a command and of all processes that it starts, as they are in /proc (Linux)."""

import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EACH = 0.02
"""Seconds between two looks at the memory."""

PAGE, TICK = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Measured:
    """Seconds, seconds of processors, bytes at most in all processes together, and what the command found."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    found: Any


def measured(module: str, *arguments: str) -> Measured:
    """Run ``python -m module``, which prints a line when it is ready, and one of JSON with what it found.

    Only what it does in between is measured. Memory that processes share is counted in each of them.
    """
    command = [sys.executable, "-W", "ignore", "-m", module, *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        said: list[str] = []
        reader = threading.Thread(target=lambda pipe: said.extend(pipe), args=(child.stderr,))
        reader.start()
        try:
            _line(child.stdout, "ready")
            watch = Watch(child.pid)
            found = json.loads(_line(child.stdout, "{"))
            result = watch.stopped(found)
        except EOFError:
            child.wait()
            raise RuntimeError(f"{' '.join(arguments)} failed:\n{''.join(said[-20:])}") from None
        child.wait()
        reader.join()
    return result


def _line(pipe: Any, start: str) -> str:
    for line in pipe:
        if line.startswith(start):
            return str(line)
    raise EOFError


class Watch:
    """Looks at the processes of a session again and again, in a thread."""

    def __init__(self, session: int) -> None:
        self._session, self._over, self._peak = session, threading.Event(), 0
        self._start, self._cpu = time.perf_counter(), self._look()[0]
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        while not self._over.wait(EACH):
            self._look()

    def _look(self) -> tuple[float, int]:
        cpu, memory = 0.0, 0
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
            if int(fields[3]) == self._session:
                cpu += sum(map(int, fields[11:15])) / TICK  # its own, and those of children that have ended
                memory += int(fields[21]) * PAGE
        self._peak = max(self._peak, memory)
        return cpu, memory

    def stopped(self, found: Any) -> Measured:
        """Return what was seen until now."""
        seconds, cpu = time.perf_counter() - self._start, self._look()[0]
        self._over.set()
        self._thread.join()
        return Measured(seconds, cpu - self._cpu, self._peak, found)
