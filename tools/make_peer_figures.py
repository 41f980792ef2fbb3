"""Run the peers on fixed inputs and store what they say: python -m tools.make_peer_figures

It needs the ``bench`` extra and Python 3.12 or newer (for calibre); the tests need no peer. What is asked stands in
tests/peers/agreement.toml and tests/peers/conformance.toml; the answers go to tests/peers/figures.json, from which
tools/make_conformance_page.py writes docs/conformance.md. The inputs stand there as well: rounded, so that they can be
read, and away from the edges of bins, since peers differ in the side to which a row on an edge belongs.
"""

import contextlib
import io
import json
import platform
import re
from importlib.metadata import version
from typing import Any

import numpy as np

from tests.peers.test_agreement import AGREEMENT, CONFORMANCE, HERE, OURS, STORED, rows, says

NAMES = {peer: entry["names"] for peer, entry in AGREEMENT["peer"].items()}


def plain(names: str, given: dict[str, Any] | str, expression: str) -> Any:
    """Value of an expression: arrays as lists, and labels that are truth values as 0 and 1."""
    with contextlib.redirect_stdout(io.StringIO()):
        array = np.asarray(says(names, given, expression))
    return (array.astype(int) if array.dtype == bool and array.ndim else array).tolist()


def answer(names: str, given: dict[str, Any] | str, expression: str) -> Any:
    """The same, or the error that was raised."""
    try:
        return plain(names, given, expression)
    except Exception as error:
        return f"{type(error).__name__}: {error}".splitlines()[0]


def main() -> None:
    """Ask everything, and store the answers."""
    figures = {
        figure["name"]: {
            peer: plain(NAMES[peer], rows(figure["input"]), call) for peer, call in figure["peers"].items()
        }
        for figure in AGREEMENT["figure"]
    }
    grids: dict[str, dict[str, Any]] = {}
    for grid in CONFORMANCE["grid"]:
        for given in grid["question"]:
            said = {peer: answer(NAMES.get(peer, OURS), given["given"], call) for peer, call in grid["call"].items()}
            grids.setdefault(grid["title"], {})[given["name"]] = said
    stored = {
        "made by": "tools/make_peer_figures.py",
        "python": platform.python_version(),
        "versions": {name: version(name) for name in sorted([*NAMES, "calibrant", "numpy"])},
        "inputs": STORED["inputs"],
        "figures": figures,
        "grids": grids,
        "cases": {
            case["name"]: answer(NAMES[case["peer"]], case["given"], case["call"]) for case in CONFORMANCE["case"]
        },
        "intervals": STORED["intervals"],  # this file of commit 6c24639e asked for them
    }
    text = re.sub(r"\[[^\[\]{}]*\]", lambda numbers: " ".join(numbers[0].split()), json.dumps(stored, indent=1))
    (HERE / "figures.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
