"""Lines that make labels ``y``, predictions ``p`` and weights ``w``: valid, unusual and hostile. The tables are calls.toml."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

TABLES: dict[str, Any] = tomllib.loads(Path(__file__).with_name("calls.toml").read_text(encoding="utf-8"))
SIZES = (1, 2, 3, 5, 8, 10, 30, 60, 150)
COUNTS = "w = rng.integers(1, 4, n)"

Change = tuple[str, str]
"""Why the rows must be refused, empty where they need not be; and the line that changes them."""


def listed(block: str) -> tuple[str, ...]:
    """Return the expressions of a block, one a line."""
    return tuple(block.strip().splitlines())


def changes(x: str) -> tuple[Change, ...]:
    """Return the changes of ``y``, ``p`` or ``w``."""
    own = TABLES[x]
    blocks = [own["either"], *(TABLES["alike"][name] for name in own["alike"])]
    known = [("", how) for block in blocks for how in listed(block)] + [*(TABLES["wrong"] | own["wrong"]).items()]
    return tuple((why, f"{x} = {how.replace('{x}', x)}") for why, how in known)


CHANGES = {x: changes(x) for x in "ypw"}


def drawn_weights(random: Random, *, hostile: float) -> tuple[str, list[str]]:
    """Draw what is done to the weights, and the lines: None, counts, or counts that something is done to."""
    if random.random() < hostile:
        why, line = random.choice(CHANGES["w"])
        return why, [COUNTS, line]
    if random.random() < 0.4:
        return "count", [COUNTS, f"w = {random.choice(('w', *listed(TABLES['w']['count'])))}"]
    return "usual", ["w = None"]


@dataclass(frozen=True)
class Rows:
    """Lines that make the rows, and what is known of them."""

    lines: tuple[str, ...]
    n_classes: int
    is_table: bool
    marks: tuple[str, str, str]
    """What was done to labels, predictions and weights: "usual", "count", "" or why they must be refused."""

    @property
    def refuse(self) -> str:
        """Why they must be refused; empty where they need not be."""
        return next((mark for mark in self.marks if mark not in ("usual", "count", "")), "")

    @property
    def are_usual(self) -> bool:
        """Whether they are labels 0, 1, ..., valid probabilities in NumPy arrays, and weights None or counts."""
        return set(self.marks) <= {"usual", "count"}


def drawn_rows(random: Random, *, hostile: float) -> Rows:
    """Draw rows; with a probability of ``hostile`` something is unusual or wrong with each of the three."""
    n, n_classes = random.choice(SIZES), random.choice((2, 2, 2, 3, 3, 4, 7))
    is_table = n_classes > 2 or random.random() < 0.4
    of_weights, weights = drawn_weights(random, hostile=hostile)
    of_labels, labels = random.choice(CHANGES["y"]) if random.random() < hostile else ("usual", "")
    of_predictions, predictions = random.choice(CHANGES["p"]) if random.random() < hostile else ("usual", "")
    base = [f"rng = np.random.default_rng({random.randrange(10**6)})", f"n = {n}", *_table(random, n_classes)]
    base += [_labels(random, n_classes), *([] if is_table else ["p = p[:, 1].copy()"])]
    base += ["q = p**2 / (p**2).sum(1, keepdims=True)" if is_table else "q = p**2", "t = y.copy()", *weights]
    lines = (*base, *filter(None, (labels, predictions)))
    return Rows(lines, n_classes, is_table, (of_labels, of_predictions, of_weights))


def _table(random: Random, n_classes: int) -> list[str]:
    """Return lines that make a table of probabilities: smooth, with ties, with zeros and ones, constant, or far out."""
    shape = f"(n, {n_classes})"
    spread = random.choice((0.05, 0.3, 1.0, 5.0))
    kinds = [
        [f"p = rng.dirichlet(np.full({n_classes}, {spread}), n)"],
        [f"p = rng.integers(0, 4, {shape}) + 0.0", "p[p.sum(1) == 0] = 1", "p /= p.sum(1, keepdims=True)"],
        [f"p = np.eye({n_classes})[rng.integers(0, {n_classes}, n)]"],
        [f"p = np.full({shape}, 1 / {n_classes})"],
        [f"p = np.exp(-rng.exponential(200, {shape}))", "p[:, 0] = 1", "p /= p.sum(1, keepdims=True)"],
        [f"p = rng.dirichlet(np.full({n_classes}, {spread}), 3)[rng.integers(0, 3, n)]"],
    ]
    return random.choices(kinds, (5, 2, 1, 1, 1, 1))[0]


def _labels(random: Random, n_classes: int) -> str:
    kinds = [
        f"y = (rng.random((n, 1)) > p.cumsum(1)).sum(1).clip(0, {n_classes - 1})",
        f"y = rng.integers(0, {n_classes}, n)",
        "y = p.argmax(1)",
        "y = p.argmin(1)",
        "y = np.zeros(n, dtype=int)",
        f"y = np.full(n, {n_classes - 1})",
    ]
    return random.choices(kinds, (6, 2, 1, 1, 1, 1))[0]
