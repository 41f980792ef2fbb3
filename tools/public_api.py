"""What users rely on: every public name with its parameters and their defaults, and all that is declared of a registered thing.

Run: python -m tools.public_api. It writes tests/data/public_api.txt; what changes there changes for users.
"""

import inspect
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path

from calibrant._core.lazy import homes, load
from calibrant._core.registry import HOMES, entries
from calibrant.lenses import Size

KEPT = Path(__file__).parents[1] / "tests" / "data" / "public_api.txt"


def shown(value: object) -> str:
    """Return the value in words that are the same in each run."""
    if inspect.isclass(value) or inspect.isroutine(value):
        return value.__name__
    if isinstance(value, partial):
        return f"{shown(value.func)}({', '.join(map(shown, value.args))})"
    if isinstance(value, Size):
        return f"{type(value).__name__}({shown({f.name: getattr(value, f.name) for f in fields(value)})})"
    if isinstance(value, set | frozenset):
        return str(sorted(value))
    if isinstance(value, dict):
        return ", ".join(f"{key}={shown(part)}" for key, part in value.items())
    return repr(value)


def parameters(function: object) -> str:
    """Return the parameters with their defaults, without types."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ""
    stars = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**", "KEYWORD_ONLY": "^"}
    return ", ".join(
        stars.get(each.kind.name, "") + each.name + ("" if each.default is each.empty else f"={shown(each.default)}")
        for each in found
        if each.name != "self"
    )


def lines() -> Iterator[str]:
    for name in sorted(homes()):
        target = load(name)
        if inspect.isroutine(target):
            yield f"{name}({parameters(target)})"
        elif inspect.isclass(target):
            kind = target.__dataclass_params__ if is_dataclass(target) else None  # not frozen: an estimator
            shown_kind = f" frozen={kind.frozen} eq={kind.eq}" if kind and kind.frozen else ""
            yield f"{name}({parameters(target)}){shown_kind}"
            for own, member in sorted(vars(target).items()):
                if not own.startswith("_") and inspect.isfunction(member):
                    yield f"{name}.{own}({parameters(member)})"
    for kind in HOMES:
        for name, entry in entries(kind).items():
            declared = {
                of.name: getattr(entry, of.name) for of in fields(entry) if of.name not in ("kind", "name", "target")
            }
            said = {word: value for word, value in declared.items() if value not in (None, False, (), frozenset())}
            yield f"{kind} {name}: {shown(said)}"


if __name__ == "__main__":
    KEPT.write_text("".join(f"{line}\n" for line in lines()))
