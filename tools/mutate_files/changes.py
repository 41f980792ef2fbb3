"""What can happen to a file: to its bytes, to its text, and to what it says."""

from __future__ import annotations

import io
import json
import warnings
import zipfile
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from calibrant._core.checksum import checksum_of

CELLS = (
    "", "nan", "NaN", "inf", "-1", "1e999", "1e-999", "0,5", "1_0", "½", "\x00", "\x1b[2J", "=1+1", "True", "None", "9" * 30,
    "0x1p-3", "--", " 0.5 ", '"', '"a\nb"', "\ufeff", "x" * 5000,
)  # fmt: skip

VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 2, 0.5, -0.5, 1e308, 5e-324, 10**400, 10**15, float("nan"), float("inf"), "x", "nan", "", [], {}, [0.5],
    [[0.5, 0.5]], {"number": "nan"}, {"number": "-inf"}, {"array": [0.5], "dtype": "S2000000000"},
    {"array": [], "dtype": "int64"},
    {"array": [[[[1]]]], "dtype": "int64"}, {"calibrator": {}}, {"binning": "equal-mass", "parameters": {"n_bins": 10**15}},
    {"cells of": "sierpinski", "parameters": {"depth": 10**9}}, {"cells of": "grid", "parameters": {}}, {"eval": "1"},
)  # fmt: skip


def changed(random: Random, ending: str, data: bytes) -> bytes:
    """Return the file with one to three changes."""
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        own = OF_FORMAT.get(ending)
        change = own if own is not None and random.random() < 0.6 else random.choice(OF_BYTES)
        data = change(random, data)
    return data


# Bytes


def _place(random: Random, data: bytes) -> int:
    """Return a place; what stands at the ends describes the rest."""
    size = len(data)
    return (
        random.choice((random.randrange(size), random.randrange(min(80, size)), -1 - random.randrange(min(400, size))))
        % size
    )


def _flipped(random: Random, data: bytes) -> bytes:
    new = bytearray(data)
    for _ in range(random.choice((1, 1, 3, 20))):
        new[_place(random, data)] ^= 1 << random.randrange(8)
    return bytes(new)


def _overwritten(random: Random, data: bytes) -> bytes:
    at, size = _place(random, data), random.choice((1, 2, 4, 8, 64))
    fill = random.choice((b"\x00", b"\xff", b"\x7f", b"9", random.randbytes(1)))
    return data[:at] + (fill * size)[: len(data) - at] + data[at + size :]


def _cut(random: Random, data: bytes) -> bytes:
    return data[: _place(random, data)]


def _without(random: Random, data: bytes) -> bytes:
    at = _place(random, data)
    return data[:at] + data[at + random.choice((1, 4, 50)) :]


def _doubled(random: Random, data: bytes) -> bytes:
    at, size = _place(random, data), random.choice((1, 8, 100, len(data)))
    return data[: at + size] + data[at : at + size] + data[at + size :]


def _inserted(random: Random, data: bytes) -> bytes:
    at = _place(random, data)
    return data[:at] + random.randbytes(random.choice((1, 4, 100))) + data[at:]


def _digit(random: Random, data: bytes) -> bytes:
    digits = [i for i, byte in enumerate(data) if 48 <= byte < 58]
    if not digits:
        return data
    at = random.choice(digits)
    return data[:at] + random.choice((b"9", b"-", b"e", b"99999999", b".", b" ", b"")) + data[at + 1 :]


OF_BYTES: tuple[Callable[[Random, bytes], bytes], ...] = (
    lambda random, data: _flipped(random, data) if data else b"x",
    lambda random, data: _overwritten(random, data) if data else b"",
    lambda random, data: _cut(random, data) if data else b"",
    lambda random, data: _without(random, data) if data else b"\x00",
    lambda random, data: _doubled(random, data) if data else b"PK",
    lambda random, data: _inserted(random, data) if data else b"PAR1",
    _digit,
)


# Calibrators and states of monitors: what stands in them, with a checksum that fits


def _document(random: Random, data: bytes) -> bytes:
    try:
        document = json.loads(data)
        at, key = random.choice(list(_places(document)))
    except (ValueError, IndexError, RecursionError):
        return data
    if random.random() < 0.15:
        del at[key]
    elif isinstance(at[key], list) and random.random() < 0.6:
        at[key] = _list(random, at[key])
    else:
        at[key] = random.choice(VALUES)
    if random.random() < 0.95:
        _fit(document)
    return json.dumps(document, indent=random.choice((None, 2))).encode()


def _fit(node: Any) -> None:
    """Make the checksums of a document fit, those of its parts first."""
    for part in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        _fit(part)
    if isinstance(node, dict) and "checksum" in node:
        node["checksum"] = checksum_of(node)


def _places(node: Any) -> Any:
    for key in node if isinstance(node, dict) else range(len(node)):
        yield node, key
        if isinstance(node[key], (dict, list)):
            yield from _places(node[key])


def _list(random: Random, values: list[Any]) -> list[Any]:
    """Return a list of another length, order or shape."""
    in_order = sorted(values, key=str)
    return random.choice((values[:-1], values[1:], values + values[:1], values[::-1], in_order, [values], values * 2))


# Tables


def _text(random: Random, data: bytes) -> bytes:
    """Change cells, lines, quotes, or the encoding of a CSV file."""
    lines = data.decode("utf-8", "replace").split("\n")
    row = random.randrange(len(lines))
    separator = max(",;\t", key=lines[0].count)
    what = random.randrange(8)
    if what < 4:
        cells = lines[row].split(separator)
        cells[random.randrange(len(cells))] = random.choice(CELLS)
        lines[row] = separator.join(cells)
    elif what == 4:
        lines[row] += separator + random.choice(CELLS)
    elif what == 5:
        lines = [separator.join(line.split(separator)[1:]) for line in lines]
    text = random.choice(("\n", "\n", "\r\n", "\r")).join(lines) if what > 5 else "\n".join(lines)
    return text.encode(random.choice(("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1")), "replace")


def _zip(random: Random, data: bytes) -> bytes:
    """Write the archive anew with an array whose head says something else, or that stands in it twice."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except Exception:
        return data
    if not members:
        return data
    name = random.choice(list(members))
    kind = random.randrange(4)
    heads: dict[str, Any] = {
        "descr": random.choice(
            ("<f8", ">f8", "<i8", "|O", "<U0", "|S2000000000", "<c16", "<M8[s]", "|b1", "<f2", "|V8")
        ),
        "fortran_order": random.choice((True, False)),
        "shape": random.choice(((40,), (2**50,), (0,), (), (40, 3), (1, 40), (-1,), (2**40, 2**40), (20, 2))),
    }
    if kind < 2:
        head = io.BytesIO()
        np.lib.format.write_array_header_1_0(head, heads)
        members[name] = head.getvalue() + members[name][128 : random.choice((None, 200))]
    elif kind == 2:
        members[name] = OF_BYTES[0](random, members[name])
    packed = io.BytesIO()
    compression = random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2))
    with zipfile.ZipFile(packed, "w", compression) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there already
        for member, content in members.items():
            archive.writestr(member, content)
        if kind == 3:
            archive.writestr(
                random.choice((name, f"{name}x", "readme.txt")), random.choice((b"", b"text", members[name]))
            )
    return packed.getvalue()


OF_FORMAT: dict[str, Callable[[Random, bytes], bytes]] = {
    ".json": _document,
    ".state": _document,
    ".csv": _text,
    ".npz": _zip,
}
