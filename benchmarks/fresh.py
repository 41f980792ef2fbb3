"""What can only be measured in a process of its own: peak memory, and the wait for the first answer.

The child is ``python -m benchmarks.fresh COMPARISON CONTENDER ROWS``. It prints one line of JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def in_fresh_process(comparison: str, contender: str, rows: int, *, cached: bool = True) -> dict[str, Any]:
    """Measure one contender; ``cached=False`` gives numba an empty cache, as right after installation."""
    with tempfile.TemporaryDirectory() as empty:
        environment = os.environ if cached else {**os.environ, "NUMBA_CACHE_DIR": empty}
        command = [sys.executable, "-W", "ignore", "-m", "benchmarks.fresh", comparison, contender, str(rows)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{contender} failed in a fresh process:\n{done.stderr}")
    measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return measured


def kilobytes(field: str) -> int:
    """A field of the kernel's account of this process: VmRSS is now, VmHWM the most since the last reset."""
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(field))
    return int(line.split()[1])


def _measure(comparison: str, contender: str, rows: int) -> dict[str, Any]:
    module = import_module(f"benchmarks.{comparison}")
    data = module.make(rows)
    chosen = next(c for c in module.CONTENDERS if c.name == contender)
    # ru_maxrss would not do: it inherits the parent's peak, and keeps that of making the data.
    can_reset = CLEAR.exists() and os.access(CLEAR, os.W_OK)
    start = time.perf_counter()
    call = chosen.prepare(*data)
    imported = time.perf_counter()
    before = 0
    if can_reset:
        CLEAR.write_text("5")
        before = kilobytes("VmRSS")
    resumed, cpu = time.perf_counter(), time.process_time()
    call()
    end, cpu_end = time.perf_counter(), time.process_time()
    peak = kilobytes("VmHWM") * 1024 if can_reset else None
    return {
        "seconds": imported - start + end - resumed,
        "call_seconds": end - resumed,
        "call_cpu_seconds": cpu_end - cpu,
        "peak_bytes": peak,
        "extra_bytes": None if peak is None else peak - before * 1024,
        "input_bytes": sum(a.nbytes for a in data if hasattr(a, "nbytes")),
    }


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
