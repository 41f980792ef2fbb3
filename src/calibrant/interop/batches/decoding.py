"""From pieces to problems: what is known of all batches, and how a block of them becomes a batch that is checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from calibrant._core.arrays import some
from calibrant._core.problem import Problem
from calibrant._core.rows import Rows
from calibrant._core.validation import Input, as_problem
from calibrant.interop.batches.pieces import Array, Block, Piece
from calibrant.interop.columns import is_figure
from calibrant.interop.files import TRUTH_VALUES
from calibrant.sums.kept_rows import Numbers

Schema = tuple[int | None, np.dtype[Any], bool, bool]

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)

TILE = 1 << 12
"""Rows of a table that are filled at a time, column after column: they stay in the processor's cache."""


@dataclass(frozen=True, eq=False)
class Decoding:
    """What all batches share: the ``labels`` of the columns or None for 0, 1, ..., what the numbers are, and their precision.

    ``n_columns`` is None of single scores, ``pos_label`` the event of two columns, where it is not the second. ``is_parsed``
    says whether words are what stands in a CSV file: 1 may be a number.
    """

    n_columns: int | None
    precision: np.dtype[Any]
    has_weight: bool
    has_words: bool = False
    input: Input = "probability"
    rows: Rows = "as-given"
    labels: Sequence[Any] | None = None
    pos_label: Any = None
    is_parsed: bool = False

    @classmethod
    def of(cls, piece: Piece, **options: Any) -> Decoding:
        """Take from a piece what all must have."""
        return cls(*_schema(piece), **options)

    def problem(self, block: Block) -> Problem | None:
        """Return the rows of a block as a valid problem; None where none of them has a weight."""
        for piece in block.pieces:
            self._require_same(piece)
        parts = [self._coded(piece) for piece in block.pieces]
        truth, values = _joined(parts), self._values(block.pieces)
        weight = (
            _joined([piece.weight for piece in block.pieces if piece.weight is not None]) if self.has_weight else None
        )
        is_coded = self.has_words and self.labels is not None
        weighs = weight is None or weight.dtype.kind not in "biuf" or bool((weight != 0).any())
        problem = as_problem(
            truth,
            values,
            sample_weight=weight if weighs else None,
            labels=None if is_coded else self.labels,
            pos_label=self._event_code if is_coded else self.pos_label,
            input=self.input,
            rows=self.rows,
        )
        if is_coded:
            problem = replace(problem, classes=self._classes[problem.classes.astype(np.intp)])
        return problem if weighs else None

    def _require_same(self, piece: Piece) -> None:
        ours, theirs = (self.n_columns, self.precision, self.has_weight, self.has_words), _schema(piece)
        if ours == theirs or ours == (theirs[0], DOUBLE, *theirs[2:]):  # single precision is double without loss
            return
        wanted, got = (_described(*of) for of in (ours, theirs))
        is_wider = ours == (theirs[0], SINGLE, *theirs[2:])
        first = "Name one of double precision before the others" if is_wider else "Convert them to one schema"
        raise ValueError(f"all batches must have the columns of the first, {wanted}; got {got}. {first}.")

    def _coded(self, piece: Piece) -> Array:
        """Return labels, of words the numbers of their classes."""
        if piece.words is None:
            return piece.truth
        if self.labels is None:
            return np.array(piece.words)[piece.truth]
        place = np.array([*(self._places.get(self._key(word), -1) for word in piece.words), -1], dtype=np.intp)
        code = place[piece.truth]
        if (code < 0).any():
            row = int(np.argmax(code < 0))
            word = "a missing label" if piece.truth[row] < 0 else repr(piece.words[piece.truth[row]])
            raise ValueError(
                f"y_true must be among the classes {some(self._classes)}; got {word} at index {row}. "
                "Check labels=, or the column that holds the truth."
            )
        return code

    @cached_property
    def _classes(self) -> npt.NDArray[np.generic]:
        return np.array(self.labels)

    @property
    def _event_code(self) -> int | None:
        return None if self.pos_label is None else self._places[self.pos_label]

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {label: place for place, label in enumerate(self._classes.tolist())}

    def _key(self, word: str) -> Any:
        """Return what a cell of a CSV file stands for, where labels are numbers or truth values."""
        kind = self._classes.dtype.kind if self.is_parsed else "U"
        if kind in "iuf":
            return int(float(word)) if is_figure(word) and float(word).is_integer() else word
        return TRUTH_VALUES.get(word.lower(), word) if kind == "b" else word

    def _values(self, pieces: Sequence[Piece]) -> Array:
        """Return the numbers as one array, row after row; a single piece of one column or table as it stands."""
        if len(pieces) == 1 and len(pieces[0].columns) == 1:
            found = pieces[0].columns[0]
            return found.astype(np.float64) if pieces[0].precision != self.precision else found
        if len(pieces[0].columns) == 1:
            return np.concatenate([piece.columns[0] for piece in pieces])
        n, start = sum(map(len, pieces)), 0
        table = np.empty((n, len(pieces[0].columns)), dtype=self.precision)
        for piece in pieces:
            for at in range(0, len(piece), TILE):
                into = table[start + at : start + min(at + TILE, len(piece))]
                for k, column in enumerate(piece.columns):
                    into[:, k] = column[at : at + TILE]
            start += len(piece)
        return table


def numbers_of(first: int | Numbers, problem: Problem, pieces: Sequence[Piece]) -> int | Numbers:
    """Return the number of the first row of a problem; or of each row, where those of weight zero are left out of it."""
    if problem.size == sum(map(len, pieces)):
        return first
    kept = np.flatnonzero(_joined([np.asarray(piece.weight) for piece in pieces]) != 0)
    found: Numbers = first[kept] if isinstance(first, np.ndarray) else first + kept
    return found


def _joined(parts: Sequence[Array]) -> Array:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _schema(piece: Piece) -> Schema:
    return piece.n_columns, piece.precision, piece.weight is not None, piece.words is not None


def _described(n_columns: int | None, precision: np.dtype[Any], has_weight: bool, has_words: bool) -> str:
    columns = "one column" if n_columns is None else f"{n_columns} columns"
    said = f"{columns} of {precision}, labels that are {'text' if has_words else 'numbers'}"
    return f"{said}, and weights" if has_weight else said
