"""A calibrated row as a graph of a few kinds of nodes, which NumPy runs and other languages print.

A node stands for numbers of each row, shape (n, width). Width 1 goes with any other, as in NumPy. There is no loop and no
state: what a calibrator does to a row is one expression of its columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

ELEMENTWISE: dict[str, Any] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "greater_equal": np.greater_equal,
    "greater": np.greater,
    "equal": np.equal,
    "negative": np.negative,
    "absolute": np.abs,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "floor": np.floor,
    "where": np.where,
}
"""Nodes that treat each number by itself. The comparisons are conditions: only ``where`` takes them."""

CONDITIONS = {"greater", "greater_equal", "equal"}


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


MOST_OF_ROW = 1 << 24
"""Numbers of one row that are held at a time: 128 MB. SCIR of a thousand classes needs a quarter of it."""


def compiled(root: Node, most_numbers: int = 1 << 20) -> Callable[[FloatArray], FloatArray]:
    """Return a graph as a function of a table, shape (n, K), which gives the numbers of its last node, shape (n, width).

    Rows are taken in blocks, so that all nodes that are still to be read hold ``most_numbers`` together, or those of one row.
    """
    nodes = in_order(root)
    place = {id(node): number for number, node in enumerate(nodes)}
    start = [node.values[None, :] if node.op == "constant" else None for node in nodes]
    of_table = [place[id(node)] for node in nodes if node.op == "table"]
    last_read = {place[id(arg)]: number for number, node in enumerate(nodes) for arg in node.args}
    steps, width, widest = [], 0, 1
    for number, node in enumerate(nodes):
        if node.op in ("constant", "table"):
            continue
        places = [place[id(arg)] for arg in node.args]
        done = [at for at in dict.fromkeys(places) if last_read[at] == number]
        width += node.width
        widest = max(widest, width)
        width -= sum(nodes[at].width for at in done if nodes[at].op not in ("constant", "table"))
        steps.append((number, _function(node), itemgetter(*places), len(places) > 1, done))
    if widest > MOST_OF_ROW:
        raise ValueError(f"map must hold at most {MOST_OF_ROW} numbers a row at a time; it holds {widest}")
    n_together = max(1, most_numbers // widest)

    def run_block(table: FloatArray) -> FloatArray:
        found: list[Any] = start.copy()
        for at in of_table:
            found[at] = table
        for at, function, args, are_many, done in steps:
            found[at] = function(*args(found)) if are_many else function(args(found))
            for one in done:
                found[one] = None
        last, shape = found[-1], (len(table), root.width)
        return last if last.shape == shape else np.broadcast_to(last, shape)

    def run(table: FloatArray) -> FloatArray:
        if len(table) <= n_together:
            return run_block(table)
        found = np.empty((len(table), root.width))
        for at in range(0, len(table), n_together):
            found[at : at + n_together] = run_block(table[at : at + n_together])
        return found

    return run


def _function(node: Node) -> Any:
    """Return what NumPy does for a node, a function of the arrays that it is made of."""
    values = node.values
    match node.op:
        case "column":
            return lambda x: x[:, values, None]
        case "join":
            return lambda *columns: np.hstack(np.broadcast_arrays(*columns))
        case "row_sum":
            return lambda x: np.add.reduce(x, axis=1, keepdims=True)
        case "row_max":
            return lambda x: np.maximum.reduce(x, axis=1, keepdims=True)
        case "argmax":
            return lambda x: x.argmax(axis=1)[:, None].astype(np.float64)
        case "matmul":
            return lambda x: x @ values
        case "pick":
            edges, entries, right = values
            return lambda x: entries[edges.searchsorted(x, side="right" if right else "left")]
    return ELEMENTWISE[node.op]


# A graph as what JSON can hold


def to_dicts(root: Node) -> list[dict[str, Any]]:
    """Return a graph as a list of nodes, each after those that it is made of, which it names by their places."""
    nodes = in_order(root)
    place = {id(node): number for number, node in enumerate(nodes)}
    found = []
    for node in nodes:
        one: dict[str, Any] = {"op": node.op}
        if node.args:
            one["of"] = [place[id(arg)] for arg in node.args]
        if node.op == "pick":
            edges, entries, right = node.values
            one |= {"edges": edges.tolist(), "entries": entries.tolist(), "right": bool(right)}
        elif node.values is not None:
            one["values"] = node.values if node.op == "column" else node.values.tolist()
        found.append(one)
    return found


N_ARGS = (
    dict.fromkeys(ELEMENTWISE, 2)
    | dict.fromkeys(["negative", "absolute", "exp", "log", "sqrt", "floor"], 1)
    | {"where": 3}
)
N_ARGS |= {"table": 0, "constant": 0} | dict.fromkeys(["column", "row_sum", "row_max", "argmax", "matmul", "pick"], 1)
"""Of how many others a node is made; a ``join`` is of any number."""


def from_dicts(listed: Any, n_columns: int) -> Node:
    """Return the graph of a list of nodes; refuse what no graph holds."""
    nodes: list[Node] = []
    if not isinstance(listed, list) or not listed:
        raise ValueError("map must be a list of nodes")
    for number, one in enumerate(listed):
        try:
            nodes.append(_node(one, nodes, n_columns))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            said = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            raise ValueError(f"node {number} of map must be one of a graph; {said[:200]}") from error
    if nodes[-1].op in CONDITIONS:
        raise ValueError("map must end with numbers, not with a condition")
    return nodes[-1]


def _node(one: Any, nodes: list[Node], n_columns: int) -> Node:
    op, places = one["op"], one.get("of", [])
    if op != "join" and N_ARGS.get(op) != len(places):
        raise ValueError(f"op {str(op)[:40]!r} is unknown or has {len(places)} others")
    if not all(type(place) is int and 0 <= place < len(nodes) for place in places):
        raise ValueError("it must be made of nodes before it")
    args = [nodes[place] for place in places]
    width = max((arg.width for arg in args), default=1)
    if op in ELEMENTWISE and any(arg.width not in (1, width) for arg in args):
        raise ValueError("widths must be equal or 1")
    if [arg.op in CONDITIONS for arg in args] != [op == "where" and number == 0 for number in range(len(args))]:
        raise ValueError("a condition must be the first of where, and no other")
    match op:
        case "table":
            return Node(op, width=n_columns)
        case "constant":
            return constant(_finite(one["values"], 1))
        case "column":
            number = one["values"]
            if type(number) is not int or not 0 <= number < width:
                raise ValueError(f"column must be below {width}")
            return Node(op, args, number, 1)
        case "join":
            if not args or width != 1:
                raise ValueError("a join must be of columns")
            return Node(op, args, width=len(args))
        case "row_sum" | "row_max" | "argmax":
            return Node(op, args, width=1)
        case "matmul":
            matrix = _finite(one["values"], 2)
            if len(matrix) != width:
                raise ValueError(f"the matrix must have {width} rows")
            return Node(op, args, matrix, matrix.shape[1])
        case "pick":
            edges, entries = _finite(one["edges"], 1), _finite(one["entries"], 1)
            if len(entries) != len(edges) + 1 or not len(edges) or (edges[1:] < edges[:-1]).any():
                raise ValueError("edges must not fall, and entries must be one more")
            if not isinstance(one["right"], bool):
                raise TypeError("right must be true or false")
            return Node(op, args, (edges, entries, one["right"]))
    return Node(op, args)


def _finite(values: Any, ndim: int) -> FloatArray:
    """Return numbers as an array."""
    listed = np.array(values, dtype=object).ravel().tolist() if isinstance(values, list) else [None]
    if not set(map(type, listed)) <= {int, float}:
        raise TypeError("values must be numbers")
    found = np.array(values, dtype=np.float64)
    if found.ndim != ndim or not found.size or not np.isfinite(found).all():
        raise ValueError(f"values must be finite numbers in {ndim} dimensions")
    return found
