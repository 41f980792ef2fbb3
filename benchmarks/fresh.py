"""What can only be measured in a process of its own: peak memory, and the wait for the first answer.

The child is ``python -m benchmarks.fresh COMPARISON CONTENDER SIZE...``; the sizes are what the comparison's ``make`` takes:
rows, and where it asks for them classes and a precision. It prints one line of JSON.
"""

import contextlib
import ctypes
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
LONG = 30.0
"""Seconds from which a comparison that asks for a second call (``AGAIN``) gets the first one twice."""


def in_fresh_process(comparison: str, contender: str, *size: int | str, cached: bool = True) -> dict[str, Any]:
    """Measure one contender; ``cached=False`` gives numba an empty cache, as right after installation."""
    with tempfile.TemporaryDirectory() as empty:
        environment = os.environ if cached else {**os.environ, "NUMBA_CACHE_DIR": empty}
        command = [sys.executable, "-W", "ignore", "-m", "benchmarks.fresh", comparison, contender]
        command += [str(one) for one in size]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{contender} failed in a fresh process:\n{done.stderr}")
    measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return measured


def megabytes(size: float | None) -> str:
    """A size of memory in a table; None where the system does not tell it."""
    return "not measured here" if size is None else f"{size / 1e6:.0f}"


def wall_and_cpu(measured: dict[str, Any]) -> str:
    """Seconds of a call in a table, with those of processors in brackets."""
    return f"{measured['call_seconds']:.2f} ({measured['call_cpu_seconds']:.2f})"


def kilobytes(field: str) -> int:
    """A field of the kernel's account of this process: VmRSS is now, VmHWM the most since the last reset."""
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(field))
    return int(line.split()[1])


def _measure(comparison: str, contender: str, size: list[int | str]) -> dict[str, Any]:
    module = import_module(f"benchmarks.{comparison}")
    data = module.make(*size)
    chosen = next(c for c in module.CONTENDERS if c.name == contender)
    # ru_maxrss would not do: it inherits the parent's peak, and keeps that of making the data.
    can_reset = CLEAR.exists() and os.access(CLEAR, os.W_OK)
    start = time.perf_counter()
    call = chosen.prepare(*data)
    imported = time.perf_counter()
    first = _call(call, can_reset)
    measured = {
        "import_seconds": imported - start,
        **first,
        "input_bytes": sum(a.nbytes for a in data if hasattr(a, "nbytes")),
    }
    if getattr(module, "AGAIN", False):
        again = first if first["call_seconds"] > LONG else _call(call, can_reset)
        measured |= {f"later_{name}": value for name, value in again.items()}
    return measured


def _call(call: Callable[[], Any], can_reset: bool) -> dict[str, Any]:
    """Seconds of a call, and the most that the process held meanwhile, also above what it held before."""
    before = 0
    if can_reset:
        _trim()
        CLEAR.write_text("5")
        before = kilobytes("VmRSS")
    start, cpu = time.perf_counter(), time.process_time()
    call()
    end, cpu_end = time.perf_counter(), time.process_time()
    peak = kilobytes("VmHWM") * 1024 if can_reset else None
    return {
        "call_seconds": end - start,
        "call_cpu_seconds": cpu_end - cpu,
        "peak_bytes": peak,
        "extra_bytes": None if peak is None else peak - before * 1024,
    }


def _trim() -> None:
    """Give memory that was freed back to the system: reused unseen, it would be missing in the peak of a later call."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):  # another C library than glibc
        ctypes.CDLL("libc.so.6").malloc_trim(0)


if __name__ == "__main__":
    sizes: list[int | str] = [int(one) if one.isdigit() else one for one in sys.argv[3:]]
    print(json.dumps(_measure(sys.argv[1], sys.argv[2], sizes)))
