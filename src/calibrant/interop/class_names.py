"""The classes of a calibrator in a file: numbers, booleans or words, each once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

MOST_CHARACTERS = 1 << 22
"""Of names of classes, all as long as the longest. Above it they may hold 16 times what the names themselves do."""


def names_of(classes: npt.NDArray[np.generic]) -> list[Any]:
    """Return the classes as what JSON can hold."""
    names: list[Any] = classes.tolist()
    if any(isinstance(name, bytes) for name in names):
        raise TypeError(
            f"classes must be words, numbers or booleans to be saved; got bytes, {shown(names)}. "
            "Fit with words: np.char.decode(labels)."
        )
    require_text("classes", [name for name in names if isinstance(name, str)])
    return names


def classes_named(names: list[Any], *, in_order: bool) -> npt.NDArray[np.generic]:
    """Return the classes as an array: numbers, booleans or words, each once."""
    kinds, found = set(map(type, names)), shown(names)
    if len(names) < 2 or kinds not in ({int}, {str}, {bool}, {float}):
        raise ValueError(f"classes must be two or more numbers, booleans or words; got {found}")
    if kinds == {str}:
        longest, all_together = max(map(len, names)), sum(map(len, names))
        if longest * len(names) > max(MOST_CHARACTERS, 16 * all_together):
            raise ValueError(f"classes must be words of like lengths; got {len(names)}, one with {longest} characters")
        require_text("classes", names)
    try:
        classes = np.array(names, dtype=_whole_kind(names) if kinds == {int} else None)
    except OverflowError:
        raise ValueError(f"classes must be finite numbers of 64 bits, signed or unsigned; got {found}") from None
    if kinds == {float} and not np.isfinite(classes).all():
        raise ValueError(f"classes must be finite numbers of 64 bits; got {found}")
    if np.unique(classes).size < classes.size:
        raise ValueError(f"classes must be there once each; got one again among {found}")
    # Words are in the order of columns that have their names.
    if in_order and kinds != {str} and not (classes[1:] > classes[:-1]).all():
        raise ValueError(f"classes must be sorted, since no labels were given; got {found}")
    return classes


def _whole_kind(names: list[int]) -> type[np.integer[Any]]:
    """Return the type of whole numbers: NumPy would take small and very large ones together for fractions."""
    return np.uint64 if max(names) >= 2**63 and min(names) >= 0 else np.int64


def require_text(what: str, words: list[str]) -> None:
    """Refuse words that no file can hold: half of a pair of code units (a lone surrogate)."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            raise ValueError(
                f"{what} must be words that UTF-8 can encode; got {ascii(word)[:80]}. Replace the lone surrogate in it."
            ) from None


def shown(names: list[Any]) -> str:
    """Return the first few names."""
    listed = ", ".join(repr(name)[:40] for name in names[:5])
    return f"[{listed}{', ...' if len(names) > 5 else ''}]"
