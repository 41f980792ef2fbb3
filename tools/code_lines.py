"""Code lines by package: python -m tools.code_lines [folder ...] [--files]. Docstrings, comments and blank lines are none."""

import argparse
import ast
import io
import tokenize
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def counted(text: str) -> int:
    """Return the number of code lines of a module."""
    lines, docs = set(), set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            docs.update(range(node.lineno, node.end_lineno + 1))
    return len(lines - docs)


def table(folder: Path, *, by_file: bool) -> list[str]:
    """Return a line for each package of a folder, or each file, and one for all."""
    found = defaultdict(list)
    for path in sorted(folder.rglob("*.py")):
        inside = path.relative_to(folder)
        for name in (str(inside) if by_file else str(inside.parent), "all"):
            found[name].append(counted(path.read_text(encoding="utf-8")))
    found["all"] = found.pop("all")
    return [f"{name:<44}{len(lines):>6}{sum(lines):>8}" for name, lines in found.items()]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", default=["src/calibrant", "tests", "studies", "tools", "benchmarks"])
    parser.add_argument("--files", action="store_true", help="a line for each file")
    options = parser.parse_args()
    for folder in options.folders:
        print(f"{folder:<44}{'files':>6}{'code':>8}")
        print("\n".join(table(ROOT / folder, by_file=options.files)), end="\n\n")


if __name__ == "__main__":
    main()
