"""The small changes that a test suite should notice, found in a file's syntax tree.

Left out, as they change no number and no decision: docstrings and all other strings but the side of a binary search,
annotations, what is raised (that it is raised counts), `__repr__` and its kin, `if TYPE_CHECKING`, and arguments that only
set the look of a picture or the size of a cache.
"""

import ast
import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

LOOK = frozenset([
    "alpha", "aspect", "bbox_to_anchor", "cmap", "color", "colors", "dpi", "edgecolor", "figsize", "fontsize",
    "handlelength", "height_ratios", "labelsize", "length", "levels", "linestyle", "linewidth", "linewidths", "loc",
    "markersize", "maxsize", "pad", "rotation", "shrink", "size", "stacklevel", "width_ratios", "zorder",
])  # fmt: skip
WORDS_ONLY = frozenset({"__repr__", "__str__", "_repr_html_", "_repr_mimebundle_"})


def both_ways(*pairs: tuple[Any, Any]) -> dict[Any, Any]:
    """Return what each of a pair becomes: the other."""
    return {one: other for pair in pairs for one, other in (pair, pair[::-1])}


COMPARISONS = both_ways(
    (ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot), (ast.In, ast.NotIn)
)
ARITHMETIC = both_ways((ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.BitAnd, ast.BitOr), (ast.LShift, ast.RShift)) | {
    ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult,
}  # fmt: skip
NAMES = {"sum": "max", "mean": "sum", "isnan": "isfinite", "cumsum": "cumprod"} | both_ways(
    ("minimum", "maximum"), ("min", "max"), ("argmin", "argmax"), ("floor", "ceil"), ("zeros", "ones"),
    ("zeros_like", "ones_like"), ("any", "all"), ("logical_and", "logical_or"), ("left", "right"),
)  # fmt: skip
SYMMETRIC = frozenset(
    {"minimum", "maximum", "min", "max", "isinstance", "dot", "logical_and", "logical_or", "array_equal"}
)
"""Functions of which two arguments may change places."""
LEFT_OUT = frozenset({"JoinedStr", "Import", "ImportFrom", "TypeAlias"})


@dataclass(frozen=True)
class Mutant:
    """One change: the text between two places of a file, and the lines whose tests should see it."""

    path: Path
    start: int
    stop: int
    text: str
    operator: str
    line: int
    reached_by: range
    in_function: bool

    def applied(self) -> bytes:
        source = self.path.read_bytes()
        return source[: self.start] + self.text.encode() + source[self.stop :]

    def __str__(self) -> str:
        return f"{self.path}:{self.line} ({self.operator})"

    def change(self) -> tuple[str, str, str]:
        """Return the file, and the lines that change, as they are and as they would be, each joined to one."""
        old, new = self.path.read_bytes(), self.applied()
        first, last = old.rfind(b"\n", 0, self.start) + 1, old.find(b"\n", self.stop)
        changed = old[first:last], new[first : last + len(new) - len(old)]
        return str(self.path), *(" ".join(text.decode().split()) for text in changed)


Change = tuple[Any, str, str]
"""What is replaced, the text in its place, and the name of the operator."""


def other(node: ast.expr, **parts: Any) -> str:
    """Return the text of a node with other parts; in parentheses, as what stands around it may bind closer."""
    changed = copy.copy(node)
    vars(changed).update(parts)
    return f"({ast.unparse(changed)})"


def changes(node: ast.AST) -> Iterator[Change]:
    """Yield the changes of a node itself."""
    match node:
        case ast.Raise():
            yield node, "pass", "raise removed"
        case ast.Expr(value=ast.Call()):
            yield node, "pass", "call removed"
        case ast.AugAssign(op=op):
            if type(op) in ARITHMETIC:
                yield node, ast.unparse(ast.AugAssign(node.target, ARITHMETIC[type(op)](), node.value)), "arithmetic"
            yield node, "pass", "assignment removed"
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            is_plain = isinstance(test, ast.Compare | ast.UnaryOp)
            if not is_plain or (isinstance(test, ast.Compare) and len(test.ops) > 1):
                yield test, f"(not ({ast.unparse(test)}))", "condition negated"
        case ast.comprehension():
            yield from ((condition, "True", "condition removed") for condition in node.ifs)
        case ast.Compare(ops=ops):
            for i, operator in enumerate(ops):
                yield node, other(node, ops=[*ops[:i], COMPARISONS[type(operator)](), *ops[i + 1 :]]), "comparison"
        case ast.BinOp(op=op) if type(op) in ARITHMETIC:
            yield node, other(node, op=ARITHMETIC[type(op)]()), "arithmetic"
        case ast.BoolOp(op=op):
            yield node, other(node, op=ast.Or() if isinstance(op, ast.And) else ast.And()), "and, or"
        case ast.UnaryOp():
            yield node, f"({ast.unparse(node.operand)})", "sign removed"
        case ast.Constant(value=bool(value)):
            yield node, str(not value), "constant"
        case ast.Constant(value=int(value) | float(value)):
            yield node, repr(value + 1), "constant"
            yield node, f"({value - 1!r})", "constant"
        case ast.Constant(value="left" | "right"):
            yield node, repr(NAMES[node.value]), "side"
        case ast.Slice(step=None) if node.lower or node.upper:
            lower, upper = (ast.unparse(part) if part else "" for part in (node.lower, node.upper))
            yield node, f"({lower}) + 1:{upper}" if lower else f"1:{upper}", "slice"
            yield node, f"{lower}:({upper}) - 1" if upper else f"{lower}:-1", "slice"
        case ast.Attribute(attr=attr) if attr in NAMES and attr not in ("left", "right"):
            yield node, other(node, attr=NAMES[attr]), "function"
        case ast.Call():
            yield from changes_of_call(node)


