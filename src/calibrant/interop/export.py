"""Fitted calibrators in other languages: NumPy source, SQL, ONNX, torch and JavaScript.

Each is the graph of the calibrator (``calibrant.calibrators.graphs``), printed. What is printed gives what ``calibrate`` gives:
of one column a column, of K columns K. A row that holds NaN, or NULL, becomes NaN, or NULL.
"""

from __future__ import annotations

import importlib
import itertools
import json
import linecache
import re
import types
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant._core.checks import choice, distinct_names, list_of_names, of_type, require
from calibrant.calibrators.base import Calibrator
from calibrant.calibrators.graphs import CONDITIONS, ELEMENTWISE, Node, graph_of, in_order
from calibrant.interop.save import columns_of, parts_of

if TYPE_CHECKING:
    from calibrant.calibrators.classifier import CalibratedClassifier

INFIX = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "greater_equal": ">=",
    "greater": ">",
    "equal": "==",
}


def heading(calibrator: Calibrator, mark: str, classifier: str) -> list[str]:
    """Say in comments what a text was made of; names of classes are written so that they end no comment."""
    kind = "logits" if calibrator.input == "logit" else "probabilities"
    names = [ascii(label) for label in calibrator.classes_.tolist()[:5]]
    more = f", ... ({len(calibrator.classes_)} in all)" if len(calibrator.classes_) > len(names) else ""
    of = f"the class {names[-1]}" if calibrator.n_features_in_ == 1 else f"the classes {', '.join(names)}{more}"
    fitted = f"fitted to {ascii(classifier)[1:-1]}" if classifier else "fitted"
    lines = [
        f"{mark} {type(calibrator).__name__}, {fitted} and exported by calibrant.",
        f"{mark} Takes {kind} of {of}; returns calibrated probabilities of the same.",
    ]
    # A page of HTML reads such words in a script, and dbt in a comment.
    return [re.sub(r"\{(?=[{%#])", "{ ", line).replace("<", r"\x3c") for line in lines]


MOST_IN_BRACKETS = 60
"""Expressions inside each other: Python takes no more than 200 brackets."""


def names_of(root: Node, is_named: Callable[[Node], bool]) -> tuple[list[Node], dict[int, str]]:
    """Return all nodes in order, and names of those that get one: used more than once, deep, or asked for by a language."""
    nodes = in_order(root)
    uses = Counter(id(arg) for node in nodes for arg in node.args)
    names, depth = dict[int, str](), dict[int, int]()
    for node in nodes:
        depth[id(node)] = 1 + max((depth[id(arg)] for arg in node.args), default=0)
        is_deep = depth[id(node)] > MOST_IN_BRACKETS
        if node.op not in ("table", "constant") and (uses[id(node)] > 1 or is_deep or is_named(node)):
            names[id(node)], depth[id(node)] = f"t{len(names) + 1}", 0
    return nodes, names


# NumPy and torch: arrays of shape (n, width)


NUMPY = {
    **{op: f"({{}} {sign} {{}})" for op, sign in INFIX.items()},
    "maximum": "np.maximum({}, {})",
    "minimum": "np.minimum({}, {})",
    "negative": "(-{})",
    "absolute": "np.abs({})",
    **{op: f"np.{op}({{}})" for op in ("exp", "log", "sqrt", "floor")},
    "where": "np.where({}, {}, {})",
    "row_sum": "{}.sum(axis=1, keepdims=True)",
    "row_max": "{}.max(axis=1, keepdims=True)",
    "argmax": "{}.argmax(axis=1)[:, None]",
    "matmul": "({} @ {})",
    "pick": "{2}[np.searchsorted({1}, {0}, side='{3}')]",
    "join": "np.hstack(np.broadcast_arrays({}))",
}

TORCH = {
    **{op: text.replace("np.", "torch.") for op, text in NUMPY.items()},
    "row_sum": "{}.sum(dim=1, keepdim=True)",
    "row_max": "{}.amax(dim=1, keepdim=True)",
    "argmax": "first_of_largest({})",
    "pick": "{2}[torch.bucketize({0}.contiguous(), {1}, right={4})]",
    "join": "torch.cat([{}], dim=1)",
}


