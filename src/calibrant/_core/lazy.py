"""Where a name is that was asked of the wrong package: in another package of ours, or under another name."""

import ast
import importlib
import json
import re
import sys
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.util import find_spec, resolve_name
from pathlib import Path
from typing import Any

# The stub of a package, which lists its names and where they are


Homes = dict[str, tuple[str, str | None]]
"""Where each name of a package is: the module, and what it is called there; None for the module itself."""


def read_stub(package: str, stub: Path) -> tuple[Homes, list[str]]:
    """Return where each name of a package is, and which of them are public."""
    homes: Homes = {}
    public: list[str] | None = None
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            source = resolve_name("." * node.level + (node.module or ""), package)
            for alias in node.names:
                whole = node.module is None
                homes[alias.asname or alias.name] = (f"{source}.{alias.name}", None) if whole else (source, alias.name)
        elif isinstance(node, ast.Assign):
            public = ast.literal_eval(node.value)
    return homes, [name for name, (_, member) in homes.items() if member] if public is None else public


# Public names that load when they are first used (PEP 562): the stub beside an `__init__.py` lists them, once


IN_AN_IMPORT = "_handle_fromlist"
"""The function of Python that asks a package for the names of a `from` import."""


def attach(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return the `__getattr__`, `__dir__` and `__all__` of a package.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    file : str
        Its ``__file__``; the stub stands beside it.

    Returns
    -------
    tuple
        What ``__all__`` of the stub lists is public; without it all names of the stub that are no modules. Other names of the
        stub are there as well.
    """
    homes, public = read_stub(package, Path(file).with_suffix(".pyi"))
    modules = {name for name, (_, member) in homes.items() if member is None}

    def load(name: str) -> Any:
        if name not in homes:
            raise _unknown(package, name, is_import=sys._getframe(1).f_code.co_name == IN_AN_IMPORT)
        module, member = homes[name]
        found = importlib.import_module(module)
        value = found if member is None else getattr(found, member)
        setattr(sys.modules[package], name, value)
        return value

    def listed() -> list[str]:
        return sorted({*public, *modules, *(name for name in vars(sys.modules[package]) if name.startswith("__"))})

    return load, listed, public


def _unknown(package: str, name: str, *, is_import: bool) -> Exception:
    """Return the error of a name that is not there; Python would drop the message of an AttributeError in an import."""
    hint = ""
    if not name.startswith("_") and find_spec(f"{package}.{name}") is None:  # a module is imported next
        hint = where(name)
    message = f"module {package!r} has no attribute {name!r}. {hint}".rstrip()
    if is_import and hint:
        return ImportError(message, name=package)
    return AttributeError(message, name=name, obj=sys.modules[package])


ROOT = Path(__file__).parents[1]

PACKAGES = [name for name, home in read_stub("calibrant", ROOT / "__init__.pyi")[0].items() if home[1] is None]
"""The public packages of calibrant. Each public name stands in exactly one of them; the front door repeats some."""

FOREIGN = Path(__file__).with_name("foreign.json")
"""Names of other packages: the package, what to write here, and what differs if anything does; and names that people try first.

Where several packages have a name, the one that is used most stands there.
"""


@cache
def homes() -> Mapping[str, str]:
    """Return the public package of each public name."""
    return {name: f"calibrant.{package}" for package in PACKAGES for name in _names(package)}


def load(name: str) -> Any:
    """Return a public object by its name, wherever it stands."""
    return getattr(import_module(homes()[name]), name)


def _names(package: str) -> list[str]:
    """Return the public names of a package, or of a module that lists them."""
    home = ROOT / package
    if (stub := home / "__init__.pyi").exists():
        return read_stub(f"calibrant.{package}".rstrip("."), stub)[1]
    listed = next(
        n for n in ast.parse(home.with_suffix(".py").read_text(encoding="utf-8")).body if isinstance(n, ast.Assign)
    )
    return list(ast.literal_eval(listed.value))


def where(name: str) -> str:
    """Return where to find a name, as a sentence that says what to write; empty if nothing is known of it."""
    if name in homes():
        return f"{name} is in {_import_of(name).split()[1]}: {_import_of(name)}"
    known = json.loads(FOREIGN.read_text(encoding="utf-8"))
    if name in known["foreign"]:
        return _of_other_package(name, *known["foreign"][name])
    if name in known["guessed"]:
        return f"For {name}: {'; '.join(map(_import_of, known['guessed'][name]))}"
    near = get_close_matches(name, homes(), n=1, cutoff=0.8)
    return f"Did you mean {near[0]}? {_import_of(near[0])}" if near else ""


def _of_other_package(name: str, package: str, ours: str, note: str = "") -> str:
    needed = dict.fromkeys(word for word in re.findall(r"\w+", ours) if word in homes())
    lines = [*map(_import_of, needed), *([] if ours in needed else [ours])]
    return f"For {name} of {package}: {'; '.join(lines)}{f'. {note}.' if note else ''}"


def _import_of(name: str) -> str:
    """Return the import of a name, from the front door where it stands there, else from its package."""
    return f"from {'calibrant' if name in _names('') else homes()[name]} import {name}"
