"""A calibrated row as a graph of a few kinds of nodes, which languages print.

A node stands for numbers of each row, shape (n, width). Width 1 goes with any other, as in NumPy. There is no loop and no
state: what a calibrator does to a row is one expression of its columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

CONDITIONS = {"greater", "greater_equal", "equal"}

ELEMENTWISE = CONDITIONS | {
    *("add", "subtract", "multiply", "divide", "maximum", "minimum"),
    *("negative", "absolute", "exp", "log", "sqrt", "floor", "where"),
}
"""Nodes that treat each number by itself. The comparisons are conditions: only ``where`` takes them."""

INEXACT = {"exp", "log", "row_sum", "matmul"}
"""Nodes whose last digits hang on the language that computes them."""


def operator(op: str, *, swapped: bool = False) -> Callable[[Node, Operand], Node]:
    """Return the method of `Node` for a sign between two of them, or before what is no node."""
    return lambda self, other: of(op, other, self) if swapped else of(op, self, other)


class Node:
    """Numbers of each row, made of those of other nodes.

    Attributes
    ----------
    op : str
        ``table`` (the columns that are given),
        ``constant``, ``column``, ``join``, one of `ELEMENTWISE`, ``row_sum``, ``row_max``, ``argmax``
        (the first of equal ones), ``matmul``, or ``pick``.
    args : tuple of Node
        What it is made of.
    values : ndarray or int, optional
        The numbers of a ``constant``, shape (width,); the number of a ``column``; the matrix of ``matmul``, shape (K, width).
        Of ``pick`` the edges, shape (m,), which do not fall, and the table, shape (m + 1,): the entry after all edges that are
        at most the number (or, where ``right`` is false, below it).
    width : int
        How many numbers a row has.
    log_odds : Node, optional
        Where the numbers are the logistic function of others, those.
    """

    log_odds: Node | None = None

    def __init__(self, op: str, args: Sequence[Node] = (), values: Any = None, width: int | None = None) -> None:
        self.op, self.args, self.values = op, tuple(args), values
        self.width: int = max((arg.width for arg in self.args), default=1) if width is None else width
        self.is_exact: bool = op not in INEXACT and all(arg.is_exact for arg in args)

    __add__, __radd__ = operator("add"), operator("add", swapped=True)
    __sub__, __rsub__ = operator("subtract"), operator("subtract", swapped=True)
    __mul__, __rmul__ = operator("multiply"), operator("multiply", swapped=True)
    __truediv__, __rtruediv__ = operator("divide"), operator("divide", swapped=True)
    __ge__, __gt__ = operator("greater_equal"), operator("greater")

    def __neg__(self) -> Node:
        return of("negative", self)

    def column(self, j: int) -> Node:
        """One of the numbers."""
        if self.op == "constant":
            return constant(self.values[min(j, self.width - 1)])
        return self.args[j] if self.op == "join" else self if self.width == 1 else Node("column", [self], j, 1)

    def columns(self) -> list[Node]:
        """Each of the numbers."""
        return [self.column(j) for j in range(self.width)]

    def sum(self) -> Node:
        """The sum of the numbers of a row."""
        return self if self.width == 1 else Node("row_sum", [self], width=1)

    def max(self) -> Node:
        """The largest number of a row."""
        return self if self.width == 1 else Node("row_max", [self], width=1)

    def argmax(self) -> Node:
        """The number of the first column that is the largest."""
        return Node("argmax", [self], width=1)

    def matmul(self, matrix: FloatArray) -> Node:
        """The row times a matrix, shape (K, width)."""
        return Node("matmul", [self], np.asarray(matrix, dtype=np.float64), matrix.shape[1])

    def pick(self, edges: npt.NDArray[np.floating], table: npt.ArrayLike, *, right: bool = True) -> Node:
        """The entry of a table, shape (m + 1,), for the interval between edges, shape (m,), that a number lies in."""
        found = np.asarray(edges, dtype=np.float64), np.asarray(table, dtype=np.float64), right
        return Node("pick", [self], found) if len(found[0]) else constant(found[1]) + 0.0 * self

    def equals(self, other: Operand) -> Node:
        """The condition that both are the same number."""
        return of("equal", self, other)


Operand = Node | float | FloatArray


def constant(values: npt.ArrayLike) -> Node:
    """Make a node of numbers, shape () or (width,), that are the same in each row."""
    numbers = np.atleast_1d(np.asarray(values, dtype=np.float64))
    assert np.isfinite(numbers).all(), "no language prints what is not finite in the same way"
    return Node("constant", values=numbers, width=numbers.size)


def of(op: str, *operands: Operand) -> Node:
    """Make a node that treats each number by itself."""
    return Node(op, [one if isinstance(one, Node) else constant(one) for one in operands])


def join(columns: Sequence[Node]) -> Node:
    """Put columns of width 1 beside each other."""
    if all(one.op == "constant" for one in columns):
        return constant([one.values[0] for one in columns])
    return columns[0] if len(columns) == 1 else Node("join", columns, width=len(columns))


def clip(x: Node, least: float, most: float) -> Node:
    """Raise what is below ``least`` to it, and lower what is above ``most``."""
    return of("minimum", of("maximum", x, least), most)


def where(condition: Node, yes: Operand, no: Operand) -> Node:
    """Take one of two numbers."""
    return of("where", condition, yes, no)


def in_order(root: Node) -> list[Node]:
    """Return each node once, those that it is made of before it."""
    done: dict[int, Node] = {}
    waits: list[tuple[Node, Iterator[Node]]] = [(root, iter(root.args))]
    while waits:  # not by calls: a chain may be longer than Python's stack
        node, rest = waits[-1]
        child = next((one for one in rest if id(one) not in done), None)
        if child is None:
            done[id(node)] = node
            waits.pop()
        else:
            waits.append((child, iter(child.args)))
    return list(done.values())
