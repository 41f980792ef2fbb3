"""What the words of `calibrant monitor` ask for, and whether that is what the state has which it continues."""

from __future__ import annotations

import argparse
import os
from typing import Any

from calibrant.cli.inputs import asked_of_rows
from calibrant.cli.watch_state import Reading
from calibrant.cli.watched_files import Content


def window_of(given: Any) -> int | str | None:
    """Return a number of rows, or a length of time."""
    return int(given) if isinstance(given, str) and given.isdecimal() else given


def reference_of(given: str | None) -> tuple[int, str | None]:
    """Return how many windows are the reference, and the file that is."""
    if given is None or given.isdecimal():
        return (1 if given is None else int(given)), None
    return 1, given


def digest_of(path: str) -> str:
    """Return the digest of the file of reference."""
    if not os.path.isfile(path):
        raise FileNotFoundError(f"the file must exist; got {path}. Check the path of --reference.")
    return Content.of(path).sha256


def require_same(of: argparse.Namespace, kept: Reading) -> None:
    """Refuse what the command says otherwise than the state that it continues."""
    scale = asked_of_rows(of)
    event = None if len(kept.labels) != 2 else kept.labels[1] if kept.pos_label is None else kept.pos_label
    asked: list[tuple[str, Any, Any, bool]] = [
        ("window", of.window, kept.window, window_of(of.window) == kept.window),
        ("alpha", of.alpha, kept.alpha, of.alpha == kept.alpha),
        ("bins", of.bins, kept.bins, of.bins == kept.bins),
        ("rows", of.rows, kept.rows, of.rows == kept.rows),
        ("notion", of.notion, kept.notion, of.notion is not None and _notion(of.notion) == kept.notion),
        ("classes", of.classes, ",".join(map(str, kept.labels)), _are_classes(of.classes, kept.labels)),
        ("pos-label", of.pos_label, event, _are_classes(of.pos_label, (event,))),
        ("reference", of.reference, kept.reference or kept.n_reference, _is_reference(of.reference, kept)),
        *((name, getattr(of, name), getattr(kept, name), _names(getattr(of, name), getattr(kept, name))) for name in
          ("by", "time", "label", "weight")),
        *((name, getattr(of, name), f"{kept.input} {','.join(kept.columns)}", kept.input == input
           and _names(getattr(of, name), *kept.columns)) for name, input in (("prob", "probability"), ("logit", "logit"))),
        ("percent" if of.percent else "normalize", None if scale == "as-given" else scale, kept.scale, scale == kept.scale),
    ]  # fmt: skip
    for option, given, held, is_same in asked:
        if given is not None and not is_same:
            known = "none" if held is None else repr(held)
            raise ValueError(
                f"--{option} must be that of the state {of.state}, {known}; got {given!r}. Leave it out, or begin a new state."
            )


def _names(given: str | None, *columns: str | None) -> bool:
    """Whether words name exactly these columns, of these."""
    from calibrant.interop.files import select

    known = [name for name in columns if name is not None]
    try:
        return given is not None and len(known) > 0 and sorted(select(known, given, where="")) == sorted(known)
    except ValueError:
        return False


def _notion(word: str) -> str:
    from calibrant.notions import as_notion

    return as_notion(word).name


def _are_classes(given: str | None, labels: tuple[Any, ...]) -> bool:
    return given is not None and [one.strip().lower() for one in given.split(",")] == [
        str(one).lower() for one in labels
    ]


def _is_reference(given: str | None, kept: Reading) -> bool:
    number, file = reference_of(given)
    if file is None:
        return kept.reference is None and number == kept.n_reference
    return digest_of(file) == kept.reference_sha256