def changes_of_call(node: ast.Call) -> Iterator[Change]:
    """Yield a call of another function, with two arguments swapped, and without each of those that have a name."""
    if isinstance(node.func, ast.Name) and node.func.id in NAMES:
        yield node.func, NAMES[node.func.id], "function"
    plain = [ast.unparse(argument) for argument in node.args[:2] if not isinstance(argument, ast.Starred)]
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    if len(plain) == 2 and plain[0] != plain[1] and name not in SYMMETRIC:
        first, second, *rest = node.args
        yield node, other(node, args=[second, first, *rest]), "arguments swapped"
    for i, keyword in enumerate(node.keywords):
        if keyword.arg is not None and keyword.arg not in LOOK:
            yield node, other(node, keywords=node.keywords[:i] + node.keywords[i + 1 :]), "argument removed"


def parts(node: ast.AST) -> Iterable[ast.AST | None]:
    """Return what of a node is changed besides: no annotation, no words, and no number whose change is one of the node."""
    match node:
        case ast.Raise() | ast.Expr(value=ast.Constant()) | ast.UnaryOp(operand=ast.Constant()):
            return ()
        case ast.AnnAssign() | ast.Attribute():
            return (node.value,)
        case ast.arguments():
            return (*node.defaults, *node.kw_defaults)
        case ast.Slice():
            places = (node.lower, node.upper, node.step)
            return (part for part in places if not isinstance(part, ast.Constant | ast.UnaryOp))
        case ast.Call():
            named = (keyword.value for keyword in node.keywords if keyword.arg not in LOOK)
            return (None if isinstance(node.func, ast.Name) else node.func, *named, *node.args)
    return ast.iter_child_nodes(node)


def mutants(path: Path) -> Iterator[Mutant]:
    """Yield the mutants of a file."""
    lines = path.read_bytes().splitlines(keepends=True)
    starts = [0, *accumulate(map(len, lines))]

    def visit(node: ast.AST, around: range, first: int | None) -> Iterator[Mutant]:
        """Yield the changes of a node and of all in it.

        ``first`` is where the statement of a function begins, from which on a test must run; elsewhere it must run some line
        of the ``range``.
        """
        is_condition = isinstance(node, ast.If | ast.While | ast.IfExp)
        if type(node).__name__ in LEFT_OUT or (is_condition and ast.unparse(node.test) == "TYPE_CHECKING"):
            return
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            is_function = isinstance(node, ast.FunctionDef)
            inside = range(node.body[0].lineno, (node.end_lineno or 0) + 1)
            for part in (*node.decorator_list, *([node.args] if is_function else [])):
                yield from visit(part, inside, None)
            for part in node.body if node.name not in WORDS_ONLY else ():
                yield from visit(part, inside, part.lineno if is_function else None)
            return
        if first is not None and isinstance(node, ast.stmt):
            first = node.lineno
        for part, text, operator in changes(node):
            start = starts[part.lineno - 1] + part.col_offset
            stop = starts[(part.end_lineno or part.lineno) - 1] + (part.end_col_offset or 0)
            reached_by = around if first is None else range(first, (part.end_lineno or first) + 1)
            yield Mutant(path, start, stop, text, operator, part.lineno, reached_by, first is not None)
        for inner in parts(node):
            if inner is not None:
                yield from visit(inner, around, first)

    yield from visit(ast.parse(b"".join(lines)), range(1, len(lines) + 1), None)


def sites(source: Path) -> Iterator[Mutant]:
    """Yield the mutants of every file of a package, in the order of its text."""
    for path in sorted(source.rglob("*.py")):
        yield from sorted(mutants(path), key=lambda mutant: (mutant.start, mutant.stop, mutant.text))
