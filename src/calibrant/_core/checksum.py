"""The checksum of a document that JSON can hold: whoever reads it knows that it is as it was written."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

PIECE = 1 << 10
"""Numbers that are hashed at a time."""


def checksum_of(document: Mapping[str, Any]) -> str:
    """Return the checksum of all entries but ``checksum`` itself: of their canonical JSON, in any order of keys."""
    found = hashlib.sha256()
    for piece in _canonical({key: value for key, value in document.items() if key != "checksum"}):
        found.update(piece.encode())
    return f"sha256:{found.hexdigest()}"


def _canonical(value: Any) -> Iterator[str]:
    """Yield JSON without spaces and with sorted keys, in pieces: the whole of it takes more memory than the file."""
    if isinstance(value, dict) and value:
        for number, key in enumerate(sorted(value)):
            yield f"{',' if number else '{'}{json.dumps(key)}:"
            yield from _canonical(value[key])
        yield "}"
    elif isinstance(value, list) and value and isinstance(value[0], (dict, list)):
        for number, part in enumerate(value):
            yield "," if number else "["
            yield from _canonical(part)
        yield "]"
    elif isinstance(value, list) and len(value) > PIECE:
        for start in range(0, len(value), PIECE):
            yield ("," if start else "[") + _dumped(value[start : start + PIECE])[1:-1]
        yield "]"
    else:
        yield _dumped(value)


def _dumped(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