class ArrayPrinter:
    """Statements on arrays, one for each node that has a name; ``constants`` are the arrays that they take."""

    def __init__(self, root: Node, words: dict[str, str], constant: str) -> None:
        self.words, self.constant = words, constant
        self.constants: dict[str, np.ndarray[Any, Any]] = {}
        self.known: dict[bytes, str] = {}
        named = ("join", "pick", "row_sum", "row_max", "argmax", "matmul")
        nodes, names = names_of(root, lambda node: node.op in named)
        self.text: dict[int, str] = {}
        self.lines: list[str] = []
        for node in nodes:
            found = self.printed(node)
            if id(node) in names:
                self.lines.append(f"{names[id(node)]} = {bare(found)}")
                found = names[id(node)]
            self.text[id(node)] = found
        self.result = self.text[id(root)]

    def array(self, values: np.ndarray[Any, Any]) -> str:
        """Name an array; equal ones have one name."""
        key = values.tobytes() + str(values.shape).encode()
        if key not in self.known:
            name = f"C{len(self.known) + 1}"
            self.known[key], self.constants[name] = self.constant.format(name), values
        return self.known[key]

    def printed(self, node: Node) -> str:
        """Print a node, given the text of what it is made of."""
        args = [self.text[id(arg)] for arg in node.args]
        is_torch = self.words is TORCH
        match node.op:
            case "table":
                return "x"
            case "constant":
                if node.width == 1 and not is_torch:
                    return repr(float(node.values[0]))
                return self.array(node.values[None, :])
            case "column":
                return f"{args[0]}[:, {node.values}:{node.values + 1}]"
            case "join":
                if is_torch:
                    args = [
                        f"({one} + 0.0 * x[:, :1])" if arg.op == "constant" else one
                        for arg, one in zip(node.args, args, strict=True)
                    ]
                return self.words["join"].format(", ".join(args))
            case "matmul":
                return self.words["matmul"].format(args[0], self.array(node.values))
            case "pick":
                edges, table, right = node.values
                side = "right" if right else "left"
                return self.words["pick"].format(args[0], self.array(edges), self.array(table), side, right)
        return self.words[node.op].format(*args)


