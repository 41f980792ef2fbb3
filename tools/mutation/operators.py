"""The small changes that a test suite should notice, found in a file's syntax tree.

Left out, as they change no number and no decision: docstrings and all other strings but the side of a binary search,
annotations, what is raised (that it is raised counts), `__repr__` and its kin, `if TYPE_CHECKING`, and arguments that only
set the look of a picture.
"""

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LOOK = frozenset([
    "alpha", "aspect", "bbox_to_anchor", "capsize", "cmap", "color", "colors", "columnspacing", "dpi", "ecolor",
    "edgecolor", "facecolor", "figsize", "fontsize", "handlelength", "height_ratios", "hspace", "labelpad",
    "labelrotation", "labelsize", "length", "levels", "linestyle", "linewidth", "linewidths", "loc", "lw",
    "markersize", "ncol", "pad", "rotation", "shrink", "size", "stacklevel", "vmax", "vmin", "width_ratios", "wspace",
    "xytext", "zorder", "s",
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
        changed = old[first:last], new[first : last + len(new) - len(old)]
        before, after = (" ".join(text.decode().split()) for text in changed)
        return before, after


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

    def changed(self, node: ast.expr, operator: str, **parts: Any) -> None:
        """Add the node with other parts; in parentheses, as what stands around it may bind closer."""
        other = copy.copy(node)
        vars(other).update(parts)
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
        if node.name not in WORDS_ONLY:
            self.inside(node, node.body[0].lineno, "body", [*node.decorator_list, node.args])

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.inside(node, node.lineno, "class", node.decorator_list)

    def inside(self, node: ast.FunctionDef | ast.ClassDef, first: int, scope: str, head: list[Any]) -> None:
        """Visit decorators, which belong to the scope around a function, and statements."""
        lines, outer = range(first, (node.end_lineno or node.lineno) + 1), self.scope
        self.reach, self.scope = (lambda _: lines), outer if scope == "body" else scope
        for part in head:
            target = part.func if isinstance(part, ast.Call) else part
            name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
            if name in KEPT_DECORATORS:
                continue
            if part in node.decorator_list:
                self.add(part, "(lambda undecorated: undecorated)", "decorator removed")
            self.visit(part)
        self.scope = scope
        for statement in node.body:
            self.visit(statement)
        self.scope = outer

    # What is left out

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_arguments(self, node: ast.arguments) -> None:
        for default in filter(None, [*node.defaults, *node.kw_defaults]):
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
            other = ast.AugAssign(node.target, ARITHMETIC[type(node.op)](), node.value)
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
            swapped = [*node.ops[:i], COMPARISONS[type(operator)](), *node.ops[i + 1 :]]
            self.changed(node, "comparison", ops=swapped)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) in ARITHMETIC:
            self.changed(node, "arithmetic", op=ARITHMETIC[type(node.op)]())
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self.changed(node, "and, or", op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
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
        lower, upper = (ast.unparse(part) if part else "" for part in (node.lower, node.upper))
        if node.step is None and (lower or upper):
            self.add(node, f"({lower}) + 1:{upper}" if lower else f"1:{upper}", "slice")
            self.add(node, f"{lower}:({upper}) - 1" if upper else f"{lower}:-1", "slice")
        for part in (node.lower, node.upper, node.step):
            if part is not None and not isinstance(part, ast.Constant | ast.UnaryOp):
                self.visit(part)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr in NAMES and node.attr not in ("left", "right"):
            self.changed(node, "function", attr=NAMES[node.attr])
        self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in NAMES:
            self.add(node.func, NAMES[node.func.id], "function")
        elif not isinstance(node.func, ast.Name):
            self.visit(node.func)
        plain = [ast.unparse(argument) for argument in node.args[:2] if not isinstance(argument, ast.Starred)]
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if len(plain) == 2 and plain[0] != plain[1] and name not in SYMMETRIC:
            first, second, *rest = node.args
            self.changed(node, "arguments swapped", args=[second, first, *rest])
        for i, keyword in enumerate(node.keywords):
            if keyword.arg in LOOK:
                continue
            if keyword.arg is not None:
                self.changed(node, "argument removed", keywords=node.keywords[:i] + node.keywords[i + 1 :])
            self.visit(keyword.value)
        for argument in node.args:
            self.visit(argument)


def sites(source: Path) -> Iterator[Mutant]:
    """Yield the mutants of every file of a package, in the order of its text."""
    for path in sorted(source.rglob("*.py")):
        finder = _Finder(path)
        finder.visit(finder.tree)
        yield from sorted(finder.mutants, key=lambda mutant: (mutant.start, mutant.stop, mutant.text))
