"""From a number or a word to a binning."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any

from calibrant._core.parameters import no_class, require
from calibrant._core.registry import Kind, entries, find
from calibrant.binning.base import Binning
from calibrant.binning.equal_width import EqualWidth

NUMBERED = re.compile(r"(.*[^-_ ])[-_ ]([0-9]+)")


def as_binning(binning: int | str | Binning) -> Binning:
    """Return the binning; a number n means ``EqualWidth(n)``, a word the registered one, "equal-mass-20" that of 20 bins."""
    if type(binning) is int:
        return _of_number(binning)
    no_class("binning", binning, wanted="a number, a word or a Binning")
    if isinstance(binning, str):
        found: Binning = of_word("binning", binning)
        return found
    return binning if isinstance(binning, Binning) else EqualWidth(binning)


@lru_cache
def _of_number(n_bins: int) -> EqualWidth:
    return EqualWidth(n_bins)


def of_word(kind: Kind, word: str) -> Any:
    """Return the registered thing of that name; a number behind it is its first parameter."""
    numbered = NUMBERED.fullmatch(word)
    if numbered is None or word in entries(kind):
        return find(kind, word).target()
    name, number = numbered.groups()
    try:
        target = find(kind, name).target
    except ValueError as error:
        raise ValueError(str(error).replace(f"got {name!r}", f"got {word!r}")) from None
    parameters = fields(target) if is_dataclass(target) else ()
    require(
        parameters and type(parameters[0].default) is int,
        f"{kind} {name!r} must stand without a number",
        value=word,
        hint=f"Pass {name!r}",
    )
    return target(int(number))