def bare(text: str) -> str:
    """A text without the brackets around the whole of it."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return text[1:-1] if text[0] == "(" and place == len(text) - 1 else text
    return text


def to_numpy(calibrator: Calibrator | CalibratedClassifier) -> str:
    """Print a fitted calibrator as the source of a Python module that imports NumPy alone.

    Parameters
    ----------
    calibrator : Calibrator or CalibratedClassifier
        A fitted calibrator of this library.

    Returns
    -------
    str
        Source with a function ``calibrate(x)``: of an array of shape (n,) for one column, or (n, n_classes), the calibrated
        probabilities of the same shape, in double precision, as ``calibrator.calibrate(x)`` gives them. It checks nothing:
        rows are to be valid.

    Raises
    ------
    TypeError
        If the calibrator, or what it holds, is not of this library.

    Examples
    --------
    >>> from calibrant import PlattScaling, load_digits_forecast
    >>> from calibrant.interop.export import to_numpy
    >>> y, prob = load_digits_forecast()
    >>> source = to_numpy(PlattScaling().fit(prob[:, 3], y == 3))
    >>> "import numpy as np" in source
    True
    """
    calibrator, classifier = parts_of(calibrator)
    printer = ArrayPrinter(graph_of(calibrator), NUMPY, "{}")
    one = calibrator.n_features_in_ == 1
    lines = [*heading(calibrator, "#", classifier), "", "import numpy as np", ""]
    lines += [f"{name} = np.array({values.tolist()!r})" for name, values in printer.constants.items()]
    lines += ["", "", "def calibrate(x):", f"    x = np.asarray(x, dtype=np.float64){'.reshape(-1, 1)' if one else ''}"]
    lines += [f"    {line}" for line in printer.lines]
    lines.append(f"    return ({bare(printer.result)})[:, 0]" if one else f"    return {bare(printer.result)}")
    return "\n".join(lines) + "\n"


def torch_source(calibrator: Calibrator | CalibratedClassifier) -> str:
    """Print a fitted calibrator as the source of a ``torch.nn.Module``; see `to_torch`."""
    calibrator, classifier = parts_of(calibrator)
    printer = ArrayPrinter(graph_of(calibrator), TORCH, "self.{}")
    one = calibrator.n_features_in_ == 1
    lines = [*heading(calibrator, "#", classifier), "", "import torch", "from torch import nn", "", ""]
    lines += ["def first_of_largest(x: torch.Tensor) -> torch.Tensor:"]
    lines += ["    number = torch.arange(x.shape[1], device=x.device)"]
    lines += [
        "    return torch.where(x == x.amax(dim=1, keepdim=True), number, x.shape[1]).amin(dim=1, keepdim=True).to(x.dtype)"
    ]
    lines += ["", "", "class Calibrator(nn.Module):", "    def __init__(self):", "        super().__init__()"]
    for constant, values in printer.constants.items():
        lines.append(
            f"        self.register_buffer({constant!r}, torch.tensor({values.tolist()!r}, dtype=torch.float64))"
        )
    lines += [
        "",
        "    def forward(self, x: torch.Tensor) -> torch.Tensor:",
        f"        x = x.to(torch.float64){'.reshape(-1, 1)' if one else ''}",
    ]
    lines += [f"        {line}" for line in printer.lines]
    lines += [f"        return ({bare(printer.result)}){'[:, 0]' if one else ''}"]
    return "\n".join(lines) + "\n"


def to_torch(calibrator: Calibrator | CalibratedClassifier) -> Any:
    """Make a ``torch.nn.Module`` of a fitted calibrator, which can be scripted, moved to a GPU and differentiated.

    Parameters
    ----------
    calibrator : Calibrator or CalibratedClassifier
        A fitted calibrator of this library.

    Returns
    -------
    torch.nn.Module
        Its ``forward(x)`` gives, of a tensor of shape (n,) for one column or (n, n_classes), calibrated probabilities of the
        same shape in double precision. Steps have the derivative zero.

    Raises
    ------
    ImportError
        Without torch.
    TypeError
        If the calibrator, or what it holds, is not of this library.
    """
    needed("torch", "torch")
    source, module = torch_source(calibrator), types.ModuleType("calibrant_exported")
    place = f"<calibrator {next(NUMBER)}>"
    # A script is read from its source.
    linecache.cache[place] = len(source), None, source.splitlines(keepends=True), place
    exec(compile(source, place, "exec"), vars(module))
    return module.Calibrator()


NUMBER = itertools.count()


# SQL and JavaScript: numbers of one row


MOST_CLASSES_OF_SQL, MOST_NESTED = 50, 8
"""Columns of a query, and expressions inside each other: parsers have a limit for both."""

MOST_CHARACTERS, MOST_CHARACTERS_OF = 2_500_000, {"bigquery": 1_000_000, "snowflake": 1_000_000}
"""Of a query: what DuckDB, SQLite and Postgres take in some seconds, and where a database has a limit of its own."""

SQL = {
    **{op: f"({{}} {sign} {{}})" for op, sign in INFIX.items()},
    "equal": "({} = {})",
    "maximum": "GREATEST({}, {})",
    "minimum": "LEAST({}, {})",
    "negative": "(-{})",
    "absolute": "ABS({})",
    "exp": "EXP({})",
    "log": "LN({})",
    "sqrt": "SQRT({})",
    "floor": "FLOOR({})",
    "where": "CASE WHEN {} THEN {} ELSE {} END",
}

SQL_WITHOUT_UNDERFLOW = {**SQL, "exp": "EXP(GREATEST({}, -700e0))"}


def to_sql(
    calibrator: Calibrator | CalibratedClassifier,
    *,
    table: str = "predictions",
    columns: Sequence[str] | None = None,
    keep: Sequence[str] = (),
    dialect: str = "duckdb",
) -> str:
    """Print a fitted calibrator as a query that selects calibrated probabilities.

    Parameters
    ----------
    calibrator : Calibrator or CalibratedClassifier
        A fitted calibrator of this library, of at most 50 classes.
    table : str, default="predictions"
        Table, or query in brackets, that holds the rows. It is written into the query as it is, in the words of the dialect: so
        it may be a template, such as ``{{ ref('predictions') }}`` of dbt.
    columns : sequence of str, optional
        Its columns that the calibrator takes, in the order of the classes; by default those that were fitted, if they had
        names, or else ``y_prob`` of one column, and ``p_`` and the class of several. One column is that of the event.
    keep : sequence of str, optional
        Columns that are selected as well, such as a key.
    dialect : str, default="duckdb"
        Dialect of the query: "duckdb", or any that sqlglot knows, such as "postgres", "sqlite", "bigquery", "snowflake" or
        "spark".

    Returns
    -------
    str
        A query. Calibrated columns are named as those that they are made of, with ``calibrated_`` before.

    Raises
    ------
    ImportError
        Without sqlglot, where the dialect is not "duckdb".
    ValueError
        If there are more than 50 classes, another number of columns, two whose names differ in capitals at most, those that
        were fitted in another order, or the query is too long for the database.
    TypeError
        If the calibrator, or what it holds, is not of this library.
    """
    calibrator, classifier = parts_of(calibrator)
    root, n_columns = graph_of(calibrator), calibrator.n_features_in_
    usual = ["y_prob"] if n_columns == 1 else [f"p_{label}" for label in calibrator.classes_]
    fitted = columns_of(calibrator) or usual
    names = fitted if columns is None else in_order_of("columns", columns)
    kept = in_order_of("keep", keep)
    is_table = isinstance(table, str) and table.strip()
    must = "table must be the name of a table"
    require(bool(is_table), must, value=table, hint="Pass table='predictions'", error=TypeError)
    must = f"a query must be of at most {MOST_CLASSES_OF_SQL} classes"
    require(n_columns <= MOST_CLASSES_OF_SQL, must, value=n_columns, hint="Export to ONNX: to_onnx(calibrator)")
    require(len(names) == n_columns, f"columns must be {n_columns}", value=len(names), hint="Name one a class")
    is_turned, must = names != fitted and sorted(names) == sorted(fitted), "columns must be in the order of the classes"
    require(not is_turned, must, got=", ".join(names[:5]), hint="Leave columns out: they are then named in it")
    small = [name.lower() for name in (*kept, *(f"calibrated_{name}" for name in names))]
    distinct_names("the columns of a query, in small letters as DuckDB reads them,", small)
    of_type("dialect", dialect, str, "the name of a dialect", hint="Pass dialect='duckdb'")
    dialect = dialect.lower()
    place, select = PLACE, "s"
    while any(place in name for name in (*names, *kept)):
        place += "_"
    while re.search(rf"\b{select}\d", table, re.IGNORECASE):
        select += "_"
    sql = SqlPrinter(root, dialect).query(place, select, names, kept)
    require_length(sql, MOST_CHARACTERS)
    if dialect != "duckdb":
        sqlglot = needed("sqlglot", "calibrant[sql]")
        fits, hint = int(sqlglot.__version__.split(".")[0]) >= 30, "Run pip install 'calibrant[sql]'"
        must = "sqlglot must be 30.0 or newer: older ones drop terms in SQLite"
        require(fits, must, got=sqlglot.__version__, hint=hint, error=ImportError)
        choice("dialect", dialect, sorted(sqlglot.Dialect.classes.keys() - NOT_WRITTEN), hint="Pass dialect='duckdb'")
        sql = sqlglot.transpile(sql, read="duckdb", write=dialect, pretty=True)[0]
        require_length(sql, MOST_CHARACTERS_OF.get(dialect, len(sql)))
    return "\n".join([*heading(calibrator, "--", classifier), sql.replace(f"FROM {place}", f"FROM {table}", 1), ""])


NOT_WRITTEN = {"", "dax", "prql"}
"""What sqlglot calls a dialect and does not write queries in."""


def in_order_of(name: str, words: Any) -> list[str]:
    """Return names of columns as a list; refuse what has no order, and what is no name."""
    list_of_names(name, words)
    is_ordered = not isinstance(words, (Set, Mapping))
    require(is_ordered, f"{name} must be a list, in an order", value=words, hint="Pass a list", error=TypeError)
    listed = list(words)
    for word in listed:
        is_name = isinstance(word, str) and word.strip() != ""
        require(is_name, f"each of {name} must be a name", value=word, hint="Pass names of columns", error=TypeError)
    return listed


def require_length(sql: str, most: int) -> None:
    """Refuse a query that is too long for the database that is to take it."""
    hint = "Export to ONNX: to_onnx(calibrator)"
    require(len(sql) <= most, f"a query must have at most {most} characters", value=len(sql), hint=hint)


PLACE = "rows_to_calibrate"
"""Stands for the table while sqlglot reads the query: the table may be a template, or in words of the dialect alone."""

INLINING = {"postgres", "sqlite"}
"""Dialects that put a select into the one that reads it, unless it is to be kept: twenty would become a text without end."""


UNDERFLOWING = {"postgres", "redshift"}
"""Dialects in which an exponential or a product that is too small to be a number is an error, and not zero."""


class SqlPrinter:
    """Nested selects: each has columns that are made of those of the select before it."""

    def __init__(self, root: Node, dialect: str) -> None:
        self.root, self.is_kept, self.underflows = root, dialect in INLINING, dialect in UNDERFLOWING
        consumers: dict[int, list[Node]] = {}
        nodes = in_order(root)
        for node in nodes:
            for arg in node.args:
                consumers.setdefault(id(arg), []).append(node)

        def is_named(node: Node, uses: int) -> bool:
            """Whether its text would stand more than once in that of another."""
            return uses > 1 or any(
                used.op in ("pick", "argmax", "matmul") or used.width > max(node.width, 1)
                for used in consumers.get(id(node), ())
            )

        self.names: dict[int, str] = {}
        self.level: dict[int, int] = {}
        depth: dict[int, int] = {}
        self.selects: list[list[tuple[str, str]]] = []
        for node in nodes:
            below = max((self.level[id(arg)] for arg in node.args), default=0)
            self.level[id(node)] = below
            depth[id(node)] = 1 + max((depth[id(arg)] for arg in node.args), default=0)
            is_made = node.op not in ("table", "constant", "column", "join") and node.op not in CONDITIONS
            if is_made and (depth[id(node)] > MOST_NESTED or is_named(node, len(consumers.get(id(node), ())))):
                depth[id(node)] = 0
                name = f"t{len(self.names) + 1}"
                each = [(f"{name}_{j}" if node.width > 1 else name, self.text(node, j)) for j in range(node.width)]
                self.names[id(node)], self.level[id(node)] = name, below + 1
                while len(self.selects) <= below:
                    self.selects.append([])
                self.selects[below] += each

    def text(self, node: Node, j: int) -> str:
        """Print the number of a column of a node."""
        j = min(j, node.width - 1)
        if id(node) in self.names:
            return f"{self.names[id(node)]}_{j}" if node.width > 1 else self.names[id(node)]
        match node.op:
            case "table":
                return f"x{j}"
            case "constant":
                return literal(node.values[j])
            case "column":
                return self.text(node.args[0], node.values)
            case "join":
                return self.text(node.args[j], 0)
        if node.op in ELEMENTWISE:
            words = SQL_WITHOUT_UNDERFLOW if self.underflows else SQL
            return words[node.op].format(*(self.text(arg, j) for arg in node.args))
        (arg,) = node.args
        each = [self.text(arg, i) for i in range(arg.width)]
        match node.op:
            case "row_sum":
                return f"({' + '.join(each)})"
            case "row_max":
                return f"GREATEST({', '.join(each)})"
            case "argmax":
                cases = [
                    f"WHEN {' AND '.join(f'{one} >= {other}' for other in each if other != one)} THEN {literal(i)}"
                    for i, one in enumerate(each[:-1])
                ]
                return f"CASE {' '.join(cases)} ELSE {literal(len(each) - 1)} END"
            case "matmul":
                terms = [f"{one} * {literal(by)}" for one, by in zip(each, node.values[:, j], strict=True) if by != 0.0]
                return f"({' + '.join(terms) or literal(0.0)})"
            case "pick":
                edges, table, right = node.values
                changes = np.flatnonzero(np.diff(table) != 0)
                values = np.append(table[changes], table[-1])
                found = balanced(self.text(arg, j), edges[changes], values, ">=" if right else ">")
                return f"CAST({found} AS DOUBLE)"
        raise AssertionError(node.op)

    def query(self, table: str, select: str, columns: list[str], keep: list[str]) -> str:
        """Print the whole query. A select hands on what is read later.

        Columns of the table are named with it, or SQLite would take one that is not there for a text. Within the query those
        that are kept have names that no other has.
        """
        word = "AS MATERIALIZED" if self.is_kept else "AS"
        inner = [f"r.{quoted(name)} AS k{j}" for j, name in enumerate(keep)]
        given = "CASE WHEN ABS({0}) < 1e-290 THEN 0e0 ELSE {0} END" if self.underflows else "{0}"
        inner += [f"{given.format(f'CAST(r.{quoted(name)} AS DOUBLE)')} AS x{j}" for j, name in enumerate(columns)]
        kept = [f"k{j} AS {quoted(name)}" for j, name in enumerate(keep)]
        results = [self.text(self.root, j) for j in range(len(columns))]
        made = [f"{text} AS {quoted('calibrated_' + name)}" for name, text in zip(columns, results, strict=True)]
        parts = [f"\nSELECT {', '.join([*kept, *made])} FROM {select}{len(self.selects)}"]
        needed = dict.fromkeys([*(f"k{j}" for j in range(len(keep))), *names_in(results)])
        for number, made_here in reversed(list(enumerate(self.selects, start=1))):
            here = {name: text for name, text in made_here if name in needed}
            handed_on = [name for name in needed if name not in here]
            listed = ", ".join([*handed_on, *(f"{text} AS {name}" for name, text in here.items())])
            parts.append(f"{select}{number} {word} (SELECT {listed} FROM {select}{number - 1})")
            needed = dict.fromkeys([*handed_on, *names_in(here.values())])
        parts.append(f"{select}0 {word} (SELECT {', '.join(inner)} FROM {table} AS r)")
        first, *rest = parts
        return "WITH " + ",\n".join(reversed(rest)) + first


def names_in(texts: Iterable[str]) -> list[str]:
    """The columns of a query that expressions read."""
    return [name for text in texts for name in re.findall(r"\b[tx]\d+(?:_\d+)?\b", text)]


def quoted(name: str) -> str:
    """Write the name of a column."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: float) -> str:
    """Write a number in double precision: with an exponent it is no decimal."""
    text = repr(float(value))
    return text if "e" in text else f"{text}e0"


