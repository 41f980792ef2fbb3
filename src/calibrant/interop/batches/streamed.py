"""Predictions that are read piece by piece, block by block, once for each question."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cached_property
from itertools import chain
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from calibrant._core.problem import DOUBLE, Problem
from calibrant._core.progress import progress_bar
from calibrant._core.threads import ahead, n_processors, streamed
from calibrant.binning.base import CHUNK
from calibrant.interop.batches.decoding import Decoding, numbers_of
from calibrant.interop.batches.pieces import Block, Found, Piece, blocks_of
from calibrant.sums.kept_rows import Numbers
from calibrant.sums.predictions import FEW, M, Predictions, Read
from calibrant.sums.row_sample import RowSample

OnError = Literal["raise", "skip"]

AHEAD = 2
"""Blocks that are read before they are asked for."""

Batch = tuple[Problem, int | Numbers]
"""A batch, and the number of its first row; or of each, where some weigh nothing."""


class Streamed(Predictions):
    """Predictions whose pieces a function gives anew, each time it is called.

    Parameters
    ----------
    pieces : callable
        Returns an iterator of pieces, and of what is damaged.
    decoding : callable
        Returns what all batches share, from the first piece.
    reads_once : bool, default=False
        Whether the pieces can be had once alone.
    on_error : {"raise", "skip"}, default="raise"
        What is done with a piece that is wrong or damaged: "skip" leaves it out and counts it.
    batch_rows : int, default=65536
        Rows of a batch; sums of batches of 65536 rows have the digits of sums in memory.
    n_rows : int, optional
        Number of rows, if it is known, for the bar.
    progress : bool, default=False
        Show a bar of the rows that are read.
    """

    def __init__(
        self,
        pieces: Callable[[], Iterator[Found]],
        decoding: Callable[[Piece], Decoding],
        *,
        reads_once: bool = False,
        on_error: OnError = "raise",
        batch_rows: int = CHUNK,
        n_rows: int | None = None,
        progress: bool = False,
    ) -> None:
        self._pieces, self._decoding_of = pieces, decoding
        self._reads_once, self._on_error, self._batch_rows = reads_once, on_error, batch_rows
        self._n_rows, self._progress = n_rows, progress
        self._begun: tuple[list[Block], Iterator[Block]] | None = None
        self._all: list[Block] | None = None
        self._was_read = False
        self._left_out = (0, 0)
        self._wrong: Exception = nothing()

    # What is known before all rows are read

    @property
    def classes(self) -> npt.NDArray[np.generic]:
        """Labels of the columns, or of no event and the event."""
        return self.head().classes

    @property
    def precision(self) -> np.dtype[np.floating[Any]]:
        """Precision of the probabilities; double of logits, and of what is divided by something."""
        decoding = self._decoding
        as_given = decoding.input == "probability" and decoding.rows == "as-given"
        return decoding.precision if as_given else DOUBLE

    @property
    def left_out(self) -> tuple[int, int]:
        """How many pieces were left out in the last reading, and how many rows of them are known."""
        return self._left_out

    @property
    def n_rows(self) -> int | None:
        """Number of rows, if it is known: once they were read it is, those left out with it as far as they are known."""
        if self._all is not None:
            return sum(block.n_rows for block in self._all)
        return self._n_rows

    def head(self) -> Problem:
        """Return the first rows that are as they must be."""
        return self._head

    @cached_property
    def _head(self) -> Problem:
        for block in self._first_blocks:
            for problem, _ in self._batches(block)[0]:
                return problem
        raise self._wrong

    @cached_property
    def _decoding(self) -> Decoding:
        for block in self._first_blocks:
            for damaged in block.damaged:
                self._pass_over(damaged.error)
            for piece in block.pieces:
                try:
                    return self._decoding_of(piece)
                except (ValueError, TypeError) as error:
                    self._pass_over(piece.said_of(error))
        raise self._wrong

    def _pass_over(self, error: Exception) -> None:
        """Raise an error, unless what is wrong is left out; then it is raised if nothing else is left."""
        if self._on_error == "raise":
            raise error
        self._wrong = error

    @cached_property
    def _first_blocks(self) -> list[Block]:
        """Begin to read: the first blocks, with more rows than are few, or all there are."""
        held: list[Block] = []
        blocks = self._blocks()
        for block in blocks:
            held.append(block)
            if sum(len(piece) for one in held for piece in one.pieces) > FEW:
                self._begun = held, blocks
                return held
        self._all = held
        return held

    def few(self) -> Problem | None:
        """Return all rows if they are few, which the first blocks tell."""
        first = self._first_blocks
        if self._all is None:
            return None
        batches = self._counted(map(self._batches, first))
        samples = [RowSample.of(problem, number, FEW) for problem, number in batches]
        if not samples:
            raise self._wrong
        total = sum(samples[1:], samples[0])
        return total.problem if total.n_rows <= FEW else None

    # Reading

    def reduce(self, read: Read[M]) -> M:
        """Read the batches by as many threads as there are processors, and add up what they gave in their order."""

        def work(block: Block) -> tuple[list[M], int, int]:
            batches, pieces, rows = self._batches(block)
            return [read(problem, first) for problem, first in batches], pieces, rows

        total: M | None = None
        for found in self._counted(streamed(work, self._again(), n_processors())):
            total = found if total is None else total + found
        if total is None:
            raise self._wrong
        return total

    def _counted(self, found: Any) -> Iterator[Any]:
        """Pass on what was found in the blocks, and count what was left out."""
        left_out = [0, 0]
        for batches, pieces, rows in found:
            left_out = [left_out[0] + pieces, left_out[1] + rows]
            yield from batches
        self._left_out = (left_out[0], left_out[1])

    def _batches(self, block: Block) -> tuple[list[Batch], int, int]:
        """Return the problems of a block with the numbers of their first rows, and how many pieces and rows are left out."""
        if block.damaged:
            self._pass_over(block.damaged[0].error)
            return [], len(block.damaged), sum(one.n_rows for one in block.damaged)
        decoding = self._decoding
        try:
            problem = decoding.problem(block)
        except (ValueError, TypeError) as error:
            return self._good_pieces(block, error)
        if problem is None:
            return [], 0, 0
        return [(problem, numbers_of(block.first, problem, block.pieces))], 0, 0

    def _good_pieces(self, block: Block, error: Exception) -> tuple[list[Batch], int, int]:
        """Name the piece that is wrong; or return the others."""
        found: list[Batch] = []
        pieces, rows = 0, 0
        for one in block.by_piece:
            try:
                problem = self._decoding.problem(one)
            except (ValueError, TypeError) as wrong:
                self._pass_over(one.pieces[0].said_of(wrong))
                pieces, rows = pieces + 1, rows + one.n_rows
                continue
            if problem is not None:
                found.append((problem, numbers_of(one.first, problem, one.pieces)))
        if self._on_error == "raise":
            raise error
        return found, pieces, rows

    def _blocks(self) -> Iterator[Block]:
        return ahead(blocks_of(self._pieces(), self._batch_rows), AHEAD)

    def _again(self) -> Iterator[Block]:
        """Yield all blocks: those that were read already, and the rest; or all anew."""
        self._first_blocks  # noqa: B018 - the beginning tells whether the rest has to be read
        if self._all is not None:
            yield from self._all
            return
        if self._begun is not None:
            (held, rest), self._begun = self._begun, None
            blocks: Iterator[Block] = chain(held, rest)
        elif self._reads_once:
            raise ValueError(
                "predictions must be read again for this; got an iterator, which can be read once. "
                "Pass a function that returns a fresh iterator, or ask for all figures in one call."
            )
        else:
            rest = blocks = self._blocks()
        n = 0
        with progress_bar(self._n_rows, show=self._progress, desc="reading", unit="row") as advance, closing(rest):  # type: ignore[type-var]
            for block in blocks:
                yield block
                n += block.n_rows
                advance(block.n_rows)
        self._require_same_rows(n)

    def _require_same_rows(self, n: int) -> None:
        if self._was_read and self._n_rows is not None and n != self._n_rows:
            raise ValueError(
                f"predictions must hold the same rows each time they are read; got {n} after {self._n_rows}. "
                "Pass a function that returns a fresh iterator."
            )
        self._was_read, self._n_rows = True, n


def nothing() -> ValueError:
    """Return the error of predictions without rows."""
    return ValueError(
        "predictions must hold at least one row; got none, or none with a weight. Check what they are read from."
    )
