"""What writes files: the commands with an output, found in the parser, and the functions with ``force``, found by signature."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import calibrant
from calibrant import cli
from calibrant._core.lazy import homes, load
from calibrant.cli.options import parser

COMMANDS: dict[str, dict[str, list[str]]] = {
    "fit": {"calibrator.json": ["in.csv"]},
    "apply": {f"applied.{end}": ["c.json", "in.csv"] for end in ("csv", "npz", "parquet", "feather")},
    "decide": {f"decided.{end}": ["in.csv", "--costs", "0,1;4,0"] for end in ("csv", "npz", "parquet", "feather")},
    "report": {"page.html": ["small.csv", "--resamples", "5"]},
    "demo": {"demo.html": []},
    "monitor": {f"monitored.{end}": ["small.csv"] for end in ("html", "csv", "json")},
}
"""Arguments of every command that writes, by the name of its output; no two outputs share a name."""

FUNCTIONS = ("save_calibrator", "write_report")
"""Functions of Python that write."""

ROWS = 3000


@dataclass(frozen=True)
class Job:
    """Something that writes one file into the folder in which it runs."""

    name: str
    output: str
    run: Callable[[str, bool], int]
    """Called with the path of the output and whether to force; it returns an exit code."""
    is_slow: bool = False
    """Whether it computes for seconds before it writes."""


def jobs() -> list[Job]:
    """Return all that writes; raise where the parser or the package has a writer that is not known here."""
    written = {name for name, command in commands().items() if any(a.dest == "output" for a in command._actions)}
    forced = {n for n in homes() if "force" in parameters_of(n)}
    if strange := (written ^ set(COMMANDS)) | (forced ^ set(FUNCTIONS)):
        raise LookupError(
            f"tools/inject_faults/jobs.py must know each writer; it does not know, or no more: {sorted(strange)}"
        )
    made = [
        Job(name, output, partial(_run, name, words), name in ("report", "demo"))
        for name, outputs in COMMANDS.items()
        for output, words in outputs.items()
    ]
    return [
        *made,
        Job("save_calibrator", "saved.json", _save),
        Job("write_report", "written.html", _report, is_slow=True),
    ]


def commands() -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each command."""
    (found,) = (a for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    return dict(found.choices)


def parameters_of(name: str) -> tuple[str, ...]:
    """Return the names of the parameters of a public name that is a function."""
    target = load(name)
    return tuple(inspect.signature(target).parameters) if inspect.isfunction(target) else ()


def make_inputs(folder: Path) -> None:
    """Write what the commands read."""
    rng = np.random.default_rng(0)
    prob = rng.random(ROWS)
    label = (rng.random(ROWS) < prob).astype(int)
    lines = [f"{y},{p:.6f},row {k}" for k, (y, p) in enumerate(zip(label, prob, strict=True))]
    (folder / "in.csv").write_text("\n".join(["label,p,name", *lines, ""]))
    (folder / "small.csv").write_text("\n".join(["label,p,name", *lines[:200], ""]))
    assert cli.main(["fit", str(folder / "in.csv"), "-o", str(folder / "c.json")]) == 0


def _run(name: str, words: list[str], output: str, force: bool) -> int:
    return cli.main([name, *words, "-o", output, *(["--force"] if force else [])])


def _rows() -> tuple[Any, Any]:
    table = np.genfromtxt("in.csv", delimiter=",", skip_header=1, usecols=(0, 1))
    return table[:, 0].astype(int), table[:, 1]


def _save(output: str, force: bool) -> int:
    label, prob = _rows()
    calibrant.save_calibrator(calibrant.VennAbers().fit(prob, label), output, force=force)
    return 0


def _report(output: str, force: bool) -> int:
    label, prob = _rows()
    calibrant.write_report(calibrant.assess(label[:200], prob[:200], n_resamples=5), output, force=force)
    return 0