def balanced(x: str, edges: Any, table: Any, sign: str) -> str:
    """Write a binary search."""
    if not len(edges):
        return literal(table[0])
    middle = len(edges) // 2
    above = balanced(x, edges[middle + 1 :], table[middle + 1 :], sign)
    below = balanced(x, edges[:middle], table[: middle + 1], sign)
    return f"CASE WHEN {x} {sign} {literal(edges[middle])} THEN {above} ELSE {below} END"


JS = {
    **SQL,
    "equal": "({} === {})",
    "maximum": "Math.max({}, {})",
    "minimum": "Math.min({}, {})",
    "absolute": "Math.abs({})",
    **{op: f"Math.{op}({{}})" for op in ("exp", "log", "sqrt", "floor")},
    "where": "({} ? {} : {})",
}

JS_HELPERS = """
function range(n, make) { return Array.from({ length: n }, (_, i) => make(i)); }
function sum(x) { let total = 0; for (const one of x) total += one ?? NaN; return total; }
function argmax(x) { return x.reduce((best, one, i) => (one > x[best] ? i : best), 0); }
function pick(edges, table, x, right) {
  let low = 0, high = edges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (right ? edges[middle] <= x : edges[middle] < x) low = middle + 1; else high = middle;
  }
  return table[low];
}
"""


