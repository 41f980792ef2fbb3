"""The small changes that a test suite should notice, found in a file's syntax tree.

Left out, as they change no number and no decision: docstrings and all other strings but the side of a binary search,
annotations, what is raised (that it is raised counts), `__repr__` and its kin, `if TYPE_CHECKING`, and arguments that only
set the look of a picture.
"""

import ast
import copy
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# fmt: off
LOOK = frozenset([
    "alpha", "aspect", "bbox_to_anchor", "capsize", "cmap", "color", "colors", "columnspacing", "dpi", "ecolor",
    "edgecolor", "facecolor", "figsize", "fontsize", "handlelength", "height_ratios", "hspace", "labelpad",
    "labelrotation", "labelsize", "length", "levels", "linestyle", "linewidth", "linewidths", "loc", "lw",
    "markersize", "ncol", "pad", "rotation", "shrink", "size", "stacklevel", "vmax", "vmin", "width_ratios",
    "wspace", "xytext", "zorder", "s",
])
# fmt: on
WORDS_ONLY = frozenset({"__repr__", "__str__", "_repr_html_", "_repr_mimebundle_"})


def both_ways(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    """Return what each of a pair becomes: the other."""
    return {one: other for pair in pairs for one, other in (pair, pair[::-1])}


COMPARISONS = both_ways(
    [(ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot), (ast.In, ast.NotIn)]
)
ARITHMETIC = both_ways([(ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.BitAnd, ast.BitOr), (ast.LShift, ast.RShift)]) | {
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
}
# fmt: off
NAMES = {"sum": "max", "mean": "sum", "isnan": "isfinite"} | both_ways([
    ("minimum", "maximum"), ("min", "max"), ("argmin", "argmax"), ("floor", "ceil"), ("zeros", "ones"),
    ("zeros_like", "ones_like"), ("any", "all"), ("logical_and", "logical_or"), ("left", "right"),
]) | {"cumsum": "cumprod"}
SYMMETRIC = frozenset([
    "minimum", "maximum", "min", "max", "isinstance", "dot", "logical_and", "logical_or", "array_equal",
])
"""Functions of which two arguments may change places."""
# fmt: on
LEFT_OUT = frozenset({"JoinedStr", "Import", "ImportFrom", "TypeAlias"})
KEPT_DECORATORS = frozenset({"kernel", "cache", "lru_cache", "overload", "cached_property"})
"""Without these a function is slower, or typed otherwise, and no more."""


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
    scope: str

    def applied(self) -> bytes:
        source = self.path.read_bytes()
        return source[: self.start] + self.text.encode() + source[self.stop :]

    def difference(self) -> tuple[str, str]:
        """Return the lines that change, as they are and as they would be, each joined to one."""
        old, new = self.path.read_bytes(), self.applied()
        first, last = old.rfind(b"\n", 0, self.start) + 1, old.find(b"\n", self.stop)
        grown = len(new) - len(old)
        return _one_line(old[first:last]), _one_line(new[first : last + grown])


def _one_line(text: bytes) -> str:
    return " ".join(text.decode().split())


class _Finder(ast.NodeVisitor):
    def __init__(self, path: Path) -> None:
        self.path, self.source = path, path.read_bytes()
        self.tree = ast.parse(self.source)
        self.starts = [0]
        for line in self.source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.mutants: list[Mutant] = []
        self.reach: Callable[[ast.AST], range] = self.of_whole_file
        self.scope = "module"

    def of_whole_file(self, node: ast.AST) -> range:
        return range(1, len(self.starts) + 1)

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        end = (node.end_lineno or node.lineno, node.end_col_offset or 0)
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[end[0] - 1] + end[1]

    def add(self, node: ast.expr | ast.stmt, text: str, operator: str) -> None:
        start, stop = self.span(node)
        self.mutants.append(Mutant(self.path, start, stop, text, operator, node.lineno, self.reach(node), self.scope))

    def changed(self, node: ast.expr, operator: str, change: Callable[[ast.AST], None]) -> None:
        """Add the node with a change to a copy of it; in parentheses, as what stands around it may bind closer."""
        other = copy.deepcopy(node)
        change(other)
        self.add(node, f"({ast.unparse(other)})", operator)

    # Where a change is reached from

    def visit(self, node: ast.AST) -> None:
        outer, is_condition = self.reach, isinstance(node, ast.If | ast.While | ast.IfExp)
        if type(node).__name__ in LEFT_OUT or (is_condition and ast.unparse(node.test) == "TYPE_CHECKING"):
            return
        if isinstance(node, ast.stmt) and self.scope == "body":
            first = node.lineno
            self.reach = lambda inner: range(first, (getattr(inner, "end_lineno", first) or first) + 1)
        if is_condition:
            self.negated(node.test)
        super().visit(node)
        self.reach = outer

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name in WORDS_ONLY:
            return
        inside, outer = range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1), self.scope
        self.reach = lambda _: inside
        for decorator in node.decorator_list:
            self.visit_decorator(decorator)
        self.visit(node.args)
        self.scope = "body"
        for statement in node.body:
            self.visit(statement)
        self.scope = outer

    def visit_decorator(self, decorator: ast.expr) -> None:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
        if name in KEPT_DECORATORS:
            return
        self.add(decorator, "(lambda undecorated: undecorated)", "decorator removed")
        self.visit(decorator)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        inside, outer = range(node.lineno, (node.end_lineno or node.lineno) + 1), self.scope
        self.reach, self.scope = (lambda _: inside), "class"
        for decorator in node.decorator_list:
            self.visit_decorator(decorator)
        for statement in node.body:
            self.visit(statement)
        self.scope = outer

    # What is left out

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_arguments(self, node: ast.arguments) -> None:
        for default in [*node.defaults, *node.kw_defaults]:
            if default is not None:
                self.visit(default)

    # Operators

    def visit_Raise(self, node: ast.Raise) -> None:
        self.add(node, "pass", "raise removed")

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self.add(node, "pass", "call removed")
        if not isinstance(node.value, ast.Constant):  # a docstring
            self.visit(node.value)

    def visit_Continue(self, node: ast.Continue) -> None:
        self.add(node, "break", "loop")

    def visit_Break(self, node: ast.Break) -> None:
        self.add(node, "continue", "loop")

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if type(node.op) in ARITHMETIC:
            other = copy.deepcopy(node)
            other.op = ARITHMETIC[type(node.op)]()
            self.add(node, ast.unparse(other), "arithmetic")
        self.add(node, "pass", "assignment removed")
        self.visit(node.target)
        self.visit(node.value)

    def negated(self, test: ast.expr) -> None:
        if not isinstance(test, ast.Compare | ast.UnaryOp) or (isinstance(test, ast.Compare) and len(test.ops) > 1):
            self.add(test, f"(not ({ast.unparse(test)}))", "condition negated")

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for condition in node.ifs:
            self.add(condition, "True", "condition removed")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for i, operator in enumerate(node.ops):

            def swap(other: ast.AST, i: int = i, operator: ast.cmpop = operator) -> None:
                other.ops[i] = COMPARISONS[type(operator)]()  # type: ignore[attr-defined]

            self.changed(node, "comparison", swap)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) in ARITHMETIC:
            self.changed(node, "arithmetic", lambda other: setattr(other, "op", ARITHMETIC[type(node.op)]()))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        swapped = ast.Or if isinstance(node.op, ast.And) else ast.And
        self.changed(node, "and, or", lambda other: setattr(other, "op", swapped()))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        self.add(node, f"({ast.unparse(node.operand)})", "sign removed")
        if not isinstance(node.operand, ast.Constant):
            self.visit(node.operand)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self.add(node, str(not value), "constant")
        elif isinstance(value, int | float):
            self.add(node, repr(value + 1), "constant")
            self.add(node, f"({value - 1!r})", "constant")
        elif value in ("left", "right"):
            self.add(node, repr(NAMES[value]), "side")

    def visit_Slice(self, node: ast.Slice) -> None:
        if node.step is None:
            lower = f"({ast.unparse(node.lower)}) + 1" if node.lower else "1"
            upper = f"({ast.unparse(node.upper)}) - 1" if node.upper else "-1"
            kept = ast.unparse(node.lower) if node.lower else "", ast.unparse(node.upper) if node.upper else ""
            if node.lower or node.upper:
                self.add(node, f"{lower}:{kept[1]}", "slice")
                self.add(node, f"{kept[0]}:{upper}", "slice")
        for part in (node.lower, node.upper, node.step):
            if part is not None and not isinstance(part, ast.Constant | ast.UnaryOp):
                self.visit(part)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr in NAMES and node.attr not in ("left", "right"):
            self.changed(node, "function", lambda other: setattr(other, "attr", NAMES[node.attr]))
        self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in NAMES:
            self.add(node.func, NAMES[node.func.id], "function")
        elif not isinstance(node.func, ast.Name):
            self.visit(node.func)
        self.swapped_arguments(node)
        for i, keyword in enumerate(node.keywords):
            if keyword.arg in LOOK:
                continue
            if keyword.arg is not None:
                self.changed(node, "argument removed", lambda other, i=i: other.keywords.pop(i))  # type: ignore[misc]
            self.visit(keyword.value)
        for argument in node.args:
            self.visit(argument)

    def swapped_arguments(self, node: ast.Call) -> None:
        plain = [ast.unparse(argument) for argument in node.args[:2] if not isinstance(argument, ast.Starred)]
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if len(plain) == 2 and plain[0] != plain[1] and name not in SYMMETRIC:

            def swap(other: ast.AST) -> None:
                first, second, *rest = other.args  # type: ignore[attr-defined]
                other.args = [second, first, *rest]  # type: ignore[attr-defined]

            self.changed(node, "arguments swapped", swap)


def sites(source: Path) -> Iterator[Mutant]:
    """Yield the mutants of every file of a package, in the order of its text."""
    for path in sorted(source.rglob("*.py")):
        finder = _Finder(path)
        finder.visit(finder.tree)
        yield from sorted(finder.mutants, key=lambda mutant: (mutant.start, mutant.stop, mutant.text))
