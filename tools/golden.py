"""Write the figures of today, and compare those of a rebuilt library with them.

    python -m tools.golden write [FILE]   # before the inside of the library is rebuilt
    python -m tools.golden compare [FILE] # afterwards: computes them again, and lists what changed

FILE is build/golden.json.gz by default. `make golden` writes it where it does not exist, and compares where it does. The calls
are those that `tools.fuzz` draws of every public name, good and bad ones; they are kept with what they gave, as source text of
public names alone: PYTHONPATH=TREE/src python -m tools.golden compare FILE runs on a tree whose private modules differ.

A figure that changes with the seeds is drawn, and not compared. Every other number must agree to 1e-10. The exit code is 1
where a value, or the kind of a message, changed; texts of messages are listed. The command line is not called.
"""

import argparse
import gzip
import json
import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import numpy as np
from matplotlib import pyplot as plt

from tools.fuzz.case import made, numbers

FILE = Path("build/golden.json.gz")
CALLS = 30
"""Of each public name."""
RELATIVE, ABSOLUTE = 1e-10, 1e-12
ADDRESS = re.compile(r"0x[0-9a-f]{6,}", re.IGNORECASE)
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?!\w)", re.IGNORECASE)
VALUES, KINDS, TEXTS = "values that changed", "messages of another kind", "messages with another text"


def drawn_calls(only: str) -> Iterator[dict[str, Any]]:
    """Draw the calls whose names contain a word."""
    from tools.fuzz.calls import drawn_case, targets

    for name in targets():
        for number in range(CALLS if only in name else 0):
            case = drawn_case(Random(f"{name} {number}"), name)
            yield {"name": name, "lines": case.lines, "call": case.call}


def answered(one: dict[str, Any], *, advanced: bool = False) -> dict[str, Any]:
    """Return the figures of a call, and its messages; with every generator a draw further where ``advanced``."""
    usual = np.random.default_rng

    def drawn(seed: Any = None) -> np.random.Generator:
        generator = usual(0 if seed is None else seed)
        if advanced:
            generator.random()
        return generator

    names, figures, messages = made(tuple(one["lines"])), {}, []
    with warnings.catch_warnings(record=True) as said, mock.patch.object(np.random, "default_rng", drawn):
        warnings.simplefilter("always")
        try:
            value = eval(one["call"], names)
            figures = {path: found.ravel().tolist() for path, found, _ in numbers(value)}
            figures["text"] = NUMBER.sub("#", ADDRESS.sub("#", repr(value)))
        except Exception as error:
            messages.append((f"refused with {type(error).__name__}", str(error)))
    plt.close("all")
    messages += sorted({(w.category.__name__, str(w.message)) for w in said if "Numba" not in w.category.__name__})
    return {"figures": figures, "messages": [[kind, ADDRESS.sub("#", text)] for kind, text in messages]}


def computed(one: dict[str, Any]) -> dict[str, Any]:
    """Return a call with what it gives, but for what is drawn."""
    found, other = answered(one), answered(one, advanced=True)["figures"]
    kept = {path: figure for path, figure in found["figures"].items() if same(figure, other.get(path))}
    return one | {"figures": kept, "drawn": sorted(found["figures"].keys() - kept), "messages": found["messages"]}


def same(a: Any, b: Any) -> bool:
    """Say whether two figures agree."""
    if isinstance(a, str) or isinstance(b, str) or a is None or b is None or len(a) != len(b):
        return bool(a == b)
    return np.allclose(a, b, RELATIVE, ABSOLUTE, equal_nan=True)


def differences(old: dict[str, Any], new: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what changed of a call: the sort, and what became of what."""
    for path in (old["figures"] | new["figures"]).keys() - {*old["drawn"], *new["drawn"]}:
        a, b = (one["figures"].get(path) for one in (old, new))
        if not same(a, b):
            yield VALUES, f"{path}: {str(a)[:240]} became {str(b)[:240]}"
    if old["messages"] != new["messages"]:
        kinds = ([kind for kind, _ in one["messages"]] for one in (old, new))
        yield TEXTS if next(kinds) == next(kinds) else KINDS, f"{old['messages']} became {new['messages']}"


def compare(stored: list[dict[str, Any]], most: int) -> int:
    """Print what changed, by sort and name, and return the exit code."""
    found: dict[str, dict[str, list[str]]] = {sort: defaultdict(list) for sort in (VALUES, KINDS, TEXTS)}
    for old in stored:
        for sort, text in differences(old, json.loads(json.dumps(computed(old)))):
            found[sort][old["name"]].append(f"{text}\n      {'; '.join([*old['lines'], old['call']])}")
    for sort, of_name in found.items():
        print(f"{sum(map(len, of_name.values()))} {sort}")
        for name, texts in of_name.items():
            print("\n    ".join([f"  {name}: {len(texts)}", *texts[:most]]))
    return 1 if found[VALUES] or found[KINDS] else 0


def main() -> int:
    """Write, or compare and return 1 where a value or the kind of a message changed."""
    parser = argparse.ArgumentParser(prog="python -m tools.golden", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("action", choices=["write", "compare"])
    parser.add_argument("file", nargs="?", type=Path, default=FILE)
    parser.add_argument("--only", default="", metavar="WORD", help="only the public names that contain it")
    parser.add_argument("--most", type=int, default=3, metavar="N", help="how many figures of a name are listed")
    arguments = parser.parse_args()
    if arguments.action == "compare":
        stored = json.loads(gzip.decompress(arguments.file.read_bytes()))
        return compare([one for one in stored if arguments.only in one["name"]], arguments.most)
    done = [computed(one) for one in drawn_calls(arguments.only)]
    arguments.file.parent.mkdir(parents=True, exist_ok=True)
    arguments.file.write_bytes(gzip.compress(json.dumps(done).encode()))
    print(f"{len(done)} calls, {sum(len(one['figures']) for one in done)} figures in {arguments.file}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