def to_js(calibrator: Calibrator | CalibratedClassifier) -> str:
    """Print a fitted calibrator as a JavaScript module with one function.

    Parameters
    ----------
    calibrator : Calibrator or CalibratedClassifier
        A fitted calibrator of this library.

    Returns
    -------
    str
        Source with a function ``calibrate(x)``: of one number, or an array with one a class, what ``calibrate`` gives for it.
        Of ``null`` it is NaN.

    Raises
    ------
    TypeError
        If the calibrator, or what it holds, is not of this library.
    """
    calibrator, classifier = parts_of(calibrator)
    root, one = graph_of(calibrator), calibrator.n_features_in_ == 1
    nodes, names = names_of(root, lambda node: node.width > 1 or node.op not in ELEMENTWISE)
    constants: list[str] = []
    lines: list[str] = []
    done: set[int] = set()

    def array(values: Any) -> str:
        text = json.dumps(values.tolist())
        if text not in constants:
            constants.append(text)
        return f"C{constants.index(text) + 1}"

    def text(node: Node, i: str) -> str:
        if id(node) in done:
            return names[id(node)] + (f"[{i}]" if node.width > 1 else "")
        match node.op:
            case "table":
                return f"x[{i if node.width > 1 else 0}]"
            case "constant":
                return f"{array(node.values)}[{i}]" if node.width > 1 else json.dumps(float(node.values[0]))
            case "column":
                return text(node.args[0], str(node.values))
        if node.op in ELEMENTWISE:
            return JS[node.op].format(*(text(arg, i) for arg in node.args))
        (arg,) = node.args
        match node.op:
            case "row_sum":
                return f"sum({row(arg)})"
            case "row_max":
                return f"Math.max(...{row(arg)})"
            case "argmax":
                return f"argmax({row(arg)})"
            case "matmul":
                return f"sum(range({arg.width}, k => {text(arg, 'k')} * {array(node.values)}[k][{i}]))"
            case "pick":
                edges, table, right = node.values
                return f"pick({array(edges)}, {array(table)}, {text(arg, i)}, {json.dumps(right)})"
        raise AssertionError(node.op)

    def row(node: Node) -> str:
        if id(node) in done:
            return names[id(node)]
        return "x" if node.op == "table" else f"range({node.width}, i => {text(node, 'i')})"

    for node in nodes:
        if id(node) in names:
            if node.op == "join":
                made = f"[{', '.join(text(arg, '0') for arg in node.args)}]"
            else:
                made = text(node, "0") if node.width == 1 else f"range({node.width}, i => {text(node, 'i')})"
            lines.append(f"  const {names[id(node)]} = {bare(made)};")
            done.add(id(node))
    result = text(root, "0") if one else row(root)
    head = "\n".join([*heading(calibrator, "//", classifier), ""])
    tables = "".join(f"const C{number} = {values};\n" for number, values in enumerate(constants, start=1))
    body = "\n".join([*lines, f"  return {bare(result)};"])
    takes, first = ("value", "  const x = [value ?? NaN];\n") if one else ("x", "")
    return f"{head}{JS_HELPERS}\n{tables}\nexport function calibrate({takes}) {{\n{first}{body}\n}}\n"


