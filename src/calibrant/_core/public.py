"""Public names that load when they are first used (PEP 562): the stub beside an `__init__.py` lists them, once."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from calibrant._core.stubs import read_stub

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

    class Package(ModuleType):
        """A package in which a public name stays what it is when a module of the same name is loaded."""

        def __setattr__(self, name: str, value: Any) -> None:
            own = isinstance(value, ModuleType) and name in homes and name not in modules
            super().__setattr__(name, getattr(value, name) if own else value)

    sys.modules[package].__class__ = Package
    return load, lambda: sorted({*public, *modules, *filter(_is_special, vars(sys.modules[package]))}), public


def _is_special(name: str) -> bool:
    return name.startswith("__")


def _unknown(package: str, name: str, *, is_import: bool) -> Exception:
    """Return the error of a name that is not there; Python would drop the message of an AttributeError in an import."""
    hint = ""
    if not name.startswith("_") and find_spec(f"{package}.{name}") is None:  # a module is imported next
        from calibrant._core.elsewhere import where

        hint = where(name)
    message = f"module {package!r} has no attribute {name!r}. {hint}".rstrip()
    if is_import and hint:
        return ImportError(message, name=package)
    return AttributeError(message, name=name, obj=sys.modules[package])