# ONNX


ONNX = {
    "add": "Add",
    "subtract": "Sub",
    "multiply": "Mul",
    "divide": "Div",
    "maximum": "Max",
    "minimum": "Min",
    "greater_equal": "GreaterOrEqual",
    "negative": "Neg",
    "absolute": "Abs",
    **{op: op.capitalize() for op in ("greater", "equal", "exp", "log", "sqrt", "floor", "where")},
}

OPSET, NEAR = 18, 1e-2


def to_onnx(calibrator: Calibrator | CalibratedClassifier, *, dtype: str = "double") -> Any:
    """Make an ONNX model of a fitted calibrator, opset 18.

    Parameters
    ----------
    calibrator : Calibrator or CalibratedClassifier
        A fitted calibrator of this library.
    dtype : {"double", "float"}, default="double"
        Precision of the input and the output. All is computed in double precision: in single precision a number beside an edge
        would fall on the other side.

    Returns
    -------
    onnx.ModelProto
        A model with the input ``x`` and the output ``calibrated``, shape (n, 1) of one column or (n, n_classes).

    Raises
    ------
    ImportError
        Without onnx.
    TypeError
        If the calibrator, or what it holds, is not of this library.
    """
    onnx = needed("onnx", "calibrant[onnx]")
    choice("dtype", dtype, ("double", "float"))
    helper, kind = onnx.helper, getattr(onnx.TensorProto, dtype.upper())
    double, whole = onnx.TensorProto.DOUBLE, onnx.TensorProto.INT64
    nodes: list[Any] = []
    tables: list[Any] = []
    known: dict[bytes, str] = {}

    def constant(values: Any) -> str:
        array = np.ascontiguousarray(values)
        key = array.tobytes() + repr((array.shape, array.dtype.str)).encode()
        if key not in known:
            known[key] = f"c{len(known) + 1}"
            tables.append(onnx.numpy_helper.from_array(array, known[key]))
        return known[key]

    def made(op: str, *inputs: str, **options: Any) -> str:
        name = f"t{len(nodes) + 1}"
        nodes.append(helper.make_node(op, list(inputs), [name], **options))
        return name

    def picked(x: str, edges: Any, table: Any, right: bool) -> str:
        n_levels = len(edges).bit_length()
        padded = np.append(edges, np.full(2**n_levels - 1 - len(edges), np.inf))
        is_nan = made("Cast", made("IsNaN", x), to=whole)
        place = made("Mul", is_nan, constant(np.zeros((1, 1), np.int64)))  # zeros, of the shape of x
        for level in reversed(range(n_levels)):
            step = 2**level
            edge = made("Gather", constant(padded), made("Add", place, constant(np.full((1, 1), step - 1))))
            passed = made("GreaterOrEqual" if right else "Greater", x, edge)
            place = made("Add", place, made("Mul", made("Cast", passed, to=whole), constant(np.full((1, 1), step))))
        return made("Gather", constant(np.append(table, np.full(2**n_levels - len(table), table[-1]))), place)

    def kept(node: Node, args: list[str]) -> str:
        """Write an operation so that onnxruntime keeps it: it leaves out a factor near 1, and a term near 0."""
        values = [arg.values[0] if arg.op == "constant" and arg.width == 1 else None for arg in node.args]
        neutral = {"multiply": 1.0, "divide": 1.0, "add": 0.0, "subtract": 0.0}.get(node.op)
        if neutral is None or not any(value is not None and 0.0 < abs(value - neutral) < NEAR for value in values):
            return made(ONNX[node.op], *args)
        unit = 2.0**-40  # a power of two rounds nothing
        inside = [0] if node.op == "multiply" else [1] if node.op == "divide" else [0, 1]
        scaled = [made("Mul", arg, constant([[1.0 / unit]])) if i in inside else arg for i, arg in enumerate(args)]
        return made("Mul", made(ONNX[node.op], *scaled), constant([[1.0 / unit if node.op == "divide" else unit]]))

    calibrator, classifier = parts_of(calibrator)
    root, found = graph_of(calibrator), dict[int, str]()
    for node in in_order(root):
        args = [found[id(arg)] for arg in node.args]
        match node.op:
            case "table":
                name = made("Cast", "x", to=double)
            case "constant":
                name = constant(node.values[None, :])
            case "column":
                # A name, for onnxruntime 1.20 joins columns to a node that is named after one of them, and names must differ.
                column = constant(np.array([node.values]))
                name = made("Gather", args[0], column, axis=1, name=f"column{len(nodes) + 1}")
            case "join":
                shape = next(found[id(arg)] for arg in node.args if arg.op != "constant")
                zero = made("Mul", shape, constant(np.zeros((1, 1))))
                whole_columns = [
                    made("Add", one, zero) if arg.op == "constant" else one
                    for arg, one in zip(node.args, args, strict=True)
                ]
                name = made("Concat", *whole_columns, axis=1)
            case "row_sum":
                name = made("ReduceSum", args[0], constant(np.array([1])), keepdims=1)
            case "row_max":
                name = made("ReduceMax", args[0], constant(np.array([1])), keepdims=1)
            case "argmax":
                name = made("Cast", made("ArgMax", args[0], axis=1, keepdims=1), to=double)
            case "matmul":
                name = made("MatMul", args[0], constant(node.values))
            case "pick":
                name = picked(args[0], *node.values)
            case _:
                name = kept(node, args)
        found[id(node)] = name
    nodes.append(helper.make_node("Cast", [found[id(root)]], ["calibrated"], to=kind))
    used = {name for node in nodes for name in node.input}
    ends = [helper.make_tensor_value_info(name, kind, ["n", root.width]) for name in ("x", "calibrated")]
    kept_tables = [table for table in tables if table.name in used]
    said, title = " ".join(heading(calibrator, "", classifier)).strip(), type(calibrator).__name__
    graph = helper.make_graph(nodes, title, ends[:1], ends[1:], kept_tables, doc_string=said)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="calibrant")
    model.ir_version = 9
    return model


def needed(name: str, install: str) -> Any:
    """Import a library that may not be there."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError(f"{name} must be installed; it is not. Run pip install '{install}'.") from None
